/* SPDX-License-Identifier: MIT */
/*
 * x86 opcode maps, as far as they determine an instruction's length and its kind of branch: which
 * operands follow the opcode, and no mnemonics.  Written after the SDM, volume 2, appendix A
 * ("Opcode Map"), and for newer maps after Intel's "Architecture Instruction Set Extensions
 * Programming Reference" and "Advanced Performance Extensions (APX) Architecture Specification".
 *
 * A map that has the same operands for nearly all opcodes is called regular (0F38, 0F3A, and
 * those of VEX, EVEX and XOP): an opcode of it that is not defined yet has a form, too, so
 * that code for a newer CPU can be followed.
 */
#ifndef DECODER_CODE_OPCODE_MAPS_H
#define DECODER_CODE_OPCODE_MAPS_H

#include "base/common.h"

/* Bytes after the ModRM operand. */
enum opcode_immediate {
	IMMEDIATE_NONE,
	IMMEDIATE_1,
	IMMEDIATE_2,
	IMMEDIATE_1_1,     /* two of one byte */
	IMMEDIATE_2_1,     /* ENTER */
	IMMEDIATE_4,       /* whatever the operand size is */
	IMMEDIATE_Z,       /* the operand size, at most 4 */
	IMMEDIATE_V,       /* the operand size */
	IMMEDIATE_NEAR,    /* the operand size; always 4 in 64-bit code, as Intel's CPUs have it */
	IMMEDIATE_POINTER, /* the operand size and a segment */
	IMMEDIATE_ADDRESS, /* the address size */
};

/* Cases that only the bytes after the opcode decide. */
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
	GROUP_INVALID, /* no instruction, or a misplaced prefix */
};

struct opcode_form {
	bool modrm;
	bool not_in_64;    /* no instruction in 64-bit code */
	uint8_t immediate; /* enum opcode_immediate */
	uint8_t group;     /* enum opcode_group */
	uint8_t kind;      /* enum branch_kind, unless the group decides */
};

/* The maps' numbers, as VEX, EVEX and XOP have them. */
enum opcode_map {
	MAP_0 = 0,
	MAP_0F = 1,
	MAP_0F38 = 2,
	MAP_0F3A = 3,
	MAP_EVEX_4 = 4, /* legacy instructions with APX's payload */
	MAP_5 = 5,
	MAP_6 = 6,
	MAP_7 = 7,
	MAP_XOP_8 = 8,
	MAP_XOP_9 = 9,
	MAP_XOP_A = 10,
};

/* Returns the form of an opcode in a map without a prefix that chooses it. */
const struct opcode_form *opcode_form_legacy(enum opcode_map map, uint8_t opcode);

/* The same of maps after a VEX, EVEX or XOP prefix; of invalid maps too. */
const struct opcode_form *opcode_form_vex(unsigned map, uint8_t opcode);
const struct opcode_form *opcode_form_evex(unsigned map, uint8_t opcode);
const struct opcode_form *opcode_form_xop(unsigned map);

/* Returns whether an opcode may not follow REX2 (APX, "REX2 prefix"). */
bool opcode_excludes_rex2(enum opcode_map map, uint8_t opcode);

#endif
