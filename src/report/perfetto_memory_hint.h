/* SPDX-License-Identifier: MIT */
/* The memory that Perfetto needs for a large trace. */
#ifndef SRC_REPORT_PERFETTO_MEMORY_HINT_H
#define SRC_REPORT_PERFETTO_MEMORY_HINT_H

#include "base/common.h"

/*
 * If a trace has more than FIT_DEFAULT slices, print the memory that Perfetto needs, and the
 * options that make the trace smaller.  `records`: of its events, one or two for a slice; `bytes`:
 * its size before compression.
 */
void perfetto_memory_hint_print(uint64_t slices, uint64_t records, uint64_t bytes, FILE *out);

#endif
