/* SPDX-License-Identifier: MIT */
/* Handle each packet that libipt decodes for the fast engine. */
#include "decoder/engine/fast/flow_packets.h"

#include "decoder/engine/fast/flow_checkpoint.h"
#include "decoder/engine/fast/flow_code.h"

/* clang-format off */
/*
 * Errata that change the meaning of packets, by CPU (pt_packet_read.c; intel-pt.h quotes Intel):
 *
 *   BDM70   a PSB+ before a TIP.PGE may have a FUP     tracing is still off: on_psbend()
 *   APL12   so may an OVF                              the same: flow_on_fup()
 *   BDM64   an abort may follow a branch never taken   do not follow the code: flow_on_fup()
 *   SKD007  an OVF may cut a CYC                       read_cycles()
 *   SKD010  no FUP or TIP.PGE may follow an OVF        no further damage: fail_without_ip()
 *   APL11   a TIP.PGD may follow an OVF                tracing is off: flow_on_tip_pgd()
 *   SKD022  a VM entry may have a FUP                  no interrupt: flow_on_tip_pgd()
 *   SKL014  a TIP.PGD may lack the target's ip         the filter decides: flow_step.c
 *   (perf)  a FUP may have the ip after a branch       the branch's: flow_step.c
 *   SKL168  a CYC before a PSB may be dropped          no speed is measured across a TSC
 */
/* clang-format on */

/* Returns whether the packet has an ip; 0 if not. */
static bool read_ip(struct pt_flow *flow, const struct pt_packet_ip *packet, uint64_t *ip)
{
	*ip = 0;
	if (packet->ipc == pt_ipc_suppressed)
		return false;
	*ip = flow_read_ip(flow, packet->ipc, packet->ip);
	return true;
}

/*
 * Returns whether a TIP.PGE is the next packet of traced code, perhaps after a PSB+: by an erratum,
 * the ip before it may be wrong. libipt looks ahead, too.
 */
static bool tracing_begins_next(struct pt_flow *flow)
{
	size_t end = flow_window_look_ahead(flow), at = flow->at;
	struct pt_packet packet;
	unsigned bip_size = 0;
	bool in_header = false;

	while (at < end && pt_packet_read(flow->packets, &flow->config, &at, &bip_size, &packet)) {
		if (packet.type == ppt_psb || packet.type == ppt_psbend)
			in_header = packet.type == ppt_psb;
		else if (packet.type == ppt_tip_pge)
			return true;
		else if (packet.type == ppt_tnt_8 || packet.type == ppt_tnt_64 ||
			 packet.type == ppt_tip || packet.type == ppt_tip_pgd ||
			 packet.type == ppt_ovf || (packet.type == ppt_fup && !in_header))
			return false;
	}
	return false;
}

/* A packet of running code at an unknown ip. Returns whether it is only part of an overflow. */
static bool fail_without_ip(struct pt_flow *flow)
{
	bool dropped = flow->state.overflowed && flow->config.errata.skd010;

	flow->state.overflowed = false;
	if (dropped)
		flow_set_lost(flow);
	else
		flow_fail(flow, GAP_MISMATCH, 0);
	return dropped;
}

static __attribute__((noinline)) void take_tnt(struct pt_flow *flow, uint64_t bits)
{
	if (!flow->state.on) {
		if (!flow->state.guest)
			fail_without_ip(flow);
		return;
	}
	if (flow->bits != TNT_BITS_NONE) {
		flow_fail(flow, GAP_MISMATCH, flow->state.ip);
		return;
	}
	flow->state.has_interrupt = false;
	flow->bits = bits;
	flow->pending = bits != TNT_BITS_NONE ? PENDING_TNT : PENDING_NONE;
}

void flow_on_tnt(struct pt_flow *flow, uint64_t bits)
{
	if (!flow->state.lost)
		take_tnt(flow, bits);
	else if (flow->opaque.active)
		flow_opaque_bits(flow, bits);
}

void flow_settle(struct pt_flow *flow)
{
	uint64_t later = flow->later_bits;

	stream_settle_cycles(&flow->stream, flow->state.ip);
	flow->later_bits = 0;
	if (!later)
		return;
	if (flow->state.lost) {
		if (flow->opaque.active)
			flow_opaque_bits(flow, later);
		return;
	}
	if (flow->bits != TNT_BITS_NONE) { /* deferred */
		flow->bits = (flow->bits & TNT_BITS_NONE) | later >> 1;
		return;
	}
	flow->bits = later;
	flow->pending = later != TNT_BITS_NONE ? PENDING_TNT : PENDING_NONE;
}

/* Emit the branch of the interrupt, whose FUP was read. */
static void push_interrupt(struct pt_flow *flow, enum branch_kind kind, uint64_t ip, uint8_t flags)
{
	uint64_t from = flow->state.interrupted;

	stream_push(&flow->stream, kind, from, ip)->flags |= BRANCH_ASYNC | flags;
	if (kind != BRANCH_TX_ABORT)
		stream_stop_user(&flow->stream, from);
	emulated_ptwrite_interrupt(flow, from);
	flow->state.has_interrupt = flow->state.aborted = false;
}

static void on_interrupt(struct pt_flow *flow, uint64_t ip)
{
	push_interrupt(flow, flow->state.aborted ? BRANCH_TX_ABORT : BRANCH_INTERRUPT, ip, 0);
	flow_move_to(flow, ip);
	flow->known = flow->stream.state.now;
	flow_apply_mode(flow);
}

/* Keep an event until the FUP that has its ip. */
static void add_pending_fup(struct pt_flow *flow, const struct cpu_event_data *event)
{
	if (flow->pending_fup_count == PENDING_FUPS_MAX)
		flow_flush_pending(flow);
	flow->pending_fup[flow->pending_fup_count++] = *event;
}

/* Emit a CPU event. In a PSB's header, keep it until the end, because the time can follow. */
static void add_cpu_event(struct pt_flow *flow, enum cpu_event_kind kind, uint64_t value,
			  uint32_t extra)
{
	struct cpu_event_data event = { kind, extra, value };

	if (flow->in_header)
		add_pending_fup(flow, &event);
	else
		stream_push_cpu_event(&flow->stream, &event, 0);
}

/* ---- Virtual machines ---------------------------------------------------- */

/*
 * The NR bit of PIP shows whether host or guest runs, from the next ip to the next PIP (SDM volume
 * 3, "PIP"). A guest's addresses refer to other code than the host's, so its code is not followed.
 */

/* Drop all pending state: the guest's packets are not decoded. */
static void stay_in_guest(struct pt_flow *flow)
{
	flow_set_found(flow);
	emulated_ptwrite_drop(flow);
	stream_lose_tx(&flow->stream);
	flow->state.on = flow->state.has_interrupt = flow->state.overflowed = flow->state.aborted =
		false;
}

/* Begin to trace a guest's code.  The host's trace, if it was on, ends at `from`. */
static void enter_guest(struct pt_flow *flow, uint64_t from)
{
	if (!flow->state.guest_on)
		stream_push_guest(&flow->stream, flow->state.on && !flow->state.lost ? from : 0,
				  true);
	flow->state.guest_on = true;
	stay_in_guest(flow);
}

/* The trace of the guest's code, if any, ends. */
static void pause_guest(struct pt_flow *flow)
{
	if (flow->state.guest_on)
		stream_push_guest(&flow->stream, 0, false);
	flow->state.guest_on = false;
}

/* Handle a TIP into or out of a guest; ip 0: suppressed. */
static void on_guest_tip(struct pt_flow *flow, uint64_t ip)
{
	bool enters = !flow->state.guest;

	flow->state.guest = flow->next_guest;
	if (!flow->state.guest && ip) {
		flow_begin_tracing(flow, ip, true);
	} else if (enters && flow->state.on && !flow->state.lost && !flow->state.has_interrupt) {
		flow->target = 0;
		flow->pending = PENDING_TIP_PGD;
	} else if (enters) {
		enter_guest(flow, flow->state.interrupted);
	}
}

/* ---- The flow ------------------------------------------------------------ */

/* The pending packet leaves user code for the kernel, perhaps by a probe. */
static void note_leaving(struct pt_flow *flow)
{
	const struct address_space *space = flow->stream.state.schedule.space;

	flow->may_probe = space && space->probed && !ip_is_kernel(flow->state.ip);
	if (flow->may_probe)
		flow->cached_block = 0;
}

void flow_on_tip(struct pt_flow *flow, const struct pt_packet_ip *packet)
{
	uint64_t ip;
	bool has_ip = read_ip(flow, packet, &ip);

	if (flow->state.guest || flow->next_guest) {
		on_guest_tip(flow, ip);
		return;
	}
	if (flow->state.lost) {
		if (has_ip && !flow_leave_opaque(flow, OPAQUE_TIP, ip))
			flow_resync_at(flow, ip);
		return;
	}
	if (!flow->state.on) {
		if (fail_without_ip(flow) && has_ip)
			flow_resync_at(flow, ip);
		return;
	}
	if (!has_ip) {
		flow_fail(flow, GAP_MISMATCH, flow->state.ip);
		return;
	}
	if (flow->state.has_interrupt) {
		on_interrupt(flow, ip);
		return;
	}
	flow->target = ip;
	flow->pending = PENDING_TIP;
	if (ip_is_kernel(ip))
		note_leaving(flow);
}

void flow_on_tip_pge(struct pt_flow *flow, const struct pt_packet_ip *packet)
{
	uint64_t ip;
	bool has_ip = read_ip(flow, packet, &ip);

	flow->state.guest = flow->next_guest;
	if (flow->state.guest) {
		enter_guest(flow, 0);
		return;
	}
	flow->state.has_interrupt = flow->state.overflowed = flow->state.aborted = false;
	if (!has_ip || (flow->state.on && !flow->state.lost))
		flow_fail(flow, GAP_MISMATCH, flow->state.on ? flow->state.ip : 0);
	if (has_ip) {
		flow_leave_opaque(flow, OPAQUE_PGE, ip);
		flow_begin_tracing(flow, ip, true);
	}
}

/* Tracing is on, and the trace of its end is lost. */
static void fail_while_on(struct pt_flow *flow)
{
	flow_fail(flow, GAP_MISMATCH, flow->state.ip);
	flow_set_found(flow);
}

void flow_on_tip_pgd(struct pt_flow *flow, const struct pt_packet_ip *packet)
{
	bool passed_over = flow->state.guest || flow->next_guest || flow->state.overflowed;
	uint64_t ip;

	read_ip(flow, packet, &ip);
	if (flow_leave_opaque(flow, OPAQUE_PGD, ip))
		return;
	pause_guest(flow);
	flow->state.guest = flow->next_guest;
	flow->state.overflowed = false;
	if (!flow->state.lost && !flow->state.on && !passed_over) {
		flow_fail(flow, GAP_MISMATCH, 0); /* the begin of tracing is lost */
		flow_set_found(flow);
	}
	if (flow->state.lost || !flow->state.on) {
		flow->state.on = false;
		return;
	}
	if (flow->bits != TNT_BITS_NONE) {
		fail_while_on(flow);
		flow->state.on = false;
		return;
	}
	if (flow->config.errata.skd022 && flow->state.has_interrupt && flow_at_vm_entry(flow))
		flow->state.has_interrupt = false;
	if (!flow->state.has_interrupt) {
		flow->target = ip;
		flow->pending = PENDING_TIP_PGD;
		note_leaving(flow);
		return;
	}
	push_interrupt(flow, BRANCH_NONE, ip, BRANCH_TRACE_OFF);
	flow->state.on = false;
}

static bool has_pending_abort(const struct pt_flow *flow)
{
	for (unsigned i = 0; i < flow->pending_fup_count; i++)
		if (flow->pending_fup[i].kind == CPU_EVENT_TX_ABORT)
			return true;
	return false;
}

void flow_on_fup(struct pt_flow *flow, const struct pt_packet_ip *packet)
{
	enum fup_kind kind = flow->pending_fup_count || flow->offset == flow->mode_end
				     ? FUP_EVENT
				     : FUP_INTERRUPT;
	uint64_t ip;

	if (!read_ip(flow, packet, &ip))
		return;
	if (flow->in_header) {
		flow->header_has_ip = true;
		flow->target = ip;
		return;
	}
	if (flow->state.guest) {
		if (flow->state.overflowed)
			enter_guest(flow, 0);
		flow_emit_pending(flow, 0);
		return;
	}
	if (flow->state.overflowed) {
		flow->state.overflowed = false;
		if (!flow->config.errata.apl12 || !tracing_begins_next(flow))
			flow_begin_tracing(flow, ip, true);
		return;
	}
	if (flow->state.has_interrupt) /* the TIP of the previous FUP is missing */
		flow_fail(flow, GAP_MISMATCH, flow->state.interrupted);
	if (flow->state.lost) {
		if (flow_leave_opaque(flow, OPAQUE_FUP, ip))
			return;
		flow->opaque.interrupted = kind == FUP_INTERRUPT;
		flow_resync_at(flow, ip);
	}
	if (flow->state.lost || !flow->state.on) {
		flow_emit_pending(flow, ip);
		return;
	}
	if (flow->config.errata.bdm64 && has_pending_abort(flow) && !flow_reaches(flow, ip))
		flow_move_to(flow, ip);
	flow->fup_kind = kind;
	flow->target = ip;
	flow->pending = PENDING_FUP;
	if (flow->bits != TNT_BITS_NONE) /* the TIP of the deferred bits is missing */
		flow_fail(flow, GAP_MISMATCH, flow->state.ip);
}

static void on_overflow(struct pt_flow *flow)
{
	flow->in_header = false;
	flow_set_found(flow);
	flow_flush_pending(flow);
	emulated_ptwrite_drop(flow);
	stream_push_gap(&flow->stream, GAP_OVERFLOW, 0);
	flow->pending = PENDING_NONE;
	flow->bits = TNT_BITS_NONE;
	flow->state.on = flow->state.has_interrupt = flow->state.aborted = flow->state.guest_on =
		false;
	stream_lose_tx(&flow->stream);
	flow->return_count = 0;
	flow->opaque.active = flow->opaque.guessed = false;
	flow->state.calls_missing = false;
	flow_set_after_gap(flow);
	flow->pebs.bip_size = 0; /* its BEP can be dropped */
	flow->state.overflowed = true;
}

static void on_psb(struct pt_flow *flow)
{
	/* Deferred bits end before a PSB. */
	if (flow->bits != TNT_BITS_NONE)
		flow_fail(flow, GAP_MISMATCH, flow->state.ip);
	flow->in_header = true;
	flow->header_has_ip = false;
	flow->return_count = 0; /* returns to calls before a PSB are not compressed */
	flow->opaque = (struct opaque_code){ .budget = OPAQUE_BUDGET };
	flow->state.calls_missing = false;
	flow->state.last_ip = 0;
	flow_flush_pending(flow);
	flow->state.overflowed = false;
	flow->pebs.bip_size = 0;
	/* The code up to the header's ip runs later. */
	stream_settle_cycles(&flow->stream, flow->state.ip);
	flow_checkpoint_approach(flow);
}

/* Tracing is on at a PSB if, and only if, its header has an ip, except for BDM70. */
static void on_psbend(struct pt_flow *flow)
{
	if (!flow->in_header) {
		/* The PSB and an unknown part of the trace before it are lost. */
		if (flow->state.on && !flow->state.lost)
			flow_fail(flow, GAP_MISMATCH, flow->state.ip);
		return;
	}
	flow->in_header = false;
	if (flow->header_has_ip && flow->config.errata.bdm70 &&
	    (!flow->state.on || flow->state.lost) && tracing_begins_next(flow))
		flow->header_has_ip = false;
	flow_flush_pending(flow);
	flow->state.guest = flow->next_guest;
	if (flow->state.guest && (flow->header_has_ip || flow->state.on)) {
		enter_guest(flow, flow->state.ip);
	} else if (flow->state.guest) {
		pause_guest(flow);
		stay_in_guest(flow);
	} else if (!flow->header_has_ip) {
		/* The header says that tracing is off, so its end is lost. */
		if (flow->state.on && !flow->state.lost)
			fail_while_on(flow);
		flow->state.on = false;
	} else if (flow->state.lost) {
		flow_resync_at(flow, flow->target);
	} else if (!flow->state.on) {
		flow_begin_tracing(flow, flow->target, false);
	} else {
		flow->fup_kind = FUP_PSB;
		flow->pending = PENDING_FUP;
	}
}

static void on_transaction(struct pt_flow *flow, const struct pt_packet_mode_tsx *packet)
{
	struct cpu_event_data event = { .kind = packet->intx   ? CPU_EVENT_TX_BEGIN
						: packet->abrt ? CPU_EVENT_TX_ABORT
							       : CPU_EVENT_TX_COMMIT };

	/* Ignore a guest's transactions. */
	if (flow->state.guest)
		return;
	if (flow->in_header || !flow->state.on) /* else a FUP follows */
		stream_update_tx(&flow->stream, packet->intx,
				 flow->in_header ? CPU_EVENT_TX_LOST : event.kind);
	else
		add_pending_fup(flow, &event);
}

static void on_mode(struct pt_flow *flow, const struct pt_packet_mode *packet)
{
	if (packet->leaf == pt_mol_exec) {
		flow->mode_end = flow->window.base + flow->at;
		flow->state.next_mode = packet->bits.exec.csl   ? INSN_MODE_64
					: packet->bits.exec.csd ? INSN_MODE_32
								: INSN_MODE_16;
		return;
	}
	if (packet->leaf == pt_mol_tsx)
		on_transaction(flow, &packet->bits.tsx);
}

void flow_end_period(struct pt_flow *flow)
{
	struct pt_stream *stream = &flow->stream;
	uint64_t next = tsc_clock_ns(&stream->clock, flow->state.clock.tsc);
	uint64_t time = stream->state.now.time;

	if (!time || next <= time)
		return;
	if ((stream->input.period && next / stream->input.period != time / stream->input.period) ||
	    (stream->input.cycles && stream_time_is_cut(stream, time, next))) {
		stream_push_counts(stream, &stream->state.now, flow->state.ip, 0);
		stream->state.period_begins = stream->input.sums_cycles;
	}
}

void flow_catch_up(struct pt_flow *flow)
{
	struct pt_stream *stream = &flow->stream;

	if (stream->state.next_loss < stream->loss_count)
		stream_push_losses(stream, stream->state.now.time);
	stream_follow_schedule(stream);
	if (stream->text.kernel)
		flow_follow_text(flow);
	if (flow->space != stream->state.schedule.space)
		flow->cached_block = 0;
}

void flow_bound_clock(struct pt_flow *flow)
{
	const struct aux_stream *aux = flow->stream.input.aux;
	struct packet_clock *clock = &flow->state.clock;
	uint64_t at = aux_window_aux_end(&flow->window) - flow->window.size + flow->at;
	size_t next = LOWER_BOUND(i, aux->cut_count, aux->cuts[i].at <= at);
	uint64_t bound = 0;

	if (next < aux->cut_count)
		bound = tsc_clock_tsc(&flow->stream.clock, aux->cuts[next].time);
	/* A record before the last packet belongs to another clock. */
	if (bound <= clock->step)
		bound = 0;
	if (bound == clock->bound)
		return;
	packet_clock_bound(clock, bound);
	packet_clock_many_cycles(clock, 0);
}

static void on_timing(struct pt_flow *flow, const struct pt_packet *packet)
{
	struct packet_clock *clock = &flow->state.clock;

	if (packet->type == ppt_tsc)
		flow->stream.stats.times_impossible += packet_clock_tsc(
			clock, stream_complete_tsc(&flow->stream, packet->payload.tsc.tsc));
	else
		packet_clock_packet(clock, packet);
	if (packet->type == ppt_tsc || packet_clock_is_bound(clock))
		flow_bound_clock(flow);
	if (packet->type == ppt_cbr)
		add_cpu_event(flow, CPU_EVENT_CBR, packet->payload.cbr.ratio, 0);
	if (packet->type == ppt_cyc)
		flow_count_cycles(flow, packet->payload.cyc.value);
	if (packet->type != ppt_cbr && packet->type != ppt_tma)
		flow_update_time(flow);
}

/* Emit a packet's event with a value, immediately or with the instruction's FUP. */
static void add_event_with_ip(struct pt_flow *flow, const struct cpu_event_data *event, bool has_ip)
{
	if (has_ip)
		add_pending_fup(flow, event);
	else
		stream_push_cpu_event(&flow->stream, event, 0);
}

/* Handle packets that do not change the flow. */
static void on_event_packet(struct pt_flow *flow, const struct pt_packet *packet)
{
	const struct pt_packet_mwait *mwait = &packet->payload.mwait;
	const struct pt_packet_pwre *pwre = &packet->payload.pwre;
	const struct pt_packet_pwrx *pwrx = &packet->payload.pwrx;
	struct cpu_event_data event = { .kind = CPU_EVENT_EXSTOP };

	switch (packet->type) {
	case ppt_ptw:
		event.kind = CPU_EVENT_PTWRITE;
		event.value = packet->payload.ptw.payload;
		add_event_with_ip(flow, &event, packet->payload.ptw.ip);
		break;
	case ppt_exstop:
		add_event_with_ip(flow, &event, packet->payload.exstop.ip);
		break;
	case ppt_mwait: /* MWAIT and PWRE have no FUP except their EXSTOP's */
		add_cpu_event(flow, CPU_EVENT_MWAIT, mwait->hints, mwait->ext);
		break;
	case ppt_pwre:
		add_cpu_event(flow, CPU_EVENT_PWRE,
			      pwre_value(pwre->state, pwre->sub_state, pwre->hw), 0);
		break;
	case ppt_pwrx:
		add_cpu_event(flow, CPU_EVENT_PWRX,
			      pwrx_value(pwrx->last, pwrx->deepest,
					 pwrx_why(pwrx->interrupt, pwrx->store, pwrx->autonomous)),
			      0);
		break;
	case ppt_pip:
		flow->next_guest = stream_is_of_guest(&flow->stream, packet->payload.pip.nr);
		add_cpu_event(flow, CPU_EVENT_PIP, packet->payload.pip.cr3, packet->payload.pip.nr);
		break;
	case ppt_vmcs:
		add_cpu_event(flow, CPU_EVENT_VMCS, packet->payload.vmcs.base, 0);
		break;
	default: /* padding, maintenance, the end of tracing by an address range */
		break;
	}
}

void flow_on_packet(struct pt_flow *flow, const struct pt_packet *packet)
{
	switch (packet->type) {
	case ppt_tnt_8:
	case ppt_tnt_64:
		flow->last_bits = packet->payload.tnt.bit_size;
		flow_on_tnt(flow, tnt_bits(packet->payload.tnt.payload, flow->last_bits));
		flow_split_tnt(flow);
		break;
	case ppt_tip:
		flow_on_tip(flow, &packet->payload.ip);
		break;
	case ppt_tip_pge:
		flow_on_tip_pge(flow, &packet->payload.ip);
		break;
	case ppt_tip_pgd:
		flow_on_tip_pgd(flow, &packet->payload.ip);
		break;
	case ppt_fup:
		flow_on_fup(flow, &packet->payload.ip);
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
	default:
		on_event_packet(flow, packet);
		break;
	}
}

static void on_cfe(struct pt_flow *flow, const struct extended_packet *packet)
{
	struct cpu_event_data event = { CPU_EVENT_CFE, packet->kind, packet->value };

	if (packet->of_far && flow->state.on && !flow->state.lost) {
		flow_emit_cfe(flow, 0);
		flow->cfe = event;
		flow->has_cfe = true;
	} else {
		add_event_with_ip(flow, &event, packet->has_ip);
	}
}

static void on_pebs(struct pt_flow *flow, const struct extended_packet *packet)
{
	struct cpu_event_data event = pebs_block_follow(&flow->pebs, packet);

	if (packet->has_ip)
		add_pending_fup(flow, &event);
	else if (event.kind != CPU_EVENT_NONE)
		add_cpu_event(flow, event.kind, event.value, event.extra);
}

void flow_on_extended_packet(struct pt_flow *flow, const struct extended_packet *packet)
{
	switch (packet->type) {
	case EXTENDED_CFE:
		on_cfe(flow, packet);
		break;
	case EXTENDED_EVD:
		add_cpu_event(flow, CPU_EVENT_EVD, packet->value, packet->kind);
		break;
	case EXTENDED_BBP:
	case EXTENDED_BIP:
	case EXTENDED_BEP:
		on_pebs(flow, packet);
		break;
	case EXTENDED_TRIG:
		add_event_with_ip(
			flow,
			&(struct cpu_event_data){ CPU_EVENT_TRIG, packet->kind, packet->value },
			packet->has_ip);
		break;
	}
}
