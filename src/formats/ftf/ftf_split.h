/* SPDX-License-Identifier: MIT */
/*
 * --split: one trace in several files, each complete in itself: out.000.ftf, out.001.ftf, ...
 *
 * All threads are cut at the same time.  Slices that are open at a cut end in one part
 * and begin again in the next one, with SLICE_CONTINUED.  A part lasts until the next
 * one begins: no part is made for a time in which no slice begins.  The records beside
 * the slices of calls are in the part of their time (ftf_side.h).
 */
#ifndef SRC_FORMATS_FTF_FTF_SPLIT_H
#define SRC_FORMATS_FTF_FTF_SPLIT_H

#include "src/formats/output_format.h"

/* Opens an output for each part. */
extern const struct output_format format_ftf_split;

/*
 * Returns the path of a part, owned by the caller: the number comes before the
 * extension, and before .gz and .zst: a/out.ftf.gz: a/out.007.ftf.gz.
 */
char *ftf_split_path(const char *path, size_t part);

#endif
