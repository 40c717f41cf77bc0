/* SPDX-License-Identifier: MIT */
/*
 * Runs of local jumps: paths within a function, which programs take again and again.
 *
 * For a reader that needs every jump, but not each as an event, the fast engine emits an event of
 * kind BRANCH_RUNS in place of the jumps: the address of the flow, and up to RUNS_OF_EVENT runs
 * that it follows from there.  A run is found once, and its jumps are relative to its begin.
 * Jumps outside of runs are events of their own.
 */
#ifndef DECODER_JUMP_RUN_H
#define DECODER_JUMP_RUN_H

#include "decoder/branch_event.h"

/* The most jumps of a run, and the runs of an event. */
#define JUMP_RUN_MOST 256
#define RUNS_OF_EVENT 3

struct jump_run {
	void *user; /* for one thread; NULL at first */
	/* Constant: */
	int32_t end; /* bytes from its begin to the address of the flow after it */
	uint32_t jump_count;
	struct local_jump {
		int32_t from, to; /* bytes from the run's begin */
		bool conditional;
	} jumps[];
};

/* All runs of a trace; threads add to it at the same time. */
struct jump_runs;

/* Returns no runs yet, owned by the caller. */
struct jump_runs *jump_runs_open(void);

/* Release all runs; NULL is allowed. */
void jump_runs_close(struct jump_runs *runs);

/*
 * Returns a new run of the jumps, of which there must be at least one; they are copied.  Returns
 * NULL if the memory for runs is used up.
 */
struct jump_run *jump_runs_add(struct jump_runs *runs, const struct local_jump *jumps, size_t count,
			       int32_t end);

/* Returns the number of runs of an event of kind BRANCH_RUNS, which begin at its `from`. */
static inline unsigned event_run_count(const struct branch_event *event)
{
	return event->gap;
}

/* Returns run number `index` of an event; it begins where the one before ends. */
static inline struct jump_run *event_run(const struct branch_event *event, unsigned index)
{
	const uint64_t words[RUNS_OF_EVENT] = { event->to, event->word,
						(uint64_t)event->insns << 32 | event->cycles };

	return (struct jump_run *)(uintptr_t)words[index];
}

/* Add a run to an event that has fewer than RUNS_OF_EVENT. */
static inline void event_add_run(struct branch_event *event, const struct jump_run *run)
{
	uint64_t word = (uintptr_t)run;

	if (event->gap == 0) {
		event->to = word;
	} else if (event->gap == 1) {
		event->word = word;
	} else {
		event->insns = (uint32_t)(word >> 32);
		event->cycles = (uint32_t)word;
	}
	event->gap++;
}

#endif
