/* SPDX-License-Identifier: MIT */
/* The reasons of gaps in words. */
#include "decoder/branch_event.h"

const struct gap_facts *gap_reason_facts(enum gap_reason reason)
{
	static const struct gap_facts facts[GAP_REASONS] = {
		[GAP_INTERNAL] = { "Internal error", "internal", "the decoder's library failed" },
		[GAP_BAD_PACKET] = { "Bad packet", "bad-packet", "the trace is damaged" },
		[GAP_NO_DATA] = { "No more data", "no-data",
				  "the trace ends in the middle of a packet" },
		[GAP_NO_CODE] = { "Failed to get instruction", "no-code",
				  "code is missing; give the recorded files with --symfs, --vdso, "
				  "--kernel" },
		[GAP_MISMATCH] = { "Trace doesn't match instruction", "mismatch",
				   "the trace does not fit the code: are these the files that "
				   "ran?" },
		[GAP_OVERFLOW] = { "Overflow packet", "overflow",
				   "the CPU dropped packets: record fewer, with -e intel_pt/cyc=0/u "
				   "or --filter" },
		[GAP_LOST] = { "Lost trace data", "lost",
			       "perf could not keep up; record with a larger buffer, -m,64M" },
		[GAP_UNKNOWN] = { "Unknown error!", "unknown", "the input has no details" },
		[GAP_ENDLESS] = { "Never-ending loop (refer perf config intel-pt.max-loops)",
				  "endless", "the code loops without using trace" },
		[GAP_NOT_RECORDED] = { "Not recorded", "not-recorded", NULL },
		[GAP_PAUSED] = { "Paused", "paused", NULL },
	};
	size_t index = (size_t)reason;

	return &facts[index < COUNT_OF(facts) && facts[index].text ? index : GAP_UNKNOWN];
}
