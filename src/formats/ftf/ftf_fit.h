/* SPDX-License-Identifier: MIT */
/*
 * --fit: limit the slices of an FTF output to a number that Perfetto can open.
 *
 * Up to the limit, slices are written as usual. Then the trace, including the part already written,
 * passes once through a filter, in pieces of a fixed size. The filter ranks each slice
 * (fit_ranks.h), drops slices that exceed the limit, and stores the rest in an array
 * (base/io/big_array.h). Whenever the array has grown by a quarter of the limit, ranks are chosen
 * again. At the end all ranks are known, and the records of the chosen ranks become the output. The
 * choice depends only on the bytes of the trace. Standard output and compressed files cannot be
 * read again, so they are written only at the end.
 *
 * The innermost remaining slice around a dropped slice counts it: `folded` and `folded_time` of its
 * end or its only record, as with --min-duration. Outermost slices stay, unless these alone exceed
 * the limit. All other records, and slices without an end, stay unchanged and in order.
 */
#pragma once

#include "base/io/big_array.h"
#include "base/io/output.h"
#include "writer/ftf.h"

struct fit_run;

struct ftf_fit {
	struct output *output; /* borrowed; its error is the filter's */
	uint64_t limit;        /* slices, marks included; 0: unlimited */
	uint64_t next;         /* number of slices at which to call ftf_fit_now() */
	bool args;             /* ends get arguments */
	/* Counts of slices that are not shown. */
	struct fold_counts {
		uint64_t folded;   /* slices counted by others */
		uint64_t left_out; /* outermost slices, with their counts */
		uint64_t shortest; /* ns: all other slices of at least this length are shown */
	} counts;
	/* Bytes of a trace, released while they are written and read. */
	struct fit_bytes {
		struct big_array array; /* owned */
		size_t size;
	} early; /* the trace up to `next`, if the output cannot be read again; then records to
		  * write */
	struct fit_run *run; /* owned; NULL: all slices fit so far */
};

/* `limit`: slices; 0: unlimited. `args`: arguments count folded slices. */
void ftf_fit_init(struct ftf_fit *fit, struct output *output, uint64_t limit, bool args);

/* Returns the destination of a trace. */
struct ftf_destination ftf_fit_destination(struct ftf_fit *fit);

/* At least `next` slices have begun: filter the records written so far and later ones. */
void ftf_fit_now(struct ftf_fit *fit, struct ftf_writer *writer);

/* The writer closed the trace of `slices` slices: write the remaining ones to the output. */
void ftf_fit_finish(struct ftf_fit *fit, uint64_t slices);

/* Idempotent, also on zeroed memory. */
void ftf_fit_release(struct ftf_fit *fit);
