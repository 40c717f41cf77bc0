/* SPDX-License-Identifier: MIT */
/*
 * Calls, returns and jumps. callstack_precise_far.c has all other events.
 *
 * The actions of the precise machine on each event (top: the innermost frame;
 * "matches": the address is just after the frame's call instruction):
 *
 *   event              action
 *   -----------------  -----------------------------------------------------------
 *   any, known source  first make the source's function the top: an empty stack gets it as
 *                      an inferred root; else pop to it or replace the top
 *   call               push, unless the code at its target drops or replaces the return
 *                      address (stack_effect.h); a PLT stub is shown as its target, or as
 *                      itself if the target has no name, and so is code within a function
 *                      that returns to its target; no return matches the frames of
 *                      longjmp(), _Unwind_Resume() etc., which never return
 *   return             top matches: pop; a deeper frame matches: pop to it;
 *                      out of a handler: to the interrupted address: pop; else to an entry: its
 *                      restorer takes the frame;
 *                      out of a function that code without bytes called: pop;
 *                      on the same stack, to an address that the code pushed, or to a
 *                      function's entry because a tracer replaced the return address
 *                      (uftrace, uretprobes): as a jump, the target takes the frame;
 *                      out of the resolver that a stub jumped to (i386): as a jump;
 *                      to a function's entry, out of unknown code: out of a function that
 *                      called itself (retpoline) as a jump, else another stack;
 *                      out of the root: pop, the target is an inferred root (also an indirect
 *                      jump, or a return to a pushed address, to just after a call);
 *                      into a function deeper down, or out of an unwinder: as a jump;
 *                      else another stack: leave this stack, find or begin the other
 *   jump of a stub     to code without a name: the stub is shown instead
 *   jump or return     push
 *   for which the code
 *   pushed an address
 *   of its own
 *   jump to an entry   tail call: push, with the top's return address; if the chain of such
 *                      frames contains the function: pop to it; if the chain is long, at a
 *                      stub and with --stacks=replace: replace the top. A frame that
 *                      jumped on is popped with the next one, and is found by no search
 *   jump into a body   of the top's function, or to an address in the instruction
 *                      within one symbol: nothing; to a remembered setjmp, or just
 *                      after a call: pop to it; by code that drops no frame
 *                      (stack_effect_keeps_frame_from()): replace the top; of a function of
 *                      the chain: pop to it; of a function deeper
 *                      down: pop to it; out of longjmp() and its like, if the root is inferred:
 *                      the target is an inferred root around all; else replace the top
 *   call on another    push; the caller enters that stack, which ends in the caller, or leaves
 *   stack              its own stack for a function that leaves for any stack
 *   jump to an entry   to a stack that the code looked up: leave the innermost entered stack, the
 *   after a load of    target takes the frame that entered it; to a stack that was passed as an
 *   the stack pointer  argument, if such stacks were left: push; the target's return shows which
 *                      of them is on top of this one
 *   jump or return     to the entry of a function that drops a frame which it has not built:
 *   after a load of    the function takes the innermost frame that stored its stack pointer; to
 *   the stack pointer  another entry: leave the stack, begin another one; to the last setjmp
 *   (stack_effect.h)   of a stack that a longjmp left: resume that stack; to a remembered
 *                      setjmp or a landing pad: pop to it; just after the innermost call of a
 *                      parked stack, or into its innermost function: resume that stack;
 *                      just after a call: pop to it, or begin another stack if the code kept
 *                      this one and the trace began later than the thread; to another setjmp
 *                      or just after any call of a parked stack: resume that stack; to a
 *                      setjmp whose frame has ended, on this or a parked stack: begin another
 *                      stack; into a function deeper down: pop to it; into a function of the
 *                      stack that was left last: resume that stack; else begin another stack
 *   call after such a  of a function that never returns: leave the stack, begin another one
 *   load
 *   either, to a       pop to the innermost frame whose call has the landing pad, also if the
 *   landing pad        pad is just after a call; out of a function that a jump began on another
 *                      stack: find the stack by the pad
 *   either, to a       pop to the innermost frame that installed a handler, if it is of the
 *   handler of OCaml   handler's function
 *   the last three, if only the function matches: an inferred root is marked uncertain_level
 *   off                push a pause with the address where execution resumes; at a sysret
 *                      or iret, if only the kernel is traced: close all its frames first
 *   on                 pop the pause, and the handler that it ends (sigreturn); if resumed
 *                      elsewhere: a handler that ends there: pop it; a function's entry, or
 *                      an address where code without a name can have one: push a handler
 *   syscall, interrupt push an entry frame with the address where it resumes
 *   sysret, iret       pop the innermost entry frame; to just after a call above it: pop to
 *                      that; else within the top's function: nothing
 *   gap                close all; the gap is a slice that ends at the next event; for a gap
 *                      without code see callstack_precise_opaque.c
 *   transaction        save the stack before the first branch, restore it at an abort; the
 *                      rolled-back calls ran, so they are shown
 */
#include "src/callstack/precise/callstack_precise_stack.h"

/* Distance of prefetching: events may be in the cache of another CPU, which decoded them. */
#define AHEAD 16

__attribute__((noinline)) void precise_sync_top(struct precise_stack *stack, int64_t time,
						const struct location *from)
{
	size_t at;

	if (!from->ip)
		return;
	if (stack->now.depth && top(stack)->kind == FRAME_PAUSE)
		precise_pop(stack, time);
	while (stack->now.depth && top(stack)->kind == FRAME_INLINED &&
	       top(stack)->symbol != from->symbol)
		precise_pop(stack, time);
	if (!stack->now.depth) {
		precise_infer_root(stack, from);
		return;
	}
	if (same_function(top(stack)->symbol, symbol_of(stack, from)) ||
	    !symbol_is_function(from->symbol))
		return;
	if (precise_go_back(stack, time, from))
		return;
	at = frame_list_find(&stack->now, FRAME_BY_FUNCTION, frame_function(from->symbol));
	if (at)
		precise_pop_to(stack, time, at);
	else
		precise_replace(stack, time, from);
}

static void push_called(struct precise_stack *stack, int64_t time,
			const struct resolved_branch *branch, uint64_t return_ip, bool hidden)
{
	const struct location_pair *locations = branch->locations;
	struct frame frame = {
		.symbol = symbol_of(stack, &locations->to),
		.caller = locations->from.symbol,
		.caller_offset = locations->from.offset,
		.return_ip = return_ip,
		.entry_ip = locations->to.ip,
		.kind = FRAME_CALLED,
		.roles = locations->call == CALL_CATCHES ? FRAME_CAUGHT : 0,
		.call_length = branch->event->from_length,
	};

	frame.hidden = hidden || frame.symbol->kind == SYMBOL_PLT;
	precise_push(stack, time, &frame);
	precise_watch_room(stack);
}

static void on_call(struct precise_stack *stack, int64_t time, const struct resolved_branch *branch)
{
	const struct location *to = &branch->locations->to;
	enum call_effect effect = branch->locations->call;

	if (effect == CALL_PASSES)
		return;
	if (effect >= SWITCHES_STACK) {
		precise_begin_other_stack(stack, time, to, effect == DROPS_STACK, 0);
		precise_begin_anew(stack);
		precise_watch_room(stack);
		return;
	}
	if (effect == CALL_APART || effect == CALL_ENDS_APART)
		precise_enter_stack(stack, effect == CALL_APART);
	push_called(stack, time, branch, 0, effect == CALL_PASSES_ON);
	if (!stack->now.depth)
		return; /* too deep: all frames were dropped */
	frame_set_return(top(stack), branch->locations->from.ip, branch->event->from_length);
	if (effect == CALL_SETJMP)
		precise_remember_setjmp(stack);
	else if (effect == CALL_NEVER_RETURNS)
		top(stack)->return_ip = top(stack)->return_slack = 0;
}

/* Enter a landing pad of an exception at `to`. Returns false if there is none. */
static bool land(struct precise_stack *stack, int64_t time, const struct location *to)
{
	size_t at = precise_find_handler(stack, to);

	if (at)
		precise_pop_to(stack, time, at);
	return at;
}

/* Enter an unseen caller, if an exception or longjmp() went there. Returns whether it did. */
static bool enter_by_unwinder(struct precise_stack *stack, int64_t time, const struct location *to)
{
	if (!precise_has_unseen_callers(stack) || !symbol_is_function(to->symbol) ||
	    !precise_unwinds(stack))
		return false;
	precise_enter_unseen(stack, time, to);
	return true;
}

/* Guess: pop to the innermost frame of the function at `to`. Returns false if there is none. */
static bool enter_by_function(struct precise_stack *stack, int64_t time, const struct location *to)
{
	size_t at = frame_list_find_function(&stack->now, FRAME_BY_LANDING, to->symbol);

	if (!at)
		return false;
	precise_pop_to(stack, time, at);
	precise_mark_level(stack);
	return true;
}

/* A jump into another function's body or part. `stays`: the code before it drops no frame. */
static __attribute__((noinline)) void jump_into(struct precise_stack *stack, int64_t time,
						const struct location *to, bool stays)
{
	if (!symbol_is_function(to->symbol)) {
		precise_reveal(stack, time);
		if (top(stack)->hidden) {
			precise_replace(stack, time, to);
			return;
		}
	}
	if (precise_return_to_setjmp(stack, time, to->ip) || land(stack, time, to))
		return;
	if (location_is_entry(to)) {
		precise_hand_over(stack, time, to);
		return;
	}
	/* Just after a call: in effect a return. */
	if (precise_return_to_call(stack, time, to->ip) || precise_go_back(stack, time, to))
		return;
	if (stays || (!enter_by_function(stack, time, to) && !enter_by_unwinder(stack, time, to) &&
		      symbol_is_function(to->symbol)))
		precise_replace(stack, time, to);
}

/* A jump within a function, or within code without names, where it can be a longjmp(). */
static inline void jump_within(struct precise_stack *stack, int64_t time, const struct location *to)
{
	if (!symbol_is_function(to->symbol))
		precise_return_to_setjmp(stack, time, to->ip);
}

static inline __attribute__((always_inline)) void on_jump(struct precise_stack *stack, int64_t time,
							  const struct location_pair *locations,
							  bool stays)
{
	const struct location *to = &locations->to;

	if (!stack->now.depth)
		precise_infer_root(stack, to);
	else if (same_function(top(stack)->symbol, symbol_of(stack, to)) &&
		 !(top(stack)->hidden && location_is_function_entry(to)))
		jump_within(stack, time, to);
	else if (location_is_function_entry(to))
		precise_tail_call(stack, time, locations);
	else
		jump_into(stack, time, to, stays);
	precise_watch_room(stack);
}

void precise_jump(struct precise_stack *stack, int64_t time, const struct location_pair *locations)
{
	on_jump(stack, time, locations, false);
}

/*
 * The root leaves for just after a call in another function, by an indirect jump, or by a return to
 * an address that it wrote: in effect a return to its caller, which the trace has not shown.
 * Returns whether it does.
 */
static bool return_to_unseen(struct precise_stack *stack, int64_t time, const struct location *to)
{
	if (!precise_is_root(stack) || same_function(top(stack)->symbol, symbol_of(stack, to)) ||
	    precise_unwinds(stack) || !location_follows_call(to))
		return false;
	if (!precise_return_to_candidate(stack, time, to)) {
		precise_pop(stack, time);
		precise_infer_root(stack, to);
	}
	return true;
}

/* Resume a parked stack by its setjmp(). Returns false if none fits. */
static bool resume_setjmp(struct precise_stack *stack, int64_t time, const struct location *to,
			  enum precise_resume how, bool dropped)
{
	if (!precise_resume_stack(stack, time, to, how, dropped))
		return false;
	precise_return_to_setjmp(stack, time, to->ip);
	return true;
}

/* Continue in a function's body, on this stack or a parked one. Returns false if no stack fits. */
static bool continue_stack(struct precise_stack *stack, int64_t time, const struct location *to,
			   bool dropped)
{
	if (precise_return_to_own_stack(stack, time, to) ||
	    resume_setjmp(stack, time, to, RESUME_LAST_SETJMP, dropped) ||
	    precise_return_to_setjmp(stack, time, to->ip) || land(stack, time, to) ||
	    precise_resume_stack(stack, time, to, RESUME_TOP_CALL, dropped) ||
	    precise_resume_stack(stack, time, to, RESUME_TOP_FUNCTION, dropped))
		return true;
	/* Rather a stack that was left before the trace began, by the same call, than this one. */
	if (!dropped && !stack->whole && frame_list_find(&stack->now, FRAME_BY_RETURN, to->ip)) {
		stack->unseen = true;
		return false;
	}
	return precise_return_to_call(stack, time, to->ip) ||
	       same_function(top(stack)->symbol, symbol_of(stack, to)) ||
	       resume_setjmp(stack, time, to, RESUME_ANY_SETJMP, dropped) ||
	       precise_resume_stack(stack, time, to, RESUME_ANY_CALL, dropped) ||
	       (!precise_setjmp_ended(stack, to->ip) &&
		(enter_by_function(stack, time, to) ||
		 precise_resume_stack(stack, time, to, RESUME_ANY_FUNCTION, dropped) ||
		 enter_by_unwinder(stack, time, to)));
}

/*
 * A throw to a function's entry continues the innermost frame that stored its stack pointer for it.
 * Without such a frame the target is unknown: the function takes the top, and is marked.
 */
static void continue_frame(struct precise_stack *stack, int64_t time, const struct location *to)
{
	size_t at = precise_find_role(stack, FRAME_CAUGHT);

	if (at > 1) {
		precise_pop_to(stack, time, at - 1);
	} else {
		precise_before_change(stack, stack->now.depth - 1);
		top(stack)->slice_flags |= SLICE_UNCERTAIN_LEVEL;
		callstack_count_uncertain(stack->base.machine, time);
	}
	precise_hand_over(stack, time, to);
}

/* A jump or return after a load of the stack pointer, as by longjmp() and throws on one stack. */
static __attribute__((noinline)) void go_to_stack(struct precise_stack *stack, int64_t time,
						  const struct location_pair *locations)
{
	const struct location *to = &locations->to;
	bool dropped = locations->call == DROPS_STACK, entry = location_is_function_entry(to);

	if (stack->below && !precise_throw_to_fiber(stack, to))
		precise_guess_candidate(stack);
	if (locations->call == THROWS_TO_ENTRY) {
		continue_frame(stack, time, to);
		return;
	}
	if (entry && precise_change_fiber(stack, time, to, locations->call))
		return;
	if (!entry && continue_stack(stack, time, to, dropped))
		return;
	/* longjmp() to code without a name, or to a setjmp() that was not seen. */
	if (!entry && !precise_setjmp_ended(stack, to->ip) &&
	    (!symbol_is_function(to->symbol) || location_unwinds(top(stack)->symbol->name)))
		jump_into(stack, time, to, false);
	else
		precise_begin_other_stack(stack, time, to, dropped, 0);
}

/* A jump for which the code pushed a return address. */
static void call_by_jump(struct precise_stack *stack, int64_t time,
			 const struct resolved_branch *branch)
{
	const struct location_pair *locations = branch->locations;

	push_called(stack, time, branch,
		    locations->from.ip - locations->from.offset + locations->offset, false);
	if (stack->now.depth) /* 0: the stack was too deep, and all frames were dropped */
		top(stack)->jumped = true;
}

static __attribute__((noinline)) void jump_unusually(struct precise_stack *stack, int64_t time,
						     const struct resolved_branch *branch)
{
	const struct location_pair *locations = branch->locations;

	if (!stack->now.depth) {
		precise_infer_root(stack, &locations->to);
	} else if (locations->call == COPIES_STACK) {
		precise_copy_stack(stack, time, &locations->to);
	} else if (locations->call == JUMP_CALLS) {
		call_by_jump(stack, time, branch);
	} else if (locations->call == JUMP_SETJMP) {
		on_jump(stack, time, locations, false);
		if (stack->now.depth && top(stack)->kind == FRAME_CALLED)
			precise_remember_setjmp(stack);
	} else {
		go_to_stack(stack, time, locations);
	}
	precise_watch_room(stack);
}

/*
 * A return to an address that was written to the stack: by the code itself (retpolines, push and
 * ret), by a tracer that replaces return addresses, or by i386's PLT resolver, which enters the
 * function by a return (_dl_runtime_resolve). The target keeps the return address of the frame that
 * it replaces.
 */
static void jump_by_return(struct precise_stack *stack, int64_t time,
			   const struct location_pair *locations)
{
	const struct frame *frame = top(stack);

	/*
	 * The return popped the frame's own return address, which was replaced on entry. The
	 * stub of a function that never returns (__cxa_throw@plt) has no return address: the
	 * resolver's return enters the function, and the stub's frame stays.
	 */
	if (frame->kind == FRAME_CALLED && !frame->return_ip && !frame->resolving &&
	    frame_list_around(&stack->now, stack->now.depth))
		precise_pop(stack, time);
	top(stack)->resolving = false;
	/* Even for the same function. */
	if (location_is_function_entry(&locations->to))
		precise_hand_over(stack, time, &locations->to);
	else
		on_jump(stack, time, locations, false);
	if (stack->now.depth)
		top(stack)->resolving = false;
}

/* For unknown code: returns whether a retpoline called itself to push the address. */
static bool is_thunk(const struct precise_stack *stack)
{
	const struct frame_list *now = &stack->now;

	return now->depth > 1 && top(stack)->kind == FRAME_CALLED && !top(stack)->tail &&
	       same_function(now->frames[now->depth - 2].symbol, top(stack)->symbol);
}

static void return_to_entry(struct precise_stack *stack, int64_t time,
			    const struct location_pair *locations)
{
	bool stays = locations->call == RETURN_JUMPS || locations->call == RETURN_STAYS;

	if (!stays && is_thunk(stack)) {
		precise_pop(stack, time);
	} else if (!stays && !top(stack)->resolving) {
		precise_switch_stack(stack, time, &locations->to);
		return;
	}
	jump_by_return(stack, time, locations);
}

/* Returns whether a handler of a signal can return to an address that it did not interrupt. */
static bool may_be_restorer(const struct location *to)
{
	return location_is_entry(to) || !symbol_is_function(to->symbol) ||
	       to->symbol->kind == SYMBOL_UNNAMED;
}

/* A return to an address that does not follow the top's call. */
static __attribute__((noinline)) void return_elsewhere(struct precise_stack *stack, int64_t time,
						       const struct location_pair *locations)
{
	const struct location *to = &locations->to;
	size_t at;

	/* A landing pad may directly follow a call that never returns. */
	if (land(stack, time, to) || (stack->below && precise_is_root(stack) &&
				      precise_return_to_candidate(stack, time, to))) {
		precise_watch_room(stack);
		return;
	}
	at = frame_list_find(&stack->now, FRAME_BY_RETURN, to->ip);
	precise_note_return(stack, at);
	if (at) {
		precise_pop_to(stack, time, at - 1);
		precise_doubt_stacks(stack);
	} else if (top(stack)->kind == FRAME_HANDLER && top(stack)->resume_ip == to->ip) {
		precise_pop(stack, time);
	} else if (may_be_restorer(to) &&
		   (top(stack)->kind == FRAME_HANDLER ||
		    precise_handler_of_candidates(stack, to->ip) == HANDLER_RUNS)) {
		precise_replace(stack, time, to);
	} else if (top(stack)->kind == FRAME_ENTERED && stack->now.depth > 1) {
		precise_pop(stack, time);
		precise_leave_opaque(stack, time, to, 0);
	} else if (locations->call == RETURN_JUMPS && return_to_unseen(stack, time, to)) {
		/* the code replaced its return address by that of its caller */
	} else if (location_is_entry(to) || top(stack)->resolving ||
		   locations->call == RETURN_JUMPS) {
		return_to_entry(stack, time, locations);
	} else if (precise_is_root(stack) && precise_return_to_candidate(stack, time, to)) {
		/* the return identified a parked stack */
	} else if (precise_is_root(stack)) {
		bool unwinds = precise_unwinds(stack);

		precise_pop(stack, time);
		precise_infer_root(stack, to);
		if (unwinds)
			precise_mark_level(stack);
	} else if (!precise_return_to_setjmp(stack, time, to->ip) &&
		   !enter_by_function(stack, time, to) && !enter_by_unwinder(stack, time, to)) {
		precise_switch_stack(stack, time, to);
	}
	precise_watch_room(stack);
}

/* ---- All branches -------------------------------------------------------- */

/*
 * Returns whether a jump certainly stays in its function: it is direct, within one symbol or within
 * code without a name. An indirect jump may be a longjmp() within its function.
 */
static inline bool stays(const struct branch_event *event, const struct location_pair *locations)
{
	return (event->kind == BRANCH_COND ||
		(event->kind == BRANCH_JUMP && !(event->flags & BRANCH_INDIRECT))) &&
	       locations->from.symbol && locations->from.symbol == locations->to.symbol;
}

/* Returns whether the top, a hidden stub, jumps to code without a name. */
static inline bool leaves_stub(const struct precise_stack *stack,
			       const struct location_pair *locations)
{
	return stack->now.depth && top(stack)->hidden &&
	       locations->from.symbol == top(stack)->symbol &&
	       !symbol_is_function(locations->to.symbol);
}

/* Returns whether a jump leaves its symbol, or the symbol is not a whole function. */
static inline bool leaves_symbol(const struct location_pair *locations)
{
	return locations->from.symbol != locations->to.symbol ||
	       !symbol_is_function(locations->to.symbol) || locations->to.symbol->function;
}

/* Note whether a jump left the code of the innermost frame's symbol. */
static inline void note_jump(struct precise_stack *stack, const struct location_pair *locations)
{
	if (stack->now.depth)
		top(stack)->left |= leaves_symbol(locations);
}

/* Returns whether no code that the top can have run before a jump drops its frame. */
static inline bool keeps_frame(const struct precise_stack *stack,
			       const struct location_pair *locations)
{
	const struct frame *frame = top(stack);
	uint64_t entered;

	if (locations->call != JUMP_STAYS || !frame || frame->left)
		return false;
	entered = frame->entry_ip - (locations->from.ip - locations->from.offset);
	return entered >= locations->offset && entered <= UINT32_MAX &&
	       (!entered || !frame->jumped);
}

/* Follow a near call, return or jump out of the top. */
static void follow_near(struct precise_stack *stack, int64_t time,
			const struct resolved_branch *branch)
{
	const struct location_pair *locations = branch->locations;

	switch ((enum branch_kind)branch->event->kind) {
	case BRANCH_CALL:
		on_call(stack, time, branch);
		break;
	case BRANCH_RETURN:
		if (!stack->now.depth)
			break;
		if (__builtin_expect(location_jumps_unusually(locations), false))
			jump_unusually(stack, time, branch);
		else if (frame_returns_to(top(stack), locations->to.ip))
			precise_pop(stack, time);
		else
			return_elsewhere(stack, time, locations);
		break;
	case BRANCH_JUMP:
	case BRANCH_COND:
	case BRANCH_TX_ABORT:
		if (leaves_stub(stack, locations))
			precise_reveal(stack, time);
		else if (stays(branch->event, locations))
			break;
		else if (__builtin_expect(location_jumps_unusually(locations), false))
			jump_unusually(stack, time, branch);
		else if (!(branch->event->flags & BRANCH_INDIRECT) ||
			 !return_to_unseen(stack, time, &locations->to)) {
			bool keeps = keeps_frame(stack, locations);

			note_jump(stack, locations);
			on_jump(stack, time, locations, keeps);
		}
		break;
	default:
		break;
	}
}

/* Returns whether precise_sync_top() has nothing to do. */
static inline bool comes_from_top(const struct precise_stack *stack, const struct location *from)
{
	const struct frame *frame = top(stack);

	return frame && frame->kind != FRAME_PAUSE &&
	       (frame->symbol == from->symbol || !symbol_is_function(from->symbol));
}

void precise_feed(struct callstack *base, const struct resolved_branch *branch,
		  const struct branch_notes *notes)
{
	struct precise_stack *stack = (struct precise_stack *)base;
	const struct branch_event *event = branch->event;
	bool near = !notes && stack->plain && branch_is_near(event);

	if (near) {
		precise_take_time(stack, event);
		if (!comes_from_top(stack, &branch->locations->from))
			precise_sync_top(stack, stack->last_time, &branch->locations->from);
	}
	if (near || !precise_follow_any(stack, branch, notes))
		follow_near(stack, stack->last_time, branch);
	precise_count_cycles(stack, event);
}

/* ---- Plain branches ------------------------------------------------------ */

/* What a begin or an end has besides the usual fields: details include no sites. */
enum plain_notes { NOTES_NONE, NOTES_SITES, NOTES_DETAILS };

/* Add a begin or end of a slice. `notes` is a constant. */
static inline __attribute__((always_inline)) void emit_plain(struct precise_stack *stack,
							     int64_t time,
							     const struct frame *frame,
							     enum slice_event_kind kind,
							     enum plain_notes notes)
{
	struct slice_event *event = timestamp_group_next(&stack->group, time, precise_insns(stack));

	event->symbol = frame->symbol;
	if (kind == SLICE_BEGIN)
		event->ip = notes == NOTES_SITES ? frame_site(frame) : frame->entry_ip;
	event->flags = kind == SLICE_BEGIN ? frame->slice_flags : 0;
	event->kind = (uint8_t)kind;
	event->order = SLICE_ORDER_PLAIN;
	stack->group.calls += kind == SLICE_BEGIN;
	if (notes == NOTES_DETAILS)
		precise_set_detail(stack, kind == SLICE_BEGIN ? frame : NULL);
}

/* Set the limits of the frames that plain branches may begin and end. Returns the innermost one. */
static inline struct frame *limit_plain(struct precise_stack *stack)
{
	struct frame *frames = stack->now.frames;

	stack->lowest = frames + MAX(stack->now.fragile, 1);
	stack->highest = frames + stack->now.room - 1;
	return frames + stack->now.depth - 1;
}

/* Begin the frame of a plain call. */
static inline __attribute__((always_inline)) void push_plain(struct precise_stack *stack,
							     struct frame *frame,
							     const struct branch_event *event)
{
	const struct location_pair *locations = &event->known->locations;

	frame->symbol = locations->to.symbol;
	frame->caller = locations->from.symbol;
	frame->caller_offset = locations->from.offset;
	frame->return_ip = locations->from.ip + event->from_length;
	frame->entry_ip = locations->to.ip;
	frame->called_insns = stack->insns;
	/* Zero all other fields at once. */
	memset(&frame->traps, 0, sizeof(*frame) - offsetof(struct frame, traps));
	frame->call_length = event->from_length;
}

/* A hidden stub jumps to its target, or to another stub, which resolves it. */
static inline void leave_stub(struct frame *frame, const struct location_pair *locations)
{
	frame->symbol = locations->to.symbol;
	frame->entry_ip = locations->to.ip;
	frame->traps = 0;
	frame->left = frame->opaque = frame->hidden = false;
	if (__builtin_expect(locations->to_stub, false))
		frame->resolving = true;
}

/* Take a plain branch's time and instructions. */
static inline void begin_plain(struct precise_stack *stack, const struct branch_event *event,
			       int64_t time)
{
	stack->last_time = time;
	precise_count(stack, event);
}

/*
 * Begin a plain return out of a function that a tail call entered: end all functions of the
 * physical frame but the outermost one, whose frame is returned. NULL: the return leaves no frame,
 * and nothing is changed.
 */
static __attribute__((noinline)) struct frame *return_from_chain(struct precise_stack *stack,
								 struct frame *frame,
								 const struct branch_event *event,
								 int64_t time)
{
	const struct frame *outermost = frame;

	while (outermost->tail)
		outermost--;
	if (outermost < stack->lowest)
		return NULL;
	begin_plain(stack, event, time);
	for (; frame > outermost; frame--)
		precise_emit_end(stack, time, frame);
	return frame;
}

/*
 * Returns the frame that a plain jump enters: the innermost one if it is a stub, a function that
 * its physical frame contains, or a new one, whose `called_insns` the caller sets. Returns NULL,
 * with nothing changed, if the jump is not plain.
 */
static __attribute__((noinline)) struct frame *jump_plain(const struct precise_stack *stack,
							  struct frame *frame,
							  const struct location_pair *locations)
{
	struct frame *outermost, *left;

	left = precise_find_left(frame, locations->to.symbol, &outermost);
	if (left)
		return left < stack->lowest ? NULL : left;
	if (frame->hidden)
		return frame->slice_flags & SLICE_HAS_CAUSE ? NULL : frame;
	if (!machine_of(stack)->nests || !frame_calls_on(frame) || frame == stack->highest ||
	    frame - outermost >= TAIL_CALLS_MOST - 1)
		return NULL;
	frame_call_on(frame, locations, locations->to.symbol, locations->to_stub);
	return frame + 1;
}

/*
 * Follow a near branch out of the innermost frame if it has its usual effect (`plain` in
 * decoder/known_branches.h), is outside of transactions, and leaves a frame. The caller stores the
 * new depth. Returns false, with nothing changed, for other branches, as tail calls that do not
 * nest. `reader` (a constant): this is not a job, so a branch that only jobs have named is one of
 * the others: its lookup notes that code of its files ran.
 */
static inline __attribute__((always_inline)) bool follow_plain(struct precise_stack *stack,
							       struct frame **top_frame,
							       const struct branch_event *event,
							       uint64_t base_time,
							       enum plain_notes notes, bool reader)
{
	const struct branch_event unusual = { .kind = 0xf8, .flags = BRANCH_NOT_NEAR };
	int64_t time = (int64_t)(event->time - base_time);
	const struct location_pair *locations;
	struct frame *frame = *top_frame;

	if (event->all & unusual.all || !event->known || time < stack->last_time)
		return false;
	locations = &event->known->locations;
	if ((reader && !locations->reached) || !(locations->plain & 1u << event->kind) ||
	    frame->symbol != locations->from.symbol)
		return false;
	if (event->kind == BRANCH_CALL) {
		if (frame == stack->highest || !event->from_length)
			return false;
		begin_plain(stack, event, time);
		push_plain(stack, ++frame, event);
	} else if (frame < stack->lowest) {
		return false;
	} else if (event->kind == BRANCH_RETURN) {
		if (frame->return_ip != locations->to.ip || frame->kind != FRAME_CALLED ||
		    frame->hidden)
			return false;
		if (!frame->tail)
			begin_plain(stack, event, time);
		else if (!(frame = return_from_chain(stack, frame, event, time)))
			return false;
		emit_plain(stack, time, frame, SLICE_END, notes);
		*top_frame = frame - 1;
		return true;
	} else {
		struct frame *entered = frame;

		if (!frame->hidden || frame->tail || frame->slice_flags)
			entered = jump_plain(stack, frame, locations);
		if (!entered)
			return false;
		begin_plain(stack, event, time);
		*top_frame = entered;
		if (__builtin_expect(entered < frame, false)) {
			stack->now.depth = (size_t)(frame - stack->now.frames) + 1;
			return precise_go_back(stack, time, &locations->to);
		}
		if (entered > frame)
			entered->called_insns = stack->insns;
		else
			leave_stub(frame, locations);
		frame = entered;
	}
	*top_frame = frame;
	if (locations->to_stub)
		frame->hidden = true;
	else
		emit_plain(stack, time, frame, SLICE_BEGIN, notes);
	return true;
}

/* Take counts of cycles. Returns false for other events. */
static inline bool pass_cycles(struct precise_stack *stack, const struct branch_event *event)
{
	if (event->kind != BRANCH_COUNTS || !event->cycles)
		return false;
	precise_take_time(stack, event);
	return true;
}

/* Body of precise_feed_plain(). `notes` is a constant; with details the sink uses `counts`. */
static inline __attribute__((always_inline)) size_t feed_plain(struct precise_stack *stack,
							       const struct branch_event *events,
							       size_t count, enum plain_notes notes,
							       bool counts)
{
	const struct branch_event *event = events, *end = events + count;
	const struct thread *thread = event->thread;
	const struct address_space *space = event->space;
	struct frame *frame = limit_plain(stack);
	uint64_t base_time = stack->base.machine->base_time;

	while (follow_plain(stack, &frame, event, base_time, notes, true) ||
	       (counts && pass_cycles(stack, event))) {
		__builtin_prefetch(event + AHEAD);
		if (notes == NOTES_DETAILS && event->cycles)
			timestamp_group_count_cycles(&stack->group, stack->insns, event->cycles);
		if (++event == end || event->thread != thread || event->space != space)
			break;
	}
	stack->now.depth = (size_t)(frame - stack->now.frames) + 1;
	return (size_t)(event - events);
}

size_t precise_feed_plain(struct callstack *base, const struct branch_event *events, size_t count,
			  bool counts)
{
	struct precise_stack *stack = (struct precise_stack *)base;

	if (!stack->plain || !stack->now.depth)
		return 0;
	if (base->machine->sink->details)
		return feed_plain(stack, events, count, NOTES_DETAILS, counts);
	return base->machine->sites ? feed_plain(stack, events, count, NOTES_SITES, false)
				    : feed_plain(stack, events, count, NOTES_NONE, false);
}

static inline __attribute__((always_inline)) bool follow_above(struct precise_stack *stack,
							       const struct branch_event *event,
							       enum plain_notes notes)
{
	struct frame *frame = limit_plain(stack);

	if (!follow_plain(stack, &frame, event, 0, notes, false))
		return false;
	stack->now.depth = (size_t)(frame - stack->now.frames) + 1;
	return true;
}

bool precise_follow_above(struct precise_stack *stack, const struct branch_event *event)
{
	return follow_above(stack, event, NOTES_NONE);
}

bool precise_follow_sites(struct precise_stack *stack, const struct branch_event *event)
{
	return follow_above(stack, event, NOTES_SITES);
}
