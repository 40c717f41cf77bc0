/* SPDX-License-Identifier: MIT */
/*
 * Scans the records of a trace of our writer, for readers that copy most of them unchanged. Checks
 * nothing: reader/trace_reader.h reads untrusted traces.
 */
#pragma once

#include "base/tables/hash.h"
#include "src/formats/ftf/fit_ranks.h"

struct scan_provider;

enum scan_kind {
	SCAN_OTHER = 0,
	SCAN_PROVIDER, /* the first record of `provider` */
	SCAN_SECTION,  /* the next records belong to `provider` */
	SCAN_TRACK,    /* ftf_sink.c: another track with the same ids follows */
	SCAN_PART,     /* ftf_sink.c: a part with late slices begins or ends */
	SCAN_FLOW,     /* an end or a step of an arrow */
	SCAN_BEGIN,
	SCAN_END,
	SCAN_COMPLETE, /* a whole slice */
	SCAN_INSTANT,
};

/* A track with events, and its state for --fit. */
struct scan_thread {
	struct scan_ids {
		uint64_t pid, tid;
		uint64_t number; /* among the tracks with these */
	} ids;
	struct scan_thread *current; /* borrowed; in track 0: the one that events now belong to */
	struct fit_ranks ranks;      /* ranks of inner slices */
	/* An open slice. */
	struct fit_frame {
		size_t index;          /* index of its rank */
		uint64_t begin, until; /* ticks; `until`: of a whole slice */
		uint64_t at, end;      /* range of its begin in the remaining records */
		uint64_t folded[2];
		uint32_t provider; /* provider of the previous record; of a whole slice, its own */
		bool stays;
		bool whole; /* one record */
	} * frames;         /* owned; innermost last */
	size_t depth, room;
	/* In a part with late slices, all slices are inner ones; these have been folded: */
	bool in_part;
	/* Ticks: late slices begin earlier. UINT64_MAX: the next event's time; 0: no part */
	uint64_t part_begin;
	uint64_t folded[2];
	uint64_t outermost; /* number of outermost ones */
	UT_hash_handle hh;
};

/*
 * Zeroed except for `bytes` and `size`, it is at the trace's begin. A trace can be in pieces: set
 * `bytes`, `size` and `at` for the next piece, which begins with the record at which the last one
 * ended.
 */
struct ftf_scan {
	const uint8_t *bytes; /* borrowed */
	uint64_t size, at;
	struct scan_provider **providers; /* owned; by id */
	size_t room;
	uint32_t provider; /* the current one */
	/* The record: */
	const uint8_t *record;
	size_t record_size;
	uint64_t header;
	enum scan_kind kind;
	/* Events: */
	uint64_t time, end;          /* ticks; `end`: SCAN_COMPLETE */
	struct scan_thread *thread;  /* borrowed */
	struct scan_thread *threads; /* owned: hash by ids, in order of appearance */
};

/* Move to the next record.  Returns false at the end, or at an incomplete record. */
bool ftf_scan_next(struct ftf_scan *scan);

/* Add the record's numbers of folded slices, if any, to sum: slices, and their ns. */
void ftf_scan_add_folded(const struct ftf_scan *scan, uint64_t sum[2]);

static inline void ftf_scan_folded(const struct ftf_scan *scan, uint64_t sum[2])
{
	if (scan->header >> 20 & 0xf) /* it has arguments */
		ftf_scan_add_folded(scan, sum);
}

/* Returns whether no event of the thread can be in the current whole slice: the next is later. */
static inline bool ftf_scan_is_leaf(const struct ftf_scan *scan)
{
	uint64_t next[2];

	if (scan->at + sizeof(next) > scan->size)
		return false;
	memcpy(next, scan->bytes + scan->at, sizeof(next));
	/* Type, kind and thread are equal, and the thread is a reference. */
	return !((next[0] ^ scan->header) & UINT64_C(0xff0f000f)) && next[1] >= scan->end &&
	       scan->header & UINT64_C(0xff000000);
}

/* Maximum bytes of a record. */
#define SCAN_RECORD_MAX ((size_t)4095 * 8)

/* Returns a scan at an earlier record of a provider. */
struct ftf_scan ftf_scan_at(const struct ftf_scan *scan, const uint8_t *record, uint32_t provider);

/*
 * Copy an end or a whole slice with these numbers instead of its own; `copy` has room for
 * SCAN_RECORD_MAX. Returns the copy's size; 0 if the numbers do not fit.
 */
size_t ftf_scan_with_folded(const struct ftf_scan *scan, const uint64_t numbers[2], uint8_t *copy);

/* Return to a trace's begin; keeps the threads. */
void ftf_scan_restart(struct ftf_scan *scan);

/* Idempotent. */
void ftf_scan_release(struct ftf_scan *scan);
