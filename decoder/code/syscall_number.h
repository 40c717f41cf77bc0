/* SPDX-License-Identifier: MIT */
/*
 * The number of a system call, which the code in front of SYSCALL, SYSENTER or INT $0x80 puts into
 * EAX
 * ("mov $12,%eax; syscall"): Intel PT shows no registers.
 *
 * Constant propagation through one function: a number is known if all paths to the system call put
 * the same one there.  If it is an argument of the function, as of libc's syscall(), the same is
 * asked of the caller's code.
 */
#ifndef DECODER_CODE_SYSCALL_NUMBER_H
#define DECODER_CODE_SYSCALL_NUMBER_H

#include "decoder/code/insn.h"

#define SYSCALL_UNKNOWN (-1)

/*
 * Slots: registers by their numbers in instructions (SDM volume 2, "Register Encoding"), and from
 * SYSCALL_STACK on the words of the stack, from its top on.  An argument (System V ABI, "Parameter
 * Passing") is named by its slot in the caller at the call: SYSCALL_STACK is the word on top
 * there, which is above the return address in the function.
 */
#define SYSCALL_EAX   0 /* holds the number when SYSCALL begins */
#define SYSCALL_STACK 16

/* The code of a function, from its begin on; borrowed. */
struct syscall_code {
	const uint8_t *bytes;
	size_t size;
	enum insn_mode mode; /* of 64 or 32 bits */
};

/* At most one of both is known. */
struct syscall_number {
	int32_t number;   /* SYSCALL_UNKNOWN: not known */
	int32_t argument; /* the register or word of the function's argument, or SYSCALL_UNKNOWN */
};

/* Returns the value of a register or word in front of the SYSCALL or CALL at the offset `at`. */
struct syscall_number syscall_number_find(const struct syscall_code *code, size_t at,
					  unsigned slot);

#endif
