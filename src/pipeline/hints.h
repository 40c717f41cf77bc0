/* SPDX-License-Identifier: MIT */
/* Hints for the user about empty selections, and the time in code without names. */
#ifndef SRC_PIPELINE_HINTS_H
#define SRC_PIPELINE_HINTS_H

#include "base/diag.h"
#include "decoder/branch_event.h"
#include "src/options/options.h"
#include "src/pipeline/recording.h"
#include "src/resolve/resolve.h"

struct nameless_time {
	uint64_t *ns;          /* owned; by index of mapped_file: weighted */
	uint64_t total;        /* weighted, of all traced code */
	uint64_t seen, next;   /* branches so far; index of the next sample */
	uint64_t time, weight; /* of the open sample */
	const struct thread *thread;
	bool open;                      /* a sample waits for the thread's next branch */
	const struct mapped_file *file; /* of the open sample; NULL: named, or no file */
};

/* `file_count`: the timeline's. */
void nameless_time_init(struct nameless_time *nameless, size_t file_count);

/* Add branches of one thread, at least one, in order of time. */
void nameless_time_add(struct nameless_time *nameless, struct resolver *resolver,
		       const struct branch_event *events, size_t count);

/* Idempotent, also on zeroed memory. */
void nameless_time_release(struct nameless_time *nameless);

/* Warn that no recorded data matches. If threads are selected, list the recorded threads. */
void empty_selection_warn(const struct options *options, const struct perf_recording *recording,
			  struct diag *diag);

/*
 * Returns a line (debug_hint.h) on files that were found, but whose code without names took at
 * least one percent of the time; owned by the caller. NULL: no such files.
 */
char *nameless_hint_make(const struct nameless_time *nameless, const struct resolver *resolver,
			 const struct timeline *timeline, const char *symfs);

#endif
