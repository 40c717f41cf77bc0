/* SPDX-License-Identifier: MIT */
/*
 * Fibonacci hashing (Knuth, The Art of Computer Programming, volume 3, 6.4): the
 * upper bits of a product with 2^64 / the golden ratio.  Neighbouring keys, such as
 * addresses, spread over the whole table.
 */
#ifndef BASE_TABLES_FIBONACCI_HASH_H
#define BASE_TABLES_FIBONACCI_HASH_H

#include "base/common.h"

#define FIBONACCI_FACTOR UINT64_C(0x9e3779b97f4a7c15)

/* Returns the hash of a key, in [0, 2^bits); 1 <= bits <= 64. */
static inline uint64_t fibonacci_hash(uint64_t key, unsigned bits)
{
	return key * FIBONACCI_FACTOR >> (64 - bits);
}

#endif
