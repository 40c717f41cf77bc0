/* SPDX-License-Identifier: MIT */
/* What a large trace will cost in Perfetto. */
#ifndef SRC_REPORT_PERFETTO_MEMORY_HINT_H
#define SRC_REPORT_PERFETTO_MEMORY_HINT_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

/*
 * A browser tab of 2 GB takes about so many slices (measured with Perfetto v58,
 * whose documentation calls 2 GB typical).
 */
#define SIZE_NOTE_SLICES UINT64_C(4000000)

/*
 * Print a line if a trace of so many slices, with or without arguments, is too
 * large for a browser with 2 GB: how much memory Perfetto will take, and what
 * helps.
 */
void perfetto_memory_hint_print(uint64_t slices, bool args, FILE *out);

#endif
