/* SPDX-License-Identifier: MIT */
/* How many threads decode a recording, and in what pieces: by its size, and as the user said. */
#ifndef SRC_PIPELINE_DECODE_THREADS_H
#define SRC_PIPELINE_DECODE_THREADS_H

#include <stdint.h>

#include "base/diag.h"
#include "base/workers.h"
#include "decoder/aux/auxtrace.h"
#include "src/options/options.h"

/*
 * Returns bytes of AUX data from one cut to the next (struct pt_stream_input), by
 * the recording alone.
 */
uint64_t decode_threads_segment(const struct auxtrace *auxtrace);

/* Returns the threads, owned by the caller; NULL: one, the caller's, is to do it. */
struct workers *decode_threads_open(const struct options *options, const struct auxtrace *auxtrace,
				    struct diag *diag);

#endif
