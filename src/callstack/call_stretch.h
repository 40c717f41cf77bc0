/* SPDX-License-Identifier: MIT */
/*
 * Stretches: near branches of a segment whose calls and returns a job has followed ahead of time.
 *
 * The job does not know the stack at the start of its segment. Most branches are plain, and change
 * only frames that the segment itself has pushed. The job follows these with the same machine
 * (precise_follow_above()), on a stack of its own above one frame that represents all unknown ones.
 * The thread's stack then takes all slices and open frames of the stretch in one step. Where a
 * stretch does not fit, and between stretches, the branches are fed one by one. So the result does
 * not depend on which branches were followed ahead.
 */
#pragma once

#include "decoder/engine/pt_stream.h"
#include "src/callstack/timestamp_group.h"

/* Maximum number of files with functions of a stretch. */
#define STRETCH_FILES 8

struct frame;

struct call_stretch {
	/* Borrowed. The first event is a BRANCH_FOLLOWED for this stretch; its original */
	struct branch_event *events;
	struct known_branch *known;
	uint8_t kind;
	size_t count;
	uint64_t time, last_time;      /* ns, perf's clock: of the first and the last event */
	uint64_t insns;                /* retired after the first event */
	const struct symbol *function; /* borrowed: the function of the first branch */
	struct group_stretch slices;
	const struct frame *frames;       /* borrowed: open at the end, outermost first */
	size_t depth, deepest;            /* frames at the end, and their maximum */
	struct dso *files[STRETCH_FILES]; /* borrowed: contain the branches' functions */
	size_t file_count;
};

/* Restore the first event. */
static inline void call_stretch_restore(const struct call_stretch *stretch)
{
	stretch->events->kind = stretch->kind;
	stretch->events->known = stretch->known;
}

struct callstack_machine;
struct resolver;

/* A precise machine's follower, for the input of streams. */
struct call_follower {
	struct segment_follower base;            /* first */
	const struct callstack_machine *machine; /* borrowed; its sink uses no details */
	const struct resolver *resolver;         /* borrowed */
};

/* Initialize a follower. It borrows machine and resolver for as long as streams use it. */
void call_follower_init(struct call_follower *follower, const struct callstack_machine *machine,
			const struct resolver *resolver);
