/* SPDX-License-Identifier: MIT */
/*
 * Stretches: near branches of a segment whose calls and returns a job has followed ahead of time.
 *
 * A job does not know the stack that its segment begins with.  But most branches do the same
 * whatever that is: those that change only frames which the segment itself has pushed.  The job
 * follows them on a stack of its own, above one frame that takes the place of the unknown ones: by
 * the same machine, and as long as each branch is of that kind (precise_follow_above()).  The
 * thread's stack then joins the stretch at once: it takes the slices, and the frames that were left
 * open.  Where it does not fit, and for all branches between stretches, the branches themselves are
 * fed.  So the result is the same, whatever is followed ahead.
 */
#ifndef SRC_CALLSTACK_CALL_STRETCH_H
#define SRC_CALLSTACK_CALL_STRETCH_H

#include "decoder/branch_event.h"
#include "src/callstack/timestamp_group.h"

struct frame;

struct call_stretch {
	/* Borrowed: the events.  The first is a BRANCH_FOLLOWED with this stretch, and was: */
	struct branch_event *events;
	struct known_branch *known;
	uint8_t kind;
	size_t count;
	uint64_t time, last_time;      /* ns, perf's clock: of the first and the last event */
	uint64_t insns;                /* retired behind the first event */
	const struct symbol *function; /* the first one is in; borrowed */
	struct group_stretch slices;
	const struct frame *frames; /* borrowed: that are open at the end, outermost first */
	size_t depth, deepest;      /* frames at the end, and the most there were */
};

/* Make the first event what it was. */
static inline void call_stretch_restore(const struct call_stretch *stretch)
{
	stretch->events->kind = stretch->kind;
	stretch->events->known = stretch->known;
}

#endif
