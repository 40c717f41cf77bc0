/* SPDX-License-Identifier: MIT */
/*
 * perf's other forms of a recording: a stream (perf record -o -), and compressed records (perf
 * record -z). Layouts from perf's util/event.h and util/header.c; perf itself can read the output.
 */
#pragma once

#include "tests/support/perf_data.h"

/*
 * Build the recording as a stream: features and events in records.  Returns its `*size` bytes,
 * owned by the caller.
 */
uint8_t *perf_forms_stream(const struct perf_data *data, size_t *size);

/*
 * Compress all kernel records, into payloads of at most 100 bytes, so that records straddle them.
 * `type` is 81 (COMPRESSED) or 83 (COMPRESSED2).  Sets the COMPRESSED feature.
 */
void perf_forms_compress(struct perf_data *data, uint32_t type);
