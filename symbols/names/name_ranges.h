/* SPDX-License-Identifier: MIT */
/*
 * Names of ranges of addresses that come from anything but a symbol table:
 * what JIT compilers tell, and the kernel.
 *
 * Ranges may overlap: what was added last holds, because it was told last.
 * Texts are borrowed and must outlive the ranges.  Zeroed memory is empty.
 */
#ifndef SYMBOLS_NAMES_NAME_RANGES_H
#define SYMBOLS_NAMES_NAME_RANGES_H

#include <stddef.h>
#include <stdint.h>

#define NAME_RANGE_NONE UINT32_MAX

struct named_range {
	uint64_t begin, end; /* [begin, end) */
	const char *name;    /* not terminated */
	uint32_t length;     /* bytes of name */
};

/* From `begin` to the next piece's begin, `range` holds. */
struct range_piece {
	uint64_t begin;
	uint32_t range; /* NAME_RANGE_NONE: a gap */
};

struct name_ranges {
	struct named_range *ranges; /* owned; in the order of adding */
	size_t count, room;
	struct range_piece *pieces; /* owned; sorted, the last one is a gap; made by finish */
	size_t piece_count;
};

/* Add a range.  One whose end is its begin is open: where it ends is not known. */
void name_ranges_add(struct name_ranges *names, const struct named_range *range);

/*
 * All is added: make ready to find.  Open ranges get to reach to the next
 * begin, at most `open_limit` bytes far.
 */
void name_ranges_finish(struct name_ranges *names, uint64_t open_limit);

/* Release everything.  Idempotent. */
void name_ranges_release(struct name_ranges *names);

/*
 * Find the piece around an address; [*begin, *end) gets its range, at the first
 * address 0 and at the last UINT64_MAX.
 * Returns the index of the range that holds there, NAME_RANGE_NONE if none does.
 */
uint32_t name_ranges_find(const struct name_ranges *names, uint64_t address, uint64_t *begin,
			  uint64_t *end);

#endif
