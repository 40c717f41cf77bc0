/* SPDX-License-Identifier: MIT */
#include "symbols/demangle.h"

#include <libiberty/demangle.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"

/* Hostile names grow without bound when demangled; real ones are shorter. */
#define MANGLED_MAX 16384

/* Demangled text, owned by the caller; NULL if the name is not mangled. */
static char *demangle_text(const char *text, size_t length)
{
	char mangled[MANGLED_MAX + 1];

	memcpy(mangled, text, length);
	mangled[length] = 0;
	return cplus_demangle(mangled, DMGL_NO_OPTS);
}

const struct name *demangle(struct name_table *names, const struct name *linkage)
{
	/* What follows an '@' (foo@plt, foo@@VERSION) is no part of the mangled name. */
	size_t length = strcspn(linkage->text, "@");
	const struct name *shown;
	char *text, *whole;

	if (length < 2 || linkage->text[0] != '_' || length > MANGLED_MAX ||
	    !strchr("ZR_", linkage->text[1]))
		return linkage;
	text = demangle_text(linkage->text, length);
	if (!text)
		return linkage;
	if (asprintf(&whole, "%s%s", text, linkage->text + length) < 0)
		alloc_fail(strlen(text));
	shown = name_intern_text(names, whole);
	free(whole);
	free(text);
	return shown;
}
