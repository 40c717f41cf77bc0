/* SPDX-License-Identifier: MIT */
/*
 * Each rule of the precise machine, on artificial functions: "f" is at 0x1000 per letter, calls are
 * 5 bytes long.  Events are 10 ns apart.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "src/callstack/callstack.h"
#include "tests/support/precise_depth.h"
#include "tests/support/stack_branch.h"
#include "tests/support/unit.h"
#include "tests/unit/src/slice_log.h"

#define BASE UINT64_C(1000000)
/* Calls; capacity grows to at most twice as many. */
#define DEEP 5000

static struct name_table names;
static struct arena arena;
static struct diag diag;
static struct slice_log slices;
static struct callstack_machine *machine;
static struct callstack *stack;
static struct symbol *symbols[128];
static uint64_t now;

/* This many branches are fed at once; 0: one by one, with empty notes. */
#define AT_ONCE_MOST 8
static size_t at_once;
static struct stack_branch held[AT_ONCE_MOST]; /* not fed yet */
static size_t held_count;

static bool takes_edges;

static uint8_t call_length;
static uint32_t insns; /* up to the next branch */

static void setup(void)
{
	call_length = 5;
	insns = 0;
	name_table_init(&names);
	diag_init(&diag);
	slice_log_init(&slices);
	slices.sink.immediate = !takes_edges;
	slices.base = BASE;

	struct callstack_options options = {
		.mode = TRACE_MODE_USER, .sink = &slices.sink, .names = &names, .diag = &diag
	};

	machine = callstack_precise_open(&options);
	machine->open_most = 2 * DEEP;
	machine->pending_most = DEEP;
	stack = callstack_open(machine, NULL);
	now = BASE;
}

static void setup_short(void)
{
	setup();
	at_once = 1;
}

static void setup_many(void)
{
	setup();
	at_once = 3;
}

/* With a sink that takes many begins and ends at once, like the sorter. */
static void setup_edges(void)
{
	takes_edges = true;
	setup_many();
}

static void teardown(void)
{
	at_once = 0;
	takes_edges = false;
	callstack_close(stack);
	callstack_machine_close(machine);
	name_table_release(&names);
	diag_release(&diag);
	arena_release(&arena);
	memset(symbols, 0, sizeof(symbols));
}

/* A letter's function; upper case is its PLT stub. */
static struct symbol *function(char letter)
{
	char text[10] = { letter, 0 };

	if (!symbols[(int)letter]) {
		symbols[(int)letter] = arena_alloc(&arena, sizeof(struct symbol));
		symbols[(int)letter]->name = symbols[(int)letter]->linkage =
			name_intern_text(&names, text);
		if (letter >= 'A' && letter <= 'Z')
			symbols[(int)letter]->kind = SYMBOL_PLT;
	}
	return symbols[(int)letter];
}

static struct location at(char letter, uint64_t offset)
{
	struct location location = { (uint64_t)letter * 0x1000 + offset, function(letter), offset };

	return letter ? location : (struct location){ 0 };
}

static void feed_held(void)
{
	struct known_branch known[AT_ONCE_MOST] = { 0 };
	struct branch_event events[AT_ONCE_MOST];
	size_t fed = 0;

	for (size_t i = 0; i < held_count; i++) {
		known[i].locations = location_pair_of(&held[i].from, &held[i].to, NULL);
		known[i].locations.reached = true;
		events[i] = held[i].event;
		events[i].known = &known[i];
	}
	while (fed < held_count) {
		fed += callstack_feed_plain(stack, &events[fed], held_count - fed, true);
		if (fed < held_count)
			stack_branch_feed(stack, &held[fed++]);
	}
	held_count = 0;
}

static void feed_branch(const struct stack_branch *branch)
{
	struct stack_branch alone = *branch;

	if (!at_once || branch->has_notes) {
		feed_held();
		alone.has_notes = true;
		stack_branch_feed(stack, &alone);
		return;
	}
	held[held_count++] = *branch;
	if (held_count == at_once)
		feed_held();
}

static void finish(void)
{
	feed_held();
	callstack_finish(stack);
}

static void feed(enum branch_kind kind, struct location from, struct location to, unsigned flags)
{
	struct stack_branch branch = {
		.event = { .time = now,
			   .kind = (uint8_t)kind,
			   .flags = (uint8_t)flags,
			   .insns = insns,
			   .from_length = kind == BRANCH_SYSCALL ? 2 : call_length },
		.from = from,
		.to = to
	};

	feed_branch(&branch);
	now += 10;
	insns = 0;
}

static void call(char from, uint64_t offset, char to)
{
	feed(BRANCH_CALL, at(from, offset), at(to, 0), 0);
}

static void ret(char from, char to, uint64_t offset)
{
	feed(BRANCH_RETURN, at(from, 0x80), at(to, offset), 0);
}

static void jump(char from, char to, uint64_t offset)
{
	feed(BRANCH_JUMP, at(from, 0x40), at(to, offset), 0);
}

static void gap(enum gap_reason reason)
{
	struct stack_branch branch = {
		.event = { .time = now, .kind = BRANCH_GAP, .gap = (uint8_t)reason }
	};

	feed_branch(&branch);
	now += 10;
}

/* Finish and compare all slices with "B 0 f\n..."; this consumes the stack. */
static void expect(const char *text)
{
	finish();
	ck_assert_str_eq(slice_log_take(&slices), text);
}

static void expect_depth(size_t depth)
{
	feed_held();
	ck_assert_uint_eq(precise_depth(stack), depth);
}

START_TEST(a_return_pops_the_frame_that_was_called_from_there)
{
	call('m', 0x10, 'f');
	call('f', 0x10, 'g');
	ret('g', 'f', 0x15);
	ret('f', 'm', 0x15);
	expect("B 0 f\nB 10 g\nE 20 g\nE 30 f\nE 30 m\nB 0 m inferred deferred\nS\n");
}
END_TEST

START_TEST(a_return_deeper_pops_all_above)
{
	call('m', 0x10, 'f');
	call('f', 0x10, 'g');
	call('g', 0x10, 'h');
	expect_depth(3);
	ret('h', 'm', 0x15);
	expect_depth(0);
}
END_TEST

/* A search indexes deep frames; later returns and calls replace some of these. */
START_TEST(a_deep_frame_is_found_after_indexed_ones_were_replaced)
{
	call('m', 0x10, 'f');
	for (unsigned i = 0; i < 100; i++)
		call('f', 0x100 + i * 5, 'f');
	jump('f', 'g', 0x80); /* to no call's return: the search compares all frames */
	ret('g', 'f', 0x100 + 100 * 5);
	for (unsigned i = 99; i > 10; i--)
		ret('f', 'f', 0x100 + i * 5);
	expect_depth(11);
	for (unsigned i = 10; i < 80; i++)
		call('f', 0x800 + i * 5, 'f');
	expect_depth(81);
	ret('f', 'f', 0x800 + 21 * 5);
	expect_depth(21);
}
END_TEST

/* `call $+5; pop`: old compilers' position-independent code reads its address this way. */
START_TEST(a_call_that_reads_the_instruction_pointer_opens_no_slice)
{
	struct symbol *file = function('n');
	struct location from = { 0x9000, file, 0 }, to = { 0x9005, file, 0 };

	/* Code without symbols: the offset in the file's symbol is always 0. */
	file->kind = SYMBOL_FILE;
	call('m', 0x10, 'f');
	feed(BRANCH_CALL, from, to, 0);
	feed(BRANCH_CALL, from, to, 0);
	expect_depth(1);
	/* With symbols, a function after the call is a function. */
	feed(BRANCH_CALL, at('f', 0xffb), at('g', 0), 0);
	expect_depth(2);
}
END_TEST

START_TEST(addresses_distinguish_recursive_calls)
{
	call('m', 0x10, 'f');
	call('f', 0x10, 'f');
	call('f', 0x20, 'f');
	expect_depth(3);
	ret('f', 'f', 0x25);
	expect_depth(2);
	ret('f', 'f', 0x15);
	expect_depth(1);
}
END_TEST

START_TEST(a_tail_call_keeps_where_its_caller_returns)
{
	call('m', 0x10, 'f');
	jump('f', 'g', 0);
	expect_depth(1);
	ret('g', 'm', 0x15);
	expect_depth(0);
	expect("B 0 f\nE 10 f\nB 10 g\nE 20 g\nE 20 m\nB 0 m inferred deferred\nS\n");
}
END_TEST

/* GCC moves cold code to FUNCTION.cold, which jumps back into FUNCTION. */
START_TEST(a_jump_to_a_part_of_the_function_is_no_tail_call)
{
	function('c')->function = function('f');
	call('m', 0x10, 'f');
	jump('f', 'c', 0);
	call('c', 0x10, 'g');
	ret('g', 'c', 0x15);
	jump('c', 'f', 0x50);
	ret('f', 'm', 0x15);
	expect("B 0 f\nB 20 g\nE 30 g\nE 50 f\nE 50 m\nB 0 m inferred deferred\nS\n");
}
END_TEST

START_TEST(a_stub_and_its_target_are_one_call)
{
	call('m', 0x10, 'F');
	jump('F', 'f', 0);
	ret('f', 'm', 0x15);
	expect("B 10 f\nE 20 f\nE 20 m\nB 0 m inferred deferred\nS\n");
}
END_TEST

/*
 * As in i386's glibc: "F" is unbound and jumps to ".plt" ("P"), which jumps to the resolver, which
 * ends with `ret $12`.
 */
static void call_unbound_stub(void)
{
	call('m', 0x10, 'F');
	jump('F', 'P', 0);
	jump('P', 'r', 0);
	call('r', 0x10, 'x');
	ret('x', 'r', 0x15);
}

START_TEST(a_resolver_that_returns_to_the_function_jumps_to_it)
{
	call('l', 0x10, 'm');
	call_unbound_stub();
	ret('r', 'f', 0);
	expect_depth(2);
	ret('f', 'm', 0x15);
	expect_depth(1);
	ret('m', 'l', 0x15);
	expect("B 0 m\nB 30 r\nB 40 x\nE 50 x\nE 60 r\nB 60 f\nE 70 f\nE 80 m\nE 80 l\n"
	       "B 0 l inferred deferred\nS\n");
}
END_TEST

/* The stub's page is touched for the first time, so it is read from the file. */
START_TEST(a_page_fault_in_the_stubs_does_not_hide_the_resolver)
{
	call('l', 0x10, 'm');
	call('m', 0x10, 'F');
	jump('F', 'P', 0);
	feed(BRANCH_NONE, at('P', 6), at(0, 0), BRANCH_TRACE_OFF | BRANCH_ASYNC);
	feed(BRANCH_NONE, at(0, 0), at('P', 6), BRANCH_TRACE_ON);
	jump('P', 'r', 0);
	ret('r', 'f', 0);
	expect_depth(2);
	ret('f', 'm', 0x15);
	expect_depth(1);
	ret('m', 'l', 0x15);
	expect_depth(0);
}
END_TEST

/* The resolved function is no resolver: its own return to an entry begins another stack. */
START_TEST(a_resolved_function_may_begin_a_coroutine_by_a_return)
{
	call('l', 0x10, 'm');
	call_unbound_stub();
	ret('r', 'f', 0);
	ret('f', 'c', 0);
	expect_depth(0);
	call('c', 0x10, 'f');
	ret('f', 'm', 0x15);
	expect_depth(1);
	ret('m', 'l', 0x15);
	expect_depth(0);
}
END_TEST

/* The same with a nameless resolver, which jumps to the function. */
START_TEST(a_function_that_a_nameless_resolver_jumps_to_may_begin_a_coroutine_by_a_return)
{
	const struct location resolver = { .ip = 0x900000 };

	call('l', 0x10, 'm');
	call('m', 0x10, 'F');
	jump('F', 'P', 0);
	feed(BRANCH_JUMP, at('P', 0), resolver, 0);
	feed(BRANCH_JUMP, resolver, at('f', 0), 0);
	ret('f', 'c', 0);
	expect_depth(0);
	call('c', 0x10, 'f');
	ret('f', 'm', 0x15);
	expect_depth(1);
	ret('m', 'l', 0x15);
	expect_depth(0);
}
END_TEST

/* A bound stub, and one in code with retpolines, leave no state behind. */
START_TEST(a_function_after_a_bound_stub_may_begin_a_coroutine_by_a_return)
{
	call('l', 0x10, 'm');
	call('m', 0x10, 'F');
	jump('F', 'f', 0);
	ret('f', 'c', 0);
	call('c', 0x10, 'F');
	jump('F', 'R', 0);
	call('R', 0x10, 'R');
	ret('R', 'f', 0);
	ret('f', 'm', 0x15);
	expect_depth(1);
	call('m', 0x20, 'F');
	jump('F', 'R', 0);
	call('R', 0x10, 'R');
	ret('R', 'f', 0);
	ret('f', 'd', 0);
	expect_depth(0);
}
END_TEST

static struct location nameless(uint64_t ip)
{
	static struct symbol file = { .kind = SYMBOL_FILE };

	file.name = file.linkage = name_intern_text(&names, "[file]");
	return (struct location){ ip, &file, 0 };
}

START_TEST(a_stub_of_code_without_a_name_is_shown_itself)
{
	call('m', 0x10, 'F');
	feed(BRANCH_JUMP, at('F', 0x4), nameless(0x100), BRANCH_INDIRECT);
	feed(BRANCH_RETURN, nameless(0x120), at('m', 0x15), 0);
	expect("B 10 F\nE 20 F\nE 20 m\nB 0 m inferred deferred\nS\n");
}
END_TEST

/* The slices are those of an uninterrupted call, plus the pause. */
START_TEST(a_stub_that_is_interrupted_is_no_call_of_its_own)
{
	call('m', 0x10, 'F');
	feed(BRANCH_NONE, at('F', 0x4), at(0, 0), BRANCH_TRACE_OFF | BRANCH_ASYNC);
	feed(BRANCH_NONE, at(0, 0), at('F', 0x4), BRANCH_TRACE_ON);
	jump('F', 'f', 0);
	ret('f', 'm', 0x15);
	expect("B 10 [untraced]\nE 20 [untraced]\nB 30 f\nE 40 f\nE 40 m\n"
	       "B 0 m inferred deferred\nS\n");
}
END_TEST

static uint64_t begin_of_f, insns_of_f;

static void count_f(struct slice_log *log, const struct slice_event *event,
		    const struct slice_detail *detail)
{
	(void)log;
	if (event->symbol != function('f'))
		return;
	if (event->kind == SLICE_BEGIN)
		begin_of_f = detail->insns;
	else
		insns_of_f = detail->insns - begin_of_f;
}

/* Two instructions of the stub and seven of f count; the interruption's 100 do not. */
START_TEST(what_interrupts_a_stub_is_no_part_of_its_target)
{
	slices.sink.details = true;
	slices.before = count_f;
	call('m', 0x10, 'F');
	insns = 1;
	if (_i) {
		feed(BRANCH_INTERRUPT, at('F', 0x4), at('k', 0), BRANCH_ASYNC);
		insns = 100;
		feed(BRANCH_IRET, at('k', 0x40), at('F', 0x4), 0);
	} else {
		feed(BRANCH_NONE, at('F', 0x4), at(0, 0), BRANCH_TRACE_OFF | BRANCH_ASYNC);
		feed(BRANCH_NONE, at(0, 0), at('h', 0), BRANCH_TRACE_ON); /* a signal handler */
		insns = 100;
		feed(BRANCH_SYSCALL, at('h', 0x10), at(0, 0), BRANCH_TRACE_OFF);
		feed(BRANCH_NONE, at(0, 0), at('F', 0x4), BRANCH_TRACE_ON);
	}
	insns = 1;
	jump('F', 'f', 0);
	insns = 7;
	ret('f', 'm', 0x15);
	finish();
	ck_assert_uint_eq(insns_of_f, 9);
	slice_log_take(&slices);
}
END_TEST

/* It leads to its target's entry, though a call may come first. */
START_TEST(a_stub_does_not_return)
{
	feed(BRANCH_CALL, nameless(0x100), at('f', 0), 0);
	call('f', 0x10, 'F');
	feed(BRANCH_JUMP, at('F', 0x4), nameless(0x105), BRANCH_INDIRECT);
	expect_depth(2);
	feed(BRANCH_JUMP, nameless(0x120), nameless(0x105), BRANCH_INDIRECT);
	expect_depth(0);
}
END_TEST

/* In code without names, `r` runs twice, the inner time by a tail call of f, and loops. */
START_TEST(a_jump_by_its_own_address_in_code_without_names_leaves_nothing)
{
	call('m', 0x10, 'f');
	feed(BRANCH_CALL, nameless(0x100), at('g', 0), 0);
	feed(BRANCH_JUMP, at('g', 0x10), nameless(0x80), 0);
	feed(BRANCH_JUMP, nameless(0x120), nameless(0x105), 0);
	expect_depth(2);
	feed(BRANCH_COND, nameless(0x120), nameless(0x105), 0);
	expect_depth(2);
	feed(BRANCH_JUMP, nameless(0x120), nameless(0x105), BRANCH_INDIRECT);
	expect_depth(1);
}
END_TEST

static void show_mark(void)
{
	struct stack_branch mark = { .event = { .time = now },
				     .notes = { .mark = function('x') },
				     .has_notes = true };

	feed_branch(&mark);
}

/* Random calls, returns and jumps of a few functions at a few addresses. */
static void run_wild(unsigned seed)
{
	static const enum branch_kind kinds[] = { BRANCH_CALL,      BRANCH_CALL, BRANCH_RETURN,
						  BRANCH_RETURN,    BRANCH_JUMP, BRANCH_COND,
						  BRANCH_INTERRUPT, BRANCH_IRET };
	static const char letters[] = "mfghFG";
	struct location from = at('m', 0x10);

	for (int i = 0; i < 2000; i++) {
		enum branch_kind kind = kinds[rand_r(&seed) % 8];
		char letter = letters[rand_r(&seed) % 6];
		bool entry = kind == BRANCH_CALL && rand_r(&seed) % 8;
		uint64_t offset = entry ? 0 : (rand_r(&seed) % 3) * 0x15u;
		struct location to = rand_r(&seed) % 8 ? at(letter, offset) : nameless(0x15);

		now -= rand_r(&seed) % 3 ? 0 : rand_r(&seed) % 3 * 10;
		feed(kind, from, to, rand_r(&seed) % 2 ? BRANCH_INDIRECT : 0);
		/* The next branch is in this one's target, at a possible return address. */
		from = to;
		from.ip += 0x10 - from.ip % 0x10;
		if (rand_r(&seed) % 50 == 0)
			gap(GAP_OVERFLOW);
		if (rand_r(&seed) % 30 == 0)
			show_mark();
		/* Tracing may resume without a packet. */
		if (rand_r(&seed) % 20 == 0)
			feed(BRANCH_SYSCALL, from, (struct location){ 0 }, BRANCH_TRACE_OFF);
	}
	finish();
}

static void begin_anew(void)
{
	teardown();
	memset(symbols, 0, sizeof(symbols));
	setup();
}

START_TEST(what_is_fed_as_plain_has_the_outcome_of_any_branch)
{
	char *expected;

	run_wild((unsigned)_i + 1);
	expected = strdup(slice_log_take(&slices));
	begin_anew();
	at_once = (size_t)_i % AT_ONCE_MOST + 1;
	run_wild((unsigned)_i + 1);
	ck_assert_str_eq(slice_log_take(&slices), expected);
	free(expected);
}
END_TEST

START_TEST(edges_have_the_outcome_of_begins_and_ends_one_by_one)
{
	char *expected;

	at_once = (size_t)_i % AT_ONCE_MOST;
	run_wild((unsigned)_i + 1);
	expected = strdup(slice_log_take(&slices));
	begin_anew();
	at_once = (size_t)_i % AT_ONCE_MOST;
	slices.sink.immediate = false;
	run_wild((unsigned)_i + 1);
	ck_assert_str_eq(slice_log_take(&slices), expected);
	ck_assert_uint_gt(slices.plain, 1000);
	free(expected);
}
END_TEST

START_TEST(a_call_of_the_next_instruction_is_none)
{
	call('m', 0x10, 'f');
	feed(BRANCH_CALL, at('f', 0x10), at('f', 0x15), 0);
	expect_depth(1);
}
END_TEST

static void call_deep(void)
{
	for (int i = 0; i < DEEP; i++)
		call('f', 0x10, 'f');
	feed_held();
}

START_TEST(a_stack_is_given_up_where_too_many_calls_are_open)
{
	struct callstack *other = stack;

	call_deep();
	ck_assert_ptr_null(diag.first);
	stack = callstack_open(machine, NULL);
	call_deep();
	ck_assert_uint_eq(precise_depth(other), DEEP);
	ck_assert_uint_lt(precise_depth(stack), DEEP);
	ck_assert_str_eq(diag.first->kind, "stack-too-deep");
	ck_assert_ptr_nonnull(strstr(slice_log_take(&slices), "[lost: too many open calls]"));
	callstack_finish(other);
	callstack_close(other);
}
END_TEST

/* The frame of changed code is one too many. */
START_TEST(a_stack_is_given_up_at_a_gap_that_adds_a_frame)
{
	struct precise_stack *full = (struct precise_stack *)stack;

	call_deep();
	while (full->now.depth < full->now.room) {
		call('f', 0x10, 'f');
		feed_held();
	}
	machine->open_most = full->now.room;
	gap(GAP_MISMATCH);
	feed_held();
	ck_assert_str_eq(diag.first->kind, "stack-too-deep");
	ck_assert_uint_eq(full->now.depth, 0);
}
END_TEST

/* Returns how many calls are open afterwards. */
static size_t give_up(size_t fed_at_once)
{
	struct callstack *other = stack;
	size_t depth;

	at_once = fed_at_once;
	call_deep();
	stack = callstack_open(machine, NULL);
	call_deep();
	depth = precise_depth(stack);
	callstack_close(other);
	begin_anew();
	return depth;
}

START_TEST(a_stack_is_given_up_at_the_same_place_however_it_is_fed)
{
	size_t depth = give_up(0);

	ck_assert_uint_lt(depth, DEEP);
	for (size_t fed_at_once = 1; fed_at_once <= AT_ONCE_MOST; fed_at_once++)
		ck_assert_uint_eq(give_up(fed_at_once), depth);
}
END_TEST

START_TEST(calls_that_have_ended_leave_room_for_others)
{
	struct callstack *other = stack;

	call_deep();
	gap(GAP_OVERFLOW);
	feed_held();
	stack = callstack_open(machine, NULL);
	call_deep();
	expect_depth(DEEP);
	ck_assert_ptr_null(diag.first);
	callstack_close(other);
}
END_TEST

/* A call and its return, repeated, at one time. */
static void call_often(unsigned times)
{
	for (unsigned i = 0; i < times; i++) {
		call('f', 0x10, 'g');
		now -= 10;
		ret('g', 'f', 0x15);
		now -= 10;
	}
	feed_held();
}

START_TEST(calls_of_one_time_wait_for_the_next_where_there_is_room)
{
	call_often(DEEP / 4);
	ck_assert_str_eq(slice_log_take(&slices), "");
}
END_TEST

START_TEST(calls_of_one_time_do_not_wait_where_there_is_no_room)
{
	struct callstack *other = stack;

	call_often(DEEP / 4);
	stack = callstack_open(machine, NULL);
	call_often(DEEP / 4);
	ck_assert_str_ne(slice_log_take(&slices), "");
	ck_assert_uint_le(machine->pending_room, DEEP + 1024);
	callstack_close(other);
	ck_assert_uint_le(machine->pending_room, 1024);
}
END_TEST

/* The number of calls of g that begin between two times. */
static size_t count_between(const char *text, long from, long to)
{
	size_t count = 0;

	for (const char *line = strstr(text, "B "); line; line = strstr(line + 1, "B ")) {
		long time = strtol(line + 2, NULL, 10);

		count += time > from && time < to;
	}
	return count;
}

/* Calls before the mark are emitted in parts: the last part waits, and shares the time. */
START_TEST(calls_of_one_time_and_a_mark_share_the_time)
{
	machine->pending_most = 7000; /* limits of 4096 edges and 2048 events */
	call_often(2000);
	show_mark();
	now += 100000;
	call('f', 0x10, 'g');
	finish();
	ck_assert_uint_gt(count_between(slice_log_take(&slices), 0, 100000), 10);
}
END_TEST

START_TEST(a_child_of_too_many_calls_begins_without_them)
{
	struct callstack *parent = stack;

	call_deep();
	stack = callstack_open(machine, NULL);
	callstack_inherit(stack, parent, now);
	expect_depth(0);
	ck_assert_str_eq(diag.first->kind, "stack-too-deep");
	callstack_close(parent);
}
END_TEST

START_TEST(a_jump_into_a_function_deeper_down_is_unwinding)
{
	call('m', 0x10, 'f');
	call('f', 0x10, 'g');
	call('g', 0x10, 'u');
	jump('u', 'f', 0x60);
	expect_depth(1);
	ret('f', 'm', 0x15);
	expect_depth(0);
}
END_TEST

/* Of several frames of one function, the one that called setjmp. */
START_TEST(longjmp_goes_back_to_the_frame_of_its_setjmp)
{
	function('s')->name = function('s')->linkage = name_intern_text(&names, "_setjmp");
	call('m', 0x10, 'f');
	call('f', 0x20, 's');
	ret('s', 'f', 0x25);
	call('f', 0x30, 'f');
	call('f', 0x30, 'f');
	call('f', 0x40, 'l');
	expect_depth(4);
	jump('l', 'f', 0x25);
	/* seeds.md: longjmp is not known */
	expect_depth(1);
}
END_TEST

START_TEST(an_unwinder_goes_on_below_the_frame_that_resumed_it)
{
	function('u')->name = function('u')->linkage = name_intern_text(&names, "_Unwind_Resume");
	call('m', 0x10, 'f');
	call('f', 0x30, 'f');
	call('f', 0x30, 'f');
	call('f', 0x60, 'u'); /* the innermost f has cleaned up */
	expect_depth(4);
	jump('u', 'f', 0x50); /* the landing pad of the frame below */
	expect_depth(2);
}
END_TEST

/* The exception enters an f whose call was not seen: the root, or a caller of it. */
START_TEST(an_exception_to_a_level_that_was_not_seen_marks_it)
{
	function('u')->name = function('u')->linkage = name_intern_text(&names, "_Unwind_Resume");
	call('f', 0x10, 'g');
	call('g', 0x10, 'u');
	jump('u', 'f', 0x60);
	expect_depth(0);
	ck_assert_uint_eq(machine->doubts.uncertain_levels, 1);
	ret('f', 'm', 0x15);
	ck_assert_uint_eq(machine->doubts.uncertain_levels, 1);
	expect("B 0 g\nB 10 _Unwind_Resume\nE 20 _Unwind_Resume\nE 20 g\nE 30 f\nE 30 m\n"
	       "B 0 m inferred deferred\nB 0 f inferred uncertain deferred\nS\n");
}
END_TEST

/* The callers of _Unwind_RaiseException() in C++ never return; in D and Rust they can. */
START_TEST(an_exception_of_any_language_to_a_level_that_was_not_seen_marks_it)
{
	function('u')->name = function('u')->linkage =
		name_intern_text(&names, "_Unwind_RaiseException");
	call('f', 0x10, 'g');
	call('g', 0x10, 'u');
	jump('u', 'm', 0x60);
	expect_depth(0);
	ck_assert_uint_eq(machine->doubts.uncertain_levels, 1);
}
END_TEST

/* There may have been other frames between the unwinder and its target. */
START_TEST(an_exception_out_of_the_first_function_marks_what_it_enters)
{
	function('u')->name = function('u')->linkage = name_intern_text(&names, "_Unwind_Resume");
	call('u', 0x10, 'g');
	ret('g', 'u', 0x15);
	ret('u', 'm', 0x60);
	ck_assert_uint_eq(machine->doubts.uncertain_levels, 1);
	expect("B 0 g\nE 10 g\nE 20 _Unwind_Resume\nE 20 m\n"
	       "B 0 m inferred uncertain deferred\nB 0 _Unwind_Resume inferred deferred\nS\n");
}
END_TEST

/* A branch whose effect the code shows; `offset`: struct location_pair's. */
static void go_with(enum branch_kind kind, char from, struct location to, enum call_effect effect,
		    uint32_t offset)
{
	struct location begin = at(from, 0x10);
	struct location_pair locations = location_pair_of(&begin, &to, NULL);
	struct branch_event event = { .time = now, .kind = (uint8_t)kind, .from_length = 5 };
	struct resolved_branch branch = { &event, &locations };

	feed_held();
	locations.call = (uint8_t)effect;
	locations.offset = offset;
	callstack_feed(stack, &branch, NULL);
	now += 10;
}

static void go_by(enum branch_kind kind, char from, struct location to, enum call_effect effect)
{
	go_with(kind, from, to, effect, 0);
}

/* The same to a function's entry. */
static void enter_by(enum branch_kind kind, char from, char to, enum call_effect effect)
{
	go_by(kind, from, at(to, 0), effect);
}

/* m calls f, which calls g, at an offset. */
static void call_into(uint64_t entry)
{
	enter_by(BRANCH_CALL, 'm', 'f', CALL_ENTERS);
	go_by(BRANCH_CALL, 'f', at('g', entry), CALL_ENTERS);
}

START_TEST(a_jump_out_of_code_that_dropped_nothing_takes_its_frame)
{
	call_into(8);
	go_with(BRANCH_JUMP, 'g', at('m', 0x60), JUMP_STAYS, 8);
	expect_depth(2);
}
END_TEST

START_TEST(a_jump_out_of_code_that_may_have_dropped_its_frame_continues_a_caller)
{
	call_into(0);
	go_with(BRANCH_JUMP, 'g', at('m', 0x60), JUMP_STAYS, 8);
	expect_depth(0);
	call_into(0);
	/* h was not entered at its begin, so its frame was built by g. */
	jump('g', 'h', 0x30);
	go_with(BRANCH_JUMP, 'h', at('m', 0x60), JUMP_STAYS, 8);
	expect_depth(0);
	/* c is a part of g, whose code was not looked at. */
	function('c')->function = function('g');
	call_into(0);
	jump('g', 'c', 0);
	jump('c', 'g', 0x30);
	go_with(BRANCH_JUMP, 'g', at('m', 0x60), JUMP_STAYS, 0);
	expect_depth(0);
}
END_TEST

START_TEST(a_throw_to_an_entry_continues_the_caller_that_stored_its_stack_pointer)
{
	enter_by(BRANCH_CALL, 'm', 'f', CALL_ENTERS);
	enter_by(BRANCH_CALL, 'f', 'g', CALL_CATCHES);
	enter_by(BRANCH_CALL, 'g', 'x', CALL_ENTERS);
	enter_by(BRANCH_JUMP, 'x', 'h', THROWS_TO_ENTRY);
	ret('h', 'm', 0x15);
	ck_assert_uint_eq(machine->doubts.uncertain_levels, 0);
	expect("B 0 f\nB 10 g\nB 20 x\nE 30 x\nE 30 g\nE 30 f\nB 30 h\nE 40 h\nE 40 m\n"
	       "B 0 m inferred deferred\nS\n");
}
END_TEST

/* The handler may continue in any caller. */
START_TEST(a_throw_to_an_entry_that_no_caller_waits_for_marks_it)
{
	enter_by(BRANCH_CALL, 'm', 'f', CALL_ENTERS);
	enter_by(BRANCH_CALL, 'f', 'g', CALL_ENTERS);
	enter_by(BRANCH_JUMP, 'g', 'h', THROWS_TO_ENTRY);
	ck_assert_uint_eq(machine->doubts.uncertain_levels, 1);
	expect("B 0 f\nB 10 g\nE 20 g\nB 20 h uncertain\nE 20 h\nE 20 f\nE 20 m\n"
	       "B 0 m inferred deferred\nS\n");
}
END_TEST

/* A longjmp() out of traced calls to a setjmp() before the trace. */
START_TEST(a_longjmp_out_of_calls_to_one_that_was_not_seen_marks_it)
{
	function('l')->name = function('l')->linkage = name_intern_text(&names, "longjmp");
	call('f', 0x10, 'g');
	call('g', 0x10, 'l');
	jump('l', 'm', 0x60);
	expect_depth(0);
	expect("B 0 g\nB 10 longjmp\nE 20 longjmp\nE 20 g\nE 20 f\nE 20 m\n"
	       "B 0 m inferred uncertain deferred\nB 0 f inferred deferred\nS\n");
}
END_TEST

/* The landing pad of the frame below directly follows the call of _Unwind_Resume(). */
START_TEST(nothing_returns_from_an_unwinder)
{
	function('u')->name = function('u')->linkage = name_intern_text(&names, "_Unwind_Resume");
	call('m', 0x10, 'f');
	call('f', 0x30, 'f');
	call('f', 0x30, 'f');
	call('f', 0x60, 'u');
	expect_depth(4);
	ret('u', 'f', 0x65);
	expect_depth(2);
}
END_TEST

/* A landing pad 7 bytes after the recursive call, as in small functions. */
START_TEST(a_call_returns_to_the_byte_after_it)
{
	call('m', 0x10, 'f');
	call('f', 0x30, 'f');
	call('f', 0x30, 'f');
	call('f', 0x20, 'u');
	expect_depth(4);
	jump('u', 'f', 0x3c);
	expect_depth(3);
	ret('f', 'f', 0x35);
	expect_depth(2);
}
END_TEST

/* In text, a call's length is unknown. */
START_TEST(a_call_of_unknown_length_returns_to_a_byte_near_it)
{
	call_length = 0;
	call('m', 0x10, 'f');
	call('f', 0x10, 'f');
	call('f', 0x20, 'f');
	ret('f', 'f', 0x12);
	expect_depth(1);
	ret('f', 'm', 0x1f);
	expect_depth(0);
}
END_TEST

/* call thunk; in it: call over; mov %rax,(%rsp); ret to the target */
START_TEST(a_retpoline_is_a_jump)
{
	call('m', 0x10, 't');
	feed(BRANCH_CALL, at('t', 0), at('t', 0xc), 0);
	expect_depth(2);
	feed(BRANCH_RETURN, at('t', 0x10), at('g', 0), 0);
	expect_depth(1);
	ret('g', 'm', 0x15);
	expect_depth(0);
}
END_TEST

/* "R" is a retpoline or return thunk: no slice for it. */
START_TEST(a_function_that_leaves_by_a_return_thunk_ends_there)
{
	call('m', 0x10, 'f');
	call('f', 0x10, 'R');
	feed(BRANCH_CALL, at('R', 0), at('R', 0xc), 0);
	feed(BRANCH_RETURN, at('R', 0x10), at('g', 0), 0);
	jump('g', 'R', 0);
	ret('R', 'f', 0x15);
	expect("B 0 f\nB 30 g\nE 40 g\nE 50 f\nE 50 m\nB 0 m inferred deferred\nS\n");
}
END_TEST

/* No instruction of the target ran before the interrupt, which is its caller's. */
START_TEST(an_interrupt_in_a_retpoline_is_before_its_target)
{
	call('m', 0x10, 'f');
	call('f', 0x10, 'R');
	feed(BRANCH_CALL, at('R', 0), at('R', 0xc), 0);
	feed(BRANCH_INTERRUPT, at('R', 0xc), at('k', 0), 0);
	feed(BRANCH_IRET, at('k', 0x10), at('R', 0xc), 0);
	feed(BRANCH_RETURN, at('R', 0x10), at('g', 0), 0);
	ret('g', 'f', 0x15);
	expect("B 0 f\nB 30 k\nE 40 k\nB 50 g\nE 60 g\nE 60 f\nE 60 m\nB 0 m inferred deferred\nS\n");
}
END_TEST

START_TEST(a_caller_that_was_never_seen_is_inferred_below)
{
	call('f', 0x10, 'g');
	ret('g', 'f', 0x15);
	ret('f', 'm', 0x15);
	expect("B 0 g\nE 10 g\nE 20 f\nE 20 m\nB 0 m inferred deferred\nB 0 f inferred deferred\n"
	       "S\n");
}
END_TEST

START_TEST(a_pause_is_on_top_until_execution_resumes)
{
	call('m', 0x10, 'f');
	feed(BRANCH_SYSCALL, at('f', 0x20), at(0, 0), BRANCH_TRACE_OFF);
	feed(BRANCH_NONE, at(0, 0), at('f', 0x22), BRANCH_TRACE_ON);
	ret('f', 'm', 0x15);
	expect("B 0 f\nB 10 [syscall]\nE 20 [syscall]\nE 30 f\nE 30 m\nB 0 m inferred deferred\n"
	       "S\n");
}
END_TEST

/* int $0x80, and another software interrupt */
START_TEST(an_old_system_call_is_a_pause_like_syscall)
{
	call('m', 0x10, 'f');
	feed(BRANCH_SOFTINT, at('f', 0x20), at(0, 0), BRANCH_TRACE_OFF | BRANCH_INT80);
	feed(BRANCH_NONE, at(0, 0), at('f', 0x22), BRANCH_TRACE_ON);
	feed(BRANCH_SOFTINT, at('f', 0x23), at(0, 0), BRANCH_TRACE_OFF);
	feed(BRANCH_NONE, at(0, 0), at('f', 0x24), BRANCH_TRACE_ON);
	expect("B 0 f\nB 10 [syscall]\nE 20 [syscall]\nB 30 [untraced]\nE 40 [untraced]\nE 40 f\n"
	       "E 40 m\nB 0 m inferred deferred\nS\n");
}
END_TEST

/* Only a call or a jump shows a stub as its target. */
START_TEST(a_software_interrupt_to_a_stub_is_no_jump)
{
	call('m', 0x10, 'f');
	feed(BRANCH_SOFTINT, at('f', 0x20), at('G', 0), 0);
	expect("B 0 f\nB 10 G\nE 10 G\nE 10 f\nE 10 m\nB 0 m inferred deferred\nS\n");
}
END_TEST

START_TEST(a_signal_handler_runs_on_top_and_sigreturn_ends_it)
{
	call('m', 0x10, 'f');
	feed(BRANCH_NONE, at('f', 0x20), at(0, 0), BRANCH_TRACE_OFF | BRANCH_ASYNC);
	feed(BRANCH_NONE, at(0, 0), at('h', 0), BRANCH_TRACE_ON); /* the handler */
	call('h', 0x10, 'g');
	expect_depth(2);
	ret('g', 'h', 0x15);
	ret('h', 'r', 0); /* its restorer */
	feed(BRANCH_SYSCALL, at('r', 0x10), at(0, 0), BRANCH_TRACE_OFF);
	feed(BRANCH_NONE, at(0, 0), at('f', 0x20), BRANCH_TRACE_ON); /* where f was interrupted */
	expect_depth(1);
	ret('f', 'm', 0x15);
	expect_depth(0);
}
END_TEST

START_TEST(a_function_encloses_the_handler_that_interrupted_it_before_the_trace_began)
{
	struct frame *frames;

	call('h', 0x10, 'g');
	ret('g', 'h', 0x15);
	ret('h', 'r', 1); /* its restorer: glibc's unwind entry begins a byte earlier */
	feed(BRANCH_SYSCALL, at('r', 0x10), at(0, 0), BRANCH_TRACE_OFF);
	feed_held();
	frames = ((struct precise_stack *)stack)->now.frames;
	function('s')->name = name_intern_text(&names, "[rt_sigreturn]");
	frames[1].symbol = function('s');
	feed(BRANCH_NONE, at(0, 0), at('f', 0x20), BRANCH_TRACE_ON); /* where f was interrupted */
	call('f', 0x30, 'g');
	ret('g', 'f', 0x35);
	ret('f', 'm', 0x15);
	expect("B 0 g\nE 10 g\nE 20 h\nB 30 [syscall]\nE 40 [rt_sigreturn]\nE 40 r\n"
	       "B 50 g\nE 60 g\nE 70 f\nE 70 m\nB 0 m inferred deferred\n"
	       "B 0 f inferred deferred\nB 0 r inferred deferred\nB 0 h inferred deferred\nS\n");
}
END_TEST

/* Code without unwind entries, which nothing calls, is taken for a part of the function before. */
START_TEST(a_signal_handler_may_begin_within_a_function_without_a_name)
{
	function('h')->kind = SYMBOL_UNNAMED;
	call('m', 0x10, 'f');
	feed(BRANCH_NONE, at('f', 0x20), at(0, 0), BRANCH_TRACE_OFF | BRANCH_ASYNC);
	feed(BRANCH_NONE, at(0, 0), at('h', 0x40), BRANCH_TRACE_ON);
	ret('h', 'f', 0x20);
	ret('f', 'm', 0x15);
	ck_assert_uint_eq(machine->doubts.uncertain_levels, 1);
	expect("B 0 f\nB 10 [untraced]\nE 20 [untraced]\nB 20 h uncertain\nE 30 h\nE 40 f\nE 40 m\n"
	       "B 0 m inferred deferred\nS\n");
}
END_TEST

START_TEST(a_signal_handler_does_not_begin_within_an_active_function)
{
	function('h')->kind = SYMBOL_UNNAMED;
	call('m', 0x10, 'h');
	call('h', 0x10, 'f');
	feed(BRANCH_NONE, at('f', 0x20), at(0, 0), BRANCH_TRACE_OFF | BRANCH_ASYNC);
	feed(BRANCH_NONE, at(0, 0), at('h', 0x40), BRANCH_TRACE_ON);
	expect_depth(1);
}
END_TEST

/* ret to another stack and back: swapcontext() */
START_TEST(a_stack_that_was_left_is_found_again)
{
	call('m', 0x10, 'f');
	call('f', 0x10, 's');
	ret('s', 'x', 0x33); /* to an unknown stack */
	expect_depth(0);
	call('x', 0x50, 's');
	ret('s', 'f', 0x15); /* back on the first stack */
	expect_depth(1);
	ck_assert_uint_eq(machine->doubts.uncertain_levels, 2); /* no code loaded a stack pointer */
	ret('f', 'm', 0x15);
	expect_depth(0);
}
END_TEST

/* Go: mcall() calls the scheduler, whose gogo() jumps to after another goroutine's mcall(). */
START_TEST(gogo_goes_to_the_stack_of_its_goroutine)
{
	function('o')->name = function('o')->linkage = name_intern_text(&names, "gogo");
	call('a', 0x10, 'f');
	call('f', 0x10, 'm');
	call('m', 0x10, 'o');
	jump('o', 'b', 0x33); /* another goroutine, not seen before */
	expect_depth(0);
	call('b', 0x50, 'm');
	call('m', 0x10, 'o');
	jump('o', 'f', 0x15); /* the first one continues */
	expect_depth(1);
	ret('f', 'a', 0x15);
	expect_depth(0);
}
END_TEST

/* Go: gogo() starts a goroutine by a jump to its function, which returns to goexit(). */
START_TEST(a_new_goroutine_is_under_no_scheduler)
{
	function('o')->name = function('o')->linkage = name_intern_text(&names, "gogo");
	call('a', 0x10, 'm');
	call('m', 0x10, 'o');
	jump('o', 'g', 0); /* a new goroutine */
	expect_depth(0);
	call('g', 0x10, 'f');
	expect_depth(1);
	ret('f', 'g', 0x15);
	ret('g', 'e', 0x11); /* goexit() */
	call('e', 0x20, 'm');
	call('m', 0x10, 'o');
	expect_depth(2);
	jump('o', 'm', 0x15); /* the first one continues */
	expect_depth(1);
	ret('m', 'a', 0x15);
	expect_depth(0);
}
END_TEST

/* Go's runtime by names, as in text: mcall() parks a goroutine, gogo() resumes one. */
static void name_scheduler(void)
{
	function('m')->name = function('m')->linkage = name_intern_text(&names, "runtime.mcall");
	function('o')->name = function('o')->linkage = name_intern_text(&names, "gogo");
}

static void park_by(char waiting, uint64_t offset)
{
	call(waiting, offset, 'w');
	call('w', 0x10, 'm');
	call('m', 0x10, 's'); /* the scheduler, on its own stack */
	call('s', 0x10, 'o');
}

START_TEST(a_return_shows_which_of_several_stacks_came_back)
{
	name_scheduler();
	call('a', 0x10, 'f');
	park_by('f', 0x20);
	jump('o', 'g', 0);
	park_by('g', 0x30);
	jump('o', 'w', 0x15); /* of a > f, or of g */
	expect_depth(0);
	ret('w', 'g', 0x35);
	expect_depth(0);
	park_by('g', 0x30);
	jump('o', 'w', 0x15);
	ret('w', 'f', 0x25);
	expect_depth(1);
	ret('f', 'a', 0x15);
	expect_depth(0);
	expect("B 0 f\nB 10 w\nB 20 runtime.mcall\nE 30 runtime.mcall\nE 30 w\nE 30 f\nE 30 a\n"
	       "B 30 s\nB 40 gogo\nE 50 gogo\nE 50 s\nB 50 g\nB 60 w\nB 70 runtime.mcall\n"
	       "E 80 runtime.mcall\nE 80 w\nE 80 g\nB 80 s\nB 90 gogo\nE 100 gogo\nE 100 s\n"
	       "B 100 w\nE 110 w\n"
	       "B 120 w\nB 130 runtime.mcall\nE 140 runtime.mcall\nE 140 w\nE 140 g\nB 140 s\n"
	       "B 150 gogo\nE 160 gogo\nE 160 s\nB 160 w\nE 170 w\nE 180 f\nE 180 a\n"
	       "B 160 a deferred\nB 160 f deferred\nB 100 g deferred\n"
	       "B 0 a inferred deferred\nS\n");
}
END_TEST

/* Go: a signal's handler makes a goroutine call asyncPreempt(), which leaves for the scheduler. */
static void preempt(char running, uint64_t offset)
{
	feed(BRANCH_NONE, at(running, offset), at(0, 0), BRANCH_TRACE_OFF | BRANCH_ASYNC);
	feed(BRANCH_NONE, at(0, 0), at('p', 0), BRANCH_TRACE_ON);
	park_by('p', 0x10);
}

START_TEST(a_return_to_what_a_signal_interrupted_shows_which_stack_came_back)
{
	name_scheduler();
	call('a', 0x10, 'f');
	preempt('f', 0x20);
	jump('o', 'g', 0);
	preempt('g', 0x30);
	jump('o', 'w', 0x15); /* of a > f > p, or of g > p */
	ret('w', 'p', 0x15);
	expect_depth(0);
	ret('p', 'f', 0x20);
	expect_depth(1);
	preempt('f', 0x24);
	jump('o', 'w', 0x15);
	ret('w', 'p', 0x15);
	ret('p', 'g', 0x30);
	expect_depth(0);
	preempt('g', 0x34);
	jump('o', 'w', 0x15);
	ret('w', 'p', 0x15);
	ret('p', 'f', 0x24);
	ret('f', 'a', 0x15);
	expect_depth(0);
	ck_assert_uint_eq(machine->doubts.uncertain_levels, 0);
}
END_TEST

/* It was parked on another thread. The only parked stack that fits is taken for it at first. */
START_TEST(a_return_to_what_no_signal_interrupted_here_leaves_the_stack)
{
	name_scheduler();
	call('a', 0x10, 'f');
	preempt('f', 0x20);
	jump('o', 'w', 0x15);
	ret('w', 'p', 0x15);
	expect_depth(1); /* f, without p, which has no call */
	ret('p', 'x', 0x44);
	expect_depth(0);
	ret('x', 'y', 0x15);
	expect_depth(0);
	ck_assert_uint_eq(machine->doubts.uncertain_levels, 1);
}
END_TEST

/* Preemptive coroutines: a signal's handler switches stacks itself, and returns by its restorer. */
static void preempt_in_handler(char running, uint64_t offset)
{
	feed(BRANCH_NONE, at(running, offset), at(0, 0), BRANCH_TRACE_OFF | BRANCH_ASYNC);
	feed(BRANCH_NONE, at(0, 0), at('h', 0), BRANCH_TRACE_ON);
	park_by('h', 0x10);
}

static void end_handler(char interrupted, uint64_t offset)
{
	ret('w', 'h', 0x15);
	ret('h', 'r', 0); /* the restorer */
	feed(BRANCH_SYSCALL, at('r', 0x10), at(0, 0), BRANCH_TRACE_OFF);
	feed(BRANCH_NONE, at(0, 0), at(interrupted, offset), BRANCH_TRACE_ON);
}

START_TEST(the_end_of_a_handler_that_switched_stacks_shows_which_stack_came_back)
{
	name_scheduler();
	call('a', 0x10, 'f');
	preempt_in_handler('f', 0x20);
	jump('o', 'g', 0);
	preempt_in_handler('g', 0x30);
	jump('o', 'w', 0x15); /* of a > f > h, or of g > h */
	end_handler('f', 0x20);
	expect_depth(1);
	preempt_in_handler('f', 0x24);
	jump('o', 'w', 0x15);
	end_handler('g', 0x30);
	expect_depth(0);
	preempt_in_handler('g', 0x34);
	jump('o', 'w', 0x15);
	end_handler('f', 0x24);
	ret('f', 'a', 0x15);
	expect_depth(0);
	ck_assert_uint_eq(machine->doubts.uncertain_levels, 0);
}
END_TEST

START_TEST(a_stack_that_is_left_before_a_return_is_taken_for_the_one_left_first)
{
	name_scheduler();
	call('a', 0x10, 'f');
	park_by('f', 0x20);
	jump('o', 'g', 0);
	park_by('g', 0x30);
	jump('o', 'w', 0x15);
	call('w', 0x20, 'm'); /* again, in the same function */
	call('m', 0x10, 's');
	jump('s', 'h', 0);
	feed_held();
	ck_assert_uint_eq(machine->doubts.uncertain_levels, 2); /* a > f */
}
END_TEST

/* Another stack was taken for it, so perhaps it is what ran since. */
START_TEST(a_stack_that_could_have_been_resumed_is_marked_when_it_comes_back)
{
	name_scheduler();
	call('a', 0x10, 'f');
	park_by('f', 0x20);
	jump('o', 'g', 0);
	park_by('g', 0x30);
	jump('o', 'w', 0x15);
	call('w', 0x20, 'm');
	call('m', 0x10, 's');
	jump('s', 'h', 0); /* that was a > f > w, or g > w */
	park_by('h', 0x40);
	jump('o', 'w', 0x15);
	feed_held();
	ck_assert_uint_eq(machine->doubts.uncertain_levels, 3); /* a > f, and w */
	ret('w', 'g', 0x35);
	feed_held();
	ck_assert_uint_eq(machine->doubts.uncertain_levels, 4);
}
END_TEST

/* Stacks that were left before it come back later. */
START_TEST(a_stack_that_comes_back_after_a_loss_is_marked)
{
	name_scheduler();
	call('a', 0x10, 'f');
	park_by('f', 0x20);
	jump('o', 'g', 0);
	ck_assert_uint_eq(machine->doubts.uncertain_levels, 0);
	gap(GAP_OVERFLOW);
	call('a', 0x10, 'f');
	park_by('f', 0x20);
	jump('o', 'w', 0x15);
	feed_held();
	ck_assert_uint_eq(machine->doubts.uncertain_levels, 1);
}
END_TEST

/* A coroutine that was left before the trace began is more likely than a switch to itself. */
START_TEST(a_switch_to_the_same_call_enters_a_stack_that_the_trace_has_not_shown)
{
	enter_by(BRANCH_CALL, 'a', 'f', CALL_ENTERS);
	enter_by(BRANCH_CALL, 'f', 's', CALL_ENTERS);
	go_by(BRANCH_JUMP, 's', at('f', 0x15), SWITCHES_STACK);
	expect_depth(0);
	ret('f', 'g', 0x15);
	expect_depth(0);
}
END_TEST

/* The handler is in a frame that the candidates do not share. */
START_TEST(an_exception_out_of_what_several_stacks_share_enters_the_one_left_first)
{
	name_scheduler();
	function('u')->name = function('u')->linkage =
		name_intern_text(&names, "_Unwind_RaiseException");
	call('c', 0x10, 'a');
	call('a', 0x10, 'b');
	call('b', 0x10, 'f');
	park_by('f', 0x20);
	jump('o', 'g', 0);
	call('g', 0x10, 'b');
	call('b', 0x10, 'f');
	call('f', 0x30, 'f');
	park_by('f', 0x20);
	jump('o', 'w', 0x15);
	ret('w', 'f', 0x25); /* of c > a > b > f, or of g > b > f > f */
	expect_depth(0);
	call('f', 0x40, 'u');
	jump('u', 'b', 0x60);
	expect_depth(2); /* c > a > b */
	ck_assert_uint_ge(machine->doubts.uncertain_levels, 3);
	ret('b', 'a', 0x15);
	expect_depth(1);
}
END_TEST

START_TEST(a_stack_that_was_left_waits_for_a_hundred_others)
{
	name_scheduler();
	call('a', 0x10, 'f');
	park_by('f', 0x20);
	for (int i = 0; i < 100; i++) {
		jump('o', 'g', 0);
		call('g', 0x30, 'v');
		call('v', 0x10, 'm');
		call('m', 0x10, 'o');
	}
	jump('o', 'w', 0x15);
	expect_depth(2);
	ret('w', 'f', 0x25);
	ret('f', 'a', 0x15);
	expect_depth(0);
}
END_TEST

/* Slices of the old stack and of the new one do not enclose each other. */
START_TEST(a_stack_that_begins_among_calls_of_one_time_is_apart_from_the_old_one)
{
	call('m', 0x10, 'f');
	now -= 10;
	call('f', 0x10, 'g');
	now -= 10;
	ret('g', 'x', 0x33);
	now -= 10;
	call('x', 0x40, 'h');
	ret('h', 'x', 0x45);
	ret('x', 'y', 0x15);
	expect("B 0 f\nB 3 g\nE 6 g\nE 6 f\nE 6 m\nB 0 m inferred deferred\nS\n"
	       "B 6 h\nE 10 h\nE 20 x\nE 20 y\nB 6 y inferred deferred\n"
	       "B 6 x inferred uncertain deferred\nS\n");
}
END_TEST

/* The enclosing slice begins within one ns, after calls of another stack. */
START_TEST(a_stack_that_comes_back_after_too_many_calls_of_one_time_is_marked)
{
	int64_t time;
	int marked = 0;

	name_scheduler();
	call('a', 0x10, 'f');
	park_by('f', 0x20);
	jump('o', 'g', 0);
	park_by('g', 0x30);
	time = now;
	for (int i = 0; i < _i; now = time, i++) {
		call('o', 0x20, 'v');
		now = time;
		ret('v', 'o', 0x25);
	}
	jump('o', 'w', 0x15);
	now = time;
	ret('w', 'f', 0x25);
	finish();
	ck_assert_uint_eq(machine->doubts.uncertain_levels > 0, _i >= SLICE_ORDER_LAST);
	/* A hundred orders leave open which of the other calls the enclosing slices follow. */
	for (const char *at = slice_log_take(&slices); (at = strstr(at, " v uncertain")); at++)
		marked++;
	ck_assert_int_eq(marked, MAX(0, _i - SLICE_ORDER_LAST));
}
END_TEST

/* Only the return shows the other stack. */
START_TEST(a_stack_that_begins_without_a_cause_is_marked_and_counted)
{
	call('m', 0x10, 'f');
	now += 5;
	ret('f', 'g', 0);
	call('g', 0x10, 'h');
	feed_held();
	ck_assert_uint_eq(machine->doubts.uncertain_levels, 1);
	ck_assert_int_eq(machine->doubts.first_uncertain, 15);
	expect("B 0 f\nE 15 f\nE 15 m\nB 15 g uncertain\nB 25 h\nE 25 h\nE 25 g\n"
	       "B 0 m inferred deferred\nS\n");
}
END_TEST

/* boost's ontop_fcontext(): its function returns to the address where another stack was left. */
START_TEST(a_function_may_run_on_top_of_a_stack_that_was_left)
{
	name_scheduler();
	call('a', 0x10, 'f');
	call('f', 0x20, 'm');
	call('m', 0x10, 'o');
	jump('o', 't', 0);
	call('t', 0x10, 'x');
	ret('x', 't', 0x15);
	ret('t', 'f', 0x25);
	expect_depth(1);
	ret('f', 'a', 0x15);
	expect_depth(0);
}
END_TEST

/* OCaml's effects: an inner handler passes on to an outer one, which continues. */
START_TEST(stacks_that_are_passed_on_come_back_together)
{
	enter_by(BRANCH_CALL, 'm', 'r', CALL_ENTERS); /* caml_runstack() */
	enter_by(BRANCH_CALL, 'r', 'o', CALL_APART);
	enter_by(BRANCH_CALL, 'o', 'r', CALL_ENTERS);
	enter_by(BRANCH_CALL, 'r', 'i', CALL_APART);
	enter_by(BRANCH_CALL, 'i', 'p', CALL_ENTERS);  /* caml_perform() */
	enter_by(BRANCH_JUMP, 'p', 'h', YIELDS_STACK); /* the inner handler */
	enter_by(BRANCH_JUMP, 'h', 'q', CALL_ENTERS);  /* caml_reperform() */
	enter_by(BRANCH_JUMP, 'q', 'k', YIELDS_STACK); /* the outer handler */
	expect_depth(1);
	enter_by(BRANCH_CALL, 'k', 'c', CALL_ENTERS); /* caml_resume() */
	enter_by(BRANCH_JUMP, 'c', 'a', SWITCHES_STACK);
	ret('a', 'i', 0x15);
	ret('i', 'r', 0x15);
	enter_by(BRANCH_JUMP, 'r', 'v', YIELDS_STACK);
	ret('v', 'o', 0x15);
	ret('o', 'r', 0x15);
	enter_by(BRANCH_JUMP, 'r', 'w', YIELDS_STACK);
	ret('w', 'k', 0x15);
	ret('k', 'm', 0x15);
	expect_depth(0);
	expect("B 0 r\nB 10 o\nB 20 r\nB 30 i\nB 40 p\nE 50 p\nE 50 i\nE 50 r\nB 50 h\n"
	       "E 60 h\nB 60 q\nE 70 q\nE 70 o\nE 70 r\nB 70 k\nB 80 c\nB 90 a\nE 100 a\n"
	       "E 110 i\nE 120 q\nB 120 v\nE 130 v\nE 140 o\nE 150 c\nB 150 w\nE 160 w\n"
	       "E 170 k\nE 170 m\nB 90 o deferred\nB 90 q deferred\nB 90 i deferred\n"
	       "B 0 m inferred deferred\nS\n");
}
END_TEST

/* Go's morestack() calls newstack() on another stack, from which gogo() comes back. */
START_TEST(what_a_stack_is_left_for_by_a_fixed_call_is_part_of_it)
{
	enter_by(BRANCH_CALL, 'a', 'f', CALL_ENTERS);
	enter_by(BRANCH_CALL, 'f', 'm', CALL_ENTERS);
	enter_by(BRANCH_CALL, 'm', 'n', CALL_ENDS_APART);
	enter_by(BRANCH_CALL, 'n', 'o', CALL_ENTERS);
	go_by(BRANCH_JUMP, 'o', at('f', 0x15), DROPS_STACK);
	expect_depth(1);
	expect("B 0 f\nB 10 m\nB 20 n\nB 30 o\nE 40 o\nE 40 n\nE 40 m\nE 40 f\nE 40 a\n"
	       "B 0 a inferred deferred\nS\n");
}
END_TEST

/* The scheduler's frames are dropped; the goroutine comes back to its call. */
START_TEST(what_a_stack_is_left_for_may_go_to_another_one)
{
	enter_by(BRANCH_CALL, 'a', 'f', CALL_ENTERS);
	enter_by(BRANCH_CALL, 'f', 'm', CALL_ENTERS);
	enter_by(BRANCH_CALL, 'm', 'n', CALL_ENDS_APART);
	enter_by(BRANCH_JUMP, 'n', 'g', DROPS_STACK);
	enter_by(BRANCH_CALL, 'g', 's', CALL_ENTERS);
	go_by(BRANCH_JUMP, 's', at('f', 0x15), SWITCHES_STACK);
	expect_depth(1);
	ret('f', 'a', 0x15);
	expect_depth(0);
}
END_TEST

/* Forget a stack that nothing resumes before a stack that was left earlier. */
START_TEST(a_stack_waits_for_any_number_that_were_dropped)
{
	machine->open_most = SIZE_MAX;
	enter_by(BRANCH_CALL, 'a', 'f', CALL_ENTERS);
	enter_by(BRANCH_CALL, 'f', 'm', CALL_ENTERS);
	enter_by(BRANCH_JUMP, 'm', 'g', SWITCHES_STACK);
	for (int i = 0; i < 2 * STACKS_MAX; i++)
		enter_by(BRANCH_JUMP, i % 2 ? 'h' : 'g', i % 2 ? 'g' : 'h', DROPS_STACK);
	go_by(BRANCH_JUMP, 'g', at('f', 0x15), SWITCHES_STACK);
	expect_depth(1);
	ret('f', 'a', 0x15);
	expect_depth(0);
}
END_TEST

/* The stack that it leaves takes no room from it, though it was left first of as many as fit. */
START_TEST(a_stack_comes_back_where_no_more_stacks_fit)
{
	machine->open_most = SIZE_MAX;
	enter_by(BRANCH_CALL, 'a', 'f', CALL_ENTERS);
	enter_by(BRANCH_CALL, 'f', 'm', CALL_ENTERS);
	enter_by(BRANCH_JUMP, 'm', 'g', SWITCHES_STACK);
	for (int i = 1; i < STACKS_MAX; i++)
		enter_by(BRANCH_JUMP, i % 2 ? 'g' : 'h', i % 2 ? 'h' : 'g', SWITCHES_STACK);
	go_by(BRANCH_JUMP, 'h', at('f', 0x15), SWITCHES_STACK);
	expect_depth(1);
	ret('f', 'a', 0x15);
	expect_depth(0);
}
END_TEST

/* Nothing else shows that a stack comes back: only the one left last may. 1: another one was. */
START_TEST(a_jump_to_no_call_resumes_only_the_stack_left_last)
{
	enter_by(BRANCH_CALL, 'a', 'f', CALL_ENTERS);
	enter_by(BRANCH_CALL, 'f', 'm', CALL_ENTERS);
	enter_by(BRANCH_JUMP, 'm', 'g', SWITCHES_STACK);
	if (_i)
		enter_by(BRANCH_JUMP, 'g', 'x', SWITCHES_STACK);
	go_by(BRANCH_JUMP, _i ? 'x' : 'g', at('f', 0x60), SWITCHES_STACK);
	expect_depth(_i ? 0 : 1);
}
END_TEST

/* Code without symbols is no function: an address in it identifies no stack. */
START_TEST(a_jump_into_code_without_symbols_resumes_no_stack)
{
	function('n')->kind = SYMBOL_FILE;
	enter_by(BRANCH_CALL, 'a', 'f', CALL_ENTERS);
	enter_by(BRANCH_CALL, 'f', 'n', CALL_ENTERS);
	enter_by(BRANCH_JUMP, 'n', 'g', SWITCHES_STACK);
	go_by(BRANCH_JUMP, 'g', at('n', 0x60), SWITCHES_STACK);
	expect_depth(0);
}
END_TEST

/* A return without a load of the stack pointer does not show which stack it is. */
START_TEST(a_stack_that_a_return_leads_to_without_a_caller_is_marked)
{
	enter_by(BRANCH_CALL, 'a', 'f', CALL_ENTERS);
	enter_by(BRANCH_CALL, 'f', 'm', CALL_ENTERS);
	enter_by(BRANCH_CALL, 'm', 'n', CALL_ENDS_APART);
	enter_by(BRANCH_JUMP, 'n', 'g', SWITCHES_STACK);
	call('g', 0x10, 'h');
	ret('h', 'm', 0x15); /* the call's stack had no other frame */
	expect_depth(0);
	ck_assert_uint_eq(machine->doubts.uncertain_levels, 1);
}
END_TEST

/*
 * OCaml's discontinue: an exception enters a function that _i fibers have. Its frame is a guess,
 * and so is one of two fibers.
 */
START_TEST(an_exception_into_one_of_several_fibers_is_marked)
{
	char from = 'm';

	for (int i = 0; i < _i; i++, from = 'h') {
		enter_by(BRANCH_CALL, from, 'r', CALL_ENTERS);
		enter_by(BRANCH_CALL, 'r', 'i', CALL_APART);
		enter_by(BRANCH_CALL, 'i', 'p', CALL_ENTERS);
		enter_by(BRANCH_JUMP, 'p', 'h', YIELDS_STACK);
	}
	enter_by(BRANCH_CALL, 'h', 'c', CALL_ENTERS);
	enter_by(BRANCH_JUMP, 'c', 'a', SWITCHES_STACK);
	go_by(BRANCH_JUMP, 'a', at('i', 0x60), SWITCHES_STACK);
	feed_held();
	ck_assert_uint_eq(machine->doubts.uncertain_levels, (uint64_t)_i);
}
END_TEST

/* Two goroutines stopped in one function's morestack(); 0: the first one continues, 1: the last. */
START_TEST(a_return_shows_whether_a_stack_was_left_for_its_own)
{
	char caller = _i ? 'g' : 'a';

	for (int i = 0; i < 2; i++) {
		enter_by(BRANCH_CALL, i ? 'g' : 'a', 'f', CALL_ENTERS);
		enter_by(BRANCH_CALL, 'f', 'm', CALL_ENTERS);
		enter_by(BRANCH_CALL, 'm', 'n', CALL_ENDS_APART);
		if (!i)
			enter_by(BRANCH_JUMP, 'n', 'g', DROPS_STACK);
	}
	go_by(BRANCH_JUMP, 'n', at('f', 0x15), DROPS_STACK);
	expect_depth(0); /* f alone is certain */
	ret('f', caller, 0x15);
	expect_depth(0);
	call(caller, 0x20, 'f');
	expect_depth(1);
	feed_held();
	ck_assert_uint_eq(machine->doubts.uncertain_levels, 0);
}
END_TEST

START_TEST(a_gap_is_a_slice_and_a_new_segment_begins_after_it)
{
	call('m', 0x10, 'f');
	gap(GAP_OVERFLOW);
	gap(GAP_OVERFLOW);
	feed(BRANCH_NONE, at(0, 0), at('f', 0x50), BRANCH_TRACE_ON);
	ret('f', 'm', 0x15);
	expect("B 0 f\nE 10 f\nE 10 m\n"
	       "B 10 [lost: Overflow packet]\nE 30 [lost: Overflow packet]\n"
	       "B 0 m inferred deferred\nS\n"
	       "E 40 f\nE 40 m\nB 30 m inferred deferred\nB 30 f inferred deferred\nS\n");
}
END_TEST

/* All events but the first have one time. */
static void at_one_time(void)
{
	now -= 10;
}

/* f with `f_insns` instructions, then, 10 after it, g with 30, share the time up to `next`. */
static void call_f_and_g(uint32_t f_insns, uint64_t next)
{
	jump('m', 'm', 0x10);
	call('m', 0x10, 'f');
	at_one_time();
	insns = f_insns;
	ret('f', 'm', 0x15);
	at_one_time();
	insns = 10;
	call('m', 0x20, 'g');
	now = BASE + next;
	insns = 30;
	ret('g', 'm', 0x25);
}

/* 102 ns are 1 for each call and 1 for each instruction. */
START_TEST(calls_of_one_time_share_it_by_their_instructions)
{
	call_f_and_g(60, 112);
	expect("B 10 f\nE 71 f\nB 81 g\nE 112 g\nE 112 m\nB 0 m inferred deferred\nS\n");
}
END_TEST

START_TEST(a_call_of_few_instructions_has_a_length)
{
	call_f_and_g(0, 30);
	expect("B 10 f\nE 11 f\nB 15 g\nE 30 g\nE 30 m\nB 0 m inferred deferred\nS\n");
}
END_TEST

/* 100 ns are 1 for the call and 1 for each of 99 instructions. */
START_TEST(a_mark_takes_no_time_of_the_calls_that_share_it_by_instructions)
{
	jump('m', 'm', 0x10);
	call('m', 0x10, 'f');
	at_one_time();
	show_mark();
	insns = 60;
	ret('f', 'm', 0x15);
	now = BASE + 110;
	insns = 39;
	call('m', 0x20, 'g');
	expect("B 10 f\nB 11 x\nE 11 x\nE 71 f\nB 110 g\nE 110 g\nE 110 m\nB 0 m inferred deferred\n"
	       "S\n");
}
END_TEST

/* An instruction takes 10 ns, but the next packet would come within 50 ns. */
START_TEST(calls_of_one_time_do_not_last_beyond_the_next_timing_packet)
{
	machine->resolution = 50;
	call_f_and_g(5, 10 + 452);
	expect("B 10 f\nE 59 f\nB 59 g\nE 462 g\nE 462 m\nB 0 m inferred deferred\nS\n");
}
END_TEST

/* m calls f, g and h at 10: the 20 ns up to 30 are three shares and one of the gap. */
START_TEST(calls_before_a_gap_share_the_time_up_to_its_end)
{
	jump('m', 'm', 0x10);
	call('m', 0x10, 'f');
	at_one_time();
	ret('f', 'm', 0x15);
	at_one_time();
	call('m', 0x20, 'g');
	at_one_time();
	call('g', 0x10, 'h');
	at_one_time();
	gap(GAP_OVERFLOW);
	now += 10;
	feed(BRANCH_NONE, at(0, 0), at('n', 0x50), BRANCH_TRACE_ON);
	expect("B 10 f estimated\nE 15 f\nB 15 g estimated\nB 20 h estimated\n"
	       "E 25 h\nE 25 g\nE 25 m\n"
	       "B 25 [lost: Overflow packet] estimated\nE 30 [lost: Overflow packet]\n"
	       "B 0 m inferred deferred\nS\nS\n");
}
END_TEST

/* Two calls of 10 ns take 5 ns each, so the one before the gap does not take 500 of 1,000. */
START_TEST(calls_before_a_long_gap_are_as_fast_as_the_last_ones)
{
	jump('m', 'm', 0x10);
	call('m', 0x10, 'f');
	at_one_time();
	ret('f', 'm', 0x15);
	at_one_time();
	call('m', 0x20, 'f');
	at_one_time();
	ret('f', 'm', 0x25);
	call('m', 0x30, 'g');
	at_one_time();
	gap(GAP_OVERFLOW);
	now = BASE + 1020;
	feed(BRANCH_NONE, at(0, 0), at('n', 0x50), BRANCH_TRACE_ON);
	expect("B 10 f\nE 15 f\nB 15 f\nE 20 f\nB 20 g estimated\nE 25 g\nE 25 m\n"
	       "B 25 [lost: Overflow packet] estimated\nE 1020 [lost: Overflow packet]\n"
	       "B 0 m inferred deferred\nS\nS\n");
}
END_TEST

/*
 * The call of h takes 10 ns and is no basis for estimates.  With details the times are the same,
 * although calls of one time are marked.
 */
START_TEST(arguments_do_not_change_times_before_a_gap)
{
	callstack_close(stack);
	slices.sink.details = _i;
	stack = callstack_open(machine, NULL);
	jump('m', 'm', 0x10);
	call('m', 0x10, 'f');
	at_one_time();
	ret('f', 'm', 0x15);
	at_one_time();
	call('m', 0x20, 'g');
	call('g', 0x20, 'h');
	call('h', 0x20, 'i');
	at_one_time();
	gap(GAP_OVERFLOW);
	now = BASE + 1020;
	feed(BRANCH_NONE, at(0, 0), at('n', 0x50), BRANCH_TRACE_ON);
	finish();
	ck_assert_ptr_nonnull(strstr(slices.text, "B 30 i estimated\nE 35 i\n"));
}
END_TEST

/*
 * Without a timing packet after a gap, the calls before and after it share the time up to the next
 * one.
 */
START_TEST(a_gap_without_a_time_after_it_lies_between_the_calls_of_one_time)
{
	jump('m', 'm', 0x10);
	for (int i = 0; i < 2; i++) {
		call('m', 0x10, 'f');
		at_one_time();
		gap(GAP_OVERFLOW);
		at_one_time();
		feed(BRANCH_NONE, at(0, 0), at('g', 0x50), BRANCH_TRACE_ON);
		at_one_time();
		ret('g', 'm', 0x15);
		at_one_time();
	}
	now = BASE + 60;
	ret('m', 'l', 0x15);
	expect("B 10 f estimated\nE 20 f\nE 20 m\n"
	       "B 20 [lost: Overflow packet] estimated\n"
	       "E 30 [lost: Overflow packet]\nB 0 m inferred deferred\nS\n"
	       "E 30 g\nB 30 f estimated\nE 40 f\nE 40 m\n"
	       "B 40 [lost: Overflow packet] estimated\n"
	       "E 50 [lost: Overflow packet]\n"
	       "B 30 m inferred estimated deferred\nB 30 g inferred estimated deferred\nS\n"
	       "E 50 g\nE 60 m\nE 60 l\nB 50 l inferred estimated deferred\n"
	       "B 50 m inferred estimated deferred\nB 50 g inferred estimated deferred\nS\n");
}
END_TEST

/* The flow reaches unknown code; ip 0: by a return. */
static void lose_code(struct location from, enum gap_reason reason)
{
	struct stack_branch branch = {
		.event = { .time = now, .kind = BRANCH_GAP, .gap = (uint8_t)reason }, .from = from
	};

	feed_branch(&branch);
	now += 10;
}

/* m, f and j run; j has no bytes. */
static void enter_code_without_bytes(void)
{
	call('m', 0x10, 'f');
	call('f', 0x20, 'j');
	now -= 10;
	lose_code(at('j', 0), GAP_NO_CODE);
}

static void find_code(char letter, uint64_t offset)
{
	feed(BRANCH_NONE, at(0, 0), at(letter, offset), BRANCH_TRACE_ON);
}

START_TEST(code_without_bytes_returns_to_its_caller)
{
	enter_code_without_bytes();
	find_code('f', 0x25);
	ret('f', 'm', 0x15);
	expect("B 0 f\nB 10 j uncertain\nE 20 j\nE 30 f\nE 30 m\nB 0 m inferred deferred\nS\n");
	ck_assert_uint_eq(machine->doubts.opaque_frames, 1);
	ck_assert_uint_eq(machine->doubts.opaque_ip, at('j', 0).ip);
	ck_assert_int_eq(machine->doubts.first_uncertain, 10);
}
END_TEST

START_TEST(code_without_bytes_may_have_returned_often)
{
	call('m', 0x10, 'f');
	call('f', 0x20, 'm');
	call('m', 0x30, 'j');
	lose_code(at('j', 0), GAP_NO_CODE);
	find_code('m', 0x15);
	expect_depth(0);
}
END_TEST

/* A callback or a catch: m may run above f, or f have ended. So m's slice from now on is marked. */
START_TEST(code_without_bytes_leads_to_another_instruction_of_an_active_function)
{
	enter_code_without_bytes();
	find_code('m', 0x50);
	expect("B 0 f\nB 10 j uncertain\nE 20 j\nE 20 f\nE 20 m\nB 20 m uncertain\nE 20 m\n"
	       "B 0 m inferred deferred\nS\n");
	ck_assert_uint_eq(machine->doubts.uncertain_levels, 2);
}
END_TEST

/* g returns to an unknown address, and h to j. */
START_TEST(code_without_bytes_calls_what_it_leads_to)
{
	enter_code_without_bytes();
	find_code('g', 0);
	lose_code(at(0, 0), GAP_NO_CODE);
	find_code('h', 0);
	ret('h', 'j', 0x30);
	lose_code(at('j', 0), GAP_NO_CODE);
	find_code('f', 0x25);
	ret('f', 'm', 0x15);
	expect("B 0 f\nB 10 j uncertain\nB 20 g uncertain\nE 30 g\nB 40 h uncertain\nE 50 h\n"
	       "E 70 j\nE 80 f\nE 80 m\nB 0 m inferred deferred\nS\n");
	ck_assert_uint_eq(machine->doubts.uncertain_levels, 3);
	ck_assert_uint_eq(machine->doubts.opaque_frames, 1);
}
END_TEST

/* g returns to f, which called j; the next time it returns to j. */
START_TEST(code_without_bytes_jumps_to_what_returned_to_its_caller)
{
	enter_code_without_bytes();
	find_code('g', 0);
	ret('g', 'f', 0x25);
	call('f', 0x20, 'j');
	now -= 10;
	lose_code(at('j', 0), GAP_NO_CODE);
	find_code('g', 0);
	ret('g', 'j', 0x30);
	lose_code(at('j', 0x30), GAP_NO_CODE);
	find_code('g', 0); /* called the last time */
	ret('g', 'j', 0x30);
	lose_code(at('j', 0x30), GAP_NO_CODE);
	find_code('f', 0x25);
	ret('f', 'm', 0x15);
	expect("B 0 f\nB 10 j uncertain\nB 20 g uncertain\nE 30 g\nE 30 j\nB 40 j uncertain\n"
	       "E 50 j\nB 50 g uncertain\nE 60 g\nB 70 j uncertain\nB 80 g uncertain\nE 90 g\n"
	       "E 110 j\nE 120 f\nE 120 m\nB 0 m inferred deferred\nS\n");
	ck_assert_uint_eq(machine->doubts.uncertain_levels, 6);
}
END_TEST

/* The decoder finds by the bits of a packet that g returned to f. */
START_TEST(code_without_bytes_jumps_to_what_was_found_to_return_to_its_caller)
{
	enter_code_without_bytes();
	find_code('g', 0);
	lose_code(at(0, 0), GAP_NO_CODE);
	feed(BRANCH_NONE, at(0, 0), at('f', 0x25), BRANCH_TRACE_ON | BRANCH_INDIRECT);
	call('f', 0x20, 'j');
	now -= 10;
	lose_code(at('j', 0), GAP_NO_CODE);
	find_code('g', 0);
	lose_code(at(0, 0), GAP_NO_CODE);
	find_code('f', 0x25);
	ret('f', 'm', 0x15);
	expect("B 0 f\nB 10 j uncertain\nB 20 g uncertain\nE 30 g\nE 40 j\nB 50 j uncertain\n"
	       "E 60 j\nB 60 g uncertain\nE 70 g\nE 90 f\nE 90 m\nB 0 m inferred deferred\nS\n");
}
END_TEST

START_TEST(code_without_bytes_leads_into_an_active_function)
{
	enter_code_without_bytes();
	find_code('f', 0x60);
	ret('f', 'm', 0x15);
	expect("B 0 f\nB 10 j uncertain\nE 20 j\nE 30 f\nE 30 m\nB 0 m inferred deferred\nS\n");
}
END_TEST

/* An interpreter that calls itself jumps to what its compiler made, and back. */
START_TEST(code_without_bytes_jumps_back_to_the_function_that_jumped_to_it)
{
	call('m', 0x10, 'f');
	call('f', 0x20, 'm');
	feed(BRANCH_JUMP, at('m', 0x40), nameless(0x100), BRANCH_INDIRECT);
	lose_code(nameless(0x100), GAP_NO_CODE);
	find_code('m', 0x60);
	ret('m', 'f', 0x25);
	expect_depth(1);
}
END_TEST

/* Else a loop in m would look like a recursion. */
START_TEST(code_without_bytes_leads_to_another_call_of_an_active_function)
{
	enter_code_without_bytes();
	find_code('f', 0);
	ret('f', 'm', 0x15);
	expect("B 0 f\nB 10 j uncertain\nE 20 j\nE 20 f\nB 20 f uncertain\nE 30 f\nE 30 m\n"
	       "B 0 m inferred deferred\nS\n");
}
END_TEST

START_TEST(a_kernel_without_bytes_goes_back_to_the_program)
{
	struct location kernel = nameless(UINT64_C(0xffffffff81000000));

	call('m', 0x10, 'f');
	feed(BRANCH_INTERRUPT, at('f', 0x20), kernel, BRANCH_ASYNC);
	lose_code(kernel, GAP_NO_CODE);
	find_code('h', 0); /* a signal handler */
	expect("B 0 f\nB 10 [file] uncertain\nE 30 [file]\nB 30 h\nE 30 h\nE 30 f\nE 30 m\n"
	       "B 0 m inferred deferred\nS\n");
}
END_TEST

START_TEST(code_that_does_not_fit_the_trace_ends_no_other_slice)
{
	call('m', 0x10, 'f');
	call('f', 0x20, 'g');
	lose_code(at('g', 0), GAP_MISMATCH);
	find_code('f', 0x25);
	ret('f', 'm', 0x15);
	expect("B 0 f\nB 10 g\nB 20 [lost: Trace doesn't match instruction]\n"
	       "E 30 [lost: Trace doesn't match instruction]\nE 30 g\nE 40 f\nE 40 m\n"
	       "B 0 m inferred deferred\nS\n");
}
END_TEST

START_TEST(exec_leaves_nothing_of_the_old_stack)
{
	struct stack_branch first = { .event = { .time = BASE + 20, .flags = BRANCH_TRACE_ON },
				      .to = at('n', 0),
				      .notes = { .exec = true },
				      .has_notes = true };

	call('m', 0x10, 'f');
	feed(BRANCH_SYSCALL, at('f', 0x20), at(0, 0), BRANCH_TRACE_OFF);
	feed_branch(&first);
	now += 10;
	call('n', 0x10, 'g');
	expect_depth(1);
}
END_TEST

/* Another thread ran exec: the kernel ended the one that had the tid before. */
START_TEST(a_thread_that_another_replaced_ended_at_its_last_event)
{
	struct stack_branch first = { .event = { .time = BASE + 50, .flags = BRANCH_TRACE_ON },
				      .to = at('n', 0),
				      .notes = { .exec = true, .died = true },
				      .has_notes = true };

	call('m', 0x10, 'f');
	feed(BRANCH_SYSCALL, at('f', 0x20), at(0, 0), BRANCH_TRACE_OFF);
	feed_branch(&first);
	expect("B 0 f\nB 10 [syscall]\nE 10 [syscall]\nE 10 f\nE 10 m\nB 0 m inferred deferred\n"
	       "S\nS\n");
}
END_TEST

START_TEST(a_forked_child_has_its_parents_frames)
{
	struct callstack *child;

	call('m', 0x10, 'f');
	feed(BRANCH_SYSCALL, at('f', 0x20), at(0, 0), BRANCH_TRACE_OFF);
	feed_held();
	child = callstack_open(machine, NULL);
	callstack_inherit(child, stack, now);
	ck_assert_uint_eq(precise_depth(child), 1);
	callstack_close(stack);
	stack = child;
	feed(BRANCH_NONE, at(0, 0), at('f', 0x22), BRANCH_TRACE_ON);
	ret('f', 'm', 0x15);
	expect_depth(0);
}
END_TEST

START_TEST(the_kernel_runs_on_top_and_its_exit_goes_back)
{
	call('m', 0x10, 'f');
	feed(BRANCH_SYSCALL, at('f', 0x20), at('k', 0), 0);
	call('k', 0x10, 'w');
	feed(BRANCH_INTERRUPT, at('w', 0x18), at('i', 0), BRANCH_ASYNC);
	feed(BRANCH_IRET, at('i', 0x30), at('w', 0x18), 0);
	ret('w', 'k', 0x15);
	feed(BRANCH_SYSRET, at('k', 0x40), at('f', 0x22), 0);
	ret('f', 'm', 0x15);
	expect("B 0 f\nB 10 k\nB 20 w\nB 30 i\nE 40 i\nE 50 w\nE 60 k\nE 70 f\nE 70 m\n"
	       "B 0 m inferred deferred\nS\n");
}
END_TEST

/* Linux's sync_core(), and KVM's call of a handler with its frame on the stack. */
START_TEST(an_iret_with_a_frame_of_the_kernels_own_leaves_no_entry)
{
	call('m', 0x10, 'f');
	feed(BRANCH_SYSCALL, at('f', 0x20), at('k', 0), 0);
	call('k', 0x10, 'w');
	feed(BRANCH_IRET, at('w', 0x18), at('w', 0x20), 0);
	call('w', 0x30, 'i');
	feed(BRANCH_IRET, at('i', 0x30), at('w', 0x35), 0);
	ret('w', 'k', 0x15);
	feed(BRANCH_SYSRET, at('k', 0x40), at('f', 0x22), 0);
	ret('f', 'm', 0x15);
	expect("B 0 f\nB 10 k\nB 20 w\nB 40 i\nE 50 i\nE 60 w\nE 70 k\nE 80 f\nE 80 m\n"
	       "B 0 m inferred deferred\nS\n");
}
END_TEST

/* As with intel_pt//k: each entry begins a stack, which an exit ends with all open calls. */
START_TEST(entries_into_the_kernel_alone_are_stacks_of_their_own)
{
	feed(BRANCH_NONE, at(0, 0), at('k', 0), BRANCH_TRACE_ON);
	call('k', 0x10, 'w');
	ret('w', 'k', 0x15);
	feed(BRANCH_SYSRET, at('k', 0x40), at(0, 0), BRANCH_TRACE_OFF);
	feed(BRANCH_NONE, at(0, 0), at('k', 0), BRANCH_TRACE_ON);
	call('k', 0x10, 'w');
	feed(BRANCH_INTERRUPT, at('w', 0x18), at('i', 0), BRANCH_ASYNC);
	call('i', 0x10, 'x');
	feed(BRANCH_IRET, at('x', 0x40), at(0, 0), BRANCH_TRACE_OFF);
	feed(BRANCH_NONE, at(0, 0), at('i', 0), BRANCH_TRACE_ON);
	call('i', 0x10, 'x');
	expect("B 10 w\nE 20 w\nE 30 k\nB 30 [untraced]\nE 40 [untraced]\n"
	       "B 40 k\nB 50 w\nB 60 i\nB 70 x\nE 80 x\nE 80 i\nE 80 w\nE 80 k\n"
	       "B 80 [untraced]\nE 90 [untraced]\nB 90 i\nB 100 x\nE 100 x\nE 100 i\n"
	       "B 0 k inferred deferred\nS\n");
}
END_TEST

/* INT n and INT3: the FUP has the instruction's address, and IRET returns after it. */
START_TEST(a_software_interrupt_returns_after_its_instruction)
{
	const uint64_t length = (uint64_t)_i;

	call('m', 0x10, 'f');
	feed(BRANCH_CALL, at('f', 0x20), nameless(0), 0);
	feed(BRANCH_INTERRUPT, nameless(0x18), at('i', 0), BRANCH_ASYNC);
	feed(BRANCH_IRET, at('i', 0x30), nameless(0x18 + length), 0);
	feed(BRANCH_NONE, nameless(0x28), at(0, 0), BRANCH_TRACE_OFF | BRANCH_ASYNC);
	feed(BRANCH_NONE, at(0, 0), nameless(0x28 + length), BRANCH_TRACE_ON);
	/* The handler of its signal also returns there. */
	feed(BRANCH_NONE, nameless(0x38), at(0, 0), BRANCH_TRACE_OFF | BRANCH_ASYNC);
	feed(BRANCH_NONE, at(0, 0), at('h', 0), BRANCH_TRACE_ON);
	feed(BRANCH_SYSCALL, at('h', 0x10), at(0, 0), BRANCH_TRACE_OFF);
	feed(BRANCH_NONE, at(0, 0), nameless(0x38 + length), BRANCH_TRACE_ON);
	expect("B 0 f\nB 10 [file]\nB 20 i\nE 30 i\nB 40 [untraced]\nE 50 [untraced]\n"
	       "B 60 [untraced]\nE 70 [untraced]\nB 70 h\nB 80 [syscall]\nE 90 [syscall]\nE 90 h\n"
	       "E 90 [file]\nE 90 f\nE 90 m\nB 0 m inferred deferred\nS\n");
}
END_TEST

START_TEST(calls_at_one_time_are_spread_and_returns_take_none)
{
	call('m', 0x10, 'a');
	now = BASE + 100;
	call('a', 0x10, 'b');
	now = BASE + 100;
	call('b', 0x10, 'c');
	now = BASE + 100;
	ret('c', 'b', 0x15);
	now = BASE + 200;
	ret('b', 'a', 0x15);
	expect("B 0 a\nB 100 b\nB 150 c\nE 200 c\nE 200 b\nE 200 a\nE 200 m\n"
	       "B 0 m inferred deferred\nS\n");
}
END_TEST

/* Only their order distinguishes them: nothing may be delayed. */
START_TEST(calls_at_the_first_time_stay_beside_each_other)
{
	call('m', 0x10, 'f');
	now = BASE;
	ret('f', 'm', 0x15);
	now = BASE;
	call('m', 0x20, 'g');
	now = BASE;
	ret('g', 'm', 0x25);
	now = BASE + 1;
	ret('m', 'a', 0x15);
	expect("B 0 f\n"
	       "E 0 f\n"
	       "B 0 g\n"
	       "E 1 g\n"
	       "E 1 m\n"
	       "E 1 a\n"
	       "B 0 a inferred deferred\n"
	       "B 0 m inferred deferred\n"
	       "S\n");
}
END_TEST

/* Elided locks: lock() begins a transaction and returns in it, unlock() commits. */
START_TEST(a_mark_takes_no_time_and_follows_the_calls_before_it)
{
	struct stack_branch mark = { .notes = { .mark = function('x') }, .has_notes = true };

	call('m', 0x10, 'f');
	mark.event.time = now - 10;
	feed_branch(&mark);
	ret('f', 'm', 0x15);
	expect("B 0 f\nB 10 x\nE 10 x\nE 10 f\nE 10 m\nB 0 m inferred deferred\nS\n");
}
END_TEST

START_TEST(an_abort_brings_back_the_stack_of_the_transactions_begin)
{
	call('m', 0x10, 'l');
	feed(BRANCH_RETURN, at('l', 0x80), at('m', 0x15), BRANCH_IN_TX);
	feed(BRANCH_CALL, at('m', 0x20), at('w', 0), BRANCH_IN_TX);
	feed(BRANCH_TX_ABORT, at('w', 0x30), at('l', 0x40), BRANCH_ASYNC);
	ret('l', 'm', 0x15);
	expect_depth(0);
	expect("B 0 l\nE 10 l\n"
	       "B 20 w\n"
	       "E 30 w\n"
	       "B 30 l\n"
	       "E 40 l\n"
	       "E 40 m\n"
	       "B 0 m inferred deferred\n"
	       "S\n");
}
END_TEST

START_TEST(a_commit_keeps_the_stack)
{
	call('m', 0x10, 'l');
	feed(BRANCH_RETURN, at('l', 0x80), at('m', 0x15), BRANCH_IN_TX);
	feed(BRANCH_CALL, at('m', 0x20), at('u', 0), BRANCH_IN_TX);
	ret('u', 'm', 0x25);
	feed(BRANCH_CALL, at('m', 0x30), at('w', 0), BRANCH_IN_TX);
	call('w', 0x10, 'x');
	feed(BRANCH_TX_ABORT, at('x', 0x30), at('x', 0x40), BRANCH_ASYNC);
	expect_depth(2);
	expect("B 0 l\nE 10 l\n"
	       "B 20 u\n"
	       "E 30 u\n"
	       "B 40 w\n"
	       "B 50 x\n"
	       "E 60 x\n"
	       "E 60 w\n"
	       "E 60 m\n"
	       "B 0 m inferred deferred\n"
	       "S\n");
}
END_TEST

/* Tracing begins in `m`, at a program's entry if `entry`; then m calls f repeatedly. */
static void run_program(bool entry, int calls)
{
	struct stack_branch start = { .event = { .time = now, .flags = BRANCH_TRACE_ON },
				      .to = at('m', 0),
				      .notes = { .has_no_caller = entry },
				      .has_notes = true };

	feed_branch(&start);
	now += 10;
	for (int i = 0; i < calls; i++) {
		call('m', 0x10, 'f');
		ret('f', 'm', 0x15);
	}
}

/* More branches than are kept. */
#define MANY 2500

START_TEST(what_nothing_has_called_is_given_out_as_it_comes)
{
	const char *text;

	run_program(true, MANY);
	feed_held();
	text = slice_log_take(&slices);
	ck_assert_ptr_nonnull(strstr(text, "B 10 f\nE 20 f\n"));
	/* The program's slice begins before all slices emitted with it. */
	ck_assert_ptr_nonnull(strstr(text, "B 0 m inferred deferred\nS\n"));
	finish();
	text = slice_log_take(&slices);
	ck_assert_ptr_null(strstr(text, "B 0 m"));
	ck_assert_ptr_nonnull(strstr(text, " m\nS\n"));
}
END_TEST

START_TEST(what_may_have_callers_is_not_complete_before_its_end)
{
	run_program(false, MANY);
	ck_assert_ptr_null(strstr(slice_log_take(&slices), "S\n"));
	finish();
}
END_TEST

/* Impossible, but a recording may contain it. */
START_TEST(a_caller_of_a_program_begins_when_it_is_returned_to)
{
	char expected[80];

	run_program(true, MANY);
	slice_log_take(&slices);
	ret('m', 'x', 0x15);
	snprintf(expected, sizeof(expected), "B %d x inferred deferred\nS\n",
		 (int)(now - BASE - 10));
	finish();
	ck_assert_ptr_nonnull(strstr(slice_log_take(&slices), expected));
}
END_TEST

START_TEST(after_a_gap_callers_may_be_found_again)
{
	run_program(true, MANY);
	gap(GAP_OVERFLOW);
	slice_log_take(&slices);
	run_program(false, MANY);
	ret('m', 'x', 0x15);
	finish();
	ck_assert_ptr_nonnull(
		strstr(slice_log_take(&slices), " x inferred deferred\nB 50020 m inferred "));
}
END_TEST

static void add_tests(TCase *tests)
{
	tcase_add_test(tests, a_return_pops_the_frame_that_was_called_from_there);
	tcase_add_test(tests, a_call_that_reads_the_instruction_pointer_opens_no_slice);
	tcase_add_test(tests, a_return_deeper_pops_all_above);
	tcase_add_test(tests, a_deep_frame_is_found_after_indexed_ones_were_replaced);
	tcase_add_test(tests, addresses_distinguish_recursive_calls);
	tcase_add_test(tests, a_tail_call_keeps_where_its_caller_returns);
	tcase_add_test(tests, a_jump_to_a_part_of_the_function_is_no_tail_call);
	tcase_add_test(tests, a_stub_and_its_target_are_one_call);
	tcase_add_test(tests, a_resolver_that_returns_to_the_function_jumps_to_it);
	tcase_add_test(
		tests,
		a_function_that_a_nameless_resolver_jumps_to_may_begin_a_coroutine_by_a_return);
	tcase_add_test(tests, a_page_fault_in_the_stubs_does_not_hide_the_resolver);
	tcase_add_test(tests, a_resolved_function_may_begin_a_coroutine_by_a_return);
	tcase_add_test(tests, a_function_after_a_bound_stub_may_begin_a_coroutine_by_a_return);
	tcase_add_test(tests, a_stub_of_code_without_a_name_is_shown_itself);
	tcase_add_test(tests, a_stub_that_is_interrupted_is_no_call_of_its_own);
	tcase_add_loop_test(tests, what_interrupts_a_stub_is_no_part_of_its_target, 0, 2);
	tcase_add_test(tests, a_stub_does_not_return);
	tcase_add_test(tests, a_jump_by_its_own_address_in_code_without_names_leaves_nothing);
	tcase_add_test(tests, a_call_of_the_next_instruction_is_none);
	tcase_add_test(tests, a_stack_is_given_up_where_too_many_calls_are_open);
	tcase_add_test(tests, a_stack_is_given_up_at_a_gap_that_adds_a_frame);
	tcase_add_test(tests, calls_that_have_ended_leave_room_for_others);
	tcase_add_test(tests, calls_of_one_time_wait_for_the_next_where_there_is_room);
	tcase_add_test(tests, calls_of_one_time_do_not_wait_where_there_is_no_room);
	tcase_add_test(tests, calls_of_one_time_and_a_mark_share_the_time);
	tcase_add_test(tests, a_child_of_too_many_calls_begins_without_them);
	tcase_add_test(tests, a_jump_into_a_function_deeper_down_is_unwinding);
	tcase_add_test(tests, longjmp_goes_back_to_the_frame_of_its_setjmp);
	tcase_add_test(tests, an_unwinder_goes_on_below_the_frame_that_resumed_it);
	tcase_add_test(tests, nothing_returns_from_an_unwinder);
	tcase_add_test(tests, an_exception_to_a_level_that_was_not_seen_marks_it);
	tcase_add_test(tests, an_exception_of_any_language_to_a_level_that_was_not_seen_marks_it);
	tcase_add_test(tests, an_exception_out_of_the_first_function_marks_what_it_enters);
	tcase_add_test(tests,
		       a_throw_to_an_entry_continues_the_caller_that_stored_its_stack_pointer);
	tcase_add_test(tests, a_throw_to_an_entry_that_no_caller_waits_for_marks_it);
	tcase_add_test(tests, a_longjmp_out_of_calls_to_one_that_was_not_seen_marks_it);
	tcase_add_test(tests, a_call_returns_to_the_byte_after_it);
	tcase_add_test(tests, a_call_of_unknown_length_returns_to_a_byte_near_it);
	tcase_add_test(tests, a_retpoline_is_a_jump);
	tcase_add_test(tests, an_interrupt_in_a_retpoline_is_before_its_target);
	tcase_add_test(tests, a_function_that_leaves_by_a_return_thunk_ends_there);
	tcase_add_test(tests, a_caller_that_was_never_seen_is_inferred_below);
	tcase_add_test(tests, a_pause_is_on_top_until_execution_resumes);
	tcase_add_test(tests, an_old_system_call_is_a_pause_like_syscall);
	tcase_add_test(tests, a_software_interrupt_to_a_stub_is_no_jump);
	tcase_add_test(tests, a_signal_handler_runs_on_top_and_sigreturn_ends_it);
	tcase_add_test(tests,
		       a_function_encloses_the_handler_that_interrupted_it_before_the_trace_began);
	tcase_add_test(tests, a_signal_handler_may_begin_within_a_function_without_a_name);
	tcase_add_test(tests, a_signal_handler_does_not_begin_within_an_active_function);
	tcase_add_test(tests, a_stack_that_was_left_is_found_again);
	tcase_add_test(tests,
		       a_stack_that_begins_among_calls_of_one_time_is_apart_from_the_old_one);
	tcase_add_test(tests, gogo_goes_to_the_stack_of_its_goroutine);
	tcase_add_test(tests, a_new_goroutine_is_under_no_scheduler);
	tcase_add_test(tests, a_return_shows_which_of_several_stacks_came_back);
	tcase_add_test(tests, a_return_to_what_a_signal_interrupted_shows_which_stack_came_back);
	tcase_add_test(tests, a_return_to_what_no_signal_interrupted_here_leaves_the_stack);
	tcase_add_test(tests,
		       the_end_of_a_handler_that_switched_stacks_shows_which_stack_came_back);
	tcase_add_test(tests, a_stack_that_is_left_before_a_return_is_taken_for_the_one_left_first);
	tcase_add_test(tests, a_stack_that_could_have_been_resumed_is_marked_when_it_comes_back);
	tcase_add_test(tests, a_stack_that_comes_back_after_a_loss_is_marked);
	tcase_add_test(tests,
		       a_switch_to_the_same_call_enters_a_stack_that_the_trace_has_not_shown);
	tcase_add_test(tests,
		       an_exception_out_of_what_several_stacks_share_enters_the_one_left_first);
	tcase_add_test(tests, a_stack_that_was_left_waits_for_a_hundred_others);
	for (int calls = 90; calls <= 120; calls += 30)
		tcase_add_loop_test(
			tests, a_stack_that_comes_back_after_too_many_calls_of_one_time_is_marked,
			calls, calls + 1);
	tcase_add_test(tests, a_stack_that_begins_without_a_cause_is_marked_and_counted);
	tcase_add_test(tests, a_function_may_run_on_top_of_a_stack_that_was_left);
	tcase_add_test(tests, stacks_that_are_passed_on_come_back_together);
	tcase_add_test(tests, what_a_stack_is_left_for_by_a_fixed_call_is_part_of_it);
	tcase_add_test(tests, what_a_stack_is_left_for_may_go_to_another_one);
	tcase_add_test(tests, a_stack_waits_for_any_number_that_were_dropped);
	tcase_add_test(tests, a_stack_comes_back_where_no_more_stacks_fit);
	tcase_add_loop_test(tests, a_jump_to_no_call_resumes_only_the_stack_left_last, 0, 2);
	tcase_add_test(tests, a_jump_into_code_without_symbols_resumes_no_stack);
	tcase_add_test(tests, a_stack_that_a_return_leads_to_without_a_caller_is_marked);
	tcase_add_loop_test(tests, an_exception_into_one_of_several_fibers_is_marked, 1, 3);
	tcase_add_loop_test(tests, a_return_shows_whether_a_stack_was_left_for_its_own, 0, 2);
	tcase_add_test(tests, a_gap_is_a_slice_and_a_new_segment_begins_after_it);
	tcase_add_test(tests, calls_of_one_time_share_it_by_their_instructions);
	tcase_add_test(tests, a_call_of_few_instructions_has_a_length);
	tcase_add_test(tests, a_mark_takes_no_time_of_the_calls_that_share_it_by_instructions);
	tcase_add_test(tests, calls_of_one_time_do_not_last_beyond_the_next_timing_packet);
	tcase_add_test(tests, calls_before_a_gap_share_the_time_up_to_its_end);
	tcase_add_test(tests, calls_before_a_long_gap_are_as_fast_as_the_last_ones);
	tcase_add_loop_test(tests, arguments_do_not_change_times_before_a_gap, 0, 2);
	tcase_add_test(tests, a_gap_without_a_time_after_it_lies_between_the_calls_of_one_time);
	tcase_add_test(tests, code_without_bytes_returns_to_its_caller);
	tcase_add_test(tests, code_without_bytes_may_have_returned_often);
	tcase_add_test(tests,
		       code_without_bytes_leads_to_another_instruction_of_an_active_function);
	tcase_add_test(tests, code_without_bytes_calls_what_it_leads_to);
	tcase_add_test(tests, code_without_bytes_jumps_to_what_returned_to_its_caller);
	tcase_add_test(tests, code_without_bytes_jumps_to_what_was_found_to_return_to_its_caller);
	tcase_add_test(tests, code_without_bytes_leads_into_an_active_function);
	tcase_add_test(tests, a_jump_out_of_code_that_dropped_nothing_takes_its_frame);
	tcase_add_test(tests,
		       a_jump_out_of_code_that_may_have_dropped_its_frame_continues_a_caller);
	tcase_add_test(tests, code_without_bytes_jumps_back_to_the_function_that_jumped_to_it);
	tcase_add_test(tests, code_without_bytes_leads_to_another_call_of_an_active_function);
	tcase_add_test(tests, a_kernel_without_bytes_goes_back_to_the_program);
	tcase_add_test(tests, code_that_does_not_fit_the_trace_ends_no_other_slice);
	tcase_add_test(tests, exec_leaves_nothing_of_the_old_stack);
	tcase_add_test(tests, a_thread_that_another_replaced_ended_at_its_last_event);
	tcase_add_test(tests, a_forked_child_has_its_parents_frames);
	tcase_add_test(tests, the_kernel_runs_on_top_and_its_exit_goes_back);
	tcase_add_test(tests, an_iret_with_a_frame_of_the_kernels_own_leaves_no_entry);
	tcase_add_test(tests, entries_into_the_kernel_alone_are_stacks_of_their_own);
	tcase_add_loop_test(tests, a_software_interrupt_returns_after_its_instruction, 1, 3);
	tcase_add_test(tests, calls_at_one_time_are_spread_and_returns_take_none);
	tcase_add_test(tests, calls_at_the_first_time_stay_beside_each_other);
	tcase_add_test(tests, a_mark_takes_no_time_and_follows_the_calls_before_it);
	tcase_add_test(tests, an_abort_brings_back_the_stack_of_the_transactions_begin);
	tcase_add_test(tests, a_commit_keeps_the_stack);
	tcase_add_test(tests, what_nothing_has_called_is_given_out_as_it_comes);
	tcase_add_test(tests, what_may_have_callers_is_not_complete_before_its_end);
	tcase_add_test(tests, a_caller_of_a_program_begins_when_it_is_returned_to);
	tcase_add_test(tests, after_a_gap_callers_may_be_found_again);
}

/* ---- Cycles -------------------------------------------------------------- */

/* Details of each begin and end, in the order of emission: "B insns/cycles ". */
static char costs[1000];

static void log_costs(struct slice_log *log, const struct slice_event *event,
		      const struct slice_detail *detail)
{
	size_t used = strlen(costs);

	(void)log;
	snprintf(costs + used, sizeof(costs) - used, "%c %d/%d ",
		 event->kind == SLICE_BEGIN ? 'B' : 'E', (int)detail->insns, (int)detail->cycles);
}

/* Cycles in all slices called f. */
static int64_t sum;

static void sum_costs(struct slice_log *log, const struct slice_event *event,
		      const struct slice_detail *detail)
{
	(void)log;
	if (event->symbol->name->text[0] == 'f')
		sum += event->kind == SLICE_BEGIN ? -(int64_t)detail->cycles
						  : (int64_t)detail->cycles;
}

/* A branch after `count` instructions. */
static void feed_costs(enum branch_kind kind, struct location from, struct location to,
		       uint32_t count)
{
	struct stack_branch branch = {
		.event = { .time = now,
			   .kind = (uint8_t)kind,
			   .gap = kind == BRANCH_GAP ? GAP_OVERFLOW : GAP_NONE,
			   .flags = kind == BRANCH_NONE ? BRANCH_TRACE_ON : 0,
			   .insns = count,
			   .from_length = 5 },
		.from = from,
		.to = to,
	};

	feed_branch(&branch);
	now += 10;
}

/* A CYC packet's cycles, `count` instructions after the last branch or CYC. */
static void pass_cycles(uint32_t count, uint32_t cycles)
{
	const struct branch_event event = {
		.time = now, .kind = BRANCH_COUNTS, .insns = count, .cycles = cycles
	};

	feed_held();
	callstack_pass(stack, &event);
}

static void setup_costs(void)
{
	setup_edges();
	slices.sink.details = true;
	slices.before = log_costs;
	costs[0] = 0;
}

/*
 * main calls f, which calls g, which has the most instructions; CYCs are in main and at the last
 * branch.
 */
START_TEST(cycles_are_spread_over_all_instructions_since_the_last_ones)
{
	feed_costs(BRANCH_CALL, at('m', 0x10), at('f', 0), 10);
	pass_cycles(0, 7);
	feed_costs(BRANCH_CALL, at('f', 0x10), at('g', 0), 20);
	feed_costs(BRANCH_RETURN, at('g', 0x80), at('f', 0x15), 60);
	feed_costs(BRANCH_RETURN, at('f', 0x80), at('m', 0x15), 20);
	pass_cycles(0, 50);
	finish();
	ck_assert_str_eq(costs, "B 10/7 B 30/17 E 90/47 E 110/57 E 110/57 B 0/0 ");
}
END_TEST

/* In straight code of f and of main, and after all slices. */
START_TEST(cycles_end_where_they_were_known)
{
	feed_costs(BRANCH_CALL, at('m', 0x10), at('f', 0), 10);
	pass_cycles(20, 60);
	feed_costs(BRANCH_RETURN, at('f', 0x80), at('m', 0x15), 10);
	feed_costs(BRANCH_CALL, at('m', 0x20), at('g', 0), 10);
	feed_costs(BRANCH_RETURN, at('g', 0x80), at('m', 0x25), 20);
	pass_cycles(0, 80);
	pass_cycles(0, 5);
	pass_cycles(10, 10);
	finish();
	ck_assert_str_eq(costs, "B 10/20 E 40/80 B 50/100 E 70/140 E 80/155 B 0/0 ");
}
END_TEST

START_TEST(what_ran_before_a_gap_is_counted)
{
	feed_costs(BRANCH_CALL, at('m', 0x10), at('f', 0), 10);
	pass_cycles(0, 10);
	pass_cycles(30, 60);
	feed_costs(BRANCH_GAP, at(0, 0), at(0, 0), 0);
	feed_costs(BRANCH_NONE, at(0, 0), at('f', 0x50), 0);
	finish();
	ck_assert_str_eq(costs, "B 10/10 E 40/70 E 40/70 B 40/70 E 40/70 B 0/0 ");
}
END_TEST

/* A thousand groups that are emitted before or after their cycles are known. */
START_TEST(emitted_slices_have_their_cycles)
{
	slices.before = sum_costs;
	for (int i = 0; i < 1000; i++) {
		feed_costs(BRANCH_CALL, at('m', 0x10), at('f', 0), 2);
		feed_costs(BRANCH_RETURN, at('f', 0x80), at('m', 0x15), 6);
		pass_cycles(0, 40);
	}
	finish();
	ck_assert_int_eq(sum, 1000 * 30);
}
END_TEST

/* Thousands of branches without cycles do not wait forever. */
START_TEST(branches_without_cycles_do_not_fill_memory)
{
	costs[0] = 0;
	slices.before = NULL;
	feed_costs(BRANCH_CALL, at('m', 0x10), at('f', 0), 10);
	pass_cycles(0, 10);
	for (int i = 0; i < 2 * DEEP; i++) {
		feed_costs(BRANCH_CALL, at('f', 0x10), at('g', 0), 1);
		feed_costs(BRANCH_RETURN, at('g', 0x80), at('f', 0x15), 1);
	}
	feed_held();
	ck_assert_uint_lt(machine->pending_room, DEEP);
	finish();
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("callstack_precise");
	TCase *all = tcase_create("with notes");
	TCase *plain = tcase_create("without notes");
	TCase *many = tcase_create("many at once");
	TCase *edges = tcase_create("many at once, and emitted many at once");
	TCase *costing = tcase_create("with costs");

	tcase_add_checked_fixture(all, setup, teardown);
	tcase_add_checked_fixture(plain, setup_short, teardown);
	tcase_add_checked_fixture(many, setup_many, teardown);
	add_tests(all);
	add_tests(plain);
	tcase_add_checked_fixture(edges, setup_edges, teardown);
	add_tests(many);
	add_tests(edges);
	tcase_add_test(all, a_stack_is_given_up_at_the_same_place_however_it_is_fed);
	tcase_add_loop_test(all, what_is_fed_as_plain_has_the_outcome_of_any_branch, 0, 20);
	tcase_add_loop_test(all, edges_have_the_outcome_of_begins_and_ends_one_by_one, 0, 20);
	tcase_add_checked_fixture(costing, setup_costs, teardown);
	tcase_add_test(costing, cycles_are_spread_over_all_instructions_since_the_last_ones);
	tcase_add_test(costing, cycles_end_where_they_were_known);
	tcase_add_test(costing, what_ran_before_a_gap_is_counted);
	tcase_add_test(costing, emitted_slices_have_their_cycles);
	tcase_add_test(costing, branches_without_cycles_do_not_fill_memory);
	suite_add_tcase(suite, all);
	suite_add_tcase(suite, costing);
	suite_add_tcase(suite, plain);
	suite_add_tcase(suite, many);
	suite_add_tcase(suite, edges);
	return unit_run(suite);
}
