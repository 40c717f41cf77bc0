/* SPDX-License-Identifier: MIT */
/*
 * The conversion of a perf.data file, in the order of data flow:
 *
 *   recording -> pt_streams -> take_branches() -> thread_stacks -> output_pipeline
 *                                              -> event_output --^
 */
#include "src/pipeline/convert.h"

#include "base/io/interrupt.h"
#include "base/io/temp_file.h"
#include "decoder/streams/pt_streams.h"
#include "src/callstack/call_stretch.h"
#include "src/costs/executed_code.h"
#include "src/events/event_output.h"
#include "src/pipeline/output_pipeline.h"
#include "src/pipeline/recording.h"
#include "src/report/progress.h"
#include "src/select/mode_filter.h"

/* Batch size of a hidden thread's events. */
#define FOLLOWED_MOST 64

struct conversion {
	const struct options *options; /* borrowed */
	struct diag *diag;             /* borrowed; NULL in the second pass */
	struct report *report;         /* borrowed */
	struct summary *summary;       /* borrowed: the report's */
	struct perf_recording recording;
	struct workers *workers; /* owned; may be NULL */
	uint64_t segment;        /* bytes of trace */
	struct pt_streams streams;
	struct thread_stacks stacks;
	struct arena stack_events; /* events of `stacks` */
	struct output_pipeline pipeline;
	struct event_output events;
	struct overlays overlays;
	struct overlay_calls overlay_calls; /* empty if there are no overlays */
	struct trace_facts facts;           /* for the formats' requests */
	struct callstack_options machine;   /* for the pipeline */
	struct thread_output {
		uint64_t work;            /* with --clock: instructions or cycles so far */
		uint32_t track;           /* 1 + the index of its track; 0: no track */
		void *slices;             /* borrowed: the track, for the machine */
		bool has_branches;        /* branches or gaps */
	} * threads;                      /* owned; by thread index; last: unknown threads */
	size_t thread_count;              /* without unknown threads */
	const struct thread *last_thread; /* thread of the last event; NULL: unknown, or no event */
	struct mode_filter mode_filter;
	struct period_counters counters;
	struct executed_code *code;      /* borrowed, of the output; NULL: not counted */
	struct known_branches *branches; /* owned */
	bool reports_branches;           /* to the format or the overlays, one by one */
	bool has_counts;                 /* branches can have a BRANCH_COUNTS among them */
	uint64_t first_branches;         /* branches of the first pass */
	bool again, interrupted;         /* the second pass; of an interrupted first one */
	uint64_t fit_check;              /* slices at the next call of expect_slices() */
	bool too_many;                   /* slices for --fit are expected */
	struct call_follower follower;   /* follower of the jobs, if follows_ahead() */
	struct progress progress;
};

/* ---- Decoding ------------------------------------------------------------ */

static bool selects_code(const void *context, const struct thread *thread, uint64_t ip)
{
	const struct conversion *c = context;

	return event_filter_has_thread(&c->recording.filter, thread) &&
	       (!c->mode_filter.active || mode_filter_has(c->mode_filter.mode, ip));
}

/* Returns whether jobs may follow calls, because nothing else needs the branches in order. */
static bool follows_ahead(const struct conversion *c)
{
	const struct options *options = c->options;

	return c->workers && decode_threads_follow(c->workers) && c->pipeline.machine &&
	       options->stacks != STACKS_MAGIC_TRACE && !c->pipeline.machine->sink->details &&
	       !options->inlined && !options->fibers && !c->reports_branches &&
	       !c->mode_filter.active && !c->stacks.pauses &&
	       !event_filter_by_thread(&c->recording.filter);
}

static struct pt_stream_input stream_input(const void *context, size_t index)
{
	const struct conversion *c = context;
	const struct perf_recording *recording = &c->recording;
	/* Events for jumps within functions. */
	bool skips = !c->pipeline.format->all_branches && c->options->stacks != STACKS_MAGIC_TRACE;
	bool chooses = c->mode_filter.active || event_filter_by_thread(&recording->filter);

	return (struct pt_stream_input){
		.info = &recording->auxtrace.info,
		.aux = &recording->auxtrace.streams[index],
		.history = &recording->timeline->history,
		.code = &recording->code,
		.diag = c->diag,
		.engine = c->options->engine,
		.skip_local_jumps = skips,
		.count_jumps = skips && c->options->counters,
		.period = skips ? c->options->counters : 0,
		.pieces = c->stacks.flow.ends,
		.counter = c->code && !c->code->log ? &c->code->counter : NULL,
		.branches = c->branches,
		.switch_ip = recording->kernel_files.switch_ip,
		.cpu_events = c->options->format->cpu_events,
		.cycles = c->has_counts,
		.sums_cycles = skips && c->options->counters && !chooses &&
			       !(c->pipeline.machine && c->pipeline.machine->sink->details),
		.segment = c->segment,
		.workers = c->workers,
		.follower = follows_ahead(c) ? &c->follower.base : NULL,
		.begin = recording->filter.begin,
		.end = event_filter_by_time(&recording->filter) ? recording->filter.end : 0,
		.selects = chooses ? selects_code : NULL,
		.context = c,
	};
}

static int open_streams(struct conversion *c, struct error *err)
{
	const struct auxtrace *auxtrace = &c->recording.auxtrace;

	c->workers = decode_threads_open(c->options, auxtrace, c->diag);
	c->segment = decode_threads_segment(auxtrace, c->workers);
	if (c->workers)
		output_pipeline_start_writer(&c->pipeline, c->workers);
	/* Most functions have slices, whose lines the encoder will look up. */
	if (c->pipeline.queue && c->options->args != OPTION_ARGS_NONE &&
	    !selection_of_slices(&c->pipeline.selection))
		dso_store_use_workers(c->recording.store, c->workers);
	c->streams = (struct pt_streams){
		.input = stream_input,
		.context = c,
		.count = auxtrace->stream_count,
		/* A thread's calls and jumps can precede earlier events of other threads. */
		.in_bursts = !c->reports_branches && !c->options->fibers &&
			     !resolver_changes(&c->recording.resolver),
	};
	return pt_streams_open(&c->streams, err);
}

static int verify_engines(struct conversion *c, struct error *err)
{
	struct pt_verdict verdict = { 0 };

	for (size_t i = 0; i < c->recording.auxtrace.stream_count; i++) {
		struct pt_stream_input input = stream_input(c, i);

		input.cpu_events = false; /* libipt's engine emits none */
		input.follower = NULL;
		if (pt_verify(&input, c->options->verify, &verdict, err) < 0)
			return -1;
	}
	summary_set_verdict(c->summary, &verdict, c->diag);
	return 0;
}

/* ---- Call stacks --------------------------------------------------------- */

static void *make_track(struct conversion *c, const struct thread *thread)
{
	const struct thread *main_thread;

	if (!thread)
		return output_pipeline_add_track(&c->pipeline, -1, -1, NULL, "unknown");
	if (thread->tid == 0)
		return output_pipeline_add_track(&c->pipeline, 0, 0, "swapper", "swapper");
	main_thread = timeline_borrow_thread(c->recording.timeline, thread->pid, thread->begin);
	return output_pipeline_add_track(&c->pipeline, thread->pid, thread->tid,
					 thread_last_name(main_thread), thread_last_name(thread));
}

static void *add_track(void *context, const struct thread *thread)
{
	struct conversion *c = context;
	struct thread_output *output = &c->threads[thread ? thread->index : c->thread_count];

	if (!output->track) {
		output->track = c->pipeline.track_count + 1;
		output->slices = make_track(c, thread);
	}
	return output->slices;
}

/* magic-trace's times start at the earliest hit or event, and hits precede. */
static uint64_t write_hits(void *context, uint64_t time)
{
	struct conversion *c = context;
	struct format_output *end = c->pipeline.end;
	struct hit_output hits = { .like = true };

	hit_events_show(&c->events.input, &hits);
	if (!hits.count || c->options->no_samples) {
		hit_output_release(&hits);
		return time;
	}
	hits.begin = MIN(hits.first, time);
	hits.sink = end->events;
	hit_events_show(&c->events.input, &hits);
	c->events.hits.slices += hits.slices;
	end->ids_taken = 2;
	time = hits.begin;
	hit_output_release(&hits);
	return time;
}

/* Returns whether the trace can be decoded again with the same result, and no effects of its own.
 */
static bool repeats(const struct conversion *c)
{
	return !c->options->format->imitates && c->options->stacks != STACKS_MAGIC_TRACE &&
	       !c->options->clock && !c->reports_branches && !(c->code && c->code->log) &&
	       !resolver_changes(&c->recording.resolver);
}

static void open_stacks(struct conversion *c)
{
	bool precise = c->options->stacks != STACKS_MAGIC_TRACE;

	if (!c->pipeline.machine)
		return;
	c->pipeline.machine->times = c->options->clock
					     ? TIMES_OF_WORK + (c->options->clock == CLOCK_CYCLES)
					     : recording_times(&c->recording);
	c->pipeline.machine->by_insns = c->facts.by_insns;
	c->pipeline.machine->has_cycles = recording_has_cycles(&c->recording);
	if (c->options->format->imitates) {
		c->pipeline.machine->choose_base = write_hits;
		c->pipeline.machine->base_context = c;
	}
	c->summary->times_estimated =
		c->options->args == OPTION_ARGS_FULL && !c->pipeline.machine->has_cycles;
	if (precise)
		c->pipeline.machine->resolution = recording_resolution(&c->recording);
	c->stacks = (struct thread_stacks){
		.machine = c->pipeline.machine,
		.resolver = &c->recording.resolver,
		.add_track = add_track,
		.context = c,
		.events = &c->stack_events,
		.show_pauses = precise,
	};
	if (c->options->inlined && precise)
		inline_flow_init(&c->stacks.flow, c->branches);
	thread_stacks_init(&c->stacks, c->recording.timeline);
}

static void open_events(struct conversion *c, struct name_table *names)
{
	struct event_output_input input = {
		.sink = c->pipeline.end && !c->options->format->imitates && !c->options->clock
				? c->pipeline.end->events
				: NULL,
		.file = &c->recording.file,
		.timeline = c->recording.timeline,
		.info = &c->recording.auxtrace.info,
		.filter = &c->recording.filter,
		.stacks = c->options->stacks != STACKS_MAGIC_TRACE ? &c->stacks : NULL,
		.resolver = &c->recording.resolver,
		.diag = c->diag,
		.samples = !c->options->no_samples,
		.facts = c->facts,
	};

	event_output_init(&c->events, &input, names);
}

/* ---- Branches ------------------------------------------------------------ */

/* Note that code of the file at an address ran. Look up its function, but make no symbol. */
static void note_file(const struct conversion *c, const struct address_space *space, uint64_t ip)
{
	const struct mapping *mapping = address_space_borrow_mapping(space, ip);
	uint64_t begin, end;
	struct dso *dso;

	if (!ip || !mapping || kernel_names_may_have(&c->recording.resolver.kernel, ip))
		return;
	dso = c->recording.resolver.dsos[mapping->file->index];
	dso_use(dso);
	dso_find_range(dso, ip - mapping->begin + mapping->file_offset, &begin, &end);
}

/* Count the work of an event's thread for --clock. Returns it. */
static uint64_t count_work(struct conversion *c, const struct branch_event *event)
{
	const struct thread *thread = event->thread;
	uint64_t *work = &c->threads[thread ? thread->index : c->thread_count].work;

	if (c->options->clock)
		*work += c->options->clock == CLOCK_INSNS ? event->insns : event->cycles;
	return *work;
}

/* `work`: its time with --clock. */
static void report_branch(struct conversion *c, const struct branch_event *event, uint64_t work)
{
	struct resolver *resolver = &c->recording.resolver;
	const struct location_pair *locations;
	struct branch_event counted = *event;
	const struct location *to;

	resolver_advance(resolver, event->time);
	locations = resolver_find_event(resolver, event);
	to = &locations->to;
	if (c->options->clock)
		counted.time = work;
	if (c->pipeline.format->branch && selection_has_work(&c->options->select, counted.time))
		c->pipeline.format->branch(c->pipeline.end, &counted, &locations->from, to);
	if (c->options->overlay_count && event->thread && to->symbol && !to->offset)
		overlay_calls_enter(&c->overlay_calls, event->thread->pid, event->thread->tid,
				    event->time, to->symbol->name);
}

/* Count what was fed: branches, and the counts between and after them. */
static void note_fed(struct conversion *c, const struct branch_event *events, size_t count)
{
	size_t branches = count;
	const struct thread *thread;
	struct thread_output *output;

	for (size_t i = c->has_counts ? 0 : count; i < count; i++)
		if (events[i].kind == BRANCH_COUNTS)
			branches--;
	c->summary->branches += branches;
	thread = events->thread;
	output = &c->threads[thread ? thread->index : c->thread_count];
	if (thread != c->last_thread || !thread) {
		c->last_thread = thread;
		c->summary->threads += !output->has_branches;
		output->has_branches = true;
	}
	for (size_t i = 0; i < count && !c->summary->first_time; i++)
		c->summary->first_time = events[i].time;
	c->summary->last_time = MAX(c->summary->last_time, events[count - 1].time);
	if (c->counters.length)
		period_counters_add(&c->counters, events, count);
}

/* Feed the first of some selected branches or gaps. Returns the number of events fed. */
static size_t feed_branches(struct conversion *c, const struct branch_event *events, size_t count)
{
	bool is_gap = events->kind == BRANCH_GAP;
	size_t fed = 1;

	if (is_gap && !c->again)
		code_files_note_gap(&c->recording.code_files, events, c->diag);
	/* Without stacks, take all branches of the thread. */
	while (!c->pipeline.machine && !is_gap && fed < count && events[fed].kind < BRANCH_GAP &&
	       events[fed].thread == events->thread)
		fed++;
	if (c->code && c->code->log)
		c->pipeline.machine->branch = executed_code_log(c->code, events);
	else if (c->code && c->code->branches)
		executed_code_count(c->code, events, fed);
	for (size_t i = 0; i < fed && c->reports_branches; i++) {
		uint64_t work = count_work(c, &events[i]);

		if (!branch_is_passage(&events[i]))
			report_branch(c, &events[i], work);
		else if (c->pipeline.format->counts)
			c->pipeline.format->counts(c->pipeline.end, &events[i]);
	}
	if (c->pipeline.machine) {
		fed = thread_stacks_feed(&c->stacks, events, c->reports_branches ? 1 : count);
	} else if (!c->reports_branches) {
		/* Note the files of events if nothing needs names: once for each known branch. */
		for (const struct branch_event *event = events; event < events + fed; event++) {
			if (event->known && event->known->locations.reached)
				continue;
			note_file(c, event->space, event->from);
			note_file(c, event->space, event->to);
			if (event->known)
				event->known->locations.reached = true;
		}
	}
	note_fed(c, events, fed);
	c->summary->branches -= is_gap;
	for (size_t i = 0; i < fed && c->stacks.flow.ends; i++)
		c->summary->branches -= branch_is_passage(&events[i]);
	return fed;
}

/* Add a count of jumps that are not events, or of instructions and cycles. */
static void count_jumps(struct conversion *c, const struct branch_event *event)
{
	if (!event->to && !event->insns && !event->cycles)
		return;
	if (c->pipeline.machine && event->gap && c->options->stacks != STACKS_MAGIC_TRACE)
		thread_stacks_count(&c->stacks, event);
	count_work(c, event);
	if (c->pipeline.format->counts)
		c->pipeline.format->counts(c->pipeline.end, event);
	if (c->counters.length)
		period_counters_add(&c->counters, event, 1);
}

/*
 * Drop the first of some unwanted events, or follow them if wanted threads inherit the stack of
 * their thread. Returns the number of events.
 */
static size_t drop_events(struct conversion *c, const struct branch_event *events, size_t count)
{
	struct event_filter *filter = &c->recording.filter;
	size_t dropped = 1, needed = 0;

	count = MIN(count, FOLLOWED_MOST);
	while (c->pipeline.machine && needed < count && events[needed].kind <= BRANCH_GAP &&
	       events[needed].thread == events->thread &&
	       event_filter_needs(filter, events[needed].thread, events[needed].time))
		needed++;
	if (needed)
		dropped = thread_stacks_follow(&c->stacks, events, needed);
	for (size_t i = 0; i < dropped; i++) {
		event_filter_drop(filter, &events[i]);
		/* A packed trace begins at a PSB before the time, and has all threads of a buffer.
		 */
		if (c->options->command == COMMAND_PACK && events[i].kind <= BRANCH_GAP)
			report_branch(c, &events[i], 0);
	}
	return dropped;
}

/* Returns the decoded bytes of trace. */
static uint64_t count_done(const struct conversion *c, uint64_t *total)
{
	uint64_t done = 0;

	*total = 0;
	for (size_t i = 0; i < c->recording.auxtrace.stream_count; i++) {
		const struct pt_stream_stats *stats = pt_streams_stats(&c->streams, i);

		done += stats->bytes_decoded + stats->bytes_skipped + stats->bytes_lost;
		*total += stats->bytes_total;
	}
	return done;
}

static bool input_ends(void)
{
	return interrupt_asked() || temp_files_spent();
}

/*
 * Part of the slices of --fit after which the number of all is estimated, again after twice as
 * many: a program's start can have more slices than the rest.
 */
#define FIT_CHECK 4

/* If the rest of the trace has as many slices, are these too many for --fit? */
static void expect_slices(struct conversion *c, uint64_t slices)
{
	uint64_t total, done = count_done(c, &total);

	c->fit_check *= 2;
	c->too_many = (double)slices * (double)total > (double)c->pipeline.end->most * (double)done;
}

/* The ordered stage, run by one worker at a time. */
static bool take_branches(void *context)
{
	struct conversion *c = context;
	const struct branch_event *events;
	size_t count, taken;

	while (!output_pipeline_stopped(&c->pipeline) && !c->too_many &&
	       (!input_ends() || (c->interrupted && c->summary->branches < c->first_branches))) {
		size_t at = 0, wanted = 0;

		count = pt_streams_next(&c->streams, &events);
		if (!count)
			return pt_streams_wait(&c->streams);
		taken = count;
		if (c->mode_filter.active)
			count = mode_filter_apply(&c->mode_filter, &events, count);
		/* Pass the streams' events on to the stacks and to the tracks of events. */
		while (at < count) {
			if (at >= wanted)
				wanted = at + event_filter_first(&c->recording.filter, events + at,
								 count - at);
			if (events[at].kind == BRANCH_CPU_EVENT)
				event_output_add(&c->events, &events[at++]);
			else if (at < wanted && events[at].kind == BRANCH_COUNTS)
				count_jumps(c, &events[at++]);
			else if (at < wanted)
				at += feed_branches(c, events + at, wanted - at);
			else
				at += drop_events(c, events + at, count - at);
		}
		if (output_pipeline_slices(&c->pipeline) > c->fit_check)
			expect_slices(c, output_pipeline_slices(&c->pipeline));
		if (progress_due(&c->progress, taken)) {
			uint64_t total, done = count_done(c, &total);

			progress_show(&c->progress, done, total,
				      output_pipeline_slices(&c->pipeline));
		}
	}
	return false;
}

static void run_streams(struct conversion *c)
{
	if (c->workers)
		workers_run(c->workers, take_branches, c);
	else
		take_branches(c);
}

/* ---- Output -------------------------------------------------------------- */

static void write_overlays(struct conversion *c)
{
	const struct overlay_recording recording = { &c->recording.file, c->recording.timeline,
						     &c->recording.auxtrace.info,
						     &c->overlay_calls };

	c->overlay_calls.resolution = recording_resolution(&c->recording);
	if (!c->pipeline.end || c->pipeline.format->overlays != OVERLAYS_AS_SLICES ||
	    output_full(&c->pipeline.output))
		return;
	overlays_write(&c->overlays, c->pipeline.end->events, &c->pipeline.output, &recording);
	c->pipeline.end->other_slices += c->overlays.out.slices;
}

static void look_again(void *context)
{
	struct conversion *c = context;
	struct pt_stream_input input = {
		.info = &c->recording.auxtrace.info,
		.history = &c->recording.timeline->history,
		.code = &c->recording.code,
		.engine = c->options->engine,
		.branches = c->branches,
		.switch_ip = c->recording.kernel_files.switch_ip,
	};

	second_look(&c->recording, &input, c->pipeline.format, c->pipeline.end);
}

/* Sum up the streams, without the gaps that are not selected; `end` borrows the gaps. */
static void sum_up_trace(struct conversion *c)
{
	uint64_t *gaps = c->summary->trace.gaps;

	for (size_t i = 0; i < c->recording.auxtrace.stream_count; i++) {
		const struct pt_stream_stats *stats = pt_streams_stats(&c->streams, i);

		summary_add_stream(c->summary, stats);
		/* A copy begins anywhere; missing bytes have their own warning. */
		if (c->recording.auxtrace.streams[i].copies ? !stats->bytes_decoded
							    : !stats->bytes_missing)
			c->summary->bytes_unsynced += stats->bytes_skipped;
	}
	for (int reason = 0; reason < GAP_REASONS; reason++)
		gaps[reason] -= c->recording.filter.gaps[reason];
	gaps[GAP_PAUSED] += c->stacks.paused;
	if (c->pipeline.end) {
		c->pipeline.end->gaps = gaps;
		c->pipeline.end->recording = &c->recording;
	}
}

/* Open the output anew for the second pass, if the first one hoped for no more callers. */
static int reopen_pipeline(struct conversion *c, struct error *err)
{
	struct sorter_track *noted = c->pipeline.sorter.first;
	int status;

	if (!c->pipeline.sorter.hopes)
		return 0;
	c->pipeline.sorter.first = NULL;
	output_pipeline_release(&c->pipeline);
	status = output_pipeline_open(&c->pipeline, c->options, &c->machine, &c->facts, err);
	c->pipeline.sorter.noted = noted;
	if (status < 0)
		return -1;
	c->pipeline.sorter.twice = true;
	if (c->events.tracks.sink)
		c->events.tracks.sink = c->pipeline.end->events;
	for (size_t i = 0; i <= c->thread_count; i++)
		c->threads[i].track = 0;
	if (c->workers)
		output_pipeline_start_writer(&c->pipeline, c->workers);
	return 0;
}

/*
 * Decode all again for the sorter's second pass (slice_sorter.h). The first pass has warned,
 * counted code and jumps, and queued events.
 */
static int decode_again(struct conversion *c, struct error *err)
{
	const struct event_filter filter = c->recording.filter;
	const struct conversion first = *c;
	int status;

	c->again = true;
	/* If the first pass was interrupted, end where it did. */
	c->interrupted = input_ends();
	c->first_branches = c->summary->branches;
	c->summary->branches = 0;
	c->diag = NULL;
	c->code = NULL;
	c->counters.length = 0;
	c->events.input.sink = NULL;
	pt_streams_close(&c->streams);
	thread_stacks_release(&c->stacks);
	if (reopen_pipeline(c, err) < 0)
		return -1;
	output_pipeline_again(&c->pipeline);
	call_follower_init(&c->follower, c->pipeline.machine, &c->recording.resolver);
	open_stacks(c);
	c->streams = (struct pt_streams){ .input = stream_input,
					  .context = c,
					  .count = c->recording.auxtrace.stream_count,
					  .in_bursts = first.streams.in_bursts };
	status = pt_streams_open(&c->streams, err);
	if (status == 0)
		run_streams(c);
	thread_stacks_finish(&c->stacks);
	c->pipeline.sorter.cut = status < 0 || output_pipeline_stopped(&c->pipeline) ||
				 (input_ends() && !c->interrupted);
	memcpy(c->recording.filter.gaps, filter.gaps, sizeof(filter.gaps));
	c->summary->interrupted = interrupt_asked();
	c->diag = c->pipeline.machine->diag = first.diag;
	c->code = first.code;
	c->counters.length = first.counters.length;
	c->events.input.sink = c->events.tracks.sink;
	return status;
}

static int write_rest(struct conversion *c, struct error *err)
{
	report_phase(c->report, "write");
	pt_streams_flush(&c->streams);
	if (c->pipeline.format->input_end)
		c->pipeline.format->input_end(c->pipeline.end, false);
	thread_stacks_finish(&c->stacks);
	if (output_pipeline_looks(&c->pipeline) && decode_again(c, err) < 0)
		return -1;
	output_pipeline_join_writer(&c->pipeline);
	if (c->too_many || c->pipeline.output.err.kind == ERROR_MORE_SLICES)
		return error_set(err, ERROR_MORE_SLICES, "more slices than --fit allows");
	/* Without events, times count from 0. */
	if (c->options->format->imitates && !c->pipeline.machine->has_base_time)
		write_hits(c, 0);
	if (c->counters.length && c->summary->branches && !c->counters.owners)
		diag_warn(c->diag, "counters-untimed",
			  "the trace has no times: --counters shows nothing");
	if (c->counters.owners)
		period_counters_write(&c->counters, &c->events.tracks, &c->pipeline.output);
	event_output_finish(&c->events, c->summary->first_time, c->summary->last_time,
			    c->summary->threads && !c->summary->last_time);
	if (c->pipeline.end)
		c->pipeline.end->other_slices = c->events.tracks.slices + c->events.hits.slices;
	write_overlays(c);
	if (c->options->verify && verify_engines(c, err) < 0)
		return -1;
	/* This can end the program, so call it before the output gets its name. */
	code_files_warn(&c->recording.code_files, c->recording.timeline, c->diag);
	sum_up_trace(c);
	if (c->pipeline.format->look && !c->options->clock) {
		c->pipeline.slices_end = look_again;
		c->pipeline.context = c;
	}
	return output_pipeline_close(&c->pipeline, err);
}

/* ---- The report ---------------------------------------------------------- */

static void report_files(const struct conversion *c)
{
	const struct mapped_file *const *files = c->recording.timeline->files.files;

	for (size_t i = 0; i < c->recording.timeline->files.count; i++) {
		struct dso *dso = c->recording.resolver.dsos[files[i]->index];
		struct dso_info found = dso_info(dso);

		if (found.used && dso->state != DSO_NOT_A_FILE)
			summary_add_file(c->summary, files[i]->path, found.names != DSO_NAMES_NONE);
		if (found.used)
			code_files_check(files[i], dso, &c->recording.file, c->options->symfs,
					 c->diag);
		report_file(c->report, dso, c->recording.code_files.gaps[files[i]->index]);
	}
}

static void save_lines(const struct conversion *c)
{
	struct error err = { 0 };
	size_t count = dso_store_save_lines(c->recording.store, &err);

	if (c->options->verbose && options_caches(c->options))
		fprintf(stderr, "cache of lines: %zu new%s%s\n", count, err.kind ? "; " : "",
			err.text);
}

static void report_result(struct conversion *c)
{
	const struct perf_recording *recording = &c->recording;
	struct summary *summary = c->summary;
	const struct call_tree *tree = &c->pipeline.totals.tree;
	const struct thread_table *known;

	for (size_t i = 0; i < recording->auxtrace.stream_count; i++)
		report_stream(c->report, &recording->auxtrace.streams[i],
			      pt_streams_stats(&c->streams, i));
	report_recording(c->report, &recording->file);
	report_hits(c->report, &c->events.hits);
	known = &c->recording.timeline->threads;
	for (size_t i = 0; i <= known->count; i++) {
		size_t track = c->threads[i].track - 1; /* huge: no track */
		bool counted = c->pipeline.totals.report && track < tree->thread_room;

		if (c->threads[i].has_branches)
			report_thread(c->report, i < known->count ? known->threads[i] : NULL,
				      counted ? &tree->threads[track] : NULL);
	}
	report_files(c);
	save_lines(c);
	report_overlays(c->report, &c->overlays);
	if (!c->options->quiet)
		summary->debug_hint = nameless_hint_make(&c->pipeline.totals, &recording->resolver,
							 recording->timeline, c->options->symfs);
	if (c->pipeline.totals.report)
		report_functions(c->report, &c->pipeline.totals);
	report_answer(c->report, c->pipeline.format, c->pipeline.end);
	output_pipeline_sum_up(&c->pipeline, summary);
	if (c->pipeline.machine)
		summary_add_doubts(summary, c->pipeline.machine);
	summary->saved_code = recording->saved_code;
	summary->first_changed = dso_store_changed(recording->store, &summary->changed_functions);
	summary->bytes_left_out = recording->filter.bytes_left_out;
	if (recording->filter.active && !summary->threads)
		empty_selection_warn(c->options, recording, c->diag);
	summary->unknown_records = recording->timeline->unknown_records;
	summary->losses_reported = recording->timeline->losses_reported;
}

/* ---- The conversion ------------------------------------------------------ */

/* No filter is needed if only one privilege level was recorded. */
static int open_mode(struct conversion *c, struct error *err)
{
	const struct pt_info *info = &c->recording.auxtrace.info;
	enum trace_mode mode = c->options->mode;

	if (c->options->format->imitates)
		return 0;
	if (mode == TRACE_MODE_KERNEL ? info->exclude_kernel
				      : mode == TRACE_MODE_USER && info->exclude_user)
		return error_set(
			err, ERROR_UNSUPPORTED,
			"%s: cannot apply --mode=%s: it was not recorded; record without %s",
			c->options->input, mode == TRACE_MODE_KERNEL ? "kernel" : "user",
			mode == TRACE_MODE_KERNEL ? "u in intel_pt//u" : "k in intel_pt//k");
	c->mode_filter = (struct mode_filter){ .mode = mode, .filter = &c->recording.filter };
	c->mode_filter.active = (mode == TRACE_MODE_USER && !info->exclude_kernel) ||
				(mode == TRACE_MODE_KERNEL && !info->exclude_user);
	return 0;
}

static const struct dso *find_program(struct conversion *c)
{
	const struct file_table *table = &c->recording.timeline->files;
	const struct dso *dso = NULL;

	for (size_t i = 0; i < table->count && (!dso || dso->state != DSO_FOUND); i++)
		dso = c->recording.resolver.dsos[table->files[i]->index];
	return dso;
}

static int open_conversion(struct conversion *c, struct name_table *names, struct error *err)
{
	struct perf_recording *recording = &c->recording;
	const struct overlay_recording overlaid = { .file = &recording->file,
						    .info = &recording->auxtrace.info };

	report_phase(c->report, "read");
	if (recording_open(recording, c->options, names, c->diag, err) < 0)
		return -1;
	if (c->options->clock == CLOCK_CYCLES && !recording_has_cycles(recording))
		return error_set(err, ERROR_UNSUPPORTED,
				 "%s: cannot use --clock=cycles: the recording has no CYC packets; "
				 "record with cyc=1, or use --clock=insns",
				 c->options->input);
	c->thread_count = recording->timeline->threads.count;
	c->threads = alloc_zeroed(c->thread_count + 1, sizeof(*c->threads));
	if (c->options->overlay_count)
		overlay_calls_init(&c->overlay_calls, names);
	if (open_mode(c, err) < 0 || overlays_open(&c->overlays, c->options, c->diag, err) < 0)
		return -1;
	c->facts = (struct trace_facts){
		.wall_base = c->options->clock ? WALL_BASE_UNKNOWN
					       : overlays_wall(&c->overlays, &overlaid),
		/* Perfetto sorts by id: tracks that are not threads follow all threads. */
		.free_id = (uint32_t)MAX(timeline_highest_id(recording->timeline),
					 overlays_highest_id(&c->overlays)) +
			   1,
		.trace_bytes = auxtrace_bytes(&recording->auxtrace),
		.by_insns = c->options->clock
				    ? c->options->clock == CLOCK_INSNS
				    : c->options->stacks != STACKS_MAGIC_TRACE &&
					      recording_times(recording) >= TIMES_ESTIMATED,
		.switches = recording->timeline->has_switches && !c->options->clock &&
					    !c->options->fibers
				    ? recording->timeline
				    : NULL,
		.program = find_program(c),
		.file = &recording->file,
	};
	for (size_t i = 0; i < recording->auxtrace.stream_count; i++)
		c->facts.has_copies |= recording->auxtrace.streams[i].copies &&
				       recording->auxtrace.streams[i].piece_count > 1;
	c->machine = (struct callstack_options){ .names = names,
						 .diag = c->diag,
						 .mode = recording_mode(recording, c->options),
						 .timeline = recording->timeline };
	if (output_pipeline_open(&c->pipeline, c->options, &c->machine, &c->facts, err) < 0)
		return -1;
	c->code = c->pipeline.end ? c->pipeline.end->code : NULL;
	c->reports_branches =
		c->pipeline.end && (c->pipeline.format->branch || c->options->overlay_count ||
				    (c->code && c->code->log));
	c->has_counts = c->options->counters || c->options->clock ||
			(c->pipeline.machine && c->pipeline.machine->sink->details);
	c->pipeline.sorter.twice =
		c->pipeline.sorter.next && !c->pipeline.sorter.next->late && repeats(c);
	/* Only such outputs can be made anew. */
	c->pipeline.sorter.hopes = c->pipeline.sorter.sink.early =
		c->pipeline.sorter.twice && c->pipeline.output.temporary && !c->code &&
		!c->options->max_output;
	c->branches = known_branches_open();
	if (c->code) {
		c->code->resolver = &recording->resolver;
		c->code->source = &recording->code;
		c->code->known = c->branches->branches;
	}
	call_follower_init(&c->follower, c->pipeline.machine, &recording->resolver);
	open_stacks(c);
	if (open_streams(c, err) < 0)
		return -1;
	open_events(c, names);
	c->counters.length = c->options->counters;
	c->fit_check = c->pipeline.end && c->pipeline.end->most ? c->pipeline.end->most / FIT_CHECK
								: UINT64_MAX;
	return 0;
}

int convert_perf_data(const struct options *options, struct name_table *names,
		      struct report *report, struct diag *diag, struct error *err)
{
	struct conversion c = {
		.options = options,
		.diag = diag,
		.report = report,
		.summary = &report->summary,
	};
	int status = open_conversion(&c, names, err);

	if (status == 0) {
		report_phase(c.report, "decode");
		interrupt_allow(c.options->quiet);
		progress_init(&c.progress, c.options->quiet);
		run_streams(&c);
		progress_end(&c.progress);
		c.summary->interrupted = interrupt_asked();
		status = write_rest(&c, err);
	}
	if (status == 0)
		report_result(&c);
	/* Stop the jobs first: after an interrupt some still decode. */
	pt_streams_close(&c.streams);
	output_pipeline_stop_writer(&c.pipeline);
	workers_close(c.workers);
	event_output_release(&c.events);
	thread_stacks_release(&c.stacks);
	overlays_close(&c.overlays);
	overlay_calls_release(&c.overlay_calls);
	free(c.threads);
	known_branches_close(c.branches);
	period_counters_release(&c.counters);
	mode_filter_release(&c.mode_filter);
	output_pipeline_release(&c.pipeline);
	arena_release(&c.stack_events);
	recording_close(&c.recording);
	return status;
}
