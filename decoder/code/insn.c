/* SPDX-License-Identifier: MIT */
/*
 * Decode an x86 instruction's length and kind of branch by opcode maps, which have a letter for
 * each opcode, and a form for each letter.
 *
 * The maps have no mnemonics, and only the operands after the opcode. Sources: SDM volume 2,
 * appendix A ("Opcode Map"), and for newer maps Intel's "Architecture Instruction Set Extensions
 * Programming Reference" and "Advanced Performance Extensions (APX) Architecture Specification".
 * Nearly all opcodes of 0F38, 0F3A, and the maps of VEX, EVEX and XOP have the same operands, so
 * undefined opcodes have a form as well, and code for newer CPUs can be followed.
 */
#include "decoder/code/insn.h"

/* ---- Opcode maps --------------------------------------------------------- */

/* Numbers of the maps in VEX, EVEX and XOP. */
enum opcode_map {
	MAP_0,
	MAP_0F,
	MAP_0F38,
	MAP_0F3A,
	MAP_EVEX_4, /* legacy instructions with APX's payload */
	MAP_5,
	MAP_6,
	MAP_7,
	MAP_XOP_8,
	MAP_XOP_9,
	MAP_XOP_A,
};

/* Immediates whose size depends on prefixes. */
enum {
	IMMEDIATE_Z = 5,   /* the operand size, at most 4 */
	IMMEDIATE_V,       /* the operand size */
	IMMEDIATE_NEAR,    /* the operand size; always 4 in 64-bit code on Intel's CPUs */
	IMMEDIATE_POINTER, /* the operand size and a segment */
	IMMEDIATE_ADDRESS, /* the address size */
};

/* Opcodes that need the bytes after the opcode. */
enum opcode_group {
	GROUP_NONE,
	GROUP_CONTROL, /* a control or debug register: ModRM never has a memory operand */
	GROUP_MEMORY,  /* ModRM must have a memory operand */
	GROUP_POP,     /* 8F: only /0 */
	GROUP_TEST,    /* F6, F7: only /0 and /1 have the immediate */
	GROUP_4,       /* FE: only /0 and /1 */
	GROUP_5,       /* FF: indirect calls and jumps */
	GROUP_7,       /* 0F 01: system instructions */
	GROUP_EXTRQ,   /* 0F 78: the immediates only with prefix 66 or F2 */
	GROUP_INVALID, /* not an instruction, or a misplaced prefix */
};

struct opcode_form {
	bool modrm;
	bool not_in_64;    /* not an instruction in 64-bit code */
	uint8_t immediate; /* bytes after the ModRM operand, or IMMEDIATE_* */
	uint8_t group;     /* enum opcode_group */
	uint8_t kind;      /* enum branch_kind, unless the group decides */
};

/* clang-format off */
static const struct opcode_form forms['z' + 1] = {
	['x'] = { .group = GROUP_INVALID },
	['.'] = { .modrm = false },
	['!'] = { .not_in_64 = true },
	['b'] = { .immediate = 1 },
	['d'] = { .immediate = 1, .not_in_64 = true },
	['z'] = { .immediate = IMMEDIATE_Z },
	['v'] = { .immediate = IMMEDIATE_V },
	['o'] = { .immediate = IMMEDIATE_ADDRESS },
	['e'] = { .immediate = 3 },
	['m'] = { .modrm = true },
	['B'] = { .modrm = true, .immediate = 1 },
	['D'] = { .modrm = true, .immediate = 1, .not_in_64 = true },
	['Z'] = { .modrm = true, .immediate = IMMEDIATE_Z },
	['Q'] = { .modrm = true, .immediate = 4 },
	['t'] = { .modrm = true, .immediate = 1, .group = GROUP_TEST },
	['T'] = { .modrm = true, .immediate = IMMEDIATE_Z, .group = GROUP_TEST },
	['h'] = { .modrm = true, .immediate = 2, .group = GROUP_EXTRQ },
	['g'] = { .modrm = true, .group = GROUP_CONTROL },
	['a'] = { .modrm = true, .group = GROUP_MEMORY },
	['A'] = { .modrm = true, .group = GROUP_MEMORY, .not_in_64 = true },
	['P'] = { .modrm = true, .group = GROUP_POP },
	['4'] = { .modrm = true, .group = GROUP_4 },
	['5'] = { .modrm = true, .group = GROUP_5 },
	['7'] = { .modrm = true, .group = GROUP_7 },
	/* Branches. */
	['c'] = { .immediate = 1, .kind = BRANCH_COND },
	['C'] = { .immediate = IMMEDIATE_NEAR, .kind = BRANCH_COND },
	['j'] = { .immediate = 1, .kind = BRANCH_JUMP },
	['J'] = { .immediate = IMMEDIATE_NEAR, .kind = BRANCH_JUMP },
	['L'] = { .immediate = IMMEDIATE_NEAR, .kind = BRANCH_CALL },
	['k'] = { .immediate = IMMEDIATE_ADDRESS, .kind = BRANCH_JUMP },
	['r'] = { .kind = BRANCH_RETURN },
	['R'] = { .immediate = 2, .kind = BRANCH_RETURN },
	['f'] = { .kind = BRANCH_IRET },
	['F'] = { .immediate = 2, .kind = BRANCH_IRET },
	['i'] = { .kind = BRANCH_SOFTINT },
	['I'] = { .immediate = 1, .kind = BRANCH_SOFTINT },
	['O'] = { .kind = BRANCH_SOFTINT, .not_in_64 = true },
	['p'] = { .immediate = IMMEDIATE_POINTER, .kind = BRANCH_SOFTINT, .not_in_64 = true },
	['s'] = { .kind = BRANCH_SYSCALL },
	['S'] = { .kind = BRANCH_SYSRET },
};
/* clang-format on */

/* Table A-2. Prefixes and escapes are 'x': read_opcode() handles them first. */
static const char map_0[] = "mmmmbz!!mmmmbz!x"  /* 00 */
			    "mmmmbz!!mmmmbz!!"  /* 10 */
			    "mmmmbzx!mmmmbzx!"  /* 20 */
			    "mmmmbzx!mmmmbzx!"  /* 30 */
			    "................"  /* 40 */
			    "................"  /* 50 */
			    "!!AmxxxxzZbB...."  /* 60 */
			    "cccccccccccccccc"  /* 70 */
			    "BZDBmmmmmmmmmamP"  /* 80 */
			    "..........p....."  /* 90 */
			    "oooo....bz......"  /* A0 */
			    "bbbbbbbbvvvvvvvv"  /* B0 */
			    "BBRrAABZe.FfiIOf"  /* C0 */
			    "mmmmdd..mmmmmmmm"  /* D0 */
			    "ccccbbbbLJpj...."  /* E0 */
			    "xixx..tT......45"; /* F0 */

/* Table A-3. 0F 0F is 3DNow!, whose opcode is in the position of an immediate. */
static const char map_0f[] = "m7mmxs.S..x.xm.B"  /* 00 */
			     "mmmmmmmmmmmmmmmm"  /* 10 */
			     "ggggxxxxmmmmmmmm"  /* 20 */
			     "....sSx.xxxxxxxx"  /* 30 */
			     "mmmmmmmmmmmmmmmm"  /* 40 */
			     "mmmmmmmmmmmmmmmm"  /* 50 */
			     "mmmmmmmmmmmmmmmm"  /* 60 */
			     "BBBBmmm.hmxxmmmm"  /* 70 */
			     "CCCCCCCCCCCCCCCC"  /* 80 */
			     "mmmmmmmmmmmmmmmm"  /* 90 */
			     "...mBmmm...mBmmm"  /* A0 */
			     "mmmmmmmmmmBmmmmm"  /* B0 */
			     "mmBmBBBm........"  /* C0 */
			     "mmmmmmmmmmmmmmmm"  /* D0 */
			     "mmmmmmmmmmmmmmmm"  /* E0 */
			     "mmmmmmmmmmmmmmmm"; /* F0 */

/* Returns the letter of an opcode in a legacy map. */
static char letter_of_legacy(enum opcode_map map, uint8_t opcode)
{
	if (map <= MAP_0F)
		return (map ? map_0f : map_0)[opcode];
	return map == MAP_0F38 ? 'm' : 'B';
}

/* Legacy instructions of maps 0, 0F and 0F38 in one map (APX, "EVEX map 4"). */
static char letter_of_evex_4(uint8_t opcode)
{
	switch (opcode) {
	case 0x24: /* SHLD */
	case 0x2c: /* SHRD */
	case 0x6b: /* IMUL */
	case 0x80: /* ADD ... CMP */
	case 0x83:
	case 0xc0: /* ROL ... SAR */
	case 0xc1:
		return 'B';
	case 0x69: /* IMUL */
	case 0x81: /* ADD ... CMP */
		return 'Z';
	case 0xf6:
		return 't';
	case 0xf7:
		return 'T';
	default:
		return 'm';
	}
}

/* The same after a VEX or EVEX prefix. Vector instructions of 0F keep their immediate. */
static char letter_of_vector(unsigned map, uint8_t opcode, bool evex)
{
	switch (map) {
	case MAP_0F:
		if (opcode == 0x77 && !evex)
			return '.';
		return (opcode & 0xfc) == 0x70 || opcode == 0xc2 ||
				       (opcode >= 0xc4 && opcode <= 0xc6)
			       ? 'B'
			       : 'm';
	case MAP_0F38:
	case MAP_5:
	case MAP_6:
		return 'm';
	case MAP_0F3A:
		return 'B';
	case MAP_EVEX_4:
		return evex ? letter_of_evex_4(opcode) : 'x';
	case MAP_7:
		return 'Q';
	default:
		return 'x';
	}
}

/* Returns whether an opcode may not follow REX2 (APX, "REX2 prefix"). */
static bool excludes_rex2(enum opcode_map map, uint8_t opcode)
{
	unsigned row = opcode >> 4;

	if (map == MAP_0F)
		return row == 0x3 || row == 0x8;
	return row == 0x4 || row == 0x7 || row == 0xa || row == 0xe;
}

/*
 * Maximum bytes read before the length is checked: prefixes, then EVEX or REX2, opcode, ModRM and
 * SIB. Displacements and immediates are not read, only their sizes.
 */
#define LOOK_AHEAD (INSN_LENGTH_MAX + 8)

/* An instruction during decoding; LOOK_AHEAD of `bytes` are readable. */
struct insn_bytes {
	const uint8_t *bytes;
	unsigned at; /* offset of the next byte */
	enum insn_mode mode;
	bool operand_size, address_size; /* prefixes 66, 67 */
	bool lock;                       /* F0 */
	bool segment;                    /* 64, 65 */
	bool prefixed;                   /* a prefix precedes REX and the opcode */
	uint8_t repeat;                  /* the last of F2, F3; 0 if absent */
	uint8_t rex;                     /* right before the opcode; 0 if absent */
	bool rex2;
	bool wide; /* REX.W, REX2.W or EVEX.W */
	enum opcode_map map;
	uint8_t opcode, modrm;
	const struct opcode_form *form;
};

/* ---- Sizes --------------------------------------------------------------- */

/* Returns the operand size in bytes. */
static unsigned operand_bytes(const struct insn_bytes *d)
{
	if (d->wide)
		return 8;
	return (d->mode == INSN_MODE_16) == d->operand_size ? 4 : 2;
}

/* Returns the address size in bytes. */
static unsigned address_bytes(const struct insn_bytes *d)
{
	if (d->mode == INSN_MODE_64)
		return d->address_size ? 4 : 8;
	return (d->mode == INSN_MODE_16) == d->address_size ? 4 : 2;
}

static unsigned immediate_bytes(const struct insn_bytes *d)
{
	unsigned operand = operand_bytes(d);

	switch (d->form->immediate) {
	case IMMEDIATE_Z:
		return operand == 2 ? 2 : 4;
	case IMMEDIATE_V:
		return operand;
	case IMMEDIATE_NEAR:
		return operand == 2 && d->mode != INSN_MODE_64 ? 2 : 4;
	case IMMEDIATE_POINTER:
		return operand + 2;
	case IMMEDIATE_ADDRESS:
		return address_bytes(d);
	default:
		return d->form->immediate;
	}
}

/* ---- Prefixes and opcode ------------------------------------------------- */

/*
 * Skip legacy prefixes and REX; a REX before another prefix has no effect (SDM volume 2, "REX
 * Prefixes").  Stops at INSN_LENGTH_MAX.
 */
static void skip_prefixes(struct insn_bytes *d)
{
	for (; d->at < INSN_LENGTH_MAX; d->at++) {
		uint8_t byte = d->bytes[d->at];

		if (d->mode == INSN_MODE_64 && (byte & 0xf0) == 0x40) {
			d->rex = byte;
			d->wide = byte & 8;
			continue;
		}
		if (map_0[byte] != 'x')
			return;
		switch (byte) {
		case 0x66:
			d->operand_size = true;
			break;
		case 0x67:
			d->address_size = true;
			break;
		case 0xf0:
			d->lock = true;
			break;
		case 0xf2:
		case 0xf3:
			d->repeat = byte;
			break;
		case 0x64:
		case 0x65:
			d->segment = true;
			break;
		case 0x26:
		case 0x2e:
		case 0x36:
		case 0x3e:
			break;
		default:
			return;
		}
		d->rex = 0;
		d->wide = false;
	}
}

static void set_form(struct insn_bytes *d, char letter)
{
	d->form = &forms[(unsigned char)letter];
}

/* VEX, EVEX and XOP encode these prefixes; in addition to them, they are invalid. */
static bool may_be_vector(const struct insn_bytes *d)
{
	return !d->operand_size && !d->lock && !d->repeat && !d->rex;
}

/* Set the form of an opcode after VEX, EVEX or XOP. */
static void set_vector_form(struct insn_bytes *d, char letter, unsigned size)
{
	d->at += size;
	d->map = MAP_0F38; /* any map without branches */
	set_form(d, may_be_vector(d) ? letter : 'x');
}

/*
 * C4 and C5 are VEX, and 62 is EVEX, always in 64-bit code. In other code, only if the next byte,
 * as ModRM of the old instruction (LDS, LES, BOUND), would have no memory operand.
 */
static bool is_vector_prefix(const struct insn_bytes *d, const uint8_t *bytes)
{
	return d->mode == INSN_MODE_64 || (bytes[1] & 0xc0) == 0xc0;
}

static void read_legacy(struct insn_bytes *d, const uint8_t *bytes)
{
	unsigned escapes = 0;

	d->map = MAP_0;
	if (bytes[0] == 0x0f) {
		d->map = bytes[1] == 0x38 ? MAP_0F38 : bytes[1] == 0x3a ? MAP_0F3A : MAP_0F;
		escapes = d->map == MAP_0F ? 1 : 2;
	}
	d->opcode = bytes[escapes];
	d->at += escapes + 1;
	set_form(d, letter_of_legacy(d->map, d->opcode));
}

static void read_opcode(struct insn_bytes *d)
{
	const uint8_t *bytes = d->bytes + d->at;
	unsigned xop = bytes[1] & 0x1f;

	if (bytes[0] == 0xc4 && is_vector_prefix(d, bytes)) {
		set_vector_form(d, letter_of_vector(bytes[1] & 0x1f, bytes[3], false), 4);
	} else if (bytes[0] == 0xc5 && is_vector_prefix(d, bytes)) {
		set_vector_form(d, letter_of_vector(MAP_0F, bytes[2], false), 3);
	} else if (bytes[0] == 0x62 && is_vector_prefix(d, bytes)) {
		unsigned map = bytes[1] & 7;

		if (map == MAP_EVEX_4 && d->mode != INSN_MODE_64)
			map = MAP_0;
		set_vector_form(d, letter_of_vector(map, bytes[4], true), 5);
		d->operand_size = (bytes[2] & 3) == 1; /* pp: 66 */
		d->wide = bytes[2] & 0x80;
	} else if (bytes[0] == 0x8f && xop >= MAP_XOP_8) {
		/* The ModRM of POP is no valid map number. */
		set_vector_form(d, xop <= MAP_XOP_A ? "BmQ"[xop - MAP_XOP_8] : 'x', 4);
	} else if (bytes[0] == 0xd5 && d->mode == INSN_MODE_64) { /* AAD in other code */
		d->at += 3;
		d->rex2 = true;
		d->map = bytes[1] & 0x80 ? MAP_0F : MAP_0;
		d->wide = bytes[1] & 8;
		d->opcode = bytes[2];
		/* APX: an absolute jump replaces MOV from an absolute address. */
		if (d->map == MAP_0 && d->opcode == 0xa1 && !d->wide && !d->address_size &&
		    may_be_vector(d))
			set_form(d, 'k');
		else if (d->rex || excludes_rex2(d->map, d->opcode))
			set_form(d, 'x');
		else
			set_form(d, letter_of_legacy(d->map, d->opcode));
	} else {
		read_legacy(d, bytes);
	}
}

/* ---- ModRM --------------------------------------------------------------- */

static unsigned modrm_reg(const struct insn_bytes *d)
{
	return d->modrm >> 3 & 7;
}

static bool modrm_is_memory(const struct insn_bytes *d)
{
	return d->modrm < 0xc0;
}

/* Returns the bytes of SIB and displacement. */
static unsigned address_operand_bytes(const struct insn_bytes *d)
{
	unsigned mod = d->modrm >> 6, rm = d->modrm & 7, base, sib;

	if (mod == 3 || d->form->group == GROUP_CONTROL)
		return 0;
	if (address_bytes(d) == 2)
		return mod == 0 ? 2 * (rm == 6) : mod;
	sib = rm == 4;
	base = sib ? d->bytes[d->at] & 7 : rm;
	if (mod == 0)
		return sib + 4 * (base == 5);
	return sib + (mod == 1 ? 1 : 4);
}

/* Returns the kind of FF's branch. */
static enum branch_kind group_5_kind(const struct insn_bytes *d)
{
	switch (modrm_reg(d)) {
	case 2:
		return BRANCH_CALL;
	case 3:
	case 5:
		return BRANCH_SOFTINT;
	case 4:
		return BRANCH_JUMP;
	default:
		return BRANCH_NONE;
	}
}

/*
 * Returns the kind of 0F 01's branch. insn.h explains why other system instructions that leave the
 * code are not branches.
 */
static enum branch_kind group_7_kind(const struct insn_bytes *d)
{
	bool wide_mode = d->mode == INSN_MODE_64;

	switch (d->modrm) {
	case 0xc1: /* VMCALL */
	case 0xc2: /* VMLAUNCH */
	case 0xc3: /* VMRESUME */
		return BRANCH_SOFTINT;
	case 0xca: /* ERETS, ERETU */
		return wide_mode && d->repeat ? BRANCH_IRET : BRANCH_NONE;
	case 0xec: /* UIRET */
		return wide_mode && d->repeat == 0xf3 ? BRANCH_IRET : BRANCH_NONE;
	default:
		return BRANCH_NONE;
	}
}

static bool is_invalid(const struct insn_bytes *d)
{
	if (d->form->not_in_64 && d->mode == INSN_MODE_64)
		return true;
	switch ((enum opcode_group)d->form->group) {
	case GROUP_INVALID:
		return true;
	case GROUP_MEMORY:
		return !modrm_is_memory(d);
	case GROUP_POP:
		return modrm_reg(d) != 0;
	case GROUP_4:
		return modrm_reg(d) > 1;
	case GROUP_5:
		return modrm_reg(d) == 7 ||
		       (group_5_kind(d) == BRANCH_SOFTINT && !modrm_is_memory(d));
	default:
		return false;
	}
}

static bool has_immediate(const struct insn_bytes *d)
{
	switch ((enum opcode_group)d->form->group) {
	case GROUP_TEST:
		return modrm_reg(d) < 2;
	case GROUP_EXTRQ:
		return d->operand_size || d->repeat == 0xf2;
	default:
		return d->form->immediate;
	}
}

static enum branch_kind kind_of(const struct insn_bytes *d)
{
	switch ((enum opcode_group)d->form->group) {
	case GROUP_5:
		return group_5_kind(d);
	case GROUP_7:
		return group_7_kind(d);
	default:
		return (enum branch_kind)d->form->kind;
	}
}

/* ---- Instruction --------------------------------------------------------- */

/* Returns the immediate or distance in the last `size` bytes before `end`. */
static int32_t immediate_before(const uint8_t *end, unsigned size)
{
	if (size == 1)
		return (int8_t)end[-1];
	if (size == 2)
		return (int16_t)(uint16_t)(end[-2] | end[-1] << 8);
	return read_int32(end - 4);
}

/* Fill the fields of a decoded instruction; `rest`: the bytes after ModRM, if present. */
static void fill_fields(const struct insn_bytes *d, const uint8_t *rest, unsigned immediate,
			struct insn_fields *fields)
{
	bool memory = d->form->modrm && modrm_is_memory(d), sib = memory && (d->modrm & 7) == 4;
	unsigned base = sib ? *rest & 7 : d->modrm & 7, rex_b = (d->rex & INSN_REX_B) << 3;

	*fields = (struct insn_fields){
		.map = d->rex2 || d->map > MAP_0F ? INSN_MAP_OTHER
		       : d->map == MAP_0F         ? INSN_MAP_0F
						  : INSN_MAP_0,
		.prefixed = d->prefixed,
		.narrow = d->operand_size,
		.elsewhere = d->segment || d->address_size,
		.rex = d->rex,
		.opcode = d->opcode,
		.modrm = d->modrm,
		.opcode_reg = (uint8_t)((d->opcode & 7) | rex_b),
		.reg = (uint8_t)(modrm_reg(d) | (d->rex & INSN_REX_R) << 1),
		.base = (uint8_t)(base | rex_b),
		.memory = memory,
		.on_stack = sib && *rest == 0x24 && !(d->rex & (INSN_REX_B | INSN_REX_X)),
		.immediate_size = (uint8_t)immediate,
	};
	if ((d->modrm & 0xc7) == 5)
		fields->base = INSN_NO_REGISTER;
	if (memory && d->modrm >> 6 == 1)
		fields->displacement = (int8_t)rest[sib];
	else if (memory && (d->modrm >> 6 == 2 || fields->base == INSN_NO_REGISTER))
		fields->displacement = read_int32(rest + sib);
	if (immediate)
		fields->immediate = immediate_before(d->bytes + d->at, immediate);
}

struct insn insn_decode_fields(const uint8_t *bytes, size_t size, enum insn_mode mode,
			       struct insn_fields *fields)
{
	struct insn_bytes d = { .bytes = bytes, .mode = mode };
	uint8_t padded[LOOK_AHEAD];
	struct insn insn = { 0 };
	unsigned immediate = 0, rest;

	if (size < LOOK_AHEAD) {
		memset(padded, 0, sizeof(padded));
		memcpy(padded, bytes, size);
		d.bytes = padded;
	}
	skip_prefixes(&d);
	d.prefixed = d.at > (d.rex != 0);
	read_opcode(&d);
	if (d.form->modrm)
		d.modrm = d.bytes[d.at++];
	rest = d.at;
	if (is_invalid(&d))
		return insn;
	if (d.form->modrm) {
		insn.relative = (uint8_t)(mode == INSN_MODE_64 && (d.modrm & 0xc7) == 5 ? d.at : 0);
		d.at += address_operand_bytes(&d);
	}
	if (has_immediate(&d))
		immediate = immediate_bytes(&d);
	d.at += immediate;
	if (d.at > INSN_LENGTH_MAX || d.at > size)
		return insn;
	insn.length = (uint8_t)d.at;
	insn.kind = (uint8_t)kind_of(&d);
	if (fields)
		fill_fields(&d, d.bytes + rest, immediate, fields);
	if (insn.kind == BRANCH_NONE)
		return insn;
	insn.int80 = d.map == MAP_0 && d.opcode == 0xcd && d.bytes[d.at - 1] == 0x80;
	if (insn.kind == BRANCH_COND || insn.kind == BRANCH_JUMP || insn.kind == BRANCH_CALL) {
		insn.indirect = !immediate || immediate == 8;
		insn.distance = insn.indirect ? 0 : immediate_before(d.bytes + d.at, immediate);
	}
	return insn;
}
