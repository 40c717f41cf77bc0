/* SPDX-License-Identifier: MIT */
/*
 * Runs of instructions: from an address straight on to the next branch.
 *
 * A trace tells decisions, and a program takes the same ones again and again:
 * so what lies between two of them is decoded once, and a run knows the runs
 * behind it once they were walked to: together they are the program's control
 * flow graph, as far as it was executed.  A run is known by where its bytes lie
 * in memory, so one file mapped by many processes is decoded once for all; and by
 * how much of the file is mapped, so what a run leads to can be seen wherever it can.
 */
#ifndef DECODER_CODE_BASIC_BLOCK_H
#define DECODER_CODE_BASIC_BLOCK_H

#include "base/arena.h"
#include "decoder/code/code_regions.h"
#include "decoder/code/insn.h"
#include "decoder/code/packed_counts.h"
#include "decoder/code/tnt_cache.h"

/* 25 MiB with their tables; a large program executes some 100,000. */
#define BASIC_BLOCKS_MAX ((size_t)1 << 18)

/* One line of the processor's cache: a walk has thousands of them under way. */
struct basic_block {
	const uint8_t *bytes; /* where it begins; the key, with `area` and `mode` */
	/*
	 * The owner's: where it goes on, the branch taken or not; NULL: not known yet.
	 * An indirect branch or a return may go elsewhere the next time.
	 */
	struct basic_block *not_taken, *taken;
	struct insn insn;     /* the branch; length 0: no instruction, or the bytes end here */
	uint32_t length;      /* bytes before the branch */
	uint32_t region;      /* of the code: code_regions.h */
	uint32_t node;        /* the run's own: cfg_node_at() */
	uint16_t insns;       /* instructions, the branch included */
	uint8_t length_count; /* of the first so many instructions */
	/* The owner's: */
	uint8_t exit : 3;                     /* enum block_exit */
	uint8_t mode : 2;                     /* enum insn_mode; not the owner's */
	bool taken_local : 1;                 /* the branch stays in its function */
	bool begins_ptwrite : 1;              /* it begins an emulated PTWRITE */
	bool function_known : 1;              /* whether the next two are set */
	int32_t function_begin, function_end; /* from `bytes`, in bytes */
	const uint8_t *lengths;               /* of instructions, in bytes */
};

/*
 * A run for a walk that gives nothing out: a quarter of a line, as each decision waits for the
 * next one to come from memory.  The owner's, zeroed at first.
 */
struct cfg_node {
	uint32_t next[2]; /* the hop behind, by a bit of TNT; 0: a closer look */
	uint32_t step[2]; /* what going there takes: packed_counts() */
};

/* Returns a hop by its place: bytes behind the first one, which is none. */
static inline struct cfg_node *cfg_node_at(struct cfg_node *nodes, uint32_t place)
{
	return (struct cfg_node *)(void *)((unsigned char *)nodes + place);
}

/* What is to be done where a run ends. */
enum block_exit {
	EXIT_UNKNOWN,
	EXIT_STEP,   /* a closer look */
	EXIT_DECIDE, /* a bit of TNT: a conditional jump */
	EXIT_JUMP,   /* nothing: a direct jump that stays in its function */
	EXIT_GO,     /* give out a direct call, or a jump to another function */
	EXIT_RETURN, /* a bit of TNT, or a TIP: a return */
	EXIT_TARGET, /* a TIP: an indirect call, or a jump */
};

/* Runs that lie side by side. */
#define BASIC_BLOCKS_CHUNK 32u

struct basic_blocks {
	struct arena arena; /* owns the runs */
	struct code_regions regions;
	struct tnt_cache tnt_cache; /* over these runs, and forgotten with them */
	struct basic_block *
		*chunks; /* owned; of BASIC_BLOCKS_CHUNK runs each, by their hop; in the arena */
	struct cfg_node *nodes; /* owned; the first is none */
	uint32_t *offsets;      /* owned; of each run's first byte, in its area; the owner's */
	size_t chunk_room, node_room, offset_room;
	struct basic_block **slots; /* owned: hash by place, a power of two */
	size_t room, count;
	size_t limit; /* runs that are kept: BASIC_BLOCKS_MAX, or what basic_blocks_share() says */
	unsigned generation; /* changes when all runs are forgotten */
};

/* For a trace of `size` bytes. */
void basic_blocks_init(struct basic_blocks *blocks, uint64_t size);

/*
 * So many others are used at the same time: keep a share of BASIC_BLOCKS_MAX runs, and what a
 * trace of `size` bytes pays for.  A few bytes of trace can walk through any number.
 */
void basic_blocks_share(struct basic_blocks *blocks, size_t others, uint64_t size);

/* Release the memory.  Idempotent, also on zeroed memory. */
void basic_blocks_release(struct basic_blocks *blocks);

/* Whether a run is the one that is asked for. */
static inline bool basic_block_is(const struct basic_block *block, uint32_t region,
				  const uint8_t *bytes, enum insn_mode mode)
{
	return block->bytes == bytes && block->region == region && block->mode == mode;
}

/* Returns where a run is among the slots, or behind that. */
static inline size_t basic_blocks_slot(const struct basic_blocks *blocks, const uint8_t *bytes)
{
	/* Fibonacci hashing: neighbours in memory spread over the table. */
	uint64_t hash = (uint64_t)(uintptr_t)bytes * UINT64_C(0x9e3779b97f4a7c15);

	return hash >> (64 - __builtin_ctzll(blocks->room));
}

/* Returns the run of a hop, which is not 0. */
static inline struct basic_block *basic_block_of_node(const struct basic_blocks *blocks,
						      uint32_t node)
{
	uint32_t number = node / sizeof(struct cfg_node);

	return &blocks->chunks[number / BASIC_BLOCKS_CHUNK][number % BASIC_BLOCKS_CHUNK];
}

/* The same, where it begins in its area. */
static inline uint32_t *basic_block_offset(const struct basic_blocks *blocks, uint32_t node)
{
	return &blocks->offsets[node / sizeof(struct cfg_node)];
}

/*
 * Give the run of an area that begins at `bytes`, of which `size` may be read.  It stays
 * until the generation changes: there are at most `most`, then all are
 * forgotten, so that no trace makes memory grow without end.
 */
struct basic_block *basic_blocks_find(struct basic_blocks *blocks, uint32_t region,
				      const uint8_t *bytes, size_t size, enum insn_mode mode);

/* Returns the run that begins at `bytes` if it is found at once; NULL: ask basic_blocks_find(). */
static inline struct basic_block *basic_blocks_peek(const struct basic_blocks *blocks,
						    uint32_t region, const uint8_t *bytes,
						    enum insn_mode mode)
{
	struct basic_block *block = blocks->slots[basic_blocks_slot(blocks, bytes)];

	return block && basic_block_is(block, region, bytes, mode) ? block : NULL;
}

/* The code has changed: forget all runs.  The generation changes. */
void basic_blocks_forget(struct basic_blocks *blocks);

/*
 * Count a run's instructions from where it begins up to `distance` bytes behind.
 * Returns -1 if none begins there.
 */
int64_t basic_block_count_insns(const struct basic_block *block, size_t distance);

#endif
