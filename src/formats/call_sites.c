/* SPDX-License-Identifier: MIT */
/* Source lines of calls, in a hash table by caller and offset. */
#include "src/formats/call_sites.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "base/tables/hash.h"
#include "symbols/dso/dso_store.h"

struct call_place {
	const struct symbol *caller;
	uint64_t offset;
};

struct call_site {
	struct call_place place;
	const struct name *name; /* NULL: the line is not known */
	UT_hash_handle hh;
};

static const struct name *name_line(struct name_table *names, const struct source_line *line)
{
	const struct name *name;
	char *text;

	if (!line->file || !line->line)
		return NULL;
	if (asprintf(&text, "%s:%" PRIu32, line->file->text, line->line) < 0)
		alloc_fail(line->file->length);
	name = name_intern_text(names, text);
	free(text);
	return name;
}

const struct name *call_sites_find(struct call_sites *sites, const struct symbol *caller,
				   uint64_t offset)
{
	struct call_place place = { caller, offset };
	struct call_site *site;
	struct source_line line;

	if (!caller || !caller->dso)
		return NULL;
	HASH_FIND(hh, sites->sites, &place, sizeof(place), site);
	if (site)
		return site->name;
	line = dso_line(caller, offset);
	site = alloc_zeroed(1, sizeof(*site));
	site->place = place;
	site->name = name_line(sites->names, &line);
	HASH_ADD(hh, sites->sites, place, sizeof(place), site);
	return site->name;
}

void call_sites_release(struct call_sites *sites)
{
	struct call_site *site, *next;

	HASH_ITER(hh, sites->sites, site, next)
	{
		HASH_DEL(sites->sites, site);
		free(site);
	}
}
