/* SPDX-License-Identifier: MIT */
/*
 * The form of PTWRITE that perf emulates, for processors without the
 * instruction: a function jumps over 16 bytes that are its sign and then takes
 * 64 conditional jumps, one for each bit of the value, the highest first; each
 * leads on to the next, taken or not.  Private to the fast engine.
 * Source: perf-intel-pt(1), "EMULATED PTWRITE".
 */
#ifndef DECODER_ENGINE_FAST_EMULATED_PTWRITE_H
#define DECODER_ENGINE_FAST_EMULATED_PTWRITE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "decoder/engine/fast/flow_state.h"

/* The bytes that the jump passes over: UD2 and a text. */
#define EMULATED_WRITE_SIGN_SIZE 16

/* Returns whether `size` bytes behind a jump are the sign. */
bool emulated_ptwrite_has_sign(const uint8_t *bytes, size_t size);

/* The flow jumped over a sign to ip: a value begins. */
void emulated_ptwrite_begin(struct pt_flow *flow, uint64_t ip);

/* A bit, of the value that is being told; after the last a side event says it. */
void emulated_ptwrite_bit(struct pt_flow *flow, bool bit);

/* The flow was interrupted at ip: the value, if any, waits until it goes on there. */
void emulated_ptwrite_interrupt(struct pt_flow *flow, uint64_t ip);

/* The flow begins at ip, or comes back to it: what was interrupted there goes on. */
void emulated_ptwrite_resume(struct pt_flow *flow, uint64_t ip);

/* The flow went elsewhere, or is lost: the value has no end, and is counted. */
void emulated_ptwrite_drop(struct pt_flow *flow);

/* The same of what waits. */
void emulated_ptwrite_drop_interrupted(struct pt_flow *flow);

#endif
