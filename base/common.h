/* SPDX-License-Identifier: MIT */
/*
 * The usual headers of the C library, allocation, errors, and the order of numbers.  Every header
 * but libftf's includes this one, directly or by another of the project's headers, so no file
 * lists these again.
 */
#pragma once

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/error.h"

static inline pthread_mutex_t *lock_take(pthread_mutex_t *lock)
{
	pthread_mutex_lock(lock);
	return lock;
}

static inline void lock_release(pthread_mutex_t *const *lock)
{
	pthread_mutex_unlock(*lock);
}

/* Declare that the rest of the block holds a lock, as guard(mutex)() of Linux does. */
#define HOLD_LOCK(lock)                                                                            \
	pthread_mutex_t *held_lock __attribute__((cleanup(lock_release), unused)) = lock_take(lock)

#define NS_PER_S UINT64_C(1000000000)

/* -1, 0 or 1 if a is less than, equal to or greater than b. */
#define COMPARE(a, b) (((a) > (b)) - ((a) < (b)))

/* Define a comparison of items *a and *b, for qsort() or, with a `context`, for qsort_r(). */
#define COMPARE_WITH(name, type, order)                                                            \
	static int name(const void *left, const void *right)                                       \
	{                                                                                          \
		__typeof__(type) const *a = left, *b = right;                                      \
                                                                                                   \
		return order;                                                                      \
	}
#define COMPARE_WITHIN(name, type, context_type, order)                                            \
	static int name(const void *left, const void *right, void *context_)                       \
	{                                                                                          \
		__typeof__(type) const *a = left, *b = right;                                      \
		const context_type *context = context_;                                            \
                                                                                                   \
		return order;                                                                      \
	}

/* The same for structs, by their members in order of significance. */
#define COMPARE_BY_THREE(name, type, first, second, third)                                         \
	COMPARE_WITH(name, type,                                                                   \
		     COMPARE(a->first, b->first) ?: COMPARE(a->second, b->second) ?: \
		     COMPARE(a->third, b->third))
#define COMPARE_BY_TWO(name, type, first, second)                                                  \
	COMPARE_BY_THREE(name, type, first, second, second)
#define COMPARE_BY(name, type, first) COMPARE_BY_TWO(name, type, first, first)

/* Sort an array, which may be NULL if it is empty: qsort() takes no null pointer. */
#define SORT(array, count, compare)                                                                \
	((count) ? qsort((array), (count), sizeof(*(array)), (compare)) : (void)0)
#define SORT_WITHIN(array, count, compare, context)                                                \
	((count) ? qsort_r((array), (count), sizeof(*(array)), (compare), (context)) : (void)0)

#define MIN(a, b)       ((a) < (b) ? (a) : (b))
#define MAX(a, b)       ((a) > (b) ? (a) : (b))
#define COUNT_OF(array) (sizeof(array) / sizeof((array)[0]))

/*
 * Fibonacci hashing (Knuth, The Art of Computer Programming, volume 3, 6.4): the
 * upper bits of a product with 2^64 / the golden ratio.  Neighbouring keys, such as
 * addresses, spread over the whole table.  Returns a hash in [0, 2^bits); 1 <= bits <= 64.
 */
#define FIBONACCI_FACTOR UINT64_C(0x9e3779b97f4a7c15)

static inline uint64_t fibonacci_hash(uint64_t key, unsigned bits)
{
	return key * FIBONACCI_FACTOR >> (64 - bits);
}

static inline bool starts_with(const char *text, const char *start)
{
	return (text[0] == start[0] || !start[0]) && strncmp(text, start, strlen(start)) == 0;
}

static inline bool ends_with(const char *text, const char *end)
{
	size_t length = strlen(text), tail = strlen(end);

	return length >= tail && memcmp(text + length - tail, end, tail) == 0;
}

/* Returns the part of a path after its last "/". */
static inline const char *base_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

/*
 * Binary search in a partitioned array: a condition holds for its first elements and fails for all
 * others (C++'s std::partition_point).
 *
 * Returns the number of leading elements for which `before` holds, [0, count]: the index of the
 * first element for which it does not hold, or `count`.  `i` names the index in the expression
 * `before`, which is evaluated for about log2(count) elements:
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
