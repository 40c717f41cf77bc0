/* SPDX-License-Identifier: MIT */
/*
 * The number of a system call, found in the code that sets EAX before SYSCALL, SYSENTER or INT
 * $0x80 ("mov $12,%eax; syscall"), because Intel PT records no registers.
 *
 * Constant propagation through one function: the number is known if all paths to the system call
 * set the same one. If it is an argument of the function, as in libc's syscall(), the caller's code
 * is analysed in the same way.
 */
#pragma once

#include "decoder/code/insn.h"

#define SYSCALL_UNKNOWN (-1)

/*
 * Slots: registers by their numbers in instructions (SDM volume 2, "Register Encoding"), then,
 * starting at SYSCALL_STACK, the words of the stack from its top. An argument (System V ABI,
 * "Parameter Passing") is identified by its slot in the caller at the call: SYSCALL_STACK is the
 * caller's top word, which is above the return address in the function.
 */
#define SYSCALL_EAX   0 /* contains the number at SYSCALL */
#define SYSCALL_STACK 16

/* The code of a function; borrowed. */
struct syscall_code {
	const uint8_t *bytes;
	size_t size;
	enum insn_mode mode; /* 64 or 32 bits */
};

/* At most one of the two is known. */
struct syscall_number {
	int32_t number;   /* or SYSCALL_UNKNOWN */
	int32_t argument; /* slot of the function's argument, or SYSCALL_UNKNOWN */
};

/* Returns the value of a slot before the SYSCALL or CALL at the offset `at`. */
struct syscall_number syscall_number_find(const struct syscall_code *code, size_t at,
					  unsigned slot);
