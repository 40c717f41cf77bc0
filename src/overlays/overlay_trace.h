/* SPDX-License-Identifier: MIT */
/*
 * Writes overlays as tracks of their process.
 *
 * Of runtime events, per domain: "domain N GC" with the collector's phases as nested slices,
 * "domain N slices" and "domain N events" of the program, and counters.  Of memtrace: "memtrace
 * domain N" with a slice without length per event, arrows from an allocation to its block's
 * promotion and collection, and counters.  A domain here is a slot of the runtime: a later domain
 * may reuse the slot of one that has ended.
 */
#ifndef SRC_OVERLAYS_OVERLAY_TRACE_H
#define SRC_OVERLAYS_OVERLAY_TRACE_H

#include "src/overlays/overlay_clock.h"
#include "writer/ftf.h"

struct overlay_trace {
	struct ftf_writer *writer; /* borrowed */
	struct output *output;     /* borrowed: what it writes to */
	struct diag *diag;         /* borrowed */
	uint64_t next_id;          /* of arrows and async slices; from 1 */
	uint64_t slices;           /* written up to now */
};

/* Returns whether the output has reached its limit: the rest is left out, which this notes there.
 */
bool overlay_trace_is_full(struct overlay_trace *trace);

/* Returns a new track of process `pid`; *tid (may be NULL) is its id. */
struct ftf_thread overlay_trace_track(struct overlay_trace *trace, int32_t pid, const char *name,
				      uint32_t *tid);

/* Write an instant at `time` (ns, trace) that shows how the overlay's clock was matched. */
void overlay_trace_clock(struct overlay_trace *trace, struct ftf_thread track, uint64_t time,
			 const struct overlay_clock *clock);

/* Write all runtime events. */
void overlay_trace_runtime(struct overlay_trace *trace, const struct overlay_input *input,
			   const struct overlay_clock *clock);

/* Write all events of memtrace, which is read to its end unless the output is full. */
void overlay_trace_memtrace(struct overlay_trace *trace, struct overlay_input *input,
			    const struct overlay_clock *clock);

#endif
