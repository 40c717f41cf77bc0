/* SPDX-License-Identifier: MIT */
/*
 * The form of PTWRITE that perf emulates, for processors without the instruction: a function
 * jumps over 16 signature bytes and then executes 64 conditional jumps, one for each bit of
 * the value, the highest first; each leads to the next one, taken or not.  Private to the fast
 * engine.  Source: perf-intel-pt(1), "EMULATED PTWRITE".
 */
#ifndef DECODER_ENGINE_FAST_EMULATED_PTWRITE_H
#define DECODER_ENGINE_FAST_EMULATED_PTWRITE_H

#include "decoder/engine/fast/flow_state.h"

/* Bytes of the signature: UD2 and a text. */
#define EMULATED_PTWRITE_SIGN_SIZE 16

/* Returns whether the `size` bytes after a jump begin with the signature. */
bool emulated_ptwrite_has_sign(const uint8_t *bytes, size_t size);

/* The flow jumped over a signature to ip: a value begins. */
void emulated_ptwrite_begin(struct pt_flow *flow, uint64_t ip);

/* Add a bit to the value; after the last bit emit its event. */
void emulated_ptwrite_bit(struct pt_flow *flow, bool bit);

/* The flow was interrupted at ip: the value, if any, continues when the flow is there again. */
void emulated_ptwrite_interrupt(struct pt_flow *flow, uint64_t ip);

/* The flow begins at ip, or returns to it: continue the value that was interrupted there. */
void emulated_ptwrite_resume(struct pt_flow *flow, uint64_t ip);

/* The flow went elsewhere, or is lost: count the value as broken. */
void emulated_ptwrite_drop(struct pt_flow *flow);

/* Count an interrupted value as broken. */
void emulated_ptwrite_drop_interrupted(struct pt_flow *flow);

#endif
