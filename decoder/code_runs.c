/* SPDX-License-Identifier: MIT */
#include "decoder/code_runs.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"

#define FIRST_ROOM ((size_t)1 << 12)

/* Longer ones are no code: zeros, for example, are instructions too. */
#define INSNS_MAX 65536

void code_runs_init(struct code_runs *runs)
{
	*runs = (struct code_runs){ .room = FIRST_ROOM };
	arena_init(&runs->arena);
	runs->slots = alloc_zeroed(runs->room, sizeof(*runs->slots));
	runs->paths = alloc_zeroed((size_t)1 << CODE_PATHS_BITS, sizeof(*runs->paths));
}

void code_runs_release(struct code_runs *runs)
{
	arena_release(&runs->arena);
	free(runs->slots);
	free(runs->paths);
	*runs = (struct code_runs){ 0 };
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

void code_runs_forget(struct code_runs *runs)
{
	arena_release(&runs->arena);
	arena_init(&runs->arena);
	memset(runs->slots, 0, runs->room * sizeof(*runs->slots));
	memset(runs->paths, 0, sizeof(*runs->paths) << CODE_PATHS_BITS);
	runs->count = 0;
	runs->generation++;
}

/* Returns the run's slot, or the empty one where it belongs. */
static struct code_run **slot_of(const struct code_runs *runs, const uint8_t *bytes,
				 enum insn_mode mode)
{
	/* Fibonacci hashing: neighbours in memory spread over the table. */
	uint64_t hash = (uint64_t)(uintptr_t)bytes * UINT64_C(0x9e3779b97f4a7c15);
	size_t at = hash >> (64 - __builtin_ctzll(runs->room));

	while (runs->slots[at] && (runs->slots[at]->bytes != bytes || runs->slots[at]->mode != mode))
		at = (at + 1) & (runs->room - 1);
	return &runs->slots[at];
}

static void grow(struct code_runs *runs)
{
	struct code_run **old = runs->slots;
	size_t room = runs->room;

	runs->room *= 2;
	runs->slots = alloc_zeroed(runs->room, sizeof(*runs->slots));
	for (size_t i = 0; i < room; i++)
		if (old[i])
			*slot_of(runs, old[i]->bytes, old[i]->mode) = old[i];
	free(old);
}

struct code_run *code_runs_find(struct code_runs *runs, const uint8_t *bytes, size_t size,
				enum insn_mode mode)
{
	struct code_run **slot = slot_of(runs, bytes, mode);

	if (*slot)
		return *slot;
	if (runs->count == CODE_RUNS_MAX)
		code_runs_forget(runs);
	if (2 * runs->count >= runs->room)
		grow(runs);
	slot = slot_of(runs, bytes, mode);
	*slot = arena_alloc(&runs->arena, sizeof(**slot));
	decode(*slot, bytes, size, mode);
	runs->count++;
	return *slot;
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
