/* SPDX-License-Identifier: MIT */
/*
 * Samples of sched_switch that are shorter than their format or differ from it; valid ones are in
 * tests/unit/src/sched_points.c.  The fields are at the offsets of Linux 6.
 */
#include "decoder/timeline/tracepoint_formats.h"

#include <linux/perf_event.h>
#include <stdlib.h>
#include <string.h>

#include "decoder/perf_data/perf_record.h"
#include "tests/support/unit.h"

#define ID 314

static struct perf_attr attr;
static struct sched_points points;
static uint8_t raw[64];

static void setup(void)
{
	const uint64_t state = 0;
	const int32_t tid = 77;

	attr.attr.type = PERF_TYPE_TRACEPOINT;
	attr.attr.config = ID;
	points = (struct sched_points){ 0 };
	points.formats[SCHED_SWITCH].recorded = true;
	points.formats[SCHED_SWITCH].id = ID;
	points.formats[SCHED_SWITCH].fields[SCHED_NAME] = (struct sched_field){ 40, 16 };
	points.formats[SCHED_SWITCH].fields[SCHED_TID] = (struct sched_field){ 56, 4 };
	points.formats[SCHED_SWITCH].fields[SCHED_STATE] = (struct sched_field){ 32, 8 };
	memcpy(raw + 32, &state, sizeof(state));
	strcpy((char *)raw + 40, "next");
	memcpy(raw + 56, &tid, sizeof(tid));
}

static struct sched_field *field(enum sched_member member)
{
	return &points.formats[SCHED_SWITCH].fields[member];
}

/* From the first bytes of the sample. */
static struct sched_point read_point(size_t size)
{
	const struct perf_sample sample = { .attr = &attr, .raw = { raw, size } };
	struct sched_point point;

	ck_assert_int_eq(sched_points_read(&points, &sample, &point), point.kind);
	return point;
}

START_TEST(a_whole_sample_has_all_fields)
{
	struct sched_point point = read_point(60);

	ck_assert_int_eq(point.kind, SCHED_SWITCH);
	ck_assert_int_eq(point.tid, 77);
	ck_assert_str_eq(point.name, "next");
	ck_assert(point.runnable && !point.dead);
	ck_assert_int_eq(point.cpu, -1);
}
END_TEST

START_TEST(without_a_whole_thread_id_there_is_nothing)
{
	ck_assert_int_eq(read_point(59).kind, SCHED_NONE);
	ck_assert_int_eq(read_point(0).kind, SCHED_NONE);
	field(SCHED_TID)->offset = UINT32_MAX;
	ck_assert_int_eq(read_point(60).kind, SCHED_NONE);
	*field(SCHED_TID) = (struct sched_field){ 0, 60 }; /* no number is so long */
	ck_assert_int_eq(read_point(60).kind, SCHED_NONE);
}
END_TEST

/* A name may lack its NUL, and readers read 16 bytes. */
START_TEST(a_name_that_is_cut_or_short_is_left_out)
{
	field(SCHED_TID)->offset = 0;
	ck_assert_ptr_nonnull(read_point(56).name);
	ck_assert_ptr_null(read_point(55).name);
	field(SCHED_NAME)->size = 15;
	ck_assert_ptr_null(read_point(60).name);
	field(SCHED_NAME)->size = 0;
	ck_assert_ptr_null(read_point(60).name);
}
END_TEST

START_TEST(the_previous_thread_is_blocked_without_a_state)
{
	field(SCHED_TID)->offset = 0;
	ck_assert(read_point(40).runnable);
	ck_assert(!read_point(39).runnable);
	field(SCHED_STATE)->size = 0;
	ck_assert(!read_point(60).runnable);
}
END_TEST

START_TEST(another_event_is_none_of_these)
{
	attr.attr.config = ID + 1;
	ck_assert_int_eq(read_point(60).kind, SCHED_NONE);
	attr.attr.config = ID;
	attr.attr.type = PERF_TYPE_RAW;
	ck_assert_int_eq(read_point(60).kind, SCHED_NONE);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("sched_points");
	TCase *tests = tcase_create("all");

	tcase_add_checked_fixture(tests, setup, NULL);
	tcase_add_test(tests, a_whole_sample_has_all_fields);
	tcase_add_test(tests, without_a_whole_thread_id_there_is_nothing);
	tcase_add_test(tests, a_name_that_is_cut_or_short_is_left_out);
	tcase_add_test(tests, the_previous_thread_is_blocked_without_a_state);
	tcase_add_test(tests, another_event_is_none_of_these);
	suite_add_tcase(suite, tests);
	return unit_run(suite);
}
