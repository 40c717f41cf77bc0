/* SPDX-License-Identifier: MIT */
/* Collects named ranges, and closes those whose end is unknown. */
#include "symbols/names/name_ranges.h"

#include <stdlib.h>

#include "base/alloc.h"
#include "base/tables/compare.h"
#include "base/tables/lower_bound.h"

void name_ranges_add(struct name_ranges *names, const struct named_range *range)
{
	if (range->end < range->begin || names->count == RANGE_NONE)
		return;
	*ARRAY_ADD(names->ranges, names->count, names->room) = *range;
}

static int compare_addresses(const void *a, const void *b)
{
	const uint64_t *x = a, *y = b;

	return COMPARE(*x, *y);
}

static void close_open_ranges(struct name_ranges *names, uint64_t limit)
{
	uint64_t *begins = alloc_zeroed(names->count, sizeof(*begins));

	for (size_t i = 0; i < names->count; i++)
		begins[i] = names->ranges[i].begin;
	if (names->count)
		qsort(begins, names->count, sizeof(*begins), compare_addresses);
	for (size_t i = 0; i < names->count; i++) {
		struct named_range *range = &names->ranges[i];
		size_t above = LOWER_BOUND(j, names->count, begins[j] <= range->begin);
		uint64_t next = above < names->count ? begins[above] : UINT64_MAX;

		if (range->end == range->begin)
			range->end = next - range->begin > limit ? range->begin + limit : next;
	}
	free(begins);
}

void name_ranges_finish(struct name_ranges *names, uint64_t open_limit)
{
	close_open_ranges(names, open_limit);
	range_map_build(&names->map, names->ranges, sizeof(*names->ranges), names->count);
}

void name_ranges_release(struct name_ranges *names)
{
	free(names->ranges);
	range_map_release(&names->map);
	*names = (struct name_ranges){ 0 };
}
