/* SPDX-License-Identifier: MIT */
/* Finds mappings by address. */
#include "decoder/mappings/address_space.h"

static const struct mapping *find_mapping(const struct address_space *space, uint64_t ip)
{
	size_t low = LOWER_BOUND(i, space->count, space->mappings[i].end <= ip);

	if (low == space->count || space->mappings[low].begin > ip)
		return NULL;
	return &space->mappings[low];
}

const struct mapping *address_space_borrow_mapping(const struct address_space *space, uint64_t ip)
{
	const struct mapping *mapping = space ? find_mapping(space, ip) : NULL;

	return mapping || !space || !space->kernel ? mapping : find_mapping(space->kernel, ip);
}
