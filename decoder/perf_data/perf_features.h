/* SPDX-License-Identifier: MIT */
/*
 * Feature sections of a recording (tools/perf/util/header.h, enum HEADER_*),
 * as they stand behind the data of a file, or in records of a stream.  Private
 * to decoder/: perf_file.h gives out what they say.
 */
#ifndef DECODER_PERF_DATA_PERF_FEATURES_H
#define DECODER_PERF_DATA_PERF_FEATURES_H

#include "decoder/perf_data/perf_file.h"

/*
 * Read the sections of a file whose table stands at `table_offset`, which lies
 * in the file.  Of all inputs but the first only the build ids count.  Damage
 * is warned about.
 */
void perf_features_read(struct perf_file *file, struct perf_bytes bytes, uint64_t table_offset,
			struct diag *diag);

/* Read a HEADER_FEATURE or HEADER_BUILD_ID record of a stream. */
void perf_features_read_record(struct perf_file *file, const struct perf_record *record,
			       struct diag *diag);

#endif
