/* SPDX-License-Identifier: MIT */
/* The hint about memory at the end of the summary. */
#include "src/report/perfetto_memory_hint.h"

#include "src/options/selection.h"

/*
 * Bytes of memory that trace_processor of Perfetto v58.2 takes: for itself, for a slice, for each
 * other record of an event, and for a byte of the trace.  Fitted to 18 traces of 0.6 to 8.2 million
 * slices of seven programs, with --args=none, line and full: within 6 % of each.
 */
#define BYTES_START  39e6
#define BYTES_SLICE  161.0
#define BYTES_RECORD 129.0
#define BYTES_BYTE   2.775

void perfetto_memory_hint_print(uint64_t slices, uint64_t records, uint64_t bytes, FILE *out)
{
	double others = records > slices ? (double)(records - slices) : 0;
	double memory = BYTES_START + BYTES_SLICE * (double)slices + BYTES_RECORD * others +
			BYTES_BYTE * (double)bytes;

	if (slices <= FIT_DEFAULT)
		return;
	fprintf(out,
		"ptrace2ftf: %.1f M slices: about %.1f GB in Perfetto; --time, "
		"--min-duration, --split or --fit\n",
		(double)slices / 1e6, memory / 1e9);
}
