/* SPDX-License-Identifier: MIT */
/* Opens the user's overlays: OCaml's runtime events and memtrace files. */
#ifndef SRC_OVERLAYS_OVERLAY_INPUT_H
#define SRC_OVERLAYS_OVERLAY_INPUT_H

#include "overlays/memtrace.h"
#include "overlays/runtime_events.h"
#include "src/options/options.h"

struct overlay_input {
	enum overlay_kind kind;
	char *path;      /* owned */
	int32_t pid;     /* -1: unknown */
	int ocaml_minor; /* of ocaml=5.N; -1: not said */
	bool lives;      /* of memtrace: show each block's life as an async slice */
	/* The thread that writes a ring: of tid.RING=N, or as found by the matching of clocks. */
	struct overlay_tid {
		uint32_t ring;
		int32_t tid;
	} * tids; /* owned */
	size_t tid_count, tid_room;
	uint8_t *bytes; /* owned mapping */
	size_t size;
	uint64_t last_time;           /* of memtrace: of its last event, ns since 1970 */
	struct runtime_events events; /* of runtime events */
	struct memtrace memtrace;     /* of memtrace; at its first event */
};

/*
 * Parse FILE[,pid=N][,ocaml=5.N][,tid.RING=N][,lives]..., map the file and open
 * it.  The pid is that of the description; else, of runtime events, that of
 * the ring's start, else that of the file's name PID.events.
 * Returns 0; -1 with err filled.  The caller calls overlay_input_close() in both cases.
 */
int overlay_input_open(struct overlay_input *input, const struct overlay_option *option,
		       struct diag *diag, struct error *err);

/* Set the thread of a ring, unless it is known. */
void overlay_input_add_tid(struct overlay_input *input, uint32_t ring, int32_t tid);

/* Returns the thread of a ring; -1: unknown. */
int32_t overlay_input_tid(const struct overlay_input *input, uint32_t ring);

void overlay_input_close(struct overlay_input *input);

/* --format=memtrace: a memtrace file of a time range of another one. */

/* Counts of a cut: `events` of the whole file, `written` to the new one. */
struct overlay_cut_counts {
	uint64_t events, written;
	uint64_t alive; /* allocations among those written that were before the range */
};

/*
 * Write the events of memtrace whose times, from the file's start to its last event, are in the
 * range of `selection`.  Blocks that are alive at its begin are allocated there, and promoted if
 * they were.  The cut numbers blocks anew without gaps, in the old order.  The start and the times
 * stay the same.  Ends early if the output is full, which then is cut.
 * Returns 0 with *counts; -1 with err filled.  Write errors stay with the output.
 */
int overlay_cut(struct overlay_input *input, const struct selection *selection,
		struct output *output, struct overlay_cut_counts *counts, struct error *err);

#endif
