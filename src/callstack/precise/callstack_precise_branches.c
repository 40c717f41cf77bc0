/* SPDX-License-Identifier: MIT */
/*
 * The actions of the precise machine on each event (top: the innermost frame;
 * "matches": the address is just behind the frame's call instruction):
 *
 *   event              action
 *   -----------------  -----------------------------------------------------------
 *   any, from known    the top is brought to from's function first: an empty stack
 *                      gets it as an inferred root; else pop to it or replace the top
 *   call               push (not for `call $+5`); a PLT stub is shown as its target,
 *                      or as itself if that has no name; nothing matches longjmp(),
 *                      _Unwind_Resume() and their like, which never return
 *   return             top matches: pop; a deeper frame matches: pop to it;
 *                      out of a handler: its restorer takes the frame;
 *                      to a function's entry (retpoline), or out of the resolver
 *                      that a stub jumped to (i386): as a jump;
 *                      out of the root: pop, the target is an inferred root;
 *                      into a function deeper down, or out of an unwinder: as a jump;
 *                      else another stack: leave this one, find or begin that one
 *   jump of a stub     to code without a name: the stub is shown instead
 *   jump to an entry   tail call: replace the top, but for its return address
 *   jump into a body   of the top's function, or to an address in the instruction
 *                      within one symbol: nothing; to a remembered setjmp, or just
 *                      behind a call: pop to it; of a function deeper down: pop to it; out
 *                      of longjmp() and its like, if the root is inferred: the target is an
 *                      inferred root around all; else replace the top
 *   jump behind a      to an entry: leave the stack, begin another one; to a remembered
 *   load of the stack  setjmp or a landing pad: pop to it; to just behind the innermost call
 *   pointer            of a stack that was left, or into its innermost function: resume that
 *   (stack_switch.h)   one; just behind a call: pop to it; just behind any call of a stack
 *                      that was left: resume that one; into a function deeper down: pop to
 *                      it; else begin another stack
 *   call behind one    of a function that never returns: leave the stack, begin another one
 *   either, to a       the innermost frame whose call has it: pop to it, also if the pad is
 *   landing pad        just behind a call
 *   either, to a       the innermost frame that installed one is meant, if it is of
 *   handler of OCaml   that function: pop to it
 *   the three last, by its function alone: the root, if inferred, is marked uncertain_level
 *   off                push a pause with the address where execution resumes; by a sysret
 *                      or iret, of the kernel alone: close all its frames first
 *   on                 pop the pause; if resumed elsewhere: a handler that ends
 *                      there (sigreturn): pop it; a function's entry: push a handler
 *   syscall, interrupt push an entry frame with the address where it resumes
 *   sysret, iret       pop the innermost entry frame; to just behind a call above it: pop to
 *                      that; else within the top's function: nothing
 *   gap                close all; from here to the next event is a slice of its own
 *   transaction        the stack is saved before the first branch in it, and restored by
 *                      an abort: the calls in between did not happen for the program,
 *                      but they ran, so they are shown
 */
#include "decoder/timeline/timeline.h"
#include "src/callstack/precise/callstack_precise_stack.h"

/*
 * Make the innermost frame that of the function at `from`, if it is not: it is a pause,
 * there is none, or it is another function's.
 */
static __attribute__((noinline)) void sync_top(struct precise_stack *stack, int64_t time,
					       const struct location *from)
{
	size_t at;

	if (!from->ip)
		return;
	if (stack->now.depth && top(stack)->kind == FRAME_PAUSE)
		precise_pop(stack, time);
	if (!stack->now.depth) {
		precise_infer_root(stack, from);
		return;
	}
	if (same_function(top(stack)->symbol, symbol_of(stack, from)) ||
	    !symbol_is_function(from->symbol))
		return;
	at = frame_list_find(&stack->now, FRAME_BY_FUNCTION, frame_function(from->symbol));
	if (at)
		precise_pop_to(stack, time, at);
	else
		precise_replace(stack, time, from);
}

static inline __attribute__((always_inline)) void push_called(struct precise_stack *stack,
							      int64_t time,
							      const struct resolved_branch *branch)
{
	const struct location *from = &branch->places->from, *to = &branch->places->to;
	struct frame *frame = frame_list_add(&stack->now);

	frame->symbol = symbol_of(stack, to);
	frame->caller = from->symbol;
	frame->caller_offset = from->offset;
	frame->return_ip = from->ip + branch->event->from_length;
	frame->entry_ip = to->ip;
	frame->called = stack->counts;
	frame->traps = 0;
	frame->slice_flags = 0;
	frame->kind = FRAME_CALLED;
	frame->return_slack = 0;
	frame->returned = false;
	frame->jumped = false;
	frame->resolving = false;
	frame->outermost = false; /* one store for all four */
	frame->left = false;
	frame->hidden = frame->symbol->kind == SYMBOL_PLT;
	if (!frame->hidden)
		precise_emit_begin(stack, time, frame);
	precise_watch_room(stack);
}

/* A call that returns twice, never, or to an address that is not known exactly. */
static __attribute__((noinline)) void on_unusual_call(struct precise_stack *stack, int64_t time,
						      const struct resolved_branch *branch)
{
	enum call_effect effect = branch->places->call;

	if (effect == CALL_READS_IP)
		return;
	if (effect == CALL_SWITCHES_STACK) {
		precise_begin_other_stack(stack, time, &branch->places->to, false);
		precise_watch_room(stack);
		return;
	}
	push_called(stack, time, branch);
	if (!stack->now.depth)
		return; /* too deep: all frames were dropped */
	frame_set_return(top(stack), branch->places->from.ip, branch->event->from_length);
	if (effect == CALL_SETJMP)
		precise_remember_setjmp(stack);
	else if (effect == CALL_NEVER_RETURNS)
		frame_set_no_return(top(stack));
}

static inline void on_call(struct precise_stack *stack, int64_t time,
			   const struct resolved_branch *branch)
{
	if (branch->places->call != CALL_ENTERS || !branch->event->from_length)
		on_unusual_call(stack, time, branch);
	else
		push_called(stack, time, branch);
}

/*
 * Returns whether an exception or longjmp() came to a caller whose call was not seen: no frame is
 * of its function.
 */
static bool enter_by_unwinder(struct precise_stack *stack, int64_t time, const struct location *to)
{
	if (!precise_has_unseen_callers(stack) || !symbol_is_function(to->symbol) ||
	    !precise_unwinds(stack))
		return false;
	precise_enter_unseen(stack, time, to);
	return true;
}

/* Returns whether a frame is of the function at `to`; pops to the innermost one, a guess. */
static bool enter_by_function(struct precise_stack *stack, int64_t time, const struct location *to)
{
	size_t at = precise_find_landing(stack, to->symbol);

	if (!at)
		return false;
	precise_pop_to(stack, time, at);
	precise_mark_level(stack);
	return true;
}

/* A jump into the body of another function than the top's, or to a part of it. */
static __attribute__((noinline)) void jump_into(struct precise_stack *stack, int64_t time,
						const struct location *to)
{
	size_t at;

	if (!symbol_is_function(to->symbol))
		precise_reveal(stack, time);
	if (precise_return_to_setjmp(stack, time, to->ip))
		return;
	at = precise_find_handler(stack, to);
	if (at) {
		precise_pop_to(stack, time, at);
		return;
	}
	if (location_is_entry(to)) {
		precise_tail_call(stack, time, to);
		return;
	}
	/* To just behind a call: a return in all but name. */
	at = frame_list_find(&stack->now, FRAME_BY_RETURN, to->ip);
	if (at) {
		precise_pop_to(stack, time, at - 1);
		return;
	}
	if (!enter_by_function(stack, time, to) && !enter_by_unwinder(stack, time, to) &&
	    symbol_is_function(to->symbol))
		precise_replace(stack, time, to);
}

/* A jump within a function, or within all code without names, where it may be a longjmp(). */
static inline void jump_within(struct precise_stack *stack, int64_t time, const struct location *to)
{
	if (!symbol_is_function(to->symbol))
		precise_return_to_setjmp(stack, time, to->ip);
}

static inline __attribute__((always_inline)) void on_jump(struct precise_stack *stack, int64_t time,
							  const struct location *to)
{
	if (!stack->now.depth)
		precise_infer_root(stack, to);
	else if (same_function(top(stack)->symbol, symbol_of(stack, to)))
		jump_within(stack, time, to);
	else if (location_is_function_entry(to))
		precise_tail_call(stack, time, to);
	else
		jump_into(stack, time, to);
	precise_watch_room(stack);
}

/*
 * A jump behind a load of the stack pointer.  longjmp() loads it, too, and those who raise
 * exceptions, but stay on the stack.
 */
static __attribute__((noinline)) void jump_to_stack(struct precise_stack *stack, int64_t time,
						    const struct location_pair *places)
{
	const struct location *to = &places->to;
	bool dropped = places->call == JUMP_DROPS_STACK;
	size_t at = 0;

	if (!location_is_function_entry(to)) {
		if (precise_return_to_setjmp(stack, time, to->ip))
			return;
		at = precise_find_handler(stack, to);
		if (at) {
			precise_pop_to(stack, time, at);
			return;
		}
		if (precise_resume_stack(stack, time, to, RESUME_TOP_CALL, dropped) ||
		    precise_resume_stack(stack, time, to, RESUME_TOP_FUNCTION, dropped))
			return;
		at = frame_list_find(&stack->now, FRAME_BY_RETURN, to->ip);
		if (at) {
			precise_pop_to(stack, time, at - 1);
			return;
		}
		if (same_function(top(stack)->symbol, symbol_of(stack, to)) ||
		    precise_resume_stack(stack, time, to, RESUME_ANY_CALL, dropped) ||
		    enter_by_function(stack, time, to) || enter_by_unwinder(stack, time, to))
			return;
		/* longjmp() to code without a name, or where nothing was seen to call setjmp(). */
		if (!symbol_is_function(to->symbol) || location_unwinds(top(stack)->symbol->name)) {
			jump_into(stack, time, to);
			return;
		}
	}
	precise_begin_other_stack(stack, time, to, dropped);
}

static __attribute__((noinline)) void leave_by_jump(struct precise_stack *stack, int64_t time,
						    const struct location_pair *places)
{
	if (stack->now.depth)
		jump_to_stack(stack, time, places);
	else
		precise_infer_root(stack, &places->to);
	precise_watch_room(stack);
}

/*
 * A return whose address was put on the stack by hand: by a retpoline, whose
 * call inside the thunk itself only made room for it, by the resolver of a stub, which
 * i386's glibc leaves so for the function (_dl_runtime_resolve), or by code that switches
 * to another stack (setcontext).
 */
static void jump_by_return(struct precise_stack *stack, int64_t time, const struct location *to)
{
	const struct frame_list *now = &stack->now;

	if (now->depth > 1 && top(stack)->kind == FRAME_CALLED &&
	    same_function(now->frames[now->depth - 2].symbol, top(stack)->symbol)) {
		precise_pop(stack, time);
	} else if (!top(stack)->resolving) {
		precise_switch_stack(stack, time, to);
		return;
	}
	top(stack)->resolving = false;
	on_jump(stack, time, to);
}

/* Returns whether the innermost frame is the outermost one, too, and its call was not seen. */
static bool is_root(const struct precise_stack *stack)
{
	return stack->now.depth == 1 && top(stack)->kind == FRAME_INFERRED;
}

/* A return to elsewhere than just behind the call of the top. */
static __attribute__((noinline)) void return_elsewhere(struct precise_stack *stack, int64_t time,
						       const struct location *to)
{
	size_t handler = precise_find_handler(stack, to), at;

	/* A landing pad may be just behind a call that never returns. */
	if (handler) {
		precise_pop_to(stack, time, handler);
		precise_watch_room(stack);
		return;
	}
	at = frame_list_find(&stack->now, FRAME_BY_RETURN, to->ip);
	if (at) {
		precise_pop_to(stack, time, at - 1);
	} else if (top(stack)->kind == FRAME_HANDLER) {
		precise_replace(stack, time, to);
	} else if (location_is_entry(to) || top(stack)->resolving) {
		jump_by_return(stack, time, to);
	} else if (is_root(stack) && precise_return_to_candidate(stack, time, to)) {
		/* a stack that was left, and is known better now */
	} else if (is_root(stack)) {
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

/* ---- OCaml's exceptions -------------------------------------------------- */

/* The top installed and removed handlers on its way to its next branch. */
static void follow_traps(struct precise_stack *stack, const struct branch_notes *notes)
{
	struct frame *frame = top(stack);

	if (!frame || !notes->trap_count)
		return;
	frame_list_cut(&stack->now, stack->now.depth - 1);
	for (uint32_t i = 0; i < notes->trap_count; i++) {
		if (notes->traps[i].kind == TRAP_INSTALLED)
			frame->traps++;
		else if (notes->traps[i].kind == TRAP_REMOVED && frame->traps)
			frame->traps--;
	}
}

/* Returns whether an exception came to the handler at `to`; pops to the frame that has it. */
static bool handle_exception(struct precise_stack *stack, int64_t time,
			     const struct resolved_branch *branch, const struct branch_notes *notes)
{
	size_t at;

	if (!notes->enters_trap ||
	    (branch->event->kind != BRANCH_RETURN && branch->event->kind != BRANCH_JUMP))
		return false;
	at = frame_list_find(&stack->now, FRAME_BY_TRAP, 0);
	if (!at && precise_has_unseen_callers(stack)) {
		precise_enter_unseen(stack, time, &branch->places->to);
		return true;
	}
	if (!at || stack->now.frames[at - 1].symbol != branch->places->to.symbol)
		return false;
	precise_pop_to(stack, time, at);
	frame_list_cut(&stack->now, at - 1);
	top(stack)->traps--;
	return true;
}

/* ---- Pauses -------------------------------------------------------------- */

static uint16_t vector_flags(const struct branch_notes *notes)
{
	unsigned flags = notes->vector ? SLICE_HAS_VECTOR | (notes->vector - 1u) << 8 : 0;

	return (uint16_t)(flags | (notes->cause ? SLICE_HAS_CAUSE : 0));
}

/*
 * Leave the kernel for code that is not traced: all entries, those that were seen.  Returns
 * whether nothing is below them.
 */
static bool leave_kernel(struct precise_stack *stack, int64_t time)
{
	size_t at = frame_list_find(&stack->now, FRAME_BY_ENTRY, 0);

	if (!at)
		precise_pop_to(stack, time, 0);
	for (; at; at = frame_list_find(&stack->now, FRAME_BY_ENTRY, 0))
		precise_pop_to(stack, time, at - 1);
	return !stack->now.depth;
}

/* As long as a call instruction is. */
#define CALL_LENGTH_MAX 15

/*
 * Returns whether all that ran in a frame is the code of a function, from its begin at `entry` on,
 * or from where it was seen first: a part might jump between a number and the call.  The begin may
 * be up to `slack` bytes in front of `entry`.
 */
static bool has_own_code(const struct frame *frame, const struct symbol *function, uint64_t entry,
			 uint64_t slack)
{
	return frame->symbol == function && !frame->left &&
	       (frame->kind == FRAME_INFERRED || entry - frame->entry_ip <= slack);
}

/*
 * Returns the calls that entered the innermost frame's function, which `from` is in, and those
 * around it, as far as the code of each function is all that ran in it.
 */
static struct syscall_callers callers_of_top(const struct precise_stack *stack,
					     const struct location *from)
{
	struct syscall_callers callers = { .count = 0 };
	const struct symbol *function = from->symbol;
	uint64_t entry = from->ip - from->offset, slack = 0;

	for (size_t at = stack->now.depth; at > 1 && callers.count < SYSCALL_CALLERS_MOST; at--) {
		const struct frame *frame = &stack->now.frames[at - 1], *caller = frame - 1;

		if (frame->kind != FRAME_CALLED || frame->jumped ||
		    !has_own_code(frame, function, entry, slack))
			break;
		function = frame->caller;
		entry = frame->return_ip - frame->caller_offset; /* that and the call's length */
		slack = CALL_LENGTH_MAX;
		if (!has_own_code(caller, function, entry, slack))
			break;
		callers.calls[callers.count++] =
			(struct syscall_caller){ function, frame->caller_offset };
	}
	return callers;
}

/*
 * Returns the name of a pause.  The packet has an address only where the trace could continue
 * but for the address filter (SDM volume 3, "Packet Generation Disable (TIP.PGD) Packet": "unless
 * ContextEn = 0 or TraceEn = 0").
 */
static const struct symbol *pause_symbol(const struct precise_stack *stack,
					 const struct resolved_branch *branch)
{
	const struct branch_event *event = branch->event;
	const bool int80 = event->flags & BRANCH_INT80;
	struct precise *machine = machine_of(stack);
	struct syscall_callers callers;

	if (event->flags & BRANCH_GUEST)
		return &machine->specials[SPECIAL_GUEST];
	if (event->kind == BRANCH_SYSCALL || int80) {
		callers = callers_of_top(stack, &branch->places->from);
		return syscall_symbols_find(&machine->syscalls, &branch->places->from, int80,
					    &callers);
	}
	return &machine->specials[event->to ? SPECIAL_FILTERED : SPECIAL_UNTRACED];
}

/* Note where execution will resume, as far as that is known. */
static void expect_resume(struct frame *pause, const struct resolved_branch *branch)
{
	const struct branch_event *event = branch->event;

	if (event->flags & BRANCH_ASYNC || event->kind == BRANCH_NONE)
		pause->resume_ip = branch->places->from.ip;
	else if (event->kind == BRANCH_RETURN)
		pause->returned = true;
	else if (event->from_length)
		pause->resume_ip = branch->places->from.ip + event->from_length;
}

static void on_off(struct precise_stack *stack, int64_t time, const struct resolved_branch *branch,
		   const struct branch_notes *notes)
{
	const struct branch_event *event = branch->event;
	struct frame pause = { .kind = FRAME_PAUSE,
			       .slice_flags = vector_flags(notes),
			       .cause = notes->cause };

	if (event->kind == BRANCH_RETURN && stack->now.depth)
		precise_pop(stack, time);
	else if (event->kind == BRANCH_SYSRET || event->kind == BRANCH_IRET)
		pause.outermost = leave_kernel(stack, time);
	precise_reveal(stack, time);
	pause.symbol = pause_symbol(stack, branch);
	/* The host resumes where it set the processor up to, not behind the entry of the guest. */
	if (!(event->flags & BRANCH_GUEST))
		expect_resume(&pause, branch);
	precise_push(stack, time, &pause);
	stack->off_time = event->time;
	stack->off_cpu = event->cpu;
}

/* As long as INT n, SYSCALL and SYSENTER are. */
#define TRAP_LENGTH_MAX 2

/*
 * Returns whether execution resumes at `to` where it was expected: a system call that is started
 * again goes back over its instruction, and a software interrupt, whose FUP has the instruction
 * itself (SDM volume 3, "Intel Processor Trace", far transfers), resumes behind it.
 */
static bool resumes_at(uint64_t expected, uint64_t to)
{
	return to - expected + TRAP_LENGTH_MAX <= 2 * TRAP_LENGTH_MAX;
}

/* Returns 1 + the index of the innermost handler that returns to ip; 0: there is none. */
static size_t find_resumed(struct precise_stack *stack, uint64_t ip)
{
	static const int behind[] = { 0, -TRAP_LENGTH_MAX, 1, TRAP_LENGTH_MAX };
	size_t at = 0;

	for (size_t i = 0; i < sizeof(behind) / sizeof(behind[0]) && !at; i++)
		at = frame_list_find(&stack->now, FRAME_BY_RESUME, ip - (uint64_t)behind[i]);
	return at;
}

/* Execution resumes at `to`; `expected` was the address to resume at (0: unknown). */
static void resume(struct precise_stack *stack, int64_t time, const struct location *to,
		   uint64_t expected)
{
	struct frame handler = { .symbol = symbol_of(stack, to),
				 .resume_ip = expected,
				 .entry_ip = to->ip,
				 .kind = FRAME_HANDLER };
	size_t at;

	if (!expected || resumes_at(expected, to->ip) || !stack->now.depth)
		return;
	at = find_resumed(stack, to->ip);
	if (at)
		precise_pop_to(stack, time, at - 1);
	else if (location_is_entry(to) || !symbol_is_function(to->symbol))
		precise_push(
			stack, time,
			&handler); /* in code without symbols, a guess: nothing else is as common */
	else if (!same_function(top(stack)->symbol, to->symbol))
		on_jump(stack, time, to);
}

/* Returns whether the thread was off its CPU since the trace ended; `on` is where it resumes. */
static bool was_off_cpu(const struct precise_stack *stack, const struct branch_event *on)
{
	const struct timeline *timeline = machine_of(stack)->timeline;

	if (!timeline || !on->thread || on->cpu < 0 || !stack->off_time)
		return false;
	return on->cpu != stack->off_cpu ||
	       timeline_run_begin(timeline, on->thread, on->cpu, on->time) > stack->off_time;
}

/* Whether an interrupt or fault switched threads is known when the trace resumes. */
static void explain_pause(struct precise_stack *stack, const struct branch_event *on)
{
	struct precise *machine = machine_of(stack);

	if (top(stack)->symbol == &machine->specials[SPECIAL_UNTRACED] && was_off_cpu(stack, on))
		precise_rename(stack, &machine->specials[SPECIAL_OFF_CPU]);
}

static void on_on(struct precise_stack *stack, int64_t time, const struct resolved_branch *branch)
{
	const struct location *to = &branch->places->to;
	struct frame called = { .symbol = symbol_of(stack, to),
				.entry_ip = to->ip,
				.kind = FRAME_HANDLER };
	uint64_t expected;
	bool begins;

	if (!stack->now.depth || top(stack)->kind != FRAME_PAUSE)
		return;
	explain_pause(stack, branch->event);
	expected = top(stack)->resume_ip;
	/* Of filtered functions one was left, and one is called by code that is not traced. */
	begins = top(stack)->outermost || (top(stack)->returned && location_is_entry(to));
	if (top(stack)->outermost)
		called.kind = FRAME_ENTRY;
	precise_pop(stack, time);
	if (begins)
		precise_push(stack, time, &called);
	else
		resume(stack, time, to, expected);
}

static void on_kernel_entry(struct precise_stack *stack, int64_t time,
			    const struct resolved_branch *branch, const struct branch_notes *notes)
{
	struct frame entry = { .symbol = symbol_of(stack, &branch->places->to),
			       .entry_ip = branch->places->to.ip,
			       .kind = FRAME_ENTRY,
			       .resume_ip = branch->places->from.ip,
			       .slice_flags = vector_flags(notes),
			       .cause = notes->cause };

	if (branch->event->kind != BRANCH_INTERRUPT)
		entry.resume_ip += branch->event->from_length;
	precise_push(stack, time, &entry);
}

/*
 * Returns whether an IRET or ERETS ends no entry into the kernel but takes a frame that the
 * kernel made itself: that of a handler which it called (KVM), or one to continue in the same
 * function (Linux's sync_core()).  `entry`: 1 + the index of the innermost entry; 0: none.
 */
static bool ends_no_entry(struct precise_stack *stack, int64_t time, size_t entry,
			  const struct location *to)
{
	size_t at;

	if (entry && resumes_at(stack->now.frames[entry - 1].resume_ip, to->ip))
		return false;
	at = frame_list_find(&stack->now, FRAME_BY_RETURN, to->ip);
	if (at > entry) {
		precise_pop_to(stack, time, at - 1);
		return true;
	}
	return stack->now.depth && symbol_is_function(to->symbol) &&
	       same_function(top(stack)->symbol, to->symbol);
}

static void on_kernel_exit(struct precise_stack *stack, int64_t time, const struct location *to)
{
	size_t at = frame_list_find(&stack->now, FRAME_BY_ENTRY, 0);
	uint64_t expected;

	if (ends_no_entry(stack, time, at, to))
		return;
	if (!at) {
		precise_pop_to(stack, time, 0);
		precise_infer_root(stack, to);
		return;
	}
	expected = stack->now.frames[at - 1].resume_ip;
	precise_pop_to(stack, time, at - 1);
	resume(stack, time, to, expected);
}

/* ---- All branches -------------------------------------------------------- */

/*
 * Returns whether a jump stays in its function for sure: by an address in the
 * instruction, within one symbol, be it that of all code without a name.  An
 * indirect jump may be a longjmp() within its function.
 */
static inline bool stays(const struct branch_event *event, const struct location_pair *places)
{
	return (event->kind == BRANCH_COND ||
		(event->kind == BRANCH_JUMP && !(event->flags & BRANCH_INDIRECT))) &&
	       places->from.symbol && places->from.symbol == places->to.symbol;
}

/* Returns whether a jump is that of the top, a stub, to code without a name. */
static inline bool leaves_stub(const struct precise_stack *stack,
			       const struct location_pair *places)
{
	return stack->now.depth && top(stack)->hidden &&
	       places->from.symbol == top(stack)->symbol && !symbol_is_function(places->to.symbol);
}

/* Returns whether a jump is not within one symbol, which is a function and no part of one. */
static inline bool leaves_symbol(const struct location_pair *places)
{
	return places->from.symbol != places->to.symbol || !symbol_is_function(places->to.symbol) ||
	       places->to.symbol->function;
}

/* Note whether the symbol of the innermost frame is all of the code that runs in it. */
static inline void note_jump(struct precise_stack *stack, const struct location_pair *places)
{
	if (stack->now.depth)
		top(stack)->left |= leaves_symbol(places);
}

/* Follow a near call, return or jump out of the top. */
static inline __attribute__((always_inline)) void follow_near(struct precise_stack *stack,
							      int64_t time,
							      const struct resolved_branch *branch)
{
	const struct location_pair *places = branch->places;

	switch ((enum branch_kind)branch->event->kind) {
	case BRANCH_CALL:
		on_call(stack, time, branch);
		break;
	case BRANCH_RETURN:
		if (!stack->now.depth)
			break;
		if (frame_returns_to(top(stack), places->to.ip))
			precise_pop(stack, time);
		else
			return_elsewhere(stack, time, &places->to);
		break;
	case BRANCH_JUMP:
	case BRANCH_COND:
	case BRANCH_TX_ABORT:
		if (leaves_stub(stack, places))
			precise_reveal(stack, time);
		else if (stays(branch->event, places))
			break;
		else if (__builtin_expect(location_leaves_stack(places), false))
			leave_by_jump(stack, time, places);
		else {
			note_jump(stack, places);
			on_jump(stack, time, &places->to);
		}
		break;
	default:
		break;
	}
}

static void follow_transaction(struct precise_stack *stack, int64_t time,
			       const struct branch_event *event)
{
	if (event->kind == BRANCH_TX_ABORT)
		precise_roll_back(stack, time);
	else if (!(event->flags & BRANCH_IN_TX))
		precise_end_transaction(stack);
	else if (!stack->in_tx)
		precise_begin_transaction(stack);
}

bool precise_follow_far(struct precise_stack *stack, int64_t time,
			const struct resolved_branch *branch, const struct branch_notes *notes)
{
	const struct branch_event *event = branch->event;

	follow_transaction(stack, time, event);
	if (event->flags & BRANCH_TRACE_ON) {
		stack->rolled_back = false;
		on_on(stack, time, branch);
		return true;
	}
	if (!stack->rolled_back) {
		sync_top(stack, time, &branch->places->from);
		follow_traps(stack, notes);
	}
	stack->rolled_back = false;
	if (handle_exception(stack, time, branch, notes))
		return true;
	if (event->flags & BRANCH_TRACE_OFF) {
		on_off(stack, time, branch, notes);
		return true;
	}
	switch ((enum branch_kind)event->kind) {
	case BRANCH_SYSCALL:
	case BRANCH_SOFTINT:
	case BRANCH_INTERRUPT:
		on_kernel_entry(stack, time, branch, notes);
		return true;
	case BRANCH_SYSRET:
	case BRANCH_IRET:
		on_kernel_exit(stack, time, &branch->places->to);
		return true;
	default:
		return false;
	}
}

/* Returns whether sync_top() has nothing to do. */
static inline bool comes_from_top(const struct precise_stack *stack, const struct location *from)
{
	const struct frame *frame = top(stack);

	return frame && frame->kind != FRAME_PAUSE &&
	       (frame->symbol == from->symbol || !symbol_is_function(from->symbol));
}

/* Take the time and the counts of a near branch. */
static inline void take_time(struct precise_stack *stack, const struct branch_event *event)
{
	int64_t time = (int64_t)(event->time - stack->base.machine->base_time);

	if (time > stack->last_time)
		stack->last_time = time;
	stack->counts.insns += event->insns;
	stack->counts.cycles += event->cycles;
}

static inline __attribute__((always_inline)) void follow(struct precise_stack *stack,
							 const struct resolved_branch *branch,
							 const struct branch_notes *notes)
{
	const struct branch_event *event = branch->event;

	if (stack->plain && branch_is_near(event)) {
		take_time(stack, event);
		if (!comes_from_top(stack, &branch->places->from))
			sync_top(stack, stack->last_time, &branch->places->from);
	} else if (precise_follow_any(stack, branch, notes)) {
		return;
	}
	follow_near(stack, stack->last_time, branch);
}

/* Returns whether the watched frame has ended, where no more frames are left. */
static bool watched_ends(const struct precise_stack *stack)
{
	const struct watched_frame *watched = &stack->base.watched;

	return stack->now.depth < watched->depth ||
	       (watched->depth && top(stack)->symbol != watched->symbol);
}

size_t precise_feed(struct callstack *base, const struct resolved_branch *branches, size_t count,
		    const struct branch_notes *notes)
{
	struct precise_stack *stack = (struct precise_stack *)base;

	if (notes)
		stack->plain = false; /* only here: precise_follow_any() sets it anew */
	for (const struct resolved_branch *branch = branches; branch < branches + count; branch++) {
		follow(stack, branch, notes);
		if (__builtin_expect(stack->now.depth <= base->watched.depth, false) &&
		    watched_ends(stack))
			return (size_t)(branch - branches) + 1;
	}
	return count;
}

/* ---- Branches above an unknown base -------------------------------------- */

/* Returns whether a jump out of the top does the same whatever is below the base. */
static bool jumps_above_base(const struct precise_stack *stack, const struct branch_event *event,
			     const struct location_pair *places)
{
	const struct location *to = &places->to;

	if (leaves_stub(stack, places) || stays(event, places))
		return true;
	if (location_leaves_stack(places))
		return false;
	if (same_function(top(stack)->symbol, to->symbol))
		return symbol_is_function(to->symbol) &&
		       (stack->now.depth > 1 || !leaves_symbol(places));
	return stack->now.depth > 1 && location_is_function_entry(to);
}

/* Returns whether a branch changes only frames above the base, whatever is below it. */
static inline bool is_above_base(const struct precise_stack *stack,
				 const struct resolved_branch *branch)
{
	const struct branch_event *event = branch->event;
	const struct location_pair *places = branch->places;
	const struct location *from = &places->from, *to = &places->to;

	if (!from->symbol || !to->symbol ||
	    (!comes_from_top(stack, from) && !same_function(top(stack)->symbol, from->symbol)))
		return false;
	switch ((enum branch_kind)event->kind) {
	case BRANCH_CALL:
		return places->call == CALL_ENTERS && event->from_length;
	case BRANCH_RETURN:
		return stack->now.depth > 1 && frame_returns_to(top(stack), to->ip);
	default:
		return jumps_above_base(stack, event, places);
	}
}

bool precise_follow_above(struct precise_stack *stack, const struct resolved_branch *branch)
{
	if (!branch_is_near(branch->event) || !is_above_base(stack, branch))
		return false;
	take_time(stack, branch->event);
	follow_near(stack, stack->last_time, branch);
	return true;
}
