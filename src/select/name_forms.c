/* SPDX-License-Identifier: MIT */
/* Get a name's forms from the demangler, and match their components. */
#include "src/select/name_forms.h"

#include <ctype.h>
#include <fnmatch.h>

#include "base/spelling.h"

/* Longer names match only as a whole, because each component costs a match of the rest. */
#define COMPONENTS_WITHIN 4096

static const char anonymous[] = "(anonymous namespace)";

static bool is_word(char byte)
{
	return isalnum((unsigned char)byte) || byte == '_' || byte == '$';
}

/* Returns whether an operator's name starts here, with possibly unpaired brackets. */
static bool begins_operator(const char *text, const char *at)
{
	static const char word[] = "operator";

	return strncmp(at, word, sizeof(word) - 1) == 0 && !is_word(at[sizeof(word) - 1]) &&
	       (at == text || !is_word(at[-1]));
}

static char *copy_text(const char *text)
{
	return text ? ALLOC_CHECKED(strdup(text)) : NULL;
}

/* Returns the name in a demangled text, after the return type, if any. */
static const char *skip_returned_type(const char *text)
{
	const char *name = text;
	int depth = 0;

	for (const char *at = text; *at && !begins_operator(text, at); at++) {
		if (strncmp(at, anonymous, sizeof(anonymous) - 1) == 0)
			at += sizeof(anonymous) - 2;
		else if (*at == '(' && !depth)
			break;
		else if (strchr("<([{", *at))
			depth++;
		else if (strchr(">)]}", *at))
			depth--;
		else if (*at == ' ' && !depth)
			name = at + 1;
	}
	return name;
}

static void free_forms(struct name_forms *forms)
{
	free(forms->plain);
	free(forms->arguments);
	free(forms->parameters);
	forms->plain = forms->arguments = forms->parameters = NULL;
}

/* Returns the next component outside of all brackets, or NULL. */
static const char *next_component(const struct name_forms *forms, const char *text)
{
	int depth = 0;

	for (const char *at = text; *at && !begins_operator(text, at); at++) {
		if (strchr("<([{", *at))
			depth++;
		else if (strchr(">)]}", *at))
			depth--;
		else if (!depth && forms->dotted && *at == '.')
			return at + 1;
		else if (!depth && !forms->dotted && at[0] == ':' && at[1] == ':')
			return at + 2;
	}
	return NULL;
}

void name_forms_set(struct name_forms *forms, const char *name)
{
	struct demangler *demangler = &forms->demangler;
	const char *full, *text;

	free_forms(forms);
	forms->whole = name;
	forms->dotted = starts_with(name, "caml") || starts_with(name, "_D");
	forms->plain = copy_text(demangler_demangle(demangler, name, DEMANGLE_SHORT));
	text = forms->plain ? forms->plain : name;
	forms->mangled = !starts_with(name, text);
	forms->end_count = 0;
	for (bool whole = strlen(text) > COMPONENTS_WITHIN; text;
	     text = whole ? NULL : next_component(forms, text))
		*ARRAY_ADD(forms->ends, forms->end_count, forms->end_room) = text;
	if (!forms->plain)
		return;
	forms->arguments = copy_text(demangler_demangle(demangler, name, DEMANGLE_PERF));
	full = demangler_demangle(demangler, name, DEMANGLE_FULL);
	forms->parameters = copy_text(full ? skip_returned_type(full) : NULL);
}

static bool matches_text(const char *pattern, const char *text)
{
	if (*pattern == '=')
		return strcmp(pattern + 1, text) == 0;
	/* Most of many patterns are names that begin otherwise. */
	if (*pattern != *text && *pattern != '*' && *pattern != '?' && *pattern != '[' &&
	    *pattern != '\\')
		return false;
	return strcmp(pattern, text) == 0 || fnmatch(pattern, text, 0) == 0;
}

/* Returns whether the pattern matches the text, or the text without some outer namespaces. */
static bool matches_components(const struct name_forms *forms, const char *pattern,
			       const char *text)
{
	bool whole = text && (*pattern == '=' || strlen(text) > COMPONENTS_WITHIN);

	for (; text; text = whole ? NULL : next_component(forms, text))
		if (matches_text(pattern, text))
			return true;
	return false;
}

bool name_forms_match(const struct name_forms *forms, const char *pattern)
{
	/* "*text*" must not match an argument's type in a mangled name. */
	bool exact = *pattern == '=';
	bool hidden = forms->mangled && strncmp(forms->whole, pattern + exact, 2) != 0;

	if (!hidden && matches_text(pattern, forms->whole))
		return true;
	/* An unmangled name has its own components. */
	for (size_t i = 0; i < (exact ? MIN(forms->end_count, 1) : forms->end_count); i++)
		if (matches_text(pattern, forms->ends[i]))
			return true;
	return (forms->arguments && strchr(pattern, '<') &&
		matches_components(forms, pattern, forms->arguments)) ||
	       (forms->parameters && strchr(pattern, '(') &&
		matches_components(forms, pattern, forms->parameters));
}

/* ---- Files --------------------------------------------------------------- */

bool pattern_matches_path(const char *pattern, const char *path)
{
	return path && (matches_text(pattern, path) || matches_text(pattern, base_name(path)));
}

/* Returns the colon after a library, which is not one of "::"; NULL: none. */
static const char *library_end(const char *pattern)
{
	const char *colon = strpbrk(pattern, ":(<");

	return colon && colon != pattern && colon[0] == ':' && colon[1] && colon[1] != ':' ? colon
											   : NULL;
}

static const char *source_begin(const char *pattern)
{
	const char *at = strrchr(pattern, '@');

	return at && at != pattern && at[1] ? at : NULL;
}

bool function_pattern_has_file(const char *pattern)
{
	return library_end(pattern) || source_begin(pattern);
}

bool function_pattern_match(const char *pattern, const struct name_forms *forms, const char *source,
			    const char *library)
{
	const char *colon = library_end(pattern), *at = source_begin(pattern);
	bool found = name_forms_match(forms, pattern);

	/* A name can have both characters: "malloc@plt". */
	for (int parts = 1; parts < 4 && !found; parts++) {
		const char *end = parts & 2 ? at : pattern + strlen(pattern);
		const char *begin = parts & 1 ? colon + 1 : pattern;
		char *name, *file;

		if ((parts & 1 && !colon) || (parts & 2 && (!at || at < begin)))
			continue;
		name = alloc_text("%.*s", (int)(end - begin), begin);
		file = alloc_text("%.*s", parts & 1 ? (int)(colon - pattern) : 0, pattern);
		found = name_forms_match(forms, name) &&
			(!(parts & 1) || pattern_matches_path(file, library)) &&
			(!(parts & 2) || pattern_matches_path(at + 1, source));
		free(name);
		free(file);
	}
	return found;
}

void name_forms_release(struct name_forms *forms)
{
	free_forms(forms);
	free(forms->ends);
	forms->ends = NULL;
	forms->end_room = 0;
	demangler_release(&forms->demangler);
}

/* ---- The names nearest to a pattern without a match ------------------------- */

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
	unsigned limit = (unsigned)(nearest->length + 2) / 3, edits = UINT_MAX;

	/* Each byte by which the lengths differ is an edit. */
	if (length <= nearest->length + limit && nearest->length <= length + limit)
		edits = spelling_distance(nearest->word, nearest->length, last, length);
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
	while (at && (distance < nearest->names[at - 1].distance ||
		      (distance == nearest->names[at - 1].distance &&
		       strcmp(name->text, nearest->names[at - 1].name->text) < 0)))
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
