/* SPDX-License-Identifier: MIT */
/* Collect context switches, and sort them by CPU. */
#include "decoder/timeline/timeline_types.h"

void switch_table_add(struct switch_table *table, const struct cpu_switch *change)
{
	struct cpu_switch *added = ARRAY_ADD(table->switches, table->count, table->room);

	*added = *change;
	added->order = table->count;
}

COMPARE_BY_TWO(compare_switches, struct cpu_switch, cpu, order)

/* Set `stayed`. The switches of all CPUs must be sorted by time. */
static void find_stays(struct switch_table *table)
{
	uint32_t *last, threads = 0;

	for (size_t i = 0; i < table->count; i++)
		threads = MAX(threads, table->switches[i].thread->index + 1);
	last = alloc_zeroed(threads, sizeof(*last));
	for (size_t i = 0; i < table->count; i++) {
		struct cpu_switch *change = &table->switches[i];
		uint32_t *cpu = &last[change->thread->index]; /* 1 + index, or 0 */

		change->stayed = *cpu == (uint32_t)change->cpu + 1;
		*cpu = (uint32_t)change->cpu + 1;
	}
	free(last);
}

/*
 * Returns whether the thread differs from the previous switch's (`before` NULL: first of the CPU).
 * A switch-out and the following switch-in name the same thread. An exec only changes its thread's
 * tid.
 */
static bool changes_thread(const struct cpu_switch *before, const struct cpu_switch *change)
{
	if (!before || before->thread == change->thread)
		return !before && !change->exec;
	return !change->exec || before->thread->process == change->thread->process;
}

static void drop_repeated_switches(struct switch_table *table)
{
	const struct cpu_switch *before = NULL;
	size_t kept = 0;

	for (size_t i = 0; i < table->count; i++) {
		const struct cpu_switch change = table->switches[i];

		if (before && before->cpu != change.cpu)
			before = NULL;
		if (!changes_thread(before, &change))
			continue;
		table->switches[kept] = change;
		before = &table->switches[kept++];
	}
	table->count = kept;
}

void switch_table_finish(struct switch_table *table)
{
	if (!table->count)
		return;
	find_stays(table);
	SORT(table->switches, table->count, compare_switches);
	drop_repeated_switches(table);
}

const struct cpu_switch *switch_table_find(const struct switch_table *table, int32_t cpu,
					   size_t *count)
{
	size_t first = LOWER_BOUND(i, table->count, table->switches[i].cpu < cpu);

	*count = LOWER_BOUND(i, table->count, table->switches[i].cpu <= cpu) - first;
	return *count ? &table->switches[first] : NULL;
}
