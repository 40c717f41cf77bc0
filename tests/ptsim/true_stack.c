/* SPDX-License-Identifier: MIT */
#include "tests/ptsim/true_stack.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "symbols/symbol.h"

/* A function may pop its arguments; above them is another stack. */
#define ABOVE_BASE 64
/* A load that moves the stack pointer down by more than this is no alloca. */
#define DOWN 256
/* Most bytes of a call instruction. */
#define CALL_LENGTH 15
/* Most growth of a stack since its last frame was pushed. */
#define GROWTH 65536

void true_thread_init(struct true_thread *thread, struct true_slices *slices, int32_t pid,
		      int32_t tid)
{
	*thread = (struct true_thread){ .slices = slices, .pid = pid, .tid = tid };
	thread->stacks = alloc_zeroed(1, sizeof(*thread->stacks));
}

static void drop_stack(struct true_thread *thread)
{
	struct true_stack *stack = thread->stacks;

	thread->stacks = stack->next;
	free(stack->frames);
	free(stack);
}

void true_thread_release(struct true_thread *thread)
{
	while (thread->stacks)
		drop_stack(thread);
}

static struct true_frame *top(const struct true_thread *thread)
{
	struct true_stack *stack = thread->stacks;

	return stack->count ? &stack->frames[stack->count - 1] : NULL;
}

static void emit(struct true_thread *thread, uint32_t depth, const char *name, uint64_t begin,
		 uint64_t end)
{
	struct true_slices *list = thread->slices;

	list->slices =
		alloc_grow(list->slices, &list->room, list->count + 1, sizeof(*list->slices));
	list->slices[list->count] = (struct true_slice){
		.begin = begin,
		.end = end,
		.name = name,
		.pid = thread->pid,
		.tid = thread->tid,
		.depth = depth,
		.order = (uint32_t)list->count,
	};
	list->count++;
}

static bool is_stub(const struct true_frame *frame)
{
	return frame->symbol && frame->symbol->kind == SYMBOL_PLT;
}

/* Returns the slices around a frame above the innermost one: a running stub has no slice. */
static uint32_t count_slices(const struct true_thread *thread)
{
	const struct true_frame *frame = top(thread);

	return frame ? (uint32_t)thread->stacks->count - frame->stubs -
			       (thread->in_stub && is_stub(frame))
		     : 0;
}

static void emit_frame(struct true_thread *thread, size_t depth, uint64_t end)
{
	const struct true_frame *frame = &thread->stacks->frames[depth];

	emit(thread, (uint32_t)depth - frame->stubs, frame->name, frame->begin, end);
	thread->slices->slices[thread->slices->count - 1].insns = thread->insns - frame->insns;
}

static void push(struct true_thread *thread, const struct true_step *step, bool handler)
{
	struct true_stack *stack = thread->stacks;
	uint32_t slices = count_slices(thread);

	stack->frames =
		alloc_grow(stack->frames, &stack->room, stack->count + 1, sizeof(*stack->frames));
	stack->frames[stack->count] = (struct true_frame){
		.stubs = (uint32_t)stack->count - slices,
		.sp = step->sp,
		.begin = step->time,
		.insns = thread->insns,
		.symbol = step->symbol,
		.name = step->symbol->name->text,
		.handler = handler,
		.from = step->from,
		.first_slice = thread->slices->count,
	};
	stack->count++;
}

/* At least a return has left a frame that had replaced another one: its caller had jumped to it. */
static void join_caller(struct true_thread *thread)
{
	struct true_stack *stack = thread->stacks;
	struct true_frame *frame = &stack->frames[stack->count - 1];
	struct true_slice *slices;

	emit_frame(thread, stack->count - 2, frame->begin);
	slices = thread->slices->slices;
	slices[thread->slices->count - 1].insns = frame->insns - frame[-1].insns;
	for (size_t i = frame->first_slice; i + 1 < thread->slices->count; i++)
		slices[i].depth -= slices[i].tid == thread->tid;
	frame[-1].symbol = frame->symbol;
	frame[-1].name = frame->name;
	frame[-1].begin = frame->begin;
	frame[-1].insns = frame->insns;
	stack->count--;
}

static void pop(struct true_thread *thread, uint64_t time)
{
	emit_frame(thread, --thread->stacks->count, time);
}

/* ---- Several stacks ------------------------------------------------------ */

static bool holds(const struct true_stack *stack, uint64_t sp)
{
	if (!stack->count)
		return false;
	return sp <= stack->frames[0].sp + ABOVE_BASE &&
	       sp + GROWTH >= stack->frames[stack->count - 1].sp;
}

/* Returns whether sp is on the innermost frame's stack. */
static bool is_near_top(const struct true_thread *thread, uint64_t sp)
{
	const struct true_frame *frame = top(thread);

	return frame && sp <= frame->sp && sp + GROWTH >= frame->sp;
}

/* Returns 1 + the index of the innermost frame that was called on another stack; 0: none. */
static size_t find_apart(const struct true_stack *stack)
{
	size_t at = stack->count;

	while (at && !stack->frames[at - 1].apart)
		at--;
	return at;
}

static bool is_other_stack(const struct true_thread *thread, uint64_t sp)
{
	const struct true_stack *stack = thread->stacks;
	size_t apart = find_apart(stack);

	for (size_t i = 0; i < stack->count; i++) {
		if (stack->frames[i].handler)
			return false; /* a sigaltstack is below the interrupted stack */
	}
	return stack->count && (sp + DOWN < thread->loaded_from ||
				sp > stack->frames[apart ? apart - 1 : 0].sp + ABOVE_BASE);
}

/*
 * Returns the link to the stack that contains sp, the nearest one above it; to NULL if there is
 * none.
 */
static struct true_stack **find_stack(struct true_thread *thread, uint64_t sp)
{
	struct true_stack **link = &thread->stacks->next, **best = NULL;

	for (; *link; link = &(*link)->next) {
		if (holds(*link, sp) && (!best || (*link)->frames[0].sp < (*best)->frames[0].sp))
			best = link;
	}
	return best ? best : link;
}

/*
 * The stack pointer is back at its value before another stack was loaded for a call: the called
 * code is a stack by itself, on top of this one up to now.
 */
static bool leave_fiber(struct true_thread *thread, size_t at, uint64_t sp, uint64_t time)
{
	struct true_stack *stack = thread->stacks, *fiber;

	if (!at || stack->frames[at].entered_from != sp || stack->frames[at - 1].sp != sp)
		return false;
	fiber = alloc_zeroed(1, sizeof(*fiber));
	fiber->fiber = true;
	fiber->count = stack->count - at;
	fiber->frames =
		alloc_grow(fiber->frames, &fiber->room, fiber->count, sizeof(*fiber->frames));
	memcpy(fiber->frames, stack->frames + at, fiber->count * sizeof(*fiber->frames));
	while (stack->count > at)
		emit_frame(thread, --stack->count, time);
	fiber->next = stack->next;
	stack->next = fiber;
	return true;
}

/* A fiber comes back, on top of the current stack. */
static bool resume_fiber(struct true_thread *thread, uint64_t sp, uint64_t time)
{
	struct true_stack **link = find_stack(thread, sp);
	struct true_stack *stack = thread->stacks, *fiber = *link;
	size_t at = stack->count;

	if (!fiber || !fiber->fiber || !at)
		return false;
	while (fiber->count && fiber->frames[fiber->count - 1].sp < sp)
		fiber->count--;
	stack->frames =
		alloc_grow(stack->frames, &stack->room, at + fiber->count, sizeof(*stack->frames));
	memcpy(stack->frames + at, fiber->frames, fiber->count * sizeof(*stack->frames));
	stack->count += fiber->count;
	for (size_t i = at; i < stack->count; i++) {
		struct true_frame *frame = &stack->frames[i];

		frame->begin = time;
		frame->insns = thread->insns;
		frame->stubs = at ? stack->frames[at - 1].stubs : 0;
		frame->first_slice = thread->slices->count;
	}
	stack->frames[at].apart = true;
	stack->frames[at].entered_from = thread->loaded_from;
	*link = fiber->next;
	free(fiber->frames);
	free(fiber);
	return true;
}

/* Frames of a left stack end, and begin again when it comes back. */
static void switch_stack(struct true_thread *thread, uint64_t sp, uint64_t time)
{
	struct true_stack **link = find_stack(thread, sp), *found = *link;

	for (size_t i = thread->stacks->count; i > 0; i--)
		emit_frame(thread, i - 1, time);
	if (found)
		*link = found->next;
	else
		found = alloc_zeroed(1, sizeof(*found));
	found->next = thread->stacks;
	found->since = time;
	found->since_insns = thread->insns;
	found->first_slice = thread->slices->count;
	thread->stacks = found;
	/* The frames that the switch itself returns from are not seen again. */
	while (found->count && top(thread)->sp < sp)
		found->count--;
	for (size_t i = 0; i < found->count; i++) {
		found->frames[i].begin = time;
		found->frames[i].insns = thread->insns;
	}
}

/* Forget an earlier stack at the same address. */
static void forget_former(struct true_thread *thread, uint64_t base)
{
	for (struct true_stack **link = &thread->stacks->next; *link; link = &(*link)->next) {
		struct true_stack *former = *link;

		if (!former->count || former->frames[0].sp != base)
			continue;
		*link = former->next;
		free(former->frames);
		free(former);
		return;
	}
}

/* The code called on another stack does not return: the call left its caller's stack. */
static void split(struct true_thread *thread, size_t caller_count)
{
	struct true_stack *stack = thread->stacks, *left = alloc_zeroed(1, sizeof(*left));
	const struct true_frame apart = stack->frames[caller_count];

	for (size_t i = apart.first_slice; i < thread->slices->count; i++) {
		struct true_slice *slice = &thread->slices->slices[i];

		if (slice->tid == thread->tid)
			slice->depth -= (uint32_t)caller_count;
	}
	for (size_t i = caller_count; i > 0; i--) {
		emit_frame(thread, i - 1, apart.begin);
		thread->slices->slices[thread->slices->count - 1].insns =
			apart.insns - stack->frames[i - 1].insns;
	}
	left->frames = alloc_grow(left->frames, &left->room, caller_count, sizeof(*left->frames));
	memcpy(left->frames, stack->frames, caller_count * sizeof(*left->frames));
	left->count = caller_count;
	stack->count -= caller_count;
	memmove(stack->frames, stack->frames + caller_count, stack->count * sizeof(*stack->frames));
	stack->frames[0].apart = false;
	forget_former(thread, stack->frames[0].sp);
	left->next = stack->next;
	stack->next = left;
}

/* The outermost function returned to one without a seen call: that was its caller all the time. */
static void push_root(struct true_thread *thread, const struct true_step *step)
{
	struct true_stack *stack = thread->stacks;
	struct true_step root = *step;

	for (size_t i = stack->first_slice; i < thread->slices->count; i++) {
		struct true_slice *slice = &thread->slices->slices[i];

		if (slice->tid == thread->tid)
			slice->depth++;
	}
	root.time = stack->since;
	push(thread, &root, false);
	top(thread)->insns = stack->since_insns;
}

void true_thread_load_sp(struct true_thread *thread, uint64_t before)
{
	if (!thread->loaded_from)
		thread->loaded_from = before;
}

/* ---- Steps --------------------------------------------------------------- */

/* The innermost frame has no call: its interruption belongs to its caller. */
static void drop_call(struct true_thread *thread)
{
	const struct true_frame *frame = top(thread);

	for (size_t i = frame->first_slice; i < thread->slices->count; i++)
		thread->slices->slices[i].depth -= thread->slices->slices[i].tid == thread->tid;
	thread->stacks->count--;
}

static bool returns_to_call(const struct true_frame *frame, const struct true_step *step)
{
	return step->flow == FLOW_RETURN && step->to - frame->from - 1 < CALL_LENGTH;
}

/* Drop the calls within a function whose return address has gone. */
static void drop_calls(struct true_thread *thread, const struct true_step *step, uint64_t sp)
{
	while (top(thread) && top(thread)->within && top(thread)->sp < sp &&
	       !returns_to_call(top(thread), step))
		drop_call(thread);
}

static void unwind(struct true_thread *thread, const struct true_step *step, uint64_t sp)
{
	while (top(thread) && top(thread)->sp < sp && !thread->left_apart) {
		struct true_frame *frame = top(thread);

		thread->left_apart = frame->apart;
		if (frame->takes_over && frame[-1].sp < sp)
			join_caller(thread);
		else
			pop(thread, step->time);
	}
}

/* Returns whether a return takes an address that replaced a frame's. */
static bool takes_replaced(const struct true_thread *thread, const struct true_step *step)
{
	const struct true_frame *frame = top(thread);

	return step->flow == FLOW_RETURN && step->entry && frame &&
	       !(thread->loaded_from && is_other_stack(thread, step->sp)) &&
	       thread->stacks->count > 1 && frame->sp + 8 == step->sp && !frame->within &&
	       !frame->handler && !returns_to_call(frame, step);
}

/* The stack pointer is on another stack.  Returns whether that of a call that will return. */
static bool change_stack(struct true_thread *thread, const struct true_step *step, uint64_t sp,
			 bool call)
{
	size_t apart = find_apart(thread->stacks);

	if (call)
		return true;
	if (apart && leave_fiber(thread, apart - 1, sp, step->time))
		return false;
	thread->came_back = resume_fiber(thread, sp, step->time);
	if (thread->came_back)
		return false;
	if (apart)
		split(thread, apart - 1);
	switch_stack(thread, sp, step->time);
	thread->came_back = thread->stacks->count;
	return false;
}

/* Returns whether a step leads to a frame's function or a part of it. */
static bool is_of_function(const struct true_frame *frame, const struct true_step *step)
{
	return symbol_function(frame->symbol) == symbol_function(step->symbol);
}

/*
 * A stack's first function may be started by a function that pushes its return address and jumps.
 */
static bool begins_stack(const struct true_thread *thread, const struct true_step *step)
{
	const struct true_frame *frame = top(thread);

	return step->flow == FLOW_JUMP_INDIRECT && step->entry && thread->stacks->next &&
	       thread->stacks->count == 1 && frame->sp == step->sp + 8 &&
	       !is_of_function(frame, step);
}

/*
 * A handler's stack may lie above the interrupted code's.  A stack pointer back below it means that
 * longjmp left the handler: otherwise its frame would seem deeper than its callees.
 */
static void leave_stack_above(struct true_thread *thread, uint64_t sp, uint64_t time)
{
	const struct true_stack *stack = thread->stacks;

	for (size_t i = stack->count; i-- > 1;) {
		uint64_t below = stack->frames[i - 1].sp;

		if (!stack->frames[i].handler || stack->frames[i].sp < below || sp > below)
			continue;
		while (stack->count > i)
			pop(thread, time);
	}
}

/* A return that acts as a call is a call. */
static void call_or_begin(struct true_thread *thread, const struct true_step *step, bool call)
{
	bool within = call && !step->entry && top(thread) && is_of_function(top(thread), step);

	struct true_frame *frames = thread->stacks->frames;

	for (size_t i = thread->stacks->count; i-- > 0 && !within && !frames[i].handler;)
		frames[i].within = false;
	push(thread, step, false);
	top(thread)->within = within;
}

static void tail_call(struct true_thread *thread, const struct true_step *step)
{
	struct true_frame *frame = top(thread);
	const struct true_frame replaced = *frame;

	if (frame->within) { /* a retpoline, which is part of the call */
		uint64_t insns = frame->insns;

		drop_call(thread);
		call_or_begin(thread, step, false);
		top(thread)->insns = insns;
		return;
	}
	/* A stub and its target are one call, which begins after a pause. */
	if (is_stub(frame) && !frame->shown) {
		if (frame->left)
			frame->begin = step->time;
		frame->symbol = step->symbol;
		frame->name = step->symbol->name->text;
		return;
	}
	/* A frame that came back for this has no slice. */
	if (thread->came_back)
		thread->stacks->count--;
	else
		pop(thread, step->time);
	push(thread, step, replaced.handler);
	top(thread)->apart = replaced.apart;
	top(thread)->entered_from = replaced.entered_from;
}

/*
 * Returns whether a step after a load of the stack pointer leads to a function that continues a
 * frame, such as one that restores registers or catches exceptions: it returns by that frame's
 * address.
 */
static bool continues_frame(const struct true_frame *frame, const struct true_step *step)
{
	return step->flow != FLOW_CALL && step->flow != FLOW_CALL_INDIRECT && step->entry &&
	       frame->sp > step->sp && !is_of_function(frame, step);
}

static void continue_frame(struct true_thread *thread, const struct true_step *step)
{
	struct true_step place = *step;

	place.sp = top(thread)->sp;
	tail_call(thread, &place);
}

/* A return's target replaces the frame that the return ends. */
static void take_over(struct true_thread *thread, const struct true_step *step)
{
	struct true_step place = *step;

	place.sp -= 8;
	push(thread, &place, false);
	top(thread)->takes_over = true;
}

static void follow(struct true_thread *thread, const struct true_step *step)
{
	bool call = step->flow == FLOW_CALL || step->flow == FLOW_CALL_INDIRECT;
	uint64_t sp = call ? step->sp + (step->bits32 ? 4 : 8) : step->sp;
	bool leaves_handler, replaced, apart = false;
	uint64_t loaded_from = thread->loaded_from;
	struct true_frame *frame;

	drop_calls(thread, step, sp);
	frame = top(thread);
	leaves_handler = step->flow == FLOW_RETURN && frame && frame->handler && frame->sp < sp &&
			 frame->sp + ABOVE_BASE > sp;
	replaced = takes_replaced(thread, step);
	thread->came_back = false;
	if (thread->loaded_from &&
	    (thread->left_apart ? call && !is_near_top(thread, sp) : is_other_stack(thread, sp)))
		apart = change_stack(thread, step, sp, call);
	if (thread->loaded_from)
		thread->left_apart = false;
	thread->loaded_from = 0;
	if (apart) {
		push(thread, step, false);
		top(thread)->apart = true;
		top(thread)->entered_from = loaded_from;
		top(thread)->first_slice = thread->slices->count;
		return;
	}
	leave_stack_above(thread, sp, step->time);
	if (leaves_handler)
		pop(thread, step->time);
	else
		unwind(thread, step, sp);
	frame = top(thread);
	if (replaced)
		take_over(thread, step);
	else if (leaves_handler)
		push(thread, step, true); /* the restorer, which calls sigreturn */
	else if (!call && !frame && !step->entry && thread->stacks->next)
		push_root(thread, step);
	else if (call || !frame)
		call_or_begin(thread, step, call);
	else if (loaded_from && continues_frame(frame, step))
		continue_frame(thread, step);
	else if ((frame->sp == sp && !is_of_function(frame, step)) || begins_stack(thread, step))
		tail_call(thread, step);
	else if (step->flow != FLOW_COND && frame->sp > sp && !is_of_function(frame, step) &&
		 frame->symbol->kind != SYMBOL_PLT && step->entry)
		push(thread, step, false);
}

void true_thread_step(struct true_thread *thread, const struct true_step *step)
{
	follow(thread, step);
	thread->in_stub = step->symbol->kind == SYMBOL_PLT;
}

/* ---- Out of user code and back ------------------------------------------- */

void true_thread_leave(struct true_thread *thread, uint64_t time, const char *name)
{
	struct true_frame *frame = top(thread);

	if (frame && thread->in_stub && is_stub(frame))
		frame->left = true;
	else if (frame)
		frame->shown = true;
	thread->away = time;
	thread->away_name = name;
}

void true_thread_leave_cpu(struct true_thread *thread)
{
	if (thread->away_name && strcmp(thread->away_name, "[untraced]") == 0)
		thread->away_name = "[untraced: off CPU]";
}

static void come_back(struct true_thread *thread, uint64_t time)
{
	if (thread->away_name)
		emit(thread, count_slices(thread), thread->away_name, thread->away, time);
	thread->away_name = NULL;
}

static void leave_handler(struct true_thread *thread, uint64_t time)
{
	struct true_stack *stack = thread->stacks;
	bool handler = false;

	while (stack->count && !handler) {
		handler = top(thread)->handler;
		pop(thread, time);
	}
}

void true_thread_resume(struct true_thread *thread, const struct true_step *step, bool sigreturn)
{
	come_back(thread, step->time);
	if (sigreturn) {
		leave_handler(thread, step->time);
		/* The handler has put an address on the stack, and has a function return to it. */
		if (step->entry && top(thread) && top(thread)->sp > step->sp &&
		    !is_of_function(top(thread), step))
			push(thread, step, false);
	}
	if (!thread->stacks->count)
		push(thread, step, false);
	thread->in_stub = step->symbol->kind == SYMBOL_PLT;
}

void true_thread_handle(struct true_thread *thread, const struct true_step *step)
{
	come_back(thread, step->time);
	push(thread, step, true);
	thread->in_stub = false;
}

void true_thread_end(struct true_thread *thread, uint64_t time)
{
	/* A thread that stays in the kernel was last seen on its way there. */
	if (thread->away_name)
		time = thread->away;
	come_back(thread, time);
	while (thread->stacks->count)
		pop(thread, time);
	while (thread->stacks->next) {
		struct true_stack *other = thread->stacks->next;

		thread->stacks->next = other->next;
		free(other->frames);
		free(other);
	}
	thread->loaded_from = 0;
}

void true_thread_copy(struct true_thread *child, const struct true_thread *parent, uint64_t time)
{
	const struct true_stack *from = parent->stacks;
	struct true_stack *to = child->stacks;

	if (!from->count)
		return;
	to->frames = alloc_grow(to->frames, &to->room, from->count, sizeof(*to->frames));
	memcpy(to->frames, from->frames, from->count * sizeof(*to->frames));
	to->count = from->count;
	for (size_t i = 0; i < to->count; i++) {
		to->frames[i].begin = time;
		to->frames[i].insns = child->insns;
	}
}

/* ---- Printing ------------------------------------------------------------ */

static int compare_numbers(uint64_t a, uint64_t b)
{
	return a < b ? -1 : a > b;
}

static int compare(const void *left, const void *right)
{
	const struct true_slice *a = left, *b = right;

	if (a->pid != b->pid)
		return a->pid < b->pid ? -1 : 1;
	if (a->tid != b->tid)
		return a->tid < b->tid ? -1 : 1;
	if (a->begin != b->begin)
		return compare_numbers(a->begin, b->begin);
	if (a->depth != b->depth)
		return compare_numbers(a->depth, b->depth);
	return compare_numbers(a->order, b->order);
}

void true_slices_print(struct true_slices *slices, FILE *out, bool counts)
{
	if (slices->count)
		qsort(slices->slices, slices->count, sizeof(*slices->slices), compare);
	for (size_t i = 0; i < slices->count; i++) {
		const struct true_slice *slice = &slices->slices[i];

		fprintf(out, "%d/%d %" PRIu32 " %" PRIu64 " %" PRIu64 " %s", slice->pid, slice->tid,
			slice->depth, slice->begin, slice->end, slice->name);
		if (counts)
			fprintf(out, " insns=%" PRIu64, slice->insns);
		fputc('\n', out);
	}
}

void true_slices_release(struct true_slices *slices)
{
	free(slices->slices);
	*slices = (struct true_slices){ 0 };
}
