/* SPDX-License-Identifier: MIT */
#include "decoder/engine/fast/flow_checkpoint.h"

#include "decoder/engine/fast/pt_flow.h"

/* ---- Passing ------------------------------------------------------------- */

static void forget_time(struct pt_flow *flow)
{
	const struct packet_clock *clock = &flow->clock;

	flow->clock = (struct packet_clock){
		.ratio_n = clock->ratio_n,
		.ratio_d = clock->ratio_d,
		.mtc_shift = clock->mtc_shift,
		.max_ratio = clock->max_ratio,
	};
	if (stream_is_timed(&flow->stream))
		flow->stream.now = (struct timestamp){ 0 };
}

void flow_checkpoint_approach(struct pt_flow *flow)
{
	while (flow->cuts.place.at < flow->offset)
		aux_cuts_next(&flow->cuts);
	if (flow->cuts.place.at != flow->offset)
		return;
	flow->cutting = true;
	forget_time(flow);
}

void flow_checkpoint_pass(struct pt_flow *flow)
{
	struct pt_stream *stream = &flow->stream;
	uint64_t next = flow->window.base + flow->at;

	flow->cutting = false;
	/* Nothing waits behind a PSB; in its header it is damage. */
	flow_drop_waiting(flow);
	/* Who begins here could not know for how long it will have to wait. */
	emulated_ptwrite_drop_waiting(flow);
	/* Nor whether tracing was off, where the header may tell an ip by an erratum. */
	if (flow->erratum_resume_ip && !flow->on)
		flow_begin(flow, flow->erratum_resume_ip, false);
	flow->erratum_resume_ip = 0;
	flow->item_size = 0;
	flow->mode_end = 0;
	flow->return_count = 0;
	flow->here = 0;
	/* Whether tracing began at this PSB or before it cannot be seen from here on. */
	flow->told = false;
	flow->known = stream->now;
	flow_count_bytes(flow, next);
	flow->offset = next;
	/* The PSB's own time is exact, unlike that of the event by which the thread was found. */
	if (stream_is_timed(stream) && (stream->input.info->exclude_kernel || !flow->on))
		schedule_seek(&stream->schedule, stream->now.time);
	flow->passed = flow->cuts.place;
	aux_cuts_next(&flow->cuts);
	flow->paused = flow->stops_at_cuts;
}

/* ---- The state ----------------------------------------------------------- */

void flow_checkpoint_save(struct flow_checkpoint *boundary, const struct pt_flow *flow)
{
	const struct pt_stream *stream = &flow->stream;

	*boundary = (struct flow_checkpoint){
		.cut = flow->passed.at,
		.place = { flow->passed.piece, flow->passed.piece_begin,
			   flow->window.base + flow->at, !flow->synced },
		.cuts = flow->cuts,
		.synced = flow->synced,
		.schedule = stream->schedule,
		.clock = flow->clock,
		.now = stream->now,
		.event_flags = stream->event_flags,
		.any_event = stream->any_event,
		.next_loss = stream->next_loss,
		.last_pushed = stream->last_pushed,
		.insn_count = stream->insn_count,
		.cycle_count = stream->cycle_count,
		.last_ip = flow->last_ip,
		.ip = flow->ip,
		.interrupted = flow->interrupted,
		.mode = flow->mode,
		.next_mode = flow->next_mode,
		.on = flow->on,
		.lost = flow->lost,
		.after_gap = flow->after_gap,
		.gap_guessed = flow->gap_guessed,
		.gap_mattered = flow->gap_mattered,
		.overflowed = flow->overflowed,
		.told = flow->told,
		.has_interrupt = flow->has_interrupt,
		.aborted = flow->aborted,
		.guest = flow->guest,
		.write = flow->write,
	};
}

static void load_stream(const struct flow_checkpoint *boundary, struct pt_stream *stream)
{
	stream->schedule = boundary->schedule;
	stream->now = boundary->now;
	stream->event_flags = boundary->event_flags;
	stream->any_event = boundary->any_event;
	stream->next_loss = boundary->next_loss;
	stream->last_pushed = boundary->last_pushed;
	stream->insn_count = boundary->insn_count;
	stream->cycle_count = boundary->cycle_count;
	stream->ended = false;
	stream->head = stream->tail = 0;
	stream->stats = (struct pt_stream_stats){ 0 };
}

void flow_checkpoint_load(const struct flow_checkpoint *boundary, struct pt_flow *flow)
{
	load_stream(boundary, &flow->stream);
	flow->passed = boundary->place;
	flow->passed.at = boundary->cut;
	flow->cuts = boundary->cuts;
	flow->clock = boundary->clock;
	flow->last_ip = boundary->last_ip;
	flow->ip = boundary->ip;
	flow->interrupted = boundary->interrupted;
	flow->erratum_resume_ip = 0; /* it is believed at a cut */
	flow->mode = boundary->mode;
	flow->next_mode = boundary->next_mode;
	flow->on = boundary->on;
	flow->lost = boundary->lost;
	flow->after_gap = boundary->after_gap;
	flow->gap_guessed = flow->gap_mattered = false;
	flow->overflowed = boundary->overflowed;
	flow->told = boundary->told;
	flow->has_interrupt = boundary->has_interrupt;
	flow->aborted = boundary->aborted;
	flow->guest = flow->next_guest = boundary->guest;
	flow->waiting_count = 0;
	flow->has_control = false;
	flow->write = boundary->write;
	flow->waiting_write.left = 0;
	flow->mode_end = 0;
	flow->item_size = 0;
	flow->known = boundary->now;
	flow->here = 0;
	flow->task = TASK_READ;
	flow->return_count = 0;
	flow->bits = TNT_BITS_NONE;
	flow->cutting = flow->paused = flow->in_header = false;
	flow->synced = boundary->synced;
	flow_follow_text(flow);
	pt_flow_seek(flow, &boundary->place);
	flow->offset = flow->counted = boundary->place.at;
}

/* ---- Guessing ------------------------------------------------------------ */

/* Returns whether the header of the PSB that the window begins with tells the time; *tsc gets it.
 */
static bool read_header_time(struct pt_flow *flow, uint64_t *tsc)
{
	struct pt_packet packet;
	bool told = false;

	if (!flow->packets || pt_pkt_sync_set(flow->packets, 0) < 0)
		return false;
	while (pt_pkt_next(flow->packets, &packet, sizeof(packet)) >= 0) {
		if (packet.type == ppt_psbend)
			return told;
		if (packet.type != ppt_tsc)
			continue;
		*tsc = packet.payload.tsc.tsc;
		told = true;
	}
	return false;
}

/* Losses are told when their time has come. */
static size_t losses_until(const struct pt_stream *stream, uint64_t time)
{
	size_t low = 0, high = stream->loss_count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (stream->losses[middle].time <= time)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* What was decoded before has told of all that the header's time and place mean. */
static void forget_events(struct pt_flow *flow)
{
	struct pt_stream *stream = &flow->stream;

	/* But for a gap, behind which tracing did not begin. */
	flow->gap_guessed = !flow->on && !flow->overflowed;
	if (flow->gap_guessed)
		flow->lost = flow->after_gap = false;
	stream->head = stream->tail = 0;
	stream->last_pushed = 0;
	stream->insn_count = stream->cycle_count = 0;
	stream->any_event = true;
	stream->stats = (struct pt_stream_stats){ 0 };
}

bool flow_checkpoint_guess(struct pt_flow *flow, const struct flow_checkpoint *first,
			   const struct aux_cuts *at)
{
	struct pt_stream *stream = &flow->stream;
	struct flow_checkpoint start = *first;
	uint64_t tsc = 0;

	start.place = at->place;
	start.cuts = *at;
	start.synced = true;
	flow_checkpoint_load(&start, flow);
	if (!read_header_time(flow, &tsc))
		return false;
	stream_set_time(stream, stream_complete_tsc(stream, tsc));
	schedule_begin_at(&stream->schedule, stream->now.time);
	stream->next_loss = losses_until(stream, stream->now.time);
	stream->any_event = true;
	flow->lost = flow->after_gap = true;
	flow->stops_at_cuts = true;
	while (!flow->paused && !stream->ended) {
		stream->step(stream);
		stream->head = stream->tail = 0;
	}
	if (!flow->paused || flow->passed.at != at->place.at)
		return false;
	flow->paused = false;
	forget_events(flow);
	return true;
}

/* ---- Comparing ----------------------------------------------------------- */

static bool same_clock(const struct packet_clock *a, const struct packet_clock *b)
{
	return a->tsc == b->tsc && a->base == b->base && a->step == b->step &&
	       a->cycles == b->cycles && a->ctc == b->ctc && a->last_mtc == b->last_mtc &&
	       a->counting == b->counting && a->whole_step == b->whole_step &&
	       a->ratio == b->ratio && !(a->tsc_per_cycle < b->tsc_per_cycle) &&
	       !(a->tsc_per_cycle > b->tsc_per_cycle);
}

static bool same_place(const struct flow_checkpoint *a, const struct flow_checkpoint *b)
{
	if (a->on != b->on || a->lost != b->lost || a->overflowed != b->overflowed ||
	    a->last_ip != b->last_ip || a->next_mode != b->next_mode)
		return false;
	if (a->after_gap != b->after_gap && !b->gap_guessed)
		return false;
	/* Where the flow is off or lost, it begins anew. */
	return !a->on || a->lost || (a->ip == b->ip && a->mode == b->mode && a->told == b->told);
}

static bool same_pending(const struct flow_checkpoint *a, const struct flow_checkpoint *b)
{
	return a->aborted == b->aborted && a->guest == b->guest && !a->write.left &&
	       !b->write.left && a->has_interrupt == b->has_interrupt &&
	       (!a->has_interrupt || a->interrupted == b->interrupted);
}

/* `b` is a guess. */
static bool equals(const struct flow_checkpoint *a, const struct flow_checkpoint *b)
{
	return a->cut == b->cut && a->place.at == b->place.at && a->synced == b->synced &&
	       a->now.tsc == b->now.tsc && a->now.time == b->now.time &&
	       a->event_flags == b->event_flags && a->any_event == b->any_event &&
	       a->next_loss == b->next_loss && same_clock(&a->clock, &b->clock) &&
	       same_place(a, b) && same_pending(a, b) &&
	       schedule_equals(&a->schedule, &b->schedule);
}

bool flow_checkpoint_join(const struct flow_checkpoint *now, const struct flow_checkpoint *before,
			  struct flow_checkpoint *after)
{
	if (!equals(now, before))
		return false;
	if (now->after_gap != before->after_gap && after->gap_mattered)
		return false;
	if (after->gap_guessed)
		after->after_gap = now->after_gap;
	return true;
}
