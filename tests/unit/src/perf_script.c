/* SPDX-License-Identifier: MIT */
#include <stdlib.h>
#include <string.h>

#include "src/callstack/magic_trace/callstack_magic_trace.h"
#include "src/perf_script/perf_script.h"
#include "tests/support/perf_script_calls.h"
#include "tests/support/unit.h"

static struct diag diag;
static char *printed;

/* Returns what --format=calls prints for the text. */
static const char *convert(const char *text, size_t length)
{
	FILE *in = fmemopen((void *)text, length, "r");
	struct error err = { 0 };
	size_t size;
	FILE *out;

	free(printed);
	out = open_memstream(&printed, &size);
	ck_assert_int_eq(perf_script_print_calls(in, out, callstack_magic_trace_open,
						 TRACE_MODE_GUESS, &diag, &err),
			 0);
	fclose(in);
	fclose(out);
	return printed;
}

static const char *convert_text(const char *text)
{
	return convert(text, strlen(text));
}

static void setup(void)
{
	diag_init(&diag);
}

static void teardown(void)
{
	diag_release(&diag);
	free(printed);
	printed = NULL;
}

START_TEST(a_line_is_echoed_unless_it_stays_in_its_function)
{
	ck_assert_str_eq(convert_text("1/1 1.000000000: jmp 10 f+0x1 => 20 f+0x2\n"
				      "1/1 1.000000010: call 20 f+0x2 => 30 g+0x0\n"),
			 "1/1 1.000000010: call 20 f+0x2 => 30 g+0x0\n"
			 "END\n"
			 "->      0ns BEGIN f [inferred start time]\n"
			 "->     10ns BEGIN g\n"
			 "->     10ns END   g\n"
			 "->     10ns END   f\n");
}
END_TEST

START_TEST(an_unknown_line_is_counted_and_skipped)
{
	ck_assert_str_eq(convert_text("what is this\n1/1 1.0: vanish 10 f+0x1 => 20 g+0x0\n"),
			 "END\n");
	ck_assert_uint_eq(diag_kinds(&diag), 1);
	ck_assert_uint_eq(diag.first->count, 2);
}
END_TEST

START_TEST(a_line_that_is_too_long_is_skipped_and_the_next_one_is_not)
{
	const char *next = "\n1/1 1.0: call 10 f+0x1 => 20 g+0x0";
	size_t length = 3 << 20;
	char *text = malloc(length + strlen(next));

	memset(text, 'x', length);
	memcpy(text + length, next, strlen(next));
	convert(text, length + strlen(next));
	ck_assert_ptr_nonnull(strstr(printed, "\n->      0ns END   g\n"));
	ck_assert_uint_eq(diag.first->count, 1);
	free(text);
}
END_TEST

START_TEST(bytes_that_are_no_text_are_skipped)
{
	convert("1/1 1.0: call \0 10\n\xff\xfe\0\n", 23);
	ck_assert_str_eq(printed, "END\n");
	ck_assert_uint_eq(diag.first->count, 2);
}
END_TEST

START_TEST(an_unnamed_place_in_a_file_is_named_after_its_signed_address)
{
	convert_text("1/1 1.000: call 10 f+0x1 (a) => 20 [unknown] (b)\n"
		     "1/1 1.001: jmp 20 [unknown] (b) => 28 [unknown] (b)\n"
		     "1/1 1.002: call 28 [unknown] (b) => fffffffffffffff0 [unknown] ([k])\n"
		     "1/1 1.003: call 10 f+0x1 (a) => 30 g+0x0 (a)\n");
	ck_assert_ptr_nonnull(strstr(printed, "->      1ms BEGIN [unknown @ 0x28 (b)]\n"));
	ck_assert_ptr_nonnull(strstr(printed, "->      2ms BEGIN [unknown @ -0x10 ([k])]\n"));
	ck_assert_ptr_nonnull(strstr(printed, "\nINPUT TRACE STREAM ENDED, any lines printed "
					      "below this were deferred\n"));
}
END_TEST

START_TEST(samples_move_time_and_leave_stacks_alone)
{
	ck_assert_str_eq(
		convert_text("1/1 1.000000000: 50 branch-misses/period=50/u: 0 10 f+0x1 (a)\n"
			     "1/1 1.000000001: 1 psb: psb offs: 0x4be8 0 10 f+0x1 (a)\n"
			     "1/1 1.000000010: 1 branches:u: call 10 f+0x1 (a) => 20 g+0x0 (a)\n"
			     "1/1 1.000000030: 50 cache-misses/period=50/u: 0 10 f+0x1 (a)\n"),
		"1/1 1.000000000: 50 branch-misses/period=50/u: 0 10 f+0x1 (a)\n"
		"1/1 1.000000010: 1 branches:u: call 10 f+0x1 (a) => 20 g+0x0 (a)\n"
		"1/1 1.000000030: 50 cache-misses/period=50/u: 0 10 f+0x1 (a)\n"
		"INPUT TRACE STREAM ENDED, any lines printed below this were deferred\n"
		"->     10ns BEGIN g\n"
		"->     30ns END   g\n");
}
END_TEST

/* As perf --no-demangle prints them, and with operators of OCaml that perf has demangled. */
START_TEST(mangled_names_are_demangled_and_others_stay)
{
	convert_text("1/1 0.9: call 10 f+0x0 => 10 _ZN1a1BIiE3runEv+0x0\n"
		     "1/1 1.0: call 10 _ZN1a1BIiE3runEv+0x1 => 20 _ZN1aD1Ev@plt+0x0\n"
		     "1/1 1.1: call 20 _ZN1aD1Ev@plt+0x0 => 30 camlStdlib__$40_139+0x0\n"
		     "1/1 1.2: call 30 camlStdlib__$40_139+0x0 => 40 Stdlib.@_140+0x0\n"
		     "1/1 1.3: call 40 Stdlib.@_140+0x0 => 50 [unknown] (a@b)\n"
		     "1/1 1.4: call 50 [unknown] (a@b) => 60 main.cold+0x0\n");
	ck_assert_ptr_nonnull(strstr(printed, " BEGIN a::B<int>::run\n"));
	ck_assert_ptr_nonnull(strstr(printed, " BEGIN a::~a@plt\n"));
	ck_assert_ptr_nonnull(strstr(printed, " BEGIN Stdlib.@_139\n"));
	ck_assert_ptr_nonnull(strstr(printed, " BEGIN Stdlib.@_140\n"));
	ck_assert_ptr_nonnull(strstr(printed, " BEGIN [unknown @ 0x50 (a@b)]\n"));
	ck_assert_ptr_nonnull(strstr(printed, " BEGIN main.cold\n"));
	/* The lines are shown as they are. */
	ck_assert_ptr_nonnull(strstr(printed, "call 10 _ZN1a1BIiE3runEv+0x1"));
}
END_TEST

START_TEST(threads_end_in_the_order_of_their_appearance)
{
	convert_text("2/2 1.000000000: jmp 10 e+0x1 => 20 e+0x0\n"
		     "2/2 1.000000010: call 10 f+0x1 => 20 a+0x0\n"
		     "1/1 1.000000010: call 10 f+0x1 => 20 b+0x0\n"
		     "2/3 1.000000010: call 10 f+0x1 => 20 c+0x0\n"
		     "1/1 1.000000012: jmp 20 b+0x0 => 21 b+0x1\n");
	ck_assert_ptr_nonnull(strstr(printed, "END\n"
					      "->      0ns BEGIN e [inferred start time]\n"
					      "->     10ns BEGIN a\n"
					      "->     10ns END   a\n"
					      "->     10ns END   e\n"
					      "->     11ns BEGIN b\n"
					      "->     12ns END   b\n"));
}
END_TEST

START_TEST(a_stream_that_cannot_be_read_is_an_error)
{
	FILE *in = fopen("/", "r");
	FILE *out = tmpfile();
	struct error err = { 0 };

	ck_assert_ptr_nonnull(in);
	ck_assert_int_eq(perf_script_print_calls(in, out, callstack_magic_trace_open,
						 TRACE_MODE_USER, NULL, &err),
			 -1);
	ck_assert_int_eq(err.kind, ERROR_SYSTEM);
	fclose(in);
	fclose(out);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("perf_script");
	TCase *all = tcase_create("perf_script");

	tcase_add_checked_fixture(all, setup, teardown);
	tcase_add_test(all, a_line_is_echoed_unless_it_stays_in_its_function);
	tcase_add_test(all, an_unknown_line_is_counted_and_skipped);
	tcase_add_test(all, a_line_that_is_too_long_is_skipped_and_the_next_one_is_not);
	tcase_add_test(all, bytes_that_are_no_text_are_skipped);
	tcase_add_test(all, an_unnamed_place_in_a_file_is_named_after_its_signed_address);
	tcase_add_test(all, samples_move_time_and_leave_stacks_alone);
	tcase_add_test(all, mangled_names_are_demangled_and_others_stay);
	tcase_add_test(all, threads_end_in_the_order_of_their_appearance);
	tcase_add_test(all, a_stream_that_cannot_be_read_is_an_error);
	suite_add_tcase(suite, all);
	return unit_run(suite);
}
