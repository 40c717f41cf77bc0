/* SPDX-License-Identifier: MIT */
/*
 * --format=speedscope: JSON for speedscope (https://www.speedscope.app,
 * file-format-schema.json): an evented profile per thread.
 *
 * Values are ns since the first slice of all threads, so that JavaScript's numbers
 * hold them.
 */
#ifndef SRC_FORMATS_FORMAT_SPEEDSCOPE_H
#define SRC_FORMATS_FORMAT_SPEEDSCOPE_H

#include <stdio.h>

#include "src/slices/slice_store.h"

/* Print what the spool holds; `name` is of the recording.  Errors stay with the stream. */
void format_speedscope_print(const struct slice_store *spool, const char *name, FILE *out);

#endif
