/* SPDX-License-Identifier: MIT */
/*
 * The other forms that perf gives a recording: a stream (perf record -o -), and
 * compressed records (perf record -z).  Layouts from perf's util/event.h and
 * util/header.c; perf itself reads what this writes.
 */
#ifndef TESTS_SUPPORT_PERF_FORMS_H
#define TESTS_SUPPORT_PERF_FORMS_H

#include "tests/support/perf_data.h"

/*
 * Put the recording together as a stream: features and events in records.
 * Returns its `*size` bytes, owned by the caller.
 */
uint8_t *perf_forms_stream(const struct perf_data *data, size_t *size);

/*
 * Compress all kernel records, into payloads of 100 bytes at most, so that
 * records straddle them.  `type` is 81 (COMPRESSED) or 83 (COMPRESSED2).  The
 * COMPRESSED feature is set.
 */
void perf_forms_compress(struct perf_data *data, uint32_t type);

#endif
