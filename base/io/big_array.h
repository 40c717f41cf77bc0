/* SPDX-License-Identifier: MIT */
/*
 * An array that grows, and moves from memory into a file without a name
 * (base/io/temp_file.h) when it is large.
 *
 * In the file, the array costs disk space and page cache, which the system can reclaim, and memory
 * of the process only while it is accessed.  If the file cannot be made, or the disk is full, the
 * array stays in memory.  All files count for the budget of temp_file.h, near which they grow in
 * small steps.
 */
#pragma once

#include "base/common.h"

/* Zeroed, it is empty. */
struct big_array {
	void *items;   /* owned */
	size_t room;   /* items that it can hold */
	size_t mapped; /* bytes, if it is in a file; 0: in memory */
	int fd;        /* owned; valid if `mapped` */
	bool stays;    /* no file could be made: do not try again */
};

/*
 * Make room for `need` items of `size` bytes, the same size in all calls; an array of more than
 * `most` bytes goes into a file.  The items may move.  Ends the program if memory runs out.
 */
void big_array_grow(struct big_array *array, size_t need, size_t size, size_t most);

/* Release the memory of items [begin, end), of `size` bytes, in a file; they keep their values. */
void big_array_rest(const struct big_array *array, size_t begin, size_t end, size_t size);

void big_array_release(struct big_array *array);
