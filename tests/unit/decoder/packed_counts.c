/* SPDX-License-Identifier: MIT */
#include "decoder/code/packed_counts.h"

#include <stdlib.h>

#include "tests/support/unit.h"

START_TEST(a_sum_of_steps_is_the_sum_of_each_part)
{
	uint64_t steps = 0, bits = 0, jumps = 0, insns = 0;

	srand((unsigned)_i);
	while (bits < 63 && !packed_counts_full(steps)) {
		unsigned bit = rand() % 50 == 0, more = (unsigned)rand() % 2048;

		ck_assert_uint_lt(jumps, PACKED_COUNTS_JUMPS);
		steps += packed_counts(bit, 1, more);
		bits += bit;
		jumps++;
		insns += more;
		ck_assert_uint_eq(packed_counts_bits(steps), bits);
		ck_assert_uint_eq(packed_counts_jumps(steps), jumps);
		ck_assert_uint_eq(packed_counts_insns(steps), insns);
	}
	steps = packed_counts_drop_insns(steps);
	ck_assert_uint_eq(packed_counts_insns(steps), 0);
	ck_assert_uint_eq(packed_counts_bits(steps), bits);
	ck_assert_uint_eq(packed_counts_jumps(steps), jumps);
}
END_TEST

START_TEST(steps_are_full_at_the_bound_of_jumps_and_beyond)
{
	uint64_t steps = 0;

	for (unsigned i = 0; i < PACKED_COUNTS_JUMPS; i++) {
		ck_assert(!packed_counts_full(steps));
		steps += packed_counts(0, 1, PACKED_COUNTS_STEP_INSNS);
	}
	/* Added without a check, up to the next one. */
	for (unsigned i = 1; i < PACKED_COUNTS_JUMPS; i++) {
		ck_assert(packed_counts_full(steps));
		steps += packed_counts(0, 1, 0);
	}
	ck_assert_uint_eq(packed_counts_jumps(steps), 2 * PACKED_COUNTS_JUMPS - 1);
	ck_assert_uint_eq(packed_counts_insns(steps),
			  (uint64_t)PACKED_COUNTS_JUMPS * PACKED_COUNTS_STEP_INSNS);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("code_steps");
	TCase *all = tcase_create("all");

	tcase_add_loop_test(all, a_sum_of_steps_is_the_sum_of_each_part, 0, 20);
	tcase_add_test(all, steps_are_full_at_the_bound_of_jumps_and_beyond);
	suite_add_tcase(suite, all);
	return unit_run(suite);
}
