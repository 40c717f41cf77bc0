/* SPDX-License-Identifier: MIT */
#include "ftf_sink.h"

#include <string.h>

#include "slice_args.h"
#include "track.h"

#define SLICE_ARGS_MAX 7
#define COST_ARGS_MAX 3

void ftf_sink_init(struct ftf_sink *ftf, struct output *output, struct name_table *names,
		   enum option_args level)
{
	*ftf = (struct ftf_sink){ .names = names, .level = level, .sites = { .names = names } };
	ftf_writer_init(&ftf->writer, output);
	ftf->address = name_intern_text(names, "address");
	ftf->line = name_intern_text(names, "line");
	ftf->col = name_intern_text(names, "col");
	ftf->symbol = name_intern_text(names, "symbol");
	ftf->file = name_intern_text(names, "file");
	ftf->inferred = name_intern_text(names, "inferred_start_time");
	ftf->inlined = name_intern_text(names, "inlined");
	ftf->is_true = name_intern_text(names, "true");
	ftf->process = name_intern_text(names, "process");
	ftf->caller = name_intern_text(names, "caller");
	ftf->insns = name_intern_text(names, "insns");
	ftf->cycles = name_intern_text(names, "cycles");
	ftf->ipc = name_intern_text(names, "ipc");
}

void ftf_sink_release(struct ftf_sink *ftf)
{
	ftf_writer_release(&ftf->writer);
	call_sites_release(&ftf->sites);
}

static struct ftf_thread thread_of(const struct track *track)
{
	return (struct ftf_thread){ track->index, (uint32_t)track->pid, (uint32_t)track->tid };
}

/* Before a track's first slice its names are told. */
static void announce(struct ftf_sink *ftf, struct track *track)
{
	struct ftf_thread thread = thread_of(track);

	if (track->announced)
		return;
	track->announced = true;
	if (track->process_name)
		ftf_process_name(&ftf->writer, thread.pid,
				 name_intern_text(ftf->names, track->process_name));
	if (track->thread_name)
		ftf_thread_name(&ftf->writer, &thread,
				name_intern_text(ftf->names, track->thread_name), ftf->process);
}

static struct ftf_arg number_arg(const struct name *name, uint64_t number)
{
	enum ftf_arg_type type = number <= INT32_MAX ? FTF_INT32 : FTF_INT64;

	return (struct ftf_arg){ name, type, { .integer = (int64_t)number } };
}

static struct ftf_arg name_arg(const struct name *name, const struct name *value)
{
	return (struct ftf_arg){ name, FTF_STRING, { .string = value } };
}

static size_t fill_args(const struct ftf_sink *ftf, const struct slice_args *from,
			struct ftf_arg args[SLICE_ARGS_MAX])
{
	size_t count = 0;

	args[count++] = (struct ftf_arg){ ftf->address, FTF_POINTER, { .word = from->address } };
	if (from->line)
		args[count++] = number_arg(ftf->line, from->line);
	if (from->column)
		args[count++] = number_arg(ftf->col, from->column);
	if (from->symbol)
		args[count++] = name_arg(ftf->symbol, from->symbol);
	if (from->file)
		args[count++] = name_arg(ftf->file, from->file);
	if (from->inferred_start)
		args[count++] = name_arg(ftf->inferred, ftf->is_true);
	if (from->caller)
		args[count++] = name_arg(ftf->caller, from->caller);
	return count;
}

static size_t fill_costs(const struct ftf_sink *ftf, struct slice_cost cost,
			 struct ftf_arg args[COST_ARGS_MAX])
{
	double ipc = slice_cost_ipc(cost);
	size_t count = 0;

	if (cost.insns)
		args[count++] = number_arg(ftf->insns, cost.insns);
	if (cost.cycles)
		args[count++] = number_arg(ftf->cycles, cost.cycles);
	if (ipc > 0)
		args[count++] = (struct ftf_arg){ ftf->ipc, FTF_DOUBLE, { .real = ipc } };
	return count;
}

static void detail(const struct span_sink *sink, void *context, const struct span_detail *detail)
{
	struct track *track = context;

	(void)sink;
	slice_costs_detail(&track->costs, detail);
}

/* Returns where the slice was called from; NULL: unknown. */
static const struct name *begin_costs(struct ftf_sink *ftf, struct track *track)
{
	struct span_detail detail = slice_costs_begin(&track->costs);

	return call_sites_find(&ftf->sites, detail.caller, detail.caller_offset);
}

static void begin(const struct span_sink *sink, void *context, uint64_t time,
		  const struct symbol *symbol, uint64_t ip, unsigned flags)
{
	struct ftf_sink *ftf = sink->context;
	struct ftf_thread thread = thread_of(context);
	struct ftf_arg args[SLICE_ARGS_MAX];
	size_t count = 0;

	if (ftf->level != OPTION_ARGS_NONE) {
		struct slice_args values = slice_args_of(symbol, ip, flags);

		if (ftf->level == OPTION_ARGS_FULL)
			values.caller = begin_costs(ftf, context);
		count = fill_args(ftf, &values, args);
	}
	announce(ftf, context);
	ftf->slices++;
	ftf_duration_begin(&ftf->writer, &thread, time, symbol->inlined ? ftf->inlined : NULL,
			   symbol->name, args, count);
}

static void end(const struct span_sink *sink, void *context, uint64_t time,
		const struct symbol *symbol)
{
	struct ftf_sink *ftf = sink->context;
	struct ftf_thread thread = thread_of(context);
	struct track *track = context;
	struct ftf_arg args[COST_ARGS_MAX];
	size_t count = 0;

	(void)symbol;
	if (ftf->level == OPTION_ARGS_FULL)
		count = fill_costs(ftf, slice_costs_end(&track->costs), args);
	ftf_duration_end_args(&ftf->writer, &thread, time, args, count);
}

static void complete(const struct span_sink *sink, void *context, uint64_t begin_time,
		     uint64_t end_time, const struct symbol *symbol, unsigned flags)
{
	begin(sink, context, begin_time, symbol, 0, flags);
	end(sink, context, end_time, symbol);
}

/* Perfetto does not show instants of a thread well; a slice without length it does. */
static void instant(const struct span_sink *sink, void *context, uint64_t time, const char *text)
{
	struct ftf_sink *ftf = sink->context;
	struct ftf_thread thread = thread_of(context);

	announce(ftf, context);
	ftf->slices++;
	ftf_duration_begin(&ftf->writer, &thread, time, NULL, name_intern_text(ftf->names, text),
			   NULL, 0);
	ftf_duration_end(&ftf->writer, &thread, time);
}

static void segment_end(const struct span_sink *sink, void *context)
{
	(void)sink;
	(void)context;
}

struct span_sink ftf_sink_spans(struct ftf_sink *ftf)
{
	return (struct span_sink){
		.detail = ftf->level == OPTION_ARGS_FULL ? detail : NULL,
		.begin = begin,
		.end = end,
		.complete = complete,
		.instant = instant,
		.segment_end = segment_end,
		.context = ftf,
	};
}
