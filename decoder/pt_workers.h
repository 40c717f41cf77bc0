/* SPDX-License-Identifier: MIT */
/*
 * Threads that decode segments of streams, in the order in which they are asked
 * to.  All functions are for one thread, the one that opened them.
 */
#ifndef DECODER_PT_WORKERS_H
#define DECODER_PT_WORKERS_H

#include <stdbool.h>

struct pt_flow;
struct pt_workers;

enum pt_job_state { PT_JOB_IDLE = 0, PT_JOB_QUEUED, PT_JOB_RUNNING, PT_JOB_DONE };

/* Something to do, part of what it is done for. */
struct pt_job {
	/* `flow` is the thread's own, for the time of the call. */
	void (*run)(struct pt_job *job, struct pt_flow *flow);
	/* Of the workers: */
	enum pt_job_state state;
	struct pt_job *next;
};

/*
 * Returns workers of up to `count` threads for so many streams, owned by the
 * caller; NULL if none can be started.
 */
struct pt_workers *pt_workers_open(unsigned count, unsigned stream_count);

/*
 * Returns how many segments of each stream are under way at most: one is given
 * out, and over all streams there are more than threads.
 */
unsigned pt_workers_ahead(const struct pt_workers *workers);

/* All jobs are to be done or cancelled.  NULL is allowed. */
void pt_workers_close(struct pt_workers *workers);

/* Let a job, which is borrowed, be done. */
void pt_workers_submit(struct pt_workers *workers, struct pt_job *job);

/* Wait until a job that was submitted is done. */
void pt_workers_wait(struct pt_workers *workers, struct pt_job *job);

/* Wait until a job is not under way; it may stay undone.  An idle job is allowed. */
void pt_workers_cancel(struct pt_workers *workers, struct pt_job *job);

/* For tests: let each job wait for some time up to so many us, another each time. */
void pt_workers_delay(struct pt_workers *workers, unsigned us);

#endif
