/* SPDX-License-Identifier: MIT */
/* Folding of written traces, read back by the strict reader. */
#include "src/formats/ftf/ftf_fold.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "reader/trace_reader.h"
#include "reader/trace_slices.h"
#include "tests/support/unit.h"
#include "writer/ftf.h"

/* More names than a provider has references for, each begun several times: several providers. */
#define NAMES  50000u
#define ROUNDS 6u

/* A slice's name is its begin within a round. */
#define ROUND_TIME (UINT64_C(1000) * (NAMES + 1))

/* The inner slices are below 100 ns, the outer ones above. */
#define LONG 100u

struct bytes {
	uint8_t *at; /* owned */
	size_t count, room;
};

static void append(void *context, const void *bytes, size_t size)
{
	struct bytes *to = context;

	to->at = alloc_grow(to->at, &to->room, to->count + size, 1);
	memcpy(to->at + to->count, bytes, size);
	to->count += size;
}

static int append_trace(void *context, const void *bytes, size_t size)
{
	append(context, bytes, size);
	return 0;
}

static struct bytes trace, left;
static struct ftf_writer *writer;
static struct ftf_fold fold;

static void setup(void)
{
	const struct ftf_destination to = { append_trace, &trace };

	trace = left = (struct bytes){ 0 };
	fold = (struct ftf_fold){ .args = true };
	writer = ftf_open_destination(&to, &(struct ftf_options){ .provider = "test" }, NULL);
}

static void teardown(void)
{
	ftf_abandon(writer);
	ftf_fold_release(&fold);
	free(trace.at);
	free(left.at);
}

static void begin(struct ftf_thread thread, uint64_t time, const char *name)
{
	ftf_begin(writer, &(struct ftf_event){
				  .thread = thread, .time = time, .name = ftf_text(writer, name) });
}

static void end(struct ftf_thread thread, uint64_t time)
{
	ftf_end(writer, &(struct ftf_event){ .thread = thread, .time = time });
}

/* Fold what is written up to now; the writer continues behind what is left. */
static void fold_written(uint64_t limit)
{
	const struct fold_output to = { append, &left };

	ftf_flush(writer);
	fold.limit = limit;
	left.count = 0;
	ftf_fold_run(&fold, trace.at, trace.count, &to);
	trace.count = 0;
	append(&trace, left.at, left.count);
}

struct found {
	uint64_t slices, folded, folded_time;
};

/* Add up an end's numbers. */
static void count_args(struct found *found, const struct trace_record *record)
{
	for (size_t i = 0; i < record->arg_count; i++) {
		const struct trace_arg *arg = &record->args[i];

		if (arg->name.length == strlen("folded"))
			found->folded += arg->word;
		else
			found->folded_time += arg->word;
	}
}

/* Read the trace, and see to it that each slice has its own name. */
static struct found read_trace(void)
{
	char path[] = "ftf_fold.test.XXXXXX", name[32];
	struct trace_slices slices = { 0 };
	struct trace_reader reader;
	static struct trace_record record;
	struct found found = { 0 };
	struct error err = { 0 };
	int fd = mkstemp(path);

	ftf_flush(writer);
	ck_assert_int_eq(write(fd, trace.at, trace.count), (ssize_t)trace.count);
	close(fd);
	ck_assert_int_eq(trace_reader_open(&reader, path, &err), 0);
	while (trace_reader_next(&reader, &record, &err) == 1) {
		trace_slices_add(&slices, &record);
		ck_assert_str_eq(record.problem, "");
		if (record.kind != TRACE_EVENT)
			continue;
		count_args(&found, &record);
		if (record.type == EVENT_END)
			continue;
		snprintf(name, sizeof(name), "%" PRIu64, record.time % ROUND_TIME);
		ck_assert_uint_eq(record.name.length, strlen(name));
		ck_assert_mem_eq(record.name.at, name, strlen(name));
	}
	ck_assert_str_eq(err.text, "");
	ck_assert_int_eq(trace_slices_finish(&slices, &err), 0);
	found.slices = slices.total;
	trace_slices_release(&slices);
	trace_reader_close(&reader);
	unlink(path);
	return found;
}

static void call(struct ftf_thread thread, uint64_t from, uint64_t to)
{
	char name[32];

	snprintf(name, sizeof(name), "%" PRIu64, from % ROUND_TIME);
	begin(thread, from, name);
	end(thread, to);
}

START_TEST(names_mean_the_same_with_several_providers)
{
	struct ftf_thread threads[300];
	uint64_t slices = 0;

	for (uint32_t i = 0; i < 300; i++)
		threads[i] = ftf_thread(writer, 1, i + 1);
	for (uint32_t i = 0; i < 300; i++)
		begin(threads[i], 0, "0");
	for (uint32_t round = 0; round < ROUNDS; round++) {
		for (uint32_t i = 0; i < NAMES; i++, slices++) {
			uint64_t from = round * ROUND_TIME + 1000 * (1 + i);

			call(threads[(round * 50 + i) % 300], from,
			     from + (i % 7 ? i % LONG : LONG + i % 10));
		}
		fold_written(slices / 3);
	}
	for (uint32_t i = 0; i < 300; i++)
		end(threads[i], UINT64_C(1) << 40);
	ck_assert_uint_gt(fold.counts.folded, slices / 2);
	ck_assert_uint_eq(fold.counts.left_out, 0);
	ck_assert_uint_eq(read_trace().slices + fold.counts.folded, slices + 300);
}
END_TEST

START_TEST(an_open_slice_counts_what_is_folded_before_and_after)
{
	struct ftf_thread thread = ftf_thread(writer, 1, 1);
	struct found found;

	begin(thread, 0, "0");
	begin(thread, 10, "10");
	for (uint64_t i = 1; i <= 100; i++)
		call(thread, 1000 * i, 1000 * i + 3);
	fold_written(10);
	ck_assert_uint_eq(fold.counts.folded, 100);
	fold_written(10);
	for (uint64_t i = 101; i <= 200; i++)
		call(thread, 1000 * i, 1000 * i + (i == 150 ? 500 : 3));
	end(thread, 300000);
	fold_written(10);
	end(thread, 300001);
	fold_written(10);
	found = read_trace();
	ck_assert_uint_eq(found.slices, 3);
	ck_assert_uint_eq(found.folded, 199);
	ck_assert_uint_eq(found.folded_time, 3 * 199);
}
END_TEST

START_TEST(a_folded_slice_passes_on_what_it_counts_and_no_time_counts_twice)
{
	struct ftf_thread thread = ftf_thread(writer, 1, 1);
	struct found found;

	begin(thread, 0, "0");
	begin(thread, 100, "100");
	call(thread, 110, 115);
	call(thread, 120, 126);
	end(thread, 200);
	call(thread, 300, 600);
	call(thread, 700, 1000);
	fold_written(4);
	ck_assert_uint_eq(fold.counts.folded, 2);
	call(thread, 2000, 2300);
	end(thread, 3000);
	fold_written(4);
	found = read_trace();
	ck_assert_uint_eq(found.slices, 4);
	ck_assert_uint_eq(found.folded, 3);
	ck_assert_uint_eq(found.folded_time, 100);
}
END_TEST

/* The shortest are left out of those with none around them, with what is in them. */
START_TEST(outermost_slices_are_left_out_at_last)
{
	struct ftf_thread thread = ftf_thread(writer, 1, 1);

	for (uint64_t i = 1; i <= 20; i++) {
		char name[32];

		snprintf(name, sizeof(name), "%" PRIu64, 100000 * i);
		begin(thread, 100000 * i, name);
		call(thread, 100000 * i + 1, 100000 * i + 2);
		end(thread, 100000 * i + (UINT64_C(1) << (i % 10 + 2)));
	}
	fold_written(10);
	ck_assert_uint_eq(fold.counts.left_out, 10);
	ck_assert_uint_eq(fold.counts.folded, 20);
	ck_assert_uint_eq(read_trace().slices, 10);
}
END_TEST

START_TEST(durations_of_any_length_are_kept_in_order)
{
	struct ftf_thread thread = ftf_thread(writer, 1, 1);
	uint64_t time = 10;

	begin(thread, 0, "0");
	for (unsigned i = 0; i < 60; i++, time += 10) {
		uint64_t from = time;

		time += UINT64_C(1) << i;
		call(thread, from, time);
	}
	end(thread, time);
	fold_written(21);
	ck_assert_uint_eq(read_trace().slices, 21);
	ck_assert_uint_gt(fold.counts.shortest, UINT64_C(1) << 39);
	ck_assert_uint_le(fold.counts.shortest, UINT64_C(1) << 40);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("ftf_fold");
	TCase *all = tcase_create("ftf_fold");

	tcase_add_checked_fixture(all, setup, teardown);
	tcase_add_test(all, names_mean_the_same_with_several_providers);
	tcase_add_test(all, an_open_slice_counts_what_is_folded_before_and_after);
	tcase_add_test(all, a_folded_slice_passes_on_what_it_counts_and_no_time_counts_twice);
	tcase_add_test(all, outermost_slices_are_left_out_at_last);
	tcase_add_test(all, durations_of_any_length_are_kept_in_order);
	suite_add_tcase(suite, all);
	return unit_run(suite);
}
