/* SPDX-License-Identifier: MIT */
#include "src/formats/ftf/ftf_sink.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "src/slices/slice_args.h"
#include "src/slices/track.h"

#define SLICE_ARGS_MAX (9 + SLICE_EVENT_VALUES)
#define END_ARGS_MAX   5

#define HABIT_BITS 12

/* Records that are written at once. */
#define REPEATS 64

/* How a slice's beginning is written, but for its time and thread. */
struct ftf_habit {
	const struct symbol *symbol; /* NULL: none yet */
	const struct name *caller;
	uint64_t ip;
	unsigned flags; /* enum slice_flags */
	struct ftf_kept kept;
};

static int write_output(void *context, const void *bytes, size_t size)
{
	output_write(context, bytes, size);
	return 0; /* the output keeps its own error, which names the file */
}

void ftf_sink_init(struct ftf_sink *ftf, struct output *output, struct name_table *names,
		   enum option_args level)
{
	const struct ftf_destination to = { write_output, output };

	*ftf = (struct ftf_sink){ .names = names, .level = level, .sites = { .names = names } };
	ftf->writer = ftf_open_destination(&to, "ptrace2ftf");
	ftf->habits = alloc_zeroed((size_t)1 << HABIT_BITS, sizeof(*ftf->habits));
	ftf->address = ftf_text(ftf->writer, "address");
	ftf->line = ftf_text(ftf->writer, "line");
	ftf->col = ftf_text(ftf->writer, "col");
	ftf->symbol = ftf_text(ftf->writer, "symbol");
	ftf->file = ftf_text(ftf->writer, "file");
	ftf->inferred = ftf_text(ftf->writer, "inferred_start_time");
	ftf->inlined = ftf_text(ftf->writer, "inlined");
	ftf->is_true = ftf_text(ftf->writer, "true");
	ftf->continued = ftf_text(ftf->writer, "continued");
	ftf->caller = ftf_text(ftf->writer, "caller");
	ftf->insns = ftf_text(ftf->writer, "insns");
	ftf->cycles = ftf_text(ftf->writer, "cycles");
	ftf->ipc = ftf_text(ftf->writer, "ipc");
	ftf->vector = ftf_text(ftf->writer, "vector");
	for (int i = 0; i < SLICE_EVENT_VALUES; i++)
		ftf->event_values[i] = ftf_text(ftf->writer, slice_event_value_name(i));
	ftf->value = ftf_text(ftf->writer, "value");
	ftf->folded = ftf_text(ftf->writer, "folded");
	ftf->folded_time = ftf_text(ftf->writer, "folded_time");
}

void ftf_sink_note(struct ftf_sink *ftf, const char *name, const char *text)
{
	ftf_blob(ftf->writer, &(struct ftf_blob){ FTF_BLOB_DATA, ftf_text(ftf->writer, name), text,
						  strlen(text) });
}

int ftf_sink_close(struct ftf_sink *ftf, struct error *err)
{
	struct ftf_error failure = { 0 };
	int status = ftf_close(ftf->writer, &failure);

	ftf->writer = NULL;
	return status < 0 ? error_set(err, ERROR_LIMIT, "trace: %s", failure.text) : 0;
}

void ftf_sink_release(struct ftf_sink *ftf)
{
	ftf_abandon(ftf->writer);
	call_sites_release(&ftf->sites);
	free(ftf->known);
	free(ftf->threads);
	free(ftf->habits);
	*ftf = (struct ftf_sink){ 0 };
}

/* The program's names live until the end of the run: the writer may borrow their text. */
static struct ftf_name name_of(struct ftf_sink *ftf, const struct name *name)
{
	size_t old = ftf->known_room;

	if (!name)
		return (struct ftf_name){ 0 };
	if (name->id >= old) {
		ftf->known = alloc_grow(ftf->known, &ftf->known_room, (size_t)name->id + 1,
					sizeof(*ftf->known));
		memset(ftf->known + old, 0, (ftf->known_room - old) * sizeof(*ftf->known));
	}
	if (!ftf->known[name->id].id)
		ftf->known[name->id] = ftf_name_borrow(ftf->writer, name->text, name->length);
	return ftf->known[name->id];
}

static struct ftf_thread find_thread(struct ftf_sink *ftf, const struct track *track)
{
	size_t old = ftf->thread_room;

	if (track->index >= old) {
		ftf->threads = alloc_grow(ftf->threads, &ftf->thread_room, (size_t)track->index + 1,
					  sizeof(*ftf->threads));
		memset(ftf->threads + old, 0, (ftf->thread_room - old) * sizeof(*ftf->threads));
	}
	if (!ftf->threads[track->index].id)
		ftf->threads[track->index] =
			ftf_thread(ftf->writer, (uint32_t)track->pid, (uint32_t)track->tid);
	return ftf->threads[track->index];
}

static inline struct ftf_thread thread_of(struct ftf_sink *ftf, const struct track *track)
{
	return track->announced ? (struct ftf_thread){ track->writer_thread }
				: find_thread(ftf, track);
}

/* Before a track's first slice its names are told. */
static void announce(struct ftf_sink *ftf, struct track *track)
{
	if (track->announced)
		return;
	track->writer_thread = find_thread(ftf, track).id;
	track->announced = true;
	if (track->process_name)
		ftf_process_name(ftf->writer, (uint32_t)track->pid,
				 ftf_text(ftf->writer, track->process_name));
	if (track->thread_name)
		ftf_thread_name(ftf->writer, thread_of(ftf, track),
				ftf_text(ftf->writer, track->thread_name));
}

static struct ftf_arg number_arg(struct ftf_name name, uint64_t number)
{
	return number <= INT32_MAX ? ftf_arg_int32(name, (int32_t)number)
				   : ftf_arg_int64(name, (int64_t)number);
}

static size_t fill_event(const struct ftf_sink *ftf, const struct slice_cause *event,
			 struct ftf_arg *args)
{
	size_t count = 0;

	for (int i = 0; event && i < SLICE_EVENT_VALUES; i++) {
		if (event->known >> i & 1)
			args[count++] = ftf_arg_pointer(ftf->event_values[i], event->values[i]);
	}
	return count;
}

static size_t fill_args(struct ftf_sink *ftf, const struct slice_args *from,
			struct ftf_arg args[SLICE_ARGS_MAX])
{
	size_t count = 0;

	args[count++] = ftf_arg_pointer(from->is_value ? ftf->value : ftf->address, from->address);
	if (from->line)
		args[count++] = number_arg(ftf->line, from->line);
	if (from->column)
		args[count++] = number_arg(ftf->col, from->column);
	if (from->symbol)
		args[count++] = ftf_arg_string(ftf->symbol, name_of(ftf, from->symbol));
	if (from->file)
		args[count++] = ftf_arg_string(ftf->file, name_of(ftf, from->file));
	if (from->vector >= 0)
		args[count++] = ftf_arg_int32(ftf->vector, from->vector);
	count += fill_event(ftf, from->event, args + count);
	if (from->inferred_start)
		args[count++] = ftf_arg_string(ftf->inferred, ftf->is_true);
	if (from->continued)
		args[count++] = ftf_arg_string(ftf->continued, ftf->is_true);
	if (from->caller)
		args[count++] = ftf_arg_string(ftf->caller, name_of(ftf, from->caller));
	return count;
}

static size_t fill_costs(const struct ftf_sink *ftf, struct slice_cost cost,
			 struct ftf_arg args[END_ARGS_MAX])
{
	double ipc = slice_cost_ipc(cost);
	size_t count = 0;

	if (cost.insns)
		args[count++] = number_arg(ftf->insns, cost.insns);
	if (cost.cycles)
		args[count++] = number_arg(ftf->cycles, cost.cycles);
	if (ipc > 0)
		args[count++] = ftf_arg_double(ftf->ipc, ipc);
	return count;
}

static size_t fill_folded(const struct ftf_sink *ftf, struct track *track, struct ftf_arg *args)
{
	size_t count = 0;

	if (track->folded) {
		args[count++] = number_arg(ftf->folded, track->folded);
		args[count++] = number_arg(ftf->folded_time, track->folded_time);
	}
	track->folded = 0;
	return count;
}

static void folded(const struct slice_sink *sink, void *context, uint64_t count, uint64_t time)
{
	const struct ftf_sink *ftf = sink->context;
	struct track *track = context;

	if (ftf->level == OPTION_ARGS_NONE)
		return;
	track->folded = count;
	track->folded_time = time;
}

static void detail(const struct slice_sink *sink, void *context, const struct slice_detail *detail)
{
	struct track *track = context;

	(void)sink;
	slice_costs_detail(&track->costs, detail);
}

/* Returns where the slice was called from; NULL: unknown. */
static const struct name *begin_costs(struct ftf_sink *ftf, struct track *track)
{
	struct slice_detail detail = slice_costs_begin(&track->costs);

	return call_sites_find(&ftf->sites, detail.caller, detail.caller_offset);
}

/* Write a slice, or its beginning, for the first time, and keep how it is written. */
static void write_anew(struct ftf_sink *ftf, struct track *track, struct ftf_habit *habit,
		       uint64_t time, const uint64_t *end)
{
	struct ftf_arg args[SLICE_ARGS_MAX];
	struct ftf_event event = {
		.thread = thread_of(ftf, track),
		.name = name_of(ftf, habit->symbol->name),
		.time = time,
		.args = args,
	};

	if (habit->symbol->inlined)
		event.category = ftf->inlined;
	if (ftf->level != OPTION_ARGS_NONE) {
		struct slice_args values = slice_args_of(habit->symbol, habit->ip, habit->flags);

		values.caller = habit->caller;
		event.arg_count = fill_args(ftf, &values, args);
	}
	announce(ftf, track);
	if (end)
		ftf_complete_keep(ftf->writer, &event, *end, &habit->kept);
	else
		ftf_begin_keep(ftf->writer, &event, &habit->kept);
}

/* Code without a name is one symbol, which is entered at many places. */
static inline struct ftf_habit *habit_of(const struct ftf_sink *ftf, const struct symbol *symbol,
					 uint64_t ip, const struct name *caller)
{
	/* Fibonacci hashing, as in resolve.h. */
	uint64_t key = ((uintptr_t)symbol + ip) ^ (uintptr_t)caller << 16;

	return &ftf->habits[(key * UINT64_C(0x9e3779b97f4a7c15)) >> (64 - HABIT_BITS)];
}

static inline bool habit_is(const struct ftf_habit *habit, const struct symbol *symbol, uint64_t ip,
			    unsigned flags, const struct name *caller)
{
	return habit->symbol == symbol && habit->ip == ip && habit->caller == caller &&
	       habit->flags == flags;
}

static void begin_habit(struct ftf_habit *habit, const struct innermost *slice,
			const struct name *caller)
{
	habit->symbol = slice->symbol;
	habit->caller = caller;
	habit->ip = slice->ip;
	habit->flags = slice->flags;
	habit->kept.count = 0;
}

/* Returns how a slice is written; if that is not known, its `kept` is empty. */
static inline struct ftf_habit *find_habit(const struct ftf_sink *ftf,
					   const struct innermost *slice, const struct name *caller)
{
	struct ftf_habit *habit = habit_of(ftf, slice->symbol, slice->ip, caller);

	if (!habit_is(habit, slice->symbol, slice->ip, slice->flags, caller))
		begin_habit(habit, slice, caller);
	return habit;
}

static void write_begin(struct ftf_sink *ftf, struct track *track, const struct innermost *slice,
			const struct name *caller)
{
	struct ftf_habit *habit = find_habit(ftf, slice, caller);

	if (!track->announced ||
	    !ftf_again(ftf->writer, thread_of(ftf, track), slice->time, &habit->kept))
		write_anew(ftf, track, habit, slice->time, NULL);
}

static void write_whole(struct ftf_sink *ftf, struct track *track, const struct innermost *slice,
			uint64_t end)
{
	struct ftf_habit *habit = find_habit(ftf, slice, NULL);

	if (!track->announced ||
	    !ftf_complete_again(ftf->writer, thread_of(ftf, track), slice->time, end, &habit->kept))
		write_anew(ftf, track, habit, slice->time, &end);
}

/*
 * The beginning of the innermost slice cannot wait for its end any more: another
 * begins inside of it, or it tells where it was called from.
 */
static __attribute__((noinline)) void write_waiting(struct ftf_sink *ftf, struct track *track)
{
	const struct name *caller = NULL;

	if (ftf->level == OPTION_ARGS_FULL)
		caller = begin_costs(ftf, track);
	write_begin(ftf, track, &track->innermost, caller);
	track->innermost.symbol = NULL;
}

/* A slice begins inside of the innermost one, or tells where it was called from. */
static __attribute__((noinline)) void begin_inside(struct ftf_sink *ftf, struct track *track,
						   const struct innermost *slice)
{
	if (track->innermost.symbol)
		write_waiting(ftf, track);
	track->innermost = *slice;
	if (ftf->level == OPTION_ARGS_FULL)
		write_waiting(ftf, track);
}

static void begin(const struct slice_sink *sink, void *context, uint64_t time,
		  const struct symbol *symbol, uint64_t ip, unsigned flags)
{
	struct ftf_sink *ftf = sink->context;
	struct track *track = context;

	ftf->slices++;
	if (track->innermost.symbol || ftf->level == OPTION_ARGS_FULL)
		begin_inside(ftf, track, &(struct innermost){ symbol, time, ip, flags });
	else
		track->innermost = (struct innermost){ symbol, time, ip, flags };
}

static __attribute__((noinline)) void write_end_args(struct ftf_sink *ftf, struct track *track,
						     uint64_t time)
{
	struct ftf_arg args[END_ARGS_MAX];
	struct ftf_event event = {
		.thread = thread_of(ftf, track),
		.time = time,
		.args = args,
	};

	if (ftf->level == OPTION_ARGS_FULL)
		event.arg_count = fill_costs(ftf, slice_costs_end(&track->costs), args);
	event.arg_count += fill_folded(ftf, track, args + event.arg_count);
	ftf_end(ftf->writer, &event);
}

static void write_end(struct ftf_sink *ftf, struct track *track, uint64_t time)
{
	if (track->folded || ftf->level == OPTION_ARGS_FULL)
		write_end_args(ftf, track, time);
	else
		ftf_end(ftf->writer,
			&(struct ftf_event){ .thread = thread_of(ftf, track), .time = time });
}

/*
 * A slice without slices in it is one record instead of two: less to write, and
 * two thirds of the memory in Perfetto.  Not if it has no length: Perfetto puts
 * one such record into another of the same time; nor if its end has arguments.
 */
static void end(const struct slice_sink *sink, void *context, uint64_t time,
		const struct symbol *symbol)
{
	struct ftf_sink *ftf = sink->context;
	struct track *track = context;

	(void)symbol;
	if (track->innermost.symbol && time > track->innermost.time && !track->folded) {
		write_whole(ftf, track, &track->innermost, time);
		track->innermost.symbol = NULL;
		return;
	}
	if (track->innermost.symbol)
		write_waiting(ftf, track);
	write_end(ftf, track, time);
}

/* Whether the slice of a begin has none in it, and length: see end(). */
static inline bool is_whole(const struct slice_event *begin, const struct slice_event *limit)
{
	return begin + 1 < limit && begin[1].kind == SLICE_END && begin[1].time > begin->time;
}

/* Write the first of some edges.  Returns what follows. */
static const struct slice_event *write_first(struct ftf_sink *ftf, struct track *track,
					     const struct slice_event *edge,
					     const struct slice_event *limit)
{
	struct innermost slice = { edge->symbol, edge->time, edge->ip, edge->flags };

	if (edge->kind == SLICE_END) {
		write_end(ftf, track, edge->time);
		return edge + 1;
	}
	ftf->slices++;
	if (is_whole(edge, limit)) {
		write_whole(ftf, track, &slice, edge[1].time);
		return edge + 2;
	}
	if (edge + 1 < limit)
		write_begin(ftf, track, &slice, NULL);
	else
		track->innermost = slice;
	return edge + 1;
}

/* Write the first edges that are written as others were.  Returns what follows. */
static const struct slice_event *write_known(struct ftf_sink *ftf, struct track *track,
					     const struct slice_event *edge,
					     const struct slice_event *limit)
{
	struct ftf_repeat records[REPEATS];
	size_t count = 0;

	if (!track->announced || !ftf_repeat(ftf->writer, thread_of(ftf, track), NULL, 0))
		return edge;
	while (edge < limit && count < REPEATS) {
		const struct ftf_habit *habit;
		bool whole;

		if (edge->kind == SLICE_END) {
			records[count++] = (struct ftf_repeat){ NULL, edge->time, 0 };
			edge++;
			continue;
		}
		habit = habit_of(ftf, edge->symbol, edge->ip, NULL);
		if (!habit_is(habit, edge->symbol, edge->ip, edge->flags, NULL) ||
		    !habit->kept.count || edge + 1 == limit)
			break;
		whole = is_whole(edge, limit);
		records[count++] =
			(struct ftf_repeat){ &habit->kept, edge->time, whole ? edge[1].time : 0 };
		ftf->slices++;
		edge += 1 + whole;
	}
	ftf_repeat(ftf->writer, thread_of(ftf, track), records, count);
	return edge;
}

/*
 * What begin() and end() do with many: a slice waits only if what comes next is not
 * among them.
 */
static void edges(const struct slice_sink *sink, void *context, const struct slice_event *edge,
		  size_t count)
{
	struct ftf_sink *ftf = sink->context;
	struct track *track = context;
	const struct slice_event *limit = edge + count;

	if (track->innermost.symbol && edge->kind == SLICE_BEGIN)
		write_waiting(ftf, track);
	/* One that waits, or has arguments, ends. */
	for (; edge < limit && (track->innermost.symbol || track->folded); edge++) {
		if (edge->kind == SLICE_END)
			end(sink, track, edge->time, edge->symbol);
		else
			begin(sink, track, edge->time, edge->symbol, edge->ip, edge->flags);
	}
	while (edge < limit) {
		const struct slice_event *first = edge;

		edge = write_known(ftf, track, edge, limit);
		if (edge == first)
			edge = write_first(ftf, track, edge, limit);
	}
}

static void complete(const struct slice_sink *sink, void *context, uint64_t begin_time,
		     uint64_t end_time, const struct symbol *symbol, unsigned flags)
{
	begin(sink, context, begin_time, symbol, 0, flags);
	end(sink, context, end_time, symbol);
}

/* Perfetto does not show instants of a thread well; a slice without length it does. */
static void instant(const struct slice_sink *sink, void *context, uint64_t time, const char *text)
{
	struct ftf_sink *ftf = sink->context;
	struct track *track = context;
	struct ftf_event event = {
		.thread = thread_of(ftf, track),
		.name = ftf_text(ftf->writer, text),
		.time = time,
	};

	if (track->innermost.symbol)
		write_waiting(ftf, track);
	announce(ftf, track);
	ftf->slices++;
	ftf_begin(ftf->writer, &event);
	event.name = (struct ftf_name){ 0 };
	ftf_end(ftf->writer, &event);
}

static void segment_end(const struct slice_sink *sink, void *context)
{
	(void)sink;
	(void)context;
}

struct slice_sink ftf_sink_slices(struct ftf_sink *ftf)
{
	return (struct slice_sink){
		.detail = ftf->level == OPTION_ARGS_FULL ? detail : NULL,
		.begin = begin,
		.end = end,
		/* With all arguments each has a detail. */
		.edges = ftf->level == OPTION_ARGS_FULL ? NULL : edges,
		.complete = complete,
		.folded = folded,
		.instant = instant,
		.segment_end = segment_end,
		.context = ftf,
	};
}
