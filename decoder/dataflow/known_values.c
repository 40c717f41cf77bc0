/* SPDX-License-Identifier: MIT */
/* Takes instructions apart, as far as registers and the stack are concerned. */
#include "decoder/dataflow/known_values.h"

#include <string.h>

/* Bits of a REX prefix. */
enum { REX_B = 1, REX_X = 2, REX_R = 4, REX_W = 8 };

/* An instruction that is no branch, taken apart. */
struct parts {
	uint8_t rex; /* 0: none */
	bool bits32; /* 32-bit code, which has no REX */
	bool narrow; /* 16-bit operands */
	bool apart;  /* memory of another segment, or by a shorter address */
	bool two;    /* the opcode is of the map behind 0f */
	uint8_t opcode, modrm;
	const uint8_t *rest; /* behind the ModRM byte, if it has one */
	size_t rest_size;
};

static bool is_legacy_prefix(uint8_t byte)
{
	return byte && strchr("\x66\x67\xf0\xf2\xf3\x26\x2e\x36\x3e\x64\x65", byte);
}

static bool take_apart(const uint8_t *bytes, size_t size, enum insn_mode mode, struct parts *parts)
{
	size_t at = 0;

	*parts = (struct parts){ .bits32 = mode == INSN_MODE_32 };
	for (; at < size && is_legacy_prefix(bytes[at]); at++) {
		parts->narrow |= bytes[at] == 0x66;
		parts->apart |= bytes[at] >= 0x64 && bytes[at] <= 0x67 && bytes[at] != 0x66;
	}
	if (at < size && bytes[at] >> 4 == 4 && !parts->bits32)
		parts->rex = bytes[at++];
	if (at < size && bytes[at] == 0x0f) {
		parts->two = true;
		at++;
	}
	if (at == size)
		return false;
	parts->opcode = bytes[at++];
	if (at < size)
		parts->modrm = bytes[at++];
	parts->rest = bytes + at;
	parts->rest_size = size - at;
	return true;
}

/* What an instruction writes. */
enum target { NOTHING, ANYTHING, OF_REG, OF_RM, OF_OPCODE };

/* Returns the operand that is written by an opcode with an operation in ModRM.reg. */
static enum target target_of_group(const struct parts *parts)
{
	unsigned operation = parts->modrm >> 3 & 7;

	switch (parts->opcode) {
	case 0x80:
	case 0x81:
	case 0x83:
		return operation == 7 ? NOTHING : OF_RM; /* cmp */
	case 0xf6:
	case 0xf7:
		return operation < 2 ? NOTHING : operation < 4 ? OF_RM : ANYTHING;  /* test; mul */
	default:                                                                    /* fe, ff */
		return operation < 2 ? OF_RM : operation == 6 ? NOTHING : ANYTHING; /* push */
	}
}

static enum target target_of_two(const struct parts *parts)
{
	uint8_t opcode = parts->opcode;

	if (opcode == 0x1e && parts->modrm != 0xfa && parts->modrm != 0xfb)
		return OF_RM; /* perhaps rdssp; not endbr64, endbr32 */
	if ((opcode >= 0x10 && opcode <= 0x1f) || opcode == 0x28 || opcode == 0x29 ||
	    opcode == 0x2e || opcode == 0x2f || (opcode >= 0x51 && opcode <= 0x6f) ||
	    opcode == 0x7f || opcode == 0xd6 || opcode == 0xef)
		return NOTHING; /* vectors, endbr64, nop */
	if (opcode >> 4 == 4 || opcode == 0xaf || opcode == 0xb6 || opcode == 0xb7 ||
	    opcode == 0xbe || opcode == 0xbf)
		return OF_REG;                      /* cmov, imul, movzx, movsx */
	return opcode >> 4 == 9 ? OF_RM : ANYTHING; /* set */
}

/* Returns what an instruction writes besides memory, the stack pointer and flags. */
static enum target target_of(const struct parts *parts)
{
	uint8_t opcode = parts->opcode;

	if (parts->two)
		return target_of_two(parts);
	if (opcode < 0x40) { /* add, or, ..., cmp */
		if ((opcode & 7) > 5)
			return ANYTHING;
		if (opcode >= 0x38)
			return NOTHING;
		return (opcode & 7) > 3 ? ANYTHING : opcode & 2 ? OF_REG : OF_RM;
	}
	if (parts->bits32 && opcode >> 4 == 4)
		return OF_OPCODE; /* inc, dec */
	switch (opcode) {
	case 0x63:
		return parts->bits32 ? ANYTHING : OF_REG; /* arpl; movsxd */
	case 0x69:
	case 0x6b:
	case 0x8a:
	case 0x8b:
	case 0x8d:
		return OF_REG;
	case 0x88:
	case 0x89:
	case 0xc0:
	case 0xc1:
	case 0xc6:
	case 0xc7:
	case 0xd0:
	case 0xd1:
	case 0xd2:
	case 0xd3:
		return OF_RM;
	case 0x80:
	case 0x81:
	case 0x83:
	case 0xf6:
	case 0xf7:
	case 0xfe:
	case 0xff:
		return target_of_group(parts);
	case 0x68: /* push */
	case 0x6a:
	case 0x84: /* test */
	case 0x85:
	case 0xa8:
	case 0xa9:
	case 0xf4: /* hlt */
		return NOTHING;
	case 0x90:
		return parts->rex & REX_B ? ANYTHING : NOTHING;
	default:
		if (opcode >> 3 == 0x50 >> 3) /* push */
			return NOTHING;
		return opcode >> 3 == 0x58 >> 3 || opcode >> 4 == 0xb ? OF_OPCODE : ANYTHING;
	}
}

/* Returns the number of the register in ModRM.reg, and in ModRM.rm, if that is one. */
static unsigned register_of_reg(const struct parts *parts)
{
	return (parts->modrm >> 3 & 7) | (parts->rex & REX_R ? 8 : 0);
}

static unsigned register_of_rm(const struct parts *parts)
{
	return (parts->modrm & 7) | (parts->rex & REX_B ? 8 : 0);
}

static bool rm_is_register(const struct parts *parts)
{
	return parts->modrm >> 6 == 3;
}

static int32_t read_int32(const uint8_t *bytes)
{
	return (int32_t)((uint32_t)bytes[0] | (uint32_t)bytes[1] << 8 | (uint32_t)bytes[2] << 16 |
			 (uint32_t)bytes[3] << 24);
}

enum { REGISTER_EAX = 0, REGISTER_ECX = 1, REGISTER_ESP = 4, REGISTER_R11 = 11 };

/* The opcode of group 1, 8 bits of immediate value; of all of 32 bits; and operations of it. */
enum { GROUP_1_IMM8 = 0x83, GROUP_1_IMM32 = 0x81, OPERATION_ADD = 0, OPERATION_SUB = 5 };

static const struct known_value unknown;

void known_values_begin(struct known_values *values, enum insn_mode mode)
{
	known_values_forget(values);
	for (int32_t i = 0; i < KNOWN_REGISTERS; i++)
		if (i != REGISTER_ESP)
			values->registers[i] = (struct known_value){ VALUE_ARGUMENT, i };
	/* On top is the return address. */
	for (int32_t i = 0; i < KNOWN_STACK_ARGUMENTS && mode == INSN_MODE_64; i++)
		values->words[1 + i] = (struct known_value){ VALUE_ARGUMENT, KNOWN_STACK + i };
}

static void forget_stack(struct known_values *values)
{
	memset(values->words, 0, sizeof(values->words));
}

void known_values_forget(struct known_values *values)
{
	memset(values->registers, 0, sizeof(values->registers));
	forget_stack(values);
}

struct known_value known_value_of(const struct known_values *values, unsigned place)
{
	if (place < KNOWN_REGISTERS)
		return values->registers[place];
	place -= KNOWN_STACK;
	return place < KNOWN_WORDS ? values->words[place] : unknown;
}

/* Returns whether a value was known, and is no more. */
static bool merge_value(struct known_value *value, struct known_value other)
{
	if (value->kind == VALUE_UNKNOWN ||
	    (value->kind == other.kind && value->number == other.number))
		return false;
	*value = unknown;
	return true;
}

bool known_values_merge(struct known_values *values, const struct known_values *other)
{
	bool changed = false;

	for (unsigned i = 0; i < KNOWN_REGISTERS; i++)
		changed |= merge_value(&values->registers[i], other->registers[i]);
	for (unsigned i = 0; i < KNOWN_WORDS; i++)
		changed |= merge_value(&values->words[i], other->words[i]);
	return changed;
}

/* ---- The stack ----------------------------------------------------------- */

static void push(struct known_values *values, struct known_value value)
{
	memmove(values->words + 1, values->words, (KNOWN_WORDS - 1) * sizeof(values->words[0]));
	values->words[0] = value;
}

static struct known_value pop(struct known_values *values)
{
	struct known_value value = values->words[0];

	memmove(values->words, values->words + 1, (KNOWN_WORDS - 1) * sizeof(values->words[0]));
	values->words[KNOWN_WORDS - 1] = unknown;
	return value;
}

/* Move the stack pointer by so many bytes. */
static void move_stack(struct known_values *values, int64_t bytes)
{
	if (bytes % 8 || bytes < -8 * KNOWN_WORDS || bytes > 8 * KNOWN_WORDS) {
		forget_stack(values);
		return;
	}
	for (; bytes > 0; bytes -= 8)
		pop(values);
	for (; bytes < 0; bytes += 8)
		push(values, unknown);
}

/*
 * Returns whether the operand ModRM.rm is memory at a constant distance from the stack pointer;
 * sets that.
 */
static bool is_on_stack(const struct parts *parts, int32_t *distance)
{
	uint8_t mod = parts->modrm >> 6;

	if (parts->apart || mod == 3 || (parts->modrm & 7) != 4 || parts->rex & (REX_B | REX_X) ||
	    parts->rest_size < (mod == 0   ? 1u
				: mod == 1 ? 2u
					   : 5u) ||
	    parts->rest[0] != 0x24)
		return false; /* the SIB byte 24: ESP without index */
	*distance = mod == 0 ? 0 : mod == 1 ? (int8_t)parts->rest[1] : read_int32(parts->rest + 1);
	return true;
}

/* Returns the word in memory that an instruction of 64-bit operands has as ModRM.rm; NULL: none. */
static struct known_value *word_of(struct known_values *values, const struct parts *parts)
{
	int32_t distance;

	if (!is_on_stack(parts, &distance) || distance < 0 || distance % 8 ||
	    distance / 8 >= KNOWN_WORDS)
		return NULL;
	return &values->words[distance / 8];
}

/* The memory operand ModRM.rm of so many bytes is written. */
static void write_memory(struct known_values *values, const struct parts *parts, int32_t bytes)
{
	int32_t distance;

	if ((parts->modrm & 0xc7) == 5)
		return; /* relative to RIP: data of the program */
	if (!is_on_stack(parts, &distance)) {
		forget_stack(values); /* perhaps it is */
		return;
	}
	for (int32_t i = 0; i < KNOWN_WORDS; i++)
		if (8 * i + 7 >= distance && 8 * i - bytes < distance)
			values->words[i] = unknown;
}

/* ---- Instructions -------------------------------------------------------- */

/* Returns whether an instruction makes a register of itself 0: xor, sub. */
static bool clears(const struct parts *parts)
{
	return (parts->opcode == 0x31 || parts->opcode == 0x33 || parts->opcode == 0x29 ||
		parts->opcode == 0x2b) &&
	       rm_is_register(parts) && register_of_reg(parts) == register_of_rm(parts);
}

static struct known_value constant(int32_t number)
{
	return (struct known_value){ VALUE_CONSTANT, number };
}

/* Returns the value of the operand ModRM.rm. */
static struct known_value value_of_rm(struct known_values *values, const struct parts *parts)
{
	const struct known_value *word;

	if (rm_is_register(parts))
		return values->registers[register_of_rm(parts)];
	word = word_of(values, parts);
	return word ? *word : unknown;
}

/* Returns what an instruction puts into the place that it writes. */
static struct known_value result_of(struct known_values *values, const struct parts *parts)
{
	if (parts->two || parts->narrow)
		return unknown;
	/* Its first byte was taken for a ModRM. */
	if (parts->opcode >> 3 == 0xb8 >> 3 && !(parts->rex & REX_W) && parts->rest_size == 3)
		return constant(read_int32(parts->rest - 1));
	if (parts->opcode == 0xc7 && !(parts->modrm & 0x38) && parts->rest_size >= 4)
		return constant(read_int32(parts->rest + parts->rest_size - 4)); /* not xbegin */
	if (clears(parts))
		return constant(0);
	if (parts->opcode == 0x89)
		return values->registers[register_of_reg(parts)];
	if (parts->opcode == 0x8b)
		return value_of_rm(values, parts);
	return unknown;
}

/* Follow an instruction that may be a push. */
static void follow_push(struct known_values *values, const struct parts *parts)
{
	unsigned reg = (parts->opcode & 7) | (parts->rex & REX_B ? 8u : 0u);

	if (parts->two)
		return;
	if (parts->opcode >> 3 == 0x50 >> 3)
		push(values, values->registers[reg]);
	else if (parts->opcode == 0x68 && parts->rest_size == 3)
		push(values, constant(read_int32(parts->rest - 1)));
	else if (parts->opcode == 0x6a)
		push(values, constant((int8_t)parts->modrm));
	else if (parts->opcode == 0xff)
		push(values, value_of_rm(values, parts));
	else if (parts->opcode == 0x68)
		forget_stack(values);
	if (parts->narrow)
		forget_stack(values);
}

/* The stack pointer is written, other than by push and pop. */
static void write_stack_pointer(struct known_values *values, const struct parts *parts)
{
	bool add = (parts->modrm >> 3 & 7) == OPERATION_ADD;
	int64_t bytes = 1; /* not known */

	if (!parts->two && parts->rex & REX_W &&
	    (add || (parts->modrm >> 3 & 7) == OPERATION_SUB)) {
		if (parts->opcode == GROUP_1_IMM8 && parts->rest_size == 1)
			bytes = (int8_t)parts->rest[0];
		else if (parts->opcode == GROUP_1_IMM32 && parts->rest_size == 4)
			bytes = read_int32(parts->rest);
	}
	move_stack(values, add ? bytes : -bytes);
}

/* A register is written.  As an operand of 8 bits 4 to 7 mean AH to BH, without REX. */
static void write_register(struct known_values *values, const struct parts *parts, unsigned number,
			   struct known_value value)
{
	if (number != REGISTER_ESP)
		values->registers[number] = value;
	else
		write_stack_pointer(values, parts);
	if (!parts->rex && number >= 4)
		values->registers[number - 4] = unknown;
}

static void follow_pop_or_constant(struct known_values *values, const struct parts *parts)
{
	unsigned number = (parts->opcode & 7) | (parts->rex & REX_B ? 8u : 0u);
	struct known_value value = result_of(values, parts);

	if (!parts->two && !parts->bits32 && parts->opcode >> 3 == 0x58 >> 3) {
		value = pop(values);
		if (parts->narrow || number == REGISTER_ESP) {
			value = unknown;
			forget_stack(values);
		}
	}
	write_register(values, parts, number, value);
}

static void store(struct known_values *values, const struct parts *parts)
{
	struct known_value value = result_of(values, parts);
	struct known_value *word = parts->rex & REX_W ? word_of(values, parts) : NULL;

	write_memory(values, parts, 8);
	if (word)
		*word = value;
}

/* As many bytes as vectors have. */
#define VECTOR_MOST 64

/* Returns whether an instruction of vectors or hints may write its memory operand. */
static bool stores_vector(const struct parts *parts)
{
	return parts->two && !rm_is_register(parts) &&
	       memchr("\x11\x13\x17\x1b\x29\x7f\xd6", parts->opcode, 7);
}

/*
 * SYSCALL leaves all registers but RAX, RCX and R11 as they are (System V ABI, AMD64, "Linux
 * Conventions"); the kernel may write memory.
 */
static void follow_syscall(struct known_values *values)
{
	values->registers[REGISTER_EAX] = values->registers[REGISTER_ECX] =
		values->registers[REGISTER_R11] = unknown;
	forget_stack(values);
}

void known_values_step(struct known_values *values, const uint8_t *bytes, const struct insn *insn,
		       enum insn_mode mode)
{
	struct parts parts;

	if (insn->kind == BRANCH_COND)
		return;
	if (insn->kind == BRANCH_SYSCALL && mode == INSN_MODE_64) {
		follow_syscall(values);
		return;
	}
	if (insn->kind != BRANCH_NONE || !take_apart(bytes, insn->length, mode, &parts)) {
		known_values_forget(values);
		return;
	}
	switch (target_of(&parts)) {
	case OF_REG:
		write_register(values, &parts, register_of_reg(&parts), result_of(values, &parts));
		break;
	case OF_RM:
		if (rm_is_register(&parts))
			write_register(values, &parts, register_of_rm(&parts),
				       result_of(values, &parts));
		else
			store(values, &parts);
		break;
	case OF_OPCODE:
		follow_pop_or_constant(values, &parts);
		break;
	case NOTHING:
		if (stores_vector(&parts))
			write_memory(values, &parts, VECTOR_MOST);
		else if (mode == INSN_MODE_64)
			follow_push(values, &parts);
		break;
	default:
		known_values_forget(values);
	}
}
