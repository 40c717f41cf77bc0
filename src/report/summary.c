/* SPDX-License-Identifier: MIT */
/* The counts of a run, their warnings, and the lines at its end. */
#include "src/report/summary.h"

#include <sys/resource.h>

#include "base/io/output_path.h"
#include "base/printable.h"
#include "src/callstack/timestamp_group.h"
#include "src/formats/text/digits.h"
#include "src/options/selection.h"
#include "src/perf_script/perf_script.h"
#include "src/slices/call_tree.h"

/* Limit of file names in the summary; the rest is only counted. */
#define NAMELESS_LISTED 3

uint64_t summary_peak_memory(void)
{
	struct rusage usage = { 0 };

	getrusage(RUSAGE_SELF, &usage);
	return (uint64_t)usage.ru_maxrss * 1024; /* Linux counts KiB */
}

void summary_release(struct summary *summary)
{
	for (size_t i = 0; i < summary->output_count; i++)
		free(summary->outputs[i]);
	free(summary->outputs);
	free(summary->nameless);
	free(summary->debug_hint);
	free(summary->top_functions);
	*summary = (struct summary){ 0 };
}

void summary_add_output(struct summary *summary, const char *path)
{
	*ARRAY_ADD(summary->outputs, summary->output_count, summary->output_room) =
		alloc_text("%s", path);
}

void summary_add_file(struct summary *summary, const char *path, bool named)
{
	char *before = summary->nameless;

	summary->files++;
	if (named || summary->nameless_files++ >= NAMELESS_LISTED)
		return;
	summary->nameless = alloc_text("%s%s%s", before ? before : "", before ? ", " : "", path);
	free(before);
}

void summary_add_stream(struct summary *summary, const struct pt_stream_stats *stats)
{
	pt_stream_stats_add(&summary->trace, stats);
	summary->unaccounted += stats->bytes_decoded + stats->bytes_skipped + stats->bytes_lost !=
				stats->bytes_total;
	summary->branches += stats->local_jumps;
}

/*
 * Returns the number of gaps that no other line reports: AUX records and missing bytes of the file
 * have warnings of their own.
 */
static uint64_t unreported_gaps(const struct summary *summary, int reason)
{
	uint64_t count = summary->trace.gaps[reason];

	if (!gap_reason_facts((enum gap_reason)reason)->cause ||
	    (reason == GAP_LOST && summary->trace.bytes_missing))
		return 0;
	return reason == GAP_LOST ? count - MIN(count, summary->losses_reported) : count;
}

/* "Overflow packet: 3, Lost trace data: 1" */
static void list_gaps(const struct summary *summary, char *text, size_t room)
{
	size_t used = 0;

	text[0] = 0;
	for (int reason = 0; reason < GAP_REASONS && used < room; reason++) {
		uint64_t count = unreported_gaps(summary, reason);

		if (count)
			used += (size_t)snprintf(
				text + used, room - used, "%s%s: %" PRIu64, used ? ", " : "",
				gap_reason_facts((enum gap_reason)reason)->text, count);
	}
}

/* Warn of the branches that were not compared, except for the ends of parts. */
static void warn_of_rest(const struct pt_verdict *verdict, struct diag *diag)
{
	static const char *const places[VERIFY_STOPS] = {
		[VERIFY_DIFFERENCE] = "after a difference",
		[VERIFY_OVERFLOW] = "after an overflow",
		[VERIFY_FILTER] = "after a branch out of an address filter",
		[VERIFY_DAMAGE] = "after damage in both engines",
		[VERIFY_RETURN] = "after a return to an old address in libipt (record with "
				  "noretcomp=1)",
	};
	uint64_t fast = 0, libipt = 0;
	char text[400];
	size_t used = 0;

	for (int stop = VERIFY_DIFFERENCE; stop < VERIFY_STOPS; stop++) {
		if (!verdict->rest[stop].fast && !verdict->rest[stop].libipt)
			continue;
		used += (size_t)snprintf(text + used, sizeof(text) - used, "%s%" PRIu64 " %s",
					 used ? ", " : "", verdict->rest[stop].fast, places[stop]);
		fast += verdict->rest[stop].fast;
		libipt += verdict->rest[stop].libipt;
	}
	if (used)
		diag_warn(diag, "engines-rest",
			  "cannot compare %" PRIu64 " of %" PRIu64
			  " branches with libipt, which finds %" PRIu64 " instead: %s",
			  fast, verdict->branches + fast + verdict->rest[VERIFY_END].fast, libipt,
			  text);
}

void summary_set_verdict(struct summary *summary, const struct pt_verdict *verdict,
			 struct diag *diag)
{
	summary->verdict = *verdict;
	warn_of_rest(verdict, diag);
	if (verdict->apart)
		diag_warn(diag, "engines-times",
			  "libipt finds %" PRIu64 " of %" PRIu64
			  " branches more than an MTC period "
			  "earlier or later",
			  verdict->apart, verdict->branches);
	if (!verdict->differences)
		return;
	diag_warn(diag, "engines-differ",
		  "libipt decodes %" PRIu64 " of %" PRIu64
		  " parts of the trace differently; first, at the "
		  "PSB at offset %" PRIu64 " of the file, branch %" PRIu64 ": %s; by libipt: %s",
		  verdict->differences, verdict->segments, verdict->file_offset, verdict->index + 1,
		  verdict->fast, verdict->libipt);
}

void summary_warn(const struct summary *summary, struct diag *diag)
{
	const struct pt_stream_stats *trace = &summary->trace;
	uint64_t total = trace->bytes_total ? trace->bytes_total : 1;
	uint64_t done = trace->bytes_decoded + trace->bytes_skipped + trace->bytes_lost;
	char gaps[400], progress[60] = "", lost[120] = "";

	if (trace->bytes_total) {
		snprintf(progress, sizeof(progress), ", after %.1f%% of the trace",
			 100.0 * (double)done / (double)total);
		snprintf(lost, sizeof(lost),
			 "; %" PRIu64 " of %" PRIu64
			 " bytes of trace could not be decoded (%.1f%%)",
			 trace->bytes_lost, trace->bytes_total,
			 100.0 * (double)trace->bytes_lost / (double)total);
	}
	list_gaps(summary, gaps, sizeof(gaps));
	if (gaps[0])
		diag_warn(diag, "gaps", "gaps in the trace (%s)%s", gaps, lost);
	if (summary->interrupted)
		diag_warn(diag, "interrupted", "interrupted: the rest of the input is left out%s",
			  progress);
	else if (summary->temp_cut)
		diag_warn(
			diag, "temp-full",
			"cannot keep more in temporary files: the rest is left out%s; choose a part "
			"with --time, give --max-temp=SIZE, or set TMPDIR to a larger folder",
			progress);
	else if (summary->output_cut)
		diag_warn(diag, "output-full",
			  "the output has reached its limit: the rest is left out%s; choose a part "
			  "with --time, or give --max-output=SIZE",
			  progress);
	else if (summary->unaccounted)
		diag_warn(diag, "bytes-unaccounted",
			  "decoded, skipped and lost bytes of trace do not add up to all bytes "
			  "(buffers: %" PRIu64 "); please report this bug",
			  summary->unaccounted);
	if (trace->bytes_missing)
		diag_warn(diag, "trace-missing",
			  "%" PRIu64 " bytes of trace are not in the file; copy it whole, or, if "
			  "perf was too slow, record with a larger buffer, -m,64M",
			  trace->bytes_missing);
	if (trace->unsynced || summary->bytes_unsynced)
		diag_warn(
			diag, "trace-without-psb",
			"the trace does not begin with a PSB, at which decoding can begin: %" PRIu64
			" bytes before %s are skipped%s",
			summary->bytes_unsynced,
			trace->unsynced ? "the first TIP.PGE with a whole address"
					: "the first PSB",
			trace->unsynced ? ", and times up to the first TSC are invented" : "");
	if (trace->writes_broken)
		diag_warn(diag, "ptwrite-broken",
			  "%" PRIu64
			  " values written by emulated ptwrite are incomplete, and not shown",
			  trace->writes_broken);
	if (trace->times_impossible)
		diag_warn(diag, "times-impossible",
			  "%" PRIu64 " impossible time%s in the trace: calls near %s can be early "
			  "or late; is the recording damaged?",
			  trace->times_impossible, trace->times_impossible == 1 ? "" : "s",
			  trace->times_impossible == 1 ? "it" : "them");
	if (summary->unknown_records)
		diag_warn(diag, "unknown-records", "%" PRIu64 " records of unknown types skipped",
			  summary->unknown_records);
}

/* Returns "12 us", in the largest unit with a value of 1 or more. */
static struct short_text duration_text(uint64_t ns)
{
	static const char *const units[] = { "ns", "us", "ms", "s" };
	double value = (double)ns;
	struct short_text text;
	size_t unit = 0;

	for (; value >= 1000 && unit < 3; unit++)
		value /= 1000;
	snprintf(text.text, sizeof(text.text), "%.3g %s", value, units[unit]);
	return text;
}

static void print_counts(const struct summary *summary, FILE *out)
{
	const struct pt_stream_stats *trace = &summary->trace;
	const struct {
		uint64_t count;
		const char *of;
	} others[] = {
		{ trace->bytes_repeated, "more that were recorded twice" },
		{ summary->bytes_left_out, "bytes excluded by the selection" },
		{ summary->slices_left_out, "slices outside of --from left out" },
		{ trace->guests, "runs of a guest's code not followed ([guest])" },
		{ summary->hits, "hits of breakpoints and probes" },
		{ summary->samples_left_out, "samples of other events left out" },
	};

	fprintf(out, "ptrace2ftf: %" PRIu64 " branches", summary->branches);
	if (summary->slices)
		fprintf(out, ", %" PRIu64 " slices", summary->slices);
	fprintf(out, " on %" PRIu64 " thread%s, %s", summary->threads,
		summary->threads == 1 ? "" : "s",
		duration_text(summary->last_time - summary->first_time).text);
	if (trace->bytes_total)
		fprintf(out, ", %" PRIu64 " bytes of trace", trace->bytes_total);
	if (trace->bytes_decoded != trace->bytes_total || trace->bytes_skipped || trace->bytes_lost)
		fprintf(out,
			" (%" PRIu64 " decoded, %" PRIu64 " before a PSB skipped, %" PRIu64
			" lost)",
			trace->bytes_decoded, trace->bytes_skipped, trace->bytes_lost);
	for (size_t i = 0; i < COUNT_OF(others); i++)
		if (others[i].count)
			fprintf(out, ", %" PRIu64 " %s", others[i].count, others[i].of);
}

void summary_print_fold(const struct summary *summary, FILE *out)
{
	uint64_t all = summary->slices + summary->fold.folded + summary->fold.left_out;
	uint64_t span = summary->last_time - summary->first_time, part;

	if (!summary->fold.folded && !summary->fold.left_out)
		return;
	fprintf(out, "  of %" PRIu64 " slices", all);
	if (summary->fold.folded) {
		fprintf(out, ", %" PRIu64 " short ones", summary->fold.folded);
		if (summary->fold.shortest != UINT64_MAX)
			fprintf(out, ", all below %s,", duration_text(summary->fold.shortest).text);
		fputs(" were folded into the enclosing slices", out);
	}
	if (summary->fold.left_out)
		fprintf(out,
			", %" PRIu64 " without an enclosing slice were dropped, with what was "
			"folded into them",
			summary->fold.left_out);
	fputs(", to fit into a browser (--fit)", out);
	if (summary->trace.bytes_total) {
		part = (uint64_t)((double)span * (double)summary->slices / (double)all);
		fprintf(out, "; a part in more detail: --time=" SECONDS_FORMAT "," SECONDS_FORMAT,
			SECONDS_OF(summary->first_time), SECONDS_OF(summary->first_time + part));
	}
	putc('\n', out);
}

void summary_add_doubts(struct summary *summary, const struct callstack_machine *machine)
{
	struct stack_doubts *doubts = &summary->doubts;

	*doubts = machine->doubts;
	if (doubts->uncertain_levels)
		doubts->first_uncertain =
			(int64_t)callstack_perf_time(machine, doubts->first_uncertain);
}

static void print_doubts(const struct summary *summary, FILE *out)
{
	const struct stack_doubts *doubts = &summary->doubts;

	if (doubts->uncertain_levels) {
		fprintf(out,
			"  %" PRIu64
			" %s the argument uncertain_level, the first at " SECONDS_FORMAT
			": the trace does not show their enclosing calls\n",
			doubts->uncertain_levels,
			doubts->uncertain_levels == 1 ? "slice has" : "slices have",
			SECONDS_OF((uint64_t)doubts->first_uncertain));
	}
	if (doubts->opaque_frames)
		fprintf(out,
			"  %" PRIu64 " call%s of code without bytes, first at 0x%" PRIx64
			": its callees are shown as far as packets reveal them\n",
			doubts->opaque_frames, doubts->opaque_frames == 1 ? "" : "s",
			doubts->opaque_ip);
	if (!summary->saved_code)
		return;
	fprintf(out,
		"  code generated at run time is decoded as it was last saved; %" PRIu64
		" function%s may have been other code before: code_changed",
		summary->changed_functions, summary->changed_functions == 1 ? "" : "s");
	if (summary->first_changed)
		printable_printf(out, ", the first is %s", summary->first_changed->text);
	putc('\n', out);
}

static void print_gaps(const struct summary *summary, FILE *out)
{
	for (int reason = 0; reason < GAP_REASONS; reason++) {
		uint64_t count = unreported_gaps(summary, reason);

		if (count)
			fprintf(out, "  %" PRIu64 " gap%s: %s\n", count, count == 1 ? "" : "s",
				gap_reason_facts((enum gap_reason)reason)->cause);
	}
}

static void print_verdict(const struct summary *summary, FILE *out)
{
	const struct pt_verdict *verdict = &summary->verdict;
	uint64_t rest = 0;

	if (!verdict->segments)
		return;
	for (size_t i = 0; i < VERIFY_STOPS; i++)
		rest += verdict->rest[i].fast;
	fprintf(out,
		"  %" PRIu64 " parts of the trace also decoded by libipt: %" PRIu64
		" differ; %" PRIu64 " branches are the same, times at most %" PRIu64
		" ns apart; %" PRIu64 " were not compared\n",
		verdict->segments, verdict->differences, verdict->branches, verdict->most_apart,
		rest);
}

static void print_nameless(const struct summary *summary, FILE *out)
{
	if (!summary->nameless)
		return;
	printable_printf(out,
			 "  no names in %u of %u files (--symfs, --debug-dir, --debuginfod): %s",
			 summary->nameless_files, summary->files, summary->nameless);
	fprintf(out, summary->nameless_files > NAMELESS_LISTED ? " and %u more\n" : "\n",
		summary->nameless_files - NAMELESS_LISTED);
}

/* "  the text lacks flags (kinds of branches are inferred), ...: print them with COMMAND" */
static void print_text_lacks(const struct summary *summary, FILE *out)
{
	const char *between = "  the text lacks";

	for (size_t i = 0; i < PERF_SCRIPT_LACKS; i++) {
		if (!(summary->text_lacks >> i & 1))
			continue;
		fprintf(out, "%s %s (%s)", between, perf_script_lacks[i].field,
			perf_script_lacks[i].effect);
		between = ",";
	}
	if (summary->text_lacks)
		fputs("; print it with " PERF_SCRIPT_COMMAND "\n", out);
}

void summary_print(const struct summary *summary, bool is_trace, bool of_several, FILE *out)
{
	print_counts(summary, out);
	if (of_several && summary->output_count == 1)
		printable_printf(out, ", in %s", summary->outputs[0]);
	putc('\n', out);
	if (!summary->branches && !summary->slices)
		fprintf(out, "  nothing was decoded%s\n",
			summary->trace.bytes_total || summary->bytes_left_out
				? "; see the warnings"
				: ": the input holds no trace; did the program run while it was "
				  "recorded?");
	print_text_lacks(summary, out);
	summary_print_fold(summary, out);
	if (summary->slices_truncated)
		fprintf(out,
			"  %" PRIu64
			" calls are deeper than --max-stack: their stacks are cut, and "
			"have " TRUNCATED_NAME "; --max-stack=none keeps all\n",
			summary->slices_truncated);
	if (summary->sources_left_out)
		fprintf(out,
			"  source files of libraries that are not here, and are left out: %" PRIu64
			"\n",
			summary->sources_left_out);
	print_gaps(summary, out);
	print_doubts(summary, out);
	print_verdict(summary, out);
	if (summary->times_estimated)
		fputs("  calls between two timing packets have estimated times; record with cyc=1 for "
		      "better ones\n",
		      out);
	if (of_several)
		return;
	print_nameless(summary, out);
	if (summary->debug_hint)
		printable_printf(out, "  %s\n", summary->debug_hint);
	fprintf(out, "  peak memory %.1f MiB", (double)summary_peak_memory() / (1 << 20));
	if (summary->output_count && strcmp(summary->outputs[0], "-") != 0) {
		bool opens = is_trace && summary->slices;

		printable_printf(out, "; %s %s%s", opens ? "open" : "wrote",
				 opens && summary->output_count > 1 ? "each of " : "",
				 summary->outputs[0]);
		if (summary->output_count > 1)
			fprintf(out, " and %zu more", summary->output_count - 1);
		if (opens)
			fputs(" at https://ui.perfetto.dev", out);
	}
	putc('\n', out);
	if (summary->top_functions)
		fputs(summary->top_functions, out);
}

/* ---- Perfetto ------------------------------------------------------------ */

/*
 * Memory of Perfetto v58.2's trace_processor in bytes: at start, per slice, per other event record,
 * and per byte of trace. Fitted to 18 traces of 0.6 to 8.2 million slices of seven programs, with
 * --args=none, line and full: within 6 % of each.  In v55.3 of 32 bits two others take, with
 * --args=none, loc, line and full, 10 % less to 6 % more.
 */
#define BYTES_START  39e6
#define BYTES_SLICE  161.0
#define BYTES_RECORD 129.0
#define BYTES_BYTE   2.775

void perfetto_memory_hint_print(uint64_t slices, uint64_t records, uint64_t bytes, FILE *out)
{
	double others = records > slices ? (double)(records - slices) : 0;
	double memory = BYTES_START + BYTES_SLICE * (double)slices + BYTES_RECORD * others +
			BYTES_BYTE * (double)bytes;

	if (slices <= FIT_DEFAULT)
		return;
	fprintf(out,
		"ptrace2ftf: %.1f M slices: about %.1f GB in Perfetto; --time, "
		"--min-duration, --split or --fit\n",
		(double)slices / 1e6, memory / 1e9);
}
