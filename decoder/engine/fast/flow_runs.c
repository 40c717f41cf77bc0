/* SPDX-License-Identifier: MIT */
/* Finds runs of local jumps, and emits them as events of kind BRANCH_RUNS. */
#include "decoder/engine/fast/flow_runs.h"

/* TNT bits of a run, at most. */
#define RUN_BITS 15

/* ---- Finding a run ------------------------------------------------------- */

/* A run that is being found. */
struct found_run {
	struct local_jump jumps[JUMP_RUN_MOST];
	size_t count;
	struct flow_cursor at;
};

/* Returns the next of the bits, at most `most`, with a stop bit. */
static inline uint64_t first_bits(uint64_t bits, unsigned most)
{
	unsigned below = 63 - most;

	return bits << most ? (bits >> below | 1) << below : bits;
}

/* Returns the block that follows the current one by the next bit without an event, or NULL. */
static const struct basic_block *silent_next(const struct basic_block *block, bool taken)
{
	const struct basic_block *next = taken ? block->taken : block->not_taken;

	if (taken && !block->taken_local)
		return NULL;
	return next && next->region == block->region && block->insns <= PACKED_COUNTS_STEP_INSNS
		       ? next
		       : NULL;
}

/* Follow one block.  Returns false, and changes nothing, if that needs a bit or an event. */
static bool follow_block(const struct pt_flow *flow, struct found_run *found, uint32_t begin)
{
	struct flow_cursor *at = &found->at;
	const struct basic_block *block = basic_block_of_node(&flow->blocks, at->node), *next;
	bool decides = block->exit == EXIT_DECIDE, taken = !decides || tnt_bits_next(at->bits);
	uint32_t offset = *basic_block_offset(&flow->blocks, at->node);

	if ((!decides && block->exit != EXIT_JUMP) || (decides && at->bits == TNT_BITS_NONE) ||
	    found->count == JUMP_RUN_MOST)
		return false;
	next = silent_next(block, taken);
	if (!next)
		return false;
	if (taken)
		found->jumps[found->count++] = (struct local_jump){
			.from = (int32_t)(offset + block->length - begin),
			.to = (int32_t)(*basic_block_offset(&flow->blocks, next->node) - begin),
			.conditional = decides,
		};
	at->bits <<= decides;
	at->steps += packed_counts(decides, taken, block->insns);
	at->node = next->node;
	return true;
}

/*
 * Returns a new entry for the path from a node by the bits; NULL without a path, or memory for it.
 */
static const struct run_entry *add_run(struct pt_flow *flow, uint32_t node, uint64_t bits)
{
	struct run_entry entry = { .key = run_cache_key(node, bits) };
	uint32_t begin = *basic_block_offset(&flow->blocks, node);
	struct found_run found;

	/* The jumps are not cleared: there are few as a rule. */
	found.count = 0;
	found.at = (struct flow_cursor){ .bits = bits, .node = node };
	while (follow_block(flow, &found, begin) && found.at.bits != TNT_BITS_NONE)
		;
	/* Without a step its links may be found later. */
	if (!found.at.steps || flow->runs.count == RUN_CACHE_MOST)
		return NULL;
	entry.steps = found.at.steps;
	entry.to = found.at.node;
	if (found.count) {
		entry.run = jump_runs_add(
			flow->stream.input.runs, found.jumps, found.count,
			(int32_t)(*basic_block_offset(&flow->blocks, entry.to) - begin));
		if (!entry.run)
			return NULL;
	}
	run_cache_add(&flow->runs, &entry);
	return run_cache_find(&flow->runs, entry.key);
}

/* ---- Emitting ------------------------------------------------------------ */

static uint64_t ip_of_node(const struct pt_flow *flow, uint32_t node)
{
	return flow->view.begin + *basic_block_offset(&flow->blocks, node);
}

/* Returns whether the last event is of runs, and can take one more run that begins at an ip. */
static bool can_append(struct pt_flow *flow, uint64_t ip)
{
	struct pt_stream *stream = &flow->stream;
	const struct branch_event *last = &stream->queue[(stream->tail - 1) & stream->queue_mask];

	return stream->tail != stream->head && last->kind == BRANCH_RUNS &&
	       event_run_count(last) < RUNS_OF_EVENT && flow->runs_end == ip &&
	       last->thread == stream->state.schedule.thread &&
	       last->space == stream->state.schedule.space &&
	       !stream_time_is_cut(stream, last->time, stream_event_time(stream, flow->known.time));
}

/* Emit a run that begins at a node. */
static void emit_run(struct pt_flow *flow, uint32_t node, const struct jump_run *run)
{
	struct pt_stream *stream = &flow->stream;
	uint64_t ip = ip_of_node(flow, node);
	struct branch_event *event;

	event = can_append(flow, ip) ? &stream->queue[(stream->tail - 1) & stream->queue_mask]
				     : stream_push_runs(stream, &flow->known, ip);
	event_add_run(event, run);
	flow->runs_end = ip + (uint64_t)(int64_t)run->end;
}

/* Follow a run. */
static inline void follow_run(struct pt_flow *flow, struct flow_cursor *at,
			      const struct run_entry *entry)
{
	if (packed_counts_bits(entry->steps))
		flow->known = flow->stream.state.now;
	if (entry->run)
		emit_run(flow, at->node, entry->run);
	at->node = entry->to;
	at->bits <<= packed_counts_bits(entry->steps);
	at->steps += entry->steps;
}

/* Follow runs by up to `most` bits each, until an event comes before the last bit of one. */
static void follow_runs(struct pt_flow *flow, struct flow_cursor *at, unsigned most)
{
	uint64_t bits;

	do {
		const struct run_entry *entry;

		bits = first_bits(at->bits, most);
		entry = run_cache_find(&flow->runs, run_cache_key(at->node, bits));
		if (!entry)
			entry = add_run(flow, at->node, bits);
		if (!entry)
			return;
		follow_run(flow, at, entry);
		bits <<= packed_counts_bits(entry->steps);
	} while (bits == TNT_BITS_NONE && at->bits != TNT_BITS_NONE && most == RUN_BITS &&
		 !packed_counts_full(at->steps) && stream_has_room(&flow->stream));
}

bool flow_follow_runs(struct pt_flow *flow)
{
	bool to_tip = flow->pending == PENDING_TIP;
	struct flow_cursor at = load_cursor(flow);

	if (!at.node || (!to_tip && flow->pending != PENDING_TNT) ||
	    flow->branches_followed >= BRANCHES_WITHOUT_PACKET_MAX)
		return false;
	run_cache_follow(&flow->runs, flow->blocks.generation);
	follow_runs(flow, &at, to_tip ? 0 : stream_is_timed(&flow->stream) ? RUN_BITS : 1);
	if (!at.steps)
		return false;
	store_cursor(flow, &at);
	return true;
}
