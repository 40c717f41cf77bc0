/* SPDX-License-Identifier: MIT */
/*
 * Programs that remap their own code to huge pages.
 *
 * They copy their code to anonymous memory and map it at the old address, so the recording
 * names no file for their hottest code.  Such memory is recognised by its
 * neighbours: it lies between two mappings of one file and is as long as the gap
 * between their file offsets.  (Code of a JIT compiler does not: a file is mapped
 * as a whole, and the kernel hands out no addresses within.)
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
 * Returns whether a range begins and ends at multiples of 2 MiB, as huge pages do.
 * Aligned memory over a file's code is its copy even without neighbours:
 * there are none if the code itself is aligned.
 */
bool hugepage_remap_is_aligned(uint64_t begin, uint64_t end);

/*
 * Replace copies by mappings of their file, and join them with their neighbours.  The
 * mappings are sorted by begin and do not overlap.
 * Returns the number of mappings left.
 */
size_t hugepage_remap_restore(struct mapping *mappings, size_t count);

#endif
