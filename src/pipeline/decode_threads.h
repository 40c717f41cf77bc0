/* SPDX-License-Identifier: MIT */
/* The number of threads that decode a recording, and the size of its segments. */
#ifndef SRC_PIPELINE_DECODE_THREADS_H
#define SRC_PIPELINE_DECODE_THREADS_H

#include "base/diag.h"
#include "base/workers.h"
#include "decoder/aux/auxtrace.h"
#include "src/options/options.h"

/*
 * Returns the bytes of AUX data per segment (struct pt_stream_input) for some workers, which may be
 * NULL. Outputs do not depend on it (decoder/engine/fast/flow_checkpoint.h).
 */
uint64_t decode_threads_segment(const struct auxtrace *auxtrace, const struct workers *workers);

/* Returns the threads, owned by the caller; NULL: the caller's thread decodes alone. */
struct workers *decode_threads_open(const struct options *options, const struct auxtrace *auxtrace,
				    struct diag *diag);

/* Returns whether jobs should also follow calls (src/callstack/precise/call_follower.h). */
bool decode_threads_follow(const struct workers *workers);

#endif
