/* SPDX-License-Identifier: MIT */
/* Pages of mapped files, and huge pages. */
#pragma once

#include "base/common.h"

/*
 * Release the memory of the whole pages within a range of a mapped file.  They stay
 * readable: the next access reads them from the file again.
 */
void pages_give_back(const uint8_t *bytes, size_t size);

/*
 * As pages_give_back(), for a range that was read once and the pages that the kernel mapped around
 * it: 64 KiB at a time (Linux, mm/memory.c, do_fault_around()), or 2 MiB where the page cache has
 * huge pages (do_set_pmd()).  `before` and `after` are bytes of the same mapping before and after
 * the range.  If these pages stayed, half of a file would be in memory if several streams read
 * small pieces.
 */
void pages_give_back_around(const uint8_t *bytes, size_t size, size_t before, size_t after);

/*
 * Map the shared page of zeros over the larger holes (lseek(2), SEEK_HOLE) of a file of `size`
 * bytes, which is mapped at `bytes` privately and read-only from its start.  Reading a hole of the
 * file itself would allocate pages.  Returns 0; -1 with errno set: a part may not be mapped any
 * more.
 */
int pages_map_holes(int fd, uint8_t *bytes, size_t size);

/*
 * Returns zeroed memory in huge pages, where the kernel has them: a table that is used in random
 * order then takes a page fault every 2 MiB. Owned by the caller (pages_free()); never NULL.
 */
void *pages_alloc(size_t size);

/* Release memory of pages_alloc(). NULL is allowed. */
void pages_free(void *memory, size_t size);
