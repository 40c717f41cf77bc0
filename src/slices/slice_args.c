/* SPDX-License-Identifier: MIT */
/* The arguments of a slice, from its symbol and event. */
#include "src/slices/slice_args.h"

#include "decoder/cpu_event.h"

const char *slice_arg_text(enum slice_arg_key key)
{
#define SLICE_ARG_TEXT(key, text) text,
	static const char *const texts[SLICE_ARG_KEYS] = { SLICE_ARGS(SLICE_ARG_TEXT) };

	return texts[key];
}

static void add_number(struct slice_args *args, enum slice_arg_key key, enum slice_arg_type type,
		       uint64_t number)
{
	args->list[args->count++] =
		(struct slice_arg){ .key = key, .type = type, .number = number };
}

void slice_args_add_name(struct slice_args *args, enum slice_arg_key key, const struct name *name)
{
	if (name)
		args->list[args->count++] =
			(struct slice_arg){ .key = key, .type = SLICE_ARG_NAME, .name = name };
}

struct source_line slice_source_line(const struct symbol *symbol)
{
	return symbol->dso && symbol->kind == SYMBOL_FUNCTION ? dso_symbol_line(symbol)
							      : (struct source_line){ 0 };
}

const struct name *slice_category(const struct symbol *symbol)
{
	return symbol->dso ? symbol->dso->short_name : NULL;
}

void slice_args_add_begin(struct slice_args *args, const struct symbol *symbol, uint64_t ip,
			  unsigned flags, enum option_args level)
{
	const struct slice_cause *event = NULL;
	const bool full = level == OPTION_ARGS_FULL, apart = full || level == OPTION_ARGS_LINE;
	const bool mark = symbol->kind == SYMBOL_MARK;

	if (flags & SLICE_HAS_CAUSE) {
		event = (const struct slice_cause *)(uintptr_t)ip;
		ip = event ? event->ip : 0;
	}
	if (mark || apart)
		add_number(args, mark ? SLICE_ARG_VALUE : SLICE_ARG_ADDRESS, SLICE_ARG_POINTER, ip);
	if (apart && (symbol->dso || (full && symbol->kind < SYMBOL_SPECIAL))) {
		struct source_line line = slice_source_line(symbol);

		if (line.line)
			add_number(args, SLICE_ARG_LINE, SLICE_ARG_NUMBER, line.line);
		if (line.line && line.column)
			add_number(args, SLICE_ARG_COLUMN, SLICE_ARG_NUMBER, line.column);
		if (full || symbol->linkage != symbol->name)
			slice_args_add_name(args, SLICE_ARG_SYMBOL, symbol->linkage);
		slice_args_add_name(args, SLICE_ARG_FILE, line.file);
	}
	if (symbol->inlined)
		add_number(args, SLICE_ARG_INLINED, SLICE_ARG_TRUE, 1);
	if (flags & SLICE_HAS_VECTOR)
		add_number(args, SLICE_ARG_VECTOR, SLICE_ARG_NUMBER, slice_vector(flags));
	for (int i = 0; event && i < SLICE_EVENT_VALUES; i++)
		if (event->known >> i & 1)
			add_number(args, SLICE_ARG_EVENT + (enum slice_arg_key)i, SLICE_ARG_POINTER,
				   event->values[i]);
	if (flags & SLICE_INFERRED_START)
		add_number(args, SLICE_ARG_INFERRED, SLICE_ARG_TRUE, 1);
	if (flags & SLICE_UNCERTAIN_LEVEL)
		add_number(args, SLICE_ARG_UNCERTAIN, SLICE_ARG_TRUE, 1);
	if (flags & SLICE_TAIL_CALLED)
		add_number(args, SLICE_ARG_TAIL_CALL, SLICE_ARG_TRUE, 1);
	if (symbol->changed)
		add_number(args, SLICE_ARG_CHANGED, SLICE_ARG_TRUE, 1);
	if (flags & SLICE_ESTIMATED_TIME)
		add_number(args, SLICE_ARG_ESTIMATED, SLICE_ARG_TRUE, 1);
	if (flags & SLICE_CONTINUED)
		add_number(args, SLICE_ARG_CONTINUED, SLICE_ARG_TRUE, 1);
}

void slice_files_release(struct slice_files *files)
{
	free(files->shown);
	*files = (struct slice_files){ 0 };
}

bool slice_args_add_dso(struct slice_args *args, const struct symbol *symbol,
			struct slice_files *files)
{
	if (symbol->kind != SYMBOL_UNNAMED)
		return false;
	for (size_t i = files->count; i-- > 0;)
		if (files->shown[i] == symbol->dso)
			return false;
	*ARRAY_ADD(files->shown, files->count, files->room) = symbol->dso;
	slice_args_add_name(args, SLICE_ARG_DSO, symbol->dso->shown_path);
	slice_args_add_name(args, SLICE_ARG_BUILD_ID, symbol->dso->shown_build_id);
	return true;
}

void slice_args_add_cost(struct slice_args *args, struct slice_cost cost)
{
	double ipc = slice_cost_ipc(cost);

	if (cost.insns)
		add_number(args, SLICE_ARG_INSNS, SLICE_ARG_NUMBER, cost.insns);
	if (cost.cycles)
		add_number(args, SLICE_ARG_CYCLES, SLICE_ARG_NUMBER, cost.cycles);
	if (ipc > 0)
		args->list[args->count++] = (struct slice_arg){ .key = SLICE_ARG_IPC,
								.type = SLICE_ARG_REAL,
								.real = ipc };
}

void slice_args_add_folded(struct slice_args *args, uint64_t folded, uint64_t time)
{
	if (!folded)
		return;
	add_number(args, SLICE_ARG_FOLDED, SLICE_ARG_NUMBER, folded);
	add_number(args, SLICE_ARG_FOLDED_TIME, SLICE_ARG_NUMBER, time);
}

/* ---- Costs by the counters at begins --------------------------------------- */

void track_cost_begin(struct track *track, const struct slice_detail *detail)
{
	*ARRAY_ADD(track->costs, track->cost_count, track->cost_room) =
		detail ? (struct slice_cost){ detail->insns, detail->cycles }
		       : (struct slice_cost){ 0 };
}

struct slice_cost track_cost_end(struct track *track, const struct slice_detail *detail)
{
	if (!track->cost_count)
		return (struct slice_cost){ 0 };
	return slice_cost_between(track->costs[--track->cost_count], detail);
}

void track_release(struct track *track)
{
	free(track->open);
	free(track->costs);
	*track = (struct track){ 0 };
}
