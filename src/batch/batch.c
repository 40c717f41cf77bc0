/* SPDX-License-Identifier: MIT */
/* The loop of a batch: starts processes, waits for them, and adds up how they ended. */
#include "src/batch/batch.h"

#include <errno.h>
#include <sched.h>
#include <signal.h>
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
};

/* ---- Signals ------------------------------------------------------------- */

/* Read by the signal handler; the processes change only while signals are blocked. */
static volatile sig_atomic_t stopped;   /* the signal; 0: none */
static struct batch_process *processes; /* owned */
static volatile size_t process_count;

/* A terminal sends its signals to all processes; forward those of other senders. */
static void on_signal(int number, siginfo_t *info, void *context)
{
	(void)context;
	stopped = number;
	for (size_t i = 0; info->si_code <= 0 && i < process_count; i++)
		if (processes[i].pid > 0)
			kill(processes[i].pid, number);
}

/* Without SA_RESTART, so that wait4() returns. */
static void watch_signals(void)
{
	static const int signals[] = { SIGINT, SIGTERM, SIGHUP };
	struct sigaction action = { .sa_sigaction = on_signal, .sa_flags = SA_SIGINFO }, old;

	for (size_t i = 0; i < sizeof(signals) / sizeof(signals[0]); i++)
		if (sigaction(signals[i], NULL, &old) == 0 && old.sa_handler != SIG_IGN)
			sigaction(signals[i], &action, NULL);
}

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

static struct batch_process *find_free_process(void)
{
	for (size_t i = 0; i < process_count; i++)
		if (processes[i].pid == 0)
			return &processes[i];
	return NULL;
}

static void start_next(struct batch *batch)
{
	const struct batch_job *job = &batch->plan.jobs[batch->next];
	struct batch_process started;
	struct error err = { 0 };
	sigset_t all, usual;
	int status;

	/* No signal may come before the process is known, or to the handler in the child. */
	sigfillset(&all);
	sigprocmask(SIG_BLOCK, &all, &usual);
	status = batch_process_start(&started, &batch->run, job, &err);
	if (status == 0)
		*find_free_process() = started;
	sigprocmask(SIG_SETMASK, &usual, NULL);
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

	for (size_t i = 0; pid > 0 && i < process_count; i++) {
		if (processes[i].pid != pid)
			continue;
		batch_process_finish(&processes[i], status, &end);
		batch->running--;
		add_finished(batch, processes[i].job, &end);
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

static void run_all(struct batch *batch)
{
	size_t room = batch->run.options->jobs ? batch->run.options->jobs : count_processors();

	room = room < batch->plan.count ? room : batch->plan.count;
	processes = alloc_zeroed(room, sizeof(*processes));
	process_count = room;
	batch->run.threads = threads_per_job(room);
	watch_signals();
	while (batch->running || (batch->next < batch->plan.count && !stopped)) {
		size_t before = batch->next;

		if (!stopped && batch->running < room && batch->next < batch->plan.count)
			start_next(batch);
		if (batch->running && (batch->next == before || batch->running == room ||
				       batch->next == batch->plan.count))
			wait_for_process(batch);
	}
	process_count = 0;
	free(processes);
	processes = NULL;
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
	run_all(&batch);
	if (!options->quiet && batch.plan.count > 1)
		print_totals(&batch);
	batch_plan_release(&batch.plan);
	return stopped ? 128 + stopped : batch.worst;
}
