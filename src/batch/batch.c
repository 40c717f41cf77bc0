/* SPDX-License-Identifier: MIT */
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
#include "src/batch/batch_job.h"
#include "src/batch/batch_line.h"
#include "src/batch/batch_plan.h"

struct batch {
	struct batch_run run;
	struct batch_plan plan;
	size_t next; /* job to be started */
	size_t running;
	size_t whole, gaps, failed, skipped;
	int worst;
	bool lines_failed; /* --json-lines could not be written */
};

/* ---- Signals ------------------------------------------------------------- */

/* What the handler needs; the processes are written by the main flow only. */
static volatile sig_atomic_t stopped;   /* the signal */
static struct batch_process *processes; /* owned */
static volatile size_t process_count;

/* A terminal sends its signals to the processes, too; others have to be handed on. */
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

/* ---- Grades -------------------------------------------------------------- */

/* 1 is worse than 2, which is worse than 0. */
static int worse(int left, int right)
{
	if (left == EXIT_WHOLE || right == EXIT_WHOLE)
		return left + right;
	return left == EXIT_WITH_GAPS && right == EXIT_WITH_GAPS ? EXIT_WITH_GAPS : EXIT_FAILED;
}

static void note_end(struct batch *batch, const struct batch_job *job, const struct batch_end *end)
{
	const char *path = batch->run.options->json_lines;
	struct error err = { 0 };
	json_t *line;

	batch->worst = worse(batch->worst, end->status);
	batch->whole += end->status == EXIT_WHOLE;
	batch->gaps += end->status == EXIT_WITH_GAPS;
	batch->failed += end->status != EXIT_WHOLE && end->status != EXIT_WITH_GAPS;
	batch->skipped += json_is_true(json_object_get(end->told, "skipped"));
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

static void note_no_start(struct batch *batch, const struct batch_job *job, const struct error *err)
{
	struct batch_end end = { .status = EXIT_FAILED };
	json_t *told = json_object();

	fprintf(stderr, "ptrace2ftf: %s\n", err->text);
	json_object_set_new(told, "error", batch_line_text(err->text));
	end.told = told;
	note_end(batch, job, &end);
	json_decref(told);
}

/* ---- Running ------------------------------------------------------------- */

static struct batch_process *free_process(void)
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

	/* A signal comes when the process is known, and never to the handler in the child. */
	sigfillset(&all);
	sigprocmask(SIG_BLOCK, &all, &usual);
	status = batch_process_start(&started, &batch->run, job, &err);
	if (status == 0)
		*free_process() = started;
	sigprocmask(SIG_SETMASK, &usual, NULL);
	if (status == 0) {
		batch->running++;
	} else if (batch->running) {
		return; /* when another has ended there may be room */
	} else {
		note_no_start(batch, job, &err);
	}
	batch->next++;
}

static void wait_for_one(struct batch *batch)
{
	struct batch_end end = { 0 };
	int status;
	pid_t pid = wait4(-1, &status, 0, &end.usage);

	for (size_t i = 0; pid > 0 && i < process_count; i++) {
		if (processes[i].pid != pid)
			continue;
		batch_process_finish(&processes[i], status, &end);
		batch->running--;
		note_end(batch, processes[i].job, &end);
		json_decref((json_t *)end.told);
	}
	if (pid < 0 && errno != EINTR)
		batch->running = 0; /* none of ours is left: cannot be */
}

static size_t processors(void)
{
	cpu_set_t set;

	return sched_getaffinity(0, sizeof(set), &set) == 0 ? (size_t)CPU_COUNT(&set) : 1;
}

/* Processes that run side by side share the processors. */
static unsigned threads_of_each(size_t jobs)
{
	size_t count = processors();

	if (jobs < 2)
		return 0;
	return count > jobs ? (unsigned)(count / jobs) : 1;
}

static void run_all(struct batch *batch)
{
	size_t room = batch->run.options->jobs ? batch->run.options->jobs : processors();

	room = room < batch->plan.count ? room : batch->plan.count;
	processes = alloc_zeroed(room, sizeof(*processes));
	process_count = room;
	batch->run.threads = threads_of_each(room);
	watch_signals();
	while (batch->running || (batch->next < batch->plan.count && !stopped)) {
		size_t before = batch->next;

		if (!stopped && batch->running < room && batch->next < batch->plan.count)
			start_next(batch);
		if (batch->running && (batch->next == before || batch->running == room ||
				       batch->next == batch->plan.count))
			wait_for_one(batch);
	}
	process_count = 0;
	free(processes);
	processes = NULL;
}

static void sum_up(const struct batch *batch)
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

int batch_run(const struct options *options, batch_convert_fn *convert)
{
	struct batch batch = { .run = { .options = options, .convert = convert } };
	struct error err = { 0 };

	if (batch_plan_make(&batch.plan, options, &err) < 0) {
		fprintf(stderr, "ptrace2ftf: %s\n", err.text);
		return EXIT_USAGE;
	}
	batch.run.keep_messages = batch.plan.count > 1;
	batch.run.stamped = options_is_batch(options) || options->skip_existing;
	run_all(&batch);
	if (!options->quiet && batch.plan.count > 1)
		sum_up(&batch);
	batch_plan_release(&batch.plan);
	return stopped ? 128 + stopped : batch.worst;
}
