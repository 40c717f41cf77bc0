/* SPDX-License-Identifier: MIT */
/*
 * --fibers: gives each stack its own track, between the sorter and all later sinks.
 *
 * The machine puts the slices between two switches of stacks into a slice whose symbol means
 * the stack (struct callstack_fibers). A stack can run on several threads, and the sorter emits one
 * thread after the other. So all slices are stored, and emitted stack by stack at the end.
 *
 * A slice that is open when its stack is parked stays open. While the stack is parked, its
 * innermost slice is "[parked]", or "[parked, resumed by THREAD]" if it ran on another thread
 * before: so a function's own time is the time it ran, and its duration includes the time parked.
 * The counts in details are those of the stack. Slices of a stack that never runs again end when it
 * was left, with SLICE_CUT. If the stack could be another one with equal frames, the slices that
 * begin on top of the resumed ones have SLICE_UNCERTAIN_LEVEL.
 */
#pragma once

#include "src/slices/slice_store.h"
#include "src/slices/track.h"

struct fiber;
struct fiber_thread;

struct fiber_tracks {
	struct slice_sink sink, stored;
	const struct slice_sink *next; /* borrowed */
	struct symbol parked;
	struct fiber_thread *threads; /* owned list */
	struct fiber *first, **last;  /* owned list */
	struct slice_store store;
	uint32_t count;
	uint64_t arrows;
	bool *arrived; /* owned: by number of an arrow */
	size_t arrived_room;
};

/* Initialize before `next`. It must not move: it contains pointers to itself. */
void fiber_tracks_init(struct fiber_tracks *tracks, const struct slice_sink *next,
		       struct name_table *names);

/*
 * Returns a new thread for the sorter, owned by the tracks. Its first stack has its track
 * `next_track` of the next sink. `name`: of the thread; may be NULL.
 */
struct fiber_thread *fiber_tracks_thread(struct fiber_tracks *tracks, void *next_track,
					 const char *name);

/* Returns the symbol of a thread's first stack. */
const struct symbol *fiber_tracks_own(const struct fiber_thread *thread);

/* Returns the symbol of a new stack, with its track of the next sink; NULL: not shown. */
const struct symbol *fiber_tracks_add(struct fiber_tracks *tracks, void *next_track);

/* Emit all slices, stack by stack. Call once, after the last one. */
void fiber_tracks_finish(struct fiber_tracks *tracks);

void fiber_tracks_release(struct fiber_tracks *tracks);
