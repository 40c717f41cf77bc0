/* SPDX-License-Identifier: MIT */
/*
 * Part of a ptrace2ftf that logs its jobs: lines "EVENT JOB KIND THREAD NS" in the file that
 * JOB_LOG names, with the job's function as its kind and the CPU time of the thread that the event
 * happened in, in the order of the clock.
 * simulate.py reads them.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "base/workers.h"

#define EVENTS_MAX ((size_t)1 << 20)

struct job_event {
	enum workers_event event;
	unsigned thread;
	const struct worker_job *job;
	uintptr_t kind;
	uint64_t ns;
};

static struct job_event *events;
static size_t event_count;
static unsigned thread_count;
static FILE *out;                /* opened before the sandbox forbids it */
static __thread unsigned thread; /* from 1 on */

static void log_event(enum workers_event event, const struct worker_job *job)
{
	size_t i = __atomic_fetch_add(&event_count, 1, __ATOMIC_SEQ_CST);
	struct timespec now;

	if (!thread)
		thread = __atomic_add_fetch(&thread_count, 1, __ATOMIC_SEQ_CST);
	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
	if (i < EVENTS_MAX)
		events[i] = (struct job_event){
			.event = event,
			.thread = thread,
			.job = job,
			.kind = job ? (uintptr_t)job->run : 0,
			.ns = (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec,
		};
}

static void write_log(void)
{
	static const char *const names[] = { "job", "job-end", "stage", "needs", "stage-end" };

	for (size_t i = 0; i < event_count && i < EVENTS_MAX; i++)
		fprintf(out, "%s %p %" PRIxPTR " %u %" PRIu64 "\n", names[events[i].event],
			(const void *)events[i].job, events[i].kind, events[i].thread,
			events[i].ns);
	fclose(out);
}

static void __attribute__((constructor)) watch(void)
{
	if (!getenv("JOB_LOG"))
		return;
	out = fopen(getenv("JOB_LOG"), "w");
	events = calloc(EVENTS_MAX, sizeof(*events));
	if (!out || !events)
		abort();
	workers_watch(log_event);
	atexit(write_log);
}
