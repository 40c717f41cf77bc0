/* SPDX-License-Identifier: MIT */
/*
 * --split: one trace in several self-contained files: out.000.ftf, out.001.ftf, ...
 *
 * All threads are cut at the same time. Slices open at a cut end in one part and begin again in the
 * next, with SLICE_CONTINUED. A part lasts until the next one begins; a time without begins of
 * slices has no part. Records that are not slices of calls are in the part of their time
 * (ftf_side.h).
 */
#pragma once

#include "src/formats/output_format.h"

/* Opens an output for each part. */
extern const struct output_format format_ftf_split;

/*
 * Returns the path of a part, owned by the caller. The number precedes the extension, .gz and .zst:
 * a/out.ftf.gz becomes a/out.007.ftf.gz.
 */
char *ftf_split_path(const char *path, size_t part);
