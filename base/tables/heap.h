/* SPDX-License-Identifier: MIT */
/*
 * A binary heap in an array of the user's: no item is before the one at index 0.
 *
 *	HEAP_DEFINE(runs, struct run, struct sorter, run_before)
 *
 * defines functions over `struct run *items` for `bool run_before(const struct sorter *context,
 * const struct run *a, const struct run *b)`, which is a strict order.
 */
#pragma once

#include "base/common.h"

#define HEAP_DEFINE(name, type, context_type, before)                                              \
	/* Restore the heap after the item at `at` moved back in the order. */                     \
	static inline void name##_sift_down(const context_type *context, type *items,              \
					    size_t count, size_t at)                               \
	{                                                                                          \
		type moving = items[at];                                                           \
                                                                                                   \
		for (size_t child; (child = 2 * at + 1) < count; at = child) {                     \
			if (child + 1 < count &&                                                   \
			    before(context, &items[child + 1], &items[child]))                     \
				child++;                                                           \
			if (!before(context, &items[child], &moving))                              \
				break;                                                             \
			items[at] = items[child];                                                  \
		}                                                                                  \
		items[at] = moving;                                                                \
	}                                                                                          \
                                                                                                   \
	/* Make a heap of items in any order. */                                                   \
	static inline void name##_order(const context_type *context, type *items, size_t count)    \
	{                                                                                          \
		for (size_t at = count / 2; at-- > 0;)                                             \
			name##_sift_down(context, items, count, at);                               \
	}                                                                                          \
                                                                                                   \
	/* Add an item to `count` others, in an array that has room for it. */                     \
	static inline void name##_push(const context_type *context, type *items, size_t count,     \
				       const type *item)                                           \
	{                                                                                          \
		type added = *item;                                                                \
		size_t at = count;                                                                 \
                                                                                                   \
		for (; at && before(context, &added, &items[(at - 1) / 2]); at = (at - 1) / 2)     \
			items[at] = items[(at - 1) / 2];                                           \
		items[at] = added;                                                                 \
	}
