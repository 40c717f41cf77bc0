/* SPDX-License-Identifier: MIT */
/* Which thread does which job when: jobs by all threads, ordered stages one at a time. */
#include "base/workers.h"

#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

#include "tests/support/unit.h"

#define JOBS  300
#define AHEAD 6

/* A number of a sequence that the stage consumes in order. */
struct number {
	struct worker_job job; /* first */
	unsigned value;
	pthread_t writer;
	bool done, slow;
};

static struct row {
	struct workers *workers;
	struct number numbers[JOBS];
	unsigned consumed, submitted;
	unsigned by_others; /* consumed by another thread than its producer */
	unsigned turns_taken, in_turn;
	bool random; /* each number's job takes a random time */
} row;

static void write_number(struct worker_job *job, struct worker_scratch *scratch)
{
	struct number *number = (struct number *)job;

	(void)scratch;
	usleep(number->slow ? 3000
	       : row.random ? (unsigned)(number - row.numbers) * 7919 % 400
			    : 300);
	number->value = (unsigned)(number - row.numbers) * 3;
	number->writer = pthread_self();
	__atomic_store_n(&number->done, true, __ATOMIC_RELEASE);
}

static void submit_ahead(void)
{
	while (row.submitted < JOBS && row.submitted < row.consumed + AHEAD)
		workers_submit(row.workers, &row.numbers[row.submitted++].job);
}

static void consume(struct number *number)
{
	ck_assert(number->done);
	ck_assert_uint_eq(number->value, row.consumed * 3);
	row.by_others += !pthread_equal(number->writer, pthread_self());
	row.consumed++;
	usleep(100);
}

static bool take_turn(void *context)
{
	ck_assert_ptr_eq(context, &row);
	ck_assert_uint_eq(__atomic_fetch_add(&row.in_turn, 1, __ATOMIC_RELAXED), 0);
	row.turns_taken++;
	while (row.consumed < JOBS) {
		submit_ahead();
		if (!workers_ready(row.workers, &row.numbers[row.consumed].job))
			break;
		consume(&row.numbers[row.consumed]);
	}
	__atomic_fetch_sub(&row.in_turn, 1, __ATOMIC_RELAXED);
	return row.consumed < JOBS;
}

static void begin(unsigned count)
{
	row = (struct row){ .workers = workers_open(count) };
	ck_assert_ptr_nonnull(row.workers);
	for (unsigned i = 0; i < JOBS; i++)
		row.numbers[i].job.run = write_number;
}

START_TEST(turns_are_in_order_and_one_at_a_time)
{
	begin((unsigned)_i);
	row.random = true;
	workers_run(row.workers, take_turn, &row);
	ck_assert_uint_eq(row.consumed, JOBS);
	workers_close(row.workers);
}
END_TEST

/* The result is in its CPU's cache. */
START_TEST(who_did_a_job_consumes_it)
{
	begin(2);
	workers_run(row.workers, take_turn, &row);
	ck_assert_uint_eq(row.consumed, JOBS);
	ck_assert_uint_lt(row.by_others, JOBS / 4);
	ck_assert_uint_gt(row.turns_taken, JOBS / 4);
	workers_close(row.workers);
}
END_TEST

/* While one thread is busy with the last job, the others consume its earlier results. */
START_TEST(an_idle_thread_consumes_the_jobs_of_another)
{
	begin(3);
	for (unsigned i = 0; i < JOBS; i++)
		row.numbers[i].slow = i % 4 == 3;
	workers_run(row.workers, take_turn, &row);
	ck_assert_uint_eq(row.consumed, JOBS);
	ck_assert_uint_gt(row.by_others, 0);
	workers_close(row.workers);
}
END_TEST

START_TEST(outside_of_a_turn_the_caller_does_what_nobody_has_begun)
{
	begin((unsigned)_i);
	for (unsigned i = 0; i < 20; i++)
		workers_submit(row.workers, &row.numbers[i].job);
	for (unsigned i = 20; i-- > 0;) {
		ck_assert(workers_ready(row.workers, &row.numbers[i].job));
		ck_assert(row.numbers[i].done);
	}
	ck_assert(pthread_equal(row.numbers[19].writer, pthread_self()));
	workers_close(row.workers);
}
END_TEST

START_TEST(an_offer_is_taken_when_there_is_no_other_job)
{
	struct number *offered = &row.numbers[JOBS - 1];

	begin(2);
	for (unsigned i = 0; i < 20; i++)
		workers_submit(row.workers, &row.numbers[i].job);
	workers_offer(row.workers, &offered->job);
	while (!__atomic_load_n(&offered->done, __ATOMIC_ACQUIRE))
		usleep(100);
	ck_assert(__atomic_load_n(&row.numbers[19].done, __ATOMIC_ACQUIRE));
	ck_assert(!workers_help(row.workers, &offered->job));
	workers_close(row.workers);
}
END_TEST

/* A number whose job runs another one in the same thread. */
static struct helped {
	struct worker_job job; /* first */
	const struct worker_scratch *scratch;
	pthread_t writer;
} helped;

static void note_thread(struct worker_job *job, struct worker_scratch *scratch)
{
	struct helped *noted = (struct helped *)job;

	noted->scratch = scratch;
	noted->writer = pthread_self();
}

static void write_with_help(struct worker_job *job, struct worker_scratch *scratch)
{
	helped = (struct helped){ .job.run = note_thread };
	workers_offer(row.workers, &helped.job);
	if (workers_help(row.workers, &helped.job)) {
		ck_assert(pthread_equal(helped.writer, pthread_self()));
		ck_assert_ptr_eq(helped.scratch, scratch);
	}
	workers_cancel(row.workers, &helped.job);
	write_number(job, scratch);
}

START_TEST(a_job_helps_with_another_one_in_its_own_thread)
{
	begin((unsigned)_i);
	row.numbers[JOBS / 2].job.run = write_with_help;
	workers_run(row.workers, take_turn, &row);
	ck_assert_uint_eq(row.consumed, JOBS);
	ck_assert_ptr_nonnull(helped.scratch);
	workers_close(row.workers);
}
END_TEST

START_TEST(a_cancelled_job_is_not_under_way)
{
	begin(3);
	for (unsigned i = 0; i < 20; i++)
		workers_submit(row.workers, &row.numbers[i].job);
	workers_offer(row.workers, &row.numbers[20].job);
	usleep(200);
	for (unsigned i = 0; i <= 20; i++)
		workers_cancel(row.workers, &row.numbers[i].job);
	row.numbers[0].done = row.numbers[19].done = row.numbers[20].done = false;
	usleep(2000);
	ck_assert(!row.numbers[0].done);
	ck_assert(!row.numbers[19].done);
	ck_assert(!row.numbers[20].done);
	workers_close(row.workers);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("workers");
	TCase *tests = tcase_create("all");

	tcase_add_loop_test(tests, turns_are_in_order_and_one_at_a_time, 1, 6);
	tcase_add_test(tests, who_did_a_job_consumes_it);
	tcase_add_test(tests, an_idle_thread_consumes_the_jobs_of_another);
	tcase_add_loop_test(tests, outside_of_a_turn_the_caller_does_what_nobody_has_begun, 1, 3);
	tcase_add_test(tests, an_offer_is_taken_when_there_is_no_other_job);
	tcase_add_loop_test(tests, a_job_helps_with_another_one_in_its_own_thread, 1, 4);
	tcase_add_test(tests, a_cancelled_job_is_not_under_way);
	suite_add_tcase(suite, tests);
	return unit_run(suite);
}
