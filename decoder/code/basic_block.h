/* SPDX-License-Identifier: MIT */
/*
 * Basic blocks: instructions from an address to the next branch.
 *
 * A program executes the same branches again and again, so the code between two of them is decoded
 * once; long code without a branch in several blocks.  A block has links to its successors once
 * they were executed: together the blocks are the control flow graph of the executed code. The key
 * of a block is the position of its bytes in memory, so a file mapped by many processes is decoded
 * once; and its code region, so that all links stay within the mapping.
 */
#ifndef DECODER_CODE_BASIC_BLOCK_H
#define DECODER_CODE_BASIC_BLOCK_H

#include "base/arena.h"
#include "base/tables/hash.h"
#include "base/tables/pair_table.h"
#include "decoder/code/code_counts.h"
#include "decoder/code/insn.h"
#include "decoder/code/packed_counts.h"
#include "decoder/code/run_memo.h"

struct address_space;

/*
 * Code regions: parts of files as a mapping shows them.  Decoded code is valid in each process that
 * maps the same part.  A process that maps less of the file leaves the code sooner: another region.
 */

struct code_regions {
	struct code_region {
		struct region_range {
			const uint8_t *bytes;
			uint64_t size;
		} range;                           /* the key */
		const struct address_space *space; /* borrowed: the first that mapped it, */
		uint64_t begin;                    /* at this ip */
		uint32_t number;
		UT_hash_handle hh;
	} * by_range; /* owned; a hash table */
	uint32_t last;
};

/* Returns the number of a region that an address space maps at `begin`: never 0, and never reused.
 */
uint32_t code_regions_number(struct code_regions *regions, const uint8_t *bytes, uint64_t size,
			     const struct address_space *space, uint64_t begin);

/* Returns the region with a number that was not forgotten. */
const struct code_region *code_regions_find(const struct code_regions *regions, uint32_t number);

/* Forget all regions; their numbers will not be used again.  Idempotent, also on zeroed memory. */
void code_regions_forget(struct code_regions *regions);

/* 25 MiB with their tables; a large program executes some 100,000. */
#define BASIC_BLOCKS_MAX ((size_t)1 << 18)

/* One cache line: decoding touches thousands of blocks. */
struct basic_block {
	const uint8_t *bytes; /* first instruction; the key, with `region` and `mode` */
	/* For the owner: the last successors; NULL: unknown yet. */
	struct basic_block *not_taken, *taken;
	struct insn insn;    /* the last one; length 0: no instruction, or the bytes end here */
	uint32_t length;     /* bytes before `insn` */
	uint32_t region;     /* of the code: struct code_regions */
	uint32_t node;       /* its CFG node: cfg_node_at() */
	uint16_t insns;      /* instructions, `insn` included */
	bool ends_piece : 1; /* the code after the block is of another piece */
	/* For the owner: */
	uint8_t exit : 3;        /* enum block_exit */
	uint8_t mode : 2;        /* enum insn_mode; not for the owner */
	bool taken_local : 1;    /* the branch stays in its function */
	bool begins_ptwrite : 1; /* it jumps over the signature of an emulated PTWRITE */
	bool function_known : 1; /* the next two are set */
	int64_t function_begin, function_end; /* bytes from `bytes`; empty: unknown */
};

/* CFG node for the silent fast path; small, as memory latency bounds decoding.  For the owner. */
struct cfg_node {
	uint32_t next[2]; /* successor without an event, by TNT bit; 0: look at the block */
	uint32_t step[2]; /* packed_counts() of the way to it */
};

/* Returns a node by its offset in bytes; the node at offset 0 is not used. */
static inline struct cfg_node *cfg_node_at(struct cfg_node *nodes, uint32_t offset)
{
	return (struct cfg_node *)(void *)((unsigned char *)nodes + offset);
}

/* How the next block is found at a block's end. */
enum block_exit {
	EXIT_UNKNOWN,
	EXIT_STEP,   /* flow_step_slow() */
	EXIT_DECIDE, /* a TNT bit: a conditional jump */
	EXIT_JUMP,   /* nothing: a direct jump within its function */
	EXIT_GO,     /* emit a direct call, or a jump to another function */
	EXIT_RETURN, /* a TNT bit or a TIP: a return */
	EXIT_TARGET, /* a TIP: an indirect call or jump */
};

/* Blocks per chunk. */
#define BASIC_BLOCKS_CHUNK 32u

struct basic_blocks {
	struct arena arena; /* owns the blocks */
	struct code_regions regions;
	struct run_memo runs;        /* of these blocks; forgotten with them */
	struct block_counts *counts; /* owned; NULL: nothing is counted */
	struct basic_block *
		*chunks;        /* owned array of chunks, which are in the arena; by CFG node */
	struct cfg_node *nodes; /* owned; the first is not used */
	uint32_t *offsets;      /* owned; of each block in its region; for the owner */
	size_t chunk_room, node_room, offset_room;
	struct basic_block **slots; /* owned: hash table by `bytes`, a power of two */
	size_t room, count;
	size_t limit;        /* blocks to keep: BASIC_BLOCKS_MAX or a share */
	unsigned generation; /* changes when all blocks are forgotten */
};

/* For a trace of `size` bytes. */
void basic_blocks_init(struct basic_blocks *blocks, uint64_t size);

/*
 * Keep a share of BASIC_BLOCKS_MAX blocks, as `others` are used at the same time, and as many more
 * as a trace of `size` bytes pays for: few bytes of trace can execute any number.
 */
void basic_blocks_share(struct basic_blocks *blocks, size_t others, uint64_t size);

/* Release the memory.  Idempotent, also on zeroed memory. */
void basic_blocks_release(struct basic_blocks *blocks);

/* Returns whether a block has this key. */
static inline bool basic_block_is(const struct basic_block *block, uint32_t region,
				  const uint8_t *bytes, enum insn_mode mode)
{
	return block->bytes == bytes && block->region == region && block->mode == mode;
}

/* Returns the index of the first slot to look at. */
static inline size_t basic_blocks_slot(const struct basic_blocks *blocks, const uint8_t *bytes)
{
	return fibonacci_hash((uintptr_t)bytes, (unsigned)__builtin_ctzll(blocks->room));
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
 * Returns the block of a region that begins at `bytes`, or NULL.  It stays until the generation
 * changes: when there are `limit` blocks, all are forgotten, so that memory stays bounded.
 */
struct basic_block *basic_blocks_find(const struct basic_blocks *blocks, uint32_t region,
				      const uint8_t *bytes, enum insn_mode mode);

/*
 * Make the block of a region that begins at `bytes`, which must not exist yet; `size` bytes may be
 * read.  It ends before the instruction `piece` bytes after the begin (SIZE_MAX: no limit).
 */
struct basic_block *basic_blocks_add(struct basic_blocks *blocks, uint32_t region,
				     const uint8_t *bytes, size_t size, size_t piece,
				     enum insn_mode mode);

/* Returns the block if it is in its first slot; NULL: use basic_blocks_find(). */
static inline struct basic_block *basic_blocks_peek(const struct basic_blocks *blocks,
						    uint32_t region, const uint8_t *bytes,
						    enum insn_mode mode)
{
	struct basic_block *block = blocks->slots[basic_blocks_slot(blocks, bytes)];

	return block && basic_block_is(block, region, bytes, mode) ? block : NULL;
}

/* The code has changed: forget all blocks.  The generation changes. */
void basic_blocks_forget(struct basic_blocks *blocks);

/* Returns whether the code continues after a block, which is only a part of long code. */
static inline bool basic_block_continues(const struct basic_block *block)
{
	return block->insn.length && block->insn.kind == BRANCH_NONE;
}

/* Returns the number of instructions in a block's first `distance` bytes; -1 if none ends there. */
int64_t basic_block_count_insns(const struct basic_block *block, size_t distance);

/* ---- Executions ---------------------------------------------------------- */

/* Counters of a flow's blocks: one for each way to leave a block, and one for a run's whole way. */
struct block_counts {
	struct block_count {
		uint64_t left[2]; /* times that the block was left, by TNT bit; others: any */
	} * blocks;               /* owned; at the offsets of CFG nodes */
	size_t room;
	uint64_t *ways; /* owned; by index of the run */
	/*
	 * Executions of the first bytes of a block, which an interrupt ended, by (CFG node, bytes);
	 * indirect jumps from a block, by (CFG node, offset of the target in its region).
	 */
	struct counted_pairs {
		struct pair_table table;
		uint64_t *counts; /* owned; by number in the table */
		size_t room;
	} parts, jumps;
	struct code_count_list list; /* collected */
};

/* Begin to count in blocks without counters. */
void block_counts_open(struct basic_blocks *blocks);

/* Release the counters, if any.  For basic_blocks_release(). */
void block_counts_close(struct basic_blocks *blocks);

/* Move the counts of the blocks, and of the runs, to the end of the list. */
void block_counts_collect(struct basic_blocks *blocks);

/* run_memo_keep(), with the counts of runs, if any, also of a thread or time that is not counted.
 */
void basic_blocks_keep_run(struct basic_blocks *blocks, const struct run *run, uint64_t target,
			   const struct run_branch *branches);

/* Count a part of a block, or a jump. */
void counted_pairs_add(struct counted_pairs *pairs, uint32_t node, uint32_t second, uint64_t count);

/* Count a block that is left by a TNT bit; by any, if none decides. */
static inline void block_counts_add(const struct block_counts *counts, uint32_t node, unsigned bit)
{
	struct block_count *count =
		(struct block_count *)(void *)((unsigned char *)counts->blocks + node);

	count->left[bit]++;
}

#endif
