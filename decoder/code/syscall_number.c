/* SPDX-License-Identifier: MIT */
/*
 * Follow code back from a system call to all instructions that can have set a register or a word of
 * the stack.
 */
#include "decoder/code/syscall_number.h"

enum { REGISTER_EAX = 0, REGISTER_ECX = 1, REGISTER_ESP = 4, REGISTER_R11 = 11 };

/* A value's origin: its former slot, a constant, or UNKNOWN. 48 words of the stack are slots. */
#define SLOTS       64
#define UNKNOWN     (-1)
#define CONSTANT(n) ((n) < 0 ? UNKNOWN : SLOTS + (int64_t)(n))
#define BIT(slot)   (UINT64_C(1) << (slot))
#define ALL_SLOTS   (~UINT64_C(0))
#define ALL_WORDS   (ALL_SLOTS << SYSCALL_STACK)

/* ---- Fields of an instruction -------------------------------------------- */

/* Bits of a REX prefix (SDM volume 2, "REX Prefixes"). */
enum { REX_B = 1, REX_X = 2, REX_R = 4, REX_W = 8 };

struct fields {
	uint8_t rex;    /* 0 if absent */
	bool bits32;    /* 32-bit code, which has no REX */
	bool narrow;    /* 16-bit operands */
	bool elsewhere; /* memory of another segment, or with a shorter address */
	bool map_0f;    /* the opcode follows 0f */
	uint8_t opcode, modrm;
	const uint8_t *rest; /* the bytes after ModRM, if present */
	size_t rest_size;
};

/* Returns false if the instruction has no opcode. */
static bool read_fields(const uint8_t *bytes, size_t size, enum insn_mode mode,
			struct fields *fields)
{
	size_t at = 0;

	*fields = (struct fields){ .bits32 = mode == INSN_MODE_32 };
	for (; at < size && bytes[at] &&
	       strchr("\x66\x67\xf0\xf2\xf3\x26\x2e\x36\x3e\x64\x65", bytes[at]);
	     at++) {
		fields->narrow |= bytes[at] == 0x66;
		fields->elsewhere |= bytes[at] >= 0x64 && bytes[at] <= 0x67 && bytes[at] != 0x66;
	}
	if (at < size && bytes[at] >> 4 == 4 && !fields->bits32)
		fields->rex = bytes[at++];
	if (at < size && bytes[at] == 0x0f) {
		fields->map_0f = true;
		at++;
	}
	if (at == size)
		return false;
	fields->opcode = bytes[at++];
	if (at < size)
		fields->modrm = bytes[at++];
	fields->rest = bytes + at;
	fields->rest_size = size - at;
	return true;
}

static int reg_of(const struct fields *fields)
{
	return (fields->modrm >> 3 & 7) | (fields->rex & REX_R ? 8 : 0);
}

static int rm_of(const struct fields *fields)
{
	return (fields->modrm & 7) | (fields->rex & REX_B ? 8 : 0);
}

/* Returns the register in the low bits of the opcode. */
static int opcode_reg_of(const struct fields *fields)
{
	return (fields->opcode & 7) | (fields->rex & REX_B ? 8 : 0);
}

/*
 * The operand that an instruction writes, except flags, pushed words and vectors in memory (SDM
 * volume 2, appendix A): '.' nothing; 'g' the register in ModRM.reg; 'm' the register or memory in
 * ModRM.rm; 'o' the register in the opcode; '*' possibly anything. Others: written_by().
 */
static const char written[16][17] = {
	"mmgg****mmgg****", "mmgg****mmgg****", "mmgg****mmgg****", "mmgg****......**",
	"iiiiiiiiiiiiiiii", "........oooooooo", "***a****.g.g****", "****************",
	"cc*c..**mmgg*g**", "n***************", "********..******", "oooooooooooooooo",
	"mm****mm********", "mmmm************", "****************", "****.*tt******ff",
};
static const char written_0f[16][17] = {
	"****************", ".m.m...m...m..s.", "********.m****..", "****************",
	"gggggggggggggggg", "*...............", "................", "***************m",
	"****************", "mmmmmmmmmmmmmmmm", "***************g", "******gg******gg",
	"****************", "******m*********", "***************.", "****************",
};

/* Returns one of '.', 'g', 'm', 'o' and '*'. */
static char written_by(const struct fields *fields)
{
	const char(*map)[17] = fields->map_0f ? written_0f : written;
	char operand = map[fields->opcode >> 4][fields->opcode & 15];
	unsigned operation = fields->modrm >> 3 & 7;

	switch (operand) {
	case 'i': /* inc, dec; else a REX prefix */
		return fields->bits32 ? 'o' : '*';
	case 'a': /* arpl; movsxd */
		return fields->bits32 ? '*' : 'g';
	case 'n': /* nop, or xchg with R8 */
		return fields->rex & REX_B ? '*' : '.';
	case 's': /* endbr64 and endbr32, or rdssp */
		return fields->modrm == 0xfa || fields->modrm == 0xfb ? '.' : 'm';
	case 'c': /* cmp, or add etc. */
		return operation == 7 ? '.' : 'm';
	case 't': /* test; not, neg; mul */
		return operation < 2 ? '.' : operation < 4 ? 'm' : '*';
	case 'f': /* inc, dec; push */
		return operation < 2 ? 'm' : operation == 6 ? '.' : '*';
	default:
		return operand;
	}
}

/* ---- One instruction ----------------------------------------------------- */

/* The slots after an instruction. */
struct effect {
	uint64_t lost; /* bit set of slots that it can write */
	int slot;      /* slot that gets `value`; UNKNOWN: no slot */
	int64_t value; /* its origin */
	int64_t words; /* added to the stack pointer */
};

/* Returns the slot of the operand ModRM.rm (memory: 64 bits), or UNKNOWN. */
static int slot_of_rm(const struct fields *fields)
{
	static const uint8_t sizes[] = { 1, 2, 5 }; /* of SIB byte and displacement */
	uint8_t mod = fields->modrm >> 6;
	int32_t distance = 0;

	if (mod == 3)
		return rm_of(fields);
	if (fields->elsewhere || (fields->modrm & 7) != 4 || fields->rex & (REX_B | REX_X) ||
	    fields->rest_size < sizes[mod] || fields->rest[0] != 0x24)
		return UNKNOWN; /* the SIB byte 24: ESP without index */
	if (mod)
		distance = mod == 1 ? (int8_t)fields->rest[1] : read_int32(fields->rest + 1);
	if (distance < 0 || distance % 8 || distance / 8 >= SLOTS - SYSCALL_STACK)
		return UNKNOWN;
	return SYSCALL_STACK + distance / 8;
}

/* Returns the origin of the value that an instruction writes. */
static int64_t result_of(const struct fields *fields)
{
	if (fields->map_0f || fields->narrow)
		return UNKNOWN;
	/* The constant's first byte was read as ModRM. */
	if (fields->opcode >> 3 == 0xb8 >> 3 && !(fields->rex & REX_W) && fields->rest_size == 3)
		return CONSTANT(read_int32(fields->rest - 1));
	switch (fields->opcode) {
	case 0xc7: /* mov, not xbegin */
		if (!(fields->modrm & 0x38) && fields->rest_size >= 4)
			return CONSTANT(read_int32(fields->rest + fields->rest_size - 4));
		return UNKNOWN;
	case 0x29: /* sub and xor of a register and itself */
	case 0x2b:
	case 0x31:
	case 0x33:
		return reg_of(fields) == slot_of_rm(fields) ? CONSTANT(0) : UNKNOWN;
	case 0x89:
		return reg_of(fields);
	case 0x8b:
		return slot_of_rm(fields);
	default:
		return UNKNOWN;
	}
}

/* An instruction writes a register. For 8-bit operands without REX, 4 to 7 are AH to BH. */
static void write_register(const struct fields *fields, int number, int64_t value,
			   struct effect *effect)
{
	unsigned operation = fields->modrm >> 3 & 7; /* 0: add; 5: sub */
	int64_t bytes = 1;                           /* unknown */

	if (!fields->rex && number >= 4)
		effect->lost |= BIT(number - 4);
	effect->slot = number;
	effect->value = value;
	if (number != REGISTER_ESP)
		return;
	if (!fields->map_0f && fields->rex & REX_W && (operation == 0 || operation == 5)) {
		if (fields->opcode == 0x83 && fields->rest_size == 1)
			bytes = (int8_t)fields->rest[0];
		else if (fields->opcode == 0x81 && fields->rest_size == 4)
			bytes = read_int32(fields->rest);
	}
	if (bytes % 8)
		effect->lost |= ALL_WORDS;
	effect->words = (operation ? -bytes : bytes) / 8;
}

static void write_rm(const struct fields *fields, struct effect *effect)
{
	if (fields->modrm >> 6 == 3) {
		write_register(fields, rm_of(fields), result_of(fields), effect);
		return;
	}
	if ((fields->modrm & 0xc7) == 5)
		return; /* relative to RIP: data of the program */
	effect->slot = slot_of_rm(fields);
	effect->value = result_of(fields);
	/* The address can be on the stack; a vector has several words. */
	if (effect->slot == UNKNOWN || !(fields->rex & REX_W) || fields->map_0f)
		effect->lost = ALL_WORDS;
}

/* A pop or a constant sets the register in the opcode. */
static void write_opcode_register(const struct fields *fields, struct effect *effect)
{
	bool pop = !fields->map_0f && fields->opcode >> 3 == 0x58 >> 3;

	write_register(fields, opcode_reg_of(fields), pop ? SYSCALL_STACK : result_of(fields),
		       effect);
	effect->words = pop;
	if (pop && fields->narrow)
		effect->lost = ALL_SLOTS;
}

/* An instruction that writes no register and no memory can push. */
static void push(const struct fields *fields, struct effect *effect)
{
	effect->value = UNKNOWN;
	if (fields->opcode >> 3 == 0x50 >> 3)
		effect->value = opcode_reg_of(fields);
	else if (fields->opcode == 0x68 && fields->rest_size == 3)
		effect->value = CONSTANT(read_int32(fields->rest - 1));
	else if (fields->opcode == 0x6a)
		effect->value = CONSTANT((int8_t)fields->modrm);
	else if (fields->opcode == 0xff)
		effect->value = slot_of_rm(fields);
	else if (fields->opcode != 0x68)
		return;
	effect->slot = SYSCALL_STACK;
	effect->words = -1;
	if (fields->narrow)
		effect->lost = ALL_WORDS;
}

/*
 * Returns the effect of an instruction. SYSCALL preserves all registers except RAX, RCX and R11
 * (System V ABI, AMD64, "Linux Conventions"); the kernel can write memory.
 */
static struct effect effect_of(const uint8_t *bytes, const struct insn *insn, enum insn_mode mode)
{
	struct effect effect = { .slot = UNKNOWN };
	struct fields fields;

	if (insn->kind == BRANCH_COND || insn->kind == BRANCH_JUMP)
		return effect;
	effect.lost = ALL_SLOTS;
	if (insn->kind == BRANCH_SYSCALL && mode == INSN_MODE_64)
		effect.lost = BIT(REGISTER_EAX) | BIT(REGISTER_ECX) | BIT(REGISTER_R11) | ALL_WORDS;
	if (insn->kind != BRANCH_NONE || !read_fields(bytes, insn->length, mode, &fields))
		return effect;
	effect.lost = 0;
	switch (written_by(&fields)) {
	case 'g':
		write_register(&fields, reg_of(&fields), result_of(&fields), &effect);
		break;
	case 'm':
		write_rm(&fields, &effect);
		break;
	case 'o':
		write_opcode_register(&fields, &effect);
		break;
	case '.':
		if (!fields.map_0f)
			push(&fields, &effect);
		break;
	default:
		effect.lost = ALL_SLOTS;
	}
	return effect;
}

/* Returns the origin of a slot's value before an instruction. */
static int64_t origin_before(const struct effect *effect, int slot)
{
	int64_t word = slot + effect->words;

	if (effect->lost & BIT(slot))
		return UNKNOWN;
	if (slot == effect->slot)
		return effect->value;
	if (slot < SYSCALL_STACK)
		return slot;
	return word >= SYSCALL_STACK && word < SLOTS ? word : UNKNOWN;
}

/* ---- All paths to an instruction ------------------------------------------ */

#define ROUNDS_MOST 8

/* The search in a function's code. */
struct search {
	const struct syscall_code *code;
	struct step {
		struct insn insn; /* length 0: no instruction begins here */
		bool reached;     /* from the function's begin, by direct jumps */
		bool jumped;      /* target of a jump */
		uint64_t asked;   /* bit set of slots before the instruction */
	} * steps;                /* owned; by offset */
	struct syscall_number found;
	bool failed; /* a value is unknown, or there are two */
};

/* Returns a direct jump's target in the function; the code's size: no such jump. */
static size_t target_of(const struct search *search, size_t offset)
{
	const struct insn *insn = &search->steps[offset].insn;
	size_t to = offset + insn->length + (size_t)(int64_t)insn->distance;

	return (insn->kind == BRANCH_JUMP || insn->kind == BRANCH_COND) && to < search->code->size
		       ? to
		       : search->code->size;
}

static bool ends_flow(const struct insn *insn)
{
	return insn->kind == BRANCH_JUMP || insn->kind == BRANCH_RETURN;
}

/* Decode the code. Returns false if a jump's target is unknown. */
static bool find_steps(struct search *search)
{
	const struct syscall_code *code = search->code;

	for (size_t offset = 0; offset < code->size;) {
		struct insn *insn = &search->steps[offset].insn;

		*insn = insn_decode(code->bytes + offset, code->size - offset, code->mode);
		if (!insn->length)
			break; /* data after the code */
		if (insn->indirect && (insn->kind == BRANCH_JUMP || insn->kind == BRANCH_COND))
			return false;
		search->steps[target_of(search, offset)].jumped = true;
		offset += insn->length;
	}
	return true;
}

/* Mark code that jumps from the function's start reach, possibly not all. */
static void mark_reached(struct search *search)
{
	bool more = true;

	search->steps[0].reached = true;
	for (int round = 0; more && round < ROUNDS_MOST; round++) {
		more = false;
		for (size_t offset = 0; offset < search->code->size; offset++) {
			struct step *step = &search->steps[offset];
			size_t to = target_of(search, offset);

			if (!step->reached || !step->insn.length)
				continue;
			more |= to < offset && !search->steps[to].reached;
			search->steps[to].reached = true;
			if (!ends_flow(&step->insn))
				search->steps[offset + step->insn.length].reached = true;
		}
	}
}

/* Add a possible value of the register or word. Two different values make it unknown. */
static void add_value(struct search *search, int32_t number, int32_t argument)
{
	struct syscall_number *found = &search->found;

	search->failed |= (found->number != SYSCALL_UNKNOWN && found->number != number) ||
			  (found->argument != SYSCALL_UNKNOWN && found->argument != argument) ||
			  (number < 0 && argument < 0);
	*found = (struct syscall_number){ number, argument };
}

/* A value is from `origin` before the instruction of a step. */
static void ask(struct search *search, struct step *step, int64_t origin)
{
	if (origin >= SLOTS)
		add_value(search, (int32_t)(origin - SLOTS), SYSCALL_UNKNOWN);
	else if (origin < 0 || origin == REGISTER_ESP ||
		 (origin >= SYSCALL_STACK && search->code->mode != INSN_MODE_64))
		search->failed = true;
	else
		step->asked |= BIT(origin);
}

/* Ask before an instruction for the slots that are asked for after it. */
static void ask_before(struct search *search, size_t offset, uint64_t slots)
{
	struct step *step = &search->steps[offset];
	struct effect effect =
		effect_of(search->code->bytes + offset, &step->insn, search->code->mode);

	for (size_t i = 1; i < step->insn.length; i++)
		search->failed |= step[i].jumped; /* a jump into the instruction */
	for (int slot = 0; slot < SLOTS; slot++)
		if (slots & BIT(slot))
			ask(search, step, origin_before(&effect, slot));
}

/* Follow all code back once. Returns whether to repeat. */
static bool follow_back(struct search *search)
{
	struct step *steps = search->steps;
	bool more = false;

	for (size_t offset = search->code->size; offset-- > 0;) {
		size_t to = target_of(search, offset);
		uint64_t asked = steps[offset].asked, slots = steps[to].asked;

		if (!steps[offset].insn.length)
			continue;
		if (!ends_flow(&steps[offset].insn))
			slots |= steps[offset + steps[offset].insn.length].asked;
		if (slots)
			ask_before(search, offset, slots);
		more |= steps[offset].asked != asked;
	}
	return more && !search->failed;
}

/* Returns whether an instruction is a nop, which assemblers emit after jumps. */
static bool is_padding(const struct search *search, size_t offset)
{
	struct fields fields;

	return read_fields(search->code->bytes + offset, search->steps[offset].insn.length,
			   search->code->mode, &fields) &&
	       fields.opcode == (fields.map_0f ? 0x1f : 0x90);
}

/*
 * Ask at entries of the code. At a function's start, registers and words contain its arguments, and
 * the top word the return address. Unreached code is a landing pad, or the target of another
 * function.
 */
static void ask_callers(struct search *search)
{
	for (int slot = 0; slot < SLOTS; slot++)
		if (search->steps[0].asked & BIT(slot))
			add_value(search, SYSCALL_UNKNOWN,
				  slot < SYSCALL_STACK   ? slot
				  : slot > SYSCALL_STACK ? slot - 1
							 : SYSCALL_UNKNOWN);
	for (size_t offset = 0; offset < search->code->size; offset++)
		search->failed |= search->steps[offset].asked && !search->steps[offset].reached &&
				  !is_padding(search, offset);
}

struct syscall_number syscall_number_find(const struct syscall_code *code, size_t at, unsigned slot)
{
	const struct syscall_number none = { SYSCALL_UNKNOWN, SYSCALL_UNKNOWN };
	struct search search = { .code = code, .found = none };

	if (at >= code->size || slot >= SLOTS)
		return none;
	search.steps = alloc_zeroed(code->size + 1, sizeof(*search.steps));
	search.failed = !find_steps(&search) || !search.steps[at].insn.length;
	mark_reached(&search);
	ask(&search, &search.steps[at], slot);
	for (int round = 0; follow_back(&search); round++)
		search.failed = round == ROUNDS_MOST;
	ask_callers(&search);
	free(search.steps);
	return search.failed ? none : search.found;
}
