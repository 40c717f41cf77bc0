/* SPDX-License-Identifier: MIT */
/* Collect the parts of the report and write it as JSON. */
#include "src/report/report.h"

#include <sys/stat.h>

#include "config.h"
#include "decoder/code/insn.h"
#include "src/formats/text/any_text.h"
#include "src/formats/text/digits.h"
#include "src/perf_script/perf_script.h"
#include "src/report/progress.h"
#include "src/select/function_labels.h"
#include "src/select/name_forms.h"
#include "symbols/dso/dso_store.h"

/* ---- Values -------------------------------------------------------------- */

static json_t *number(uint64_t value)
{
	return json_integer(json_value_of(value));
}

/* Returns the number of a CPU or thread; null for -1. */
static json_t *id_or_null(int32_t id)
{
	return id >= 0 ? json_integer(id) : json_null();
}

static json_t *seconds(uint64_t ns)
{
	return json_real((double)ns / 1e9);
}

struct member {
	const char *key;
	json_t *value;
};

/* Returns an object of members; a NULL key ends them. */
static json_t *make_object(const struct member *members)
{
	json_t *object = json_object();

	for (; members->key; members++)
		json_object_set_new(object, members->key, members->value);
	return object;
}

/* Members with the keys of their fields. */
#define COUNT(from, field) ((struct member){ #field, number((from)->field) })
#define FLAG(from, field)  ((struct member){ #field, json_boolean((from)->field) })
#define TEXT(from, field)  ((struct member){ #field, json_text_or_null((from)->field) })

#define OBJECT(...) make_object((const struct member[]){ __VA_ARGS__, { NULL, NULL } })

/* Append to the list `key` of the parts, which is created at first use. */
static void append_part(struct report *report, const char *key, json_t *value)
{
	if (!json_object_get(report->parts, key))
		json_object_set_new(report->parts, key, json_array());
	json_array_append_new(json_object_get(report->parts, key), value);
}

/* ---- Phases -------------------------------------------------------------- */

void report_init(struct report *report, const struct options *options)
{
	*report = (struct report){
		.options = options,
		.wanted = options->json || options->verbose,
		.begin_ns = progress_now(),
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
	uint64_t time = progress_now();

	if (report->wanted && report->phase)
		append_part(report, "phases",
			    OBJECT({ "name", json_string(report->phase) },
				   { "seconds", seconds(time - report->phase_ns) }));
	report->phase = name;
	report->phase_ns = time;
}

/* ---- Parts --------------------------------------------------------------- */

void report_recording(struct report *report, const struct perf_file *file)
{
	const struct perf_features *features = &file->features;

	if (!report->wanted)
		return;
	json_object_set_new(report->parts, "recording",
			    OBJECT(TEXT(features, hostname), TEXT(features, os_release),
				   { "perf_version", json_text_or_null(features->version) },
				   { "cpu", json_text_or_null(features->cpu_description) },
				   TEXT(features, command_line)));
}

static json_t *trace_bytes(const struct pt_stream_stats *bytes)
{
	return OBJECT(COUNT(bytes, bytes_total), COUNT(bytes, bytes_decoded),
		      COUNT(bytes, bytes_skipped), COUNT(bytes, bytes_lost),
		      COUNT(bytes, bytes_repeated), COUNT(bytes, bytes_missing));
}

void report_stream(struct report *report, const struct aux_stream *aux,
		   const struct pt_stream_stats *stats)
{
	json_t *stream;

	if (!report->wanted)
		return;
	stream = trace_bytes(stats);
	json_object_update_new(stream, OBJECT({ "cpu", id_or_null(aux->cpu) },
					      { "tid", id_or_null(aux->tid) }, COUNT(stats, events),
					      { "instructions", number(stats->insns) }));
	append_part(report, "streams", stream);
}

void report_thread(struct report *report, const struct thread *thread,
		   const struct call_thread *tally)
{
	json_t *object;

	if (!report->wanted)
		return;
	object = OBJECT({ "pid", json_integer(thread ? thread->pid : -1) },
			{ "tid", json_integer(thread ? thread->tid : -1) },
			{ "names", JSON_LIST(i, thread ? thread->name_count : 0,
					     json_text_or_null(thread->names[i].text)) });
	if (tally)
		json_object_update_new(object, OBJECT(COUNT(tally, calls), COUNT(tally, slices),
						      COUNT(tally, deepest)));
	append_part(report, "threads", object);
}

static json_t *call_json(const struct slowest_call *call)
{
	if (!call->track)
		return json_null();
	return OBJECT({ "pid", json_integer(call->track->pid) },
		      { "tid", json_integer(call->track->tid) },
		      { "begin_ns", number(call->begin) },
		      { "duration_ns", number(call->duration) });
}

static json_t *function_json(const struct slice_totals *tally, uint32_t function,
			     const struct name *name)
{
	const struct symbol *symbol = tally->functions.functions[function].symbol;
	const struct call_node *node = &tally->tree.nodes[function + 1];
	json_t *object;

	object = OBJECT({ "name", json_name(name) },
			{ "file", json_text_or_null(symbol->dso ? symbol->dso->path : NULL) },
			{ "calls", number(node->calls) }, { "self_ns", number(node->own.ns) },
			{ "total_ns", number(tally->tree.totals[function + 1].costs.ns) },
			{ "slowest", call_json(&node->slowest) });
	if (tally->sink.details) {
		json_object_set_new(object, "self_insns", number(node->own.insns));
		json_object_set_new(object, "total_insns",
				    number(tally->tree.totals[function + 1].costs.insns));
	}
	return object;
}

/*
 * Bytes of a function that is compared: shorter ones are alike, and hostile files have functions of
 * any size.
 */
#define CODE_LEAST 16
#define CODE_MOST  16384

/*
 * Returns a hash (FNV-1a) of a function's instructions without their displacements of 32 bits,
 * which depend on the rest of the program; 0: unknown.
 */
static uint64_t code_hash(const struct symbol *symbol)
{
	uint64_t hash = 0xcbf29ce484222325;
	size_t size = 0;
	const uint8_t *code = symbol->dso && !symbol->inlined && symbol->size >= CODE_LEAST &&
					      symbol->size <= CODE_MOST
				      ? dso_borrow_code(symbol->dso, symbol->start, &size)
				      : NULL;

	if (size < symbol->size || symbol->changed)
		return 0;
	for (uint64_t at = 0; code && at < symbol->size;) {
		struct insn insn = insn_decode(code + at, symbol->size - at, INSN_MODE_64);
		unsigned skipped =
			insn.distance && insn.length > 4 ? insn.length - 4u : insn.relative;

		if (!insn.length)
			return 0;
		for (unsigned i = 0; i < insn.length; i++) {
			bool is_skipped = skipped && i - skipped < 4;

			hash = (hash ^ (is_skipped ? 0 : code[at + i])) * 0x100000001b3;
		}
		at += insn.length;
	}
	return code ? hash >> 1 : 0; /* JSON has 63 bits */
}

/* For `ptrace2ftf diff` only: src/diff/diff.h. */
static json_t *all_functions(const struct slice_totals *tally)
{
	json_t *list = json_array();
	struct function_labels labels = { 0 };
	struct name_forms forms = { 0 };

	function_labels_make(&labels, &tally->functions, tally->names);
	for (uint32_t i = 0; i < tally->functions.count; i++) {
		const struct symbol *symbol = tally->functions.functions[i].symbol;
		json_t *object = function_json(tally, i, symbol->name);
		const struct name *source = function_source(symbol);
		char *identity = function_identity(&labels, symbol);

		name_forms_set(&forms, symbol->linkage->text);
		json_object_update_new(
			object,
			OBJECT({ "identity", json_text_or_null(identity) },
			       { "linkage", json_name(symbol->linkage) },
			       { "signature", json_text_or_null(forms.parameters) },
			       { "source", json_text_or_null(source ? source->text : NULL) },
			       { "start", number(symbol->start & INT64_MAX) },
			       { "function", json_boolean(symbol->kind < SYMBOL_SPECIAL) },
			       { "code", number(code_hash(symbol)) }, { "callees", json_array() }));
		free(identity);
		json_array_append_new(list, object);
	}
	for (size_t i = 0; i < tally->edges.count; i++) {
		struct pair edge = pair_table_pair(&tally->edges, i);
		json_t *caller = json_array_get(list, edge.first - 1);

		json_array_append_new(json_object_get(caller, "callees"), number(edge.second - 1));
	}
	name_forms_release(&forms);
	function_labels_release(&labels);
	return list;
}

/* The largest amount first. */
COMPARE_WITHIN(compare_amounts, uint32_t, uint64_t, COMPARE(context[*b], context[*a]))

/* Sort the functions by own costs, or by those with callees.  Returns the first ones. */
static json_t *top_functions(const struct slice_totals *tally, uint32_t *order, bool total)
{
	const struct call_tree *tree = &tally->tree;
	size_t count = tally->functions.count;
	uint64_t *amounts = alloc_zeroed(count + 1, sizeof(*amounts));
	struct function_labels labels = { 0 };
	json_t *list = json_array();

	for (size_t i = 0; i < count; i++)
		amounts[i] = slice_totals_rank(tally, total ? &tree->totals[i + 1].costs
							    : &tree->nodes[i + 1].own);
	SORT_WITHIN(order, count, compare_amounts, amounts);
	free(amounts);
	function_labels_make(&labels, &tally->functions, tally->names);
	for (size_t i = 0; i < count && i < REPORT_FUNCTIONS_MAX; i++) {
		const struct symbol *symbol = tally->functions.functions[order[i]].symbol;

		json_array_append_new(
			list, function_json(tally, order[i], function_label(&labels, symbol)));
	}
	function_labels_release(&labels);
	return list;
}

json_t *report_name_unit(const struct options *options, json_t *json)
{
	const char *unit = digits_work_unit(), *key;
	json_t *value, *named;
	size_t index;

	if (!options->clock || (!json_is_object(json) && !json_is_array(json)))
		return json;
	if (json_is_array(json)) {
		json_array_foreach(json, index, value) json_array_set_new(
			json, index, report_name_unit(options, json_incref(value)));
		return json;
	}
	named = json_object();
	json_object_foreach(json, key, value)
	{
		bool time = ends_with(key, "_ns") || strcmp(key, "ns") == 0;
		bool ranks = strcmp(key, "unit") == 0 || strcmp(key, "ranked_by") == 0;
		char *name =
			alloc_text("%.*s%s", (int)strlen(key) - 2 * time, key, time ? unit : "");

		json_object_set_new(named, name,
				    ranks ? json_string(unit)
					  : report_name_unit(options, json_incref(value)));
		free(name);
	}
	json_decref(json);
	return named;
}

void report_functions(struct report *report, const struct slice_totals *tally)
{
	uint32_t *order;
	json_t *by_self;

	if (!report->wanted)
		return;
	order = alloc_zeroed(tally->functions.count + 1, sizeof(*order));
	for (uint32_t i = 0; i < tally->functions.count; i++)
		order[i] = i;
	by_self = top_functions(tally, order, false);
	json_object_set_new(
		report->parts, "functions",
		OBJECT({ "count", number(tally->functions.count) },
		       { "ranked_by", json_string(tally->by_insns ? "instructions" : "time") },
		       { "by_self", by_self }, { "by_total", top_functions(tally, order, true) }));
	free(order);
	if (report->options->all_functions)
		json_object_set_new(json_object_get(report->parts, "functions"), "all",
				    all_functions(tally));
	json_object_set_new(
		report->parts, "functions",
		report_name_unit(report->options,
				 json_incref(json_object_get(report->parts, "functions"))));
}

void report_answer(struct report *report, const struct output_format *format,
		   const struct format_output *output)
{
	if (report->wanted && output && format->answer)
		json_object_set_new(report->parts, "answer",
				    report_name_unit(report->options, format->answer(output)));
}

void report_take_answer(struct report *report, json_t *answer)
{
	if (report->wanted && answer)
		json_object_set_new(report->parts, "answer", answer);
	else
		json_decref(answer);
}

const char *const report_file_states[] = {
	[DSO_FOUND] = "found",           [DSO_MISSING] = "missing",
	[DSO_MISMATCHED] = "mismatched", [DSO_UNREADABLE] = "unreadable",
	[DSO_NOT_A_FILE] = "not-a-file",
};

const char *const report_file_names[] = {
	[DSO_NAMES_NONE] = "none",
	[DSO_NAMES_EXPORTED] = "exported",
	[DSO_NAMES_ALL] = "all",
};

void report_file(struct report *report, struct dso *dso, uint64_t gaps)
{
	struct dso_info found = dso_info(dso);
	const uint8_t *build_id;
	size_t build_id_size;
	char id[2 * ELF_BUILD_ID_MAX + 1];

	if (!report->wanted)
		return;
	build_id = dso_build_id(dso, &build_id_size);
	elf_file_print_id(id, build_id, build_id_size);
	append_part(report, "files",
		    OBJECT(TEXT(dso, path), { "build_id", json_text_or_null(*id ? id : NULL) },
			   FLAG(&found, used),
			   { "state", json_string(report_file_states[dso->state]) },
			   TEXT(dso, file), { "code", json_boolean(dso->elf.bytes != NULL) },
			   { "names", json_string(report_file_names[found.names]) },
			   COUNT(&found, symbols), FLAG(&found, lines), TEXT(&found, debug_file),
			   TEXT(&found, refused), { "gaps", number(gaps) }));
}

void report_hits(struct report *report, const struct hit_output *hits)
{
	report->summary.hits = hits->count;
	if (!report->wanted)
		return;
	for (const struct hit_event_shown *event = hits->events; event; event = event->hh.next)
		append_part(report, "hit_events",
			    OBJECT({ "event", json_text_or_null(event->name) },
				   { "hits", number(event->count) },
				   { "first_ns", number(event->first) },
				   { "last_ns", number(event->last) }));
}

void report_overlays(struct report *report, const struct overlays *overlays)
{
	for (size_t i = 0; report->wanted && i < overlays->count; i++) {
		const struct memtrace *trace = &overlays->inputs[i].memtrace;
		const struct memtrace_info *info = &trace->info;
		/* A damaged rate may be a number that JSON lacks. */
		bool finite = info->sample_rate - info->sample_rate == 0;

		if (overlays->inputs[i].importer != &overlay_memtrace)
			continue;
		append_part(report, "memtrace",
			    OBJECT({ "path", json_text_or_null(overlays->inputs[i].path) },
				   { "pid", number(info->pid) },
				   { "executable_name", json_text_or_null(info->executable) },
				   { "host_name", json_text_or_null(info->host) },
				   { "ocaml_runtime_params", json_text_or_null(info->parameters) },
				   TEXT(info, context), COUNT(info, initial_domain),
				   { "start_time_us", number(info->start_time) },
				   { "sample_rate",
				     finite ? json_real(info->sample_rate) : json_null() },
				   COUNT(info, word_size), COUNT(trace, allocations),
				   COUNT(trace, unknown_backtraces)));
	}
}

/* ---- The whole ----------------------------------------------------------- */

static json_t *input_json(const char *path, const char *kind)
{
	struct stat status;
	bool known = strcmp(path, "-") != 0 && stat(path, &status) == 0 && S_ISREG(status.st_mode);

	return OBJECT({ "path", json_text_or_null(path) }, { "kind", json_string(kind) },
		      { "bytes", known ? number((uint64_t)status.st_size) : json_null() });
}

static json_t *input_list(const struct options *options)
{
	const char *kind = options->input_kind == INPUT_PERF_SCRIPT ? "perf-script" : "perf-data";
	json_t *list = json_array();

	if (options->raws.count)
		kind = "raw";
	for (int i = 0; i < options->input_count; i++)
		json_array_append_new(
			list,
			input_json(options->inputs[i],
				   input_paths_is_bundle(options->inputs[i]) ? "lldb" : kind));
	for (size_t i = 0; i < options->overlay_count; i++) {
		const struct overlay_option *overlay = &options->overlays[i];
		char *path = ALLOC_CHECKED(strndup(overlay->text, strcspn(overlay->text, ",")));

		json_array_append_new(list, input_json(path, overlay->kind == OVERLAY_MEMTRACE
								     ? "memtrace"
								     : "runtime-events"));
		free(path);
	}
	return list;
}

/* Returns NULL if there are no gaps. */
static json_t *gap_json(const struct summary *summary, enum gap_reason reason)
{
	return summary->trace.gaps[reason]
		       ? OBJECT({ "reason", json_string(gap_reason_facts(reason)->word) },
				{ "text", json_string(gap_reason_facts(reason)->text) },
				{ "count", number(summary->trace.gaps[reason]) })
		       : NULL;
}

static json_t *warning_list(const struct diag *diag)
{
	json_t *list = json_array();

	for (const struct diag_line *line = diag->first; line; line = line->next)
		json_array_append_new(list, OBJECT({ "kind", json_string(line->kind) },
						   { "count", number(line->count) },
						   { "text", json_text_or_null(line->text) }));
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

json_t *report_json(const struct report *report)
{
	const struct summary *summary = &report->summary;
	const struct stack_doubts *doubts = &summary->doubts;
	const struct name *changed = summary->first_changed;
	const struct sandbox *sandbox = &report->sandbox;
	bool failed = report->status == EXIT_FAILED;
	json_t *trace, *whole;

	if (!report->wanted)
		return NULL;
	trace = trace_bytes(&summary->trace);
	json_object_set_new(trace, "bytes_left_out", number(summary->bytes_left_out));
	/* The parts set the last nine keys; without parts, these are empty or null. */
	whole = OBJECT(
		{ "version", json_integer(REPORT_VERSION) },
		{ "program", json_string(PACKAGE_STRING) },
		{ "status", json_integer(report->status) },
		{ "error", json_text_or_null(failed ? report->err->text : NULL) },
		{ "output_cut", json_boolean(summary->output_cut || summary->temp_cut) },
		FLAG(summary, interrupted), { "inputs", input_list(report->options) },
		{ "outputs",
		  JSON_LIST(i, summary->output_count, json_text_or_null(summary->outputs[i])) },
		COUNT(summary, branches), COUNT(summary, slices), COUNT(doubts, uncertain_levels),
		{ "first_uncertain_ns", number((uint64_t)doubts->first_uncertain) },
		FLAG(summary, saved_code), COUNT(summary, changed_functions),
		{ "first_changed", json_text_or_null(changed ? changed->text : NULL) },
		COUNT(doubts, opaque_frames), { "first_opaque_address", number(doubts->opaque_ip) },
		COUNT(summary, slices_left_out),
		{ "slices_folded", number(summary->fold.folded + summary->fold.left_out) },
		{ "guest_runs", number(summary->trace.guests) }, COUNT(summary, slices_truncated),
		COUNT(summary, sources_left_out), COUNT(summary, hits),
		COUNT(summary, samples_left_out),
		{ "text_lacks",
		  JSON_LIST(i, PERF_SCRIPT_LACKS,
			    summary->text_lacks >> i & 1 ? json_string(perf_script_lacks[i].field)
							 : NULL) },
		{ "thread_count", number(summary->threads) },
		{ "first_time_ns", number(summary->first_time) },
		{ "last_time_ns", number(summary->last_time) }, { "trace", trace },
		{ "gaps", JSON_LIST(i, GAP_REASONS, gap_json(summary, (enum gap_reason)i)) },
		{ "seconds", seconds(progress_now() - report->begin_ns) },
		{ "peak_memory_bytes", number(summary_peak_memory()) },
		{ "sandbox", OBJECT({ "files", json_boolean(sandbox->files) },
				    { "system_calls", json_boolean(sandbox->calls) },
				    { "reason", json_text_or_null(sandbox->why) }) },
		{ "warnings", warning_list(report->diag) }, { "streams", json_array() },
		{ "threads", json_array() }, { "files", json_array() },
		{ "memtrace", json_array() }, { "phases", json_array() },
		{ "hit_events", json_array() }, { "recording", json_null() },
		{ "functions", json_null() }, { "answer", json_null() });
	json_object_update(whole, report->parts);
	return whole;
}

static int write_chunk(const char *bytes, size_t size, void *context)
{
	output_write(context, bytes, size);
	return 0;
}

void report_write_json(json_t *json, struct output *output)
{
	json_dump_callback(json, write_chunk, output, REPORT_JSON_FLAGS);
	output_write(output, "\n", 1);
	json_decref(json);
}

int report_write(const struct report *report, struct error *err)
{
	struct output output;

	if (!report->options->json)
		return 0;
	if (output_open(&output, report->options->json, err) < 0)
		return -1;
	report_write_json(report_json(report), &output);
	return output_close(&output, err);
}
