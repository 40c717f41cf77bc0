/* SPDX-License-Identifier: MIT */
#include "decoder/streams/pt_streams.h"

#include <limits.h>
#include <stdlib.h>

#include "decoder/engine/pt_stream_base.h"
#include "decoder/history.h"
#include "tests/support/unit.h"

#define STREAMS 3
#define MOST    4096
#define EVENTS  3000
#define QUANTUM BRANCH_MERGE_QUANTUM

/* Events that are ready a few at a time, as those of a decoder are. */
struct listed_stream {
	struct pt_stream stream; /* first */
	struct branch_event events[MOST];
	size_t count, at;
	size_t most;    /* most events ready at a time, at random; 0: all */
	unsigned waits; /* of four steps, how many wait for another thread; at random */
	unsigned asked; /* steps */
};

static struct listed_stream lists[STREAMS];
static struct thread threads[STREAMS];
static struct branch_event merged[STREAMS * MOST];

static void step_list(struct pt_stream *stream)
{
	struct listed_stream *list = (struct listed_stream *)stream;
	size_t left = list->count - list->at, next = left;

	list->asked++;
	stream->waits = (unsigned)rand() % 4 < list->waits;
	if (stream->waits)
		return;
	if (list->most)
		next = (size_t)rand() % list->most + 1;
	if (next > left)
		next = left;
	stream->queue = &list->events[list->at];
	stream->head = 0;
	stream->tail = (unsigned)next;
	stream->ended = !next;
	list->at += next;
}

static void open_lists(size_t most)
{
	for (size_t i = 0; i < STREAMS; i++) {
		struct listed_stream *list = &lists[i];

		list->stream = (struct pt_stream){ .step = step_list };
		list->stream.queue = list->stream.own;
		list->at = 0;
		list->most = most;
	}
}

static size_t merge_waiting(bool in_bursts, size_t most, unsigned waits)
{
	struct pt_stream *streams[STREAMS];
	const struct branch_event *events;
	struct branch_merge merge;
	size_t count, all = 0;

	open_lists(most);
	for (size_t i = 0; i < STREAMS; i++) {
		streams[i] = &lists[i].stream;
		lists[i].waits = waits;
		lists[i].asked = 0;
	}
	branch_merge_init(&merge, streams, STREAMS, in_bursts);
	while ((count = branch_merge_next(&merge, &events)) > 0 || merge.waits) {
		/* Threads decode each stream from the start. */
		for (size_t i = 0; i < STREAMS; i++)
			ck_assert_uint_gt(lists[i].asked, 0);
		for (size_t i = 0; i < count; i++)
			merged[all++] = events[i];
	}
	branch_merge_release(&merge);
	return all;
}

static size_t merge_lists(bool in_bursts, size_t most)
{
	return merge_waiting(in_bursts, most, 0);
}

/* `from` is the event's number. */
static void add(size_t stream, size_t thread, uint64_t time, enum branch_kind kind)
{
	struct listed_stream *list = &lists[stream];

	ck_assert_uint_lt(list->count, MOST);
	list->events[list->count] = (struct branch_event){ .time = time,
							   .thread = &threads[thread],
							   .kind = (uint8_t)kind,
							   .cpu = (int32_t)stream,
							   .from = stream * MOST + list->count };
	list->count++;
}

static void clear(void)
{
	for (size_t i = 0; i < STREAMS; i++)
		lists[i].count = 0;
}

static void assert_order(const uint64_t *wanted, size_t count)
{
	for (size_t i = 0; i < count; i++)
		ck_assert_msg(merged[i].from == wanted[i], "event %zu is %zu, not %zu", i,
			      (size_t)merged[i].from, (size_t)wanted[i]);
}

START_TEST(events_come_in_the_order_of_time_and_of_streams)
{
	static const uint64_t wanted[] = { 0, MOST, 1, MOST + 1, 2 * MOST, MOST + 2 };

	clear();
	add(0, 0, 10, BRANCH_CALL);
	add(0, 0, 20, BRANCH_CALL);
	add(1, 1, 15, BRANCH_CALL);
	add(1, 1, 20, BRANCH_RETURN);
	add(1, 1, 40, BRANCH_RETURN);
	add(2, 2, 30, BRANCH_CALL);
	ck_assert_uint_eq(merge_lists(false, 0), 6);
	assert_order(wanted, 6);
}
END_TEST

START_TEST(near_branches_and_counts_of_a_quantum_come_ahead_of_those_of_other_threads)
{
	static const uint64_t wanted[] = { 0, 1, 2, MOST, MOST + 1, 3, MOST + 2 };

	clear();
	add(0, 0, 10, BRANCH_CALL);
	add(0, 0, QUANTUM - 2, BRANCH_COUNTS);
	add(0, 0, QUANTUM - 1, BRANCH_RETURN);
	add(0, 0, QUANTUM, BRANCH_CALL);
	add(1, 1, 15, BRANCH_CALL);
	add(1, 1, 20, BRANCH_COND);
	add(1, 1, QUANTUM, BRANCH_CALL);
	ck_assert_uint_eq(merge_lists(true, 0), 7);
	assert_order(wanted, 7);
}
END_TEST

START_TEST(a_run_is_of_one_thread)
{
	static const uint64_t wanted[] = { 0, MOST, 1 };

	clear();
	add(0, 0, 10, BRANCH_CALL);
	add(0, 2, 20, BRANCH_CALL);
	add(1, 1, 15, BRANCH_CALL);
	ck_assert_uint_eq(merge_lists(true, 0), 3);
	assert_order(wanted, 3);
}
END_TEST

/* A forked child, for example, needs the earlier events of its parent. */
START_TEST(other_events_keep_the_order_of_time)
{
	static const enum branch_kind others[] = { BRANCH_SYSCALL, BRANCH_INTERRUPT,
						   BRANCH_TX_ABORT, BRANCH_GAP, BRANCH_CPU_EVENT };
	static const uint64_t wanted[] = { 0, MOST, 1, MOST + 1 };

	for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++) {
		clear();
		add(0, 0, 10, BRANCH_CALL);
		add(0, 0, 20, others[i]);
		add(1, 1, 15, others[i]);
		add(1, 1, 25, others[i]);
		ck_assert_uint_eq(merge_lists(true, 0), 4);
		assert_order(wanted, 4);
	}
}
END_TEST

START_TEST(threads_that_are_unknown_have_no_bursts)
{
	static const uint64_t wanted[] = { 0, MOST, 1, MOST + 1 };

	clear();
	for (size_t i = 0; i < 4; i++) {
		add(i % 2, 0, 10 + i, BRANCH_CALL);
		lists[i % 2].events[i / 2].thread = NULL;
	}
	ck_assert_uint_eq(merge_lists(true, 0), 4);
	assert_order(wanted, 4);
}
END_TEST

static uint64_t random_pause(void)
{
	return (uint64_t)(rand() % 100 ? rand() % 30 : rand() % 30000);
}

/* Threads move between streams by a system call; each is in one stream at a time. */
static void make_random(void)
{
	size_t thread[STREAMS];
	uint64_t time = 0;

	clear();
	for (size_t i = 0; i < STREAMS; i++)
		thread[i] = i;
	for (size_t i = 0; i < EVENTS; i++) {
		size_t stream = (size_t)rand() % STREAMS, other = (size_t)rand() % STREAMS;
		size_t moved = thread[stream];

		time += random_pause();
		if (rand() % 40) {
			add(stream, moved, time, rand() % 50 ? BRANCH_CALL : BRANCH_SYSCALL);
			continue;
		}
		thread[stream] = thread[other];
		thread[other] = moved;
		time++;
		add(stream, thread[stream], time, BRANCH_SYSRET);
		add(other, thread[other], time, BRANCH_SYSRET);
	}
}

static size_t count_all(void)
{
	return lists[0].count + lists[1].count + lists[2].count;
}

START_TEST(each_thread_is_in_order_wherever_it_runs)
{
	uint64_t last[STREAMS] = { 0 }, last_call = 0;
	size_t count, ahead = 0;

	srand((unsigned)_i);
	make_random();
	count = merge_lists(true, 0);
	ck_assert_uint_eq(count, count_all());
	for (size_t i = 0; i < count; i++) {
		uint64_t *now = &last[merged[i].thread - threads];

		ck_assert_uint_ge(merged[i].time, *now);
		*now = merged[i].time;
		ahead += i && merged[i].time < merged[i - 1].time;
		if (merged[i].kind == BRANCH_CALL)
			continue;
		ck_assert_uint_ge(merged[i].time, last_call);
		last_call = merged[i].time;
	}
	ck_assert_uint_gt(ahead, 0);
}
END_TEST

START_TEST(the_order_does_not_depend_on_how_many_events_are_ready)
{
	static uint64_t wanted[STREAMS * MOST];
	size_t count;

	srand((unsigned)_i);
	make_random();
	count = merge_lists(true, 0);
	for (size_t i = 0; i < count; i++)
		wanted[i] = merged[i].from;
	for (size_t most = 1; most < 50; most += 7) {
		ck_assert_uint_eq(merge_lists(true, most), count);
		assert_order(wanted, count);
	}
}
END_TEST

START_TEST(the_order_does_not_depend_on_waiting)
{
	static uint64_t wanted[STREAMS * MOST];
	size_t count;

	srand((unsigned)_i);
	make_random();
	if (_i % 3 == 0)
		lists[_i % STREAMS].count = 0;
	count = merge_lists(_i % 2, 0);
	for (size_t i = 0; i < count; i++)
		wanted[i] = merged[i].from;
	for (unsigned waits = 1; waits < 4; waits++) {
		ck_assert_uint_eq(merge_waiting(_i % 2, 20, waits), count);
		assert_order(wanted, count);
	}
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("branch_merge");
	TCase *all = tcase_create("all");

	tcase_add_test(all, events_come_in_the_order_of_time_and_of_streams);
	tcase_add_test(all,
		       near_branches_and_counts_of_a_quantum_come_ahead_of_those_of_other_threads);
	tcase_add_test(all, a_run_is_of_one_thread);
	tcase_add_test(all, other_events_keep_the_order_of_time);
	tcase_add_test(all, threads_that_are_unknown_have_no_bursts);
	tcase_add_loop_test(all, each_thread_is_in_order_wherever_it_runs, 0, 20);
	tcase_add_loop_test(all, the_order_does_not_depend_on_how_many_events_are_ready, 0, 20);
	tcase_add_loop_test(all, the_order_does_not_depend_on_waiting, 0, 20);
	suite_add_tcase(suite, all);
	return unit_run(suite);
}
