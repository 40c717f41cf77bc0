/* SPDX-License-Identifier: MIT */
/* `ptrace2ftf why` of several recordings, each in its own process, or of the lines of such runs. */
#include "src/batch/batch.h"

#include <float.h>
#include <math.h>

#include "base/io/file_use.h"
#include "base/io/interrupt.h"
#include "base/io/output.h"
#include "base/message.h"
#include "src/formats/answers/why.h"
#include "src/formats/text/any_text.h"
#include "src/formats/text/digits.h"
#include "src/formats/text/json_print.h"
#include "src/html/html_page.h"
#include "src/slow/why_merged.h"

/* ---- Causes -------------------------------------------------------------- */

static const char *text_or(const json_t *object, const char *key, const char *other)
{
	const char *text = json_string_value(json_object_get(object, key));

	return text ? text : other;
}

static const char *own_text(struct why_merged *merged, const char *text)
{
	return arena_text(&merged->texts, text, strlen(text));
}

static struct merged_cause *find_cause(struct why_merged *merged, const json_t *function,
				       const json_t *cluster, const char *unit)
{
	struct merged_cause cause = { .names = { json_value_text(function, "function"),
						 json_value_text(cluster, "cause") },
				      .unit = unit };
	struct id_probe probe;
	uint32_t hash, id;

	cause.identities[0] = text_or(function, "identity", cause.names[0]);
	cause.identities[1] = text_or(cluster, "cause_identity", cause.names[1]);
	hash = hash_bytes(cause.identities[0], strlen(cause.identities[0])) +
	       31 * hash_bytes(cause.identities[1], strlen(cause.identities[1]));
	probe = id_index_probe(hash);
	while ((id = id_index_next(&merged->index, &probe)) &&
	       !(strcmp((&merged->causes[id - 1])->identities[0], cause.identities[0]) == 0 &&
		 strcmp((&merged->causes[id - 1])->identities[1], cause.identities[1]) == 0 &&
		 strcmp((&merged->causes[id - 1])->unit, cause.unit) == 0))
		;
	if (!id) {
		cause.identities[0] = own_text(merged, cause.identities[0]);
		cause.identities[1] = own_text(merged, cause.identities[1]);
		cause.unit = own_text(merged, cause.unit);
		*ARRAY_ADD(merged->causes, merged->count, merged->room) = cause;
		id = (uint32_t)merged->count;
		id_index_add(&merged->index, hash, id);
	}
	return &merged->causes[id - 1];
}

COMPARE_WITHIN(compare_names, struct merged_cause, int,
	       strcmp(a->names[*context], b->names[*context])
		       ?: strcmp(a->identities[*context], b->identities[*context]))

/* Returns false if a number cannot be one. */
static bool add_cluster(struct why_merged *merged, const json_t *function, const json_t *cluster,
			const char *unit, const char *input)
{
	struct merged_cause *cause = find_cause(merged, function, cluster, unit);
	json_int_t calls = json_value_number(cluster, "calls");
	double extra = json_number_value(json_object_get(cluster, "extra"));
	json_int_t begin = json_value_number(json_object_get(cluster, "slowest"), "begin_ns");

	if (calls < 0 || begin < 0)
		return false;
	cause->recordings += cause->last != merged->recordings;
	cause->last = merged->recordings;
	cause->calls += (uint64_t)calls;
	cause->cut += json_is_true(json_object_get(cluster, "cut")) ? (uint64_t)calls : 0;
	cause->extra += ldexp(round(ldexp(extra * (double)calls, 6)), -6);
	cause->extra = MIN(MAX(cause->extra, -DBL_MAX), DBL_MAX); /* JSON has no infinity */
	if (cause->worst_input &&
	    (extra < cause->worst_extra ||
	     (extra == cause->worst_extra && strcmp(input, cause->worst_input) >= 0)))
		return true;
	cause->names[0] = own_text(merged, json_value_text(function, "function"));
	cause->names[1] = own_text(merged, json_value_text(cluster, "cause"));
	cause->symbol = own_text(merged, text_or(function, "symbol", cause->names[0]));
	cause->worst_extra = extra;
	cause->worst_input = own_text(merged, input);
	cause->worst_begin = (uint64_t)begin;
	return true;
}

bool why_merged_add(struct why_merged *merged, const json_t *line, const char *input)
{
	const json_t *report = json_object_get(line, "report");
	const json_t *answer = json_object_get(report ? report : line, "answer");
	const char *name = json_string_value(json_object_get(line, "input"));
	size_t i, j, found = 0;
	json_t *function, *cluster;

	if (!json_is_object(answer) &&
	    (json_is_string(json_object_get(line, "error")) || json_object_get(line, "signal"))) {
		merged->failed++;
		return true;
	}
	if (!answer)
		answer = line;
	if (strcmp(json_value_text(answer, "format"), "why") != 0)
		return false;
	merged->recordings++;
	json_array_foreach(json_object_get(answer, "functions"), i, function)
		json_array_foreach(json_object_get(function, "clusters"), j, cluster)
	{
		if (!add_cluster(merged, function, cluster, json_value_text(answer, "unit"),
				 (name ? name : input)))
			return false;
		found++;
	}
	merged->without += !found;
	return true;
}

COMPARE_WITH(compare_causes, struct merged_cause,
	     strcmp(b->unit, a->unit) ?: COMPARE(b->extra, a->extra) ?:
	     strcmp(a->names[0], b->names[0]) ?: strcmp(a->names[1], b->names[1]))

void why_merged_sort(struct why_merged *merged)
{
	struct merged_cause *end = merged->causes + merged->count, *next;

	/* Show functions of one name by their identities. */
	for (int i = 0; i < 2; i++) {
		SORT_WITHIN(merged->causes, merged->count, compare_names, &i);
		for (struct merged_cause *at = merged->causes; at < end; at = next) {
			const char *name = at->names[i], *first = at->identities[i];

			for (next = at; next < end && strcmp(next->names[i], name) == 0; next++)
				;
			for (; at < next && strcmp(first, next[-1].identities[i]) != 0; at++)
				at->names[i] = at->identities[i];
		}
	}
	SORT(merged->causes, merged->count, compare_causes);
}

static json_t *cause_json(const struct merged_cause *cause)
{
	return json_pack("{ss ss ss sI sI sI sf sf ss? sI}", "function", cause->names[0], "cause",
			 cause->names[1], "unit", cause->unit, "recordings",
			 json_value_of(cause->recordings), "calls", json_value_of(cause->calls),
			 "cut", json_value_of(cause->cut), "extra", cause->extra, "worst_extra",
			 cause->worst_extra, "worst_input", cause->worst_input, "worst_begin_ns",
			 json_value_of(cause->worst_begin));
}

void why_merged_print(void *context, FILE *out)
{
	static const char columns[] =
		"{recordings:10} {calls:7} {extra:>10e} {worst=worst_extra:10e}  ";
	const struct why_merged *merged = context;

	json_print(out, NULL, 0, columns);
	fputs("function: cause\n", out);
	for (size_t i = 0; i < merged->count; i++) {
		json_t *cause = cause_json(&merged->causes[i]);
		bool own;
		const char *of;

		json_print(out, cause, 0, columns);
		/* Print "FUNCTION: CAUSE; worst at TIME in INPUT". */
		own = strcmp(merged->causes[i].identities[0], merged->causes[i].identities[1]) == 0;
		of = own ? "own code" : merged->causes[i].names[1];
		escaped_printf(out, "%s: %s; worst at " SECONDS_FORMAT " in %s\n",
			       merged->causes[i].names[0], of,
			       SECONDS_OF(merged->causes[i].worst_begin),
			       merged->causes[i].worst_input ?: "?");
		json_decref(cause);
	}
	fprintf(out, "\n%zu recording%s", merged->recordings, merged->recordings == 1 ? "" : "s");
	if (merged->without)
		fprintf(out, ", %zu without slow calls", merged->without);
	if (merged->failed)
		fprintf(out, "; %zu more could not be read", merged->failed);
	putc('\n', out);
	if (!merged->count || !merged->causes[0].worst_input)
		return;
	fputs("next: ptrace2ftf why --symbol=", out);
	why_word_print(merged->causes[0].symbol, true, out);
	putc(' ', out);
	why_word_print(merged->causes[0].worst_input, false, out);
	putc('\n', out);
}

json_t *why_merged_json(const struct why_merged *merged)
{
	return json_pack("{ss sI sI sI so}", "format", "why-merged", "recordings",
			 json_value_of(merged->recordings), "without_slow_calls",
			 json_value_of(merged->without), "failed", json_value_of(merged->failed),
			 "causes", JSON_LIST(i, merged->count, cause_json(&merged->causes[i])));
}

void why_merged_release(struct why_merged *merged)
{
	arena_release(&merged->texts);
	free(merged->causes);
	id_index_release(&merged->index);
	*merged = (struct why_merged){ 0 };
}

/* ---- Recordings ---------------------------------------------------------- */

struct why_many {
	const struct options *options; /* borrowed */
	struct why_merged merged;
};

bool why_many_wanted(const struct options *options)
{
	return options->command == COMMAND_WHY && !options->raws.count &&
	       (options->merge || (options->input_count > 1 && !options_is_batch(options)));
}

static void take_end(void *context, const struct batch_job *job, const struct batch_end *end)
{
	struct why_many *many = context;

	if (!end->report || !why_merged_add(&many->merged, end->report, job->inputs[0]))
		many->merged.failed++;
}

/* Returns an exit status, 128 + N for signal N. */
static int read_recordings(struct why_many *many, batch_convert_fn *convert)
{
	const struct options *options = many->options;
	size_t count = (size_t)options->input_count;
	struct output_format unprinted = format_why;
	struct options own = *options;
	struct batch_plan plan = { alloc_zeroed(count, sizeof(*plan.jobs)), count };
	struct batch_loop loop = {
		.run = { .options = &own, .convert = convert, .keep_messages = true },
		.plan = &plan,
		.finished = take_end,
		.context = many
	};
	int stopped;

	unprinted.default_output = DEFAULT_NONE;
	own.format = &unprinted;
	own.json = "";
	own.json_answer = false;
	own.quiet = true;
	for (size_t i = 0; i < count; i++)
		plan.jobs[i] = (struct batch_job){ .inputs = &options->inputs[i],
						   .input_count = 1,
						   .answer = options };
	stopped = batch_loop_run(&loop);
	batch_plan_release(&plan);
	return stopped ? 128 + stopped : loop.worst;
}

/* ---- Lines --------------------------------------------------------------- */

/* Add all JSON values of a stream.  Returns 0; -1 with err filled. */
static int read_lines(struct why_many *many, FILE *in, const char *path, struct error *err)
{
	json_error_t where;
	int byte;

	for (size_t number = 1;; number++) {
		json_t *line;
		bool added;

		while ((byte = getc(in)) != EOF && strchr(" \t\r\n", byte))
			;
		if (byte == EOF)
			break;
		ungetc(byte, in);
		line = json_loadf(in, JSON_DISABLE_EOF_CHECK, &where);
		if (!line)
			return error_set(
				err, ERROR_FORMAT,
				"%s: value %zu is not JSON: %s; write lines with `ptrace2ftf why "
				"--json-lines=FILE`",
				path, number, where.text);
		added = why_merged_add(&many->merged, line, path);
		json_decref(line);
		if (!added)
			return error_set(
				err, ERROR_FORMAT,
				"%s: value %zu is not an answer of `ptrace2ftf why`; write lines "
				"with `ptrace2ftf why --json-lines=FILE`",
				path, number);
	}
	return ferror(in) ? error_set_system(err, errno, "%s: cannot read", path) : 0;
}

/* Returns 0; -1 with err filled. */
static int merge_lines(struct why_many *many, struct error *err)
{
	int status = 0;

	for (int i = 0; i < many->options->input_count && status == 0; i++) {
		const char *path = many->options->inputs[i];
		FILE *in = file_use_open_stream(path);

		if (!in)
			return error_set_system(err, errno, "%s: cannot open", path);
		status = read_lines(many, in, path, err);
		fclose(in);
	}
	return status;
}

/* ---- Both ---------------------------------------------------------------- */

static void print_page(void *merged, FILE *out)
{
	char *text;
	FILE *lines = OPEN_TEXT(text);

	why_merged_print(merged, lines);
	alloc_close_text(lines, &text);
	html_why_begin(out);
	html_printf(out,
		    "Causes of slow calls</title>\n</head>\n<body>\n<pre>%s</pre>\n"
		    "</body>\n</html>\n",
		    text);
	free(text);
}

/* Returns 0; -1 with err filled. */
static int print_many(struct why_many *many, struct error *err)
{
	const struct options *options = many->options;
	json_t *json = options->json_answer ? why_merged_json(&many->merged) : NULL;
	bool page = options->format == &format_why_page;
	int status = batch_answer_write(options, NULL, json, page ? print_page : why_merged_print,
					&many->merged, err);

	json_decref(json);
	return status;
}

int why_many_run(const struct options *options, batch_convert_fn *convert)
{
	struct why_many many = { .options = options };
	struct error err = { 0 };
	int status = EXIT_WHOLE;

	if (file_roles_check(options, &err) < 0 ||
	    (!options->merge && input_paths_check(options, &err) < 0))
		status = EXIT_FAILED;
	else if (!options->merge)
		status = read_recordings(&many, convert);
	else if (merge_lines(&many, &err) < 0)
		status = EXIT_FAILED;
	why_merged_sort(&many.merged);
	if (status < 128 && err.kind == ERROR_NONE && (options->merge || many.merged.recordings)) {
		if (many.merged.failed) /* the answer is of the others */
			status = EXIT_WITH_GAPS;
		if (print_many(&many, &err) < 0)
			status = EXIT_FAILED;
	}
	output_obey_closed_pipe(&err);
	message_error(&err);
	if (status == EXIT_WITH_GAPS && options->no_warn && !many.merged.failed)
		status = EXIT_WHOLE;
	why_merged_release(&many.merged);
	return status;
}
