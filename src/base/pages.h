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

#endif
