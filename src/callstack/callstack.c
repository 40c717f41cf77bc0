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

const char *callstack_gap_text(enum gap_reason reason)
{
	static const char *const texts[] = {
		[GAP_INTERNAL] = "Internal error",
		[GAP_BAD_PACKET] = "Bad packet",
		[GAP_NO_DATA] = "No more data",
		[GAP_NO_CODE] = "Failed to get instruction",
		[GAP_MISMATCH] = "Trace doesn't match instruction",
		[GAP_OVERFLOW] = "Overflow packet",
		[GAP_LOST] = "Lost trace data",
		[GAP_UNKNOWN] = "Unknown error!",
		[GAP_NOT_RECORDED] = "Not recorded",
		[GAP_PAUSED] = "Paused",
		[GAP_ENDLESS] = "Never-ending loop (refer perf config intel-pt.max-loops)",
	};
	size_t index = (size_t)reason;

	if (index >= COUNT_OF(texts) || !texts[index])
		index = GAP_UNKNOWN;
	return texts[index];
}
