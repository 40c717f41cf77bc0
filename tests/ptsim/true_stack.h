/* SPDX-License-Identifier: MIT */
/*
 * The true call stack of a thread, by its stack pointer.
 *
 * A frame lasts until the stack pointer is above its return address: this shows exactly when
 * longjmp, an exception or a signal return drops it.  A jump into another function is a tail call
 * if the stack pointer is as at the function's entry, and a call if it is lower.  A call within a
 * function does not count if its return address is popped or replaced before another call.  A
 * return whose target differs from its frame's caller takes an address that replaced the frame's:
 * its target replaces the frame until it is left; if it then returns to the frame's caller, it was
 * jumped to.  A load of the stack pointer switches to another stack.  A function that is called
 * there belongs to its caller if it returns, and so does a stack that is left for exactly the
 * position in the caller's stack where that was left: when it comes back, it is on top of the stack
 * from which it was loaded.  If it leaves by any other load, the call had left its caller's stack.
 *
 * Only names come from the project's own symbols/: they distinguish functions.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "tests/ptsim/code.h"

struct symbol;

struct true_slice {
	uint64_t begin, end; /* ns */
	uint64_t insns;      /* retired in it and its callees */
	const char *name;    /* borrowed */
	int32_t pid, tid;
	uint32_t depth, order;
};

struct true_slices {
	struct true_slice *slices; /* owned */
	size_t count, room;
};

struct true_frame {
	uint64_t sp;                 /* address of the return address */
	uint64_t begin;              /* ns */
	uint64_t insns;              /* the thread's count at that time */
	const struct symbol *symbol; /* borrowed; NULL with a name */
	const char *name;            /* borrowed */
	uint32_t stubs;              /* below it: interrupted before their targets */
	bool left;                   /* a stub, from which user code was left */
	bool shown;                  /* left elsewhere: in a stub's resolver */
	bool handler;                /* a signal handler; the interrupted frame is below */
	bool apart;                  /* called on another stack than its caller's */
	uint64_t entered_from;       /* the stack pointer before the other stack was loaded */
	bool within;                 /* called within its function */
	bool takes_over;             /* replaces a frame whose return address was replaced */
	uint64_t from;               /* the call's address */
	size_t first_slice;          /* slices that were added before */
};

/* One stack in memory; a thread has several if it switches (coroutines, sigaltstack). */
struct true_stack {
	struct true_stack *next;
	struct true_frame *frames; /* owned */
	size_t count, room;
	uint64_t since;       /* ns: current from then on */
	uint64_t since_insns; /* the thread's count at that time */
	size_t first_slice;   /* slices that were added before */
	bool fiber;           /* left for the stack from which it was called */
};

struct true_thread {
	struct true_slices *slices; /* borrowed */
	struct true_stack *stacks;  /* owned; the first is the current one */
	int32_t pid, tid;
	uint64_t insns;       /* retired so far; counted by the owner */
	bool in_stub;         /* a stub runs */
	uint64_t loaded_from; /* the stack pointer before it was loaded; 0: not loaded */
	bool came_back;       /* this step resumed the frames of a left stack */
	bool left_apart;      /* a frame called on another stack returned */
	uint64_t away;        /* ns when user code was left */
	const char
		*away_name; /* borrowed: [syscall: brk], [untraced] and the like; NULL: it runs */
};

/* A transfer of control; sp is the stack pointer after it. */
struct true_step {
	enum flow flow;
	uint64_t time; /* ns */
	uint64_t from, to, sp;
	bool bits32;                 /* 32-bit code */
	const struct symbol *symbol; /* at `to` */
	bool entry;                  /* `to` is the symbol's start */
};

void true_thread_init(struct true_thread *thread, struct true_slices *slices, int32_t pid,
		      int32_t tid);

/* Idempotent, also on zeroed memory. */
void true_thread_release(struct true_thread *thread);

/* A fork: the child has its parent's open frames, from this time on. */
void true_thread_copy(struct true_thread *child, const struct true_thread *parent, uint64_t time);

/* The stack pointer was loaded; `before` is its previous value. */
void true_thread_load_sp(struct true_thread *thread, uint64_t before);

/* A taken branch in user code. */
void true_thread_step(struct true_thread *thread, const struct true_step *step);

/* User code is left, up to a call of a function below; `name`: as away_name. */
void true_thread_leave(struct true_thread *thread, uint64_t time, const char *name);

/* The thread leaves its CPU. */
void true_thread_leave_cpu(struct true_thread *thread);

/* It resumes at the same position, or (sigreturn) where a handler interrupted it. */
void true_thread_resume(struct true_thread *thread, const struct true_step *step, bool sigreturn);

/* It resumes in a signal handler. */
void true_thread_handle(struct true_thread *thread, const struct true_step *step);

/* It has ended: exec or exit. */
void true_thread_end(struct true_thread *thread, uint64_t time);

/* Print as `ptrace2ftf --format=slices` does, without args other than (counts) insns. */
void true_slices_print(struct true_slices *slices, FILE *out, bool counts);
void true_slices_release(struct true_slices *slices);
