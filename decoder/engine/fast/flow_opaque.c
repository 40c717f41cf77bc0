/* SPDX-License-Identifier: MIT */
/*
 * Find the return from code without bytes that known code called.
 *
 * A compressed return is one of the code's TNT bits, and no packet has its address. But the code
 * after the call must consume all later bits up to the next packet with an address, and lead to
 * this address. So each taken bit is tried as the return.
 *
 * A packet proves a return if the branch before it can only lead to the packet's address: a return
 * to its caller, an unbound stub's jump to the next instruction, an indirect branch within its
 * function, to code without bytes that it called before, or by a pointer that led there before.
 * Other indirect branches and system calls prove a return only after RETURNS_TO_BELIEVE taken bits
 * that were returns. If a return is possible but not proved, the flow is unknown until known code.
 */

#include "decoder/engine/fast/flow_code.h"
#include "decoder/engine/fast/flow_step.h"

/* Evidence in the bits that a caller's code ran. LIKELY: its last branch is of a rare kind. */
enum proof { IMPOSSIBLE, POSSIBLE, LIKELY, PROVED };

/* A trial of a caller's code. */
struct return_trial {
	uint64_t ip;
	unsigned at;                       /* the next bit */
	uint64_t calls[RETURN_STACK_SIZE]; /* return addresses of its calls */
	unsigned depth;                    /* calls in `calls` */
	unsigned popped;                   /* entries popped from the flow's return stack */
	unsigned returns;                  /* returns by taken bits */
};

#define RETURNS_TO_BELIEVE 4u

/* Near branches never switch between user code and the kernel. */
static bool same_privilege(uint64_t ip, uint64_t other)
{
	return ip >> 63 == other >> 63;
}

/* Returns the address below the top `popped` addresses of the flow's return stack, or NULL. */
static const struct return_address *address_below(const struct pt_flow *flow, unsigned popped)
{
	unsigned at = flow->return_top + RETURN_STACK_SIZE - popped;

	return popped < flow->return_count ? &flow->returns[at % RETURN_STACK_SIZE] : NULL;
}

/* Returns the return address of the innermost function; 0: unknown. */
static uint64_t return_of(const struct pt_flow *flow, const struct return_trial *trial)
{
	const struct return_address *back = address_below(flow, trial->popped);

	if (trial->depth)
		return trial->calls[(trial->depth - 1) % RETURN_STACK_SIZE];
	return back ? back->ip : 0;
}

/* Returns the slot of a call of code without bytes at `entry` that returns to `back`. */
static struct opaque_call *call_slot(struct pt_flow *flow, uint64_t entry, uint64_t back)
{
	return &flow->opaque.calls[fibonacci_hash(entry + back, OPAQUE_CALLS_BITS)];
}

static bool was_called(struct pt_flow *flow, uint64_t entry, uint64_t back)
{
	const struct opaque_call *call = call_slot(flow, entry, back);

	return call->entry == entry && call->back == back;
}

/* Returns the address of the pointer that a block's branch at `from` loads; 0: none, or unknown. */
static uint64_t pointer_of(const struct basic_block *block, uint64_t from)
{
	const uint8_t *offset = block->bytes + block->length + block->insn.relative;

	if (!block->insn.indirect || !block->insn.relative)
		return 0;
	return from + block->insn.length + (uint64_t)(int64_t)read_int32(offset);
}

void flow_note_pointer(struct pt_flow *flow, uint64_t from, uint64_t to)
{
	flow->opaque.pointed = (struct opaque_call){ to, pointer_of(flow->block, from) };
}

static enum proof leads_by_near_branch(struct pt_flow *flow, const struct return_trial *trial,
				       uint64_t from, const struct basic_block *block, uint64_t to)
{
	bool calls = block->insn.kind == BRANCH_CALL;
	uint64_t first, last, next = from + block->insn.length, pointer = pointer_of(block, from);
	uint64_t back = calls ? next : return_of(flow, trial);

	if (to == next || (back && was_called(flow, to, back)) ||
	    (pointer && was_called(flow, to, pointer)))
		return PROVED;
	if (!bring_into_view(flow, to))
		return calls ? LIKELY : POSSIBLE;
	code_image_function(flow->stream.input.code, &flow->view, to, &first, &last);
	if (first >= last)
		return POSSIBLE;
	if (from - first < last - first)
		return PROVED;
	return to != first ? IMPOSSIBLE : calls || pointer ? LIKELY : POSSIBLE;
}

/* All bits are consumed, and the next branch needs none. Returns whether it leads to the packet. */
static enum proof leads_to(struct pt_flow *flow, const struct return_trial *trial, uint64_t from,
			   const struct basic_block *block)
{
	const struct insn *insn = &block->insn;
	enum proof proof = IMPOSSIBLE;

	if (flow->opaque.exit == OPAQUE_PGD) {
		proof = insn_is_syscall(insn) ? LIKELY : IMPOSSIBLE;
	} else if (flow->opaque.exit != OPAQUE_TIP) {
		return IMPOSSIBLE;
	} else if (!same_privilege(from, flow->opaque.to)) {
		if (insn->kind >= BRANCH_SYSCALL && insn->kind <= BRANCH_IRET)
			proof = POSSIBLE;
	} else if (insn->kind == BRANCH_RETURN) {
		uint64_t back = return_of(flow, trial);

		return !back ? POSSIBLE : back == flow->opaque.to ? PROVED : IMPOSSIBLE;
	} else if (insn->kind == BRANCH_CALL || insn->kind == BRANCH_JUMP) {
		proof = leads_by_near_branch(flow, trial, from, block, flow->opaque.to);
	}
	return proof != IMPOSSIBLE && trial->returns >= RETURNS_TO_BELIEVE ? PROVED : proof;
}

static enum proof find_return(struct pt_flow *flow, unsigned *at, unsigned popped);

/* Use a taken bit for a return. Returns whether to continue; false: *proof is final. */
static bool follow_return(struct pt_flow *flow, struct return_trial *trial, enum proof *proof)
{
	const struct return_address *back = address_below(flow, trial->popped);

	trial->returns++;
	if (trial->depth) {
		trial->ip = trial->calls[--trial->depth % RETURN_STACK_SIZE];
		return true;
	}
	*proof = POSSIBLE; /* earlier calls may be missing */
	if (!back)
		return false;
	trial->popped++;
	trial->ip = back->ip;
	if (back->ip)
		return true;
	/* Other code without bytes: it calls the same function again, or also returned. */
	if (flow->opaque.exit == OPAQUE_TIP && flow->opaque.to == back->called)
		*proof = PROVED;
	else
		*proof = find_return(flow, &(unsigned){ trial->at }, trial->popped);
	return false;
}

/* Returns whether the code leads to the packet and consumes all bits. */
static enum proof follow_trial(struct pt_flow *flow, struct return_trial *trial)
{
	for (; flow->opaque.budget; flow->opaque.budget--) {
		const struct basic_block *block = flow_block_at(flow, trial->ip);
		bool used = trial->at == flow->opaque.count, taken;
		const struct insn *insn = block ? &block->insn : NULL;
		enum proof proof = IMPOSSIBLE;
		uint64_t from, next;

		if (!insn || !insn->length)
			return POSSIBLE;
		if (used && flow->opaque.exit == OPAQUE_FUP &&
		    flow->opaque.to - trial->ip <= block->length)
			return basic_block_count_insns(block, flow->opaque.to - trial->ip) >= 0
				       ? PROVED
				       : IMPOSSIBLE;
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
			return leads_to(flow, trial, from, block);
		taken = flow->opaque.bits[trial->at++];
		if (insn->kind == BRANCH_COND)
			trial->ip = next + (taken ? (uint64_t)(int64_t)insn->distance : 0);
		else if (insn->kind != BRANCH_RETURN || !taken ||
			 !follow_return(flow, trial, &proof))
			return proof;
	}
	return POSSIBLE;
}

/*
 * Find the only bit at or after index *at that can be the return to the address below the top
 * `popped` addresses of the return stack, and set *at to the next index. Call stacks mark such
 * code, so for these the first of several proofs also suffices, or the only bit if it is likely and
 * the code consumes further bits; this sets `guessed`.
 */
static enum proof find_return(struct pt_flow *flow, unsigned *at, unsigned popped)
{
	const struct return_address *back = address_below(flow, popped);
	bool guesses = flow->stream.input.skip_local_jumps;
	unsigned count[] = { [IMPOSSIBLE] = 0, [POSSIBLE] = 0, [LIKELY] = 0, [PROVED] = 0 };

	if (!back || !back->ip)
		return POSSIBLE;
	for (unsigned i = *at; i < flow->opaque.count; i++) {
		struct return_trial trial = { .ip = back->ip, .at = i + 1, .popped = popped + 1 };
		enum proof proof = flow->opaque.bits[i] ? follow_trial(flow, &trial) : IMPOSSIBLE;

		if (proof == LIKELY && i + 1 == flow->opaque.count)
			proof = POSSIBLE;
		if (proof >= LIKELY && !count[PROVED])
			*at = i + 1;
		count[proof]++;
	}
	if (count[PROVED] == 1)
		return PROVED;
	if (guesses &&
	    (count[PROVED] || (count[LIKELY] == 1 && !count[POSSIBLE] && flow->opaque.budget))) {
		flow->opaque.guessed = true;
		return PROVED;
	}
	return count[PROVED] || count[LIKELY] || count[POSSIBLE] ? POSSIBLE : IMPOSSIBLE;
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

void flow_enter_opaque(struct pt_flow *flow, uint64_t ip, unsigned returns, uint64_t bits)
{
	struct opaque_code *opaque = &flow->opaque;
	bool resumes = opaque->active; /* it was interrupted */

	if (!ip)
		opaque->called = flow->returns[(flow->return_top + 1) % RETURN_STACK_SIZE].called;
	else if (!resumes)
		opaque->called = 0;
	opaque->ip = ip ? ip : flow->state.ip;
	if (ip && returns)
		*call_slot(flow, ip, flow->returns[flow->return_top].ip) =
			(struct opaque_call){ ip, flow->returns[flow->return_top].ip };
	if (ip && ip == opaque->pointed.entry && opaque->pointed.back)
		*call_slot(flow, ip, opaque->pointed.back) = opaque->pointed;
	opaque->active = flow->compression && returns && flow->returns[flow->return_top].ip;
	opaque->thread = flow->stream.state.schedule.thread;
	opaque->returned = !ip;
	if (resumes) {
		flow_opaque_bits(flow, bits);
	} else {
		unsigned begin = opaque->count - opaque->left, count = tnt_bits_count(bits);

		/*
		 * Keep only remaining bits, and of these only the ones that the flow has not
		 * followed.
		 */
		memmove(opaque->bits + count, opaque->bits + begin, opaque->left);
		opaque->count = 0;
		flow_opaque_bits(flow, bits);
		opaque->count += opaque->left;
	}
	opaque->interrupted = false;
	flow->return_count = opaque->active ? returns : 0;
}

bool flow_opaque_feed(struct pt_flow *flow)
{
	struct opaque_code *opaque = &flow->opaque;
	unsigned count = MIN(opaque->left, 32);
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

/* Returns whether the code is a trampoline on a stack, as GNU C's nested functions have: it jumps.
 */
static bool is_on_stack(const struct pt_flow *flow)
{
	const struct mapping *mapping =
		address_space_borrow_mapping(flow->stream.state.schedule.space, flow->opaque.ip);

	return mapping && strcmp(mapping->file->path, "[stack]") == 0;
}

/* The code entered known code at ip, without a return that was found. */
static void enter_known(struct pt_flow *flow, enum opaque_exit exit, uint64_t ip)
{
	uint64_t begin, end;

	flow->opaque.active = false;
	code_image_function(flow->stream.input.code, &flow->view, ip, &begin, &end);
	if (exit == OPAQUE_TIP && flow->return_count && ip == flow->returns[flow->return_top].ip) {
		drop_return(flow);
	} else if (exit == OPAQUE_TIP && ip == begin) { /* it calls, or jumps */
		if (flow->opaque.jumped)
			return;
		push_return(flow, 0, NULL);
		flow->returns[flow->return_top].called = ip;
	} else {
		flow->return_count = 0;
	}
}

/* The packet may not belong to the caller: restart at its address, or follow code there. */
static void stay_opaque(struct pt_flow *flow, enum opaque_exit exit, uint64_t ip, enum proof proof)
{
	struct opaque_code *opaque = &flow->opaque;
	size_t size;

	if (proof == POSSIBLE) /* it may have returned */
		flow->return_count = 0;
	if (exit != OPAQUE_PGD && flow_code_at(flow, ip, &size)) {
		enter_known(flow, exit, ip);
		return;
	}
	opaque->active = proof != POSSIBLE;
	opaque->count = 0;
	opaque->returned = false;
	opaque->ip = ip;
}

/* Find whether the code returned; set *at to the index after the return's bit. */
static enum proof find_outermost(struct pt_flow *flow, unsigned *at)
{
	struct opaque_code *opaque = &flow->opaque;
	bool jumped = opaque->returned && !opaque->jumps;
	enum proof proof;

	/* A function that it called returned to it; or it jumped to the function, as before. */
	*at = jumped;
	proof = find_return(flow, at, 0);
	if (proof == IMPOSSIBLE && jumped) {
		*at = 0;
		proof = find_return(flow, at, 0);
	}
	if (proof == PROVED && opaque->returned) {
		opaque->jumped = opaque->jumps = *at == 1;
		*call_slot(flow, opaque->called, 0) = (struct opaque_call){ opaque->called, 0 };
	}
	return proof;
}

bool flow_leave_opaque(struct pt_flow *flow, enum opaque_exit exit, uint64_t ip)
{
	struct opaque_code *opaque = &flow->opaque;
	unsigned budget = opaque->budget, at = 0;
	bool interrupted = opaque->interrupted && exit != OPAQUE_FUP;
	enum proof proof = IMPOSSIBLE;

	opaque->exit = exit;
	opaque->to = ip;
	opaque->interrupted = false;
	opaque->direct =
		exit == OPAQUE_TIP && !(opaque->active ? opaque->count : flow->compression);
	opaque->jumped = opaque->direct && is_on_stack(flow);
	if (!opaque->active)
		return false;
	if (opaque->thread == flow->stream.state.schedule.thread && exit != OPAQUE_PGE &&
	    !interrupted && same_privilege(opaque->ip, flow->returns[flow->return_top].ip) &&
	    !(exit == OPAQUE_TIP && (ip == opaque->called || was_called(flow, ip, 0))))
		proof = find_outermost(flow, &at);
	if (proof != PROVED) {
		if (exit == OPAQUE_TIP && (interrupted || !same_privilege(opaque->ip, ip)))
			exit = OPAQUE_PGE;
		stay_opaque(flow, exit, ip, proof);
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
