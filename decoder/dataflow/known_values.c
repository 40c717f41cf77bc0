/* SPDX-License-Identifier: MIT */
/* What each instruction does to the values of registers and the stack. */
#include "decoder/dataflow/known_values.h"

#include <string.h>

#include "decoder/dataflow/insn_fields.h"

enum { REGISTER_EAX = 0, REGISTER_ECX = 1, REGISTER_ESP = 4, REGISTER_R11 = 11 };

/* Opcodes of group 1 with an immediate value of 8 and of 32 bits; operations in their ModRM.reg. */
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

static int32_t read_int32(const uint8_t *bytes)
{
	return (int32_t)((uint32_t)bytes[0] | (uint32_t)bytes[1] << 8 | (uint32_t)bytes[2] << 16 |
			 (uint32_t)bytes[3] << 24);
}

/*
 * Returns whether the operand ModRM.rm is memory at a constant distance from the stack pointer;
 * sets that.
 */
static bool is_on_stack(const struct insn_fields *fields, int32_t *distance)
{
	uint8_t mod = fields->modrm >> 6;

	if (fields->elsewhere || mod == 3 || (fields->modrm & 7) != 4 ||
	    fields->rex & (REX_B | REX_X) ||
	    fields->rest_size < (mod == 0   ? 1u
				 : mod == 1 ? 2u
					    : 5u) ||
	    fields->rest[0] != 0x24)
		return false; /* the SIB byte 24: ESP without index */
	*distance = mod == 0   ? 0
		    : mod == 1 ? (int8_t)fields->rest[1]
			       : read_int32(fields->rest + 1);
	return true;
}

/* Returns the word in memory that an instruction of 64-bit operands has as ModRM.rm; NULL: none. */
static struct known_value *word_of(struct known_values *values, const struct insn_fields *fields)
{
	int32_t distance;

	if (!is_on_stack(fields, &distance) || distance < 0 || distance % 8 ||
	    distance / 8 >= KNOWN_WORDS)
		return NULL;
	return &values->words[distance / 8];
}

/* The memory operand ModRM.rm of so many bytes is written. */
static void write_memory(struct known_values *values, const struct insn_fields *fields,
			 int32_t bytes)
{
	int32_t distance;

	if ((fields->modrm & 0xc7) == 5)
		return; /* relative to RIP: data of the program */
	if (!is_on_stack(fields, &distance)) {
		forget_stack(values); /* the address may be of the stack */
		return;
	}
	for (int32_t i = 0; i < KNOWN_WORDS; i++)
		if (8 * i + 7 >= distance && 8 * i - bytes < distance)
			values->words[i] = unknown;
}

/* ---- Instructions -------------------------------------------------------- */

/* Returns whether an instruction makes a register of itself 0: xor, sub. */
static bool clears(const struct insn_fields *fields)
{
	return (fields->opcode == 0x31 || fields->opcode == 0x33 || fields->opcode == 0x29 ||
		fields->opcode == 0x2b) &&
	       insn_fields_rm_is_register(fields) &&
	       insn_fields_reg(fields) == insn_fields_rm(fields);
}

static struct known_value constant(int32_t number)
{
	return (struct known_value){ VALUE_CONSTANT, number };
}

/* Returns the value of the operand ModRM.rm. */
static struct known_value value_of_rm(struct known_values *values, const struct insn_fields *fields)
{
	const struct known_value *word;

	if (insn_fields_rm_is_register(fields))
		return values->registers[insn_fields_rm(fields)];
	word = word_of(values, fields);
	return word ? *word : unknown;
}

/* Returns what an instruction puts into the place that it writes. */
static struct known_value result_of(struct known_values *values, const struct insn_fields *fields)
{
	if (fields->map_0f || fields->narrow)
		return unknown;
	/* Its first byte was taken for a ModRM. */
	if (fields->opcode >> 3 == 0xb8 >> 3 && !(fields->rex & REX_W) && fields->rest_size == 3)
		return constant(read_int32(fields->rest - 1));
	if (fields->opcode == 0xc7 && !(fields->modrm & 0x38) && fields->rest_size >= 4)
		return constant(read_int32(fields->rest + fields->rest_size - 4)); /* not xbegin */
	if (clears(fields))
		return constant(0);
	if (fields->opcode == 0x89)
		return values->registers[insn_fields_reg(fields)];
	if (fields->opcode == 0x8b)
		return value_of_rm(values, fields);
	return unknown;
}

/* Follow an instruction that may be a push. */
static void follow_push(struct known_values *values, const struct insn_fields *fields)
{
	unsigned reg = (fields->opcode & 7) | (fields->rex & REX_B ? 8u : 0u);

	if (fields->map_0f)
		return;
	if (fields->opcode >> 3 == 0x50 >> 3)
		push(values, values->registers[reg]);
	else if (fields->opcode == 0x68 && fields->rest_size == 3)
		push(values, constant(read_int32(fields->rest - 1)));
	else if (fields->opcode == 0x6a)
		push(values, constant((int8_t)fields->modrm));
	else if (fields->opcode == 0xff)
		push(values, value_of_rm(values, fields));
	else if (fields->opcode == 0x68)
		forget_stack(values);
	if (fields->narrow)
		forget_stack(values);
}

/* The stack pointer is written, other than by push and pop. */
static void write_stack_pointer(struct known_values *values, const struct insn_fields *fields)
{
	bool add = (fields->modrm >> 3 & 7) == OPERATION_ADD;
	int64_t bytes = 1; /* not known */

	if (!fields->map_0f && fields->rex & REX_W &&
	    (add || (fields->modrm >> 3 & 7) == OPERATION_SUB)) {
		if (fields->opcode == GROUP_1_IMM8 && fields->rest_size == 1)
			bytes = (int8_t)fields->rest[0];
		else if (fields->opcode == GROUP_1_IMM32 && fields->rest_size == 4)
			bytes = read_int32(fields->rest);
	}
	move_stack(values, add ? bytes : -bytes);
}

/* A register is written.  As an operand of 8 bits 4 to 7 mean AH to BH, without REX. */
static void write_register(struct known_values *values, const struct insn_fields *fields,
			   unsigned number, struct known_value value)
{
	if (number != REGISTER_ESP)
		values->registers[number] = value;
	else
		write_stack_pointer(values, fields);
	if (!fields->rex && number >= 4)
		values->registers[number - 4] = unknown;
}

static void follow_pop_or_constant(struct known_values *values, const struct insn_fields *fields)
{
	unsigned number = (fields->opcode & 7) | (fields->rex & REX_B ? 8u : 0u);
	struct known_value value = result_of(values, fields);

	if (!fields->map_0f && !fields->bits32 && fields->opcode >> 3 == 0x58 >> 3) {
		value = pop(values);
		if (fields->narrow || number == REGISTER_ESP) {
			value = unknown;
			forget_stack(values);
		}
	}
	write_register(values, fields, number, value);
}

static void store(struct known_values *values, const struct insn_fields *fields)
{
	struct known_value value = result_of(values, fields);
	struct known_value *word = fields->rex & REX_W ? word_of(values, fields) : NULL;

	write_memory(values, fields, 8);
	if (word)
		*word = value;
}

/* As many bytes as vectors have. */
#define VECTOR_MOST 64

/* Returns whether an instruction of vectors or hints may write its memory operand. */
static bool stores_vector(const struct insn_fields *fields)
{
	return fields->map_0f && !insn_fields_rm_is_register(fields) &&
	       memchr("\x11\x13\x17\x1b\x29\x7f\xd6", fields->opcode, 7);
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
	struct insn_fields fields;

	if (insn->kind == BRANCH_COND)
		return;
	if (insn->kind == BRANCH_SYSCALL && mode == INSN_MODE_64) {
		follow_syscall(values);
		return;
	}
	if (insn->kind != BRANCH_NONE || !insn_fields_read(bytes, insn->length, mode, &fields)) {
		known_values_forget(values);
		return;
	}
	switch (insn_fields_written(&fields)) {
	case WRITES_REG:
		write_register(values, &fields, insn_fields_reg(&fields),
			       result_of(values, &fields));
		break;
	case WRITES_RM:
		if (insn_fields_rm_is_register(&fields))
			write_register(values, &fields, insn_fields_rm(&fields),
				       result_of(values, &fields));
		else
			store(values, &fields);
		break;
	case WRITES_OPCODE:
		follow_pop_or_constant(values, &fields);
		break;
	case WRITES_NOTHING:
		if (stores_vector(&fields))
			write_memory(values, &fields, VECTOR_MOST);
		else if (mode == INSN_MODE_64)
			follow_push(values, &fields);
		break;
	default:
		known_values_forget(values);
	}
}
