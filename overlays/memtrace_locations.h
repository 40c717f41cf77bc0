/* SPDX-License-Identifier: MIT */
/*
 * The source locations in memtrace's backtraces.
 *
 * A code is a position in the program's code; its locations are the
 * functions inlined there, innermost last.  File and function names are coded
 * by move-to-front lists: one of 31 files per domain, and one of 31 functions
 * per file.  Source: memtrace's src/location_codec.ml; memtrace's own format
 * description is src/memtrace.tsdl.
 */
#ifndef OVERLAYS_MEMTRACE_LOCATIONS_H
#define OVERLAYS_MEMTRACE_LOCATIONS_H

#include "base/arena.h"
#include "base/cursor.h"

struct memtrace_location {
	const char *file, *function; /* any bytes; owned by the table */
	uint32_t line;               /* at most 1048575, which means "or more" */
	uint16_t begin, end;         /* columns: at most 255 and 1023, "or more" */
};

#define MEMTRACE_LIST_LENGTH 31

struct memtrace_functions {
	const char *names[MEMTRACE_LIST_LENGTH]; /* latest first; NULL: an empty slot */
};

/* A file of a domain's list and the list of its functions. */
struct memtrace_file {
	const char *name;                     /* NULL: an empty slot */
	struct memtrace_functions *functions; /* borrowed from an arena */
};

struct memtrace_files {
	struct memtrace_file files[MEMTRACE_LIST_LENGTH]; /* latest first */
};

struct memtrace_place;

struct memtrace_locations {
	struct arena arena;
	struct memtrace_place *by_code; /* hash */
};

void memtrace_locations_init(struct memtrace_locations *table);

/* Idempotent, also on zeroed memory. */
void memtrace_locations_release(struct memtrace_locations *table);

/*
 * Read one location event after its header, with the lists of its domain; *code gets its code.
 * Returns 0; 1 if the code is known with other locations, which stay; -1 if the event is
 * damaged: the lists must not be used again.
 */
int memtrace_locations_read(struct memtrace_locations *table, struct memtrace_files *files,
			    struct cursor *in, uint64_t *code);

/* Returns the number that memtrace's own tools print for a code: OCaml's integer of 63 bits. */
static inline int64_t memtrace_code_number(uint64_t code)
{
	return (int64_t)(code << 1) >> 1;
}

/*
 * Returns the locations of a code, `*count` of them, outermost first, borrowed;
 * `*count` is 0 if they are unknown.
 */
const struct memtrace_location *memtrace_locations_borrow(const struct memtrace_locations *table,
							  uint64_t code, size_t *count);

#endif
