/* SPDX-License-Identifier: MIT */
#include "decoder/engine/fast/workers.h"

#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/alloc.h"
#include "decoder/engine/fast/pt_flow.h"

struct worker {
	struct workers *workers;
	pthread_t thread;
	struct pt_flow *flow; /* owned */
};

struct workers {
	pthread_mutex_t lock;
	pthread_cond_t changed; /* there is something to do */
	pthread_cond_t done;    /* a job is, that somebody waits for */
	struct worker *members; /* owned; the first is the caller */
	unsigned count, stream_count;
	/* Under the lock: */
	struct worker_job *first, **last; /* that are queued */
	struct worker_job *offered;       /* the same, for who has nothing else to do */
	unsigned sleeping, waiting;       /* threads: for something to do, for a job */
	struct ordered_stage *turns;      /* borrowed; NULL: none are to be taken */
	struct worker *holder;      /* who is in a turn; between turns NULL, else the caller */
	struct worker_job *awaited; /* by the next turn; NULL: nothing */
	bool closing;
	unsigned delay, random;
};

/* ---- Jobs, with the lock held -------------------------------------------- */

static void unqueue(struct workers *workers, struct worker_job *job)
{
	struct worker_job **link = &workers->first;

	while (*link && *link != job)
		link = &(*link)->next;
	if (!*link) {
		for (link = &workers->offered; *link != job;)
			link = &(*link)->next;
	} else if (!job->next) {
		workers->last = link;
	}
	*link = job->next;
	job->state = JOB_IDLE;
}

static unsigned next_delay(struct workers *workers)
{
	/* A generator of C's standard (7.22.2.1, rand). */
	workers->random = workers->random * 1103515245 + 12345;
	return workers->delay ? (workers->random >> 16) % workers->delay : 0;
}

static void wake(struct workers *workers)
{
	if (workers->sleeping)
		pthread_cond_signal(&workers->changed);
}

/* Returns NULL if there is none. */
static struct worker_job *next_job(const struct workers *workers)
{
	return workers->first ? workers->first : workers->offered;
}

/* Do a queued job; the lock is not held meanwhile. */
static void perform(struct worker *worker, struct worker_job *job)
{
	struct workers *workers = worker->workers;
	unsigned delay = next_delay(workers);

	unqueue(workers, job);
	job->state = JOB_RUNNING;
	job->doing++;
	if (!next_job(workers))
		wake(workers); /* for a turn that is anybody's now */
	pthread_mutex_unlock(&workers->lock);
	if (delay)
		usleep(delay);
	if (!worker->flow)
		worker->flow = pt_flow_spare(UINT64_MAX);
	job->run(job, worker->flow);
	pthread_mutex_lock(&workers->lock);
	job->by = worker;
	job->doing--;
	/* Else it was submitted again. */
	if (job->state == JOB_RUNNING && !job->doing)
		job->state = JOB_DONE;
	if (workers->waiting)
		pthread_cond_broadcast(&workers->done);
}

/* ---- Turns, with the lock held ------------------------------------------- */

/* Who decoded what is next goes on with it, unless others have nothing else to do. */
static bool is_for(const struct workers *workers, const struct worker_job *job,
		   const struct worker *worker)
{
	return job->state == JOB_DONE && (job->by == worker || !next_job(workers));
}

static bool has_turn(const struct workers *workers, const struct worker *worker)
{
	return workers->turns && !workers->holder &&
	       (!workers->awaited || is_for(workers, workers->awaited, worker));
}

static void take_turn(struct worker *worker)
{
	struct workers *workers = worker->workers;
	bool more;

	workers->holder = worker;
	workers->awaited = NULL;
	pthread_mutex_unlock(&workers->lock);
	more = workers->turns->take(workers->turns);
	pthread_mutex_lock(&workers->lock);
	workers->holder = NULL;
	if (more) {
		wake(workers);
		return;
	}
	workers->turns = NULL;
	workers->holder = workers->members;
	/* The caller is to go on; which thread a signal reaches is not known. */
	pthread_cond_broadcast(&workers->changed);
}

/* Work until there is nothing to do for good, or, for the caller, until there are no more turns. */
static void work(struct worker *worker)
{
	struct workers *workers = worker->workers;
	bool is_caller = worker == workers->members;

	pthread_mutex_lock(&workers->lock);
	while (is_caller ? workers->turns != NULL : !workers->closing) {
		if (has_turn(workers, worker)) {
			take_turn(worker);
		} else if (next_job(workers)) {
			perform(worker, next_job(workers));
		} else {
			workers->sleeping++;
			pthread_cond_wait(&workers->changed, &workers->lock);
			workers->sleeping--;
		}
	}
	pthread_mutex_unlock(&workers->lock);
}

static void *run(void *context)
{
	work(context);
	return NULL;
}

/* ---- The caller ---------------------------------------------------------- */

static void start(struct workers *workers, unsigned count)
{
	sigset_t all, before;

	/* Signals are for the threads of the program, but for those of what a thread itself does.
	 */
	sigfillset(&all);
	sigdelset(&all, SIGBUS);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	for (workers->count = 1; workers->count < count; workers->count++) {
		struct worker *worker = &workers->members[workers->count];

		worker->workers = workers;
		if (pthread_create(&worker->thread, NULL, run, worker) != 0)
			break;
	}
	pthread_sigmask(SIG_SETMASK, &before, NULL);
}

struct workers *workers_open(unsigned count, unsigned stream_count)
{
	struct workers *workers = alloc_zeroed(1, sizeof(*workers));

	pthread_mutex_init(&workers->lock, NULL);
	pthread_cond_init(&workers->changed, NULL);
	pthread_cond_init(&workers->done, NULL);
	workers->last = &workers->first;
	workers->stream_count = stream_count ? stream_count : 1;
	workers->members = alloc_zeroed(count ? count : 1, sizeof(*workers->members));
	workers->members->workers = workers;
	workers->holder = workers->members;
	start(workers, count);
	if (workers->count > 1 || count <= 1)
		return workers;
	workers_close(workers);
	return NULL;
}

unsigned workers_ahead(const struct workers *workers)
{
	unsigned ahead = (workers->count + 2 + workers->stream_count - 1) / workers->stream_count;

	return ahead < 2 ? 2 : ahead;
}

void workers_close(struct workers *workers)
{
	if (!workers)
		return;
	pthread_mutex_lock(&workers->lock);
	workers->closing = true;
	pthread_cond_broadcast(&workers->changed);
	pthread_mutex_unlock(&workers->lock);
	for (unsigned i = 1; i < workers->count; i++)
		pthread_join(workers->members[i].thread, NULL);
	for (unsigned i = 0; i < workers->count; i++)
		pt_flow_free(workers->members[i].flow);
	pthread_cond_destroy(&workers->changed);
	pthread_cond_destroy(&workers->done);
	pthread_mutex_destroy(&workers->lock);
	free(workers->members);
	free(workers);
}

void workers_run(struct workers *workers, struct ordered_stage *turns)
{
	pthread_mutex_lock(&workers->lock);
	workers->turns = turns;
	workers->holder = NULL;
	workers->awaited = NULL;
	pthread_mutex_unlock(&workers->lock);
	work(workers->members);
}

void workers_submit(struct workers *workers, struct worker_job *job)
{
	pthread_mutex_lock(&workers->lock);
	job->state = JOB_QUEUED;
	job->next = NULL;
	*workers->last = job;
	workers->last = &job->next;
	wake(workers);
	pthread_mutex_unlock(&workers->lock);
}

void workers_offer(struct workers *workers, struct worker_job *job)
{
	pthread_mutex_lock(&workers->lock);
	job->state = JOB_QUEUED;
	job->next = workers->offered;
	workers->offered = job;
	wake(workers);
	pthread_mutex_unlock(&workers->lock);
}

static void wait_until_done(struct workers *workers, const struct worker_job *job)
{
	workers->waiting++;
	while (job->doing)
		pthread_cond_wait(&workers->done, &workers->lock);
	workers->waiting--;
}

bool workers_ready(struct workers *workers, struct worker_job *job)
{
	bool ready = true;

	pthread_mutex_lock(&workers->lock);
	if (workers->turns) {
		ready = is_for(workers, job, workers->holder);
		workers->awaited = ready ? NULL : job;
	} else {
		while (job->state != JOB_DONE && (job->state == JOB_QUEUED || next_job(workers)))
			perform(workers->holder,
				job->state == JOB_QUEUED ? job : next_job(workers));
		wait_until_done(workers, job);
	}
	pthread_mutex_unlock(&workers->lock);
	return ready;
}

bool workers_help(struct workers *workers, struct worker_job *job)
{
	bool queued;

	pthread_mutex_lock(&workers->lock);
	queued = job->state == JOB_QUEUED;
	if (queued)
		perform(workers->holder, job);
	pthread_mutex_unlock(&workers->lock);
	return queued;
}

bool workers_idle(struct workers *workers)
{
	bool idle;

	pthread_mutex_lock(&workers->lock);
	idle = workers->sleeping;
	pthread_mutex_unlock(&workers->lock);
	return idle;
}

void workers_cancel(struct workers *workers, struct worker_job *job)
{
	pthread_mutex_lock(&workers->lock);
	if (job->state == JOB_QUEUED)
		unqueue(workers, job);
	wait_until_done(workers, job);
	pthread_mutex_unlock(&workers->lock);
}

void workers_delay(struct workers *workers, unsigned us)
{
	pthread_mutex_lock(&workers->lock);
	workers->delay = us;
	pthread_mutex_unlock(&workers->lock);
}
