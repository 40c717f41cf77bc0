/* SPDX-License-Identifier: MIT */
/*
 * The true call stack of a guest's thread, of user and kernel code together, by its stack pointers.
 *
 * A called frame lasts until the stack pointer is above its return address; a frame that was
 * entered by a system call, an interrupt or a fault lasts until sysret or iret leaves it.
 */
#pragma once

#include "tests/ptsim/true_stack.h"

struct guest_frame {
	uint64_t sp;    /* address of the return address */
	uint64_t begin; /* ns */
	uint64_t insns; /* the thread's count at that time */
	const struct symbol *symbol;
	bool entry;  /* by a system call, an interrupt or a fault */
	bool hidden; /* no slice: a retpoline or a return thunk, or older than the trace */
};

struct guest_stack {
	struct true_slices *slices; /* borrowed */
	struct guest_frame *frames; /* owned */
	size_t count, room;
	int32_t tid;
	uint64_t insns; /* retired so far; counted by the owner */
};

/* A new frame on top. */
void guest_stack_push(struct guest_stack *stack, const struct guest_frame *frame);

/* A branch left the stack pointer at sp: end the frames that have returned. */
void guest_stack_return(struct guest_stack *stack, uint64_t time, uint64_t sp);

/* The same for sysret and iret: end the innermost entry. */
void guest_stack_leave(struct guest_stack *stack, uint64_t time);

/* A jump to another function's start replaces the top. */
void guest_stack_jump(struct guest_stack *stack, uint64_t time, uint64_t sp,
		      const struct symbol *symbol);

void guest_stack_end(struct guest_stack *stack, uint64_t time);

/* Idempotent, also on zeroed memory. */
void guest_stack_release(struct guest_stack *stack);
