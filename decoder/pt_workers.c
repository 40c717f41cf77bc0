/* SPDX-License-Identifier: MIT */
#include "decoder/pt_workers.h"

#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/alloc.h"
#include "decoder/pt_flow.h"

struct pt_workers {
	pthread_mutex_t lock;
	pthread_cond_t queued, done;
	pthread_t *threads; /* owned */
	unsigned count, stream_count;
	/* Under the lock: */
	struct pt_job *first, **last; /* that are queued */
	bool closing;
	unsigned delay, random;
};

/* Returns the next job, or NULL when there will be none; *delay is how long to wait. */
static struct pt_job *take(struct pt_workers *workers, unsigned *delay)
{
	struct pt_job *job;

	pthread_mutex_lock(&workers->lock);
	while (!workers->first && !workers->closing)
		pthread_cond_wait(&workers->queued, &workers->lock);
	job = workers->first;
	if (job) {
		workers->first = job->next;
		if (!workers->first)
			workers->last = &workers->first;
		job->state = PT_JOB_RUNNING;
	}
	/* A generator of C's standard (7.22.2.1, rand). */
	workers->random = workers->random * 1103515245 + 12345;
	*delay = workers->delay ? (workers->random >> 16) % workers->delay : 0;
	pthread_mutex_unlock(&workers->lock);
	return job;
}

static void *run(void *context)
{
	struct pt_workers *workers = context;
	struct pt_flow *flow = pt_flow_spare(UINT64_MAX);
	struct pt_job *job;
	unsigned delay;

	while ((job = take(workers, &delay))) {
		if (delay)
			usleep(delay);
		job->run(job, flow);
		pthread_mutex_lock(&workers->lock);
		job->state = PT_JOB_DONE;
		pthread_cond_signal(&workers->done);
		pthread_mutex_unlock(&workers->lock);
	}
	pt_flow_free(flow);
	return NULL;
}

struct pt_workers *pt_workers_open(unsigned count, unsigned stream_count)
{
	struct pt_workers *workers = alloc_zeroed(1, sizeof(*workers));
	sigset_t all, before;

	pthread_mutex_init(&workers->lock, NULL);
	pthread_cond_init(&workers->queued, NULL);
	pthread_cond_init(&workers->done, NULL);
	workers->last = &workers->first;
	workers->stream_count = stream_count ? stream_count : 1;
	workers->threads = alloc_zeroed(count, sizeof(*workers->threads));
	/* Signals are for the threads of the program, but for those of what a thread itself does. */
	sigfillset(&all);
	sigdelset(&all, SIGBUS);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	while (workers->count < count &&
	       pthread_create(&workers->threads[workers->count], NULL, run, workers) == 0)
		workers->count++;
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	if (workers->count)
		return workers;
	pt_workers_close(workers);
	return NULL;
}

unsigned pt_workers_ahead(const struct pt_workers *workers)
{
	unsigned ahead = (workers->count + 2 + workers->stream_count - 1) / workers->stream_count;

	return ahead < 2 ? 2 : ahead;
}

void pt_workers_close(struct pt_workers *workers)
{
	if (!workers)
		return;
	pthread_mutex_lock(&workers->lock);
	workers->closing = true;
	pthread_cond_broadcast(&workers->queued);
	pthread_mutex_unlock(&workers->lock);
	for (unsigned i = 0; i < workers->count; i++)
		pthread_join(workers->threads[i], NULL);
	pthread_cond_destroy(&workers->queued);
	pthread_cond_destroy(&workers->done);
	pthread_mutex_destroy(&workers->lock);
	free(workers->threads);
	free(workers);
}

void pt_workers_submit(struct pt_workers *workers, struct pt_job *job)
{
	pthread_mutex_lock(&workers->lock);
	job->state = PT_JOB_QUEUED;
	job->next = NULL;
	*workers->last = job;
	workers->last = &job->next;
	pthread_cond_signal(&workers->queued);
	pthread_mutex_unlock(&workers->lock);
}

void pt_workers_wait(struct pt_workers *workers, struct pt_job *job)
{
	pthread_mutex_lock(&workers->lock);
	while (job->state != PT_JOB_DONE)
		pthread_cond_wait(&workers->done, &workers->lock);
	pthread_mutex_unlock(&workers->lock);
}

static void unqueue(struct pt_workers *workers, struct pt_job *job)
{
	struct pt_job **link = &workers->first;

	while (*link != job)
		link = &(*link)->next;
	*link = job->next;
	if (!job->next)
		workers->last = link;
	job->state = PT_JOB_IDLE;
}

void pt_workers_cancel(struct pt_workers *workers, struct pt_job *job)
{
	pthread_mutex_lock(&workers->lock);
	if (job->state == PT_JOB_QUEUED)
		unqueue(workers, job);
	while (job->state == PT_JOB_RUNNING)
		pthread_cond_wait(&workers->done, &workers->lock);
	pthread_mutex_unlock(&workers->lock);
}

void pt_workers_delay(struct pt_workers *workers, unsigned us)
{
	pthread_mutex_lock(&workers->lock);
	workers->delay = us;
	pthread_mutex_unlock(&workers->lock);
}
