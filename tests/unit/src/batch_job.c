/* SPDX-License-Identifier: MIT */
/* Reports of an ended process, ptrace2ftf(1), BATCHES. */
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "src/batch/batch.h"
#include "tests/support/unit.h"

/* The wait(2) status of a process that exited with this status. */
#define EXITED(status) ((status) << 8)

static const char *const inputs[] = { "a.data" };
static const struct batch_job job = { .inputs = (char **)inputs, .input_count = 1 };

/* A process that printed one text and reported another. */
static struct batch_end end_of(const char *printed, const char *report, int status)
{
	struct batch_process process = { .pid = 1, .job = &job };
	struct batch_end end = { 0 };

	process.messages = memfd_create("messages", MFD_CLOEXEC);
	process.report = memfd_create("report", MFD_CLOEXEC);
	ck_assert_int_eq(write(process.messages, printed, strlen(printed)),
			 (ssize_t)strlen(printed));
	ck_assert_int_eq(write(process.report, report, strlen(report)), (ssize_t)strlen(report));
	batch_process_finish(&process, status, &end);
	ck_assert_int_eq(process.pid, 0);
	return end;
}

static void expect_error(struct batch_end end, const char *error)
{
	ck_assert_int_eq(end.status, EXIT_FAILED);
	ck_assert_str_eq(json_string_value(json_object_get(end.report, "error")), error);
	json_decref(end.report);
}

START_TEST(without_a_report_the_last_message_is_the_error)
{
	expect_error(end_of("ptrace2ftf: first\nptrace2ftf: no memory\n", "", EXITED(1)),
		     "no memory");
	expect_error(end_of("", "", EXITED(1)), "failed without a message");
}
END_TEST

START_TEST(an_error_of_the_report_comes_before_the_last_message)
{
	expect_error(end_of("ptrace2ftf: printed\n", "{\"error\":\"reported\"}", EXITED(1)),
		     "reported");
}
END_TEST

START_TEST(an_exit_status_of_none_of_ours_is_a_failure)
{
	expect_error(end_of("", "", EXITED(EXIT_USAGE)), "failed without a message");
	expect_error(end_of("", "", EXITED(EXIT_INTERRUPTED)), "failed without a message");
}
END_TEST

START_TEST(a_process_without_a_whole_report_has_failed)
{
	expect_error(end_of("", "", EXITED(0)), "a.data: its process wrote no report");
	expect_error(end_of("", "{\"branches\":7", EXITED(2)),
		     "a.data: its process wrote no report");
}
END_TEST

START_TEST(gaps_are_no_failure)
{
	struct batch_end end = end_of("ptrace2ftf: warning\n", "{\"branches\":7}", EXITED(2));

	ck_assert_int_eq(end.status, EXIT_WITH_GAPS);
	ck_assert_ptr_null(json_object_get(end.report, "error"));
	ck_assert_int_eq(json_integer_value(json_object_get(end.report, "branches")), 7);
	json_decref(end.report);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("batch_job");
	TCase *c = tcase_create("batch_job");

	tcase_add_test(c, without_a_report_the_last_message_is_the_error);
	tcase_add_test(c, an_error_of_the_report_comes_before_the_last_message);
	tcase_add_test(c, an_exit_status_of_none_of_ours_is_a_failure);
	tcase_add_test(c, a_process_without_a_whole_report_has_failed);
	tcase_add_test(c, gaps_are_no_failure);
	suite_add_tcase(suite, c);
	return unit_run(suite);
}
