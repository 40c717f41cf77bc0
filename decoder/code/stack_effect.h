/* SPDX-License-Identifier: MIT */
/*
 * A branch's effect on the stack, found in the code before the branch and at its target.
 *
 * Not every CALL is a call: the code at its target can drop the return address, or overwrite it and
 * return to another address (retpolines, `call` over data, refill of the return stack buffer). Not
 * every RET is a return: if its address was written to the stack just before, it is a jump. A jump
 * for which the code pushes a return address is a call. A branch after a load of the stack pointer
 * can leave the stack for another one, as in coroutine libraries.
 */
#pragma once

#include "base/common.h"

/* The 64-bit code of a function, borrowed. */
struct function_code {
	const uint8_t *bytes;
	size_t size;
	uint64_t begin; /* address of the first byte in the file, before relocation */
};

enum stack_effect {
	STACK_NOT_KNOWN,   /* no instruction there, or too far from the function's start */
	STACK_STAYS,       /* the usual effect of this kind of instruction */
	STACK_KEPT,        /* before a call, the code stored RSP in memory outside the stack */
	STACK_CALLS_APART, /* the called function runs on another stack, and returns to this one */
	STACK_ENDS_APART,  /* the same for a fixed function, which leaves for another stack */
	STACK_LEFT,
	STACK_DROPPED,      /* the code does not save RSP: possibly nothing can return */
	STACK_YIELDED,      /* a jump; the code looked up the target's stack */
	STACK_RETURN_JUMPS, /* the code wrote the address to the stack */
	STACK_RETURN_CALLS, /* the same, with an address of its own below, the return address */
	STACK_JUMP_CALLS,   /* it wrote an address of its own, to which the target returns */
};

/* A branch, and its effect. */
struct stack_branch_effect {
	enum stack_effect effect;
	uint8_t kind;       /* the instruction's enum branch_kind */
	uint64_t return_at; /* STACK_RETURN_CALLS and STACK_JUMP_CALLS: offset in the function */
};

/*
 * Returns the effect of the instruction `offset` bytes after the start of a function. `entry`: the
 * target is a function's entry. Otherwise, the usual case, does not look for a load of RSP before a
 * direct jump and for a word written to the stack for a jump.
 *
 * A branch leaves its stack if straight-line code before it loads RSP by MOV or XCHG with a
 * register or memory, or by POP. It stays on the stack if RSP is loaded from RBP, RSP or a register
 * with a copy of RSP, or by LEAVE or LEA: these drop a frame (System V ABI for AMD64, 3.2.2; GCC
 * drops a realigned frame by LEA from another register). A call leaves its stack if it is indirect
 * and the code after it does not load RSP again; otherwise the function only runs on another stack.
 * A jump yields if RSP is loaded from memory whose address was also loaded from memory, not passed
 * as an argument: from the state of the thread or of its stack (OCaml's caml_perform()).
 */
struct stack_branch_effect stack_effect_of_branch(const struct function_code *code, uint64_t offset,
						  bool entry);

#define NEVER_KEPT UINT64_MAX

/*
 * Returns the lowest offset such that code entered at or above it reaches the jump at `offset` with
 * its frame: no path within the function loads RSP, or moves it above its value at the entry.
 * NEVER_KEPT: no such offset, or the function is too long.
 */
uint64_t stack_effect_keeps_frame_from(const struct function_code *code, uint64_t offset);

/* The fate of a return address in straight-line code at the call's target. */
enum target_effect {
	TARGET_RETURNS,
	TARGET_DROPS,
	TARGET_REPLACES,       /* a return uses the replacement immediately */
	TARGET_REPLACES_FIRST, /* a return uses the replacement after other code */
	TARGET_CALLS,          /* it stays, and a return uses an address pushed above it: an
				* indirect call */
	TARGET_SAVES,          /* in memory, with the stack pointer: setjmp() */
};

/*
 * Returns the effect of the code at `offset` on the return address of a call to it. Follows direct
 * jumps and calls within the function, and assumes conditional jumps are not taken.
 */
enum target_effect stack_effect_of_target(const struct function_code *code, uint64_t offset);

/*
 * Returns whether straight-line code from a function's start to an instruction at a small `offset`
 * takes the function's return address from the stack.
 */
bool stack_effect_pops_return(const struct function_code *code, uint64_t offset);

/* Returns whether a function drops another's frame, as an exception handler does. */
bool stack_effect_continues_frame(const struct function_code *code);
