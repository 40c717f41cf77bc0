/* SPDX-License-Identifier: MIT */
/* Parse the address filter of a recording, and test addresses. */
#include "decoder/code/address_filter.h"

#include "decoder/address_space.h"

#define SEPARATORS " ,\t\n"

/* If the text begins with the word, move past it and return true. */
static bool skip_word(const char **text, const char *word)
{
	size_t length = strlen(word);

	if (strncmp(*text, word, length) != 0 || !strchr(" \t", (*text)[length]))
		return false;
	*text += length;
	return true;
}

/* If the text begins with a range, move past it and return true. */
static bool read_range(struct filter_range *range, const char **text)
{
	char *end;

	range->begin = strtoull(*text, &end, 0);
	if (end == *text || *end != '/')
		return false;
	*text = end + 1;
	range->size = strtoull(*text, &end, 0);
	if (end == *text)
		return false;
	*text = end;
	range->path = NULL;
	range->path_length = 0;
	if (*end != '@')
		return true;
	range->path = end + 1;
	range->path_length = strcspn(range->path, SEPARATORS);
	*text = range->path + range->path_length;
	return true;
}

void address_filter_init(struct address_filter *filter, const char *text)
{
	filter->count = 0;
	while (text && *text && filter->count < FILTER_RANGES) {
		struct filter_range *range = &filter->ranges[filter->count];

		text += strspn(text, SEPARATORS);
		range->stops = skip_word(&text, "stop") || skip_word(&text, "tracestop");
		if ((range->stops || skip_word(&text, "filter")) && read_range(range, &text))
			filter->count++;
		else
			text += strcspn(text, SEPARATORS);
	}
}

static bool is_in(const struct filter_range *range, const struct mapping *mapping, uint64_t ip)
{
	const char *path;

	if (!range->path)
		return ip - range->begin < range->size;
	if (!mapping)
		return false;
	path = mapping->file->path;
	return strlen(path) == range->path_length &&
	       memcmp(path, range->path, range->path_length) == 0 &&
	       ip - mapping->begin + mapping->file_offset - range->begin < range->size;
}

bool address_filter_ends_at(const struct address_filter *filter, const struct address_space *space,
			    uint64_t ip)
{
	const struct mapping *mapping = space ? address_space_borrow_mapping(space, ip) : NULL;
	bool any = false, in = false, stops = false;

	for (size_t i = 0; i < filter->count; i++) {
		const struct filter_range *range = &filter->ranges[i];
		bool hit = is_in(range, mapping, ip);

		any |= !range->stops;
		in |= hit && !range->stops;
		stops |= hit && range->stops;
	}
	return stops || (any && !in);
}
