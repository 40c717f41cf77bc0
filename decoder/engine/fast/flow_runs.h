/* SPDX-License-Identifier: MIT */
/*
 * Follow whole runs (decoder/code/run_memo.h), which flow_follow.h has followed before.  Each
 * function has the same effect as flow_follow.h.  Private to the engine.
 */
#pragma once

#include <endian.h>

#include "decoder/engine/fast/flow_packets.h"
#include "decoder/engine/fast/flow_record.h"

/* The branches and counts of runs, until end_runs(). */
struct runs_followed {
	uint64_t times[2]; /* times of a packet's branches, and of those before its first bit */
	uint64_t begin;    /* address of the current code's region */
	uint64_t all;      /* instructions up to the last branch, without those counted already */
	uint32_t insns;    /* instructions since the last branch */
	struct branch_event *tail; /* the queue's tail */
	unsigned jumps;            /* not counted yet */
};

/* Begin to count, and to append to the queue. */
INLINED void count_runs(const struct pt_flow *flow, struct runs_followed *runs)
{
	const struct pt_stream *stream = &flow->stream;

	runs->all = -(uint64_t)stream->state.insn_count;
	runs->insns = stream->state.insn_count;
	runs->tail = stream->queue + stream->tail;
	runs->jumps = 0;
}

INLINED struct runs_followed begin_runs(struct pt_flow *flow)
{
	struct pt_stream *stream = &flow->stream;
	struct runs_followed runs = {
		.times = { stream_event_time(stream, stream->state.now.time),
			   stream_event_time(stream, flow->known.time) },
		.begin = flow->view.begin,
	};

	count_runs(flow, &runs);
	return runs;
}

INLINED void end_runs(struct pt_flow *flow, const struct runs_followed *runs, bool timed)
{
	struct pt_stream *stream = &flow->stream;
	unsigned count = (unsigned)(runs->tail - stream->queue) - stream->tail;

	if (count) {
		stream->state.last_pushed = runs->tail[-1].time;
		stream->state.any_event = true;
	}
	stream->tail += count;
	stream->stats.events += count;
	stream->stats.insns += runs->all + runs->insns;
	stream->state.insn_count = runs->insns;
	if (!timed)
		stream->state.now.time += runs->all + runs->insns;
}

/* Returns whether the returns of a run are to the innermost calls. */
INLINED bool returns_here(const struct pt_flow *flow, const struct run *run)
{
	const struct run_branch *branches = &flow->blocks.runs.branches[run->first];
	unsigned top = flow->return_top, left = flow->return_count;

	for (unsigned returns = run->returns; returns; returns &= returns - 1, top--, left--) {
		const struct run_branch *branch = &branches[__builtin_ctz(returns)];
		const struct return_address *back = &flow->returns[top % RETURN_STACK_SIZE];

		if (back->call != branch->call || back->ip != branch->known->locations.to.ip ||
		    !left)
			return false;
	}
	return true;
}

/*
 * Returns the run of some bits, or NULL. *target becomes the innermost return address if the run of
 * the bits alone returns to another one, else 0.
 */
INLINED struct run *find_run_of_bits(const struct pt_flow *flow, uint64_t id, uint64_t *target)
{
	struct run *run = run_memo_find(&flow->blocks.runs, id, 0);

	*target = 0;
	if (!run || returns_here(flow, run))
		return run;
	*target = flow->returns[flow->return_top].ip;
	return *target ? run_memo_find(&flow->blocks.runs, id, *target)
		       : NULL; /* 0: to code without bytes */
}

/*
 * Returns whether the branches of a run, if any, are those of the region mapped at *begin, which
 * becomes the region in which they end. An address space does not change, so they end there again.
 */
INLINED bool fits_here(const struct pt_flow *flow, const struct run *run, uint64_t *begin)
{
	const struct run_branch *branches = &flow->blocks.runs.branches[run->first];

	if (!run->count)
		return true;
	if (run->begin != *begin || branches->known->space != flow->space)
		return false;
	if (run->moves)
		*begin = region_after(flow, &branches[run->count - 1]);
	return true;
}

/* Do what a branch does to the stack of return addresses. */
INLINED void follow_stack(struct pt_flow *flow, const struct run_branch *branch)
{
	if (branch->stack == RUN_STACK_PUSHES)
		push_return(flow, branch->known->locations.from.ip + branch->length, branch->call);
	else if (branch->stack == RUN_STACK_POPS)
		pop_return(flow);
	else
		flow->return_count = MIN(flow->return_count,
					 RETURN_STACK_SIZE + RUN_STACK_RISES - branch->stack);
}

INLINED void count_run(const struct pt_flow *flow, const struct run *run)
{
	if (FLOW_COUNTS)
		flow->blocks.counts
			->ways[run - (const struct run *)flow->blocks.runs.table.slots]++;
}

/* Copy the thread and its address space, which are neighbours, at once. */
INLINED void set_owner(struct branch_event *event, const struct schedule *schedule)
{
	enum {
		TO = offsetof(struct branch_event, thread),
		FROM = offsetof(struct schedule, thread)
	};

	_Static_assert(offsetof(struct branch_event, space) == TO + sizeof(void *) &&
			       offsetof(struct schedule, space) == FROM + sizeof(void *),
		       "neighbours");
	memcpy((char *)event + TO, (const char *)schedule + FROM, 2 * sizeof(void *));
}

/* Emit branches of a run. `timed`: there are timing packets. */
INLINED void emit_branches(struct pt_flow *flow, struct runs_followed *runs,
			   const struct run_branch *branch, const struct run_branch *end,
			   bool timed)
{
	struct pt_stream *stream = &flow->stream;
	const struct schedule *schedule = &stream->state.schedule;
	int32_t cpu = stream->input.aux->cpu;
	struct branch_event flags;

	flags.all = 0;
	flags.flags = stream->state.event_flags;
	for (; branch < end; branch++) {
		struct branch_event *event = runs->tail++;
		struct known_branch *known = branch->known;

		if (branch->stack)
			follow_stack(flow, branch);
		runs->insns += branch->insns;
		runs->all += runs->insns;
		event->time = timed ? runs->times[branch->early] : runs->times[0] + runs->all;
		event->known = known;
		event->from = known->locations.from.ip;
		event->to = known->locations.to.ip;
		set_owner(event, schedule);
		event->insns = runs->insns;
		event->cycles = 0;
		event->cpu = cpu;
		event->all = branch->all | flags.all;
		runs->insns = 0;
	}
}

/*
 * Returns whether the event before `tail`, the second of a chain or later, can have the next counts
 * as well. No branch is between, and the event before has cycles: the counts of both are of one
 * call's own code.
 */
INLINED bool joins_counts(const struct pt_stream *stream, const struct branch_event *tail)
{
	return tail[-1].kind == BRANCH_COUNTS && tail[-2].cycles &&
	       stream->input.skip_local_jumps && !stream->input.pieces &&
	       (tail[-1].cycles | tail[-1].insns | stream->state.cycles_ahead) <= INT32_MAX;
}

/*
 * Returns whether the branch at the end of a run's first bit or TIP, if any, can have the cycles up
 * to there, as stream_gives_cycles().
 */
INLINED bool end_takes_cycles(const struct pt_flow *flow, const struct runs_followed *runs,
			      const struct run_branch *end)
{
	const struct pt_stream *stream = &flow->stream;
	struct branch_event last;

	last.all = end->all;
	last.flags |= stream->state.event_flags;
	return branch_is_near(&last) && !stream->input.pieces &&
	       runs->times[end->early] >= stream->state.now.time &&
	       !(stream->input.count_jumps &&
		 (runs->jumps + end->jumps) + stream->state.jump_count);
}

/*
 * Emit the branches of a run up to the end of its first bit or TIP, then the cycles to there, as
 * stream_push_cycles().
 */
INLINED void emit_first(struct pt_flow *flow, struct runs_followed *runs, const struct run *run)
{
	struct pt_stream *stream = &flow->stream;
	const struct run_branch *branches = &flow->blocks.runs.branches[run->first];
	const struct run_branch *end = &branches[run->count];
	const struct branch_event *first = stream->queue + stream->tail;
	unsigned jumps = runs->jumps + end->jumps;

	emit_branches(flow, runs, branches, branches + end->before, true);
	stream_count_local_jumps(stream, &flow->known, flow->state.ip, jumps);
	flow->branches_followed += jumps;
	runs->jumps = -end->jumps;
	/* A run without branches may have been recorded in a mapping at another address. */
	flow->state.ip = end->end + (run->count ? 0 : runs->begin - run->begin);
	runs->insns += end->insns;
	runs->all += runs->insns;
	if (runs->tail - first >= 2 && joins_counts(stream, runs->tail)) {
		struct branch_event *before = &runs->tail[-1];

		before->word = stream->state.now.time;
		before->from = flow->state.ip;
		before->to += stream->state.jump_count;
		before->insns += runs->insns;
		before->cycles += stream->state.cycles_ahead;
		stream->state.jump_count = 0;
	} else {
		stream->stats.events--; /* end_runs() counts it */
		stream_set_counts(stream, runs->tail,
				  runs->tail > first ? runs->tail[-1].time
						     : stream->state.last_pushed,
				  flow->state.ip, runs->insns, stream->state.cycles_ahead);
		runs->tail++;
	}
	runs->insns = -end->insns;
}

/* Emit the branches of a run, and count it. `ahead`: cycles end with its first bit or TIP. */
INLINED void emit_run(struct pt_flow *flow, struct runs_followed *runs, const struct run *run,
		      bool ahead, bool timed)
{
	const struct run_branch *branches = &flow->blocks.runs.branches[run->first];
	const struct run_branch *end = &branches[run->count];

	if (__builtin_expect(ahead, 0)) {
		struct branch_event *taker = runs->tail + end->before - 1;

		if (flow->stream.input.sums_cycles) {
			stream_sum_cycles(&flow->stream);
			emit_branches(flow, runs, branches, end, true);
		} else if (end_takes_cycles(flow, runs, end)) {
			emit_branches(flow, runs, branches, end, true);
			taker->cycles = flow->stream.state.cycles_ahead;
		} else {
			emit_first(flow, runs, run);
			emit_branches(flow, runs, branches + end->before, end, true);
		}
		flow->stream.state.cycles_ahead = 0;
	} else {
		emit_branches(flow, runs, branches, end, timed);
	}
	runs->insns += run->rest;
	runs->jumps += run->jumps;
	count_run(flow, run);
}

/*
 * Follow a run without consuming its bits. Returns false, with nothing done, if it does not fit.
 * `ahead`: a CYC's cycles end with its first bit.
 */
INLINED bool follow_run(struct pt_flow *flow, struct flow_cursor *cursor, const struct run *run,
			bool ahead, bool timed)
{
	struct runs_followed runs;

	if (!run->count && !ahead) {
		count_run(flow, run);
		cursor->steps += run->steps;
		cursor->node = run->to;
		return true;
	}
	if (ahead && (flow->stream.state.period_begins || !stream_has_cycle_room(&flow->stream)))
		return false;
	runs = begin_runs(flow);
	if (flow->space != flow->stream.state.schedule.space || !stream_has_room(&flow->stream) ||
	    !returns_here(flow, run) || run->moves || !fits_here(flow, run, &runs.begin))
		return false;
	count_insns(flow, cursor, 0);
	count_runs(flow, &runs);
	runs.jumps = packed_counts_jumps(cursor->steps);
	emit_run(flow, &runs, run, ahead, timed);
	end_runs(flow, &runs, timed);
	flow->branches_followed += run->count;
	cursor->steps = packed_counts(0, runs.jumps, 0);
	cursor->node = run->to;
	return true;
}

/* step_by_bit() by runs with branches. */
INLINED bool step_by_run(struct pt_flow *flow, struct flow_cursor *cursor, bool timed)
{
	bool ahead = flow->later_bits, more = true;
	uint64_t bits =
		ahead ? (cursor->bits & TNT_BITS_NONE) | flow->later_bits >> 1 : cursor->bits;
	uint64_t id = run_id(cursor->node, bits), target;
	const struct run *run;

	if (!timed)
		count_insns(flow, cursor, 0);
	run = find_run_of_bits(flow, id, &target);
	if (!run) {
		cursor->bits = bits;
		*cursor = record_run(flow, id, target, *cursor, &more);
		return more;
	}
	/* A run that ends where it begins is a hint to follow one block. */
	if (!packed_counts_bits(run->steps) || !follow_run(flow, cursor, run, ahead, timed))
		return step_by_bit(flow, cursor);
	flow->later_bits = 0;
	cursor->bits = bits << packed_counts_bits(run->steps);
	flow->known = flow->stream.state.now;
	return true;
}

/* Follow blocks up to the pending TIP.  Returns false if a block needs flow_step_slow(). */
INLINED bool run_to_tip(struct pt_flow *flow, struct flow_cursor *cursor, bool timed)
{
	uint64_t id = run_id(cursor->node, TNT_BITS_NONE);
	const struct run *run;
	bool more = true;

	if (!timed)
		count_insns(flow, cursor, 0);
	run = run_memo_find(&flow->blocks.runs, id, flow->target);
	if (!run) {
		*cursor = record_run(flow, id, flow->target, *cursor, &more);
		return more;
	}
	if (flow->state.mode != flow->state.next_mode ||
	    !follow_run(flow, cursor, run, false, timed))
		return step_to_tip(flow, cursor);
	flow->known = flow->stream.state.now;
	flow->pending = PENDING_TNT;
	return true;
}

/* ---- Chains -------------------------------------------------------------- */

/*
 * TNT and TIP packets, with CYC, MTC or padding before them, that are each followed by one run. A
 * run knows its packet's bytes and the last two runs after it, so most packets are compared, not
 * decoded.
 */

/* Returns whether a chain can begin in this state. No event is earlier than the last one. */
INLINED bool begins_chain(struct pt_flow *flow, bool timed)
{
	const struct pt_stream *stream = &flow->stream;
	const struct pt_stream_input *input = &stream->input;

	return flow->pending == PENDING_NONE && flow->bits == TNT_BITS_NONE &&
	       flow_takes_tip(flow) && !flow->opaque.left && !flow->pebs.bip_size &&
	       (!timed || flow->state.clock.tsc) && flow->state.mode == flow->state.next_mode &&
	       stream_has_cycle_room(stream) && stream->state.last_pushed >= input->begin &&
	       flow->space == stream->state.schedule.space && !flow_is_near_end(flow, flow->at);
}

/* Returns the time from which a CYC needs flow_update_time(). */
static inline uint64_t chain_end(const struct pt_flow *flow)
{
	const struct pt_stream *stream = &flow->stream;
	const struct pt_stream_input *input = &stream->input;
	uint64_t end = kernel_text_due(&stream->text);

	if (flow->follows_switches)
		end = MIN(end, stream_switch_due(stream));
	if (stream->state.next_loss < stream->loss_count)
		end = MIN(end, stream->losses[stream->state.next_loss].time);
	if (input->period)
		end = MIN(end, (stream->state.now.time / input->period + 1) * input->period);
	return input->end ? MIN(end, input->end) : end;
}

/* Set the time from the clock. Returns false, with nothing done, if it is late. */
INLINED bool set_chain_time(struct pt_flow *flow, struct runs_followed *runs, uint64_t end)
{
	struct pt_stream *stream = &flow->stream;
	uint64_t tsc = flow->state.clock.tsc;

	if (tsc_clock_ns(&stream->clock, tsc) >= end)
		return false;
	stream_set_time(stream, tsc);
	/* As stream_event_time(): times[1] is not before the thread's run. */
	runs->times[0] =
		MAX(MIN(stream->state.now.time, stream->state.schedule.end), runs->times[1]);
	return true;
}

/* Count the cycles of a CYC at `bytes`. Returns false if the time is not set: it is late. */
INLINED bool count_cyc(struct pt_flow *flow, struct runs_followed *runs, uint32_t cycles,
		       uint64_t end, const uint8_t *bytes)
{
	struct packet_clock *clock = &flow->state.clock;

	if (packet_clock_cyc(clock, cycles) && packet_clock_is_bound(clock)) {
		flow->at = (size_t)(bytes - flow->window.bytes);
		flow_bound_clock(flow);
	}
	return set_chain_time(flow, runs, end);
}

/* Returns whether flow_read_tnt() reads the packet of a run, a full TNT, with the next byte. */
INLINED bool has_second_tnt(const struct run *run, uint64_t bytes)
{
	return run->shift == 64 - 8 && run->bytes >> 63 && is_tnt((uint8_t)(bytes >> 8));
}

/* Returns whether a run begins at a node, with the packet at the beginning of 8 bytes. */
INLINED bool is_next(const struct pt_flow *flow, const struct run *run, uint32_t node,
		     uint64_t bytes)
{
	return bytes << run->shift == run->bytes && run_id_node(run->id) == node &&
	       !has_second_tnt(run, bytes) &&
	       (!run_is_to_tip(run) ||
		!((run->target ^ flow->state.last_ip) >> (56 - run->shift))) &&
	       returns_here(flow, run);
}

/*
 * Returns the run after another, or NULL; is_next() compares it with its packet from now on.
 * `word`: the first 8 bytes.
 */
static __attribute__((noinline)) struct run *find_next(const struct pt_flow *flow,
						       const struct run *before, uint32_t node,
						       const uint8_t *bytes, uint64_t word)
{
	struct run *run = (struct run *)flow->blocks.runs.table.slots + before->next[1];
	uint64_t bits = TNT_BITS_NONE, target;
	unsigned last;
	size_t size;

	if (is_next(flow, run, node, word))
		return run;
	if (is_tnt(bytes[0])) {
		size = flow_read_tnt(bytes, &bits, &last);
		run = find_run_of_bits(flow, run_id(node, bits), &target);
	} else if ((bytes[0] & 0x1f) == OPCODE_TIP && ip_sizes[bytes[0] >> 5]) {
		size = 1u + ip_sizes[bytes[0] >> 5];
		target = pt_packet_full_ip(flow->state.last_ip, bytes[0] >> 5, word >> 8);
		run = run_memo_find(&flow->blocks.runs, run_id(node, bits), target);
	} else {
		return NULL;
	}
	if (!run || size > sizeof(word) || packed_counts_bits(run->steps) != tnt_bits_count(bits) ||
	    (target && !returns_here(flow, run)))
		return NULL;
	run->shift = (uint8_t)(64 - 8 * size);
	run->bytes = word << run->shift;
	return run;
}

/* Emit the cycles of a CYC before an MTC, which end at a node. Returns the runs after them. */
static __attribute__((noinline)) struct runs_followed settle_runs(struct pt_flow *flow,
								  struct runs_followed runs,
								  uint32_t node)
{
	end_runs(flow, &runs, true);
	stream_count_local_jumps(&flow->stream, &flow->known, flow->state.ip, runs.jumps);
	flow->state.ip = runs.begin + *basic_block_offset(&flow->blocks, node);
	stream_push_cycles(&flow->stream, flow->state.ip);
	count_runs(flow, &runs);
	return runs;
}

/* Set the state after a chain of packets, which ends before `bytes` and a node. */
static void end_chain(struct pt_flow *flow, const struct runs_followed *runs, uint32_t node,
		      const uint8_t *bytes)
{
	bool timed = stream_is_timed(&flow->stream);

	end_runs(flow, runs, timed);
	if (!timed)
		flow->known = flow->stream.state.now;
	stream_count_local_jumps(&flow->stream, &flow->known, flow->state.ip, runs->jumps);
	flow->at = (size_t)(bytes - flow->window.bytes);
	flow->state.ip = runs->begin + *basic_block_offset(&flow->blocks, node);
	/* Where views of the kernel overlap, the block can be of another region. */
	if (!bring_into_view(flow, flow->state.ip) ||
	    flow->region != basic_block_of_node(&flow->blocks, node)->region)
		node = 0;
	flow->cached_block = node;
}

/*
 * Follow packets as long as runs follow each other. `counts`: cycles are counted; `timed`: there
 * are timing packets.
 */
INLINED void follow_chain(struct pt_flow *flow, bool counts, bool timed)
{
	const uint8_t *bytes = flow->window.bytes + flow->at;
	const uint8_t *limit = flow->window.bytes + flow->window.size - AUX_WINDOW_PACKET_MAX;
	struct run *slots = flow->blocks.runs.table.slots, *run = slots;
	const struct branch_event *most = flow->stream.queue + flow->stream.room - QUEUE_ROOM;
	uint64_t end = chain_end(flow), word;
	struct runs_followed runs = begin_runs(flow);
	uint32_t node = flow->cached_block, cycles;

	while (bytes <= limit && runs.tail <= most) {
		struct run *next = &slots[run->next[0]];

		if (timed && (*bytes & 3) == 3) {
			size_t size = flow_read_cycles(flow, bytes, &cycles);

			/* Only one CYC's cycles can wait; a period's first ones are emitted. */
			if (!size || (counts && (flow->stream.state.cycles_ahead ||
						 flow->stream.state.period_begins)))
				break;
			bytes += size;
			if (counts)
				flow->stream.state.cycles_ahead = cycles;
			if (!count_cyc(flow, &runs, cycles, end, bytes - size)) {
				end_chain(flow, &runs, node, bytes);
				flow_update_time(flow);
				return;
			}
		}
		memcpy(&word, bytes, sizeof(word));
		word = le64toh(word);
		if (!is_next(flow, next, node, word)) {
			if (*bytes == OPCODE_PAD) {
				bytes += word ? (unsigned)__builtin_ctzll(word) / 8 : sizeof(word);
				continue;
			}
			if (timed && *bytes == OPCODE_MTC) {
				packet_clock_mtc(&flow->state.clock, bytes[1]);
				bytes += 2;
				if (!set_chain_time(flow, &runs, end)) {
					end_chain(flow, &runs, node, bytes);
					flow_update_time(flow);
					stream_settle_cycles(&flow->stream, flow->state.ip);
					return;
				}
				if (counts && flow->stream.state.cycles_ahead)
					runs = settle_runs(flow, runs, node);
				continue;
			}
			next = find_next(flow, run, node, bytes, word);
			if (!next)
				break;
			run->next[1] = run->next[0];
			run->next[0] = (uint16_t)(next - slots);
		}
		if (!fits_here(flow, next, &runs.begin))
			break;
		emit_run(flow, &runs, next, counts && flow->stream.state.cycles_ahead, timed);
		if (timed) {
			runs.times[1] = runs.times[0];
			flow->known = flow->stream.state.now;
		}
		if (run_is_to_tip(next))
			flow->state.last_ip = next->target;
		bytes += sizeof(word) - next->shift / 8;
		node = next->to;
		run = next;
	}
	end_chain(flow, &runs, node, bytes);
}

/* Separate functions, so that the variables of the frequent one stay in registers. */
static __attribute__((noinline)) void follow_chain_without_cycles(struct pt_flow *flow)
{
	follow_chain(flow, false, true);
}

static __attribute__((noinline)) void follow_chain_with_cycles(struct pt_flow *flow)
{
	follow_chain(flow, true, true);
}

static __attribute__((noinline)) void follow_chain_without_times(struct pt_flow *flow)
{
	follow_chain(flow, false, false);
}

/*
 * Returns whether runs can be followed: branches are known, and all runs of a trace are with
 * timing packets, or all without.
 */
static inline bool has_runs(const struct pt_flow *flow)
{
	const struct pt_stream *stream = &flow->stream;
	const struct pt_stream_input *input = &stream->input;

	return input->branches && stream_is_timed(stream) != stream->state.schedule.settled &&
	       !(stream->state.schedule.settled && (input->cycles || input->end));
}

/* follow_cached() by runs, also of the next packets. */
INLINED void follow_runs_by_time(struct pt_flow *flow, bool timed)
{
	do {
		struct flow_cursor cursor = load_cursor(flow);

		while (flow->pending == PENDING_TIP && has_room(flow, &cursor) &&
		       run_to_tip(flow, &cursor, timed))
			continue;
		if (flow->pending == PENDING_TNT)
			while (cursor.bits != TNT_BITS_NONE && has_room(flow, &cursor) &&
			       step_by_run(flow, &cursor, timed))
				continue;
		store_cursor(flow, &cursor);
	} while (flow_settles(flow));
	if (!begins_chain(flow, timed))
		return;
	if (!timed)
		follow_chain_without_times(flow);
	else if (flow->stream.input.cycles)
		follow_chain_with_cycles(flow);
	else
		follow_chain_without_cycles(flow);
}

static __attribute__((noinline)) void follow_runs_with_times(struct pt_flow *flow)
{
	follow_runs_by_time(flow, true);
}

static __attribute__((noinline)) void follow_runs_without_times(struct pt_flow *flow)
{
	follow_runs_by_time(flow, false);
}

static inline void follow_runs(struct pt_flow *flow)
{
	if (stream_is_timed(&flow->stream))
		follow_runs_with_times(flow);
	else
		follow_runs_without_times(flow);
}
