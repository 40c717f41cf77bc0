/* SPDX-License-Identifier: MIT */
#include "src/events/initial_state.h"

#include <stdlib.h>

#include "base/alloc.h"
#include "base/hash.h"

/* In the order in which they are given out: a guest's slice tells its VMCS. */
enum held { HELD_FREQUENCY, HELD_VMCS, HELD_GUEST, HELD_MWAIT, HELD_SLEEP, HELD_KINDS };

/* Kinds are CPU_EVENT_NONE where nothing is held. */
struct early_cpu {
	int32_t cpu;
	struct cpu_event held[HELD_KINDS];
	UT_hash_handle hh;
};

struct early_thread {
	const struct thread *thread; /* borrowed; NULL: unknown */
	struct cpu_event transaction;
	UT_hash_handle hh;
};

static bool is_of_transaction(enum cpu_event_kind kind)
{
	return kind == CPU_EVENT_TX_BEGIN || kind == CPU_EVENT_TX_COMMIT ||
	       kind == CPU_EVENT_TX_ABORT;
}

bool initial_state_is_state(enum cpu_event_kind kind)
{
	return is_of_transaction(kind) || kind == CPU_EVENT_CBR || kind == CPU_EVENT_VMCS ||
	       kind == CPU_EVENT_PIP || kind == CPU_EVENT_MWAIT || kind == CPU_EVENT_PWRE ||
	       kind == CPU_EVENT_PWRX;
}

static struct early_cpu *cpu_of(struct initial_state *early, int32_t number, bool add)
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

static struct early_thread *thread_of(struct initial_state *early, const struct thread *key,
				      bool add)
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

static void take_of_cpu(struct early_cpu *cpu, const struct cpu_event *event)
{
	switch (event->kind) {
	case CPU_EVENT_CBR:
		cpu->held[HELD_FREQUENCY] = *event;
		break;
	case CPU_EVENT_VMCS:
		cpu->held[HELD_VMCS] = *event;
		break;
	case CPU_EVENT_PIP:
		/* Its slice has the CR3 that it began with. */
		if (!event->extra)
			cpu->held[HELD_GUEST].kind = CPU_EVENT_NONE;
		else if (cpu->held[HELD_GUEST].kind == CPU_EVENT_NONE)
			cpu->held[HELD_GUEST] = *event;
		break;
	case CPU_EVENT_MWAIT:
		cpu->held[HELD_MWAIT] = *event;
		break;
	case CPU_EVENT_PWRE:
		cpu->held[HELD_SLEEP] = *event;
		break;
	case CPU_EVENT_PWRX:
		cpu->held[HELD_SLEEP].kind = cpu->held[HELD_MWAIT].kind = CPU_EVENT_NONE;
		break;
	default:
		break;
	}
}

void initial_state_take(struct initial_state *early, const struct cpu_event *event)
{
	if (event->kind == CPU_EVENT_TX_BEGIN)
		thread_of(early, event->thread, true)->transaction = *event;
	else if (is_of_transaction(event->kind))
		thread_of(early, event->thread, true)->transaction.kind = CPU_EVENT_NONE;
	else
		take_of_cpu(cpu_of(early, event->cpu, true), event);
}

static void give(const struct initial_state *early, struct cpu_event *held,
		 const struct initial_state_out *out)
{
	if (held->kind == CPU_EVENT_NONE)
		return;
	held->time = early->begin;
	out->event(out->context, held);
	held->kind = CPU_EVENT_NONE;
}

static void give_cpu(const struct initial_state *early, struct early_cpu *cpu,
		     const struct initial_state_out *out)
{
	for (int i = 0; i < HELD_KINDS; i++)
		give(early, &cpu->held[i], out);
}

void initial_state_give(struct initial_state *early, const struct cpu_event *event,
			const struct initial_state_out *out)
{
	struct early_cpu *cpu = cpu_of(early, event->cpu, false);
	struct early_thread *thread = thread_of(early, event->thread, false);

	if (cpu)
		give_cpu(early, cpu, out);
	if (thread)
		give(early, &thread->transaction, out);
}

void initial_state_give_all(struct initial_state *early, const struct initial_state_out *out)
{
	struct early_cpu *cpu, *next_cpu;
	struct early_thread *thread, *next_thread;

	HASH_ITER(hh, early->cpus, cpu, next_cpu)
	give_cpu(early, cpu, out);
	HASH_ITER(hh, early->threads, thread, next_thread)
	give(early, &thread->transaction, out);
}

void initial_state_release(struct initial_state *early)
{
	struct early_cpu *cpu, *next_cpu;
	struct early_thread *thread, *next_thread;

	HASH_ITER(hh, early->cpus, cpu, next_cpu)
	{
		HASH_DEL(early->cpus, cpu);
		free(cpu);
	}
	HASH_ITER(hh, early->threads, thread, next_thread)
	{
		HASH_DEL(early->threads, thread);
		free(thread);
	}
	*early = (struct initial_state){ 0 };
}
