/* SPDX-License-Identifier: MIT */
/* The three names nearest to a pattern without a match, by substring and by edit distance. */
#ifndef SRC_SELECT_NEAREST_NAMES_H
#define SRC_SELECT_NEAREST_NAMES_H

#include "base/tables/name.h"

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

/* Consider a name; borrows it. */
void nearest_names_consider(struct nearest_names *nearest, const struct name *name);

/* Print "; nearest: A, B, C", or "" if no name is near, into `room` bytes. */
void nearest_names_print(const struct nearest_names *nearest, char *text, size_t room);

#endif
