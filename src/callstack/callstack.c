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

uint64_t gap_reasons_sum(const uint64_t gaps[GAP_REASONS])
{
	uint64_t sum = 0;

	for (enum gap_reason reason = 0; reason < GAP_REASONS; reason++)
		sum += gap_reason_facts(reason)->cause ? gaps[reason] : 0;
	return sum;
}
