/* SPDX-License-Identifier: MIT */
#include "summary.h"

#include <inttypes.h>

#include "callstack.h"

void summary_add_stream(struct summary *summary, const struct pt_stream_stats *stats)
{
	summary->bytes_total += stats->bytes_total;
	summary->bytes_decoded += stats->bytes_decoded;
	summary->bytes_repeated += stats->bytes_repeated;
	summary->bytes_missing += stats->bytes_missing;
	summary->bytes_skipped += stats->bytes_skipped;
	summary->bytes_lost += stats->bytes_lost;
	summary->branches += stats->local_jumps;
	for (int reason = 0; reason < GAP_REASONS; reason++)
		summary->gaps[reason] += stats->gaps[reason];
}

/* "Overflow packet: 3, Lost trace data: 1" */
static void list_gaps(const struct summary *summary, char *text, size_t room)
{
	size_t used = 0;

	text[0] = 0;
	for (int reason = 0; reason < GAP_REASONS && used < room; reason++) {
		if (summary->gaps[reason] && reason != GAP_NOT_RECORDED)
			used += (size_t)snprintf(text + used, room - used, "%s%s: %" PRIu64,
						 used ? ", " : "",
						 callstack_gap_text((enum gap_reason)reason),
						 summary->gaps[reason]);
	}
}

void summary_warn(const struct summary *summary, struct diag *diag)
{
	uint64_t total = summary->bytes_total ? summary->bytes_total : 1;
	char gaps[400];

	list_gaps(summary, gaps, sizeof(gaps));
	if (gaps[0])
		diag_warn(diag, "gaps", "gaps in the trace (%s); %" PRIu64 " of %" PRIu64
			  " bytes of trace could not be decoded (%.1f%%)", gaps,
			  summary->bytes_lost, summary->bytes_total,
			  100.0 * (double)summary->bytes_lost / (double)total);
	if (summary->bytes_missing)
		diag_warn(diag, "trace-missing", "%" PRIu64 " bytes of trace are not in the file",
			  summary->bytes_missing);
	if (summary->unknown_records)
		diag_warn(diag, "unknown-records", "%" PRIu64 " records of unknown types skipped",
			  summary->unknown_records);
}

void summary_print(const struct summary *summary, FILE *out)
{
	fprintf(out, "ptrace2ftf: %" PRIu64 " branches", summary->branches);
	if (summary->slices)
		fprintf(out, ", %" PRIu64 " slices", summary->slices);
	fprintf(out, " on %" PRIu64 " thread%s, %.6f s", summary->threads,
		summary->threads == 1 ? "" : "s",
		(double)(summary->last_time - summary->first_time) / 1e9);
	if (summary->bytes_total)
		fprintf(out, ", %" PRIu64 " bytes of trace", summary->bytes_total);
	if (summary->bytes_decoded != summary->bytes_total || summary->bytes_skipped ||
	    summary->bytes_lost)
		fprintf(out, " (%" PRIu64 " decoded, %" PRIu64 " before a PSB skipped, %" PRIu64
			" lost)", summary->bytes_decoded, summary->bytes_skipped,
			summary->bytes_lost);
	if (summary->bytes_repeated)
		fprintf(out, ", %" PRIu64 " more that were recorded twice",
			summary->bytes_repeated);
	if (summary->bytes_left_out)
		fprintf(out, ", %" PRIu64 " left out as asked", summary->bytes_left_out);
	putc('\n', out);
}
