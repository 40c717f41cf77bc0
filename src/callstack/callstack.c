/* SPDX-License-Identifier: MIT */
/* Code of call-stack machines that does not depend on their rules. */
#include "src/callstack/callstack.h"

/* 144 MiB of frames; a stack of 8 MiB has at most half a million. */
#define OPEN_MOST ((size_t)1 << 21)
/* 32 MiB of events and details. */
#define PENDING_MOST ((size_t)1 << 20)

void callstack_machine_init(struct callstack_machine *machine, const struct callstack_ops *ops,
			    const struct callstack_options *options)
{
	machine->ops = ops;
	machine->sink = options->sink;
	machine->diag = options->diag;
	machine->open_most = OPEN_MOST;
	machine->pending_most = PENDING_MOST;
}

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

uint64_t gap_reasons_sum(const uint64_t gaps[GAP_REASONS])
{
	uint64_t sum = 0;

	for (enum gap_reason reason = 0; reason < GAP_REASONS; reason++)
		sum += gap_reason_facts(reason)->cause ? gaps[reason] : 0;
	return sum;
}
