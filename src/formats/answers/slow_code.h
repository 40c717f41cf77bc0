/* SPDX-License-Identifier: MIT */
/*
 * What a call executes, branch by branch: straight runs of code and jumps back, with their costs.
 *
 * A trail follows the branches of one thread, and finds the calls of a function by its entry and
 * return.  Time between two timestamps is divided by instructions.  Stops of the thread are in no
 * cost; system calls are in those of the code that made them.
 */
#ifndef SRC_FORMATS_ANSWERS_SLOW_CODE_H
#define SRC_FORMATS_ANSWERS_SLOW_CODE_H

#include "base/tables/id_index.h"
#include "decoder/branch_event.h"
#include "src/resolve/location.h"

struct code_part {
	const struct symbol *symbol; /* borrowed */
	uint64_t begin, last;        /* bytes from its start: of the first and last instruction */
	bool back;                   /* a jump from `last` back to `begin`; else straight code */
	bool stop;                   /* an interrupt or fault at `last` */
	uint64_t count;
	double insns, ns; /* own */
	double all;       /* ns with the callees that `last` called */
	uint32_t stamp;   /* of the last time that was added to `all` */
};

/* Of some calls together.  Zeroed memory has no calls. */
struct code_counts {
	struct code_part *parts; /* owned */
	size_t count, room;
	struct id_index index; /* of parts, from 1 */
	uint64_t calls;
	double insns;
};

/* Returns a part like `key`; a new one has no counts. */
struct code_part *code_counts_part(struct code_counts *counts, const struct code_part *key);

void code_counts_add(struct code_counts *counts, const struct code_counts *added);

/* Idempotent, also on zeroed memory. */
void code_counts_release(struct code_counts *counts);

struct code_trail {
	const struct name *function; /* borrowed: of the calls to find */
	int32_t tid;                 /* their thread */
	/* A call has returned, or was left; its counts are borrowed for the call. */
	void (*ended)(void *context, const struct code_trail *trail);
	void *context;
	/* The call: */
	uint64_t begin, end;     /* ns */
	uint64_t stopped;        /* ns */
	uint64_t waited;         /* ns: in system calls; */
	uint64_t wait, wait_end; /* of the longest one, and when it returned */
	struct code_counts now;  /* owned */
	/* Private: */
	struct trail_node {
		uint32_t parent; /* 0: the trail's root */
		uint32_t site;   /* 1 + index of the part that called; 0: unknown */
		uint64_t return_ip;
		const struct symbol *symbol; /* borrowed: the callee */
	} * nodes; /* owned; calls within the call; [0] is unused, [1] the call */
	size_t node_count, node_room;
	uint32_t top; /* node; 0: no call is open */
	struct trail_pending {
		uint32_t part, node;
		double insns;
	} * pending; /* owned: parts since the last timestamp */
	size_t pending_count, pending_room;
	double pending_insns;
	struct location at; /* where the next part begins; symbol NULL: unknown */
	bool in_syscall;
	uint32_t stamp;
};

/* Follow a branch or gap. */
void code_trail_follow(struct code_trail *trail, const struct branch_event *event,
		       const struct location_pair *places);

/* The branches of a window have come: end the call if it is open. */
void code_trail_end(struct code_trail *trail);

/* Idempotent, also on zeroed memory. */
void code_trail_release(struct code_trail *trail);

#endif
