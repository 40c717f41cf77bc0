/* SPDX-License-Identifier: MIT */
/* Convert the text of perf script. */
#include "src/pipeline/convert.h"

#include "base/io/interrupt.h"
#include "src/events/event_output.h"
#include "src/perf_script/perf_script.h"
#include "src/pipeline/output_pipeline.h"

struct script_conversion {
	struct output_pipeline pipeline;
	struct hit_output hits;
	struct perf_script_counts counts;
	struct slice_sink sink; /* the machine's */
};

static void *add_track(void *context, int32_t pid, int32_t tid)
{
	struct script_conversion *c = context;

	return output_pipeline_add_track(&c->pipeline, pid, tid, NULL, NULL);
}

static void show_line(void *context, const char *line, size_t length)
{
	struct script_conversion *c = context;

	if (c->pipeline.format->input_line)
		c->pipeline.format->input_line(c->pipeline.end, line, length);
}

static void show_line_hit(void *context, const struct perf_line *line,
			  const struct location *location)
{
	struct script_conversion *c = context;
	struct callstack_machine *machine = c->pipeline.machine;

	if (machine->like_upstream && !machine->has_base_time) {
		machine->base_time = line->time;
		machine->has_base_time = true;
	}
	c->hits.like = machine->like_upstream;
	c->hits.begin = machine->base_time;
	hit_events_show_line(line, location, &c->hits);
}

static void show_end(void *context, bool newer)
{
	struct script_conversion *c = context;

	if (c->pipeline.format->input_end)
		c->pipeline.format->input_end(c->pipeline.end, newer);
}

static int feed_text(struct script_conversion *c, FILE *in,
		     const struct perf_script_options *script, struct report *report,
		     struct error *err)
{
	struct output_pipeline *pipeline = &c->pipeline;
	struct summary *summary = &report->summary;
	const struct perf_script_counts *counts = &c->counts;

	interrupt_allow(pipeline->options->quiet);
	if (!pipeline->options->no_samples)
		c->hits.sink = pipeline->end->events;
	if (perf_script_convert(in, script, &c->counts, err) < 0)
		return -1;
	if (counts->lacks & TEXT_LACKS_TIME)
		pipeline->machine->times = TIMES_OF_LINES;
	pipeline->end->other_slices = c->hits.slices;
	memcpy(summary->trace.gaps, counts->gaps, sizeof(summary->trace.gaps));
	pipeline->end->gaps = summary->trace.gaps;
	if (output_pipeline_close(pipeline, err) < 0)
		return -1;
	summary->interrupted = interrupt_asked();
	summary->branches = counts->branches;
	summary->first_time = counts->first_time;
	summary->last_time = counts->last_time;
	summary->samples_left_out = counts->samples;
	summary->text_lacks = counts->lacks;
	summary_add_doubts(summary, pipeline->machine);
	summary->threads = pipeline->track_count;
	report_hits(report, &c->hits);
	report_answer(report, pipeline->format, pipeline->end);
	output_pipeline_sum_up(pipeline, summary);
	return 0;
}

int convert_perf_script(const struct options *options, struct name_table *names,
			struct report *report, struct diag *diag, struct error *err)
{
	struct script_conversion c = { 0 };
	struct arena arena = { 0 };
	struct perf_script_options script = {
		.names = names,
		.arena = &arena,
		.diag = diag,
		.mode = options->format->imitates ? TRACE_MODE_GUESS : options->mode,
		.demangle = options->format->imitates ? DEMANGLE_NONE : options->names,
		.name_addresses =
			options->stacks == STACKS_MAGIC_TRACE && !options->format->imitates,
		.context = &c,
		.track = add_track,
		.echo = show_line,
		.hit = show_line_hit,
		.input_end = show_end,
	};
	struct callstack_options machine = { .mode = options->mode, .names = names, .diag = diag };
	const struct trace_facts facts = { .wall_base = WALL_BASE_UNKNOWN,
					   .free_id = TRACE_FREE_ID_UNKNOWN };
	FILE *in;
	int status = -1;

	report_phase(report, "convert");
	in = file_use_open_stream(options->input);
	if (!in)
		return error_set_system(err, errno, "%s: cannot open", options->input);
	if (options->format->slices == SLICES_NONE || options->format->all_branches)
		error_set(err, ERROR_UNSUPPORTED,
			  "perf script text has no branches to decode; use --format=ftf, calls or "
			  "slices");
	else if (output_pipeline_open(&c.pipeline, options, &machine, &facts, err) == 0) {
		script.machine = c.pipeline.machine;
		/* Times of a text can go back: each slice waits for those found late. */
		c.sink = *script.machine->sink;
		c.sink.since = NULL;
		script.machine->sink = &c.sink;
		status = feed_text(&c, in, &script, report, err);
	}
	output_pipeline_release(&c.pipeline);
	hit_output_release(&c.hits);
	fclose(in);
	arena_release(&arena);
	return status;
}
