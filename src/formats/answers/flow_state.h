/* SPDX-License-Identifier: MIT */
/* The state of call_flow.h: steps, the calls that are open, and the calls that have ended. */
#ifndef SRC_FORMATS_ANSWERS_FLOW_STATE_H
#define SRC_FORMATS_ANSWERS_FLOW_STATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/tables/direct_cache.h"
#include "base/tables/id_index.h"
#include "decoder/branch_event.h"
#include "src/callstack/callstack.h"
#include "src/options/selection.h"
#include "src/resolve/resolve.h"
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
	size_t events; /* of the last call */
};

/* A thread, and its open call. */
struct flow_thread {
	bool open; /* a call of a root is being followed: */
	struct watched_frame frame;
	uint32_t root;
	uint64_t context;        /* the root's number + 1, and the thread's index */
	uint64_t number;         /* the call's */
	uint64_t begin;          /* ns */
	uint32_t branches;       /* so far */
	size_t events;           /* that were fed so far */
	struct flow_place prev;  /* where the last branch led, if `made` is 0 */
	uint64_t prev_ip;        /* address of where it led; 0: its name depends on time */
	uint32_t made;           /* 1 + place in `made` of the last step; 0: none yet */
	bool interrupted;        /* what follows is no step, up to: */
	uint64_t interrupted_ip; /* the code that was interrupted */
	struct flow_place interrupted_at;
	uint32_t *steps; /* owned: places in `made` of its steps, in the order of the first */
	size_t count, room;
};

/* A step that calls of a thread have made. */
struct open_step {
	uint64_t call;         /* number of the last of them */
	struct flow_made made; /* by that call */
	uint32_t class;        /* 1 + class of the call that was last counted; 0: none */
	uint32_t counted;      /* place in `counts` of the step and that class */
};

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
	struct direct_cache known;   /* of struct known_step */
	struct direct_cache entries; /* of struct known_entry */
	struct pair_table open;      /* of (thread, step): place in `made` */
	struct open_step *made;      /* owned: steps of the open calls */
	size_t made_room;
	uint64_t number; /* of calls so far */
	size_t kept;     /* steps of the slowest calls */
	uint64_t cut;    /* calls that did not end, or with a gap */
};

#endif
