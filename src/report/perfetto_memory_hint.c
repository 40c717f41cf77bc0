/* SPDX-License-Identifier: MIT */
/* The hint about memory at the end of the summary. */
#include "src/report/perfetto_memory_hint.h"

/*
 * Bytes of the memory that trace_processor of Perfetto v58.2 takes per slice: 301 to 420, by the
 * recording, and 444 to 491 with --args=full.
 */
#define BYTES_LINE 355.0
#define BYTES_FULL 468.0

void perfetto_memory_hint_print(uint64_t slices, enum option_args args, FILE *out)
{
	double bytes = args == OPTION_ARGS_FULL ? BYTES_FULL : BYTES_LINE;

	if (slices <= FIT_DEFAULT)
		return;
	fprintf(out,
		"ptrace2ftf: %.1f M slices: about %.1f GB in Perfetto; --time, "
		"--min-duration, --split or --fit\n",
		(double)slices / 1e6, (double)slices * bytes / 1e9);
}
