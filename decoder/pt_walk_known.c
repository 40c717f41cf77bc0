/* SPDX-License-Identifier: MIT */
/*
 * The bulk of a trace: what was walked before.  Each function does the same as
 * the closer look (pt_walk.c), or nothing, where something is to be looked at.
 */
#include "decoder/pt_walk_steps.h"

/*
 * Walk from a run by the decisions in `path->key`, within functions and over
 * runs that were walked before, until a decision or a run needs a closer look.
 * Returns whether it does so every time: not if a run is not known yet.
 */
static bool find_path(const struct pt_flow *flow, struct code_run *run, struct code_path *path)
{
	unsigned bits = 31 - (unsigned)__builtin_clz(path->key), key = path->key;
	struct code_run *next = run;
	uint32_t insns = 0, insns_decided = 0;

	while (bits && path->walked < UINT8_MAX) {
		bool taken = run->pace == PACE_JUMP || (key >> (bits - 1) & 1);
		int64_t behind = path->distance + (int64_t)run->length + run->insn.length;
		int64_t there = behind + (taken ? run->insn.distance : 0);

		if ((run->pace != PACE_DECIDE && run->pace != PACE_JUMP) ||
		    (taken && !run->taken_local) || insns + run->insns > UINT16_MAX)
			break;
		next = taken ? run->taken : run->fall;
		if (!next || !in_view(flow, flow->ip + (uint64_t)there) ||
		    (int32_t)there != there)
			break;
		insns += run->insns;
		path->jumps += taken;
		if (run->pace == PACE_DECIDE) {
			insns_decided = insns;
			bits--;
		}
		path->walked++;
		path->distance = (int32_t)there;
		run = next;
	}
	path->to = run;
	path->insns = (uint16_t)insns;
	path->insns_behind = (uint16_t)(insns - insns_decided);
	path->used = (uint8_t)(31 - (unsigned)__builtin_clz(key) - bits);
	return next && run->pace != PACE_UNKNOWN;
}

/* Whether a path is of this walk; others may have mapped less of the run's file. */
static inline bool is_path(const struct pt_flow *flow, const struct code_path *path,
			   const struct code_run *run, unsigned key)
{
	return path->from == run->number && path->key == key &&
	       path->where == code_view_key(&flow->view);
}

/* Returns the path, which `kept` is of another walk than.  It is not called often. */
static __attribute__((noinline)) const struct code_path *
look_for_path(struct pt_flow *flow, struct code_run *run, unsigned key, struct code_path *kept)
{
	struct code_path *path = &flow->runs.tried;
	struct code_path *beside = code_runs_beside(&flow->runs, kept);

	if (is_path(flow, beside, run, key))
		return beside;
	*path = (struct code_path){
		.from = run->number, .key = (uint8_t)key, .where = code_view_key(&flow->view)
	};
	if (!find_path(flow, run, path))
		return path;
	*beside = *kept;
	*kept = *path;
	return path;
}

static inline void take_path(struct pt_flow *flow, const struct code_path *path)
{
	flow->here = path->to;
	flow->ip += (uint64_t)(int64_t)path->distance;
	flow->walked += path->walked;
	stream_count_insns(&flow->stream, path->insns);
	flow->stream.stats.events += path->jumps;
	flow->stream.stats.local_jumps += path->jumps;
	if (!path->used)
		return;
	flow->known = flow->stream.now;
	if (!flow->stream.timed)
		flow->known.time -= path->insns_behind;
	flow->bit_count -= path->used;
	if (!flow->bit_count)
		flow->task = TASK_READ;
}

/* Decisions within a function that were taken before.  Returns whether there were any. */
static inline bool walk_path(struct pt_flow *flow, struct code_run *run)
{
	unsigned bits = flow->bit_count < CODE_PATH_BITS ? flow->bit_count : CODE_PATH_BITS;
	unsigned stop = 1u << bits;
	unsigned key = ((unsigned)(flow->bits >> (flow->bit_count - bits)) & (stop - 1)) | stop;
	struct code_path *kept = code_runs_path(&flow->runs, run, key);
	const struct code_path *path = kept;

	if (!is_path(flow, path, run, key))
		path = look_for_path(flow, run, key, kept);
	take_path(flow, path);
	return path->walked;
}

static void arrive_at(struct pt_flow *flow, struct code_run *run, uint64_t ip)
{
	flow->walked++;
	flow->ip = ip;
	flow->here = run;
}

static bool go_direct(struct pt_flow *flow, struct code_run *run)
{
	uint64_t next = flow->ip + run->length + run->insn.length;
	uint64_t to = next + (uint64_t)(int64_t)run->insn.distance;

	if (!run->taken || !in_view(flow, to) || to == flow->stream.input.switch_ip)
		return false;
	if (run->insn.kind == BRANCH_CALL && run->insn.distance)
		push_return(flow, next, run);
	count_run(flow, run);
	push_branch(flow, &run->insn, flow->ip + run->length, to);
	arrive_at(flow, run->taken, to);
	return true;
}

/* A conditional jump to another function. */
static bool go_away(struct pt_flow *flow, struct code_run *run)
{
	uint64_t from = flow->ip + run->length;
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
	push_branch(flow, &run->insn, flow->ip + run->length, to);
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
		push_return(flow, flow->ip + run->length + run->insn.length, run);
	if (run->insn.kind == BRANCH_RETURN)
		pop_return(flow);
	count_run(flow, run);
	flow->known = flow->stream.now;
	if (run->taken_local)
		go_unseen(flow, to);
	else
		push_branch(flow, &run->insn, flow->ip + run->length, to);
	arrive_at(flow, next, to);
	flow->task = flow->bit_count ? TASK_DECIDE : TASK_READ;
	return true;
}

/* A direct jump within a function, where no decision is to be made. */
static bool pass_jump(struct pt_flow *flow, struct code_run *run)
{
	uint64_t to = flow->ip + run->length + run->insn.length +
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
		if (deciding && walk_path(flow, run))
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
