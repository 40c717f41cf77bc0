/* SPDX-License-Identifier: MIT */
/*
 * Basic blocks: instructions from an address to the next branch.
 *
 * A program repeats the same branches, so the code between two branches is decoded once. Long code
 * without a branch has several blocks. A block has links to the successors that were executed: the
 * blocks form the control flow graph of the executed code. A block's key is the position of its
 * bytes in memory, so that a file mapped by many processes is decoded once, and its code region, so
 * that links stay within the mapping.
 */
#pragma once

#include "base/arena.h"
#include "base/tables/hash.h"
#include "base/tables/pair_table.h"
#include "decoder/code/code_counts.h"
#include "decoder/code/insn.h"
#include "decoder/code/packed_counts.h"
#include "decoder/code/run_memo.h"

struct address_space;

/*
 * Code regions: mapped parts of files. Decoded code is valid in all processes that map the same
 * part. A process that maps a smaller part leaves the code sooner, so that is another region.
 */

struct code_regions {
	struct code_region {
		struct region_range {
			const uint8_t *bytes;
			uint64_t size;
		} range;                           /* the key */
		const struct address_space *space; /* borrowed: the first that mapped the region, */
		uint64_t begin;                    /* at this ip */
		uint32_t number;
		UT_hash_handle hh;
	} * by_range; /* owned; a hash table */
	/* Instructions in two mappings, copied. */
	struct code_seam {
		struct seam_key {
			const uint8_t *first; /* the first byte in its mapping */
			uint64_t size;
			uint8_t bytes[16];
		} key;
		UT_hash_handle hh;
	} * seams; /* owned; a hash table */
	uint32_t last;
};

/*
 * Returns a copy of an instruction of `size` bytes whose first byte, `first`, is in another mapping
 * than its last; valid as long as the regions.
 */
const uint8_t *code_regions_copy(struct code_regions *regions, const uint8_t *first,
				 const uint8_t *bytes, size_t size);

/* Returns the number of a region that an address space maps at `begin`: not 0, never reused. */
uint32_t code_regions_number(struct code_regions *regions, const uint8_t *bytes, uint64_t size,
			     const struct address_space *space, uint64_t begin);

/* Returns the region of a number, which must not be forgotten. */
const struct code_region *code_regions_find(const struct code_regions *regions, uint32_t number);

/* Forget all regions without reuse of their numbers. */
void code_regions_forget(struct code_regions *regions);

/* 25 MiB with tables; a large program executes about 100,000. */
#define BASIC_BLOCKS_MAX ((size_t)1 << 18)

/* One cache line: decoding touches thousands of blocks. */
struct basic_block {
	const uint8_t *bytes; /* first instruction; the key, with `region` and `mode` */
	/* For the owner: the last successors; NULL: unknown. */
	struct basic_block *not_taken, *taken;
	struct insn insn;    /* the last one; length 0: no instruction, or the bytes end */
	uint32_t length;     /* bytes before `insn` */
	uint32_t region;     /* number of the code region */
	uint32_t node;       /* its CFG node: cfg_node_at() */
	uint16_t insns;      /* instructions, `insn` included */
	bool ends_piece : 1; /* the code after the block belongs to another piece */
	/* For the owner: */
	uint8_t exit : 3;        /* enum block_exit */
	uint8_t mode : 2;        /* enum insn_mode; not for the owner */
	bool taken_local : 1;    /* the branch stays in its function */
	bool begins_ptwrite : 1; /* it jumps over the signature of an emulated PTWRITE */
	bool function_known : 1; /* the next two are set */
	bool falls_out : 1;      /* the code after the block is another function's */
	int64_t function_begin, function_end; /* bytes from `bytes`; empty: unknown */
};

/* CFG node for the silent fast path; small, because memory latency limits speed. For the owner. */
struct cfg_node {
	uint32_t next[2]; /* successor without an event, by TNT bit; 0: look at the block */
	uint32_t step[2]; /* packed_counts() of the path to it */
};

/* Returns a node by its offset in bytes; the node at offset 0 is not used. */
static inline struct cfg_node *cfg_node_at(struct cfg_node *nodes, uint32_t offset)
{
	return (struct cfg_node *)(void *)((unsigned char *)nodes + offset);
}

/* How to find the next block at a block's end. */
enum block_exit {
	EXIT_UNKNOWN,
	EXIT_STEP,   /* flow_step_slow() */
	EXIT_DECIDE, /* conditional jump: by a TNT bit */
	EXIT_JUMP,   /* direct jump within its function */
	EXIT_GO,     /* direct call, or jump to another function: emit it */
	EXIT_RETURN, /* return: by a TNT bit or a TIP */
	EXIT_TARGET, /* indirect call or jump: by a TIP */
};

/* Blocks per chunk. */
#define BASIC_BLOCKS_CHUNK 32u

struct basic_blocks {
	struct arena arena; /* owns the blocks */
	struct code_regions regions;
	struct run_memo runs;        /* runs of these blocks; forgotten with them */
	struct block_counts *counts; /* owned; NULL: do not count */
	struct basic_block **chunks; /* owned array of chunks in the arena; by CFG node */
	struct cfg_node *nodes;      /* owned; the first is unused */
	uint32_t *offsets;           /* owned; of each block in its region; for the owner */
	size_t chunk_room, node_room, offset_room;
	struct basic_block **slots; /* owned: hash table by `bytes`, a power of two */
	size_t room, count;
	size_t limit;        /* blocks to keep: BASIC_BLOCKS_MAX or a share */
	unsigned generation; /* changes when all blocks are forgotten */
};

/* Start empty, for a trace of `size` bytes. */
void basic_blocks_init(struct basic_blocks *blocks, uint64_t size);

/*
 * Limit the blocks to a share of BASIC_BLOCKS_MAX, because `others` are in use at the same time,
 * plus a number in proportion to the trace's `size` in bytes, because a short trace can execute any
 * number.
 */
void basic_blocks_share(struct basic_blocks *blocks, size_t others, uint64_t size);

void basic_blocks_release(struct basic_blocks *blocks);

/* Returns whether a block has this key. */
static inline bool basic_block_is(const struct basic_block *block, uint32_t region,
				  const uint8_t *bytes, enum insn_mode mode)
{
	return block->bytes == bytes && block->region == region && block->mode == mode;
}

/* Returns the block of a CFG node, which is not 0. */
static inline struct basic_block *basic_block_of_node(const struct basic_blocks *blocks,
						      uint32_t node)
{
	uint32_t number = node / sizeof(struct cfg_node);

	return &blocks->chunks[number / BASIC_BLOCKS_CHUNK][number % BASIC_BLOCKS_CHUNK];
}

/* Returns the offset of a block in its region. */
static inline uint32_t *basic_block_offset(const struct basic_blocks *blocks, uint32_t node)
{
	return &blocks->offsets[node / sizeof(struct cfg_node)];
}

/*
 * Returns the block of a region that begins at `bytes`, or NULL. It is valid until the generation
 * changes: when `limit` is reached, all blocks are forgotten.
 */
struct basic_block *basic_blocks_find(const struct basic_blocks *blocks, uint32_t region,
				      const uint8_t *bytes, enum insn_mode mode);

/*
 * Add the block of a region that begins at `bytes`, which must not exist yet. `size`: readable
 * bytes. The block ends before the instruction `piece` bytes after its begin (SIZE_MAX: no limit).
 */
struct basic_block *basic_blocks_add(struct basic_blocks *blocks, uint32_t region,
				     const uint8_t *bytes, size_t size, size_t piece,
				     enum insn_mode mode);

/* The code has changed: forget all blocks.  The generation changes. */
void basic_blocks_forget(struct basic_blocks *blocks);

/* Returns whether a block is a part of long code, which continues after it. */
static inline bool basic_block_continues(const struct basic_block *block)
{
	return block->insn.length && block->insn.kind == BRANCH_NONE;
}

/* Returns the number of instructions in the first `distance` bytes; -1: none ends there. */
int64_t basic_block_count_insns(const struct basic_block *block, size_t distance);

/* ---- Executions ---------------------------------------------------------- */

/* Counters of a flow's blocks: one for each exit of a block, and one for a run's whole path. */
struct block_counts {
	struct block_count {
		uint64_t left[2]; /* exits by TNT bit; without a TNT bit: either */
	} * blocks;               /* owned; at the offsets of CFG nodes */
	size_t room;
	uint64_t *ways; /* owned; by index of the run */
	/*
	 * Executions of a block's first bytes up to an interrupt, by (CFG node, bytes); indirect
	 * jumps from a block, by (CFG node, offset of the target in its region).
	 */
	struct counted_pairs {
		struct pair_table table;
		uint64_t *counts; /* owned; by number in the table */
		size_t room;
	} parts, jumps;
	struct code_count_list list; /* collected */
};

/* Add counters to blocks without counters. */
void block_counts_open(struct basic_blocks *blocks);

/* Release the counters, if any. Used by basic_blocks_release(). */
void block_counts_close(struct basic_blocks *blocks);

/* Move the counts of blocks and runs to the end of the list. */
void block_counts_collect(struct basic_blocks *blocks);

/* run_memo_keep(), with the counts of runs, if any, also of a thread or time that is not counted.
 */
void basic_blocks_keep_run(struct basic_blocks *blocks, const struct run *run,
			   const struct run_branch *branches);

/* Count a part of a block, or a jump. */
void counted_pairs_add(struct counted_pairs *pairs, uint32_t node, uint32_t second, uint64_t count);

/* Count an exit of a block by a TNT bit, or by any bit for other exits. */
static inline void block_counts_add(const struct block_counts *counts, uint32_t node, unsigned bit)
{
	struct block_count *count =
		(struct block_count *)(void *)((unsigned char *)counts->blocks + node);

	count->left[bit]++;
}
