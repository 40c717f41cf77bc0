/* SPDX-License-Identifier: MIT */
/*
 * What a branch does to the stack, by the code in front of it and at its target.
 *
 * Not each CALL is a call: the code at its target may drop the return address, or overwrite it and
 * return elsewhere (retpolines, `call` over data, the refill of the return stack buffer).  Not each
 * RET is a return: its address may have been put on the stack just before, which makes it a jump.
 * A jump for which the code pushes a return address is a call.  A branch after a load of the stack
 * pointer may leave its stack for another one, as coroutine libraries do.
 */
#ifndef DECODER_CODE_STACK_EFFECT_H
#define DECODER_CODE_STACK_EFFECT_H

#include "base/common.h"

/* The 64-bit code of a function, borrowed. */
struct function_code {
	const uint8_t *bytes;
	size_t size;
	uint64_t begin; /* address of the first byte in the file, for code that is not relocated */
};

enum stack_effect {
	STACK_NOT_KNOWN, /* the code has no instruction there, or is too far from its begin */
	STACK_STAYS,     /* what an instruction of its kind does to the stack */
	STACK_KEPT,      /* before a call, the code stored RSP in memory that is not on the stack */
	STACK_CALLS_APART, /* the called function runs on another stack, and returns to this one */
	STACK_ENDS_APART,  /* the same, always the same function, which leaves for another stack */
	STACK_LEFT,
	STACK_DROPPED,      /* the code does not save RSP: perhaps nothing can come back */
	STACK_YIELDED,      /* a jump; the code has looked up the stack that it goes to */
	STACK_RETURN_JUMPS, /* the code put the address on the stack by hand */
	STACK_RETURN_CALLS, /* the same, and below it an address of its own, to which it returns */
	STACK_JUMP_CALLS, /* it put an address of its own there: the jump's target returns to it */
};

/* A branch, and its effect. */
struct stack_branch_effect {
	enum stack_effect effect;
	uint8_t kind;       /* of the instruction: enum branch_kind */
	uint64_t return_at; /* of STACK_RETURN_CALLS and STACK_JUMP_CALLS: offset in the function */
};

/*
 * Returns the effect of the instruction `offset` bytes after the beginning of a function.  `entry`:
 * it leads to the beginning of one.  Most do not: then a load of RSP in front of a direct jump and
 * a word put on the stack for a jump are not looked for.
 *
 * A stack is left where the straight code in front loads RSP: by MOV or XCHG with a register or
 * memory, or by POP.  It stays the same where RSP comes from RBP, RSP or a register that RSP was
 * saved in, or by LEAVE or LEA: these take down a frame (System V ABI for AMD64, 3.2.2; GCC takes
 * down a realigned one by LEA from another register).  A call leaves its stack if it is indirect,
 * and the code after it does not load RSP again: else the function only runs on another stack.  A
 * jump yields if RSP comes from memory whose address was loaded from memory, too, and not passed:
 * from the thread's state, or from that of its stack (OCaml's caml_perform()).
 */
struct stack_branch_effect stack_effect_of_branch(const struct function_code *code, uint64_t offset,
						  bool entry);

#define NEVER_KEPT UINT64_MAX

/*
 * Returns the lowest offset from which code that is entered there, or above, comes to the jump at
 * `offset` with its frame: on no way within the function does it load RSP, or move it above its
 * value at the entry.  NEVER_KEPT: there is none, or the function is too long.
 */
uint64_t stack_effect_keeps_frame_from(const struct function_code *code, uint64_t offset);

/* The fate of a return address, by the straight code at the target of its call. */
enum target_effect {
	TARGET_RETURNS,
	TARGET_DROPS,
	TARGET_REPLACES,       /* and a return goes to its replacement at once */
	TARGET_REPLACES_FIRST, /* and other code runs before that */
	TARGET_CALLS,          /* it stays, and a return goes to an address that was put above it:
					  an indirect call */
	TARGET_SAVES,          /* in memory, with the stack pointer: setjmp() */
};

/*
 * Returns what the code from `offset` on does to the return address of a call that leads there.
 * Direct jumps and calls within the function are followed, conditional jumps are not taken.
 */
enum target_effect stack_effect_of_target(const struct function_code *code, uint64_t offset);

/* Returns whether a function takes down another's frame, as the handler of an exception does. */
bool stack_effect_continues_frame(const struct function_code *code);

#endif
