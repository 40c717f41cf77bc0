/* SPDX-License-Identifier: MIT */
/* Operations on the frames of magic-trace's machine. */
#include "src/callstack/magic_trace/callstack_magic_frames.h"

#define INLINED static inline __attribute__((always_inline))

static struct magic_level *current(const struct magic_stack *stack)
{
	return &stack->levels[stack->level_count - 1];
}

static bool is_known(const struct magic_stack *stack, const struct symbol *symbol,
		     enum magic_known function)
{
	return symbol && symbol->name == magic_machine(stack)->known[function];
}

static void push(struct magic_stack *stack, const struct symbol *symbol)
{
	*ARRAY_ADD(stack->frames, stack->depth, stack->frame_room) = symbol;
}

/* Returns the earliest start of an unseen frame, for a stack that begins at `ip`. */
static int64_t since_of(const struct magic_stack *stack, int64_t time, uint64_t ip)
{
	return ip_is_kernel(ip) ? time : stack->last_gap_time;
}

void magic_push_level(struct magic_stack *stack, int64_t time, uint64_t ip)
{
	size_t calls = timestamp_group_calls(&stack->group, time, SLICE_ORDER_LAST);

	stack->first = stack->depth;
	*ARRAY_ADD(stack->levels, stack->level_count, stack->level_room) = (struct magic_level){
		.first = stack->depth,
		.since = since_of(stack, time, ip),
		.entry = time,
		.enclosing = stack->group_depth < stack->depth ? (int8_t)calls : (int8_t)0,
	};
}

bool magic_pop_level(struct magic_stack *stack)
{
	if (stack->level_count < 2)
		return false;
	stack->level_count--;
	stack->first = current(stack)->first;
	return true;
}

void magic_renew(struct magic_stack *stack, int64_t time, uint64_t ip)
{
	current(stack)->since = since_of(stack, time, ip);
}

/* Returns a frame that was found late, and encloses the current stack. */
static struct slice_event found_late(const struct magic_stack *stack, const struct symbol *symbol)
{
	const struct magic_level *level = current(stack);
	bool enclosed = level->enclosing && level->entry == level->since;

	return (struct slice_event){
		.symbol = symbol,
		.order = enclosed ? level->enclosing : (int8_t)SLICE_ORDER_DEFERRED,
	};
}

INLINED void group_event(struct magic_stack *stack, int64_t time, const struct symbol *symbol,
			 uint64_t ip, enum slice_event_kind kind)
{
	struct slice_event *event = timestamp_group_next(&stack->group, time, 0);

	event->symbol = symbol;
	event->ip = ip;
	event->flags = 0;
	event->kind = (uint8_t)kind;
	event->order = SLICE_ORDER_PLAIN;
	stack->group.calls += kind == SLICE_BEGIN;
	if (stack->group.details) {
		stack->group.details[stack->group.count - 1] = (struct slice_detail){ 0 };
		timestamp_group_set_cycles(&stack->group);
	}
}

INLINED void call_symbol(struct magic_stack *stack, int64_t time, const struct symbol *symbol,
			 uint64_t ip)
{
	if (!timestamp_group_calls(&stack->group, time, 1))
		stack->group_depth = stack->depth;
	group_event(stack, time, symbol, ip, SLICE_BEGIN);
	push(stack, symbol);
}

void magic_call(struct magic_stack *stack, int64_t time, const struct location *to)
{
	call_symbol(stack, time, magic_symbol_at(stack, to), to->ip);
}

void magic_call_special(struct magic_stack *stack, int64_t time, enum magic_special special)
{
	call_symbol(stack, time, &magic_machine(stack)->specials[special], 0);
}

/* Pop the innermost frame; on an empty stack, return from an unseen function. */
INLINED void ret(struct magic_stack *stack, int64_t time)
{
	if (magic_is_empty(stack)) {
		struct slice_event event =
			found_late(stack, &magic_machine(stack)->specials[MAGIC_UNKNOWN]);
		timestamp_group_add_unseen_return(&stack->group, time, &event,
						  current(stack)->since);
		return;
	}
	if (--stack->depth == stack->group_depth)
		stack->group_depth = SIZE_MAX;
	group_event(stack, time, stack->frames[stack->depth], 0, SLICE_END);
}

void magic_clear(struct magic_stack *stack, int64_t time)
{
	while (!magic_is_empty(stack))
		ret(stack, time);
}

/*
 * Close all frames and emit all events. magic-trace flushes to the group's former time. Events that
 * this defers are emitted with the next segment, or never after the last segment.
 */
void magic_end_segment(struct magic_stack *stack, int64_t time, bool last)
{
	bool in_order = !last && !stack->base.machine->sink->immediate;
	int64_t group_time = stack->group.time;

	stack->group.last = last;
	if (!in_order)
		timestamp_group_emit_deferred(&stack->group);
	do
		magic_clear(stack, time);
	while (magic_pop_level(stack));
	timestamp_group_flush(&stack->group, group_time, 0);
	if (in_order)
		timestamp_group_emit_deferred(&stack->group);
}

void magic_restart(struct magic_stack *stack, int64_t time, uint64_t ip)
{
	magic_end_segment(stack, time, false);
	if (!stack->group.outer.count && !stack->group.initial.count)
		slice_sink_flush(stack->base.machine->sink, stack->base.track);
	stack->last_gap_time = time;
	magic_renew(stack, time, ip);
}

static bool is_goroutine_switch(const struct magic_stack *stack, const struct symbol *symbol)
{
	return is_known(stack, symbol, GO_MCALL) || is_known(stack, symbol, GO_MORESTACK);
}

/*
 * Go's gogo jumps to another goroutine, usually to its call of mcall or morestack: pop this frame
 * and the caller, which the jump pushes again. Without such a frame, the stack is new.
 */
static void leave_goroutine(struct magic_stack *stack, int64_t time)
{
	size_t depth = stack->depth;

	while (depth > stack->first && !is_goroutine_switch(stack, stack->frames[depth - 1]))
		depth--;
	if (depth == stack->first) {
		magic_restart(stack, time, 0);
		return;
	}
	while (stack->depth >= depth)
		ret(stack, time);
	ret(stack, time);
}

void magic_check_symbol(struct magic_stack *stack, int64_t time, const struct location *to)
{
	const struct symbol *symbol = magic_symbol_at(stack, to);
	const struct symbol *innermost = magic_top(stack);

	if (!innermost) {
		struct slice_event event = found_late(stack, symbol);

		event.ip = to->ip;
		event.flags |= SLICE_INFERRED_START;
		timestamp_group_infer(&stack->group, current(stack)->since, &event,
				      &(struct slice_detail){ 0 });
		push(stack, symbol);
		return;
	}
	if (innermost->name == symbol->name)
		return;
	ret(stack, time);
	if (stack->base.machine->newer_upstream && is_known(stack, innermost, GO_GOGO))
		leave_goroutine(stack, time);
	magic_call(stack, time, to);
}

/*
 * A return, with heuristics for OCaml's runtime: caml_next_frame_descriptor returns once for each
 * frame that an exception unwinds; the raising function then returns past that number of frames.
 * caml_raise_exn is one of them; caml_raise_exception is called through two frames of C.
 */
void magic_ret(struct magic_stack *stack, int64_t time)
{
	const struct symbol *innermost = magic_top(stack);
	size_t frames = stack->frames_to_unwind, unwound = 0;

	if (is_known(stack, innermost, OCAML_NEXT_FRAME) ||
	    (stack->base.machine->newer_upstream &&
	     is_known(stack, innermost, OCAML_STASH_BACKTRACE))) {
		stack->frames_to_unwind++;
	} else if (is_known(stack, innermost, OCAML_RAISE_EXN)) {
		unwound = frames ? frames - 1 : 0;
		stack->frames_to_unwind = 0;
	} else if (is_known(stack, innermost, OCAML_RAISE_EXCEPTION)) {
		unwound = frames + 2;
		stack->frames_to_unwind = 0;
	}
	for (size_t i = 0; i <= unwound; i++)
		ret(stack, time);
}

/* The rules for near branches. Most are jumps within the innermost function. */
static inline void follow_plain(struct magic_stack *stack, const struct branch_event *event)
{
	const struct location *to = &event->known->locations.to;
	int64_t time = magic_time(stack, (int64_t)(event->time - stack->base.machine->base_time));

	if (event->kind == BRANCH_CALL) {
		call_symbol(stack, time, magic_symbol_at(stack, to), to->ip);
		return;
	}
	if (event->kind == BRANCH_RETURN)
		magic_ret(stack, time);
	if (magic_top(stack) != to->symbol || !to->symbol)
		magic_check_symbol(stack, time, to);
}

size_t magic_feed_plain(struct callstack *base, const struct branch_event *events, size_t count,
			bool counts __attribute__((unused)))
{
	struct magic_stack *stack = (struct magic_stack *)base;
	const struct branch_event *event = events, *end = events + count;

	if (!stack->started || stack->transaction_count ||
	    magic_machine(stack)->mode == TRACE_MODE_GUESS)
		return 0;
	for (; event < end && branch_is_near(event) && event->known &&
	       event->known->locations.reached && event->thread == events->thread &&
	       event->space == events->space;
	     event++)
		follow_plain(stack, event);
	return (size_t)(event - events);
}

void magic_names_init(struct magic_trace *machine, struct name_table *names)
{
	static const struct {
		const char *text;
		enum symbol_special special;
	} specials[MAGIC_SPECIALS] = {
		[MAGIC_UNTRACED] = { "[untraced]", SPECIAL_UNTRACED },
		[MAGIC_SYSCALL] = { "[syscall]", SPECIAL_SYSCALL },
		[MAGIC_RETURNED] = { "[returned]", SPECIAL_OTHER },
		[MAGIC_UNKNOWN] = { "[unknown]", SPECIAL_UNKNOWN },
	};
	static const char *const known[MAGIC_KNOWN] = {
		[OCAML_NEXT_FRAME] = "caml_next_frame_descriptor",
		[OCAML_STASH_BACKTRACE] = "caml_stash_backtrace",
		[OCAML_RAISE_EXN] = "caml_raise_exn",
		[OCAML_RAISE_EXCEPTION] = "caml_raise_exception",
		[GO_GOGO] = "gogo",
		[GO_MCALL] = "runtime.mcall",
		[GO_MORESTACK] = "runtime.morestack.abi0",
	};

	for (size_t i = 0; i < MAGIC_SPECIALS; i++)
		machine->specials[i] = symbol_special(names, specials[i].text, specials[i].special);
	for (size_t i = 0; i < MAGIC_KNOWN; i++)
		machine->known[i] = name_intern_text(names, known[i]);
}
