/* SPDX-License-Identifier: MIT */
#include "src/pipeline/convert_perf_data.h"

#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>

#include "base/alloc.h"
#include "base/io/interrupt.h"
#include "decoder/aux/auxtrace.h"
#include "decoder/clock/tsc_clock.h"
#include "decoder/perf_data/perf_file.h"
#include "decoder/streams/pt_streams.h"
#include "decoder/timeline/timeline.h"
#include "src/callstack/thread_stacks.h"
#include "src/events/event_output.h"
#include "src/formats/output_format.h"
#include "src/overlays/overlays.h"
#include "src/pipeline/decode_threads.h"
#include "src/pipeline/output_pipeline.h"
#include "src/report/progress.h"
#include "src/resolve/code_files.h"
#include "src/resolve/jit_dumps.h"
#include "src/resolve/kernel_files.h"
#include "src/resolve/resolve.h"
#include "src/select/event_filter.h"

struct conversion {
	const struct options *options; /* borrowed */
	struct diag *diag;             /* borrowed */
	struct report *report;         /* borrowed */
	struct name_table *names;      /* borrowed */
	struct summary *summary;       /* borrowed: the report's */
	struct perf_file file;
	struct timeline *timeline;
	struct auxtrace auxtrace;
	struct event_filter filter; /* cuts `auxtrace` */
	struct dso_store *store;
	struct resolver resolver;
	struct code_files code_files;
	struct code_source code_source;
	struct kernel_files kernel_files;
	struct code_image *code;
	struct workers *workers; /* NULL: none */
	struct pt_streams streams;
	struct output_pipeline pipeline;
	struct thread_stacks stacks;
	struct event_output side;
	struct arena events; /* of thread_stacks */
	uint32_t *track_of;  /* by thread index, as `seen`: 1 + the track's index; 0: none */
	bool *seen;          /* by thread index, the last for unknown ones: it has branches */
	const struct thread *last_seen; /* NULL: an unknown one, or none */
	bool reports_branches;          /* to the format or the overlays, one by one */
	size_t thread_count;
	struct overlays overlays;
	struct overlay_calls overlay_calls; /* empty if there are no overlays */
};

/* ---- Opening ------------------------------------------------------------- */

static bool same_kernel(const struct perf_file *file)
{
	struct utsname running;

	return file->features.os_release && uname(&running) == 0 &&
	       strcmp(running.release, file->features.os_release) == 0;
}

static struct kernel_files_options kernel_options(const struct options *options)
{
	return (struct kernel_files_options){ options->kcore, options->vmlinux, options->symfs,
					      NULL };
}

static void open_symbols(struct conversion *c, struct name_table *names)
{
	struct dso_store_options options = {
		.find.symfs = c->options->symfs,
		.vdso = c->options->vdso,
		.find.debug_dir = c->options->debug_dir,
		.find.debuginfod = c->options->debuginfod,
		.force = c->options->force_dso,
		.strip_prefix = c->options->strip_prefix,
		.kallsyms = c->options->kallsyms,
		.perf_map_dir = c->options->perf_map_dir,
		.demangle = c->options->names,
		.running_kernel = same_kernel(&c->file),
	};
	struct kernel_files_options kernel = kernel_options(c->options);
	char kallsyms[PATH_MAX];

	if (!options.kallsyms)
		options.kallsyms = kernel_files_kallsyms(&kernel, &c->file, kallsyms);
	c->store = dso_store_open(&options, names, c->diag);
}

static void open_timeline(struct conversion *c)
{
	const struct pt_info *info = &c->auxtrace.info;
	struct tsc_clock clock = { info->time_zero, (uint32_t)info->time_mult,
				   (uint16_t)info->time_shift };
	struct jit_dumps dumps = { 0 };

	jit_dumps_read(&dumps, &c->file, c->store, &clock, c->diag);
	c->timeline = timeline_open(&c->file, dumps.code, dumps.count, c->diag);
	jit_dumps_release(&dumps);
}

static void open_code(struct conversion *c, struct name_table *names)
{
	struct kernel_files_options kernel = kernel_options(c->options);
	size_t file_count;

	resolver_init(&c->resolver, c->timeline, c->store, names);
	timeline_files(c->timeline, &file_count);
	code_files_init(&c->code_files, &c->resolver, file_count);
	kernel.resolver = c->auxtrace.info.exclude_kernel ? NULL : &c->resolver;
	kernel_files_init(&c->kernel_files, &kernel, &c->file, c->timeline, c->diag);
	dso_store_offer_kallsyms(c->store, kernel_files_made_kallsyms(&c->kernel_files));
	c->code_source = code_files_source(&c->code_files);
	c->code_source.kernel = kernel_files_code(&c->kernel_files);
	c->code = code_image_open(&c->code_source, timeline_space_count(c->timeline), c->diag);
}

static struct pt_stream_input stream_input(const void *context, size_t index)
{
	const struct conversion *c = context;

	return (struct pt_stream_input){
		.info = &c->auxtrace.info,
		.aux = &c->auxtrace.streams[index],
		.timeline = c->timeline,
		.code = c->code,
		.diag = c->diag,
		.engine = c->options->engine,
		.skip_local_jumps = !c->options->format->as_perf && !c->options->inlined &&
				    c->options->stacks == STACKS_PRECISE &&
				    !event_filter_by_thread(&c->filter),
		.switch_ip = c->kernel_files.switch_ip,
		.cpu_events = c->options->format->cpu_events,
		.perf_times = c->options->timing == TIMING_PERF,
		.segment = decode_threads_segment(&c->auxtrace),
		.workers = c->workers,
		.begin = c->filter.begin,
		.end = c->filter.end,
	};
}

static int open_streams(struct conversion *c, struct error *err)
{
	c->workers = decode_threads_open(c->options, &c->auxtrace, c->diag);
	if (c->workers)
		output_pipeline_start_writer(&c->pipeline, c->workers);
	return pt_streams_open(
		&c->streams,
		&(struct pt_streams_source){ stream_input, c, c->auxtrace.stream_count }, err);
}

/* Compare what the engines find (--verify). */
static int verify(struct conversion *c, struct error *err)
{
	struct pt_verdict verdict = { 0 };

	for (size_t i = 0; i < c->auxtrace.stream_count; i++) {
		struct pt_stream_input input = stream_input(c, i);

		input.cpu_events = false; /* libipt's engine has none */
		if (pt_verify(&input, c->options->verify, &verdict, err) < 0)
			return -1;
	}
	summary_set_verdict(c->summary, &verdict, c->diag);
	return 0;
}

/* What was traced: as asked for, else as the event says. */
static enum trace_mode mode_of(const struct conversion *c)
{
	const struct pt_info *info = &c->auxtrace.info;

	if (c->options->mode != TRACE_MODE_GUESS)
		return c->options->mode;
	if (info->exclude_kernel)
		return TRACE_MODE_USER;
	return info->exclude_user ? TRACE_MODE_KERNEL : TRACE_MODE_BOTH;
}

/* Overlays can be laid over any recording of perf: without Intel PT they are all that is shown. */
static int open_auxtrace(struct conversion *c, struct error *err)
{
	struct error none = { 0 };

	if (auxtrace_init(&c->auxtrace, &c->file, &none) == 0)
		return 0;
	if (!c->options->overlay_count)
		return error_set(err, none.kind, "%s", none.text);
	auxtrace_release(&c->auxtrace);
	c->auxtrace = (struct auxtrace){ 0 };
	diag_warn(c->diag, "no-intel-pt", "%s: %s; showing the overlays only", c->options->input,
		  none.text);
	return 0;
}

static int open_input(struct conversion *c, struct name_table *names, struct error *err)
{
	const char *path = c->options->input;

	if (perf_file_open(&c->file, path, c->diag, err) < 0)
		return -1;
	for (int i = 1; i < c->options->input_count; i++) {
		if (perf_file_append(&c->file, c->options->inputs[i], c->diag, err) < 0)
			return -1;
	}
	if (open_auxtrace(c, err) < 0)
		return error_prefix(err, "%s", path);
	open_symbols(c, names);
	open_timeline(c);
	if (event_filter_init(&c->filter, &c->options->select, &c->auxtrace, c->timeline, c->diag,
			      err) < 0)
		return error_prefix(err, "%s", path);
	timeline_threads(c->timeline, &c->thread_count);
	c->seen = alloc_zeroed(c->thread_count + 1, sizeof(*c->seen));
	c->track_of = alloc_zeroed(c->thread_count + 1, sizeof(*c->track_of));
	open_code(c, names);
	if (!c->options->overlay_count)
		return 0;
	overlay_calls_init(&c->overlay_calls, names);
	return overlays_open(&c->overlays, c->options, c->diag, err);
}

static void close_input(struct conversion *c)
{
	event_output_release(&c->side);
	thread_stacks_release(&c->stacks);
	overlays_close(&c->overlays);
	overlay_calls_release(&c->overlay_calls);
	free(c->seen);
	free(c->track_of);
	pt_streams_close(&c->streams);
	workers_close(c->workers);
	code_image_close(c->code);
	code_files_release(&c->code_files);
	kernel_files_release(&c->kernel_files);
	output_pipeline_release(&c->pipeline);
	event_filter_release(&c->filter);
	resolver_release(&c->resolver);
	dso_store_close(c->store);
	timeline_close(c->timeline);
	auxtrace_release(&c->auxtrace);
	arena_release(&c->events);
	perf_file_close(&c->file);
}

/* ---- Threads ------------------------------------------------------------- */

static void *add_track(void *context, const struct thread *thread)
{
	struct conversion *c = context;
	const struct thread *main_thread;

	c->track_of[thread ? thread->index : c->thread_count] = c->pipeline.track_count + 1;
	if (!thread)
		return output_pipeline_add_track(&c->pipeline, -1, -1, NULL, "unknown");
	if (thread->tid == 0)
		return output_pipeline_add_track(&c->pipeline, 0, 0, "swapper", "swapper");
	main_thread = timeline_borrow_thread(c->timeline, thread->pid, thread->begin);
	return output_pipeline_add_track(&c->pipeline, thread->pid, thread->tid,
					 event_thread_name(main_thread), event_thread_name(thread));
}

/* ---- Branches ------------------------------------------------------------ */

static void see(struct conversion *c, const struct thread *thread)
{
	bool *seen = &c->seen[thread ? thread->index : c->thread_count];

	c->last_seen = thread;
	c->summary->threads += !*seen;
	*seen = true;
}

/* Events of one thread, at least one. */
static void note_events(struct conversion *c, const struct branch_event *events, size_t count)
{
	if (events->thread != c->last_seen || !events->thread)
		see(c, events->thread);
	for (size_t i = 0; i < count && !c->summary->first_time; i++)
		c->summary->first_time = events[i].time;
	c->summary->last_time = events[count - 1].time;
}

/* Report one branch or gap to the format and to the overlays. */
static void report_branch(struct conversion *c, const struct branch_event *event)
{
	const struct location_pair *places;
	const struct location *to;

	resolver_advance(&c->resolver, event->time);
	places = resolver_find_branch(&c->resolver, event->space, event->from, event->to);
	to = &places->to;
	if (c->pipeline.format->branch)
		c->pipeline.format->branch(c->pipeline.end, event, &places->from, to);
	if (c->options->overlay_count && event->thread && to->symbol && !to->offset)
		overlay_calls_enter(&c->overlay_calls, event->thread->pid, event->thread->tid,
				    event->time, to->symbol->name);
}

/* Returns how many branches of one thread come first. */
static size_t count_branches(const struct branch_event *events, size_t count)
{
	size_t branches = 0;

	while (branches < count && events[branches].thread == events->thread &&
	       events[branches].kind != BRANCH_GAP && events[branches].kind != BRANCH_CPU_EVENT)
		branches++;
	return branches;
}

/* Feed the first events, which are wanted branches or gaps.  Returns how many. */
static size_t feed(struct conversion *c, const struct branch_event *events, size_t count)
{
	bool is_gap = events->kind == BRANCH_GAP;
	size_t fed = 1;

	if (is_gap)
		code_files_note_gap(&c->code_files, events);
	if (c->reports_branches)
		report_branch(c, events);
	if (c->pipeline.machine)
		fed = thread_stacks_feed(&c->stacks, events, c->reports_branches ? 1 : count);
	else if (!is_gap && !c->reports_branches)
		fed = count_branches(events, count);
	note_events(c, events, fed);
	c->summary->branches += is_gap ? 0 : fed;
	return fed;
}

static void feed_all(struct conversion *c, const struct branch_event *events, size_t count)
{
	size_t at = 0, wanted = 0;

	while (at < count) {
		if (at >= wanted)
			wanted = at + event_filter_first(&c->filter, events + at, count - at);
		if (events[at].kind == BRANCH_CPU_EVENT)
			event_output_add(&c->side, &events[at++]);
		else if (at < wanted)
			at += feed(c, events + at, wanted - at);
		else
			event_filter_drop(&c->filter, &events[at++]);
	}
}

/* ---- The run ------------------------------------------------------------- */

static void tell_threads(const struct conversion *c)
{
	const struct thread *const *threads;
	size_t count;

	threads = timeline_threads(c->timeline, &count);
	for (size_t i = 0; i <= count; i++) {
		if (c->seen[i])
			report_thread(c->report, i < count ? threads[i] : NULL,
				      c->track_of[i] ? output_pipeline_borrow_totals(
							       &c->pipeline, c->track_of[i] - 1)
						     : NULL);
	}
}

static void tell_files(const struct conversion *c)
{
	const struct mapped_file *const *files;
	size_t count;

	files = timeline_files(c->timeline, &count);
	for (size_t i = 0; i < count; i++) {
		struct dso *dso = resolver_borrow_dso(&c->resolver, files[i]);
		struct dso_info found = dso_info(dso);

		if (found.used && dso_state(dso) != DSO_NOT_A_FILE)
			summary_add_file(c->summary, files[i]->path, found.names != DSO_NAMES_NONE);
		report_file(c->report, dso, c->code_files.gaps[files[i]->index]);
	}
}

static void sum_up(struct conversion *c)
{
	struct summary *summary = c->summary;
	const char *path;

	for (size_t i = 0; i < c->auxtrace.stream_count; i++) {
		const struct pt_stream_stats *stats = pt_streams_stats(&c->streams, i);

		summary_add_stream(summary, stats);
		report_stream(c->report, &c->auxtrace.streams[i], stats);
	}
	report_recording(c->report, &c->file);
	tell_threads(c);
	tell_files(c);
	if (c->pipeline.totals.next)
		report_functions(c->report, &c->pipeline.totals);
	for (size_t i = 0; (path = output_pipeline_path(&c->pipeline, i)) != NULL; i++)
		summary_add_output(summary, path);
	summary->slices = output_pipeline_slices(&c->pipeline) + c->overlays.slices;
	for (int reason = 0; reason < GAP_REASONS; reason++)
		summary->gaps[reason] -= c->filter.gaps[reason];
	summary->bytes_left_out = c->filter.bytes_left_out;
	if (c->filter.active && !summary->threads)
		diag_warn(c->diag, "nothing-selected",
			  "the options choose nothing of what was recorded");
	summary->unknown_records = timeline_unknown_records(c->timeline);
}

/* ns that a timestamp may be older than its events; 0 if only TSC packets tell the time. */
static uint64_t resolution_of(const struct pt_info *info)
{
	/* A CYC packet comes with each packet of branches, and those hold few instructions. */
	const uint64_t cycles_ns = 50;
	struct tsc_clock clock = { 0, (uint32_t)info->time_mult, (uint16_t)info->time_shift };
	uint64_t period;

	if (info->config & info->cyc_bit)
		return cycles_ns;
	if (!(info->config & info->mtc_bit) || !info->mtc_freq_bits || !info->tsc_ctc_ratio_d)
		return 0;
	period = UINT64_C(1) << ((info->config & info->mtc_freq_bits) >>
				 __builtin_ctzll(info->mtc_freq_bits));
	return tsc_clock_ns(&clock, period * info->tsc_ctc_ratio_n / info->tsc_ctc_ratio_d);
}

static void open_side(struct conversion *c)
{
	struct event_output_input input = {
		.writer = c->pipeline.end ? c->pipeline.end->writer : NULL,
		.file = &c->file,
		.timeline = c->timeline,
		.info = &c->auxtrace.info,
		.filter = &c->filter,
		.stacks = c->options->stacks == STACKS_PRECISE ? &c->stacks : NULL,
		.resolver = &c->resolver,
		.diag = c->diag,
		.samples = !c->options->no_samples,
	};

	event_output_init(&c->side, &input, c->names);
}

static void show_progress(const struct conversion *c, struct progress *progress)
{
	uint64_t done = 0, total = 0;

	for (size_t i = 0; i < c->auxtrace.stream_count; i++) {
		const struct pt_stream_stats *stats = pt_streams_stats(&c->streams, i);

		done += stats->bytes_decoded + stats->bytes_skipped + stats->bytes_lost;
		total += stats->bytes_total;
	}
	progress_show(progress, done, total, output_pipeline_slices(&c->pipeline));
}

/* What is done with branches in order, by any of the workers. */
struct decoding {
	struct ordered_stage turns; /* first */
	struct conversion *c;       /* borrowed */
	struct progress progress;
};

static bool take_branches(struct ordered_stage *turns)
{
	struct decoding *decoding = (struct decoding *)turns;
	struct conversion *c = decoding->c;
	const struct branch_event *events;
	size_t count;

	while (!output_pipeline_failed(&c->pipeline) && !interrupt_asked()) {
		count = pt_streams_next(&c->streams, &events);
		if (!count)
			return pt_streams_wait(&c->streams);
		feed_all(c, events, count);
		if (progress_due(&decoding->progress, count))
			show_progress(c, &decoding->progress);
	}
	return false;
}

static void decode(struct conversion *c)
{
	struct decoding decoding = { .turns.run = take_branches, .c = c };

	report_phase(c->report, "decode");
	summary_allow_interrupt(c->options->quiet);
	progress_init(&decoding.progress, c->options->quiet);
	if (c->workers)
		workers_run(c->workers, &decoding.turns);
	else
		take_branches(&decoding.turns);
	progress_end(&decoding.progress);
	c->summary->interrupted = interrupt_asked();
}

static int run(struct conversion *c, struct error *err)
{
	struct ftf_writer *writer = c->pipeline.end ? c->pipeline.end->writer : NULL;

	if (open_streams(c, err) < 0)
		return -1;
	if (c->pipeline.machine && c->options->stacks == STACKS_PRECISE)
		c->pipeline.machine->resolution = resolution_of(&c->auxtrace.info);
	if (c->pipeline.machine) {
		c->stacks = (struct thread_stacks){
			.machine = c->pipeline.machine,
			.resolver = &c->resolver,
			.add_track = add_track,
			.context = c,
			.events = &c->events,
			.inlined = c->options->inlined && c->options->stacks == STACKS_PRECISE,
		};
		thread_stacks_init(&c->stacks, c->timeline);
	}
	c->reports_branches =
		c->pipeline.end && (c->pipeline.format->branch || c->options->overlay_count);
	open_side(c);
	decode(c);
	report_phase(c->report, "write");
	if (c->pipeline.format->input_end)
		c->pipeline.format->input_end(c->pipeline.end, false);
	thread_stacks_finish(&c->stacks);
	output_pipeline_join_writer(&c->pipeline);
	event_output_finish(&c->side, c->summary->first_time, c->summary->last_time);
	if (writer)
		overlays_write(&c->overlays, writer,
			       &(struct overlay_recording){ &c->file, c->timeline,
							    &c->auxtrace.info, &c->overlay_calls });
	if (c->options->verify && verify(c, err) < 0)
		return -1;
	/* What may end the program comes before the output is in its place. */
	code_files_warn(&c->code_files, c->timeline, c->diag);
	if (output_pipeline_close(&c->pipeline, err) < 0)
		return -1;
	sum_up(c);
	return 0;
}

int convert_perf_data(const struct options *options, struct name_table *names,
		      struct report *report, struct diag *diag, struct error *err)
{
	struct conversion c = { .options = options,
				.diag = diag,
				.names = names,
				.report = report,
				.summary = &report->summary };
	int status;

	report_phase(report, "read");
	status = open_input(&c, names, err);
	if (status == 0)
		status = output_pipeline_open(&c.pipeline, options, mode_of(&c), names, diag, err);
	if (status == 0)
		status = run(&c, err);
	close_input(&c);
	return status;
}
