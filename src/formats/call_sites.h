/* SPDX-License-Identifier: MIT */
/*
 * The source lines of calls and functions, "file:line", looked up once for each call instruction
 * and function.
 */
#ifndef SRC_FORMATS_CALL_SITES_H
#define SRC_FORMATS_CALL_SITES_H

#include "symbols/dso/dso_types.h"
#include "symbols/symbol.h"

/* A power of two: most calls are at a few hundred addresses. */
#define CALL_SITES_RECENT_BITS 10

/* Instead of a call's offset: the function itself, as slice_source_line() has it. */
#define CALL_SITES_FUNCTION UINT64_MAX

struct call_sites {
	struct name_table *names;                              /* borrowed */
	struct call_site *sites;                               /* owned: hash by address */
	struct call_site *recent[1 << CALL_SITES_RECENT_BITS]; /* borrowed; NULL: empty */
};

/*
 * Returns the "file:line" of the call `offset` bytes after the start of `caller` (may
 * be NULL), borrowed from the names; NULL if it is not known.
 */
const struct name *call_sites_find(struct call_sites *sites, const struct symbol *caller,
				   uint64_t offset);

void call_sites_release(struct call_sites *sites);

#endif
