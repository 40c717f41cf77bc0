/* SPDX-License-Identifier: MIT */
/* The source lines of calls and functions, "file:line", with a cache of the latest. */
#pragma once

#include "base/tables/direct_cache.h"
#include "symbols/dso/dso_types.h"
#include "symbols/symbol.h"

/* Instead of a call's offset: the function itself (slice_source_line()). */
#define CALL_SITES_FUNCTION UINT64_MAX

/* Zeroed except for `names`, it is empty. */
struct call_sites {
	struct name_table *names;   /* borrowed */
	struct direct_cache recent; /* struct call_site */
};

/* Returns the line of the call at an offset in `caller`, borrowed from the names; NULL: unknown. */
const struct name *call_sites_find(struct call_sites *sites, const struct symbol *caller,
				   uint64_t offset);

void call_sites_release(struct call_sites *sites);
