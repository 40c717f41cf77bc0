/* SPDX-License-Identifier: MIT */
/*
 * Programs that put their own code on huge pages.
 *
 * They copy it to anonymous memory and map that where it was, so the recording
 * names no file for their hottest code.  Such memory is known by what is around
 * it: it lies between two mappings of one file and just as long as what the
 * file has between them.  (Code of a JIT compiler cannot: a file is mapped as
 * one whole, and nobody else gets addresses within.)
 */
#ifndef DECODER_MAPPINGS_HUGEPAGE_REMAP_H
#define DECODER_MAPPINGS_HUGEPAGE_REMAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "decoder/mappings/address_space.h"

/*
 * Returns whether a recorded path is that of memory without a file of code: the
 * kernel's names for it (mm/shmem.c, fs/hugetlbfs/inode.c, perf_event_mmap_event()).
 */
bool hugepage_remap_is_memory(const char *path);

/*
 * Returns whether a range begins and ends as huge pages do (2 MiB).  What then
 * takes the place of a file's code is taken for its copy without neighbours,
 * too: there are none where the code itself is so aligned.
 */
bool hugepage_remap_is_aligned(uint64_t begin, uint64_t end);

/*
 * Make the copies among the mappings (sorted by begin, not overlapping) mappings
 * of their file, and join each with its neighbours.
 * Returns how many mappings are left.
 */
size_t hugepage_remap_restore(struct mapping *mappings, size_t count);

#endif
