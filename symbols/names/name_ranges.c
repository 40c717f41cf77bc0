/* SPDX-License-Identifier: MIT */
#include "symbols/names/name_ranges.h"

#include <stdlib.h>

#include "base/alloc.h"

void name_ranges_add(struct name_ranges *names, const struct named_range *range)
{
	if (range->end < range->begin || names->count == NAME_RANGE_NONE)
		return;
	names->ranges = alloc_grow(names->ranges, &names->room, names->count + 1, sizeof(*range));
	names->ranges[names->count++] = *range;
}

static int compare_addresses(const void *a, const void *b)
{
	const uint64_t *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

/* Returns the first of the sorted addresses that is above `address`, UINT64_MAX if none is. */
static uint64_t next_above(const uint64_t *addresses, size_t count, uint64_t address)
{
	size_t low = 0, high = count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (addresses[middle] <= address)
			low = middle + 1;
		else
			high = middle;
	}
	return low < count ? addresses[low] : UINT64_MAX;
}

static void close_open(struct name_ranges *names, uint64_t limit)
{
	uint64_t *begins = alloc_zeroed(names->count, sizeof(*begins));

	for (size_t i = 0; i < names->count; i++)
		begins[i] = names->ranges[i].begin;
	if (names->count)
		qsort(begins, names->count, sizeof(*begins), compare_addresses);
	for (size_t i = 0; i < names->count; i++) {
		struct named_range *range = &names->ranges[i];
		uint64_t next = next_above(begins, names->count, range->begin);

		if (range->end == range->begin)
			range->end = next - range->begin > limit ? range->begin + limit : next;
	}
	free(begins);
}

/* ---- Which range holds where --------------------------------------------- */

/* A heap of the ranges that have begun; the one added last is on top. */
struct heap {
	uint32_t *ranges;
	size_t count;
};

static void swap(uint32_t *a, uint32_t *b)
{
	uint32_t old = *a;

	*a = *b;
	*b = old;
}

static void heap_push(struct heap *heap, uint32_t range)
{
	size_t at = heap->count++;

	heap->ranges[at] = range;
	for (; at && heap->ranges[(at - 1) / 2] < heap->ranges[at]; at = (at - 1) / 2)
		swap(&heap->ranges[at], &heap->ranges[(at - 1) / 2]);
}

static void heap_pop(struct heap *heap)
{
	size_t at = 0, child;

	heap->ranges[0] = heap->ranges[--heap->count];
	while ((child = 2 * at + 1) < heap->count) {
		if (child + 1 < heap->count && heap->ranges[child + 1] > heap->ranges[child])
			child++;
		if (heap->ranges[at] >= heap->ranges[child])
			break;
		swap(&heap->ranges[at], &heap->ranges[child]);
		at = child;
	}
}

/* Ranges by where they begin. */
static int compare_begins(const void *a, const void *b, void *context)
{
	const struct named_range *ranges = context;
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	if (ranges[x].begin != ranges[y].begin)
		return ranges[x].begin < ranges[y].begin ? -1 : 1;
	return (x > y) - (x < y);
}

static void add_piece(struct name_ranges *names, uint64_t begin, uint32_t range)
{
	struct range_piece *last =
		names->piece_count ? &names->pieces[names->piece_count - 1] : NULL;

	if (last && last->begin == begin)
		last->range = range;
	else if (!last || last->range != range)
		names->pieces[names->piece_count++] = (struct range_piece){ begin, range };
}

/* Tell of all ends up to an address what holds after them. */
static void end_ranges(struct name_ranges *names, struct heap *heap, uint64_t upto)
{
	while (heap->count && names->ranges[heap->ranges[0]].end <= upto) {
		uint64_t end = names->ranges[heap->ranges[0]].end;

		while (heap->count && names->ranges[heap->ranges[0]].end <= end)
			heap_pop(heap);
		add_piece(names, end, heap->count ? heap->ranges[0] : NAME_RANGE_NONE);
	}
}

static void make_pieces(struct name_ranges *names, const uint32_t *order, size_t count)
{
	struct heap heap = { alloc_zeroed(count, sizeof(*heap.ranges)), 0 };

	/* Each range makes a piece where it begins and at most one where it ends. */
	names->pieces = alloc_zeroed(2 * count, sizeof(*names->pieces));
	for (size_t i = 0; i < count; i++) {
		uint64_t begin = names->ranges[order[i]].begin;

		end_ranges(names, &heap, begin);
		heap_push(&heap, order[i]);
		add_piece(names, begin, heap.ranges[0]);
	}
	end_ranges(names, &heap, UINT64_MAX);
	free(heap.ranges);
}

void name_ranges_finish(struct name_ranges *names, uint64_t open_limit)
{
	uint32_t *order = alloc_zeroed(names->count, sizeof(*order));
	size_t count = 0;

	close_open(names, open_limit);
	for (size_t i = 0; i < names->count; i++)
		if (names->ranges[i].begin < names->ranges[i].end)
			order[count++] = (uint32_t)i;
	if (count)
		qsort_r(order, count, sizeof(*order), compare_begins, names->ranges);
	make_pieces(names, order, count);
	free(order);
}

void name_ranges_release(struct name_ranges *names)
{
	free(names->ranges);
	free(names->pieces);
	*names = (struct name_ranges){ 0 };
}

uint32_t name_ranges_find(const struct name_ranges *names, uint64_t address, uint64_t *begin,
			  uint64_t *end)
{
	size_t low = 0, high = names->piece_count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (names->pieces[middle].begin <= address)
			low = middle + 1;
		else
			high = middle;
	}
	*begin = low ? names->pieces[low - 1].begin : 0;
	*end = low < names->piece_count ? names->pieces[low].begin : UINT64_MAX;
	return low ? names->pieces[low - 1].range : NAME_RANGE_NONE;
}
