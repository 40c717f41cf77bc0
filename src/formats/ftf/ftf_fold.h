/* SPDX-License-Identifier: MIT */
/*
 * Folds the shortest slices of a written trace into the slices around them, so that no more than
 * a number of slices is left.
 *
 * The trace is our writer's own, as bytes; records of anything but slices stay as they are, in
 * their order, and so do the definitions of strings and threads: references mean the same behind
 * the bytes that are left, and the writer may continue there.  Slices that are open at the end
 * stay.
 *
 * What fits is shared among the threads: a thread with few slices keeps all, and none of the
 * others gets less than another one.  A thread's slices from one duration on stay.  The
 * innermost slice left around a folded one counts it: `folded` and `folded_time` of its end,
 * as of --min-duration.  A slice with none around it stays, unless those alone are too many:
 * then the shortest of them are left out.
 *
 * Durations are known to one part in 16.
 */
#ifndef SRC_FORMATS_FTF_FTF_FOLD_H
#define SRC_FORMATS_FTF_FTF_FOLD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct fold_thread;

/* What is not shown as a slice. */
struct fold_counts {
	uint64_t folded;   /* slices counted by others */
	uint64_t left_out; /* slices with none around them */
	uint64_t shortest; /* ns: every slice of at least this length is left, but for those */
};

struct ftf_fold {
	uint64_t limit;            /* slices, and instants, which all stay */
	bool args;                 /* ends get arguments */
	struct fold_counts counts; /* of all runs */
	unsigned roots_from; /* the first class of slices with none around them that is left */
	struct fold_thread *threads; /* owned; hash by pid and tid */
};

/* Takes some bytes of the trace that is left. */
struct fold_output {
	void (*write)(void *context, const void *bytes, size_t size);
	void *context;
};

/*
 * Fold a trace of `size` bytes into another.  The next run must be of what this one has
 * written, and what the writer has appended to it.
 */
void ftf_fold_run(struct ftf_fold *fold, const uint8_t *bytes, uint64_t size,
		  const struct fold_output *output);

/* Idempotent, also on zeroed memory. */
void ftf_fold_release(struct ftf_fold *fold);

#endif
