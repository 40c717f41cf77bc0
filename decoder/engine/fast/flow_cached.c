/* SPDX-License-Identifier: MIT */
/* Follow cached blocks where executions do not count. */
#define FLOW_COUNTS false

#include "decoder/engine/fast/flow_runs.h"

/* Not inlined, so that flow_run_cached() saves fewer registers. */
static __attribute__((noinline)) void follow_silently(struct pt_flow *flow)
{
	follow_cached(flow);
}

void flow_run_cached(struct pt_flow *flow)
{
	if (flow_counts(flow))
		flow_run_counted(flow);
	else if (__builtin_expect(has_runs(flow), true))
		follow_runs(flow);
	else
		follow_silently(flow);
}

bool flow_pass_cached(struct pt_flow *flow)
{
	struct flow_cursor cursor = load_cursor(flow);
	const struct basic_block *block = basic_block_of_node(&flow->blocks, cursor.node);
	const struct basic_block *next = block->not_taken;
	bool decides = block->exit == EXIT_DECIDE;
	uint64_t to;

	if (!block->ends_piece || !has_room(flow, &cursor) || !is_visible(flow, block, next) ||
	    !(decides ? flow->pending == PENDING_TNT && !tnt_bits_next(cursor.bits)
		      : block->exit == EXIT_STEP && basic_block_continues(block) &&
				flow->pending <= PENDING_TIP))
		return false;
	if (flow_counts(flow))
		block_counts_add(flow->blocks.counts, cursor.node, 0);
	if (decides)
		consume_bit(flow, &cursor, block, 0);
	else
		count_block(flow, &cursor, block, 0);
	to = ip_of_bytes(flow, next->bytes);
	stream_push_at(&flow->stream, &flow->known, BRANCH_NONE, to, to);
	flow->branches_followed++;
	cursor.node = next->node;
	store_cursor(flow, &cursor);
	return true;
}
