/* SPDX-License-Identifier: MIT */
/*
 * Areas of code: what a mapping shows of a file, wherever it is mapped.
 *
 * What is known of code holds for each process that has the same part of the file mapped.
 * One that has less of it leaves that part sooner, so to it the same code is another area.
 */
#ifndef DECODER_CODE_CODE_REGIONS_H
#define DECODER_CODE_CODE_REGIONS_H

#include <stddef.h>
#include <stdint.h>

struct code_regions {
	struct code_region *by_range; /* owned; a hash */
	uint32_t last;
};

/*
 * Returns the number of the area of these bytes, by where they lie in memory: never 0, and
 * never one that another area had.
 */
uint32_t code_regions_number(struct code_regions *regions, const uint8_t *bytes, uint64_t size);

/* Those that are asked for again have new numbers.  Idempotent, also on zeroed memory. */
void code_regions_forget(struct code_regions *regions);

#endif
