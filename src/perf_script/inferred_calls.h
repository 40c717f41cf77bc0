/* SPDX-License-Identifier: MIT */
/*
 * Infers facts that the text of perf script lacks: the kinds of branches without the field flags,
 * and the branches themselves from a tree of calls (--call-trace).
 *
 * A struct inferred_calls contains a thread's open calls in the text.
 */
#pragma once

#include "decoder/branch_event.h"
#include "src/perf_script/perf_script_line.h"
#include "src/resolve/location.h"

struct inferred_calls {
	struct inferred_call {
		uint64_t site; /* address of the call; 0: an entry into the kernel */
		const struct symbol
			*symbol; /* of the call; in a tree the function itself; may be NULL */
		size_t level;    /* of a tree: its indent */
	} * calls;               /* owned; the innermost last */
	size_t count, room;
};

void inferred_calls_release(struct inferred_calls *calls);

/*
 * Set the kind of a branch from its addresses and names, and TRACE_ON or TRACE_OFF.
 *  - to just after an open call, and not forward over a recursive call: a return
 *  - to or from the kernel: an interrupt or system call, or its return
 *  - within one function: a jump, but to its entry a call
 *  - to the entry of another function: a call; of a PLT stub or to a cold part: a jump
 *  - to code without names of another file, which made an open call, not at a multiple of 16: a
 *    return as to that call, whose own return was not recognised (locations->to.ip is changed)
 *  - elsewhere into another function: a jump; a return if no call is open
 * `same`: both ends are code without names of one file.  `entry_known`: to->offset is 0 at an entry
 * only; else any other function is entered by a call.
 */
void inferred_calls_branch(struct inferred_calls *calls, struct branch_event *event,
			   struct location_pair *locations, bool same, bool entry_known);

/* A branch of a tree. */
struct tree_branch {
	struct branch_event event;
	struct location_pair locations;
};

#define TREE_BRANCHES_MOST 2

/*
 * Make the branches for a line of a tree of calls, whose function is `symbol` (NULL: without name).
 * Their addresses are invented, but consistent.  Returns their number.
 */
size_t inferred_calls_tree(struct inferred_calls *calls, const struct perf_line *line,
			   const struct symbol *symbol,
			   struct tree_branch branches[TREE_BRANCHES_MOST]);
