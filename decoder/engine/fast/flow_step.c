/* SPDX-License-Identifier: MIT */
#include "decoder/engine/fast/flow_step.h"

#include "decoder/engine/fast/emulated_ptwrite.h"
#include "decoder/engine/fast/flow_code.h"

static void drop_write(struct pt_flow *flow)
{
	if (flow->state.write.left)
		emulated_ptwrite_drop(flow);
}

/* ---- Damage -------------------------------------------------------------- */

void flow_lose(struct pt_flow *flow)
{
	flow->task = TASK_READ;
	flow->bits = TNT_BITS_NONE;
	flow->return_count = 0;
	flow->state.has_interrupt = false;
	drop_write(flow);
	stream_set_in_tx(&flow->stream, false);
	flow->state.aborted = false;
	flow_count_bytes(flow, flow->offset);
	flow->state.lost = true;
}

static void reach(struct pt_flow *flow);

void flow_fail(struct pt_flow *flow, enum gap_reason reason, uint64_t ip)
{
	bool place = flow->task == TASK_PLACE;

	if (!flow->state.lost)
		stream_push_gap(&flow->stream, reason, ip);
	flow_note_gap(flow);
	flow_lose(flow);
	if (!place)
		return;
	/* The way there is not known, but the place is. */
	flow_try_at(flow, flow->target);
	if (!flow->state.lost)
		reach(flow);
}

void flow_found(struct pt_flow *flow)
{
	if (flow->state.lost)
		flow_count_bytes(flow, flow->offset);
	flow->state.lost = false;
}

/* ---- Beside the flow ----------------------------------------------------- */

/* A transaction takes effect on the flow, too. */
static void enter_transaction(struct pt_flow *flow, enum cpu_event_kind kind, uint64_t ip)
{
	stream_set_in_tx(&flow->stream, kind == CPU_EVENT_TX_BEGIN);
	if (kind != CPU_EVENT_TX_ABORT || !flow->state.on || flow->state.lost)
		return;
	flow->state.aborted = flow->state.has_interrupt = true;
	flow->state.interrupted = ip;
}

void flow_emit_pending(struct pt_flow *flow, uint64_t ip)
{
	for (unsigned i = 0; i < flow->waiting_count; i++) {
		const struct cpu_event_data *note = &flow->waiting[i];

		stream_push_cpu_event(&flow->stream, note, ip);
		if (note->kind >= CPU_EVENT_TX_BEGIN && note->kind <= CPU_EVENT_TX_ABORT)
			enter_transaction(flow, note->kind, ip);
	}
	flow->waiting_count = 0;
}

void flow_emit_cfe(struct pt_flow *flow, uint64_t ip)
{
	if (flow->has_control)
		stream_push_cpu_event(&flow->stream, &flow->control, ip);
	flow->has_control = false;
}

void flow_drop_waiting(struct pt_flow *flow)
{
	flow_emit_cfe(flow, 0);
	for (unsigned i = 0; i < flow->waiting_count; i++)
		stream_push_cpu_event(&flow->stream, &flow->waiting[i], 0);
	flow->waiting_count = 0;
}

/* ---- Links between blocks ------------------------------------------------ */

/* Returns where a way goes that is known, and gives nothing out; 0: there is none. */
static uint32_t quiet_way(const struct basic_block *run, const struct basic_block *next)
{
	return next && next->area == run->area ? next->hop : 0;
}

/* What flow_run_cached() need not look at more of. */
static void set_hop(struct pt_flow *flow, const struct basic_block *run)
{
	struct cfg_node *hop = cfg_node_at(flow->runs.hops, run->hop);
	bool jumps = run->pace == EXIT_JUMP, decides = run->pace == EXIT_DECIDE;

	if (run->insns > CODE_STEP_INSNS_MAX)
		return;
	hop->step[0] = packed_counts(!jumps, jumps, run->insns);
	hop->step[1] = packed_counts(!jumps, 1, run->insns);
	hop->next[1] = run->taken_local && (jumps || decides) ? quiet_way(run, run->taken) : 0;
	hop->next[0] = jumps ? hop->next[1] : decides ? quiet_way(run, run->fall) : 0;
}

/*
 * The walk goes on at ip.  The run there is kept in `link`, which belongs to the
 * run before it, for the next time.  Links stay within a mapping: they are of
 * the file, which others may have mapped elsewhere.
 */
static void go_on(struct pt_flow *flow, struct basic_block **link, uint64_t ip)
{
	unsigned generation = flow->runs.generation;
	struct basic_block *run;

	flow->state.ip = ip;
	flow->here = 0;
	if (!in_view(flow, ip))
		return;
	run = *link ? *link : flow_block_at(flow, ip);
	if (generation == flow->runs.generation) {
		*link = run;
		set_hop(flow, flow->run);
	}
	flow->here = run && flow->state.emitted && !flow->state.write.left ? run->hop : 0;
}

/* The same as go_on() where the way is another each time: across mappings, too. */
static void go_on_where(struct pt_flow *flow, struct basic_block **link, uint64_t ip)
{
	flow->state.ip = ip;
	flow->here = 0;
	if (!see(flow, ip))
		return;
	if (!is_at(flow, *link, ip))
		*link = NULL;
	go_on(flow, link, ip);
}

/* ---- Walking ------------------------------------------------------------- */

static void count_run(struct pt_flow *flow, const struct basic_block *run)
{
	stream_count_insns(&flow->stream, run->insns);
}

/* Within a function: nothing of it is given out. */
static void go_unseen(struct pt_flow *flow, uint64_t to)
{
	flow->stream.stats.events++;
	flow->stream.stats.local_jumps++;
	flow->state.ip = to;
	flow->here = 0;
}

/* One bit is used. */
static void decided(struct pt_flow *flow)
{
	flow->bits <<= 1;
	if (flow->bits == TNT_BITS_NONE)
		flow->task = TASK_READ;
}

/* A function that is too long to tell, or not known, is an empty one. */
static void set_function(struct basic_block *run, int64_t begin, int64_t end)
{
	run->function_known = true;
	run->function_begin = run->function_end = 0;
	if (begin != (int32_t)begin || end != (int32_t)end || begin >= end)
		return;
	run->function_begin = (int32_t)begin;
	run->function_end = (int32_t)end;
}

/* Whether the run that is walked, its branch and `to` lie in one function. */
static bool is_local(struct pt_flow *flow, uint64_t to)
{
	struct basic_block *run = flow->run;
	uint64_t begin, end;

	if (!run->function_known) {
		code_image_function(flow->stream.input.code, &flow->view, flow->state.ip, &begin,
				    &end);
		set_function(run, (int64_t)(begin - flow->state.ip),
			     (int64_t)(end - flow->state.ip));
	}
	return in_function(run, to - flow->state.ip);
}

static bool begins_write(const struct pt_flow *flow, const struct insn *insn)
{
	const struct basic_block *run = flow->run;
	uint64_t behind = (uint64_t)run->length + insn->length;

	return insn->kind == BRANCH_JUMP && !insn->indirect &&
	       insn->distance == EMULATED_WRITE_SIGN_SIZE &&
	       flow->view.end - flow->state.ip > behind &&
	       emulated_ptwrite_has_sign(run->bytes + behind,
					 flow->view.end - flow->state.ip - behind);
}

/* What flow_run_cached() may do the next time, without looking closer. */
static void set_exit(struct pt_flow *flow, const struct insn *insn, uint64_t to)
{
	struct basic_block *run = flow->run;
	bool plain = flow->stream.input.skip_local_jumps && !insn->indirect;

	run->pace = EXIT_STEP;
	run->taken_local = plain && (insn->kind == BRANCH_COND || insn->kind == BRANCH_JUMP) &&
			   is_local(flow, to);
	run->writes = begins_write(flow, insn);
	if (run->writes)
		return;
	if (plain && insn->kind == BRANCH_COND)
		run->pace = EXIT_DECIDE;
	else if (run->taken_local)
		run->pace = EXIT_JUMP;
	else if (insn->kind == BRANCH_RETURN)
		run->pace = EXIT_RETURN;
	else if (insn->kind == BRANCH_CALL || insn->kind == BRANCH_JUMP)
		run->pace = insn->indirect ? EXIT_TARGET : EXIT_GO;
}

static void go(struct pt_flow *flow, const struct insn *insn, uint64_t from, uint64_t to)
{
	if (flow->run->pace == EXIT_UNKNOWN)
		set_exit(flow, insn, to);
	if (flow->state.emitted && flow->run->taken_local) {
		go_unseen(flow, to);
		return;
	}
	push_branch(flow, insn, from, to);
	flow->state.ip = to;
	flow->here = 0;
	flow->state.emitted = true;
	if (to == flow->stream.input.switch_ip)
		stream_switch_thread(&flow->stream);
}

static bool is_direct(const struct insn *insn)
{
	return (insn->kind == BRANCH_CALL || insn->kind == BRANCH_JUMP) && !insn->indirect;
}

static void follow_direct(struct pt_flow *flow, const struct insn *insn, uint64_t from)
{
	uint64_t next = from + insn->length;

	if (insn->kind == BRANCH_CALL && insn->distance)
		push_return(flow, next, flow->run);
	go(flow, insn, from, next + (uint64_t)(int64_t)insn->distance);
	if (flow->run->writes)
		emulated_ptwrite_begin(flow, flow->state.ip);
	else if (insn->kind == BRANCH_CALL)
		drop_write(flow);
	go_on(flow, &flow->run->taken, flow->state.ip);
}

static void decide_jump(struct pt_flow *flow, const struct insn *insn, uint64_t from)
{
	uint64_t next = from + insn->length, to = next + (uint64_t)(int64_t)insn->distance;

	if (flow->run->pace == EXIT_UNKNOWN)
		set_exit(flow, insn, to);
	if (!tnt_bits_next(flow->bits)) {
		go_on(flow, &flow->run->fall, next);
		return;
	}
	go(flow, insn, from, to);
	go_on(flow, &flow->run->taken, flow->state.ip);
}

/* Returns whether the stack knew the place. */
static bool decide_return(struct pt_flow *flow, const struct insn *insn, uint64_t from)
{
	bool compressed = tnt_bits_next(flow->bits);
	struct return_place place = { 0 };

	if (insn->kind == BRANCH_RETURN && compressed && flow->compression)
		place = pop_return(flow);
	if (!place.ip)
		return false;
	drop_write(flow);
	go(flow, insn, from, place.ip);
	if (place.call)
		go_on_where(flow, &place.call->fall, place.ip);
	return true;
}

/*
 * Decisions may come before the TIPs of indirect branches between them (SDM volume 3,
 * "Deferred TIPs"): the rest of the bits waits for the next TIP.
 */
static void defer(struct pt_flow *flow, uint64_t from)
{
	struct pt_stream *stream = &flow->stream;

	/* But not those of another packet. */
	if (tnt_bits_count(flow->bits) > flow->last_bits) {
		flow_fail(flow, GAP_MISMATCH, from);
		return;
	}
	/* The run is walked again, then. */
	stream->state.insn_count -= flow->run->insns;
	stream->stats.insns -= flow->run->insns;
	if (!stream_is_timed(stream))
		stream->state.now.time -= flow->run->insns;
	flow->task = TASK_READ;
}

static void decide(struct pt_flow *flow, const struct insn *insn, uint64_t from)
{
	flow->known = flow->stream.state.now;
	if (insn->kind == BRANCH_COND) {
		if (flow->state.write.left)
			emulated_ptwrite_bit(flow, tnt_bits_next(flow->bits));
		decide_jump(flow, insn, from);
	} else if (insn->indirect) {
		defer(flow, from);
		return;
	} else if (!decide_return(flow, insn, from)) {
		flow_fail(flow, GAP_MISMATCH, from);
		return;
	}
	decided(flow);
}

static void arrive(struct pt_flow *flow, const struct insn *insn, uint64_t from)
{
	if (insn->kind == BRANCH_COND) {
		flow_fail(flow, GAP_MISMATCH, from);
		return;
	}
	if (insn->kind == BRANCH_RETURN)
		pop_return(flow);
	if (insn->kind == BRANCH_CALL)
		push_return(flow, from + insn->length, flow->run);
	flow->known = flow->stream.state.now;
	flow->task = flow->bits != TNT_BITS_NONE ? TASK_DECIDE : TASK_READ;
	drop_write(flow);
	if (flow->run->pace == EXIT_UNKNOWN)
		set_exit(flow, insn, flow->target);
	flow->run->taken_local = insn->kind == BRANCH_JUMP && flow->stream.input.skip_local_jumps &&
				 is_local(flow, flow->target);
	go(flow, insn, from, flow->target);
	if (insn->kind == BRANCH_IRET)
		emulated_ptwrite_resume(flow, flow->target);
	flow_take_mode(flow);
	go_on_where(flow, &flow->run->taken, flow->state.ip);
}

static void go_off(struct pt_flow *flow, const struct insn *insn, uint64_t from)
{
	drop_write(flow);
	if (insn->kind == BRANCH_RETURN)
		pop_return(flow);
	if (insn->kind == BRANCH_CALL)
		push_return(flow, from + insn->length, flow->run);
	flow->known = flow->stream.state.now;
	push_branch(flow, insn, from, flow->target)->flags |=
		BRANCH_TRACE_OFF | (flow->state.guest ? BRANCH_GUEST : 0);
	stream_stop_user(&flow->stream, insn->kind == BRANCH_SYSCALL ? from + insn->length : 0);
	flow->task = TASK_READ;
	flow->state.on = false;
}

static void reach(struct pt_flow *flow)
{
	flow->task = TASK_READ;
	flow->known = flow->stream.state.now;
	switch (flow->place) {
	case PLACE_INTERRUPT:
		flow->state.has_interrupt = true;
		flow->state.interrupted = flow->state.ip;
		flow_emit_cfe(flow, flow->state.ip);
		break;
	case PLACE_EVENT:
		flow_emit_pending(flow, flow->state.ip);
		break;
	case PLACE_PSB:
		flow_take_mode(flow);
		flow->here = 0;
		break;
	}
}

/* Whether the place that is walked to lies before the run's branch has been taken. */
static bool passes(const struct pt_flow *flow, const struct basic_block *run)
{
	return flow->task == TASK_PLACE && flow->target - flow->state.ip <= run->length;
}

static void pass(struct pt_flow *flow, const struct basic_block *run)
{
	int64_t count = basic_block_count_insns(run, flow->target - flow->state.ip);

	if (count < 0) {
		flow_fail(flow, GAP_MISMATCH, flow->state.ip);
		return;
	}
	stream_count_insns(&flow->stream, (uint32_t)count);
	flow->state.ip = flow->target;
	flow->here = 0;
	reach(flow);
}

/*
 * A filter may end the trace at a direct branch.  Its packet names the target, or does
 * not (SKL014), and then the filter tells.
 */
static bool leaves_filter(struct pt_flow *flow, uint64_t to)
{
	if (!flow->target && flow->filter.count &&
	    address_filter_ends_at(&flow->filter, flow->space, to))
		flow->target = to;
	return flow->target && flow->target == to;
}

void flow_step_slow(struct pt_flow *flow)
{
	struct basic_block *run = flow->here ? basic_blocks_at(&flow->runs, flow->here)
					     : flow_block_at(flow, flow->state.ip);
	struct insn insn;
	uint64_t from;

	if (!run && flow->task == TASK_PLACE && flow->target == flow->state.ip) {
		reach(flow); /* nothing is executed on the way, so no code is missing */
		return;
	}
	if (!run) {
		flow_fail(flow, GAP_NO_CODE, flow->state.ip);
		return;
	}
	flow->run = run;
	if (passes(flow, run)) {
		pass(flow, run);
		return;
	}
	insn = run->insn;
	from = flow->state.ip + run->length;
	if (!insn.length) {
		flow_fail(flow, from >= flow->view.end ? GAP_NO_CODE : GAP_MISMATCH, from);
		return;
	}
	if (++flow->walked > BRANCHES_WITHOUT_PACKET_MAX) {
		flow_fail(flow, GAP_ENDLESS, from);
		return;
	}
	count_run(flow, run);
	if (is_direct(&insn) && flow->task == TASK_OFF &&
	    leaves_filter(flow, from + insn.length + (uint64_t)(int64_t)insn.distance))
		go_off(flow, &insn, from);
	else if (is_direct(&insn))
		follow_direct(flow, &insn, from);
	else if (flow->task == TASK_DECIDE)
		decide(flow, &insn, from);
	else if (flow->task == TASK_TARGET)
		arrive(flow, &insn, from);
	else if (flow->task == TASK_OFF)
		go_off(flow, &insn, from);
	else
		flow_fail(flow, GAP_MISMATCH, from);
}

/* ---- Ahead of the flow --------------------------------------------------- */

/* Direct branches on a way that is only tried. */
#define STEPS_MAX 256

bool flow_reaches(struct pt_flow *flow, uint64_t ip)
{
	uint64_t at = flow->state.ip;

	for (int i = 0; i < STEPS_MAX; i++) {
		const struct basic_block *run = flow_block_at(flow, at);

		if (!run)
			return at == ip;
		if (ip - at <= run->length)
			return basic_block_count_insns(run, ip - at) >= 0;
		if (!run->insn.length || !is_direct(&run->insn))
			return false;
		at += run->length + run->insn.length + (uint64_t)(int64_t)run->insn.distance;
	}
	return false;
}

bool flow_at_vm_entry(struct pt_flow *flow)
{
	/* SDM volume 3, "VMLAUNCH/VMRESUME": 0F 01 C2, 0F 01 C3 */
	size_t size;
	const uint8_t *bytes = flow_code_at(flow, flow->state.ip, &size);

	return bytes && size >= 3 && bytes[0] == 0x0f && bytes[1] == 0x01 &&
	       (bytes[2] == 0xc2 || bytes[2] == 0xc3);
}

/* ---- Where tracing begins ------------------------------------------------ */

void flow_begin(struct pt_flow *flow, uint64_t ip, bool told)
{
	struct pt_stream *stream = &flow->stream;

	stream_enter(stream, ip);
	emulated_ptwrite_resume(flow, ip);
	flow_found(flow);
	flow->state.on = true;
	flow->state.emitted = false;
	flow->state.ip = ip;
	flow->here = 0;
	flow->known = stream->state.now;
	flow_take_mode(flow);
	if (told || flow_asks_for_gap(flow))
		stream_push(stream, BRANCH_NONE, 0, ip)->flags |= BRANCH_TRACE_ON;
	flow->state.after_gap = flow->state.gap_guessed = false;
}

/* After damage, a packet tells that ip is executed: go on there if there is code. */
void flow_try_at(struct pt_flow *flow, uint64_t ip)
{
	size_t size;

	flow->state.on = true;
	stream_enter(&flow->stream, ip);
	if (flow_code_at(flow, ip, &size))
		flow_begin(flow, ip, true);
}
