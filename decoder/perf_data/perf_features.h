/* SPDX-License-Identifier: MIT */
/*
 * Feature sections of a recording (tools/perf/util/header.h, enum HEADER_*),
 * after the data of a file or in records of a stream.
 */
#ifndef DECODER_PERF_DATA_PERF_FEATURES_H
#define DECODER_PERF_DATA_PERF_FEATURES_H

#include "decoder/perf_data/perf_types.h"

/*
 * Read the sections of a file.  Their table is at `table_offset`, which lies in the file.
 * Of all inputs but the first only the build ids are read.  Damage is warned about.
 */
void perf_features_read(struct perf_file *file, struct perf_bytes bytes, uint64_t table_offset,
			struct diag *diag);

/* Read a HEADER_FEATURE, HEADER_BUILD_ID or HEADER_TRACING_DATA record of a stream. */
void perf_features_read_record(struct perf_file *file, const struct perf_record *record,
			       struct diag *diag);

/* Add a BUILD_ID section (a row of entries) to those of the recording. */
void perf_features_add_build_ids(struct perf_file *file, struct perf_bytes row);

/* The position of perf_features_next_build_id(); start with zeros. */
struct perf_build_id_place {
	size_t row, offset;
};

/* An entry of the BUILD_ID feature, as views of the file. */
struct perf_build_id {
	const char *path;
	const uint8_t *id;
	size_t id_size; /* bytes, at most 20 */
};

/*
 * Read the next entry of all BUILD_ID features.
 * Returns 1 with *entry filled; 0 at the end.
 */
int perf_features_next_build_id(const struct perf_file *file, struct perf_build_id_place *place,
				struct perf_build_id *entry);

#endif
