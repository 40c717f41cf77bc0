/* SPDX-License-Identifier: MIT */
/* Counts of code add up by address and by the way that it was left. */
#include "src/costs/executed_code.h"

#include "decoder/branch_event.h"
#include "tests/support/unit.h"

/* Where the code is in memory, and in its file. */
#define IP    0x7f0000001000
#define VADDR 0x1000

/* Only its address, as a file's, is compared. */
static char file;
static struct executed_code code;

static const struct dso *dso(void)
{
	return (const struct dso *)(const void *)&file;
}

/* Count code from 0x10 to 0x18, and then to 0x30. */
static void count(enum branch_kind kind, uint64_t executions, uint64_t taken)
{
	const struct code_count counted = {
		.begin = IP + 0x10,
		.last = IP + 0x18,
		.to = IP + 0x30,
		.count = executions,
		.taken = taken,
		.kind = (uint8_t)kind,
	};

	executed_code_add(&code, dso(), VADDR + 0x10, &counted);
}

static uint64_t sum(enum stretch_kind kind, uint64_t begin, uint64_t last)
{
	uint64_t found = 0;

	for (size_t i = 0; i < code.count; i++)
		if (code.stretches[i].kind == kind && code.stretches[i].begin == VADDR + begin &&
		    code.stretches[i].last == VADDR + last && code.stretches[i].dso == dso())
			found += code.stretches[i].count;
	return found;
}

static void setup(void)
{
	executed_code_init(&code);
}

static void teardown(void)
{
	executed_code_release(&code);
}

START_TEST(a_conditional_jump_counts_both_ways)
{
	count(BRANCH_COND, 5, 2);
	count(BRANCH_COND, 7, 7);
	ck_assert_uint_eq(code.count, 3);
	ck_assert_uint_eq(sum(LEFT_TAKEN, 0x10, 0x18), 9);
	ck_assert_uint_eq(sum(LEFT_OTHER, 0x10, 0x18), 3);
	ck_assert_uint_eq(sum(JUMPED, 0x18, 0x30), 9);
}
END_TEST

START_TEST(targets_of_an_indirect_jump_are_counted_apart_from_its_code)
{
	count(BRANCH_JUMP, 0, 4);
	ck_assert_uint_eq(code.count, 1);
	ck_assert_uint_eq(sum(JUMPED, 0x18, 0x30), 4);
}
END_TEST

START_TEST(a_call_is_no_jump)
{
	count(BRANCH_CALL, 3, 3);
	ck_assert_uint_eq(code.count, 2);
	ck_assert_uint_eq(sum(LEFT_OTHER, 0x10, 0x18), 3);
	ck_assert_uint_eq(sum(CALLED, 0x18, 0x30), 3);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("executed_code");
	TCase *tests = tcase_create("all");

	tcase_add_checked_fixture(tests, setup, teardown);
	tcase_add_test(tests, a_conditional_jump_counts_both_ways);
	tcase_add_test(tests, targets_of_an_indirect_jump_are_counted_apart_from_its_code);
	tcase_add_test(tests, a_call_is_no_jump);
	suite_add_tcase(suite, tests);
	return unit_run(suite);
}
