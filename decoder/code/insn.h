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

/*
 * Returns the instruction at `bytes`, of which `size` are readable. Its length is 0 if bytes are
 * missing, or the mode has no such opcode or excludes the prefixes.
 */
struct insn insn_decode(const uint8_t *bytes, size_t size, enum insn_mode mode);

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
