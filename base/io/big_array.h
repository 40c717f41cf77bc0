/* SPDX-License-Identifier: MIT */
/*
 * An array that grows, and moves from memory into a file without a name
 * (base/io/temp_file.h) when it is large.
 *
 * There it costs disk and page cache, which the system takes back when it needs
 * to, and memory of ours only while it is looked at.  Where no such file can be
 * made, or the disk is full, it stays in memory.
 */
#ifndef BASE_IO_BIG_ARRAY_H
#define BASE_IO_BIG_ARRAY_H

#include <stdbool.h>
#include <stddef.h>

/* Zeroed, it is empty. */
struct big_array {
	void *items;   /* owned */
	size_t room;   /* items that it can hold */
	size_t mapped; /* bytes, if it is in a file; 0: in memory */
	int fd;        /* owned, if it is in a file */
	bool stays;    /* no file could be made: do not try again */
};

/*
 * Have room for `need` items of `size` bytes, always the same; what then takes more
 * than `most` bytes goes into a file.  The items may move.  Ends the program if
 * memory runs out.
 */
void big_array_grow(struct big_array *array, size_t need, size_t size, size_t most);

/* The items [begin, end), of `size` bytes, are not looked at for now; they stay what they are. */
void big_array_rest(const struct big_array *array, size_t begin, size_t end, size_t size);

/* Release the memory and the file.  Idempotent, also on zeroed memory. */
void big_array_release(struct big_array *array);

#endif
