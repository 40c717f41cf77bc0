/* SPDX-License-Identifier: MIT */
/*
 * Follow whole runs (decoder/code/run_memo.h), which flow_follow.h has followed before.  Each
 * function has the same effect as flow_follow.h.  Private to the engine.
 */
#pragma once

#include "decoder/engine/fast/flow_follow.h"

/* ---- The first time ------------------------------------------------------ */

/* A run that is followed for the first time. */
struct run_recorder {
	struct run run;
	struct run_branch branches[RUN_BRANCHES];
	unsigned bits, jumps; /* left, and not emitted, before the run */
	uint64_t begin;       /* the stream's instructions before the run */
	uint64_t insns;       /* the same after the last branch */
	/* Calls that have not returned: index, and how many calls were open in them at a time. */
	struct open_call {
		unsigned at, rises;
	} calls[RUN_BRANCHES];
	unsigned depth;
	bool stopped; /* the run has ended, perhaps before the last bit */
};

/* Returns the counts since the run began; the cursor's instructions are counted. */
static uint64_t recorded_steps(const struct pt_flow *flow, struct flow_cursor cursor)
{
	const struct run_recorder *recorder = flow->recorder;

	return packed_counts(recorder->bits - tnt_bits_count(cursor.bits),
			     packed_counts_jumps(cursor.steps) - recorder->jumps, 0) |
	       (flow->stream.stats.insns - recorder->begin) << PACKED_COUNTS_INSNS_AT;
}

/* A call of the run returns: nothing else need be known about the stack. */
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
			recorder->run.returns = (at + 1) & RUN_BRANCHES;
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
	recorder->run.moves = next->region != block->region;
	recorder->stopped = recorder->run.moves;
	if (!event->known || recorder->run.count == RUN_BRANCHES ||
	    (recorder->run.returns && block->insn.kind == BRANCH_RETURN && !recorder->depth)) {
		recorder->stopped = true;
		recorder->run.moves = false;
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
	insns = run->steps >> PACKED_COUNTS_INSNS_AT;
	if (insns > RUN_INSNS_MAX || packed_counts_jumps(run->steps) > RUN_JUMPS)
		return;
	if (run->count)
		run->steps |= (recorder->begin + insns - recorder->insns) << RUN_REST_AT;
	if (!run->moves && basic_block_of_node(&flow->blocks, run->to)->region !=
				   basic_block_of_node(&flow->blocks, run_id_node(run->id))->region)
		return;
	/* A way that ends where it begins is a hint to follow one block. */
	basic_blocks_keep_run(&flow->blocks, run, target, recorder->branches);
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

	if (by_bits)
		cursor.bits = run_id_bits(id);
	count_insns(flow, &cursor, 0);
	recorder.run = (struct run){ .id = id, .begin = flow->view.begin };
	recorder.depth = 0;
	recorder.stopped = false;
	recorder.bits = tnt_bits_count(cursor.bits);
	recorder.jumps = packed_counts_jumps(cursor.steps);
	recorder.begin = recorder.insns = flow->stream.stats.insns;
	flow->recorder = &recorder;
	if (by_bits)
		while (!recorder.stopped && cursor.bits != TNT_BITS_NONE &&
		       has_room(flow, &cursor) && (*more = step_by_bit(flow, &cursor)))
			continue;
	else
		while (flow->pending == PENDING_TIP && has_room(flow, &cursor) &&
		       (*more = step_to_tip(flow, &cursor)))
			continue;
	count_insns(flow, &cursor, 0);
	if (by_bits ? recorder.stopped || cursor.bits == TNT_BITS_NONE
		    : flow->pending == PENDING_TNT && recorder.stopped == recorder.run.moves)
		keep_run(flow, cursor, target);
	flow->recorder = NULL;
	if (by_bits)
		cursor.bits = bits << (recorder.bits - tnt_bits_count(cursor.bits));
	return cursor;
}

/* ---- Later --------------------------------------------------------------- */

/* Bring the end of a run into view, which is in another region. */
static bool move_view(struct pt_flow *flow, const struct run *run, uint64_t ip)
{
	const struct basic_block *to = basic_block_of_node(&flow->blocks, run->to);

	if (bring_into_view(flow, ip) && is_block_at(flow, to, ip))
		return true;
	bring_into_view(flow, run->begin);
	return false;
}

/* Returns whether a return is to the innermost call. */
static inline bool returns_here(const struct pt_flow *flow, const struct run_branch *branch)
{
	const struct return_address *back = &flow->returns[flow->return_top];

	return back->call == branch->call && back->ip == branch->known->locations.to.ip &&
	       flow->return_count;
}

/* Returns whether the branches of a run, of which there are some, may be emitted. */
static inline bool fits_here(struct pt_flow *flow, const struct run *run,
			     const struct run_branch *branches)
{
	const struct pt_stream *stream = &flow->stream;

	return run->begin == flow->view.begin &&
	       branches->known->space == stream->state.schedule.space &&
	       flow->space == stream->state.schedule.space && stream_has_room(stream) &&
	       flow->branches_followed < BRANCHES_WITHOUT_PACKET_MAX &&
	       (!run->returns || returns_here(flow, &branches[run->returns - 1])) &&
	       (!run->moves ||
		move_view(flow, run, branches[run->count - 1].known->locations.to.ip));
}

/* Do what a branch does to the stack of return addresses. */
static inline void follow_stack(struct pt_flow *flow, const struct run_branch *branch)
{
	if (branch->stack == RUN_STACK_PUSHES)
		push_return(flow, branch->known->locations.from.ip + branch->length, branch->call);
	else if (branch->stack == RUN_STACK_POPS)
		pop_return(flow);
	else
		flow->return_count = MIN(flow->return_count,
					 RETURN_STACK_SIZE + RUN_STACK_RISES - branch->stack);
}

/* Emit the branches of a run. */
INLINED void emit_run(struct pt_flow *flow, const struct run_branch *branch, size_t count)
{
	struct pt_stream *stream = &flow->stream;
	const struct run_branch *end = branch + count;
	const struct thread *thread = stream->state.schedule.thread;
	const struct address_space *space = stream->state.schedule.space;
	uint64_t times[2] = { stream_event_time(stream, stream->state.now.time),
			      stream_event_time(stream, flow->known.time) };
	unsigned tail = stream->tail, mask = stream->queue_mask;
	uint32_t insns = stream->state.insn_count;
	int32_t cpu = stream->input.aux->cpu;
	uint8_t flags = stream->state.event_flags;

	stream->tail += (unsigned)count;
	stream->stats.events += count;
	stream->state.any_event = true;
	stream->state.last_pushed = times[end[-1].early];
	flow->branches_followed += (unsigned)count;
	for (; branch < end; branch++) {
		struct branch_event *event = &stream->queue[tail++ & mask];
		struct known_branch *known = branch->known;

		if (branch->stack)
			follow_stack(flow, branch);
		event->time = times[branch->early];
		event->known = known;
		event->from = known->locations.from.ip;
		event->to = known->locations.to.ip;
		event->thread = thread;
		event->space = space;
		event->insns = insns + branch->insns;
		event->cycles = 0;
		event->cpu = cpu;
		event->all = branch->all;
		event->flags |= flags;
		insns = 0;
	}
}

/* Follow a run with branches, but for its bits.  Returns false, with nothing done, if it does not
 * fit. */
INLINED bool follow_run(struct pt_flow *flow, struct flow_cursor *cursor, const struct run *run)
{
	const struct run_branch *branches = &flow->blocks.runs.branches[run->first];
	struct pt_stream *stream = &flow->stream;

	if (!fits_here(flow, run, branches))
		return false;
	count_run(flow, run);
	count_insns(flow, cursor, 0);
	emit_run(flow, branches, run->count);
	stream->stats.insns += run->steps >> PACKED_COUNTS_INSNS_AT & RUN_INSNS_MAX;
	stream->state.insn_count = (uint32_t)(run->steps >> RUN_REST_AT);
	cursor->steps += packed_counts_drop_insns(run->steps);
	cursor->node = run->to;
	return true;
}

/* step_by_bit() by runs with branches. */
INLINED bool step_by_run(struct pt_flow *flow, struct flow_cursor *cursor)
{
	uint64_t id = run_id(cursor->node, cursor->bits);
	const struct run *run = find_run(flow, id);
	bool more = true;

	if (!run) {
		*cursor = record_run(flow, id, 0, *cursor, &more);
		return more;
	}
	if (!run->count && packed_counts_bits(run->steps)) {
		skip_run(flow, cursor, run);
		flow->known = flow->stream.state.now;
		return true;
	}
	if (!run->count || !follow_run(flow, cursor, run) || !packed_counts_bits(run->steps))
		return step_by_bit(flow, cursor);
	cursor->bits <<= packed_counts_bits(run->steps);
	flow->known = flow->stream.state.now;
	return true;
}

/* Returns whether a run leads to the pending TIP's target. */
static inline bool leads_to(const struct pt_flow *flow, const struct run *run)
{
	if (run->moves)
		return flow->blocks.runs.branches[run->first + run->count - 1]
			       .known->locations.to.ip == flow->target;
	return flow->view.begin + *basic_block_offset(&flow->blocks, run->to) == flow->target;
}

/* Follow blocks up to the pending TIP.  Returns false if a block needs flow_step_slow(). */
INLINED bool run_to_tip(struct pt_flow *flow, struct flow_cursor *cursor)
{
	const struct run_memo *memo = &flow->blocks.runs;
	uint64_t id = run_id(cursor->node, TNT_BITS_NONE);
	const struct run *run = run_slot(memo, id, flow->target);
	bool more = true;

	if (run->id != id || !leads_to(flow, run)) {
		run = run_slot_beside(memo, run);
		if (run->id != id || !leads_to(flow, run)) {
			*cursor = record_run(flow, id, flow->target, *cursor, &more);
			return more;
		}
	}
	if (flow->state.mode != flow->state.next_mode ||
	    (run->count && !follow_run(flow, cursor, run)))
		return step_to_tip(flow, cursor);
	if (!run->count)
		skip_run(flow, cursor, run);
	flow->known = flow->stream.state.now;
	flow->pending = PENDING_TNT;
	return true;
}

/* Returns whether runs can be followed: there are timing packets, and branches are known. */
static inline bool has_runs(const struct pt_flow *flow)
{
	return stream_is_timed(&flow->stream) && flow->stream.input.branches;
}

/* follow_cached() by runs. */
static inline void follow_runs(struct pt_flow *flow)
{
	struct flow_cursor cursor = load_cursor(flow);

	while (flow->pending == PENDING_TIP && has_room(flow, &cursor) && run_to_tip(flow, &cursor))
		continue;
	if (flow->pending == PENDING_TNT)
		while (cursor.bits != TNT_BITS_NONE && has_room(flow, &cursor) &&
		       step_by_run(flow, &cursor))
			continue;
	store_cursor(flow, &cursor);
}
