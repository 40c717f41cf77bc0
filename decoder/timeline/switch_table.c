/* SPDX-License-Identifier: MIT */
/* Collects context switches, and sorts them by CPU. */
#include "decoder/timeline/switch_table.h"

#include <stdlib.h>

#include "base/alloc.h"
#include "base/lower_bound.h"

struct switch_note {
	struct cpu_switch change;
	size_t order; /* of time */
	int32_t cpu;
};

struct cpu_history {
	int32_t cpu;
	const struct cpu_switch *switches;
	size_t count;
};

void switch_table_add(struct switch_table *table, int32_t cpu, const struct cpu_switch *change)
{
	table->notes =
		alloc_grow(table->notes, &table->room, table->count + 1, sizeof(*table->notes));
	table->notes[table->count] = (struct switch_note){ *change, table->count, cpu };
	table->count++;
}

static int compare_notes(const void *left, const void *right)
{
	const struct switch_note *a = left, *b = right;

	if (a->cpu != b->cpu)
		return a->cpu < b->cpu ? -1 : 1;
	return a->order < b->order ? -1 : a->order > b->order;
}

/* A switch-out names the thread of the switch-in that follows: keep the first of both. */
static void keep_changes(struct switch_table *table, struct cpu_switch *switches)
{
	struct cpu_history *history = NULL;
	size_t kept = 0;

	for (size_t i = 0; i < table->count; i++) {
		const struct switch_note *note = &table->notes[i];

		if (!history || history->cpu != note->cpu) {
			history = &table->cpus[table->cpu_count++];
			*history = (struct cpu_history){ note->cpu, &switches[kept], 0 };
		} else if (switches[kept - 1].thread == note->change.thread) {
			continue;
		}
		switches[kept++] = note->change;
		history->count++;
	}
}

/* Set `stayed`, while the notes of all CPUs are in the order of time. */
static void find_stays(struct switch_table *table)
{
	uint32_t threads = 0;
	uint32_t *last;

	for (size_t i = 0; i < table->count; i++) {
		if (table->notes[i].change.thread->index >= threads)
			threads = table->notes[i].change.thread->index + 1;
	}
	last = alloc_zeroed(threads, sizeof(*last));
	for (size_t i = 0; i < table->count; i++) {
		struct switch_note *note = &table->notes[i];
		uint32_t *cpu = &last[note->change.thread->index]; /* plus 1: 0 is none */

		note->change.stayed = *cpu == (uint32_t)note->cpu + 1;
		*cpu = (uint32_t)note->cpu + 1;
	}
	free(last);
}

void switch_table_finish(struct switch_table *table, struct arena *arena)
{
	size_t cpus = 0;

	if (!table->count)
		return;
	find_stays(table);
	qsort(table->notes, table->count, sizeof(*table->notes), compare_notes);
	for (size_t i = 0; i < table->count; i++)
		cpus += i == 0 || table->notes[i].cpu != table->notes[i - 1].cpu;
	table->cpus = arena_alloc(arena, cpus * sizeof(*table->cpus));
	keep_changes(table, arena_alloc(arena, table->count * sizeof(struct cpu_switch)));
	switch_table_release(table);
}

void switch_table_release(struct switch_table *table)
{
	free(table->notes);
	table->notes = NULL;
	table->count = 0;
	table->room = 0;
}

int32_t switch_table_cpu(const struct switch_table *table, size_t index)
{
	return index < table->cpu_count ? table->cpus[index].cpu : -1;
}

const struct cpu_switch *switch_table_find(const struct switch_table *table, int32_t cpu,
					   size_t *count)
{
	size_t low = LOWER_BOUND(i, table->cpu_count, table->cpus[i].cpu < cpu);

	*count = 0;
	if (low == table->cpu_count || table->cpus[low].cpu != cpu)
		return NULL;
	*count = table->cpus[low].count;
	return table->cpus[low].switches;
}
