/* SPDX-License-Identifier: MIT */
#include "decoder/mappings/address_space.h"

static const struct mapping *find(const struct address_space *space, uint64_t ip)
{
	size_t low = 0, high = space->count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (space->mappings[middle].end <= ip)
			low = middle + 1;
		else
			high = middle;
	}
	if (low == space->count || space->mappings[low].begin > ip)
		return NULL;
	return &space->mappings[low];
}

const struct mapping *address_space_borrow_mapping(const struct address_space *space, uint64_t ip)
{
	const struct mapping *mapping = space ? find(space, ip) : NULL;

	return mapping || !space || !space->kernel ? mapping : find(space->kernel, ip);
}
