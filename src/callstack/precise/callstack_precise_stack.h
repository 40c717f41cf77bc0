/* SPDX-License-Identifier: MIT */
/*
 * The private state of the precise machine (callstack_precise.c), and operations on frames that its
 * files share. Pushing and popping a frame emits its slice.
 *
 * `time` is mapped: ns since the run's first event (timestamp_group.h).
 */
#pragma once

#include "src/callstack/precise/frame_list.h"
#include "src/callstack/precise/special_symbols.h"
#include "src/callstack/timestamp_group.h"

/* Limits per thread: stacks that were left; setjmp() calls that longjmp() may return to. */
#define STACKS_MAX  256
#define JUMP_POINTS 32

struct jump_points {
	/* A call of setjmp() and its depth on the stack. */
	struct jump_point {
		uint64_t return_ip;            /* 0: free */
		const struct symbol *function; /* the caller's; NULL: the stack was empty */
		size_t depth;
		uint8_t return_slack;
		/* The caller's frame, if it had popped its return address; else zeroed. */
		const struct symbol *bare;
		uint64_t bare_return_ip;
	} points[JUMP_POINTS];
	unsigned next;
};

#define JUMPED_TO_BITS 6

/* A stack that was left. */
struct parked_stack {
	struct frame_list frames; /* depth 0: free */
	struct jump_points jumps;
	uint64_t left; /* number of the switch that left it */
	bool doubtful; /* perhaps it ran since, as another stack that was chosen */
	bool dropped;  /* possibly nothing can resume it */
	/* With --fibers: */
	const struct symbol *fiber; /* see struct callstack_fibers; NULL: none yet */
	bool confused;              /* perhaps it is another stack, with equal frames */
};

/* How a parked stack fits a thread's current stack. */
struct stack_fit {
	size_t kept; /* its depth if it is the current stack */
	bool candidate;
};

/* The stacks that a thread has left or, with --fibers, the threads of a process. */
struct stack_pool {
	struct parked_stack *parked; /* owned */
	size_t count, room;
	uint64_t switches;             /* number of switches to other stacks so far */
	struct precise_stack *users;   /* borrowed: the threads, linked */
	const struct process *process; /* NULL: one thread's */
	struct stack_pool *next;       /* next process's pool */
};

struct precise {
	struct callstack_machine base;
	struct name_table *names;         /* borrowed */
	const struct timeline *timeline;  /* borrowed; NULL: there is none */
	struct symbol specials[SPECIALS]; /* by enum symbol_special; not SPECIAL_GAP, _OTHER */
	struct syscall_symbols syscalls;
	const struct name *unwind_resume;
	struct special_symbol *gaps; /* owned; one per reason so far */
	bool nests;                  /* tail calls nest; else the function that jumps ends */
	bool flows;                  /* mark tail calls that do not nest */
	size_t room;                 /* room of all stacks, in frames */
	const struct callstack_fibers *fibers; /* borrowed; NULL: fold stacks into threads */
	struct stack_pool *pools;              /* owned: by process */
};

struct precise_stack {
	struct callstack base;
	struct timestamp_group group;
	struct frame_list now;
	struct stack_pool own, *pool;
	struct precise_stack *next_user; /* next thread of the pool */
	struct stack_fit *fits; /* owned: by parked stack; NULL: there were no candidates */
	uint64_t switches;      /* number of the last switch to another stack; 0: none */
	bool whole;             /* the trace shows the thread since its start */
	bool unseen;       /* stacks that the trace has not shown, or since a loss, can come back */
	size_t candidates; /* parked stacks that this one can be; 0: it is identified */
	uint16_t resume_flags; /* SLICE_UNCERTAIN_LEVEL: perhaps none of the candidates is it */
	size_t known;          /* number of innermost frames that all candidates share */
	/* Depth of the stack below the candidates, or 0, and the saved group.since and at_since. */
	size_t below;
	int64_t below_since;
	struct slice_detail at_below_since;
	struct jump_points jumps;
	/* With --fibers: */
	const struct symbol *fiber;       /* the stack; NULL: unknown yet */
	const struct symbol *first;       /* the function that it began with; NULL: unknown */
	const struct symbol *ended;       /* the thread's last stack that nothing can resume, */
	const struct symbol *ended_first; /* and the function that it began with */
	bool confused;                    /* see struct parked_stack */
	bool in_stretch;        /* its slices since the last switch need a slice around them */
	size_t room, room_seen; /* last counted room of all lists, and of `now` */
	struct frame_list undo; /* frames changed in the transaction, innermost first */
	size_t unchanged;       /* outermost frames not changed in it; 0: no transaction */
	bool in_tx;
	bool rolled_back;             /* the next branch comes from an undone frame */
	uint64_t insns;               /* executed so far */
	struct slice_detail at_since; /* counts at group.since */
	int64_t last_time;            /* mapped */
	uint64_t off_time;  /* perf's clock: when the trace last stopped; 0: unknown, or never */
	int32_t off_cpu;    /* the CPU then; -1: unknown */
	size_t root_number; /* the root's number among the deferred calls; 0: not inferred */
	const struct symbol *gap; /* name of the gap's slice; NULL: no gap */
	uint16_t end_flags; /* flags of slice ends: SLICE_CUT while the trace ends or is missing */
	bool watched;       /* group.since is the begin watched by timestamp_group_watch() */
	bool begun_by_jump; /* a jump to an entry: the stack's function can return to any stack */
	bool astray;        /* code without bytes or an unknown caller runs */
	const struct symbol *jumped_from; /* symbol of the frame that the innermost opaque frame
					   * replaced */
	/* Entries of functions to which code without bytes recently jumped, by hash. */
	uint64_t jumped_to[1 << JUMPED_TO_BITS];
	uint64_t returned_from; /* entry of the function that returned, perhaps to it; or 0 */
	bool started;
	/* During a run of plain branches: the outermost frame that one may end, the last with room.
	 */
	const struct frame *lowest, *highest;
	bool plain;    /* no gap, no transaction: near branches change only frames */
	bool has_root; /* the outermost frame has no caller */
	bool leaves;   /* a frame had FRAME_LEAVES_STACK */
};

static inline struct precise *machine_of(const struct precise_stack *stack)
{
	return (struct precise *)stack->base.machine;
}

/* Returns the symbol of a location; never NULL. */
static inline const struct symbol *symbol_of(const struct precise_stack *stack,
					     const struct location *location)
{
	return location->symbol ? location->symbol : &machine_of(stack)->specials[SPECIAL_UNKNOWN];
}

/* Returns the innermost frame; NULL: the stack is empty. */
static inline struct frame *top(const struct precise_stack *stack)
{
	return stack->now.depth ? &stack->now.frames[stack->now.depth - 1] : NULL;
}

/* Returns the innermost frame that is not an inlined call's; NULL: the stack is empty. */
static inline struct frame *physical_top(const struct precise_stack *stack)
{
	struct frame *frame = top(stack);

	while (frame > stack->now.frames && frame->kind == FRAME_INLINED)
		frame--;
	return frame;
}

/* ---- Slices -------------------------------------------------------------- */

/* Returns the `ip` of the event that begins a frame's slice (slice_sink.h). */
static inline uint64_t precise_slice_ip(const struct frame *frame)
{
	return frame->slice_flags & SLICE_HAS_CAUSE ? (uintptr_t)frame->cause : frame->entry_ip;
}

/* Returns the thread's instructions so far, modulo 2^32. */
static inline uint32_t precise_insns(const struct precise_stack *stack)
{
	return (uint32_t)stack->insns;
}

/* Count the instructions before an event. */
static inline void precise_count(struct precise_stack *stack, const struct branch_event *event)
{
	stack->insns += event->insns;
}

/* Set the detail, or site, of the event added last: the begin of `frame`'s slice; NULL: an end. */
void precise_set_detail(struct precise_stack *stack, const struct frame *frame);

static inline __attribute__((always_inline)) void precise_emit_begin(struct precise_stack *stack,
								     int64_t time,
								     const struct frame *frame)
{
	struct slice_event *event = timestamp_group_next(&stack->group, time, precise_insns(stack));

	event->symbol = frame->symbol;
	event->ip = precise_slice_ip(frame);
	event->flags = frame->slice_flags;
	event->kind = SLICE_BEGIN;
	event->order = 0;
	stack->group.calls++;
	if (__builtin_expect(stack->group.noted, false))
		precise_set_detail(stack, frame);
}

/* The same for an inlined call, which takes no time from functions. */
void precise_emit_inlined(struct precise_stack *stack, int64_t time, const struct frame *frame,
			  enum slice_event_kind kind);

static inline void precise_emit_end(struct precise_stack *stack, int64_t time,
				    const struct frame *frame)
{
	struct slice_event *event = timestamp_group_next(&stack->group, time, precise_insns(stack));

	event->symbol = frame->symbol;
	event->flags = stack->end_flags;
	event->kind = SLICE_END;
	event->order = 0;
	if (__builtin_expect(stack->group.details != NULL, false))
		precise_set_detail(stack, NULL);
}

/* Emit a frame around all others, from the stack's start or earlier (SLICE_INFERRED_START). */
void precise_emit_enclosing(struct precise_stack *stack, const struct frame *frame, uint16_t flags);

/* Frames that are inferred from now on begin at `time`. */
void precise_set_since(struct precise_stack *stack, int64_t time);

/* ---- Frames -------------------------------------------------------------- */

/* precise_before_change() within a transaction. */
void precise_save_for_undo(struct precise_stack *stack, size_t depth);

/* Announce that frames from `depth` on will be removed or changed. */
static inline void precise_before_change(struct precise_stack *stack, size_t depth)
{
	frame_list_cut(&stack->now, depth);
	if (depth < stack->unchanged)
		precise_save_for_undo(stack, depth);
}

/* Push a copy of a frame; its slice begins. */
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

/* Pop the innermost frame, which must exist, but not the frames that share its return address. */
static inline void precise_pop_one(struct precise_stack *stack, int64_t time)
{
	const struct frame *frame = top(stack);

	if (__builtin_expect(frame->kind == FRAME_INLINED, false))
		precise_emit_inlined(stack, time, frame, SLICE_END);
	else if (!frame->hidden)
		precise_emit_end(stack, time, frame);
	precise_before_change(stack, stack->now.depth - 1);
	stack->now.depth--;
}

/* Pop the innermost physical frame, which must exist. */
static inline void precise_pop(struct precise_stack *stack, int64_t time)
{
	bool tail;

	do {
		tail = top(stack)->tail;
		precise_pop_one(stack, time);
	} while (tail && stack->now.depth);
}

/* Pop physical frames until at most `depth` frames are left. */
static inline void precise_pop_to(struct precise_stack *stack, int64_t time, size_t depth)
{
	while (stack->now.depth > depth)
		precise_pop(stack, time);
}

/* Pop to the caller of the innermost call that returns to ip. Returns false if there is none. */
bool precise_return_to_call(struct precise_stack *stack, int64_t time, uint64_t ip);

/* Rename the innermost frame, unless its begin is already emitted. */
void precise_rename(struct precise_stack *stack, const struct symbol *symbol);

/* If the innermost frame is a hidden stub, begin its slice. */
void precise_reveal(struct precise_stack *stack, int64_t time);

/* End all frames. The frames inferred next called them or follow them. */
void precise_end_frames(struct precise_stack *stack, int64_t time);

/* Make an unseen caller the only frame. */
void precise_infer_root(struct precise_stack *stack, const struct location *location);

/*
 * If the innermost physical frame was in the function at `to` before tail calls, continue it: pop
 * the frames above. Returns whether it was.
 */
bool precise_go_back(struct precise_stack *stack, int64_t time, const struct location *to);

/* Replace the top's function, unless it goes back to another; keep the return address. */
static inline __attribute__((always_inline)) void precise_replace(struct precise_stack *stack,
								  int64_t time,
								  const struct location *to)
{
	const struct symbol *symbol = symbol_of(stack, to);
	struct frame *frame = top(stack);

	if (frame->tail && precise_go_back(stack, time, to))
		return;
	precise_before_change(stack, stack->now.depth - 1);
	/* A stub's counts belong to its target; a tail call restarts the counts. */
	if (!frame->hidden) {
		precise_emit_end(stack, time, frame);
		frame->called_insns = stack->insns;
	}
	frame_change_function(frame, symbol, to->ip, symbol->kind == SYMBOL_PLT);
	if (!frame->hidden)
		precise_emit_begin(stack, time, frame);
}

/* The top's function hands its frame over to another, by a jump, a return or a throw. */
static inline __attribute__((always_inline)) void precise_hand_over(struct precise_stack *stack,
								    int64_t time,
								    const struct location *to)
{
	/* The slice of a hidden stub's target is marked if the stub's would be. */
	if (__builtin_expect(machine_of(stack)->flows, false) && !top(stack)->hidden) {
		stack->end_flags = SLICE_TAIL_CALL;
		top(stack)->slice_flags |= SLICE_TAIL_CALLED;
	}
	precise_replace(stack, time, to);
	stack->end_flags = 0;
}

/* Limit of functions in a physical frame. */
#define TAIL_CALLS_MOST 16

/*
 * Returns the frame of the function that the innermost physical frame left by tail calls; NULL:
 * none, and `*outermost` gets the outermost frame of the physical frame.
 */
static inline struct frame *precise_find_left(struct frame *frame, const struct symbol *function,
					      struct frame **outermost)
{
	while (frame->tail) {
		if ((--frame)->symbol == function || frame->symbol->function == function)
			return frame;
	}
	*outermost = frame;
	return NULL;
}

/* Returns whether the jump of a frame's function is a tail call: PLT stubs and resolvers have none.
 */
static inline bool frame_calls_on(const struct frame *frame)
{
	return !frame->hidden && !frame->resolving && frame->kind != FRAME_INLINED &&
	       frame->kind != FRAME_PAUSE && frame->symbol->kind != SYMBOL_PLT;
}

/* Begin a physical frame's next function at the frame above; the caller emits its slice. */
static inline void frame_call_on(struct frame *frame, const struct location_pair *locations,
				 const struct symbol *to, bool stub)
{
	struct frame *next = frame + 1;

	next->symbol = to;
	next->caller = locations->from.symbol;
	next->caller_offset = locations->from.offset;
	next->return_ip = frame->return_ip;
	next->entry_ip = locations->to.ip;
	memcpy(&next->traps, &frame->traps, sizeof(*next) - offsetof(struct frame, traps));
	next->traps = 0;
	next->slice_flags = SLICE_TAIL_CALLED;
	next->jumped = next->tail = true;
	next->left = next->opaque = false;
	next->hidden = stub;
	frame->roles = 0;
	frame->traps = 0;
	frame->left = true;
}

/* A physical frame continues a function that it had left. `last`: its innermost frame. */
static inline void frame_go_back(struct frame *frame, const struct frame *last, uint64_t ip)
{
	frame->roles = last->roles;
	frame->entry_ip = ip;
	frame->jumped = true;
	frame->left = false;
}

/* Follow a jump from one function's code to another's entry. */
void precise_tail_call(struct precise_stack *stack, int64_t time,
		       const struct location_pair *locations);

/* ---- Levels that the trace does not show --------------------------------- */

/* Returns whether the outermost frame has unseen callers. */
static inline bool precise_has_unseen_callers(const struct precise_stack *stack)
{
	return stack->now.depth && stack->now.frames[0].kind == FRAME_INFERRED && !stack->has_root;
}

/*
 * Mark the outermost frame if it has unseen callers: calls can be missing below it, because an
 * exception or longjmp() entered a function that may be active several times.
 */
void precise_mark_level(struct precise_stack *stack);

/*
 * An exception or longjmp() entered `to`, which is in no frame whose call was seen. So `to` is in
 * the outermost frame, which has unseen callers, or in one of these.
 */
void precise_enter_unseen(struct precise_stack *stack, int64_t time, const struct location *to);

/* Returns whether the innermost frames have names of an unwinder or of longjmp(). */
bool precise_unwinds(const struct precise_stack *stack);

/* ---- Other stacks (callstack_precise_switch.c) --------------------------- */

/* Begin an empty stack: nothing is open, and later frames enclose nothing earlier. */
void precise_begin_stack(struct precise_stack *stack, int64_t time);

/* How an address identifies a parked stack, and which of its frames remain. */
enum precise_resume {
	RESUME_LAST_SETJMP, /* its last setjmp() returns there, and longjmp() left the stack */
	RESUME_TOP_CALL,    /* its innermost call returns there */
	RESUME_TOP_FIBER,   /* the same, for a stack that another one entered (OCaml's effects) */
	RESUME_FIBER_FUNCTION, /* such a stack has a frame of the function at the address */
	RESUME_LANDING,        /* an exception that passes through its calls lands there */
	RESUME_TOP_FUNCTION,   /* the address is in the function of its innermost frame */
	RESUME_ANY_SETJMP,     /* a setjmp() returns there */
	RESUME_ANY_CALL,       /* a call returns there */
	RESUME_ANY_FUNCTION,   /* the stack left last has a frame of the function at the address */
};

/*
 * Park the current stack (`dropped`: possibly nothing can resume it), and resume a parked one.
 * Returns false, with nothing changed, if no stack fits.
 */
bool precise_resume_stack(struct precise_stack *stack, int64_t time, const struct location *to,
			  enum precise_resume how, bool dropped);

/* Park the current stack, and begin another one at `to`; its first slice has the `flags`. */
void precise_begin_other_stack(struct precise_stack *stack, int64_t time, const struct location *to,
			       bool dropped, uint16_t flags);

/*
 * Switch to the stack whose call returns to `to`, else to a new one. No code loaded the stack
 * pointer: the current frames were perhaps those of another stack that fitted. So the outermost
 * slice is marked (SLICE_UNCERTAIN_LEVEL).
 */
void precise_switch_stack(struct precise_stack *stack, int64_t time, const struct location *to);

/*
 * With --fibers: emit a slice around all slices since the last switch, up to `time`, whose symbol
 * means the stack. All frames have ended.
 */
void precise_end_stretch(struct precise_stack *stack, int64_t time);

/*
 * The innermost function switches stacks by a copy, and continues at `to`: on a stack that it left
 * before or, if there is none, on a copy of this one.
 */
void precise_copy_stack(struct precise_stack *stack, int64_t time, const struct location *to);

/*
 * A stack began by a call of a function that never returns. If the thread's last stack that nothing
 * can resume was its first one, or began with the same function, it began anew (Go's mcall()).
 */
void precise_begin_anew(struct precise_stack *stack);

/* A return does not fit: the current frames were perhaps those of another stack, which fitted. */
void precise_doubt_stacks(struct precise_stack *stack);

/*
 * The stack's only known frame returns to `to`: keep the candidates whose frame returns there, or,
 * if a jump began the stack, whose innermost call does. Returns false, with nothing popped, if no
 * candidate remains.
 */
bool precise_return_to_candidate(struct precise_stack *stack, int64_t time,
				 const struct location *to);

/* Returns whether the innermost frame is also the outermost, and its call was not seen. */
static inline bool precise_is_root(const struct precise_stack *stack)
{
	size_t depth = stack->now.depth;

	return depth > stack->below && top(stack)->kind == FRAME_INFERRED &&
	       frame_list_around(&stack->now, depth) == stack->below;
}

enum handler_state {
	HANDLER_NONE, /* not all candidates are in a handler of a signal; or there are none */
	HANDLER_RUNS,
	HANDLER_ENDS, /* the code that it interrupted in a candidate continues */
};

/* Returns whether the stack's only known frame is a handler, before a transfer to `ip`. */
enum handler_state precise_handler_of_candidates(const struct precise_stack *stack, uint64_t ip);

/* Returns 1 + the index of the innermost frame with a role (enum frame_role); 0: none. */
size_t precise_find_role(const struct precise_stack *stack, unsigned role);

/* The innermost frame calls a function on another stack; it `returns`, or leaves for any stack. */
void precise_enter_stack(struct precise_stack *stack, bool returns);

/*
 * Go's morestack(): if a function that leaves for any stack returns just after the call of the
 * frame that left its own stack, pop to the caller, or resume a parked stack whose innermost call
 * also returns there. Returns whether it does.
 */
bool precise_return_to_own_stack(struct precise_stack *stack, int64_t time,
				 const struct location *to);

/*
 * Follow a jump to a function's entry after a load of the stack pointer. If the code looked the
 * stack up (YIELDS_STACK), leave the innermost entered stack; the function takes the frame that
 * entered it. If the stack was an argument, and entered stacks were left, the function can return
 * to one of these. Otherwise returns false, with nothing changed.
 */
bool precise_change_fiber(struct precise_stack *stack, int64_t time, const struct location *to,
			  enum call_effect effect);

/*
 * A throw enters `to` after a jump to a parked stack that is not identified yet: take a stack that
 * has the function. Returns whether there is one.
 */
bool precise_throw_to_fiber(struct precise_stack *stack, const struct location *to);

/*
 * An exception leaves the known frames of the stack for the landing pad `to`. Choose the candidate
 * with a call that lands there; if a jump began the stack, the parked stack with such a call. If
 * several match, choose the stack that was left last. If no candidate matches, guess as
 * precise_guess_candidate() does. Returns whether the stack has more frames now.
 */
bool precise_land_on_parked(struct precise_stack *stack, const struct location *to);

/* Choose the candidate that was left first, if there are candidates. */
void precise_guess_candidate(struct precise_stack *stack);

/* Forget which stacks are candidates. */
void precise_forget_candidates(struct precise_stack *stack);

/* Forget the stacks that were left, and the setjmps. */
void precise_forget_stacks(struct precise_stack *stack);

/* ---- Code without bytes (callstack_precise_opaque.c) ---------------------- */

/*
 * The flow is at `at`, in code without bytes; ip 0: the innermost function returned to a caller
 * unknown to the decoder. `mismatch`: the code in memory differs from its file; its slice gets this
 * name. The stack must not be empty.
 */
void precise_enter_opaque(struct precise_stack *stack, int64_t time, const struct location *at,
			  const struct symbol *mismatch);

/* Leave code without bytes for `to`, as the `flags` of the event say (enum branch_flags). */
void precise_leave_opaque(struct precise_stack *stack, int64_t time, const struct location *to,
			  unsigned flags);

/*
 * The innermost frame returns to just after the call that began frame `at` - 1, or elsewhere if
 * `at` is 0. Note whether code without bytes had jumped to its function.
 */
void precise_note_return(struct precise_stack *stack, size_t at);

/* ---- setjmp ---------------------------------------------------------------- */

/*
 * Remember the innermost frame, a call of setjmp(). If its caller is bare (location_is_bare()),
 * longjmp() finds the stack of the caller's caller.
 */
void precise_remember_setjmp(struct precise_stack *stack);

/* Returns 1 + the depth of the innermost setjmp() (`last`: if the last) that returns to ip; or 0.
 */
size_t precise_find_setjmp(const struct jump_points *jumps, const struct frame_list *list,
			   uint64_t ip, bool last);

/*
 * Returns whether the caller of the setjmp() that returns to ip, called on this or a parked stack,
 * has ended. This happens if a signal handler's stack becomes a separate stack (QEMU's coroutines),
 * or if setjmp() prepares a stack that its caller creates (State Threads).
 */
bool precise_setjmp_ended(const struct precise_stack *stack, uint64_t ip);

/*
 * If a remembered setjmp() returns to ip, pop to its caller. A bare caller runs again: it gets a
 * frame without slice. Returns whether one does.
 */
bool precise_return_to_setjmp(struct precise_stack *stack, int64_t time, uint64_t ip);

/* ---- Exceptions ---------------------------------------------------------- */

/*
 * Returns 1 + the index of the innermost of the first `depth` frames whose call has its landing pad
 * at `to` (symbols/tables/unwind_table.c); 0: not found in the innermost 4096 frames. If frame
 * `depth` exists, it is the innermost call.
 */
size_t precise_find_landing(struct frame_list *list, size_t depth, const struct location *to);

/*
 * The same in the current frames. If none of them has such a call, and an unwinder runs, another
 * stack can be found below them (precise_land_on_parked()).
 */
size_t precise_find_handler(struct precise_stack *stack, const struct location *to);

/* ---- Transactions -------------------------------------------------------- */

void precise_begin_transaction(struct precise_stack *stack);
void precise_end_transaction(struct precise_stack *stack);

/* Restore the frames before the transaction, with new slices for frames that ended. */
void precise_roll_back(struct precise_stack *stack, int64_t time);

/* ---- Segments ------------------------------------------------------------ */

/* Count the room of a stack that grew. Drop its frames if all stacks together have too much. */
void precise_count_room(struct precise_stack *stack);

/* Limit the stacks. Called after each branch that can add frames, so that batches do not matter. */
static inline void precise_watch_room(struct precise_stack *stack)
{
	if (stack->now.room != stack->room_seen)
		precise_count_room(stack);
}

/* `has_root`: the outermost frame has no caller, so no enclosing frame can be found late. */
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

/* Count the cycles up to an event, for sinks with details. */
static inline void precise_count_cycles(struct precise_stack *stack,
					const struct branch_event *event)
{
	if (event->cycles && stack->base.machine->sink->details)
		timestamp_group_count_cycles(&stack->group, stack->insns, event->cycles);
}

/* Follow any event. Returns false if the caller must apply a near branch, at stack->last_time. */
bool precise_follow_any(struct precise_stack *stack, const struct resolved_branch *branch,
			const struct branch_notes *notes);

/* If the innermost frame is missing, a pause, or of another function, make it the one at `from`. */
void precise_sync_top(struct precise_stack *stack, int64_t time, const struct location *from);

/* Follow a jump out of the innermost frame's function. */
void precise_jump(struct precise_stack *stack, int64_t time, const struct location_pair *locations);

/* precise_follow_any() for a branch with a time and no gap before it. */
bool precise_follow_far(struct precise_stack *stack, int64_t time,
			const struct resolved_branch *branch, const struct branch_notes *notes);

/* The kernel returns to `to`: end the innermost entry. */
void precise_leave_kernel(struct precise_stack *stack, int64_t time, const struct location *to);

/*
 * Follow a plain branch (`plain` in decoder/known_branches.h), which changes only frames above the
 * outermost one, of which only the function is known. Otherwise returns false, with nothing
 * changed.
 */
bool precise_follow_above(struct precise_stack *stack, const struct branch_event *event);

/* The same if the machine has `sites`. */
bool precise_follow_sites(struct precise_stack *stack, const struct branch_event *event);

/* `feed` and `feed_plain` of struct callstack_ops. */
void precise_feed(struct callstack *base, const struct resolved_branch *branch,
		  const struct branch_notes *notes);
size_t precise_feed_plain(struct callstack *base, const struct branch_event *events, size_t count,
			  bool counts);
