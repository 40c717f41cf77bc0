/* SPDX-License-Identifier: MIT */
/* What a run did, told in a few lines at its end. */
#ifndef SRC_REPORT_SUMMARY_H
#define SRC_REPORT_SUMMARY_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "base/diag.h"
#include "decoder/streams/pt_verify.h"

struct summary {
	uint64_t branches, threads, slices;
	uint64_t first_time, last_time; /* ns: of the events; 0 if there are none */
	uint64_t gaps[GAP_REASONS];     /* by enum gap_reason */
	/* Of AUX data; see struct pt_stream_stats. */
	uint64_t bytes_total, bytes_decoded, bytes_skipped, bytes_lost;
	uint64_t bytes_repeated, bytes_missing;
	uint64_t
		bytes_left_out; /* of streams and times that were not asked for; not of the total */
	uint64_t unknown_records;
	uint64_t unaccounted;      /* buffers whose bytes decoded, skipped and lost are not all */
	uint64_t writes_broken;    /* emulated PTWRITEs that were not told to their end */
	struct pt_verdict verdict; /* of --verify; segments 0: not asked for */
	bool interrupted;          /* by SIGINT: what came after is left out */
	char **outputs;            /* owned, as its texts are: paths of what was written */
	size_t output_count, output_room;
	unsigned files, nameless_files; /* of code that ran: all, and those without names */
	char *nameless;                 /* owned: paths of the first of them; NULL: none */
};

/* Idempotent, also on zeroed memory. */
void summary_release(struct summary *summary);

/* Add a copy of an output's path. */
void summary_add_output(struct summary *summary, const char *path);

/* Count a file of code that ran, and whether there are names for it. */
void summary_add_file(struct summary *summary, const char *path, bool named);

/*
 * From now on the first SIGINT asks the run to end early (base/io/interrupt.h), and
 * says so unless `quiet`.
 */
void summary_allow_interrupt(bool quiet);

/* Add the statistics of one stream. */
void summary_add_stream(struct summary *summary, const struct pt_stream_stats *stats);

/* Keep what a comparison of the engines found, and warn of the first difference. */
void summary_set_verdict(struct summary *summary, const struct pt_verdict *verdict,
			 struct diag *diag);

/* Turn what is damaged or left out into warnings. */
void summary_warn(const struct summary *summary, struct diag *diag);

/*
 * Print a few lines: what was converted; if need be, what caused gaps and what
 * to do about it, and whose names are missing; what it took; and what to do
 * next, if the output is a trace.
 */
void summary_print(const struct summary *summary, bool is_trace, FILE *out);

/* Returns a reason's word for programs: "overflow"; a constant, never NULL. */
const char *summary_gap_word(enum gap_reason reason);

/* Returns the most memory that the program has used up to now, in bytes. */
uint64_t summary_peak_memory(void);

#endif
