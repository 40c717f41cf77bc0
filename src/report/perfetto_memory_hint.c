/* SPDX-License-Identifier: MIT */
/* The hint about memory at the end of the summary. */
#include "src/report/perfetto_memory_hint.h"

/* Bytes of Perfetto's memory per slice, without and with arguments, as measured. */
#define BYTES_BARE 370.0
#define BYTES_ARGS 470.0

void perfetto_memory_hint_print(uint64_t slices, bool args, FILE *out)
{
	if (slices <= PERFETTO_SLICES_MAX)
		return;
	fprintf(out,
		"ptrace2ftf: %.1f M slices: about %.1f GB in Perfetto; --time, "
		"--min-duration or --split\n",
		(double)slices / 1e6, (double)slices * (args ? BYTES_ARGS : BYTES_BARE) / 1e9);
}
