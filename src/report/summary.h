/* SPDX-License-Identifier: MIT */
/* The counts of a run, and the lines printed about them at its end. */
#pragma once

#include "base/diag.h"
#include "decoder/streams/pt_verify.h"
#include "src/callstack/callstack.h"
#include "src/formats/ftf/ftf_fit.h"

struct slice_totals;

struct summary {
	uint64_t branches, threads, slices;
	uint64_t first_time, last_time; /* ns: of the events; 0 without events */
	struct pt_stream_stats trace; /* bytes of all streams; `gaps`: also of perf script's text */
	uint64_t losses_reported;     /* losses of GAP_LOST: other warnings have their causes */
	uint64_t bytes_unsynced;      /* skipped before the first PSB, unless a copy begins there */
	uint64_t bytes_left_out;      /* outside of the selection; not in the total */
	struct stack_doubts doubts;   /* first_uncertain: in perf's time */
	uint64_t slices_left_out;     /* outside of --from */
	uint64_t trace_records;       /* event records in the output, if that is a trace */
	uint64_t trace_bytes;         /* bytes of the output, before compression */
	struct fold_counts fold;      /* slices folded by --fit; not in `slices` */
	uint64_t slices_truncated;    /* with stacks cut by --max-stack */
	uint64_t sources_left_out; /* source files of libraries that --format=lcov did not find */
	uint64_t hits;             /* breakpoints and probes */
	uint64_t samples_left_out; /* other events in perf script's text, which are not shown */
	unsigned text_lacks;       /* enum perf_script_lacks, of perf script's text */
	uint64_t unknown_records;
	uint64_t unaccounted;      /* buffers whose decoded, skipped and lost bytes do not add up */
	struct pt_verdict verdict; /* verdict of --verify; segments 0: not run */
	bool output_cut;           /* at its limit, without the rest of the input */
	bool temp_cut;             /* the same: temporary files reached their limit */
	bool interrupted;          /* by SIGINT, without the rest of the input */
	char **outputs;            /* owned, as are the strings: paths */
	size_t output_count, output_room;
	unsigned files, nameless_files; /* files of code that ran: all; without symbols */
	char *nameless;                 /* owned: paths of the first files without symbols */
	char *top_functions; /* owned: lines about the functions with most self time; NULL: no lines
			      */
	bool saved_code;     /* some code is the last state of a process: --core */
	uint64_t changed_functions;       /* in saved code: perhaps other code before */
	const struct name *first_changed; /* borrowed: of the lowest address; or NULL */
	bool times_estimated;             /* times between timing packets are estimated, unmarked */
	char *debug_hint; /* owned: the unnamed code that took time; NULL: no hint */
};

void summary_release(struct summary *summary);

/* Add a copy of an output's path. */
void summary_add_output(struct summary *summary, const char *path);

/* Count a file of code that ran; `named`: it has symbols. */
void summary_add_file(struct summary *summary, const char *path, bool named);

/* Add the statistics of one stream. */
void summary_add_stream(struct summary *summary, const struct pt_stream_stats *stats);

/* Store the result of comparing the engines, and warn of the first difference. */
void summary_set_verdict(struct summary *summary, const struct pt_verdict *verdict,
			 struct diag *diag);

/* Warn of damage, and of missing or unknown parts of the input. */
void summary_warn(const struct summary *summary, struct diag *diag);

/*
 * Print the counts, and the causes of gaps with remedies, if there are any.  For one of several
 * conversions, also print the output; otherwise also files without symbols, the memory, how to open
 * the output, if `is_trace`, and the functions with most self time.
 */
void summary_print(const struct summary *summary, bool is_trace, bool of_several, FILE *out);

/* Store the uncertain findings of a machine. */
void summary_add_doubts(struct summary *summary, const struct callstack_machine *machine);

/*
 * If --fit folded slices, print their number, and the --time of a first part of the trace that fits
 * unfolded if its calls have average frequency.
 */
void summary_print_fold(const struct summary *summary, FILE *out);

/* Returns the program's peak memory so far, in bytes. */
uint64_t summary_peak_memory(void);

/*
 * If a trace has more than FIT_DEFAULT slices, print the memory that Perfetto needs, and options
 * that make the trace smaller. `records`: event records, one or two per slice; `bytes`: the trace's
 * size before compression.
 */
void perfetto_memory_hint_print(uint64_t slices, uint64_t records, uint64_t bytes, FILE *out);

/*
 * Returns a table of the functions with the most self time and of the slowest call of each, or, if
 * times are unknown, with the most instructions. The text is printable on a terminal and owned by
 * the caller; NULL if no function took time. A call's start is in seconds of perf's clock, as
 * --time takes it. The shares are those of --format=functions: of the self time of all slices,
 * including slices that are not functions.
 */
char *top_functions_make(const struct slice_totals *totals, const struct options *options);
