/* SPDX-License-Identifier: MIT */
/*
 * A call stack per traced thread, fed with decoded branches.
 *
 * Joins the decoder's threads with a call-stack machine: opens a stack at a
 * thread's first branch, notes exec and where a thread was created, starts the stack of a forked
 * child with its parent's in the system call that forked it, and puts a gap where the trace was
 * paused.
 */
#ifndef SRC_CALLSTACK_THREAD_STACKS_H
#define SRC_CALLSTACK_THREAD_STACKS_H

#include "base/arena.h"
#include "decoder/branch_event.h"
#include "decoder/timeline/timeline.h"
#include "src/callstack/callstack.h"
#include "src/callstack/inline_flow.h"

struct resolver;
struct thread_state;

/* The caller sets the borrowed members before thread_stacks_init(). */
struct thread_stacks {
	struct callstack_machine *machine; /* borrowed */
	struct resolver *resolver;         /* borrowed */
	/* Returns the track of a thread (NULL: unknown); called once per thread. */
	void *(*add_track)(void *context, const struct thread *thread);
	void *context;               /* borrowed: of add_track */
	struct arena *events;        /* borrowed: holds what slices refer to (struct slice_cause) */
	struct inline_flow flow;     /* owned; inlined functions, with the precise machine only */
	bool show_pauses;            /* of the trace; the same */
	struct thread_state *states; /* owned; by thread index; the last is of unknown threads */
	size_t count;                /* threads of the timeline */
	const struct thread *
		*forks; /* owned: first threads of forked processes, by parent and time */
	size_t fork_count;
	const struct trace_pauses *pauses; /* borrowed; NULL: the trace was not paused */
	uint64_t paused;                   /* times that it was, by thread */
};

/* `timeline` is borrowed until release. */
void thread_stacks_init(struct thread_stacks *stacks, const struct timeline *timeline);

/*
 * Feed the first of `count` branches and gaps (at least one), which come in the order of
 * decoder/streams/branch_merge.h.  A BRANCH_CPU_EVENT or BRANCH_RUNS may not come first.
 * Returns how many were fed, at least one: one gap, or branches of one thread.
 */
size_t thread_stacks_feed(struct thread_stacks *stacks, const struct branch_event *events,
			  size_t count);

/* Take the instructions and cycles of a BRANCH_COUNTS; only of the precise machine. */
void thread_stacks_count(struct thread_stacks *stacks, const struct branch_event *event);

/*
 * The same for branches and gaps of one thread that is not shown, only so far as others begin with
 * its stack.  A thread is shown, or not, from its first event to its last one.
 */
size_t thread_stacks_follow(struct thread_stacks *stacks, const struct branch_event *events,
			    size_t count);

/*
 * Show a mark at an event's place among the thread's calls: a BRANCH_CPU_EVENT, whose
 * value is shown if `symbol` (borrowed for the machine's life) is a SYMBOL_MARK.
 */
void thread_stacks_mark(struct thread_stacks *stacks, const struct branch_event *event,
			const struct symbol *symbol);

/* A value (by enum cpu_event_evd) of the thread's next interrupt. */
void thread_stacks_event_data(struct thread_stacks *stacks, const struct thread *thread,
			      uint32_t type, uint64_t value);

/* The values so far were those of another event. */
void thread_stacks_drop_event_data(struct thread_stacks *stacks, const struct thread *thread);

/* The thread's next branch, if it is an interrupt or exception, has this vector. */
void thread_stacks_interrupt(struct thread_stacks *stacks, const struct thread *thread,
			     uint8_t vector);

/* The trace has ended: finish all stacks. */
void thread_stacks_finish(struct thread_stacks *stacks);

/* Close all stacks.  Idempotent, also on zeroed memory. */
void thread_stacks_release(struct thread_stacks *stacks);

#endif
