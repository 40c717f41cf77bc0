/* SPDX-License-Identifier: MIT */
/*
 * --split and --format=html: the records that are not slices of calls: tracks of CPUs, counters,
 * instants, context switches, overlays.
 *
 * Their writer is independent of parts: it writes one trace, in which each record can be read
 * alone. With --split, each record goes to the part of its time. A part starts with the state at
 * its begin: open slices, marked as SLICE_CONTINUED, the value of each counter, the thread on each
 * CPU; and it names its processes and threads.
 */
#pragma once

#include "base/io/big_array.h"
#include "base/tables/hash.h"
#include "reader/trace_reader.h"
#include "src/formats/ftf/ftf_sink.h"
#include "src/formats/output_format.h"

struct ftf_side {
	struct ftf_writer *writer; /* owned; for all writers of events, until ftf_side_read() */
	struct ftf_sink target;    /* only its writer, which is the same, and events are in use */
	struct name_table *names;  /* borrowed */
	struct big_array spool;    /* owned: the bytes written */
	size_t size;               /* bytes in `spool` */
	struct trace_reader reader;
	struct trace_record record; /* the last record read */
	/* Owned: struct side_event, in order of time. */
	struct big_array events;
	size_t count, next;
	struct side_track *by_ids;  /* owned: hash by pid and tid */
	struct side_track **tracks; /* owned; the tracks are borrowed */
	size_t track_count, track_room;
	/* Owned: hashes of named processes and threads. */
	struct side_id {
		uint64_t id;
		const struct name *name; /* name of a process; NULL: empty */
		size_t part;             /* the last part that names the process */
		uint32_t track;          /* track of the last named thread with the id */
		UT_hash_handle hh;
	} * processes, *threads;
	/* The open part and its position: */
	size_t part;                 /* 1, 2, ... */
	struct side_state *counters; /* owned: hash; each with its last event */
	struct side_state *asyncs;   /* owned: hash of open async slices */
	size_t *switches;            /* owned; by CPU: 1 + index of its last event, or 0 */
	size_t switch_room;
};

/* The effect of an event on the size of a part. */
enum side_kind {
	SIDE_PLAIN, /* belongs to the previous record */
	SIDE_VALUE, /* a part can begin with it */
	SIDE_SLICE, /* the same; begins a slice, or is a mark */
};

/* Open the writer.  `names` is borrowed.  The side must not move. */
void ftf_side_init(struct ftf_side *side, struct name_table *names,
		   const struct trace_facts *facts);

/* After the last record: close the writer and sort the events. Returns 0; -1 with err filled. */
int ftf_side_read(struct ftf_side *side, struct error *err);

/* Returns the time (ns) of the next event, or UINT64_MAX at the end. */
uint64_t ftf_side_time(const struct ftf_side *side);

/* Returns the kind of the next event, which must exist. */
enum side_kind ftf_side_kind(const struct ftf_side *side);

/*
 * Read the next event, which must exist, into side->record, with its time; the end of a whole slice
 * is an EVENT_END. Returns the index of a TRACE_EVENT's track.
 */
size_t ftf_side_take(struct ftf_side *side);

/* Set the ids and the names of a track, which are borrowed; `index` < side->track_count. */
void ftf_side_describe(const struct ftf_side *side, size_t index, struct track *track);

/* Write the next event, which must exist, into the part. */
void ftf_side_write(struct ftf_side *side, struct ftf_sink *part);

/* End the open slices at the part's end. */
void ftf_side_end_part(struct ftf_side *side, struct ftf_sink *part, uint64_t time);

/* Write the state at the part's begin. */
void ftf_side_begin_part(struct ftf_side *side, struct ftf_sink *part, uint64_t time);

void ftf_side_release(struct ftf_side *side);
