/* SPDX-License-Identifier: MIT */
/*
 * The records of a recording.  They are in parts: ranges of mapped files, viewed and never
 * copied.  A position counts the bytes of all parts from the first one on.
 */
#ifndef DECODER_PERF_DATA_PERF_PARTS_H
#define DECODER_PERF_DATA_PERF_PARTS_H

#include "decoder/perf_data/perf_types.h"

/* Add a part (copied) after the others; its `base` is set here. */
void perf_parts_add(struct perf_file *file, const struct perf_part *part);

/* Returns the number of bytes of records in a part. */
static inline uint64_t perf_part_size(const struct perf_part *part)
{
	return part->end - part->begin;
}

/*
 * Read the record at *position (start with 0) and move past it.
 * Returns 1; 0 at the end.  Nothing after a damaged record of a part can be read: there is a
 * warning with its offset, and reading continues with the next part.  Records with an
 * impossible time are left out, with a warning.
 */
int perf_file_next(const struct perf_file *file, uint64_t *position, struct perf_record *record,
		   struct diag *diag);

#endif
