/* SPDX-License-Identifier: MIT */
/* Convert the events of libipt's block decoder to gaps, branches and CPU events. */
#include "decoder/engine/libipt/pt_blocks.h"

void blocks_count(struct pt_blocks *blocks, uint64_t to)
{
	const struct pending_branch *pending = &blocks->pending;
	struct code_counter *counter = blocks->stream.input.counter;
	bool jumps = pending->insn.kind == BRANCH_COND || pending->insn.kind == BRANCH_JUMP;
	bool falls =
		pending->insn.kind == BRANCH_COND && to == pending->from + pending->insn.length;
	struct code_count code = {
		.space = blocks->stream.state.schedule.space,
		.begin = pending->begin,
		.last = pending->from,
		.count = 1,
		.kind = pending->insn.kind,
	};

	if (!counter || !stream_selects(&blocks->stream, &pending->decided, pending->from))
		return;
	if ((jumps || (pending->insn.kind == BRANCH_CALL && !pending->insn.indirect)) && !falls) {
		code.to = to;
		code.taken = 1;
	}
	counter->add(counter, &code, 1);
}

void blocks_resolve(struct pt_blocks *blocks, uint64_t to)
{
	struct pending_branch *pending = &blocks->pending;
	struct branch_event *event;

	if (pending->insn.kind == BRANCH_NONE)
		return;
	blocks_count(blocks, to);
	stream_enter_from_kernel(&blocks->stream, &pending->insn, to);
	if (pending->insn.kind != BRANCH_COND || to != pending->from + pending->insn.length) {
		event = stream_push_insn(&blocks->stream, &pending->decided, &pending->insn,
					 pending->from, to);
		event->flags |= pending->flags;
		if (to == blocks->stream.input.switch_ip)
			stream_switch_thread(&blocks->stream);
	}
	pending->insn.kind = BRANCH_NONE;
}

/* ---- Event trace --------------------------------------------------------- */

void blocks_emit_cfe(struct pt_blocks *blocks, uint64_t ip)
{
	if (blocks->has_cfe)
		stream_push_cpu_event(&blocks->stream, &blocks->cfe, ip);
	blocks->has_cfe = false;
}

static void emit_cpu_event(struct pt_blocks *blocks, const struct cpu_event_data *note,
			   const struct pt_event *event, uint64_t ip)
{
	if (event->ip_suppressed)
		ip = 0;
	if (ip)
		blocks_resolve(blocks, ip); /* the previous block ends at this event */
	stream_push_cpu_event(&blocks->stream, note, ip);
}

/* Handle an EXSTOP, or the packet that it replaces. */
static void on_exstop(struct pt_blocks *blocks, const struct pt_event *event)
{
	static const struct pt_rewrite_note stop = { .note.kind = CPU_EVENT_EXSTOP };
	const struct pt_rewrite_note *note = pt_rewrite_next(&blocks->rewrite);

	if (!note)
		note = &stop;
	if (note->is_guest) {
		blocks_emit_cfe(blocks, 0);
		stream_push_guest(&blocks->stream, 0, note->guest);
		return;
	}
	if (!note->of_interrupt || blocks->off) {
		emit_cpu_event(blocks, &note->note, event, event->variant.exstop.ip);
		return;
	}
	blocks_emit_cfe(blocks, 0);
	blocks->cfe = note->note;
	blocks->has_cfe = true;
}

/* ---- libipt's events ----------------------------------------------------- */

static void on_enabled(struct pt_blocks *blocks, const struct pt_event *event)
{
	blocks_emit_cfe(blocks, 0);
	blocks->pending.insn.kind = BRANCH_NONE;
	blocks->damaged = blocks->off = false;
	stream_enter(&blocks->stream, event->variant.enabled.ip);
	stream_push(&blocks->stream, BRANCH_NONE, 0, event->variant.enabled.ip)->flags |=
		BRANCH_TRACE_ON;
	stream_show_tx(&blocks->stream);
}

/* The pending branch leaves the traced code. */
static void on_disabled(struct pt_blocks *blocks, const struct pt_event *event)
{
	struct pending_branch *pending = &blocks->pending;
	uint64_t to = event->ip_suppressed ? 0 : event->variant.disabled.ip;
	struct branch_event *off;

	blocks_emit_cfe(blocks, 0);
	if (pending->insn.kind != BRANCH_NONE)
		blocks_count(blocks, to);
	off = stream_push_insn(&blocks->stream, &blocks->stream.state.now, &pending->insn,
			       pending->from, to);
	blocks->off = true;
	off->flags |= BRANCH_TRACE_OFF | (pending->insn.int80 ? BRANCH_INT80 : 0) |
		      (blocks->guest ? BRANCH_GUEST : 0) | pending->flags;
	blocks->stream.stats.guests += blocks->guest;
	stream_stop_user(&blocks->stream, insn_is_syscall(&pending->insn)
						  ? pending->from + pending->insn.length
						  : 0);
	pending->insn.kind = BRANCH_NONE;
}

static void on_async_disabled(struct pt_blocks *blocks, const struct pt_event *event)
{
	uint64_t at = event->variant.async_disabled.at;
	uint64_t to = event->ip_suppressed ? 0 : event->variant.async_disabled.ip;

	blocks_resolve(blocks, at);
	blocks_emit_cfe(blocks, at);
	stream_push(&blocks->stream, BRANCH_NONE, at, to)->flags |=
		BRANCH_TRACE_OFF | BRANCH_ASYNC | (blocks->guest ? BRANCH_GUEST : 0);
	blocks->off = true;
	blocks->stream.stats.guests += blocks->guest;
	stream_stop_user(&blocks->stream, at);
}

static void on_async_branch(struct pt_blocks *blocks, const struct pt_event *event)
{
	uint64_t from = event->variant.async_branch.from;
	uint64_t to = event->ip_suppressed ? 0 : event->variant.async_branch.to;
	enum branch_kind kind = blocks->tx_aborted ? BRANCH_TX_ABORT : BRANCH_INTERRUPT;

	blocks_resolve(blocks, from);
	blocks_emit_cfe(blocks, from);
	stream_push(&blocks->stream, kind, from, to)->flags |= BRANCH_ASYNC;
	if (kind == BRANCH_INTERRUPT)
		stream_stop_user(&blocks->stream, from);
	blocks->tx_aborted = false;
}

static void on_overflow(struct pt_blocks *blocks, const struct pt_event *event)
{
	blocks_emit_cfe(blocks, 0);
	/* libipt's time belongs to packets after the overflow. */
	blocks->pending.decided = blocks->pending.begun;
	if (blocks->pending.to)
		blocks_resolve(blocks, blocks->pending.to);
	blocks->pending.insn.kind = BRANCH_NONE;
	stream_push_gap(&blocks->stream, GAP_OVERFLOW, 0);
	stream_lose_tx(&blocks->stream);
	blocks->off = event->ip_suppressed;
	if (event->ip_suppressed)
		return;
	stream_enter(&blocks->stream, event->variant.overflow.ip);
	stream_push(&blocks->stream, BRANCH_NONE, 0, event->variant.overflow.ip)->flags |=
		BRANCH_TRACE_ON;
	stream_show_tx(&blocks->stream);
}

static void on_transaction(struct pt_blocks *blocks, const struct pt_event *event)
{
	struct cpu_event_data note = { .kind = event->variant.tsx.speculative ? CPU_EVENT_TX_BEGIN
					       : event->variant.tsx.aborted   ? CPU_EVENT_TX_ABORT
									    : CPU_EVENT_TX_COMMIT };
	struct pt_stream *stream = &blocks->stream;

	if (event->status_update || event->ip_suppressed) {
		stream_update_tx(stream, event->variant.tsx.speculative,
				 event->status_update ? CPU_EVENT_TX_LOST : note.kind);
		if (!blocks->fresh && !blocks->off)
			stream_show_tx(stream);
		return;
	}
	stream_show_tx(stream); /* from a PSB's header, without a block in between */
	blocks->tx_aborted = event->variant.tsx.aborted;
	if (note.kind != CPU_EVENT_TX_COMMIT || stream_is_in_tx(stream))
		emit_cpu_event(blocks, &note, event, event->variant.tsx.ip);
	stream_set_in_tx(stream, event->variant.tsx.speculative);
	stream->state.tx_shown = event->variant.tsx.speculative;
}

/* Handle events that do not change the flow. */
static void on_cpu_event(struct pt_blocks *blocks, const struct pt_event *event)
{
	struct cpu_event_data note = { 0 };
	uint64_t ip = 0;

	switch (event->type) {
	case ptev_cbr:
		note = (struct cpu_event_data){ CPU_EVENT_CBR, 0, event->variant.cbr.ratio };
		break;
	case ptev_pwre:
		note.kind = CPU_EVENT_PWRE;
		note.value = pwre_value(event->variant.pwre.state, event->variant.pwre.sub_state,
					event->variant.pwre.hw);
		break;
	case ptev_pwrx:
		note.kind = CPU_EVENT_PWRX;
		note.value = pwrx_value(event->variant.pwrx.last, event->variant.pwrx.deepest,
					pwrx_why(event->variant.pwrx.interrupt,
						 event->variant.pwrx.store,
						 event->variant.pwrx.autonomous));
		break;
	case ptev_ptwrite:
		note = (struct cpu_event_data){ CPU_EVENT_PTWRITE, 0,
						event->variant.ptwrite.payload };
		ip = event->variant.ptwrite.ip;
		break;
	case ptev_exstop:
		on_exstop(blocks, event);
		return;
	case ptev_paging:
	case ptev_async_paging:
		note = (struct cpu_event_data){ CPU_EVENT_PIP, event->variant.paging.non_root,
						event->variant.paging.cr3 };
		blocks->guest = stream_is_of_guest(&blocks->stream, note.extra);
		break;
	case ptev_vmcs:
	case ptev_async_vmcs:
		note = (struct cpu_event_data){ CPU_EVENT_VMCS, 0, event->variant.vmcs.base };
		break;
	default: /* modes, ticks, maintenance */
		return;
	}
	emit_cpu_event(blocks, &note, event, ip);
}

void blocks_on_event(struct pt_blocks *blocks, const struct pt_event *event)
{
	/* The time of a packet that decides a branch, the pending one or a later one. */
	if (event->type == ptev_tick && blocks->pending.read_ahead)
		return;
	if (event->has_tsc)
		stream_set_time(&blocks->stream, stream_complete_tsc(&blocks->stream, event->tsc));
	stream_push_losses(&blocks->stream, blocks->stream.state.now.time);
	switch (event->type) {
	case ptev_enabled:
		if (!event->status_update)
			on_enabled(blocks, event);
		break;
	case ptev_disabled:
		if (!event->status_update)
			on_disabled(blocks, event);
		break;
	case ptev_tick:
		blocks->pending.decided = blocks->stream.state.now;
		break;
	case ptev_async_disabled:
		on_async_disabled(blocks, event);
		break;
	case ptev_async_branch:
		on_async_branch(blocks, event);
		break;
	case ptev_overflow:
		on_overflow(blocks, event);
		break;
	case ptev_tsx:
		on_transaction(blocks, event);
		break;
	default:
		on_cpu_event(blocks, event);
		break;
	}
}
