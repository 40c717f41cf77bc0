/* SPDX-License-Identifier: MIT */
/* Find the slow calls in one process, then convert the time of each in its own process. */
#include "src/batch/batch.h"

#include <jansson.h>
#include <unistd.h>

#include "base/io/file_use.h"
#include "base/io/interrupt.h"
#include "base/io/output.h"
#include "base/io/output_path.h"
#include "base/message.h"
#include "src/formats/output_format.h"
#include "src/formats/text/any_text.h"
#include "src/formats/text/digits.h"
#include "src/sandbox/sandbox.h"

struct slow_run {
	const struct options *options; /* borrowed */
	batch_convert_fn *convert;
	char *tsv, *jsonl;    /* owned: paths of the index */
	struct options index; /* options of this process, whose outputs are `tsv` and `jsonl` */
	json_t *answer;       /* owned: from the first process; may be NULL */
	/* A slow call and its trace. */
	struct slow_trace {
		const json_t *call;          /* borrowed: from the answer's list in the report */
		uint64_t view_from, view_to; /* ns: shown */
		char *path;                  /* owned */
		int status;         /* enum exit_status of the conversion; -1: not started */
		char *error;        /* owned: reason of a failure; may be NULL */
		struct options own; /* options of the conversion; lists are borrowed */
		struct number_range thread; /* with --clock: the only one shown */
	} * traces;                         /* owned; slowest first */
	struct batch_plan plan;             /* plan of the conversions; paths are the traces' */
};

/* Returns the key of an answer: with --clock, its unit is at the end. Valid until the next call. */
static const char *key_of(const char *key)
{
	static char named[32];

	if (!digits_work_unit() || !ends_with(key, "_ns"))
		return key;
	snprintf(named, sizeof(named), "%.*s%s", (int)strlen(key) - 2, key, digits_work_unit());
	return named;
}

/* ---- The index: index.tsv and index.jsonl -------------------------------- */

static void print_value(const json_t *value, FILE *out)
{
	if (json_is_string(value))
		escaped_text_print(json_string_value(value), json_string_length(value), out);
	else if (json_is_integer(value))
		fprintf(out, "%" PRId64, (int64_t)json_integer_value(value));
	else if (json_is_boolean(value))
		fputs(json_is_true(value) ? "yes" : "no", out);
}

/* Returns 0; -1 with err filled. */
static int write_index(const struct slow_trace *traces, size_t count, const char *path, bool table,
		       struct error *err)
{
	static const char *const keys[] = { "rank",        "file",   "function",    "process",
					    "thread",      "pid",    "tid",         "begin_ns",
					    "duration_ns", "insns",  "untraced_ns", "begin_seen",
					    "end_seen",    "status", "query" };
	struct output output;
	FILE *out = output_open_text(&output, path, 0, err);

	if (!out)
		return -1;
	for (size_t i = 0; i < COUNT_OF(keys) && table; i++)
		fprintf(out, "%s%s", i ? "\t" : "", key_of(keys[i]));
	fputs(table ? "\n" : "", out);
	for (size_t n = 0; n < count; n++) {
		json_t *line = json_pack("{sI so}", "rank", (json_int_t)(n + 1), "file",
					 batch_line_text(base_name(traces[n].path)));
		char query[200];

		snprintf(query, sizeof(query),
			 "visStart=%" PRIu64 "&visEnd=%" PRIu64 "&ts=%" PRId64 "&dur=%" PRId64
			 "&pid=%" PRId64 "&tid=%" PRId64,
			 traces[n].view_from, traces[n].view_to,
			 (int64_t)json_value_number(traces[n].call, key_of("begin_ns")),
			 (int64_t)json_value_number(traces[n].call, key_of("duration_ns")),
			 (int64_t)json_value_number(traces[n].call, "pid"),
			 (int64_t)json_value_number(traces[n].call, "tid"));
		json_object_update(line, (json_t *)traces[n].call);
		json_object_update_new(
			line,
			json_pack("{si so sI sI ss}", "status", traces[n].status, "error",
				  traces[n].error ? batch_line_text(traces[n].error) : json_null(),
				  "vis_start", (json_int_t)traces[n].view_from, "vis_end",
				  (json_int_t)traces[n].view_to, "query", query));
		for (size_t i = 0; i < COUNT_OF(keys) && table; i++) {
			fputs(i ? "\t" : "", out);
			print_value(json_object_get(line, key_of(keys[i])), out);
		}
		if (!table)
			json_dumpf(line, out, JSON_COMPACT | JSON_ENSURE_ASCII);
		putc('\n', out);
		json_decref(line);
	}
	fclose(out); /* a write error shows in the output */
	return output_close(&output, err);
}

/*
 * ns: a call's branch may be earlier than its slice by this and the trace's resolution. Without
 * timing packets, it has the time of the last PSB.
 */
#define LEAST_CONTEXT   1000
#define UNTIMED_CONTEXT 10000000

static char *path_in(const struct options *options, const char *name)
{
	return alloc_text("%.*s/%s", (int)output_path_length(options->output), options->output,
			  name);
}

/* Returns the path of a call's trace. Numbers have equal widths, at least three digits. */
static char *call_path(const struct slow_run *run, size_t number)
{
	char name[40];

	snprintf(name, sizeof(name), "call-%0*zu.ftf",
		 MAX(snprintf(NULL, 0, "%zu", run->plan.count), 3), number);
	return path_in(run->options, name);
}

/* ---- The calls ----------------------------------------------------------- */

/* Returns an exit status, 128 + N for signal N; EXIT_FAILED with err filled, or after a message. */
static int find_calls(struct slow_run *run, struct error *err)
{
	struct options own = *run->options;
	struct output_format unprinted = format_slowest;
	const struct batch_run batch = { .options = &own, .convert = run->convert };
	const struct batch_job job = { .inputs = own.inputs,
				       .input_count = own.input_count,
				       .answer = &run->index };
	json_t *report = NULL;
	int status;

	unprinted.default_output = DEFAULT_NONE;
	own.format = &unprinted;
	own.overlay_count = 0; /* they are shown in the traces */
	own.json = own.json ? own.json : "";
	status = batch_one_run(&batch, &job, &report, err);
	run->answer = json_incref(json_object_get(json_object_get(report, "report"), "answer"));
	json_decref(report);
	return status;
}

/* ---- Their traces -------------------------------------------------------- */

/* Show everything in the call's time, whatever selected the call; in its work, only its thread. */
static void choose_time(struct options *own, uint64_t from, uint64_t to)
{
	struct selection *select = &own->select;
	const struct number_list all = { 0 };
	const struct pattern_list any = { 0 };

	select->pids = select->tids = select->cpus = all;
	select->comms = select->symbols = select->dsos = select->roots = any;
	select->start = select->stop = NULL;
	if (own->clock) {
		select->work = (struct work_range){ true, own->clock == CLOCK_CYCLES, from, to };
		return;
	}
	select->from = (struct time_bound){ .base = TIME_ABSOLUTE, .ns = from };
	select->to = (struct time_bound){ .base = TIME_ABSOLUTE, .ns = to };
}

static uint64_t plus(uint64_t time, uint64_t ns)
{
	return time < INT64_MAX && ns < INT64_MAX - time ? time + ns : INT64_MAX;
}

/* Returns 0; -1 with err filled if a trace would replace an input. */
static int plan_traces(struct slow_run *run, struct error *err)
{
	size_t count = json_array_size(json_object_get(run->answer, "list"));
	uint64_t resolution = json_value_count(run->answer, "resolution_ns");
	uint64_t least = resolution ? plus(resolution, LEAST_CONTEXT) : UNTIMED_CONTEXT;

	run->traces = alloc_zeroed(count + 1, sizeof(*run->traces));
	run->plan.jobs = alloc_zeroed(count + 1, sizeof(*run->plan.jobs));
	run->plan.count = count;
	for (size_t i = 0; i < count; i++) {
		uint64_t context = run->options->slow.context;
		struct slow_trace *trace = &run->traces[i];
		struct options *own = &trace->own;
		uint64_t begin, end;

		trace->call = json_array_get(json_object_get(run->answer, "list"), i);
		begin = json_value_count(trace->call, key_of("begin_ns"));
		end = plus(begin, json_value_count(trace->call, key_of("duration_ns")));
		trace->view_from = begin - MIN(begin, context);
		trace->view_to = plus(end, context);
		context = run->options->clock ? context : MAX(context, least);
		trace->status = -1;
		trace->path = call_path(run, i + 1);
		*own = *run->options;
		choose_time(own, begin - MIN(begin, context), plus(end, context));
		trace->thread.first = (int32_t)json_value_number(trace->call, "tid");
		trace->thread.last = trace->thread.first;
		if (own->clock)
			own->select.tids =
				(struct number_list){ .ranges = &trace->thread, .count = 1 };
		own->format = &format_ftf;
		own->output = trace->path;
		own->json = NULL;
		own->quiet = true; /* the search has reported the recording's damage */
		own->verbose = 0;
		own->verify = 0;
		run->plan.jobs[i] = (struct batch_job){ .inputs = own->inputs,
							.input_count = own->input_count,
							.output = trace->path,
							.options = own,
							.answer = &run->index };
	}
	for (size_t i = 0; i < count; i++)
		if (file_use_write(run->traces[i].path, "--output", FILE_REPLACED, err) < 0)
			return -1;
	return output_path_make_parents(run->tsv, err);
}

static void end_trace(void *context, const struct batch_job *job, const struct batch_end *end)
{
	struct slow_run *run = context;
	struct slow_trace *trace = &run->traces[job - run->plan.jobs];
	const char *error = json_string_value(json_object_get(end->report, "error"));

	trace->status = end->status;
	if (error)
		trace->error = alloc_text("%s", error);
}

static void print_result(const struct slow_run *run)
{
	char *next = call_path(run, run->plan.count + 1);
	size_t gaps = 0, failed = 0;
	size_t outer = json_array_size(json_object_get(run->answer, "left_out"));

	for (size_t i = 0; i < run->plan.count; i++) {
		gaps += run->traces[i].status == EXIT_WITH_GAPS;
		failed += run->traces[i].status == EXIT_FAILED;
	}
	fprintf(stderr, "ptrace2ftf: %zu slow call%s: a trace of each, listed in %s",
		run->plan.count, run->plan.count == 1 ? "" : "s", run->tsv);
	if (gaps)
		fprintf(stderr, "; %zu with gaps or warnings", gaps);
	if (failed)
		fprintf(stderr, "; %zu failed", failed);
	if (outer)
		fprintf(stderr, "; without %zu that enclose the program", outer);
	putc('\n', stderr);
	/* Calls of an earlier run remain, and a pattern like "DIR/call-*.ftf" would mix both. */
	if (access(next, F_OK) == 0)
		message_print_warning("%s and later calls are from an earlier run; remove them\n",
				      next);
	free(next);
}

/* ---- The run ------------------------------------------------------------- */

/* Returns an exit status; EXIT_FAILED with err filled, or after a message. */
static int run_passes(struct slow_run *run, struct error *err)
{
	struct batch_loop loop = {
		.run = { .options = run->options, .convert = run->convert, .keep_messages = true },
		.plan = &run->plan,
		.finished = end_trace,
		.context = run,
	};
	int stopped;

	file_roles_read(run->options);
	if (access(run->options->output, F_OK) == 0 && output_path_check(run->tsv, err) < 0)
		return EXIT_FAILED;
	if (input_paths_check(run->options, err) < 0 ||
	    file_use_write(run->tsv, "--output", FILE_REPLACED, err) < 0 ||
	    file_use_write(run->jsonl, "--output", FILE_REPLACED, err) < 0)
		return EXIT_FAILED;
	loop.worst = find_calls(run, err);
	if (loop.worst != EXIT_WHOLE && loop.worst != EXIT_WITH_GAPS)
		return loop.worst;
	if (plan_traces(run, err) < 0)
		return EXIT_FAILED;
	stopped = run->plan.count ? batch_loop_run(&loop) : 0;
	if (stopped)
		return 128 + stopped;
	if (run->options->sandbox != SANDBOX_OFF)
		keeper_start(&run->index);
	if (write_index(run->traces, run->plan.count, run->tsv, true, err) < 0 ||
	    write_index(run->traces, run->plan.count, run->jsonl, false, err) < 0)
		return EXIT_FAILED;
	if (!run->options->quiet)
		print_result(run);
	return loop.worst;
}

int slow_traces_run(const struct options *options, batch_convert_fn *convert)
{
	struct slow_run run = { .options = options,
				.convert = convert,
				.tsv = path_in(options, "index.tsv"),
				.jsonl = path_in(options, "index.jsonl") };
	struct error err = { 0 };
	int status;

	run.index = (struct options){ .output = run.tsv, .json = run.jsonl };
	status = run_passes(&run, &err);

	output_obey_closed_pipe(&err);
	message_error(&err);
	for (size_t i = 0; i < run.plan.count; i++) {
		free(run.traces[i].path);
		free(run.traces[i].error);
	}
	free(run.traces);
	free(run.plan.jobs);
	json_decref(run.answer);
	free(run.tsv);
	free(run.jsonl);
	return status;
}
