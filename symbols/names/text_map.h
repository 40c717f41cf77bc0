/* SPDX-License-Identifier: MIT */
/*
 * Names of ranges of code, and the text files that have them: the perf-PID.map of JIT compilers and
 * the kernel's kallsyms.
 */
#pragma once

#include "base/common.h"

/*
 * Finds which of many overlapping ranges of addresses holds at an address.
 *
 * Where ranges overlap, the highest index wins.  The map is an array of sorted pieces and does not
 * refer to the ranges.  Zeroed memory is an empty map.
 */

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
 * Build the map of `count` ranges, each of `stride` bytes, whose first members are uint64_t begin,
 * end.  Ranges with end <= begin are ignored.
 */
void range_map_build(struct range_map *map, const void *ranges, size_t stride, size_t count);

void range_map_release(struct range_map *map);

/*
 * Find the piece around an address; [*begin, *end) gets its bounds, 0 before the first piece and
 * UINT64_MAX after the last one.  Returns the index of the range there, or RANGE_NONE.
 */
uint32_t range_map_find(const struct range_map *map, uint64_t address, uint64_t *begin,
			uint64_t *end);

/* Zeroed memory is empty. */
struct name_ranges {
	char *text; /* owned: the file's text, which contains the names, or NULL */
	struct named_range {
		uint64_t begin, end; /* [begin, end); first, for range_map_build() */
		const char *name;    /* not terminated */
		uint32_t length;     /* bytes of name */
	} * ranges;                  /* owned; in the order of adding */
	size_t count, room;
	struct range_map map; /* made by name_ranges_finish(); indexes are those of `ranges` */
};

/* Add a range.  If its end equals its begin, the range is open: its end is unknown. */
void name_ranges_add(struct name_ranges *names, const struct named_range *range);

/*
 * Build the map, once all ranges are added.  Open ranges then end at the next
 * begin, but after at most `open_limit` bytes.
 */
void name_ranges_finish(struct name_ranges *names, uint64_t open_limit);

void name_ranges_release(struct name_ranges *names);

/* Add the functions of a PE file by file offset, also nameless ones. `bytes` is borrowed. */
void name_ranges_read_pe(struct name_ranges *names, const uint8_t *bytes, size_t size);

/*
 * Read a perf-PID.map: a line per piece of code, "START SIZE NAME" with numbers in hexadecimal,
 * with or without "0x", and names that may have blanks (perf's
 * tools/perf/Documentation/jit-interface.txt).  Later lines win.  Malformed lines are ignored.
 * Because anybody may write to /tmp, the file must belong to root or the user, as perf requires.
 * Returns false if there is no such file, or another user owns it.
 */
bool name_ranges_read_perf(struct name_ranges *names, const char *path);

/* The same for the text of such a file, which `names` owns then; a byte may be written after it. */
void name_ranges_parse_perf(struct name_ranges *names, char *text, size_t size);

/*
 * Read a list of kernel symbols, "ADDRESS TYPE NAME" and perhaps a module's name in brackets
 * (kernel/kallsyms.c); only code counts.  Each symbol reaches to the next.  Returns false if it is
 * missing, or has no addresses: the kernel shows zeros to users without the right to read them.
 */
bool name_ranges_read_kallsyms(struct name_ranges *names, const char *path);

/* The same for the text of such a list, which is borrowed and changed; a NUL follows it. */
bool name_ranges_parse_kallsyms(struct name_ranges *names, char *text, size_t size);
