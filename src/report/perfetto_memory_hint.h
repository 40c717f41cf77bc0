/* SPDX-License-Identifier: MIT */
/* The memory that Perfetto needs for a large trace. */
#ifndef SRC_REPORT_PERFETTO_MEMORY_HINT_H
#define SRC_REPORT_PERFETTO_MEMORY_HINT_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

/*
 * The slices that fit into a browser tab of 2 GB, as measured with Perfetto v58,
 * whose documentation calls 2 GB typical.
 */
#define PERFETTO_SLICES_MAX UINT64_C(4000000)

/*
 * If a trace of so many slices, with or without arguments, is too large for a
 * browser tab of 2 GB, print the memory that Perfetto needs, and the options that
 * make the trace smaller.
 */
void perfetto_memory_hint_print(uint64_t slices, bool args, FILE *out);

#endif
