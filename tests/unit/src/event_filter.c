/* SPDX-License-Identifier: MIT */
/* Events of the chosen time, as a stream emits them. */
#include "src/select/event_filter.h"

#include "tests/support/unit.h"

/* Counts are emitted after the event before, and have its time, as later events may be older. */
START_TEST(counts_are_of_the_time_up_to_which_they_count)
{
	bool wanted[] = { true };
	struct event_filter filter = {
		.begin = 100,
		.end = 200,
		.threads = wanted,
		.active = true,
	};
	const struct branch_event events[] = {
		{ .kind = BRANCH_COUNTS, .time = 90, .word = 100 },
		{ .kind = BRANCH_CALL, .time = 150 },
		{ .kind = BRANCH_COUNTS, .time = 150, .word = 200 },
		{ .kind = BRANCH_COUNTS, .time = 200, .word = 201 },
	};

	ck_assert_uint_eq(event_filter_first(&filter, events, 4), 3);
	ck_assert_uint_eq(event_filter_first(&filter, events + 3, 1), 0);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("event_filter");
	TCase *all = tcase_create("event_filter");

	tcase_add_test(all, counts_are_of_the_time_up_to_which_they_count);
	suite_add_tcase(suite, all);
	return unit_run(suite);
}
