/* SPDX-License-Identifier: MIT */
#include "decoder/code_runs.h"

#include <stdlib.h>

#include "base/alloc.h"

#define SLOT_BITS 15

/* Longer ones are no code: zeros, for example, are instructions too. */
#define INSNS_MAX 65536

void code_runs_init(struct code_runs *runs)
{
	runs->slots = alloc_zeroed((size_t)1 << SLOT_BITS, sizeof(*runs->slots));
}

void code_runs_release(struct code_runs *runs)
{
	free(runs->slots);
	runs->slots = NULL;
}

static void decode(struct code_run *run, const uint8_t *bytes, size_t size, enum insn_mode mode)
{
	*run = (struct code_run){ .bytes = bytes, .mode = (uint8_t)mode };
	while (run->insns < INSNS_MAX) {
		run->insn = insn_decode(bytes + run->length, size - run->length, mode);
		if (!run->insn.length)
			return;
		run->insns++;
		if (run->insn.kind != BRANCH_NONE)
			return;
		run->length += run->insn.length;
	}
	run->insn.length = 0;
}

struct code_run *code_runs_find(struct code_runs *runs, const uint8_t *bytes, size_t size,
				enum insn_mode mode)
{
	/* Fibonacci hashing: neighbours in memory spread over the table. */
	uint64_t hash = (uint64_t)(uintptr_t)bytes * UINT64_C(0x9e3779b97f4a7c15);
	struct code_run *slot = &runs->slots[hash >> (64 - SLOT_BITS)];

	if (slot->bytes != bytes || slot->mode != mode)
		decode(slot, bytes, size, mode);
	return slot;
}

int64_t code_runs_count(const uint8_t *bytes, size_t distance, enum insn_mode mode)
{
	int64_t count = 0;
	size_t at = 0;

	while (at < distance) {
		struct insn insn = insn_decode(bytes + at, distance - at, mode);

		if (!insn.length)
			return -1;
		at += insn.length;
		count++;
	}
	return count;
}
