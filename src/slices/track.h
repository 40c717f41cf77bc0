/* SPDX-License-Identifier: MIT */
/* A track: the line of the timeline that shows a thread's slices. */
#ifndef SRC_SLICES_TRACK_H
#define SRC_SLICES_TRACK_H

#include "src/slices/slice_costs.h"

struct track {
	int32_t pid, tid;
	uint32_t index;                         /* dense, in the order of first use */
	const char *process_name, *thread_name; /* NULL: unknown; borrowed */
	const char *ids;                        /* "PID/TID"; borrowed */
	size_t *open; /* owned by the output in use: its open slices, innermost last */
	size_t open_count, open_room;
	size_t left_out;          /* slices that began when the output was full, and are open */
	uint64_t limit_time;      /* ns: of the last event before it was */
	struct slice_costs costs; /* of the output in use, with --args=full */
	struct slice_event
		pending;        /* begin that the output in use has not written; no symbol: none */
	bool announced;         /* the output has written the track's names */
	uint32_t writer_thread; /* of an announced track, if the output is FTF: the writer's id */
};

#endif
