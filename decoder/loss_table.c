/* SPDX-License-Identifier: MIT */
#include "decoder/loss_table.h"

#include <stdlib.h>

#include "base/alloc.h"
#include "decoder/timeline.h"

/* Losses of one owner stay in their order, which is that of their addresses. */
static int compare(int32_t left, int32_t right, const struct loss *a, const struct loss *b)
{
	if (left != right)
		return left < right ? -1 : 1;
	return a < b ? -1 : a > b;
}

static int compare_cpus(const void *left, const void *right)
{
	const struct loss *a = *(const struct loss *const *)left;
	const struct loss *b = *(const struct loss *const *)right;

	return compare(a->cpu, b->cpu, a, b);
}

static int compare_tids(const void *left, const void *right)
{
	const struct loss *a = *(const struct loss *const *)left;
	const struct loss *b = *(const struct loss *const *)right;

	return compare(a->tid, b->tid, a, b);
}

static const struct loss **list(const struct loss *losses, size_t count,
				int (*order)(const void *, const void *))
{
	const struct loss **listed = alloc_zeroed(count, sizeof(*listed));

	for (size_t i = 0; i < count; i++)
		listed[i] = &losses[i];
	qsort(listed, count, sizeof(*listed), order);
	return listed;
}

void loss_table_init(struct loss_table *table, const struct loss *losses, size_t count)
{
	*table = (struct loss_table){ .count = count };
	table->by_cpu = list(losses, count, compare_cpus);
	table->by_tid = list(losses, count, compare_tids);
}

/* Returns how many losses are of owners before this one. */
static size_t below(const struct loss_table *table, int64_t cpu, int64_t tid)
{
	size_t low = 0, high = table->count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (tid == -1 ? table->by_cpu[middle]->cpu < cpu : table->by_tid[middle]->tid < tid)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

const struct loss *const *loss_table_find(const struct loss_table *table, int32_t cpu, int32_t tid,
					  size_t *count)
{
	const struct loss **losses = tid == -1 ? table->by_cpu : table->by_tid;
	int32_t owner = tid == -1 ? cpu : tid;
	size_t first = below(table, cpu, tid), end = first;

	while (end < table->count && (tid == -1 ? losses[end]->cpu : losses[end]->tid) == owner)
		end++;
	*count = end - first;
	return *count ? losses + first : NULL;
}

void loss_table_release(struct loss_table *table)
{
	free(table->by_cpu);
	free(table->by_tid);
	*table = (struct loss_table){ 0 };
}
