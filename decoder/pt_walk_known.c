/* SPDX-License-Identifier: MIT */
/*
 * The bulk of a trace: what was walked before.  Each function does the same as
 * the closer look (pt_walk.c), or nothing, where something is to be looked at.
 */
#include "decoder/pt_walk_steps.h"

/* Decisions of a path at least: fewer are sooner walked than found. */
#define PATH_USED_LEAST 2

/* A walk within a function, which gives nothing out. */
struct quiet_walk {
	struct code_run *run; /* where it is, */
	uint64_t ip;	      /* the same */
	unsigned bit_count;   /* that are left */
	unsigned walked;      /* branches, */
	unsigned jumps;	      /* of them taken */
	uint32_t insns;
};

/*
 * Walk by `bits`, the next one highest, until `least` of them are left.  A bit is no condition
 * but a number here: the processor could not guess it.
 */
static inline void walk_quietly(const struct pt_flow *flow, struct quiet_walk *walk, uint64_t bits,
				unsigned least)
{
	uint64_t begin = flow->view.begin, size = flow->view.end - begin;
	struct quiet_walk at = *walk; /* so that registers hold it */

	do {
		const struct code_run *run = at.run;
		unsigned forced = run->forced, decided = forced ^ 1;
		unsigned taken = forced | (unsigned)(bits >> 63);
		uint64_t to = at.ip + (uint64_t)(int64_t)run->steps[taken];

		if (!(run->quiet >> taken & 1) || to - begin >= size)
			break;
		at.run = run->next[taken];
		at.ip = to;
		bits <<= decided;
		at.bit_count -= decided;
		at.jumps += taken;
		at.insns += run->insns;
		at.walked++;
	} while (at.bit_count != least && at.walked < UINT8_MAX);
	*walk = at;
}

/* Where a walk led by the bits of a path, or those of them that it could use. */
static inline void keep_path(struct pt_flow *flow, uint64_t id, const struct quiet_walk *walk)
{
	unsigned used = flow->bit_count - walk->bit_count;
	int64_t distance = (int64_t)(walk->ip - flow->ip);
	struct code_path path = { .id = id,
				  .where = code_view_key(&flow->view),
				  .to = walk->run,
				  .distance = (int32_t)distance,
				  .insns = (uint16_t)walk->insns & CODE_PATH_INSNS_MAX,
				  .used = used & CODE_PATH_USED_MAX,
				  .walked = (uint8_t)walk->walked,
				  .jumps = (uint8_t)walk->jumps };

	if (used >= PATH_USED_LEAST && path.distance == distance && path.insns == walk->insns)
		code_paths_keep(&flow->runs.paths, &path);
}

static inline void arrive_quietly(struct pt_flow *flow, const struct quiet_walk *walk)
{
	flow->here = walk->run;
	flow->ip = walk->ip;
	flow->walked += walk->walked;
	flow->stream.stats.events += walk->jumps;
	flow->stream.stats.local_jumps += walk->jumps;
	stream_count_insns(&flow->stream, walk->insns);
	if (walk->bit_count == flow->bit_count)
		return;
	flow->known = flow->stream.now;
	flow->bit_count = walk->bit_count;
	if (!flow->bit_count)
		flow->task = TASK_READ;
}

/* Take paths that were kept, while there are any; a shorter one ends where a look is needed. */
static inline void follow_paths(const struct pt_flow *flow, struct quiet_walk *walk, uint64_t bits)
{
	const void *where = code_view_key(&flow->view);
	struct quiet_walk at = *walk; /* so that registers hold it */
	const struct code_path *path;

	do {
		uint64_t id = code_path_id(at.run, (unsigned)(bits >> (64 - CODE_PATH_BITS)));

		path = code_paths_find(&flow->runs.paths, id, where);
		if (!path)
			break;
		at.run = path->to;
		at.ip += (uint64_t)(int64_t)path->distance;
		bits <<= path->used;
		at.bit_count -= path->used;
		at.walked += path->walked;
		at.jumps += path->jumps;
		at.insns += path->insns;
	} while (path->used == CODE_PATH_BITS && at.bit_count >= CODE_PATH_BITS);
	*walk = at;
}

/* Seven decisions or more.  Returns whether any were made. */
static inline bool decide_many(struct pt_flow *flow, struct quiet_walk *walk, uint64_t bits)
{
	uint64_t id = code_path_id(walk->run, (unsigned)(bits >> (64 - CODE_PATH_BITS)));

	follow_paths(flow, walk, bits);
	if (!walk->walked) {
		walk_quietly(flow, walk, bits, walk->bit_count - CODE_PATH_BITS);
		keep_path(flow, id, walk);
	}
	arrive_quietly(flow, walk);
	return walk->walked;
}

/* Decisions within a function that were made before.  Returns whether there were any. */
static inline bool decide_known(struct pt_flow *flow, struct code_run *run)
{
	struct quiet_walk walk = { .run = run, .ip = flow->ip, .bit_count = flow->bit_count };
	uint64_t bits = flow->bits << (64 - flow->bit_count);

	if (!(run->quiet >> (run->forced | (unsigned)(bits >> 63)) & 1))
		return false;
	if (flow->stream.timed && flow->bit_count >= CODE_PATH_BITS)
		return decide_many(flow, &walk, bits);
	/* Without timing packets time is made of instructions, and told by each decision. */
	walk_quietly(flow, &walk, bits, flow->stream.timed ? 0 : flow->bit_count - 1);
	arrive_quietly(flow, &walk);
	return walk.walked;
}

static void arrive_at(struct pt_flow *flow, struct code_run *run, uint64_t ip)
{
	flow->walked++;
	flow->ip = ip;
	flow->here = run;
}

static bool go_direct(struct pt_flow *flow, struct code_run *run)
{
	uint64_t next = flow->ip + code_run_length(run) + run->insn.length;
	uint64_t to = next + (uint64_t)(int64_t)run->insn.distance;

	if (!run->taken || !in_view(flow, to) || to == flow->stream.input.switch_ip)
		return false;
	if (run->insn.kind == BRANCH_CALL && run->insn.distance)
		push_return(flow, next, run);
	count_run(flow, run);
	push_branch(flow, &run->insn, flow->ip + code_run_length(run), to);
	arrive_at(flow, run->taken, to);
	return true;
}

/* A conditional jump to another function. */
static bool go_away(struct pt_flow *flow, struct code_run *run)
{
	uint64_t from = flow->ip + code_run_length(run);
	uint64_t to = from + run->insn.length + (uint64_t)(int64_t)run->insn.distance;

	if (!(flow->bits >> (flow->bit_count - 1) & 1) || run->taken_local || !run->taken ||
	    !in_view(flow, to) || to == flow->stream.input.switch_ip)
		return false;
	count_run(flow, run);
	flow->known = flow->stream.now;
	push_branch(flow, &run->insn, from, to);
	arrive_at(flow, run->taken, to);
	decided(flow);
	return true;
}

static bool go_back(struct pt_flow *flow, const struct code_run *run)
{
	const struct return_place *place = &flow->returns[flow->return_top];
	bool compressed = flow->bits >> (flow->bit_count - 1) & 1;
	uint64_t to = place->ip;

	if (!compressed || !flow->compression || !flow->return_count || !place->call ||
	    to == flow->stream.input.switch_ip || !see(flow, to) ||
	    !is_at(flow, place->call->fall, to))
		return false;
	count_run(flow, run);
	flow->known = flow->stream.now;
	push_branch(flow, &run->insn, flow->ip + code_run_length(run), to);
	arrive_at(flow, place->call->fall, to);
	pop_return(flow);
	decided(flow);
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

static bool go_to_target(struct pt_flow *flow, struct code_run *run)
{
	uint64_t to = flow->target;
	struct code_run *next = target_of(flow, run, to);

	if (!next)
		return false;
	if (next != run->taken) {
		run->taken = next;
		run->taken_local = flow->stream.input.skip_local_jumps &&
				   run->insn.kind == BRANCH_JUMP && in_function(run, to - flow->ip);
	}
	if (run->insn.kind == BRANCH_CALL)
		push_return(flow, flow->ip + code_run_length(run) + run->insn.length, run);
	if (run->insn.kind == BRANCH_RETURN)
		pop_return(flow);
	count_run(flow, run);
	flow->known = flow->stream.now;
	if (run->taken_local)
		go_unseen(flow, to);
	else
		push_branch(flow, &run->insn, flow->ip + code_run_length(run), to);
	arrive_at(flow, next, to);
	flow->task = flow->bit_count ? TASK_DECIDE : TASK_READ;
	return true;
}

/* A direct jump within a function, where no decision is to be made. */
static bool pass_jump(struct pt_flow *flow, struct code_run *run)
{
	uint64_t to = flow->ip + code_run_length(run) + run->insn.length +
		      (uint64_t)(int64_t)run->insn.distance;

	if (!run->taken || !in_view(flow, to))
		return false;
	count_run(flow, run);
	flow->stream.stats.events++;
	flow->stream.stats.local_jumps++;
	arrive_at(flow, run->taken, to);
	return true;
}

/* Returns false where a run needs a closer look. */
static inline bool walk_known(struct pt_flow *flow, struct code_run *run)
{
	bool deciding = flow->task == TASK_DECIDE;

	if (run->pace == PACE_DECIDE || run->pace == PACE_JUMP) {
		if (deciding && decide_known(flow, run))
			return true;
		if (!deciding)
			return run->pace == PACE_JUMP && pass_jump(flow, run);
	}
	if (!stream_has_room(&flow->stream))
		return false;
	if (run->pace == PACE_GO)
		return go_direct(flow, run);
	if (run->pace == PACE_DECIDE)
		return go_away(flow, run);
	if (deciding)
		return run->pace == PACE_RETURN && go_back(flow, run);
	return (run->pace == PACE_RETURN || run->pace == PACE_TARGET) && go_to_target(flow, run);
}

void flow_walk_known(struct pt_flow *flow)
{
	if (!flow->here || (flow->task != TASK_DECIDE && flow->task != TASK_TARGET))
		return;
	while (flow->walked < BRANCHES_WITHOUT_PACKET_MAX && walk_known(flow, flow->here) &&
	       flow->task != TASK_READ)
		continue;
}
