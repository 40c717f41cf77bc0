/* SPDX-License-Identifier: MIT */
/* The arguments of a slice, from its symbol and event. */
#include "src/slices/slice_args.h"

#include "decoder/cpu_event.h"
#include "src/slices/slice_sink.h"
#include "symbols/dso/dso_store.h"

const char *slice_event_value_name(int index)
{
	static const char *const names[SLICE_EVENT_VALUES] = {
		[DATA_CR2] = "page_fault_address",
		[DATA_EXIT_QUALIFICATION] = "exit_qualification",
		[DATA_EXIT_REASON] = "exit_reason",
	};

	return names[index];
}

static void add_event(struct slice_args *args, const struct slice_cause *event)
{
	args->event = event;
	args->address = event ? event->ip : 0;
}

struct slice_args slice_args_of(const struct symbol *symbol, uint64_t ip, unsigned flags)
{
	struct slice_args args = {
		.address = ip,
		.is_value = symbol->kind == SYMBOL_MARK,
		.vector = flags & SLICE_HAS_VECTOR ? (int)slice_vector(flags) : -1,
		.inferred_start = flags & SLICE_INFERRED_START,
	};
	struct source_line line;

	args.continued = flags & SLICE_CONTINUED;
	if (flags & SLICE_HAS_CAUSE)
		add_event(&args, (const struct slice_cause *)(uintptr_t)ip);
	if (!symbol->dso)
		return args;
	if (symbol->linkage != symbol->name)
		args.symbol = symbol->linkage;
	if (symbol->kind != SYMBOL_FUNCTION)
		return args;
	line = dso_symbol_line(symbol);
	args.file = line.file;
	args.line = line.line;
	args.column = line.line ? line.column : 0;
	return args;
}
