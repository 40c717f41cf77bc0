/* SPDX-License-Identifier: MIT */
#include "tests/sweep/slice_text.h"

#include <stdlib.h>
#include <string.h>

/* Split a line "pid/tid depth begin end name ..." into words. */
static struct slice_line cut_line(char *line)
{
	struct slice_line cut = { .thread = strsep(&line, " ") };

	strsep(&line, " "); /* depends on frames that are inferred later */
	cut.begin = strtoull(line, &line, 10);
	cut.end = strtoull(line, &line, 10);
	cut.name = line + strspn(line, " ");
	return cut;
}

void slice_text_init(struct slice_text *slices, char *text)
{
	size_t room = 1;
	char *line;

	for (const char *at = text; *at; at++)
		room += *at == '\n';
	*slices = (struct slice_text){ .text = text };
	slices->lines = calloc(room, sizeof(*slices->lines));
	if (!slices->lines)
		abort();
	while ((line = strsep(&text, "\n")) && *line)
		slices->lines[slices->count++] = cut_line(line);
}

void slice_text_release(struct slice_text *slices)
{
	free(slices->lines);
	free(slices->text);
	*slices = (struct slice_text){ 0 };
}

/* Slices are in the order of threads: returns the last time of the thread at `from`. */
static uint64_t last_time(const struct slice_text *slices, size_t from, size_t *after)
{
	uint64_t last = 0;
	size_t i = from;

	for (;
	     i < slices->count && strcmp(slices->lines[i].thread, slices->lines[from].thread) == 0;
	     i++)
		last = slices->lines[i].end > last ? slices->lines[i].end : last;
	*after = i;
	return last;
}

/* Returns the thread's next slice that ended before a time; NULL: there is none. */
static const struct slice_line *next_before(const struct slice_text *slices, size_t *at,
					    const char *thread, uint64_t time)
{
	while (*at < slices->count) {
		const struct slice_line *line = &slices->lines[(*at)++];

		if (line->end < time && line->name[0] != '[' && strcmp(line->thread, thread) == 0)
			return line;
	}
	return NULL;
}

static bool same(const struct slice_line *left, const struct slice_line *right)
{
	return left->begin == right->begin && left->end == right->end &&
	       strcmp(left->name, right->name) == 0;
}

bool slice_text_is_start(const struct slice_text *whole, const struct slice_text *part)
{
	size_t after;

	for (size_t from = 0; from < part->count; from = after) {
		uint64_t time = last_time(part, from, &after);
		const char *thread = part->lines[from].thread;
		const struct slice_line *left, *right;
		size_t i = 0, j = from;

		do {
			left = next_before(whole, &i, thread, time);
			right = next_before(part, &j, thread, time);
		} while (left && right && same(left, right));
		if (left || right)
			return false;
	}
	return true;
}
