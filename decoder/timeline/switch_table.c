/* SPDX-License-Identifier: MIT */
/* Collects context switches, and sorts them by CPU. */
#include "decoder/timeline/switch_table.h"

void switch_table_add(struct switch_table *table, const struct cpu_switch *change)
{
	struct cpu_switch *added = ARRAY_ADD(table->switches, table->count, table->room);

	*added = *change;
	added->order = table->count;
}

static int compare_switches(const void *left, const void *right)
{
	const struct cpu_switch *a = left, *b = right;

	return COMPARE(a->cpu, b->cpu) ?: COMPARE(a->order, b->order);
}

/* Set `stayed`, while the switches of all CPUs are in the order of time. */
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
 * Returns whether the thread differs from the previous switch's (NULL: the CPU's first).  A
 * switch-out names the thread of the switch-in that follows.  An exec only changes the tid of
 * its thread.
 */
static bool changes_thread(const struct cpu_switch *before, const struct cpu_switch *change)
{
	if (!before || before->thread == change->thread)
		return !before && !change->exec;
	return !change->exec || before->thread->process == change->thread->process;
}

static void drop_repetitions(struct switch_table *table)
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
	qsort(table->switches, table->count, sizeof(*table->switches), compare_switches);
	drop_repetitions(table);
}

/* Returns the index of the first switch of a CPU at or above `cpu`. */
static size_t first_switch(const struct switch_table *table, int64_t cpu)
{
	return LOWER_BOUND(i, table->count, table->switches[i].cpu < cpu);
}

int32_t switch_table_cpu(const struct switch_table *table, size_t index)
{
	size_t first = 0;

	for (; index && first < table->count; index--)
		first = first_switch(table, (int64_t)table->switches[first].cpu + 1);
	return first < table->count ? table->switches[first].cpu : -1;
}

const struct cpu_switch *switch_table_find(const struct switch_table *table, int32_t cpu,
					   size_t *count)
{
	size_t first = first_switch(table, cpu);

	*count = first_switch(table, (int64_t)cpu + 1) - first;
	return *count ? &table->switches[first] : NULL;
}

uint64_t switch_table_run_begin(const struct switch_table *table, const struct thread *thread,
				int32_t cpu, uint64_t time)
{
	const struct cpu_switch *of_cpu;
	size_t count, after;

	of_cpu = switch_table_find(table, cpu, &count);
	after = LOWER_BOUND(i, count, of_cpu[i].time <= time);
	return after && of_cpu[after - 1].thread == thread ? of_cpu[after - 1].time : 0;
}
