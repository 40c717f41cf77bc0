/* SPDX-License-Identifier: MIT */
/*
 * Raw trace data and mappings (--raw, --map), and LLDB's trace.json, as a recording of perf: they
 * become the records that perf would have written, with mappings and threads that exist from the
 * start. The paths in trace.json are as untrusted as a recording's.
 */
#pragma once

#include "decoder/aux/auxtrace.h"
#include "decoder/perf_data/perf_file.h"
#include "src/options/options.h"
#include "symbols/dso/dso_store.h"

/*
 * Open the input of --raw, or trace.json. The store finds the files of code. Returns 0; -1 with err
 * filled. The caller calls perf_file_close() in both cases.
 */
int raw_input_open(struct perf_file *file, const struct options *options, struct dso_store *store,
		   struct diag *diag, struct error *err);

/* Set whether the trace has TSC packets, which no option says. Warns if their clock is unknown. */
void raw_input_settle_clock(struct auxtrace *auxtrace, struct diag *diag);
