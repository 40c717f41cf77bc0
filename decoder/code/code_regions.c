/* SPDX-License-Identifier: MIT */
/* Number the parts of files that mappings show. */
#include "decoder/code/code_regions.h"

#include "base/tables/hash.h"

struct range {
	const uint8_t *bytes;
	uint64_t size;
};

struct code_region {
	struct range range; /* the key */
	uint32_t number;
	UT_hash_handle hh;
};

static uint32_t add_region(struct code_regions *regions, struct range range)
{
	struct code_region *region = alloc_zeroed(1, sizeof(*region));

	region->range = range;
	region->number = ++regions->last;
	HASH_ADD(hh, regions->by_range, range, sizeof(region->range), region);
	return region->number;
}

uint32_t code_regions_number(struct code_regions *regions, const uint8_t *bytes, uint64_t size)
{
	struct range range = { bytes, size };
	struct code_region *region;

	HASH_FIND(hh, regions->by_range, &range, sizeof(range), region);
	return region ? region->number : add_region(regions, range);
}

void code_regions_forget(struct code_regions *regions)
{
	struct code_region *region;

	HASH_FREE_ALL(regions->by_range, region);
}
