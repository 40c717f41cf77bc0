/* SPDX-License-Identifier: MIT */
/*
 * --split: the events that are not slices of calls: tracks of CPUs, counters, instants, context
 * switches, overlays.
 *
 * Each goes to the part of its time. A part starts with the state at its begin: open slices, marked
 * as SLICE_CONTINUED, the value of each counter, the thread on each CPU; and it names its processes
 * and threads.
 */
#pragma once

#include "src/formats/ftf/ftf_sink.h"
#include "src/slices/event_store.h"

struct ftf_side {
	struct event_store store;
	size_t next; /* number of the next event */
	/* The open part (1, 2, ...) and its state; open slices are in the store's tracks. */
	size_t part;
	struct side_state *counters; /* owned: hash; each with its last event */
	struct side_state *asyncs;   /* owned: hash of open async slices */
	size_t *switches;            /* owned; by CPU: 1 + number of its last event, or 0 */
	size_t switch_room;
};

/* The effect of an event on the size of a part. */
enum side_kind {
	SIDE_PLAIN, /* belongs to the previous record */
	SIDE_VALUE, /* a part can begin with it */
	SIDE_SLICE, /* the same; begins a slice, or is a mark */
};

/* Returns the time (ns) of the next event, or UINT64_MAX at the end. */
uint64_t ftf_side_time(const struct ftf_side *side);

/* Returns the kind of the next event, which must exist. */
enum side_kind ftf_side_kind(struct ftf_side *side);

/* Write the next event, which must exist, into the part. */
void ftf_side_write(struct ftf_side *side, struct ftf_sink *part);

/* End the open slices at the part's end. */
void ftf_side_end_part(struct ftf_side *side, struct ftf_sink *part, uint64_t time);

/* Write the state at the part's begin. */
void ftf_side_begin_part(struct ftf_side *side, struct ftf_sink *part, uint64_t time);

void ftf_side_release(struct ftf_side *side);
