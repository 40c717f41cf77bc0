/* SPDX-License-Identifier: MIT */
/* Losses sorted by buffer, since a file may have many buffers and many losses. */
#include "decoder/timeline/loss_table.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/lower_bound.h"

void loss_table_add(struct loss_table *table, const struct loss *loss)
{
	table->losses =
		alloc_grow(table->losses, &table->room, table->count + 1, sizeof(*table->losses));
	table->losses[table->count] = *loss;
	table->losses[table->count].order = table->count;
	table->count++;
}

/* `order` is the order of time. */
static int compare_cpus(const void *left, const void *right)
{
	const struct loss *a = left, *b = right;

	if (a->cpu != b->cpu)
		return a->cpu < b->cpu ? -1 : 1;
	return a->order < b->order ? -1 : a->order > b->order;
}

static int compare_tids(const void *left, const void *right)
{
	const struct loss *a = left, *b = right;

	if (a->tid != b->tid)
		return a->tid < b->tid ? -1 : 1;
	return a->order < b->order ? -1 : a->order > b->order;
}

void loss_table_finish(struct loss_table *table)
{
	if (!table->count)
		return;
	table->by_tid = alloc_zeroed(table->count, sizeof(*table->by_tid));
	memcpy(table->by_tid, table->losses, table->count * sizeof(*table->losses));
	qsort(table->losses, table->count, sizeof(*table->losses), compare_cpus);
	qsort(table->by_tid, table->count, sizeof(*table->by_tid), compare_tids);
}

void loss_table_release(struct loss_table *table)
{
	free(table->losses);
	free(table->by_tid);
	*table = (struct loss_table){ 0 };
}

/* Returns the first of the sorted losses whose key is not below. */
static size_t first_loss(const struct loss *losses, size_t count, int64_t key, bool by_tid)
{
	return LOWER_BOUND(i, count, (by_tid ? losses[i].tid : losses[i].cpu) < key);
}

const struct loss *loss_table_find(const struct loss_table *table, int32_t cpu, int32_t tid,
				   size_t *count)
{
	bool by_tid = tid != -1;
	const struct loss *losses = by_tid ? table->by_tid : table->losses;
	int64_t key = by_tid ? tid : cpu;
	size_t first = first_loss(losses, table->count, key, by_tid);

	*count = first_loss(losses, table->count, key + 1, by_tid) - first;
	return losses ? losses + first : NULL;
}
