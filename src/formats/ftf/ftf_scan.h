/* SPDX-License-Identifier: MIT */
/*
 * Scans the records of a trace that our writer has written, for those who pass most of them
 * on as they are.  It checks nothing: reader/trace_reader.h reads the traces of others.
 */
#ifndef SRC_FORMATS_FTF_FTF_SCAN_H
#define SRC_FORMATS_FTF_FTF_SCAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct scan_provider;

enum scan_kind {
	SCAN_OTHER = 0,
	SCAN_PROVIDER, /* the first record of `provider` */
	SCAN_SECTION,  /* what follows is of `provider` */
	SCAN_BEGIN,
	SCAN_END,
	SCAN_COMPLETE, /* a begin and its end */
	SCAN_INSTANT,
};

struct scan_ids {
	uint64_t pid, tid;
};

struct scan_record {
	const uint8_t *bytes;
	size_t size;
	enum scan_kind kind;
	uint64_t header;
	/* Of events: */
	uint64_t time, end; /* ticks */
	struct scan_ids thread;
	void **place; /* the caller's, for this thread; NULL: the record names it in full */
};

/* Zeroed but for `bytes` and `size`, it is at the trace's begin. */
struct ftf_scan {
	const uint8_t *bytes; /* borrowed */
	uint64_t size, at;
	struct scan_provider **providers; /* owned; by id */
	size_t count, room;
	uint32_t provider; /* the current one */
};

/* A number argument that counts folded slices. */
struct scan_folded {
	uint64_t folded, folded_time;
};

/* Move to the next record, and fill it.  Returns false at the end. */
bool ftf_scan_next(struct ftf_scan *scan, struct scan_record *record);

/* Returns what the record's `folded` and `folded_time` say; 0 of what it has not. */
struct scan_folded ftf_scan_folded(const struct ftf_scan *scan, const struct scan_record *record);

/* The most bytes of ftf_scan_with_folded(). */
#define SCAN_RECORD_MAX ((size_t)4095 * 8)

/*
 * Make a copy of an end that has these numbers in place of its own, in room for
 * SCAN_RECORD_MAX.  Returns its size; 0: it has no room for them.
 */
size_t ftf_scan_with_folded(const struct ftf_scan *scan, const struct scan_record *record,
			    const struct scan_folded *numbers, uint8_t *copy);

/* Idempotent. */
void ftf_scan_release(struct ftf_scan *scan);

#endif
