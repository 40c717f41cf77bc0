/* SPDX-License-Identifier: MIT */
/* Traces with fewer slices than written, read back by the strict reader. */
#include "src/formats/ftf/ftf_fit.h"

#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "reader/trace_print.h"
#include "reader/trace_reader.h"
#include "src/formats/ftf/ftf_sink.h"
#include "src/slices/track.h"
#include "tests/support/unit.h"

/* More names than one provider has references for, each begun several times: several providers. */
#define NAMES  50000u
#define ROUNDS 6u

/* A slice's name is its begin time within a round. */
#define ROUND_TIME (UINT64_C(1000) * (NAMES + 1))

/* Inner slices are shorter than 100 ns, outer ones longer. */
#define LONG 100u

static char path[] = "ftf_fit.test.XXXXXX";
static struct output output;
static struct ftf_sink ftf; /* only its writer, and the sink of other events */
static uint64_t slices;     /* begun */

static int write_trace(void *context, const void *bytes, size_t size)
{
	output_write(context, bytes, size);
	return 0;
}

/* Begin a trace with a limit of slices. */
static void open_trace(uint64_t limit)
{
	const struct ftf_destination to = { write_trace, &output };

	ck_assert_int_eq(output_open(&output, path, &output.err), 0);
	ftf.writer = ftf_open_destination(&to, &(struct ftf_options){ .provider = "test" }, NULL);
	ftf.events = (struct event_sink){ .event = ftf_sink_event, .context = &ftf };
	ftf_fit_init(&ftf.fit, limit, &ftf.events, &output, NULL);
	ftf.fit.folded = true;
	slices = 0;
}

static void close_trace(void)
{
	struct error err = { 0 };

	ftf_fit_finish(&ftf.fit, slices);
	ck_assert_int_eq(ftf_close(ftf.writer, NULL), 0);
	ck_assert_int_eq(output_close(&output, &err), 0);
}

static void setup(void)
{
	strcpy(path + strlen(path) - 6, "XXXXXX");
	close(mkstemp(path));
}

static void teardown(void)
{
	ftf_fit_release(&ftf.fit);
	ftf_fit_release(&ftf.fit);
	unlink(path);
}

static void emit(enum track_event_kind kind, struct event_track thread, uint64_t time,
		 const char *name, uint64_t id)
{
	event_sink_emit(&ftf.events, &(struct track_event){ .kind = kind,
							    .time = time,
							    .track = thread,
							    .id = id,
							    .name = text_view_of(name) });
}

static void begin(struct event_track thread, uint64_t time, const char *name)
{
	emit(TRACK_BEGIN, thread, time, name, 0);
	slices++;
}

static void end(struct event_track thread, uint64_t time)
{
	emit(TRACK_END, thread, time, NULL, 0);
}

struct found {
	uint64_t slices, folded, folded_time, flows;
};

/* Add up an end's numbers. */
static void count_args(struct found *found, const struct trace_record *record)
{
	for (size_t i = 0; i < record->arg_count; i++) {
		const struct trace_arg *arg = &record->args[i];

		if (arg->name.length != strlen("folded")) {
			found->folded_time += arg->word;
			continue;
		}
		found->folded += arg->word;
	}
}

/* Read the trace, and assert that each slice has its own name. */
static struct found read_trace(void)
{
	struct trace_slices shown = { 0 };
	struct trace_reader reader;
	static struct trace_record record;
	struct found found = { 0 };
	struct error err = { 0 };
	char name[32];

	ck_assert_int_eq(trace_reader_open(&reader, path, &err), 0);
	while (trace_reader_next(&reader, &record, &err) == 1) {
		trace_slices_add(&shown, &record);
		ck_assert_str_eq(record.problem, "");
		if (record.kind != TRACE_EVENT)
			continue;
		count_args(&found, &record);
		found.flows += record.type >= EVENT_FLOW_BEGIN && record.type <= EVENT_FLOW_END;
		if (record.type != EVENT_BEGIN && record.type != EVENT_COMPLETE)
			continue;
		snprintf(name, sizeof(name), "%" PRIu64, record.time % ROUND_TIME);
		ck_assert_uint_eq(record.name.length, strlen(name));
		ck_assert_mem_eq(record.name.at, name, strlen(name));
	}
	ck_assert_str_eq(err.text, "");
	ck_assert_int_eq(trace_slices_finish(&shown, &err), 0);
	found.slices = shown.total;
	trace_slices_release(&shown);
	trace_reader_close(&reader);
	return found;
}

static void call(struct event_track thread, uint64_t from, uint64_t to)
{
	char name[32];

	snprintf(name, sizeof(name), "%" PRIu64, from % ROUND_TIME);
	begin(thread, from, name);
	end(thread, to);
}

START_TEST(names_mean_the_same_with_several_providers)
{
	struct event_track threads[300];

	open_trace(NAMES);
	for (uint32_t i = 0; i < 300; i++)
		threads[i] = (struct event_track){ 1, i + 1 };
	for (uint32_t i = 0; i < 300; i++)
		begin(threads[i], 0, "0");
	for (uint32_t round = 0; round < ROUNDS; round++) {
		for (uint32_t i = 0; i < NAMES; i++) {
			uint64_t from = round * ROUND_TIME + 1000 * (1 + i);

			call(threads[(round * 50 + i) % 300], from,
			     from + (i % 7 ? i % LONG : LONG + i % 10));
		}
	}
	for (uint32_t i = 0; i < 300; i++)
		end(threads[i], UINT64_C(1) << 40);
	close_trace();
	ck_assert_uint_eq(ftf.fit.counts.left_out, 0);
	ck_assert_uint_le(read_trace().slices, NAMES);
	ck_assert_uint_ge(read_trace().slices, NAMES / 2);
	ck_assert_uint_eq(read_trace().folded, ftf.fit.counts.folded);
	ck_assert_uint_eq(read_trace().slices + ftf.fit.counts.folded, slices);
}
END_TEST

/* Both slices contain more than is collected in memory: slices of 1, 2 and 3 ns, and one of 500. */
START_TEST(a_long_slice_counts_all_that_is_folded_in_it)
{
	const struct event_track thread = { 1, 1 };
	struct found found;

	open_trace(10);
	begin(thread, 0, "0");
	begin(thread, 10, "10");
	for (uint64_t i = 1; i <= 30000; i++)
		call(thread, 1000 * i, 1000 * i + (i == 15000 ? 500 : 1 + i % 3));
	end(thread, 30000000 + 1000);
	end(thread, 30000000 + 2000);
	close_trace();
	found = read_trace();
	ck_assert_uint_ge(found.slices, 5);
	ck_assert_uint_le(found.slices, 10);
	ck_assert_uint_eq(found.folded, slices - found.slices);
	ck_assert_uint_eq(found.folded_time, 60000 - 1 - 3 * (found.slices - 3));
}
END_TEST

START_TEST(a_folded_slice_passes_on_what_it_counts_and_no_time_counts_twice)
{
	const struct event_track thread = { 1, 1 };
	struct found found;

	open_trace(4);
	begin(thread, 0, "0");
	begin(thread, 100, "100");
	call(thread, 110, 115);
	call(thread, 120, 126);
	end(thread, 200);
	for (uint64_t time = 300; time <= 900; time += 300)
		call(thread, time, time + 300);
	end(thread, 3000);
	close_trace();
	found = read_trace();
	ck_assert_uint_eq(found.slices, 4);
	ck_assert_uint_eq(found.folded, 3);
	ck_assert_uint_eq(found.folded_time, 100);
}
END_TEST

/* ---- Slices of calls ----------------------------------------------------- */

static struct track track;
static char shown[4096]; /* the events that the store passes on */

static void show_events(const struct slice_sink *sink, void *of, const struct slice_batch *batch)
{
	ck_assert_ptr_eq(of, &track);
	(void)sink;
	for (size_t i = 0; i < batch->count; i++) {
		const struct slice_event *event = &batch->events[i];
		const struct slice_detail *detail = slice_batch_detail(batch, event);

		sprintf(shown + strlen(shown), "%s%c%" PRIu64, *shown ? " " : "",
			"BEIL"[event->kind], event -> time);
		if (event->kind == SLICE_END && event->order == SLICE_ORDER_DEFERRED)
			sprintf(shown + strlen(shown), "@%" PRIu64, event->ip);
		if (event->kind == SLICE_END && detail && detail->folded)
			sprintf(shown + strlen(shown), "(%" PRIu64 ",%" PRIu64 ")", detail->folded,
				detail->folded_time);
	}
}

static const struct slice_sink shows = { .events = show_events, .folded = true, .late = true };
static const struct slice_sink *calls;

static void open_calls(uint64_t limit)
{
	open_trace(limit);
	calls = ftf_fit_before(&ftf.fit, &shows);
	*shown = 0;
}

static void take(enum slice_event_kind kind, uint64_t time)
{
	slice_sink_emit(calls, &track, &(struct slice_event){ .time = time, .kind = (uint8_t)kind },
			NULL);
	slices += kind == SLICE_BEGIN;
}

static void take_call(uint64_t from, uint64_t to)
{
	take(SLICE_BEGIN, from);
	take(SLICE_END, to);
}

/* The end of a slice that began at `begin`, or the begin if `end` is 0. */
static void take_late(uint64_t begin, uint64_t end)
{
	struct slice_event event = { .time = end ? end : begin, .order = SLICE_ORDER_DEFERRED };

	event.kind = end ? SLICE_END : SLICE_BEGIN;
	event.ip = end ? begin : 0;
	slice_sink_emit(calls, &track, &event, NULL);
	slices += !end;
}

START_TEST(slices_whose_begins_come_late_count_what_is_folded_in_them)
{
	open_calls(4);
	take(SLICE_LATE, 0);
	take_call(100, 110);
	take_call(200, 211);
	take_late(1, 300);
	for (uint64_t time = 400; time <= 900; time += 100)
		take_call(time, time + 12);
	take_late(0, 1000);
	take_call(1100, 1101);
	take_late(0, 0);
	take_late(1, 0);
	take_late(1, 0);
	take(SLICE_END, 1);
	take(SLICE_LATE, 0);
	take_call(2000, 3000);
	close_trace();
	/*
	 * The three late ones stay, and use half of the limit; so do the longest one and one of 12
	 * ns. No late one encloses the one of 1 ns.
	 */
	ck_assert_str_eq(shown, "L0 E300@1(2,21) B400 E412 E1000@0(5,60) B0 B1 B1 E1 L0 B2000 "
				"E3000");
	ck_assert_uint_eq(ftf.fit.counts.folded, 7);
	ck_assert_uint_eq(ftf.fit.counts.left_out, 1);
	ck_assert_uint_eq(ftf.fit.slices, slices);
}
END_TEST

/* Choose ranks and filter the store after call _i. */
START_TEST(late_parts_can_be_filtered_at_any_time)
{
	open_calls(4);
	ftf.fit.filtered = 0;
	take(SLICE_LATE, 0);
	for (uint64_t i = 1; i <= 8; i++) {
		if ((uint64_t)_i == i)
			ftf.fit.left = 0;
		take_call(100 * i, 100 * i + i);
		if (i == 2)
			take_late(1, 250);
	}
	take_late(0, 1000);
	take_late(0, 0);
	take_late(1, 0);
	take(SLICE_LATE, 0);
	close_trace();
	ck_assert_str_eq(shown, "L0 E250@1(2,3) B700 E707 B800 E808 E1000@0(4,18) B0 B1 L0");
	ck_assert_uint_eq(ftf.fit.counts.folded, 6);
	ck_assert_uint_eq(ftf.fit.counts.left_out, 0);
}
END_TEST

START_TEST(open_calls_count_what_is_folded_before_and_after_the_store_is_filtered)
{
	open_calls(3);
	ftf.fit.filtered = 0;
	ftf.fit.left = (uint64_t)_i;
	take(SLICE_BEGIN, 0);
	take(SLICE_BEGIN, 10);
	for (uint64_t i = 1; i <= 9; i++)
		take_call(100 * i, 100 * i + i);
	take(SLICE_END, 1000);
	take(SLICE_END, 2000);
	take_call(3000, 3001);
	close_trace();
	ck_assert_str_eq(shown, "B0 B10 E1000(9,45) E2000 B3000 E3001");
	ck_assert_uint_eq(ftf.fit.counts.folded, 9);
}
END_TEST

/* Ten calls do not end, so that ten others are in the output: the longest ones. */
START_TEST(calls_without_an_end_count_for_the_limit)
{
	size_t begins = 0;

	open_calls(20);
	for (uint64_t i = 0; i < 10; i++)
		take(SLICE_BEGIN, i);
	for (uint64_t i = 1; i <= 100; i++)
		take_call(1000 * i, 1000 * i + i);
	close_trace();
	for (const char *at = shown; (at = strchr(at, 'B')); at++)
		begins++;
	ck_assert_uint_le(begins, 20);
	ck_assert_uint_ge(begins, 15);
	ck_assert_ptr_nonnull(strstr(shown, "B100000 E100100"));
	ck_assert_ptr_null(strstr(shown, "B50000"));
}
END_TEST

/* Of outermost slices the shortest are dropped, with their contents. */
START_TEST(outermost_slices_are_left_out_at_last)
{
	const struct event_track thread = { 1, 1 };

	open_trace(10);
	for (uint64_t i = 1; i <= 20; i++) {
		char name[32];

		snprintf(name, sizeof(name), "%" PRIu64, 100000 * i);
		begin(thread, 100000 * i, name);
		call(thread, 100000 * i + 1, 100000 * i + 2);
		end(thread, 100000 * i + (UINT64_C(1) << (i % 10 + 2)));
	}
	close_trace();
	ck_assert_uint_eq(ftf.fit.counts.left_out, 10);
	ck_assert_uint_eq(ftf.fit.counts.folded, 20);
	ck_assert_uint_eq(read_trace().slices, 10);
}
END_TEST

START_TEST(durations_of_any_length_are_kept_in_order)
{
	const struct event_track thread = { 1, 1 };
	uint64_t time = 10;

	open_trace(21);
	begin(thread, 0, "0");
	for (unsigned i = 0; i < 60; i++, time += 10) {
		uint64_t from = time;

		time += UINT64_C(1) << i;
		call(thread, from, time);
	}
	end(thread, time);
	close_trace();
	ck_assert_uint_eq(read_trace().slices, 21);
	ck_assert_uint_gt(ftf.fit.counts.shortest, UINT64_C(1) << 39);
	ck_assert_uint_le(ftf.fit.counts.shortest, UINT64_C(1) << 40);
}
END_TEST

START_TEST(marks_and_slices_without_an_end_stay)
{
	const struct event_track thread = { 1, 1 };

	open_trace(10);
	begin(thread, 0, "0");
	for (uint64_t i = 1; i <= 100; i++) {
		call(thread, 100 * i, 100 * i + 7);
		emit(TRACK_INSTANT, thread, 100 * i + 50, NULL, 0);
	}
	close_trace();
	/* The strict reader refuses a slice without an end. */
	ck_assert_uint_eq(ftf.fit.counts.folded, 100 - 4);
	ck_assert_uint_eq(ftf.fit.counts.left_out, 0);
}
END_TEST

START_TEST(slices_without_an_end_count_for_the_limit)
{
	const struct event_track thread = { 1, 1 };

	open_trace(20);
	for (uint64_t i = 0; i < 10; i++)
		begin(thread, i, "open");
	for (uint64_t i = 1; i <= 100; i++)
		call(thread, 1000 * i, 1000 * i + i);
	close_trace();
	ck_assert_uint_ge(ftf.fit.counts.folded, 100 - (20 - 10));
	ck_assert_uint_lt(ftf.fit.counts.folded, 100);
}
END_TEST

static void whole(struct event_track thread, uint64_t from, uint64_t to)
{
	char name[32];

	snprintf(name, sizeof(name), "%" PRIu64, from);
	emit(TRACK_WHOLE, thread, from, name, to);
	slices++;
}

/* Of eight equal ones in a slice, four are allowed: every second one. */
START_TEST(slices_of_one_record_with_the_lowest_rank_that_stays_stay)
{
	const struct event_track thread = { 1, 1 };
	struct found found;

	open_trace(5);
	begin(thread, 0, "0");
	for (uint64_t i = 1; i <= 8; i++)
		whole(thread, 100 * i, 100 * i + 7);
	end(thread, 1000);
	close_trace();
	found = read_trace();
	ck_assert_uint_eq(found.slices, 5);
	ck_assert_uint_eq(found.folded, 4);
	ck_assert_uint_eq(found.folded_time, 4 * 7);
}
END_TEST

/* Texts that are seldom repeated are encoded in the record itself. */
START_TEST(slices_with_inline_texts_count_for_the_limit)
{
	const struct event_track thread = { 1, 1 };
	struct found found;

	open_trace(5);
	begin(thread, 0, "0");
	for (uint64_t i = 1; i <= 8; i++) {
		char name[32];

		snprintf(name, sizeof(name), "%" PRIu64, 100 * i);
		event_sink_emit(&ftf.events, &(struct track_event){ .kind = TRACK_BEGIN,
								    .once = true,
								    .time = 100 * i,
								    .track = thread,
								    .name = text_view_of(name) });
		slices++;
		end(thread, 100 * i + 7);
	}
	end(thread, 1000);
	close_trace();
	found = read_trace();
	ck_assert_uint_eq(found.slices, 5);
	ck_assert_uint_eq(found.folded, 4);
}
END_TEST

START_TEST(a_slice_that_ends_before_its_begin_is_the_shortest)
{
	const struct event_track thread = { 1, 1 };
	struct found found;

	open_trace(5);
	begin(thread, 0, "0");
	for (uint64_t i = 1; i <= 4; i++) {
		call(thread, 100 * i, 100 * i + 10);
		call(thread, 100 * i + 50, 100 * i + 40);
	}
	end(thread, 1000);
	close_trace();
	found = read_trace();
	ck_assert_uint_eq(found.slices, 5);
	ck_assert_uint_eq(found.folded, 4);
	ck_assert_uint_eq(found.folded_time, 0);
}
END_TEST

START_TEST(arrows_go_with_their_slices)
{
	const struct event_track thread = { 1, 1 };
	struct found found;

	open_trace(10);
	begin(thread, 0, "0");
	for (uint64_t i = 1; i <= 100; i++) {
		char name[32];

		snprintf(name, sizeof(name), "%" PRIu64, 100 * i);
		begin(thread, 100 * i, name);
		emit(TRACK_FLOW_BEGIN, thread, 100 * i, NULL, i);
		end(thread, 100 * i + 7);
	}
	end(thread, 100000);
	close_trace();
	found = read_trace();
	ck_assert_uint_gt(found.flows, 0);
	ck_assert_uint_eq(found.flows, found.slices - 1);
}
END_TEST

/* Write calls of many lengths, and choose ranks at first after `at` slices. */
static void write_from(uint64_t at)
{
	struct event_track threads[3];

	open_trace(500);
	ftf.fit.left = at;
	for (uint32_t i = 0; i < 3; i++)
		threads[i] = (struct event_track){ 1, i + 1 };
	for (uint64_t i = 0; i < 20000; i++) {
		struct event_track thread = threads[i * i % 3];
		char name[32];

		snprintf(name, sizeof(name), "%" PRIu64, 1000 * i);
		begin(thread, 1000 * i, name);
		call(thread, 1000 * i + 10, 1000 * i + 10 + i % 13);
		call(thread, 1000 * i + 40, 1000 * i + 40 + i * 7 % 501);
		end(thread, 1000 * i + 700 + i % 101);
	}
	close_trace();
}

START_TEST(the_bytes_do_not_depend_on_when_ranks_are_chosen)
{
	static uint8_t bytes[2][1 << 20];
	const uint64_t at[] = { 501, 1234, 30001, UINT64_MAX };

	for (int i = 0; i < 4; i++) {
		FILE *file;

		write_from(at[i]);
		file = fopen(path, "r");
		ck_assert_uint_eq(fread(bytes[i > 0], 1, sizeof(bytes[0]), file) > 10000, true);
		fclose(file);
		ck_assert_mem_eq(bytes[i > 0], bytes[0], sizeof(bytes[0]));
		ck_assert_uint_ge(read_trace().slices, 250);
		ck_assert_uint_le(read_trace().slices, 500);
		ftf_fit_release(&ftf.fit);
	}
}
END_TEST

/* ---- The store ----------------------------------------------------------- */

#define UNITS 100000u

/* Let files have at most so many bytes, as if the disk were full. */
static void limit_files(rlim_t bytes)
{
	struct rlimit limit;

	signal(SIGXFSZ, SIG_IGN);
	getrlimit(RLIMIT_FSIZE, &limit);
	limit.rlim_cur = MIN(bytes, limit.rlim_max);
	ck_assert_int_eq(setrlimit(RLIMIT_FSIZE, &limit), 0);
}

/* Of the units [0, UNITS), every third one got a rank when it was the last but 20,000. */
static void fill_store(struct fit_store *store)
{
	for (uint32_t i = 0; i < UNITS; i++) {
		fit_store_add(store, &(union fit_unit){ .time = i });
		if (i >= 20000 && i % 3 == 0)
			fit_store_set_rank(store, i - 20000,
					   &(union fit_unit){ .rank = i, .more = 2 });
	}
	ck_assert_uint_eq(fit_store_end(store), UNITS);
}

/* A file for all, for the first ones, for none. */
START_TEST(units_are_read_as_they_were_added)
{
	static union fit_unit units[777];
	struct temp_file file = { 0 };
	struct fit_store store = { .file = &file };

	if (_i == 1)
		limit_files(1000001);
	else if (_i == 2)
		setenv("TMPDIR", "/nowhere", 1);
	fill_store(&store);
	ck_assert_int_eq(store.filed > 0, _i == 0);
	ck_assert_int_eq(file.open, _i != 2);
	for (uint32_t at = 0, count; at < UNITS; at += count) {
		count = MIN(777, UNITS - at);
		ck_assert_int_eq(fit_store_read(&store, at, units, count), 0);
		for (uint32_t i = 0; i < count; i++) {
			uint32_t ranked = at + i + 20000;

			if (ranked >= UNITS || ranked % 3)
				ranked = 0;
			ck_assert_uint_eq(units[i].time, at + i);
			ck_assert_uint_eq(units[i].rank, ranked);
			ck_assert_uint_eq(units[i].more, ranked ? 2 : 0);
		}
	}
	free(store.recent);
	temp_file_close(&file);
	limit_files(RLIM_INFINITY);
	unsetenv("TMPDIR");
}
END_TEST

START_TEST(a_file_that_cannot_be_read_is_an_error)
{
	int unreadable = open("/dev/null", O_WRONLY);
	struct error err = { 0 };

	open_calls(_i ? 20000 : 1000000);
	take(SLICE_BEGIN, 0);
	for (uint64_t i = 1; i <= 30000 || (_i && !ftf.fit.failed); i++) {
		if (i == 30000)
			ck_assert_int_eq(dup2(unreadable, ftf.fit.file.fd), ftf.fit.file.fd);
		take(SLICE_BEGIN, 1000000 * i);
		take(SLICE_BEGIN, 1000000 * i + 1);
		take(SLICE_END, 1000000 * i + 2);
		take(SLICE_END, 1000000 * i + 10 * i);
	}
	take(SLICE_END, UINT64_C(1) << 40);
	ftf_fit_finish(&ftf.fit, slices);
	ftf_abandon(ftf.writer);
	ck_assert_int_eq(output_close(&output, &err), -1);
	ck_assert_ptr_nonnull(strstr(err.text, "cannot read a temporary file"));
	ck_assert_str_eq(shown, "");
	close(unreadable);
}
END_TEST

/* After the limit of the output no slice begins, and those that are open end; others are whole. */
START_TEST(the_limit_of_the_output_leaves_whole_slices)
{
	const struct event_track thread = { 1, 2 };
	struct trace_reader reader;
	struct trace_record record;
	struct error err = { 0 };
	int begins = 0, ends = 0, depth = 0;

	open_trace(100000);
	begin(thread, 0, "outer");
	for (uint64_t i = 1; i <= 5000; i++) {
		begin(thread, 10 * i, "inner");
		begin(thread, 10 * i + 1, "innermost");
		end(thread, 10 * i + 2);
		end(thread, 10 * i + 5);
	}
	end(thread, 60000);
	output_limit(&output, _i ? 100000 : 100000000, false);
	close_trace();
	ck_assert_int_eq(output.cut, _i);
	ck_assert_int_eq(trace_reader_open(&reader, path, &err), 0);
	while (trace_reader_next(&reader, &record, &err) == 1) {
		ck_assert_str_eq(record.problem, "");
		if (record.kind != TRACE_EVENT)
			continue;
		begins += record.type == EVENT_BEGIN;
		ends += record.type == EVENT_END;
		depth += (record.type == EVENT_BEGIN) - (record.type == EVENT_END);
		ck_assert_int_ge(depth, 0);
	}
	trace_reader_close(&reader);
	ck_assert_str_eq(err.text, "");
	ck_assert_int_eq(begins, ends);
	if (_i)
		ck_assert_int_lt(begins, 8000);
	else
		ck_assert_int_eq(begins, 10001);
	ck_assert_int_gt(begins, 1000);
}
END_TEST

/* Calls without calls in them come out as they went in, also with uncommon addresses and times. */
static const struct slice_event leaves[][2] = {
	{ { .time = 1, .ip = 0x401000 }, { .time = 1 } },
	{ { .time = 2, .ip = UINT64_C(0xffffffff81000000), .flags = SLICE_ESTIMATED_TIME },
	  { .time = 9, .flags = SLICE_CUT } },
	{ { .time = 10, .ip = UINT64_C(0xff00000000000000), .flags = SLICE_HAS_VECTOR | 0xe00 },
	  { .time = 11, .flags = SLICE_TAIL_CALL } },
	{ { .time = 11, .flags = SLICE_TAIL_CALLED }, { .time = 11 + (uint64_t)UINT32_MAX } },
	{ { .time = UINT64_C(0x1234567890) }, { .time = UINT64_C(0x2234567890) } },
	{ { .time = UINT64_C(0x2234567890) }, { .time = UINT64_C(0x2234567891), .flags = 0x100 } },
};

#define LEAVES COUNT_OF(leaves)

static size_t leaves_seen;

static void see_leaves(const struct slice_sink *sink, void *thread, const struct slice_batch *batch)
{
	(void)sink;
	(void)thread;
	for (size_t i = 0; i < batch->count; i++, leaves_seen++) {
		const struct slice_event *event = &batch->events[i];
		const struct slice_event *leaf = &leaves[leaves_seen / 2 % LEAVES][leaves_seen % 2];

		ck_assert_int_eq(event->kind, leaves_seen % 2 ? SLICE_END : SLICE_BEGIN);
		ck_assert_uint_eq(event->time, leaf->time);
		ck_assert_uint_eq(event->flags, leaf->flags);
		ck_assert_int_eq(event->order, SLICE_ORDER_PLAIN);
		if (leaves_seen % 2)
			continue;
		ck_assert_uint_eq(event->ip, leaf->ip);
		ck_assert_ptr_eq(event->symbol, (const struct symbol *)&leaves[0]);
	}
}

START_TEST(a_call_without_others_in_it_keeps_its_address_times_and_marks)
{
	const struct slice_sink next = { .events = see_leaves };
	struct slice_event events[2 * LEAVES];
	const struct slice_sink *sink;
	struct track thread = { 0 };

	for (size_t i = 0; i < 2 * LEAVES; i++) {
		events[i] = leaves[i / 2][i % 2];
		events[i].symbol = i % 2 ? NULL : (const struct symbol *)&leaves[0];
		events[i].kind = i % 2 ? SLICE_END : SLICE_BEGIN;
	}
	open_trace(100000);
	sink = ftf_fit_before(&ftf.fit, &next);
	for (int i = 0; i < 1000; i++)
		sink->events(sink, &thread,
			     &(struct slice_batch){ events, 2 * LEAVES, NULL, true });
	ftf_fit_finish(&ftf.fit, 1000 * LEAVES);
	ck_assert_uint_eq(leaves_seen, 2000 * LEAVES);
	ftf_abandon(ftf.writer);
	output_abandon(&output);
}
END_TEST

static struct {
	uint64_t shown, time, folded, folded_time;
} inner_calls;

static void add_inner_calls(const struct slice_sink *sink, void *thread,
			    const struct slice_batch *batch)
{
	(void)sink;
	(void)thread;
	for (size_t i = 0; i < batch->count; i++) {
		const struct slice_event *event = &batch->events[i];
		const struct slice_detail *detail = slice_batch_detail(batch, event);

		inner_calls.shown += event->kind == SLICE_BEGIN;
		inner_calls.time += event->kind == SLICE_END ? event->time : -event->time;
		inner_calls.folded += detail ? detail->folded : 0;
		inner_calls.folded_time += detail ? detail->folded_time : 0;
	}
}

/* Calls without calls in them which are stored, and left out later, count in the outer call. */
START_TEST(a_call_counts_stored_calls_that_are_left_out)
{
	const struct slice_sink next = { .events = add_inner_calls, .folded = true };
	const uint64_t calls_made = 40000, length = calls_made * calls_made;
	const struct slice_sink *sink;
	struct track thread = { 0 };
	struct slice_event event = { .kind = SLICE_BEGIN };
	uint64_t time = 0;

	open_trace(1000);
	sink = ftf_fit_before(&ftf.fit, &next);
	slice_sink_emit(sink, &thread, &event, NULL);
	for (uint64_t i = 1; i <= calls_made; i++) {
		const uint64_t begin_time = time;
		const struct slice_event call[] = {
			{ .time = begin_time, .kind = SLICE_BEGIN },
			{ .time = time += i * 7919 % calls_made, .kind = SLICE_END },
		};

		sink->events(sink, &thread, &(struct slice_batch){ call, 2, NULL, true });
	}
	event = (struct slice_event){ .time = length, .kind = SLICE_END };
	slice_sink_emit(sink, &thread, &event, NULL);
	ftf_fit_finish(&ftf.fit, calls_made + 1);
	ck_assert_uint_le(inner_calls.shown, 1000);
	ck_assert_uint_ge(inner_calls.shown, 500);
	ck_assert_uint_eq(inner_calls.shown + inner_calls.folded, calls_made + 1);
	ck_assert_uint_eq(inner_calls.time + inner_calls.folded_time, time + length);
	ftf_abandon(ftf.writer);
	output_abandon(&output);
}
END_TEST

static uint64_t details_seen;

/* The counters of each event are its time and ten times its time. */
static void see_details(const struct slice_sink *sink, void *thread,
			const struct slice_batch *batch)
{
	(void)sink;
	(void)thread;
	for (size_t i = 0; i < batch->count; i++) {
		const struct slice_event *event = &batch->events[i];
		const struct slice_detail *detail = slice_batch_detail(batch, event);

		ck_assert_ptr_nonnull(detail);
		ck_assert_uint_eq(detail->insns, event->time);
		ck_assert_uint_eq(detail->cycles, 10 * event->time);
		ck_assert_uint_eq(detail->folded, 0);
		details_seen++;
	}
}

START_TEST(slices_keep_their_counters)
{
	const struct slice_sink next = { .events = see_details, .details = true, .folded = true };
	const struct slice_sink *sink;
	struct track thread = { 0 };

	open_trace(100000);
	sink = ftf_fit_before(&ftf.fit, &next);
	for (uint64_t time = 1; time <= 2000; time++) {
		/* Begin, begin, end, end */
		const struct slice_event event = { .time = time,
						   .kind = time % 4 == 1 || time % 4 == 2
								   ? SLICE_BEGIN
								   : SLICE_END };

		slice_sink_emit(sink, &thread, &event,
				&(struct slice_detail){ .insns = time, .cycles = 10 * time });
	}
	ftf_fit_finish(&ftf.fit, 1000);
	ck_assert_uint_eq(details_seen, 2000);
	ftf_abandon(ftf.writer);
	output_abandon(&output);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("ftf_fit");
	TCase *all = tcase_create("ftf_fit");

	tcase_add_checked_fixture(all, setup, teardown);
	tcase_add_test(all, names_mean_the_same_with_several_providers);
	tcase_add_test(all, a_long_slice_counts_all_that_is_folded_in_it);
	tcase_add_test(all, a_folded_slice_passes_on_what_it_counts_and_no_time_counts_twice);
	tcase_add_test(all, slices_whose_begins_come_late_count_what_is_folded_in_them);
	tcase_add_loop_test(all, late_parts_can_be_filtered_at_any_time, 0, 9);
	tcase_add_loop_test(
		all, open_calls_count_what_is_folded_before_and_after_the_store_is_filtered, 0, 12);
	tcase_add_test(all, calls_without_an_end_count_for_the_limit);
	tcase_add_test(all, outermost_slices_are_left_out_at_last);
	tcase_add_test(all, durations_of_any_length_are_kept_in_order);
	tcase_add_test(all, marks_and_slices_without_an_end_stay);
	tcase_add_test(all, slices_without_an_end_count_for_the_limit);
	tcase_add_test(all, slices_of_one_record_with_the_lowest_rank_that_stays_stay);
	tcase_add_test(all, slices_with_inline_texts_count_for_the_limit);
	tcase_add_test(all, a_slice_that_ends_before_its_begin_is_the_shortest);
	tcase_add_test(all, arrows_go_with_their_slices);
	tcase_add_test(all, the_bytes_do_not_depend_on_when_ranks_are_chosen);
	tcase_add_test(all, a_call_without_others_in_it_keeps_its_address_times_and_marks);
	tcase_add_test(all, slices_keep_their_counters);
	tcase_add_test(all, a_call_counts_stored_calls_that_are_left_out);
	tcase_add_loop_test(all, units_are_read_as_they_were_added, 0, 3);
	tcase_add_loop_test(all, a_file_that_cannot_be_read_is_an_error, 0, 2);
	tcase_add_loop_test(all, the_limit_of_the_output_leaves_whole_slices, 0, 2);
	suite_add_tcase(suite, all);
	return unit_run_apart(suite);
}
