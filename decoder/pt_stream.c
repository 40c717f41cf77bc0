/* SPDX-License-Identifier: MIT */
/*
 * libipt gives blocks: runs of instructions that end at a branch or before an
 * event.  Where a block's last branch went is known when the next block or
 * event tells an ip, so one branch is always pending:
 *
 *   next comes        the pending branch at `from` becomes
 *   ----------------  ------------------------------------------------------
 *   block at ip       branch from -> ip (nothing, if a conditional one fell through)
 *   enabled           nothing is pending: a disable came before
 *   disabled          TRACE_OFF of the branch's kind, from -> where it left to, or 0
 *   async disabled    branch from -> at; then TRACE_OFF | ASYNC at -> 0
 *   async branch      branch from -> source; then INTERRUPT source -> target
 *   overflow          dropped: where it went was lost
 *   error "no code"   branch from -> ip; then the gap
 *   other error       dropped
 */
#include "decoder/pt_stream.h"

#include <intel-pt.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "decoder/insn.h"
#include "decoder/schedule.h"
#include "decoder/tsc_clock.h"

/*
 * Blocks in a row while libipt reads no packet.  A packet has at most 47 branch
 * decisions, and between two of them lie a few direct branches; a flow that
 * goes on for longer turns in a circle (`jmp .`, or libipt's return stack
 * holding an entry that a retpoline had already used).
 */
#define BLOCKS_WITHOUT_PACKET_MAX 4096

/* libipt 2.0.5 reads up to a PSB's length past the end when it synchronises. */
#define BUFFER_PADDING 64

/* The most events that one step can give: lost data, a pending branch, an event, a gap. */
#define QUEUE_ROOM 16

struct moment {
	uint64_t tsc;  /* ticks, all 8 bytes */
	uint64_t time; /* ns */
};

struct pending_branch {
	uint64_t from;
	struct insn insn; /* kind BRANCH_NONE: nothing is pending */
	uint8_t flags;
	struct moment decided;
};

struct pt_stream {
	struct pt_stream_input input;
	struct pt_block_decoder *decoder; /* owned */
	uint8_t *bytes;                   /* owned: all pieces in a row, padded */
	struct insn_cache insns;
	struct schedule schedule;
	struct tsc_clock clock;
	uint64_t reference;               /* a TSC near the data */

	int status;                       /* of the last libipt call that gives one */
	bool synced, timed, ended;
	bool fresh;                       /* synchronised, and nothing decoded since */
	bool idle;                        /* tracing is off up to the next PSB */
	bool damaged;                     /* there was a gap, and no trace since */
	const struct address_space *space; /* whose image the decoder has */
	struct pending_branch pending;
	struct moment now;                /* of the packets read so far */
	uint64_t last_pushed;             /* ns: time of the event given out last */
	uint32_t insn_count;              /* since the last event */
	bool in_tx, tx_aborted;
	uint64_t packet_offset;           /* where libipt was when it last moved */
	uint32_t blocks_without_packet;
	size_t next_loss, loss_count;
	const struct loss *losses;

	struct branch_event queue[QUEUE_ROOM];
	unsigned head, tail;
	struct pt_stream_stats stats;
};

/* ---- Time ---------------------------------------------------------------- */

/*
 * A TSC packet carries 7 bytes (SDM volume 3, "TSC Packet"); the top byte is
 * the one that brings the value nearest to the reference.
 */
static uint64_t complete_tsc(uint64_t low, uint64_t reference)
{
	const uint64_t span = UINT64_C(1) << 56;
	uint64_t tsc = (low & (span - 1)) | (reference & ~(span - 1));

	if (tsc > reference && tsc - reference > span / 2 && tsc >= span)
		return tsc - span;
	if (tsc < reference && reference - tsc > span / 2 && tsc < -span)
		return tsc + span;
	return tsc;
}

static void set_time(struct pt_stream *stream, uint64_t low_tsc)
{
	uint64_t time;

	stream->now.tsc = complete_tsc(low_tsc, stream->reference);
	stream->timed = true;
	time = tsc_clock_ns(&stream->clock, stream->now.tsc);
	if (time > stream->now.time)
		stream->now.time = time;
}

/*
 * Without timing packets the order is all there is: one instruction counts as
 * one nanosecond.
 */
static void advance_time(struct pt_stream *stream, uint32_t insns)
{
	uint64_t tsc;

	if (pt_blk_time(stream->decoder, &tsc, NULL, NULL) == 0)
		set_time(stream, tsc);
	else if (!stream->timed)
		stream->now.time += insns;
}

/* ---- Events out ---------------------------------------------------------- */

/* Within the thread's run on this CPU, and not before the event given out last. */
static void set_event_time(struct pt_stream *stream, struct branch_event *event, uint64_t time)
{
	event->time = schedule_clamp(&stream->schedule, time);
	if (event->time < stream->last_pushed)
		event->time = stream->last_pushed;
	stream->last_pushed = event->time;
}

static struct branch_event *push_at(struct pt_stream *stream, const struct moment *moment,
				    enum branch_kind kind, uint64_t from, uint64_t to)
{
	struct branch_event *event = &stream->queue[stream->tail++ % QUEUE_ROOM];

	*event = (struct branch_event){
		.tsc = stream->timed ? moment->tsc : 0,
		.from = from,
		.to = to,
		.thread = stream->schedule.thread,
		.space = stream->schedule.space,
		.insns = stream->insn_count,
		.cpu = stream->input.aux->cpu,
		.kind = (uint8_t)kind,
		.flags = (stream->in_tx ? BRANCH_IN_TX : 0) |
			 (stream->timed ? 0 : BRANCH_TIME_ESTIMATED),
	};
	set_event_time(stream, event, moment->time);
	stream->insn_count = 0;
	stream->stats.events++;
	return event;
}

static struct branch_event *push(struct pt_stream *stream, enum branch_kind kind, uint64_t from,
				 uint64_t to)
{
	return push_at(stream, &stream->now, kind, from, to);
}

static void push_gap(struct pt_stream *stream, enum gap_reason reason, uint64_t ip)
{
	push(stream, BRANCH_GAP, ip, 0)->gap = (uint8_t)reason;
	stream->stats.gaps[reason]++;
}

/* Losses that the kernel reported show as gaps when the stream reaches their time. */
static void push_losses(struct pt_stream *stream, uint64_t time)
{
	const struct aux_stream *aux = stream->input.aux;

	while (stream->next_loss < stream->loss_count &&
	       stream->losses[stream->next_loss].time <= time) {
		const struct loss *loss = &stream->losses[stream->next_loss];

		if (stream->tail - stream->head >= QUEUE_ROOM - 4)
			return;
		stream->next_loss++;
		if (aux->tid == -1 ? loss->cpu != aux->cpu : loss->tid != aux->tid)
			continue;
		if (loss->time > stream->now.time)
			stream->now.time = loss->time;
		push_gap(stream, GAP_LOST, 0);
	}
}

/* The pending branch went to `to`. */
static void resolve(struct pt_stream *stream, uint64_t to)
{
	struct pending_branch *pending = &stream->pending;
	struct branch_event *event;

	if (pending->insn.kind == BRANCH_NONE)
		return;
	if (pending->insn.kind != BRANCH_COND || to != pending->from + pending->insn.length) {
		event = push_at(stream, &pending->decided, pending->insn.kind, pending->from, to);
		event->from_length = pending->insn.length;
		event->flags |= pending->flags;
	}
	pending->insn.kind = BRANCH_NONE;
}

/* ---- Who runs, and what code he sees ------------------------------------- */

/* Returns whether the decoder sees other code now. */
static bool use_image(struct pt_stream *stream)
{
	const struct address_space *space = stream->schedule.space;

	if (stream->space == space && stream->space)
		return false;
	stream->space = space;
	pt_blk_set_image(stream->decoder, code_image_borrow(stream->input.code, space));
	return true;
}

static bool user_only(const struct pt_stream *stream)
{
	return stream->input.info->exclude_kernel;
}

/*
 * Tracing begins at ip: with user code only, this is where another thread may
 * be.  Returns whether the decoder sees other code now.
 */
static bool enter(struct pt_stream *stream, uint64_t ip)
{
	if (!stream->timed)
		;
	else if (user_only(stream))
		schedule_seek_user(&stream->schedule, stream->now.time, ip);
	else
		schedule_seek(&stream->schedule, stream->now.time);
	return use_image(stream);
}

/* Where the kernel is traced, threads change while tracing is on. */
static void follow_schedule(struct pt_stream *stream)
{
	if (user_only(stream) || !stream->timed || stream->now.time < stream->schedule.end)
		return;
	schedule_seek(&stream->schedule, stream->now.time);
	use_image(stream);
}

/* ---- libipt's events ----------------------------------------------------- */

static void on_enabled(struct pt_stream *stream, const struct pt_event *event)
{
	stream->pending.insn.kind = BRANCH_NONE;
	stream->damaged = false;
	enter(stream, event->variant.enabled.ip);
	push(stream, BRANCH_NONE, 0, event->variant.enabled.ip)->flags |= BRANCH_TRACE_ON;
}

/* The pending branch itself left the traced code. */
static void on_disabled(struct pt_stream *stream, const struct pt_event *event)
{
	struct pending_branch *pending = &stream->pending;
	uint64_t to = event->ip_suppressed ? 0 : event->variant.disabled.ip;
	struct branch_event *off = push(stream, pending->insn.kind, pending->from, to);

	off->flags |= BRANCH_TRACE_OFF | pending->flags;
	off->from_length = pending->insn.length;
	pending->insn.kind = BRANCH_NONE;
}

static void on_async_disabled(struct pt_stream *stream, const struct pt_event *event)
{
	uint64_t at = event->variant.async_disabled.at;
	uint64_t to = event->ip_suppressed ? 0 : event->variant.async_disabled.ip;

	resolve(stream, at);
	push(stream, BRANCH_NONE, at, to)->flags |= BRANCH_TRACE_OFF | BRANCH_ASYNC;
}

static void on_async_branch(struct pt_stream *stream, const struct pt_event *event)
{
	uint64_t from = event->variant.async_branch.from;
	uint64_t to = event->ip_suppressed ? 0 : event->variant.async_branch.to;
	enum branch_kind kind = stream->tx_aborted ? BRANCH_TX_ABORT : BRANCH_INTERRUPT;

	resolve(stream, from);
	push(stream, kind, from, to)->flags |= BRANCH_ASYNC;
	stream->tx_aborted = false;
}

static void on_overflow(struct pt_stream *stream, const struct pt_event *event)
{
	stream->pending.insn.kind = BRANCH_NONE;
	push_gap(stream, GAP_OVERFLOW, 0);
	if (event->ip_suppressed)
		return;
	enter(stream, event->variant.overflow.ip);
	push(stream, BRANCH_NONE, 0, event->variant.overflow.ip)->flags |= BRANCH_TRACE_ON;
}

static void on_event(struct pt_stream *stream, const struct pt_event *event)
{
	if (event->has_tsc)
		set_time(stream, event->tsc);
	push_losses(stream, stream->now.time);
	switch (event->type) {
	case ptev_enabled:
		on_enabled(stream, event);
		break;
	case ptev_disabled:
		on_disabled(stream, event);
		break;
	case ptev_async_disabled:
		on_async_disabled(stream, event);
		break;
	case ptev_async_branch:
		on_async_branch(stream, event);
		break;
	case ptev_overflow:
		on_overflow(stream, event);
		break;
	case ptev_tsx:
		stream->in_tx = event->variant.tsx.speculative;
		stream->tx_aborted = event->variant.tsx.aborted;
		break;
	default: /* modes, paging, power, ptwrite: no change of flow */
		break;
	}
}

/* ---- libipt's blocks ----------------------------------------------------- */

static enum insn_mode insn_mode_of(enum pt_exec_mode mode)
{
	if (mode == ptem_32bit)
		return INSN_MODE_32;
	return mode == ptem_16bit ? INSN_MODE_16 : INSN_MODE_64;
}

static struct insn last_insn(struct pt_stream *stream, const struct pt_block *block)
{
	const uint8_t *bytes;
	size_t size;

	if (block->truncated)
		return insn_decode(block->raw, block->size, insn_mode_of(block->mode));
	bytes = code_image_bytes(stream->input.code, block->isid, block->end_ip, &size);
	if (!bytes)
		return (struct insn){ 0 };
	return insn_cache_decode(&stream->insns, bytes, size, insn_mode_of(block->mode));
}

static void on_block(struct pt_stream *stream, const struct pt_block *block)
{
	resolve(stream, block->ip);
	stream->pending.from = block->end_ip;
	stream->pending.insn = last_insn(stream, block);
	stream->pending.flags = (block->speculative ? BRANCH_IN_TX : 0) |
				(stream->pending.insn.indirect ? BRANCH_INDIRECT : 0);
	stream->insn_count += block->ninsn;
	stream->stats.insns += block->ninsn;
	advance_time(stream, block->ninsn);
	/* The time of the block's own packet; of the next one, where that is an event. */
	stream->pending.decided = stream->now;
	push_losses(stream, stream->now.time);
	follow_schedule(stream);
}

/* Returns whether the flow turns in a circle. */
static bool is_endless(struct pt_stream *stream)
{
	uint64_t offset = 0;

	pt_blk_get_offset(stream->decoder, &offset);
	if (offset != stream->packet_offset) {
		stream->packet_offset = offset;
		stream->blocks_without_packet = 0;
	}
	return ++stream->blocks_without_packet > BLOCKS_WITHOUT_PACKET_MAX;
}

/* ---- Errors and synchronisation ------------------------------------------ */

static enum gap_reason gap_reason_of(int status)
{
	switch (pt_errcode(status)) {
	case pte_nomap:
		return GAP_NO_CODE;
	case pte_bad_opc:
	case pte_bad_packet:
		return GAP_BAD_PACKET;
	case pte_bad_query:
	case pte_bad_insn:
	case pte_bad_retcomp:
	case pte_retstack_empty:
	case pte_bad_status_update:
	case pte_noip:
	case pte_ip_suppressed:
	case pte_event_ignored:
		return GAP_MISMATCH;
	case pte_overflow:
		return GAP_OVERFLOW;
	default:
		return GAP_INTERNAL;
	}
}

static void fail(struct pt_stream *stream, enum gap_reason reason, uint64_t ip)
{
	stream->pending.insn.kind = BRANCH_NONE;
	push_gap(stream, reason, ip);
	stream->synced = false;
	stream->damaged = true;
	stream->in_tx = stream->tx_aborted = false;
}

/* Go on at the next PSB, and count what lies before it. */
static void synchronise(struct pt_stream *stream)
{
	uint64_t from = 0, to = stream->stats.bytes_total;
	bool first = pt_blk_get_offset(stream->decoder, &from) < 0;

	if (first)
		from = 0;
	stream->status = pt_blk_sync_forward(stream->decoder);
	if (stream->status < 0)
		stream->ended = true;
	else
		pt_blk_get_sync_offset(stream->decoder, &to);
	if (to > from && first)
		stream->stats.bytes_skipped += to - from;
	else if (to > from && !stream->idle)
		stream->stats.bytes_lost += to - from;
	stream->idle = false;
	stream->synced = true;
	stream->fresh = true;
	stream->blocks_without_packet = 0;
	stream->space = NULL;
	advance_time(stream, 0);
	if (stream->timed)
		schedule_seek(&stream->schedule, stream->now.time);
	use_image(stream);
}

static void finish(struct pt_stream *stream)
{
	stream->ended = true;
	push_losses(stream, UINT64_MAX);
}

static void next_event(struct pt_stream *stream)
{
	struct pt_event event;
	int status = pt_blk_event(stream->decoder, &event, sizeof(event));

	stream->status = status;
	/* What the PSB only repeats (modes, paging) is no trace yet. */
	if (status < 0 || !event.status_update)
		stream->fresh = false;
	if (status < 0 && pt_errcode(status) == pte_eos)
		finish(stream);
	else if (status < 0)
		fail(stream, gap_reason_of(status), stream->pending.from);
	else
		on_event(stream, &event);
}

static bool lacks_code(int status, const struct pt_block *block)
{
	return status < 0 && pt_errcode(status) == pte_nomap && !block->ninsn;
}

/*
 * The first block after a PSB in mid-flow: libipt tells its ip only with the
 * block, so whose code it is shows after the first try.  Returns libipt's
 * status.
 */
static int first_block(struct pt_stream *stream, struct pt_block *block)
{
	int status = pt_blk_next(stream->decoder, block, sizeof(*block));

	stream->fresh = false;
	if (enter(stream, block->ip) && lacks_code(status, block))
		status = pt_blk_next(stream->decoder, block, sizeof(*block));
	if (stream->damaged)
		push(stream, BRANCH_NONE, 0, block->ip)->flags |= BRANCH_TRACE_ON;
	stream->damaged = false;
	return status;
}

static void next_block(struct pt_stream *stream)
{
	struct pt_block block = { 0 };
	int status = stream->fresh ? first_block(stream, &block)
				   : pt_blk_next(stream->decoder, &block, sizeof(block));

	stream->status = status;
	if (block.ninsn)
		on_block(stream, &block);
	if (status < 0 && pt_errcode(status) == pte_eos) {
		finish(stream);
	} else if (status < 0 && pt_errcode(status) == pte_no_enable) {
		/* Tracing is off, and nothing more comes before the next PSB: no loss. */
		stream->synced = false;
		stream->idle = true;
	} else if (status < 0) {
		if (lacks_code(status, &block))
			resolve(stream, block.ip);
		fail(stream, gap_reason_of(status), block.ninsn ? block.end_ip : block.ip);
	} else if (is_endless(stream)) {
		fail(stream, GAP_ENDLESS, block.ip);
	}
}

static void step(struct pt_stream *stream)
{
	if (!stream->synced)
		synchronise(stream);
	else if (stream->status & pts_event_pending)
		next_event(stream);
	else if (stream->status & pts_eos)
		finish(stream);
	else
		next_block(stream);
}

int pt_stream_next(struct pt_stream *stream, struct branch_event *event)
{
	while (stream->head == stream->tail) {
		if (stream->ended && stream->next_loss == stream->loss_count)
			return 0;
		if (stream->ended)
			finish(stream);
		else
			step(stream);
	}
	*event = stream->queue[stream->head++ % QUEUE_ROOM];
	return 1;
}

const struct pt_stream_stats *pt_stream_stats(const struct pt_stream *stream)
{
	return &stream->stats;
}

/* ---- Opening ------------------------------------------------------------- */

/*
 * The value of a field of attr.config: `mask` is the field's bits, as
 * AUXTRACE_INFO names them.
 */
static uint64_t config_field(uint64_t config, uint64_t mask)
{
	return mask ? (config & mask) >> __builtin_ctzll(mask) : 0;
}

static void configure(const struct pt_info *info, struct pt_config *config)
{
	pt_config_init(config);
	if (info->cpu_is_intel) {
		config->cpu.vendor = pcv_intel;
		config->cpu.family = (uint16_t)info->cpu_family;
		config->cpu.model = (uint8_t)info->cpu_model;
		config->cpu.stepping = (uint8_t)info->cpu_stepping;
		/* A CPU that libipt does not know has no errata for it. */
		pt_cpu_errata(&config->errata, &config->cpu);
	}
	if (info->config & info->mtc_bit)
		config->mtc_freq = (uint8_t)config_field(info->config, info->mtc_freq_bits);
	config->nom_freq = (uint8_t)info->max_nonturbo_ratio;
	config->cpuid_0x15_eax = (uint32_t)info->tsc_ctc_ratio_d;
	config->cpuid_0x15_ebx = (uint32_t)info->tsc_ctc_ratio_n;
	config->flags.variant.block.end_on_call = 1;
	config->flags.variant.block.end_on_jump = 1;
}

/*
 * libipt wants the trace in one piece, and PSBs and packets may straddle the
 * pieces, so this engine copies them into a row.
 */
static uint8_t *join_pieces(const struct aux_stream *aux)
{
	uint8_t *bytes = alloc_zeroed(1, aux->size + BUFFER_PADDING);
	uint64_t used = 0;

	for (size_t i = 0; i < aux->piece_count; i++) {
		memcpy(bytes + used, aux->pieces[i].bytes, aux->pieces[i].size);
		used += aux->pieces[i].size;
	}
	return bytes;
}

static void start_schedule(struct pt_stream *stream)
{
	const struct aux_stream *aux = stream->input.aux;
	const struct pt_info *info = stream->input.info;

	schedule_init(&stream->schedule, stream->input.timeline, aux->cpu, aux->tid);
	stream->clock.zero = info->time_zero;
	stream->clock.mult = (uint32_t)info->time_mult;
	stream->clock.shift = (uint16_t)info->time_shift;
	stream->reference = aux->piece_count ? aux->pieces[0].reference : 0;
	stream->losses = timeline_losses(stream->input.timeline, &stream->loss_count);
	if (info->config & info->tsc_bit)
		return;
	if (!schedule_settle(&stream->schedule))
		diag_warn(stream->input.diag, "thread-unknown",
			  "no timing packets on cpu %d: which thread ran is a guess", aux->cpu);
	stream->now.time = tsc_clock_ns(&stream->clock, stream->reference);
	diag_warn(stream->input.diag, "no-timing",
		  "recorded without timing packets: order is right, times are made up "
		  "(1 ns an instruction)");
}

struct pt_stream *pt_stream_open(const struct pt_stream_input *input, struct error *err)
{
	struct pt_stream *stream = alloc_zeroed(1, sizeof(*stream));
	struct pt_config config;

	stream->input = *input;
	stream->bytes = join_pieces(input->aux);
	stream->stats.bytes_total = input->aux->size;
	insn_cache_init(&stream->insns);
	start_schedule(stream);
	configure(input->info, &config);
	config.begin = stream->bytes;
	config.end = stream->bytes + input->aux->size;
	stream->decoder = input->aux->size ? pt_blk_alloc_decoder(&config) : NULL;
	stream->ended = !input->aux->size;
	if (!stream->decoder && input->aux->size) {
		error_set(err, ERROR_LIBRARY, "libipt cannot make a decoder for this trace");
		pt_stream_close(stream);
		return NULL;
	}
	return stream;
}

void pt_stream_close(struct pt_stream *stream)
{
	if (!stream)
		return;
	if (stream->decoder)
		pt_blk_free_decoder(stream->decoder);
	insn_cache_release(&stream->insns);
	free(stream->bytes);
	free(stream);
}
