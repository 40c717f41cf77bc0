/* SPDX-License-Identifier: MIT */
/* Edit distances between words. */
#include "base/spelling.h"

static unsigned least(unsigned a, unsigned b)
{
	return MIN(a, b);
}

/*
 * The optimal string alignment distance (Damerau and Levenshtein, without edits within swapped
 * letters), computed row by row.
 */
unsigned spelling_distance(const char *a, size_t a_length, const char *b, size_t b_length)
{
	unsigned rows[3][NEAREST_LENGTH_MAX + 1];
	unsigned *before = rows[0], *above = rows[1], *row = rows[2];

	if (a_length > NEAREST_LENGTH_MAX || b_length > NEAREST_LENGTH_MAX)
		return UINT_MAX;
	for (size_t j = 0; j <= b_length; j++)
		row[j] = (unsigned)j;
	for (size_t i = 1; i <= a_length; i++) {
		unsigned *unused = before;

		before = above;
		above = row;
		row = unused;
		row[0] = (unsigned)i;
		for (size_t j = 1; j <= b_length; j++) {
			row[j] = least(least(above[j], row[j - 1]) + 1,
				       above[j - 1] + (a[i - 1] != b[j - 1]));
			if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
				row[j] = least(row[j], before[j - 2] + 1);
		}
	}
	return row[b_length];
}

void spelling_init(struct nearest *nearest, const char *word, size_t length)
{
	*nearest = (struct nearest){ word, length, NULL, UINT_MAX };
}

void spelling_consider(struct nearest *nearest, const char *known)
{
	size_t length = strlen(known);
	unsigned distance = 0, limit = length < 6 ? 1 : (unsigned)length / 3;

	/* Typing errors in the first letter are rare. */
	if (!nearest->length || strncmp(known, nearest->word, nearest->length) != 0)
		distance = spelling_distance(nearest->word, nearest->length, known, length);
	if (distance && distance != UINT_MAX && *nearest->word != *known)
		distance++;
	if (distance <= limit && distance < nearest->distance) {
		nearest->distance = distance;
		nearest->best = known;
	}
}
