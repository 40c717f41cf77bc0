/* SPDX-License-Identifier: MIT */
#include "decoder/code/basic_block.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"

#define FIRST_ROOM ((size_t)1 << 6)

/* Instructions of a run whose lengths are kept: nearly all runs are shorter. */
#define LENGTHS_MAX 32

/* Kept by one of many; and the trace that pays for one more, which takes some 100 bytes. */
#define RUNS_LEAST    64
#define BYTES_FOR_RUN 64

#define CACHE_LINE 64

/* Longer ones are no code: zeros, for example, are instructions too. */
#define INSNS_MAX UINT16_MAX

static_assert(sizeof(void *) != 8 || sizeof(struct basic_block) == CACHE_LINE, "a run is one line");
static_assert(sizeof(struct cfg_node) == CACHE_LINE / 4, "four hops are one line");

static void *next_line(void *memory)
{
	return (unsigned char *)memory + (-(uintptr_t)memory & (CACHE_LINE - 1));
}

void basic_blocks_init(struct basic_blocks *runs, uint64_t size)
{
	*runs = (struct basic_blocks){ .room = FIRST_ROOM, .most = BASIC_BLOCKS_MAX };
	arena_init(&runs->arena);
	runs->slots = alloc_zeroed(runs->room, sizeof(*runs->slots));
	tnt_cache_init(&runs->paths, size);
}

void basic_blocks_share(struct basic_blocks *runs, size_t others, uint64_t size)
{
	uint64_t most = RUNS_LEAST + BASIC_BLOCKS_MAX / (others + 1) + size / BYTES_FOR_RUN;

	runs->most = most < BASIC_BLOCKS_MAX ? most : BASIC_BLOCKS_MAX;
}

void basic_blocks_release(struct basic_blocks *runs)
{
	arena_release(&runs->arena);
	code_regions_forget(&runs->areas);
	free(runs->blocks);
	free(runs->hops);
	free(runs->offsets);
	free(runs->slots);
	tnt_cache_release(&runs->paths);
	*runs = (struct basic_blocks){ 0 };
}

/* Returns the bytes before the branch. */
static uint32_t decode(struct basic_block *run, size_t size, uint8_t *lengths)
{
	uint32_t length = 0;

	while (run->insns < INSNS_MAX) {
		run->insn =
			insn_decode(run->bytes + length, size - length, (enum insn_mode)run->mode);
		if (!run->insn.length)
			return length;
		if (run->insns < LENGTHS_MAX)
			lengths[run->lengths_known++] = run->insn.length;
		run->insns++;
		if (run->insn.kind != BRANCH_NONE)
			return length;
		length += run->insn.length;
	}
	run->insn.length = 0;
	return length;
}

static void add_block(struct basic_blocks *runs, size_t block)
{
	const size_t size = (BASIC_BLOCKS_BLOCK + 1) * sizeof(struct basic_block);

	runs->blocks =
		alloc_grow(runs->blocks, &runs->block_room, block + 1, sizeof(*runs->blocks));
	runs->blocks[block] = next_line(arena_alloc(&runs->arena, size));
}

/* Returns a zeroed run, with a hop that is zeroed, too. */
static struct basic_block *new_run(struct basic_blocks *runs)
{
	size_t number = runs->count + 1;
	struct basic_block *run;

	if (runs->count == 0 || number % BASIC_BLOCKS_BLOCK == 0)
		add_block(runs, number / BASIC_BLOCKS_BLOCK);
	runs->hops = alloc_grow(runs->hops, &runs->hop_room, number + 1, sizeof(*runs->hops));
	runs->offsets =
		alloc_grow(runs->offsets, &runs->offset_room, number + 1, sizeof(*runs->offsets));
	runs->hops[number] = (struct cfg_node){ 0 };
	run = &runs->blocks[number / BASIC_BLOCKS_BLOCK][number % BASIC_BLOCKS_BLOCK];
	run->hop = (uint32_t)(number * sizeof(*runs->hops));
	return run;
}

static struct basic_block *make_run(struct basic_blocks *runs, uint32_t area, const uint8_t *bytes,
				    size_t size, enum insn_mode mode)
{
	struct basic_block *run = new_run(runs);
	uint8_t lengths[LENGTHS_MAX], *kept;

	run->bytes = bytes;
	run->area = area;
	run->mode = (uint8_t)mode;
	run->length = decode(run, size, lengths);
	kept = arena_alloc(&runs->arena, run->lengths_known);
	memcpy(kept, lengths, run->lengths_known);
	run->lengths = kept;
	return run;
}

void basic_blocks_forget(struct basic_blocks *runs)
{
	arena_release(&runs->arena);
	arena_init(&runs->arena);
	memset(runs->slots, 0, runs->room * sizeof(*runs->slots));
	code_regions_forget(&runs->areas);
	tnt_cache_forget(&runs->paths);
	runs->count = 0;
	runs->generation++;
}

/* Returns the run's slot, or the empty one where it belongs. */
static struct basic_block **slot_of(const struct basic_blocks *runs, uint32_t area,
				    const uint8_t *bytes, enum insn_mode mode)
{
	size_t at = basic_blocks_slot(runs, bytes);

	while (runs->slots[at] && !basic_block_is(runs->slots[at], area, bytes, mode))
		at = (at + 1) & (runs->room - 1);
	return &runs->slots[at];
}

static void grow(struct basic_blocks *runs)
{
	struct basic_block **old = runs->slots;
	size_t room = runs->room;

	runs->room *= 2;
	runs->slots = alloc_zeroed(runs->room, sizeof(*runs->slots));
	for (size_t i = 0; i < room; i++)
		if (old[i])
			*slot_of(runs, old[i]->area, old[i]->bytes, old[i]->mode) = old[i];
	free(old);
}

struct basic_block *basic_blocks_find(struct basic_blocks *runs, uint32_t area,
				      const uint8_t *bytes, size_t size, enum insn_mode mode)
{
	struct basic_block **slot = slot_of(runs, area, bytes, mode);

	if (*slot)
		return *slot;
	if (runs->count >= runs->most)
		basic_blocks_forget(runs);
	if (2 * runs->count >= runs->room)
		grow(runs);
	slot = slot_of(runs, area, bytes, mode);
	*slot = make_run(runs, area, bytes, size, mode);
	runs->count++;
	return *slot;
}

int64_t basic_block_count_insns(const struct basic_block *run, size_t distance)
{
	int64_t count = 0;
	size_t at = 0;

	while (at < distance && count < run->lengths_known)
		at += run->lengths[count++];
	while (at < distance) {
		struct insn insn =
			insn_decode(run->bytes + at, distance - at, (enum insn_mode)run->mode);

		if (!insn.length)
			return -1;
		at += insn.length;
		count++;
	}
	return at == distance ? count : -1;
}
