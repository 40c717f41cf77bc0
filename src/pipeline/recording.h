/* SPDX-License-Identifier: MIT */
#ifndef SRC_PIPELINE_RECORDING_H
#define SRC_PIPELINE_RECORDING_H

#include "base/diag.h"
#include "base/tables/name.h"
#include "decoder/aux/auxtrace.h"
#include "decoder/perf_data/perf_file.h"
#include "decoder/timeline/timeline.h"
#include "src/callstack/callstack.h"
#include "src/options/options.h"
#include "src/resolve/code_files.h"
#include "src/resolve/kernel_files.h"
#include "src/resolve/resolve.h"
#include "src/select/event_filter.h"

struct perf_recording {
	struct perf_file file;
	struct auxtrace auxtrace;  /* without streams if the file has no Intel PT */
	struct timeline *timeline; /* owned */
	bool saved_code;           /* struct jit_dumps */
	struct event_filter filter;
	struct dso_store *store; /* owned */
	struct resolver resolver;
	struct code_files code_files;
	struct code_source code_source;
	struct kernel_files kernel_files;
	struct code_image *code; /* owned */
};

/*
 * Open the options' inputs. Borrows `options`, `names` and `diag` until recording_close(), which
 * the caller must call in any case; until then the recording must not move. Returns 0; -1 with err
 * filled.
 */
int recording_open(struct perf_recording *recording, const struct options *options,
		   struct name_table *names, struct diag *diag, struct error *err);

/* Returns the traced privilege levels: by the options, otherwise by the event's attributes. */
enum trace_mode recording_mode(const struct perf_recording *recording,
			       const struct options *options);

/* Returns the source of times; never TIMES_OF_PERF. */
enum time_source recording_times(const struct perf_recording *recording);

/* Returns whether the trace has CYC packets. */
bool recording_has_cycles(const struct perf_recording *recording);

/* Returns the maximum delay of a timestamp in ns; 0: unknown, with TSC packets only. */
uint64_t recording_resolution(const struct perf_recording *recording);

/* Idempotent, also on zeroed memory. */
void recording_close(struct perf_recording *recording);

#endif
