/* SPDX-License-Identifier: MIT */
/* Decode basic blocks once and keep them by address. */
#include "decoder/code/basic_block.h"

#include <assert.h>

#define FIRST_ROOM ((size_t)1 << 6)

/* Minimum blocks of a share, and bytes of trace per further block (of about 100 bytes). */
#define BLOCKS_MIN      64
#define BYTES_PER_BLOCK 64

/*
 * A block of more than STRAIGHT_INSNS instructions ends without a branch, where STRAIGHT_BYTES
 * divides the size of the code after it. So long code is decoded once for all entries of the flow,
 * and a block that is executed once, as in zeros, costs little. Blocks on a run's fast path
 * (packed_counts.h) are shorter.
 */
#define STRAIGHT_INSNS PACKED_COUNTS_STEP_INSNS
#define STRAIGHT_BYTES ((size_t)1 << 15)

static_assert(STRAIGHT_INSNS + STRAIGHT_BYTES < UINT16_MAX, "a block can count its instructions");
static_assert(sizeof(void *) != 8 || sizeof(struct basic_block) == CACHE_LINE, "a run is one line");
static_assert(sizeof(struct cfg_node) == CACHE_LINE / 4, "four hops are one line");

static void *next_line(void *memory)
{
	return (unsigned char *)memory + (-(uintptr_t)memory & (CACHE_LINE - 1));
}

void basic_blocks_init(struct basic_blocks *blocks, uint64_t size)
{
	*blocks = (struct basic_blocks){ .room = FIRST_ROOM, .limit = BASIC_BLOCKS_MAX };
	blocks->slots = alloc_zeroed(blocks->room, sizeof(*blocks->slots));
	run_memo_init(&blocks->runs, size);
}

void basic_blocks_share(struct basic_blocks *blocks, size_t others, uint64_t size)
{
	uint64_t limit = BLOCKS_MIN + BASIC_BLOCKS_MAX / (others + 1) + size / BYTES_PER_BLOCK;

	blocks->limit = MIN(limit, BASIC_BLOCKS_MAX);
}

void basic_blocks_release(struct basic_blocks *blocks)
{
	arena_release(&blocks->arena);
	code_regions_forget(&blocks->regions);
	free(blocks->chunks);
	free(blocks->nodes);
	free(blocks->offsets);
	free(blocks->slots);
	run_memo_release(&blocks->runs);
	block_counts_close(blocks);
	*blocks = (struct basic_blocks){ 0 };
}

/* Returns true if a block ends after its last instruction, with `rest` bytes left. */
static bool ends_block(const struct basic_block *block, size_t rest)
{
	return block->insn.kind != BRANCH_NONE || block->ends_piece ||
	       (block->insns > STRAIGHT_INSNS &&
		rest / STRAIGHT_BYTES != (rest + block->insn.length) / STRAIGHT_BYTES);
}

/* Returns the number of bytes before the last instruction. */
static uint32_t decode_block(struct basic_block *block, size_t size, size_t piece)
{
	uint32_t length = 0;

	for (;;) {
		block->insn = insn_decode(block->bytes + length, size - length,
					  (enum insn_mode)block->mode);
		if (!block->insn.length)
			return length;
		block->insns++;
		block->ends_piece = length + block->insn.length >= piece;
		if (ends_block(block, size - length - block->insn.length))
			return length;
		length += block->insn.length;
	}
}

static void add_chunk(struct basic_blocks *blocks, size_t chunk)
{
	const size_t size = (BASIC_BLOCKS_CHUNK + 1) * sizeof(struct basic_block);

	ARRAY_GROW(blocks->chunks, blocks->chunk_room, chunk + 1);
	blocks->chunks[chunk] = next_line(arena_alloc(&blocks->arena, size));
}

/* Returns a zeroed block with a zeroed CFG node. */
static struct basic_block *add_block(struct basic_blocks *blocks)
{
	size_t number = blocks->count + 1;
	struct basic_block *block;

	if (blocks->count == 0 || number % BASIC_BLOCKS_CHUNK == 0)
		add_chunk(blocks, number / BASIC_BLOCKS_CHUNK);
	ARRAY_GROW(blocks->nodes, blocks->node_room, number + 1);
	ARRAY_GROW(blocks->offsets, blocks->offset_room, number + 1);
	if (blocks->counts)
		blocks->counts->blocks =
			alloc_grow_zeroed(blocks->counts->blocks, &blocks->counts->room, number + 1,
					  sizeof(*blocks->counts->blocks));
	blocks->nodes[number] = (struct cfg_node){ 0 };
	block = &blocks->chunks[number / BASIC_BLOCKS_CHUNK][number % BASIC_BLOCKS_CHUNK];
	block->node = (uint32_t)(number * sizeof(*blocks->nodes));
	return block;
}

void basic_blocks_forget(struct basic_blocks *blocks)
{
	if (blocks->counts)
		block_counts_collect(blocks);
	arena_release(&blocks->arena);
	memset(blocks->slots, 0, blocks->room * sizeof(*blocks->slots));
	run_memo_forget(&blocks->runs);
	blocks->count = 0;
	blocks->generation++;
}

/* Returns the block's slot, or the empty slot for it. */
static struct basic_block **find_slot(const struct basic_blocks *blocks, uint32_t region,
				      const uint8_t *bytes, enum insn_mode mode)
{
	size_t at = fibonacci_hash((uintptr_t)bytes, (unsigned)__builtin_ctzll(blocks->room));

	while (blocks->slots[at] && !basic_block_is(blocks->slots[at], region, bytes, mode))
		at = (at + 1) & (blocks->room - 1);
	return &blocks->slots[at];
}

struct basic_block *basic_blocks_find(const struct basic_blocks *blocks, uint32_t region,
				      const uint8_t *bytes, enum insn_mode mode)
{
	return *find_slot(blocks, region, bytes, mode);
}

struct basic_block *basic_blocks_add(struct basic_blocks *blocks, uint32_t region,
				     const uint8_t *bytes, size_t size, size_t piece,
				     enum insn_mode mode)
{
	struct basic_block **slot;
	struct basic_block *block;

	if (blocks->count >= blocks->limit)
		basic_blocks_forget(blocks);
	if (2 * blocks->count >= blocks->room) {
		struct basic_block **old = blocks->slots;
		size_t room = blocks->room;

		blocks->room *= 2;
		blocks->slots = alloc_zeroed(blocks->room, sizeof(*blocks->slots));
		for (size_t i = 0; i < room; i++)
			if (old[i])
				*find_slot(blocks, old[i]->region, old[i]->bytes, old[i]->mode) =
					old[i];
		free(old);
	}
	slot = find_slot(blocks, region, bytes, mode);
	block = add_block(blocks);
	block->bytes = bytes;
	block->region = region;
	block->mode = (uint8_t)mode;
	block->length = decode_block(block, size, piece);
	*slot = block;
	blocks->count++;
	return *slot;
}

int64_t basic_block_count_insns(const struct basic_block *block, size_t distance)
{
	int64_t count = 0;

	for (size_t at = 0; at < distance; count++) {
		struct insn insn =
			insn_decode(block->bytes + at, distance - at, (enum insn_mode)block->mode);

		if (!insn.length)
			return -1;
		at += insn.length;
	}
	return count;
}

/* ---- Code regions: numbers of mapped parts of files ---------- */

uint32_t code_regions_number(struct code_regions *regions, const uint8_t *bytes, uint64_t size,
			     const struct address_space *space, uint64_t begin)
{
	struct region_range range = { bytes, size };
	struct code_region *region;

	HASH_FIND(hh, regions->by_range, &range, sizeof(range), region);
	if (region)
		return region->number;
	region = alloc_zeroed(1, sizeof(*region));
	region->range = range;
	region->space = space;
	region->begin = begin;
	region->number = ++regions->last;
	HASH_ADD(hh, regions->by_range, range, sizeof(region->range), region);
	return region->number;
}

const struct code_region *code_regions_find(const struct code_regions *regions, uint32_t number)
{
	const struct code_region *region = regions->by_range;

	while (region->number != number)
		region = region->hh.next;
	return region;
}

const uint8_t *code_regions_copy(struct code_regions *regions, const uint8_t *first,
				 const uint8_t *bytes, size_t size)
{
	struct seam_key key = { .first = first, .size = size };
	struct code_seam *seam;

	memcpy(key.bytes, bytes, MIN(size, sizeof(key.bytes)));
	HASH_FIND(hh, regions->seams, &key, sizeof(key), seam);
	if (seam)
		return seam->key.bytes;
	seam = alloc_zeroed(1, sizeof(*seam));
	seam->key = key;
	HASH_ADD(hh, regions->seams, key, sizeof(seam->key), seam);
	return seam->key.bytes;
}

void code_regions_forget(struct code_regions *regions)
{
	struct code_region *region;
	struct code_seam *seam;

	HASH_FREE_ALL(regions->by_range, region);
	HASH_FREE_ALL(regions->seams, seam);
}
