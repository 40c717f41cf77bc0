/* SPDX-License-Identifier: MIT */
/*
 * Code regions: parts of files as a mapping shows them, wherever they are mapped.
 *
 * Decoded code is valid in each process that maps the same part of the file.  A process that
 * maps less of it leaves the code sooner, so its mapping is another region.
 */
#ifndef DECODER_CODE_CODE_REGIONS_H
#define DECODER_CODE_CODE_REGIONS_H

#include "base/common.h"

struct code_regions {
	struct code_region *by_range; /* owned; a hash table */
	uint32_t last;
};

/* Returns the number of the region of these bytes in memory: never 0, and never reused. */
uint32_t code_regions_number(struct code_regions *regions, const uint8_t *bytes, uint64_t size);

/* Forget all regions; their numbers will not be used again.  Idempotent, also on zeroed memory. */
void code_regions_forget(struct code_regions *regions);

#endif
