/* SPDX-License-Identifier: MIT */
/*
 * Threads that decode segments of streams, in the order in which they are asked
 * to, and take turns at what is to be done in order with the outcome.
 *
 * There are as many threads as there is to be done at a time, the caller's among
 * them, and none waits while there is something to do.  A thread that has decoded a
 * segment is the one to go on with it, when its turn has come: what it has just
 * written is in its CPU's cache then.
 *
 * All functions but those for a turn are for one thread, the one that opened the
 * workers.
 */
#ifndef BASE_WORKERS_H
#define BASE_WORKERS_H

#include <stdbool.h>

struct pt_flow;
struct worker;
struct workers;

enum worker_job_state { JOB_IDLE = 0, JOB_QUEUED, JOB_RUNNING, JOB_DONE };

/* Something to do, part of what it is done for. */
struct worker_job {
	/* `flow` is the thread's own, for the time of the call. */
	void (*run)(struct worker_job *job, struct pt_flow *flow);
	/* Of the workers: */
	enum worker_job_state state;
	const struct worker *by; /* who did it */
	unsigned doing; /* threads: above 1 when it was submitted again just before its end */
	struct worker_job *next;
};

/* What is done in order, a turn at a time, each by any thread. */
struct ordered_stage {
	/*
	 * Returns true when workers_ready() said no: another turn is to go on from
	 * there; false at the end.
	 */
	bool (*take)(struct ordered_stage *turns);
};

/*
 * Returns workers of up to `count` threads, that of the caller counted, for so many
 * streams, owned by the caller; NULL if `count` is above 1 and no thread can be
 * started.
 */
struct workers *workers_open(unsigned count, unsigned stream_count);

/*
 * Returns how many segments of each stream are under way at most: one is given
 * out, and over all streams there are more than threads.
 */
unsigned workers_ahead(const struct workers *workers);

/* All jobs are to be done or cancelled.  NULL is allowed. */
void workers_close(struct workers *workers);

/* Take turns, and do jobs, until there are no more turns. */
void workers_run(struct workers *workers, struct ordered_stage *turns);

/* Let a job, which is borrowed, be done.  Also in a turn. */
void workers_submit(struct workers *workers, struct worker_job *job);

/*
 * The same, for who has nothing else to do: whoever submits it would do it as well
 * (workers_help()).  A job may be submitted so when all but its return is done.
 */
void workers_offer(struct workers *workers, struct worker_job *job);

/*
 * Whether a job that was submitted is done.  In a turn it returns false if it is
 * better to end the turn until then; else it does the job itself, or others until it
 * is done, and returns true.
 */
bool workers_ready(struct workers *workers, struct worker_job *job);

/* Do a job here, if nobody has begun it.  Returns whether.  Also in a turn. */
bool workers_help(struct workers *workers, struct worker_job *job);

/* Returns whether a thread has nothing to do.  Also in a turn. */
bool workers_idle(struct workers *workers);

/* Wait until a job is not under way; it may stay undone.  An idle job is allowed. */
void workers_cancel(struct workers *workers, struct worker_job *job);

/* For tests: let each job wait for some time up to so many us, another each time. */
void workers_delay(struct workers *workers, unsigned us);

#endif
