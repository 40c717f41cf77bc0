/* SPDX-License-Identifier: MIT */
/*
 * Records that perf record -z compressed.
 *
 * The payloads of the COMPRESSED and COMPRESSED2 records of a file are one
 * stream of Zstandard; what it unpacks to are records in a row, of which one
 * may straddle two payloads (tools/perf/util/zstd.c and perf's event.h).
 * Private to decoder/.
 */
#ifndef DECODER_PERF_DATA_PERF_UNPACK_H
#define DECODER_PERF_DATA_PERF_UNPACK_H

#include "decoder/perf_data/perf_types.h"

/*
 * Unpack what is compressed in a part, into a file without a name.
 * Returns its bytes, owned by the caller (munmap()); NULL if there are none.
 * Damage is warned about, and what stands before it is kept.
 */
struct perf_bytes perf_unpack(const struct perf_file *file, size_t part, struct diag *diag);

#endif
