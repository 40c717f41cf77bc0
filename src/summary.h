/* SPDX-License-Identifier: MIT */
/* What a run did, told in a few lines at its end. */
#ifndef SRC_SUMMARY_H
#define SRC_SUMMARY_H

#include <stdint.h>
#include <stdio.h>

#include "base/diag.h"
#include "decoder/pt_stream.h"

struct summary {
	uint64_t branches, threads, slices;
	uint64_t first_time, last_time; /* ns: of the events; 0 if there are none */
	uint64_t gaps[GAP_REASONS];     /* by enum gap_reason */
	/* Of AUX data; see struct pt_stream_stats. */
	uint64_t bytes_total, bytes_decoded, bytes_skipped, bytes_lost;
	uint64_t bytes_repeated, bytes_missing;
	uint64_t bytes_left_out; /* of streams and times that were not asked for; not of the total */
	uint64_t unknown_records;
};

/* Add the statistics of one stream. */
void summary_add_stream(struct summary *summary, const struct pt_stream_stats *stats);

/* Turn what is damaged or left out into warnings. */
void summary_warn(const struct summary *summary, struct diag *diag);

/* Print one line: what was converted. */
void summary_print(const struct summary *summary, FILE *out);

#endif
