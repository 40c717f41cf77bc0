/* SPDX-License-Identifier: MIT */
/*
 * Scans the records of a trace that our writer has written, for readers that copy most of
 * them unchanged.  It checks nothing: reader/trace_reader.h reads the traces of others.
 */
#ifndef SRC_FORMATS_FTF_FTF_SCAN_H
#define SRC_FORMATS_FTF_FTF_SCAN_H

#include "base/common.h"

struct scan_provider;

enum scan_kind {
	SCAN_OTHER = 0,
	SCAN_PROVIDER, /* the first record of `provider` */
	SCAN_SECTION,  /* the next records are of `provider` */
	SCAN_FLOW,     /* an end or a step of an arrow */
	SCAN_BEGIN,
	SCAN_END,
	SCAN_COMPLETE, /* a begin and its end */
	SCAN_INSTANT,
};

/*
 * Zeroed but for `bytes` and `size`, it is at the trace's begin.  A trace may come in pieces: set
 * `bytes`, `size` and `at` for the next one, which begins at the record where the last one ended.
 */
struct ftf_scan {
	const uint8_t *bytes; /* borrowed */
	uint64_t size, at;
	struct scan_provider **providers; /* owned; by id */
	size_t count, room;
	uint32_t provider; /* the current one */
	/* The record: */
	const uint8_t *record;
	size_t record_size;
	uint64_t header;
	enum scan_kind kind;
	/* Of events: */
	uint64_t time, end; /* ticks; end: of SCAN_COMPLETE */
	void **place;       /* the caller's, for this thread; NULL: the record names it in full */
	struct scan_ids {
		uint64_t pid, tid;
	} thread; /* if *place is NULL */
};

/* Numbers that an end has as arguments: of slices that are not shown. */
struct scan_folded {
	uint64_t folded, folded_time;
};

/* Move to the next record.  Returns false at the end, or at an incomplete record. */
bool ftf_scan_next(struct ftf_scan *scan);

/* Add the record's numbers, if it has any, to those in *sum. */
void ftf_scan_folded(const struct ftf_scan *scan, struct scan_folded *sum);

/* The most bytes of a record. */
#define SCAN_RECORD_MAX ((size_t)4095 * 8)

/*
 * Make a copy of an end that has these numbers in place of its own, in room for
 * SCAN_RECORD_MAX.  Returns its size; 0 if they do not fit.
 */
size_t ftf_scan_with_folded(const struct ftf_scan *scan, const struct scan_folded *numbers,
			    uint8_t *copy);

/* Return to a trace's begin, and release all memory. */
void ftf_scan_release(struct ftf_scan *scan);

#endif
