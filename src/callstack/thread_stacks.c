/* SPDX-License-Identifier: MIT */
/* Feed each thread's branches to its call stack. */
#include "src/callstack/thread_stacks.h"

#include "decoder/cpu_event.h"
#include "decoder/timeline/trace_pauses.h"
#include "src/callstack/call_stretch.h"
#include "src/callstack/fork_pauses.h"

struct thread_state {
	struct callstack *stack;           /* owned; NULL: no branch yet */
	struct branch_event early;         /* instructions and cycles before the first branch */
	const struct address_space *space; /* address space of the last branch */
	uint64_t last_ip;                  /* target of the last branch; 0: not traced */
	uint64_t off_time; /* ns: when the trace stopped; 0: it runs, or pauses are not shown */
	struct slice_cause cause;      /* cause of the next interrupt */
	uint16_t vector;               /* 1 + its vector; 0: unknown */
	uint64_t last_clone;           /* ns: time of its last thread creation; 0: never */
	struct fork_pauses *creations; /* owned: until last_clone, without stacks; may be NULL */
	uint64_t last_fork;            /* ns: time of its last fork; 0: never */
	struct fork_pauses *pauses;    /* owned: until last_fork; may be NULL */
	size_t fork_index;             /* forked child: its index in `forks` */
	uint64_t begin_ip;             /* forked child: target of its first branch; 0: unknown */
	uint64_t fork_number;          /* number of its pause (struct fork_pause); 0: unknown */
	bool awaits_user;              /* forked child that has not entered user code */
	bool hidden;                   /* its slices are not shown */
};

/* Maximum bytes of straight-line code between two branches; more is an error in the trace. */
#define STRAIGHT_MAX 65536

static bool is_forked(const struct thread *thread)
{
	return thread->parent && thread->parent->pid != thread->pid;
}

/* Returns whether the recording shows that another thread of the process created this one. */
static bool is_cloned(const struct thread *thread)
{
	return thread->parent && thread->parent->pid == thread->pid && thread->begin;
}

static int compare_forks(const void *left, const void *right)
{
	const struct thread *a = *(const struct thread *const *)left;
	const struct thread *b = *(const struct thread *const *)right;

	if (a->parent != b->parent)
		return a->parent->index < b->parent->index ? -1 : 1;
	if (a->begin != b->begin)
		return a->begin < b->begin ? -1 : 1;
	return a->index < b->index ? -1 : a->index > b->index;
}

void thread_stacks_init(struct thread_stacks *stacks, const struct timeline *timeline)
{
	const struct thread *const *threads = timeline->threads.threads;

	stacks->count = timeline->threads.count;
	stacks->states = alloc_zeroed(stacks->count + 1, sizeof(*stacks->states));
	if (stacks->machine->precise) {
		stacks->forks = alloc_zeroed(stacks->count, sizeof(*stacks->forks));
		for (size_t i = 0; i < stacks->count; i++) {
			if (is_forked(threads[i]))
				stacks->forks[stacks->fork_count++] = threads[i];
		}
		SORT(stacks->forks, stacks->fork_count, compare_forks);
		for (size_t i = 0; i < stacks->fork_count; i++) {
			const struct thread *child = stacks->forks[i];

			stacks->states[child->index].fork_index = i;
			stacks->states[child->parent->index].last_fork = child->begin;
		}
		for (size_t i = 0; i < stacks->count; i++) {
			struct thread_state *parent;

			if (!is_cloned(threads[i]))
				continue;
			parent = &stacks->states[threads[i]->parent->index];
			parent->last_clone = MAX(parent->last_clone, threads[i]->begin);
		}
	}
	stacks->pauses = stacks->show_pauses && timeline->pauses.count ? &timeline->pauses : NULL;
}

static struct thread_state *state_of(const struct thread_stacks *stacks,
				     const struct thread *thread)
{
	return &stacks->states[thread ? thread->index : stacks->count];
}

/* Limit of forked siblings to search. */
#define SIBLINGS_MOST 64

/*
 * Search the siblings forked before a child, the latest first, for a query with its address: list
 * the fork times, which end at times[SIBLINGS_MOST], of siblings that have not begun, back to one
 * that began at this address, because its pause precedes theirs; and find the number of the last
 * such pause.
 */
static void search_siblings(const struct thread_stacks *stacks, size_t child,
			    struct fork_query *query, uint64_t times[SIBLINGS_MOST])
{
	const struct thread *const *forks = stacks->forks;
	size_t least = child > SIBLINGS_MOST ? child - SIBLINGS_MOST : 0;
	bool between = true;

	for (size_t i = child; i-- > least && forks[i]->parent == forks[child]->parent;) {
		const struct thread_state *state = state_of(stacks, forks[i]);

		between &= state->begin_ip != query->ip;
		if (between && (!state->stack || state->awaits_user))
			times[SIBLINGS_MOST - ++query->earlier_count] = forks[i]->begin;
		if (state->begin_ip == query->ip && state->fork_number) {
			query->after = state->fork_number;
			break;
		}
	}
	query->earlier = &times[SIBLINGS_MOST - query->earlier_count];
}

/* The child enters user code, or begins with a gap: start its stack with its parent's frames. */
static void inherit_stack(struct thread_stacks *stacks, struct thread_state *state,
			  const struct branch_event *event)
{
	const struct thread *child = event->thread;
	const struct fork_pauses *pauses = state_of(stacks, child->parent)->pauses;
	uint64_t times[SIBLINGS_MOST];
	struct fork_query query = {
		.time = child->begin,
		.resolution = stacks->machine->resolution,
	};
	const struct fork_pause *pause;

	if (!pauses)
		return;
	if (event->flags & BRANCH_TRACE_ON || state->awaits_user)
		query.ip = state->begin_ip = event->to;
	if (query.ip)
		search_siblings(stacks, state->fork_index, &query, times);
	pause = fork_pauses_find(pauses, &query);
	if (!pause)
		return;
	if (pause->left_out)
		diag_warn(stacks->machine->diag, "stack-too-deep",
			  "too many calls were open in a fork: the child begins without them");
	state->fork_number = fork_pause_resumes_at(pause, query.ip) ? pause->number : 0;
	state->space = pause->space;
	callstack_inherit(state->stack, pause->stack,
			  state->awaits_user ? event->time : child->begin);
}

static bool may_create(const struct branch_event *event)
{
	return event->kind == BRANCH_SYSCALL || event->kind == BRANCH_SOFTINT;
}

/* Note a system call or gap of a forking thread; only the last event can be one. */
static void follow_parent(struct thread_state *state, const struct branch_event *events,
			  size_t count)
{
	const struct branch_event *last = &events[count - 1];

	if (last->time > state->last_fork)
		return;
	if (!state->pauses)
		state->pauses = alloc_zeroed(1, sizeof(*state->pauses));
	state->pauses->credit += count;
	if (may_create(last) || last->kind == BRANCH_GAP)
		fork_pauses_add(state->pauses, state->stack, last);
}

/* Note a system call of a thread that creates threads; only the last event can be one. */
static void follow_creator(struct thread_state *state, const struct branch_event *last)
{
	if (last->time > state->last_clone) {
		state->last_clone = 0;
		return;
	}
	if (!state->creations)
		state->creations = alloc_zeroed(1, sizeof(*state->creations));
	if (may_create(last))
		fork_pauses_add(state->creations, NULL, last);
}

/* If this event is the interrupt that the processor announced, note its vector and cause. */
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

static void open_stack(struct thread_stacks *stacks, struct thread_state *state,
		       const struct branch_event *event)
{
	const struct thread *thread = event->thread;

	if (state->stack)
		return;
	state->stack = callstack_open(
		stacks->machine, state->hidden ? NULL : stacks->add_track(stacks->context, thread));
	if (state->early.insns)
		callstack_pass(state->stack, &state->early);
	if (thread && stacks->fork_count && is_forked(thread)) {
		/*
		 * The forking call is identified by the address at which the child enters user
		 * code. If the kernel is traced, the child begins after its first context switch,
		 * in ret_from_fork().
		 */
		state->awaits_user = event->kind == BRANCH_CPU_EVENT ||
				     (event->kind != BRANCH_GAP && ip_is_kernel(event->to));
		if (state->awaits_user)
			callstack_inherit(state->stack, NULL, event->thread->begin);
		else
			inherit_stack(stacks, state, event);
	}
}

/* Returns the exec that the thread's process ran after the thread's last branch; NULL: none. */
static const struct epoch *find_exec(struct thread_state *state, const struct branch_event *event)
{
	const struct address_space *before = state->space;

	if (before == event->space || !event->thread || !event->space)
		return NULL;
	state->space = event->space;
	return before ? timeline_first_exec(event->thread->process, before, event->space) : NULL;
}

/* Note OCaml handlers that the straight-line code before the branch installs and removes. */
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

/* An offset in a SYMBOL_FILE is not an offset in a function. */
static bool is_in_function(const struct location *location)
{
	return location->symbol && location->symbol->dso && location->symbol->kind != SYMBOL_FILE;
}

static bool enters_program(const struct thread_stacks *stacks, const struct branch_event *event)
{
	return event->flags & BRANCH_TRACE_ON &&
	       resolver_is_entry(stacks->resolver, event->space, event->to);
}

/* Returns whether a thread's first event is its creation. */
static bool begins_thread(const struct thread_stacks *stacks, const struct branch_event *event)
{
	const struct thread *thread = event->thread;
	const struct fork_pauses *creations;
	struct fork_query query = { .ip = event->to, .resolution = stacks->machine->resolution };

	if (!thread || !is_cloned(thread) || !(event->flags & BRANCH_TRACE_ON))
		return false;
	query.time = thread->begin;
	creations = state_of(stacks, thread->parent)->creations;
	return creations && fork_pauses_have(creations, &query);
}

static bool has_no_caller(const struct thread_stacks *stacks, const struct branch_event *event)
{
	return enters_program(stacks, event) || begins_thread(stacks, event);
}

static void feed_one(struct thread_stacks *stacks, struct thread_state *state,
		     const struct branch_event *event)
{
	struct branch_notes notes = { .has_no_caller =
					      !state->stack && has_no_caller(stacks, event) };
	struct resolved_branch branch;
	struct branch_event entry;
	const struct epoch *exec;

	open_stack(stacks, state, event);
	if (state->awaits_user) {
		entry = *event;
		event = &entry;
		/* Follow a child that has not entered user code; can clear `event->from`. */
		if (!ip_is_kernel(entry.to)) {
			/* After a gap, the child's position is unknown. */
			if (entry.kind != BRANCH_GAP && entry.to) {
				inherit_stack(stacks, state, &entry);
				entry.from = 0; /* the kernel's frames have ended */
				entry.known = NULL;
			}
			state->awaits_user = false;
		}
	}
	branch.event = event;
	resolver_advance(stacks->resolver, event->time);
	branch.locations = resolver_find_event(stacks->resolver, event);
	exec = find_exec(state, event);
	if (exec) {
		notes.exec = true;
		notes.died = exec->leader_ended;
		notes.has_no_caller = enters_program(stacks, event);
	}
	if (event->kind == BRANCH_GAP)
		state->cause.known = 0; /* can belong to a lost event */
	if (state->vector)
		note_interrupt(stacks, state, event, &notes);
	if (is_in_function(&branch.locations->from))
		find_traps(&notes, &branch.locations->from, state->last_ip);
	if (is_in_function(&branch.locations->to))
		notes.enters_trap = enters_trap(&branch.locations->to);
	if (stacks->flow.ends)
		inline_flow_feed(&stacks->flow, stacks->resolver, state->stack, &branch, &notes);
	else
		callstack_feed(state->stack, &branch, &notes);
}

/*
 * The next slices are those of a thread (NULL: of any). The last thread's slices precede them, also
 * where they would otherwise wait: a stretch makes fewer slices wait than single branches.
 */
static void change_thread(struct thread_stacks *stacks, struct thread_state *state)
{
	if (stacks->last && stacks->last != state && stacks->last->stack && !stacks->last->hidden &&
	    stacks->machine->precise)
		callstack_emit(stacks->last->stack);
	stacks->last = state;
}

/* Returns whether near branches can be fed without further checks. */
static bool is_ready(const struct thread_stacks *stacks, const struct thread_state *state)
{
	return state->stack && !state->vector && !stacks->pauses && !state->awaits_user;
}

/* Feed a whole stretch. Returns its number of branches; 0: feed the branches instead. */
static size_t feed_stretch(struct thread_stacks *stacks, struct thread_state *state,
			   const struct branch_event *events, size_t count)
{
	struct call_stretch *stretch = events->followed;

	call_stretch_restore(stretch);
	if (stretch->count > count || !is_ready(stacks, state) || state->space != events->space ||
	    !callstack_join(state->stack, stretch))
		return 0;
	for (size_t i = 0; i < stretch->file_count; i++)
		dso_use(stretch->files[i]);
	return stretch->count;
}

/*
 * Feed leading branches of kinds up to `last_kind` that the resolver has cached, and the counts
 * between and after them. Returns the number of both.
 */
static size_t feed_cached(const struct thread_stacks *stacks, const struct thread_state *state,
			  const struct branch_event *events, size_t count,
			  enum branch_kind last_kind)
{
	const struct callstack_machine *machine = stacks->machine;
	const struct branch_event *event = events, *end = events + count;
	struct resolved_branch branch;
	size_t fed;

	if (events->space == state->space) {
		fed = callstack_feed_plain(state->stack, events, count,
					   last_kind == BRANCH_TX_ABORT);
		if (fed)
			return fed;
		if (events->known)
			end = events + 1; /* feed this one alone: the next may be plain */
	}
	for (; event < end && event->thread == events->thread && event->space == state->space;
	     event++) {
		branch.event = event;
		if (event->kind > last_kind) {
			if (last_kind < BRANCH_TX_ABORT || event->kind != BRANCH_COUNTS ||
			    !event->cycles || event == events)
				break;
			if (machine->precise)
				callstack_pass(state->stack, event);
			continue;
		}
		branch.locations = resolver_get_known(stacks->resolver, event);
		if (!branch.locations)
			break;
		if (stacks->flow.ends)
			inline_flow_feed(&stacks->flow, stacks->resolver, state->stack, &branch,
					 NULL);
		else
			machine->ops->feed(state->stack, &branch, NULL);
	}
	return (size_t)(event - events);
}

size_t thread_stacks_feed(struct thread_stacks *stacks, const struct branch_event *events,
			  size_t count)
{
	struct thread_state *state = state_of(stacks, events->thread);
	size_t fed = 0, joined = 0, last;

	change_thread(stacks, state);
	if (events->kind == BRANCH_FOLLOWED)
		joined = feed_stretch(stacks, state, events, count);
	if (!joined && is_ready(stacks, state))
		fed = feed_cached(stacks, state, events, count,
				  state->last_fork || state->last_clone ? BRANCH_COND
									: BRANCH_TX_ABORT);
	if (joined) {
		fed = joined;
	} else if (!fed) {
		if (stacks->pauses) {
			struct branch_event gap = { .kind = BRANCH_GAP,
						    .gap = GAP_PAUSED,
						    .thread = events->thread,
						    .cpu = events->cpu };

			/* Code ran without trace, so later events begin a new stack. */
			if (events->flags & BRANCH_TRACE_ON && state->off_time && events->thread) {
				gap.time = trace_pauses_find(stacks->pauses, events->thread->tid,
							     events->cpu, state->off_time,
							     events->time);
				if (gap.time) {
					feed_one(stacks, state, &gap);
					stacks->paused++;
				}
			}
			state->off_time = events->flags & BRANCH_TRACE_OFF ? events->time : 0;
		}
		feed_one(stacks, state, events);
		fed = 1;
	}
	for (last = fed - 1; events[last].kind == BRANCH_COUNTS;)
		last--;
	state->last_ip = events[last].to;
	if (state->last_clone)
		follow_creator(state, &events[fed - 1]);
	if (state->last_fork)
		follow_parent(state, events, fed);
	return fed;
}

void thread_stacks_count(struct thread_stacks *stacks, const struct branch_event *event)
{
	struct thread_state *state = state_of(stacks, event->thread);

	if (state->stack) {
		callstack_pass(state->stack, event);
		return;
	}
	state->early.insns += event->insns;
	state->early.cycles += event->cycles;
}

size_t thread_stacks_follow(struct thread_stacks *stacks, const struct branch_event *events,
			    size_t count)
{
	struct thread_state *state = state_of(stacks, events->thread);
	struct callstack_machine *machine = stacks->machine;
	const struct slice_sink *shown = machine->sink;
	struct slice_sink dropping = *shown;
	struct stack_doubts doubts = machine->doubts;
	size_t fed;

	if (!machine->precise ||
	    (state->stack && !state->awaits_user && events->time > state->last_fork &&
	     events->time > state->last_clone))
		return count;
	change_thread(stacks, state);
	state->hidden = true;
	dropping.events = slice_sink_drop;
	dropping.flush = NULL;
	dropping.since = NULL;
	machine->sink = &dropping;
	fed = thread_stacks_feed(stacks, events, count);
	machine->sink = shown;
	machine->doubts = doubts;
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

	change_thread(stacks, state);
	open_stack(stacks, state, event);
	callstack_feed(state->stack, &(struct resolved_branch){ &mark, &nowhere }, &notes);
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
	change_thread(stacks, NULL);
	for (size_t i = 0; stacks->states && i <= stacks->count; i++) {
		if (stacks->states[i].stack && !stacks->states[i].hidden)
			callstack_finish(stacks->states[i].stack);
	}
}

void thread_stacks_release(struct thread_stacks *stacks)
{
	for (size_t i = 0; stacks->states && i <= stacks->count; i++) {
		callstack_close(stacks->states[i].stack);
		if (stacks->states[i].pauses)
			fork_pauses_release(stacks->states[i].pauses);
		free(stacks->states[i].pauses);
		free(stacks->states[i].creations);
	}
	free(stacks->states);
	free(stacks->forks);
	inline_flow_release(&stacks->flow);
	*stacks = (struct thread_stacks){ 0 };
}
