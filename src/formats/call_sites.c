/* SPDX-License-Identifier: MIT */
/* Source lines of calls and functions, in a hash table by caller and offset. */
#include "src/formats/call_sites.h"

#include "base/tables/direct_cache.h"
#include "base/tables/hash.h"
#include "src/slices/slice_args.h"

struct call_site {
	struct call_address {
		const struct symbol *caller;
		uint64_t offset;
	} address;
	struct source_line line;
	const struct name *name; /* NULL: not made yet, or the line is not known */
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

static struct call_site *find_site(struct call_sites *sites, const struct symbol *caller,
				   uint64_t offset)
{
	struct call_address address = { caller, offset };
	struct call_site *site;

	HASH_FIND(hh, sites->sites, &address, sizeof(address), site);
	if (site)
		return site;
	site = alloc_zeroed(1, sizeof(*site));
	site->address = address;
	site->line = offset == CALL_SITES_FUNCTION ? slice_source_line(caller)
						   : dso_line(caller, offset);
	HASH_ADD(hh, sites->sites, address, sizeof(address), site);
	return site;
}

static struct call_site *site_of(struct call_sites *sites, const struct symbol *caller,
				 uint64_t offset)
{
	uint64_t key = (uintptr_t)caller + (offset << 20);
	struct call_site **recent = &sites->recent[direct_cache_index(key, CALL_SITES_RECENT_BITS)];

	if (!caller || !caller->dso)
		return NULL;
	if (!*recent || (*recent)->address.caller != caller || (*recent)->address.offset != offset)
		*recent = find_site(sites, caller, offset);
	return *recent;
}

const struct name *call_sites_find(struct call_sites *sites, const struct symbol *caller,
				   uint64_t offset)
{
	struct call_site *site = site_of(sites, caller, offset);

	if (site && !site->name)
		site->name = name_line(sites->names, &site->line);
	return site ? site->name : NULL;
}

void call_sites_release(struct call_sites *sites)
{
	struct call_site *site;

	HASH_FREE_ALL(sites->sites, site);
	memset(sites->recent, 0, sizeof(sites->recent));
}
