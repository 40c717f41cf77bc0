/* SPDX-License-Identifier: MIT */
/*
 * libipt returns blocks: instructions up to a branch or an event.  The target of a block's last
 * branch is known when the next block or event has an ip, so one branch is always pending:
 *
 *   next comes        the pending branch at `from` becomes
 *   ----------------  ------------------------------------------------------
 *   block at ip       branch from -> ip (nothing, if a conditional one fell through)
 *   enabled           nothing is pending: a disable came before
 *   disabled          TRACE_OFF of the branch's kind, from -> where it left to, or 0
 *   tick              the pending branch has this time (libipt 2.1)
 *   async disabled    branch from -> at; then TRACE_OFF | ASYNC at -> 0
 *   async branch      branch from -> source; then INTERRUPT source -> target
 *   overflow          branch from -> where libipt would continue, if a packet decided it
 *   exstop            perhaps a packet that libipt does not know: pt_rewrite.h
 *   error "no code"   branch from -> ip; then the gap
 *   end of trace      branch from -> where libipt would continue, if a packet decided it
 *   other error       dropped
 */
#include "decoder/engine/libipt/pt_blocks.h"

/* libipt 2.1 returns 0 or all bits set for an unknown time. */
static void advance_time(struct pt_blocks *blocks)
{
	uint32_t lost_mtc, lost_cyc;
	uint64_t tsc;

	if (pt_blk_time(blocks->decoder, &tsc, &lost_mtc, &lost_cyc) == 0 && tsc && ~tsc)
		stream_set_time(&blocks->stream, stream_complete_tsc(&blocks->stream, tsc));
}

/* ---- libipt's blocks ----------------------------------------------------- */

static enum insn_mode insn_mode_of(enum pt_exec_mode mode)
{
	if (mode == ptem_32bit)
		return INSN_MODE_32;
	return mode == ptem_16bit ? INSN_MODE_16 : INSN_MODE_64;
}

/* Returns the current bytes of code from ip to the end of `view`; NULL: no code. */
static const uint8_t *code_at(struct pt_blocks *blocks, uint64_t ip)
{
	const struct address_space *space = blocks->stream.state.schedule.space;
	struct code_view *view = &blocks->view;
	const uint8_t *bytes;

	if (blocks->space != space || ip - view->begin >= view->end - view->begin)
		*view = code_image_view(blocks->stream.input.code, space, ip);
	blocks->space = space;
	bytes = kernel_text_bytes(&blocks->stream.text, view->bytes);
	return bytes ? bytes + (ip - view->begin) : NULL;
}

/* Read code for libipt. */
static int read_code(uint8_t *buffer, size_t size, const struct pt_asid *asid, uint64_t ip,
		     void *context)
{
	struct pt_blocks *blocks = context;
	const uint8_t *bytes = code_at(blocks, ip);

	(void)asid;
	if (!bytes)
		return -pte_nomap;
	size = MIN(size, blocks->view.end - ip);
	memcpy(buffer, bytes, size);
	return (int)size;
}

static struct insn last_insn(struct pt_blocks *blocks, const struct pt_block *block)
{
	const uint8_t *bytes;

	if (block->truncated) /* the instruction is in two mappings */
		return insn_decode(block->raw, block->size, insn_mode_of(block->mode));
	bytes = code_at(blocks, block->end_ip);
	if (!bytes)
		return (struct insn){ 0 };
	return insn_decode(bytes, blocks->view.end - block->end_ip, insn_mode_of(block->mode));
}

/* No packet decides a direct branch. After a tick, libipt's time is the next packet's. */
static bool is_direct_insn(const struct insn *insn)
{
	return !insn->indirect && (insn->kind == BRANCH_CALL || insn->kind == BRANCH_JUMP);
}

static void on_block(struct pt_blocks *blocks, const struct pt_block *block)
{
	blocks->off = false;
	blocks_resolve(blocks, block->ip);
	blocks->pending.begin = block->ip;
	blocks->pending.from = block->end_ip;
	blocks->pending.insn = last_insn(blocks, block);
	blocks->pending.flags = block->speculative ? BRANCH_IN_TX : 0;
	blocks->pending.begun = blocks->stream.state.now;
	if (!blocks->ticks || !is_direct_insn(&blocks->pending.insn))
		advance_time(blocks);
	stream_count_insns(&blocks->stream, block->ninsn);
	/* The time of the block's own packet, or of the next packet if that is an event. */
	blocks->pending.decided = blocks->stream.state.now;
	if (blocks->pending.insn.kind == BRANCH_NONE)
		blocks_count(blocks, 0);
	stream_push_losses(&blocks->stream, blocks->stream.state.now.time);
	stream_follow_schedule(&blocks->stream);
}

/* Returns whether the flow loops forever. */
static bool is_endless(struct pt_blocks *blocks)
{
	uint64_t offset = 0;

	pt_blk_get_offset(blocks->decoder, &offset);
	if (offset != blocks->packet_offset) {
		blocks->packet_offset = offset;
		blocks->blocks_without_packet = 0;
	}
	return ++blocks->blocks_without_packet > BRANCHES_WITHOUT_PACKET_MAX;
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

static void blocks_fail(struct pt_blocks *blocks, enum gap_reason reason, uint64_t ip)
{
	blocks_emit_cfe(blocks, 0);
	blocks->pending.insn.kind = BRANCH_NONE;
	stream_push_gap(&blocks->stream, reason, ip);
	blocks->synced = false;
	blocks->damaged = true;
	stream_lose_tx(&blocks->stream);
	blocks->tx_aborted = false;
}

/* The same for an error of libipt, which can be a lack of memory. */
static void fail_by(struct pt_blocks *blocks, int status, uint64_t ip)
{
	alloc_check();
	blocks_fail(blocks, gap_reason_of(status), ip);
}

static void open_run(struct pt_blocks *blocks, const struct aux_stream *aux)
{
	size_t first = blocks->next_piece, end = first;
	uint64_t used = aux->size && aux->pieces[first].resumes ? PT_REWRITE_HEADER : 0;

	/* libipt needs contiguous trace that begins with a PSB: copy consecutive pieces. */
	blocks->size = blocks->counted = used;
	while (end < aux->piece_count && (end == first || !aux->pieces[end].apart))
		blocks->size += aux->pieces[end++].size;
	free(blocks->bytes);
	blocks->bytes = alloc_zeroed(1, blocks->size + AUX_WINDOW_PADDING);
	if (used)
		pt_rewrite_header(&blocks->rewrite, blocks->stream.state.now.tsc, blocks->bytes);
	for (size_t i = first; i < end; i++) {
		memcpy(blocks->bytes + used, aux->pieces[i].bytes, aux->pieces[i].size);
		used += aux->pieces[i].size;
	}
	blocks->next_piece = end;
	blocks->rewrite.has_guests = stream_is_of_guest(&blocks->stream, true);
	pt_rewrite_bytes(&blocks->rewrite, &blocks->config.errata, blocks->bytes, blocks->size,
			 blocks->counted);
	if (blocks->decoder)
		pt_blk_free_decoder(blocks->decoder);
	blocks->config.begin = blocks->bytes;
	blocks->config.end = blocks->bytes + blocks->size;
	blocks->decoder =
		blocks->size ? ALLOC_CHECKED(pt_blk_alloc_decoder(&blocks->config)) : NULL;
	if (blocks->decoder)
		pt_blk_set_image(blocks->decoder, blocks->image);
	blocks->psb_end = 0;
	blocks->synced = false;
	blocks->idle = false;
}

/* The consecutive pieces end; others can begin apart. */
static void finish_run(struct pt_blocks *blocks)
{
	struct pt_stream *stream = &blocks->stream;

	stream->stats.bytes_decoded += blocks->size - blocks->counted;
	stream->ended = blocks->next_piece == stream->input.aux->piece_count;
	if (stream->ended) {
		stream_push_end(stream, blocks->damaged);
		return;
	}
	stream_push_apart(stream, blocks->damaged, &stream->input.aux->pieces[blocks->next_piece]);
	blocks->damaged = true;
	blocks->pending.insn.kind = BRANCH_NONE;
	open_run(blocks, stream->input.aux);
	if (!blocks->decoder)
		stream_finish(stream);
}

/* Count the bytes before libipt's synchronization point as skipped or lost. */
static void count_to(struct pt_blocks *blocks, uint64_t from, uint64_t to, bool first)
{
	struct pt_stream_stats *stats = &blocks->stream.stats;

	to = MAX(to, blocks->counted);
	from = MIN(from, to);
	from = MAX(from, blocks->counted);
	stats->bytes_decoded += from - blocks->counted;
	if (first)
		stats->bytes_skipped += to - from;
	else if (blocks->idle)
		stats->bytes_decoded += to - from;
	else
		stats->bytes_lost += to - from;
	blocks->counted = to;
}

/* Select the code of the current time's thread. libipt 2.1 has the time from an event. */
static void seek_schedule(struct pt_blocks *blocks)
{
	if (stream_is_timed(&blocks->stream))
		schedule_seek(&blocks->stream.state.schedule, blocks->stream.state.now.time);
}

/* Returns the next PSB's offset, or the size. libipt 2.1 misses a PSB that it has read ahead. */
static uint64_t next_psb(const struct pt_blocks *blocks, uint64_t decoded)
{
	uint64_t from = blocks->psb_end;
	const uint8_t *found;

	/* A damaged packet can include the start of a PSB. */
	if (from + AUX_PSB_SIZE < decoded)
		from = decoded - AUX_PSB_SIZE + 1;
	found = aux_find_psb(blocks->bytes + from, blocks->size - from,
			     blocks->bytes + blocks->size);
	return found ? (uint64_t)(found - blocks->bytes) : blocks->size;
}

static void synchronise(struct pt_blocks *blocks)
{
	uint64_t psb;
	uint64_t from = 0, to;
	bool first = pt_blk_get_offset(blocks->decoder, &from) < 0;

	/*
	 * Begin at the next PSB, and count the bytes before it.  Returns its offset, or the size.
	 */
	to = next_psb(blocks, first ? 0 : from);
	blocks->status = to < blocks->size ? pt_blk_sync_set(blocks->decoder, to) : -pte_eos;
	if (blocks->status < 0 && pt_errcode(blocks->status) == pte_eos)
		to = blocks->size;
	count_to(blocks, first ? 0 : from, to, first);
	psb = to;
	blocks_emit_cfe(blocks, 0);
	pt_rewrite_seek(&blocks->rewrite, psb);
	if (psb == blocks->size) {
		finish_run(blocks);
		return;
	}
	blocks->psb_end = psb + AUX_PSB_SIZE;
	if (blocks->status < 0) {
		blocks_fail(blocks, gap_reason_of(blocks->status), 0);
		return;
	}
	blocks->idle = blocks->guest = false;
	blocks->synced = blocks->off = true;
	blocks->fresh = true;
	blocks->blocks_without_packet = 0;
	advance_time(blocks);
	seek_schedule(blocks);
}

/*
 * Returns the pending branch's target by the last packet; 0: not decided, as after a direct branch.
 * libipt begins a block at the target, although it gets no code.
 */
static uint64_t decided_ip(struct pt_blocks *blocks)
{
	const struct insn *insn = &blocks->pending.insn;
	struct pt_block block = { 0 };

	if (insn->kind == BRANCH_NONE || is_direct_insn(insn))
		return 0;
	pt_blk_set_image(blocks->decoder, NULL);
	pt_blk_next(blocks->decoder, &block, sizeof(block));
	pt_blk_set_image(blocks->decoder, blocks->image);
	return block.ip == blocks->pending.from ? 0 : block.ip;
}

static bool lacks_code(int status, const struct pt_block *block)
{
	return status < 0 && pt_errcode(status) == pte_nomap && !block->ninsn;
}

/*
 * Decode the first block after a PSB in mid-flow, if necessary twice, because only the block shows
 * the ip, and thereby the right code. Returns libipt's status.
 */
static int first_block(struct pt_blocks *blocks, struct pt_block *block)
{
	int status = pt_blk_next(blocks->decoder, block, sizeof(*block));

	if (status >= 0 && !block->ninsn) /* libipt 2.1: an event of the header is next */
		return status;
	blocks->fresh = false;
	stream_enter(&blocks->stream, block->ip);
	if (lacks_code(status, block))
		status = pt_blk_next(blocks->decoder, block, sizeof(*block));
	if (blocks->damaged)
		stream_push(&blocks->stream, BRANCH_NONE, 0, block->ip)->flags |= BRANCH_TRACE_ON;
	blocks->damaged = false;
	stream_show_tx(&blocks->stream);
	return status;
}

/* Decode a block with the code of this time, or with other code if this has none at the ip. */
static int any_block(struct pt_blocks *blocks, struct pt_block *block)
{
	int status;

	stream_enter_from_kernel(&blocks->stream, &blocks->pending.insn, 0);
	status = pt_blk_next(blocks->decoder, block, sizeof(*block));
	if (!lacks_code(status, block))
		return status;
	blocks_resolve(blocks, block->ip);
	return pt_blk_next(blocks->decoder, block, sizeof(*block));
}

/* Returns where a block failed: libipt returns the instructions before code that is missing. */
static uint64_t failed_ip(const struct pt_blocks *blocks, int status, const struct pt_block *block)
{
	if (!block->ninsn)
		return block->ip;
	return block->end_ip + (pt_errcode(status) == pte_nomap ? blocks->pending.insn.length : 0);
}

/* Returns the status for an instruction that is invalid because the code ends in it: no code. */
static int status_of_cut(struct pt_blocks *blocks, int status, const struct pt_block *block)
{
	uint64_t ip = block->ninsn ? block->end_ip + blocks->pending.insn.length : block->ip;
	uint8_t bytes[INSN_LENGTH_MAX];
	size_t size;

	if (pt_errcode(status) != pte_bad_insn)
		return status;
	size = code_image_read(blocks->stream.input.code, blocks->stream.state.schedule.space,
			       &blocks->stream.text, ip, bytes);
	return size == INSN_LENGTH_MAX || insn_decode(bytes, size, insn_mode_of(block->mode)).length
		       ? status
		       : -pte_nomap;
}

static uint64_t packet_offset(const struct pt_blocks *blocks)
{
	uint64_t offset = 0;

	pt_blk_get_offset(blocks->decoder, &offset);
	return offset;
}

static void next_block(struct pt_blocks *blocks)
{
	uint64_t offset = packet_offset(blocks);
	struct pt_block block = { 0 };
	int status;

	errno = 0;
	status = blocks->fresh ? first_block(blocks, &block) : any_block(blocks, &block);

	blocks->status = status;
	/*
	 * A damaged MODE.Exec (flow_apply_mode()) makes libipt read the wrong code. libipt 2.1 also
	 * does so if the mode is unknown: after an overflow, or CS.L with CS.D.
	 */
	if (block.ninsn &&
	    (block.mode == ptem_unknown || (block.ip >> 32 && block.mode != ptem_64bit))) {
		blocks_resolve(blocks, block.ip);
		blocks_fail(blocks, GAP_MISMATCH, block.ip);
		return;
	}
	if (block.ninsn)
		on_block(blocks, &block);
	blocks->pending.read_ahead = packet_offset(blocks) != offset;
	if (status < 0 && pt_errcode(status) == pte_eos) {
		finish_run(blocks);
	} else if (status < 0 && pt_errcode(status) == pte_no_enable) {
		/* Tracing is off, and no trace follows before the next PSB: no loss. */
		blocks->synced = false;
		blocks->idle = true;
	} else if (status < 0) {
		if (lacks_code(status, &block))
			blocks_resolve(blocks, block.ip);
		status = status_of_cut(blocks, status, &block);
		fail_by(blocks, status, failed_ip(blocks, status, &block));
	} else if (is_endless(blocks)) {
		blocks_fail(blocks, GAP_ENDLESS, block.ip);
	}
}

static void step_blocks(struct pt_stream *stream)
{
	struct pt_blocks *blocks = (struct pt_blocks *)stream;

	kernel_text_advance(&stream->text, stream->state.now.time);
	if (!blocks->synced) {
		synchronise(blocks);
	} else if (blocks->status & pts_event_pending) {
		struct pt_event event;
		int status;

		blocks->pending.to = decided_ip(blocks);
		errno = 0;
		status = pt_blk_event(blocks->decoder, &event, sizeof(event));

		blocks->status = status;
		/* Skip events that the PSB only repeats (modes, paging). */
		if (status < 0 || !event.status_update)
			blocks->fresh = false;
		if (status < 0 && pt_errcode(status) == pte_eos)
			finish_run(blocks);
		else if (status < 0)
			fail_by(blocks, status, blocks->pending.from);
		else
			blocks_on_event(blocks, &event);
		if (blocks->fresh)
			seek_schedule(blocks);
	} else if (blocks->status & pts_eos) {
		blocks->pending.to = decided_ip(blocks);
		if (blocks->pending.to)
			blocks_resolve(blocks, blocks->pending.to);
		finish_run(blocks);
	} else {
		next_block(blocks);
	}
}

static void close_blocks(struct pt_stream *stream)
{
	struct pt_blocks *blocks = (struct pt_blocks *)stream;

	if (blocks->decoder)
		pt_blk_free_decoder(blocks->decoder);
	pt_image_free(blocks->image);
	kernel_text_release(&blocks->stream.text);
	pt_rewrite_release(&blocks->rewrite);
	free(blocks->bytes);
	free(blocks);
}

struct pt_stream *pt_blocks_new(const struct pt_stream_input *input, const struct pt_config *config)
{
	struct pt_blocks *blocks = alloc_zeroed(1, sizeof(*blocks));

	blocks->stream.input = *input;
	blocks->config = *config;
	blocks->config.flags.variant.block.end_on_call = 1;
	blocks->config.flags.variant.block.end_on_jump = 1;
	blocks->ticks = pt_library_version().major > 2 || pt_library_version().minor > 0;
	blocks->config.flags.variant.block.enable_tick_events = blocks->ticks;
	blocks->stream.step = step_blocks;
	blocks->stream.close = close_blocks;
	blocks->image = ALLOC_CHECKED(pt_image_alloc(NULL));
	pt_image_set_callback(blocks->image, read_code, blocks);
	open_run(blocks, input->aux);
	if (blocks->decoder || !input->aux->size)
		return &blocks->stream;
	close_blocks(&blocks->stream);
	return NULL;
}
