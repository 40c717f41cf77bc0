/* SPDX-License-Identifier: MIT */
/* Get the forms of a name from the demangler, and match their components. */
#include "src/select/name_forms.h"

#include <ctype.h>
#include <fnmatch.h>

/* Longer names match as a whole only: each component costs a match of the rest. */
#define COMPONENTS_WITHIN 4096

static const char anonymous[] = "(anonymous namespace)";

static bool is_word(char byte)
{
	return isalnum((unsigned char)byte) || byte == '_' || byte == '$';
}

/* Returns whether an operator's name starts here, whose brackets need not pair. */
static bool begins_operator(const char *text, const char *at)
{
	static const char word[] = "operator";

	return strncmp(at, word, sizeof(word) - 1) == 0 && !is_word(at[sizeof(word) - 1]) &&
	       (at == text || !is_word(at[-1]));
}

static char *copy_text(const char *text)
{
	char *copy = text ? strdup(text) : NULL;

	if (text && !copy)
		alloc_fail(strlen(text));
	return copy;
}

/* Returns the name in a demangled text, after the return type, if there is one. */
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

void name_forms_set(struct name_forms *forms, const char *name)
{
	struct demangler *demangler = &forms->demangler;
	const char *full;

	free_forms(forms);
	forms->whole = name;
	forms->dotted = starts_with(name, "caml") || starts_with(name, "_D");
	forms->plain = copy_text(demangler_demangle(demangler, name, DEMANGLE_SHORT));
	if (!forms->plain)
		return;
	forms->arguments = copy_text(demangler_demangle(demangler, name, DEMANGLE_PERF));
	full = demangler_demangle(demangler, name, DEMANGLE_FULL);
	forms->parameters = copy_text(full ? skip_returned_type(full) : NULL);
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

static bool matches_text(const char *pattern, const char *text)
{
	return strcmp(pattern, text) == 0 || fnmatch(pattern, text, 0) == 0;
}

/* Returns whether the pattern matches the text, or the text without some outer namespaces. */
static bool matches_components(const struct name_forms *forms, const char *pattern,
			       const char *text)
{
	bool whole = text && strlen(text) > COMPONENTS_WITHIN;

	for (; text; text = whole ? NULL : next_component(forms, text))
		if (matches_text(pattern, text))
			return true;
	return false;
}

/*
 * Returns whether the name is mangled and the pattern does not start like it: "*text*" must not
 * match an argument's type in the mangled name.
 */
static bool is_of_other_style(const struct name_forms *forms, const char *pattern)
{
	return forms->plain && strncmp(forms->whole, forms->plain, strlen(forms->plain)) != 0 &&
	       strncmp(forms->whole, pattern, 2) != 0;
}

bool name_forms_match(const struct name_forms *forms, const char *pattern)
{
	if (!is_of_other_style(forms, pattern) && matches_text(pattern, forms->whole))
		return true;
	/* The components of an unmangled name are those of the name itself. */
	return matches_components(forms, pattern, forms->plain ? forms->plain : forms->whole) ||
	       (strchr(pattern, '<') && matches_components(forms, pattern, forms->arguments)) ||
	       (strchr(pattern, '(') && matches_components(forms, pattern, forms->parameters));
}

void name_forms_release(struct name_forms *forms)
{
	free_forms(forms);
	demangler_release(&forms->demangler);
}
