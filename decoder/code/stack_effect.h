/* SPDX-License-Identifier: MIT */
/*
 * Jumps and calls that leave their stack for another one, as coroutine libraries make them
 * (boost.context, libco, Go's gogo and mcall): the code loads the stack pointer, and then jumps
 * through a register or memory, or calls a function that never returns.
 */
#ifndef DECODER_CODE_STACK_EFFECT_H
#define DECODER_CODE_STACK_EFFECT_H

#include <stddef.h>
#include <stdint.h>

enum stack_switch {
	STACK_STAYS,
	STACK_LEFT_BY_JUMP,
	STACK_DROPPED_BY_JUMP, /* the code does not save RSP: perhaps nothing can come back */
	STACK_LEFT_BY_CALL,
};

/*
 * Returns what the 64-bit instruction `offset` bytes behind the beginning of a function does to
 * the stack; the function has `size` bytes.
 *
 * A stack is left where the straight code in front loads RSP: by MOV or XCHG with a register or
 * memory, or by POP.  It stays the same where RSP comes from RBP, RSP or a register that RSP was
 * saved in, or by LEAVE or LEA: these take down a frame (System V ABI for AMD64, 3.2.2; GCC takes
 * down a realigned one by LEA from another register).  A call leaves its stack if RSP was saved
 * before, and the code behind the call does not load it again: else the function only runs on a
 * stack of its own, and returns to its caller.
 */
enum stack_switch stack_switch_at(const uint8_t *code, size_t size, uint64_t offset);

#endif
