/* SPDX-License-Identifier: MIT */
/*
 * The fast path, for blocks with exits and links from flow_step.c. Each function has the same
 * effect as flow_step.c, or no effect if the block needs flow_step_slow().
 *
 * flow_cached.c and flow_counted.c compile this code without and with counts of executions
 * (FLOW_COUNTS), so that unused counts cost nothing. Private to the engine.
 */
#pragma once

#include "decoder/engine/fast/flow_code.h"
#include "decoder/engine/fast/flow_step.h"

/* Keeps a struct flow_cursor in registers although its address is taken. */
#define INLINED static inline __attribute__((always_inline))

/* Count an execution of a block that ends with a TNT bit. */
static inline void count_execution(const struct pt_flow *flow, uint32_t node, unsigned bit)
{
	if (FLOW_COUNTS)
		block_counts_add(flow->blocks.counts, node, bit);
}

/* Add an emitted branch to flow->recorder, or end its run before the branch (flow_record.h). */
static void record_branch(struct pt_flow *flow, struct flow_cursor cursor,
			  const struct basic_block *block, const struct basic_block *next,
			  const struct branch_event *event);

/* ---- Blocks without events ----------------------------------------------- */

/* Follow blocks without events while there are bits. Bits are not conditions: these mispredict. */
INLINED struct flow_cursor skip_silent_blocks(const struct pt_flow *flow, struct flow_cursor cursor)
{
	struct cfg_node *nodes = flow->blocks.nodes;

	do {
		const struct cfg_node *node = cfg_node_at(nodes, cursor.node);
		unsigned bit = (unsigned)(cursor.bits >> 63);

		if (!node->next[bit])
			break;
		count_execution(flow, cursor.node, bit);
		cursor.node = node->next[bit];
		cursor.bits <<= packed_counts_bits(node->step[bit]) % 64;
		cursor.steps += node->step[bit];
	} while (cursor.bits != TNT_BITS_NONE && !packed_counts_full(cursor.steps));
	return cursor;
}

/* Follow a jump that needs no bit.  Returns false if the block does not end with such a jump. */
static inline bool skip_local_jump(const struct pt_flow *flow, struct flow_cursor *cursor)
{
	const struct cfg_node *node = cfg_node_at(flow->blocks.nodes, cursor->node);

	if (packed_counts_bits(node->step[0]) || !node->next[0])
		return false;
	count_execution(flow, cursor->node, 0);
	cursor->steps += node->step[0];
	cursor->node = node->next[0];
	return true;
}

/* Follow blocks up to the next event. The next bit leads to a block without an event. */
static inline void follow_silent(struct pt_flow *flow, struct flow_cursor *cursor)
{
	uint64_t before = cursor->bits;

	*cursor = skip_silent_blocks(flow, *cursor);
	if (cursor->bits != before)
		flow->known = flow->stream.state.now;
}

/* ---- Blocks with an event ------------------------------------------------ */

/* Emit the block's branch, at `from`, to the block `next`, at `to`. */
INLINED void emit_branch(struct pt_flow *flow, struct flow_cursor *cursor,
			 const struct basic_block *block, const struct basic_block *next,
			 uint64_t from, uint64_t to)
{
	const struct branch_event *event = flow_emit_branch(flow, &block->insn, from, to);

	if (__builtin_expect(flow->recorder != NULL, 0))
		record_branch(flow, *cursor, block, next, event);
	flow->branches_followed++;
	cursor->node = next->node;
}

/* Count a block and its instructions. `bit`: its branch was taken. */
static inline void count_block(struct pt_flow *flow, struct flow_cursor *cursor,
			       const struct basic_block *block, unsigned bit)
{
	count_execution(flow, cursor->node, bit);
	count_insns(flow, cursor, block->insns);
}

/* Leave a block by a TNT bit. */
static inline void consume_bit(struct pt_flow *flow, struct flow_cursor *cursor,
			       const struct basic_block *block, unsigned bit)
{
	count_block(flow, cursor, block, bit);
	cursor->bits <<= 1;
	flow->known = flow->stream.state.now;
}

/* Returns the ip of the branch of a block in view. */
static inline uint64_t branch_ip(const struct pt_flow *flow, const struct basic_block *block)
{
	return ip_of_bytes(flow, block->bytes) + block->length;
}

/* Returns whether the successor `next` is known and in view, and is not a thread switch. */
static inline bool is_visible(const struct pt_flow *flow, const struct basic_block *block,
			      const struct basic_block *next)
{
	return next && next->region == block->region &&
	       ip_of_bytes(flow, next->bytes) != flow->stream.input.switch_ip;
}

/* Returns the block at a branch's target, brought into view; NULL: not known. */
static inline struct basic_block *find_target_block(struct pt_flow *flow,
						    const struct basic_block *block, uint64_t to)
{
	if (flow->state.mode != flow->state.next_mode || to == flow->stream.input.switch_ip ||
	    !bring_into_view(flow, to))
		return NULL;
	if (is_block_at(flow, block->taken, to))
		return block->taken;
	return basic_blocks_find(&flow->blocks, flow->region, bytes_of_ip(flow, to),
				 flow->state.mode);
}

/* Follow a direct call, or a jump to another function, possibly in another mapping. */
INLINED bool follow_direct(struct pt_flow *flow, struct flow_cursor *cursor,
			   struct basic_block *block)
{
	const struct basic_block *next = block->taken;
	uint64_t from = branch_ip(flow, block), after = from + block->insn.length;
	uint64_t to = after + (uint64_t)(int64_t)block->insn.distance;

	if (!is_visible(flow, block, next))
		next = find_target_block(flow, block, to);
	if (!next) {
		bring_into_view(flow, from);
		return false;
	}
	count_block(flow, cursor, block, 1);
	if (block->insn.kind == BRANCH_CALL && block->insn.distance)
		push_return(flow, after, block);
	emit_branch(flow, cursor, block, next, from, to);
	return true;
}

/* Follow a conditional jump to another function. */
static inline bool follow_taken(struct pt_flow *flow, struct flow_cursor *cursor,
				const struct basic_block *block)
{
	const struct basic_block *next = block->taken;

	if (!(cursor->bits >> 63) || block->taken_local || !is_visible(flow, block, next))
		return false;
	consume_bit(flow, cursor, block, 1);
	emit_branch(flow, cursor, block, next, branch_ip(flow, block),
		    ip_of_bytes(flow, next->bytes));
	return true;
}

/* Returns the block at `to`, after a call, and makes it the current code; NULL if not cached. */
static inline const struct basic_block *find_return_block(struct pt_flow *flow,
							  const struct basic_block *call,
							  uint64_t to)
{
	if (!call || to == flow->stream.input.switch_ip || !bring_into_view(flow, to))
		return NULL;
	return is_block_at(flow, call->not_taken, to) ? call->not_taken : NULL;
}

static inline bool follow_return(struct pt_flow *flow, struct flow_cursor *cursor,
				 const struct basic_block *block)
{
	const struct return_address *back = &flow->returns[flow->return_top];
	uint64_t from = branch_ip(flow, block), to = back->ip;
	const struct basic_block *next;

	if (!(cursor->bits >> 63) || !flow->compression || !flow->return_count)
		return false;
	next = find_return_block(flow, back->call, to);
	if (!next) {
		bring_into_view(flow, from);
		return false;
	}
	consume_bit(flow, cursor, block, 1);
	emit_branch(flow, cursor, block, next, from, to);
	drop_return(flow);
	return true;
}

static inline void link_target(const struct pt_flow *flow, struct basic_block *block,
			       struct basic_block *next, uint64_t distance)
{
	if (next == block->taken)
		return;
	block->taken = next;
	block->taken_local = flow->stream.input.skip_local_jumps &&
			     block->insn.kind == BRANCH_JUMP && in_function(block, distance);
}

static inline bool follow_indirect(struct pt_flow *flow, struct flow_cursor *cursor,
				   struct basic_block *block)
{
	uint64_t to = flow->target, from = branch_ip(flow, block);
	struct basic_block *next = find_target_block(flow, block, to);

	if (!next) {
		bring_into_view(flow, from);
		return false;
	}
	link_target(flow, block, next, to - (from - block->length));
	count_block(flow, cursor, block, 1);
	if (FLOW_COUNTS && block->insn.kind == BRANCH_JUMP && next->region == block->region)
		counted_pairs_add(&flow->blocks.counts->jumps, cursor->node,
				  *basic_block_offset(&flow->blocks, next->node), 1);
	update_return_stack(flow, block, from);
	flow->known = flow->stream.state.now;
	if (block->taken_local) {
		cursor->steps += packed_counts(0, 1, 0);
		cursor->node = next->node;
	} else {
		emit_branch(flow, cursor, block, next, from, to);
	}
	flow->pending = PENDING_TNT;
	return true;
}

/* ---- Steps --------------------------------------------------------------- */

/* Follow one block towards the pending TIP. Returns false if it needs flow_step_slow(). */
static inline bool step_to_tip(struct pt_flow *flow, struct flow_cursor *cursor)
{
	struct basic_block *block = basic_block_of_node(&flow->blocks, cursor->node);

	if (block->exit == EXIT_JUMP)
		return skip_local_jump(flow, cursor);
	if (!stream_has_room(&flow->stream))
		return false;
	if (block->exit == EXIT_GO)
		return follow_direct(flow, cursor, block);
	return (block->exit == EXIT_RETURN || block->exit == EXIT_TARGET) &&
	       follow_indirect(flow, cursor, block);
}

/* Returns whether the next bit leads to a block without an event. */
static inline bool begins_silent(const struct pt_flow *flow, const struct flow_cursor *cursor)
{
	return cfg_node_at(flow->blocks.nodes, cursor->node)->next[cursor->bits >> 63];
}

/* Follow blocks by at least one TNT bit.  Returns false if a block needs flow_step_slow(). */
static inline bool step_by_bit(struct pt_flow *flow, struct flow_cursor *cursor)
{
	struct basic_block *block;

	if (begins_silent(flow, cursor)) {
		follow_silent(flow, cursor);
		if (cursor->bits == TNT_BITS_NONE)
			return true;
	}
	if (!stream_has_room(&flow->stream))
		return false;
	block = basic_block_of_node(&flow->blocks, cursor->node);
	if (block->exit == EXIT_GO)
		return follow_direct(flow, cursor, block);
	if (block->exit == EXIT_RETURN)
		return follow_return(flow, cursor, block);
	return block->exit == EXIT_DECIDE && follow_taken(flow, cursor, block);
}

_Static_assert(BRANCHES_WITHOUT_PACKET_MAX <= PACKED_COUNTS_JUMPS, "steps count as many");

static inline bool has_room(const struct pt_flow *flow, const struct flow_cursor *cursor)
{
	return flow->branches_followed < BRANCHES_WITHOUT_PACKET_MAX &&
	       !packed_counts_full(cursor->steps);
}

/* Follow cached blocks as far as possible. */
static inline void follow_cached(struct pt_flow *flow)
{
	struct flow_cursor cursor = load_cursor(flow);

	while (flow->pending == PENDING_TIP && has_room(flow, &cursor) &&
	       step_to_tip(flow, &cursor))
		continue;
	if (flow->pending == PENDING_TNT)
		while (cursor.bits != TNT_BITS_NONE && has_room(flow, &cursor) &&
		       step_by_bit(flow, &cursor))
			continue;
	store_cursor(flow, &cursor);
	flow_settles(flow);
}
