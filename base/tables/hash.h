/* SPDX-License-Identifier: MIT */
/*
 * uthash with the memory of base/alloc.h, which reports a lack of memory; uthash itself
 * exits with -1 and no message.
 */
#pragma once

#define uthash_malloc(size) alloc_zeroed(1, size)

#include <uthash.h>

#include "base/common.h"

/*
 * Find the item whose member `member` equals *key, or add one with that key in `memory`, an
 * expression for a zeroed item, or in a new one; `item` is a variable.
 */
#define HASH_FIND_OR_ADD(head, member, key, item)                                                  \
	HASH_FIND_OR_ADD_IN(head, member, key, item, alloc_zeroed(1, sizeof(*(item))))
#define HASH_FIND_OR_ADD_IN(head, member, key, item, memory)                                       \
	do {                                                                                       \
		HASH_FIND(hh, head, key, sizeof((item)->member), item);                            \
		if (!(item)) {                                                                     \
			(item) = (memory);                                                         \
			(item)->member = *(key);                                                   \
			HASH_ADD(hh, head, member, sizeof((item)->member), item);                  \
		}                                                                                  \
	} while (0)

/*
 * Remove and free all items of a table; `item` is a variable.  A statement as third argument
 * releases the item's members.
 */
#define HASH_FREE_ALL(head, item, ...)                                                             \
	while (((item) = (head))) {                                                                \
		HASH_DEL(head, item);                                                              \
		__VA_ARGS__;                                                                       \
		free(item);                                                                        \
	}
