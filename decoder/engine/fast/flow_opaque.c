/* SPDX-License-Identifier: MIT */
/*
 * Code without bytes that known code has called: find where it returned.
 *
 * A compressed return is one of its TNT bits, and no packet has its address.  But the code behind
 * the call has to use all bits after it up to the next packet with an address, and to lead there:
 * each taken bit is tried as the return, and the first one that can be it is taken.
 */
#include <string.h>

#include "decoder/engine/fast/flow_code.h"
#include "decoder/engine/fast/flow_step.h"

/* A packet that shows where the code led. */
struct opaque_end {
	enum opaque_exit exit;
	uint64_t ip;
};

/* A try of a caller's code. */
struct return_trial {
	uint64_t ip;
	unsigned at;                       /* the next bit */
	uint64_t calls[RETURN_STACK_SIZE]; /* where its own calls return to */
	unsigned depth;                    /* of `calls` */
	unsigned popped;                   /* of the flow's return stack */
};

/* Returns the address below `popped` others on the flow's return stack; NULL: none. */
static const struct return_address *address_below(const struct pt_flow *flow, unsigned popped)
{
	unsigned at = flow->return_top + RETURN_STACK_SIZE - popped;

	return popped < flow->return_count ? &flow->returns[at % RETURN_STACK_SIZE] : NULL;
}

/* Returns whether a return that is not compressed can lead to ip. */
static bool returns_to(const struct pt_flow *flow, const struct return_trial *trial, uint64_t ip)
{
	const struct return_address *back = address_below(flow, trial->popped);

	if (trial->depth)
		return trial->calls[(trial->depth - 1) % RETURN_STACK_SIZE] == ip;
	return !back || back->ip == ip;
}

/*
 * All bits are used, and a branch without one is next.  Returns whether it can lead to the packet.
 */
static bool leads_to(struct pt_flow *flow, const struct return_trial *trial, uint64_t from,
		     const struct insn *insn, const struct opaque_end *end)
{
	uint64_t first, last;

	if (end->exit == OPAQUE_PGD)
		return insn_is_syscall(insn);
	if (end->exit != OPAQUE_TIP)
		return false;
	if (insn->kind == BRANCH_RETURN)
		return returns_to(flow, trial, end->ip);
	if (insn->kind != BRANCH_CALL && insn->kind != BRANCH_JUMP)
		return false;
	/* A stub that is not bound jumps to its next instruction. */
	if (end->ip == from + insn->length || !bring_into_view(flow, end->ip))
		return true;
	code_image_function(flow->stream.input.code, &flow->view, end->ip, &first, &last);
	return first >= last || end->ip == first || (from >= first && from < last);
}

static unsigned find_return(struct pt_flow *flow, const struct opaque_end *end, unsigned at,
			    unsigned popped);

/* Use a taken bit for a return.  Returns 1: follow on; 0: it is none; -1: all is explained. */
static int follow_return(struct pt_flow *flow, struct return_trial *trial,
			 const struct opaque_end *end)
{
	const struct return_address *back = address_below(flow, trial->popped);

	if (trial->depth) {
		trial->ip = trial->calls[--trial->depth % RETURN_STACK_SIZE];
		return 1;
	}
	if (!back)
		return 0;
	trial->popped++;
	trial->ip = back->ip;
	if (back->ip)
		return 1;
	/* Other code without bytes: it calls the same function again, or has returned, too. */
	return (end->exit == OPAQUE_TIP && end->ip == back->called) ||
			       find_return(flow, end, trial->at, trial->popped)
		       ? -1
		       : 0;
}

/* Returns whether the code leads to the packet with all bits used. */
static bool follow_trial(struct pt_flow *flow, struct return_trial *trial,
			 const struct opaque_end *end)
{
	for (; flow->opaque.budget; flow->opaque.budget--) {
		const struct basic_block *block = flow_block_at(flow, trial->ip);
		bool used = trial->at == flow->opaque.count, taken;
		const struct insn *insn = block ? &block->insn : NULL;
		uint64_t from, next;
		int followed;

		if (!insn || !insn->length)
			return false;
		if (used && end->exit == OPAQUE_FUP && end->ip - trial->ip <= block->length)
			return basic_block_count_insns(block, end->ip - trial->ip) >= 0;
		from = trial->ip + block->length;
		next = from + insn->length;
		if (basic_block_continues(block)) {
			trial->ip = next;
			continue;
		}
		if (flow_insn_is_direct(insn)) {
			if (insn->kind == BRANCH_CALL && insn->distance)
				trial->calls[trial->depth++ % RETURN_STACK_SIZE] = next;
			trial->ip = next + (uint64_t)(int64_t)insn->distance;
			continue;
		}
		if (used)
			return leads_to(flow, trial, from, insn, end);
		taken = flow->opaque.bits[trial->at++];
		if (insn->kind == BRANCH_COND) {
			trial->ip = next + (taken ? (uint64_t)(int64_t)insn->distance : 0);
			continue;
		}
		if (insn->kind != BRANCH_RETURN || !taken)
			return false;
		followed = follow_return(flow, trial, end);
		if (followed <= 0)
			return followed < 0;
	}
	return false;
}

/*
 * Returns how many bits there are up to the first one, from the one at index `at` on, that can be
 * the return to the address below `popped` others on the return stack; 0: there is none.
 */
static unsigned find_return(struct pt_flow *flow, const struct opaque_end *end, unsigned at,
			    unsigned popped)
{
	const struct return_address *back = address_below(flow, popped);

	if (!back || !back->ip)
		return 0;
	while (at < flow->opaque.count) {
		bool taken = flow->opaque.bits[at++];
		struct return_trial trial = { .ip = back->ip, .at = at, .popped = popped + 1 };

		if (taken && follow_trial(flow, &trial, end))
			return at;
	}
	return 0;
}

void flow_opaque_bits(struct pt_flow *flow, uint64_t bits)
{
	struct opaque_code *opaque = &flow->opaque;

	for (; opaque->active && bits != TNT_BITS_NONE; bits <<= 1) {
		if (opaque->count == OPAQUE_BITS) {
			opaque->count /= 2;
			opaque->returned = false;
			memmove(opaque->bits, opaque->bits + opaque->count, opaque->count);
		}
		opaque->bits[opaque->count++] = tnt_bits_next(bits);
	}
}

/* Make bits that are left, and those of them that the flow has not followed, the only ones. */
static void restore_bits(struct pt_flow *flow, uint64_t bits)
{
	struct opaque_code *opaque = &flow->opaque;
	unsigned begin = opaque->count - opaque->left, count = tnt_bits_count(bits);

	memmove(opaque->bits + count, opaque->bits + begin, opaque->left);
	opaque->count = 0;
	flow_opaque_bits(flow, bits);
	opaque->count += opaque->left;
}

void flow_enter_opaque(struct pt_flow *flow, uint64_t ip, unsigned returns, uint64_t bits)
{
	struct opaque_code *opaque = &flow->opaque;
	bool resumes = opaque->active; /* it was interrupted */

	if (!ip)
		opaque->called = flow->returns[(flow->return_top + 1) % RETURN_STACK_SIZE].called;
	else if (!resumes)
		opaque->called = 0;
	opaque->active = flow->compression && returns && flow->returns[flow->return_top].ip;
	opaque->thread = flow->stream.state.schedule.thread;
	opaque->returned = !ip;
	if (resumes)
		flow_opaque_bits(flow, bits);
	else
		restore_bits(flow, bits);
	opaque->interrupted = false;
	flow->return_count = opaque->active ? returns : 0;
}

bool flow_opaque_feed(struct pt_flow *flow)
{
	struct opaque_code *opaque = &flow->opaque;
	unsigned count = opaque->left < 32 ? opaque->left : 32;
	uint64_t bits = 0;

	if (!count)
		return false;
	for (unsigned i = 0; i < count; i++)
		bits = bits << 1 | opaque->bits[opaque->count - opaque->left--];
	flow->bits = tnt_bits(bits, count);
	flow->last_bits = count;
	flow->pending = PENDING_TNT;
	return true;
}

/* The code has led to known code at ip, and not by a return that was found. */
static void enter_known(struct pt_flow *flow, enum opaque_exit exit, uint64_t ip)
{
	uint64_t begin, end;

	flow->opaque.active = false;
	code_image_function(flow->stream.input.code, &flow->view, ip, &begin, &end);
	if (exit == OPAQUE_TIP && ip == flow->returns[flow->return_top].ip) {
		drop_return(flow);
	} else if (exit == OPAQUE_TIP && ip == begin) { /* it calls, or jumps */
		push_return(flow, 0, NULL);
		flow->returns[flow->return_top].called = ip;
	} else {
		flow->return_count = 0;
	}
}

bool flow_leave_opaque(struct pt_flow *flow, enum opaque_exit exit, uint64_t ip)
{
	const struct opaque_end end = { exit, ip };
	struct opaque_code *opaque = &flow->opaque;
	unsigned budget = opaque->budget, at = 0;
	size_t size;

	if (!opaque->active)
		return false;
	if (opaque->thread == flow->stream.state.schedule.thread && exit != OPAQUE_PGE &&
	    !(exit == OPAQUE_TIP && ip == opaque->called)) {
		/* A function that it called has returned to it; or it jumped there, as before. */
		at = find_return(flow, &end, opaque->returned && !opaque->jumps, 0);
		if (!at && opaque->returned && !opaque->jumps)
			at = find_return(flow, &end, 0, 0);
		if (at && opaque->returned)
			opaque->jumps = at == 1;
	}
	if (!at) {
		if (exit != OPAQUE_PGD && flow_code_at(flow, ip, &size))
			enter_known(flow, exit, ip);
		return false;
	}
	opaque->budget = budget - (budget - opaque->budget) / 8;
	opaque->active = false;
	opaque->left = opaque->count - at;
	ip = pop_return(flow).ip;
	flow_begin_tracing(flow, ip, true);
	flow_opaque_feed(flow);
	flow->reread = true;
	return true;
}
