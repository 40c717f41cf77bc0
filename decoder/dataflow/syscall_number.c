/* SPDX-License-Identifier: MIT */
/* Follows registers through straight-line code. */
#include "decoder/dataflow/syscall_number.h"

#include <stdbool.h>
#include <string.h>

/* Bits of a REX prefix. */
enum { REX_B = 1, REX_R = 4, REX_W = 8 };

/* An instruction that is no branch, taken apart. */
struct parts {
	uint8_t rex; /* 0: none */
	bool bits32; /* 32-bit code, which has no REX */
	bool narrow; /* 16-bit operands */
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
	for (; at < size && is_legacy_prefix(bytes[at]); at++)
		parts->narrow |= bytes[at] == 0x66;
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

/* Nothing is known of the stack pointer, which many instructions write. */
#define REGISTER_ESP 4

/* What a register has. */
struct content {
	enum { UNKNOWN = 0, CONSTANT, ARGUMENT } kind;
	int32_t value; /* CONSTANT; ARGUMENT: the number of the register that the function got */
	size_t since;  /* offset from which on it is so, if no jump leads behind it */
};

struct registers {
	struct content now[SYSCALL_REGISTERS];
};

static void init_registers(struct registers *registers)
{
	for (int32_t i = 0; i < SYSCALL_REGISTERS; i++)
		registers->now[i] = (struct content){ ARGUMENT, i, 0 };
	registers->now[REGISTER_ESP].kind = UNKNOWN;
}

/* A register is written.  As an operand of 8 bits 4 to 7 mean AH to BH, without REX. */
static void set_register(struct registers *registers, const struct parts *parts, unsigned number,
			 struct content content)
{
	if (number != REGISTER_ESP)
		registers->now[number] = content;
	if (!parts->rex && number >= 4)
		registers->now[number - 4].kind = UNKNOWN;
}

/* Returns whether an instruction makes a register of itself 0: xor, sub. */
static bool clears(const struct parts *parts)
{
	return (parts->opcode == 0x31 || parts->opcode == 0x33 || parts->opcode == 0x29 ||
		parts->opcode == 0x2b) &&
	       rm_is_register(parts) && register_of_reg(parts) == register_of_rm(parts);
}

/* Returns what an instruction, which ends at `behind`, puts into the register that it writes. */
static struct content content_of(const struct registers *registers, const struct parts *parts,
				 size_t behind)
{
	const uint8_t *modrm = parts->rest - 1;

	if (parts->two || parts->narrow)
		return (struct content){ UNKNOWN, 0, 0 };
	/* Its first byte was taken for a ModRM. */
	if (parts->opcode >> 3 == 0xb8 >> 3 && !(parts->rex & REX_W) && parts->rest_size == 3)
		return (struct content){ CONSTANT, read_int32(modrm), behind };
	if (parts->opcode == 0xc7 && !(parts->modrm & 0x38) &&
	    parts->rest_size == 4) /* not xbegin */
		return (struct content){ CONSTANT, read_int32(parts->rest), behind };
	if (clears(parts))
		return (struct content){ CONSTANT, 0, behind };
	if (parts->opcode == 0x89)
		return registers->now[register_of_reg(parts)];
	if (parts->opcode == 0x8b && rm_is_register(parts))
		return registers->now[register_of_rm(parts)];
	return (struct content){ UNKNOWN, 0, 0 };
}

/* Follow the instruction up to the offset `behind`. */
static void step(struct registers *registers, const struct syscall_code *code,
		 const struct insn *insn, size_t behind)
{
	const uint8_t *bytes = code->bytes + behind - insn->length;
	enum target target = ANYTHING;
	struct parts parts;

	if (insn->kind == BRANCH_COND)
		return; /* not taken */
	if (insn->kind == BRANCH_NONE && take_apart(bytes, insn->length, code->mode, &parts))
		target = target_of(&parts);
	if (target == OF_REG)
		set_register(registers, &parts, register_of_reg(&parts),
			     content_of(registers, &parts, behind));
	else if (target == OF_RM && rm_is_register(&parts))
		set_register(registers, &parts, register_of_rm(&parts),
			     content_of(registers, &parts, behind));
	else if (target == OF_OPCODE)
		set_register(registers, &parts, (parts.opcode & 7) | (parts.rex & REX_B ? 8u : 0u),
			     content_of(registers, &parts, behind));
	else if (target == ANYTHING)
		*registers = (struct registers){ 0 };
}

/* Returns whether no jump of the function can lead to [since, at]. */
static bool is_straight(const struct syscall_code *code, size_t since, size_t at)
{
	struct insn insn;

	for (size_t offset = 0; offset < code->size; offset += insn.length) {
		int64_t target;

		insn = insn_decode(code->bytes + offset, code->size - offset, code->mode);
		if (!insn.length)
			return offset > at; /* data behind the code */
		if (insn.kind != BRANCH_JUMP && insn.kind != BRANCH_COND)
			continue;
		target = (int64_t)(offset + insn.length) + insn.distance;
		if (insn.indirect || (target >= (int64_t)since && target <= (int64_t)at))
			return false;
	}
	return true;
}

struct syscall_number syscall_number_find(const struct syscall_code *code, size_t at,
					  unsigned number_register)
{
	struct syscall_number found = { SYSCALL_UNKNOWN, SYSCALL_UNKNOWN };
	const struct content *content;
	struct registers registers;
	size_t offset = 0;

	init_registers(&registers);
	while (offset < at && at < code->size) {
		struct insn insn =
			insn_decode(code->bytes + offset, code->size - offset, code->mode);

		if (!insn.length)
			return found;
		step(&registers, code, &insn, offset + insn.length);
		offset += insn.length;
	}
	content = &registers.now[number_register];
	if (offset != at || content->kind == UNKNOWN || content->value < 0 ||
	    !is_straight(code, content->since, at))
		return found;
	*(content->kind == CONSTANT ? &found.number : &found.argument) = content->value;
	return found;
}
