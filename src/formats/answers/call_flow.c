/* SPDX-License-Identifier: MIT */
/* Follow the steps of each call. */
#include "src/formats/answers/call_flow.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "decoder/jump_run.h"
#include "decoder/timeline/timeline_types.h"
#include "src/formats/answers/call_flow_end.h"

/* Branches of a call that are counted; behind them only the end of the call is looked for. */
#define FLOW_BRANCHES_MOST UINT32_MAX

/* Addresses of the kernel are above. */
#define USER_END (UINT64_C(1) << 63)

/* A step that a thread has made, by the addresses of its places. */
struct known_step {
	uint64_t prev, from, to;           /* prev is not 0 */
	const struct address_space *space; /* of these addresses */
	uint64_t context;                  /* the thread's; 0: the slot is empty */
	uint32_t made;                     /* the step's place in `made` */
};

#define KNOWN_BITS 15

/* Chosen functions by where they begin. */
struct known_entry {
	const struct address_space *space;
	uint64_t ip; /* 0: none */
	bool chosen;
};

#define ENTRY_BITS 12

/*
 * Events of an open call that are fed together, once it has more than the call before: those
 * behind its end are looked up again.
 */
#define OPEN_MOST 16

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

/* A call makes a step for the first time. */
static inline void begin_step(struct flow_thread *thread, struct open_step *step, uint32_t place)
{
	step->call = thread->number;
	step->made.count = 0;
	step->made.first = thread->branches;
	if (thread->count == thread->room)
		thread->steps = alloc_grow(thread->steps, &thread->room, thread->count + 1,
					   sizeof(*thread->steps));
	thread->steps[thread->count++] = place;
}

static inline void count_made(struct call_flow *flow, struct flow_thread *thread, uint32_t place)
{
	struct open_step *step = &flow->made[place];

	if (step->call != thread->number)
		begin_step(thread, step, place);
	step->made.count++;
	step->made.last = thread->branches;
}

/* Returns the place in `made` of a step of a thread. */
static uint32_t place_made(struct call_flow *flow, uint32_t index, const struct flow_step *step)
{
	uint32_t number = step_of(flow, step);
	uint32_t place = pair_table_find(&flow->open, index, number);

	flow->made = alloc_grow_zeroed(flow->made, &flow->made_room, (size_t)place + 1,
				       sizeof(*flow->made));
	flow->made[place].made.step = number;
	return place;
}

static inline void add_step(struct call_flow *flow, struct flow_thread *thread, uint32_t place)
{
	thread->made = place + 1;
	if (thread->branches == FLOW_BRANCHES_MOST)
		return;
	count_made(flow, thread, place);
	thread->branches++;
}

/* Returns where the last branch led. */
static struct flow_place prev_of(const struct call_flow *flow, const struct flow_thread *thread)
{
	return thread->made ? flow->steps[flow->made[thread->made - 1].made.step - 1].to
			    : thread->prev;
}

/* ---- Known steps --------------------------------------------------------- */

/* A branch of an event. */
struct flow_branch {
	uint64_t from, to;
	enum branch_kind kind;
};

static const struct location_pair *find_branch(struct resolver *resolver,
					       const struct branch_event *event, uint64_t from,
					       uint64_t to)
{
	resolver_advance(resolver, event->time);
	return resolver_find_branch(resolver, event->space, from, to);
}

static inline struct known_step *known_step(const struct call_flow *flow,
					    const struct flow_thread *thread, uint64_t from,
					    uint64_t to)
{
	struct known_step *slots = flow->known.slots;
	uint64_t key = (from << 20) + to + thread->prev_ip * FIBONACCI_FACTOR;

	return &slots[direct_cache_index(key, KNOWN_BITS)];
}

/* A step that is not known by its addresses. */
static void add_unknown(struct call_flow *flow, struct resolver *resolver, uint32_t index,
			struct flow_thread *thread, const struct branch_event *event,
			struct flow_branch branch)
{
	const struct location_pair *places = find_branch(resolver, event, branch.from, branch.to);
	const struct flow_step step = { .prev = prev_of(flow, thread),
					.from = place_of(&places->from),
					.to = place_of(&places->to),
					.root = thread->root,
					.kind = branch.kind };
	uint32_t place = place_made(flow, index, &step);
	bool lasting = resolver_is_lasting(resolver, places);

	if (lasting && thread->prev_ip)
		*known_step(flow, thread, branch.from, branch.to) =
			(struct known_step){ thread->prev_ip, branch.from,     branch.to,
					     event->space,    thread->context, place };
	thread->prev_ip = lasting ? branch.to : 0;
	add_step(flow, thread, place);
}

/* Follow a branch, which is the event, or one of its runs. */
static inline __attribute__((always_inline)) void add_branch(
	struct call_flow *flow, struct resolver *resolver, uint32_t index,
	struct flow_thread *thread, const struct branch_event *event, struct flow_branch branch)
{
	const struct known_step *known = known_step(flow, thread, branch.from, branch.to);

	if (known->prev != thread->prev_ip || known->from != branch.from ||
	    known->to != branch.to || known->space != event->space ||
	    known->context != thread->context) {
		add_unknown(flow, resolver, index, thread, event, branch);
		return;
	}
	thread->prev_ip = branch.to;
	add_step(flow, thread, known->made);
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
static void follow_interrupt(struct call_flow *flow, struct resolver *resolver, uint32_t index,
			     struct flow_thread *thread, const struct branch_event *event,
			     struct flow_branch branch)
{
	struct flow_step step = { .root = thread->root, .kind = BRANCH_INTERRUPT };
	bool user = thread->interrupted_ip < USER_END;

	if (!branch.to || (user && branch.to >= USER_END))
		return;
	if (branch.to != thread->interrupted_ip && !user && branch.kind != BRANCH_IRET)
		return;
	thread->interrupted = false;
	if (branch.to == thread->interrupted_ip) {
		if (thread->branches < FLOW_BRANCHES_MOST)
			count_made(flow, thread, place_made(flow, index, &step));
		return;
	}
	step.prev = prev_of(flow, thread);
	step.from = thread->interrupted_at;
	step.to = place_of(&find_branch(resolver, event, branch.from, branch.to)->to);
	thread->prev_ip = 0;
	add_step(flow, thread, place_made(flow, index, &step));
}

/* ---- Calls --------------------------------------------------------------- */

static bool may_begin(const struct branch_event *event)
{
	return event->kind == BRANCH_CALL || event->kind == BRANCH_JUMP ||
	       event->kind == BRANCH_COND;
}

static bool is_chosen(struct call_flow *flow, const struct location *to)
{
	return location_is_function_entry(to) && to->symbol->kind != SYMBOL_PLT &&
	       function_choice_has(&flow->choice, to->symbol);
}

/*
 * Returns whether a branch may begin a call, as far as its target says, which may have another
 * name later if it is not `*lasting`.
 */
static bool leads_to_chosen(struct call_flow *flow, struct resolver *resolver,
			    const struct branch_event *event, bool *lasting)
{
	struct known_entry *slots = flow->entries.slots, *slot;
	const struct location_pair *places;
	bool chosen;

	*lasting = true;
	if (!event->to || !may_begin(event))
		return false;
	slot = &slots[direct_cache_index(event->to, ENTRY_BITS)];
	if (slot->ip == event->to && slot->space == event->space)
		return slot->chosen;
	places = resolver_find_branch(resolver, event->space, event->from, event->to);
	*lasting = resolver_is_lasting(resolver, places);
	chosen = is_chosen(flow, &places->to);
	if (*lasting)
		*slot = (struct known_entry){ event->space, event->to, chosen };
	return chosen;
}

/* A call is entered: at the function's beginning, in a frame of its own. */
static void begin_call(struct call_flow *flow, struct resolver *resolver, uint32_t index,
		       struct flow_thread *thread, const struct branch_event *event,
		       const struct callstack_top *top)
{
	const struct location *to;
	bool lasting;

	resolver_advance(resolver, event->time);
	if (!leads_to_chosen(flow, resolver, event, &lasting))
		return;
	to = &resolver_find_branch(resolver, event->space, event->from, event->to)->to;
	if (top->symbol != to->symbol)
		return;
	thread->open = true;
	thread->interrupted = false;
	thread->frame = (struct watched_frame){ top->depth, top->symbol };
	thread->root = call_flow_root(flow, to->symbol);
	thread->context = (uint64_t)(thread->root + 1) << 32 | index;
	thread->number = ++flow->number;
	thread->begin = event->time;
	thread->branches = 0;
	thread->events = 0;
	thread->count = 0;
	thread->prev = place_of(to);
	thread->prev_ip = lasting ? event->to : 0;
	thread->made = 0;
}

static bool is_over(const struct call_flow *flow, const struct flow_thread *thread,
		    const struct callstack_top *top)
{
	return top->depth < thread->frame.depth ||
	       (top->depth == thread->frame.depth && top->function &&
		top->function->name != flow->roots[thread->root].symbol->name);
}

/* Follow the jumps of runs. */
static void follow_jumps(struct call_flow *flow, struct resolver *resolver, uint32_t index,
			 struct flow_thread *thread, const struct branch_event *event)
{
	uint64_t ip = event->from;

	for (unsigned i = 0; i < event_run_count(event); i++) {
		const struct jump_run *run = event_run(event, i);

		for (uint32_t j = 0; j < run->jump_count; j++) {
			const struct local_jump *jump = &run->jumps[j];
			const struct flow_branch branch = {
				ip + (uint64_t)(int64_t)jump->from,
				ip + (uint64_t)(int64_t)jump->to,
				jump->conditional ? BRANCH_COND : BRANCH_JUMP,
			};

			if (thread->interrupted)
				follow_interrupt(flow, resolver, index, thread, event, branch);
			else
				add_branch(flow, resolver, index, thread, event, branch);
		}
		ip += (uint64_t)(int64_t)run->end;
	}
}

/* Follow a branch or runs in an open call. */
static inline __attribute__((always_inline)) void follow_open(struct call_flow *flow,
							      struct resolver *resolver,
							      uint32_t index,
							      struct flow_thread *thread,
							      const struct branch_event *event)
{
	const struct flow_branch branch = { event->from, event->to, event->kind };

	if (event->kind == BRANCH_RUNS) {
		follow_jumps(flow, resolver, index, thread, event);
	} else if (thread->interrupted) {
		follow_interrupt(flow, resolver, index, thread, event, branch);
	} else if (begins_interrupt(event)) {
		thread->interrupted = true;
		thread->interrupted_ip = event->from;
		thread->interrupted_at =
			place_of(&find_branch(resolver, event, event->from, event->to)->from);
	} else {
		add_branch(flow, resolver, index, thread, event, branch);
	}
}

static struct flow_thread *flow_thread_of(struct call_flow *flow, uint32_t index)
{
	flow->threads = alloc_grow_zeroed(flow->threads, &flow->thread_room, (size_t)index + 1,
					  sizeof(*flow->threads));
	return &flow->threads[index];
}

static uint32_t index_of(const struct thread *thread)
{
	return thread ? thread->index + 1 : 0;
}

size_t call_flow_limit(struct call_flow *flow, struct resolver *resolver,
		       const struct branch_event *events, size_t count,
		       struct watched_frame *watched)
{
	const struct flow_thread *thread = flow_thread_of(flow, index_of(events->thread));
	bool lasting = true;
	size_t expected;

	if (thread->open) {
		*watched = thread->frame;
		expected = flow->roots[thread->root].events;
		expected = expected > thread->events ? expected - thread->events : OPEN_MOST;
		return count < expected ? count : expected;
	}
	for (size_t i = 0; i < count; i++)
		if (leads_to_chosen(flow, resolver, &events[i], &lasting) || !lasting)
			return i + 1;
	return count;
}

void call_flow_follow(struct call_flow *flow, struct resolver *resolver,
		      const struct branch_event *events, size_t count, struct callstack_top top)
{
	uint32_t index = index_of(events->thread);
	struct flow_thread *thread = flow_thread_of(flow, index);
	const struct branch_event *end = events + count, *last = end - 1;

	while (last > events && last->kind == BRANCH_RUNS)
		last--;
	if (last->kind == BRANCH_GAP) {
		flow->cut += thread->open;
		thread->open = false;
		return;
	}
	if (thread->open) {
		bool over = is_over(flow, thread, &top);

		thread->events += count;
		for (; events < (over ? last : end); events++)
			follow_open(flow, resolver, index, thread, events);
		if (!over)
			return;
		call_flow_end(flow, thread, last);
	}
	begin_call(flow, resolver, index, thread, last, &top);
	while (thread->open && ++last < end)
		follow_jumps(flow, resolver, index, thread, last);
}

/* ---- Begin and end ------------------------------------------------------- */

void call_flow_init(struct call_flow *flow, const struct selection *selection)
{
	*flow = (struct call_flow){ 0 };
	function_choice_init(&flow->choice, selection);
	direct_cache_init(&flow->known, KNOWN_BITS, sizeof(struct known_step));
	direct_cache_init(&flow->entries, ENTRY_BITS, sizeof(struct known_entry));
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
	direct_cache_release(&flow->known);
	direct_cache_release(&flow->entries);
	free(flow->roots);
	free(flow->steps);
	free(flow->counts);
	free(flow->calls);
	free(flow->call_counts);
	free(flow->threads);
	free(flow->made);
	*flow = (struct call_flow){ 0 };
}
