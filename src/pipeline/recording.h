/* SPDX-License-Identifier: MIT */
#pragma once

#include "base/workers.h"
#include "src/callstack/callstack.h"
#include "src/resolve/code_files.h"
#include "src/select/event_filter.h"
#include "src/slices/slice_totals.h"

struct perf_recording {
	struct perf_file file;
	struct auxtrace auxtrace;  /* without streams if the file has no Intel PT */
	struct timeline *timeline; /* owned */
	bool saved_code;           /* struct jit_dumps */
	struct options chosen;     /* the user's without overlays, whose lists it borrows */
	struct event_filter filter;
	struct dso_store *store; /* owned */
	struct resolver resolver;
	struct code_files code_files;
	struct kernel_files kernel_files;
	struct code_source code;
};

/*
 * Open the options' inputs. Borrows `options`, `names` and `diag` until recording_close(), which
 * the caller must always call; until then the recording must not move. Returns 0; -1 with err
 * filled.
 */
int recording_open(struct perf_recording *recording, const struct options *options,
		   struct name_table *names, struct diag *diag, struct error *err);

/* Returns the traced privilege levels, from the options or else the event's attributes. */
enum trace_mode recording_mode(const struct perf_recording *recording,
			       const struct options *options);

/* Returns the source of times; never TIMES_OF_PERF. */
enum time_source recording_times(const struct perf_recording *recording);

/* Returns whether the trace has CYC packets. */
bool recording_has_cycles(const struct perf_recording *recording);

/* Returns the maximum delay of a timestamp in ns; 0: unknown, with TSC packets only. */
uint64_t recording_resolution(const struct perf_recording *recording);

void recording_close(struct perf_recording *recording);

/* ---- Raw traces ---------------------------------------------------------- */

/*
 * Raw trace data and mappings (--raw, --map), and LLDB's trace.json, as a recording of perf: they
 * become the records that perf would have written, with mappings and threads that exist from the
 * start. The paths in trace.json are as untrusted as a recording's.
 */

/*
 * Open the input of --raw, or trace.json. The store finds the files of code. Returns 0; -1 with err
 * filled. The caller calls perf_file_close() in both cases.
 */
int raw_input_open(struct perf_file *file, const struct options *options, struct dso_store *store,
		   struct diag *diag, struct error *err);

/* Set whether the trace has TSC packets, which no option says. Warns if their clock is unknown. */
void raw_input_settle_clock(struct auxtrace *auxtrace, struct diag *diag);

/* ---- Hints for the user -------------------------------------------------- */

/* Warn that no recorded data matches. If threads are selected, list the recorded threads. */
void empty_selection_warn(const struct options *options, const struct perf_recording *recording,
			  struct diag *diag);

/*
 * Returns "libc.so.6: 38 % of the time has no names, libm.so.6: 3 %; get debug files by: ...",
 * owned by the caller, for at least one file, most time first. `symfs`: the directory with the
 * recorded system's files; NULL: this system's.
 */
char *debug_hint_make(const struct mapped_file *const files[], const unsigned percents[],
		      size_t count, const char *symfs);

/*
 * Returns this hint for files that were found, but spent at least one percent of the slices' time,
 * without system calls and waits, in code without names. NULL: no such files, or no totals.
 */
char *nameless_hint_make(const struct slice_totals *totals, const struct resolver *resolver,
			 const struct timeline *timeline, const char *symfs);

/* ---- Threads and segments ------------------------------------------------ */

/*
 * Returns the bytes of AUX data per segment (struct pt_stream_input) for some workers, which may be
 * NULL. Outputs do not depend on it (decoder/engine/fast/flow_checkpoint.h).
 */
uint64_t decode_threads_segment(const struct auxtrace *auxtrace, const struct workers *workers);

/* Returns the workers, owned by the caller; NULL: the caller's thread decodes alone. */
struct workers *decode_threads_open(const struct options *options, const struct auxtrace *auxtrace,
				    struct diag *diag);

/* Returns whether jobs should also follow calls (src/callstack/call_stretch.h). */
bool decode_threads_follow(const struct workers *workers);
