/* SPDX-License-Identifier: MIT */
/*
 * What an x86 instruction does to control flow.
 *
 * Only change-of-flow instructions matter to Intel PT (SDM volume 3, "Intel Processor Trace",
 * table of COFI types); all others are BRANCH_NONE. The cache is direct-mapped and its key is
 * the position of the bytes in memory, so code files must stay mapped while the cache is used.
 */
#ifndef DECODER_CODE_INSN_H
#define DECODER_CODE_INSN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/tables/direct_cache.h"
#include "decoder/branch_event.h"

#define INSN_LENGTH_MAX 15

enum insn_mode { INSN_MODE_64 = 0, INSN_MODE_32, INSN_MODE_16 };

struct insn {
	uint8_t kind;     /* enum branch_kind; BRANCH_NONE: no branch */
	uint8_t length;   /* bytes; 0: not an instruction */
	bool indirect;    /* the target is not in the instruction (calls and jumps) */
	int32_t distance; /* direct call, jump, conditional jump: target - end of the instruction */
};

/*
 * Decode the instruction at `bytes` of which `size` bytes may be read.
 * Returns it; length 0 if the bytes are no instruction or too few.
 */
struct insn insn_decode(const uint8_t *bytes, size_t size, enum insn_mode mode);

/* Make a cache for insn_cache_decode(); the caller releases it. */
void insn_cache_init(struct direct_cache *cache);

/* As insn_decode(), but cached by the position of the bytes. */
struct insn insn_cache_decode(struct direct_cache *cache, const uint8_t *bytes, size_t size,
			      enum insn_mode mode);

#endif
