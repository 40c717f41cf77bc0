/* SPDX-License-Identifier: MIT */
/* Keep the state before the selected time, and emit it where that begins. */
#include "src/events/event_output.h"

/* In the order in which they are emitted: a guest's slice shows its VMCS. */
enum state {
	STATE_NONE = 0,
	STATE_FREQUENCY,
	STATE_VMCS,
	STATE_GUEST,
	STATE_MWAIT,
	STATE_SLEEP,
	STATE_TRANSACTION, /* of a thread; the others are of a CPU */
	STATES
};

/* The states that events begin or end. */
static const uint8_t state_of[CPU_EVENT_KINDS] = {
	[CPU_EVENT_CBR] = STATE_FREQUENCY,
	[CPU_EVENT_VMCS] = STATE_VMCS,
	[CPU_EVENT_PIP] = STATE_GUEST,
	[CPU_EVENT_MWAIT] = STATE_MWAIT,
	[CPU_EVENT_PWRE] = STATE_SLEEP,
	[CPU_EVENT_PWRX] = STATE_SLEEP,
	[CPU_EVENT_TX_BEGIN] = STATE_TRANSACTION,
	[CPU_EVENT_TX_COMMIT] = STATE_TRANSACTION,
	[CPU_EVENT_TX_ABORT] = STATE_TRANSACTION,
	[CPU_EVENT_TX_LOST] = STATE_TRANSACTION,
};

struct state_owner {
	struct event_owner key;
	struct cpu_event states[STATES]; /* kind CPU_EVENT_NONE: unset */
	UT_hash_handle hh;
};

bool initial_state_is_state(enum cpu_event_kind kind)
{
	return kind < CPU_EVENT_KINDS && state_of[kind] != STATE_NONE;
}

static struct state_owner *find_owner(const struct initial_state *initial,
				      const struct thread *thread, int64_t cpu)
{
	const struct event_owner key = { thread, cpu };
	struct state_owner *owner;

	HASH_FIND(hh, initial->owners, &key, sizeof(key), owner);
	return owner;
}

static struct state_owner *make_owner(struct initial_state *initial, const struct cpu_event *event)
{
	const struct event_owner key = state_of[event->kind] == STATE_TRANSACTION
					       ? (struct event_owner){ event->thread, EVENT_NO_CPU }
					       : (struct event_owner){ NULL, event->cpu };
	struct state_owner *owner;

	HASH_FIND_OR_ADD(initial->owners, key, &key, owner);
	return owner;
}

static bool ends_state(const struct cpu_event *event)
{
	return (cpu_event_is_tx(event->kind) && event->kind != CPU_EVENT_TX_BEGIN) ||
	       event->kind == CPU_EVENT_PWRX || (event->kind == CPU_EVENT_PIP && !event->extra);
}

void initial_state_update(struct initial_state *initial, const struct cpu_event *event)
{
	struct cpu_event *states = make_owner(initial, event)->states;
	struct cpu_event *state = &states[state_of[event->kind]];

	if (ends_state(event))
		state->kind = CPU_EVENT_NONE;
	/* The guest's slice has the CR3 of its entry. */
	else if (event->kind != CPU_EVENT_PIP || state->kind == CPU_EVENT_NONE)
		*state = *event;
	if (event->kind == CPU_EVENT_PWRX)
		states[STATE_MWAIT].kind = CPU_EVENT_NONE;
}

static void emit_states(const struct initial_state *initial, struct state_owner *owner,
			struct cpu_event_sink *sink)
{
	for (int i = STATE_NONE + 1; i < STATES; i++) {
		if (owner->states[i].kind == CPU_EVENT_NONE)
			continue;
		owner->states[i].time = initial->begin;
		cpu_event_sink_add(sink, &owner->states[i]);
		owner->states[i].kind = CPU_EVENT_NONE;
	}
}

void initial_state_emit(struct initial_state *initial, const struct cpu_event *event,
			struct cpu_event_sink *sink)
{
	struct state_owner *cpu = find_owner(initial, NULL, event->cpu);
	struct state_owner *thread = find_owner(initial, event->thread, EVENT_NO_CPU);

	if (cpu)
		emit_states(initial, cpu, sink);
	if (thread)
		emit_states(initial, thread, sink);
}

void initial_state_emit_all(struct initial_state *initial, struct cpu_event_sink *sink)
{
	struct state_owner *owner, *next;

	for (int threads = 0; threads < 2; threads++) {
		HASH_ITER(hh, initial->owners, owner, next)
		{
			if ((owner->key.cpu == EVENT_NO_CPU) == threads)
				emit_states(initial, owner, sink);
		}
	}
}

void initial_state_release(struct initial_state *initial)
{
	struct state_owner *owner;

	HASH_FREE_ALL(initial->owners, owner);
	*initial = (struct initial_state){ 0 };
}
