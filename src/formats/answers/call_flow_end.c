/* SPDX-License-Identifier: MIT */
/* Count the steps of the calls that have ended, and keep those of the slowest. */
#include <stdlib.h>

#include "base/alloc.h"
#include "src/formats/answers/call_flow_end.h"
#include "src/formats/answers/call_paths.h"

/* ---- The slowest --------------------------------------------------------- */

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
		call->made[i] = flow->made[thread->steps[i]].made;
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

/* ---- Classes ------------------------------------------------------------- */

/* Returns the count of a step by calls of a class. */
static struct flow_count *find_count(struct call_flow *flow, struct open_step *step, uint32_t class)
{
	if (step->class != class + 1) {
		step->class = class + 1;
		step->counted = pair_table_find(&flow->counted, step->made.step, class);
		flow->counts = alloc_grow_zeroed(flow->counts, &flow->count_room,
						 (size_t)step->counted + 1, sizeof(*flow->counts));
	}
	return &flow->counts[step->counted];
}

/* Count a step of a call that has ended. */
static inline void count_of_class(struct call_flow *flow, struct open_step *step, uint32_t class)
{
	struct flow_count *count = find_count(flow, step, class);
	uint32_t made = step->made.count;

	if (!count->calls++ || made < count->least)
		count->least = made;
	if (made > count->most)
		count->most = made;
	count->sum += made;
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
	for (size_t i = 0; i < thread->count; i++)
		count_of_class(flow, &flow->made[thread->steps[i]], class);
}

/* ---- The end ------------------------------------------------------------- */

void call_flow_end(struct call_flow *flow, struct flow_thread *thread,
		   const struct branch_event *event)
{
	struct flow_root *root = &flow->roots[thread->root];
	struct flow_call call = { .begin = thread->begin,
				  .duration = event->time > thread->begin
						      ? event->time - thread->begin
						      : 0,
				  .tid = event->thread ? event->thread->tid : -1 };

	thread->open = false;
	root->events = thread->events;
	durations_add(&root->durations, call.duration);
	count_class(flow, thread, &call);
	keep_if_slow(flow, root, thread, call);
}

uint32_t call_flow_root(struct call_flow *flow, const struct symbol *symbol)
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
