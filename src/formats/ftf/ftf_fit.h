/* SPDX-License-Identifier: MIT */
/*
 * --fit: limit the slices of an FTF output to a number that Perfetto opens.
 *
 * Until there are too many, slices are written as usual.  Then the trace, with the part already
 * written, passes through a filter once, in pieces of a fixed size: the filter ranks each slice
 * (fit_ranks.h), drops slices that are known to be too many, and keeps the rest in an array
 * (base/io/big_array.h).  Each time that a quarter of the limit more is left there, ranks are
 * chosen anew.  At the end all ranks are known, and the records of the chosen ranks become the
 * output. The choice depends on the bytes of the trace alone.  Standard output and compressed
 * files, which cannot be read again, get nothing before.
 *
 * The innermost slice that stays around a dropped one counts it: `folded` and `folded_time` of
 * its end or its one record, as of --min-duration.  Slices without one around them stay, unless
 * there are too many of these alone.  All other records stay as they are, in their order, and so do
 * slices without an end.
 */
#ifndef SRC_FORMATS_FTF_FTF_FIT_H
#define SRC_FORMATS_FTF_FTF_FIT_H

#include "base/io/big_array.h"
#include "base/io/output.h"
#include "writer/ftf.h"

struct fit_run;

struct ftf_fit {
	struct output *output; /* borrowed; its error is that of all of this */
	uint64_t limit;        /* slices, marks included; 0: unlimited */
	uint64_t next;         /* slices at which to call ftf_fit_now() */
	bool args;             /* ends get arguments */
	/* Counts of slices that are not shown. */
	struct fold_counts {
		uint64_t folded;   /* slices counted by others */
		uint64_t left_out; /* outermost slices, with their counts */
		uint64_t shortest; /* ns: every other slice of at least this length is shown */
	} counts;
	/* Bytes of a trace; they are released as they are written and read. */
	struct fit_bytes {
		struct big_array array; /* owned */
		size_t size;
	} early; /* the trace up to `next`, if the output cannot be read again; then records that
		    are to be written */
	struct fit_run *run; /* owned; NULL: all fits up to now */
};

/* `limit`: slices; 0: any number.  `args`: folded slices are counted by arguments. */
void ftf_fit_init(struct ftf_fit *fit, struct output *output, uint64_t limit, bool args);

/* Returns where a trace begins to be written. */
struct ftf_destination ftf_fit_destination(struct ftf_fit *fit);

/* At least `next` slices have begun: filter the records written before and from now on. */
void ftf_fit_now(struct ftf_fit *fit, struct ftf_writer *writer);

/* The writer has closed the trace, of `slices` slices: write the ones that fit into the output. */
void ftf_fit_finish(struct ftf_fit *fit, uint64_t slices);

/* Idempotent, also on zeroed memory. */
void ftf_fit_release(struct ftf_fit *fit);

#endif
