/* SPDX-License-Identifier: MIT */
/*
 * A recording of perf: its header, attributes, features and records.
 *
 * It is a perf.data file, a stream of perf record -o -, a directory (perf
 * record --kcore, --threads), or a series of files (perf record
 * --switch-output).  Everything returned is borrowed from the mappings or the
 * perf_file and lives until perf_file_close().  No size in the file is trusted.
 * Sources: tools/perf/Documentation/perf.data-file-format.txt,
 * perf.data-directory-format.txt and tools/perf/util/header.h.
 */
#ifndef DECODER_PERF_DATA_PERF_FILE_H
#define DECODER_PERF_DATA_PERF_FILE_H

#include "base/diag.h"
#include "base/error.h"
#include "decoder/perf_data/perf_attrs.h"
#include "decoder/perf_data/perf_features.h"
#include "decoder/perf_data/perf_parts.h"
#include "decoder/perf_data/perf_types.h"

/*
 * Map and check an input: a path, or "-" for standard input.
 * Returns 0; -1 with err filled: not readable, not a recording of perf, or of a
 * machine that has no Intel PT (big-endian), with err->text naming the path and
 * what to do.  Damaged features are warned about.  The caller calls
 * perf_file_close() in both cases.
 */
int perf_file_open(struct perf_file *file, const char *path, struct diag *diag, struct error *err);

/*
 * Add the next file of a series (perf record --switch-output) to an open one.
 * At the start of each file perf writes the state of the system in records without a
 * time: their time becomes the first time in the file.
 * Returns 0; -1 with err filled, also if it is not of the same recording.  What a file lacks, such
 * as features of a perf that was killed, is no evidence: file->unproven is set if one lacks its
 * host, command line, clock or times.
 */
int perf_file_append(struct perf_file *file, const char *path, struct diag *diag,
		     struct error *err);

/* Idempotent, also on zeroed memory. */
void perf_file_close(struct perf_file *file);

#endif
