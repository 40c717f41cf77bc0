/* SPDX-License-Identifier: MIT */
/*
 * Records that perf record -z compressed.
 *
 * The payloads of the COMPRESSED and COMPRESSED2 records of a file are one
 * stream of Zstandard.  The unpacked bytes are records; one record
 * may straddle two payloads (tools/perf/util/zstd.c and perf's event.h).
 */
#ifndef DECODER_PERF_DATA_PERF_UNPACK_H
#define DECODER_PERF_DATA_PERF_UNPACK_H

#include "decoder/perf_data/perf_types.h"

/*
 * Unpack the compressed records of a part into a file without a name.
 * Returns its bytes, owned by the caller (munmap()); NULL if there are none.
 * Damage is warned about; the records before it are kept.
 */
struct perf_bytes perf_unpack(const struct perf_file *file, size_t part, struct diag *diag);

#endif
