/* SPDX-License-Identifier: MIT */
/*
 * Code without bytes (JIT code, trampolines on the stack, missing files), and code that changed
 * while it ran.
 *
 * The decoder emits a gap where the flow enters such code, and resumes at the next address in known
 * code. The frames stay, and the code becomes the innermost frame. The address where the trace
 * resumes shows which frame continues:
 *
 *   the trace resumes                  action
 *   ---------------------------------  ---------------------------------------------------------
 *   just after a call                  pop to it
 *   in user code, out of the kernel    end the innermost entry
 *   in code without a name             nothing
 *   in the function that jumped to it  a jump back: the function takes the frame
 *   at an entry, straight out of code  a jump, if the code is on a stack; else push: a recursion
 *   that was called
 *   in an active function              pop to it; anew if another function called the code, or at
 *                                      its entry: a loop does so more often than a recursion
 *   in the kernel, out of user code    push an entry
 *   else                               push: the code called the function, or its caller did; but
 *                                      end the slice of the code first, if the function returned
 *                                      to that caller the last time: the code jumps to it
 *
 * Frames that are pushed or called anew have SLICE_UNCERTAIN_LEVEL, and so does the slice of the
 * code if its begin was not emitted yet.
 */
#include "src/callstack/precise/callstack_precise_stack.h"

static uint64_t *jumped_slot(struct precise_stack *stack, uint64_t ip)
{
	return &stack->jumped_to[fibonacci_hash(ip, JUMPED_TO_BITS)];
}

/* A function entered from code without bytes returned, to that code's caller if `jumped`. */
static void note_jump(struct precise_stack *stack, uint64_t ip, bool jumped)
{
	uint64_t *slot = jumped_slot(stack, ip);

	if (jumped)
		*slot = ip;
	else if (*slot == ip)
		*slot = 0;
}

void precise_note_return(struct precise_stack *stack, size_t at)
{
	const struct frame *called = at ? &stack->now.frames[at - 1] : NULL;

	if (top(stack)->kind != FRAME_ENTERED)
		return;
	if (!called || (at == frame_list_around(&stack->now, stack->now.depth) && called->opaque))
		note_jump(stack, top(stack)->known_ip, called);
}

/* The code called the function to which it seemed to jump. */
static void show_again(struct precise_stack *stack, int64_t time)
{
	precise_before_change(stack, stack->now.depth - 1);
	top(stack)->hidden = false;
	top(stack)->slice_flags |= SLICE_UNCERTAIN_LEVEL;
	callstack_count_uncertain(stack->base.machine, time);
	precise_emit_begin(stack, time, top(stack));
}

/* Make the code at `at` the innermost frame, if it is not. */
static void enter_code(struct precise_stack *stack, int64_t time, const struct location *at)
{
	struct callstack_machine *machine = stack->base.machine;

	if (top(stack)->opaque) {
		if (top(stack)->hidden)
			show_again(stack, time);
		return;
	}
	if (top(stack)->symbol != symbol_of(stack, at) && top(stack)->symbol->kind != SYMBOL_PLT) {
		stack->jumped_from = top(stack)->symbol;
		precise_tail_call(stack, time, &(struct location_pair){ .to = *at });
		if (top(stack)->opaque)
			return; /* the code had jumped to other code, which jumped back */
	}
	precise_reveal(stack, time);
	precise_before_change(stack, stack->now.depth - 1);
	top(stack)->opaque = true;
	if (timestamp_group_rename(&stack->group, top(stack)->symbol, SLICE_UNCERTAIN_LEVEL))
		callstack_count_uncertain(machine, time);
	if (!machine->doubts.opaque_frames++)
		machine->doubts.opaque_ip = at->ip;
}

void precise_enter_opaque(struct precise_stack *stack, int64_t time, const struct location *at,
			  const struct symbol *mismatch)
{
	const struct frame changed = { .symbol = mismatch, .kind = FRAME_PAUSE };

	if (top(stack)->kind == FRAME_PAUSE)
		precise_pop(stack, time);
	if (!stack->now.depth)
		precise_infer_root(stack, at);
	stack->astray = true;
	stack->returned_from = 0;
	if (mismatch) {
		precise_push(stack, time, &changed);
	} else if (at->ip) {
		enter_code(stack, time, at);
	} else {
		while (stack->now.depth > 1 && top(stack)->kind == FRAME_INLINED)
			precise_pop(stack, time);
		stack->returned_from = top(stack)->kind == FRAME_ENTERED ? top(stack)->known_ip : 0;
		if (frame_list_around(&stack->now, stack->now.depth))
			precise_pop(stack, time);
	}
}

void precise_leave_opaque(struct precise_stack *stack, int64_t time, const struct location *to,
			  unsigned flags)
{
	struct frame entered = { .symbol = symbol_of(stack, to),
				 .known_ip = to->ip,
				 .entry_ip = to->ip,
				 .kind = FRAME_ENTERED,
				 .slice_flags = SLICE_UNCERTAIN_LEVEL };
	size_t at, around;
	bool direct;

	stack->astray = false;
	if (stack->now.depth && top(stack)->kind == FRAME_PAUSE)
		precise_pop(stack, time);
	if (!stack->now.depth)
		return;
	at = frame_list_find(&stack->now, FRAME_BY_RETURN, to->ip);
	if (at) {
		if (stack->returned_from)
			note_jump(stack, stack->returned_from, flags & BRANCH_INDIRECT);
		precise_pop_to(stack, time, at - 1);
		return;
	}
	if (!ip_is_kernel(to->ip) && frame_list_find(&stack->now, FRAME_BY_ENTRY, 0)) {
		precise_leave_kernel(stack, time, to);
		return;
	}
	if (!symbol_is_function(to->symbol))
		return;
	if (top(stack)->opaque && top(stack)->jumped &&
	    same_function(stack->jumped_from, to->symbol)) {
		precise_replace(stack, time, to);
		return;
	}
	direct = flags & BRANCH_TRACE_ON && flags & BRANCH_DIRECT && top(stack)->opaque &&
		 location_is_function_entry(to);
	if (direct && flags & BRANCH_INDIRECT) {
		precise_tail_call(stack, time, &(struct location_pair){ .to = *to });
		return;
	}
	at = frame_list_find(&stack->now, FRAME_BY_FUNCTION, frame_function(to->symbol));
	around = top(stack)->opaque ? frame_list_around(&stack->now, stack->now.depth)
				    : stack->now.depth;
	if (at && !location_is_function_entry(to) && at >= around) {
		precise_pop_to(stack, time, at);
		return;
	}
	callstack_count_uncertain(stack->base.machine, time);
	if (at && (!direct || top(stack)->jumped)) {
		precise_pop_to(stack, time, at);
		top(stack)->slice_flags |= SLICE_UNCERTAIN_LEVEL;
		precise_replace(stack, time, to);
		return;
	}
	if (ip_is_kernel(to->ip) && !ip_is_kernel(top(stack)->entry_ip)) {
		entered.kind = FRAME_ENTRY;
		entered.resume_ip = 0;
	} else if (top(stack)->opaque && !top(stack)->hidden &&
		   *jumped_slot(stack, to->ip) == to->ip) {
		precise_emit_end(stack, time, top(stack));
		precise_before_change(stack, stack->now.depth - 1);
		top(stack)->hidden = true;
	}
	precise_push(stack, time, &entered);
}
