/* SPDX-License-Identifier: MIT */
/*
 * Binary search in a sorted array, whatever its elements are.
 *
 * The array is divided in two: a condition holds for its first elements and
 * fails for all others.  The result is where the second part begins (the
 * std::partition_point of C++).
 */
#ifndef BASE_TABLES_LOWER_BOUND_H
#define BASE_TABLES_LOWER_BOUND_H

#include "base/common.h"

/*
 * Returns the number of leading elements for which `before` holds, [0, count]:
 * the index of the first element for which it does not hold, or `count`.  `i`
 * names the index in the expression `before`, which is evaluated for about
 * log2(count) elements:
 *
 *     first = LOWER_BOUND(i, table->count, table->ranges[i].end <= address);
 *
 * With `<` the result is the first element at or above the key, with `<=` the first
 * one above it; the element before that is the last one at or below the key.
 */
#define LOWER_BOUND(i, count, before)                                                              \
	({                                                                                         \
		size_t low_##i = 0, high_##i = (count);                                            \
                                                                                                   \
		while (low_##i < high_##i) {                                                       \
			size_t i = low_##i + (high_##i - low_##i) / 2;                             \
                                                                                                   \
			if (before)                                                                \
				low_##i = i + 1;                                                   \
			else                                                                       \
				high_##i = i;                                                      \
		}                                                                                  \
		low_##i;                                                                           \
	})

#endif
