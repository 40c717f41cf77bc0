/* SPDX-License-Identifier: MIT */
/*
 * A relay hands over events in the order of the calls, whole blocks and parts, with one worker and
 * with several.
 */
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "src/slices/slice_queue.h"
#include "tests/support/unit.h"
#include "tests/unit/src/slice_feed.h"
#include "tests/unit/src/slice_log.h"

static struct name_table names;
static struct symbol function;

static struct slice_log direct, relayed;
static struct output output;
static struct slice_queue *relay;
static struct workers *workers;
static uint64_t written;

static void begin(int count)
{
	workers = workers_open((unsigned)count);
	ck_assert_ptr_nonnull(workers);
	relay = slice_queue_open(&relayed.sink, &output, &written, workers);
}

static void finish(void)
{
	slice_queue_close(relay);
	workers_close(workers);
}

static void setup(void)
{
	name_table_init(&names);
	function.name = name_intern_text(&names, "f");
	slice_log_init(&direct);
	slice_log_init(&relayed);
	output = (struct output){ 0 };
	written = 0;
}

static void teardown(void)
{
	name_table_release(&names);
}

/* More than a block holds. */
#define SLICE_EVENTS_MOST 3000

static void call_edges(const struct slice_sink *sink, uint64_t time, char *track)
{
	static struct slice_event edges[SLICE_EVENTS_MOST];
	size_t count = 1 + time * time % SLICE_EVENTS_MOST;

	for (size_t i = 0; i < count; i++)
		edges[i] = (struct slice_event){ .time = time,
						 .symbol = &function,
						 .ip = time,
						 .kind = i % 3 ? SLICE_END : SLICE_BEGIN,
						 .flags = i % 2 ? SLICE_INFERRED_START : 0 };
	feed_edges(sink, track, edges, count, true);
	memset(edges, 0xff, sizeof(edges)); /* they are borrowed for the call only */
}

/* One of each call; all differ. */
static void call_all(const struct slice_sink *sink, uint64_t time, char *track)
{
	char text[40];

	if (time % 30 == 0)
		call_edges(sink, time, track);

	feed_begin(sink, track, time, &function, time, SLICE_INFERRED_START);
	snprintf(text, sizeof(text), "instant %u", (unsigned)time);
	feed_instant(sink, track, time + 1, text);
	memset(text, 'x', sizeof(text) - 1); /* it is borrowed for the call only */
	slice_sink_emit_whole(sink, NULL,
			      &(struct slice_event){ .time = time + 2,
						     .symbol = &function,
						     .order = SLICE_ORDER_DEFERRED },
			      time + 3);
	feed_folded_end(sink, track, time + 4, time + 1, 30);
	slice_sink_flush(sink, track);
}

START_TEST(calls_arrive_in_order_with_all_they_say)
{
	static char name[] = "track";
	struct slice_sink sink;

	begin(_i);
	sink = *slice_queue_sink(relay);

	for (uint64_t time = 0; time < 100; time++) {
		call_all(&direct.sink, 10 * time, name);
		call_all(&sink, 10 * time, name);
		if (time % 7 == 0)
			slice_queue_wait(relay);
	}
	slice_queue_wait(relay);
	ck_assert_str_eq(slice_log_take(&relayed), slice_log_take(&direct));
	finish();
}
END_TEST

START_TEST(a_queue_after_another_one_gets_the_same_calls)
{
	static char name[] = "track";
	struct slice_queue *first;
	struct slice_sink sink;

	begin(_i);
	first = slice_queue_open(slice_queue_sink(relay), NULL, NULL, workers);
	sink = *slice_queue_sink(first);
	for (uint64_t time = 0; time < 100; time++) {
		call_all(&direct.sink, 10 * time, name);
		call_all(&sink, 10 * time, name);
	}
	slice_queue_wait(first);
	slice_queue_close(first);
	call_all(&direct.sink, 1001, name);
	call_all(slice_queue_sink(relay), 1001, name);
	slice_queue_wait(relay);
	ck_assert_str_eq(slice_log_take(&relayed), slice_log_take(&direct));
	finish();
}
END_TEST

static uint64_t arrived, last;

static void note_ends(const struct slice_sink *sink, void *track, const struct slice_batch *batch)
{
	(void)sink;
	(void)track;
	for (size_t i = 0; i < batch->count; i++) {
		ck_assert_uint_eq(batch->events[i].time, last + 1);
		last = batch->events[i].time;
		arrived++;
	}
}

/* More than all blocks together hold. */
START_TEST(the_caller_waits_for_a_slow_thread)
{
	const struct slice_sink next = { .events = note_ends };
	struct slice_queue *slow;
	struct slice_sink sink;

	begin(_i);
	arrived = last = 0;
	slow = slice_queue_open(&next, &output, &written, workers);
	sink = *slice_queue_sink(slow);
	for (uint64_t time = 1; time <= 100000; time++)
		feed_end(&sink, NULL, time);
	slice_queue_wait(slow);
	ck_assert_uint_eq(arrived, 100000);
	slice_queue_close(slow);
	finish();
}
END_TEST

/* Every third one has a detail. */
static void note_details(const struct slice_sink *sink, void *track,
			 const struct slice_batch *batch)
{
	(void)sink;
	ck_assert_ptr_eq(track, &last);
	for (size_t i = 0; i < batch->count; i++) {
		const struct slice_event *event = &batch->events[i];
		const struct slice_detail *detail = slice_batch_detail(batch, event);

		ck_assert_int_eq(detail != NULL, event->time % 3 == 0);
		ck_assert(!detail || detail->insns == event->time);
		arrived++;
	}
}

START_TEST(a_detail_arrives_with_its_event)
{
	const struct slice_sink next = { .events = note_details, .details = true };
	struct slice_detail detail = { 0 };
	const struct slice_sink *sink;
	struct slice_queue *detailed;

	begin(_i);
	detailed = slice_queue_open(&next, &output, &written, workers);
	sink = slice_queue_sink(detailed);
	arrived = 0;
	for (uint64_t time = 1; time <= 50000; time++) {
		detail.insns = time;
		slice_sink_emit(sink, &last,
				&(struct slice_event){ .time = time, .symbol = &function },
				time % 3 ? NULL : &detail);
	}
	slice_queue_wait(detailed);
	ck_assert_uint_eq(arrived, 50000);
	slice_queue_close(detailed);
	finish();
}
END_TEST

START_TEST(details_of_a_plain_batch_arrive_in_its_order)
{
	static struct slice_event events[SLICE_EVENTS_MOST];
	static struct slice_detail details[SLICE_EVENTS_MOST];
	const struct slice_sink next = { .events = note_details, .details = true };
	const struct slice_sink *sink;
	struct slice_queue *detailed;

	begin(_i);
	detailed = slice_queue_open(&next, &output, &written, workers);
	sink = slice_queue_sink(detailed);
	arrived = 0;
	for (uint64_t i = 0; i < SLICE_EVENTS_MOST; i++) {
		events[i] = (struct slice_event){ .time = 3 * i, .symbol = &function };
		details[i].insns = 3 * i;
	}
	for (size_t begins = 0; begins < 20; begins++) {
		const struct slice_batch batch = { events + begins, SLICE_EVENTS_MOST - begins,
						   details + begins, true };

		sink->events(sink, &last, &batch);
		slice_sink_emit(sink, &last, &events[begins], &details[begins]);
	}
	slice_queue_wait(detailed);
	ck_assert_uint_eq(arrived, 20 * (SLICE_EVENTS_MOST + 1) - 190);
	slice_queue_close(detailed);
	finish();
}
END_TEST

START_TEST(failure_and_written_slices_are_published)
{
	struct slice_sink sink;

	begin(_i);
	sink = *slice_queue_sink(relay);
	slice_sink_flush(&sink, NULL);
	slice_queue_wait(relay);
	ck_assert(!slice_queue_stopped(relay));
	ck_assert_uint_eq(slice_queue_slices(relay), 0);
	written = 300;
	output.err.kind = ERROR_SYSTEM;
	slice_sink_flush(&sink, NULL);
	slice_queue_wait(relay);
	ck_assert(slice_queue_stopped(relay));
	ck_assert_uint_eq(slice_queue_slices(relay), 300);
	finish();
}
END_TEST

START_TEST(a_relay_may_be_closed_with_work_left)
{
	struct slice_sink sink;

	begin(_i);
	sink = *slice_queue_sink(relay);
	for (int i = 0; i < 5000; i++)
		slice_sink_flush(&sink, NULL);
	slice_queue_close(NULL);
	finish();
}
END_TEST

static pthread_t here;
static uint64_t elsewhere, counted;

static void note_where(const struct slice_sink *sink, void *track, const struct slice_batch *batch)
{
	(void)sink;
	(void)track;
	counted += batch->count;
	if (!pthread_equal(here, pthread_self()))
		__atomic_add_fetch(&elsewhere, 1, __ATOMIC_RELAXED);
}

START_TEST(calls_are_done_by_a_thread_that_has_nothing_to_do)
{
	const struct slice_sink next = { .events = note_where };
	struct slice_queue *aside;
	struct slice_sink sink;

	begin(_i);
	here = pthread_self();
	elsewhere = counted = 0;
	aside = slice_queue_open(&next, &output, &written, workers);
	sink = *slice_queue_sink(aside);
	/* On a busy machine the threads of `workers` begin late. */
	for (int i = 0; i < 10000 || (_i > 1 && !__atomic_load_n(&elsewhere, __ATOMIC_RELAXED));
	     i++) {
		feed_end(&sink, NULL, 0);
		sched_yield();
	}
	slice_queue_wait(aside);
	ck_assert_uint_gt(counted, 0);
	ck_assert_int_eq(elsewhere > 0, _i > 1);
	slice_queue_close(aside);
	finish();
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("slice_queue");
	TCase *tests = tcase_create("all");

	tcase_add_checked_fixture(tests, setup, teardown);
	tcase_add_loop_test(tests, calls_arrive_in_order_with_all_they_say, 1, 4);
	tcase_add_loop_test(tests, a_queue_after_another_one_gets_the_same_calls, 1, 4);
	tcase_add_loop_test(tests, the_caller_waits_for_a_slow_thread, 1, 4);
	tcase_add_loop_test(tests, a_detail_arrives_with_its_event, 1, 4);
	tcase_add_loop_test(tests, details_of_a_plain_batch_arrive_in_its_order, 1, 4);
	tcase_add_loop_test(tests, failure_and_written_slices_are_published, 1, 4);
	tcase_add_loop_test(tests, a_relay_may_be_closed_with_work_left, 1, 4);
	tcase_add_loop_test(tests, calls_are_done_by_a_thread_that_has_nothing_to_do, 1, 4);
	suite_add_tcase(suite, tests);
	return unit_run(suite);
}
