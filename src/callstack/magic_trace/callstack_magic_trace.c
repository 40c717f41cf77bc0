/* SPDX-License-Identifier: MIT */
/*
 * The call-stack machine of magic-trace 1.0 (github.com/janestreet/magic-trace), including its
 * corner cases, so that its users get the trace they know.
 *
 * The machine follows names, not addresses: a jump or return into a function of another name
 * replaces the innermost frame. Two symbols with the same name (`symbol->name`, interned) are one
 * function.
 *
 * Slices are emitted in magic-trace's order, which is not by time:
 *  - nothing is emitted for a timestamp until a later one arrives (timestamp_group.h);
 *  - callers found late, returns from unseen functions, and calls at the time of the run's first
 * event come when the segment ends, with SLICE_ORDER_DEFERRED; in that order only if the sink is
 *    `immediate`: for others, each comes around its callees, and is lost where magic-trace loses
 * it;
 *  - times decrease where the input's do.
 * The sink is flushed when a gap or the end of the trace has closed all frames, unless deferred
 * events remain for the next segment. The sink receives perf's times.
 *
 * Where magic-trace stops with an error ("impossible" events) this machine counts a warning and
 * treats the event as BRANCH_NONE.
 *
 * The table `rules` lists the action for each kind of branch, without a flag and at branches where
 * tracing starts (ON) or stops (OFF). A gap closes all frames and begins a new stack. A
 * transaction's branches are held back until it ends, and dropped if it aborts.
 */
#include "src/callstack/magic_trace/callstack_magic_frames.h"

/* Branches held back in one transaction; a hardware transaction fits in the CPU's caches. */
#define TRANSACTION_LIMIT 65536

enum action {
	NOTHING,
	IMPOSSIBLE,     /* warn; as if the kind were BRANCH_NONE */
	CALL,           /* call the target */
	CHECK,          /* make the innermost frame the target's function */
	RETURN,         /* return, with the OCaml heuristics; then CHECK */
	START,          /* see start_trace() */
	CALL_UNTRACED,  /* call [untraced] */
	CALL_RETURNED,  /* call [returned]; the returning frame stays below it */
	CALL_SYSCALL,   /* call [syscall] */
	CLEAR_UNTRACED, /* return from all frames; then CALL_UNTRACED */
	ENTER_KERNEL,   /* set the stack aside and call the target on a new one */
	LEAVE_KERNEL,   /* see leave_kernel() */
};

/* Bit sets of modes. */
enum {
	ANY = 0,
	USER = 1 << TRACE_MODE_USER,
	KERNEL = 1 << TRACE_MODE_KERNEL,
	BOTH = 1 << TRACE_MODE_BOTH,
};

struct rule {
	uint8_t action; /* enum action */
	uint8_t modes;  /* warn in other modes; ANY: never */
};

enum { STATE_SAME, STATE_ON, STATE_OFF, STATES };

static const struct rule rules[][STATES] = {
	[BRANCH_NONE] = { { NOTHING, ANY }, { START, ANY }, { CALL_UNTRACED, ANY } },
	[BRANCH_CALL] = { { CALL, ANY }, { IMPOSSIBLE, ANY }, { CALL, ANY } },
	[BRANCH_RETURN] = { { RETURN, ANY }, { IMPOSSIBLE, ANY }, { CALL_RETURNED, ANY } },
	[BRANCH_JUMP] = { { CHECK, ANY }, { IMPOSSIBLE, ANY }, { IMPOSSIBLE, ANY } },
	[BRANCH_COND] = { { CHECK, ANY }, { IMPOSSIBLE, ANY }, { IMPOSSIBLE, ANY } },
	[BRANCH_SYSCALL] = { { ENTER_KERNEL, BOTH }, { IMPOSSIBLE, ANY }, { CALL_SYSCALL, USER } },
	[BRANCH_SYSRET] = { { LEAVE_KERNEL, BOTH },
			    { IMPOSSIBLE, ANY },
			    { CLEAR_UNTRACED, KERNEL } },
	[BRANCH_SOFTINT] = { { CHECK, ANY }, { IMPOSSIBLE, ANY }, { CALL_UNTRACED, ANY } },
	[BRANCH_IRET] = { { LEAVE_KERNEL, BOTH | KERNEL },
			  { IMPOSSIBLE, ANY },
			  { CLEAR_UNTRACED, KERNEL } },
	[BRANCH_INTERRUPT] = { { ENTER_KERNEL, BOTH | KERNEL },
			       { IMPOSSIBLE, ANY },
			       { IMPOSSIBLE, ANY } },
	[BRANCH_TX_ABORT] = { { CHECK, ANY }, { IMPOSSIBLE, ANY }, { IMPOSSIBLE, ANY } },
};

/* Returns the mode, guessed from the addresses so far if it is TRACE_MODE_GUESS. */
static enum trace_mode mode_of(const struct magic_stack *stack)
{
	const struct magic_trace *machine = magic_machine(stack);

	if (machine->mode != TRACE_MODE_GUESS)
		return machine->mode;
	if (machine->saw_kernel)
		return machine->saw_user ? TRACE_MODE_BOTH : TRACE_MODE_KERNEL;
	return TRACE_MODE_USER;
}

/*
 * If only the kernel is traced, begin a new stack. On an empty stack, call the target. Otherwise
 * return from the frame that was called when tracing stopped, without CHECK: a page fault at a
 * call's target would look like a tail call.
 */
static void start_trace(struct magic_stack *stack, int64_t time, const struct location *to)
{
	if (mode_of(stack) == TRACE_MODE_KERNEL) {
		magic_clear(stack, time);
		magic_renew(stack, time, to->ip);
	} else if (magic_is_empty(stack)) {
		magic_call(stack, time, to);
	} else {
		magic_ret(stack, time);
	}
}

/* Return from all frames to the stack set aside last, without CHECK; or begin a new one. */
static void leave_kernel(struct magic_stack *stack, int64_t time, const struct location *to)
{
	magic_clear(stack, time);
	if (magic_pop_level(stack))
		return;
	magic_renew(stack, time, to->ip);
	magic_check_symbol(stack, time, to);
}

static void act(struct magic_stack *stack, int64_t time, enum action action,
		const struct location *to)
{
	switch (action) {
	case NOTHING:
	case IMPOSSIBLE:
		break;
	case CALL:
		magic_call(stack, time, to);
		break;
	case RETURN:
		magic_ret(stack, time);
		/* fall through */
	case CHECK:
		magic_check_symbol(stack, time, to);
		break;
	case START:
		start_trace(stack, time, to);
		break;
	case CLEAR_UNTRACED:
		magic_clear(stack, time);
		/* fall through */
	case CALL_UNTRACED:
		magic_call_special(stack, time, MAGIC_UNTRACED);
		break;
	case CALL_RETURNED:
		magic_call_special(stack, time, MAGIC_RETURNED);
		break;
	case CALL_SYSCALL:
		magic_call_special(stack, time, MAGIC_SYSCALL);
		break;
	case ENTER_KERNEL:
		magic_push_level(stack, time, to->ip);
		magic_call(stack, time, to);
		break;
	case LEAVE_KERNEL:
		leave_kernel(stack, time, to);
		break;
	}
}

static void follow_branch(struct magic_stack *stack, int64_t time,
			  const struct resolved_branch *branch)
{
	const struct branch_event *event = branch->event;
	unsigned kind = event->kind, flags = event->flags & (BRANCH_TRACE_ON | BRANCH_TRACE_OFF);
	unsigned state = flags & BRANCH_TRACE_ON ? STATE_ON : flags ? STATE_OFF : STATE_SAME;
	unsigned long long ip = branch->locations->from.ip;
	struct diag *diag = stack->base.machine->diag;
	enum trace_mode mode = magic_machine(stack)->mode;
	struct rule rule;

	/* perf prints both flags for odd streams of other programs; ignore them. */
	if (flags == (BRANCH_TRACE_ON | BRANCH_TRACE_OFF) || kind > BRANCH_TX_ABORT)
		return;
	rule = rules[kind][state];
	if (rule.action == IMPOSSIBLE) {
		diag_warn(diag, "impossible-branch",
			  "tracing started or stopped with a branch that cannot do that "
			  "(kind %u from 0x%llx); its kind was ignored",
			  kind, ip);
		rule = rules[BRANCH_NONE][state];
	}
	if (rule.modes && mode != TRACE_MODE_GUESS && !(rule.modes & 1 << mode))
		diag_warn(diag, "branch-not-in-mode",
			  "the trace has branches that its mode (user, kernel) excludes; "
			  "first: kind %u from 0x%llx",
			  kind, ip);
	act(stack, time, (enum action)rule.action, &branch->locations->to);
}

static __attribute__((noinline)) void gap(struct magic_stack *stack, int64_t time,
					  const struct resolved_branch *branch, const char *message)
{
	const struct callstack_machine *machine = stack->base.machine;
	char text[1024];

	if (!message)
		message = gap_reason_facts((enum gap_reason)branch->event->gap)->text;
	snprintf(text, sizeof(text), "[decode error: %s]", message);
	timestamp_group_emit(&stack->group);
	slice_sink_emit(machine->sink, stack->base.track,
			&(struct slice_event){ .time = callstack_perf_time(machine, time),
					       .text = text,
					       .kind = SLICE_INSTANT },
			NULL);
	magic_restart(stack, time, branch->locations->from.ip);
}

static void mark(struct magic_stack *stack, int64_t time, const struct symbol *symbol)
{
	const struct callstack_machine *machine = stack->base.machine;
	uint64_t at = callstack_perf_time(machine, time);

	timestamp_group_emit(&stack->group);
	slice_sink_emit_whole(machine->sink, stack->base.track,
			      &(struct slice_event){ .time = at, .symbol = symbol }, at);
}

/* Map perf's time. The run's first time is the base. */
static int64_t map_time(struct callstack_machine *machine, uint64_t time)
{
	if (!machine->has_base_time) {
		machine->base_time = machine->choose_base
					     ? machine->choose_base(machine->base_context, time)
					     : time;
		machine->has_base_time = true;
	}
	return (int64_t)(time - machine->base_time);
}

static int64_t event_time(struct magic_stack *stack, const struct branch_event *event, bool untimed)
{
	int64_t time = untimed ? 0 : map_time(stack->base.machine, event->time);

	if (!stack->started) {
		stack->started = true;
		stack->last_gap_time = stack->last_event_time = time;
		magic_renew(stack, time, 0);
	}
	return magic_time(stack, untimed ? stack->last_event_time : time);
}

static void note_address(struct magic_trace *machine, uint64_t ip)
{
	machine->saw_kernel |= ip_is_kernel(ip);
	machine->saw_user |= ip && !ip_is_kernel(ip);
}

static void deliver(struct magic_stack *stack, const struct resolved_branch *branch,
		    const struct branch_notes *notes)
{
	int64_t time = event_time(stack, branch->event, notes->untimed);

	if (magic_machine(stack)->mode == TRACE_MODE_GUESS) {
		note_address(magic_machine(stack), branch->locations->from.ip);
		note_address(magic_machine(stack), branch->locations->to.ip);
	}
	if (branch->event->kind == BRANCH_GAP)
		gap(stack, time, branch, notes->message);
	else if (notes->mark)
		mark(stack, time, notes->mark);
	else
		follow_branch(stack, time, branch);
}

static void deliver_transaction(struct magic_stack *stack)
{
	for (size_t i = 0; i < stack->transaction_count; i++) {
		const struct held_branch *held = &stack->transaction[i];

		deliver(stack, &(struct resolved_branch){ &held->event, &held->locations },
			&held->notes);
	}
	stack->transaction_count = 0;
}

static void hold_back(struct magic_stack *stack, const struct resolved_branch *branch,
		      const struct branch_notes *notes)
{
	*ARRAY_ADD(stack->transaction, stack->transaction_count, stack->transaction_room) =
		(struct held_branch){ *branch->event, *branch->locations, *notes };
}

static void magic_trace_feed(struct callstack *base, const struct resolved_branch *branch,
			     const struct branch_notes *notes)
{
	static const struct branch_notes none;
	struct magic_stack *stack = (struct magic_stack *)base;
	struct callstack_machine *machine = base->machine;

	notes = notes ?: &none;

	/* magic-trace counts from 0 if the first event is a gap, which has no time. */
	if (machine->like_upstream && branch->event->kind == BRANCH_GAP)
		map_time(machine, 0);
	if (!notes->untimed)
		map_time(machine, branch->event->time); /* a held branch may be the run's first */
	if (branch->event->kind == BRANCH_TX_ABORT) {
		stack->transaction_count = 0;
	} else if (branch->event->kind == BRANCH_GAP) {
		if (stack->transaction_count)
			diag_warn(machine->diag, "transaction-lost",
				  "a gap cut a transaction short; its branches are not shown");
		stack->transaction_count = 0;
	} else if (branch->event->flags & BRANCH_IN_TX) {
		if (stack->transaction_count >= TRANSACTION_LIMIT)
			deliver_transaction(stack);
		hold_back(stack, branch, notes);
		return;
	}
	deliver_transaction(stack);
	deliver(stack, branch, notes);
}

static void magic_trace_finish(struct callstack *base)
{
	struct magic_stack *stack = (struct magic_stack *)base;

	magic_end_segment(stack, stack->last_event_time, true);
	slice_sink_flush(base->machine->sink, base->track);
}

static struct callstack *magic_trace_open(struct callstack_machine *machine, void *track)
{
	struct magic_stack *stack = alloc_zeroed(1, sizeof(*stack));

	stack->base.machine = machine;
	stack->base.track = track;
	stack->group.owner = &stack->base;
	stack->group.evenly = true;
	stack->group.sorted = !machine->sink->immediate;
	magic_push_level(stack, 0, 0);
	return &stack->base;
}

static void magic_trace_close(struct callstack *base)
{
	struct magic_stack *stack = (struct magic_stack *)base;

	timestamp_group_release(&stack->group);
	free(stack->frames);
	free(stack->levels);
	free(stack->transaction);
	free(stack);
}

static void magic_trace_machine_close(struct callstack_machine *machine)
{
	free(machine);
}

static const struct callstack_ops magic_trace_ops = {
	.open = magic_trace_open,
	.feed = magic_trace_feed,
	.feed_plain = magic_feed_plain,
	.finish = magic_trace_finish,
	.close = magic_trace_close,
	.machine_close = magic_trace_machine_close,
};

struct callstack_machine *callstack_magic_trace_open(const struct callstack_options *options)
{
	struct magic_trace *machine = alloc_zeroed(1, sizeof(*machine));

	callstack_machine_init(&machine->base, &magic_trace_ops, options);
	machine->mode = options->mode;
	magic_names_init(machine, options->names);
	return &machine->base;
}
