/* SPDX-License-Identifier: MIT */
/* What is told of a process that has ended, ptrace2ftf(1), BATCHES. */
#include <check.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "src/batch/batch_job.h"
#include "tests/support/unit.h"

static const char *const inputs[] = { "a.data" };
static const struct batch_job job = { .inputs = (char **)inputs, .input_count = 1 };

/* A process that printed one text and told another. */
static struct batch_end end_of(const char *printed, const char *told, int status)
{
	struct batch_process process = { .pid = 1, .job = &job };
	struct batch_end end = { 0 };

	process.messages = memfd_create("messages", MFD_CLOEXEC);
	process.told = memfd_create("told", MFD_CLOEXEC);
	ck_assert_int_eq(write(process.messages, printed, strlen(printed)),
			 (ssize_t)strlen(printed));
	ck_assert_int_eq(write(process.told, told, strlen(told)), (ssize_t)strlen(told));
	batch_process_finish(&process, status, &end);
	ck_assert_int_eq(process.pid, 0);
	return end;
}

static void expect_error(struct batch_end end, const char *error)
{
	ck_assert_int_eq(end.status, EXIT_FAILED);
	ck_assert_str_eq(json_string_value(json_object_get(end.told, "error")), error);
	json_decref((json_t *)end.told);
}

START_TEST(a_process_that_told_no_cause_failed_for_what_it_printed_last)
{
	expect_error(end_of("ptrace2ftf: first\nptrace2ftf: no memory\n", "", W_EXITCODE(1, 0)),
		     "no memory");
	expect_error(end_of("", "", W_EXITCODE(1, 0)), "failed without a message");
}
END_TEST

START_TEST(the_cause_that_it_told_counts_more)
{
	expect_error(end_of("ptrace2ftf: printed\n", "{\"error\":\"told\"}", W_EXITCODE(1, 0)),
		     "told");
}
END_TEST

START_TEST(an_exit_status_of_none_of_ours_is_a_failure)
{
	expect_error(end_of("", "", W_EXITCODE(EXIT_USAGE, 0)), "failed without a message");
	expect_error(end_of("", "", W_EXITCODE(EXIT_INTERRUPTED, 0)), "failed without a message");
}
END_TEST

START_TEST(gaps_are_no_failure)
{
	struct batch_end end =
		end_of("ptrace2ftf: warning\n", "{\"branches\":7}", W_EXITCODE(2, 0));

	ck_assert_int_eq(end.status, EXIT_WITH_GAPS);
	ck_assert_ptr_null(json_object_get(end.told, "error"));
	ck_assert_int_eq(json_integer_value(json_object_get(end.told, "branches")), 7);
	json_decref((json_t *)end.told);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("batch_job");
	TCase *c = tcase_create("batch_job");

	tcase_add_test(c, a_process_that_told_no_cause_failed_for_what_it_printed_last);
	tcase_add_test(c, the_cause_that_it_told_counts_more);
	tcase_add_test(c, an_exit_status_of_none_of_ours_is_a_failure);
	tcase_add_test(c, gaps_are_no_failure);
	suite_add_tcase(suite, c);
	return unit_run(suite);
}
