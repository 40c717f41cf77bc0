/* SPDX-License-Identifier: MIT */
#include "decoder/code/code_regions.h"

#include <stdlib.h>
#include <string.h>

#include "base/hash.h"

struct place {
	const uint8_t *bytes;
	uint64_t size;
};

struct code_region {
	struct place place; /* the key */
	uint32_t number;
	UT_hash_handle hh;
};

static uint32_t add(struct code_regions *areas, struct place place)
{
	struct code_region *area = alloc_zeroed(1, sizeof(*area));

	area->place = place;
	area->number = ++areas->last;
	HASH_ADD(hh, areas->known, place, sizeof(area->place), area);
	return area->number;
}

uint32_t code_regions_number(struct code_regions *areas, const uint8_t *bytes, uint64_t size)
{
	struct place place = { bytes, size };
	struct code_region *area;

	HASH_FIND(hh, areas->known, &place, sizeof(place), area);
	return area ? area->number : add(areas, place);
}

void code_regions_forget(struct code_regions *areas)
{
	struct code_region *area, *next;

	HASH_ITER(hh, areas->known, area, next)
	{
		HASH_DEL(areas->known, area);
		free(area);
	}
}
