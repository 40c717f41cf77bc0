/* SPDX-License-Identifier: MIT */
/*
 * Finds which of many overlapping ranges of addresses holds at an address.
 *
 * Where ranges overlap, the one with the highest index holds.  The map is an array
 * of sorted pieces and does not refer to the ranges.  Zeroed memory is an empty map.
 */
#ifndef SYMBOLS_NAMES_RANGE_MAP_H
#define SYMBOLS_NAMES_RANGE_MAP_H

#include "base/common.h"

#define RANGE_NONE UINT32_MAX

struct range_map {
	/* From `begin` to the next piece's begin, `range` holds. */
	struct range_piece {
		uint64_t begin;
		uint32_t range; /* index; RANGE_NONE: a gap */
	} * pieces;             /* owned; sorted, the last one is a gap */
	size_t count;
};

/*
 * Build the map of `count` ranges, each of `stride` bytes, whose first members are
 * uint64_t begin, end.  Ranges with end <= begin hold nowhere.
 */
void range_map_build(struct range_map *map, const void *ranges, size_t stride, size_t count);

void range_map_release(struct range_map *map);

/*
 * Find the piece around an address; [*begin, *end) gets its bounds, 0 before the first
 * piece and UINT64_MAX after the last one.
 * Returns the index of the range that holds there, or RANGE_NONE.
 */
uint32_t range_map_find(const struct range_map *map, uint64_t address, uint64_t *begin,
			uint64_t *end);

#endif
