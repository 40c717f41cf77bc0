/* SPDX-License-Identifier: MIT */
/*
 * Names of ranges of addresses that do not come from a symbol table but from a JIT
 * compiler or the kernel.
 *
 * Where ranges overlap, the one that was added last holds, because it is the newest.
 * Texts are borrowed and must outlive the ranges.  Zeroed memory is empty.
 */
#ifndef SYMBOLS_NAMES_NAME_RANGES_H
#define SYMBOLS_NAMES_NAME_RANGES_H

#include <stddef.h>
#include <stdint.h>

#include "symbols/names/range_map.h"

struct named_range {
	uint64_t begin, end; /* [begin, end); first, for range_map_build() */
	const char *name;    /* not terminated */
	uint32_t length;     /* bytes of name */
};

struct name_ranges {
	struct named_range *ranges; /* owned; in the order of adding */
	size_t count, room;
	struct range_map map; /* made by name_ranges_finish(); indexes are those of `ranges` */
};

/* Add a range.  If its end is its begin, it is open: its end is unknown. */
void name_ranges_add(struct name_ranges *names, const struct named_range *range);

/*
 * Build the map, once all ranges are added.  Open ranges then end at the next
 * begin, but after at most `open_limit` bytes.
 */
void name_ranges_finish(struct name_ranges *names, uint64_t open_limit);

/* Release everything.  Idempotent. */
void name_ranges_release(struct name_ranges *names);

#endif
