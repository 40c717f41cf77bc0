/* SPDX-License-Identifier: MIT */
/* The counts of a run, and the few lines about them at its end. */
#ifndef SRC_REPORT_SUMMARY_H
#define SRC_REPORT_SUMMARY_H

#include "base/diag.h"
#include "decoder/streams/pt_verify.h"
#include "src/formats/ftf/ftf_fit.h"

struct callstack_machine;
struct slice_totals;

struct summary {
	uint64_t branches, threads, slices;
	uint64_t first_time, last_time; /* ns: of the events; 0 if there are none */
	uint64_t gaps[GAP_REASONS];     /* by enum gap_reason */
	/* Of AUX data; see struct pt_stream_stats. */
	uint64_t bytes_total, bytes_decoded, bytes_skipped, bytes_lost;
	uint64_t bytes_repeated, bytes_missing;
	uint64_t bytes_left_out;   /* outside of the selection; not part of the total */
	uint64_t uncertain_levels; /* slices with SLICE_UNCERTAIN_LEVEL */
	uint64_t first_uncertain;  /* ns: when the first of them begins, about */
	uint64_t opaque_frames;    /* of code without bytes */
	uint64_t opaque_ip;        /* where the first of them begins */
	uint64_t slices_left_out;  /* outside of --from */
	uint64_t trace_records;    /* of events in the output, if that is a trace */
	uint64_t trace_bytes;      /* of the output, before compression */
	struct fold_counts fold;   /* by --fit; not part of `slices` */
	uint64_t slices_truncated; /* whose stacks --max-stack cut */
	uint64_t hits;             /* of breakpoints and probes */
	uint64_t samples_left_out; /* of other events in perf script's text: it shows none */
	unsigned text_lacks;       /* enum perf_script_lacks, of perf script's text */
	uint64_t unknown_records;
	uint64_t unaccounted;      /* buffers whose decoded, skipped and lost bytes are not all */
	uint64_t times_impossible; /* times of packets above INT64_MAX ns */
	uint64_t guests;           /* times that a virtual machine's code ran */
	uint64_t writes_broken;    /* emulated PTWRITEs with an incomplete value */
	struct pt_verdict verdict; /* of --verify; segments 0: none */
	bool output_cut;           /* at its limit: the rest of the input is left out */
	bool interrupted;          /* by SIGINT: the rest of the input is left out */
	char **outputs;            /* owned, with the texts: paths */
	size_t output_count, output_room;
	unsigned files, nameless_files; /* files of code that ran: all, and without symbols */
	char *nameless;                 /* owned: paths of the first files without symbols */
	char *top_functions;  /* owned: lines about the functions with most self time; NULL: none */
	bool saved_code;      /* some code is what a process had at its end: --core */
	bool times_estimated; /* of calls between timing packets; no slice says so */
	char *debug_hint; /* owned: which code without names took time (debug_hint.h); NULL: none */
};

/* Idempotent, also on zeroed memory. */
void summary_release(struct summary *summary);

/* Add a copy of an output's path. */
void summary_add_output(struct summary *summary, const char *path);

/* Count a file of code that ran; `named`: it has symbols. */
void summary_add_file(struct summary *summary, const char *path, bool named);

/*
 * From now on the first SIGINT ends the run early, with a valid output
 * (base/io/interrupt.h), and prints a message unless `quiet`.
 */
void summary_allow_interrupt(bool quiet);

/* Add the statistics of one stream. */
void summary_add_stream(struct summary *summary, const struct pt_stream_stats *stats);

/* Keep the result of a comparison of the engines, and warn of the first difference. */
void summary_set_verdict(struct summary *summary, const struct pt_verdict *verdict,
			 struct diag *diag);

/* Warn of damage, and of missing or unknown parts of the input. */
void summary_warn(const struct summary *summary, struct diag *diag);

/*
 * Print the counts; the causes of gaps with remedies, and files without symbols,
 * if there are any; the memory; how to open the output, if `is_trace`; and the functions with most
 * self time.
 */
void summary_print(const struct summary *summary, bool is_trace, FILE *out);

/* Take a machine's count of slices of uncertain levels. */
void summary_add_uncertain(struct summary *summary, const struct callstack_machine *machine);

/*
 * Print how many slices --fit folded, if it folded any, and the --time of a part at the begin of
 * the trace, which fits as a whole if its calls are as frequent as on average.
 */
void summary_print_fold(const struct summary *summary, FILE *out);

/* Returns the keyword of a reason in JSON, like "overflow"; a constant, never NULL. */
const char *summary_gap_word(enum gap_reason reason);

/* Returns the peak memory of the program so far, in bytes. */
uint64_t summary_peak_memory(void);

/*
 * If a trace has more than FIT_DEFAULT slices, print the memory that Perfetto needs, and the
 * options that make the trace smaller.  `records`: of its events, one or two for a slice; `bytes`:
 * its size before compression.
 */
void perfetto_memory_hint_print(uint64_t slices, uint64_t records, uint64_t bytes, FILE *out);

/*
 * Make a table of the functions with most self time, and the slowest call of each; where times are
 * unknown, with most instructions.  Returns lines of text, printable on a terminal, owned by the
 * caller; NULL if no function took time.  The slowest call's begin is in seconds of perf's clock,
 * as --time takes it.  The shares are those of --format=functions: of the self time of all slices,
 * also of those that are no functions.
 */
char *top_functions_make(const struct slice_totals *totals);

#endif
