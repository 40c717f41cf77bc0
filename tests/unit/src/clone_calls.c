/* SPDX-License-Identifier: MIT */
/* Which system calls can have created a thread, by both times. */
#include "src/callstack/fork_pauses.h"
#include "tests/support/unit.h"

#define CLONE 0x4002 /* after clone()'s system call */
#define OTHER 0x5002

#define RESOLUTION 319 /* ns: a time may be this much before the event */

static struct clone_calls calls;

static void add(uint64_t time, uint64_t ip)
{
	const struct branch_event event = {
		.time = time, .kind = BRANCH_SYSCALL, .from = ip - 2, .from_length = 2
	};

	clone_calls_add(&calls, &event);
}

static bool created(uint64_t time)
{
	return clone_calls_have(&calls, CLONE, time, RESOLUTION);
}

START_TEST(a_thread_was_created_by_the_call_before_it)
{
	calls = (struct clone_calls){ 0 };
	ck_assert(!created(1000));
	add(1000, OTHER);
	ck_assert(!created(2000));
	add(2000, CLONE);
	ck_assert(!created(1999));
	ck_assert(created(2000));
	ck_assert(created(90000));
}
END_TEST

START_TEST(a_later_call_that_surely_came_first_excludes_those_before_it)
{
	calls = (struct clone_calls){ 0 };
	add(2000, CLONE);
	add(3000, OTHER);
	ck_assert(created(2500));
	ck_assert(created(3000 + RESOLUTION));
	ck_assert(!created(3001 + RESOLUTION));
	ck_assert(clone_calls_have(&calls, CLONE, 90000, 0));
}
END_TEST

START_TEST(many_later_calls_forget_the_first)
{
	calls = (struct clone_calls){ 0 };
	add(2000, CLONE);
	for (uint64_t i = 1; i < CLONE_CALLS_MOST; i++)
		add(3000 + i, OTHER);
	ck_assert(created(2500));
	add(4000, OTHER);
	ck_assert(!created(2500));
}
END_TEST

START_TEST(other_events_are_no_calls)
{
	const struct branch_event call = {
		.time = 2000, .kind = BRANCH_CALL, .from = CLONE - 2, .from_length = 2
	};

	calls = (struct clone_calls){ 0 };
	clone_calls_add(&calls, &call);
	ck_assert(!created(2500));
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("clone_calls");
	TCase *all = tcase_create("clone_calls");

	tcase_add_test(all, a_thread_was_created_by_the_call_before_it);
	tcase_add_test(all, a_later_call_that_surely_came_first_excludes_those_before_it);
	tcase_add_test(all, many_later_calls_forget_the_first);
	tcase_add_test(all, other_events_are_no_calls);
	suite_add_tcase(suite, all);
	return unit_run(suite);
}
