/* SPDX-License-Identifier: MIT */
/*
 * The forms of a line, from perf's own output and from the formats in
 * tools/perf/builtin-script.c and util/auxtrace.c.
 */
#include <stdlib.h>
#include <string.h>

#include "decoder/branch_event.h"
#include "src/perf_script/perf_script_line.h"
#include "tests/support/unit.h"

#define ON  BRANCH_TRACE_ON
#define OFF BRANCH_TRACE_OFF

struct form {
	const char *text;
	enum perf_line_kind kind;
	enum branch_kind branch;
	unsigned flags;
};

static const struct form forms[] = {
	{ "1/1 2.5: call 10 f+0x1 => 20 g+0x0", PERF_LINE_BRANCH, BRANCH_CALL, 0 },
	{ "1/1 2.5: return 10 f+0x1 => 20 g+0x0", PERF_LINE_BRANCH, BRANCH_RETURN, 0 },
	{ "1/1 2.5: jmp 10 f+0x1 => 20 g+0x0", PERF_LINE_BRANCH, BRANCH_JUMP, 0 },
	{ "1/1 2.5: jcc 10 f+0x1 => 20 g+0x0", PERF_LINE_BRANCH, BRANCH_COND, 0 },
	{ "1/1 2.5: syscall 10 f+0x1 => 20 g+0x0", PERF_LINE_BRANCH, BRANCH_SYSCALL, 0 },
	{ "1/1 2.5: sysret 10 f+0x1 => 20 g+0x0", PERF_LINE_BRANCH, BRANCH_SYSRET, 0 },
	{ "1/1 2.5: int 10 f+0x1 => 20 g+0x0", PERF_LINE_BRANCH, BRANCH_SOFTINT, 0 },
	{ "1/1 2.5: iret 10 f+0x1 => 20 g+0x0", PERF_LINE_BRANCH, BRANCH_IRET, 0 },
	{ "1/1 2.5: hw int 10 f+0x1 => 20 g+0x0", PERF_LINE_BRANCH, BRANCH_INTERRUPT, 0 },
	{ "1/1 2.5: tx abrt 10 f+0x1 => 20 g+0x0", PERF_LINE_BRANCH, BRANCH_TX_ABORT, 0 },
	{ "1/1 2.5: tr strt 0 [unknown] => 20 g+0x0", PERF_LINE_BRANCH, BRANCH_NONE, ON },
	{ "1/1 2.5: tr strt jmp 0 [unknown] => 20 g+0x0", PERF_LINE_BRANCH, BRANCH_NONE, ON },
	{ "1/1 2.5: tr end 10 f+0x1 => 0 [unknown]", PERF_LINE_BRANCH, BRANCH_NONE, OFF },
	{ "1/1 2.5: tr end  async 10 f+0x1 => 0 [unknown]", PERF_LINE_BRANCH, BRANCH_NONE,
	  OFF | BRANCH_ASYNC },
	{ "1/1 2.5: tr end  call 10 f+0x1 => 0 [unknown]", PERF_LINE_BRANCH, BRANCH_CALL, OFF },
	{ "1/1 2.5: tr end  syscall 10 f+0x1 => 0 [unknown]", PERF_LINE_BRANCH, BRANCH_SYSCALL,
	  OFF },
	{ "1/1 2.5: tr end  hw int 10 f+0x1 => 0 [unknown]", PERF_LINE_BRANCH, BRANCH_INTERRUPT,
	  OFF },
	{ "1/1 2.5: tr strt tr end 0 [unknown] => 20 [unknown]", PERF_LINE_BRANCH, BRANCH_NONE,
	  ON | OFF },
	{ "1/1 2.5: call (x) 10 f+0x1 => 20 g+0x0", PERF_LINE_BRANCH, BRANCH_CALL, BRANCH_IN_TX },
	{ "1/1 2.5: call (Dt) 10 f+0x1 => 20 g+0x0", PERF_LINE_BRANCH, BRANCH_CALL, 0 },
	{ "1/1 2.5: jcc/miss/ 10 f+0x1 => 20 g+0x0", PERF_LINE_BRANCH, BRANCH_COND, 0 },
	{ "1/1 2.5: branches:uH: call 10 f+0x1 => 20 g+0x0", PERF_LINE_BRANCH, BRANCH_CALL, 0 },
	{ "1/1 2.5: 1 branches:uH: call 10 f+0x1 => 20 g+0x0", PERF_LINE_BRANCH, BRANCH_CALL, 0 },
	{ "1/1 2.5: 1 branches: tr strt 0 [unknown] (a) => 20 g+0x0 (b)", PERF_LINE_BRANCH,
	  BRANCH_NONE, ON },
	{ "1/1 2.5: 1 call 10 f+0x1 => 20 g+0x0", PERF_LINE_BRANCH, BRANCH_CALL, 0 },
	{ "a b/2  1/1 [003] 2.5: call 10 f+0x1 => 20 g+0x0", PERF_LINE_BRANCH, BRANCH_CALL, 0 },
	{ "1/1 2.5: call 10 f+0x1 => 20 g+0x0\r", PERF_LINE_BRANCH, BRANCH_CALL, 0 },
	{ "1/1 2.5: 50 branch-misses/period=50/u: 0 10 f+0x37 (/a.so)", PERF_LINE_SAMPLE, 0, 0 },
	{ "1/1 2.5: 555555 cycles:u:", PERF_LINE_SAMPLE, 0, 0 },
	{ "1/1 2.5: 1 cbr: cbr: 46 freq: 4606 MHz (159%) 0 0 [unknown] ([unknown])",
	  PERF_LINE_SAMPLE, 0, 0 },
	{ "1/1 2.5: 1 cbr: syscall cbr:  8 freq:  801 MHz ( 28%) 0 1 f+0x16 (/c.so)",
	  PERF_LINE_SAMPLE, 0, 0 },
	{ "1/1 2.5: cbr: 46 freq: 4606 MHz (159%) 0 0 [unknown]", PERF_LINE_SAMPLE, 0, 0 },
	{ "1/1 2.5: 1 ptwrite: call IP: 0 payload: 0x1b5 0 1 [unknown] (a)", PERF_LINE_PTWRITE, 0,
	  0 },
	{ "1/1 2.5: 1 psb: psb offs: 0x4be8 0 7f f+0x50 (/l.so)", PERF_LINE_IGNORED, 0, 0 },
	{ "1/1 2.5: 0 0 [unknown]", PERF_LINE_IGNORED, 0, 0 },
	{ "\t7f9bd48c1d80 f+0x0 (/l.so)", PERF_LINE_IGNORED, 0, 0 },
	{ "", PERF_LINE_BLANK, 0, 0 },
	{ " \t \r", PERF_LINE_BLANK, 0, 0 },
	{ " instruction trace error type 1 cpu -1 pid 1 tid 1 ip 0 code 8: Lost", PERF_LINE_ERROR,
	  0, 0 },
	{ " instruction trace error type 1 cpu -1 pid 1 tid 1 ip 0", PERF_LINE_UNKNOWN, 0, 0 },
	{ "1/1 2.5: wobble 10 f+0x1 => 20 g+0x0", PERF_LINE_UNKNOWN, 0, 0 },
	{ "1/1 2.5: call 10 f+0x1 =>", PERF_LINE_UNKNOWN, 0, 0 },
	{ "1/1 2.5: call f => g", PERF_LINE_UNKNOWN, 0, 0 },
	{ "1/1 99999999999999999999.5: call 10 f+0x1 => 20 g+0x0", PERF_LINE_UNKNOWN, 0, 0 },
	{ "1/1 2: call 10 f+0x1 => 20 g+0x0", PERF_LINE_UNKNOWN, 0, 0 },
	{ "# a comment", PERF_LINE_UNKNOWN, 0, 0 },
	{ "/ : =>", PERF_LINE_UNKNOWN, 0, 0 },
};

static struct perf_line parse(const char *text)
{
	struct perf_line line;

	perf_line_parse(&line, text, strlen(text));
	return line;
}

static void assert_view(struct text_view view, const char *text)
{
	ck_assert_uint_eq(view.length, strlen(text));
	ck_assert(!view.length || !memcmp(view.at, text, view.length));
}

START_TEST(every_form_of_a_line_is_known)
{
	for (size_t i = 0; i < sizeof(forms) / sizeof(forms[0]); i++) {
		const struct form *form = &forms[i];
		struct perf_line line = parse(form->text);

		ck_assert_msg(line.kind == form->kind, "kind %d: %s", line.kind, form->text);
		if (form->kind != PERF_LINE_BRANCH)
			continue;
		ck_assert_msg(line.branch == form->branch, "branch %d: %s", line.branch,
			      form->text);
		ck_assert_msg(line.flags == form->flags, "flags %d: %s", line.flags, form->text);
		ck_assert_msg(line.to.ip == 0x20 || line.flags & OFF, "%s", form->text);
		ck_assert_msg(line.pid == 1 && line.tid == 1, "%s", form->text);
		ck_assert_uint_eq(line.time, 2500000000);
	}
}
END_TEST

START_TEST(a_branch_line_gives_thread_time_and_places)
{
	struct perf_line line = parse("293415/293416 47170.086912824:   call      40b06c "
				      "a::b<c, d>::e+0x51c =>     7ffff7327730 m+0x0");

	ck_assert_int_eq(line.pid, 293415);
	ck_assert_int_eq(line.tid, 293416);
	ck_assert(line.has_time);
	ck_assert_uint_eq(line.time, UINT64_C(47170086912824));
	ck_assert_uint_eq(line.from.ip, 0x40b06c);
	ck_assert_uint_eq(line.from.offset, 0x51c);
	ck_assert(!line.from.has_dso);
	assert_view(line.from.symbol, "a::b<c, d>::e");
	ck_assert_uint_eq(line.to.ip, UINT64_C(0x7ffff7327730));
	assert_view(line.to.symbol, "m");
}
END_TEST

START_TEST(a_dso_column_is_not_part_of_the_symbol)
{
	struct perf_line line = parse("1/1 2.5: 1 branches:u: call 10 f(int)+0x1 (a b (deleted)) "
				      "=> 20 [unknown] (/lib/m.so)");

	assert_view(line.from.symbol, "f(int)");
	assert_view(line.from.dso, "a b (deleted)");
	ck_assert_uint_eq(line.from.offset, 1);
	assert_view(line.to.symbol, "");
	assert_view(line.to.dso, "/lib/m.so");
	ck_assert(line.to.has_dso);
}
END_TEST

START_TEST(a_symbol_may_contain_an_arrow_and_parentheses)
{
	struct perf_line line =
		parse("1/1 2.5: call 10 x => +0xb (a.so) => 20 operator=> 5 (y)+0x0");

	assert_view(line.from.symbol, "x => ");
	assert_view(line.from.dso, "a.so");
	ck_assert_uint_eq(line.to.ip, 0x20);
	assert_view(line.to.symbol, "operator=> 5 (y)");
	ck_assert(!line.to.has_dso);
}
END_TEST

START_TEST(a_garbage_offset_is_taken_as_it_is)
{
	struct perf_line line =
		parse("1/1 2.5: call 10 f+0x1 => 7ffd193838e0 memcpy@plt+0xffffffffff22f000");

	assert_view(line.to.symbol, "memcpy@plt");
	ck_assert_uint_eq(line.to.offset, UINT64_C(0xffffffffff22f000));
}
END_TEST

START_TEST(a_time_has_nine_digits_whatever_is_printed)
{
	ck_assert_uint_eq(parse("1/1 3.000001: 0 0 [unknown]").time, 3000001000);
	ck_assert_uint_eq(parse("1/1 3.1234567899: 0 0 [unknown]").time, 3123456789);
	ck_assert_uint_eq(parse("1/1 3.0: 0 0 [unknown]").time, 3000000000);
}
END_TEST

START_TEST(an_error_line_gives_thread_place_code_and_message)
{
	struct perf_line line = parse(
		" instruction trace error type 1 time 406036.830210719 cpu -1 pid 114362 tid "
		"114363 ip 0xffffffffb0999ed5 code 10: Never-ending loop (refer perf config)");

	ck_assert_int_eq(line.pid, 114362);
	ck_assert_int_eq(line.tid, 114363);
	ck_assert(line.has_time);
	ck_assert_uint_eq(line.time, UINT64_C(406036830210719));
	ck_assert_uint_eq(line.from.ip, UINT64_C(0xffffffffb0999ed5));
	ck_assert_uint_eq(line.code, GAP_ENDLESS);
	assert_view(line.message, "Never-ending loop (refer perf config)");
	line = parse(
		" instruction trace error type 1 cpu -1 pid -1 tid 5 ip 0 code 7: Overflow packet");
	ck_assert(!line.has_time);
	ck_assert_int_eq(line.pid, -1);
	ck_assert_uint_eq(line.from.ip, 0);
	ck_assert_uint_eq(line.code, GAP_OVERFLOW);
}
END_TEST

START_TEST(every_prefix_of_a_line_is_parsed_without_reading_past_it)
{
	for (size_t i = 0; i < sizeof(forms) / sizeof(forms[0]); i++) {
		for (size_t length = 0; length <= strlen(forms[i].text); length++) {
			/* A copy without a NUL, so that a sanitizer sees the end. */
			char *copy = memcpy(malloc(length + 1), forms[i].text, length);
			struct perf_line line;

			copy = realloc(copy, length ? length : 1);
			perf_line_parse(&line, copy, length);
			free(copy);
		}
	}
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("perf_script_line");
	TCase *all = tcase_create("perf_script_line");

	tcase_add_test(all, every_form_of_a_line_is_known);
	tcase_add_test(all, a_branch_line_gives_thread_time_and_places);
	tcase_add_test(all, a_dso_column_is_not_part_of_the_symbol);
	tcase_add_test(all, a_symbol_may_contain_an_arrow_and_parentheses);
	tcase_add_test(all, a_garbage_offset_is_taken_as_it_is);
	tcase_add_test(all, a_time_has_nine_digits_whatever_is_printed);
	tcase_add_test(all, an_error_line_gives_thread_place_code_and_message);
	tcase_add_test(all, every_prefix_of_a_line_is_parsed_without_reading_past_it);
	suite_add_tcase(suite, all);
	return unit_run(suite);
}
