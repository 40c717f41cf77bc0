/* SPDX-License-Identifier: MIT */
/* Which system call of its parent forked a child, or created a thread, by both times. */
#include "src/callstack/fork_pauses.h"
#include "tests/support/unit.h"

#define FORK  0x4000 /* after fork()'s system call */
#define OTHER 0x5000

#define RESOLUTION 319 /* ns: a time may be this much before the event */

static struct fork_pauses pauses;

static void add(uint64_t time, uint64_t ip)
{
	pauses.pauses[pauses.count++] = (struct fork_pause){ .number = ++pauses.last_number,
							     .time = time,
							     .resume_ip = ip };
}

static uint64_t found(uint64_t time, uint64_t ip, const uint64_t *earlier, size_t earlier_count)
{
	struct fork_query query = {
		.time = time,
		.ip = ip,
		.resolution = RESOLUTION,
		.earlier = earlier,
		.earlier_count = earlier_count,
	};
	const struct fork_pause *pause = fork_pauses_find(&pauses, &query);

	return pause ? pause->number : 0;
}

static void begin(void)
{
	pauses = (struct fork_pauses){ 0 };
}

/* By the times, the second fork fits three calls: it is shortly before the third one. */
START_TEST(children_that_begin_last_to_first_have_a_call_each)
{
	static const uint64_t forks[] = { 56479, 57946, 60388, 61889 };

	add(52795, OTHER);
	add(54395, FORK);
	add(56315, FORK);
	add(57915, FORK);
	add(60475, FORK);
	add(61755, OTHER);
	for (size_t i = 4; i-- > 0;)
		ck_assert_uint_eq(found(forks[i], FORK, forks, i), 2 + i);
}
END_TEST

START_TEST(an_earlier_fork_takes_no_call_that_the_child_alone_can_have)
{
	static const uint64_t earlier[] = { 1010, 1020 };

	add(1000, FORK);
	ck_assert_uint_eq(found(1030, FORK, earlier, 2), 1);
}
END_TEST

START_TEST(an_earlier_fork_is_no_later_than_its_call)
{
	static const uint64_t earlier[] = { 500 };

	add(1000, FORK);
	add(1100, FORK);
	ck_assert_uint_eq(found(1150, FORK, earlier, 1), 1);
}
END_TEST

START_TEST(the_search_begins_after_a_gap)
{
	add(1000, FORK);
	add(1100, 0);
	add(1200, FORK);
	ck_assert_uint_eq(found(1250, FORK, NULL, 0), 3);
}
END_TEST

START_TEST(a_child_of_unknown_address_began_in_the_last_call)
{
	add(1000, FORK);
	add(1100, OTHER);
	ck_assert_uint_eq(found(1150, 0, NULL, 0), 2);
	ck_assert_uint_eq(found(1150, 0x6000, NULL, 0), 2);
	ck_assert_uint_eq(found(900, FORK, NULL, 0), 0);
}
END_TEST

static bool created(uint64_t time, uint64_t resolution)
{
	const struct fork_query query = { .time = time, .ip = FORK, .resolution = resolution };

	return fork_pauses_have(&pauses, &query);
}

START_TEST(a_thread_was_created_by_the_call_before_it)
{
	ck_assert(!created(1000, RESOLUTION));
	add(1000, OTHER);
	ck_assert(!created(2000, RESOLUTION));
	add(2000, FORK);
	ck_assert(!created(1999, RESOLUTION));
	ck_assert(created(2000, RESOLUTION));
	ck_assert(created(90000, RESOLUTION));
}
END_TEST

START_TEST(a_later_call_that_surely_came_first_excludes_those_before_it)
{
	add(2000, FORK);
	add(3000, OTHER);
	ck_assert(created(2500, RESOLUTION));
	ck_assert(created(3000 + RESOLUTION, RESOLUTION));
	ck_assert(!created(3001 + RESOLUTION, RESOLUTION));
	ck_assert(created(90000, 0));
}
END_TEST

static void add_call(uint64_t time, uint64_t ip)
{
	const struct branch_event event = {
		.time = time, .kind = BRANCH_SYSCALL, .from = ip - 2, .from_length = 2
	};

	fork_pauses_add(&pauses, NULL, &event);
}

START_TEST(many_later_calls_forget_the_first)
{
	add_call(2000, FORK);
	for (uint64_t i = 1; i < FORK_PAUSES_MOST; i++)
		add_call(3000 + i, OTHER + 2 * i);
	ck_assert(created(2500, RESOLUTION));
	add_call(4000, OTHER);
	ck_assert(!created(2500, RESOLUTION));
}
END_TEST

START_TEST(many_calls_at_one_address_forget_no_other)
{
	add_call(2000, FORK);
	for (uint64_t i = 1; i < 2 * FORK_PAUSES_MOST; i++)
		add_call(3000 + i, OTHER);
	ck_assert(created(2500, RESOLUTION));
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("fork_pauses");
	TCase *all = tcase_create("all");

	tcase_add_checked_fixture(all, begin, NULL);
	tcase_add_test(all, children_that_begin_last_to_first_have_a_call_each);
	tcase_add_test(all, an_earlier_fork_takes_no_call_that_the_child_alone_can_have);
	tcase_add_test(all, an_earlier_fork_is_no_later_than_its_call);
	tcase_add_test(all, the_search_begins_after_a_gap);
	tcase_add_test(all, a_child_of_unknown_address_began_in_the_last_call);
	tcase_add_test(all, a_thread_was_created_by_the_call_before_it);
	tcase_add_test(all, a_later_call_that_surely_came_first_excludes_those_before_it);
	tcase_add_test(all, many_later_calls_forget_the_first);
	tcase_add_test(all, many_calls_at_one_address_forget_no_other);
	suite_add_tcase(suite, all);
	return unit_run(suite);
}
