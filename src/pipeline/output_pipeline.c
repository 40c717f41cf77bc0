/* SPDX-License-Identifier: MIT */
/* Connect the sinks between the call-stack machine and the output format. */
#include "src/pipeline/output_pipeline.h"

#include <unistd.h>

#include "base/io/output_path.h"
#include "base/io/temp_file.h"
#include "src/costs/executed_code.h"
#include "src/formats/ftf/ftf_fit.h"
#include "src/formats/text/json_print.h"
#include "src/report/report.h"
#include "src/slices/slice_queue.h"

#define UNKNOWN_PROCESS "?/?"

struct pipeline_track {
	struct track track;
	struct pipeline_track *next;
	char ids[32];
	struct fiber_thread *fibers; /* borrowed: a thread's, with --fibers */
	char *fiber_name;            /* owned: the thread's name of a stack's track; or NULL */
};

/* Ids of stacks' tracks follow those of threads, which are at most 4,194,304 (PID_MAX_LIMIT). */
#define FIBER_IDS 5000000

static bool is_sorted(const struct output_pipeline *pipeline)
{
	return pipeline->format->slices == SLICES_SORTED;
}

static bool is_filtered(const struct output_pipeline *pipeline)
{
	return is_sorted(pipeline) && selection_of_slices(&pipeline->selection);
}

static bool is_within(const struct output_pipeline *pipeline)
{
	return is_sorted(pipeline) && pipeline->selection.within.function;
}

static int open_output(struct output_pipeline *pipeline, struct error *err)
{
	if (pipeline->format->default_output == DEFAULT_NONE)
		return 0;
	if (output_open(&pipeline->output, pipeline->options->output, err) < 0)
		return -1;
	if (pipeline->format->gzip && output_compress(&pipeline->output, COMPRESSION_GZIP, err) < 0)
		return -1;
	output_limit(&pipeline->output, pipeline->options->max_output, pipeline->format->lines);
	if (pipeline->format->default_output == DEFAULT_FILE)
		return 0;
	/* Discards output: the cookie has no functions. */
	pipeline->text = pipeline->options->json_answer || pipeline->options->rows_as
				 ? fopencookie(NULL, "w", (cookie_io_functions_t){ NULL })
				 : output_stream(&pipeline->output);
	return pipeline->text ? 0 : error_set_system(err, errno, "cannot open a stream");
}

static void open_format(struct output_pipeline *pipeline, const struct callstack_options *machine,
			const struct trace_facts *facts)
{
	const struct format_request request = {
		.options = pipeline->options,
		.path = pipeline->options->output,
		.output = &pipeline->output,
		.text = pipeline->text,
		.names = machine->names,
		.diag = machine->diag,
		.facts = *facts,
	};

	pipeline->end = output_format_open(pipeline->format, &request);
	if (pipeline->end && pipeline->end->code && pipeline->format->all_branches)
		executed_code_log_calls(pipeline->end->code, &pipeline->end->sink);
}

/* Insert a stage before the others; `next` is its pointer to the next stage. */
static const struct slice_sink *put_in_front(struct output_pipeline *pipeline,
					     const struct slice_sink *sink,
					     const struct slice_sink **next)
{
	if (!pipeline->tail)
		pipeline->tail = next;
	return sink;
}

static void connect(struct output_pipeline *pipeline, bool by_insns,
		    const struct callstack_options *machine)
{
	struct diag *diag = machine->diag;
	size_t depth = pipeline->format->depth ? pipeline->format->depth : SIZE_MAX;
	const struct slice_sink *sink = &pipeline->end->sink;
	struct slice_totals *totals = &pipeline->totals;
	struct slice_filter *filter = &pipeline->filter;
	struct slice_sorter *sorter = &pipeline->sorter;

	if (pipeline->output.limit && !pipeline->output.lines) {
		slice_limit_init(&pipeline->limit, sink, &pipeline->output);
		pipeline->limit.stores = true;
		/* The part decoded after the limit depends on threads, and so would the summary. */
		if (pipeline->options->max_output)
			pipeline->limit.sink.late = false;
		sink = &pipeline->limit.sink;
	}
	if (pipeline->end->fit)
		sink = ftf_fit_before(pipeline->end->fit, sink);
	if (!is_sorted(pipeline)) {
		pipeline->head = sink;
		return;
	}
	if ((pipeline->options->json || !pipeline->options->quiet) &&
	    !pipeline->format->chooses_calls) {
		slice_totals_init(totals, sink, pipeline->options->json,
				  pipeline->options->all_functions, by_insns);
		totals->names = machine->names;
		sink = put_in_front(pipeline, &totals->sink, &totals->next);
	}
	if (is_filtered(pipeline)) {
		slice_filter_init(filter, &pipeline->selection, sink, diag);
		filter->most = depth;
		sink = put_in_front(pipeline, &filter->sink, &filter->next);
		depth = SIZE_MAX;
	}
	if (is_within(pipeline)) {
		slice_within_init(&pipeline->within, filter, machine->names);
		sink = &pipeline->within.sink;
	}
	if (pipeline->options->fibers) {
		fiber_tracks_init(&pipeline->fibers, sink, machine->names);
		sink = put_in_front(pipeline, &pipeline->fibers.sink, &pipeline->fibers.next);
	}
	slice_sorter_init(sorter, sink, diag);
	sorter->depth = depth == SIZE_MAX ? depth : depth + pipeline->options->fibers;
	pipeline->head = put_in_front(pipeline, &sorter->sink, &sorter->next);
}

/* ---- --clock ------------------------------------------------------------- */

/*
 * Replace times by the thread's instructions or cycles. Interrupts and other threads on the CPU
 * depend on the machine, so they are left out. Without a filter, drop what --time does not choose.
 */
static void count_work(const struct slice_sink *sink, void *track, const struct slice_batch *batch)
{
	struct output_pipeline *pipeline = sink->context;
	bool insns = pipeline->options->clock == CLOCK_INSNS, filtered = is_sorted(pipeline);
	struct slice_batch counted = { .details = batch->details };

	ARRAY_GROW(pipeline->events, pipeline->event_room, batch->count);
	counted.events = pipeline->events;
	for (size_t i = 0; i < batch->count; i++) {
		const struct slice_detail *detail = slice_batch_detail(batch, &batch->events[i]);
		struct slice_event *event = &pipeline->events[counted.count];

		*event = batch->events[i];
		event->detail = detail ? (uint32_t)(1 + detail - batch->details) : 0;
		if (detail)
			event->time = insns ? detail->insns : detail->cycles;
		if (insns && event->kind == SLICE_BEGIN)
			event->flags &= (uint16_t)~SLICE_ESTIMATED_TIME;
		if (!symbol_is_stop(event->symbol) &&
		    (filtered || selection_has_work(&pipeline->selection, event->time)))
			counted.count++;
	}
	if (counted.count)
		pipeline->next->events(pipeline->next, track, &counted);
}

static void flush_counted(const struct slice_sink *sink, void *track)
{
	const struct output_pipeline *pipeline = sink->context;

	slice_sink_flush(pipeline->next, track);
}

static void connect_clock(struct output_pipeline *pipeline)
{
	pipeline->next = pipeline->head;
	pipeline->clock = (struct slice_sink){ .events = count_work,
					       .flush = flush_counted,
					       .context = pipeline,
					       .details = true,
					       .immediate = pipeline->next->immediate };
	pipeline->head = &pipeline->clock;
}

static const struct symbol *add_fiber(void *context, void *track, uint32_t number,
				      const struct symbol *first);

bool output_pipeline_looks(const struct output_pipeline *pipeline)
{
	if (pipeline->queue)
		slice_queue_wait(pipeline->queue);
	return pipeline->sorter.looks;
}

void output_pipeline_again(struct output_pipeline *pipeline)
{
	slice_sorter_again(&pipeline->sorter);
	callstack_machine_again(pipeline->machine);
}

int output_pipeline_open(struct output_pipeline *pipeline, const struct options *options,
			 const struct callstack_options *machine, const struct trace_facts *facts,
			 struct error *err)
{
	struct callstack_options with_sink = *machine;
	struct selection *selection = &pipeline->selection;

	*pipeline = (struct output_pipeline){ .options = options, .format = options->format };
	if (options->select.split.unit && options->format->split)
		pipeline->format = options->format->split;
	if (options->args == OPTION_ARGS_FULL && options->format->full)
		pipeline->format = options->format->full;
	if ((options->select.within.function || options->select.work.chosen) &&
	    options->format->within && options->stacks != STACKS_MAGIC_TRACE && !options->inlined)
		pipeline->format = options->format->within;
	pipeline->selection = options->select;
	/* A format that chooses calls itself also needs the slices around and inside them. */
	if (pipeline->format->chooses_calls) {
		selection->symbols.count = selection->dsos.count = selection->hidden.count = 0;
		selection->depth = 0;
		selection->min_duration = 0;
	}
	if (open_output(pipeline, err) < 0) {
		output_pipeline_release(pipeline);
		return -1;
	}
	open_format(pipeline, machine, facts);
	if (pipeline->format->slices == SLICES_NONE)
		return 0;
	connect(pipeline, facts->by_insns && !options->clock, machine);
	if (options->clock)
		connect_clock(pipeline);
	with_sink.sink = pipeline->head;
	with_sink.tail_calls =
		options->stacks == STACKS_PRECISE ? TAIL_CALLS_NEST : TAIL_CALLS_REPLACE;
	with_sink.flows = options->stacks == STACKS_FLOWS;
	pipeline->fiber_names = (struct callstack_fibers){ add_fiber, pipeline };
	with_sink.fibers = options->fibers ? &pipeline->fiber_names : NULL;
	pipeline->machine = options->stacks == STACKS_MAGIC_TRACE
				    ? callstack_magic_trace_open(&with_sink)
				    : callstack_precise_open(&with_sink);
	pipeline->machine->like_upstream = options->format->imitates;
	pipeline->machine->sites = options->format->sites && pipeline->machine->precise;
	pipeline->end->machine = pipeline->machine;
	return 0;
}

/* An unknown id is "?", as in magic-trace (trace_writer.ml, opt_pid_to_string()). */
static void name_track(struct pipeline_track *added)
{
	struct track *track = &added->track;
	char pid[12] = "?", tid[12] = "?";

	if (track->pid > 0)
		snprintf(pid, sizeof(pid), "%" PRId32, track->pid);
	else if (!track->process_name)
		track->process_name = UNKNOWN_PROCESS;
	if (track->tid > 0)
		snprintf(tid, sizeof(tid), "%" PRId32, track->tid);
	snprintf(added->ids, sizeof(added->ids), "%s/%s", pid, tid);
	track->ids = added->ids;
	if (!track->thread_name && (track->pid <= 0 || track->tid <= 0))
		track->thread_name = track->ids;
}

/* Add a track. Returns it for the sink after the sorter. */
static void *open_track(struct output_pipeline *pipeline, int32_t pid, int32_t tid,
			const char *process_name, const char *thread_name)
{
	struct pipeline_track *added = alloc_zeroed(1, sizeof(*added));
	void *track = &added->track;

	added->track.pid = pid;
	added->track.tid = tid;
	added->track.index = pipeline->track_count++;
	added->track.process_name = process_name;
	added->track.thread_name = thread_name;
	name_track(added);
	added->next = pipeline->tracks;
	pipeline->tracks = added;
	if (is_filtered(pipeline))
		track = slice_filter_track(&pipeline->filter, track);
	if (is_within(pipeline)) {
		slice_within_add_track(&pipeline->within, &added->track, track);
		track = &added->track;
	}
	return track;
}

/* Add the track of a stack of a thread, named by its first function. */
static void *add_fiber_track(struct output_pipeline *pipeline, const struct fiber_thread *thread,
			     uint32_t number, const struct symbol *first)
{
	struct pipeline_track *parent = pipeline->tracks;
	char *name;
	void *track;

	while (parent->fibers != thread)
		parent = parent->next;
	name = alloc_text("%s > fiber %" PRIu32 "%s%s",
			  parent->track.thread_name ? parent->track.thread_name : parent->ids,
			  number, first ? " " : "", first ? first->name->text : "");
	track = open_track(pipeline, parent->track.pid, FIBER_IDS + (int32_t)number,
			   parent->track.process_name, name);
	pipeline->tracks->fiber_name = name;
	return track;
}

static const struct symbol *add_fiber(void *context, void *track, uint32_t number,
				      const struct symbol *first)
{
	static const struct symbol hidden = { .kind = SYMBOL_SPECIAL, .special = SPECIAL_STACK };
	struct output_pipeline *pipeline = context;
	const struct fiber_thread *thread = track ? slice_sorter_next_track(track) : NULL;

	if (!number)
		return thread ? fiber_tracks_own(thread) : &hidden;
	if (number <= pipeline->stack_count)
		return pipeline->stacks[number - 1];
	*ARRAY_ADD(pipeline->stacks, pipeline->stack_count, pipeline->stack_room) =
		fiber_tracks_add(&pipeline->fibers,
				 thread ? add_fiber_track(pipeline, thread, number, first) : NULL);
	return pipeline->stacks[number - 1];
}

void *output_pipeline_add_track(struct output_pipeline *pipeline, int32_t pid, int32_t tid,
				const char *process_name, const char *thread_name)
{
	void *track = open_track(pipeline, pid, tid, process_name, thread_name);

	if (pipeline->options->fibers)
		track = pipeline->tracks->fibers =
			fiber_tracks_thread(&pipeline->fibers, track, thread_name);
	if (is_sorted(pipeline))
		track = slice_sorter_track(&pipeline->sorter, track);
	return track;
}

/* With two threads, a second queue would only copy. */
#define ENCODING_THREADS 3

void output_pipeline_start_writer(struct output_pipeline *pipeline, struct workers *workers)
{
	const struct output *output = &pipeline->output;
	const uint64_t *slices;

	if (!pipeline->end || !pipeline->format->queued)
		return;
	slices = pipeline->end->slices;
	if (workers_count(workers) >= ENCODING_THREADS) {
		pipeline->encoding = slice_queue_open(*pipeline->tail, output, slices, workers);
		*pipeline->tail = slice_queue_sink(pipeline->encoding);
		output = NULL;
		slices = NULL;
	}
	pipeline->queue = slice_queue_open(pipeline->head, output, slices, workers);
	pipeline->machine->sink = slice_queue_sink(pipeline->queue);
	if (pipeline->output.temporary)
		pipeline->behind = write_behind_open(&pipeline->output, workers);
}

void output_pipeline_stop_writer(struct output_pipeline *pipeline)
{
	slice_queue_close(pipeline->queue);
	pipeline->queue = NULL;
	slice_queue_close(pipeline->encoding);
	pipeline->encoding = NULL;
	write_behind_close(pipeline->behind);
	pipeline->behind = NULL;
}

/* The sorter can still have slices, so keep the second queue. */
void output_pipeline_join_writer(struct output_pipeline *pipeline)
{
	if (!pipeline->queue)
		return;
	slice_queue_wait(pipeline->queue);
	if (pipeline->encoding)
		slice_queue_wait(pipeline->encoding);
	slice_queue_close(pipeline->queue);
	pipeline->queue = NULL;
	pipeline->machine->sink = pipeline->head;
}

/* Returns the queue that owns the output; NULL: the caller owns it. */
static const struct slice_queue *last_queue(const struct output_pipeline *pipeline)
{
	return pipeline->encoding ? pipeline->encoding : pipeline->queue;
}

uint64_t output_pipeline_slices(const struct output_pipeline *pipeline)
{
	if (last_queue(pipeline))
		return slice_queue_slices(last_queue(pipeline));
	return pipeline->end && pipeline->end->slices ? *pipeline->end->slices : 0;
}

void output_pipeline_sum_up(const struct output_pipeline *pipeline, struct summary *summary)
{
	const struct format_output *end = pipeline->end;
	char *next;

	summary->slices += output_pipeline_slices(pipeline);
	summary->output_cut |= pipeline->output.cut;
	summary->temp_cut = temp_files_spent();
	summary->slices_left_out += pipeline->filter.counts.outside;
	summary->top_functions = top_functions_make(&pipeline->totals, pipeline->options);
	if (end) {
		summary->slices += end->other_slices;
		summary->trace_records += end->records;
		summary->slices_truncated += end->truncated;
		summary->sources_left_out += end->sources_left_out;
	}
	if (end && end->fold) {
		summary->fold = *end->fold;
		summary->slices -= end->fold->folded + end->fold->left_out;
	}
	summary->trace_bytes += pipeline->output.written;
	if (pipeline->output.path)
		summary_add_output(summary, pipeline->output.path);
	for (size_t i = 0; end && i < end->part_count; i++)
		summary_add_output(summary, end->parts[i]);
	/* A pattern such as OUT.*.ftf would also match later parts of an earlier series. */
	if (!pipeline->end || !pipeline->end->part_count)
		return;
	next = output_path_part(pipeline->options->output, pipeline->end->part_count);
	if (access(next, F_OK) == 0)
		diag_warn(pipeline->machine->diag, "old-parts",
			  "%s and later parts are from an earlier --split; remove them", next);
	free(next);
}

bool output_pipeline_stopped(const struct output_pipeline *pipeline)
{
	if (last_queue(pipeline))
		return slice_queue_stopped(last_queue(pipeline));
	return output_failed(&pipeline->output) || pipeline->output.cut;
}

/* The output reports write errors of the stream. */
static void close_text(struct output_pipeline *pipeline)
{
	if (pipeline->text)
		fclose(pipeline->text);
	pipeline->text = NULL;
}

int output_pipeline_close(struct output_pipeline *pipeline, struct error *err)
{
	const struct output_format *format = pipeline->format;

	if (is_sorted(pipeline))
		slice_sorter_finish(&pipeline->sorter);
	if (pipeline->options->fibers)
		fiber_tracks_finish(&pipeline->fibers);
	if (is_within(pipeline))
		slice_within_finish(&pipeline->within);
	if (is_filtered(pipeline))
		slice_filter_finish(&pipeline->filter);
	if (pipeline->encoding)
		slice_queue_wait(pipeline->encoding);
	output_pipeline_stop_writer(pipeline);
	if (pipeline->slices_end)
		pipeline->slices_end(pipeline->context);
	if (format->finish)
		format->finish(pipeline->end);
	if (pipeline->end && pipeline->end->err.kind != ERROR_NONE) {
		*err = pipeline->end->err;
		return -1;
	}
	close_text(pipeline);
	if (pipeline->options->rows_as) {
		json_t *answer = format->answer(pipeline->end);

		/* Write the table of an answer as CSV or lines of JSON. */
		pipeline->text = output_stream(&pipeline->output);
		(pipeline->options->rows_as == &format_csv ? csv_rows_print : json_lines_print)(
			json_object_get(answer, format->rows), pipeline->text);
		json_decref(answer);
		close_text(pipeline);
	}
	if (pipeline->options->json_answer)
		report_write_json(
			report_name_unit(pipeline->options, format->answer(pipeline->end)),
			&pipeline->output);
	if (format->default_output == DEFAULT_NONE && !output_failed(&pipeline->output))
		return 0;
	return output_close(&pipeline->output, err);
}

void output_pipeline_release(struct output_pipeline *pipeline)
{
	output_pipeline_stop_writer(pipeline);
	close_text(pipeline);
	output_abandon(&pipeline->output);
	while (pipeline->tracks) {
		struct pipeline_track *track = pipeline->tracks;

		pipeline->tracks = track->next;
		track_release(&track->track);
		free(track->fiber_name);
		free(track);
	}
	callstack_machine_close(pipeline->machine);
	pipeline->machine = NULL;
	slice_sorter_release(&pipeline->sorter);
	fiber_tracks_release(&pipeline->fibers);
	free(pipeline->stacks);
	pipeline->stacks = NULL;
	free(pipeline->events);
	pipeline->events = NULL;
	slice_totals_release(&pipeline->totals);
	slice_within_release(&pipeline->within);
	slice_filter_release(&pipeline->filter);
	output_format_close(pipeline->format, pipeline->end);
	pipeline->end = NULL;
}
