/* SPDX-License-Identifier: MIT */
/*
 * Runs of instructions: from an address straight on to the next branch.
 *
 * A trace tells decisions, and a program takes the same ones again and again:
 * so what lies between two of them is decoded once.  The cache is direct-mapped
 * and keyed by where the bytes lie in memory, like the one of insn.h, so one
 * file mapped by many processes is decoded once for all.
 */
#ifndef DECODER_CODE_RUNS_H
#define DECODER_CODE_RUNS_H

#include "decoder/insn.h"

struct code_run {
	const uint8_t *bytes; /* where it begins; the key */
	uint32_t length;      /* bytes before the branch */
	uint32_t insns;	      /* instructions, the branch included */
	struct insn insn;     /* the branch; length 0: no instruction, or the bytes end here */
	uint8_t mode;	      /* enum insn_mode */
	bool function_known;  /* the owner's: whether the next two are set */
	int64_t function_begin, function_end; /* the owner's: from `bytes`, in bytes */
};

struct code_runs {
	struct code_run *slots; /* owned */
};

void code_runs_init(struct code_runs *runs);

/* Release the memory.  Idempotent, also on zeroed memory. */
void code_runs_release(struct code_runs *runs);

/*
 * Give the run that begins at `bytes`, of which `size` may be read; valid until
 * the next call.
 */
struct code_run *code_runs_find(struct code_runs *runs, const uint8_t *bytes, size_t size,
				enum insn_mode mode);

/*
 * Count the instructions from `bytes` to `bytes + distance`.
 * Returns -1 if none begins there.
 */
int64_t code_runs_count(const uint8_t *bytes, size_t distance, enum insn_mode mode);

#endif
