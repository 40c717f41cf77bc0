/* SPDX-License-Identifier: MIT */
/* Cuts overlapping ranges into pieces that do not overlap. */
#include "symbols/names/text_map.h"

#include "base/tables/heap.h"

struct building {
	struct range_map *map;
	const uint8_t *ranges; /* borrowed */
	size_t stride;
	uint32_t *heap; /* owned; the ranges that have begun, the highest index on top */
	size_t heap_count;
};

/* Returns a range's bounds: [0] is its begin, [1] its end. */
static const uint64_t *bounds_of(const struct building *b, uint32_t range)
{
	return (const uint64_t *)(const void *)(b->ranges + range * b->stride);
}

static int compare_begins(const void *left, const void *right, void *context)
{
	const struct building *b = context;
	uint32_t x = *(const uint32_t *)left, y = *(const uint32_t *)right;
	uint64_t x_begin = bounds_of(b, x)[0], y_begin = bounds_of(b, y)[0];

	return COMPARE(x_begin, y_begin) ?: COMPARE(x, y);
}

static bool is_higher(const void *context, const uint32_t *a, const uint32_t *b)
{
	(void)context;
	return *a > *b;
}

HEAP_DEFINE(ranges, uint32_t, void, is_higher)

static void add_piece(struct range_map *map, uint64_t begin, uint32_t range)
{
	struct range_piece *last = map->count ? &map->pieces[map->count - 1] : NULL;

	if (last && last->begin == begin)
		last->range = range;
	else if (!last || last->range != range)
		map->pieces[map->count++] = (struct range_piece){ begin, range };
}

/* Add the pieces after all ends up to an address. */
static void end_ranges(struct building *b, uint64_t upto)
{
	while (b->heap_count && bounds_of(b, b->heap[0])[1] <= upto) {
		uint64_t end = bounds_of(b, b->heap[0])[1];

		while (b->heap_count && bounds_of(b, b->heap[0])[1] <= end) {
			b->heap[0] = b->heap[--b->heap_count];
			ranges_sift_down(NULL, b->heap, b->heap_count, 0);
		}
		add_piece(b->map, end, b->heap_count ? b->heap[0] : RANGE_NONE);
	}
}

void range_map_build(struct range_map *map, const void *ranges, size_t stride, size_t count)
{
	struct building b = { .map = map, .ranges = ranges, .stride = stride };
	uint32_t *order = alloc_zeroed(count, sizeof(*order));
	size_t used = 0;

	for (size_t i = 0; i < count; i++)
		if (bounds_of(&b, (uint32_t)i)[0] < bounds_of(&b, (uint32_t)i)[1])
			order[used++] = (uint32_t)i;
	if (used)
		qsort_r(order, used, sizeof(*order), compare_begins, &b);
	/* Each range adds a piece where it begins and at most one where it ends. */
	map->pieces = alloc_zeroed(2 * used, sizeof(*map->pieces));
	map->count = 0;
	b.heap = alloc_zeroed(used, sizeof(*b.heap));
	for (size_t i = 0; i < used; i++) {
		uint64_t begin = bounds_of(&b, order[i])[0];

		end_ranges(&b, begin);
		ranges_push(NULL, b.heap, b.heap_count++, &order[i]);
		add_piece(map, begin, b.heap[0]);
	}
	end_ranges(&b, UINT64_MAX);
	free(b.heap);
	free(order);
}

void range_map_release(struct range_map *map)
{
	free(map->pieces);
	*map = (struct range_map){ 0 };
}

uint32_t range_map_find(const struct range_map *map, uint64_t address, uint64_t *begin,
			uint64_t *end)
{
	size_t next = LOWER_BOUND(i, map->count, map->pieces[i].begin <= address);

	*begin = next ? map->pieces[next - 1].begin : 0;
	*end = next < map->count ? map->pieces[next].begin : UINT64_MAX;
	return next ? map->pieces[next - 1].range : RANGE_NONE;
}
