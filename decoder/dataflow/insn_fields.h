/* SPDX-License-Identifier: MIT */
/*
 * The fields of instructions, and the operand that they write, for opcodes of one byte and those
 * behind 0f.
 */
#ifndef DECODER_DATAFLOW_INSN_FIELDS_H
#define DECODER_DATAFLOW_INSN_FIELDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "decoder/code/insn.h"

/* Bits of a REX prefix (SDM volume 2, "REX Prefixes"). */
enum { REX_B = 1, REX_X = 2, REX_R = 4, REX_W = 8 };

/* The fields of an instruction that is no branch. */
struct insn_fields {
	uint8_t rex;    /* 0: none */
	bool bits32;    /* 32-bit code, which has no REX */
	bool narrow;    /* 16-bit operands */
	bool elsewhere; /* memory of another segment, or by a shorter address */
	bool map_0f;    /* the opcode is behind 0f */
	uint8_t opcode, modrm;
	const uint8_t *rest; /* behind the ModRM byte, if it has one */
	size_t rest_size;
};

/* The operand that an instruction writes, but for flags, pushed words and the memory of vectors. */
enum insn_written {
	WRITES_NOTHING,
	WRITES_ANYTHING, /* perhaps all registers and memory */
	WRITES_REG,      /* the register in ModRM.reg */
	WRITES_RM,       /* the register or memory in ModRM.rm */
	WRITES_OPCODE,   /* the register in the low bits of the opcode */
};

/*
 * Read the fields of the instruction of `size` bytes, which are borrowed.  Returns false if it has
 * no opcode.
 */
bool insn_fields_read(const uint8_t *bytes, size_t size, enum insn_mode mode,
		      struct insn_fields *fields);

/* Returns the operand that an instruction writes; WRITES_ANYTHING if that is not known. */
enum insn_written insn_fields_written(const struct insn_fields *fields);

/* Returns the number of the register in ModRM.reg, and in ModRM.rm, if that is one. */
static inline unsigned insn_fields_reg(const struct insn_fields *fields)
{
	return (fields->modrm >> 3 & 7) | (fields->rex & REX_R ? 8 : 0);
}

static inline unsigned insn_fields_rm(const struct insn_fields *fields)
{
	return (fields->modrm & 7) | (fields->rex & REX_B ? 8 : 0);
}

static inline bool insn_fields_rm_is_register(const struct insn_fields *fields)
{
	return fields->modrm >> 6 == 3;
}

#endif
