/* SPDX-License-Identifier: MIT */
/*
 * Samples that the processor wrote into the trace (PEBS via PT), as instants of the thread.
 *
 * Each is a record of blocks (BBP) of values (BIP).  The first instant has the name of the
 * event, its code location and its memory access; further ones at the same time have the
 * registers, the vector registers and the last branches, as far as the record has them.
 *
 * Sources for blocks and values: SDM volume 3, "PEBS output to Intel Processor Trace", and
 * perf (tools/perf/util/intel-pt-decoder/intel-pt-decoder.h, struct intel_pt_blk_items).
 */
#ifndef SRC_EVENTS_PEBS_EVENTS_H
#define SRC_EVENTS_PEBS_EVENTS_H

#include "decoder/aux/auxtrace.h"
#include "decoder/cpu_event.h"
#include "src/events/event_tracks.h"
#include "src/resolve/resolve.h"

struct counter_use;
struct pebs_record;

struct pebs_events {
	struct event_tracks *tracks;  /* borrowed */
	const struct perf_file *file; /* borrowed */
	const struct pt_info *info;   /* borrowed: the clock */
	struct resolver *resolver;    /* borrowed: names the addresses */
	struct pebs_record *records;  /* owned: hash by CPU */
	struct counter_use *uses;     /* owned, sorted: which counter was which event's */
	size_t use_count, use_room;
	const struct perf_attr *only; /* borrowed: the only event with output into the trace */
	bool listed;                  /* the events are */
};

/*
 * Add a CPU_EVENT_PEBS_ITEM, or a CPU_EVENT_PEBS, which is written.  The borrowed members are
 * set, the others zero at first.
 */
void pebs_events_add(struct pebs_events *events, const struct cpu_event *event);

/* Idempotent, also on zeroed memory. */
void pebs_events_release(struct pebs_events *events);

#endif
