/* SPDX-License-Identifier: MIT */
/* Feed each thread's branches to its call stack. */
#include "src/callstack/thread_stacks.h"

#include <stdlib.h>

#include "base/alloc.h"
#include "decoder/cpu_event.h"
#include "decoder/timeline/trace_pauses.h"
#include "src/callstack/inline_flow.h"
#include "src/resolve/resolve.h"
#include "symbols/dso/dso_store.h"

struct thread_state {
	struct callstack *stack;           /* owned; NULL: no branch yet */
	const struct address_space *space; /* of the previous branch */
	struct inline_flow flow;           /* if inlined functions are shown */
	uint64_t last_ip;                  /* its target; 0: not traced */
	uint64_t off_time;        /* ns: when the trace ended; 0: it did not, or was never paused */
	struct slice_cause cause; /* of the next interrupt */
	uint16_t vector;          /* 1 + its vector; 0: unknown */
};

/* Bytes of straight-line code between two branches; more is an error of the trace. */
#define STRAIGHT_MAX 65536

/* Branches that are looked up before any is fed. */
#define BATCH_MOST 64

static bool is_forked(const struct thread *thread)
{
	return thread->parent && thread->parent->pid != thread->pid;
}

static int compare_begin(const void *left, const void *right)
{
	const struct thread *a = *(const struct thread *const *)left;
	const struct thread *b = *(const struct thread *const *)right;

	if (a->begin != b->begin)
		return a->begin < b->begin ? -1 : 1;
	return a->index < b->index ? -1 : a->index > b->index;
}

static void list_forks(struct thread_stacks *stacks, const struct thread *const *threads)
{
	stacks->forks = alloc_zeroed(stacks->count, sizeof(*stacks->forks));
	for (size_t i = 0; i < stacks->count; i++) {
		if (is_forked(threads[i]))
			stacks->forks[stacks->fork_count++] = threads[i];
	}
	if (stacks->fork_count)
		qsort(stacks->forks, stacks->fork_count, sizeof(*stacks->forks), compare_begin);
}

void thread_stacks_init(struct thread_stacks *stacks, const struct timeline *timeline)
{
	const struct thread *const *threads = timeline_threads(timeline, &stacks->count);

	stacks->states = alloc_zeroed(stacks->count + 1, sizeof(*stacks->states));
	list_forks(stacks, threads);
	stacks->pauses = stacks->show_pauses ? timeline_pauses(timeline) : NULL;
}

static struct thread_state *state_of(const struct thread_stacks *stacks,
				     const struct thread *thread)
{
	return &stacks->states[thread ? thread->index : stacks->count];
}

static void fork_stack(struct thread_stacks *stacks, const struct thread *child)
{
	struct thread_state *state = state_of(stacks, child);
	const struct thread_state *parent = state_of(stacks, child->parent);

	if (state->stack || !parent->stack)
		return;
	state->stack = callstack_open(stacks->machine, stacks->add_track(stacks->context, child));
	state->space = parent->space;
	callstack_inherit(state->stack, parent->stack, child->begin);
}

/* The processor announced an interrupt: note its vector and cause, if this event is one. */
static void note_interrupt(struct thread_stacks *stacks, struct thread_state *state,
			   const struct branch_event *event, struct branch_notes *notes)
{
	struct slice_cause *cause = &state->cause;

	if (event->flags & BRANCH_ASYNC) {
		notes->vector = state->vector;
		cause->ip = event->flags & BRANCH_TRACE_OFF ? 0 : event->to;
		if (cause->known)
			notes->cause = arena_copy(stacks->events, cause, sizeof(*cause));
		cause->known = 0;
	}
	state->vector = 0;
}

static bool fork_is_due(const struct thread_stacks *stacks, uint64_t time)
{
	return stacks->next_fork < stacks->fork_count &&
	       stacks->forks[stacks->next_fork]->begin <= time;
}

static void follow_forks(struct thread_stacks *stacks, uint64_t time)
{
	while (fork_is_due(stacks, time))
		fork_stack(stacks, stacks->forks[stacks->next_fork++]);
}

static void open_stack(struct thread_stacks *stacks, struct thread_state *state,
		       const struct thread *thread)
{
	if (!state->stack)
		state->stack =
			callstack_open(stacks->machine, stacks->add_track(stacks->context, thread));
}

/* Whether the thread's process ran exec since its last branch. */
static bool began_program(struct thread_state *state, const struct branch_event *event)
{
	const struct address_space *before = state->space;

	if (before == event->space || !event->thread || !event->space)
		return false;
	state->space = event->space;
	return before && timeline_ran_exec(event->thread->process, before, event->space);
}

/* Note the OCaml handlers that the straight-line code up to the branch installs and removes. */
static void find_traps(struct branch_notes *notes, const struct location *from, uint64_t last_ip)
{
	const struct trap_table *table = dso_borrow_traps(from->symbol->dso);
	uint64_t vaddr = from->symbol->start + from->offset, distance = from->ip - last_ip;
	size_t begin;

	if (!table || !last_ip || distance > STRAIGHT_MAX)
		return;
	begin = trap_table_find(table, vaddr - distance);
	notes->traps = table->traps + begin;
	notes->trap_count = (uint32_t)(trap_table_find(table, vaddr) - begin);
}

static bool enters_trap(const struct location *to)
{
	const struct trap_table *table = dso_borrow_traps(to->symbol->dso);
	uint64_t vaddr = to->symbol->start + to->offset;

	for (size_t i = table ? trap_table_find(table, vaddr) : 0;
	     table && i < table->count && table->traps[i].vaddr == vaddr; i++) {
		if (table->traps[i].kind == TRAP_ENTERED)
			return true;
	}
	return false;
}

/* The offset in a SYMBOL_FILE is none in the code. */
static bool is_in_function(const struct location *location)
{
	return location->symbol && location->symbol->dso && location->symbol->kind != SYMBOL_FILE;
}

static void note_traps(const struct thread_state *state, const struct location_pair *places,
		       struct branch_notes *notes)
{
	if (is_in_function(&places->from))
		find_traps(notes, &places->from, state->last_ip);
	if (is_in_function(&places->to))
		notes->enters_trap = enters_trap(&places->to);
}

static bool enters_program(const struct thread_stacks *stacks, const struct branch_event *event)
{
	return event->flags & BRANCH_TRACE_ON &&
	       resolver_is_entry(stacks->resolver, event->space, event->to);
}

/*
 * Returns how many branches, from the first on, are of its thread and program, come before
 * the next fork, and have places that the resolver has cached.
 */
static size_t look_up_cached(const struct thread_stacks *stacks, const struct branch_event *events,
			     size_t count, struct resolved_branch branches[BATCH_MOST])
{
	const struct thread *thread = events->thread;
	const struct address_space *space = state_of(stacks, thread)->space;
	uint64_t forks_at = stacks->next_fork < stacks->fork_count
				    ? stacks->forks[stacks->next_fork]->begin
				    : UINT64_MAX;
	size_t most = count < BATCH_MOST ? count : BATCH_MOST, found;

	while (most && events[most - 1].time >= forks_at)
		most--;
	for (found = 0; found < most; found++) {
		const struct branch_event *event = &events[found];

		if (event->thread != thread || event->space != space ||
		    event->kind > BRANCH_TX_ABORT)
			break;
		branches[found].event = event;
		branches[found].places =
			branch_cache_get(stacks->resolver, space, event->from, event->to);
		if (!branches[found].places)
			break;
	}
	return found;
}

/* Feed any event. */
static void feed_one(struct thread_stacks *stacks, struct thread_state *state,
		     const struct branch_event *event)
{
	struct branch_notes notes = { .enters_program =
					      !state->stack && enters_program(stacks, event) };
	struct resolved_branch branch = { .event = event };

	resolver_advance(stacks->resolver, event->time);
	branch.places =
		resolver_find_branch(stacks->resolver, event->space, event->from, event->to);
	open_stack(stacks, state, event->thread);
	if (began_program(state, event)) {
		notes.exec = true;
		notes.enters_program = enters_program(stacks, event);
	}
	if (event->kind == BRANCH_GAP)
		state->cause.known = 0; /* it may be that of a lost event */
	if (state->vector)
		note_interrupt(stacks, state, event, &notes);
	note_traps(state, branch.places, &notes);
	if (stacks->inlined)
		inline_flow_feed(&state->flow, stacks->resolver, state->stack, &branch, &notes);
	else
		callstack_feed(state->stack, &branch, 1, &notes);
}

/* Code ran that is not in the trace, so what follows begins a stack of its own. */
static void feed_pause(struct thread_stacks *stacks, struct thread_state *state,
		       const struct branch_event *event)
{
	struct branch_event gap = {
		.kind = BRANCH_GAP, .gap = GAP_PAUSED, .thread = event->thread, .cpu = event->cpu
	};

	if (event->flags & BRANCH_TRACE_ON && state->off_time && event->thread) {
		gap.time = trace_pauses_find(stacks->pauses, event->thread->tid, event->cpu,
					     state->off_time, event->time);
		if (gap.time) {
			feed_one(stacks, state, &gap);
			stacks->paused++;
		}
	}
	state->off_time = event->flags & BRANCH_TRACE_OFF ? event->time : 0;
}

size_t thread_stacks_feed(struct thread_stacks *stacks, const struct branch_event *events,
			  size_t count)
{
	struct thread_state *state = state_of(stacks, events->thread);
	struct resolved_branch branches[BATCH_MOST];
	size_t fed = 0;

	if (state->stack && !state->vector && !stacks->inlined && !stacks->pauses)
		fed = look_up_cached(stacks, events, count, branches);
	if (fed) {
		callstack_feed(state->stack, branches, fed, NULL);
	} else {
		follow_forks(stacks, events->time);
		if (stacks->pauses)
			feed_pause(stacks, state, events);
		feed_one(stacks, state, events);
		fed = 1;
	}
	state->last_ip = events[fed - 1].to;
	return fed;
}

void thread_stacks_mark(struct thread_stacks *stacks, const struct branch_event *event,
			const struct symbol *symbol)
{
	static const struct location_pair nowhere;
	struct thread_state *state = state_of(stacks, event->thread);
	struct branch_event mark = {
		.time = event->time,
		.kind = event->gap == CPU_EVENT_TX_ABORT ? BRANCH_TX_ABORT : BRANCH_CPU_EVENT,
	};
	struct branch_notes notes = { .mark = symbol,
				      .mark_value = symbol->kind == SYMBOL_MARK ? event->to : 0 };

	follow_forks(stacks, event->time);
	open_stack(stacks, state, event->thread);
	callstack_feed(state->stack, &(struct resolved_branch){ &mark, &nowhere }, 1, &notes);
}

void thread_stacks_event_data(struct thread_stacks *stacks, const struct thread *thread,
			      uint32_t type, uint64_t value)
{
	struct slice_cause *cause = &state_of(stacks, thread)->cause;

	if (type >= sizeof(cause->values) / sizeof(cause->values[0]))
		return;
	cause->values[type] = value;
	cause->known |= (uint8_t)(1u << type);
}

void thread_stacks_drop_event_data(struct thread_stacks *stacks, const struct thread *thread)
{
	state_of(stacks, thread)->cause.known = 0;
}

void thread_stacks_interrupt(struct thread_stacks *stacks, const struct thread *thread,
			     uint8_t vector)
{
	state_of(stacks, thread)->vector = (uint16_t)(vector + 1);
}

void thread_stacks_finish(struct thread_stacks *stacks)
{
	for (size_t i = 0; stacks->states && i <= stacks->count; i++) {
		if (stacks->states[i].stack)
			callstack_finish(stacks->states[i].stack);
	}
}

void thread_stacks_release(struct thread_stacks *stacks)
{
	for (size_t i = 0; stacks->states && i <= stacks->count; i++)
		callstack_close(stacks->states[i].stack);
	free(stacks->states);
	free(stacks->forks);
	*stacks = (struct thread_stacks){ 0 };
}
