/* SPDX-License-Identifier: MIT */
#include "src/select/mode_filter.h"

#include "decoder/cpu_event.h"
#include "decoder/known_branches.h"
#include "tests/support/unit.h"

#define USER   UINT64_C(0x401000)
#define KERNEL UINT64_C(0xffffffff81000000)

static struct branch_event branch(enum branch_kind kind, uint64_t from, uint64_t to, unsigned flags)
{
	static struct known_branch known;

	known.locations = (struct location_pair){ .from.ip = from, .to.ip = to };
	return (struct branch_event){ .kind = (uint8_t)kind,
				      .known = &known,
				      .from = from,
				      .to = to,
				      .flags = (uint8_t)flags,
				      .from_length = 2,
				      .insns = 7,
				      .cycles = 9 };
}

static void expect(const struct branch_event *event, enum branch_kind kind, uint64_t from,
		   uint64_t to, unsigned flags)
{
	ck_assert_uint_eq(event->kind, kind);
	ck_assert_uint_eq(event->from, from);
	ck_assert_uint_eq(event->to, to);
	ck_assert_uint_eq(event->flags, flags);
	if (event->known) {
		ck_assert_uint_eq(event->known->locations.from.ip, from);
		ck_assert_uint_eq(event->known->locations.to.ip, to);
	}
}

START_TEST(the_way_into_the_other_level_ends_the_trace)
{
	struct branch_event event = branch(BRANCH_SYSCALL, USER, KERNEL, 0);

	ck_assert(mode_filter_event(TRACE_MODE_USER, &event));
	expect(&event, BRANCH_SYSCALL, USER, 0, BRANCH_TRACE_OFF);
	ck_assert_uint_eq(event.insns, 7);
	ck_assert_uint_eq(event.from_length, 2);
	/* No instruction caused it: see the fast engine's TIP.PGD after a FUP. */
	event = branch(BRANCH_INTERRUPT, USER, KERNEL, BRANCH_ASYNC);
	ck_assert(mode_filter_event(TRACE_MODE_USER, &event));
	expect(&event, BRANCH_NONE, USER, 0, BRANCH_TRACE_OFF | BRANCH_ASYNC);
	event = branch(BRANCH_IRET, KERNEL, USER, 0);
	ck_assert(mode_filter_event(TRACE_MODE_KERNEL, &event));
	expect(&event, BRANCH_IRET, KERNEL, 0, BRANCH_TRACE_OFF);
}
END_TEST

/* The code before it, and its instructions, are of the other level. */
START_TEST(the_way_back_begins_it)
{
	struct branch_event event = branch(BRANCH_SYSRET, KERNEL, USER, BRANCH_TIME_ESTIMATED);

	ck_assert(mode_filter_event(TRACE_MODE_USER, &event));
	expect(&event, BRANCH_NONE, 0, USER, BRANCH_TRACE_ON | BRANCH_TIME_ESTIMATED);
	ck_assert_uint_eq(event.insns + event.cycles + event.from_length, 0);
	event = branch(BRANCH_INTERRUPT, USER, KERNEL, BRANCH_ASYNC);
	ck_assert(mode_filter_event(TRACE_MODE_KERNEL, &event));
	expect(&event, BRANCH_NONE, 0, KERNEL, BRANCH_TRACE_ON);
}
END_TEST

START_TEST(branches_within_a_level_stay_or_are_left_out_whole)
{
	struct branch_event event = branch(BRANCH_CALL, USER, USER + 8, BRANCH_INDIRECT);

	ck_assert(mode_filter_event(TRACE_MODE_USER, &event));
	expect(&event, BRANCH_CALL, USER, USER + 8, BRANCH_INDIRECT);
	ck_assert(mode_filter_event(TRACE_MODE_BOTH, &event));
	ck_assert(!mode_filter_event(TRACE_MODE_KERNEL, &event));
	event = branch(BRANCH_NONE, 0, KERNEL, BRANCH_TRACE_ON);
	ck_assert(!mode_filter_event(TRACE_MODE_USER, &event));
	ck_assert(mode_filter_event(TRACE_MODE_KERNEL, &event));
	expect(&event, BRANCH_NONE, 0, KERNEL, BRANCH_TRACE_ON);
	/* The entry of a guest, and an address filter. */
	event = branch(BRANCH_NONE, KERNEL, 0, BRANCH_TRACE_OFF | BRANCH_GUEST);
	ck_assert(!mode_filter_event(TRACE_MODE_USER, &event));
	event = branch(BRANCH_SYSRET, KERNEL, USER, BRANCH_TRACE_OFF);
	ck_assert(!mode_filter_event(TRACE_MODE_USER, &event));
}
END_TEST

START_TEST(missing_code_of_the_other_level_is_no_gap)
{
	struct branch_event event = { .kind = BRANCH_GAP, .gap = GAP_NO_CODE, .from = KERNEL };

	ck_assert(!mode_filter_event(TRACE_MODE_USER, &event));
	ck_assert(mode_filter_event(TRACE_MODE_KERNEL, &event));
	event.gap = GAP_OVERFLOW;
	ck_assert(mode_filter_event(TRACE_MODE_USER, &event));
	event = (struct branch_event){ .kind = BRANCH_GAP, .gap = GAP_MISMATCH };
	ck_assert(mode_filter_event(TRACE_MODE_USER, &event));
}
END_TEST

/* The vector of an interrupt in the kernel does not apply to the next pause of user code. */
START_TEST(events_of_a_thread_have_a_level_and_those_of_a_cpu_have_none)
{
	struct branch_event event = { .kind = BRANCH_CPU_EVENT,
				      .gap = CPU_EVENT_CFE,
				      .from = KERNEL };

	ck_assert(!mode_filter_event(TRACE_MODE_USER, &event));
	ck_assert(mode_filter_event(TRACE_MODE_KERNEL, &event));
	event.from = 0;
	ck_assert(mode_filter_event(TRACE_MODE_USER, &event));
	event.gap = CPU_EVENT_EXSTOP;
	event.from = KERNEL;
	ck_assert(mode_filter_event(TRACE_MODE_USER, &event));
}
END_TEST

START_TEST(many_are_selected_at_once_and_gaps_that_are_not_wanted_are_counted)
{
	const struct branch_event given[] = {
		branch(BRANCH_CALL, USER, USER + 8, 0),
		branch(BRANCH_SYSCALL, USER, KERNEL, 0),
		{ .kind = BRANCH_GAP, .gap = GAP_NO_CODE, .from = KERNEL },
		branch(BRANCH_NONE, 0, USER, BRANCH_TRACE_ON),
	};
	const struct branch_event *events = given;
	struct event_filter counts = { 0 };
	struct mode_filter filter = { .mode = TRACE_MODE_USER, .filter = &counts };

	ck_assert_uint_eq(mode_filter_apply(&filter, &events, 4), 3);
	expect(&events[1], BRANCH_SYSCALL, USER, 0, BRANCH_TRACE_OFF);
	expect(&events[2], BRANCH_NONE, 0, USER, BRANCH_TRACE_ON);
	ck_assert_uint_eq(counts.gaps[GAP_NO_CODE], 1);
	mode_filter_release(&filter);
	mode_filter_release(&filter);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("mode_filter");
	TCase *all = tcase_create("mode_filter");

	tcase_add_test(all, the_way_into_the_other_level_ends_the_trace);
	tcase_add_test(all, the_way_back_begins_it);
	tcase_add_test(all, branches_within_a_level_stay_or_are_left_out_whole);
	tcase_add_test(all, missing_code_of_the_other_level_is_no_gap);
	tcase_add_test(all, events_of_a_thread_have_a_level_and_those_of_a_cpu_have_none);
	tcase_add_test(all, many_are_selected_at_once_and_gaps_that_are_not_wanted_are_counted);
	suite_add_tcase(suite, all);
	return unit_run(suite);
}
