/* SPDX-License-Identifier: MIT */
/* The loop of a batch: starts processes, waits for them, and adds up how they ended. */
#include "src/batch/batch.h"

#include <errno.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/io/file_use.h"
#include "base/io/output_path.h"
#include "src/batch/batch_job.h"
#include "src/batch/batch_line.h"
#include "src/batch/batch_plan.h"
#include "src/batch/batch_signals.h"
#include "src/options/file_roles.h"
#include "src/options/input_paths.h"

struct batch {
	struct batch_run run;
	struct batch_plan plan;
	size_t next; /* index of the next job to start */
	size_t running;
	size_t whole, gaps, failed, skipped; /* finished jobs */
	int worst;                           /* exit status of a finished job */
	bool lines_failed;                   /* --json-lines could not be written */
	struct batch_process *processes;     /* owned */
	size_t process_count;
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
static void add_finished(struct batch *batch, const struct batch_job *job,
			 const struct batch_end *end)
{
	const char *path = batch->run.options->json_lines;
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
			fprintf(stderr, "ptrace2ftf: %s\n", err.text);
		batch->lines_failed = true;
		batch->worst = EXIT_FAILED;
	}
	json_decref(line);
}

static void add_not_started(struct batch *batch, const struct batch_job *job,
			    const struct error *err)
{
	struct batch_end end = { .status = EXIT_FAILED, .report = json_object() };

	fprintf(stderr, "ptrace2ftf: %s\n", err->text);
	json_object_set_new(end.report, "error", batch_line_text(err->text));
	add_finished(batch, job, &end);
	json_decref(end.report);
}

/* ---- Processes ----------------------------------------------------------- */

static struct batch_process *find_free_process(const struct batch *batch)
{
	for (size_t i = 0; i < batch->process_count; i++)
		if (batch->processes[i].pid == 0)
			return &batch->processes[i];
	return NULL;
}

static void start_next(struct batch *batch)
{
	const struct batch_job *job = &batch->plan.jobs[batch->next];
	struct error err = { 0 };
	int status = batch_signals_start(find_free_process(batch), &batch->run, job, &err);

	if (status == 0) {
		batch->running++;
	} else if (batch->running) {
		return; /* tried again after the end of another one */
	} else {
		add_not_started(batch, job, &err);
	}
	batch->next++;
}

static void wait_for_process(struct batch *batch)
{
	struct batch_end end = { 0 };
	int status;
	pid_t pid = wait4(-1, &status, 0, &end.usage);

	for (size_t i = 0; pid > 0 && i < batch->process_count; i++) {
		struct batch_process *process = &batch->processes[i];

		if (process->pid != pid)
			continue;
		batch_process_finish(process, status, &end);
		batch->running--;
		add_finished(batch, process->job, &end);
		json_decref(end.report);
	}
	if (pid < 0 && errno != EINTR)
		batch->running = 0; /* impossible: no process is left */
}

static size_t count_processors(void)
{
	cpu_set_t set;

	return sched_getaffinity(0, sizeof(set), &set) == 0 ? (size_t)CPU_COUNT(&set) : 1;
}

/* Returns the threads of each of so many parallel processes: they share the processors. */
static unsigned threads_per_job(size_t jobs)
{
	size_t count = count_processors();

	if (jobs < 2)
		return 0;
	return count > jobs ? (unsigned)(count / jobs) : 1;
}

/* Returns the signal that ended the batch; 0: none did. */
static int run_all(struct batch *batch)
{
	size_t room = batch->run.options->jobs ? batch->run.options->jobs : count_processors();
	int stopped;

	room = room < batch->plan.count ? room : batch->plan.count;
	batch->processes = alloc_zeroed(room, sizeof(*batch->processes));
	batch->process_count = room;
	batch->run.threads = threads_per_job(room);
	batch_signals_watch(batch->processes, room);
	while (batch->running || (batch->next < batch->plan.count && !batch_signals_last())) {
		size_t before = batch->next;

		if (!batch_signals_last() && batch->running < room &&
		    batch->next < batch->plan.count)
			start_next(batch);
		if (batch->running && (batch->next == before || batch->running == room ||
				       batch->next == batch->plan.count))
			wait_for_process(batch);
	}
	stopped = batch_signals_end();
	free(batch->processes);
	return stopped;
}

static void print_totals(const struct batch *batch)
{
	fprintf(stderr, "ptrace2ftf: %zu files: %zu whole", batch->plan.count, batch->whole);
	if (batch->skipped)
		fprintf(stderr, " (%zu of them up to date before)", batch->skipped);
	if (batch->gaps)
		fprintf(stderr, ", %zu with gaps or warnings", batch->gaps);
	if (batch->failed)
		fprintf(stderr, ", %zu failed", batch->failed);
	if (batch->next < batch->plan.count)
		fprintf(stderr, ", %zu not begun", batch->plan.count - batch->next);
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
	struct batch batch = { .run = { .options = options, .convert = convert } };
	struct error err = { 0 };
	int stopped;

	/* Said once, not for each input. */
	file_roles_read(options);
	if (input_paths_check(options, &err) < 0 ||
	    (options->json_lines && check_lines(options->json_lines, &err) < 0)) {
		fprintf(stderr, "ptrace2ftf: %s\n", err.text);
		return EXIT_FAILED;
	}
	if (batch_plan_make(&batch.plan, options, &err) < 0 ||
	    check_outputs(&batch.plan, options, &err) < 0) {
		fprintf(stderr, "ptrace2ftf: %s\n", err.text);
		batch_plan_release(&batch.plan);
		return EXIT_USAGE;
	}
	batch.run.keep_messages = batch.plan.count > 1;
	batch.run.stamped = options_is_batch(options) || options->skip_existing;
	stopped = run_all(&batch);
	if (!options->quiet && batch.plan.count > 1)
		print_totals(&batch);
	batch_plan_release(&batch.plan);
	return stopped ? 128 + stopped : batch.worst;
}
