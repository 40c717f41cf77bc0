/* SPDX-License-Identifier: MIT */
/*
 * The fast path, over blocks whose exits and links flow_step.c has found.  Each function has
 * the same effect as flow_step.c, or no effect if the block needs flow_step_slow().
 *
 * flow_cached.c and flow_counted.c compile this code without and with counts of executions
 * (FLOW_COUNTS), which cost nothing where they are not wanted.  Private to the engine.
 */
#ifndef DECODER_ENGINE_FAST_FLOW_FOLLOW_H
#define DECODER_ENGINE_FAST_FLOW_FOLLOW_H

#include "decoder/engine/fast/flow_code.h"
#include "decoder/engine/fast/flow_step.h"

/* Count an execution of a block, which is left by a TNT bit. */
static inline void count_execution(const struct pt_flow *flow, uint32_t node, unsigned bit)
{
	if (FLOW_COUNTS)
		block_counts_add(flow->blocks.counts, node, bit);
}

/* ---- Blocks without events ----------------------------------------------- */

/*
 * Follow blocks without events while there are bits.  A bit is an index here and not a
 * condition, because the processor could not predict it.
 */
static inline struct flow_cursor skip_silent_blocks(const struct pt_flow *flow,
						    struct flow_cursor cursor)
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

/* Follow blocks without events by up to `most` of the bits; there are as many. */
static inline struct flow_cursor skip_by_bits(const struct pt_flow *flow, struct flow_cursor cursor,
					      unsigned most)
{
	struct flow_cursor part = cursor;

	part.bits = (part.bits >> (63 - most) | 1) << (63 - most);
	part = skip_silent_blocks(flow, part);
	part.bits = cursor.bits << (most - tnt_bits_count(part.bits));
	return part;
}

/*
 * Follow blocks without events by the bits of a cache key, and cache the end, also if it comes
 * before the last bit.
 */
static inline struct flow_cursor add_to_tnt_cache(struct pt_flow *flow, struct flow_cursor cursor,
						  uint32_t id)
{
	struct flow_cursor end = skip_by_bits(flow, cursor, TNT_CACHE_BITS);
	struct tnt_cache_entry entry = { .id = id,
					 .to = end.node,
					 .steps = end.steps - cursor.steps };

	if (end.bits == cursor.bits || packed_counts_jumps(entry.steps) > TNT_CACHE_JUMPS)
		return end;
	if (flow->blocks.counts) /* also of a thread or time that is not counted */
		block_counts_move_way(&flow->blocks, tnt_cache_at(&flow->blocks.tnt_cache, id));
	tnt_cache_keep(&flow->blocks.tnt_cache, &entry);
	return end;
}

static inline bool fill_tnt_cache_key(uint64_t bits)
{
	return bits << TNT_CACHE_BITS;
}

/*
 * Follow cached entries while enough bits for a key are left, or until an entry ends before
 * its last bit.
 */
static inline struct flow_cursor skip_by_tnt_cache(struct pt_flow *flow, struct flow_cursor cursor)
{
	const struct tnt_cache_entry *entries = flow->blocks.tnt_cache.cache.slots;
	uint64_t before;

	do {
		uint32_t id = tnt_cache_id(cursor.node, cursor.bits);
		const struct tnt_cache_entry *entry = tnt_cache_find(&flow->blocks.tnt_cache, id);

		before = cursor.bits;
		if (!entry) {
			cursor = add_to_tnt_cache(flow, cursor, id);
			continue;
		}
		if (FLOW_COUNTS)
			flow->blocks.counts->ways[entry - entries]++;
		cursor.node = entry->to;
		cursor.bits <<= packed_counts_bits(entry->steps) % 64;
		cursor.steps += entry->steps;
	} while (cursor.bits == before << TNT_CACHE_BITS && fill_tnt_cache_key(cursor.bits));
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

/* Follow blocks up to the next event; the next bit leads to a block without one. */
static inline void follow_silent(struct pt_flow *flow, struct flow_cursor *cursor)
{
	uint64_t before = cursor->bits;

	if (fill_tnt_cache_key(cursor->bits))
		*cursor = skip_by_tnt_cache(flow, *cursor);
	if (cursor->bits != TNT_BITS_NONE)
		*cursor = skip_silent_blocks(flow, *cursor);
	if (cursor->bits != before)
		flow->known = flow->stream.state.now;
}

/*
 * Follow one bit: without timing packets, time advances 1 ns per instruction, so update it at
 * every branch.
 */
static inline void follow_silent_bit(struct pt_flow *flow, struct flow_cursor *cursor)
{
	uint64_t before = cursor->bits;

	*cursor = skip_by_bits(flow, *cursor, 1);
	count_insns(flow, cursor, 0);
	if (cursor->bits != before)
		flow->known = flow->stream.state.now;
}

/* ---- Blocks with an event ------------------------------------------------ */

/* Emit the block's branch, at `from`, to the block `next`, at `to`. */
static inline __attribute__((always_inline)) void emit_branch(struct pt_flow *flow,
							      struct flow_cursor *cursor,
							      const struct basic_block *block,
							      const struct basic_block *next,
							      uint64_t from, uint64_t to)
{
	flow_emit_branch(flow, &block->insn, from, to);
	flow->branches_followed++;
	cursor->node = next->node;
}

/* Count a block, and its instructions; it was left by its branch (`bit` 1) or without. */
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

/* Returns whether the successor `next` is known and in view, and no thread switch happens there. */
static inline bool is_visible(const struct pt_flow *flow, const struct basic_block *block,
			      const struct basic_block *next)
{
	return next && next->region == block->region &&
	       ip_of_bytes(flow, next->bytes) != flow->stream.input.switch_ip;
}

/*
 * Follow a direct call, or a jump to another function.  Inlined always, because a struct
 * flow_cursor whose address is taken stays in memory.
 */
static inline __attribute__((always_inline)) bool follow_direct(struct pt_flow *flow,
								struct flow_cursor *cursor,
								struct basic_block *block)
{
	const struct basic_block *next = block->taken;
	uint64_t from = branch_ip(flow, block);

	if (!is_visible(flow, block, next))
		return false;
	count_block(flow, cursor, block, 1);
	if (block->insn.kind == BRANCH_CALL && block->insn.distance)
		push_return(flow, from + block->insn.length, block);
	emit_branch(flow, cursor, block, next, from, ip_of_bytes(flow, next->bytes));
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

/*
 * Returns the block at the target of an indirect branch, and brings it into view; NULL: not cached.
 */
static inline struct basic_block *find_target_block(struct pt_flow *flow,
						    const struct basic_block *block, uint64_t to)
{
	if (flow->state.mode != flow->state.next_mode || to == flow->stream.input.switch_ip ||
	    !bring_into_view(flow, to))
		return NULL;
	if (is_block_at(flow, block->taken, to))
		return block->taken;
	return basic_blocks_peek(&flow->blocks, flow->region, bytes_of_ip(flow, to),
				 flow->state.mode);
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
		block_counts_add_jump(flow->blocks.counts, cursor->node,
				      *basic_block_offset(&flow->blocks, next->node));
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

/* Follow blocks by at least one TNT bit.  Returns false if a block needs flow_step_slow(). */
static inline bool step_by_bit(struct pt_flow *flow, struct flow_cursor *cursor)
{
	struct basic_block *block;

	if (cfg_node_at(flow->blocks.nodes, cursor->node)->next[cursor->bits >> 63]) {
		if (stream_is_timed(&flow->stream))
			follow_silent(flow, cursor);
		else
			follow_silent_bit(flow, cursor);
		if (cursor->bits == TNT_BITS_NONE || !stream_is_timed(&flow->stream))
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
}

#endif
