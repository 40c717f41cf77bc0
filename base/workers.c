/* SPDX-License-Identifier: MIT */
/* The thread pool: one lock, two queues (submitted, offered), and a stage that moves between
 * threads. */
#include "base/workers.h"

#include <signal.h>

/* Bytes, as for a main thread: demanglers recurse, and musl's threads have 128 KiB. */
#define STACK ((size_t)8 * 1024 * 1024)

struct worker {
	struct workers *workers;
	pthread_t thread;
	struct worker_scratch scratch; /* owned */
};

struct workers {
	pthread_mutex_t lock;
	pthread_cond_t changed; /* there may be work */
	pthread_cond_t done;    /* a job ended while a thread waited for one */
	struct worker *members; /* owned; the first is the caller */
	unsigned count;
	/* Under the lock: */
	struct worker_job *first, **last; /* submitted jobs */
	struct worker_job *offered;       /* low-priority jobs, the newest first */
	unsigned sleeping, waiting;       /* threads: for work, for the end of a job */
	workers_stage *stage;             /* NULL: workers_run() is not running */
	void *context;                    /* the stage's context; borrowed */
	struct worker *stage_runner;      /* NULL: the stage may run; without a stage the caller */
	struct worker_job *awaited;       /* job that the stage needs next; may be NULL */
	bool closing;
};

/* This thread's worker, in the pool that it opened last or works in. */
static _Thread_local struct worker *self;

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

static void wake_one(struct workers *workers)
{
	if (workers->sleeping)
		pthread_cond_signal(&workers->changed);
}

/* Returns NULL if the list is empty. */
static struct worker_job *next_job(const struct workers *workers)
{
	return workers->first ? workers->first : workers->offered;
}

/* Run a queued job, with the lock released meanwhile. */
static void run_job(struct worker *worker, struct worker_job *job)
{
	struct workers *workers = worker->workers;

	unqueue(workers, job);
	job->state = JOB_RUNNING;
	job->running++;
	if (!next_job(workers))
		wake_one(workers); /* any thread may run the stage now */
	pthread_mutex_unlock(&workers->lock);
	job->run(job, &worker->scratch);
	pthread_mutex_lock(&workers->lock);
	job->runner = worker;
	job->running--;
	/* Otherwise it was submitted again. */
	if (job->state == JOB_RUNNING && !job->running)
		job->state = JOB_DONE;
	if (workers->waiting)
		pthread_cond_broadcast(&workers->done);
}

/* ---- The ordered stage, with the lock held ------------------------------- */

/* Returns whether the stage should consume the job in this thread (workers.h). */
static bool may_consume(const struct workers *workers, const struct worker_job *job,
			const struct worker *worker)
{
	return job->state == JOB_DONE && (job->runner == worker || !next_job(workers));
}

/* Work until the pool closes or, in the caller's thread, until the stage has ended. */
static void work(struct worker *worker)
{
	struct workers *workers = worker->workers;
	bool is_caller = worker == workers->members;
	HOLD_LOCK(&workers->lock);

	while (is_caller ? workers->stage != NULL : !workers->closing) {
		if (workers->stage && !workers->stage_runner &&
		    (!workers->awaited || may_consume(workers, workers->awaited, worker))) {
			bool more;

			workers->stage_runner = worker;
			workers->awaited = NULL;
			pthread_mutex_unlock(&workers->lock);
			more = workers->stage(workers->context);
			pthread_mutex_lock(&workers->lock);
			workers->stage_runner = NULL;
			if (more) {
				wake_one(workers);
				continue;
			}
			workers->stage = NULL;
			workers->stage_runner = workers->members;
			/*
			 * The caller must wake up; pthread_cond_signal() might wake another thread.
			 */
			pthread_cond_broadcast(&workers->changed);
		} else if (next_job(workers)) {
			run_job(worker, next_job(workers));
		} else {
			workers->sleeping++;
			pthread_cond_wait(&workers->changed, &workers->lock);
			workers->sleeping--;
		}
	}
}

static void *start_worker(void *context)
{
	self = context;
	work(self);
	return NULL;
}

/* ---- The caller ---------------------------------------------------------- */

static void start_threads(struct workers *workers, unsigned count)
{
	pthread_attr_t attributes;
	sigset_t all, before;

	pthread_attr_init(&attributes);
	pthread_attr_setstacksize(&attributes, STACK);
	/* Block asynchronous signals in worker threads; only the main thread handles them. */
	sigfillset(&all);
	sigdelset(&all, SIGBUS);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	for (workers->count = 1; workers->count < count; workers->count++) {
		struct worker *worker = &workers->members[workers->count];

		worker->workers = workers;
		if (pthread_create(&worker->thread, &attributes, start_worker, worker) != 0)
			break;
	}
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	pthread_attr_destroy(&attributes);
}

struct workers *workers_open(unsigned count)
{
	struct workers *workers = alloc_zeroed(1, sizeof(*workers));

	pthread_mutex_init(&workers->lock, NULL);
	pthread_cond_init(&workers->changed, NULL);
	pthread_cond_init(&workers->done, NULL);
	workers->last = &workers->first;
	workers->members = alloc_zeroed(count ? count : 1, sizeof(*workers->members));
	workers->members->workers = workers;
	self = workers->members;
	workers->stage_runner = workers->members;
	start_threads(workers, count);
	if (workers->count > 1 || count <= 1)
		return workers;
	workers_close(workers);
	return NULL;
}

unsigned workers_count(const struct workers *workers)
{
	return workers->count;
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
	for (unsigned i = 0; i < workers->count; i++) {
		struct worker_scratch *scratch = &workers->members[i].scratch;

		if (scratch->data)
			scratch->release(scratch->data);
	}
	pthread_cond_destroy(&workers->changed);
	pthread_cond_destroy(&workers->done);
	pthread_mutex_destroy(&workers->lock);
	free(workers->members);
	free(workers);
}

void workers_run(struct workers *workers, workers_stage *stage, void *context)
{
	pthread_mutex_lock(&workers->lock);
	workers->stage = stage;
	workers->context = context;
	workers->stage_runner = NULL;
	workers->awaited = NULL;
	pthread_mutex_unlock(&workers->lock);
	work(workers->members);
}

void workers_submit(struct workers *workers, struct worker_job *job)
{
	HOLD_LOCK(&workers->lock);

	job->state = JOB_QUEUED;
	job->next = NULL;
	*workers->last = job;
	workers->last = &job->next;
	wake_one(workers);
}

void workers_offer(struct workers *workers, struct worker_job *job)
{
	HOLD_LOCK(&workers->lock);

	job->state = JOB_QUEUED;
	job->next = workers->offered;
	workers->offered = job;
	wake_one(workers);
}

static void wait_until_done(struct workers *workers, const struct worker_job *job)
{
	workers->waiting++;
	while (job->running)
		pthread_cond_wait(&workers->done, &workers->lock);
	workers->waiting--;
}

bool workers_ready(struct workers *workers, struct worker_job *job)
{
	bool ready = true;
	HOLD_LOCK(&workers->lock);

	if (workers->stage) {
		ready = may_consume(workers, job, workers->stage_runner);
		workers->awaited = ready ? NULL : job;
	} else {
		while (job->state != JOB_DONE && (job->state == JOB_QUEUED || next_job(workers)))
			run_job(workers->stage_runner,
				job->state == JOB_QUEUED ? job : next_job(workers));
		wait_until_done(workers, job);
	}
	return ready;
}

bool workers_help(struct workers *workers, struct worker_job *job)
{
	HOLD_LOCK(&workers->lock);

	if (job->state != JOB_QUEUED)
		return false;
	run_job(self, job);
	return true;
}

bool workers_idle(struct workers *workers)
{
	HOLD_LOCK(&workers->lock);

	return workers->sleeping;
}

void workers_cancel(struct workers *workers, struct worker_job *job)
{
	HOLD_LOCK(&workers->lock);

	if (job->state == JOB_QUEUED)
		unqueue(workers, job);
	wait_until_done(workers, job);
}
