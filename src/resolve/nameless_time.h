/* SPDX-License-Identifier: MIT */
/*
 * The share of the time of traced code in code that has no names, by file; system calls and
 * waits do not count.
 *
 * Of the first branches each, then every 61st, the time up to the thread's next branch is
 * counted for the file at its target, so the share is an estimate that costs next to nothing
 * and does not depend on the number of threads that decode.
 */
#ifndef SRC_RESOLVE_NAMELESS_TIME_H
#define SRC_RESOLVE_NAMELESS_TIME_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "decoder/branch_event.h"
#include "src/resolve/resolve.h"

struct nameless_time {
	uint64_t *ns;          /* owned; by index of mapped_file: weighted */
	uint64_t total;        /* the same of all traced code */
	uint64_t seen, next;   /* branches: so far, and the index of the next sample */
	uint64_t time, weight; /* of the open sample */
	const struct thread *thread;
	bool open;                      /* a sample waits for the thread's next branch */
	const struct mapped_file *file; /* of the open sample; NULL: it has a name, or no file */
};

/* `file_count` is that of the timeline. */
void nameless_time_init(struct nameless_time *nameless, size_t file_count);

/* Add branches of one thread, at least one, in the order of time. */
void nameless_time_add(struct nameless_time *nameless, struct resolver *resolver,
		       const struct branch_event *events, size_t count);

/* Returns the percentage of the time of a file's code without names. */
unsigned nameless_time_percent(const struct nameless_time *nameless,
			       const struct mapped_file *file);

/* Idempotent, also on zeroed memory. */
void nameless_time_release(struct nameless_time *nameless);

#endif
