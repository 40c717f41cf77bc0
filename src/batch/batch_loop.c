/* SPDX-License-Identifier: MIT */
/* Starts processes and waits for them. */
#include "src/batch/batch_loop.h"

#include <errno.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>

#include "base/alloc.h"
#include "base/message.h"
#include "src/batch/batch_line.h"
#include "src/batch/batch_signals.h"

struct batch_processes {
	struct batch_process *processes; /* owned */
	size_t count, running;
};

static void finish_unstarted(const struct batch_loop *loop, const struct batch_job *job,
			     const struct error *err)
{
	struct batch_end end = { .status = EXIT_FAILED, .report = json_object() };

	message_error(err);
	json_object_set_new(end.report, "error", batch_line_text(err->text));
	loop->finished(loop->context, job, &end);
	json_decref(end.report);
}

static struct batch_process *find_free_process(const struct batch_processes *all)
{
	for (size_t i = 0; i < all->count; i++)
		if (all->processes[i].pid == 0)
			return &all->processes[i];
	return NULL;
}

static void start_next(struct batch_loop *loop, struct batch_processes *all)
{
	const struct batch_job *job = &loop->plan->jobs[loop->begun];
	struct error err = { 0 };
	int status = batch_signals_start(find_free_process(all), &loop->run, job, &err);

	if (status == 0) {
		all->running++;
	} else if (all->running) {
		return; /* tried again after the end of another one */
	} else {
		finish_unstarted(loop, job, &err);
	}
	loop->begun++;
}

static void wait_for_process(const struct batch_loop *loop, struct batch_processes *all)
{
	struct batch_end end = { 0 };
	int status;
	pid_t pid = wait4(-1, &status, 0, &end.usage);

	for (size_t i = 0; pid > 0 && i < all->count; i++) {
		struct batch_process *process = &all->processes[i];

		if (process->pid != pid)
			continue;
		batch_process_finish(process, status, &end);
		all->running--;
		loop->finished(loop->context, process->job, &end);
		json_decref(end.report);
	}
	if (pid < 0 && errno != EINTR)
		all->running = 0; /* impossible: no process is left */
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

int batch_loop_run(struct batch_loop *loop)
{
	size_t count = loop->plan->count;
	size_t room = loop->run.options->jobs ? loop->run.options->jobs : count_processors();
	struct batch_processes all = { 0 };
	int stopped;

	room = room < count ? room : count;
	all.processes = alloc_zeroed(room, sizeof(*all.processes));
	all.count = room;
	loop->run.threads = threads_per_job(room);
	batch_signals_watch(all.processes, room);
	while (all.running || (loop->begun < count && !batch_signals_last())) {
		size_t before = loop->begun;

		if (!batch_signals_last() && all.running < room && loop->begun < count)
			start_next(loop, &all);
		if (all.running &&
		    (loop->begun == before || all.running == room || loop->begun == count))
			wait_for_process(loop, &all);
	}
	stopped = batch_signals_end();
	free(all.processes);
	return stopped;
}
