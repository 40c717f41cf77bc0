/* SPDX-License-Identifier: MIT */
/*
 * Follows the code from one packet to the next (pt_flow.c): the caller repeats flow_step(), which
 * emits events, until nothing is pending. Private to the engine.
 */
#pragma once

#include "decoder/engine/fast/flow_state.h"

/*
 * Follow cached blocks as far as possible; the second function counts executions.
 * flow->cached_block must be set: a branch was emitted since tracing began, and no emulated PTWRITE
 * is in progress.
 */
void flow_run_cached(struct pt_flow *flow);
void flow_run_counted(struct pt_flow *flow);

/*
 * Enter the code after the cached block, which has other inlined calls (input.pieces), without a
 * branch. Returns false, with nothing done, if the stream has no room.
 */
bool flow_pass_cached(struct pt_flow *flow);

/* Follow one block. */
void flow_step_slow(struct pt_flow *flow);

/*
 * Returns whether the chosen time begins or ends between the last packet that confirmed ip and this
 * one. If so, local jumps are on both sides, and are counted one by one.
 */
static inline bool flow_time_is_cut(struct pt_flow *flow)
{
	struct pt_stream *stream = &flow->stream;
	const struct pt_stream_input *input = &stream->input;

	if (!input->end || flow->known.time == stream->state.now.time)
		return false;
	/* Usually both are inside; no event is earlier than the last one. */
	if (stream->state.last_pushed >= input->begin && stream->state.now.time <= input->end)
		return false;
	return stream_time_is_cut(stream, stream_event_time(stream, flow->known.time),
				  stream_event_time(stream, stream->state.now.time));
}

/* Assign the cycles of a CYC to the code so far, after its packet or the packet's first branch. */
void flow_settle(struct pt_flow *flow);

/* Call flow_settle() unless something is pending. Returns whether it made later bits pending. */
static inline bool flow_settles(struct pt_flow *flow)
{
	if (!flow->stream.input.cycles || flow->pending != PENDING_NONE)
		return false;
	flow_settle(flow);
	return flow->pending != PENDING_NONE;
}

/*
 * Follow one block, or many cached ones, while the stream has room. This can follow further
 * packets, and settles the cycles before each, so the caller must not.
 */
static inline void flow_step(struct pt_flow *flow)
{
	bool one = flow_time_is_cut(flow);

	if (one && flow->stream.input.cycles && flow->stream.state.insn_count)
		stream_push_counts(&flow->stream, &flow->known, flow->state.ip, 0);
	if (flow->cached_block && !one)
		flow_run_cached(flow);
	if (flow->pending == PENDING_NONE || !stream_has_room(&flow->stream))
		return;
	if (!flow->stream.input.pieces || !flow->cached_block || !flow_pass_cached(flow))
		flow_step_slow(flow);
	flow_settles(flow);
}

/* Begin tracing at ip; emit BRANCH_TRACE_ON if a packet begins it (`by_packet`) or after a gap. */
void flow_begin_tracing(struct pt_flow *flow, uint64_t ip, bool by_packet);

/* After damage, a packet has an ip: continue there if there is code. */
void flow_resync_at(struct pt_flow *flow, uint64_t ip);

/* Returns whether the code leads from the flow's ip to `ip` without any packet. */
bool flow_reaches(struct pt_flow *flow, uint64_t ip);

/* Returns whether the instruction at the flow's ip is a VMLAUNCH or VMRESUME. */
bool flow_at_vm_entry(struct pt_flow *flow);

/* The trace does not fit the code at ip (0: unknown): emit a gap, wait for a packet with an ip. */
void flow_fail(struct pt_flow *flow, enum gap_reason reason, uint64_t ip);

/* Returns whether an instruction is a direct call or jump. */
static inline bool flow_insn_is_direct(const struct insn *insn)
{
	return (insn->kind == BRANCH_CALL || insn->kind == BRANCH_JUMP) && !insn->indirect;
}

/* ---- Probes (flow_probe.c) ------------------------------------------------ */

/*
 * User code leaves for the kernel, by the pending packet. If it returns into the page of probes,
 * the code first goes to the NOP that is a probe, and calls the page there.
 */
void flow_look_for_probe(struct pt_flow *flow);

/* The flow is at the NOP: call the page, which the pending packet leaves. */
void flow_call_probe(struct pt_flow *flow);

/* ---- Code without bytes (flow_opaque.c) ---------------------------------- */

/*
 * The flow went from known code to `ip` without code (0: by a return), and is lost. The `returns`
 * innermost addresses of the return stack belong to its callers. `bits` remain.
 */
void flow_enter_opaque(struct pt_flow *flow, uint64_t ip, unsigned returns, uint64_t bits);

/* The current block's branch at `from`, which is indirect or a return, leads to `to`. */
void flow_note_pointer(struct pt_flow *flow, uint64_t from, uint64_t to);

/* Keep TNT bits while the flow is lost. */
void flow_opaque_bits(struct pt_flow *flow, uint64_t bits);

/*
 * A packet was read while the flow is lost. If known code called the running code, which has
 * returned since, begin tracing after the call, and return true: read the packet again.
 */
bool flow_leave_opaque(struct pt_flow *flow, enum opaque_exit exit, uint64_t ip);

/* Move remaining bits of such code to the flow, which has none. Returns whether there are any. */
bool flow_opaque_feed(struct pt_flow *flow);

/* ---- Emulated PTWRITE ------------------------------------------------------ */

/*
 * The form of PTWRITE that perf emulates (perf-intel-pt(1), "EMULATED PTWRITE"): a function jumps
 * over 16 signature bytes and then executes 64 conditional jumps, one for each bit of the value,
 * highest bit first. Each leads to the next jump, taken or not.
 */

/* Bytes of the signature: UD2 and a text. */
#define EMULATED_PTWRITE_SIGN_SIZE 16

/* Returns whether the `size` bytes after a jump begin with the signature. */
bool emulated_ptwrite_has_sign(const uint8_t *bytes, size_t size);

/* The flow jumped over a signature to ip: a value begins. */
void emulated_ptwrite_begin(struct pt_flow *flow, uint64_t ip);

/* Add a bit to the value; after the last bit emit its event. */
void emulated_ptwrite_bit(struct pt_flow *flow, bool bit);

/* The flow was interrupted at ip. The value, if any, continues when the flow is back at ip. */
void emulated_ptwrite_interrupt(struct pt_flow *flow, uint64_t ip);

/* The flow begins at ip, or returns to it: continue a value that was interrupted there. */
void emulated_ptwrite_resume(struct pt_flow *flow, uint64_t ip);

/* The flow left the function, or is lost: count the value as broken. */
void emulated_ptwrite_drop(struct pt_flow *flow);

/* Count an interrupted value as broken. */
void emulated_ptwrite_drop_interrupted(struct pt_flow *flow);

/* ---- Damage -------------------------------------------------------------- */

/* Make the flow's ip unknown; nothing is emitted. */
void flow_set_lost(struct pt_flow *flow);

/* Emit the pending events or CFE with the FUP's ip as their address (0: unknown). */
void flow_emit_pending(struct pt_flow *flow, uint64_t ip);
void flow_emit_cfe(struct pt_flow *flow, uint64_t ip);

/* The pending events have no FUP: emit them without an address. */
void flow_flush_pending(struct pt_flow *flow);

/* The flow's ip is known again: count the bytes before as lost. */
void flow_set_found(struct pt_flow *flow);

/* The part of the flow that changes at each branch, separate so that it stays in registers. */
struct flow_cursor {
	uint64_t bits;  /* TNT bits, which may be deferred until a TIP */
	uint64_t steps; /* packed_counts.h: jumps not emitted and instructions not counted yet */
	uint32_t node;  /* CFG node of the current block */
};

static inline void count_insns(struct pt_flow *flow, struct flow_cursor *cursor, uint32_t more)
{
	flow_count_insns(flow, packed_counts_insns(cursor->steps) + more);
	cursor->steps = packed_counts_drop_insns(cursor->steps);
}

static inline struct flow_cursor load_cursor(const struct pt_flow *flow)
{
	return (struct flow_cursor){ .bits = flow->bits, .node = flow->cached_block };
}

static inline void store_cursor(struct pt_flow *flow, struct flow_cursor *cursor)
{
	unsigned jumps = packed_counts_jumps(cursor->steps);

	count_insns(flow, cursor, 0);
	stream_count_local_jumps(&flow->stream, &flow->known, flow->state.ip, jumps);
	flow->branches_followed += jumps;
	flow->cached_block = cursor->node;
	flow->state.ip = flow->view.begin + *basic_block_offset(&flow->blocks, cursor->node);
	flow->bits = cursor->bits;
	if (flow->pending == PENDING_TNT && cursor->bits == TNT_BITS_NONE)
		flow->pending = PENDING_NONE;
}
