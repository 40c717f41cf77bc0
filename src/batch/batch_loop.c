/* SPDX-License-Identifier: MIT */
/* Starts processes and waits for them. */
#include "src/batch/batch.h"

#include <sched.h>
#include <signal.h>
#include <sys/wait.h>

#include "base/io/interrupt.h"

/* ---- Signals ------------------------------------------------------------- */

/* Read by the signal handler, so batch_process_start() blocks signals. */
static volatile sig_atomic_t last_signal; /* 0 if absent */
static struct batch_process *watched;     /* borrowed */
static volatile size_t watched_count;

/* A terminal sends its signals to all processes; forward signals of other senders. */
static void on_signal(int number, siginfo_t *info, void *context)
{
	(void)context;
	last_signal = number;
	for (size_t i = 0; info->si_code <= 0 && i < watched_count; i++)
		if (watched[i].pid > 0)
			kill(watched[i].pid, number);
}

/* From now on SIGINT, SIGTERM and SIGHUP are passed on to `processes` (borrowed). */
static void signals_watch(struct batch_process *processes, size_t count)
{
	static const int signals[] = { SIGINT, SIGTERM, SIGHUP };
	/* Without SA_RESTART, so that wait4() returns. */
	struct sigaction action = { .sa_sigaction = on_signal, .sa_flags = SA_SIGINFO }, old;

	watched = processes;
	watched_count = count;
	for (size_t i = 0; i < COUNT_OF(signals); i++)
		if (sigaction(signals[i], NULL, &old) == 0 && old.sa_handler != SIG_IGN)
			sigaction(signals[i], &action, NULL);
}

/* No process is left; the signal handlers stay.  Returns the last signal, or 0. */
static int signals_end(void)
{
	watched_count = 0;
	return last_signal;
}

/* ---- One process --------------------------------------------------------- */

int batch_one_run(const struct batch_run *run, const struct batch_job *job, json_t **report,
		  struct error *err)
{
	struct batch_process process = { 0 };
	struct batch_end end = { 0 };
	int status = 0, stopped;

	*report = NULL;
	signals_watch(&process, 1);
	if (batch_process_start(&process, run, job, err) < 0) {
		signals_end();
		return EXIT_FAILED;
	}
	while (waitpid(process.pid, &status, 0) < 0 && errno == EINTR)
		;
	stopped = signals_end();
	output_watch_signals();
	if (stopped)
		return 128 + stopped;
	if (WIFEXITED(status) && WEXITSTATUS(status) == EXIT_INTERRUPTED)
		return EXIT_INTERRUPTED;
	batch_process_finish(&process, status, &end);
	*report = end.report;
	return end.status;
}

static void end_job(struct batch_loop *loop, const struct batch_job *job,
		    const struct batch_end *end)
{
	if (end->status != EXIT_WHOLE && loop->worst != EXIT_FAILED)
		loop->worst = end->status;
	loop->finished(loop->context, job, end);
	json_decref(end->report);
}

static struct batch_process *find_free_process(const struct batch_loop *loop)
{
	for (size_t i = 0; i < loop->process_count; i++)
		if (loop->processes[i].pid == 0)
			return &loop->processes[i];
	return NULL;
}

static void start_next(struct batch_loop *loop)
{
	const struct batch_job *job = &loop->plan->jobs[loop->begun];
	struct error err = { 0 };
	int status = batch_process_start(find_free_process(loop), &loop->run, job, &err);

	if (status == 0) {
		loop->running++;
	} else if (loop->running) {
		return; /* retried when another process ends */
	} else {
		struct batch_end end = { .status = EXIT_FAILED, .report = json_object() };

		message_error(&err);
		json_object_set_new(end.report, "error", batch_line_text(err.text));
		end_job(loop, job, &end);
	}
	loop->begun++;
}

int batch_loop_run(struct batch_loop *loop)
{
	size_t count = loop->plan->count;
	cpu_set_t set;
	size_t processors =
		sched_getaffinity(0, sizeof(set), &set) == 0 ? (size_t)CPU_COUNT(&set) : 1;
	size_t room = loop->run.options->jobs ? loop->run.options->jobs : processors;
	int stopped;

	room = MIN(room, count);
	loop->processes = alloc_zeroed(room, sizeof(*loop->processes));
	loop->process_count = room;
	if (room > 1) /* they share the processors */
		loop->run.threads = (unsigned)MAX(processors / room, 1);
	signals_watch(loop->processes, room);
	while (loop->running || (loop->begun < count && !last_signal)) {
		size_t before = loop->begun;

		if (!last_signal && loop->running < room && loop->begun < count)
			start_next(loop);
		if (loop->running &&
		    (loop->begun == before || loop->running == room || loop->begun == count)) {
			struct batch_end end = { 0 };
			int status;
			pid_t pid = wait4(-1, &status, 0, &end.usage);

			for (size_t i = 0; pid > 0 && i < loop->process_count; i++) {
				struct batch_process *process = &loop->processes[i];

				if (process->pid != pid)
					continue;
				batch_process_finish(process, status, &end);
				loop->running--;
				end_job(loop, process->job, &end);
			}
			if (pid < 0 && errno != EINTR)
				loop->running = 0; /* impossible: no process is left */
		}
	}
	stopped = signals_end();
	free(loop->processes);
	return stopped;
}
