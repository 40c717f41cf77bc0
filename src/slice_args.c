/* SPDX-License-Identifier: MIT */
#include "slice_args.h"

#include "span_sink.h"
#include "symbols/dso_store.h"

struct slice_args slice_args_of(const struct symbol *symbol, uint64_t ip, unsigned flags)
{
	struct slice_args args = {
		.address = ip,
		.is_value = symbol->kind == SYMBOL_MARK,
		.vector = flags & SPAN_HAS_VECTOR ? (int)span_vector(flags) : -1,
		.inferred_start = flags & SPAN_INFERRED_START,
	};
	struct source_line line;

	args.continued = flags & SPAN_CONTINUED;
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
