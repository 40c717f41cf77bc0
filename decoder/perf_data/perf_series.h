/* SPDX-License-Identifier: MIT */
/*
 * Evidence that files are of one recording: perf record --switch-output writes files of one
 * machine, one boot, one command line and one set of events, with trace data and times that follow
 * each other.
 */
#ifndef DECODER_PERF_DATA_PERF_SERIES_H
#define DECODER_PERF_DATA_PERF_SERIES_H

#include "base/error.h"
#include "decoder/perf_data/perf_types.h"

/*
 * Compare an input, just opened, with those that `file` has, and add it to the file's inputs.
 * What a file lacks, such as features of a perf that was killed, is no evidence: file->unproven is
 * set if one lacks its host, command line, clock or times.
 * Returns 0; -1 with err filled: which two inputs differ, in what, and what to do.
 */
int perf_series_check(struct perf_file *file, struct perf_file *next, struct error *err);

#endif
