/* SPDX-License-Identifier: MIT */
/* Pages of mapped files. */
#ifndef BASE_PAGES_H
#define BASE_PAGES_H

#include <stddef.h>
#include <stdint.h>

/*
 * The whole pages within a range of a mapped file are not needed for now: they
 * stay readable and come back from the file when they are.
 */
void pages_give_back(const uint8_t *bytes, size_t size);

/*
 * A file of `size` bytes is mapped at `bytes`, privately and to be read, from its
 * start on: put memory that is all zeros, and takes none, in the place of its
 * larger holes (lseek(2), SEEK_HOLE), which the system would else fill pages for.
 * Returns 0; -1 with errno set: a part may not be mapped any more.
 */
int pages_map_holes(int fd, uint8_t *bytes, size_t size);

#endif
