/* SPDX-License-Identifier: MIT */
/*
 * uthash whose lack of memory ends the run in the one place where that is
 * decided; by itself it exits with -1 and says nothing.
 */
#ifndef BASE_HASH_H
#define BASE_HASH_H

#include "base/alloc.h"

#define uthash_malloc(size) alloc_zeroed(1, size)

#include <uthash.h>

#endif
