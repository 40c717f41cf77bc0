/* SPDX-License-Identifier: MIT */
/*
 * Pauses, entries and exits of the kernel, transactions and OCaml's exceptions. The table in
 * callstack_precise_branches.c lists the actions.
 */
#include "decoder/timeline/timeline.h"
#include "src/callstack/precise/callstack_precise_stack.h"

/* ---- OCaml's exceptions -------------------------------------------------- */

/* Apply the handlers that the top installed and removed before this branch. */
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

/* If an exception enters the handler at `to`, pop to its frame. Returns whether it does. */
static bool handle_exception(struct precise_stack *stack, int64_t time,
			     const struct resolved_branch *branch, const struct branch_notes *notes)
{
	size_t at;

	if (!notes->enters_trap ||
	    (branch->event->kind != BRANCH_RETURN && branch->event->kind != BRANCH_JUMP))
		return false;
	at = frame_list_find(&stack->now, FRAME_BY_TRAP, 0);
	if (!at && precise_has_unseen_callers(stack)) {
		precise_enter_unseen(stack, time, &branch->locations->to);
		return true;
	}
	if (!at || stack->now.frames[at - 1].symbol != branch->locations->to.symbol)
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

/* Leave the kernel for untraced code: end all its entries. Returns whether the stack is empty. */
static bool leave_kernel(struct precise_stack *stack, int64_t time)
{
	size_t at = frame_list_find(&stack->now, FRAME_BY_ENTRY, 0);

	if (!at)
		precise_pop_to(stack, time, 0);
	for (; at; at = frame_list_find(&stack->now, FRAME_BY_ENTRY, 0))
		precise_pop_to(stack, time, at - 1);
	return !stack->now.depth;
}

/*
 * Returns whether only the function's own code, entered at `entry`, is known to have run in a
 * frame. Other code, such as a cold part, can set another number and jump back.
 */
static bool has_own_code(const struct frame *frame, const struct symbol *function, uint64_t entry)
{
	return frame->symbol == function && !frame->left &&
	       (frame->kind == FRAME_INFERRED || frame->entry_ip == entry);
}

/* Returns `depth` without inlined calls on top. Moves a call in these to their function. */
static size_t skip_inlined(const struct precise_stack *stack, size_t depth,
			   struct syscall_call *call)
{
	const struct symbol *function;

	while (depth && stack->now.frames[depth - 1].kind == FRAME_INLINED)
		depth--;
	function = depth ? stack->now.frames[depth - 1].symbol : NULL;
	if (function && call->function && call->function->inlined)
		*call = (struct syscall_call){ function, call->offset - function->start };
	return depth;
}

/* Returns a system call's call chain, up to the first frame that ran code of another symbol. */
static struct syscall_chain chain_of_syscall(const struct precise_stack *stack,
					     const struct location *from)
{
	struct syscall_chain chain = { .count = 0 };
	struct syscall_call call = { from->symbol, from->offset };
	size_t at = stack->now.depth;
	uint64_t ip = from->ip;

	while ((at = skip_inlined(stack, at, &call)) && chain.count < SYSCALL_CHAIN_MOST) {
		const struct frame *frame = &stack->now.frames[--at];

		if (!has_own_code(frame, call.function, ip - call.offset))
			break;
		chain.calls[chain.count++] = call;
		if (frame->kind != FRAME_CALLED || frame->jumped)
			break;
		call = (struct syscall_call){ frame->caller, frame->caller_offset };
		ip = frame->return_ip - frame->call_length;
	}
	return chain;
}

/*
 * Returns the name of a pause. The packet has an address only if the address filter stopped the
 * trace (SDM volume 3, "Packet Generation Disable (TIP.PGD) Packet": "unless ContextEn = 0 or
 * TraceEn = 0").
 */
static const struct symbol *pause_symbol(const struct precise_stack *stack,
					 const struct resolved_branch *branch)
{
	const struct branch_event *event = branch->event;
	const bool int80 = event->flags & BRANCH_INT80;
	struct precise *machine = machine_of(stack);
	struct syscall_chain chain;

	if (event->flags & BRANCH_GUEST)
		return &machine->specials[SPECIAL_GUEST];
	if (event->kind == BRANCH_SYSCALL || int80) {
		chain = chain_of_syscall(stack, &branch->locations->from);
		return syscall_symbols_find(&machine->syscalls, &chain, int80);
	}
	return &machine->specials[event->to ? SPECIAL_FILTERED : SPECIAL_UNTRACED];
}

/* Note where execution will resume, if known. */
static void expect_resume(struct frame *pause, const struct resolved_branch *branch)
{
	const struct branch_event *event = branch->event;

	if (event->flags & BRANCH_ASYNC || event->kind == BRANCH_NONE)
		pause->resume_ip = branch->locations->from.ip;
	else if (event->kind == BRANCH_RETURN)
		pause->returned = true;
	else if (event->from_length)
		pause->resume_ip = branch->locations->from.ip + event->from_length;
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
	else if (stack->now.depth && top(stack)->kind == FRAME_PAUSE)
		precise_pop(stack, time); /* the trace of a guest ends */
	pause.symbol = pause_symbol(stack, branch);
	/* A host resumes at the address in its VMCS, not after the guest's entry. */
	if (!(event->flags & BRANCH_GUEST))
		expect_resume(&pause, branch);
	precise_push(stack, time, &pause);
	stack->off_time = event->time;
	stack->off_cpu = event->cpu;
}

/* The length of INT n, SYSCALL and SYSENTER. */
#define TRAP_LENGTH_MAX 2

/*
 * Returns whether execution resumes at `to` as expected. A restarted system call goes back over its
 * instruction. A software interrupt resumes after its instruction, which its FUP has (SDM volume 3,
 * "Intel Processor Trace", far transfers).
 */
static bool resumes_at(uint64_t expected, uint64_t to)
{
	return to - expected + TRAP_LENGTH_MAX <= 2 * TRAP_LENGTH_MAX;
}

/* Returns 1 + the index of the innermost handler that returns to ip; 0: none. */
static size_t find_resumed(struct precise_stack *stack, uint64_t ip)
{
	static const int offsets[] = { 0, -TRAP_LENGTH_MAX, 1, TRAP_LENGTH_MAX };
	size_t at = 0;

	for (size_t i = 0; i < COUNT_OF(offsets) && !at; i++)
		at = frame_list_find(&stack->now, FRAME_BY_RESUME, ip - (uint64_t)offsets[i]);
	return at;
}

/*
 * End the handler or entry at index `at`. Its counts are not those of a stub that it interrupted.
 */
static void end_interruption(struct precise_stack *stack, int64_t time, size_t at)
{
	struct frame *stub;

	precise_pop_to(stack, time, at);
	stub = top(stack);
	if (!stub || !stub->hidden)
		return;
	precise_before_change(stack, stack->now.depth - 1);
	stub->called_insns += stack->insns - stub[1].called_insns;
}

/*
 * If a uprobe replaced a call, the kernel executes it (arch/x86/kernel/uprobes.c,
 * branch_emulate_op()). Returns whether `to` is the target of the call at `call_ip`.
 */
static bool resume_in_call(struct precise_stack *stack, int64_t time, const struct location *to,
			   uint64_t call_ip)
{
	const struct symbol *caller = top(stack)->symbol;
	uint8_t length = location_call_length(caller, call_ip, to);
	struct frame called = { .symbol = symbol_of(stack, to),
				.caller = caller,
				.entry_ip = to->ip,
				.kind = FRAME_CALLED,
				.call_length = length };

	if (!length)
		return false;
	called.caller_offset = call_ip - (to->ip - to->symbol->start) - caller->start;
	frame_set_return(&called, call_ip, length);
	precise_push(stack, time, &called);
	return true;
}

/*
 * Returns whether a function can begin at any address of a symbol: code without symbols, or an
 * unnamed function that is not active, because it may be two functions.
 */
static bool may_have_entries(struct precise_stack *stack, const struct symbol *symbol)
{
	return !symbol_is_function(symbol) ||
	       (symbol->kind == SYMBOL_UNNAMED &&
		!frame_list_find_function(&stack->now, FRAME_BY_FUNCTION, symbol));
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

	if (!expected || resumes_at(expected, to->ip) || !stack->now.depth ||
	    location_is_of_uprobes(to))
		return;
	at = find_resumed(stack, to->ip);
	if (at) {
		end_interruption(stack, time, at - 1);
	} else if (precise_handler_of_candidates(stack, to->ip) == HANDLER_ENDS) {
		precise_return_to_candidate(stack, time, to);
	} else if (resume_in_call(stack, time, to, expected)) {
		return;
	} else if (location_is_entry(to) || may_have_entries(stack, to->symbol)) {
		if (!location_is_entry(to)) {
			handler.slice_flags = SLICE_UNCERTAIN_LEVEL;
			callstack_count_uncertain(stack->base.machine, time);
		}
		precise_push(stack, time, &handler);
	} else if (!same_function(top(stack)->symbol, to->symbol)) {
		precise_jump(stack, time, &(struct location_pair){ .to = *to });
	}
}

/* Returns whether the thread was off its CPU while the trace was stopped, up to `on`. */
static bool was_off_cpu(const struct precise_stack *stack, const struct branch_event *on)
{
	const struct timeline *timeline = machine_of(stack)->timeline;

	if (!timeline || !on->thread || on->cpu < 0 || !stack->off_time)
		return false;
	return on->cpu != stack->off_cpu ||
	       timeline_run_begin(timeline, on->thread, on->cpu, on->time) > stack->off_time;
}

/* The trace shows only when it resumes whether an interrupt or fault switched threads. */
static void explain_pause(struct precise_stack *stack, const struct branch_event *on)
{
	struct precise *machine = machine_of(stack);

	if (top(stack)->symbol == &machine->specials[SPECIAL_UNTRACED] && was_off_cpu(stack, on))
		precise_rename(stack, &machine->specials[SPECIAL_OFF_CPU]);
}

/*
 * Returns whether the innermost frame is a pause that ends a handler of this kind. Execution can
 * resume elsewhere: Go's handlers make the program call a function first, and another signal may
 * follow.
 */
static bool ends_handler(const struct precise_stack *stack, enum frame_kind kind)
{
	return stack->now.depth > 1 && top(stack)[-1].kind == kind &&
	       symbol_is_syscall(top(stack)->symbol) &&
	       ends_with(top(stack)->symbol->linkage->text, "sigreturn");
}

static void on_on(struct precise_stack *stack, int64_t time, const struct resolved_branch *branch)
{
	const struct location *to = &branch->locations->to;
	struct frame called = { .symbol = symbol_of(stack, to),
				.entry_ip = to->ip,
				.kind = FRAME_HANDLER };
	uint64_t expected;
	bool begins;

	if (!stack->now.depth || top(stack)->kind != FRAME_PAUSE)
		return;
	explain_pause(stack, branch->event);
	expected = top(stack)->resume_ip;
	/* With an address filter, tracing left one filtered function and enters another one. */
	begins = top(stack)->outermost || (top(stack)->returned && location_is_entry(to));
	if (top(stack)->outermost)
		called.kind = FRAME_ENTRY;
	if (ends_handler(stack, FRAME_INFERRED) && !stack->candidates &&
	    !frame_list_around(&stack->now, stack->now.depth - 1) &&
	    precise_has_unseen_callers(stack) && !location_is_entry(to)) {
		/* The trace began in a signal handler, which returns to what it interrupted. */
		precise_pop_to(stack, time, 0);
		precise_infer_root(stack, to);
		return;
	}
	if (ends_handler(stack, FRAME_HANDLER)) {
		expected = top(stack)[-1].resume_ip;
		end_interruption(stack, time, stack->now.depth - 2);
	} else {
		precise_pop(stack, time);
	}
	if (begins)
		precise_push(stack, time, &called);
	else
		resume(stack, time, to, expected);
}

static void on_kernel_entry(struct precise_stack *stack, int64_t time,
			    const struct resolved_branch *branch, const struct branch_notes *notes)
{
	struct frame entry = { .symbol = symbol_of(stack, &branch->locations->to),
			       .entry_ip = branch->locations->to.ip,
			       .kind = FRAME_ENTRY,
			       .resume_ip = branch->locations->from.ip,
			       .slice_flags = vector_flags(notes),
			       .cause = notes->cause };

	if (branch->event->kind != BRANCH_INTERRUPT)
		entry.resume_ip += branch->event->from_length;
	precise_push(stack, time, &entry);
}

/*
 * Returns whether an IRET or ERETS uses an interrupt frame that the kernel built: to return from a
 * handler that it called (KVM), or to continue in the same function (sync_core()). `entry`: 1 + the
 * index of the innermost entry; 0: none.
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

void precise_leave_kernel(struct precise_stack *stack, int64_t time, const struct location *to)
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
	end_interruption(stack, time, at - 1);
	resume(stack, time, to, expected);
}

/*
 * Returns whether user code jumps by a far return or IRET: no far call is open, and no call returns
 * to the target.
 */
static bool jumps_by_far_return(struct precise_stack *stack, const struct location_pair *locations)
{
	return locations->from.ip && locations->to.ip && !ip_is_kernel(locations->from.ip) &&
	       !ip_is_kernel(locations->to.ip) && stack->now.depth &&
	       !frame_list_find(&stack->now, FRAME_BY_ENTRY, 0) &&
	       !frame_list_find(&stack->now, FRAME_BY_RETURN, locations->to.ip);
}

/* ---- All branches -------------------------------------------------------- */

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
		precise_sync_top(stack, time, &branch->locations->from);
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
		if (event->kind == BRANCH_SOFTINT && location_jumps_far(&branch->locations->from))
			precise_jump(stack, time, branch->locations);
		else
			on_kernel_entry(stack, time, branch, notes);
		return true;
	case BRANCH_SYSRET:
	case BRANCH_IRET:
		if (jumps_by_far_return(stack, branch->locations))
			precise_jump(stack, time, branch->locations);
		else
			precise_leave_kernel(stack, time, &branch->locations->to);
		return true;
	default:
		return false;
	}
}
