/* SPDX-License-Identifier: MIT */
#include "src/callstack/thread_stacks.h"

#include <stdlib.h>

#include "base/alloc.h"
#include "decoder/cpu_event.h"
#include "src/resolve/resolve.h"
#include "src/slices/slice_sink.h"
#include "symbols/dso/dso_store.h"

struct thread_state {
	struct callstack *stack;           /* owned; NULL: no branch yet */
	const struct address_space *space; /* of the last branch */
	struct inline_flow flow;           /* if inlined functions are shown */
	uint64_t last_ip;                  /* where it went; 0: out of the trace */
	struct slice_cause data;           /* of the next interrupt */
	uint16_t vector;                   /* 1 + its vector; 0: not told */
};

/* More lies between two branches only if something is wrong. */
#define STRAIGHT_MAX 65536

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

void thread_stacks_init(struct thread_stacks *stacks, const struct timeline *timeline,
			struct callstack_machine *machine,
			void *(*add_track)(void *context, const struct thread *thread),
			void *context)
{
	const struct thread *const *threads;

	*stacks = (struct thread_stacks){ .machine = machine,
					  .add_track = add_track,
					  .context = context };
	threads = timeline_threads(timeline, &stacks->count);
	stacks->states = alloc_zeroed(stacks->count + 1, sizeof(*stacks->states));
	list_forks(stacks, threads);
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

/* What was told of an interrupt, if this branch is it. */
static void take_event(struct thread_stacks *stacks, struct thread_state *state,
		       const struct branch_event *event, struct resolved_branch *branch)
{
	struct slice_cause *data = &state->data;

	if (event->flags & BRANCH_ASYNC) {
		branch->vector = state->vector;
		data->ip = event->flags & BRANCH_TRACE_OFF ? 0 : event->to;
		if (data->known)
			branch->event = arena_copy(stacks->events, data, sizeof(*data));
		data->known = 0;
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

/* What of its file's handlers the straight way to `from` passed; the branch itself does nothing. */
static void pass_traps(struct resolved_branch *branch, uint64_t last_ip)
{
	const struct location *from = &branch->from;
	const struct trap_table *table = dso_borrow_traps(from->symbol->dso);
	uint64_t vaddr = from->symbol->start + from->offset, distance = from->ip - last_ip;
	size_t begin;

	if (!table || !last_ip || distance > STRAIGHT_MAX)
		return;
	begin = trap_table_find(table, vaddr - distance);
	branch->traps = table->traps + begin;
	branch->trap_count = (uint32_t)(trap_table_find(table, vaddr) - begin);
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

/* A file's symbol as a whole says nothing of where in it the code is. */
static bool is_in_function(const struct location *location)
{
	return location->symbol && location->symbol->dso && location->symbol->kind != SYMBOL_FILE;
}

static void note_traps(struct thread_state *state, struct resolved_branch *branch)
{
	if (is_in_function(&branch->from))
		pass_traps(branch, state->last_ip);
	if (is_in_function(&branch->to))
		branch->enters_trap = enters_trap(&branch->to);
	state->last_ip = branch->to.ip;
}

static bool enters_program(const struct thread_stacks *stacks, const struct branch_event *event)
{
	return event->flags & BRANCH_TRACE_ON && stacks->entries &&
	       resolver_is_entry(stacks->entries, event->space, event->to);
}

/* Branches that are looked up before any is fed. */
#define PLAIN_MOST 64

/* Returns how many branches, from the first on, are plain, of places that are known. */
static size_t look_up_plain(const struct thread_stacks *stacks, const struct resolver *resolver,
			    const struct branch_event *events, size_t count,
			    struct plain_branch branches[PLAIN_MOST])
{
	const struct thread *thread = events->thread;
	const struct address_space *space = state_of(stacks, thread)->space;
	uint64_t forks_at = stacks->next_fork < stacks->fork_count
				    ? stacks->forks[stacks->next_fork]->begin
				    : UINT64_MAX;
	size_t most = count < PLAIN_MOST ? count : PLAIN_MOST, found;

	for (found = 0; found < most; found++) {
		const struct branch_event *event = &events[found];

		if (event->thread != thread || event->space != space || !branch_is_plain(event) ||
		    event->time >= forks_at)
			break;
		branches[found].event = event;
		branches[found].places = branch_cache_get(resolver, space, event->from, event->to);
		if (!branches[found].places)
			break;
	}
	return found;
}

bool thread_stacks_take_plain(const struct thread_stacks *stacks)
{
	return stacks->machine->ops->plain && !stacks->inlines;
}

size_t thread_stacks_plain(struct thread_stacks *stacks, struct resolver *resolver,
			   const struct branch_event *events, size_t count)
{
	struct thread_state *state = state_of(stacks, events->thread);
	struct plain_branch branches[PLAIN_MOST];
	size_t found;

	if (!state->stack || state->vector)
		return 0;
	found = look_up_plain(stacks, resolver, events, count, branches);
	if (!found || !callstack_plain(state->stack, branches, found))
		return 0;
	state->last_ip = events[found - 1].to;
	return found;
}

void thread_stacks_branch(struct thread_stacks *stacks, const struct branch_event *event,
			  const struct location *from, const struct location *to)
{
	struct thread_state *state = state_of(stacks, event->thread);
	struct resolved_branch branch = {
		.time = event->time,
		.from = *from,
		.to = *to,
		.insns = event->insns,
		.cycles = event->cycles,
		.kind = event->kind,
		.flags = event->flags,
		.from_length = event->from_length,
		.gap = event->gap,
	};

	follow_forks(stacks, event->time);
	branch.enters_program = !state->stack && enters_program(stacks, event);
	open_stack(stacks, state, event->thread);
	if (began_program(state, event)) {
		branch.flags |= BRANCH_EXEC;
		branch.enters_program = enters_program(stacks, event);
	}
	if (event->kind == BRANCH_GAP)
		state->data.known = 0; /* behind it nothing holds */
	if (state->vector)
		take_event(stacks, state, event, &branch);
	note_traps(state, &branch);
	if (stacks->inlines)
		inline_flow_branch(&state->flow, stacks->inlines, state->stack, event, &branch);
	else
		callstack_branch(state->stack, &branch);
}

void thread_stacks_mark(struct thread_stacks *stacks, const struct branch_event *event,
			const struct symbol *symbol)
{
	struct thread_state *state = state_of(stacks, event->thread);
	struct resolved_branch branch = {
		.time = event->time,
		.kind = event->gap == CPU_EVENT_TX_ABORT ? BRANCH_TX_ABORT : BRANCH_CPU_EVENT,
		.mark = symbol,
		.mark_value = symbol->kind == SYMBOL_MARK ? event->to : 0,
	};

	follow_forks(stacks, event->time);
	open_stack(stacks, state, event->thread);
	callstack_branch(state->stack, &branch);
}

void thread_stacks_event_data(struct thread_stacks *stacks, const struct thread *thread,
			      uint32_t type, uint64_t value)
{
	struct slice_cause *data = &state_of(stacks, thread)->data;

	if (type >= sizeof(data->values) / sizeof(data->values[0]))
		return;
	data->values[type] = value;
	data->known |= (uint8_t)(1u << type);
}

void thread_stacks_drop_event_data(struct thread_stacks *stacks, const struct thread *thread)
{
	state_of(stacks, thread)->data.known = 0;
}

void thread_stacks_interrupt(struct thread_stacks *stacks, const struct thread *thread,
			     uint8_t vector)
{
	state_of(stacks, thread)->vector = (uint16_t)(vector + 1);
}

const struct callstack *thread_stacks_borrow(const struct thread_stacks *stacks,
					     const struct thread *thread)
{
	return state_of(stacks, thread)->stack;
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
