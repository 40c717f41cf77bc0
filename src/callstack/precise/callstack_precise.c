/* SPDX-License-Identifier: MIT */
/*
 * The precise call-stack machine: a frame has its return address.
 *
 * The machine compares addresses, not names: a return pops the stack down to the frame whose call
 * instruction precedes the return's target, at any depth. So the stack survives longjmp,
 * exceptions, tail calls, retpolines, signal handlers and switches between stacks. A frame whose
 * call was not seen is inferred to run since the segment began. man ptrace2ftf.7 describes the
 * model.
 *
 * This file contains gaps, marks, and the operations open, inherit, copy and finish.
 */
#include "decoder/timeline/timeline.h"
#include "src/callstack/precise/callstack_precise_stack.h"

/* ---- Room ---------------------------------------------------------------- */

/* Stacks up to this depth are not counted. */
#define SHALLOW_ROOM ((size_t)1 << 12)

static void release_frames(struct precise_stack *stack)
{
	const struct name *resume = machine_of(stack)->unwind_resume;

	frame_list_release(&stack->undo);
	frame_list_release(&stack->now);
	stack->now.resume = resume;
	for (size_t i = 0; i < stack->pool->count; i++) {
		frame_list_release(&stack->pool->parked[i].frames);
		stack->pool->parked[i].frames.resume = resume;
	}
	machine_of(stack)->room -= stack->room;
	stack->room = stack->room_seen = 0;
}

/* ---- Segments ------------------------------------------------------------ */

/* End all open frames. */
static void end_frames(struct precise_stack *stack, int64_t time)
{
	precise_guess_candidate(stack);
	stack->end_flags = SLICE_CUT;
	precise_pop_to(stack, time, 0);
	stack->end_flags = 0;
	precise_end_stretch(stack, time);
	stack->astray = false;
	precise_end_transaction(stack);
	precise_forget_stacks(stack);
	precise_set_root(stack, false);
	if (stack->room)
		release_frames(stack);
}

static const struct symbol *gap_symbol(struct precise *machine, const char *message)
{
	char text[200];

	snprintf(text, sizeof(text), "[lost: %s]", message);
	return special_symbol_find(&machine->gaps, machine->names, text, SPECIAL_GAP);
}

static const struct symbol *symbol_of_gap(struct precise *machine, const struct branch_event *event,
					  const struct branch_notes *notes)
{
	if (event->gap == GAP_PAUSED)
		return &machine->specials[SPECIAL_PAUSED];
	return gap_symbol(machine, notes->message
					   ? notes->message
					   : gap_reason_facts((enum gap_reason)event->gap)->text);
}

static void add_gap(struct precise_stack *stack, int64_t time, enum slice_event_kind kind)
{
	const struct slice_event event = { .symbol = stack->gap,
					   .detail = precise_insns(stack),
					   .kind = (uint8_t)kind };
	const struct slice_detail detail = { .insns = stack->insns };

	timestamp_group_add_gap(&stack->group, time, &event, &detail);
}

static void on_gap(struct precise_stack *stack, int64_t time, const struct symbol *symbol)
{
	if (stack->gap)
		return; /* merge successive gaps */
	end_frames(stack, time);
	stack->gap = symbol;
	add_gap(stack, time, SLICE_BEGIN);
}

/* The first event after a gap ends it. */
static void end_gap(struct precise_stack *stack, int64_t time)
{
	add_gap(stack, time, SLICE_END);
	stack->gap = NULL;
	precise_begin_stack(stack, time);
}

static void drop_frames(struct precise_stack *stack)
{
	bool in_gap = stack->gap;

	diag_warn(stack->base.machine->diag, "stack-too-deep",
		  "more than %zu calls are open at once: a thread's stack was given up there, and "
		  "begins anew",
		  machine_of(stack)->base.open_most);
	on_gap(stack, stack->last_time, gap_symbol(machine_of(stack), "too many open calls"));
	release_frames(stack);
	if (!in_gap)
		end_gap(stack, stack->last_time);
}

void precise_count_room(struct precise_stack *stack)
{
	struct precise *machine = machine_of(stack);
	size_t room = stack->now.room + stack->undo.room;

	stack->room_seen = stack->now.room;
	if (!stack->room && room <= SHALLOW_ROOM)
		return;
	for (size_t i = 0; i < stack->pool->count; i++)
		room += stack->pool->parked[i].frames.room;
	machine->room += room - stack->room;
	stack->room = room;
	if (machine->room > machine->base.open_most && room > SHALLOW_ROOM)
		drop_frames(stack);
}

/* ---- The machine --------------------------------------------------------- */

/* Returns the mapped time of an event; it never decreases on a thread. */
static int64_t event_time(struct precise_stack *stack, const struct branch_event *event,
			  bool untimed)
{
	struct callstack_machine *machine = stack->base.machine;
	int64_t time = stack->last_time;

	if (!untimed) {
		if (!machine->has_base_time)
			machine->base_time = event->time;
		machine->has_base_time = true;
		time = (int64_t)(event->time - machine->base_time);
	}
	if (!stack->started) {
		stack->group.since = stack->group.time = time;
		timestamp_group_set_since(&stack->group, callstack_perf_time(machine, time));
	} else if (time < stack->last_time) {
		time = stack->last_time;
	}
	stack->started = true;
	stack->last_time = time;
	return time;
}

/* A mark changes no frames (except an abort's), and ends no gap. */
static void show_mark(struct precise_stack *stack, int64_t time, const struct branch_event *event,
		      const struct branch_notes *notes)
{
	struct slice_event mark = { .symbol = notes->mark,
				    .ip = notes->mark_value,
				    .detail = precise_insns(stack) };
	struct slice_detail detail = { .insns = stack->insns };

	if (event->kind == BRANCH_TX_ABORT)
		precise_roll_back(stack, time);
	timestamp_group_add_mark(&stack->group, time, &mark, &detail);
}

/* Move a thread to the pool of its process. */
static void join_pool(struct precise_stack *stack, const struct process *process)
{
	struct stack_pool **pool = &machine_of(stack)->pools;

	while (*pool && (*pool)->process != process)
		pool = &(*pool)->next;
	if (!*pool)
		*pool = alloc_zeroed(1, sizeof(**pool));
	(*pool)->process = process;
	stack->pool = *pool;
	stack->next_user = stack->pool->users;
	stack->pool->users = stack;
}

bool precise_follow_any(struct precise_stack *stack, const struct resolved_branch *branch,
			const struct branch_notes *notes)
{
	static const struct branch_notes none;
	const struct branch_event *event = branch->event;
	const struct symbol *symbol;
	int64_t time, last = stack->last_time;
	bool done;

	if (!notes)
		notes = &none;
	time = event_time(stack, event, notes->untimed);
	if (machine_of(stack)->fibers && stack->pool == &stack->own && event->thread)
		join_pool(stack, event->thread->process);
	stack->plain = false;
	if (notes->mark) {
		show_mark(stack, time, event, notes);
		return true;
	}
	if (event->kind == BRANCH_GAP) {
		precise_count(stack, event); /* the instructions before the gap */
		symbol = symbol_of_gap(machine_of(stack), event, notes);
		if (stack->now.depth && event->gap == GAP_NO_CODE)
			precise_enter_opaque(stack, time, &branch->locations->from, NULL);
		else if (stack->now.depth && event->gap == GAP_MISMATCH)
			precise_enter_opaque(stack, time, &branch->locations->from, symbol);
		else
			on_gap(stack, time, symbol);
		precise_watch_room(stack);
		return true;
	}
	if (stack->gap)
		end_gap(stack, time);
	if (stack->astray)
		precise_leave_opaque(stack, time,
				     event->flags & BRANCH_TRACE_ON ? &branch->locations->to
								    : &branch->locations->from,
				     event->flags);
	precise_watch_room(stack);
	precise_count(stack, event);
	if (notes->exec) {
		end_frames(stack, notes->died ? last : time);
		if (notes->died) /* the time since is nobody's */
			timestamp_group_flush(&stack->group, last, precise_insns(stack));
		stack->unseen = false;
		stack->switches = 0;
		precise_begin_stack(stack, time);
	}
	if (notes->has_no_caller && !stack->now.depth) {
		stack->whole = true;
		precise_set_root(stack, true);
	}
	done = precise_follow_far(stack, time, branch, notes);
	stack->plain = !stack->in_tx && !stack->rolled_back;
	if (done)
		precise_watch_room(stack);
	return done;
}

/* The child has copies of its parent's frames since the fork, with the same return addresses. */
void callstack_inherit(struct callstack *base, const struct callstack *parent_base, uint64_t time)
{
	const struct precise_stack *parent = (const struct precise_stack *)parent_base;
	struct precise_stack *stack = (struct precise_stack *)base;
	int64_t now = (int64_t)(time - base->machine->base_time);

	if (!stack->started) {
		stack->group.since = stack->last_time = stack->group.time = now;
		timestamp_group_set_since(&stack->group, time);
	} else {
		precise_end_frames(stack, MAX(now, stack->last_time));
	}
	stack->started = true;
	if (!parent)
		return;
	precise_set_root(stack, stack->has_root || parent->has_root);
	stack->jumps = parent->jumps;
	for (size_t i = 0; i < parent->now.depth; i++)
		*frame_list_add(&stack->now) = parent->now.frames[i];
	precise_watch_room(stack);
	/* The inferred frame emitted last is the outermost one. */
	for (size_t i = stack->now.depth; i-- > 0;) {
		if (!stack->now.frames[i].hidden)
			precise_emit_enclosing(stack, &stack->now.frames[i], SLICE_INFERRED_START);
	}
	if (stack->now.depth && !stack->now.frames[0].hidden)
		stack->root_number = stack->group.outer.count;
}

/* A copy counts as room, but has no slices to end; so refuse to copy too many frames. */
bool callstack_copy(struct callstack *base, const struct callstack *stack_base, uint64_t *most)
{
	const struct precise_stack *stack = (const struct precise_stack *)stack_base;
	struct precise_stack *copy = (struct precise_stack *)base;
	struct precise *machine = machine_of(copy);
	size_t depth = stack->now.depth;

	frame_list_clear(&copy->now);
	copy->has_root = stack->has_root;
	copy->jumps = stack->jumps;
	if (depth > *most ||
	    (depth > copy->now.room && machine->room + depth > machine->base.open_most))
		return false;
	copy->now.frames = alloc_grow(copy->now.frames, &copy->now.room, depth, sizeof(*top(copy)));
	if (depth)
		memcpy(copy->now.frames, stack->now.frames, depth * sizeof(*top(copy)));
	copy->now.depth = depth;
	machine->room += copy->now.room - copy->room;
	copy->room = copy->now.room;
	*most -= depth;
	return true;
}

static void precise_finish(struct callstack *base)
{
	struct precise_stack *stack = (struct precise_stack *)base;

	if (stack->gap)
		end_gap(stack, stack->last_time);
	end_frames(stack, stack->last_time);
	timestamp_group_flush(&stack->group, stack->last_time, precise_insns(stack));
	precise_begin_stack(stack, stack->last_time);
}

static struct callstack *precise_open(struct callstack_machine *machine, void *track)
{
	struct precise_stack *stack = alloc_zeroed(1, sizeof(*stack));

	stack->base.machine = machine;
	stack->base.track = track;
	stack->group.owner = &stack->base;
	stack->pool = &stack->own;
	stack->own.users = stack;
	stack->in_stretch = true;
	stack->group.encloses = machine_of(stack)->fibers;
	if (stack->group.encloses)
		stack->fiber = machine_of(stack)->fibers->add(machine_of(stack)->fibers->context,
							      track, 0, NULL);
	stack->group.settled = INT64_MIN;
	/* The sorter finds enclosing slices by their order. */
	stack->group.sorted = true;
	stack->now.resume = machine_of(stack)->unwind_resume;
	return &stack->base;
}

static void leave_pool(struct precise_stack *stack)
{
	struct precise_stack **user = &stack->pool->users;

	while (*user != stack)
		user = &(*user)->next_user;
	*user = stack->next_user;
	if (stack->pool->users)
		return;
	for (size_t i = 0; i < stack->pool->count; i++)
		frame_list_release(&stack->pool->parked[i].frames);
	free(stack->pool->parked);
	*stack->pool =
		(struct stack_pool){ .process = stack->pool->process, .next = stack->pool->next };
}

static void precise_close(struct callstack *base)
{
	struct precise_stack *stack = (struct precise_stack *)base;

	timestamp_group_release(&stack->group);
	release_frames(stack);
	leave_pool(stack);
	free(stack->fits);
	free(stack);
}

static void precise_machine_close(struct callstack_machine *base)
{
	struct precise *machine = (struct precise *)base;

	special_symbols_release(&machine->gaps);
	syscall_symbols_release(&machine->syscalls);
	while (machine->pools) {
		struct stack_pool *pool = machine->pools;

		machine->pools = pool->next;
		free(pool);
	}
	free(machine);
}

static const struct callstack_ops precise_ops = {
	.open = precise_open,
	.feed = precise_feed,
	.feed_plain = precise_feed_plain,
	.finish = precise_finish,
	.close = precise_close,
	.machine_close = precise_machine_close,
};

struct callstack_machine *callstack_precise_open(const struct callstack_options *options)
{
	static const char *const names[SPECIALS] = {
		[SPECIAL_UNTRACED] = "[untraced]",
		[SPECIAL_OFF_CPU] = "[untraced: off CPU]",
		[SPECIAL_FILTERED] = "[untraced: filtered]",
		[SPECIAL_SYSCALL] = "[syscall]",
		[SPECIAL_UNKNOWN] = "[unknown]",
		[SPECIAL_GUEST] = "[guest]",
		[SPECIAL_PAUSED] = "[paused]",
	};
	struct precise *machine = alloc_zeroed(1, sizeof(*machine));

	callstack_machine_init(&machine->base, &precise_ops, options);
	machine->base.precise = true;
	machine->names = options->names;
	machine->timeline = options->timeline;
	machine->nests = options->tail_calls == TAIL_CALLS_NEST;
	machine->flows = options->flows;
	machine->fibers = options->fibers;
	machine->unwind_resume = name_intern_text(options->names, "_Unwind_Resume");
	for (int i = 0; i < SPECIALS; i++)
		if (names[i])
			machine->specials[i] =
				symbol_special(options->names, names[i], (enum symbol_special)i);
	syscall_symbols_init(&machine->syscalls, options->names,
			     &machine->specials[SPECIAL_SYSCALL]);
	return &machine->base;
}
