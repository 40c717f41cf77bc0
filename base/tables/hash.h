/* SPDX-License-Identifier: MIT */
/*
 * uthash with the memory of base/alloc.h, which reports a lack of memory; uthash itself
 * exits with -1 and no message.
 */
#ifndef BASE_TABLES_HASH_H
#define BASE_TABLES_HASH_H

#include "base/alloc.h"

#define uthash_malloc(size) alloc_zeroed(1, size)

#include <uthash.h>

#endif
