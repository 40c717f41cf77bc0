/* SPDX-License-Identifier: MIT */
/* Follow a run for the first time, and keep it (decoder/code/run_memo.h). Private to the engine. */
#pragma once

#include "decoder/engine/fast/flow_follow.h"

/* A run that is followed for the first time. */
struct run_recorder {
	struct run run;
	struct run_branch branches[RUN_BRANCHES + 1];
	struct run_branch end; /* end of the first bit or the TIP */
	unsigned bits, jumps;  /* left, and not emitted, before the run */
	uint64_t begin;        /* the stream's instructions before the run */
	uint64_t insns;        /* instructions after the last branch */
	/* Calls that have not returned: index, and how many calls were open in them at a time. */
	struct open_call {
		unsigned at, rises;
	} calls[RUN_BRANCHES];
	unsigned depth;
	bool stopped; /* the run has ended, perhaps before the last bit */
};

/* Returns the counts since the run began. The cursor has no uncounted instructions. */
static uint64_t recorded_steps(const struct pt_flow *flow, struct flow_cursor cursor)
{
	const struct run_recorder *recorder = flow->recorder;

	return packed_counts(recorder->bits - tnt_bits_count(cursor.bits),
			     packed_counts_jumps(cursor.steps) - recorder->jumps, 0) |
	       (flow->stream.stats.insns - recorder->begin) << PACKED_COUNTS_INSNS_AT;
}

/* A call returns within the run: record only how far the stack rises meanwhile. */
static void close_call(struct run_recorder *recorder, const struct run_branch *branch)
{
	struct open_call call = recorder->calls[--recorder->depth];
	struct run_branch *first = &recorder->branches[call.at];
	unsigned rises = call.rises + 1;

	for (struct run_branch *inner = first; inner < branch; inner++)
		inner->stack = RUN_STACK_KEEPS;
	first->stack = (uint8_t)(RUN_STACK_RISES + rises);
	if (recorder->depth && recorder->calls[recorder->depth - 1].rises < rises)
		recorder->calls[recorder->depth - 1].rises = rises;
}

/*
 * Record what a branch does to the stack of return addresses; follow_return() pops later.  Only one
 * return may be that of a call before the run.
 */
static void record_stack(const struct pt_flow *flow, struct run_branch *branch,
			 const struct insn *insn)
{
	struct run_recorder *recorder = flow->recorder;
	unsigned at = recorder->run.count;

	if (insn->kind == BRANCH_CALL && (insn->indirect || insn->distance)) {
		branch->stack = RUN_STACK_PUSHES;
		branch->call = flow->returns[flow->return_top].call;
		recorder->calls[recorder->depth++] = (struct open_call){ .at = at };
	} else if (insn->kind == BRANCH_RETURN && recorder->depth) {
		close_call(recorder, branch);
	} else if (insn->kind == BRANCH_RETURN) {
		branch->stack = RUN_STACK_POPS;
		branch->call = flow->returns[flow->return_top].call;
		if (flow->pending == PENDING_TNT)
			recorder->run.returns |= 1u << at;
	}
}

/* Add an emitted branch to the run, or end the run before it. */
static void record_branch(struct pt_flow *flow, struct flow_cursor cursor,
			  const struct basic_block *block, const struct basic_block *next,
			  const struct branch_event *event)
{
	struct run_recorder *recorder = flow->recorder;
	uint64_t steps = recorded_steps(flow, cursor);
	bool decides = block->exit != EXIT_GO, by_bit = decides && flow->pending == PENDING_TNT;
	uint64_t before = steps - by_bit - ((uint64_t)block->insns << PACKED_COUNTS_INSNS_AT);
	struct run_branch *branch = &recorder->branches[recorder->run.count];
	struct branch_event plain = *event;

	plain.flags &= BRANCH_INDIRECT; /* others are the stream's */
	if (recorder->stopped)
		return;
	if (!event->known || recorder->run.count == RUN_BRANCHES) {
		recorder->stopped = true;
		recorder->run.to = block->node;
		recorder->run.steps = before;
		return;
	}
	*branch = (struct run_branch){
		.known = event->known,
		.insns = (uint32_t)(flow->stream.stats.insns - recorder->insns),
		.all = plain.all,
		.to = next->node,
		.length = block->insn.length,
		.early = !packed_counts_bits(steps) && !(decides && flow->pending == PENDING_TIP),
	};
	record_stack(flow, branch, &block->insn);
	recorder->run.count++;
	recorder->run.to = next->node;
	recorder->run.steps = steps;
	recorder->insns = flow->stream.stats.insns;
}

/* Returns the address of the region in which a run ends whose last branch this is. */
static inline uint64_t region_after(const struct pt_flow *flow, const struct run_branch *last)
{
	return last->known->locations.to.ip - *basic_block_offset(&flow->blocks, last->to);
}

/* Keep a run that was followed to the cursor, or ended before. */
static void keep_run(struct pt_flow *flow, struct flow_cursor cursor, uint64_t target)
{
	struct run_recorder *recorder = flow->recorder;
	struct run *run = &recorder->run;
	uint64_t insns;

	if (!recorder->stopped) {
		run->to = cursor.node;
		run->steps = recorded_steps(flow, cursor);
	}
	if (packed_counts_jumps(run->steps) > RUN_JUMPS)
		return;
	insns = run->steps >> PACKED_COUNTS_INSNS_AT;
	run->rest = (uint32_t)(recorder->begin + insns - recorder->insns);
	run->jumps = (uint8_t)packed_counts_jumps(run->steps);
	run->target = target;
	/* Copies of a file at several addresses are one region. */
	run->moves = basic_block_of_node(&flow->blocks, run->to)->region !=
			     basic_block_of_node(&flow->blocks, run_id_node(run->id))->region ||
		     (run->count &&
		      region_after(flow, &recorder->branches[run->count - 1]) != run->begin);
	if (run->moves && !run->count)
		return;
	recorder->branches[run->count] = recorder->end;
	/* A run that ends where it begins is a hint to follow one block. */
	basic_blocks_keep_run(&flow->blocks, run, recorder->branches);
}

/* Record the end of the first bit or TIP. If later bits are pending, settle the bit's cycles. */
static void record_end(struct pt_flow *flow, struct flow_cursor *cursor)
{
	struct run_recorder *recorder = flow->recorder;
	unsigned jumps = packed_counts_jumps(cursor->steps) - recorder->jumps;

	recorder->end = (struct run_branch){
		.end = flow->view.begin + *basic_block_offset(&flow->blocks, cursor->node),
		.before = recorder->run.count,
		.jumps = jumps,
		.insns = (uint32_t)(flow->stream.stats.insns - recorder->insns),
	};
	if (recorder->run.count && !recorder->end.insns) {
		const struct run_branch *last = &recorder->branches[recorder->run.count - 1];

		recorder->end.all = last->all;
		recorder->end.early = last->early;
	}
	if (!flow->later_bits)
		return;
	store_cursor(flow, cursor);
	flow_settle(flow);
	*cursor = load_cursor(flow);
	recorder->jumps = -jumps;
}

/* Follow the cursor's bits. Returns false if a block needs flow_step_slow(). */
static bool record_bits(struct pt_flow *flow, struct flow_cursor *cursor)
{
	bool more = true;

	flow->recorder->bits += tnt_bits_count(cursor->bits);
	while (!flow->recorder->stopped && cursor->bits != TNT_BITS_NONE &&
	       has_room(flow, cursor) && (more = step_by_bit(flow, cursor)))
		continue;
	count_insns(flow, cursor, 0);
	return more;
}

/* Follow the bits of a run; if cycles can end with the first one, record where. */
static bool record_by_bits(struct pt_flow *flow, uint64_t bits, struct flow_cursor *cursor)
{
	bool apart = flow->blocks.runs.ends, more;

	cursor->bits = apart ? tnt_bits(bits >> 63, 1) : bits;
	more = record_bits(flow, cursor);
	if (!apart || cursor->bits != TNT_BITS_NONE)
		return more;
	record_end(flow, cursor);
	cursor->bits = bits << 1;
	return record_bits(flow, cursor);
}

/* Follow blocks up to the pending TIP. */
static bool record_to_tip(struct pt_flow *flow, struct flow_cursor *cursor)
{
	bool more = true;

	flow->recorder->bits = tnt_bits_count(cursor->bits);
	while (flow->pending == PENDING_TIP && has_room(flow, cursor) &&
	       (more = step_to_tip(flow, cursor)))
		continue;
	count_insns(flow, cursor, 0);
	if (flow->blocks.runs.ends)
		record_end(flow, cursor);
	return more;
}

/*
 * Follow blocks up to the TIP (`target`), or by the bits of a run, for the first time.  *more
 * becomes false if a block needs flow_step_slow().
 */
static __attribute__((noinline)) struct flow_cursor record_run(struct pt_flow *flow, uint64_t id,
							       uint64_t target,
							       struct flow_cursor cursor,
							       bool *more)
{
	struct run_recorder recorder;
	uint64_t bits = cursor.bits;
	bool by_bits = flow->pending == PENDING_TNT;

	count_insns(flow, &cursor, 0);
	/* No packet: with this shift, the bytes of a packet never equal 1. */
	recorder.run = (struct run){ .id = id, .begin = flow->view.begin, .bytes = 1, .shift = 8 };
	recorder.depth = 0;
	recorder.stopped = false;
	recorder.bits = 0;
	recorder.jumps = packed_counts_jumps(cursor.steps);
	recorder.begin = recorder.insns = flow->stream.stats.insns;
	flow->recorder = &recorder;
	*more = by_bits ? record_by_bits(flow, run_id_bits(id), &cursor)
			: record_to_tip(flow, &cursor);
	if (by_bits ? recorder.stopped || cursor.bits == TNT_BITS_NONE
		    : flow->pending == PENDING_TNT && !recorder.stopped)
		keep_run(flow, cursor, target);
	flow->recorder = NULL;
	if (by_bits && !flow->later_bits)
		cursor.bits = bits << (recorder.bits - tnt_bits_count(cursor.bits));
	return cursor;
}
