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
	unsigned bits = (unsigned)(31 - __builtin_clz(path->key)), key = path->key;
	struct code_run *next = run;

	while (bits && path->walked < UINT8_MAX) {
		bool taken = run->pace == PACE_JUMP || (key >> (bits - 1) & 1);
		int64_t behind = path->distance + (int64_t)run->length + run->insn.length;
		int64_t there = behind + (taken ? run->insn.distance : 0);

		if ((run->pace != PACE_DECIDE && run->pace != PACE_JUMP) ||
		    (taken && !run->taken_local))
			break;
		next = taken ? run->taken : run->fall;
		if (!next || !in_view(flow, flow->ip + (uint64_t)there) ||
		    (int32_t)there != there)
			break;
		path->insns += run->insns;
		path->jumps += taken;
		if (run->pace == PACE_DECIDE) {
			path->insns_decided = path->insns;
			bits--;
		}
		path->walked++;
		path->distance = (int32_t)there;
		path->lowest = path->distance < path->lowest ? path->distance : path->lowest;
		path->highest = path->distance > path->highest ? path->distance : path->highest;
		run = next;
	}
	path->to = run;
	path->bits_left = (uint8_t)bits;
	return next && run->pace != PACE_UNKNOWN;
}

/* Whether all of a path lies in the mapping that is walked: others may have less of its file. */
static bool in_mapping(const struct pt_flow *flow, const struct code_path *path)
{
	if (path->mapping && path->mapping == flow->view.mapping)
		return true;
	return in_view(flow, flow->ip + (uint64_t)(int64_t)path->lowest) &&
	       in_view(flow, flow->ip + (uint64_t)(int64_t)path->highest);
}

static void take_path(struct pt_flow *flow, const struct code_path *path, unsigned used)
{
	flow->here = path->to;
	flow->ip += (uint64_t)(int64_t)path->distance;
	flow->walked += path->walked;
	stream_count_insns(&flow->stream, path->insns);
	flow->stream.stats.events += path->jumps;
	flow->stream.stats.local_jumps += path->jumps;
	if (!used)
		return;
	flow->known = flow->stream.now;
	if (!flow->stream.timed)
		flow->known.time -= path->insns - path->insns_decided;
	flow->bit_count -= used;
	if (!flow->bit_count)
		flow->task = TASK_READ;
}

/* Decisions within a function that were taken before.  Returns whether there were any. */
static bool walk_path(struct pt_flow *flow)
{
	unsigned bits = flow->bit_count < CODE_PATH_BITS ? flow->bit_count : CODE_PATH_BITS;
	unsigned key = flow->bits >> (flow->bit_count - bits) & ((1u << bits) - 1);
	struct code_path *kept, path;

	key |= 1u << bits;
	kept = code_runs_path(&flow->runs, flow->here, (uint16_t)key);
	if (kept->from == flow->here && kept->key == key && in_mapping(flow, kept)) {
		take_path(flow, kept, bits - kept->bits_left);
		return kept->walked;
	}
	path = (struct code_path){
		.from = flow->here, .key = (uint16_t)key, .mapping = flow->view.mapping
	};
	if (find_path(flow, flow->here, &path))
		*kept = path;
	take_path(flow, &path, bits - path.bits_left);
	return path.walked;
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

static bool go_to_target(struct pt_flow *flow, struct code_run *run)
{
	uint64_t to = flow->target;

	if (flow->mode != flow->next_mode || to == flow->stream.input.switch_ip ||
	    !see(flow, to) || !is_at(flow, run->taken, to))
		return false;
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
	arrive_at(flow, run->taken, to);
	flow->task = flow->bit_count ? TASK_DECIDE : TASK_READ;
	return true;
}

/* Returns false where a run needs a closer look. */
static bool walk_known(struct pt_flow *flow)
{
	struct code_run *run = flow->here;

	switch (run->pace) {
	case PACE_DECIDE:
	case PACE_JUMP:
		return flow->task == TASK_DECIDE && (walk_path(flow) || go_away(flow, run));
	case PACE_GO:
		return go_direct(flow, run);
	case PACE_RETURN:
		return flow->task == TASK_DECIDE ? go_back(flow, run) : go_to_target(flow, run);
	case PACE_TARGET:
		return flow->task == TASK_TARGET && go_to_target(flow, run);
	default:
		return false;
	}
}

void flow_walk_known(struct pt_flow *flow)
{
	while ((flow->task == TASK_DECIDE || flow->task == TASK_TARGET) && flow->here &&
	       flow->walked < BRANCHES_WITHOUT_PACKET_MAX && stream_has_room(&flow->stream) &&
	       walk_known(flow))
		continue;
}
