/* SPDX-License-Identifier: MIT */
/*
 * The fast engine: packets drive a walk over cached runs of code.
 *
 * A packet sets what is to be done, and each step walks one run further until
 * it is done; only then is the next packet read.  So nothing is reported that
 * no packet has proved yet:
 *
 *   packet      walk
 *   ----------  -----------------------------------------------------------
 *   TNT         to a conditional jump or a compressed return, a bit each
 *   TIP         to an indirect branch, an uncompressed return, a far transfer
 *   TIP.PGD     the same; tracing goes off there
 *   FUP         to its ip: an interrupt (if TIP or TIP.PGD follows)
 *   PSB+        to its ip, to check that trace and code agree
 *
 * Return compression (SDM volume 3, "Intel Processor Trace", "RET
 * Compression"): the processor pops its stack of 64 at every near return, also
 * at one that it does not compress; and a call to the next instruction pushes
 * nothing.
 *
 * After damage decoding goes on at the next packet that tells an ip where there
 * is code.
 */
#include <intel-pt.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "decoder/aux_window.h"
#include "decoder/code_runs.h"
#include "decoder/packet_clock.h"
#include "decoder/pt_stream_base.h"

#define RETURNS 64u

enum task {
	TASK_READ,   /* nothing: read a packet */
	TASK_DECIDE, /* bits of a TNT */
	TASK_TARGET, /* a TIP */
	TASK_OFF,    /* a TIP.PGD without FUP */
	TASK_PLACE,  /* walk to an ip */
};

/* Where a place (TASK_PLACE) comes from. */
enum place { PLACE_INTERRUPT, PLACE_EVENT, PLACE_PSB };

struct pt_flow {
	struct pt_stream stream;
	struct aux_window window;
	struct pt_config config;
	struct pt_packet_decoder *packets; /* owned; of the window as it is */
	size_t at;			   /* where the next packet is, in the window */
	bool synced;
	struct code_runs runs;
	struct code_view view;		   /* of the code at ip; bytes NULL: to be looked up */
	const struct address_space *space; /* that the view is of */
	struct packet_clock clock;
	uint64_t last_ip;		/* for IP compression */
	enum insn_mode mode, next_mode; /* the next one takes effect with the next ip */

	bool on;	 /* user code runs that is traced, at ip */
	bool lost;	 /* ip is not known: wait for a packet that tells one */
	bool after_gap;	 /* a gap was told and tracing did not begin since */
	bool overflowed; /* the next FUP tells where tracing goes on */
	bool in_header;	 /* between PSB and PSBEND */
	bool header_has_ip;
	bool tx_pending, tx_begins, tx_aborts; /* MODE.TSX, for the next FUP */
	bool aborted;  /* the next TIP is where an aborted transaction went on */
	unsigned fups; /* that other packets will have, and that are no interrupts */

	uint64_t ip;
	struct return_place {
		uint64_t ip;
		struct code_run *call; /* that is returned behind; NULL: not known */
	} returns[RETURNS];
	unsigned return_top, return_count;
	bool compression; /* returns may be TNT bits */

	enum task task;
	enum place place;
	uint64_t target;      /* of the task; 0: suppressed */
	uint64_t interrupted; /* where a FUP interrupted; valid if has_interrupt */
	bool has_interrupt;
	uint64_t bits; /* of TNT, the next in the bit `bit_count - 1` */
	unsigned bit_count;
	unsigned walked;      /* branches since the last packet */
	struct code_run *run; /* that is walked; valid during a step */
	struct code_run *here; /* the run at ip; NULL: to be looked up */
	bool told;	      /* a branch was given out since tracing began */
	struct moment known;  /* when ip was told last: direct branches follow at once */

	uint64_t offset; /* of the packet read last */
	uint64_t lost_from;
};

/* ---- Damage -------------------------------------------------------------- */

static void lose(struct pt_flow *flow)
{
	flow->task = TASK_READ;
	flow->return_count = 0;
	flow->has_interrupt = false;
	flow->stream.in_tx = flow->aborted = flow->tx_pending = false;
	if (!flow->lost)
		flow->lost_from = flow->offset;
	flow->lost = true;
}

static void try_at(struct pt_flow *flow, uint64_t ip);
static void reach(struct pt_flow *flow);

static void fail(struct pt_flow *flow, enum gap_reason reason, uint64_t ip)
{
	bool place = flow->task == TASK_PLACE;

	if (!flow->lost)
		stream_push_gap(&flow->stream, reason, ip);
	flow->after_gap = true;
	lose(flow);
	if (!place)
		return;
	/* The way there is not known, but the place is. */
	try_at(flow, flow->target);
	if (!flow->lost)
		reach(flow);
}

static void found(struct pt_flow *flow)
{
	if (flow->lost)
		flow->stream.stats.bytes_lost += flow->offset - flow->lost_from;
	flow->lost = false;
}

/* ---- Code ---------------------------------------------------------------- */

/* Returns the bytes at ip, and how many in *size; NULL if there is no code. */
static const uint8_t *code_at(struct pt_flow *flow, uint64_t ip, size_t *size)
{
	struct pt_stream *stream = &flow->stream;

	if (flow->space != stream->schedule.space ||
	    ip - flow->view.begin >= flow->view.end - flow->view.begin) {
		flow->space = stream->schedule.space;
		flow->view = code_image_view(stream->input.code, flow->space, ip);
	}
	*size = flow->view.end - ip;
	return flow->view.bytes ? flow->view.bytes + (ip - flow->view.begin) : NULL;
}

static bool in_view(const struct pt_flow *flow, uint64_t ip)
{
	return ip - flow->view.begin < flow->view.end - flow->view.begin;
}

static void forget_calls(struct pt_flow *flow)
{
	for (unsigned i = 0; i < RETURNS; i++)
		flow->returns[i].call = NULL;
}

static struct code_run *run_at(struct pt_flow *flow, uint64_t ip)
{
	unsigned generation = flow->runs.generation;
	struct code_run *run;
	size_t size;
	const uint8_t *bytes = code_at(flow, ip, &size);

	if (!bytes)
		return NULL;
	run = code_runs_find(&flow->runs, bytes, size, flow->mode);
	if (generation != flow->runs.generation)
		forget_calls(flow);
	return run;
}

/*
 * The walk goes on at ip, behind `before`: what stands there is kept in its
 * `link`, for the next time.  Links stay within a mapping, since it is the file
 * that they are of.
 */
static void go_on(struct pt_flow *flow, struct code_run **link, uint64_t ip)
{
	unsigned generation = flow->runs.generation;
	struct code_run *run;

	flow->ip = ip;
	flow->here = NULL;
	if (!in_view(flow, ip))
		return;
	run = *link ? *link : run_at(flow, ip);
	if (generation == flow->runs.generation)
		*link = run;
	flow->here = run;
}

static void push_return(struct pt_flow *flow, uint64_t ip, struct code_run *call)
{
	flow->return_top = (flow->return_top + 1) % RETURNS;
	flow->returns[flow->return_top] = (struct return_place){ ip, call };
	if (flow->return_count < RETURNS)
		flow->return_count++;
}

/* Returns a place with ip 0 if the stack is empty. */
static struct return_place pop_return(struct pt_flow *flow)
{
	struct return_place place = flow->returns[flow->return_top];

	if (!flow->return_count)
		return (struct return_place){ 0 };
	flow->return_count--;
	flow->return_top = (flow->return_top + RETURNS - 1) % RETURNS;
	return place;
}

/* ---- Walking ------------------------------------------------------------- */

static void count_run(struct pt_flow *flow, const struct code_run *run)
{
	stream_count_insns(&flow->stream, run->insns);
}

static struct branch_event *push_branch(struct pt_flow *flow, const struct insn *insn,
					uint64_t from, uint64_t to)
{
	struct branch_event *event =
		stream_push_at(&flow->stream, &flow->known, insn->kind, from, to);

	event->from_length = insn->length;
	event->flags |= insn->indirect ? BRANCH_INDIRECT : 0;
	return event;
}

static bool in_function(const struct code_run *run, int64_t distance)
{
	return distance >= run->function_begin && distance < run->function_end;
}

/* Whether the run that is walked, its branch and `to` lie in one function. */
static bool is_local(struct pt_flow *flow, uint64_t to)
{
	struct code_run *run = flow->run;
	uint64_t begin, end;

	if (!run->function_known) {
		code_image_function(flow->stream.input.code, &flow->view, flow->ip, &begin, &end);
		run->function_begin = (int64_t)(begin - flow->ip);
		run->function_end = begin < end ? (int64_t)(end - flow->ip) : run->function_begin;
		run->function_known = true;
	}
	return in_function(run, (int64_t)(to - flow->ip)) && in_function(run, run->length);
}

/* What walk_fast() may do the next time, without looking closer. */
static void set_pace(struct pt_flow *flow, const struct insn *insn, uint64_t to)
{
	struct code_run *run = flow->run;
	bool plain = flow->stream.input.skip_local_jumps && !insn->indirect;

	run->pace = PACE_STEP;
	run->taken_local = plain && (insn->kind == BRANCH_COND || insn->kind == BRANCH_JUMP) &&
			   is_local(flow, to);
	if (plain && insn->kind == BRANCH_COND)
		run->pace = PACE_DECIDE;
	else if (run->taken_local)
		run->pace = PACE_JUMP;
}

static void go(struct pt_flow *flow, const struct insn *insn, uint64_t from, uint64_t to)
{
	if (flow->run->pace == PACE_UNKNOWN)
		set_pace(flow, insn, to);
	if (flow->told && flow->run->taken_local) {
		flow->stream.stats.events++;
		flow->stream.stats.local_jumps++;
	} else {
		push_branch(flow, insn, from, to);
	}
	flow->ip = to;
	flow->here = NULL;
	flow->told = true;
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
	go_on(flow, &flow->run->taken, flow->ip);
}

static void decide_jump(struct pt_flow *flow, const struct insn *insn, uint64_t from)
{
	uint64_t next = from + insn->length, to = next + (uint64_t)(int64_t)insn->distance;

	if (flow->run->pace == PACE_UNKNOWN)
		set_pace(flow, insn, to);
	if (!(flow->bits >> (flow->bit_count - 1) & 1)) {
		go_on(flow, &flow->run->fall, next);
		return;
	}
	go(flow, insn, from, to);
	go_on(flow, &flow->run->taken, flow->ip);
}

/* Returns whether the stack knew the place. */
static bool decide_return(struct pt_flow *flow, const struct insn *insn, uint64_t from)
{
	bool compressed = flow->bits >> (flow->bit_count - 1) & 1;
	struct return_place place = { 0 };

	if (insn->kind == BRANCH_RETURN && compressed && flow->compression)
		place = pop_return(flow);
	if (!place.ip)
		return false;
	go(flow, insn, from, place.ip);
	if (place.call && in_view(flow, place.ip))
		go_on(flow, &place.call->fall, place.ip);
	return true;
}

static void decide(struct pt_flow *flow, const struct insn *insn, uint64_t from)
{
	flow->known = flow->stream.now;
	if (insn->kind == BRANCH_COND) {
		decide_jump(flow, insn, from);
	} else if (!decide_return(flow, insn, from)) {
		fail(flow, GAP_MISMATCH, from);
		return;
	}
	if (--flow->bit_count == 0)
		flow->task = TASK_READ;
}

static void arrive(struct pt_flow *flow, const struct insn *insn, uint64_t from)
{
	if (insn->kind == BRANCH_COND) {
		fail(flow, GAP_MISMATCH, from);
		return;
	}
	if (insn->kind == BRANCH_RETURN)
		pop_return(flow);
	if (insn->kind == BRANCH_CALL)
		push_return(flow, from + insn->length, flow->run);
	flow->known = flow->stream.now;
	flow->task = TASK_READ;
	go(flow, insn, from, flow->target);
	flow->mode = flow->next_mode;
}

static void go_off(struct pt_flow *flow, const struct insn *insn, uint64_t from)
{
	if (insn->kind == BRANCH_RETURN)
		pop_return(flow);
	if (insn->kind == BRANCH_CALL)
		push_return(flow, from + insn->length, flow->run);
	flow->known = flow->stream.now;
	push_branch(flow, insn, from, flow->target)->flags |= BRANCH_TRACE_OFF;
	flow->task = TASK_READ;
	flow->on = false;
}

static void reach(struct pt_flow *flow)
{
	flow->task = TASK_READ;
	flow->known = flow->stream.now;
	switch (flow->place) {
	case PLACE_INTERRUPT:
		flow->has_interrupt = true;
		flow->interrupted = flow->ip;
		break;
	case PLACE_EVENT:
		flow->stream.in_tx = flow->tx_begins;
		flow->aborted = flow->tx_aborts;
		if (flow->aborted) {
			flow->has_interrupt = true;
			flow->interrupted = flow->ip;
		}
		break;
	case PLACE_PSB:
		flow->mode = flow->next_mode;
		flow->here = NULL;
		break;
	}
}

/* Whether the place that is walked to lies before the run's branch has been taken. */
static bool passes(const struct pt_flow *flow, const struct code_run *run)
{
	return flow->task == TASK_PLACE && flow->target - flow->ip <= run->length;
}

static void pass(struct pt_flow *flow, const struct code_run *run)
{
	int64_t count = code_runs_count(run->bytes, flow->target - flow->ip, flow->mode);

	if (count < 0) {
		fail(flow, GAP_MISMATCH, flow->ip);
		return;
	}
	stream_count_insns(&flow->stream, (uint32_t)count);
	flow->ip = flow->target;
	flow->here = NULL;
	reach(flow);
}

/*
 * The bulk of a trace: decisions within a function, over runs that were walked
 * before.  Goes on until a decision or a run needs a closer look.
 */
static void walk_fast(struct pt_flow *flow)
{
	struct code_run *run = flow->here, *next = run;
	unsigned bits = flow->bit_count, walked = flow->walked;
	uint64_t insns = 0, jumps = 0, ip = flow->ip;

	while (next && bits && walked < BRANCHES_WITHOUT_PACKET_MAX) {
		bool taken = run->pace == PACE_JUMP || (flow->bits >> (bits - 1) & 1);
		int64_t distance = run->length + run->insn.length;

		if (run->pace <= PACE_STEP || (taken && !run->taken_local))
			break;
		next = taken ? run->taken : run->fall;
		distance += taken ? run->insn.distance : 0;
		if (!next || !in_view(flow, ip + (uint64_t)distance))
			break;
		insns += run->insns;
		jumps += taken;
		bits -= run->pace == PACE_DECIDE;
		walked++;
		ip += (uint64_t)distance;
		run = next;
	}
	flow->here = run;
	flow->ip = ip;
	flow->walked = walked;
	stream_count_insns(&flow->stream, (uint32_t)insns);
	flow->stream.stats.events += jumps;
	flow->stream.stats.local_jumps += jumps;
	if (bits == flow->bit_count)
		return;
	flow->known = flow->stream.now;
	flow->bit_count = bits;
	if (!bits)
		flow->task = TASK_READ;
}

static void walk(struct pt_flow *flow)
{
	struct code_run *run = flow->here ? flow->here : run_at(flow, flow->ip);
	struct insn insn;
	uint64_t from;

	if (!run) {
		fail(flow, GAP_NO_CODE, flow->ip);
		return;
	}
	flow->run = run;
	if (passes(flow, run)) {
		pass(flow, run);
		return;
	}
	insn = run->insn;
	from = flow->ip + run->length;
	if (!insn.length) {
		fail(flow, from >= flow->view.end ? GAP_NO_CODE : GAP_MISMATCH, from);
		return;
	}
	if (++flow->walked > BRANCHES_WITHOUT_PACKET_MAX) {
		fail(flow, GAP_ENDLESS, from);
		return;
	}
	count_run(flow, run);
	/* A filter may end the trace at a direct branch; its packet names the target. */
	if (flow->task == TASK_OFF && flow->target && is_direct(&insn) &&
	    flow->target == from + insn.length + (uint64_t)(int64_t)insn.distance)
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
		fail(flow, GAP_MISMATCH, from);
}

/* ---- Where tracing begins ------------------------------------------------ */

static void begin(struct pt_flow *flow, uint64_t ip, bool told)
{
	struct pt_stream *stream = &flow->stream;

	stream_enter(stream, ip);
	found(flow);
	flow->on = true;
	flow->told = false;
	flow->ip = ip;
	flow->here = NULL;
	flow->known = stream->now;
	flow->mode = flow->next_mode;
	if (told || flow->after_gap)
		stream_push(stream, BRANCH_NONE, 0, ip)->flags |= BRANCH_TRACE_ON;
	flow->after_gap = false;
}

/* After damage, a packet tells that ip is executed: go on there if there is code. */
static void try_at(struct pt_flow *flow, uint64_t ip)
{
	size_t size;

	flow->on = true;
	stream_enter(&flow->stream, ip);
	if (code_at(flow, ip, &size))
		begin(flow, ip, true);
}

/* ---- Packets ------------------------------------------------------------- */

/* SDM volume 3, "IP Compression".  Returns whether the packet tells an ip. */
static bool read_ip(struct pt_flow *flow, const struct pt_packet_ip *packet, uint64_t *ip)
{
	uint64_t last = flow->last_ip;

	switch (packet->ipc) {
	case pt_ipc_suppressed:
		*ip = 0;
		return false;
	case pt_ipc_update_16:
		last = (last & ~UINT64_C(0xffff)) | packet->ip;
		break;
	case pt_ipc_update_32:
		last = (last & ~UINT64_C(0xffffffff)) | packet->ip;
		break;
	case pt_ipc_update_48:
		last = (last & ~UINT64_C(0xffffffffffff)) | packet->ip;
		break;
	case pt_ipc_sext_48:
		last = (uint64_t)((int64_t)(packet->ip << 16) >> 16);
		break;
	default:
		last = packet->ip;
		break;
	}
	*ip = flow->last_ip = last;
	return true;
}

static void on_tnt(struct pt_flow *flow, const struct pt_packet_tnt *packet)
{
	if (flow->lost)
		return;
	if (!flow->on) {
		fail(flow, GAP_MISMATCH, 0);
		return;
	}
	flow->has_interrupt = false;
	flow->bits = packet->payload;
	flow->bit_count = packet->bit_size;
	flow->task = flow->bit_count ? TASK_DECIDE : TASK_READ;
}

static void on_interrupt(struct pt_flow *flow, uint64_t ip)
{
	struct pt_stream *stream = &flow->stream;
	enum branch_kind kind = flow->aborted ? BRANCH_TX_ABORT : BRANCH_INTERRUPT;

	stream_push(stream, kind, flow->interrupted, ip)->flags |= BRANCH_ASYNC;
	flow->has_interrupt = flow->aborted = false;
	flow->ip = ip;
	flow->here = NULL;
	flow->known = stream->now;
	flow->mode = flow->next_mode;
}

static void on_tip(struct pt_flow *flow, const struct pt_packet_ip *packet)
{
	uint64_t ip;
	bool told = read_ip(flow, packet, &ip);

	if (flow->lost) {
		if (told)
			try_at(flow, ip);
		return;
	}
	if (!flow->on || !told) {
		fail(flow, GAP_MISMATCH, flow->on ? flow->ip : 0);
		return;
	}
	if (flow->has_interrupt) {
		on_interrupt(flow, ip);
		return;
	}
	flow->target = ip;
	flow->task = TASK_TARGET;
}

static void on_enable(struct pt_flow *flow, const struct pt_packet_ip *packet)
{
	uint64_t ip;

	bool told = read_ip(flow, packet, &ip);

	flow->has_interrupt = flow->overflowed = false;
	if (!told || (flow->on && !flow->lost))
		fail(flow, GAP_MISMATCH, flow->on ? flow->ip : 0);
	if (told)
		begin(flow, ip, true);
}

static void on_disable(struct pt_flow *flow, const struct pt_packet_ip *packet)
{
	uint64_t ip;

	read_ip(flow, packet, &ip);
	if (!flow->on || flow->lost) {
		flow->on = false;
		return;
	}
	if (!flow->has_interrupt) {
		flow->target = ip;
		flow->task = TASK_OFF;
		return;
	}
	stream_push(&flow->stream, BRANCH_NONE, flow->interrupted, ip)->flags |=
		BRANCH_TRACE_OFF | BRANCH_ASYNC;
	flow->has_interrupt = false;
	flow->on = false;
}

static void on_fup(struct pt_flow *flow, const struct pt_packet_ip *packet)
{
	uint64_t ip;

	if (!read_ip(flow, packet, &ip))
		return;
	if (flow->in_header) {
		flow->header_has_ip = true;
		flow->target = ip;
		return;
	}
	if (flow->overflowed) {
		flow->overflowed = false;
		begin(flow, ip, true);
		return;
	}
	if (flow->lost)
		try_at(flow, ip);
	if (flow->lost || !flow->on)
		return;
	flow->place = flow->fups ? PLACE_EVENT : PLACE_INTERRUPT;
	if (flow->fups)
		flow->fups--;
	flow->tx_pending = false;
	flow->target = ip;
	flow->task = TASK_PLACE;
}

static void on_overflow(struct pt_flow *flow)
{
	flow->in_header = false;
	found(flow);
	stream_push_gap(&flow->stream, GAP_OVERFLOW, 0);
	flow->task = TASK_READ;
	flow->on = flow->has_interrupt = flow->aborted = false;
	flow->stream.in_tx = false;
	flow->return_count = 0;
	flow->fups = 0;
	flow->after_gap = true;
	flow->overflowed = true;
}

static void on_psb(struct pt_flow *flow)
{
	flow->in_header = true;
	flow->header_has_ip = false;
	flow->last_ip = 0;
	flow->fups = 0;
	flow->overflowed = false;
}

/* Tracing is on at a PSB if, and only if, its header tells an ip. */
static void on_psbend(struct pt_flow *flow)
{
	if (!flow->in_header)
		return;
	flow->in_header = false;
	if (!flow->header_has_ip) {
		flow->on = false;
	} else if (flow->lost) {
		flow->mode = flow->next_mode;
		try_at(flow, flow->target);
	} else if (!flow->on) {
		begin(flow, flow->target, false);
	} else {
		flow->place = PLACE_PSB;
		flow->task = TASK_PLACE;
	}
}

static void on_mode(struct pt_flow *flow, const struct pt_packet_mode *packet)
{
	if (packet->leaf == pt_mol_exec) {
		flow->next_mode = packet->bits.exec.csl	  ? INSN_MODE_64
				  : packet->bits.exec.csd ? INSN_MODE_32
							  : INSN_MODE_16;
		return;
	}
	if (packet->leaf != pt_mol_tsx)
		return;
	flow->tx_begins = packet->bits.tsx.intx;
	flow->tx_aborts = packet->bits.tsx.abrt;
	if (flow->in_header || !flow->on) {
		flow->stream.in_tx = flow->tx_begins;
		return;
	}
	flow->tx_pending = true;
	flow->fups++;
}

static void on_time(struct pt_flow *flow)
{
	struct pt_stream *stream = &flow->stream;

	if (!flow->clock.tsc)
		return;
	stream_set_time(stream, flow->clock.tsc);
	stream_push_losses(stream, stream->now.time);
	stream_follow_schedule(stream);
	if (flow->space != stream->schedule.space)
		flow->here = NULL;
}

static void on_timing(struct pt_flow *flow, const struct pt_packet *packet)
{
	switch (packet->type) {
	case ppt_tsc:
		packet_clock_tsc(&flow->clock, packet->payload.tsc.tsc);
		break;
	case ppt_tma:
		packet_clock_tma(&flow->clock, packet->payload.tma.ctc, packet->payload.tma.fc);
		return;
	case ppt_mtc:
		packet_clock_mtc(&flow->clock, packet->payload.mtc.ctc);
		break;
	case ppt_cyc:
		packet_clock_cyc(&flow->clock, packet->payload.cyc.value);
		if (flow->on && !flow->lost)
			stream_count_cycles(&flow->stream, packet->payload.cyc.value);
		break;
	default:
		packet_clock_cbr(&flow->clock, packet->payload.cbr.ratio);
		return;
	}
	on_time(flow);
}

static void on_packet(struct pt_flow *flow, const struct pt_packet *packet)
{
	switch (packet->type) {
	case ppt_tnt_8:
	case ppt_tnt_64:
		on_tnt(flow, &packet->payload.tnt);
		break;
	case ppt_tip:
		on_tip(flow, &packet->payload.ip);
		break;
	case ppt_tip_pge:
		on_enable(flow, &packet->payload.ip);
		break;
	case ppt_tip_pgd:
		on_disable(flow, &packet->payload.ip);
		break;
	case ppt_fup:
		on_fup(flow, &packet->payload.ip);
		break;
	case ppt_tsc:
	case ppt_tma:
	case ppt_mtc:
	case ppt_cyc:
	case ppt_cbr:
		on_timing(flow, packet);
		break;
	case ppt_psb:
		on_psb(flow);
		break;
	case ppt_psbend:
		on_psbend(flow);
		break;
	case ppt_ovf:
		on_overflow(flow);
		break;
	case ppt_mode:
		on_mode(flow, &packet->payload.mode);
		break;
	case ppt_ptw:
		flow->fups += packet->payload.ptw.ip;
		break;
	case ppt_exstop:
		flow->fups += packet->payload.exstop.ip;
		break;
	case ppt_mwait:
		flow->fups++;
		break;
	default: /* padding, paging, power: no change of flow */
		break;
	}
}

/* ---- The frequent packets ------------------------------------------------ */

/*
 * Nearly all packets are of these kinds (SDM volume 3, "Packet Definitions");
 * they are read here, and all others by libipt.  The bytes are all there: the
 * window ends AUX_WINDOW_PACKET_MAX or more behind.
 */
enum opcode {
	OPCODE_PAD = 0,
	OPCODE_EXTENDED = 2,
	OPCODE_MTC = 0x59,
	/* With 3 bits of how the address is compressed: */
	OPCODE_DISABLE = 1,
	OPCODE_TIP = 0x0d,
	OPCODE_ENABLE = 0x11,
	OPCODE_FUP = 0x1d,
};

/* The bits from the second on, the oldest highest, below a stop bit. */
static size_t read_tnt(struct pt_flow *flow, uint8_t byte)
{
	unsigned value = byte >> 1;
	struct pt_packet_tnt packet = { .bit_size = (uint8_t)(31 - __builtin_clz(value)) };

	packet.payload = value ^ (1u << packet.bit_size);
	on_tnt(flow, &packet);
	return 1;
}

/* One or two bytes of 5 and 7 bits; returns 0 if there are more. */
static size_t read_cycles(struct pt_flow *flow, const uint8_t *bytes)
{
	struct pt_packet packet = { .type = ppt_cyc, .payload.cyc.value = bytes[0] >> 3 };
	bool more = bytes[0] & 4;

	if (more && bytes[1] & 1)
		return 0;
	if (more)
		packet.payload.cyc.value |= (uint64_t)(bytes[1] >> 1) << 5;
	on_timing(flow, &packet);
	return 1 + more;
}

static size_t read_place(struct pt_flow *flow, const uint8_t *bytes)
{
	static const uint8_t sizes[] = { 0, 2, 4, 6, 6, 0, 8, 0 };
	unsigned compression = bytes[0] >> 5;
	struct pt_packet_ip packet = { .ipc = (enum pt_ip_compression)compression };

	if (compression == 5 || compression == 7)
		return 0; /* reserved */
	memcpy(&packet.ip, bytes + 1, sizes[compression]);
	switch (bytes[0] & 0x1f) {
	case OPCODE_TIP:
		on_tip(flow, &packet);
		break;
	case OPCODE_ENABLE:
		on_enable(flow, &packet);
		break;
	case OPCODE_DISABLE:
		on_disable(flow, &packet);
		break;
	case OPCODE_FUP:
		on_fup(flow, &packet);
		break;
	default:
		return 0;
	}
	return 1u + sizes[compression];
}

/* Returns the size of the packet that was read, 0 if it is not one of these. */
static size_t read_frequent(struct pt_flow *flow, const uint8_t *bytes)
{
	struct pt_packet packet = { .type = ppt_mtc, .payload.mtc.ctc = bytes[1] };

	if (bytes[0] == OPCODE_PAD)
		return 1;
	if (!(bytes[0] & 1))
		return bytes[0] == OPCODE_EXTENDED ? 0 : read_tnt(flow, bytes[0]);
	if ((bytes[0] & 3) == 3)
		return read_cycles(flow, bytes);
	if (bytes[0] != OPCODE_MTC)
		return read_place(flow, bytes);
	on_timing(flow, &packet);
	return 2;
}

/* ---- The stream ---------------------------------------------------------- */

/*
 * Look at the window anew.  `in_flow`: a packet begins where it does; else
 * libipt has to search, and it searches from behind where it was set.
 */
static void open_packets(struct pt_flow *flow, bool in_flow)
{
	pt_pkt_free_decoder(flow->packets);
	flow->config.begin = flow->window.bytes;
	flow->config.end = flow->window.bytes + flow->window.size;
	flow->packets = pt_pkt_alloc_decoder(&flow->config);
	flow->at = 0;
	if (flow->packets && in_flow)
		pt_pkt_sync_set(flow->packets, 0);
}

/* Returns where libipt is, in the window. */
static size_t position(const struct pt_flow *flow)
{
	uint64_t offset = 0;

	pt_pkt_get_offset(flow->packets, &offset);
	return offset;
}

static void move_window(struct pt_flow *flow, size_t used, bool in_flow)
{
	aux_window_move(&flow->window, used);
	open_packets(flow, in_flow);
}

/* At the start, or where bytes are no packet: go on at the next PSB. */
static void synchronise(struct pt_flow *flow, bool first)
{
	uint64_t from = flow->offset, to = flow->stream.stats.bytes_total;

	flow->synced = true;
	while (flow->packets && pt_pkt_sync_forward(flow->packets) < 0) {
		if (aux_window_at_end(&flow->window)) {
			flow->stream.ended = true;
			break;
		}
		/* One may straddle the end of the window. */
		move_window(flow, flow->window.size - AUX_WINDOW_PACKET_MAX, false);
	}
	if (flow->packets && !flow->stream.ended) {
		flow->at = position(flow);
		to = flow->window.base + flow->at;
	}
	if (first)
		flow->stream.stats.bytes_skipped += to - from;
	flow->offset = to;
}

static void finish(struct pt_flow *flow)
{
	flow->offset = flow->stream.stats.bytes_total;
	found(flow);
	stream_finish(&flow->stream);
}

static void read_by_libipt(struct pt_flow *flow)
{
	struct pt_packet packet;
	int status = pt_pkt_sync_set(flow->packets, flow->at);

	if (status >= 0)
		status = pt_pkt_next(flow->packets, &packet, sizeof(packet));
	if (status >= 0) {
		flow->at += packet.size;
		on_packet(flow, &packet);
	} else if (pt_errcode(status) == pte_eos) {
		finish(flow);
	} else {
		fail(flow, GAP_BAD_PACKET, 0);
		flow->in_header = flow->overflowed = flow->on = false;
		synchronise(flow, false);
		if (flow->stream.ended)
			finish(flow);
	}
}

static bool near_end(const struct pt_flow *flow)
{
	return flow->at + AUX_WINDOW_PACKET_MAX > flow->window.size;
}

static void read_packet(struct pt_flow *flow)
{
	size_t size = 0;

	if (near_end(flow) && !aux_window_at_end(&flow->window))
		move_window(flow, flow->at, true);
	flow->offset = flow->window.base + flow->at;
	flow->walked = 0;
	if (!near_end(flow))
		size = read_frequent(flow, flow->window.bytes + flow->at);
	flow->at += size;
	if (!size)
		read_by_libipt(flow);
}

static void first_sync(struct pt_flow *flow)
{
	const struct pt_info *info = flow->stream.input.info;

	flow->compression = !(info->config & info->noretcomp_bit) || !info->noretcomp_bit;
	synchronise(flow, true);
	if (flow->stream.ended)
		finish(flow);
}

static void step(struct pt_stream *stream)
{
	struct pt_flow *flow = (struct pt_flow *)stream;

	do {
		if (flow->task == TASK_DECIDE && flow->here && flow->told)
			walk_fast(flow);
		if (flow->task != TASK_READ)
			walk(flow);
		else if (!flow->synced)
			first_sync(flow);
		else
			read_packet(flow);
	} while (stream->head == stream->tail && !stream->ended);
}

static void close_flow(struct pt_stream *stream)
{
	struct pt_flow *flow = (struct pt_flow *)stream;

	pt_pkt_free_decoder(flow->packets);
	aux_window_release(&flow->window);
	code_runs_release(&flow->runs);
	free(flow);
}

struct pt_stream *pt_flow_new(const struct aux_stream *aux, const struct pt_config *config)
{
	struct pt_flow *flow = alloc_zeroed(1, sizeof(*flow));

	flow->stream.step = step;
	flow->stream.close = close_flow;
	flow->clock.ratio_n = config->cpuid_0x15_ebx;
	flow->clock.ratio_d = config->cpuid_0x15_eax;
	flow->clock.mtc_shift = config->mtc_freq;
	flow->clock.max_ratio = config->nom_freq;
	code_runs_init(&flow->runs);
	flow->config = *config;
	aux_window_init(&flow->window, aux);
	if (aux->size)
		open_packets(flow, false);
	if (flow->packets || !aux->size)
		return &flow->stream;
	close_flow(&flow->stream);
	return NULL;
}
