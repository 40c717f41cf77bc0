/* SPDX-License-Identifier: MIT */
/* Keep the nearest of the considered names. */
#include "src/select/name_forms.h"

#include "base/spelling.h"

/* Longer names are truncated in the output. */
#define PRINTED_MAX 80

/* Returns the part after the last "::" of a name, outside of template arguments and parameters. */
static const char *last_component_of(const char *text)
{
	const char *last = text;

	for (const char *at = text; *at && *at != '<' && *at != '('; at++)
		if (at[0] == ':' && at[1] == ':')
			last = at + 2;
	return *last ? last : text;
}

void nearest_names_init(struct nearest_names *nearest, const char *pattern)
{
	*nearest = (struct nearest_names){ 0 };
	for (const char *at = last_component_of(pattern); *at && *at != '<' && *at != '('; at++)
		if (!strchr("*?[]\\", *at) && nearest->length < sizeof(nearest->word) - 1)
			nearest->word[nearest->length++] = *at;
}

/* Returns the distance of the name from the word; UINT_MAX: it is not similar. */
static unsigned distance_of(const struct nearest_names *nearest, const char *text)
{
	const char *last = last_component_of(text);
	size_t length = strcspn(last, "<(@");
	unsigned edits = spelling_distance(nearest->word, nearest->length, last, length);
	unsigned limit = (unsigned)(nearest->length + 2) / 3;

	if (edits <= limit)
		return edits;
	/* A substring is farther than any accepted number of edits; shorter names are nearer. */
	if (nearest->length > 1 && strcasestr(text, nearest->word))
		return limit + 1 + (unsigned)(strlen(text) < 1000 ? strlen(text) : 1000);
	return UINT_MAX;
}

void nearest_names_consider(struct nearest_names *nearest, const struct name *name)
{
	unsigned distance = nearest->length && name->text[0] != '['
				    ? distance_of(nearest, name->text)
				    : UINT_MAX;
	size_t at = nearest->count;

	if (distance == UINT_MAX)
		return;
	while (at && distance < nearest->names[at - 1].distance)
		at--;
	if (at == NEAREST_NAMES)
		return;
	if (nearest->count < NEAREST_NAMES)
		nearest->count++;
	memmove(&nearest->names[at + 1], &nearest->names[at],
		(nearest->count - at - 1) * sizeof(nearest->names[0]));
	nearest->names[at] = (struct near_name){ name, distance };
}

void nearest_names_print(const struct nearest_names *nearest, char *text, size_t room)
{
	size_t used = 0;

	text[0] = '\0';
	for (size_t i = 0; i < nearest->count && used < room; i++)
		used += (size_t)snprintf(text + used, room - used, "%s%.*s",
					 i ? ", " : "; nearest: ", PRINTED_MAX,
					 nearest->names[i].name->text);
}
