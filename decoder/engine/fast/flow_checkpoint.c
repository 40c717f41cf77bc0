/* SPDX-License-Identifier: MIT */
/* Save, restore and compare the fast engine's state at a cut. */
#include "decoder/engine/fast/flow_checkpoint.h"

#include "decoder/engine/fast/flow_code.h"
#include "decoder/engine/fast/flow_step.h"

/* ---- Passing a PSB ------------------------------------------------------- */

void flow_checkpoint_approach(struct pt_flow *flow)
{
	if (!flow->cuts.aux)
		return;
	while (flow->cuts.position.at < flow->offset)
		aux_cuts_next(&flow->cuts);
	/* A PSB in another's header is damage: the first one has no end, and is not a cut. */
	flow->passing = true;
	flow->at_cut = flow->cuts.position.at == flow->offset;
	if (flow->stream.input.period)
		stream_push_counts(&flow->stream, &flow->stream.state.now, flow->state.ip, 0);
	flow->stream.state.period_begins = false;
	flow->state.clock = (struct packet_clock){ .rates = flow->state.clock.rates,
						   .last = flow->state.clock.last };
	if (stream_is_timed(&flow->stream))
		flow->stream.state.now = (struct timestamp){ 0 };
}

void flow_checkpoint_pass(struct pt_flow *flow)
{
	struct pt_stream *stream = &flow->stream;
	const struct thread *before = stream->state.schedule.thread;
	uint64_t next = flow->window.base + flow->at;

	flow->passing = false;
	/* No event is pending after a PSB; in its header that is damage. */
	flow_flush_pending(flow);
	/* A flow that begins here cannot know the number of remaining bits. */
	emulated_ptwrite_drop_interrupted(flow);
	flow->pebs.bip_size = 0;
	flow->mode_end = 0;
	flow->return_count = 0;
	flow->cached_block = 0;
	/* A flow that begins here cannot know whether tracing began at this PSB or earlier. */
	flow->state.emitted = false;
	flow->known = stream->state.now;
	flow_count_bytes(flow, next);
	flow->offset = next;
	/* The PSB's time is exact, unlike the time of the event that identified the thread. */
	if (stream_is_timed(stream) && (stream->input.info->exclude_kernel || !flow->state.on))
		schedule_seek(&stream->state.schedule, stream->state.now.time);
	stream_attribute_jumps(stream, before);
	if (flow->at_cut) {
		flow->passed = flow->cuts.position;
		aux_cuts_next(&flow->cuts);
		flow->paused = flow->stops_at_cuts;
	}
}

/* ---- The state ----------------------------------------------------------- */

void flow_checkpoint_save(struct flow_checkpoint *checkpoint, const struct pt_flow *flow)
{
	uint64_t at = flow->window.base + flow->at;

	*checkpoint = (struct flow_checkpoint){
		.cut = flow->passed.at,
		.position = { flow->passed.piece, at, at == flow->run_begin },
		.cuts = flow->cuts,
		.synced = flow->synced,
		.stream = flow->stream.state,
		.flow = flow->state,
	};
}

void flow_checkpoint_load(const struct flow_checkpoint *checkpoint, struct pt_flow *flow)
{
	struct pt_stream *stream = &flow->stream;

	stream->state = checkpoint->stream;
	stream->ended = false;
	stream->head = stream->tail = 0;
	stream->stats = (struct pt_stream_stats){ 0 };
	flow->state = checkpoint->flow;
	flow->state.gap_guessed = flow->state.gap_mattered = false;
	flow->next_guest = flow->state.guest;
	flow->known = stream->state.now;
	flow->passed = checkpoint->position;
	flow->passed.at = checkpoint->cut;
	flow->cuts = checkpoint->cuts;
	flow->synced = checkpoint->synced;
	/* Reset the state that ends at a cut. */
	flow->pending_fup_count = 0;
	flow->has_cfe = false;
	flow->interrupted_ptwrite.left = 0;
	flow->mode_end = 0;
	flow->pebs.bip_size = 0;
	flow->cached_block = 0;
	flow->pending = PENDING_NONE;
	flow->return_count = 0;
	flow->bits = TNT_BITS_NONE;
	flow->later_bits = 0;
	flow->passing = flow->paused = flow->in_header = false;
	flow->opaque = (struct opaque_code){ .budget = OPAQUE_BUDGET };
	flow_follow_text(flow);
	flow_window_seek(flow, &checkpoint->position);
	flow->run_begin = checkpoint->position.run_begins ? checkpoint->position.at : 0;
	flow->offset = flow->counted = checkpoint->position.at;
}

/* ---- Guessing a state ---------------------------------------------------- */

/* Returns whether the header of the PSB at the window's begin has a TSC; sets *tsc. */
static bool read_header_time(struct pt_flow *flow, uint64_t *tsc)
{
	struct pt_packet packet;
	bool by_packet = false;

	while (pt_pkt_next(flow->packets, &packet, sizeof(packet)) >= 0) {
		if (packet.type == ppt_psbend)
			return by_packet;
		if (packet.type != ppt_tsc)
			continue;
		*tsc = packet.payload.tsc.tsc;
		by_packet = true;
	}
	return false;
}

bool flow_checkpoint_guess(struct pt_flow *flow, const struct flow_checkpoint *first,
			   const struct aux_cuts *at)
{
	struct pt_stream *stream = &flow->stream;
	struct flow_checkpoint start = *first;
	uint64_t tsc = 0;

	start.position = at->position;
	start.cuts = *at;
	start.synced = true;
	flow_checkpoint_load(&start, flow);
	if (!read_header_time(flow, &tsc))
		return false;
	stream_set_time(stream, stream_complete_tsc(stream, tsc));
	schedule_begin_at(&stream->state.schedule, stream->state.now.time);
	stream->state.next_loss = LOWER_BOUND(i, stream->loss_count,
					      stream->losses[i].time <= stream->state.now.time);
	stream->state.any_event = true;
	flow->state.lost = flow->state.after_gap = true;
	flow->stops_at_cuts = true;
	while (!flow->paused && !stream->ended) {
		stream->step(stream);
		stream->head = stream->tail = 0;
	}
	if (!flow->paused || flow->passed.at != at->position.at)
		return false;
	flow->paused = false;
	/* Drop the header's events, which belong to the previous segment. */
	/* Except a gap after which tracing did not begin. */
	flow->state.gap_guessed = !flow->state.on && !flow->state.overflowed;
	if (flow->state.gap_guessed)
		flow->state.lost = flow->state.after_gap = false;
	stream->head = stream->tail = 0;
	stream->state.last_pushed = 0;
	stream->state.insn_count = 0;
	stream->state.jump_count = stream->state.cycle_sum = 0;
	stream->state.period_begins = false;
	stream->state.any_event = true;
	stream->stats = (struct pt_stream_stats){ 0 };
	return true;
}

/* ---- Comparing ----------------------------------------------------------- */

/* `guess` began at the PSB; its after_gap is unknown if gap_guessed is set. */
static bool flow_state_equals(const struct flow_state *a, const struct flow_state *guess)
{
	if (a->on != guess->on || a->lost != guess->lost || a->overflowed != guess->overflowed ||
	    a->last_ip != guess->last_ip || a->next_mode != guess->next_mode ||
	    a->aborted != guess->aborted || a->guest != guess->guest ||
	    a->guest_on != guess->guest_on || a->ptwrite.left || guess->ptwrite.left ||
	    a->has_interrupt != guess->has_interrupt || a->calls_missing != guess->calls_missing)
		return false;
	if (a->has_interrupt && a->interrupted != guess->interrupted)
		return false;
	if (a->after_gap != guess->after_gap && !guess->gap_guessed)
		return false;
	/* A flow that is off or lost restarts, so its position does not matter. */
	if (a->on && !a->lost &&
	    (a->ip != guess->ip || a->mode != guess->mode || a->emitted != guess->emitted))
		return false;
	return packet_clock_equals(&a->clock, &guess->clock);
}

static bool checkpoint_equals(const struct flow_checkpoint *a, const struct flow_checkpoint *guess)
{
	return a->cut == guess->cut && a->position.at == guess->position.at &&
	       a->synced == guess->synced && a->stream.now.tsc == guess->stream.now.tsc &&
	       a->stream.now.time == guess->stream.now.time &&
	       a->stream.event_flags == guess->stream.event_flags &&
	       a->stream.tx_shown == guess->stream.tx_shown &&
	       a->stream.any_event == guess->stream.any_event &&
	       a->stream.next_loss == guess->stream.next_loss &&
	       schedule_equals(&a->stream.schedule, &guess->stream.schedule) &&
	       flow_state_equals(&a->flow, &guess->flow);
}

bool flow_checkpoint_join(const struct flow_checkpoint *now, const struct flow_checkpoint *before,
			  struct flow_checkpoint *after)
{
	if (!checkpoint_equals(now, before))
		return false;
	if (now->flow.after_gap != before->flow.after_gap && after->flow.gap_mattered)
		return false;
	if (after->flow.gap_guessed)
		after->flow.after_gap = now->flow.after_gap;
	return true;
}
