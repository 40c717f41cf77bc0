/* SPDX-License-Identifier: MIT */
/* The plan of a batch, and how its jobs ended. */
#include "src/batch/batch.h"

#include "base/io/file_use.h"
#include "base/io/output_path.h"
#include "src/batch/batch_loop.h"
#include "src/options/input_paths.h"

struct batch {
	const struct options *options; /* borrowed */
	struct batch_plan plan;
	size_t whole, gaps, failed, skipped; /* finished jobs */
	int worst;                           /* exit status of a finished job */
	bool lines_failed;                   /* --json-lines could not be written */
};

/* ---- Finished jobs ------------------------------------------------------- */

/* Returns the worse exit status: 1, then 2, then 0. */
static int worse_status(int left, int right)
{
	if (left == EXIT_WHOLE || right == EXIT_WHOLE)
		return left + right;
	return left == EXIT_WITH_GAPS && right == EXIT_WITH_GAPS ? EXIT_WITH_GAPS : EXIT_FAILED;
}

/* Count a job and write its line. */
static void add_finished(void *context, const struct batch_job *job, const struct batch_end *end)
{
	struct batch *batch = context;
	const char *path = batch->options->json_lines;
	struct error err = { 0 };
	json_t *line;

	batch->worst = worse_status(batch->worst, end->status);
	batch->whole += end->status == EXIT_WHOLE;
	batch->gaps += end->status == EXIT_WITH_GAPS;
	batch->failed += end->status != EXIT_WHOLE && end->status != EXIT_WITH_GAPS;
	batch->skipped += json_is_true(json_object_get(end->report, "skipped"));
	if (!path)
		return;
	line = batch_line_make(job, end);
	if (batch_line_write(line, path, &err) < 0) {
		if (!batch->lines_failed)
			message_error(&err);
		batch->lines_failed = true;
		batch->worst = EXIT_FAILED;
	}
	json_decref(line);
}

static void print_totals(const struct batch *batch, size_t begun)
{
	fprintf(stderr, "ptrace2ftf: %zu files: %zu whole", batch->plan.count, batch->whole);
	if (batch->skipped)
		fprintf(stderr, " (%zu of them up to date before)", batch->skipped);
	if (batch->gaps)
		fprintf(stderr, ", %zu with gaps or warnings", batch->gaps);
	if (batch->failed)
		fprintf(stderr, ", %zu failed", batch->failed);
	if (begun < batch->plan.count)
		fprintf(stderr, ", %zu not begun", batch->plan.count - begun);
	putc('\n', stderr);
}

bool batch_wanted(const struct options *options)
{
	return options->input &&
	       (options->json_lines || options->skip_existing || options_is_batch(options));
}

static int check_lines(const char *path, struct error *err)
{
	if (output_path_check(path, err) < 0 ||
	    file_use_write(path, "--json-lines", FILE_APPENDED, err) < 0)
		return -1;
	return batch_line_check(path, err);
}

/* No output may overwrite another one, or an input of any job. */
static int check_outputs(const struct batch_plan *plan, const struct options *options,
			 struct error *err)
{
	bool several = options_is_batch(options);

	for (size_t i = 0; i < plan->count; i++) {
		const struct batch_job *job = &plan->jobs[i];

		if (job->output &&
		    file_use_write(job->output, several ? job->inputs[0] : "--output",
				   FILE_REPLACED, err) < 0)
			return -1;
	}
	return 0;
}

int batch_run(const struct options *options, batch_convert_fn *convert)
{
	struct batch batch = { .options = options };
	struct batch_loop loop = { .run = { .options = options, .convert = convert },
				   .finished = add_finished,
				   .context = &batch };
	struct error err = { 0 };
	int stopped;

	/* Said once, not for each input. */
	file_roles_read(options);
	if (input_paths_check(options, &err) < 0 ||
	    (options->json_lines && check_lines(options->json_lines, &err) < 0)) {
		message_error(&err);
		return EXIT_FAILED;
	}
	if (batch_plan_make(&batch.plan, options, &err) < 0 ||
	    check_outputs(&batch.plan, options, &err) < 0) {
		message_error(&err);
		batch_plan_release(&batch.plan);
		return EXIT_USAGE;
	}
	loop.run.keep_messages = batch.plan.count > 1;
	loop.run.stamped = options_is_batch(options) || options->skip_existing;
	loop.plan = &batch.plan;
	stopped = batch_loop_run(&loop);
	if (!options->quiet && batch.plan.count > 1)
		print_totals(&batch, loop.begun);
	batch_plan_release(&batch.plan);
	return stopped ? 128 + stopped : batch.worst;
}
