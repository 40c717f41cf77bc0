/* SPDX-License-Identifier: MIT */
/* Decode an x86 instruction's length and kind of branch, with a cache by address. */
#include "decoder/code/insn.h"

#include "decoder/code/opcode_maps.h"

/*
 * The most bytes that are looked at before the length is checked: prefixes, then EVEX or REX2,
 * opcode, ModRM and SIB.  No byte of displacement or immediate, as only their sizes count.
 */
#define LOOK_AHEAD (INSN_LENGTH_MAX + 8)

/* An instruction while it is decoded; the first LOOK_AHEAD of `bytes` may be read. */
struct insn_bytes {
	const uint8_t *bytes;
	unsigned at; /* offset of the next byte */
	enum insn_mode mode;
	bool operand_size, address_size; /* prefixes 66, 67 */
	bool lock;                       /* F0 */
	uint8_t repeat;                  /* the last of F2, F3; 0 if absent */
	uint8_t rex;                     /* right before the opcode; 0 if absent */
	bool wide;                       /* REX.W, REX2.W or EVEX.W */
	enum opcode_map map;
	uint8_t opcode, modrm;
	const struct opcode_form *form;
};

static const struct opcode_form invalid = { .group = GROUP_INVALID };

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

	switch ((enum opcode_immediate)d->form->immediate) {
	case IMMEDIATE_1:
		return 1;
	case IMMEDIATE_2:
	case IMMEDIATE_1_1:
		return 2;
	case IMMEDIATE_2_1:
		return 3;
	case IMMEDIATE_4:
		return 4;
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
	case IMMEDIATE_NONE:
		break;
	}
	return 0;
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
		case 0x26:
		case 0x2e:
		case 0x36:
		case 0x3e:
		case 0x64:
		case 0x65:
			break;
		default:
			if (d->mode != INSN_MODE_64 || (byte & 0xf0) != 0x40)
				return;
			d->rex = byte;
			d->wide = byte & 8;
			continue;
		}
		d->rex = 0;
		d->wide = false;
	}
}

/* VEX, EVEX and XOP have these prefixes in themselves; beside them they are invalid. */
static bool may_be_vector(const struct insn_bytes *d)
{
	return !d->operand_size && !d->lock && !d->repeat && !d->rex;
}

/* Set the form of an opcode at `opcode_at` that VEX, EVEX or XOP chose. */
static void set_vector_form(struct insn_bytes *d, const struct opcode_form *form, unsigned size)
{
	d->at += size;
	d->map = MAP_0F38; /* its opcodes are no branches, whatever map it is */
	d->form = may_be_vector(d) ? form : &invalid;
}

/*
 * C4 and C5 are VEX and 62 is EVEX if ModRM of the old instruction (LDS, LES, BOUND), which is
 * the next byte, would have no memory operand, and always in 64-bit code.
 */
static bool is_vector_prefix(const struct insn_bytes *d, const uint8_t *bytes)
{
	return d->mode == INSN_MODE_64 || (bytes[1] & 0xc0) == 0xc0;
}

static void read_evex(struct insn_bytes *d, const uint8_t *bytes)
{
	unsigned map = bytes[1] & 7;

	if (map == MAP_EVEX_4 && d->mode != INSN_MODE_64)
		map = MAP_0;
	set_vector_form(d, opcode_form_evex(map, bytes[4]), 5);
	d->operand_size = (bytes[2] & 3) == 1; /* pp: 66 */
	d->wide = bytes[2] & 0x80;
}

/* APX: an absolute jump replaces MOV from an absolute address. */
static bool is_jmpabs(const struct insn_bytes *d)
{
	return d->map == MAP_0 && d->opcode == 0xa1 && !d->wide && !d->address_size &&
	       may_be_vector(d);
}

static void read_rex2(struct insn_bytes *d, const uint8_t *bytes)
{
	static const struct opcode_form jmpabs = { .immediate = IMMEDIATE_ADDRESS,
						   .kind = BRANCH_JUMP };

	d->at += 3;
	d->map = bytes[1] & 0x80 ? MAP_0F : MAP_0;
	d->wide = bytes[1] & 8;
	d->opcode = bytes[2];
	if (is_jmpabs(d))
		d->form = &jmpabs;
	else if (d->rex || opcode_excludes_rex2(d->map, d->opcode))
		d->form = &invalid;
	else
		d->form = opcode_form_legacy(d->map, d->opcode);
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
	d->form = opcode_form_legacy(d->map, d->opcode);
}

static void read_opcode(struct insn_bytes *d)
{
	const uint8_t *bytes = d->bytes + d->at;

	switch (bytes[0]) {
	case 0xc4:
		if (is_vector_prefix(d, bytes)) {
			set_vector_form(d, opcode_form_vex(bytes[1] & 0x1f, bytes[3]), 4);
			return;
		}
		break;
	case 0xc5:
		if (is_vector_prefix(d, bytes)) {
			set_vector_form(d, opcode_form_vex(MAP_0F, bytes[2]), 3);
			return;
		}
		break;
	case 0x62:
		if (is_vector_prefix(d, bytes)) {
			read_evex(d, bytes);
			return;
		}
		break;
	case 0x8f: /* POP, whose ModRM could not choose a map */
		if ((bytes[1] & 0x1f) >= MAP_XOP_8) {
			set_vector_form(d, opcode_form_xop(bytes[1] & 0x1f), 4);
			return;
		}
		break;
	case 0xd5: /* AAD */
		if (d->mode == INSN_MODE_64) {
			read_rex2(d, bytes);
			return;
		}
		break;
	}
	read_legacy(d, bytes);
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
 * Returns the kind of 0F 01's branch.  insn.h says why the other system instructions that leave
 * the code do not count as branches.
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
		return d->form->immediate != IMMEDIATE_NONE;
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

/* Returns a direct branch's distance, the last `size` bytes before `end`. */
static int32_t distance_before(const uint8_t *end, unsigned size)
{
	uint32_t value;

	if (size == 1)
		return (int8_t)end[-1];
	if (size == 2)
		return (int16_t)(uint16_t)(end[-2] | end[-1] << 8);
	memcpy(&value, end - 4, sizeof(value));
	return (int32_t)value;
}

static bool is_int80(const struct insn_bytes *d)
{
	return d->map == MAP_0 && d->opcode == 0xcd && d->bytes[d->at - 1] == 0x80;
}

static bool has_direct_target(enum branch_kind kind)
{
	return kind == BRANCH_COND || kind == BRANCH_JUMP || kind == BRANCH_CALL;
}

struct insn insn_decode(const uint8_t *bytes, size_t size, enum insn_mode mode)
{
	struct insn_bytes d = { .bytes = bytes, .mode = mode };
	uint8_t padded[LOOK_AHEAD];
	struct insn insn = { 0 };
	unsigned immediate = 0;

	if (size < LOOK_AHEAD) {
		memset(padded, 0, sizeof(padded));
		memcpy(padded, bytes, size);
		d.bytes = padded;
	}
	skip_prefixes(&d);
	read_opcode(&d);
	if (d.form->modrm)
		d.modrm = d.bytes[d.at++];
	if (is_invalid(&d))
		return insn;
	if (d.form->modrm)
		d.at += address_operand_bytes(&d);
	if (has_immediate(&d))
		immediate = immediate_bytes(&d);
	d.at += immediate;
	if (d.at > INSN_LENGTH_MAX || d.at > size)
		return insn;
	insn.length = (uint8_t)d.at;
	insn.kind = (uint8_t)kind_of(&d);
	insn.int80 = is_int80(&d);
	if (has_direct_target(insn.kind)) {
		insn.indirect = !immediate || immediate == 8;
		insn.distance = insn.indirect ? 0 : distance_before(d.bytes + d.at, immediate);
	}
	return insn;
}
