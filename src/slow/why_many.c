/* SPDX-License-Identifier: MIT */
/* `ptrace2ftf why` of several recordings, each in a process of its own, or of the lines of such
 * runs. */
#include "src/batch/batch.h"

#include "base/io/file_use.h"
#include "base/io/interrupt.h"
#include "base/io/output.h"
#include "base/message.h"
#include "src/formats/output_format.h"
#include "src/options/input_paths.h"
#include "src/slow/why_merged.h"

struct why_many {
	const struct options *options; /* borrowed */
	struct why_merged merged;
	json_t **ends; /* owned: reports of the processes, by input */
	int worst;     /* exit status */
};

static batch_convert_fn *convert_recording;

bool why_many_wanted(const struct options *options)
{
	return options->command == COMMAND_WHY &&
	       (options->merge || (options->input_count > 1 && !options_is_batch(options)));
}

/* ---- Recordings ---------------------------------------------------------- */

/* In the child: batch_convert_fn. */
static enum exit_status answer_silently(const struct options *options, json_t *report)
{
	struct options own = *options;

	own.format = &format_why_unprinted;
	own.json = "";
	own.json_answer = false;
	own.quiet = true;
	return convert_recording(&own, report);
}

static void take_end(void *context, const struct batch_job *job, const struct batch_end *end)
{
	struct why_many *many = context;

	many->ends[job->inputs - many->options->inputs] = json_incref(end->report);
	if (end->status != EXIT_WHOLE && many->worst != EXIT_FAILED)
		many->worst = end->status;
}

/* Returns an exit status, 128 + N for signal N. */
static int read_recordings(struct why_many *many)
{
	const struct options *options = many->options;
	size_t count = (size_t)options->input_count;
	struct batch_plan plan = { alloc_zeroed(count, sizeof(*plan.jobs)), count };
	struct batch_loop loop = {
		.run = { .options = options, .convert = answer_silently, .keep_messages = true },
		.plan = &plan,
		.finished = take_end,
		.context = many
	};
	int stopped;

	many->ends = alloc_zeroed(count, sizeof(*many->ends));
	for (size_t i = 0; i < count; i++)
		plan.jobs[i] =
			(struct batch_job){ .inputs = &options->inputs[i], .input_count = 1 };
	stopped = batch_loop_run(&loop);
	/* In the order of the inputs, whichever ended first. */
	for (size_t i = 0; i < count; i++)
		if (many->ends[i] &&
		    !why_merged_add(&many->merged, many->ends[i], options->inputs[i]))
			many->merged.failed++;
	batch_plan_release(&plan);
	return stopped ? 128 + stopped : many->worst;
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
				"%s: value %zu is no JSON: %s; write lines with `ptrace2ftf why "
				"--json-lines=FILE`",
				path, number, where.text);
		added = why_merged_add(&many->merged, line, path);
		json_decref(line);
		if (!added)
			return error_set(
				err, ERROR_FORMAT,
				"%s: value %zu is no answer of `ptrace2ftf why`; write lines "
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

/* Returns 0; -1 with err filled. */
static int print_many(const struct why_many *many, struct error *err)
{
	const struct options *options = many->options;
	const char *path = options->output ? options->output : "-";
	struct output output;
	FILE *out = output_open_text(&output, path, options->max_output, err);

	if (!out)
		return -1;
	if (options->json_answer) {
		json_t *json = why_merged_json(&many->merged);

		json_dumpf(json, out, JSON_INDENT(1));
		putc('\n', out);
		json_decref(json);
	} else {
		why_merged_print(&many->merged, out);
	}
	fclose(out); /* a write error shows in the output */
	return output_close(&output, err);
}

int why_many_run(const struct options *options, batch_convert_fn *convert)
{
	struct why_many many = { .options = options };
	struct error err = { 0 };
	int status = EXIT_WHOLE;

	convert_recording = convert;
	why_merged_init(&many.merged);
	file_roles_read(options);
	if (file_roles_write(options->output, "--output", &err) < 0 ||
	    (!options->merge && input_paths_check(options, &err) < 0))
		status = EXIT_FAILED;
	else if (!options->merge)
		status = read_recordings(&many);
	else if (merge_lines(&many, &err) < 0)
		status = EXIT_FAILED;
	else if (many.merged.failed)
		status = EXIT_WITH_GAPS;
	why_merged_sort(&many.merged);
	if (status < 128 && err.kind == ERROR_NONE && (options->merge || many.merged.recordings) &&
	    print_many(&many, &err) < 0)
		status = EXIT_FAILED;
	output_obey_closed_pipe(&err);
	if (err.kind != ERROR_NONE)
		message_error(&err);
	if (status == EXIT_WITH_GAPS && options->no_warn)
		status = EXIT_WHOLE;
	for (int i = 0; many.ends && i < options->input_count; i++)
		json_decref(many.ends[i]);
	free(many.ends);
	why_merged_release(&many.merged);
	return status;
}
