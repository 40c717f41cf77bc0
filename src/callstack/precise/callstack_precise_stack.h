/* SPDX-License-Identifier: MIT */
/*
 * The state of the precise machine (callstack_precise.h), and what its parts
 * do to it: frames come and go, and each gives out its slice.
 *
 * `time` is mapped: ns since the run's first event (timestamp_group.h).
 */
#ifndef SRC_CALLSTACK_PRECISE_CALLSTACK_PRECISE_STACK_H
#define SRC_CALLSTACK_PRECISE_CALLSTACK_PRECISE_STACK_H

#include "src/callstack/precise/frame_list.h"
#include "src/callstack/timestamp_group.h"

/* Stacks that were left and may come back, per thread; setjmps that may be gone back to. */
#define PARKED_MAX  64
#define JUMP_POINTS 32

/* Where a setjmp returned to, and how deep the stack was. */
struct jump_point {
	uint64_t call_ip;
	size_t depth;
};

enum special { SPECIAL_UNTRACED, SPECIAL_SYSCALL, SPECIAL_UNKNOWN, SPECIAL_GUEST, SPECIALS };

struct gap_name {
	struct symbol symbol;
	struct gap_name *next;
};

struct precise {
	struct callstack_machine base;
	struct name_table *names; /* borrowed */
	struct symbol specials[SPECIALS];
	const struct name *unwind_resume, *gogo;
	struct gap_name *gaps;  /* owned: a symbol per reason that occurred */
	size_t room, room_most; /* frames that all stacks have room for, and may have */
};

struct precise_stack {
	struct callstack base;
	struct timestamp_group group;
	struct frame_list now;
	struct frame_list parked[PARKED_MAX]; /* left stacks; depth 0: free */
	unsigned next_parked;
	struct jump_point jumps[JUMP_POINTS];
	unsigned next_jump;
	size_t room, room_seen; /* of all lists as counted last; of `now` then */
	struct frame_list undo; /* what changed since the transaction began, innermost first */
	size_t untouched; /* outermost frames that are as they were then; 0: none is going on */
	bool in_tx;
	bool rolled_back;                   /* the next branch comes from what was undone */
	int64_t since;                      /* mapped: an unseen frame may have run since then */
	struct counts counts, counts_since; /* so far, and at `since` */
	int64_t last_time;                  /* mapped */
	int64_t gap_begin;                  /* mapped; of the gap that is going on */
	const struct symbol *gap;           /* its slice's name; NULL: none */
	bool started;
	bool plain;         /* nothing is going on but calls, jumps and returns */
	bool rooted;        /* the outermost frame was called by none */
	unsigned unsettled; /* branches until slices are settled, if rooted */
	int64_t settled;    /* mapped: what begins earlier cannot be given out any more */
};

static inline struct precise *machine_of(const struct precise_stack *stack)
{
	return (struct precise *)stack->base.machine;
}

/* Returns the symbol of a place; never NULL. */
static inline const struct symbol *symbol_of(const struct precise_stack *stack,
					     const struct location *location)
{
	return location->symbol ? location->symbol : &machine_of(stack)->specials[SPECIAL_UNKNOWN];
}

static inline bool is_function(const struct symbol *symbol)
{
	return symbol && (symbol->kind == SYMBOL_FUNCTION || symbol->kind == SYMBOL_PLT);
}

static inline bool is_entry(const struct location *location)
{
	return is_function(location->symbol) && location->offset == 0;
}

/* Returns the innermost frame; NULL: there is none. */
static inline struct frame *top(const struct precise_stack *stack)
{
	return stack->now.depth ? &stack->now.frames[stack->now.depth - 1] : NULL;
}

/* ---- Slices -------------------------------------------------------------- */

/* Returns what the slice of a frame begins with: see slice_sink.h. */
static inline uint64_t precise_slice_ip(const struct frame *frame)
{
	return frame->slice_flags & SLICE_HAS_CAUSE ? (uintptr_t)frame->cause : frame->entry_ip;
}

/* The parts of precise_emit_begin() and _end() for sinks that use details. */
void precise_add_begin(struct precise_stack *stack, int64_t time, const struct frame *frame);
void precise_add_end(struct precise_stack *stack, int64_t time, const struct frame *frame);

static inline void precise_emit_begin(struct precise_stack *stack, int64_t time,
				      const struct frame *frame)
{
	struct slice_event *event = timestamp_group_next(&stack->group, time);

	if (!event) {
		precise_add_begin(stack, time, frame);
		return;
	}
	event->symbol = frame->symbol;
	event->ip = precise_slice_ip(frame);
	event->detail = 0;
	event->flags = frame->slice_flags;
	event->kind = SLICE_BEGIN;
	event->order = 0;
	stack->group.calls++;
}

static inline void precise_emit_end(struct precise_stack *stack, int64_t time,
				    const struct frame *frame)
{
	struct slice_event *event = timestamp_group_next(&stack->group, time);

	if (!event) {
		precise_add_end(stack, time, frame);
		return;
	}
	event->symbol = frame->symbol;
	event->detail = 0;
	event->flags = 0;
	event->kind = SLICE_END;
	event->order = 0;
}

/* A frame that runs since the segment began, under all that was seen since. */
void precise_emit_inferred(struct precise_stack *stack, const struct frame *frame);

/* What is inferred from now on began now. */
void precise_set_since(struct precise_stack *stack, int64_t time);

/* ---- Frames -------------------------------------------------------------- */

/* What precise_touch() does in a transaction. */
void precise_keep_for_undo(struct precise_stack *stack, size_t depth);

/* Frames from `depth` on are about to be removed, or to change. */
static inline void precise_touch(struct precise_stack *stack, size_t depth)
{
	frame_list_cut(&stack->now, depth);
	if (depth < stack->untouched)
		precise_keep_for_undo(stack, depth);
}

/* A copy of a frame becomes the innermost one, and begins now. */
static inline void precise_push(struct precise_stack *stack, int64_t time,
				const struct frame *frame)
{
	struct frame *added = frame_list_add(&stack->now);

	*added = *frame;
	added->called = stack->counts;
	if (!frame->hidden)
		precise_emit_begin(stack, time, added);
}

/* The innermost frame ends; there is one. */
static inline void precise_pop(struct precise_stack *stack, int64_t time)
{
	const struct frame *frame = top(stack);

	if (!frame->hidden)
		precise_emit_end(stack, time, frame);
	precise_touch(stack, stack->now.depth - 1);
	stack->now.depth--;
}

/* End frames until `depth` are left. */
static inline void precise_pop_to(struct precise_stack *stack, int64_t time, size_t depth)
{
	while (stack->now.depth > depth)
		precise_pop(stack, time);
}

/* A stub that does not go straight to its target gets a slice of its own. */
void precise_reveal(struct precise_stack *stack, int64_t time);

/* An unseen caller becomes the only frame. */
void precise_infer_root(struct precise_stack *stack, const struct location *location);

/* Another function goes on in the top's place; where it returns to stays. */
static inline __attribute__((always_inline)) void precise_replace(struct precise_stack *stack,
								  int64_t time,
								  const struct location *to)
{
	struct frame *frame = top(stack);

	precise_touch(stack, stack->now.depth - 1);
	/* What a stub ran is its target's; after a tail call counting begins anew. */
	if (!frame->hidden) {
		precise_emit_end(stack, time, frame);
		frame->called = stack->counts;
	}
	frame->symbol = symbol_of(stack, to);
	frame->entry_ip = to->ip;
	frame->hidden = frame->symbol->kind == SYMBOL_PLT;
	frame->traps = 0;
	if (!frame->hidden)
		precise_emit_begin(stack, time, frame);
}

/* ---- Other stacks -------------------------------------------------------- */

/* Execution goes on elsewhere: on a stack that was left before, or on a new one. */
void precise_switch_stack(struct precise_stack *stack, int64_t time, const struct location *to);

/* Forget the stacks that were left, and the setjmps. */
void precise_forget_others(struct precise_stack *stack);

/* If `to` is a setjmp, remember from where it was called. */
void precise_remember_setjmp(struct precise_stack *stack, uint64_t call_ip,
			     const struct symbol *to);

/* Returns whether a setjmp returned to ip before; pops to where it was called. */
bool precise_back_to_setjmp(struct precise_stack *stack, int64_t time, uint64_t ip);

/* ---- Transactions -------------------------------------------------------- */

void precise_begin_transaction(struct precise_stack *stack);
void precise_end_transaction(struct precise_stack *stack);

/* What it left goes on in slices of their own: their old ones have ended. */
void precise_roll_back(struct precise_stack *stack, int64_t time);

/* ---- Segments ------------------------------------------------------------ */

/* Count the room of a stack that grew; if it is too much for all, give the stack up. */
void precise_count_room(struct precise_stack *stack);

/*
 * To be called behind each branch that may add frames, so that no trace makes stacks
 * grow without end, and one is given up at the same place however branches are fed.
 */
static inline void precise_watch_room(struct precise_stack *stack)
{
	if (stack->now.room != stack->room_seen)
		precise_count_room(stack);
}

/* Now and then: what came so far is given out, if nothing can be found that encloses it. */
void precise_settle_now(struct precise_stack *stack);

/* Branches between two of these. */
#define SETTLE_BRANCHES 4096

/* One more branch; of a stack without a known root they are counted for nothing. */
static inline void precise_settle(struct precise_stack *stack)
{
	if (--stack->unsettled == 0)
		precise_settle_now(stack);
}

/* The outermost frame was called by none, and nothing is settled yet. */
static inline void precise_set_root(struct precise_stack *stack)
{
	stack->rooted = true;
	stack->unsettled = SETTLE_BRANCHES;
}

/* ---- Branches ------------------------------------------------------------ */

/*
 * Follow any event, but not yet what a near branch does to the frames (callstack_precise.c).
 * Returns whether that was all; if not, it happened at stack->last_time.
 */
bool precise_follow_any(struct precise_stack *stack, const struct resolved_branch *branch,
			const struct branch_notes *notes);

/*
 * The same for a branch at a time and without a gap before it
 * (callstack_precise_branches.c).
 */
bool precise_follow_far(struct precise_stack *stack, int64_t time,
			const struct resolved_branch *branch, const struct branch_notes *notes);

/* The machine's operation `feed` (callstack_precise_branches.c). */
void precise_feed(struct callstack *base, const struct resolved_branch *branches, size_t count,
		  const struct branch_notes *notes);

#endif
