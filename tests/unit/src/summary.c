/* SPDX-License-Identifier: MIT */
/* A run's last lines and its warnings, from handmade counts. */
#include "src/report/summary.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "src/report/progress.h"
#include "tests/support/unit.h"

static struct summary summary;
static struct diag diag;
static char printed[4096];

static void setup(void)
{
	summary = (struct summary){ .branches = 5, .slices = 2, .threads = 1 };
	diag_init(&diag);
}

static void teardown(void)
{
	summary_release(&summary);
	summary_release(&summary);
	diag_release(&diag);
}

static bool prints(const char *text, bool is_trace)
{
	FILE *out = fmemopen(printed, sizeof(printed), "w");

	summary_print(&summary, is_trace, false, out);
	fclose(out);
	return strstr(printed, text) != NULL;
}

static void expect_print(const char *text)
{
	ck_assert_msg(prints(text, true), "%s", printed);
}

static bool warns(const char *kind, const char *text)
{
	diag_release(&diag);
	diag_init(&diag);
	summary_warn(&summary, &diag);
	for (const struct diag_line *line = diag.first; line; line = line->next)
		if (strcmp(line->kind, kind) == 0 && strstr(line->text, text))
			return true;
	return false;
}

START_TEST(three_files_without_names_are_named_and_more_are_counted)
{
	static const char *const paths[] = { "/a", "/b", "/c", "/d", "/e" };

	summary_add_file(&summary, "/named", true);
	for (size_t i = 0; i < 3; i++)
		summary_add_file(&summary, paths[i], false);
	expect_print("no names in 3 of 4 files (--symfs, --debug-dir, --debuginfod): /a, /b, /c\n");
	for (size_t i = 3; i < 5; i++)
		summary_add_file(&summary, paths[i], false);
	expect_print(
		"no names in 5 of 6 files (--symfs, --debug-dir, --debuginfod): /a, /b, /c and 2 more\n");
}
END_TEST

START_TEST(gaps_are_counted_and_unrecorded_code_is_none)
{
	const struct pt_stream_stats cut = { .bytes_missing = 7 }, stats = {
		.bytes_total = 10,
		.bytes_decoded = 10,
		.gaps = { [GAP_OVERFLOW] = 1, [GAP_LOST] = 2, [GAP_NOT_RECORDED] = 3 }
	};

	summary_add_stream(&summary, &stats);
	expect_print("  1 gap: the CPU dropped packets");
	expect_print("  2 gaps: perf could not keep up");
	ck_assert(!prints("  3 gap", true));
	ck_assert(warns("gaps", "Overflow packet: 1, "));
	ck_assert(!warns("gaps", ": 3"));
	/* Each AUX record of a loss has its warning. */
	summary.losses_reported = 1;
	expect_print("  1 gap: perf could not keep up");
	ck_assert(warns("gaps", "Lost trace data: 1)"));
	summary.losses_reported = 3;
	ck_assert(!prints("perf could not keep up", true));
	summary.losses_reported = 0;
	summary_add_stream(&summary, &cut);
	ck_assert(!prints("perf could not keep up", true));
	ck_assert(!warns("gaps", "Lost trace data"));
	ck_assert(warns("trace-missing", "7 bytes of trace are not in the file; copy it"));
}
END_TEST

START_TEST(bytes_that_do_not_add_up_are_a_warning_unless_interrupted)
{
	const struct pt_stream_stats whole = {
		.bytes_total = 10, .bytes_decoded = 7, .bytes_skipped = 1, .bytes_lost = 2
	};
	const struct pt_stream_stats wrong = { .bytes_total = 10, .bytes_decoded = 7 };

	summary_add_stream(&summary, &whole);
	ck_assert(!warns("bytes-unaccounted", ""));
	summary_add_stream(&summary, &wrong);
	ck_assert(warns("bytes-unaccounted", "(buffers: 1)"));
	expect_print("20 bytes of trace (14 decoded, 1 before a PSB skipped, 2 lost)");
	summary.interrupted = true;
	ck_assert(!warns("bytes-unaccounted", ""));
	ck_assert(warns("interrupted", "after 85.0% of the trace"));
}
END_TEST

START_TEST(a_trace_without_a_psb_is_a_warning)
{
	const struct pt_stream_stats stats = { .unsynced = 1 };

	ck_assert(!warns("trace-without-psb", ""));
	summary.bytes_unsynced = 23;
	ck_assert(warns("trace-without-psb", "23 bytes before the first PSB are skipped"));
	summary_add_stream(&summary, &stats);
	ck_assert(warns("trace-without-psb", "23 bytes before the first TIP.PGE"));
	summary.bytes_unsynced = 0;
	ck_assert(warns("trace-without-psb", "times up to the first TSC are invented"));
}
END_TEST

START_TEST(missing_repeated_and_unknown_parts_are_reported)
{
	const struct pt_stream_stats stats = { .bytes_repeated = 12,
					       .bytes_missing = 34,
					       .writes_broken = 56,
					       .times_impossible = 67 };

	summary_add_stream(&summary, &stats);
	summary.unknown_records = 78;
	summary.bytes_left_out = 90;
	expect_print(", 12 more that were recorded twice");
	expect_print(", 90 bytes excluded by the selection");
	ck_assert(warns("trace-missing", "34 bytes of trace are not in the file"));
	ck_assert(warns("ptwrite-broken", "56 values"));
	ck_assert(warns("unknown-records", "78 records"));
	ck_assert(warns("times-impossible", "67 impossible times"));
}
END_TEST

START_TEST(a_trace_comes_with_how_to_open_it)
{
	summary_add_output(&summary, "a.ftf");
	expect_print("; open a.ftf at https://ui.perfetto.dev\n");
	ck_assert(!prints("; open", false));
	summary_add_output(&summary, "b.ftf");
	summary_add_output(&summary, "c.ftf");
	expect_print("; open each of a.ftf and 2 more at https://ui.perfetto.dev\n");
	summary.slices = 0;
	ck_assert(!prints("; open", true));
}
END_TEST

START_TEST(nothing_has_a_reason)
{
	summary = (struct summary){ 0 };
	expect_print("nothing was decoded: the input holds no trace");
	summary.bytes_left_out = 1;
	expect_print("nothing was decoded; see the warnings");
}
END_TEST

/* The event's index counts from 0, the message from 1. */
START_TEST(engines_that_differ_are_a_warning_with_the_place)
{
	struct pt_verdict verdict = { .segments = 9, .branches = 1000, .most_apart = 77 };

	summary_set_verdict(&summary, &verdict, &diag);
	ck_assert_uint_eq(diag_kinds(&diag), 0);
	expect_print(
		"9 parts of the trace also decoded by libipt: 0 differ; 1000 branches are the same, "
		"times at most 77 ns apart; 0 were not compared");
	/* The ends of parts are no news. */
	verdict.rest[VERIFY_END].fast = 40;
	summary_set_verdict(&summary, &verdict, &diag);
	ck_assert_uint_eq(diag_kinds(&diag), 0);
	expect_print("; 40 were not compared");
	verdict.apart = 3;
	verdict.differences = 2;
	verdict.file_offset = 4096;
	verdict.index = 6;
	summary_set_verdict(&summary, &verdict, &diag);
	ck_assert_uint_eq(diag_kinds(&diag), 2);
	ck_assert_ptr_nonnull(strstr(diag.first->text, "3 of 1000 branches"));
	ck_assert_ptr_nonnull(strstr(diag.first->next->text, "2 of 9 parts"));
	ck_assert_ptr_nonnull(
		strstr(diag.first->next->text, "PSB at offset 4096 of the file, branch 7: "));
}
END_TEST

START_TEST(branches_that_libipt_lost_are_a_warning_with_the_reasons)
{
	struct pt_verdict verdict = { .segments = 9, .branches = 1000 };

	verdict.rest[VERIFY_END].fast = 40;
	verdict.rest[VERIFY_FILTER].fast = 200;
	verdict.rest[VERIFY_FILTER].libipt = 30;
	verdict.rest[VERIFY_DAMAGE].libipt = 7;
	summary_set_verdict(&summary, &verdict, &diag);
	ck_assert_uint_eq(diag_kinds(&diag), 1);
	ck_assert_str_eq(
		diag.first->text,
		"cannot compare 200 of 1240 branches with libipt, which finds 37 instead: "
		"200 after a branch out of an address filter, 0 after damage in both engines");
	expect_print("; 240 were not compared");
}
END_TEST

/* ---- Progress ---------------------------------------------------------------- */

/* After ten seconds, without a terminal: 79 columns. The rest takes as long for each byte. */
static const struct {
	uint64_t done, total; /* MiB */
	const char *expected;
} bars[] = {
	{ 10, 20,
	  "\r\033[K[####################                    ]  50%, 7 slices, 1.0 MiB/s, 10 s left" },
	{ 10, 1000, " 7 slices, 1.0 MiB/s, 16:3" },
	{ 5, 3755, " 0%, 7 slices, 0.5 MiB/s, 2:05 h left" },
	{ 20, 20, "####] 100%, 7 slices, 2.0 MiB/s, 0 s left" },
	{ 0, 20, "" },
	{ 21, 20, "" },
};

static const char *drawn_by(const struct progress *begun, uint64_t done, uint64_t total, bool end)
{
	struct progress progress = *begun;
	FILE *saved = stderr;

	memset(printed, 0, sizeof(printed));
	stderr = fmemopen(printed, sizeof(printed), "w");
	progress_show(&progress, done << 20, total << 20, 7);
	if (end)
		progress_end(&progress);
	fclose(stderr);
	stderr = saved;
	return printed;
}

START_TEST(progress_is_shown_with_the_time_that_is_left)
{
	const struct progress late = { .enabled = true,
				       .begin_ns = progress_now() - 10 * NS_PER_S };

	if (isatty(STDERR_FILENO))
		return; /* of any width */
	drawn_by(&late, bars[_i].done, bars[_i].total, false);
	ck_assert_msg(*bars[_i].expected ? strstr(printed, bars[_i].expected) != NULL : !*printed,
		      "%s", printed);
}
END_TEST

START_TEST(progress_waits_and_is_erased)
{
	struct progress progress = { .enabled = true, .begin_ns = progress_now() };

	ck_assert_str_eq(drawn_by(&progress, 10, 20, true), "");
	progress.begin_ns -= 10 * NS_PER_S;
	progress.drawn_ns = progress_now();
	ck_assert_str_eq(drawn_by(&progress, 10, 20, true), "");
	progress.drawn_ns -= NS_PER_S;
	drawn_by(&progress, 10, 20, true);
	ck_assert_str_eq(printed + strlen(printed) - 4, "\r\033[K");
	ck_assert(progress_due(&progress, PROGRESS_EVENTS));
	ck_assert(!progress_due(&progress, PROGRESS_EVENTS - 1));
	ck_assert(progress_due(&progress, 1));
	progress.enabled = false;
	ck_assert(!progress_due(&progress, PROGRESS_EVENTS));
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("summary");
	TCase *all = tcase_create("summary");

	tcase_add_checked_fixture(all, setup, teardown);
	tcase_add_test(all, three_files_without_names_are_named_and_more_are_counted);
	tcase_add_test(all, gaps_are_counted_and_unrecorded_code_is_none);
	tcase_add_test(all, bytes_that_do_not_add_up_are_a_warning_unless_interrupted);
	tcase_add_test(all, missing_repeated_and_unknown_parts_are_reported);
	tcase_add_test(all, a_trace_without_a_psb_is_a_warning);
	tcase_add_test(all, a_trace_comes_with_how_to_open_it);
	tcase_add_test(all, nothing_has_a_reason);
	tcase_add_test(all, engines_that_differ_are_a_warning_with_the_place);
	tcase_add_test(all, branches_that_libipt_lost_are_a_warning_with_the_reasons);
	tcase_add_loop_test(all, progress_is_shown_with_the_time_that_is_left, 0, COUNT_OF(bars));
	tcase_add_test(all, progress_waits_and_is_erased);
	suite_add_tcase(suite, all);
	return unit_run(suite);
}
