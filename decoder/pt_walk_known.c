/* SPDX-License-Identifier: MIT */
/*
 * The bulk of a trace: what was walked before.  Each function does the same as
 * the closer look (pt_walk.c), or nothing, where something is to be looked at.
 */
#include "decoder/pt_walk_steps.h"

/* Decisions of a path at least: fewer are sooner walked than found. */
#define PATH_USED_LEAST 2

/* No bit of TNT: only the stop bit. */
#define NO_BITS (UINT64_C(1) << 63)

/* What of the flow changes with each decision: apart, so that registers hold it. */
struct known_walk {
	struct code_run *run; /* where it is */
	uint64_t bits;	      /* of TNT that may be used, the next one highest, and a stop bit */
	uint32_t insns;	      /* not counted yet, */
	uint32_t jumps;	      /* nor these, that were taken within functions */
	uint64_t base;	      /* what is to be added to the address of a byte to get its ip */
};

/* ---- Between the flow and the walk --------------------------------------- */

static inline void take_bits(const struct pt_flow *flow, struct known_walk *walk)
{
	walk->bits = (flow->bits << 1 | 1) << (63 - flow->bit_count);
}

static inline unsigned count_bits(const struct known_walk *walk)
{
	return 63 - (unsigned)__builtin_ctzll(walk->bits);
}

static inline void count_insns(struct pt_flow *flow, struct known_walk *walk)
{
	stream_count_insns(&flow->stream, walk->insns);
	walk->insns = 0;
}

static inline uint64_t ip_of(const struct known_walk *walk, const struct code_run *run)
{
	return walk->base + (uintptr_t)run->bytes;
}

static inline void arrive_at(struct known_walk *walk, struct code_run *run, uint64_t ip)
{
	walk->run = run;
	walk->base = ip - (uintptr_t)run->bytes;
}

static inline struct known_walk begin_walk(const struct pt_flow *flow)
{
	struct known_walk walk = { .bits = NO_BITS };

	arrive_at(&walk, flow->here, flow->ip);
	if (flow->task == TASK_DECIDE)
		take_bits(flow, &walk);
	return walk;
}

static inline void end_walk(struct pt_flow *flow, struct known_walk *walk)
{
	count_insns(flow, walk);
	flow->stream.stats.events += walk->jumps;
	flow->stream.stats.local_jumps += walk->jumps;
	flow->walked += walk->jumps;
	flow->here = walk->run;
	flow->ip = ip_of(walk, walk->run);
	if (flow->task == TASK_DECIDE)
		flow->bit_count = count_bits(walk);
	if (flow->task == TASK_DECIDE && !flow->bit_count)
		flow->task = TASK_READ;
}

/* ---- Within a function: nothing is given out ----------------------------- */

/*
 * Walk while there are bits.  A bit is no condition but a number here: the processor could
 * not guess it.
 */
static inline void walk_quietly(const struct pt_flow *flow, struct known_walk *walk)
{
	uint64_t begin = (uintptr_t)flow->view.bytes, size = flow->view.end - flow->view.begin;
	struct known_walk at = *walk;

	do {
		const struct code_run *run = at.run;
		unsigned taken = run->forced | (unsigned)(at.bits >> 63);
		struct code_run *next = run->next[taken];

		if (!(run->quiet >> taken & 1) || (uintptr_t)next->bytes - begin >= size)
			break;
		at.run = next;
		at.bits <<= run->forced ^ 1;
		at.jumps += taken;
		at.insns += run->insns;
	} while (at.bits != NO_BITS && at.jumps < BRANCHES_WITHOUT_PACKET_MAX);
	*walk = at;
}

/* Walk by so many bits, which are there. */
static inline void walk_some(const struct pt_flow *flow, struct known_walk *walk, unsigned most)
{
	struct known_walk part = *walk;
	unsigned used;

	part.bits = (part.bits >> (63 - most) | 1) << (63 - most);
	walk_quietly(flow, &part);
	used = most - count_bits(&part);
	part.bits = walk->bits << used;
	*walk = part;
}

/* Walk by the bits of a path, and keep where they led, or those of them that were used. */
static void walk_new_path(struct pt_flow *flow, struct known_walk *walk, uint64_t id)
{
	struct known_walk before = *walk;
	struct code_path path = { .id = id, .where = code_view_key(&flow->view) };
	unsigned used;

	walk_some(flow, walk, CODE_PATH_BITS);
	used = count_bits(&before) - count_bits(walk);
	path.to = walk->run;
	path.insns = walk->insns - before.insns;
	path.jumps = (uint8_t)(walk->jumps - before.jumps);
	path.used = (uint8_t)used;
	if (used >= PATH_USED_LEAST && path.jumps == walk->jumps - before.jumps)
		code_paths_keep(&flow->runs.paths, &path);
}

/* Take a path, or make it.  Returns whether another one may begin where it ends. */
static inline bool follow_path(struct pt_flow *flow, struct known_walk *walk)
{
	uint64_t id = code_path_id(walk->run, (unsigned)(walk->bits >> (64 - CODE_PATH_BITS)));
	const struct code_path *path =
		code_paths_find(&flow->runs.paths, id, code_view_key(&flow->view));
	struct known_walk copy;

	if (!path) {
		copy = *walk; /* so that registers hold the walk itself */
		walk_new_path(flow, &copy, id);
		*walk = copy;
		return false;
	}
	walk->run = path->to;
	walk->bits <<= path->used;
	walk->insns += path->insns;
	walk->jumps += path->jumps;
	return path->used == CODE_PATH_BITS;
}

static inline bool bits_fill_path(const struct known_walk *walk)
{
	return walk->bits << CODE_PATH_BITS;
}

/* A jump that needs no bit.  Returns whether it was passed. */
static inline bool pass_jump(const struct pt_flow *flow, struct known_walk *walk)
{
	struct code_run *next = walk->run->taken;

	if (!walk->run->quiet || !in_view(flow, ip_of(walk, next)))
		return false;
	walk->insns += walk->run->insns;
	walk->jumps++;
	walk->run = next;
	return true;
}

/* By bits.  Returns whether the walk went on. */
static inline bool go_quietly(struct pt_flow *flow, struct known_walk *walk)
{
	struct known_walk before = *walk;

	if (!flow->stream.timed) {
		/* Time is made of instructions, and told by each decision. */
		walk_some(flow, walk, 1);
		count_insns(flow, walk);
	} else if (bits_fill_path(walk)) {
		while (follow_path(flow, walk) && bits_fill_path(walk))
			continue;
	} else {
		walk_quietly(flow, walk);
	}
	if (walk->bits != before.bits)
		flow->known = flow->stream.now;
	return walk->bits != before.bits || walk->jumps != before.jumps;
}

/* ---- What is given out --------------------------------------------------- */

/* The run's branch, at `from`, goes to `next`, at `to`. */
static inline void give_out(struct pt_flow *flow, struct known_walk *walk, struct code_run *next,
			    uint64_t from, uint64_t to)
{
	push_branch(flow, &walk->run->insn, from, to);
	flow->walked++;
	arrive_at(walk, next, to);
}

/* A run is left by its branch.  Returns where that is. */
static inline uint64_t leave_run(struct pt_flow *flow, struct known_walk *walk)
{
	walk->insns += walk->run->insns;
	count_insns(flow, walk);
	return ip_of(walk, walk->run) + walk->run->length;
}

/* The same by a bit. */
static inline uint64_t decide_run(struct pt_flow *flow, struct known_walk *walk)
{
	uint64_t from = leave_run(flow, walk);

	walk->bits <<= 1;
	flow->known = flow->stream.now;
	return from;
}

/* Returns whether the run behind the branch is known, in view, and nothing happens there. */
static inline bool is_open(const struct pt_flow *flow, const struct known_walk *walk,
			   const struct code_run *next)
{
	return next && in_view(flow, ip_of(walk, next)) &&
	       ip_of(walk, next) != flow->stream.input.switch_ip;
}

/* Always within both of its callers: a walk that others get the address of is in no register. */
static inline __attribute__((always_inline)) bool go_direct(struct pt_flow *flow,
							    struct known_walk *walk)
{
	struct code_run *run = walk->run, *next = run->taken;
	uint64_t from;

	if (!is_open(flow, walk, next))
		return false;
	from = leave_run(flow, walk);
	if (run->insn.kind == BRANCH_CALL && run->insn.distance)
		push_return(flow, from + run->insn.length, run);
	give_out(flow, walk, next, from, ip_of(walk, next));
	return true;
}

/* A conditional jump to another function. */
static inline bool go_away(struct pt_flow *flow, struct known_walk *walk)
{
	struct code_run *run = walk->run, *next = run->taken;
	uint64_t from;

	if (!(walk->bits >> 63) || run->taken_local || !is_open(flow, walk, next))
		return false;
	from = decide_run(flow, walk);
	give_out(flow, walk, next, from, ip_of(walk, next));
	return true;
}

static inline bool go_back(struct pt_flow *flow, struct known_walk *walk)
{
	const struct return_place *place = &flow->returns[flow->return_top];
	struct code_run *call = place->call;
	uint64_t to = place->ip;

	if (!(walk->bits >> 63) || !flow->compression || !flow->return_count || !call ||
	    to == flow->stream.input.switch_ip || !see(flow, to) || !is_at(flow, call->fall, to))
		return false;
	give_out(flow, walk, call->fall, decide_run(flow, walk), to);
	pop_return(flow);
	return true;
}

/* Returns the run at `to`, where an indirect branch goes; NULL: it needs a closer look. */
static inline struct code_run *target_of(struct pt_flow *flow, const struct code_run *run,
					 uint64_t to)
{
	if (flow->mode != flow->next_mode || to == flow->stream.input.switch_ip || !see(flow, to))
		return NULL;
	if (is_at(flow, run->taken, to))
		return run->taken;
	return code_runs_peek(&flow->runs, flow->view.bytes + (to - flow->view.begin), flow->mode);
}

static inline void link_target(const struct pt_flow *flow, struct code_run *run,
			       struct code_run *next, uint64_t distance)
{
	if (next == run->taken)
		return;
	run->taken = next;
	run->taken_local = flow->stream.input.skip_local_jumps && run->insn.kind == BRANCH_JUMP &&
			   in_function(run, distance);
}

static inline bool go_to_target(struct pt_flow *flow, struct known_walk *walk)
{
	uint64_t to = flow->target, from;
	struct code_run *run = walk->run, *next = target_of(flow, run, to);

	if (!next)
		return false;
	link_target(flow, run, next, to - ip_of(walk, run));
	from = leave_run(flow, walk);
	if (run->insn.kind == BRANCH_CALL)
		push_return(flow, from + run->insn.length, run);
	if (run->insn.kind == BRANCH_RETURN)
		pop_return(flow);
	flow->known = flow->stream.now;
	if (run->taken_local) {
		walk->jumps++;
		arrive_at(walk, next, to);
	} else {
		give_out(flow, walk, next, from, to);
	}
	flow->task = TASK_DECIDE;
	take_bits(flow, walk);
	return true;
}

/* ---- The walk ------------------------------------------------------------ */

/* Without a bit, up to where the target is used.  Returns false where a run needs a closer look. */
static inline bool walk_to_target(struct pt_flow *flow, struct known_walk *walk)
{
	const struct code_run *run = walk->run;

	if (run->forced)
		return pass_jump(flow, walk);
	if (!stream_has_room(&flow->stream))
		return false;
	if (run->pace == PACE_GO)
		return go_direct(flow, walk);
	return (run->pace == PACE_RETURN || run->pace == PACE_TARGET) && go_to_target(flow, walk);
}

/* By bits, of which there are some.  The same is returned. */
static inline bool walk_on(struct pt_flow *flow, struct known_walk *walk)
{
	const struct code_run *run = walk->run;

	if (run->quiet >> (walk->bits >> 63) & 1)
		return go_quietly(flow, walk);
	if (!stream_has_room(&flow->stream))
		return false;
	if (run->pace == PACE_GO)
		return go_direct(flow, walk);
	if (run->pace == PACE_RETURN)
		return go_back(flow, walk);
	return run->pace == PACE_DECIDE && go_away(flow, walk);
}

static inline bool has_time(const struct pt_flow *flow, const struct known_walk *walk)
{
	return flow->walked + walk->jumps < BRANCHES_WITHOUT_PACKET_MAX;
}

void flow_walk_known(struct pt_flow *flow)
{
	struct known_walk walk;

	if (!flow->here || !in_view(flow, flow->ip))
		return;
	walk = begin_walk(flow);
	while (flow->task == TASK_TARGET && has_time(flow, &walk) && walk_to_target(flow, &walk))
		continue;
	if (flow->task == TASK_DECIDE)
		while (walk.bits != NO_BITS && has_time(flow, &walk) && walk_on(flow, &walk))
			continue;
	end_walk(flow, &walk);
}
