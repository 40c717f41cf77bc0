/* SPDX-License-Identifier: MIT */
/* The known word that a misspelt one was probably meant to be. */
#pragma once

#include "base/common.h"

/* A longer word is near no other word. */
#define NEAREST_LENGTH_MAX 63

struct nearest {
	const char *word;  /* borrowed: the misspelt word */
	size_t length;     /* bytes of the word */
	const char *best;  /* borrowed: the nearest known word so far; NULL if no word is near */
	unsigned distance; /* edits from the word to `best` */
};

/* Start a search for the first `length` characters of `word`, which is borrowed. */
void spelling_init(struct nearest *nearest, const char *word, size_t length);

/*
 * Consider a known word, which is borrowed.  It is near if the edits to it
 * (insert, delete, replace, swap neighbours) are at most a third of its letters,
 * or one; or if the misspelt word is its beginning.
 */
void spelling_consider(struct nearest *nearest, const char *known);

/*
 * Returns the number of edits (insert, delete, replace, swap neighbours) between two texts;
 * UINT_MAX if one is longer than NEAREST_LENGTH_MAX.
 */
unsigned spelling_distance(const char *a, size_t a_length, const char *b, size_t b_length);
