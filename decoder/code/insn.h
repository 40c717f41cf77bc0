/* SPDX-License-Identifier: MIT */
/*
 * An x86 instruction's length and its effect on control flow.
 *
 * Only change-of-flow instructions matter to Intel PT (SDM volume 3, "Intel Processor Trace", table
 * of COFI types); all others are BRANCH_NONE. So the length from its opcode map suffices for an
 * instruction that is newer than this file.
 *
 * Packets by kind of branch: BRANCH_COND has a TNT bit; BRANCH_RETURN a TNT bit or a TIP; indirect
 * calls and jumps and all far kinds have a TIP, or a TIP.PGD if tracing ends. JMPABS counts as an
 * indirect jump although it contains its target (APX specification, "JMPABS").
 *
 * The following leave the code, but are BRANCH_NONE, because the CPU writes a FUP with their
 * address before the TIP or TIP.PGD, as for an interrupt (SDM, "Packet Generation Scenarios"):
 *
 *   ENCLU (EENTER, ERESUME, EEXIT)   FUP TIP.PGD and TIP.PGE; of a debug enclave FUP TIP
 *   VM exits: TDCALL, SEAMCALL, CPUID, VMMCALL's exception ...  FUP TIP or TIP.PGD
 *   RSM, ENCLS, ENCLV, GETSEC        nothing, or FUP TIP.PGD where they end tracing
 *   XBEGIN, XEND, XABORT             MODE.TSX FUP, with a TIP after an abort
 *
 * VMLAUNCH and VMRESUME are far branches: a VM entry, failed or not, writes a TIP without a FUP.
 * VMCALL is also a VM exit. Both BRANCH_NONE and a far branch work for it; libipt uses the latter.
 */
#pragma once

#include "decoder/branch_event.h"

#define INSN_LENGTH_MAX 15

enum insn_mode { INSN_MODE_64 = 0, INSN_MODE_32, INSN_MODE_16 };

struct insn {
	uint8_t kind;      /* enum branch_kind; BRANCH_NONE: no branch */
	uint8_t length;    /* bytes; 0: not an instruction */
	bool indirect : 1; /* a call or jump whose target is in the trace */
	bool int80 : 1;    /* "int $0x80": as INT n is, and a system call of Linux */
	uint8_t relative;  /* offset of a displacement from RIP, of 4 bytes; 0: none */
	int32_t distance; /* direct call, jump, conditional jump: target - end of the instruction */
};

/* Bits of a REX prefix (SDM volume 2, "REX Prefixes"). */
enum { INSN_REX_B = 1, INSN_REX_X = 2, INSN_REX_R = 4, INSN_REX_W = 8 };

enum insn_map { INSN_MAP_0, INSN_MAP_0F, INSN_MAP_OTHER };

/* The fields of an instruction of map 0 or 0F without REX2 (SDM volume 2, chapter 2). */
struct insn_fields {
	uint8_t map;             /* enum insn_map; if INSN_MAP_OTHER, ignore the other fields */
	bool prefixed;           /* a prefix precedes REX and the opcode */
	bool narrow;             /* prefix 66 */
	bool elsewhere;          /* prefix FS, GS, or 67: a shorter address */
	uint8_t rex;             /* 0: absent */
	uint8_t opcode, modrm;   /* `modrm` 0: possibly absent */
	uint8_t opcode_reg, reg; /* registers in the opcode, and in ModRM */
	uint8_t base;            /* the register ModRM.rm, or the base of an address */
	bool memory;             /* ModRM.rm is an address */
	bool on_stack;           /* memory at a constant offset from RSP */
	int32_t displacement;    /* displacement of 32 or 64 bits in an address; 0: absent */
	uint8_t immediate_size;  /* bytes */
	int32_t immediate;       /* immediate of 1, 2 or 4 bytes */
};

/* Base of an address relative to the instruction pointer; also the number of registers. */
#define INSN_NO_REGISTER 16

/*
 * Returns the instruction at `bytes`, of which `size` are readable. Its length is 0 if bytes are
 * missing, or the mode has no such opcode or excludes the prefixes. Sets the fields of an
 * instruction, unless `fields` is NULL.
 */
struct insn insn_decode_fields(const uint8_t *bytes, size_t size, enum insn_mode mode,
			       struct insn_fields *fields);

static inline struct insn insn_decode(const uint8_t *bytes, size_t size, enum insn_mode mode)
{
	return insn_decode_fields(bytes, size, mode, NULL);
}

/* Returns whether an instruction enters the kernel, and execution continues after it. */
static inline bool insn_is_syscall(const struct insn *insn)
{
	return insn->kind == BRANCH_SYSCALL || insn->int80;
}

/* Returns a displacement or immediate of 32 bits. */
static inline int32_t read_int32(const uint8_t *bytes)
{
	return (int32_t)((uint32_t)bytes[0] | (uint32_t)bytes[1] << 8 | (uint32_t)bytes[2] << 16 |
			 (uint32_t)bytes[3] << 24);
}
