/* SPDX-License-Identifier: MIT */
#include "src/report/report.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#include "base/alloc.h"
#include "base/io/output.h"
#include "config.h"
#include "src/callstack/callstack.h"
#include "symbols/dso/dso_store.h"

/* ---- Values -------------------------------------------------------------- */

/* Text of a file may hold any bytes; JSON is UTF-8: a byte that is not becomes U+FFFD. */
static json_t *any_text(const char *text, size_t length)
{
	static const char replacement[] = "\xef\xbf\xbd";
	json_t *value = json_stringn(text, length);
	char *safe;
	size_t used = 0;

	if (value)
		return value;
	safe = alloc_zeroed(length, sizeof(replacement));
	for (size_t i = 0; i < length; i++) {
		if ((unsigned char)text[i] < 0x80) {
			safe[used++] = text[i];
			continue;
		}
		memcpy(safe + used, replacement, sizeof(replacement) - 1);
		used += sizeof(replacement) - 1;
	}
	value = json_stringn(safe, used);
	free(safe);
	return value;
}

static json_t *text_or_null(const char *text)
{
	return text ? any_text(text, strlen(text)) : json_null();
}

static json_t *number(uint64_t value)
{
	return json_integer(value > INT64_MAX ? INT64_MAX : (json_int_t)value);
}

static json_t *seconds(uint64_t ns)
{
	return json_real((double)ns / 1e9);
}

static json_t *hex(const uint8_t *bytes, size_t size)
{
	char text[2 * BUILD_ID_MAX + 1] = "";

	for (size_t i = 0; i < size && i < BUILD_ID_MAX; i++)
		sprintf(text + 2 * i, "%02x", bytes[i]);
	return size ? json_string(text) : json_null();
}

static void set(json_t *object, const char *key, json_t *value)
{
	if (json_object_set_new(object, key, value) < 0)
		alloc_fail(0);
}

static void push(json_t *list, json_t *value)
{
	if (json_array_append_new(list, value) < 0)
		alloc_fail(0);
}

/* Append to the list `key` of the parts, made at first use. */
static void append(struct report *report, const char *key, json_t *value)
{
	json_t *list = json_object_get(report->parts, key);

	if (!list) {
		list = json_array();
		set(report->parts, key, list);
	}
	push(list, value);
}

/* ---- Phases -------------------------------------------------------------- */

static uint64_t now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return (uint64_t)time.tv_sec * 1000000000 + (uint64_t)time.tv_nsec;
}

void report_init(struct report *report, const struct options *options)
{
	*report = (struct report){
		.options = options,
		.wanted = options->json || options->verbose,
		.begin_ns = now(),
	};
	if (report->wanted)
		report->parts = json_object();
}

void report_release(struct report *report)
{
	json_decref(report->parts);
	summary_release(&report->summary);
	*report = (struct report){ 0 };
}

void report_phase(struct report *report, const char *name)
{
	uint64_t time = now();
	json_t *phase;

	if (report->wanted && report->phase) {
		phase = json_object();
		set(phase, "name", json_string(report->phase));
		set(phase, "seconds", seconds(time - report->phase_ns));
		append(report, "phases", phase);
	}
	report->phase = name;
	report->phase_ns = time;
}

/* ---- Parts --------------------------------------------------------------- */

void report_recording(struct report *report, const struct perf_file *file)
{
	const struct perf_features *features = &file->features;
	json_t *recording;

	if (!report->wanted)
		return;
	recording = json_object();
	set(recording, "hostname", text_or_null(features->hostname));
	set(recording, "os_release", text_or_null(features->os_release));
	set(recording, "perf_version", text_or_null(features->version));
	set(recording, "cpu", text_or_null(features->cpu_description));
	set(recording, "command_line", text_or_null(features->command_line));
	set(report->parts, "recording", recording);
}

static json_t *trace_bytes(const struct summary *bytes)
{
	json_t *object = json_object();

	set(object, "bytes_total", number(bytes->bytes_total));
	set(object, "bytes_decoded", number(bytes->bytes_decoded));
	set(object, "bytes_skipped", number(bytes->bytes_skipped));
	set(object, "bytes_lost", number(bytes->bytes_lost));
	set(object, "bytes_repeated", number(bytes->bytes_repeated));
	set(object, "bytes_missing", number(bytes->bytes_missing));
	return object;
}

void report_stream(struct report *report, const struct aux_stream *aux,
		   const struct pt_stream_stats *stats)
{
	struct summary bytes = { 0 };
	json_t *stream;

	if (!report->wanted)
		return;
	summary_add_stream(&bytes, stats);
	stream = trace_bytes(&bytes);
	set(stream, "cpu", aux->cpu >= 0 ? json_integer(aux->cpu) : json_null());
	set(stream, "tid", aux->tid >= 0 ? json_integer(aux->tid) : json_null());
	set(stream, "events", number(stats->events));
	set(stream, "instructions", number(stats->insns));
	append(report, "streams", stream);
}

static json_t *names_of(const struct thread *thread)
{
	json_t *names = json_array();

	for (size_t i = 0; thread && i < thread->name_count; i++) {
		const char *text = thread->names[i].text;

		push(names, any_text(text, strlen(text)));
	}
	return names;
}

void report_thread(struct report *report, const struct thread *thread,
		   const struct tally_thread *tally)
{
	json_t *object;

	if (!report->wanted)
		return;
	object = json_object();
	set(object, "pid", json_integer(thread ? thread->pid : -1));
	set(object, "tid", json_integer(thread ? thread->tid : -1));
	set(object, "names", names_of(thread));
	if (tally) {
		set(object, "calls", number(tally->calls));
		set(object, "slices", number(tally->slices));
		set(object, "deepest", number(tally->deepest));
	}
	append(report, "threads", object);
}

static json_t *function_json(const struct tally_function *function)
{
	const struct symbol *symbol = function->symbol;
	json_t *object = json_object();

	set(object, "name", any_text(symbol->name->text, symbol->name->length));
	set(object, "file", text_or_null(symbol->dso ? dso_path(symbol->dso) : NULL));
	set(object, "calls", number(function->calls));
	set(object, "self_ns", number(function->self_ns));
	set(object, "total_ns", number(function->total_ns));
	return object;
}

static int by_self(const void *left, const void *right)
{
	const struct tally_function *a = *(const struct tally_function *const *)left;
	const struct tally_function *b = *(const struct tally_function *const *)right;

	return a->self_ns > b->self_ns ? -1 : a->self_ns < b->self_ns;
}

static int by_total(const void *left, const void *right)
{
	const struct tally_function *a = *(const struct tally_function *const *)left;
	const struct tally_function *b = *(const struct tally_function *const *)right;

	return a->total_ns > b->total_ns ? -1 : a->total_ns < b->total_ns;
}

static json_t *top(const struct tally_function **functions, size_t count,
		   int (*compare)(const void *, const void *))
{
	json_t *list = json_array();

	if (count)
		qsort(functions, count, sizeof(struct tally_function *), compare);
	for (size_t i = 0; i < count && i < REPORT_FUNCTIONS_MAX; i++)
		push(list, function_json(functions[i]));
	return list;
}

void report_functions(struct report *report, const struct slice_totals *tally)
{
	const struct tally_function **functions;
	json_t *object;
	size_t count = 0;

	if (!report->wanted)
		return;
	functions = alloc_zeroed(tally->function_count + 1, sizeof(struct tally_function *));
	for (const struct tally_function *one = tally->first; one; one = one->next)
		functions[count++] = one;
	object = json_object();
	set(object, "count", number(count));
	set(object, "by_self", top(functions, count, by_self));
	set(object, "by_total", top(functions, count, by_total));
	set(report->parts, "functions", object);
	free(functions);
}

static const char *const states[] = {
	[DSO_FOUND] = "found",           [DSO_MISSING] = "missing",
	[DSO_MISMATCHED] = "mismatched", [DSO_UNREADABLE] = "unreadable",
	[DSO_NOT_A_FILE] = "not-a-file",
};

static const char *const name_kinds[] = {
	[DSO_NAMES_NONE] = "none",
	[DSO_NAMES_EXPORTED] = "exported",
	[DSO_NAMES_ALL] = "all",
};

void report_file(struct report *report, struct dso *dso, uint64_t gaps)
{
	struct dso_info found = dso_info(dso);
	const uint8_t *build_id;
	size_t size;
	json_t *file;

	if (!report->wanted)
		return;
	file = json_object();
	build_id = dso_build_id(dso, &size);
	set(file, "path", text_or_null(dso_path(dso)));
	set(file, "build_id", hex(build_id, size));
	set(file, "used", json_boolean(found.used));
	set(file, "state", json_string(states[dso_state(dso)]));
	set(file, "file", text_or_null(dso_file(dso)));
	set(file, "code", json_boolean(dso_borrow_bytes(dso, &size) != NULL));
	set(file, "names", json_string(name_kinds[found.names]));
	set(file, "symbols", number(found.symbols));
	set(file, "lines", json_boolean(found.lines));
	set(file, "debug_file", text_or_null(found.debug_file));
	set(file, "refused", text_or_null(found.refused));
	set(file, "gaps", number(gaps));
	append(report, "files", file);
}

/* ---- The whole ----------------------------------------------------------- */

static json_t *input_json(const char *path, const char *kind)
{
	struct stat status;
	bool known = strcmp(path, "-") != 0 && stat(path, &status) == 0 && S_ISREG(status.st_mode);
	json_t *input = json_object();

	set(input, "path", text_or_null(path));
	set(input, "kind", json_string(kind));
	set(input, "bytes", known ? number((uint64_t)status.st_size) : json_null());
	return input;
}

static json_t *inputs(const struct options *options)
{
	const char *kind = options->input_kind == INPUT_PERF_SCRIPT ? "perf-script" : "perf-data";
	json_t *list = json_array();

	for (int i = 0; i < options->input_count; i++)
		push(list, input_json(options->inputs[i], kind));
	for (size_t i = 0; i < options->overlay_count; i++) {
		const struct overlay_option *overlay = &options->overlays[i];
		char *path = strndup(overlay->text, strcspn(overlay->text, ","));

		if (!path)
			alloc_fail(0);
		push(list, input_json(path, overlay->kind == OVERLAY_MEMTRACE ? "memtrace"
									      : "runtime-events"));
		free(path);
	}
	return list;
}

static json_t *outputs(const struct summary *summary)
{
	json_t *list = json_array();

	for (size_t i = 0; i < summary->output_count; i++)
		push(list, text_or_null(summary->outputs[i]));
	return list;
}

static json_t *gaps(const struct summary *summary)
{
	json_t *list = json_array();

	for (int reason = 0; reason < GAP_REASONS; reason++) {
		json_t *gap;

		if (!summary->gaps[reason])
			continue;
		gap = json_object();
		set(gap, "reason", json_string(summary_gap_word((enum gap_reason)reason)));
		set(gap, "text", json_string(callstack_gap_text((enum gap_reason)reason)));
		set(gap, "count", number(summary->gaps[reason]));
		push(list, gap);
	}
	return list;
}

static json_t *warnings(const struct diag *diag)
{
	json_t *list = json_array();

	for (const struct diag_line *line = diag->first; line; line = line->next) {
		json_t *warning = json_object();

		set(warning, "kind", json_string(line->kind));
		set(warning, "count", number(line->count));
		set(warning, "text", text_or_null(line->text));
		push(list, warning);
	}
	return list;
}

void report_finish(struct report *report, enum exit_status status, const struct diag *diag,
		   const struct error *err)
{
	report_phase(report, NULL);
	report->status = status;
	report->diag = diag;
	report->err = err;
}

static void add_totals(const struct report *report, json_t *whole)
{
	const struct summary *summary = &report->summary;
	json_t *trace = trace_bytes(summary);

	set(whole, "branches", number(summary->branches));
	set(whole, "slices", number(summary->slices));
	set(whole, "thread_count", number(summary->threads));
	set(whole, "first_time_ns", number(summary->first_time));
	set(whole, "last_time_ns", number(summary->last_time));
	set(trace, "bytes_left_out", number(summary->bytes_left_out));
	set(whole, "trace", trace);
	set(whole, "gaps", gaps(summary));
	set(whole, "seconds", seconds(now() - report->begin_ns));
	set(whole, "peak_memory_bytes", number(summary_peak_memory()));
}

json_t *report_json(const struct report *report)
{
	static const char *const lists[] = { "streams", "threads", "files", "phases" };
	json_t *whole;

	if (!report->wanted)
		return NULL;
	whole = json_object();
	set(whole, "version", json_integer(REPORT_VERSION));
	set(whole, "program", json_string(PACKAGE_STRING));
	set(whole, "status", json_integer(report->status));
	set(whole, "error",
	    report->status == EXIT_FAILED ? text_or_null(report->err->text) : json_null());
	set(whole, "interrupted", json_boolean(report->summary.interrupted));
	set(whole, "inputs", inputs(report->options));
	set(whole, "outputs", outputs(&report->summary));
	add_totals(report, whole);
	set(whole, "warnings", warnings(report->diag));
	for (size_t i = 0; i < sizeof(lists) / sizeof(lists[0]); i++)
		set(whole, lists[i], json_array());
	set(whole, "recording", json_null());
	set(whole, "functions", json_null());
	if (json_object_update(whole, report->parts) < 0)
		alloc_fail(0);
	return whole;
}

static int dump(const char *bytes, size_t size, void *context)
{
	output_write(context, bytes, size);
	return 0;
}

int report_write(const struct report *report, struct error *err)
{
	struct output output;
	json_t *whole;

	if (!report->options->json)
		return 0;
	if (output_open(&output, report->options->json, err) < 0)
		return -1;
	whole = report_json(report);
	json_dump_callback(whole, dump, &output, JSON_INDENT(2) | JSON_REAL_PRECISION(9));
	output_write(&output, "\n", 1);
	json_decref(whole);
	return output_close(&output, err);
}
