/* SPDX-License-Identifier: MIT */
/* Count executions of cached blocks, and list them by address. */
#include "decoder/code/basic_block.h"

_Static_assert(sizeof(struct block_count) == sizeof(struct cfg_node), "they share offsets");

void block_counts_open(struct basic_blocks *blocks)
{
	struct block_counts *counts = alloc_zeroed(1, sizeof(*counts));

	counts->ways = alloc_zeroed(direct_cache_count(&blocks->runs.table), sizeof(*counts->ways));
	counts->blocks = alloc_grow_zeroed(NULL, &counts->room, blocks->node_room + 1,
					   sizeof(*counts->blocks));
	blocks->counts = counts;
}

static void release_pairs(struct counted_pairs *pairs)
{
	pair_table_release(&pairs->table);
	free(pairs->counts);
	*pairs = (struct counted_pairs){ 0 };
}

void block_counts_close(struct basic_blocks *blocks)
{
	struct block_counts *counts = blocks->counts;

	if (!counts)
		return;
	release_pairs(&counts->parts);
	release_pairs(&counts->jumps);
	free(counts->blocks);
	free(counts->ways);
	free(counts->list.counts);
	free(counts);
	blocks->counts = NULL;
}

/* ---- Counting ------------------------------------------------------------ */

void counted_pairs_add(struct counted_pairs *pairs, uint32_t node, uint32_t second, uint64_t count)
{
	uint32_t number = pair_table_find(&pairs->table, node, second);

	pairs->counts = alloc_grow_zeroed(pairs->counts, &pairs->room, (size_t)number + 1,
					  sizeof(*pairs->counts));
	pairs->counts[number] += count;
}

/*
 * Count the jump of a block of a run to the block `to`, unless its branch has one target.  Returns
 * packed_counts() of the block.
 */
static uint32_t spread_branch(const struct basic_blocks *blocks, uint32_t at, uint32_t to,
			      bool to_tip, uint64_t count)
{
	const struct basic_block *block = basic_block_of_node(blocks, at);
	bool indirect = block->exit == EXIT_TARGET;

	if (indirect && block->insn.kind == BRANCH_JUMP &&
	    basic_block_of_node(blocks, to)->region == block->region)
		counted_pairs_add(&blocks->counts->jumps, at, *basic_block_offset(blocks, to),
				  count);
	return packed_counts(!to_tip && block->exit != EXIT_GO, 0, block->insns);
}

/* Count each block of a run as often as the run was followed. */
static void spread_way(const struct basic_blocks *blocks, const struct run *run)
{
	uint64_t *way = &blocks->counts->ways[run - (const struct run *)blocks->runs.table.slots];
	uint64_t bits = run_id_bits(run->id), steps = 0;
	bool to_tip = !(bits << 1); /* it has no bit */
	uint32_t at = run_id_node(run->id);
	unsigned branch = 0;

	while (*way && steps < run->steps) {
		const struct cfg_node *node = cfg_node_at(blocks->nodes, at);
		unsigned bit = (unsigned)(bits >> 63);
		uint32_t to = node->next[bit], step = node->step[bit];

		if (!to && branch < run->count) {
			to = blocks->runs.branches[run->first + branch++].to;
			step = spread_branch(blocks, at, to, to_tip, *way);
		} else if (!to) { /* a jump to the TIP's target within a function */
			to = run->to;
			step = spread_branch(blocks, at, to, to_tip, *way) | packed_counts(0, 1, 0);
		}
		blocks->counts->blocks[at / sizeof(*node)].left[bit] += *way;
		bits <<= packed_counts_bits(step);
		steps += step;
		at = to;
	}
	*way = 0;
}

static void spread_ways(const struct basic_blocks *blocks)
{
	const struct run *runs = blocks->runs.table.slots;

	for (size_t i = 0; i < direct_cache_count(&blocks->runs.table); i++)
		spread_way(blocks, &runs[i]);
}

void basic_blocks_keep_run(struct basic_blocks *blocks, const struct run *run,
			   const struct run_branch *branches)
{
	if (blocks->counts && run_memo_full(&blocks->runs, run))
		spread_ways(blocks);
	else if (blocks->counts)
		spread_way(blocks, run_memo_room(&blocks->runs, run->id, run->target));
	run_memo_keep(&blocks->runs, run, branches);
}

/* ---- Collecting ---------------------------------------------------------- */

/* Returns the code of a block, with the target of a direct branch. */
static struct code_count code_of(const struct basic_blocks *blocks, uint32_t node,
				 const struct code_region **region)
{
	const struct basic_block *block = basic_block_of_node(blocks, node);
	const struct insn *insn = &block->insn;
	struct code_count code = { .kind = insn->kind };

	if (!*region || (*region)->number != block->region)
		*region = code_regions_find(&blocks->regions, block->region);
	code.space = (*region)->space;
	code.begin = (*region)->begin + *basic_block_offset(blocks, node);
	code.last = code.begin + block->length;
	if (!insn->indirect &&
	    (insn->kind == BRANCH_COND || insn->kind == BRANCH_JUMP || insn->kind == BRANCH_CALL))
		code.to = code.last + insn->length + (uint64_t)(int64_t)insn->distance;
	return code;
}

static void add_code(struct block_counts *counts, const struct code_count *code)
{
	*ARRAY_ADD(counts->list.counts, counts->list.count, counts->list.room) = *code;
}

void block_counts_collect(struct basic_blocks *blocks)
{
	const struct code_region *region = NULL;
	struct block_counts *counts;

	spread_ways(blocks);
	for (size_t i = 1; i <= blocks->count; i++) {
		struct block_count *count = &blocks->counts->blocks[i];
		struct code_count code;

		if (!(count->left[0] | count->left[1]))
			continue;
		code = code_of(blocks, (uint32_t)(i * sizeof(*count)), &region);
		code.count = count->left[0] + count->left[1];
		code.taken = code.kind == BRANCH_COND ? count->left[1] : code.to ? code.count : 0;
		add_code(blocks->counts, &code);
		*count = (struct block_count){ 0 };
	}
	counts = blocks->counts;
	region = NULL;
	for (size_t i = 0; i < counts->parts.table.count; i++) {
		struct pair part = pair_table_pair(&counts->parts.table, i);
		struct code_count code = code_of(blocks, part.first, &region);

		code.last = code.begin + part.second;
		code.to = 0;
		code.stopped = true;
		code.count = counts->parts.counts[i];
		add_code(counts, &code);
	}
	for (size_t i = 0; i < counts->jumps.table.count; i++) {
		struct pair jump = pair_table_pair(&counts->jumps.table, i);
		struct code_count code = code_of(blocks, jump.first, &region);

		code.to = region->begin + jump.second;
		code.taken = counts->jumps.counts[i];
		add_code(counts, &code);
	}
	release_pairs(&counts->parts);
	release_pairs(&counts->jumps);
}
