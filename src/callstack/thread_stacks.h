/* SPDX-License-Identifier: MIT */
/*
 * Call stacks per thread, fed with decoded branches. A stack is opened at its thread's first
 * branch, starts with the parent's frames in a forked child, and has gaps where tracing was paused.
 */
#pragma once

#include "src/callstack/callstack.h"
#include "src/resolve/resolve.h"

/*
 * Inlined functions as frames of their own (--inline), for all threads.
 *
 * The streams emit each branch, and each passage (branch_is_passage()) into code with other inlined
 * calls, with the number of instructions before it. So the inlined calls at the target of an event
 * run until the next event. They are looked up once per known branch. Zeroed memory shows nothing.
 */
struct inline_flow {
	const struct known_branches *branches; /* borrowed */
	struct inline_ends *ends;              /* owned; by known branch; NULL: show nothing */
};

/* Show inlined calls of events with known branches in `branches`, borrowed until release. */
void inline_flow_init(struct inline_flow *flow, const struct known_branches *branches);

void inline_flow_release(struct inline_flow *flow);

/*
 * Feed one branch or passage, with locations in physical functions, to the stack, then the inlined
 * calls at its target. `notes` may be NULL for a near branch or a passage.
 */
void inline_flow_feed(const struct inline_flow *flow, const struct resolver *resolver,
		      struct callstack *stack, const struct resolved_branch *branch,
		      const struct branch_notes *notes);

struct thread_state;

/* The caller sets the borrowed members before thread_stacks_init(). */
struct thread_stacks {
	struct callstack_machine *machine; /* borrowed */
	struct resolver *resolver;         /* borrowed */
	/* Returns the track of a thread (NULL: unknown); called once per thread. */
	void *(*add_track)(void *context, const struct thread *thread);
	void *context;               /* borrowed: argument of add_track */
	struct arena *events;        /* borrowed: memory of each struct slice_cause */
	struct inline_flow flow;     /* owned; precise machine only */
	bool show_pauses;            /* show where tracing was paused; precise machine only */
	struct thread_state *states; /* owned; by thread index; the last is for unknown threads */
	size_t count;                /* threads of the timeline */
	struct thread_state *last;   /* the thread whose slices came last; or NULL */
	const struct thread *
		*forks; /* owned: first threads of forked processes, by parent and time */
	size_t fork_count;
	const struct trace_pauses *pauses; /* borrowed; NULL: tracing was not paused */
	uint64_t paused;                   /* pauses shown, in all threads */
};

/* `timeline` is borrowed until release. */
void thread_stacks_init(struct thread_stacks *stacks, const struct timeline *timeline);

/*
 * Feed the first of `count` events (at least one), in the order of decoder/streams/branch_merge.c
 * and without BRANCH_CPU_EVENT. Returns the number of events fed: one gap, or branches of a
 * thread with the BRANCH_COUNTS between and after them.
 */
size_t thread_stacks_feed(struct thread_stacks *stacks, const struct branch_event *events,
			  size_t count);

/* Add the instructions and cycles of a BRANCH_COUNTS; precise machine only. */
void thread_stacks_count(struct thread_stacks *stacks, const struct branch_event *event);

/* The same for a hidden thread, as far as other threads inherit its stack. */
size_t thread_stacks_follow(struct thread_stacks *stacks, const struct branch_event *events,
			    size_t count);

/* Show a BRANCH_CPU_EVENT by a symbol (borrowed), with its value if that is a SYMBOL_MARK. */
void thread_stacks_mark(struct thread_stacks *stacks, const struct branch_event *event,
			const struct symbol *symbol);

/* Note a value (by enum cpu_event_evd) of the thread's next interrupt. */
void thread_stacks_event_data(struct thread_stacks *stacks, const struct thread *thread,
			      uint32_t type, uint64_t value);

/* Drop the noted values, which belong to another event. */
void thread_stacks_drop_event_data(struct thread_stacks *stacks, const struct thread *thread);

/* Note the vector of the thread's next branch, if it is an interrupt or exception. */
void thread_stacks_interrupt(struct thread_stacks *stacks, const struct thread *thread,
			     uint8_t vector);

/* The trace has ended: finish all stacks. */
void thread_stacks_finish(struct thread_stacks *stacks);

void thread_stacks_release(struct thread_stacks *stacks);
