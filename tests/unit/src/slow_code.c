/* SPDX-License-Identifier: MIT */
/* Code of slow calls, by branches made by hand: costs, loops, and the thread that was waited for.
 */
#include "src/formats/answers/slow_causes.h"

#include <stdio.h>

#include "decoder/code/insn.h"
#include "decoder/history.h"
#include "src/callstack/callstack.h"
#include "src/formats/answers/why.h"
#include "symbols/dso/dso_store.h"
#include "tests/support/unit.h"

static struct name_table names;
static struct symbol symbols[32];
static size_t symbol_count;
static const struct thread_name shown = { .text = "p" };
static const struct thread threads[5] = {
	{ .tid = 1, .names = (struct thread_name *)&shown, .name_count = 1 },
	{ .tid = 2, .index = 1, .names = (struct thread_name *)&shown, .name_count = 1 },
	{ .tid = 3, .index = 2, .names = (struct thread_name *)&shown, .name_count = 1 },
	{ .tid = 4, .index = 3, .names = (struct thread_name *)&shown, .name_count = 1 },
	{ .tid = 5, .index = 4, .names = (struct thread_name *)&shown, .name_count = 1, .pid = 9 },
};
static struct code_trail trail;
static struct code_counts found; /* of calls that ended */
static uint64_t begun, ended, stopped;
static struct thread_log logged;
static struct thread_wait wait;
static const struct thread_waking *waking; /* NULL: not recorded */
static bool lineless;                      /* no code has a line */
static const struct symbol *waits;         /* the system call that waits; NULL: unknown */

static void keep(void)
{
	code_counts_add(&found, &trail.now);
	begun = trail.begin;
	ended = trail.end;
	stopped = trail.stopped;
}

static const struct symbol *symbol_of(const char *text);

static void setup(void)
{
	name_table_init(&names);
	symbol_count = 0;
	found = (struct code_counts){ 0 };
	logged = (struct thread_log){ 0 };
	waking = NULL;
	trail = (struct code_trail){ .function = symbol_of("f"), .tid = 1 };
}

static void teardown(void)
{
	code_trail_release(&trail);
	code_counts_release(&found);
	thread_log_release(&logged);
	thread_log_release(&logged);
	name_table_release(&names);
}

static const struct symbol *symbol_of(const char *text)
{
	const struct name *name = name_intern_text(&names, text);

	for (size_t i = 0; i < symbol_count; i++)
		if (symbols[i].name == name)
			return &symbols[i];
	symbols[symbol_count] = (struct symbol){ .name = name,
						 .linkage = name,
						 .start = 0x1000 * (symbol_count + 1) };
	return &symbols[symbol_count++];
}

/* "f+5": bytes from the start of a function; "": not traced. */
static struct location place(const char *text)
{
	char name[32];
	unsigned offset = 0;
	const struct symbol *symbol;

	if (sscanf(text, "%31[^+]+%u", name, &offset) < 1)
		return (struct location){ 0 };
	symbol = symbol_of(name);
	return (struct location){ symbol->start + offset, symbol, offset };
}

static const struct thread *runs = &threads[0];

/* A branch, to the trail and to the log. */
static void flags_at(uint64_t time, enum branch_kind kind, unsigned flags, const char *from,
		     const char *to, uint32_t insns)
{
	const struct location_pair places = { .from = place(from), .to = place(to) };
	const struct branch_event event = {
		.time = time,
		.kind = (uint8_t)kind,
		.flags = (uint8_t)flags,
		.from = places.from.ip,
		.to = places.to.ip,
		.from_length = 5,
		.insns = insns,
		.thread = runs,
	};

	if (code_trail_follow(&trail, &event, &places))
		keep();
	if (kind < BRANCH_GAP)
		thread_log_add(&logged, &event, &places);
}

static void at(uint64_t time, enum branch_kind kind, const char *from, const char *to,
	       uint32_t insns)
{
	flags_at(time, kind, 0, from, to, insns);
}

/* Expect a part: executions, own ns, ns with callees. */
static void expect(const char *begin, unsigned last, bool back, int count, double ns, double all)
{
	const struct location from = place(begin);
	const struct code_key key = { from.symbol, from.offset, last,
				      back ? CODE_BACK : CODE_STRAIGHT };
	const struct code_part *part = code_counts_part(&found, &key);

	ck_assert_int_eq((int)part->count, count);
	ck_assert_double_eq_tol(part->ns, ns, 1e-6);
	ck_assert_double_eq_tol(part->all, all, 1e-6);
}

/* ---- Costs --------------------------------------------------------------- */

/* The time up to the next timestamp is divided by instructions; a callee's is its caller's, too. */
START_TEST(time_is_divided_among_code)
{
	at(100, BRANCH_CALL, "main+10", "f", 3);
	at(100, BRANCH_COND, "f+8", "f+20", 1);
	at(100, BRANCH_CALL, "f+30", "g", 3);
	at(140, BRANCH_RETURN, "g+9", "f+35", 10);
	at(150, BRANCH_COND, "f+40", "f+20", 2);
	at(150, BRANCH_COND, "f+40", "f+20", 2);
	at(170, BRANCH_RETURN, "f+44", "main+15", 2);
	ck_assert_uint_eq(found.calls, 1);
	ck_assert_double_eq(found.insns, 20);
	ck_assert_uint_eq(begun, 100);
	ck_assert_uint_eq(ended, 170);
	expect("f", 8, false, 1, 10, 10);
	expect("f+20", 30, false, 1, 30, 40);
	expect("g", 9, false, 1, 10, 10);
	expect("f+35", 40, false, 1, 10, 10);
	expect("f+20", 40, false, 1, 10, 10);
	expect("f+20", 40, true, 2, 0, 0);
	expect("f+20", 44, false, 1, 0, 0);
}
END_TEST

/* Others are other threads' code, and code before and after. */
START_TEST(only_calls_of_the_function_count)
{
	at(50, BRANCH_COND, "main", "main+5", 9);
	at(100, BRANCH_CALL, "main+10", "f", 3);
	runs = &threads[1];
	at(110, BRANCH_CALL, "main+10", "f", 3);
	at(120, BRANCH_RETURN, "f+44", "main+15", 7);
	runs = &threads[0];
	at(130, BRANCH_RETURN, "f+44", "main+15", 2);
	at(150, BRANCH_CALL, "f+8", "main+20", 2);
	ck_assert_uint_eq(found.calls, 1);
	ck_assert_double_eq(found.insns, 2);
	ck_assert_uint_eq(ended - begun, 30);
}
END_TEST

/* g is open twice, and its time is in the part that called it once. */
START_TEST(a_recursion_has_its_time_once)
{
	at(100, BRANCH_CALL, "main+10", "f", 3);
	at(100, BRANCH_CALL, "f+8", "g", 1);
	at(110, BRANCH_CALL, "g+8", "g", 1);
	at(120, BRANCH_CALL, "g+8", "g", 1);
	at(150, BRANCH_RETURN, "g+20", "g+13", 1);
	at(150, BRANCH_RETURN, "g+20", "g+13", 1);
	at(150, BRANCH_RETURN, "g+20", "f+13", 1);
	at(160, BRANCH_RETURN, "f+44", "main+15", 1);
	expect("g", 8, false, 2, 40, 40 + 2 * 10 / 3.);
}
END_TEST

START_TEST(stops_do_not_count_and_system_calls_do)
{
	at(100, BRANCH_CALL, "main+10", "f", 3);
	flags_at(110, BRANCH_NONE, BRANCH_TRACE_OFF | BRANCH_ASYNC, "f+4", "", 2);
	flags_at(510, BRANCH_NONE, BRANCH_TRACE_ON, "", "f+4", 0);
	flags_at(520, BRANCH_SYSCALL, BRANCH_TRACE_OFF, "f+8", "", 2);
	flags_at(920, BRANCH_NONE, BRANCH_TRACE_ON, "", "f+10", 0);
	at(930, BRANCH_RETURN, "f+44", "main+15", 2);
	ck_assert_uint_eq(stopped, 400);
	ck_assert_uint_eq(trail.waited, 400);
	ck_assert_uint_eq(trail.wait, 400);
	ck_assert_uint_eq(trail.wait_end, 920);
	expect("f+4", 8, false, 1, 0, 400);
}
END_TEST

/* A call with a gap is not known; the next one is. */
START_TEST(a_gap_drops_the_call)
{
	at(100, BRANCH_CALL, "main+10", "f", 3);
	at(105, BRANCH_COND, "f+8", "f+20", 7);
	at(110, BRANCH_GAP, "", "", 0);
	at(120, BRANCH_RETURN, "f+44", "main+15", 1);
	ck_assert_uint_eq(found.calls, 0);
	at(130, BRANCH_CALL, "main+10", "f", 3);
	at(130, BRANCH_COND, "f+8", "f+20", 2);
	at(150, BRANCH_RETURN, "f+44", "main+15", 2);
	ck_assert_uint_eq(found.calls, 1);
	ck_assert_double_eq(found.insns, 4);
	expect("f", 8, false, 1, 20, 20);
}
END_TEST

/* By a jump to an open call of the caller, which longjmp() makes; by the end of the window. */
START_TEST(a_call_ends_without_a_return)
{
	at(100, BRANCH_CALL, "main+10", "f", 3);
	at(100, BRANCH_CALL, "f+8", "g", 1);
	flags_at(110, BRANCH_JUMP, BRANCH_INDIRECT, "g+9", "f+20", 1);
	ck_assert_uint_eq(found.calls, 0); /* f is open */
	flags_at(120, BRANCH_JUMP, BRANCH_INDIRECT, "f+30", "main+40", 1);
	ck_assert_uint_eq(found.calls, 1);
	at(130, BRANCH_CALL, "main+10", "f", 3);
	at(140, BRANCH_COND, "f+8", "f+20", 1);
	ck_assert(code_trail_end(&trail));
	ck_assert(!code_trail_end(&trail));
}
END_TEST

/* f is entered by a tail call, and tail calls g, which returns for it. */
START_TEST(tail_calls_are_followed)
{
	at(90, BRANCH_CALL, "main+10", "e", 1);
	at(100, BRANCH_JUMP, "e+10", "f", 3);
	at(110, BRANCH_JUMP, "f+8", "g", 1);
	at(120, BRANCH_RETURN, "g+9", "main+15", 1);
	ck_assert_uint_eq(found.calls, 1);
	ck_assert_uint_eq(ended - begun, 20);
	expect("g", 9, false, 1, 0, 0);
}
END_TEST

/* ---- Loops --------------------------------------------------------------- */

static void add_part(struct code_counts *counts, const char *begin, unsigned last, bool back,
		     uint64_t count, double all)
{
	const struct location from = place(begin);
	const struct code_key key = { from.symbol, from.offset, last,
				      back ? CODE_BACK : CODE_STRAIGHT };
	struct code_part *part = code_counts_part(counts, &key);

	part->count += count;
	part->ns += all;
	part->all += all;
}

static uint64_t stopped_ns; /* of both slow calls */

/* The only sentence about a cluster of f, of two slow calls, with `extra` ns. */
static void expect_words(struct slow_answer *answer, struct slow_cluster *cluster,
			 const char *expected)
{
	struct slow_function function = { .symbol = symbol_of("f") };
	const struct slow_calls calls = { .functions = &function, .function_count = 1 };
	const struct slow_call call = { .with_stops = true, .stopped = stopped_ns };
	const struct slow_call *called[] = { &call, &call };
	char words[1000] = "";

	answer->calls = &calls;
	answer->code.calls = 4;
	cluster->code.calls = cluster->code.calls ?: 2;
	cluster->calls = called;
	cluster->count = 2;
	cluster->extra = 1000;
	cause_facts_find(answer, cluster);
	for (size_t i = 0; i < cluster->fact_count; i++)
		sprintf(words + strlen(words), "%s\n", cluster->facts[i].words);
	ck_assert_str_eq(words, expected);
	while (cluster->fact_count)
		cause_fact_remove(cluster, 0);
	code_counts_release(&answer->code);
	code_counts_release(&cluster->code);
}

START_TEST(the_loop_with_the_most_extra_time_is_named)
{
	static const struct {
		int slow, usual, inner; /* jumps back in all calls; ns of the inner loop */
		const char *expected;
	} cases[] = {
		{ 240, 16, 2000, "went round 120 times, usually 4.0: f\n" },
		{ 240, 80, 2000, "went round 120 times, usually 20: f\n" },
		/* As often as usual, or for less than a third of the extra time. */
		{ 240, 400, 2000, "" },
		{ 240, 16, 400, "" },
		{ 4, 4, 2000, "" },
	};
	struct slow_answer answer = { 0 };
	struct slow_cluster cluster = { 0 };

	answer.code.insns = 4;
	cluster.code.insns = 200;
	add_part(&cluster.code, "f+20", 40, true, (uint64_t)cases[_i].slow / 2, 0);
	add_part(&cluster.code, "f+20", 48, true, (uint64_t)cases[_i].slow / 2, 0);
	add_part(&cluster.code, "f+20", 48, false, 9, cases[_i].inner);
	add_part(&cluster.code, "f+60", 70, false, 9, 100);
	add_part(&answer.code, "f+20", 40, true, (uint64_t)cases[_i].usual, 0);
	expect_words(&answer, &cluster, cases[_i].expected);
}
END_TEST

/* ---- Windows ------------------------------------------------------------- */

static void look_at(struct slow_look *look, uint64_t time, enum branch_kind kind, const char *from,
		    const char *to)
{
	const struct location_pair places = { .from = place(from), .to = place(to) };
	const struct branch_event event = {
		.time = time,
		.kind = (uint8_t)kind,
		.from = places.from.ip,
		.to = places.to.ip,
		.from_length = 5,
		.insns = 1,
		.thread = runs,
	};

	slow_look_see(look, &event, &places);
}

/*
 * After the window of the slow call comes that of a usual one, up to its end. A call that the
 * window cuts is no usual one: it has fewer rounds.
 */
START_TEST(a_usual_call_counts_if_it_returns_in_its_window)
{
	const struct track track = { .tid = 1 };
	struct slow_call usual = { .begin = 20000, .duration = 3000, .track = &track };
	struct slow_function function = {
		.symbol = symbol_of("f"), .kept = true, .samples = &usual, .sample_count = 1
	};
	const struct slow_calls calls = { .functions = &function, .function_count = 1 };
	const struct slow_call slow = { .begin = 90000, .duration = 500, .track = &track };
	const struct slow_call *clustered = &slow;
	struct slow_cluster cluster = { .calls = &clustered, .count = 1, .extra = 100 };
	struct slow_answer answer = {
		.calls = &calls, .of = &function, .bound = 4000, .clusters = &cluster, .count = 1
	};
	struct slow_look look = { .answers = &answer, .count = 1 };
	struct look_window window = { 0 };

	ck_assert(slow_look_next(&look, &window));
	look_at(&look, 90000, BRANCH_CALL, "main+10", "f");
	look_at(&look, 90400, BRANCH_COND, "f+40", "f+20");
	ck_assert(slow_look_next(&look, &window));
	ck_assert_uint_eq(window.begin, 20000 - LOOK_SLACK);
	ck_assert_uint_eq(window.end, 23000 + LOOK_SLACK);
	look_at(&look, 20000, BRANCH_CALL, "main+10", "f");
	look_at(&look, 23000, BRANCH_RETURN, "f+44", "main+15");
	look_at(&look, 23500, BRANCH_CALL, "main+10", "f");
	look_at(&look, 23900, BRANCH_COND, "f+40", "f+20");
	ck_assert(!slow_look_next(&look, &window));
	ck_assert_uint_eq(cluster.code.calls, 1);
	ck_assert_uint_eq(answer.code.calls, 1);
	slow_look_release(&look);
	code_counts_release(&answer.code);
	code_counts_release(&cluster.code);
}
END_TEST

/* With --slow: interrupts come at any instruction, faults at one. */
START_TEST(an_instruction_that_stops_often_is_named)
{
	struct slow_answer answer = { 0 };
	struct slow_cluster cluster = { 0 };
	const struct location from = place("f+40");
	const struct code_key key = { from.symbol, 40, 40, CODE_STOP };

	add_part(&cluster.code, "f+20", 60, false, 4 + (uint64_t)_i, 0);
	code_counts_part(&cluster.code, &key)->count = 2;
	expect_words(&answer, &cluster, _i < 5 ? "likely page faults at one instruction: f\n" : "");
}
END_TEST

/* Two stops of an instruction in one call are page faults; one stop may be an interrupt. */
START_TEST(an_instruction_that_stops_often_in_one_call_is_named)
{
	struct slow_answer answer = { 0 };
	struct slow_cluster cluster = { .code.calls = 1 };
	const struct location from = place("f+40");
	const struct code_key key = { from.symbol, 40, 40, CODE_STOP };

	add_part(&cluster.code, "f+20", 60, false, 2, 0);
	code_counts_part(&cluster.code, &key)->count = (uint64_t)_i;
	expect_words(&answer, &cluster,
		     _i == 2 ? "likely page faults at one instruction: f\n" : "");
}
END_TEST

/* Of nested loops the outer one has more time if it goes round more often. */
START_TEST(an_outer_loop_comes_before_an_inner_one)
{
	struct slow_answer answer = { 0 };
	struct slow_cluster cluster = { 0 };

	add_part(&cluster.code, "f+20", 30, true, 1000, 0);
	add_part(&cluster.code, "f+10", 40, true, 100, 0);
	add_part(&cluster.code, "f+20", 30, false, 1000, 2000);
	add_part(&cluster.code, "f+31", 40, false, 100, 200);
	add_part(&answer.code, "f+10", 40, true, 8, 0);
	expect_words(&answer, &cluster, "went round 50 times, usually 2.0: f\n");
}
END_TEST

/*
 * In the file of f an outer loop comes first. Without one, the loop of another file that goes round
 * most often is named, by address if it has no line.
 */
START_TEST(a_loop_of_a_library_is_named_by_address)
{
	struct slow_answer answer = { 0 };
	struct slow_cluster cluster = { 0 };
	const char *expected = "went round 500 times, usually 0: lib+0x14\n";
	struct symbol *lib = (struct symbol *)symbol_of("lib"),
		      *f = (struct symbol *)symbol_of("f");

	lib->dso = (struct dso *)&names; /* is not read */
	add_part(&cluster.code, "lib+20", 30, true, 1000, 0);
	add_part(&cluster.code, "lib+10", 40, true, 100, 0);
	add_part(&cluster.code, "lib+20", 30, false, 1000, 2000);
	add_part(&cluster.code, "lib+31", 40, false, 100, 200);
	add_part(&answer.code, "lib+10", 40, true, 8, 0);
	if (_i) {
		f->dso = (struct dso *)&symbols; /* is not read */
		add_part(&cluster.code, "f+10", 40, true, 100, 0);
		add_part(&cluster.code, "f+10", 40, false, 100, 2000);
		expected = "went round 50 times, usually 0: f+0xa\n";
	}
	lineless = true;
	expect_words(&answer, &cluster, expected);
	lineless = false;
}
END_TEST

/* ---- Lines --------------------------------------------------------------- */

/* Each instruction has two bytes, each line eight. */
struct insn __wrap_executed_insn_at(const struct dso *dso, uint64_t vaddr);
struct source_line __wrap_dso_line(const struct symbol *symbol, uint64_t offset);
const struct inlined_call *__wrap_dso_inlined_at(struct dso *dso, uint64_t vaddr);
struct source_line __wrap_slice_source_line(const struct symbol *symbol);

struct insn __wrap_executed_insn_at(const struct dso *dso, uint64_t vaddr)
{
	ck_assert_ptr_nonnull(dso);
	return (struct insn){ .length = vaddr % 2 ? 0 : 2 };
}

struct source_line __wrap_dso_line(const struct symbol *symbol, uint64_t offset)
{
	ck_assert_ptr_nonnull(symbol->dso);
	if (lineless)
		return (struct source_line){ 0 };
	return (struct source_line){ .file = name_intern_text(&names, "/src/prog.c"),
				     .line = 1 + (uint32_t)offset / 8 };
}

const struct inlined_call *__wrap_dso_inlined_at(struct dso *dso, uint64_t vaddr)
{
	(void)dso;
	(void)vaddr;
	return NULL;
}

struct source_line __wrap_slice_source_line(const struct symbol *symbol)
{
	(void)symbol;
	return (struct source_line){ 0 };
}

/* Of two slow calls and four usual ones. */
static const struct {
	struct {
		const char *begin; /* start of straight code, which ends at `last` */
		unsigned last;
		double slow, usual; /* ns of all calls */
		uint64_t insns, usual_insns;
	} parts[3];
	const char *expected;
} line_cases[] = {
	{ { { "f", 6, 2000, 0, 40, 0 } }, "most of its own extra time: prog.c:1 in f\n" },
	{ { { "f", 14, 2000, 0, 40, 0 } }, "most of its own extra time: prog.c:1 in f, :2\n" },
	/* The second line has three of four instructions, which are most of the time: no more is
	   named. */
	{ { { "f+6", 12, 2000, 0, 40, 0 } }, "most of its own extra time: prog.c:2 in f\n" },
	{ { { "f", 6, 2000, 0, 10, 20 } },
	  "same instructions, more time, likely memory: prog.c:1 in f\n" },
	/* As much time as usual, in each call. */
	{ { { "f", 6, 2000, 4000, 40, 0 } }, "" },
	{ { { "f", 6, 2400, 800, 40, 0 } }, "most of its own extra time: prog.c:1 in f\n" },
	{ { { "f", 6, 900, 0, 40, 0 }, { "f+16", 22, 1100, 0, 40, 0 } },
	  "most of its own extra time: prog.c:3 in f, :1\n" },
};

START_TEST(extra_time_is_divided_among_lines)
{
	struct slow_answer answer = { 0 };
	struct slow_cluster cluster = { 0 };

	symbols[0].dso = (struct dso *)&names; /* is not read */
	for (int i = 0; i < 3 && line_cases[_i].parts[i].begin; i++) {
		const struct location from = place(line_cases[_i].parts[i].begin);
		const struct code_key key = { from.symbol, from.offset,
					      line_cases[_i].parts[i].last, CODE_STRAIGHT };
		struct code_part *slow = code_counts_part(&cluster.code, &key);
		struct code_part *usual = code_counts_part(&answer.code, &key);

		slow->ns = line_cases[_i].parts[i].slow;
		slow->insns = line_cases[_i].parts[i].insns;
		usual->ns = line_cases[_i].parts[i].usual;
		usual->insns = line_cases[_i].parts[i].usual_insns;
	}
	expect_words(&answer, &cluster, line_cases[_i].expected);
}
END_TEST

/* Two slow calls and four usual ones: 1000 and 100 ns each, of the same instructions. */
START_TEST(the_same_code_takes_more_time_for_a_reason)
{
	static const struct {
		uint64_t slow_cycles, usual_cycles; /* of all calls; 0: unknown */
		uint64_t branches;                  /* in a slow call; 10 in a usual one */
		uint64_t stopped;
		const char *expected;
	} cases[] = {
		{ 0, 0, 10, 0, "same instructions, more time, likely memory: prog.c:1 in f\n" },
		{ 6000, 1200, 10, 0,
		  "same instructions, more time, likely memory: prog.c:1 in f\n" },
		/* A slow call has 300 cycles as a usual one has, or 1000. */
		{ 600, 1200, 10, 0,
		  "same instructions and cycles, more time, a lower clock: prog.c:1 in f\n" },
		{ 2000, 1200, 10, 0,
		  "same instructions and cycles, more time, a lower clock: prog.c:1 in f\n" },
		{ 0, 0, 20, 0, "most of its own extra time: prog.c:1 in f\n" },
		{ 0, 0, 10, 50, "most of its own extra time: prog.c:1 in f\n" },
	};
	struct slow_answer answer = { 0 };
	struct slow_cluster cluster = {
		.own = { { .calls = 2, .own = { 2000, 40, cases[_i].slow_cycles } },
			 { .calls = 4, .own = { 400, 80, cases[_i].usual_cycles } } }
	};
	const struct location from = place("f");
	const struct code_key key = { from.symbol, from.offset, 6, CODE_STRAIGHT };
	struct code_part *slow = code_counts_part(&cluster.code, &key);
	struct code_part *usual = code_counts_part(&answer.code, &key);

	symbols[0].dso = (struct dso *)&names; /* is not read */
	slow->ns = 2000;
	slow->insns = 40;
	slow->count = 2 * cases[_i].branches;
	usual->ns = 400;
	usual->insns = 80;
	usual->count = 40;
	stopped_ns = cases[_i].stopped;
	expect_words(&answer, &cluster, cases[_i].expected);
	stopped_ns = 0;
}
END_TEST

/* "f+BEGIN-LAST": code of the slow call, and of usual ones; "!f+AT": interrupted there.  A line has
 * 8 bytes. */
static const struct {
	const char *slow, *usual, *expected;
} partings[] = {
	{ "f+0-8 f+20-28", "f+0-8 f+20-28", "" },
	{ "f+0-4 f+40-44", "f+0-8", "branches, usually not: prog.c:1 in f\n" },
	{ "f+0-8", "f+0-4 f+40-44", "does not branch, usually does: prog.c:1 in f\n" },
	/* Usual calls know both ways; the next code differs. */
	{ "f+0-4 f+40-44", "f+0-8 f+0-4 f+40-48", "branches, usually not: prog.c:6 in f\n" },
	/* The branch after is nearer than the one before. */
	{ "f+0-8", "f+0-4 f+0-12 f+0-16", "branches, usually not: prog.c:2 in f\n" },
	/* An interrupt is no branch. */
	{ "!f+4 f+0-4 f+4-8", "f+0-8", "" },
	{ "f+0-8", "!f+4 f+0-4 f+4-8", "" },
	/* Code that no usual call begins alike */
	{ "f+30-34", "f+0-8", "" },
};

static void add_code(struct code_counts *counts, const char *text, uint64_t calls)
{
	char *copy = strdup(text), *rest;

	counts->calls = calls;
	for (char *word = strtok_r(copy, " ", &rest); word; word = strtok_r(NULL, " ", &rest)) {
		unsigned begin, last;
		bool stop = *word == '!';
		struct code_key key = { .symbol = symbol_of("f"),
					.kind = stop ? CODE_STOP : CODE_STRAIGHT };

		if (sscanf(strchr(word, '+'), "+%u-%u", &begin, &last) < 2)
			last = begin;
		key.begin = begin;
		key.last = last;
		code_counts_part(counts, &key)->count += calls;
	}
	free(copy);
}

START_TEST(the_first_branch_that_differs_is_named)
{
	struct slow_answer answer = { 0 };
	struct slow_cluster cluster = { 0 };

	symbols[0].dso = (struct dso *)&names; /* is not read */
	add_code(&cluster.code, partings[_i].slow, 1);
	add_code(&answer.code, partings[_i].usual, 3);
	expect_words(&answer, &cluster, partings[_i].expected);
}
END_TEST

/* ---- The other thread ---------------------------------------------------- */

/* Every system call is a futex() here; its name is looked up in code elsewhere. */
static bool find_wait(uint64_t begin, uint64_t end)
{
	static struct symbol futex; /* `wait` borrows it */
	struct syscall_symbols syscalls;

	futex = symbol_special(&names, "waits", SPECIAL_SYSCALL);
	futex.linkage = name_intern_text(&names, "futex");
	wait = (struct thread_wait){ .off.waking = waking, .call = waits };
	syscall_symbols_init(&syscalls, &names, &futex);
	thread_wait_find(&wait, &(struct wait_search){ .log = &logged, .syscalls = &syscalls }, 1,
			 begin, end);
	syscall_symbols_release(&syscalls);
	return wait.other;
}

/* The path has these functions, and no others. */
static void expect_path(const char *outer, const char *inner)
{
	ck_assert_uint_eq(wait.hops[0].path_count, inner ? 2 : 1);
	ck_assert_str_eq(wait.hops[0].path[0]->name->text, outer);
	if (inner)
		ck_assert_str_eq(wait.hops[0].path[1]->name->text, inner);
}

static void thread_at(int thread, uint64_t time, enum branch_kind kind, const char *from,
		      const char *to)
{
	runs = &threads[thread - 1];
	flags_at(time, kind, kind == BRANCH_SYSCALL ? BRANCH_TRACE_OFF : 0, from, to, 1);
	runs = &threads[0];
}

/* Thread 2 holds the lock in dump, from before; 3 makes a system call before the wait, and after.
 */
static void log_holder(bool relocks)
{
	thread_at(3, 90, BRANCH_SYSCALL, "other+4", "");
	thread_at(2, 95, BRANCH_COND, "snprintf+4", "snprintf+9");
	thread_at(1, 96, BRANCH_CALL, "f+4", "mutex_lock");
	thread_at(1, 100, BRANCH_SYSCALL, "mutex_lock+4", "");
	thread_at(2, 180, BRANCH_RETURN, "snprintf+20", "dump+9");
	if (relocks)
		thread_at(2, 185, BRANCH_CALL, "dump+9", "mutex_lock");
	thread_at(2, 190, BRANCH_CALL, "dump+9", "mutex_unlock");
	thread_at(2, 195, BRANCH_SYSCALL, "mutex_unlock+9", "");
	thread_at(1, 198, BRANCH_SYSCALL, "mutex_lock+4", "");
	thread_at(3, 205, BRANCH_SYSCALL, "other+4", "");
}

START_TEST(the_thread_that_woke_a_waiting_one_is_found)
{
	log_holder(_i);
	ck_assert(find_wait(100, 200));
	ck_assert_ptr_eq(wait.other, &threads[1]);
	expect_path("dump", "snprintf");
	ck_assert_int_eq(wait.hops[0].held, !_i);
}
END_TEST

/* The other thread made a futex call: it ends no sleep, and no wait for data or a file's lock. */
START_TEST(a_wait_is_ended_by_a_call_that_can_end_it)
{
	static const struct {
		const char *waits;
		bool ended;
	} cases[] = { { "futex", true },  { "clock_nanosleep", false }, { "read", false },
		      { "flock", false }, { "epoll_wait", false },      { NULL, true } };
	struct symbol call = symbol_special(&names, "[syscall: x]", SPECIAL_SYSCALL);

	if (cases[_i].waits)
		call.linkage = name_intern_text(&names, cases[_i].waits);
	waits = &call;
	log_holder(false);
	ck_assert_int_eq(find_wait(100, 200), cases[_i].ended);
	waits = NULL;
}
END_TEST

/* With less than half of the time, a callee is not named. */
START_TEST(the_main_callee_of_the_other_thread_is_named)
{
	thread_at(1, 100, BRANCH_SYSCALL, "f+4", "");
	thread_at(2, 100 + (uint64_t)_i, BRANCH_RETURN, "snprintf+20", "dump+9");
	thread_at(2, 200, BRANCH_SYSCALL, "dump+20", "");
	ck_assert(find_wait(100, 200));
	expect_path("dump", _i < 50 ? NULL : "snprintf");
}
END_TEST

/* The wait begins with the thread's own system call at 100 ns; at its end, 200 ns, it runs. */
START_TEST(a_wake_is_within_the_wait)
{
	static const struct {
		uint64_t time;
		bool wakes;
	} cases[] = { { 99, false }, { 100, false }, { 101, true }, { 200, true }, { 201, false } };

	if (cases[_i].time < 100)
		thread_at(2, cases[_i].time, BRANCH_SYSCALL, "dump+4", "");
	thread_at(1, 100, BRANCH_SYSCALL, "f+4", "");
	if (cases[_i].time >= 100)
		thread_at(2, cases[_i].time, BRANCH_SYSCALL, "dump+4", "");
	ck_assert_int_eq(find_wait(100, 200), cases[_i].wakes);
}
END_TEST

/* Branches of thread 2, before its system call: "CALLER>CALLEE", "CALLER-TARGET" of a jump. */
static const struct {
	const char *branches, *path;
} paths[] = {
	{ "a>b", "a > b" },
	/* The two outermost ones, and the innermost 14 */
	{ "a>b b>c c>d d>e e>f f>g g>h h>i i>j j>k k>l l>m m>n n>o o>p",
	  "a > b > c > d > e > f > g > h > i > j > k > l > m > n > o > p" },
	{ "a>b b>c c>d d>e e>f f>g g>h h>i i>j j>k k>l l>m m>n n>o o>p p>q q>r",
	  "a > b > ... > e > f > g > h > i > j > k > l > m > n > o > p > q > r" },
	/* A recursion has one entry. */
	{ "a>b b>c c>b b>c c>d", "a > b > c > d" },
	{ "a>b b-c", "a > c" },
	/* libx and liby are of another file: where the program left its own code */
	{ "a>libx libx>liby", "a > libx" },
	{ "a>libx libx>liby liby>b b>liby", "a > libx > b > liby" },
	{ "libx>a a>b", "a > b" },
	{ "libx>a a>liby", "a > liby" },
	/* plt is a stub. */
	{ "a>plt plt-b", "a > b" },
	{ "a>plt plt>libx", "a > libx" },
};

START_TEST(the_path_has_the_calls_of_the_program)
{
	static struct dso library;
	char copy[100], *rest, path[100] = "";
	const char *inner = "a";

	strcpy(copy, paths[_i].branches);
	((struct symbol *)symbol_of("libx"))->dso = &library;
	((struct symbol *)symbol_of("liby"))->dso = &library;
	((struct symbol *)symbol_of("plt"))->kind = SYMBOL_PLT;
	thread_at(1, 100, BRANCH_SYSCALL, "f+4", "");
	for (char *word = strtok_r(copy, " ", &rest); word; word = strtok_r(NULL, " ", &rest)) {
		char *end = word + strcspn(word, ">-");
		enum branch_kind kind = *end == '>' ? BRANCH_CALL : BRANCH_JUMP;

		*end = '\0';
		thread_at(2, 101, kind, word, inner = end + 1);
	}
	thread_at(2, 200, BRANCH_SYSCALL, inner, "");
	ck_assert(find_wait(100, 200));
	for (size_t i = 0; i < wait.hops[0].path_count; i++)
		sprintf(path + strlen(path), "%s%s%s", i ? " > " : "",
			i == 2 && wait.hops[0].path_cut ? "... > " : "",
			wait.hops[0].path[i]->name->text);
	ck_assert_str_eq(path, paths[_i].path);
}
END_TEST

START_TEST(a_thread_of_another_process_is_not_named)
{
	log_holder(false);
	thread_at(5, 197, BRANCH_SYSCALL, "other+4", "");
	ck_assert(find_wait(100, 200));
	ck_assert_ptr_eq(wait.other, &threads[1]);
}
END_TEST

/* Thread 3 runs shortly on the CPU of thread 2, and then thread 4 for a third of the wait, or less.
 */
START_TEST(the_thread_that_ran_most_on_its_cpu_is_named)
{
	thread_at(1, 100, BRANCH_SYSCALL, "f+4", "");
	thread_at(3, 110, BRANCH_CALL, "other+4", "other");
	thread_at(3, 120, BRANCH_RETURN, "other+9", "other+5");
	thread_at(4, 125, BRANCH_CALL, "other+4", "other");
	thread_at(4, 125 + (uint64_t)_i, BRANCH_RETURN, "other+9", "other+5");
	thread_at(2, 195, BRANCH_SYSCALL, "dump+9", "");
	ck_assert(find_wait(100, 200));
	ck_assert_ptr_eq(wait.hops[0].instead, _i < 34 ? NULL : &threads[3]);
}
END_TEST

/* With a waking, it is the system call before that of the waker, whatever it is. */
static const struct {
	int waker;
	uint64_t time;
	const char *path; /* NULL: none */
} wakers[] = {
	{ 2, 199, "dump > snprintf" },
	{ 2, 194, NULL },
	{ 3, 199, "" },
	{ 5, 199, "" },
	{ 4, 199, NULL },
	{ 0, 199, NULL },
};

START_TEST(a_waking_says_who_woke)
{
	const struct thread_waking by = { wakers[_i].time, 1, wakers[_i].waker };

	log_holder(false);
	thread_at(5, 197, BRANCH_CALL, "other+4", "g");
	thread_at(5, 198, BRANCH_SYSCALL, "g+4", "");
	thread_at(2, 201, BRANCH_SYSCALL, "main+9", "");
	waking = &by;
	ck_assert_int_eq(find_wait(100, 200), wakers[_i].path != NULL);
	ck_assert_int_eq(wait.other ? wait.other->tid : 0, wakers[_i].path ? wakers[_i].waker : 0);
	ck_assert_int_eq(wait.hop_count > 0, wakers[_i].path != NULL);
	if (wait.hop_count && *wakers[_i].path)
		expect_path("dump", "snprintf");
	ck_assert_int_eq(wait.hops[0].held, wakers[_i].path != NULL);
}
END_TEST

/* The place with the fewest futex calls counts only without a waking: here that is before the wait.
 */
START_TEST(a_waking_is_by_the_last_system_call)
{
	const struct thread_waking by = { 196, 1, 2 };

	thread_at(2, 80, BRANCH_CALL, "main+4", "early");
	thread_at(2, 82, BRANCH_SYSCALL, "early+4", "");
	thread_at(2, 84, BRANCH_RETURN, "early+8", "main+9");
	thread_at(1, 96, BRANCH_CALL, "f+4", "mutex_lock");
	thread_at(1, 100, BRANCH_SYSCALL, "mutex_lock+4", "");
	for (uint64_t time = 110; time < 200; time += 80) {
		thread_at(2, time, BRANCH_CALL, "dump+9", "mutex_unlock");
		thread_at(2, time + 5, BRANCH_SYSCALL, "mutex_unlock+9", "");
		thread_at(2, time + 6, BRANCH_RETURN, "mutex_unlock+9", "dump+14");
	}
	thread_at(1, 198, BRANCH_SYSCALL, "mutex_lock+4", "");
	waking = &by;
	ck_assert(find_wait(100, 200));
	ck_assert_int_eq(wait.other->tid, 2);
	ck_assert_uint_ge(wait.hops[0].ns, 90);
}
END_TEST

/* "b+3 a+8 main+4": the chain of the last event. */
static void expect_chain(const char *expected)
{
	struct syscall_chain chain = thread_log_chain(&logged, &logged.events[logged.count - 1]);
	char text[200] = "";

	for (unsigned i = 0; i < chain.count; i++)
		snprintf(text + strlen(text), sizeof(text) - strlen(text), "%s%s+%u", i ? " " : "",
			 chain.calls[i].function->name->text, (unsigned)chain.calls[i].offset);
	ck_assert_str_eq(text, expected);
}

static const struct {
	enum branch_kind kind;
	int thread;
	const char *from, *to, *expected;
} between[] = {
	{ BRANCH_CALL, 3, "x+1", "b", "b+3 a+8 main+4" },     /* another thread */
	{ BRANCH_RETURN, 2, "c+9", "b+2", "b+3" },            /* it was in another call */
	{ BRANCH_CALL, 2, "b+1", "c", "b+3" },                /* which may have jumped here */
	{ BRANCH_CALL, 2, "", "b", "b+3" },                   /* a caller without code */
	{ BRANCH_JUMP, 2, "c+1", "b", "b+3" },                /* a tail call */
	{ BRANCH_CALL, 2, "b+2", "b", "b+3 b+2 a+8 main+4" }, /* a recursion */
	{ BRANCH_COND, 2, "b+1", "b+2", "b+3 a+8 main+4" },   /* is not logged */
};

START_TEST(a_system_call_has_the_calls_that_led_to_it)
{
	thread_at(2, 90, BRANCH_RETURN, "old+4", "main+2");
	thread_at(2, 100, BRANCH_CALL, "main+4", "a");
	thread_at(2, 110, BRANCH_CALL, "a+8", "b");
	thread_at(between[_i].thread, 120, between[_i].kind, between[_i].from, between[_i].to);
	thread_at(2, 130, BRANCH_SYSCALL, "b+3", "");
	expect_chain(between[_i].expected);
}
END_TEST

START_TEST(a_chain_has_five_calls_at_most)
{
	static const char *const froms[] = { "a+1", "b+2", "c+3", "d+4", "e+5", "g+6" };
	static const char *const tos[] = { "b", "c", "d", "e", "g", "h" };

	for (int i = 0; i < 6; i++)
		thread_at(2, 100, BRANCH_CALL, froms[i], tos[i]);
	thread_at(2, 130, BRANCH_SYSCALL, "h+7", "");
	expect_chain("h+7 g+6 e+5 d+4 c+3");
}
END_TEST

/* Of threads p/2 and p/3; with a path if `path`. */
static const struct {
	int waker; /* -1: not recorded */
	bool preempted, held, path, known;
	const char *expected;
} words[] = {
	{ 2, false, false, true, true,
	  "off CPU 2us; woken by p/2; CPU 1 ran p/3 for 75 %\nwaited for p/2: g\n" },
	{ 2, false, true, true, true,
	  "off CPU 2us; woken by p/2; CPU 1 ran p/3 for 75 %\nwaited for p/2, likely for a lock: g\n" },
	{ 2, false, false, false, true, "off CPU 2us; woken by p/2; CPU 1 ran p/3 for 75 %\n" },
	{ 9, false, false, false, false, "off CPU 2us; CPU 1 ran p/3 for 75 %\n" },
	{ 0, false, false, false, false,
	  "off CPU 2us; woken by an interrupt; CPU 1 ran p/3 for 75 %\n" },
	{ -1, false, true, true, true,
	  "off CPU 2us; CPU 1 ran p/3 for 75 %\nlikely waited for a lock of p/2: g\n" },
	{ -1, true, false, false, false, "off CPU 2us, preempted; CPU 1 ran p/3 for 75 %\n" },
};

START_TEST(what_is_recorded_is_not_said_to_be_likely)
{
	const struct thread_waking by = { 190, 1, words[_i].waker };
	struct slow_answer answer = { 0 };
	struct slow_cluster cluster = { .wait = { .off = { .begin = 1000,
							   .end = 3000,
							   .cpu = 1,
							   .preempted = words[_i].preempted,
							   .instead = &threads[2],
							   .instead_ns = 1500,
							   .waking = words[_i].waker < 0 ? NULL
											 : &by },
						  .other = words[_i].known ? &threads[1] : NULL,
						  .hops = { { .thread = &threads[1],
							      .path = { symbol_of("g") },
							      .path_count = 1,
							      .proved = words[_i].waker >= 0,
							      .held = words[_i].held } },
						  .hop_count = words[_i].path } };

	expect_words(&answer, &cluster, words[_i].expected);
}
END_TEST

/*
 * "TID@TIME FROM KIND TO, ...": a call (>), return (<), system call (!) or resumption after one
 * (.). Thread 1 waits from 100 to 200 ns.  The chain: "TID lock: PATH; ...", also " (CALL)" in
 * which the last one waited.
 */
static const struct {
	const char *events, *chain;
} chains[] = {
	/* Thread 3 held the lock from before; 2 took another one meanwhile, and unlocks later. */
	{ "3@90 b > mutex_lock, 3@91 mutex_lock < b, 1@99 a > mutex_lock, 1@100 mutex_lock !, "
	  "2@120 c > mutex_lock, 2@130 mutex_lock < c, 3@190 b > mutex_unlock, 3@195 mutex_unlock !, "
	  "2@196 c > mutex_unlock, 2@197 mutex_unlock !, 1@200 . mutex_lock",
	  "3 lock: b" },
	/* Thread 2 waited for a lock itself, a condition, a semaphore: it released nothing. */
	{ "1@99 a > mutex_lock, 1@100 mutex_lock !, 2@120 c > mutex_lock, 2@121 mutex_lock !, "
	  "1@200 . mutex_lock",
	  "" },
	{ "1@99 a > cond_wait, 1@100 cond_wait !, 2@120 c > cond_wait, 2@121 cond_wait !", "" },
	{ "1@99 a > sem_wait, 1@100 sem_wait !, 2@120 c > sem_wait, 2@121 sem_wait !", "" },
	{ "1@100 a !, 2@120 c > mutex_lock, 2@121 mutex_lock !", "" },
	/* Thread 2 signals three times by one call, and the first did not end the wait. */
	{ "1@99 a > cond_wait, 1@100 cond_wait !, 2@110 c > cond_signal, 2@111 cond_signal !, "
	  "2@112 cond_signal < c, 2@150 c > cond_signal, 2@151 cond_signal !, "
	  "2@152 cond_signal < c, 3@170 b > cond_signal, 3@171 cond_signal !, "
	  "2@190 c > cond_signal, 2@191 cond_signal !, 1@200 . cond_wait",
	  "3: b" },
	/* What ends the wait for a condition, a semaphore, a barrier; an unlock does not. */
	{ "1@99 a > cond_wait, 1@100 cond_wait !, 3@110 b > cond_signal, 3@111 cond_signal !, "
	  "2@120 c > mutex_unlock, 2@121 mutex_unlock !",
	  "3: b" },
	{ "1@99 a > sem_wait, 1@100 sem_wait !, 3@110 b > sem_post, 3@111 sem_post !, "
	  "2@120 c > cond_broadcast, 2@121 cond_broadcast !",
	  "3: b" },
	{ "1@99 a > barrier_wait, 1@100 barrier_wait !, 3@110 b > barrier_wait, "
	  "3@111 barrier_wait !, 2@120 c > sem_post, 2@121 sem_post !",
	  "3: b" },
	/* A condition's lock that was taken again meanwhile is a lock. */
	{ "1@98 a > cond_wait, 1@99 cond_wait > mutex_cond_lock, 1@100 mutex_cond_lock !, "
	  "2@120 c > cond_signal, 2@121 cond_signal !, 3@150 b > mutex_unlock, "
	  "3@151 mutex_unlock !",
	  "3 lock: b" },
	/* Thread 2 waited for 3 for 60 ns of 90, and 3 worked. */
	{ "1@99 a > sem_wait, 1@100 sem_wait !, 2@110 c > sem_wait, 2@111 sem_wait !, "
	  "3@112 b > d, 3@160 d < b, 3@170 b > sem_post, 3@171 sem_post !, 2@172 . sem_wait, "
	  "2@173 sem_wait < c, 2@189 c > sem_post, 2@190 sem_post !, 1@200 . sem_wait",
	  "2: c > sem_wait; 3: b > d" },
	/* Thread 2 waited for 3 for a third of the time only. */
	{ "1@99 a > sem_wait, 1@100 sem_wait !, 2@140 c > sem_wait, 2@141 sem_wait !, "
	  "3@170 b > sem_post, 3@171 sem_post !, 2@172 . sem_wait, 2@173 sem_wait < c, "
	  "2@189 c > sem_post, 2@190 sem_post !, 1@200 . sem_wait",
	  "2: c" },
	/* Thread 2 waited, and nobody ended it. */
	{ "1@99 a > sem_wait, 1@100 sem_wait !, 2@110 c > nap, 2@111 nap !, 2@180 . nap, "
	  "2@181 nap < c, 2@189 c > sem_post, 2@190 sem_post !, 1@200 . sem_wait",
	  "2: c > nap (futex)" },
};

static void log_events(const char *text)
{
	char *copy = strdup(text), *rest;

	for (char *word = strtok_r(copy, ",", &rest); word; word = strtok_r(NULL, ",", &rest)) {
		static const char kinds[] = "><!.";
		static const enum branch_kind of[] = { BRANCH_CALL, BRANCH_RETURN, BRANCH_SYSCALL,
						       BRANCH_NONE };
		char from[32] = "", to[32] = "", kind[2] = "";
		int thread, time, at;

		ck_assert(sscanf(word, " %d@%d %n", &thread, &time, &at) == 2);
		if (word[at] == '.')
			sscanf(word + at, ". %31s", to), strcpy(kind, ".");
		else
			sscanf(word + at, "%31s %1s %31s", from, kind, to);
		thread_at(thread, (uint64_t)time, of[strchr(kinds, *kind) - kinds], from, to);
	}
	free(copy);
}

START_TEST(a_chain_of_waits_is_followed)
{
	char text[200] = "";

	log_events(chains[_i].events);
	find_wait(100, 200);
	for (size_t i = 0; i < wait.hop_count; i++) {
		const struct thread_hop *hop = &wait.hops[i];

		sprintf(text + strlen(text), "%s%d%s:", i ? "; " : "", (int)hop->thread->tid,
			hop->held ? " lock" : "");
		for (size_t j = 0; j < hop->path_count; j++)
			sprintf(text + strlen(text), "%s%s", j ? " > " : " ",
				hop->path[j]->name->text);
		if (hop->blocked)
			sprintf(text + strlen(text), " (%s)", hop->blocked->linkage->text);
	}
	ck_assert_str_eq(text, chains[_i].chain);
}
END_TEST

/* Thread 3 has the CPU of thread 2 while that waits, or, from 135 ns, while that could run. */
START_TEST(a_thread_that_waits_does_not_compete_for_a_cpu)
{
	log_events("1@100 f !, 2@105 c !");
	thread_at(3, 110, BRANCH_CALL, "other", "other");
	log_events(_i ? "3@115 other < other, 2@116 . c, 2@117 d < c" : "");
	thread_at(3, 118, BRANCH_CALL, "other", "other");
	thread_at(3, 170, BRANCH_RETURN, "other", "other");
	log_events("2@190 c !");
	ck_assert(find_wait(100, 200));
	ck_assert_ptr_eq(wait.hops[0].instead, _i ? &threads[2] : NULL);
}
END_TEST

START_TEST(without_a_call_that_wakes_nobody_is_named)
{
	log_holder(false);
	ck_assert(!find_wait(100, 194));
	ck_assert(find_wait(80, 95));
	ck_assert_ptr_eq(wait.other, &threads[2]);
	ck_assert_int_eq(wait.hops[0].held, false);
}
END_TEST

/* ---- More windows --------------------------------------------------------------- */

/* A look at clusters with as many slow calls, at 10,000 for the first and so on; usual ones at
 * 100,000. */
static struct looked {
	struct track track;
	struct slow_function function;
	struct slow_calls calls;
	struct slow_call slow[6], usual[USUAL_CALLS];
	const struct slow_call *of_cluster[6];
	struct slow_cluster clusters[4];
	struct slow_answer answer;
	struct slow_look look;
} looked;

static void start_look(const size_t counts[4], int usual)
{
	size_t next = 0;

	memset(&looked, 0, sizeof(looked));
	looked.track.tid = 1;
	looked.function = (struct slow_function){ .symbol = symbol_of("f"), .kept = true };
	looked.calls.functions = &looked.function;
	looked.calls.function_count = 1;
	for (int i = 0; i < usual; i++)
		looked.usual[i] = (struct slow_call){ .track = &looked.track,
						      .begin = 100000 + 10000 * (uint64_t)i,
						      .duration = 300 };
	looked.function.samples = looked.usual;
	looked.function.sample_count = (size_t)usual;
	looked.answer = (struct slow_answer){ .calls = &looked.calls,
					      .of = &looked.function,
					      .bound = 400,
					      .clusters = looked.clusters };
	for (size_t i = 0; i < 4 && counts[i]; i++) {
		looked.clusters[i].calls = &looked.of_cluster[next];
		looked.clusters[i].count = counts[i];
		looked.clusters[i].extra = 100;
		for (size_t k = 0; k < counts[i]; k++, next++) {
			looked.slow[next] = (struct slow_call){ .begin = 10000 * (next + 1),
								.duration = 500,
								.track = &looked.track };
			looked.of_cluster[next] = &looked.slow[next];
		}
		looked.answer.count++;
	}
	looked.look = (struct slow_look){ .answers = &looked.answer, .count = 1 };
}

static void end_look(void)
{
	slow_look_release(&looked.look);
	code_counts_release(&looked.answer.code);
	for (size_t i = 0; i < 4; i++)
		code_counts_release(&looked.clusters[i].code);
}

/* Begins of the windows' calls, in units of 10,000 ns. */
static const char *windows_of_look(void)
{
	static char text[100];
	struct look_window window = { 0 };

	text[0] = 0;
	while (slow_look_next(&looked.look, &window)) {
		ck_assert_int_eq(window.tid, 1);
		sprintf(text + strlen(text), "%d ", (int)((window.begin + LOOK_SLACK) / 10000));
		ck_assert_uint_eq((window.begin + LOOK_SLACK) % 10000, 0);
	}
	return text;
}

/* Two slow calls of the first cluster, one of two others, then the usual ones. */
START_TEST(slow_calls_are_looked_at_before_usual_ones)
{
	static const struct {
		size_t counts[4];
		int usual;
		const char *windows;
	} rows[] = {
		{ { 1 }, 1, "1 10 " },
		{ { 3 }, 1, "1 2 10 " },
		{ { 2, 2 }, 2, "1 2 3 10 11 " },
		{ { 1, 1, 1, 1 }, 4, "1 2 3 10 11 12 13 " },
		{ { 1 }, 0, "1 " },
		{ { 0 }, 4, "" },
	};

	start_look(rows[_i].counts, rows[_i].usual);
	ck_assert_str_eq(windows_of_look(), rows[_i].windows);
	end_look();
}
END_TEST

/* Stops that hit all code say nothing about code; instructions have no time to look at. */
START_TEST(some_causes_are_not_looked_at)
{
	static const size_t counts[4] = { 1, 1 };
	static const struct {
		bool alike, off_cpu, by_insns;
		double often;
		const char *windows;
	} rows[] = {
		{ false, false, false, 2, "1 2 10 " }, { true, false, false, 2, "2 10 " },
		{ true, false, false, 0, "1 2 10 " }, /* few stops are no evidence */
		{ true, true, false, 2, "1 2 10 " },   { false, false, true, 2, "" },
	};
	struct symbol *symbol = (struct symbol *)symbol_of("f");

	start_look(counts, 1);
	symbol->special = rows[_i].off_cpu ? SPECIAL_OFF_CPU : 0;
	looked.clusters[0].alike = rows[_i].alike;
	looked.clusters[0].often = rows[_i].often;
	looked.calls.by_insns = rows[_i].by_insns;
	ck_assert_str_eq(windows_of_look(), rows[_i].windows);
	symbol->special = 0;
	end_look();
}
END_TEST

/* The slow call from 10,000 to 10,500: its begin, and half of it, must be seen. */
START_TEST(half_of_a_slow_call_is_enough)
{
	static const size_t counts[4] = { 1 };
	static const struct {
		uint64_t begin, last;
		bool returns, counted, usual;
	} rows[] = {
		{ 10000, 10250, false, true, false }, { 10000, 10249, false, false, false },
		{ 9990, 10250, false, true, false },  { 10001, 10500, false, false, false },
		{ 10000, 10500, true, true, false },  { 10000, 10200, true, false, true },
		{ 10001, 10401, true, false, true },  { 10001, 10402, true, false, false },
	};
	struct look_window window = { 0 };

	start_look(counts, 0);
	ck_assert(slow_look_next(&looked.look, &window));
	look_at(&looked.look, rows[_i].begin, BRANCH_CALL, "main+10", "f");
	look_at(&looked.look, rows[_i].last, rows[_i].returns ? BRANCH_RETURN : BRANCH_COND, "f+40",
		rows[_i].returns ? "main+15" : "f+20");
	ck_assert(!slow_look_next(&looked.look, &window));
	ck_assert_uint_eq(looked.clusters[0].code.calls, rows[_i].counted);
	ck_assert_uint_eq(looked.answer.code.calls, rows[_i].usual);
	end_look();
}
END_TEST

/* Enough calls are compared: 16 of a window, and no further window after eight. */
START_TEST(enough_usual_calls_are_enough)
{
	static const size_t counts[4] = { 1 };
	static const struct {
		int calls;
		uint64_t counted;
		const char *windows; /* after the first usual one */
	} rows[] = { { 7, 7, "11 " }, { 8, 8, "" }, { 16, 16, "" }, { 20, 16, "" } };
	struct look_window window = { 0 };

	start_look(counts, 2);
	ck_assert(slow_look_next(&looked.look, &window));
	ck_assert(slow_look_next(&looked.look, &window));
	for (int i = 0; i < rows[_i].calls; i++) {
		look_at(&looked.look, 100000 + 10 * (uint64_t)i, BRANCH_CALL, "main+10", "f");
		look_at(&looked.look, 100005 + 10 * (uint64_t)i, BRANCH_RETURN, "f+44", "main+15");
	}
	ck_assert_str_eq(windows_of_look(), rows[_i].windows);
	ck_assert_uint_eq(looked.answer.code.calls, rows[_i].counted);
	end_look();
}
END_TEST

/* Windows that were too long for the look are counted. */
START_TEST(windows_that_are_left_out_are_counted)
{
	static const size_t counts[4] = { 2 };
	struct look_window window = { 0 };

	start_look(counts, 1);
	while (slow_look_next(&looked.look, &window))
		window.left_out = true;
	ck_assert_uint_eq(looked.look.windows, 3);
	ck_assert_uint_eq(looked.look.left_out, 3);
	end_look();
}
END_TEST

/* ---- Noise --------------------------------------------------------------- */

static uint32_t random_state;

static uint32_t random_below(uint32_t limit)
{
	random_state = random_state * 1664525 + 1013904223;
	return (random_state >> 16) % limit;
}

static void spend(const struct slice_sink *sink, struct track *track, const char *name,
		  uint64_t *time, uint64_t ns)
{
	const struct slice_event call = { .time = *time, .symbol = symbol_of(name) };

	slice_sink_emit_whole(sink, track, &call, *time += ns);
}

/*
 * Calls of f in two threads, by two callers: each has equal callees, of which a random one takes
 * longer in one of 20 calls.
 */
static void make_noise(const struct slice_sink *sink, struct track tracks[2])
{
	static const char *const callees[] = { "a", "b", "c", "d" };
	uint64_t time = 1000;

	for (int i = 0; i < 400; i++) {
		struct track *track = &tracks[random_below(2)];
		struct slice_event outer = { .symbol = symbol_of(random_below(2) ? "p" : "q") };
		struct slice_event event = { .symbol = symbol_of("f") };
		const struct slice_event end = { .kind = SLICE_END };
		uint32_t stalls = random_below(20) ? 4 : random_below(4);

		outer.time = event.time = time += random_below(500);
		slice_sink_emit(sink, track, &outer, NULL);
		slice_sink_emit(sink, track, &event, NULL);
		for (uint32_t j = 0; j < 4; j++)
			spend(sink, track, callees[j], &time, j == stalls ? 2000 : 50);
		outer = event = end;
		outer.time = event.time = time;
		slice_sink_emit(sink, track, &event, NULL);
		slice_sink_emit(sink, track, &outer, NULL);
	}
}

/* The code of each cause: as many instructions as usual, 40 times as long. */
static void add_slow_code(struct slow_answer *answer)
{
	for (size_t i = 0; i < answer->count; i++) {
		struct slow_cluster *cluster = &answer->clusters[i];
		const struct code_key key = { .symbol = slow_symbol(answer, cluster->cause),
					      .last = 6 };

		cluster->code.calls = answer->code.calls = 1;
		for (int slow = 0; slow < 2; slow++) {
			struct code_part *part =
				code_counts_part(slow ? &cluster->code : &answer->code, &key);

			part->count = 5;
			part->insns = 40;
			part->ns = slow ? 2000 : 50;
		}
	}
}

START_TEST(equal_calls_with_random_stalls_are_only_noise)
{
	static struct dso program;
	struct callstack_machine machine = { .times = TIMES_MEASURED };
	struct track tracks[2] = { { .tid = 1 }, { .tid = 2, .index = 1 } };
	struct options options = { 0 };
	struct output file = { 0 };
	struct look_window window = { 0 };
	struct format_output *output;
	char *text;
	size_t size;

	random_state = (uint32_t)_i;
	output = output_format_open(&format_why,
				    &(struct format_request){ .options = &options,
							      .output = &file,
							      .text = open_memstream(&text, &size),
							      .names = &names,
							      .facts = { .program = &program } });
	output->machine = &machine;
	program.short_name = name_intern_text(&names, "prog");
	make_noise(&output->sink, tracks);
	for (size_t i = 0; i < symbol_count; i++)
		symbols[i].dso = &program;
	format_why.look(output, &window);
	add_slow_code(((struct why_output *)output)->answers);
	format_why.finish(output);
	fflush(output->text);
	ck_assert_msg(strstr(text, "f: ") && strstr(text, "; likely noise of the machine"), "%s",
		      text);
	ck_assert_msg(!strstr(text, "likely memory") && !strstr(text, " slow calls, but"), "%s",
		      text);
	fclose(output->text);
	output_format_close(&format_why, output);
	free(text);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("slow_code");
	TCase *all = tcase_create("all");

	tcase_add_checked_fixture(all, setup, teardown);
	tcase_add_test(all, time_is_divided_among_code);
	tcase_add_test(all, only_calls_of_the_function_count);
	tcase_add_test(all, a_recursion_has_its_time_once);
	tcase_add_test(all, stops_do_not_count_and_system_calls_do);
	tcase_add_test(all, a_gap_drops_the_call);
	tcase_add_test(all, a_call_ends_without_a_return);
	tcase_add_test(all, tail_calls_are_followed);
	tcase_add_loop_test(all, the_loop_with_the_most_extra_time_is_named, 0, 5);
	tcase_add_test(all, a_usual_call_counts_if_it_returns_in_its_window);
	tcase_add_loop_test(all, an_instruction_that_stops_often_is_named, 4, 6);
	tcase_add_loop_test(all, an_instruction_that_stops_often_in_one_call_is_named, 1, 3);
	tcase_add_test(all, an_outer_loop_comes_before_an_inner_one);
	tcase_add_loop_test(all, a_loop_of_a_library_is_named_by_address, 0, 2);
	tcase_add_loop_test(all, extra_time_is_divided_among_lines, 0, 7);
	tcase_add_loop_test(all, the_same_code_takes_more_time_for_a_reason, 0, 6);
	tcase_add_loop_test(all, the_thread_that_woke_a_waiting_one_is_found, 0, 2);
	tcase_add_loop_test(all, a_wait_is_ended_by_a_call_that_can_end_it, 0, 6);
	tcase_add_loop_test(all, the_main_callee_of_the_other_thread_is_named, 40, 60);
	tcase_add_loop_test(all, a_wake_is_within_the_wait, 0, 5);
	tcase_add_loop_test(all, the_path_has_the_calls_of_the_program, 0, COUNT_OF(paths));
	tcase_add_test(all, a_thread_of_another_process_is_not_named);
	tcase_add_loop_test(all, the_thread_that_ran_most_on_its_cpu_is_named, 33, 35);
	tcase_add_loop_test(all, a_waking_says_who_woke, 0, 6);
	tcase_add_test(all, a_waking_is_by_the_last_system_call);
	tcase_add_loop_test(all, a_system_call_has_the_calls_that_led_to_it, 0, 7);
	tcase_add_test(all, a_chain_has_five_calls_at_most);
	tcase_add_loop_test(all, what_is_recorded_is_not_said_to_be_likely, 0, 7);
	tcase_add_test(all, without_a_call_that_wakes_nobody_is_named);
	tcase_add_loop_test(all, the_first_branch_that_differs_is_named, 0, COUNT_OF(partings));
	tcase_add_loop_test(all, a_chain_of_waits_is_followed, 0, COUNT_OF(chains));
	tcase_add_loop_test(all, a_thread_that_waits_does_not_compete_for_a_cpu, 0, 2);
	tcase_add_loop_test(all, slow_calls_are_looked_at_before_usual_ones, 0, 6);
	tcase_add_loop_test(all, some_causes_are_not_looked_at, 0, 5);
	tcase_add_loop_test(all, half_of_a_slow_call_is_enough, 0, 8);
	tcase_add_loop_test(all, enough_usual_calls_are_enough, 0, 4);
	tcase_add_test(all, windows_that_are_left_out_are_counted);
	tcase_add_loop_test(all, equal_calls_with_random_stalls_are_only_noise, 0, 20);
	suite_add_tcase(suite, all);
	return unit_run(suite);
}
