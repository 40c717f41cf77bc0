/* SPDX-License-Identifier: MIT */
/* The hint about memory at the end of the summary. */
#include "src/report/perfetto_memory_hint.h"

/*
 * Bytes of the memory that trace_processor of Perfetto v58 takes per slice: 290 to 350, by the
 * recording, and with --args=full.
 */
#define BYTES_LINE 320.0
#define BYTES_FULL 480.0

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
