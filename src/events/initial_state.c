/* SPDX-License-Identifier: MIT */
#include "src/events/initial_state.h"

#include <stdlib.h>

#include "base/alloc.h"
#include "base/hash.h"

/* In the order in which they are given out: a guest's slice tells its VMCS. */
enum held { HELD_FREQUENCY, HELD_VMCS, HELD_GUEST, HELD_MWAIT, HELD_SLEEP, HELD_KINDS };

/* Kinds are SIDE_NONE where nothing is held. */
struct early_cpu {
	int32_t cpu;
	struct side_event held[HELD_KINDS];
	UT_hash_handle hh;
};

struct early_thread {
	const struct thread *thread; /* borrowed; NULL: unknown */
	struct side_event transaction;
	UT_hash_handle hh;
};

static bool is_of_transaction(enum side_kind kind)
{
	return kind == SIDE_TX_BEGIN || kind == SIDE_TX_COMMIT || kind == SIDE_TX_ABORT;
}

bool side_early_is_state(enum side_kind kind)
{
	return is_of_transaction(kind) || kind == SIDE_FREQUENCY || kind == SIDE_VMCS ||
	       kind == SIDE_GUEST || kind == SIDE_MWAIT || kind == SIDE_SLEEP ||
	       kind == SIDE_WAKE;
}

static struct early_cpu *cpu_of(struct side_early *early, int32_t number, bool add)
{
	struct early_cpu *cpu;

	HASH_FIND_INT(early->cpus, &number, cpu);
	if (cpu || !add)
		return cpu;
	cpu = alloc_zeroed(1, sizeof(*cpu));
	cpu->cpu = number;
	HASH_ADD_INT(early->cpus, cpu, cpu);
	return cpu;
}

static struct early_thread *thread_of(struct side_early *early, const struct thread *key, bool add)
{
	struct early_thread *thread;

	HASH_FIND_PTR(early->threads, &key, thread);
	if (thread || !add)
		return thread;
	thread = alloc_zeroed(1, sizeof(*thread));
	thread->thread = key;
	HASH_ADD_PTR(early->threads, thread, thread);
	return thread;
}

static void take_of_cpu(struct early_cpu *cpu, const struct side_event *event)
{
	switch (event->kind) {
	case SIDE_FREQUENCY:
		cpu->held[HELD_FREQUENCY] = *event;
		break;
	case SIDE_VMCS:
		cpu->held[HELD_VMCS] = *event;
		break;
	case SIDE_GUEST:
		/* Its slice has the CR3 that it began with. */
		if (!event->extra)
			cpu->held[HELD_GUEST].kind = SIDE_NONE;
		else if (cpu->held[HELD_GUEST].kind == SIDE_NONE)
			cpu->held[HELD_GUEST] = *event;
		break;
	case SIDE_MWAIT:
		cpu->held[HELD_MWAIT] = *event;
		break;
	case SIDE_SLEEP:
		cpu->held[HELD_SLEEP] = *event;
		break;
	case SIDE_WAKE:
		cpu->held[HELD_SLEEP].kind = cpu->held[HELD_MWAIT].kind = SIDE_NONE;
		break;
	default:
		break;
	}
}

void side_early_take(struct side_early *early, const struct side_event *event)
{
	if (event->kind == SIDE_TX_BEGIN)
		thread_of(early, event->thread, true)->transaction = *event;
	else if (is_of_transaction(event->kind))
		thread_of(early, event->thread, true)->transaction.kind = SIDE_NONE;
	else
		take_of_cpu(cpu_of(early, event->cpu, true), event);
}

static void give(const struct side_early *early, struct side_event *held,
		 const struct side_early_out *out)
{
	if (held->kind == SIDE_NONE)
		return;
	held->time = early->begin;
	out->event(out->context, held);
	held->kind = SIDE_NONE;
}

static void give_cpu(const struct side_early *early, struct early_cpu *cpu,
		     const struct side_early_out *out)
{
	for (int i = 0; i < HELD_KINDS; i++)
		give(early, &cpu->held[i], out);
}

void side_early_give(struct side_early *early, const struct side_event *event,
		     const struct side_early_out *out)
{
	struct early_cpu *cpu = cpu_of(early, event->cpu, false);
	struct early_thread *thread = thread_of(early, event->thread, false);

	if (cpu)
		give_cpu(early, cpu, out);
	if (thread)
		give(early, &thread->transaction, out);
}

void side_early_give_all(struct side_early *early, const struct side_early_out *out)
{
	struct early_cpu *cpu, *next_cpu;
	struct early_thread *thread, *next_thread;

	HASH_ITER(hh, early->cpus, cpu, next_cpu)
		give_cpu(early, cpu, out);
	HASH_ITER(hh, early->threads, thread, next_thread)
		give(early, &thread->transaction, out);
}

void side_early_release(struct side_early *early)
{
	struct early_cpu *cpu, *next_cpu;
	struct early_thread *thread, *next_thread;

	HASH_ITER(hh, early->cpus, cpu, next_cpu) {
		HASH_DEL(early->cpus, cpu);
		free(cpu);
	}
	HASH_ITER(hh, early->threads, thread, next_thread) {
		HASH_DEL(early->threads, thread);
		free(thread);
	}
	*early = (struct side_early){ 0 };
}
