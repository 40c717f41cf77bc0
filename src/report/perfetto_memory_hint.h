/* SPDX-License-Identifier: MIT */
/* The memory that Perfetto needs for a large trace. */
#ifndef SRC_REPORT_PERFETTO_MEMORY_HINT_H
#define SRC_REPORT_PERFETTO_MEMORY_HINT_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "src/options/options.h"

/*
 * If a trace of so many slices, with these arguments, has more than FIT_DEFAULT, print the memory
 * that Perfetto needs, and the options that make the trace smaller.
 */
void perfetto_memory_hint_print(uint64_t slices, enum option_args args, FILE *out);

#endif
