/* SPDX-License-Identifier: MIT */
/* Decodes locations by move-to-front lists, and keeps them by code. */
#include "overlays/memtrace.h"

const char *memtrace_text_read(struct arena *arena, struct cursor *in)
{
	const uint8_t *nul = memchr(in->at, 0, cursor_left(in));
	size_t length = nul ? (size_t)(nul - in->at) : cursor_left(in);
	const uint8_t *text = cursor_take(in, length + 1);

	return text ? arena_text(arena, (const char *)text, length) : NULL;
}

struct memtrace_name *memtrace_names_use(struct memtrace_names *list, size_t at, const char *name)
{
	struct memtrace_name used = { name, list->names[at].functions };

	memmove(&list->names[1], &list->names[0], at * sizeof(used));
	list->names[0] = used;
	return &list->names[0];
}

/* Returns the entry of a code, of which the highest is a new name's. NULL: damaged. */
static struct memtrace_name *read_name(struct memtrace_locations *table,
				       struct memtrace_names *list, struct cursor *in,
				       unsigned code)
{
	bool is_new = code == MEMTRACE_LIST_LENGTH;
	const char *name = is_new ? memtrace_text_read(table->arena, in) : list->names[code].name;

	return name ? memtrace_names_use(list, code - is_new, name) : NULL;
}

static int read_location(struct memtrace_locations *table, struct memtrace_names *files,
			 struct cursor *in, struct memtrace_location *location)
{
	uint64_t bits = cursor_number(in, 6);
	struct memtrace_name *file, *function;

	if (in->short_)
		return -1;
	location->line = bits & 0xfffff;
	location->begin = bits >> 20 & 0xff;
	location->end = bits >> 28 & 0x3ff;
	file = read_name(table, files, in, bits >> 38 & 31);
	if (!file)
		return -1;
	if (!file->functions)
		file->functions = arena_alloc(table->arena, sizeof(*file->functions));
	function = read_name(table, file->functions, in, bits >> 43 & 31);
	if (!function)
		return -1;
	location->file = file->name;
	location->function = function->name;
	return 0;
}

/* Returns whether two lists of locations are the same. */
static bool same_locations(const struct memtrace_code *entry,
			   const struct memtrace_location *locations, size_t count)
{
	if (entry->count != count)
		return false;
	for (size_t i = 0; i < count; i++) {
		const struct memtrace_location *one = &entry->locations[i], *other = &locations[i];

		if (one->line != other->line || one->begin != other->begin ||
		    one->end != other->end || strcmp(one->file, other->file) != 0 ||
		    strcmp(one->function, other->function) != 0)
			return false;
	}
	return true;
}

int memtrace_locations_read(struct memtrace_locations *table, struct memtrace_names *files,
			    struct cursor *in, uint64_t *code)
{
	struct memtrace_location locations[255] = { 0 };
	struct memtrace_code *entry;
	size_t count;

	*code = cursor_u64(in);
	count = cursor_u8(in);
	for (size_t i = 0; i < count; i++)
		if (read_location(table, files, in, &locations[i]) < 0)
			return -1;
	if (in->short_)
		return -1;
	HASH_FIND_OR_ADD(table->by_code, code, code, entry);
	if (entry->locations)
		return same_locations(entry, locations, count) ? 0 : 1;
	entry->count = count;
	entry->locations = arena_copy(table->arena, locations, count * sizeof(locations[0]));
	return 0;
}

const struct memtrace_location *memtrace_locations_borrow(const struct memtrace_locations *table,
							  uint64_t code, size_t *count)
{
	struct memtrace_code *entry;

	HASH_FIND(hh, table->by_code, &code, sizeof(code), entry);
	*count = entry ? entry->count : 0;
	return entry ? entry->locations : NULL;
}
