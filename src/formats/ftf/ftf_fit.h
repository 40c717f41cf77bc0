/* SPDX-License-Identifier: MIT */
/*
 * --fit: sees to it that an FTF output has no more slices than Perfetto opens.
 *
 * Until there are too many, slices are written as ever.  When there are twice as many, what was
 * written is folded (ftf_fold.h) into a file without a name, which gets the rest, and is folded
 * again whenever it has twice as many; at the end it becomes the output.  So nothing is decoded
 * twice, and the disk holds twice what fits at most.  What goes to standard output or is
 * compressed, and so cannot be read again, goes to such a file from the start.
 */
#ifndef SRC_FORMATS_FTF_FTF_FIT_H
#define SRC_FORMATS_FTF_FTF_FIT_H

#include <stdbool.h>
#include <stdint.h>

#include "base/io/output.h"
#include "base/io/temp_file.h"
#include "src/formats/ftf/ftf_fold.h"
#include "writer/ftf.h"

struct ftf_fit {
	struct output *output;  /* borrowed; its error is that of all of this */
	struct ftf_fold fold;   /* its limit: 0 is none */
	struct temp_file spool; /* if it is open, the trace is there */
	uint64_t next;          /* fold when there are so many slices, folded ones included */
};

/* `limit`: slices; 0: any number.  `args`: folded slices are counted by arguments. */
void ftf_fit_init(struct ftf_fit *fit, struct output *output, uint64_t limit, bool args);

/* Returns where a trace begins to be written. */
struct ftf_destination ftf_fit_destination(struct ftf_fit *fit);

/* `slices` have begun, at least `next`: fold what was written; the rest comes behind it. */
void ftf_fit_now(struct ftf_fit *fit, struct ftf_writer *writer, uint64_t slices);

/* The writer has closed the trace, of so many slices: fold it, if there are too many. */
void ftf_fit_finish(struct ftf_fit *fit, uint64_t slices);

/* Returns how many slices are not shown. */
static inline uint64_t ftf_fit_removed(const struct ftf_fit *fit)
{
	return fit->fold.counts.folded + fit->fold.counts.left_out;
}

/* Idempotent, also on zeroed memory. */
void ftf_fit_release(struct ftf_fit *fit);

#endif
