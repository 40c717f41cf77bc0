/* SPDX-License-Identifier: MIT */
/*
 * The control flow of the calls of some functions: which steps each made, how often, and when.
 *
 * A step is the code from where the last branch led up to the next branch, and where that leads;
 * so also a branch that is not taken makes another step.  The same code at another address (of
 * another process) makes the same steps.  A call of a chosen function, the outermost one of a
 * thread, is counted when it ends: into its class, of calls that took about as long.  So which
 * calls are slow can be decided at the end, and memory grows with distinct steps and classes.  Of
 * the slowest calls alone it is also kept when each step came.
 */
#ifndef SRC_FORMATS_ANSWERS_CALL_FLOW_H
#define SRC_FORMATS_ANSWERS_CALL_FLOW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/tables/id_index.h"
#include "decoder/branch_event.h"
#include "src/callstack/callstack.h"
#include "src/options/selection.h"
#include "src/resolve/location.h"
#include "src/select/function_choice.h"
#include "src/slices/durations.h"
#include "src/slices/pair_table.h"

/* The slowest calls of a function that are kept, the steps of each, and of all together. */
#define FLOW_CALLS_MOST 256
#define FLOW_CALL_STEPS 4096
#define FLOW_STEPS_MOST ((size_t)1 << 22)

/* Code: a symbol, or an address if it has none. */
struct flow_place {
	const struct symbol *symbol; /* borrowed; NULL: none */
	uint64_t offset;             /* bytes from its start; the address without one */
};

struct flow_step {
	struct flow_place prev; /* where the last branch led */
	struct flow_place from, to;
	uint32_t root; /* number of the function */
	uint8_t kind;  /* enum branch_kind; INTERRUPT without places: anywhere, and back again */
};

/* A step of one call. */
struct flow_made {
	uint32_t step, count;
	uint32_t first, last; /* the call's branches before it */
};

struct flow_call {
	uint64_t begin, duration; /* ns */
	int32_t tid;
	struct flow_made *made; /* owned, in the order of the first; NULL: not kept */
	size_t count;
	bool truncated; /* it made more steps than are kept */
};

/* Steps of the calls of a class. */
struct flow_count {
	uint64_t calls, sum; /* that made it, and how often in all */
	uint32_t least, most;
};

/* A function. */
struct flow_root {
	const struct symbol *symbol; /* borrowed */
	struct durations durations;
	struct flow_call *slowest; /* owned: a heap, the fastest on top */
	size_t slow_count;
};

struct flow_thread;

struct call_flow {
	struct function_choice choice;
	struct pair_table root_ids; /* of (0, id of name) */
	struct flow_root *roots;    /* owned; by number */
	size_t root_room;
	struct flow_step *steps; /* owned; by number less 1 */
	size_t step_count, step_room;
	struct id_index index;     /* of their numbers */
	struct pair_table counted; /* of (step, class): place in `counts` */
	struct flow_count *counts; /* owned */
	size_t count_room;
	struct pair_table classes; /* of (root, class): place in `calls` */
	struct flow_call *calls;   /* owned: an example of each, without steps */
	uint64_t *call_counts;     /* owned: how many there are */
	size_t call_room, call_count_room;
	struct flow_thread *threads; /* owned; by index, the first of unknown ones */
	size_t thread_room;
	struct pair_table open; /* of (thread, step): place in `made` */
	struct flow_made *made; /* owned: of the open calls */
	uint64_t *made_by;      /* owned: number of the call that made it */
	size_t made_room, made_by_room;
	uint64_t number; /* of calls so far */
	size_t kept;     /* steps of the slowest calls */
	uint64_t cut;    /* calls that did not end, or with a gap */
};

/* `selection` is borrowed. */
void call_flow_init(struct call_flow *flow, const struct selection *selection);

/*
 * Follow a branch or gap, which was fed to the thread's stack: `top` is that stack's behind it.
 */
void call_flow_follow(struct call_flow *flow, const struct branch_event *event,
		      const struct location_pair *places, struct callstack_top top);

/* Returns whether a call of a chosen function is open in a thread (NULL: unknown). */
bool call_flow_is_open(const struct call_flow *flow, const struct thread *thread);

/* The trace has ended. */
void call_flow_finish(struct call_flow *flow);

/* Idempotent, also on zeroed memory. */
void call_flow_release(struct call_flow *flow);

#endif
