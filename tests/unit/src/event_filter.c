/* SPDX-License-Identifier: MIT */
/* Events of the chosen time, as a stream emits them. */
#include "src/select/event_filter.h"

#include "decoder/timeline/timeline.h"
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

/* ---- Who is chosen --------------------------------------------------------- */

#define THREADS 7

static struct thread_name name_of[] = { { .text = "main" }, { .text = "worker" } };

/* Process 10 forks 30, 20 and 40; a thread of 20 forks 50.  10 and 11 ran before the recording. */
static struct thread threads[THREADS] = {
	{ .pid = 10, .tid = 10, .names = &name_of[0], .name_count = 1 },
	{ .pid = 10, .tid = 11, .names = &name_of[1], .name_count = 1, .parent = &threads[0] },
	{ .pid = 30, .tid = 30, .begin = 50, .parent = &threads[0] },
	{ .pid = 20, .tid = 20, .begin = 100, .parent = &threads[0] },
	{ .pid = 40, .tid = 40, .begin = 200, .parent = &threads[0] },
	{ .pid = 20, .tid = 21, .begin = 150, .parent = &threads[3] },
	{ .pid = 50, .tid = 50, .begin = 300, .parent = &threads[5] },
};

#define BEGUN UINT64_MAX

static const struct choice {
	const char *pids, *tids, *comm, *cpus;
	bool wanted[THREADS + 1]; /* the last: unknown threads */
	uint64_t needed[THREADS]; /* times up to which other threads' calls matter */
	/* The streams that are decoded, of CPUs 0 and 1 and of threads 10 and 99. */
	bool streams[4];
} choices[] = {
	{ "10", NULL, NULL, NULL, { 1, 1 }, { 0 }, { 1, 1, 1, 0 } },
	{ NULL, "11", NULL, NULL, { 0, 1 }, { 0 }, { 1, 1, 0, 0 } },
	{ "10", "11", NULL, NULL, { 0, 1 }, { 0 }, { 1, 1, 0, 0 } },
	{ "20", "11", NULL, NULL, { 0 }, { 0 }, { 1, 1, 0, 0 } },
	{ NULL, NULL, "main", NULL, { 1 }, { 0 }, { 1, 1, 1, 0 } },
	{ "10", NULL, "w*", NULL, { 0, 1 }, { 0 }, { 1, 1, 0, 0 } },
	{ "20", NULL, "main", NULL, { 0 }, { 0 }, { 1, 1, 0, 0 } },
	{ NULL, NULL, NULL, "1", { 1, 1, 1, 1, 1, 1, 1, 1 }, { 0 }, { 0, 1, 1, 1 } },
	{ NULL, "10", NULL, "0", { 1 }, { 0 }, { 1, 0, 1, 0 } },
	/* Children need their parent up to the fork, and siblings that were forked before. */
	{ NULL, "20", NULL, NULL, { 0, 0, 0, 1 }, { 101, 0, BEGUN, BEGUN }, { 1, 1, 1, 0 } },
	{ NULL, "30", NULL, NULL, { 0, 0, 1 }, { 51, 0, BEGUN }, { 1, 1, 1, 0 } },
	{ NULL, "20,30", NULL, NULL, { 0, 0, 1, 1 }, { 101, 0, BEGUN, BEGUN }, { 1, 1, 1, 0 } },
	/* A thread begins with no stack, so that its creator matters only for forks. */
	{ NULL, "21", NULL, NULL, { 0, 0, 0, 0, 0, 1 }, { 0, 0, 0, 151 }, { 1, 1, 0, 0 } },
	{ NULL,
	  "50",
	  NULL,
	  NULL,
	  { 0, 0, 0, 0, 0, 0, 1 },
	  { 0, 0, 0, 151, 0, 301, BEGUN },
	  { 1, 1, 0, 0 } },
};

#define CHOICES ((int)(sizeof(choices) / sizeof(choices[0])))

static void choose(const struct choice *choice, struct selection *select)
{
	if (choice->pids)
		ck_assert(number_list_add(&select->pids, choice->pids));
	if (choice->tids)
		ck_assert(number_list_add(&select->tids, choice->tids));
	if (choice->cpus)
		ck_assert(number_list_add(&select->cpus, choice->cpus));
	if (choice->comm)
		pattern_list_add(&select->comms, choice->comm);
}

START_TEST(threads_and_streams_are_chosen_with_what_their_calls_need)
{
	static const struct aux_stream all[] = {
		{ .tid = -1, .cpu = 0, .size = 1 },
		{ .tid = -1, .cpu = 1, .size = 2 },
		{ .tid = 10, .cpu = -1, .size = 4 },
		{ .tid = 99, .cpu = -1, .size = 8 },
	};
	const struct choice *choice = &choices[_i / 2];
	struct options options = { .command = _i % 2 ? COMMAND_LIST : COMMAND_CONVERT };
	const struct thread *list[THREADS];
	struct timeline timeline = { .threads = { .threads = list, .count = THREADS } };
	struct auxtrace auxtrace = { .streams = (struct aux_stream *)all, .stream_count = 4 };
	struct event_filter filter;
	struct error err = { 0 };
	uint64_t left_out = 0;
	struct diag diag;
	size_t kept = 0;

	for (uint32_t i = 0; i < THREADS; i++) {
		threads[i].index = i;
		list[i] = &threads[i];
	}
	diag_init(&diag);
	choose(choice, &options.select);
	ck_assert_int_eq(event_filter_init(&filter, &options, &auxtrace, &timeline, &diag, &err),
			 0);
	for (size_t i = 0; i <= THREADS; i++)
		ck_assert_int_eq(event_filter_has(&filter, i < THREADS ? &threads[i] : NULL, 5),
				 choice->wanted[i]);
	/* `list` has no calls. */
	for (size_t i = 0; i < THREADS; i++)
		ck_assert_uint_eq(filter.needed ? filter.needed[i] : 0,
				  _i % 2 ? 0 : choice->needed[i]);
	for (size_t i = 0; i < 4 && !(_i % 2); i++) {
		left_out += choice->streams[i] ? 0 : all[i].size;
		if (choice->streams[i])
			ck_assert_uint_eq(auxtrace.streams[kept++].size, all[i].size);
	}
	if (!(_i % 2)) {
		ck_assert_uint_eq(auxtrace.stream_count, kept);
		ck_assert_uint_eq(filter.bytes_left_out, left_out);
	}
	/* A buffer of a thread does not name its CPU. */
	ck_assert_int_eq(diag_kinds(&diag), choice->cpus != NULL);
	event_filter_release(&filter);
	selection_release(&options.select);
	arena_release(&auxtrace.arena);
	diag_release(&diag);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("event_filter");
	TCase *all = tcase_create("event_filter");

	tcase_add_test(all, counts_are_of_the_time_up_to_which_they_count);
	tcase_add_loop_test(all, threads_and_streams_are_chosen_with_what_their_calls_need, 0,
			    2 * CHOICES);
	suite_add_tcase(suite, all);
	return unit_run(suite);
}
