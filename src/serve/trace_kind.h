/* SPDX-License-Identifier: MIT */
/* Traces that need no conversion. */
#ifndef SRC_SERVE_TRACE_KIND_H
#define SRC_SERVE_TRACE_KIND_H

#include "base/common.h"

/* Bytes of a file's begin that decide. */
#define TRACE_KIND_BYTES 64

/*
 * Returns whether Perfetto opens a file that begins with these bytes, and this program
 * does not convert it: FTF, Perfetto's own format, JSON, or these packed.  Perfetto's
 * importers find them by the same bytes (Sniff() below src/trace_processor/importers/).
 */
bool trace_kind_is_trace(const uint8_t *begin, size_t size);

/*
 * Open the file at `path` if it is such a trace, or a page of --format=html, and set `page` then.
 * Returns a descriptor, owned by the caller; -1: it is something else, or cannot be read.
 */
int trace_kind_open(const char *path, bool *page);

#endif
