/* SPDX-License-Identifier: MIT */
/*
 * --format=svg: a picture of one thread: time to the right, callees below their
 * callers.
 *
 * Of the size of a screen whatever the trace: what is narrower than half a pixel is
 * drawn together with its neighbours, and levels beyond the 64th are counted.  Each
 * slice of two pixels tells its name and time when pointed at.
 */
#ifndef SRC_FORMATS_FORMAT_SVG_H
#define SRC_FORMATS_FORMAT_SVG_H

#include <stdio.h>

#include "src/slices/slice_store.h"

/* Print the thread with the most slices of those in the spool.  Errors stay with the stream. */
void format_svg_print(const struct slice_store *spool, FILE *out);

#endif
