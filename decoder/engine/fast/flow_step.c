/* SPDX-License-Identifier: MIT */
/* Follow the code one basic block at a time, without cached links. */
#include "decoder/engine/fast/flow_step.h"

#include "decoder/code/stack_effect.h"
#include "decoder/engine/fast/flow_code.h"

/* ---- Damage -------------------------------------------------------------- */

void flow_set_lost(struct pt_flow *flow)
{
	flow->pending = PENDING_NONE;
	flow->bits = TNT_BITS_NONE;
	flow->return_count = 0;
	flow->state.has_interrupt = false;
	emulated_ptwrite_drop(flow);
	stream_lose_tx(&flow->stream);
	flow->state.aborted = false;
	flow_count_bytes(flow, flow->offset);
	flow->state.lost = true;
}

static void reach_fup(struct pt_flow *flow);

void flow_fail(struct pt_flow *flow, enum gap_reason reason, uint64_t ip)
{
	enum pending pending = flow->pending;
	unsigned returns = flow->return_count;
	uint64_t bits = flow->bits;

	/* The trace contradicts a guess, so code before it is missing. */
	if (!flow->state.lost && reason == GAP_MISMATCH && flow->opaque.guessed)
		stream_push_gap(&flow->stream, GAP_NO_CODE, 0);
	else if (!flow->state.lost)
		stream_push_gap(&flow->stream, reason, ip);
	flow->opaque.guessed &= reason == GAP_NO_CODE;
	flow->state.calls_missing |= reason == GAP_NO_CODE;
	flow_set_after_gap(flow);
	flow_set_lost(flow);
	/* The code on the way to the FUP's ip is unknown, but the ip is known. */
	if (pending == PENDING_FUP)
		flow_resync_at(flow, flow->target);
	if (reason == GAP_NO_CODE && flow->state.lost)
		flow_enter_opaque(flow, ip, returns, bits);
	else
		flow->opaque.active = false;
	flow->opaque.left = 0;
	if (pending == PENDING_FUP) {
		flow->opaque.interrupted = flow->fup_kind == FUP_INTERRUPT;
		if (!flow->state.lost)
			reach_fup(flow);
	} else if (reason == GAP_NO_CODE &&
		   (pending == PENDING_TIP || pending == PENDING_TIP_PGD)) {
		flow->at = flow->offset - flow->window.base; /* the packet belongs to that code */
	}
}

void flow_set_found(struct pt_flow *flow)
{
	if (flow->state.lost)
		flow_count_bytes(flow, flow->offset);
	flow->state.lost = false;
}

/* ---- Pending events ------------------------------------------------------ */

/* A transaction also affects the following branches. */
static void enter_transaction(struct pt_flow *flow, enum cpu_event_kind kind, uint64_t ip)
{
	stream_set_in_tx(&flow->stream, kind == CPU_EVENT_TX_BEGIN);
	flow->stream.state.tx_shown = kind == CPU_EVENT_TX_BEGIN;
	if (kind != CPU_EVENT_TX_ABORT || !flow->state.on || flow->state.lost)
		return;
	flow->state.aborted = flow->state.has_interrupt = true;
	flow->state.interrupted = ip;
}

void flow_emit_pending(struct pt_flow *flow, uint64_t ip)
{
	for (unsigned i = 0; i < flow->pending_fup_count; i++) {
		const struct cpu_event_data *event = &flow->pending_fup[i];

		stream_push_cpu_event(&flow->stream, event, ip);
		if (cpu_event_is_tx(event->kind))
			enter_transaction(flow, event->kind, ip);
	}
	flow->pending_fup_count = 0;
}

void flow_emit_cfe(struct pt_flow *flow, uint64_t ip)
{
	if (flow->has_cfe)
		stream_push_cpu_event(&flow->stream, &flow->cfe, ip);
	flow->has_cfe = false;
}

void flow_flush_pending(struct pt_flow *flow)
{
	flow_emit_cfe(flow, 0);
	for (unsigned i = 0; i < flow->pending_fup_count; i++)
		stream_push_cpu_event(&flow->stream, &flow->pending_fup[i], 0);
	flow->pending_fup_count = 0;
}

/* ---- Links between blocks ------------------------------------------------ */

/* Returns the CFG node of a successor if no event is on the way, or 0. */
static uint32_t silent_successor(const struct basic_block *block, const struct basic_block *next)
{
	return next && next->region == block->region ? next->node : 0;
}

/*
 * Continue at ip, and store its block in `link` of the previous block. Links stay within a mapping,
 * because they belong to the file, which another process can map at another address.
 */
static void follow_link(struct pt_flow *flow, struct basic_block **link, uint64_t ip)
{
	unsigned generation = flow->blocks.generation;
	struct basic_block *block;

	flow_move_to(flow, ip);
	if (!in_view(flow, ip))
		return;
	block = *link ? *link : flow_block_at(flow, ip);
	if (generation == flow->blocks.generation) {
		*link = block;
		/* Set the links that flow_run_cached() can follow without a look at the block. */
		if (flow->block->insns <= PACKED_COUNTS_STEP_INSNS) {
			struct cfg_node *node = cfg_node_at(flow->blocks.nodes, flow->block->node);
			bool jumps = flow->block->exit == EXIT_JUMP,
			     decides = flow->block->exit == EXIT_DECIDE;

			node->step[0] = packed_counts(!jumps, jumps, flow->block->insns);
			node->step[1] = packed_counts(!jumps, 1, flow->block->insns);
			node->next[1] = flow->block->taken_local && (jumps || decides)
						? silent_successor(flow->block, flow->block->taken)
						: 0;
			node->next[0] =
				jumps ? node->next[1]
				: decides && !flow->block->ends_piece && !flow->block->falls_out
					? silent_successor(flow->block, flow->block->not_taken)
					: 0;
		}
	}
	flow->cached_block =
		block && flow->state.emitted && !flow->state.ptwrite.left ? block->node : 0;
}

/* Continue at the target of an indirect branch, which can change, also to another mapping. */
static void follow_indirect_link(struct pt_flow *flow, struct basic_block **link, uint64_t ip)
{
	flow_move_to(flow, ip);
	if (!bring_into_view(flow, ip))
		return;
	if (!is_block_at(flow, *link, ip))
		*link = NULL;
	follow_link(flow, link, ip);
}

/* ---- Following branches -------------------------------------------------- */

/* Count an execution of the current block. `bit`: its branch was taken. */
static void count_block(struct pt_flow *flow, unsigned bit)
{
	if (flow_counts(flow))
		block_counts_add(flow->blocks.counts, flow->block->node, bit);
}

/* Count an execution of only the first bytes of the current block. */
static void count_part(struct pt_flow *flow, uint64_t bytes)
{
	if (bytes && flow_counts(flow))
		counted_pairs_add(&flow->blocks.counts->parts, flow->block->node, (uint32_t)bytes,
				  1);
}

/*
 * Returns whether the current block, in the function [begin, end), ends with a jump that is a call
 * or leads to another stack, possibly into the same function.
 */
static bool leaves_stack(const struct pt_flow *flow, uint64_t begin, uint64_t end)
{
	const struct basic_block *block = flow->block;
	const struct code_view *view = &flow->view;
	uint64_t ip = flow->state.ip;
	struct function_code code;

	if (!block->insn.indirect || block->mode != INSN_MODE_64 || begin < view->begin ||
	    end > view->end || begin > ip)
		return false;
	code = (struct function_code){ view->bytes + (begin - view->begin), end - begin, begin };
	return stack_effect_of_branch(&code, ip - begin + block->length, false).effect >
	       STACK_STAYS;
}

/* Jumps out of the current block's piece are not local. */
static void clip_to_piece(const struct pt_flow *flow, uint64_t *begin, uint64_t *end)
{
	uint64_t first, last;

	code_image_piece(flow->stream.input.code, &flow->view, flow->state.ip, &first, &last);
	if (first < last && *begin < first)
		*begin = first;
	if (first<last && * end> last)
		*end = last;
}

/* Returns whether the current block, its branch and `to` are in one function. */
static bool is_local(struct pt_flow *flow, uint64_t to)
{
	struct basic_block *block = flow->block;
	uint64_t begin, end;

	if (!block->function_known) {
		code_image_function(flow->stream.input.code, &flow->view, flow->state.ip, &begin,
				    &end);
		if (leaves_stack(flow, begin, end))
			end = begin;
		if (flow->stream.input.pieces)
			clip_to_piece(flow, &begin, &end);
		block->function_known = true;
		block->function_begin = (int64_t)(begin - flow->state.ip);
		block->function_end = (int64_t)(end - flow->state.ip);
	}
	return in_function(block, to - flow->state.ip);
}

/*
 * Note whether the code after the block is another function's. Without an event there, the next
 * branch must show that the flow is in that function.
 */
static void find_fall(struct pt_flow *flow, uint64_t next)
{
	uint64_t begin = 0, end = 0;

	if (!flow->stream.input.skip_local_jumps || flow->block->ends_piece ||
	    !in_view(flow, next) || is_local(flow, next))
		return;
	code_image_function(flow->stream.input.code, &flow->view, next, &begin, &end);
	flow->block->falls_out = begin < end;
}

/* Set how flow_run_cached() leaves the block next time. */
static void set_exit(struct pt_flow *flow, const struct insn *insn, uint64_t to)
{
	struct basic_block *block = flow->block;
	bool jumps = insn->kind == BRANCH_COND || insn->kind == BRANCH_JUMP;
	uint64_t after;

	block->exit = EXIT_STEP;
	block->taken_local = flow->stream.input.skip_local_jumps && jumps && !insn->indirect &&
			     is_local(flow, to);
	after = (uint64_t)block->length + insn->length;
	block->begins_ptwrite = insn->kind == BRANCH_JUMP && !insn->indirect &&
				insn->distance == EMULATED_PTWRITE_SIGN_SIZE &&
				flow->view.end - flow->state.ip > after &&
				emulated_ptwrite_has_sign(block->bytes + after,
							  flow->view.end - flow->state.ip - after);
	if (block->begins_ptwrite)
		return;
	if (insn->kind == BRANCH_COND)
		find_fall(flow, flow->state.ip + block->length + insn->length);
	if (insn->kind == BRANCH_COND)
		block->exit = EXIT_DECIDE;
	else if (block->taken_local)
		block->exit = EXIT_JUMP;
	else if (insn->kind == BRANCH_RETURN)
		block->exit = EXIT_RETURN;
	else if (insn->kind == BRANCH_CALL || insn->kind == BRANCH_JUMP)
		block->exit = insn->indirect ? EXIT_TARGET : EXIT_GO;
}

static void take_branch(struct pt_flow *flow, const struct insn *insn, uint64_t from, uint64_t to)
{
	if (flow->block->exit == EXIT_UNKNOWN)
		set_exit(flow, insn, to);
	count_block(flow, 1);
	if (flow->state.emitted && flow->block->taken_local) {
		/* The jump stays within its function: count it, and emit nothing. */
		stream_count_local_jumps(&flow->stream, &flow->known, to, 1);
		flow_move_to(flow, to);
		return;
	}
	flow_emit_branch(flow, insn, from, to);
	flow_move_to(flow, to);
	flow->state.emitted = true;
	if (to == flow->stream.input.switch_ip)
		stream_switch_thread(&flow->stream);
}

static void follow_direct(struct pt_flow *flow, const struct insn *insn, uint64_t from)
{
	uint64_t next = from + insn->length;

	if (insn->kind == BRANCH_CALL && insn->distance)
		push_return(flow, next, flow->block);
	take_branch(flow, insn, from, next + (uint64_t)(int64_t)insn->distance);
	if (flow->block->begins_ptwrite)
		emulated_ptwrite_begin(flow, flow->state.ip);
	else if (insn->kind == BRANCH_CALL)
		emulated_ptwrite_drop(flow);
	follow_link(flow, &flow->block->taken, flow->state.ip);
}

/* Continue with the code after the current block, which ends without a branch. */
static void pass(struct pt_flow *flow, uint64_t next)
{
	if (flow->block->ends_piece)
		stream_push_at(&flow->stream, &flow->known, BRANCH_NONE, next, next);
	if (flow->block->falls_out)
		flow->state.emitted = false;
}

/* Long code without a branch continues in the next block. */
static void follow_straight(struct pt_flow *flow, uint64_t next)
{
	if (flow->block->exit == EXIT_UNKNOWN)
		find_fall(flow, next);
	flow->block->exit = EXIT_STEP;
	count_block(flow, 0);
	pass(flow, next);
	follow_link(flow, &flow->block->not_taken, next);
}

static void take_conditional(struct pt_flow *flow, const struct insn *insn, uint64_t from)
{
	uint64_t next = from + insn->length, to = next + (uint64_t)(int64_t)insn->distance;

	if (flow->block->exit == EXIT_UNKNOWN)
		set_exit(flow, insn, to);
	if (!tnt_bits_next(flow->bits)) {
		count_block(flow, 0);
		pass(flow, next);
		follow_link(flow, &flow->block->not_taken, next);
		return;
	}
	take_branch(flow, insn, from, to);
	follow_link(flow, &flow->block->taken, flow->state.ip);
}

/* Returns false if the return stack is empty or the return is not compressed. */
static bool take_return(struct pt_flow *flow, const struct insn *insn, uint64_t from)
{
	bool compressed = tnt_bits_next(flow->bits);
	struct return_address back = { 0 };

	if (insn->kind == BRANCH_RETURN && compressed && flow->compression)
		back = pop_return(flow);
	if (!back.ip)
		return false;
	emulated_ptwrite_drop(flow);
	take_branch(flow, insn, from, back.ip);
	if (back.call)
		follow_indirect_link(flow, &back.call->not_taken, back.ip);
	return true;
}

/*
 * TNT bits can precede the TIPs of indirect branches between them (SDM volume 3, "Deferred TIPs"):
 * keep the remaining bits until the next TIP.
 */
static void defer_tnt(struct pt_flow *flow, uint64_t from)
{
	struct pt_stream *stream = &flow->stream;

	/* Bits of an earlier packet cannot be deferred. */
	if (tnt_bits_count(flow->bits) > flow->last_bits) {
		flow_fail(flow, GAP_MISMATCH, from);
		return;
	}
	/* The block will be followed again. */
	stream->state.insn_count -= flow->block->insns;
	stream->stats.insns -= flow->block->insns;
	if (!stream_is_timed(stream))
		stream->state.now.time -= flow->block->insns;
	flow->pending = PENDING_NONE;
}

static void consume_tnt(struct pt_flow *flow, const struct insn *insn, uint64_t from)
{
	flow->known = flow->stream.state.now;
	if (insn->kind == BRANCH_COND) {
		if (flow->state.ptwrite.left)
			emulated_ptwrite_bit(flow, tnt_bits_next(flow->bits));
		take_conditional(flow, insn, from);
	} else if (insn->indirect) {
		defer_tnt(flow, from);
		return;
	} else if (!take_return(flow, insn, from)) {
		/*
		 * The processor compressed the return because it traced the call. If the call is in
		 * missing code, so is the return's target.
		 */
		if (flow->state.calls_missing && insn->kind == BRANCH_RETURN && flow->compression &&
		    tnt_bits_next(flow->bits))
			flow_fail(flow, GAP_NO_CODE, 0);
		else
			flow_fail(flow, GAP_MISMATCH, from);
		return;
	}
	flow->bits <<= 1;
	if (flow->bits == TNT_BITS_NONE)
		flow->pending = PENDING_NONE;
}

static void consume_tip(struct pt_flow *flow, const struct insn *insn, uint64_t from)
{
	if (insn->kind == BRANCH_COND) {
		flow_fail(flow, GAP_MISMATCH, from);
		return;
	}
	update_return_stack(flow, flow->block, from);
	flow_note_pointer(flow, from, flow->target);
	flow->known = flow->stream.state.now;
	flow->pending = flow->bits != TNT_BITS_NONE ? PENDING_TNT : PENDING_NONE;
	emulated_ptwrite_drop(flow);
	if (flow->block->exit == EXIT_UNKNOWN)
		set_exit(flow, insn, flow->target);
	flow->block->taken_local = insn->kind == BRANCH_JUMP &&
				   flow->stream.input.skip_local_jumps &&
				   is_local(flow, flow->target);
	if (insn->kind == BRANCH_JUMP && in_view(flow, flow->target) && flow_counts(flow))
		counted_pairs_add(&flow->blocks.counts->jumps, flow->block->node,
				  (uint32_t)(flow->target - flow->view.begin), 1);
	stream_enter_from_kernel(&flow->stream, insn, flow->target);
	take_branch(flow, insn, from, flow->target);
	if (insn->kind == BRANCH_IRET)
		emulated_ptwrite_resume(flow, flow->target);
	flow_apply_mode(flow);
	follow_indirect_link(flow, &flow->block->taken, flow->state.ip);
}

static void stop_tracing(struct pt_flow *flow, const struct insn *insn, uint64_t from)
{
	emulated_ptwrite_drop(flow);
	update_return_stack(flow, flow->block, from);
	flow->known = flow->stream.state.now;
	stream_settle_cycles(&flow->stream, from);
	count_block(flow, 1);
	flow_emit_branch(flow, insn, from, flow->target)->flags |=
		BRANCH_TRACE_OFF | (insn->int80 ? BRANCH_INT80 : 0) |
		(flow->state.guest ? BRANCH_GUEST : 0);
	flow->state.guest_on = flow->state.guest;
	flow->stream.stats.guests += flow->state.guest;
	stream_stop_user(&flow->stream, insn_is_syscall(insn) ? from + insn->length : 0);
	flow->pending = PENDING_NONE;
	flow->state.on = false;
}

static void reach_fup(struct pt_flow *flow)
{
	flow->pending = PENDING_NONE;
	flow->known = flow->stream.state.now;
	switch (flow->fup_kind) {
	case FUP_INTERRUPT:
		flow->state.has_interrupt = true;
		flow->state.interrupted = flow->state.ip;
		flow_emit_cfe(flow, flow->state.ip);
		break;
	case FUP_EVENT:
		flow_emit_pending(flow, flow->state.ip);
		break;
	case FUP_PSB:
		flow_apply_mode(flow);
		flow->cached_block = 0;
		stream_show_tx(&flow->stream);
		break;
	case FUP_PROBE:
		flow_call_probe(flow);
		break;
	}
}

/* Returns whether the pending FUP's ip is in the block, up to its branch. */
static bool fup_is_inside(const struct pt_flow *flow, const struct basic_block *block)
{
	return flow->pending == PENDING_FUP && flow->target - flow->state.ip <= block->length;
}

static void advance_to_fup(struct pt_flow *flow, const struct basic_block *block)
{
	int64_t count = basic_block_count_insns(block, flow->target - flow->state.ip);

	if (count < 0) {
		flow_fail(flow, GAP_MISMATCH, flow->state.ip);
		return;
	}
	count_part(flow, flow->target - flow->state.ip);
	flow_count_insns(flow, (uint32_t)count);
	flow_move_to(flow, flow->target);
	reach_fup(flow);
}

/*
 * Returns whether the pending FUP belongs to the branch at `from`, although it has the next ip
 * (pt_packet_read.c): packets decide the branch's target, and the code does not lead to the FUP's
 * ip.
 */
static bool fup_has_next_ip(const struct pt_flow *flow, const struct insn *insn, uint64_t from)
{
	return flow->pending == PENDING_FUP && flow->fup_has_next_ip &&
	       !flow_insn_is_direct(insn) && insn->kind != BRANCH_COND &&
	       flow->target == from + insn->length;
}

static void advance_to_branch(struct pt_flow *flow, const struct basic_block *block, uint64_t from)
{
	count_part(flow, block->length);
	flow_count_insns(flow, block->insns - 1);
	flow_move_to(flow, from);
	reach_fup(flow);
}

/* A filter can end the trace at a direct branch, and decides without a target (SKL014). */
static bool leaves_filter(struct pt_flow *flow, uint64_t to)
{
	if (!flow->target && flow->filter.count &&
	    address_filter_ends_at(&flow->filter, flow->space, to))
		flow->target = to;
	return flow->target && flow->target == to;
}

/*
 * The block ends before an instruction, at `from`, that is not whole or not valid: continue with it
 * if it is in two mappings, or in the next one.
 */
static void leave_mapping(struct pt_flow *flow, const struct basic_block *block, uint64_t from)
{
	size_t size = flow->view.end - from;

	if (size >= INSN_LENGTH_MAX || !flow_enter_seam(flow, from, &size)) {
		flow_fail(flow, size < INSN_LENGTH_MAX ? GAP_NO_CODE : GAP_MISMATCH, from);
		return;
	}
	count_part(flow, block->length);
	flow_count_insns(flow, block->insns);
	flow->state.emitted = false; /* possibly the next function */
	flow_move_to(flow, from);
	if (flow->stream.input.pieces)
		stream_push_at(&flow->stream, &flow->known, BRANCH_NONE, from, from);
}

void flow_step_slow(struct pt_flow *flow)
{
	struct basic_block *block;
	struct insn insn;
	uint64_t from;

	if (flow->may_probe)
		flow_look_for_probe(flow);
	block = flow->cached_block ? basic_block_of_node(&flow->blocks, flow->cached_block)
				   : flow_block_at(flow, flow->state.ip);

	if (!block && flow->pending == PENDING_FUP && flow->target == flow->state.ip) {
		reach_fup(flow); /* no instruction is executed before it, so no code is missing */
		return;
	}
	if (!block) {
		flow_fail(flow, GAP_NO_CODE, flow->state.ip);
		return;
	}
	flow->block = block;
	if (fup_is_inside(flow, block)) {
		advance_to_fup(flow, block);
		return;
	}
	insn = block->insn;
	from = flow->state.ip + block->length;
	if (!insn.length) {
		leave_mapping(flow, block, from);
		return;
	}
	if (++flow->branches_followed > BRANCHES_WITHOUT_PACKET_MAX) {
		flow_fail(flow, GAP_ENDLESS, from);
		return;
	}
	if (!basic_block_continues(block) && fup_has_next_ip(flow, &insn, from)) {
		advance_to_branch(flow, block, from);
		return;
	}
	flow_count_insns(flow, block->insns);
	if (basic_block_continues(block))
		follow_straight(flow, from + insn.length);
	else if (flow_insn_is_direct(&insn) && flow->pending == PENDING_TIP_PGD &&
		 leaves_filter(flow, from + insn.length + (uint64_t)(int64_t)insn.distance))
		stop_tracing(flow, &insn, from);
	else if (flow_insn_is_direct(&insn))
		follow_direct(flow, &insn, from);
	else if (flow->pending == PENDING_TNT)
		consume_tnt(flow, &insn, from);
	else if (flow->pending == PENDING_TIP)
		consume_tip(flow, &insn, from);
	else if (flow->pending == PENDING_TIP_PGD)
		stop_tracing(flow, &insn, from);
	else
		flow_fail(flow, GAP_MISMATCH, from);
}

/* ---- Looking ahead ------------------------------------------------------- */

/* Direct branches to try on the way to an ip. */
#define STEPS_MAX 256

bool flow_reaches(struct pt_flow *flow, uint64_t ip)
{
	uint64_t at = flow->state.ip;

	for (int i = 0; i < STEPS_MAX; i++) {
		const struct basic_block *block = flow_block_at(flow, at);

		if (!block)
			return at == ip;
		if (ip - at <= block->length)
			return basic_block_count_insns(block, ip - at) >= 0;
		if (!flow_insn_is_direct(&block->insn) && !basic_block_continues(block))
			return false;
		at += block->length + block->insn.length + (uint64_t)(int64_t)block->insn.distance;
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

void flow_begin_tracing(struct pt_flow *flow, uint64_t ip, bool by_packet)
{
	struct pt_stream *stream = &flow->stream;

	stream_enter(stream, ip);
	emulated_ptwrite_resume(flow, ip);
	flow_set_found(flow);
	flow->state.on = true;
	flow->state.emitted = flow->state.guest_on = false;
	flow_move_to(flow, ip);
	flow->known = stream->state.now;
	flow_apply_mode(flow);
	if (by_packet || flow_is_after_gap(flow))
		stream_push(stream, BRANCH_NONE, 0, ip)->flags |=
			BRANCH_TRACE_ON | flow->opaque.jumped * BRANCH_INDIRECT |
			flow->opaque.direct * BRANCH_DIRECT;
	flow->opaque.jumped = flow->opaque.direct = false;
	flow->state.after_gap = flow->state.gap_guessed = false;
	stream_show_tx(stream);
}

void flow_resync_at(struct pt_flow *flow, uint64_t ip)
{
	size_t size;

	flow->state.on = true;
	stream_enter(&flow->stream, ip);
	if (flow_code_at(flow, ip, &size))
		flow_begin_tracing(flow, ip, true);
	else
		flow->state.calls_missing = true;
}
