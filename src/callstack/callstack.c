/* SPDX-License-Identifier: MIT */
/* The parts of call-stack machines that do not depend on the rules. */
#include "src/callstack/callstack.h"

struct callstack *callstack_open(struct callstack_machine *machine, void *track)
{
	return machine->ops->open(machine, track);
}

void callstack_inherit(struct callstack *stack, const struct callstack *parent, uint64_t time)
{
	if (stack->machine->ops->inherit)
		stack->machine->ops->inherit(stack, parent, time);
}

bool callstack_copy(struct callstack *copy, const struct callstack *stack, uint64_t *most)
{
	return stack->machine->ops->copy(copy, stack, most);
}

void callstack_finish(struct callstack *stack)
{
	stack->machine->ops->finish(stack);
}

void callstack_close(struct callstack *stack)
{
	if (stack)
		stack->machine->ops->close(stack);
}

void callstack_machine_close(struct callstack_machine *machine)
{
	if (machine)
		machine->ops->machine_close(machine);
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
