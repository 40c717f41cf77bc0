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

/* ---- Operands ------------------------------------------------------------- */

/*
 * The operand that an instruction writes, except flags, pushed words and vectors in memory (SDM
 * volume 2, appendix A): '.' nothing; 'g' the register in ModRM.reg; 'm' the register or memory in
 * ModRM.rm; 'o' the register in the opcode; '*' possibly anything. Others: written_by().
 */
static const char written[16][17] = {
	"mmgg****mmgg****", "mmgg****mmgg****", "mmgg****mmgg****", "mmgg****......**",
	"oooooooooooooooo", "........oooooooo", "***a****.g.g****", "****************",
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
static char written_by(const struct insn_fields *fields, enum insn_mode mode)
{
	const char(*map)[17] = fields->map == INSN_MAP_0F ? written_0f : written;
	char operand =
		fields->map == INSN_MAP_OTHER ? '*' : map[fields->opcode >> 4][fields->opcode & 15];
	unsigned operation = fields->modrm >> 3 & 7;

	switch (operand) {
	case 'a': /* arpl; movsxd */
		return mode == INSN_MODE_32 ? '*' : 'g';
	case 'n': /* nop, or xchg with R8 */
		return fields->rex & INSN_REX_B ? '*' : '.';
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
	int64_t value; /* number that the slot gets, or its origin */
	int64_t words; /* added to the stack pointer */
};

/* Returns the slot of the operand ModRM.rm (memory: 64 bits), or UNKNOWN. */
static int slot_of_rm(const struct insn_fields *fields)
{
	int32_t distance = fields->displacement;

	if (!fields->memory)
		return fields->base;
	if (fields->elsewhere || !fields->on_stack || distance < 0 || distance % 8 ||
	    distance / 8 >= SLOTS - SYSCALL_STACK)
		return UNKNOWN;
	return SYSCALL_STACK + distance / 8;
}

/* Returns the origin of the value that an instruction writes. */
static int64_t result_of(const struct insn_fields *fields)
{
	if (fields->map != INSN_MAP_0 || fields->narrow)
		return UNKNOWN;
	if (fields->opcode >> 3 == 0xb8 >> 3 && fields->immediate_size == 4)
		return CONSTANT(fields->immediate);
	switch (fields->opcode) {
	case 0xc7: /* mov, not xbegin */
		return fields->modrm & 0x38 ? UNKNOWN : CONSTANT(fields->immediate);
	case 0x29: /* sub and xor of a register and itself */
	case 0x2b:
	case 0x31:
	case 0x33:
		return fields->reg == slot_of_rm(fields) ? CONSTANT(0) : UNKNOWN;
	case 0x89:
		return fields->reg;
	case 0x8b:
		return slot_of_rm(fields);
	default:
		return UNKNOWN;
	}
}

/* An instruction writes a register. For 8-bit operands without REX, 4 to 7 are AH to BH. */
static void write_register(const struct insn_fields *fields, int number, int64_t value,
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
	if (fields->map == INSN_MAP_0 && fields->rex & INSN_REX_W &&
	    (operation == 0 || operation == 5) &&
	    (fields->opcode == 0x81 || fields->opcode == 0x83))
		bytes = fields->immediate;
	if (bytes % 8)
		effect->lost |= ALL_WORDS;
	effect->words = (operation ? -bytes : bytes) / 8;
}

static void write_rm(const struct insn_fields *fields, struct effect *effect)
{
	if (!fields->memory) {
		write_register(fields, fields->base, result_of(fields), effect);
		return;
	}
	if (fields->base == INSN_NO_REGISTER)
		return; /* relative to RIP: data of the program */
	effect->slot = slot_of_rm(fields);
	effect->value = result_of(fields);
	/* The address can be on the stack; a vector has several words. */
	if (effect->slot == UNKNOWN || !(fields->rex & INSN_REX_W) || fields->map != INSN_MAP_0)
		effect->lost = ALL_WORDS;
}

/* A pop or a constant sets the register in the opcode. */
static void write_opcode_register(const struct insn_fields *fields, struct effect *effect)
{
	bool pop = fields->map == INSN_MAP_0 && fields->opcode >> 3 == 0x58 >> 3;

	write_register(fields, fields->opcode_reg, pop ? SYSCALL_STACK : result_of(fields), effect);
	effect->words = pop;
	if (pop && fields->narrow)
		effect->lost = ALL_SLOTS;
}

/* An instruction that writes no register and no memory can push. */
static void push(const struct insn_fields *fields, struct effect *effect)
{
	effect->value = UNKNOWN;
	if (fields->opcode >> 3 == 0x50 >> 3)
		effect->value = fields->opcode_reg;
	else if (fields->opcode == 0x68 || fields->opcode == 0x6a)
		effect->value = CONSTANT(fields->immediate);
	else if (fields->opcode == 0xff)
		effect->value = slot_of_rm(fields);
	else
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
	struct insn_fields fields;

	if (insn->kind == BRANCH_COND || insn->kind == BRANCH_JUMP)
		return effect;
	effect.lost = ALL_SLOTS;
	if (insn->kind == BRANCH_SYSCALL && mode == INSN_MODE_64)
		effect.lost = BIT(REGISTER_EAX) | BIT(REGISTER_ECX) | BIT(REGISTER_R11) | ALL_WORDS;
	if (insn->kind != BRANCH_NONE)
		return effect;
	insn_decode_fields(bytes, insn->length, mode, &fields);
	effect.lost = 0;
	switch (written_by(&fields, mode)) {
	case 'g':
		write_register(&fields, fields.reg, result_of(&fields), &effect);
		break;
	case 'm':
		write_rm(&fields, &effect);
		break;
	case 'o':
		write_opcode_register(&fields, &effect);
		break;
	case '.':
		if (fields.map == INSN_MAP_0)
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
	const struct syscall_code *code = search->code;
	struct insn_fields fields = { .map = INSN_MAP_OTHER };

	insn_decode_fields(code->bytes + offset, code->size - offset, code->mode, &fields);
	return (fields.map == INSN_MAP_0 && fields.opcode == 0x90) ||
	       (fields.map == INSN_MAP_0F && fields.opcode == 0x1f);
}

struct syscall_number syscall_number_find(const struct syscall_code *code, size_t at, unsigned slot)
{
	const struct syscall_number none = { SYSCALL_UNKNOWN, SYSCALL_UNKNOWN };
	struct search search = { .code = code, .found = none };
	bool more = true;

	if (at >= code->size || slot >= SLOTS)
		return none;
	search.steps = alloc_zeroed(code->size + 1, sizeof(*search.steps));
	search.failed = !find_steps(&search) || !search.steps[at].insn.length;
	/* Mark code that jumps from the function's start reach, possibly not all. */
	search.steps[0].reached = true;
	for (int round = 0; more && round < ROUNDS_MOST; round++) {
		more = false;
		for (size_t offset = 0; offset < search.code->size; offset++) {
			struct step *step = &search.steps[offset];
			size_t to = target_of(&search, offset);

			if (!step->reached || !step->insn.length)
				continue;
			more |= to < offset && !search.steps[to].reached;
			search.steps[to].reached = true;
			if (!ends_flow(&step->insn))
				search.steps[offset + step->insn.length].reached = true;
		}
	}
	ask(&search, &search.steps[at], slot);
	for (int round = 0; follow_back(&search); round++)
		search.failed = round == ROUNDS_MOST;
	/*
	 * Ask at entries of the code. At a function's start, registers and words contain its
	 * arguments, and the top word the return address. Unreached code is a landing pad, or the
	 * target of another function.
	 */
	for (int i = 0; i < SLOTS; i++)
		if (search.steps[0].asked & BIT(i))
			add_value(&search, SYSCALL_UNKNOWN,
				  i < SYSCALL_STACK   ? i
				  : i > SYSCALL_STACK ? i - 1
						      : SYSCALL_UNKNOWN);
	for (size_t offset = 0; offset < search.code->size; offset++)
		search.failed |= search.steps[offset].asked && !search.steps[offset].reached &&
				 !is_padding(&search, offset);
	free(search.steps);
	return search.failed ? none : search.found;
}
