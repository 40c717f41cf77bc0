/* SPDX-License-Identifier: MIT */
/*
 * Finds the calls of the functions of --symbol and --dso.
 *
 * A sink of slices in program order.  Each call of a recursion counts.  Memory grows with the
 * functions, threads and open calls only.
 */
#pragma once

#include "src/select/function_choice.h"
#include "src/select/function_labels.h"

struct chosen_call {
	const struct symbol *symbol;      /* borrowed */
	uint32_t function;                /* its number in the table */
	const struct track *track;        /* borrowed: the thread */
	const struct call_thread *thread; /* borrowed: its open calls, without this one */
	uint32_t pair;                    /* call_tree_pair() of both */
	uint64_t begin, duration;         /* ns */
	uint64_t insns;                   /* executed in it */
	uint64_t untraced;         /* ns of it in system calls, other processes and the like */
	uint64_t number;           /* chosen calls that ended before it */
	bool begin_seen, end_seen; /* else the duration is a lower bound */
	bool outermost;            /* no other call of the function encloses it */
};

/* A chosen call has ended; it is borrowed for the call. */
typedef void chosen_call_ended(void *context, const struct chosen_call *call);

struct chosen_calls {
	struct call_tree tree;  /* first; of functions */
	struct slice_sink sink; /* its tracks are struct track */
	chosen_call_ended *ended;
	void *context; /* its context */
	struct function_choice choice;
	struct function_table functions;
	struct function_labels labels;
	struct name_table *names; /* borrowed: for the labels; set by the caller */
	uint32_t *nodes;          /* owned; by function: its node; NODE_NONE: not chosen */
	size_t node_room;
	uint64_t count; /* chosen calls that have ended */
};

/* `selection` and `context` are borrowed.  The calls borrow themselves: they must not move. */
void chosen_calls_init(struct chosen_calls *calls, const struct selection *selection,
		       chosen_call_ended *ended, void *context);

/* After the last call: returns what to print for a function. */
const struct name *chosen_calls_label(struct chosen_calls *calls, uint32_t function);

void chosen_calls_release(struct chosen_calls *calls);
