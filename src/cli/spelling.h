/* SPDX-License-Identifier: MIT */
/* Which of the known words a misspelt one was meant to be. */
#ifndef SRC_CLI_SPELLING_H
#define SRC_CLI_SPELLING_H

#include <stddef.h>

/* Longer words are near to none. */
#define NEAREST_LENGTH_MAX 63

struct nearest {
	const char *word;  /* borrowed: what was typed */
	size_t length;     /* characters of it that count */
	const char *best;  /* borrowed: the nearest up to now; NULL: none is near */
	unsigned distance; /* of `best` */
};

/* Start a search for the first `length` characters of `word`, which is borrowed. */
void spelling_init(struct nearest *nearest, const char *word, size_t length);

/*
 * Consider a known word, which is borrowed.  A word is near if a third of its
 * letters, and at least one, would have to be put in, left out, replaced, or
 * swapped with a neighbour; or if what was typed is its beginning.
 */
void spelling_consider(struct nearest *nearest, const char *known);

#endif
