/* SPDX-License-Identifier: MIT */
/*
 * The bulk of a trace: what was walked before.  Each function does the same as
 * the closer look (flow_step.c), or nothing, where something is to be looked at.
 */
#include "decoder/engine/fast/flow_cached.h"

#include "decoder/engine/fast/flow_code.h"

/* What of the flow changes with each decision: apart, so that registers hold it. */
struct known_walk {
	uint64_t bits;  /* of TNT that may be used, or wait for a TIP */
	uint64_t steps; /* that nothing was given out of: packed_counts.h; instructions not counted
			   yet */
	uint32_t hop;   /* where it is */
};

/* ---- Between the flow and the walk --------------------------------------- */

static inline void count_insns(struct pt_flow *flow, struct known_walk *walk, uint32_t more)
{
	stream_count_insns(&flow->stream, packed_counts_insns(walk->steps) + more);
	walk->steps = packed_counts_drop_insns(walk->steps);
}

static inline struct known_walk begin_walk(const struct pt_flow *flow)
{
	return (struct known_walk){ .bits = flow->bits, .hop = flow->here };
}

static inline void end_walk(struct pt_flow *flow, struct known_walk *walk)
{
	unsigned jumps = packed_counts_jumps(walk->steps);

	count_insns(flow, walk, 0);
	flow->stream.stats.events += jumps;
	flow->stream.stats.local_jumps += jumps;
	flow->walked += jumps;
	flow->here = walk->hop;
	flow->state.ip = flow->view.begin + *basic_blocks_offset(&flow->runs, walk->hop);
	flow->bits = walk->bits;
	if (flow->task == TASK_DECIDE && walk->bits == TNT_BITS_NONE)
		flow->task = TASK_READ;
}

/* ---- Within a function: nothing is given out ----------------------------- */

/*
 * Walk while there are bits.  A bit is no condition but a number here: the processor could
 * not guess it.
 */
static inline struct known_walk walk_quietly(struct cfg_node *hops, struct known_walk walk)
{
	do {
		const struct cfg_node *hop = cfg_node_at(hops, walk.hop);
		unsigned bit = (unsigned)(walk.bits >> 63);

		if (!hop->next[bit])
			break;
		walk.hop = hop->next[bit];
		walk.bits <<= packed_counts_bits(hop->step[bit]) % 64;
		walk.steps += hop->step[bit];
	} while (walk.bits != TNT_BITS_NONE && !packed_counts_full(walk.steps));
	return walk;
}

/* Walk by so many bits, which are there. */
static inline struct known_walk walk_some(struct cfg_node *hops, struct known_walk walk,
					  unsigned most)
{
	struct known_walk part = walk;

	part.bits = (part.bits >> (63 - most) | 1) << (63 - most);
	part = walk_quietly(hops, part);
	part.bits = walk.bits << (most - tnt_bits_count(part.bits));
	return part;
}

/* Walk by the bits of a path, and keep where they led, or those of them that were used. */
static inline struct known_walk walk_new_path(struct pt_flow *flow, struct known_walk walk,
					      uint32_t id)
{
	struct known_walk end = walk_some(flow->runs.hops, walk, CODE_PATH_BITS);
	struct tnt_cache_entry path = { .id = id, .to = end.hop, .steps = end.steps - walk.steps };

	if (end.bits != walk.bits && packed_counts_jumps(path.steps) <= CODE_PATH_JUMPS)
		tnt_cache_keep(&flow->runs.paths, &path);
	return end;
}

static inline bool bits_fill_path(uint64_t bits)
{
	return bits << CODE_PATH_BITS;
}

/* Walk while there are bits for paths, or up to where one ends before its last bit. */
static inline struct known_walk walk_paths(struct pt_flow *flow, struct known_walk walk)
{
	uint64_t before;

	do {
		uint32_t id = tnt_cache_id(walk.hop, walk.bits);
		const struct tnt_cache_entry *path = tnt_cache_find(&flow->runs.paths, id);

		before = walk.bits;
		if (!path) {
			walk = walk_new_path(flow, walk, id);
			continue;
		}
		walk.hop = path->to;
		walk.bits <<= packed_counts_bits(path->steps) % 64;
		walk.steps += path->steps;
	} while (walk.bits == before << CODE_PATH_BITS && bits_fill_path(walk.bits));
	return walk;
}

/* A jump that needs no bit.  Returns whether it was passed. */
static inline bool pass_jump(const struct pt_flow *flow, struct known_walk *walk)
{
	const struct cfg_node *hop = cfg_node_at(flow->runs.hops, walk->hop);

	if (packed_counts_bits(hop->step[0]) || !hop->next[0])
		return false;
	walk->steps += hop->step[0];
	walk->hop = hop->next[0];
	return true;
}

/* By bits, the next of which leads to a hop, up to what is to be given out. */
static inline void go_quietly(struct pt_flow *flow, struct known_walk *walk)
{
	uint64_t before = walk->bits;

	if (bits_fill_path(walk->bits))
		*walk = walk_paths(flow, *walk);
	if (walk->bits != TNT_BITS_NONE)
		*walk = walk_quietly(flow->runs.hops, *walk);
	if (walk->bits != before)
		flow->known = flow->stream.state.now;
}

/* The same by one bit: without packets of time it is told by instructions, and that at each one. */
static inline void go_on_by_one(struct pt_flow *flow, struct known_walk *walk)
{
	uint64_t before = walk->bits;

	*walk = walk_some(flow->runs.hops, *walk, 1);
	count_insns(flow, walk, 0);
	if (walk->bits != before)
		flow->known = flow->stream.state.now;
}

/* ---- What is given out --------------------------------------------------- */

/* The run's branch, at `from`, goes to `next`, at `to`. */
static inline void give_out(struct pt_flow *flow, struct known_walk *walk,
			    const struct basic_block *run, const struct basic_block *next,
			    uint64_t from, uint64_t to)
{
	push_branch(flow, &run->insn, from, to);
	flow->walked++;
	walk->hop = next->hop;
}

/* A run is left by its branch. */
static inline void leave_run(struct pt_flow *flow, struct known_walk *walk,
			     const struct basic_block *run)
{
	count_insns(flow, walk, run->insns);
}

/* The same by a bit. */
static inline void decide_run(struct pt_flow *flow, struct known_walk *walk,
			      const struct basic_block *run)
{
	leave_run(flow, walk, run);
	walk->bits <<= 1;
	flow->known = flow->stream.state.now;
}

/* Returns where the branch of a run is that is in view. */
static inline uint64_t branch_ip(const struct pt_flow *flow, const struct basic_block *run)
{
	return ip_at(flow, run->bytes) + run->length;
}

/* Returns whether the run that a branch leads to is known and seen, and nothing happens there. */
static inline bool is_open(const struct pt_flow *flow, const struct basic_block *run,
			   const struct basic_block *next)
{
	return next && next->area == run->area &&
	       ip_at(flow, next->bytes) != flow->stream.input.switch_ip;
}

/* Always within both of its callers: a walk that others get the address of is in no register. */
static inline __attribute__((always_inline)) bool go_direct(struct pt_flow *flow,
							    struct known_walk *walk,
							    struct basic_block *run)
{
	const struct basic_block *next = run->taken;
	uint64_t from = branch_ip(flow, run);

	if (!is_open(flow, run, next))
		return false;
	leave_run(flow, walk, run);
	if (run->insn.kind == BRANCH_CALL && run->insn.distance)
		push_return(flow, from + run->insn.length, run);
	give_out(flow, walk, run, next, from, ip_at(flow, next->bytes));
	return true;
}

/* A conditional jump to another function. */
static inline bool go_away(struct pt_flow *flow, struct known_walk *walk,
			   const struct basic_block *run)
{
	const struct basic_block *next = run->taken;

	if (!(walk->bits >> 63) || run->taken_local || !is_open(flow, run, next))
		return false;
	decide_run(flow, walk, run);
	give_out(flow, walk, run, next, branch_ip(flow, run), ip_at(flow, next->bytes));
	return true;
}

/* Returns the run at `to`, behind a call, and turns the view there; NULL: it is not known. */
static inline const struct basic_block *turn_back(struct pt_flow *flow,
						  const struct basic_block *call, uint64_t to)
{
	if (!call || to == flow->stream.input.switch_ip || !see(flow, to))
		return NULL;
	return is_at(flow, call->fall, to) ? call->fall : NULL;
}

static inline bool go_back(struct pt_flow *flow, struct known_walk *walk,
			   const struct basic_block *run)
{
	const struct return_place *place = &flow->returns[flow->return_top];
	uint64_t from = branch_ip(flow, run), to = place->ip;
	const struct basic_block *next;

	if (!(walk->bits >> 63) || !flow->compression || !flow->return_count)
		return false;
	next = turn_back(flow, place->call, to);
	if (!next) {
		see(flow, from);
		return false;
	}
	decide_run(flow, walk, run);
	give_out(flow, walk, run, next, from, to);
	drop_return(flow);
	return true;
}

/* The same as turn_back() where an indirect branch goes. */
static inline struct basic_block *turn_to_target(struct pt_flow *flow,
						 const struct basic_block *run, uint64_t to)
{
	if (flow->state.mode != flow->state.next_mode || to == flow->stream.input.switch_ip ||
	    !see(flow, to))
		return NULL;
	if (is_at(flow, run->taken, to))
		return run->taken;
	return basic_blocks_peek(&flow->runs, flow->area, bytes_at(flow, to), flow->state.mode);
}

static inline void link_target(const struct pt_flow *flow, struct basic_block *run,
			       struct basic_block *next, uint64_t distance)
{
	if (next == run->taken)
		return;
	run->taken = next;
	run->taken_local = flow->stream.input.skip_local_jumps && run->insn.kind == BRANCH_JUMP &&
			   in_function(run, distance);
}

static inline bool go_to_target(struct pt_flow *flow, struct known_walk *walk,
				struct basic_block *run)
{
	uint64_t to = flow->target, from = branch_ip(flow, run);
	struct basic_block *next = turn_to_target(flow, run, to);

	if (!next) {
		see(flow, from);
		return false;
	}
	link_target(flow, run, next, to - (from - run->length));
	leave_run(flow, walk, run);
	if (run->insn.kind == BRANCH_CALL)
		push_return(flow, from + run->insn.length, run);
	if (run->insn.kind == BRANCH_RETURN)
		pop_return(flow);
	flow->known = flow->stream.state.now;
	if (run->taken_local) {
		walk->steps += packed_counts(0, 1, 0);
		walk->hop = next->hop;
	} else {
		give_out(flow, walk, run, next, from, to);
	}
	flow->task = TASK_DECIDE;
	return true;
}

/* ---- The walk ------------------------------------------------------------ */

/* Without a bit, up to where the target is used.  Returns false where a run needs a closer look. */
static inline bool walk_to_target(struct pt_flow *flow, struct known_walk *walk)
{
	struct basic_block *run = basic_blocks_at(&flow->runs, walk->hop);

	if (run->pace == EXIT_JUMP)
		return pass_jump(flow, walk);
	if (!stream_has_room(&flow->stream))
		return false;
	if (run->pace == EXIT_GO)
		return go_direct(flow, walk, run);
	return (run->pace == EXIT_RETURN || run->pace == EXIT_TARGET) &&
	       go_to_target(flow, walk, run);
}

/* By bits, of which there are some.  The same is returned. */
static inline bool walk_on(struct pt_flow *flow, struct known_walk *walk)
{
	struct basic_block *run;

	if (cfg_node_at(flow->runs.hops, walk->hop)->next[walk->bits >> 63]) {
		if (stream_is_timed(&flow->stream))
			go_quietly(flow, walk);
		else
			go_on_by_one(flow, walk);
		if (walk->bits == TNT_BITS_NONE || !stream_is_timed(&flow->stream))
			return true;
	}
	if (!stream_has_room(&flow->stream))
		return false;
	run = basic_blocks_at(&flow->runs, walk->hop);
	if (run->pace == EXIT_GO)
		return go_direct(flow, walk, run);
	if (run->pace == EXIT_RETURN)
		return go_back(flow, walk, run);
	return run->pace == EXIT_DECIDE && go_away(flow, walk, run);
}

_Static_assert(BRANCHES_WITHOUT_PACKET_MAX <= PACKED_COUNTS_JUMPS, "steps count as many");

static inline bool has_time(const struct pt_flow *flow, const struct known_walk *walk)
{
	return flow->walked < BRANCHES_WITHOUT_PACKET_MAX && !packed_counts_full(walk->steps);
}

void flow_run_cached(struct pt_flow *flow)
{
	struct known_walk walk = begin_walk(flow);

	while (flow->task == TASK_TARGET && has_time(flow, &walk) && walk_to_target(flow, &walk))
		continue;
	if (flow->task == TASK_DECIDE)
		while (walk.bits != TNT_BITS_NONE && has_time(flow, &walk) && walk_on(flow, &walk))
			continue;
	end_walk(flow, &walk);
}
