/* SPDX-License-Identifier: MIT */
/*
 * Forms of a line, from perf's output and from the formats in tools/perf/builtin-script.c and
 * util/auxtrace.c.
 */
#include <stdio.h>
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
	{ "1/1 2.5: 1 sched:sched_waking: comm=(b) pid=2 prio=120 target_cpu=001 0 10 f+0x1",
	  PERF_LINE_SAMPLE, 0, 0 },
	{ "1/1 2.5: 1 mem-loads:u: 0 10 f+0x1", PERF_LINE_SAMPLE, 0, 0 },
	{ "1/1 2.5: 1 mem:0x0000000000000010:x:u:", PERF_LINE_HIT, 0, 0 },
	{ "1/1 2.5: probe:vfs_read: (ffffffff81000010)", PERF_LINE_HIT, 0, 0 },
	{ "1/1 2.5: probe:vfs_read__return: (ffffffff81000010 <- ffffffff81000020) arg1=0x5",
	  PERF_LINE_HIT, 0, 0 },
	{ "1/1 2.5: probe:half: (ffffffff81000010 <- ", PERF_LINE_SAMPLE, 0, 0 },
	{ "1/1 2.5: 1 cbr: cbr: 46 freq: 4606 MHz (159%) 0 0 [unknown] ([unknown])", PERF_LINE_CBR,
	  0, 0 },
	{ "1/1 2.5: 1 cbr: syscall cbr:  8 freq:  801 MHz ( 28%) 0 1 f+0x16 (/c.so)", PERF_LINE_CBR,
	  0, 0 },
	{ "1/1 2.5: cbr: 46 freq: 4606 MHz (159%) 0 0 [unknown]", PERF_LINE_CBR, 0, 0 },
	{ "1/1 2.5: 1 ptwrite: call IP: 0 payload: 0x1b5 0 1 [unknown] (a)", PERF_LINE_PTWRITE, 0,
	  0 },
	{ "1/1 2.5: 1 psb: psb offs: 0x4be8 0 7f f+0x50 (/l.so)", PERF_LINE_IGNORED, 0, 0 },
	{ "1/1 2.5: 0 0 [unknown]", PERF_LINE_NAMELESS, 0, 0 },
	{ "\t7f9bd48c1d80 f+0x0 (/l.so)", PERF_LINE_BLANK, 0, 0 },
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
	{ "# a comment", PERF_LINE_BLANK, 0, 0 },
	{ "  lru.c:34", PERF_LINE_BLANK, 0, 0 },
	{ "  lru.c:34 ilen: 2 insn: eb 22", PERF_LINE_BLANK, 0, 0 },
	{ "  :0", PERF_LINE_BLANK, 0, 0 },
	{ "  libc.so.6[1f010] ilen: 2 insn: eb 22", PERF_LINE_BLANK, 0, 0 },
	{ "  kworker/u16:10 1/1 2.5: call 10 f+0x1 => 20 g+0x0", PERF_LINE_BRANCH, BRANCH_CALL, 0 },
	{ "    7f60e5c5debd f", PERF_LINE_NO_ADDR, 0, 0 },
	{ "ls 22412      7f60e5c5debd [unknown]", PERF_LINE_NO_ADDR, 0, 0 },
	{ "added text", PERF_LINE_UNKNOWN, 0, 0 },
	{ "ls 1/1 2.5: PERF_RECORD_COMM exec: ls:1/1", PERF_LINE_IGNORED, 0, 0 },
	{ "1/1 2.5: call 10 => 20", PERF_LINE_BRANCH, BRANCH_CALL, 0 },
	{ "1/1 2.5: call 10 (/a) => 20 (/b c)", PERF_LINE_BRANCH, BRANCH_CALL, 0 },
	{ "1/1 2.5: call 10 f => 20 operator new(unsigned long) (/b)", PERF_LINE_BRANCH,
	  BRANCH_CALL, 0 },
	{ "1/1 2.5: 10 f+0x1 => 20 g+0x0", PERF_LINE_BRANCH, BRANCH_NONE, 0 },
	{ "1/1 2.5: 1 branches:uH: 10 f (/a) => 20 g (/b)", PERF_LINE_BRANCH, BRANCH_NONE, 0 },
	{ "    1 [000] 2.5: 1 branches:uH: 10 f (/a) => 20 g (/b)", PERF_LINE_BRANCH, BRANCH_NONE,
	  0 },
	{ "   1 2.5: call 10 f+0x1 => 20 g+0x0", PERF_LINE_BRANCH, BRANCH_CALL, 0 },
	{ "a b 1 2.5: call 10 f+0x1 => 20 g+0x0", PERF_LINE_BRANCH, BRANCH_CALL, 0 },
	{ "a b 1 [000] U     2.5: call 10 f+0x1 => 20 g+0x0", PERF_LINE_BRANCH, BRANCH_CALL, 0 },
	{ "1/1 2.5: call        7f0       10 f+0x1 => 20 g+0x0", PERF_LINE_BRANCH, BRANCH_CALL, 0 },
	{ "1/1 2.5: call 10 f+0x1 => 20 g+0x0 (a) \t IPC: 0.38 (99/254)  ilen: 2 insn: 74 e0",
	  PERF_LINE_BRANCH, BRANCH_CALL, 0 },
	{ "1/1 2.5: call 10 f+0x1 (a+0x10) => 20 g+0x0 (b+0x20)", PERF_LINE_BRANCH, BRANCH_CALL,
	  0 },
	{ "1/1 2.5: call (/bin/a)\t        f", PERF_LINE_CALL_TREE, 0, 0 },
	{ "1/1 2.5: (/bin/a    )\t        f", PERF_LINE_CALL_TREE, 0, 0 },
	{ "1/1 2.5: tr end  syscall (/bin/a)\t    ", PERF_LINE_CALL_TREE, 0, 0 },
	{ "1/1 2.5: call => 20 g+0x0", PERF_LINE_NO_IP, 0, 0 },
	{ "1/1 2.5: branches:u:", PERF_LINE_NO_IP, 0, 0 },
	{ "1/1 2.5: call 10 f+0x1", PERF_LINE_NO_ADDR, 0, 0 },
	{ "1/1 2.5: 1 branches:u: 10 f (/a)", PERF_LINE_NO_ADDR, 0, 0 },
	{ "1/1 branches:u: call 10 f+0x1", PERF_LINE_NO_ADDR, 0, 0 },
	{ "root:x:0:0:root:/root:/bin/sh", PERF_LINE_UNKNOWN, 0, 0 },
	{ "Error: no such file", PERF_LINE_UNKNOWN, 0, 0 },
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

		/* seeds.md: psb lines are skipped */
		ck_assert_msg(line.kind == form->kind, "kind %d: %s", line.kind, form->text);
		if (form->kind != PERF_LINE_BRANCH)
			continue;
		/* seeds.md: the words call, return, jmp, jcc, syscall, sysret, hw int, iret, int
		 * and tx abrt are kinds */
		/* seeds.md: tr strt jmp is tr strt */
		/* seeds.md: tr end async is tr end */
		ck_assert_msg(line.branch == form->branch, "branch %d: %s", line.branch,
			      form->text);
		/* seeds.md: tr strt and tr end, also with a kind, start and end the trace */
		/* seeds.md: (x) is a branch in a transaction */
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

	/* seeds.md: the column dso is not part of the symbol */
	assert_view(line.from.symbol, "f(int)");
	assert_view(line.from.dso, "a b (deleted)");
	ck_assert_uint_eq(line.from.offset, 1);
	assert_view(line.to.symbol, "");
	assert_view(line.to.dso, "/lib/m.so");
	ck_assert(line.to.has_dso);
}
END_TEST

static void assert_header(const char *text, int32_t pid, int32_t tid, bool has_time)
{
	struct perf_line line = parse(text);

	ck_assert_msg(line.kind == PERF_LINE_BRANCH, "%s", text);
	ck_assert_msg(line.pid == pid && line.tid == tid, "%d/%d: %s", line.pid, line.tid, text);
	ck_assert_msg(line.has_time == has_time, "%s", text);
	ck_assert_msg(line.from.ip == 0x401000 && line.to.ip == 0x20, "%s", text);
}

/* Columns as perf 6.1 prints them. */
START_TEST(a_header_may_lack_any_field)
{
	assert_header("   3117/3117  1.5:           401000 f+0x1 => 20 g+0x0", 3117, 3117, true);
	assert_header("   3117 1.5:           401000 f+0x1 => 20 g+0x0", 3117, 3117, true);
	assert_header("      worker 2    3117 1.5:           401000 f+0x1 => 20 g+0x0", 3117, 3117,
		      true);
	assert_header("             lru 1.5:           401000 f+0x1 => 20 g+0x0", -1, -1, true);
	assert_header("             lru    3117           401000 f+0x1 => 20 g+0x0", 3117, 3117,
		      false);
	assert_header(
		"             lru    3117 [000]          1 branches:u:           401000 f+0x1 "
		"=> 20 g+0x0",
		3117, 3117, false);
	assert_header("             lru [000]           401000 f+0x1 => 20 g+0x0", -1, -1, false);
	assert_header("             lru          1 branches:u:   call           401000 f+0x1 => 20 "
		      "g+0x0",
		      -1, -1, false);
	/* seeds.md: a header is pid/tid, time, period and event */
	assert_header("          1 branches:u:           401000 f+0x1 => 20 g+0x0", -1, -1, false);
	assert_header("           401000 f+0x1 =>               20 g+0x0", -1, -1, false);
	assert_header("           401000 =>               20", -1, -1, false);
}
END_TEST

START_TEST(a_tree_of_calls_gives_level_and_name_or_address)
{
	struct perf_line line = parse("a 1 [0] 2.5: call (/bin/a)\t        f(int)         ");

	assert_view(line.from.symbol, "f(int)");
	ck_assert_uint_eq(line.indent, 8);
	ck_assert_uint_eq(line.branch, BRANCH_CALL);
	line = parse("a 1 [0] 2.5: (/bin/a  )\t        7fdb24c1f770    ");
	assert_view(line.from.symbol, "");
	ck_assert_uint_eq(line.from.ip, UINT64_C(0x7fdb24c1f770));
	ck_assert_uint_eq(line.indent, 4);
	ck_assert(!line.has_flags);
	line = parse("a 1 [0] 2.5: (/bin/a)\t    feed");
	assert_view(line.from.symbol, "feed");
	ck_assert_uint_eq(line.indent, 4);
}
END_TEST

START_TEST(a_symbol_may_contain_an_arrow_and_parentheses)
{
	struct perf_line line =
		parse("1/1 2.5: call 10 x => +0xb (a.so) => 20 operator=> 5 (y)+0x0");

	/* seeds.md: a symbol may have blanks, arrows and parentheses */
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
	/* seeds.md: a symbol has an offset, also one that is garbage */
	ck_assert_uint_eq(line.to.offset, UINT64_C(0xffffffffff22f000));
}
END_TEST

START_TEST(a_time_has_nine_digits_whatever_is_printed)
{
	ck_assert_uint_eq(parse("1/1 3.000001: 0 0 [unknown]").time, 3000001000);
	ck_assert_uint_eq(parse("1/1 3.1234567899: 0 0 [unknown]").time, 3123456789);
	/* seeds.md: times are cut or filled to nine digits */
	ck_assert_uint_eq(parse("1/1 3.0: 0 0 [unknown]").time, 3000000000);
}
END_TEST

START_TEST(an_error_line_gives_thread_place_code_and_message)
{
	struct perf_line line = parse(
		" instruction trace error type 1 time 406036.830210719 cpu -1 pid 114362 tid "
		"114363 ip 0xffffffffb0999ed5 code 10: Never-ending loop (refer perf config)");

	/* seeds.md: an error has thread, time, location, code and message */
	ck_assert_int_eq(line.pid, 114362);
	ck_assert_int_eq(line.tid, 114363);
	ck_assert(line.has_time);
	ck_assert_uint_eq(line.time, UINT64_C(406036830210719));
	ck_assert_uint_eq(line.from.ip, UINT64_C(0xffffffffb0999ed5));
	ck_assert_uint_eq(line.gap, GAP_ENDLESS);
	assert_view(line.message, "Never-ending loop (refer perf config)");
	line = parse(
		" instruction trace error type 1 cpu -1 pid -1 tid 5 ip 0 code 7: Overflow packet");
	ck_assert(!line.has_time);
	ck_assert_int_eq(line.pid, -1);
	ck_assert_uint_eq(line.from.ip, 0);
	ck_assert_uint_eq(line.gap, GAP_OVERFLOW);
}
END_TEST

/* perf's numbers, util/intel-pt-decoder/intel-pt-decoder.h: 1 is "Memory allocation failed". */
START_TEST(an_error_of_another_number_is_unknown)
{
	static const char *const codes[] = { "0", "1", "9", "11", "256", "99999999999999999999" };
	char text[100];

	for (size_t i = 0; i < sizeof(codes) / sizeof(codes[0]); i++) {
		snprintf(text, sizeof(text),
			 " instruction trace error type 1 cpu -1 pid 1 tid 1 ip 0 code %s: Any",
			 codes[i]);
		/* seeds.md: an error's code may have several digits */
		ck_assert_uint_eq(parse(text).gap, GAP_UNKNOWN);
	}
}
END_TEST

static void assert_hit(const char *text, const char *event, const char *arguments, uint64_t ip,
		       const char *symbol)
{
	struct perf_line line = parse(text);

	ck_assert_msg(line.kind == PERF_LINE_HIT, "%s", text);
	ck_assert_int_eq(line.tid, 24490);
	ck_assert_uint_eq(line.time, UINT64_C(13208067042388));
	assert_view(line.event, event);
	assert_view(line.arguments, arguments);
	ck_assert_msg(line.from.ip == ip, "%s", text);
	assert_view(line.from.symbol, symbol);
}

#define HEADER "24489/24490 13208.067042388: "

/* The first line is perf 6.1's, the others are its output with other fields. */
START_TEST(a_hit_of_a_breakpoint_has_its_event_and_its_place)
{
	const char *execute = "mem:0x0000000000401106:x:u";

	assert_hit(HEADER "         1 mem:0x0000000000401106:x:u:                                  "
			  " 401106           401106 f+0x0",
		   execute, "", 0x401106, "f");
	assert_hit(HEADER "mem:0x0000000000401106:x:u:            401106 f+0x0", execute, "",
		   0x401106, "f");
	assert_hit(HEADER "1 mem:0x0000000000401106:x:u: 401106 401106 f+0x0 (/tmp/h/add file)",
		   execute, "", 0x401106, "f");
	assert_hit(HEADER "1 mem:0x0000000000401106:x:u: 401106 401106 [unknown] (/tmp/bp)",
		   execute, "", 0x401106, "");
	assert_hit(HEADER "mem:0x0000000000401106:x:u: 401106 401106 f", execute, "", 0x401106,
		   "f");
	assert_hit(HEADER "mem:4198662/8:rw: 404010 401106 operator new(unsigned long)+0x16",
		   "mem:4198662/8:rw", "", 0x401106, "operator new(unsigned long)");
	ck_assert_uint_eq(parse(HEADER "mem:4198662/8:rw: 404010 401106 f+0x1").addr, 0x404010);
	/* seeds.md: hits of breakpoints are not branches */
	ck_assert_uint_eq(parse(HEADER "mem:4198662/8:rw: 401106 f+0x1").addr, 0);
}
END_TEST

START_TEST(a_hit_of_a_probe_has_its_arguments_too)
{
	const char *place = "(401106) argc=1 name=\"a fa\"";
	char text[200];

	snprintf(text, sizeof(text), HEADER "1 probe_bp:f: %s   401106 f+0x0 (/tmp/bp)", place);
	assert_hit(text, "probe_bp:f", place, 0x401106, "f");
	snprintf(text, sizeof(text), HEADER "probe_bp:f: %s     0    401106 f+0x0", place);
	assert_hit(text, "probe_bp:f", place, 0x401106, "f");
	/* A call stack is on separate lines. */
	snprintf(text, sizeof(text), HEADER "probe_bp:f: %s", place);
	assert_hit(text, "probe_bp:f", place, 0x401106, "");
	/* seeds.md: hits of breakpoints are not branches */
	assert_hit(HEADER "probe_bp:f__return: (401106 <- 401140)", "probe_bp:f__return",
		   "(401106 <- 401140)", 0x401140, "");
}
END_TEST

START_TEST(every_prefix_of_a_line_is_parsed_without_reading_past_it)
{
	for (size_t i = 0; i < sizeof(forms) / sizeof(forms[0]); i++) {
		for (size_t length = 0; length <= strlen(forms[i].text); length++) {
			/* A copy without a NUL, so that a sanitizer sees an overrun. */
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
	tcase_add_test(all, a_header_may_lack_any_field);
	tcase_add_test(all, a_tree_of_calls_gives_level_and_name_or_address);
	tcase_add_test(all, a_symbol_may_contain_an_arrow_and_parentheses);
	tcase_add_test(all, a_garbage_offset_is_taken_as_it_is);
	tcase_add_test(all, a_time_has_nine_digits_whatever_is_printed);
	tcase_add_test(all, an_error_line_gives_thread_place_code_and_message);
	tcase_add_test(all, an_error_of_another_number_is_unknown);
	tcase_add_test(all, a_hit_of_a_breakpoint_has_its_event_and_its_place);
	tcase_add_test(all, a_hit_of_a_probe_has_its_arguments_too);
	tcase_add_test(all, every_prefix_of_a_line_is_parsed_without_reading_past_it);
	suite_add_tcase(suite, all);
	return unit_run(suite);
}
