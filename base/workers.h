/* SPDX-License-Identifier: MIT */
/*
 * A thread pool: runs jobs in the order in which they are submitted, and one ordered
 * stage that consumes their results.
 *
 * The stage runs in one thread at a time, the caller's among them.  The thread that ran the job
 * that the stage needs next is preferred, because the job's results are in its CPU's cache; another
 * thread runs the stage only if it has no job to run.  No thread sleeps while there is work.
 *
 * Only the thread that opened the workers may call the functions, except as marked: "also in the
 * stage" allows the ordered stage, "also in a job" jobs.
 */
#pragma once

#include "base/common.h"

struct worker;
struct workers;

enum worker_job_state { JOB_IDLE = 0, JOB_QUEUED, JOB_RUNNING, JOB_DONE };

/* Memory of one thread that stays from job to job.  Zeroed at first; a job fills it. */
struct worker_scratch {
	void *data;                  /* owned by the thread */
	void (*release)(void *data); /* called by workers_close() */
};

/* Embedded in the struct that the job works on; borrowed by the workers until the job is done. */
struct worker_job {
	/* `scratch` belongs to the thread, and to the job during the call. */
	void (*run)(struct worker_job *job, struct worker_scratch *scratch);
	/* Private to the workers: */
	enum worker_job_state state;
	const struct worker *runner; /* thread that ran it last */
	unsigned running; /* threads: 2 if the job was submitted again just before its end */
	struct worker_job *next;
};

/*
 * The ordered stage: the part of the work that is done in order.  Returns true if workers_ready()
 * returned false: any thread calls it again when that job is done; false at the end.
 */
typedef bool workers_stage(void *context);

/*
 * Returns a pool of up to `count` threads, the caller's included, owned by the caller;
 * NULL if `count` is above 1 and no thread can be started.
 */
struct workers *workers_open(unsigned count);

/* Returns the number of threads, the caller's included. */
unsigned workers_count(const struct workers *workers);

/* Queued jobs do not run; their memory is released after this.  NULL is allowed. */
void workers_close(struct workers *workers);

/* Run the stage to its end, with jobs in parallel. */
void workers_run(struct workers *workers, workers_stage *stage, void *context);

/* Queue a job.  Also in the stage. */
void workers_submit(struct workers *workers, struct worker_job *job);

/*
 * Queue a low-priority job: idle threads run it, or its submitter does
 * (workers_help()).  Also in the stage and in a job, in the job itself as its last action.
 */
void workers_offer(struct workers *workers, struct worker_job *job);

/*
 * Returns whether a submitted job is done.  In the stage, false means that the stage should return
 * true until the job is done.  Outside of the stage, it runs the job, or other jobs until the job
 * is done, and returns true.
 */
bool workers_ready(struct workers *workers, struct worker_job *job);

/* Run a job here if no thread has begun it.  Returns whether it did.  Also in the stage and in a
 * job. */
bool workers_help(struct workers *workers, struct worker_job *job);

/* Returns whether a thread sleeps.  Also in the stage and in a job. */
bool workers_idle(struct workers *workers);

/*
 * Take a job out of the queue, or wait for its end if it runs.  An idle job is allowed.
 * Also in the stage and in a job, but not in itself.
 */
void workers_cancel(struct workers *workers, struct worker_job *job);
