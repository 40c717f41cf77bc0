/* SPDX-License-Identifier: MIT */
/* Cycles of CYC packets. */
#include <stdio.h>
#include <string.h>

#include "tests/unit/src/callstack_precise.h"

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
	sum = 0;
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

/* Each round has three instructions, one of these in f, and four cycles. */
START_TEST(rounding_gives_no_function_the_cycles_of_another)
{
	slices.before = sum_costs;
	for (int i = 0; i < 3000; i++) {
		feed_costs(BRANCH_CALL, at('m', 0x10), at('f', 0), 1);
		feed_costs(BRANCH_RETURN, at('f', 0x80), at('m', 0x15), 1);
		pass_cycles(1, 4);
	}
	finish();
	ck_assert_int_gt(sum, 3900);
	ck_assert_int_lt(sum, 4100);
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

void add_cost_tests(TCase *tests)
{
	tcase_add_checked_fixture(tests, setup_costs, teardown);
	tcase_add_test(tests, cycles_are_spread_over_all_instructions_since_the_last_ones);
	tcase_add_test(tests, cycles_end_where_they_were_known);
	tcase_add_test(tests, what_ran_before_a_gap_is_counted);
	tcase_add_test(tests, emitted_slices_have_their_cycles);
	tcase_add_test(tests, rounding_gives_no_function_the_cycles_of_another);
	tcase_add_test(tests, branches_without_cycles_do_not_fill_memory);
}
