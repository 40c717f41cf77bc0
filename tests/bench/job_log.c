/* SPDX-License-Identifier: MIT */
/*
 * Linked into ptrace2ftf to log its jobs; it wraps the functions of base/workers.h (ld --wrap).
 * Lines "EVENT JOB KIND THREAD NS" go to the file JOB_LOG, in the order of time; KIND is the job's
 * function and NS the CPU time of THREAD.  simulate.py reads them.
 */
#include <inttypes.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "base/workers.h"

#define EVENTS_MAX ((size_t)1 << 20)
#define JOBS_MAX   4096

/* Pairs of begin and end in one thread.  EVENT_NEEDS: workers_ready() is called for the job. */
enum job_event_kind { EVENT_JOB, EVENT_JOB_END, EVENT_STAGE, EVENT_NEEDS, EVENT_STAGE_END };

struct job_event {
	enum job_event_kind event;
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

typedef void run_fn(struct worker_job *job, struct worker_scratch *scratch);

/* Jobs and their original functions; memory of jobs is reused. */
static struct logged_job {
	const struct worker_job *job;
	run_fn *run;
} jobs[JOBS_MAX];
static size_t job_count;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static run_fn *own_function(const struct worker_job *job)
{
	run_fn *run = job->run;

	pthread_mutex_lock(&lock);
	for (size_t i = 0; i < job_count && run == job->run; i++)
		if (jobs[i].job == job)
			run = jobs[i].run;
	pthread_mutex_unlock(&lock);
	return run;
}

static void log_event(enum job_event_kind event, const struct worker_job *job)
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
			.kind = job ? (uintptr_t)own_function(job) : 0,
			.ns = (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec,
		};
}

static void run_logged(struct worker_job *job, struct worker_scratch *scratch)
{
	log_event(EVENT_JOB, job);
	own_function(job)(job, scratch);
	log_event(EVENT_JOB_END, job);
}

static void watch_job(struct worker_job *job)
{
	size_t i = 0;

	if (!out || job->run == run_logged)
		return;
	pthread_mutex_lock(&lock);
	while (i < job_count && jobs[i].job != job)
		i++;
	if (i == JOBS_MAX)
		abort();
	job_count += i == job_count;
	jobs[i] = (struct logged_job){ job, job->run };
	job->run = run_logged;
	pthread_mutex_unlock(&lock);
}

void __real_workers_submit(struct workers *workers, struct worker_job *job);
void __wrap_workers_submit(struct workers *workers, struct worker_job *job);
void __real_workers_offer(struct workers *workers, struct worker_job *job);
void __wrap_workers_offer(struct workers *workers, struct worker_job *job);
bool __real_workers_ready(struct workers *workers, struct worker_job *job);
bool __wrap_workers_ready(struct workers *workers, struct worker_job *job);
bool __real_workers_idle(struct workers *workers);
bool __wrap_workers_idle(struct workers *workers);
void __real_workers_run(struct workers *workers, workers_stage *stage, void *context);
void __wrap_workers_run(struct workers *workers, workers_stage *stage, void *context);

void __wrap_workers_submit(struct workers *workers, struct worker_job *job)
{
	watch_job(job);
	__real_workers_submit(workers, job);
}

void __wrap_workers_offer(struct workers *workers, struct worker_job *job)
{
	watch_job(job);
	__real_workers_offer(workers, job);
}

bool __wrap_workers_ready(struct workers *workers, struct worker_job *job)
{
	if (out)
		log_event(EVENT_NEEDS, job);
	return __real_workers_ready(workers, job);
}

/* Pretend that a thread is idle, so that the stage passes slices on instead of sorting them. */
bool __wrap_workers_idle(struct workers *workers)
{
	return out || __real_workers_idle(workers);
}

static workers_stage *logged_stage;

static bool run_stage_logged(void *context)
{
	bool more;

	log_event(EVENT_STAGE, NULL);
	more = logged_stage(context);
	log_event(EVENT_STAGE_END, NULL);
	return more;
}

void __wrap_workers_run(struct workers *workers, workers_stage *stage, void *context)
{
	logged_stage = stage;
	__real_workers_run(workers, out ? run_stage_logged : stage, context);
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
	atexit(write_log);
}
