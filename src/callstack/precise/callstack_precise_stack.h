/* SPDX-License-Identifier: MIT */
/*
 * The private state of the precise machine (callstack_precise.h), and the operations
 * on frames that its parts share.  Each frame emits its slice when it comes and goes.
 *
 * `time` is mapped: ns since the run's first event (timestamp_group.h).
 */
#ifndef SRC_CALLSTACK_PRECISE_CALLSTACK_PRECISE_STACK_H
#define SRC_CALLSTACK_PRECISE_CALLSTACK_PRECISE_STACK_H

#include "src/callstack/precise/frame_list.h"
#include "src/callstack/precise/syscall_symbols.h"
#include "src/callstack/timestamp_group.h"

/* Per thread: stacks that were left; calls of setjmp() that longjmp() may return to. */
#define STACKS_MAX  256
#define JUMP_POINTS 32

/* A call of setjmp(), and how deep the stack was. */
struct jump_point {
	uint64_t return_ip;            /* 0: none */
	const struct symbol *function; /* of the frame that called it; NULL: there is none */
	size_t depth;
	uint8_t return_slack;
};

struct jump_points {
	struct jump_point points[JUMP_POINTS];
	unsigned next;
};

/* A stack that was left. */
struct parked_stack {
	struct frame_list frames; /* depth 0: free */
	struct jump_points jumps;
	uint64_t left;  /* by which of the thread's switches */
	size_t kept;    /* frames that are left if it is the current stack */
	bool candidate; /* it may be */
	bool dropped;   /* perhaps nothing can come back to it */
};

enum special {
	SPECIAL_UNTRACED,
	SPECIAL_SYSCALL,
	SPECIAL_UNKNOWN,
	SPECIAL_GUEST,
	SPECIAL_PAUSED,
	SPECIAL_FILTERED,
	SPECIAL_OFF_CPU,
	SPECIALS
};

struct gap_name {
	struct symbol symbol;
	struct gap_name *next;
};

struct precise {
	struct callstack_machine base;
	struct name_table *names;        /* borrowed */
	const struct timeline *timeline; /* borrowed; NULL: there is none */
	struct symbol specials[SPECIALS];
	struct syscall_symbols syscalls;
	const struct name *unwind_resume;
	struct gap_name *gaps;  /* owned: a symbol per reason that occurred */
	bool flows;             /* mark tail calls */
	size_t room, room_most; /* frames that all stacks have room for, and may have */
};

struct precise_stack {
	struct callstack base;
	struct timestamp_group group;
	struct frame_list now;
	struct parked_stack *parked; /* owned */
	size_t parked_count, parked_room;
	uint64_t switches; /* to other stacks, so far */
	size_t candidates; /* parked stacks that this one may be; 0: no question */
	size_t known;      /* frames that all of them have in common, from the innermost one on */
	/*
	 * Frames that the candidates are on top of, and what group.since, insns_since and
	 * cycles_since are for these; 0: they are on top of no others.
	 */
	size_t below;
	int64_t below_since;
	uint64_t below_insns, below_cycles;
	struct jump_points jumps;
	size_t room, room_seen; /* of all lists as counted last; of `now` then */
	struct frame_list undo; /* frames changed since the transaction began, innermost first */
	size_t unchanged; /* outermost frames that did not change since then; 0: no transaction */
	bool in_tx;
	bool rolled_back;                   /* the next branch comes from an undone frame */
	uint64_t insns;                     /* executed so far */
	uint64_t insns_since, cycles_since; /* at group.since */
	int64_t last_time;                  /* mapped */
	uint64_t off_time;  /* perf's clock: when the trace ended last; 0: unknown, or never */
	int32_t off_cpu;    /* and where; -1: unknown */
	size_t root_number; /* the root's among the deferred calls; 0: it was not inferred */
	const struct symbol *gap; /* its slice's name; NULL: no gap */
	uint16_t end_flags;       /* of ends: SLICE_CUT while the trace ends or is missing */
	bool watched; /* group.since is the begin that the group watches (timestamp_group_watch())
		       */
	bool begun_by_jump; /* a jump to an entry began the stack: its function may return to any */
	bool astray;        /* code without bytes runs, or a caller that is not known */
	bool started;
	bool plain;    /* no gap, no transaction: near branches change only frames */
	bool has_root; /* the outermost frame has no caller */
	bool leaves;   /* a frame had FRAME_LEAVES_STACK */
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

/* Returns the innermost frame; NULL: there is none. */
static inline struct frame *top(const struct precise_stack *stack)
{
	return stack->now.depth ? &stack->now.frames[stack->now.depth - 1] : NULL;
}

/* ---- Slices -------------------------------------------------------------- */

/* Returns the `ip` of the event that begins a frame's slice: see slice_sink.h. */
static inline uint64_t precise_slice_ip(const struct frame *frame)
{
	return frame->slice_flags & SLICE_HAS_CAUSE ? (uintptr_t)frame->cause : frame->entry_ip;
}

/* Returns the thread's instructions up to now, as a timestamp group counts them. */
static inline uint32_t precise_insns(const struct precise_stack *stack)
{
	return (uint32_t)stack->insns;
}

/* Count what an event's code has executed. */
static inline void precise_count(struct precise_stack *stack, const struct branch_event *event)
{
	stack->insns += event->insns;
}

/* The parts of precise_emit_begin() and _end() for sinks that use details. */
void precise_add_begin(struct precise_stack *stack, int64_t time, const struct frame *frame);
void precise_add_end(struct precise_stack *stack, int64_t time, const struct frame *frame);

static inline void precise_emit_begin(struct precise_stack *stack, int64_t time,
				      const struct frame *frame)
{
	struct slice_event *event = timestamp_group_next(&stack->group, time, precise_insns(stack));

	if (!event) {
		precise_add_begin(stack, time, frame);
		return;
	}
	event->symbol = frame->symbol;
	event->ip = precise_slice_ip(frame);
	event->flags = frame->slice_flags;
	event->kind = SLICE_BEGIN;
	event->order = 0;
	stack->group.calls++;
}

/*
 * Emit the begin or end of an inlined call, which takes no time from functions
 * (callstack_precise_inlined.c).
 */
void precise_emit_inlined(struct precise_stack *stack, int64_t time, const struct frame *frame,
			  enum slice_event_kind kind);

static inline void precise_emit_end(struct precise_stack *stack, int64_t time,
				    const struct frame *frame)
{
	struct slice_event *event = timestamp_group_next(&stack->group, time, precise_insns(stack));

	if (!event) {
		precise_add_end(stack, time, frame);
		return;
	}
	event->symbol = frame->symbol;
	event->flags = stack->end_flags;
	event->kind = SLICE_END;
	event->order = 0;
}

/*
 * Emit a frame that runs since the stack began and encloses all later ones; SLICE_INFERRED_START:
 * perhaps it began before.
 */
void precise_emit_enclosing(struct precise_stack *stack, const struct frame *frame, uint16_t flags);

/* Emit a frame that runs since the segment began and encloses all later ones. */
void precise_emit_inferred(struct precise_stack *stack, const struct frame *frame);

/* Frames that are inferred from now on began now. */
void precise_set_since(struct precise_stack *stack, int64_t time);

/* ---- Frames -------------------------------------------------------------- */

/* The part of precise_before_change() for transactions. */
void precise_save_for_undo(struct precise_stack *stack, size_t depth);

/* Announce that frames from `depth` on will be removed or changed. */
static inline void precise_before_change(struct precise_stack *stack, size_t depth)
{
	frame_list_cut(&stack->now, depth);
	if (depth < stack->unchanged)
		precise_save_for_undo(stack, depth);
}

/* Push a copy of a frame, which begins now. */
static inline void precise_push(struct precise_stack *stack, int64_t time,
				const struct frame *frame)
{
	struct frame *added = frame_list_add(&stack->now);

	*added = *frame;
	added->called_insns = stack->insns;
	if (frame->kind == FRAME_INLINED)
		precise_emit_inlined(stack, time, added, SLICE_BEGIN);
	else if (!frame->hidden)
		precise_emit_begin(stack, time, added);
}

/* Pop the innermost frame, which exists. */
static inline void precise_pop(struct precise_stack *stack, int64_t time)
{
	const struct frame *frame = top(stack);

	if (__builtin_expect(frame->kind == FRAME_INLINED, false))
		precise_emit_inlined(stack, time, frame, SLICE_END);
	else if (!frame->hidden)
		precise_emit_end(stack, time, frame);
	precise_before_change(stack, stack->now.depth - 1);
	stack->now.depth--;
}

/* End frames until `depth` are left. */
static inline void precise_pop_to(struct precise_stack *stack, int64_t time, size_t depth)
{
	while (stack->now.depth > depth)
		precise_pop(stack, time);
}

/* Name the innermost frame anew, if its begin is not emitted yet. */
void precise_rename(struct precise_stack *stack, const struct symbol *symbol);

/* Show the innermost frame by a slice, if it is a stub without one. */
void precise_reveal(struct precise_stack *stack, int64_t time);

/* End all frames at `time` (mapped): what is inferred next called them, or came behind them. */
void precise_end_frames(struct precise_stack *stack, int64_t time);

/* Make an unseen caller the only frame. */
void precise_infer_root(struct precise_stack *stack, const struct location *location);

/* Replace the top's function; the return address stays. */
static inline __attribute__((always_inline)) void precise_replace(struct precise_stack *stack,
								  int64_t time,
								  const struct location *to)
{
	struct frame *frame = top(stack);
	bool hidden = frame->hidden, stub = hidden || frame->symbol->kind == SYMBOL_PLT;

	precise_before_change(stack, stack->now.depth - 1);
	/* The counts of a stub belong to its target; after a tail call they begin anew. */
	if (!frame->hidden) {
		precise_emit_end(stack, time, frame);
		frame->called_insns = stack->insns;
	}
	frame->symbol = symbol_of(stack, to);
	frame->entry_ip = to->ip;
	frame->hidden = frame->symbol->kind == SYMBOL_PLT;
	frame->jumped |= !stub && !frame->resolving;
	frame->left = frame->opaque = false;
	/*
	 * A stub that is not bound jumps to the common ".plt", which jumps to the resolver.  A
	 * resolver without a name, shown as the stub, jumps to the function.
	 */
	frame->resolving = stub && (frame->hidden || (hidden && frame->resolving));
	frame->traps = 0;
	if (!frame->hidden)
		precise_emit_begin(stack, time, frame);
}

/* Replace the top's function by a tail call. */
static inline __attribute__((always_inline)) void precise_tail_call(struct precise_stack *stack,
								    int64_t time,
								    const struct location *to)
{
	/* The slice of a hidden stub's target is marked if that of the stub would be. */
	if (__builtin_expect(machine_of(stack)->flows, false) && !top(stack)->hidden) {
		stack->end_flags = SLICE_TAIL_CALL;
		top(stack)->slice_flags |= SLICE_TAIL_CALLED;
	}
	precise_replace(stack, time, to);
	stack->end_flags = 0;
}

/* ---- Levels that the trace does not show --------------------------------- */

/* Returns whether the outermost frame has callers that were not seen. */
static inline bool precise_has_unseen_callers(const struct precise_stack *stack)
{
	return stack->now.depth && stack->now.frames[0].kind == FRAME_INFERRED && !stack->has_root;
}

/*
 * Mark the outermost frame, if it has unseen callers: calls may be missing between it and what it
 * encloses, as an exception or longjmp() came to a function that may be active several times.
 */
void precise_mark_level(struct precise_stack *stack);

/*
 * An exception or longjmp() came to `to`, in no frame that was seen to be called: in the
 * outermost one, or in one of its unseen callers, of which it has some.
 */
void precise_enter_unseen(struct precise_stack *stack, int64_t time, const struct location *to);

/* Returns whether the innermost frames are those of an exception or longjmp(), by their names. */
bool precise_unwinds(const struct precise_stack *stack);

/* ---- Other stacks (callstack_precise_switch.c) --------------------------- */

/* Begin an empty stack: what follows belongs to nothing before, and nothing is open. */
void precise_begin_stack(struct precise_stack *stack, int64_t time);

/* What of a parked stack an address brings back. */
enum precise_resume {
	RESUME_LAST_SETJMP,    /* its last setjmp() returns there, and longjmp() left it */
	RESUME_TOP_CALL,       /* its innermost call returns there */
	RESUME_TOP_FIBER,      /* the same, and another stack had entered it (OCaml's effects) */
	RESUME_FIBER_FUNCTION, /* such a stack has the function that it is in */
	RESUME_TOP_FUNCTION,   /* it is in its innermost function */
	RESUME_ANY_SETJMP,     /* a setjmp() returns there */
	RESUME_ANY_CALL,       /* a call returns there, the innermost one that does */
	RESUME_ANY_FUNCTION,   /* it is in a function of the stack that was left last */
};

/*
 * Park the current stack, and resume one that was left.  Returns false, with nothing done, if
 * there is none.  `dropped`: perhaps nothing can come back to the current stack.
 */
bool precise_resume_stack(struct precise_stack *stack, int64_t time, const struct location *to,
			  enum precise_resume how, bool dropped);

/* Park the current stack, and begin another one at `to`, whose first slice has flags. */
void precise_begin_other_stack(struct precise_stack *stack, int64_t time, const struct location *to,
			       bool dropped, uint16_t flags);

/*
 * Switch to the stack that was left with a call that returns to `to`, or to a new one, for which
 * there is no cause: its first slice is marked with SLICE_UNCERTAIN_LEVEL.
 */
void precise_switch_stack(struct precise_stack *stack, int64_t time, const struct location *to);

/*
 * The outermost frame known of this stack, its only one, returns to `to`: keep the candidates
 * whose frame does; if a jump began the stack, they are those whose innermost call does.  Returns
 * false, with nothing popped, if there are none.
 */
bool precise_return_to_candidate(struct precise_stack *stack, int64_t time,
				 const struct location *to);

/*
 * The innermost frame is about to call a function that runs on another stack, where it ends
 * (`returns`), or which it leaves for any.
 */
void precise_enter_stack(struct precise_stack *stack, bool returns);

/*
 * What left for any stack comes back to just after the call of the frame that left the stack (Go's
 * morestack()): pop to its caller.  Returns whether it does.
 */
bool precise_return_to_own_stack(struct precise_stack *stack, int64_t time,
				 const struct location *to);

/*
 * A jump after a load of the stack pointer, to a function's entry.  If the code looked the stack up
 * (YIELDS_STACK), the innermost one that was entered is left, and the function takes the frame that
 * entered it; if it was passed, and such stacks were left, the function may return to one of them.
 * Returns false, with nothing done, for all others.
 */
bool precise_change_fiber(struct precise_stack *stack, int64_t time, const struct location *to,
			  enum call_effect effect);

/*
 * A throw comes to `to` after a jump to a stack that was left, and is not known yet: take it for
 * one that has the function.  Returns whether there is one.
 */
bool precise_throw_to_fiber(struct precise_stack *stack, const struct location *to);

/* Take this stack, if there are candidates, for the one that was left first. */
void precise_guess_candidate(struct precise_stack *stack);

/* Take this stack for none of the candidates. */
void precise_forget_candidates(struct precise_stack *stack);

/* Forget the stacks that were left, and the setjmps. */
void precise_forget_stacks(struct precise_stack *stack);

/* ---- Code without bytes (callstack_precise_opaque.c) ---------------------- */

/*
 * The flow is at `at`, in code without bytes; its ip is 0 if the innermost function has returned to
 * a caller that the decoder does not know.  With `mismatch` the code is not that of its bytes, and
 * has a slice of this name.  There is a frame.
 */
void precise_enter_opaque(struct precise_stack *stack, int64_t time, const struct location *at,
			  const struct symbol *mismatch);

/* The flow leads out of code without bytes to `to`. */
void precise_leave_opaque(struct precise_stack *stack, int64_t time, const struct location *to);

/* ---- setjmp ---------------------------------------------------------------- */

/* Remember the call of a setjmp, which is the innermost frame. */
void precise_remember_setjmp(struct precise_stack *stack);

/*
 * Returns 1 + the depth of a stack's innermost setjmp that returns to ip; 0 without one.  `last`:
 * look at the last call of setjmp only.
 */
size_t precise_find_setjmp(const struct jump_points *jumps, const struct frame_list *list,
			   uint64_t ip, bool last);

/*
 * Returns whether a setjmp that returns to ip was called by a frame that has ended: a signal
 * handler's, whose stack becomes another one (QEMU's coroutines).
 */
bool precise_setjmp_ended(const struct precise_stack *stack, uint64_t ip);

/* If a remembered setjmp returns to ip, pop to its caller.  Returns whether one does. */
bool precise_return_to_setjmp(struct precise_stack *stack, int64_t time, uint64_t ip);

/* ---- Exceptions ---------------------------------------------------------- */

/*
 * Returns 1 + the index of the innermost frame whose call has its landing pad at `to`
 * (symbols/tables/landing_pads.h); 0: none of the 4096 innermost ones has.
 */
size_t precise_find_handler(struct precise_stack *stack, const struct location *to);

/*
 * Returns 1 + the index of the innermost frame of a function, for an address that is no known
 * landing pad; 0: there is none.
 */
size_t precise_find_landing(struct precise_stack *stack, const struct symbol *symbol);

/* ---- Transactions -------------------------------------------------------- */

void precise_begin_transaction(struct precise_stack *stack);
void precise_end_transaction(struct precise_stack *stack);

/* Restore the frames before the transaction, with new slices for those that have ended. */
void precise_roll_back(struct precise_stack *stack, int64_t time);

/* ---- Segments ------------------------------------------------------------ */

/* Count the room of a stack that grew; drop all its frames if all stacks have too much room. */
void precise_count_room(struct precise_stack *stack);

/*
 * To be called after each branch that may add frames, so that no trace makes stacks
 * grow without end, and frames are dropped at the same event however branches are fed.
 */
static inline void precise_watch_room(struct precise_stack *stack)
{
	if (stack->now.room != stack->room_seen)
		precise_count_room(stack);
}

/* Whether the outermost frame has no caller, so that no enclosing frame will be found late. */
static inline void precise_set_root(struct precise_stack *stack, bool has_root)
{
	if (has_root != stack->has_root)
		timestamp_group_settle(&stack->group, has_root);
	stack->has_root = has_root;
}

/* ---- Branches ------------------------------------------------------------ */

/* Take the time and the counts of a near branch. */
static inline void precise_take_time(struct precise_stack *stack, const struct branch_event *event)
{
	int64_t time = (int64_t)(event->time - stack->base.machine->base_time);

	if (time > stack->last_time)
		stack->last_time = time;
	precise_count(stack, event);
}

/*
 * Follow any event, except for the effect of a near branch on the frames
 * (callstack_precise.c).  Returns false if that is left to do, at stack->last_time.
 */
bool precise_follow_any(struct precise_stack *stack, const struct resolved_branch *branch,
			const struct branch_notes *notes);

/*
 * Make the innermost frame that of the function at `from`, if it is not: it is a pause,
 * there is none, or it is another function's (callstack_precise_branches.c).
 */
void precise_sync_top(struct precise_stack *stack, int64_t time, const struct location *from);

/* Follow a jump out of the innermost frame's function (callstack_precise_branches.c). */
void precise_jump(struct precise_stack *stack, int64_t time, const struct location *to);

/*
 * Follow a branch at a time and without a gap before it as precise_follow_any() does
 * (callstack_precise_far.c).
 */
bool precise_follow_far(struct precise_stack *stack, int64_t time,
			const struct resolved_branch *branch, const struct branch_notes *notes);

/* The kernel is left for `to`: end the innermost entry (callstack_precise_far.c). */
void precise_leave_kernel(struct precise_stack *stack, int64_t time, const struct location *to);

/*
 * Follow a near branch if it only changes frames above the outermost one, which is not known but
 * for its function.  Returns whether it does; if not, nothing is done
 * (callstack_precise_branches.c).
 */
bool precise_follow_above(struct precise_stack *stack, const struct resolved_branch *branch);

/* The machine's operations `pass` and `set_inlined` (callstack_precise_inlined.c). */
void precise_pass(struct callstack *base, const struct branch_event *event);
bool precise_set_inlined(struct callstack *base, const struct location *place,
			 const struct inlined_call *call);

/* The machine's operation `join` (call_follower.c). */
bool precise_join(struct callstack *base, const struct call_stretch *stretch);

/* The machine's operation `feed` (callstack_precise_branches.c). */
void precise_feed(struct callstack *base, const struct resolved_branch *branches, size_t count,
		  const struct branch_notes *notes);

#endif
