/* SPDX-License-Identifier: MIT */
/*
 * The forms in which a user can write a function's name: as in the symbol table, as displayed, and
 * demangled, with and without namespaces, template arguments and parameters.
 *
 * Template arguments and parameters are matched only if the pattern has them, so that "*parse*"
 * does not match a function by the type of an argument.
 */
#pragma once

#include "base/tables/name.h"
#include "symbols/names/demangle.h"

struct name_forms {
	struct demangler demangler;
	const char *whole; /* borrowed: the name itself */
	char *plain;       /* owned: without template arguments and parameters */
	char *arguments;   /* owned: with template arguments only */
	char *parameters;  /* owned: with both, without the return type */
	bool dotted;       /* '.' separates components (OCaml, D), else "::" */
	bool mangled;      /* `whole` does not begin with `plain` */
	/* Borrowed from `plain` or, without it, `whole`: it and its ends from each component. */
	const char **ends;
	size_t end_count, end_room;
};

/* Set the name, mangled or not, borrowed until the next call. A zeroed struct is ready to use. */
void name_forms_set(struct name_forms *forms, const char *name);

/*
 * Returns whether a shell pattern (glob(7)) matches or equals a form of the name; "=NAME" only
 * equals one, with its namespaces.
 */
bool name_forms_match(const struct name_forms *forms, const char *pattern);

/*
 * Returns whether a pattern chooses a function by its name and, in the forms NAME@SOURCE,
 * LIBRARY:NAME and LIBRARY:NAME@SOURCE, by patterns for the paths of the source file and of the
 * file of code, or their last components (NULL: unknown).
 */
bool function_pattern_match(const char *pattern, const struct name_forms *forms, const char *source,
			    const char *library);

/* Returns whether a pattern can be one of these forms. */
bool function_pattern_has_file(const char *pattern);

/* Returns whether a pattern, or "=PATH", matches a path or its last component. */
bool pattern_matches_path(const char *pattern, const char *path);

void name_forms_release(struct name_forms *forms);

/* ---- The three names nearest to a pattern without a match ------------------- */

#define NEAREST_NAMES 3

struct nearest_names {
	char word[64]; /* the pattern without wildcards and namespaces; empty: no name is near */
	size_t length;
	struct near_name {
		const struct name *name; /* borrowed */
		unsigned distance;
	} names[NEAREST_NAMES]; /* nearest first */
	size_t count;
};

/* Start a search for a shell pattern. */
void nearest_names_init(struct nearest_names *nearest, const char *pattern);

void nearest_names_consider(struct nearest_names *nearest, const struct name *name);

/* Print "; nearest: A, B, C", or "" if no name is near, into `room` bytes. */
void nearest_names_print(const struct nearest_names *nearest, char *text, size_t room);
