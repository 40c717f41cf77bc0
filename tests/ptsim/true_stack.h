/* SPDX-License-Identifier: MIT */
/*
 * The true call stack of a thread, by its stack pointer.
 *
 * A frame lasts as long as the stack pointer is not above the place of its
 * return address: so it is known exactly when longjmp, an exception or a
 * signal's return drops it.  A jump that leaves the stack pointer where the
 * function found it, into another function, is a tail call; one that leaves it
 * lower is a call.  A call within a function is none if its return address is
 * taken off the stack or replaced before anything else is called.  A return that
 * goes elsewhere than its frame's call came from takes an address that replaced the
 * frame's: what it goes to has the place of the frame, up to where that is left; if
 * it then returns to the frame's caller, it was jumped to.  A stack pointer
 * that is loaded from elsewhere is another stack.  A function that is called
 * there belongs to its caller if it returns, and so does a stack that is left for
 * the very place in its caller's stack where that was left: when it comes back, it
 * is on top of the stack that it was loaded from.  If it leaves by any other load, its
 * caller's stack was left when it was called.
 *
 * Only names come from the project's own symbols/: they decide what is another
 * function.
 */
#ifndef TESTS_PTSIM_TRUE_STACK_H
#define TESTS_PTSIM_TRUE_STACK_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "tests/ptsim/code.h"

struct symbol;

struct true_slice {
	uint64_t begin, end; /* ns */
	uint64_t insns;      /* retired in it and in what it called */
	const char *name;    /* borrowed */
	int32_t pid, tid;
	uint32_t depth, order;
};

struct true_slices {
	struct true_slice *slices; /* owned */
	size_t count, room;
};

struct true_frame {
	uint64_t sp;                 /* where the return address lies */
	uint64_t begin;              /* ns */
	uint64_t insns;              /* the thread's count then */
	const struct symbol *symbol; /* borrowed; NULL with a name */
	const char *name;            /* borrowed */
	uint32_t stubs;              /* below it: interrupted before they came to their targets */
	bool left;                   /* a stub, from which user code was left */
	bool shown;                  /* left elsewhere: in the resolver of a stub */
	bool handler;                /* a signal handler: below it is what it interrupted */
	bool apart;                  /* called on another stack than its caller's */
	uint64_t entered_from;       /* the stack pointer before the other stack was loaded */
	bool within;                 /* called within its function */
	bool takes_over;             /* in place of a frame whose return address was replaced */
	uint64_t from;               /* where it was called */
	size_t first_slice;          /* slices that were added before */
};

/* One stack in memory; a thread has several if it switches (coroutines, sigaltstack). */
struct true_stack {
	struct true_stack *next;
	struct true_frame *frames; /* owned */
	size_t count, room;
	uint64_t since;       /* ns: it is the current one from then on */
	uint64_t since_insns; /* the thread's count then */
	size_t first_slice;   /* slices that were added before */
	bool fiber;           /* it was left for the stack that it was called from */
};

struct true_thread {
	struct true_slices *slices; /* borrowed */
	struct true_stack *stacks;  /* owned; the first is the current one */
	int32_t pid, tid;
	uint64_t insns;       /* retired so far; counted by the owner */
	bool in_stub;         /* a stub runs */
	uint64_t loaded_from; /* the stack pointer before it was loaded; 0: not loaded */
	bool came_back;       /* the frames of a stack that was left, with the current step */
	bool left_apart;      /* a frame that was called on another stack returned */
	uint64_t away;        /* ns when user code was left */
	const char
		*away_name; /* borrowed: [syscall: brk], [untraced] and the like; NULL: it runs */
};

/* A transfer of control as it happened; sp is the stack pointer behind it. */
struct true_step {
	enum flow flow;
	uint64_t time; /* ns */
	uint64_t from, to, sp;
	bool bits32;                 /* 32-bit code */
	const struct symbol *symbol; /* at `to` */
	bool entry;                  /* `to` is where that symbol starts */
};

void true_thread_init(struct true_thread *thread, struct true_slices *slices, int32_t pid,
		      int32_t tid);

/* Idempotent, also on zeroed memory. */
void true_thread_release(struct true_thread *thread);

/* A fork: the child has its parent's open frames, from now on. */
void true_thread_copy(struct true_thread *child, const struct true_thread *parent, uint64_t time);

/* The stack pointer was loaded from elsewhere; `before` is what it was. */
void true_thread_load_sp(struct true_thread *thread, uint64_t before);

/* A taken branch in user code. */
void true_thread_step(struct true_thread *thread, const struct true_step *step);

/* User code is left, to come back with one of the functions below; `name`: as away_name. */
void true_thread_leave(struct true_thread *thread, uint64_t time, const char *name);

/* The thread is taken off its CPU. */
void true_thread_leave_cpu(struct true_thread *thread);

/* It resumes where it was, or (sigreturn) where a handler had interrupted it. */
void true_thread_resume(struct true_thread *thread, const struct true_step *step, bool sigreturn);

/* It resumes in a signal handler. */
void true_thread_handle(struct true_thread *thread, const struct true_step *step);

/* Nothing of it is left: exec or exit. */
void true_thread_end(struct true_thread *thread, uint64_t time);

/* Print as `ptrace2ftf --format=slices` does, without args but (counts) insns. */
void true_slices_print(struct true_slices *slices, FILE *out, bool counts);
void true_slices_release(struct true_slices *slices);

#endif
