/* SPDX-License-Identifier: MIT */
/* Count the steps of each call, and keep those of the slowest. */
#include "src/formats/answers/call_flow.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "decoder/timeline/timeline_types.h"
#include "src/formats/answers/call_paths.h"

/* Addresses of the kernel are above. */
#define USER_END (UINT64_C(1) << 63)

struct flow_thread {
	bool open;    /* a call of a root is being followed: */
	size_t depth; /* its frame's, from 1 on */
	uint32_t root;
	uint64_t number;         /* the call's */
	uint64_t begin;          /* ns */
	uint32_t branches;       /* so far */
	struct flow_place prev;  /* where the last branch led */
	bool interrupted;        /* what follows is no step, up to: */
	uint64_t interrupted_ip; /* the code that was interrupted */
	struct flow_place interrupted_at;
	uint32_t *steps; /* owned: places in `made` of its steps, in the order of the first */
	size_t count, room;
};

/* ---- Steps --------------------------------------------------------------- */

static struct flow_place place_of(const struct location *location)
{
	return (struct flow_place){ location->symbol,
				    location->symbol ? location->offset : location->ip };
}

static uint32_t hash_step(const struct flow_step *step)
{
	uint64_t hash = (uintptr_t)step->from.symbol + step->from.offset;

	hash = hash * FIBONACCI_FACTOR ^ ((uintptr_t)step->to.symbol + step->to.offset);
	hash = hash * FIBONACCI_FACTOR ^ ((uintptr_t)step->prev.symbol + step->prev.offset);
	hash = hash * FIBONACCI_FACTOR ^ step->root;
	return hash_u64(hash);
}

static bool same_place(const struct flow_place *a, const struct flow_place *b)
{
	return a->symbol == b->symbol && a->offset == b->offset;
}

static bool same_step(const struct flow_step *a, const struct flow_step *b)
{
	return same_place(&a->prev, &b->prev) && same_place(&a->from, &b->from) &&
	       same_place(&a->to, &b->to) && a->root == b->root;
}

/* Returns the number of a step. */
static uint32_t step_of(struct call_flow *flow, const struct flow_step *step)
{
	uint32_t hash = hash_step(step), id;
	struct id_probe probe = id_index_probe(hash);

	while ((id = id_index_next(&flow->index, &probe)) && !same_step(&flow->steps[id - 1], step))
		;
	if (id)
		return id;
	flow->steps = alloc_grow(flow->steps, &flow->step_room, flow->step_count + 1,
				 sizeof(*flow->steps));
	flow->steps[flow->step_count++] = *step;
	id_index_add(&flow->index, hash, (uint32_t)flow->step_count);
	return (uint32_t)flow->step_count;
}

static void count_step(struct call_flow *flow, uint32_t index, struct flow_thread *thread,
		       const struct flow_step *step)
{
	uint32_t place = pair_table_find(&flow->open, index, step_of(flow, step));
	struct flow_made *made;

	flow->made_by = alloc_grow_zeroed(flow->made_by, &flow->made_by_room, (size_t)place + 1,
					  sizeof(*flow->made_by));
	flow->made = alloc_grow_zeroed(flow->made, &flow->made_room, (size_t)place + 1,
				       sizeof(*flow->made));
	made = &flow->made[place];
	if (flow->made_by[place] != thread->number) {
		flow->made_by[place] = thread->number;
		*made = (struct flow_made){ .step = pair_table_pair(&flow->open, place).second,
					    .first = thread->branches };
		thread->steps = alloc_grow(thread->steps, &thread->room, thread->count + 1,
					   sizeof(*thread->steps));
		thread->steps[thread->count++] = place;
	}
	made->count += made->count < UINT32_MAX;
	made->last = thread->branches;
}

static void add_step(struct call_flow *flow, uint32_t index, struct flow_thread *thread,
		     const struct flow_step *step)
{
	count_step(flow, index, thread, step);
	thread->prev = step->to;
	thread->branches += thread->branches < UINT32_MAX;
}

/* ---- Interrupts ---------------------------------------------------------- */

static bool begins_interrupt(const struct branch_event *event)
{
	return event->kind == BRANCH_INTERRUPT ||
	       (event->flags & BRANCH_TRACE_OFF && event->flags & BRANCH_ASYNC);
}

/*
 * Code was interrupted: nothing of what comes then is the call's, up to where that code runs on,
 * which makes one step wherever it was, or to other code, as of a signal's handler.
 */
static void follow_interrupt(struct call_flow *flow, uint32_t index, struct flow_thread *thread,
			     const struct branch_event *event, const struct location *to)
{
	struct flow_step step = { .root = thread->root, .kind = BRANCH_INTERRUPT };
	bool user = thread->interrupted_ip < USER_END;

	if (!event->to || (user && event->to >= USER_END))
		return;
	if (event->to != thread->interrupted_ip && !user && event->kind != BRANCH_IRET)
		return;
	thread->interrupted = false;
	if (event->to == thread->interrupted_ip) {
		count_step(flow, index, thread, &step);
		return;
	}
	step.prev = thread->prev;
	step.from = thread->interrupted_at;
	step.to = place_of(to);
	add_step(flow, index, thread, &step);
}

/* ---- Calls --------------------------------------------------------------- */

static bool is_faster(const struct flow_call *a, const struct flow_call *b)
{
	return a->duration != b->duration ? a->duration < b->duration : a->begin > b->begin;
}

/* Put a call in the place `at` of the heap, or below. */
static void sift(struct flow_root *root, size_t at, const struct flow_call *call)
{
	size_t child;

	while ((child = 2 * at + 1) < root->slow_count) {
		if (child + 1 < root->slow_count &&
		    is_faster(&root->slowest[child + 1], &root->slowest[child]))
			child++;
		if (!is_faster(&root->slowest[child], call))
			break;
		root->slowest[at] = root->slowest[child];
		at = child;
	}
	root->slowest[at] = *call;
}

static void keep_steps(struct call_flow *flow, const struct flow_thread *thread,
		       struct flow_call *call)
{
	size_t count = thread->count < FLOW_CALL_STEPS ? thread->count : FLOW_CALL_STEPS;

	call->truncated = count < thread->count || flow->kept + count > FLOW_STEPS_MOST;
	if (flow->kept + count > FLOW_STEPS_MOST)
		return;
	flow->kept += count;
	call->count = count;
	call->made = alloc_zeroed(count + 1, sizeof(*call->made));
	for (size_t i = 0; i < count; i++)
		call->made[i] = flow->made[thread->steps[i]];
}

static void keep_if_slow(struct call_flow *flow, struct flow_root *root,
			 const struct flow_thread *thread, struct flow_call call)
{
	if (!root->slowest)
		root->slowest = alloc_zeroed(FLOW_CALLS_MOST, sizeof(*root->slowest));
	if (root->slow_count == FLOW_CALLS_MOST) {
		if (is_faster(&call, &root->slowest[0]))
			return;
		flow->kept -= root->slowest[0].count;
		free(root->slowest[0].made);
		keep_steps(flow, thread, &call);
		sift(root, 0, &call);
		return;
	}
	keep_steps(flow, thread, &call);
	root->slowest[root->slow_count++] = call;
	for (size_t i = root->slow_count / 2; root->slow_count == FLOW_CALLS_MOST && i-- > 0;) {
		struct flow_call moving = root->slowest[i];

		sift(root, i, &moving);
	}
}

static void count_class(struct call_flow *flow, const struct flow_thread *thread,
			const struct flow_call *call)
{
	uint32_t class = call_paths_class(call->duration);
	uint32_t place = pair_table_find(&flow->classes, thread->root, class);

	flow->call_counts = alloc_grow_zeroed(flow->call_counts, &flow->call_count_room,
					      (size_t)place + 1, sizeof(*flow->call_counts));
	flow->calls = alloc_grow_zeroed(flow->calls, &flow->call_room, (size_t)place + 1,
					sizeof(*flow->calls));
	if (!flow->call_counts[place]++)
		flow->calls[place] = *call;
	for (size_t i = 0; i < thread->count; i++) {
		const struct flow_made *made = &flow->made[thread->steps[i]];
		struct flow_count *count;

		place = pair_table_find(&flow->counted, made->step, class);
		flow->counts = alloc_grow_zeroed(flow->counts, &flow->count_room, (size_t)place + 1,
						 sizeof(*flow->counts));
		count = &flow->counts[place];
		if (!count->calls++ || made->count < count->least)
			count->least = made->count;
		if (made->count > count->most)
			count->most = made->count;
		count->sum += made->count;
	}
}

static void end_call(struct call_flow *flow, struct flow_thread *thread,
		     const struct branch_event *event)
{
	struct flow_root *root = &flow->roots[thread->root];
	struct flow_call call = { .begin = thread->begin,
				  .duration = event->time > thread->begin
						      ? event->time - thread->begin
						      : 0,
				  .tid = event->thread ? event->thread->tid : -1 };

	thread->open = false;
	durations_add(&root->durations, call.duration);
	count_class(flow, thread, &call);
	keep_if_slow(flow, root, thread, call);
}

static uint32_t root_of(struct call_flow *flow, const struct symbol *symbol)
{
	size_t count = flow->root_ids.count;
	uint32_t root = pair_table_find(&flow->root_ids, 0, symbol->name->id);

	if (root == count) {
		flow->roots =
			alloc_grow(flow->roots, &flow->root_room, count + 1, sizeof(*flow->roots));
		flow->roots[root] = (struct flow_root){ .symbol = symbol };
	}
	return root;
}

/* A call is entered: at the function's beginning, in a frame of its own. */
static void begin_call(struct call_flow *flow, struct flow_thread *thread,
		       const struct branch_event *event, const struct location *to,
		       const struct callstack_top *top)
{
	if (event->kind != BRANCH_CALL && event->kind != BRANCH_JUMP && event->kind != BRANCH_COND)
		return;
	if (top->symbol != to->symbol || !location_is_function_entry(to) ||
	    to->symbol->kind == SYMBOL_PLT || !function_choice_has(&flow->choice, to->symbol))
		return;
	thread->open = true;
	thread->interrupted = false;
	thread->depth = top->depth;
	thread->root = root_of(flow, to->symbol);
	thread->number = ++flow->number;
	thread->begin = event->time;
	thread->branches = 0;
	thread->count = 0;
	thread->prev = place_of(to);
}

static bool is_over(const struct call_flow *flow, const struct flow_thread *thread,
		    const struct callstack_top *top)
{
	return top->depth < thread->depth ||
	       (top->depth == thread->depth && top->function &&
		top->function->name != flow->roots[thread->root].symbol->name);
}

static void follow_call(struct call_flow *flow, uint32_t index, struct flow_thread *thread,
			const struct branch_event *event, const struct location_pair *places)
{
	const struct flow_step step = { .prev = thread->prev,
					.from = place_of(&places->from),
					.to = place_of(&places->to),
					.root = thread->root,
					.kind = event->kind };

	if (thread->interrupted) {
		follow_interrupt(flow, index, thread, event, &places->to);
	} else if (begins_interrupt(event)) {
		thread->interrupted = true;
		thread->interrupted_ip = event->from;
		thread->interrupted_at = step.from;
	} else {
		add_step(flow, index, thread, &step);
	}
}

bool call_flow_is_open(const struct call_flow *flow, const struct thread *thread)
{
	size_t index = thread ? (size_t)thread->index + 1 : 0;

	return index < flow->thread_room && flow->threads[index].open;
}

void call_flow_follow(struct call_flow *flow, const struct branch_event *event,
		      const struct location_pair *places, struct callstack_top top)
{
	uint32_t index = event->thread ? event->thread->index + 1 : 0;
	struct flow_thread *thread;

	flow->threads = alloc_grow_zeroed(flow->threads, &flow->thread_room, (size_t)index + 1,
					  sizeof(*flow->threads));
	thread = &flow->threads[index];
	if (event->kind == BRANCH_GAP) {
		flow->cut += thread->open;
		thread->open = false;
		return;
	}
	if (thread->open && !is_over(flow, thread, &top)) {
		follow_call(flow, index, thread, event, places);
		return;
	}
	if (thread->open)
		end_call(flow, thread, event);
	begin_call(flow, thread, event, &places->to, &top);
}

/* ---- Begin and end ------------------------------------------------------- */

void call_flow_init(struct call_flow *flow, const struct selection *selection)
{
	*flow = (struct call_flow){ 0 };
	function_choice_init(&flow->choice, selection);
}

void call_flow_finish(struct call_flow *flow)
{
	for (size_t i = 0; i < flow->thread_room; i++)
		flow->cut += flow->threads[i].open;
}

static void release_root(struct flow_root *root)
{
	for (size_t i = 0; i < root->slow_count; i++)
		free(root->slowest[i].made);
	free(root->slowest);
	durations_release(&root->durations);
}

void call_flow_release(struct call_flow *flow)
{
	for (size_t i = 0; i < flow->root_ids.count; i++)
		release_root(&flow->roots[i]);
	for (size_t i = 0; i < flow->thread_room; i++)
		free(flow->threads[i].steps);
	pair_table_release(&flow->root_ids);
	pair_table_release(&flow->counted);
	pair_table_release(&flow->classes);
	pair_table_release(&flow->open);
	id_index_release(&flow->index);
	function_choice_release(&flow->choice);
	free(flow->roots);
	free(flow->steps);
	free(flow->counts);
	free(flow->calls);
	free(flow->call_counts);
	free(flow->threads);
	free(flow->made);
	free(flow->made_by);
	*flow = (struct call_flow){ 0 };
}
