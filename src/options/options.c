/* SPDX-License-Identifier: MIT */
/* Properties of the options as a whole. */
#include "src/options/options.h"

#include <ctype.h>

#include "base/io/output_path.h"

static bool output_is_directory(const struct options *options)
{
	return options->output && options->output != options->beside &&
	       output_path_is_directory(options->output);
}

bool options_caches(const struct options *options)
{
	return !options->no_cache && !options->symfs;
}

bool options_trace_slow(const struct options *options)
{
	return options->input && options->slow.listed && output_is_directory(options);
}

uint64_t options_max_stack(const struct options *options)
{
	return options->max_stack ? options->max_stack : MAX_STACK_DEFAULT;
}

bool options_is_batch(const struct options *options)
{
	return options->input && !options_trace_slow(options) &&
	       (options->output_pattern || options->files_from || options->apart ||
		output_is_directory(options));
}

bool clock_offsets_read(struct clock_offsets *offsets, const char *text)
{
	bool mono = starts_with(text, "mono="), negative;
	uint64_t ns;

	if (!mono && !starts_with(text, "real="))
		return false;
	text += 5;
	negative = *text == '-';
	if (!selection_duration(text + (*text == '-' || *text == '+'), &ns))
		return false;
	*(mono ? &offsets->has_mono : &offsets->has_real) = true;
	*(mono ? &offsets->mono : &offsets->real) = negative ? -(int64_t)ns : (int64_t)ns;
	return true;
}

bool watched_calls_read(struct watched_calls *watched, const char *text)
{
	const char *bound = strrchr(text, '>');

	free(watched->function);
	watched->function = ALLOC_CHECKED(strndup(text, bound ? (size_t)(bound - text) : 0));
	return bound && slow_choice_read(&watched->slow, bound + 1);
}

bool options_read_snapshots(struct options *options, const char *text)
{
	unsigned count = UINT_MAX, per_minute = UINT_MAX;
	int length = (int)strlen("forever");

	if (!starts_with(text, "forever") &&
	    (!isdigit((unsigned char)*text) || sscanf(text, "%9u%n", &count, &length) != 1))
		return false;
	text += length;
	length = 0;
	if (isdigit((unsigned char)text[*text == ',']))
		sscanf(text, ",%9u%n", &per_minute, &length);
	options->snapshots = count;
	options->per_minute = length ? per_minute : 0;
	return count && per_minute && !text[length];
}

bool processor_read(struct options *options, const char *text)
{
	unsigned family, model, stepping;
	int length = 0;

	if (strspn(text, "0123456789/") != strlen(text) ||
	    sscanf(text, "%3u/%3u/%3u%n", &family, &model, &stepping, &length) != 3 || text[length])
		return false;
	snprintf(options->processor, sizeof(options->processor), "GenuineIntel,%u,%u,%u", family,
		 model, stepping);
	return true;
}

static bool read_hexadecimal(const char *text, const char *end, uint64_t *number)
{
	char *stop;

	errno = 0;
	*number = strtoull(text, &stop, 16);
	return isxdigit((unsigned char)*text) && stop == end && !errno;
}

bool raw_map_read(const char *text, struct raw_map *map)
{
	const char *at = strrchr(text, '@'), *dash = at ? strchr(at, '-') : NULL, *colon;
	uint64_t number;

	*map = (struct raw_map){ .exact = dash };
	if (!at || !read_hexadecimal(at + 1, dash ? dash : at + strlen(at), &map->begin) ||
	    (dash && !read_hexadecimal(dash + 1, dash + strlen(dash), &map->end)) ||
	    (dash && map->end <= map->begin))
		return false;
	/* A path may have colons. */
	colon = memrchr(text, ':', (size_t)(at - text));
	if (colon && read_hexadecimal(colon + 1, at, &number)) {
		map->offset = number;
		map->exact = true;
	} else {
		colon = at;
	}
	map->path = (struct text_view){ text, (size_t)(colon - text) };
	return map->path.length && map->path.length < PATH_MAX;
}

void options_release(struct options *options)
{
	selection_release(&options->select);
	free(options->fail_if.patterns);
	free(options->raws.patterns);
	free(options->switches.patterns);
	free(options->maps.patterns);
	for (int i = 0; i < options->word_count; i++)
		free(options->words[i]);
	free(options->words);
	free(options->beside);
	free(options->watched.function);
	free(options->overlays);
	free(options->list);
	free(options->listed);
	free(options->side_words);
	for (int i = 0; i < 3; i++)
		free(options->settings[i]);
	*options = (struct options){ 0 };
}
