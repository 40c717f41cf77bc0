/* SPDX-License-Identifier: MIT */
/* Source lines of calls and functions, in a direct-mapped cache by caller and offset. */
#include "src/formats/call_sites.h"

#include "src/slices/slice_args.h"

/* Most calls are at a few hundred addresses. */
#define SITE_BITS 12

struct call_site {
	const struct symbol *caller;
	uint64_t offset;
	const struct name *name; /* NULL: the line is unknown */
};

static const struct name *name_line(struct name_table *names, struct source_line line)
{
	const struct name *name;
	char *text;

	if (!line.file || !line.line)
		return NULL;
	text = alloc_text("%s:%" PRIu32, line.file->text, line.line);
	name = name_intern_text(names, text);
	free(text);
	return name;
}

const struct name *call_sites_find(struct call_sites *sites, const struct symbol *caller,
				   uint64_t offset)
{
	struct call_site *site;

	if (!caller || !caller->dso)
		return NULL;
	if (!sites->recent.slots)
		direct_cache_init(&sites->recent, SITE_BITS, sizeof(*site));
	site = (struct call_site *)sites->recent.slots +
	       direct_cache_index(&sites->recent, (uintptr_t)caller + (offset << 20));
	if (site->caller != caller || site->offset != offset)
		*site = (struct call_site){ caller, offset,
					    name_line(sites->names,
						      offset == CALL_SITES_FUNCTION
							      ? slice_source_line(caller)
							      : dso_line(caller, offset)) };
	return site->name;
}

void call_sites_release(struct call_sites *sites)
{
	direct_cache_release(&sites->recent);
}
