/* SPDX-License-Identifier: MIT */
/* The records of slices, read back by the strict reader. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "reader/trace_reader.h"
#include "src/callstack/callstack.h"
#include "src/formats/ftf/ftf_sink.h"
#include "src/formats/output_format.h"
#include "src/slices/track.h"
#include "tests/support/unit.h"
#include "tests/unit/src/slice_feed.h"

static char path[] = "ftf_sink.test.XXXXXX";
static struct name_table names;
static struct symbol outer, inner;
static struct track track;
static struct output output;
static struct ftf_sink ftf;
static struct slice_sink sink;
static struct slice_sink own_sink; /* before which the store of --fit is put */

static void setup(void)
{
	struct error err = { 0 };

	name_table_init(&names);
	outer.name = outer.linkage = name_intern_text(&names, "outer");
	inner.name = inner.linkage = name_intern_text(&names, "inner");
	track = (struct track){ .pid = 1, .tid = 2 };
	strcpy(strchr(path, '.'), ".test.XXXXXX");
	close(mkstemp(path));
	ck_assert_int_eq(output_open(&output, path, &err), 0);
}

static void start_with(const struct options *options)
{
	const struct trace_facts facts = { .wall_base = WALL_BASE_UNKNOWN, .free_id = 3 };

	ftf_sink_init(&ftf, &output, &names, options, &facts);
	own_sink = ftf_sink_slices(&ftf);
	sink = options->fits ? *ftf_fit_before(&ftf.fit, &own_sink) : own_sink;
}

static void start(enum option_args level)
{
	start_with(&(struct options){ .args = level });
}

static void teardown(void)
{
	ftf_sink_release(&ftf);
	track_release(&track);
	name_table_release(&names);
	unlink(path);
}

static void begin(uint64_t time, const struct symbol *symbol)
{
	feed_begin(&sink, &track, time, symbol, 0x1000, 0);
}

static void end(uint64_t time)
{
	feed_end(&sink, &track, time);
}

static void read_back(struct trace_reader *reader)
{
	struct error err = { 0 };

	ck_assert_int_eq(ftf_sink_close(&ftf, &err), 0);
	ck_assert_int_eq(output_close(&output, &err), 0);
	ck_assert_int_eq(trace_reader_open(reader, path, &err), 0);
}

/* Close the trace, and compare its events: "TYPE TIME[-END] NAME". */
static void expect(const char *expected)
{
	static const char *const types[] = {
		[EVENT_INSTANT] = "instant",
		[EVENT_BEGIN] = "begin",
		[EVENT_END] = "end",
		[EVENT_COMPLETE] = "complete",
	};
	struct error err = { 0 };
	struct trace_reader reader;
	struct trace_record record;
	char got[2000] = "";

	read_back(&reader);
	while (trace_reader_next(&reader, &record, &err) == 1) {
		char *at = got + strlen(got);

		ck_assert_str_eq(record.problem, "");
		if (record.kind != TRACE_EVENT)
			continue;
		at += sprintf(at, "%s %d", types[record.type], (int)record.time);
		if (record.type == EVENT_COMPLETE)
			at += sprintf(at, "-%d", (int)record.id);
		sprintf(at, " %.*s %zu\n", (int)record.name.length, record.name.at,
			record.arg_count);
	}
	trace_reader_close(&reader);
	ck_assert_str_eq(err.text, "");
	ck_assert_str_eq(got, expected);
}

START_TEST(a_slice_is_one_record_before_the_slices_in_it)
{
	start(OPTION_ARGS_LINE);
	begin(1, &outer);
	begin(2, &inner);
	end(4);
	begin(4, &inner);
	end(5);
	end(5);
	expect("complete 1-5 outer 1\ncomplete 2-4 inner 1\ncomplete 4-5 inner 1\n");
}
END_TEST

/* Perfetto takes what begins at the end of such a record for a slice after it. */
START_TEST(a_slice_with_another_at_its_end_has_two_records)
{
	start(OPTION_ARGS_NONE);
	begin(1, &outer);
	begin(2, &outer);
	begin(3, &inner);
	end(3);
	end(3);
	end(4);
	expect("complete 1-4 outer 0\nbegin 2 outer 0\nbegin 3 inner 0\nend 3  0\nend 3  0\n");
}
END_TEST

START_TEST(events_of_another_thread_separate_an_end_from_its_begin)
{
	struct track other = { .pid = 1, .tid = 3, .index = 1 };

	start(OPTION_ARGS_NONE);
	begin(1, &outer);
	begin(2, &outer);
	end(3);
	feed_begin(&sink, &other, 4, &inner, 0x1000, 0);
	feed_end(&sink, &other, 5);
	end(9);
	expect("begin 1 outer 0\ncomplete 2-3 outer 0\ncomplete 4-5 inner 0\nend 9  0\n");
	track_release(&other);
}
END_TEST

/* Perfetto nests a zero-length complete event into another one of the same time. */
START_TEST(slices_without_length_stay_beside_each_other)
{
	start(OPTION_ARGS_NONE);
	begin(1, &inner);
	end(1);
	begin(1, &outer);
	end(1);
	expect("begin 1 inner 0\nend 1  0\nbegin 1 outer 0\nend 1  0\n");
}
END_TEST

START_TEST(what_is_known_at_the_end_is_in_the_record_of_a_whole_slice)
{
	start(OPTION_ARGS_LINE);
	begin(1, &outer);
	begin(2, &inner);
	feed_folded_end(&sink, &track, 5, 4, 1);
	feed_folded_end(&sink, &track, 9, 3, 2);
	begin(10, &outer);
	begin(12, &inner);
	feed_folded_end(&sink, &track, 12, 3, 2);
	end(19);
	expect("complete 1-9 outer 3\ncomplete 2-5 inner 3\ncomplete 10-19 outer 1\n"
	       "begin 12 inner 1\nend 12  2\n");
}
END_TEST

static void begin_at(uint64_t time, const struct symbol *symbol, uint64_t insns)
{
	slice_sink_emit(&sink, &track, &(struct slice_event){ .time = time, .symbol = symbol },
			&(struct slice_detail){ .insns = insns });
}

static void end_at(uint64_t time, uint64_t insns, uint64_t folded)
{
	slice_sink_emit(&sink, &track, &(struct slice_event){ .time = time, .kind = SLICE_END },
			&(struct slice_detail){ .insns = insns, .folded = folded });
}

START_TEST(costs_are_arguments_of_the_record_of_a_whole_slice)
{
	start(OPTION_ARGS_FULL);
	begin_at(1, &outer, 10);
	begin_at(2, &inner, 15);
	end_at(4, 18, 0);
	end_at(9, 30, 0);
	expect("complete 1-9 outer 3\ncomplete 2-4 inner 3\n"); /* also the address and the symbol
								 */
}
END_TEST

/* From templates, too: each slice of 40 has its own number of instructions, of 1 and 2 words. */
START_TEST(each_slice_has_its_own_costs)
{
	struct error err = { 0 };
	struct trace_reader reader;
	struct trace_record record;
	uint64_t insns = 5, wanted[80], read = 0, costs = 0, folded = 0;

	start(OPTION_ARGS_FULL);
	for (uint64_t i = 0; i < 40; i++) {
		uint64_t before = insns;

		begin_at(100 * i, &outer, insns);
		begin_at(100 * i + 1, &inner, insns + 1);
		insns += i % 9 == 8 ? UINT64_C(1) << 40 : 10 + i;
		wanted[2 * i + 1] = insns - before - 1;
		end_at(100 * i + 50, insns, 0);
		wanted[2 * i] = insns + 7 - before;
		end_at(100 * i + 60, insns + 7, i % 7 == 6);
	}
	read_back(&reader);
	while (trace_reader_next(&reader, &record, &err) == 1) {
		const struct trace_arg *arg = record.args;

		ck_assert_str_eq(record.problem, "");
		if (record.kind != TRACE_EVENT)
			continue;
		read++;
		for (; arg < record.args + record.arg_count; arg++) {
			if (arg->name.length == 5 && memcmp(arg->name.at, "insns", 5) == 0)
				costs += arg->word == wanted[read - 1];
			folded += arg->name.length == 6 && memcmp(arg->name.at, "folded", 6) == 0;
		}
	}
	trace_reader_close(&reader);
	ck_assert_uint_eq(read, 80);
	ck_assert_uint_eq(costs, 80);
	ck_assert_uint_eq(folded, 5);
}
END_TEST

START_TEST(a_mark_in_a_slice_is_an_instant_after_its_beginning)
{
	start(OPTION_ARGS_NONE);
	begin(1, &outer);
	feed_instant(&sink, &track, 2, "mark");
	end(9);
	expect("begin 1 outer 0\ninstant 2 mark 0\nend 9  0\n");
}
END_TEST

/* Code without a name is one symbol; there are more addresses than are kept. */
/* The highest id of the input is 2. */
START_TEST(what_has_no_id_gets_the_next_and_new_tracks_those_after_it)
{
	struct error err = { 0 };
	struct trace_reader reader;
	struct trace_record record;
	int events = 0;

	track.pid = track.tid = -1;
	start(OPTION_ARGS_NONE);
	ck_assert_uint_eq(event_sink_new_process(&ftf.events, "group"), 4);
	ck_assert_uint_eq(event_sink_new_track(&ftf.events, 4, "track").tid, 5);
	begin(1, &outer);
	end(2);
	read_back(&reader);
	while (trace_reader_next(&reader, &record, &err) == 1) {
		if (record.kind != TRACE_EVENT)
			continue;
		events++;
		ck_assert_uint_eq(record.thread.pid, 3);
		ck_assert_uint_eq(record.thread.tid, 3);
	}
	trace_reader_close(&reader);
	ck_assert_int_eq(events, 1);
}
END_TEST

START_TEST(each_slice_of_a_symbol_has_its_own_address)
{
	const uint64_t places = 10000;
	struct error err = { 0 };
	struct trace_reader reader;
	struct trace_record record;
	uint64_t read = 0;

	start(OPTION_ARGS_LINE);
	for (uint64_t i = 0; i < 2 * places; i++) {
		feed_begin(&sink, &track, 2 * i, &outer, 1 + i % places, 0);
		end(2 * i + 1);
	}
	read_back(&reader);
	while (trace_reader_next(&reader, &record, &err) == 1) {
		if (record.kind != TRACE_EVENT)
			continue;
		ck_assert_uint_eq(record.arg_count, 1);
		ck_assert_uint_eq(record.args[0].word, 1 + read % places);
		read++;
	}
	trace_reader_close(&reader);
	ck_assert_uint_eq(read, 2 * places);
}
END_TEST

/* FTF has references for 255 threads; records of a thread without one contain its ids. */
START_TEST(slices_of_more_threads_than_references_keep_their_names)
{
	enum { THREADS = 300, SLICES = 6 };
	struct track *tracks = calloc(THREADS, sizeof(*tracks));
	struct trace_reader reader;
	struct trace_record record;
	struct error err = { 0 };
	unsigned read = 0;

	start(OPTION_ARGS_LINE);
	for (unsigned i = 0; i < THREADS; i++) {
		tracks[i] = (struct track){ .pid = 1, .tid = (int32_t)i + 2, .index = i };
		for (unsigned k = 0; k < SLICES; k++) {
			feed_begin(&sink, &tracks[i], 10 * k, k % 2 ? &inner : &outer, 0x1000, 0);
			feed_end(&sink, &tracks[i], 10 * k + 5);
		}
	}
	read_back(&reader);
	while (trace_reader_next(&reader, &record, &err) == 1) {
		ck_assert_str_eq(record.problem, "");
		if (record.kind != TRACE_EVENT)
			continue;
		ck_assert_int_eq(memcmp(record.name.at, read % 2 ? "inner" : "outer", 5), 0);
		ck_assert_uint_eq(record.thread.tid, 2 + read / SLICES);
		ck_assert_uint_eq(record.arg_count, 1);
		read++;
	}
	trace_reader_close(&reader);
	ck_assert_str_eq(err.text, "");
	ck_assert_uint_eq(read, THREADS * SLICES);
	free(tracks);
}
END_TEST

/* The second thread has the ids of the first, which had ended; its events come in between. */
START_TEST(fit_distinguishes_tracks_with_equal_ids)
{
	struct track other = { .pid = 1, .tid = 2, .index = 1 };

	start_with(&(struct options){ .args = OPTION_ARGS_NONE, .select.fit = 4, .fits = true });
	begin(1, &outer);
	feed_begin(&sink, &other, 100, &inner, 0x1000, 0);
	for (uint64_t i = 0; i < 4; i++) {
		begin(10 + 10 * i, &inner);
		end(11 + 10 * i);
	}
	end(90);
	feed_end(&sink, &other, 200);
	expect("begin 1 outer 0\nbegin 100 inner 0\ncomplete 10-11 inner 0\n"
	       "complete 30-31 inner 0\nend 90  0\nend 200  0\n");
	track_release(&other);
}
END_TEST

static void feed_late(uint64_t time, enum slice_event_kind kind)
{
	slice_sink_emit(&sink, &track,
			&(struct slice_event){ .time = time,
					       .symbol = &outer,
					       .kind = (uint8_t)kind,
					       .order = SLICE_ORDER_DEFERRED },
			NULL);
}

START_TEST(an_end_whose_begin_comes_late_is_of_its_thread)
{
	struct error err = { 0 };
	struct trace_reader reader;
	struct trace_record record;
	int events = 0;

	start(OPTION_ARGS_NONE);
	feed_late(0, SLICE_LATE);
	feed_late(9, SLICE_END);
	feed_late(1, SLICE_BEGIN);
	feed_late(0, SLICE_LATE);
	read_back(&reader);
	while (trace_reader_next(&reader, &record, &err) == 1) {
		ck_assert_int_ne(record.kind, TRACE_BLOB);
		if (record.kind != TRACE_EVENT)
			continue;
		ck_assert_uint_eq(record.thread.pid, (uint64_t)track.pid);
		ck_assert_uint_eq(record.thread.tid, (uint64_t)track.tid);
		events++;
	}
	ck_assert_int_eq(events, 2);
	trace_reader_close(&reader);
}
END_TEST

/* Too many words to be kept. */
static void lengthen(struct slice_event *edge)
{
	static const struct slice_cause event = { .values = { 1, 2, 3 }, .known = 7 };

	edge->ip = (uintptr_t)&event;
	edge->flags = SLICE_HAS_CAUSE | SLICE_HAS_VECTOR | SLICE_INFERRED_START | SLICE_CONTINUED;
}

/* Slices at more addresses than are kept, of any lengths, with other calls between them. */
static void put_wild(unsigned seed, bool at_once)
{
	uint64_t time = 0, depth = 0;

	for (int i = 0; i < 2000; i++) {
		struct slice_event edges[100];
		size_t count = 1 + (size_t)rand_r(&seed) % 100;

		for (size_t k = 0; k < count; k++) {
			bool begins = !depth || rand_r(&seed) % 2;

			time += (uint64_t)rand_r(&seed) % 3;
			depth += begins ? 1 : (uint64_t)-1;
			edges[k] = (struct slice_event){
				.time = time,
				.symbol = rand_r(&seed) % 2 ? &outer : &inner,
				.ip = rand_r(&seed) % 4 ? 0x1000
							: 1 + (uint64_t)rand_r(&seed) % 9000,
				.kind = begins ? SLICE_BEGIN : SLICE_END,
				.flags = rand_r(&seed) % 9 ? 0 : SLICE_INFERRED_START,
			};
			if (rand_r(&seed) % 9 == 0)
				lengthen(&edges[k]);
		}
		feed_edges(&sink, &track, edges, count, at_once);
		if (rand_r(&seed) % 9 == 0)
			feed_instant(&sink, &track, time, "mark");
		if (depth && rand_r(&seed) % 9 == 0) {
			feed_folded_end(&sink, &track, time, 3, 2);
			depth--;
		}
	}
}

static char *file_text(size_t *size)
{
	struct error err = { 0 };
	char *text = malloc(1 << 24);
	FILE *file;

	ck_assert_int_eq(ftf_sink_close(&ftf, &err), 0);
	ck_assert_int_eq(output_close(&output, &err), 0);
	file = fopen(path, "r");
	*size = fread(text, 1, 1 << 24, file);
	fclose(file);
	return text;
}

START_TEST(edges_have_the_outcome_of_begins_and_ends_one_by_one)
{
	char *one_by_one, *at_once;
	size_t size, size_at_once;

	start(OPTION_ARGS_LINE);
	put_wild((unsigned)_i, false);
	one_by_one = file_text(&size);
	teardown();
	setup();
	start(OPTION_ARGS_LINE);
	put_wild((unsigned)_i, true);
	at_once = file_text(&size_at_once);
	ck_assert_uint_gt(size, 1000000);
	ck_assert_uint_eq(size_at_once, size);
	ck_assert(memcmp(one_by_one, at_once, size) == 0);
	free(one_by_one);
	free(at_once);
}
END_TEST

/* ---- --format=magic-trace -------------------------------------------------------- */

/*
 * Times are since the run's first event.  Each thread is a process with a name by its ids, and a
 * thread "main"; ids count from 1, after those of hits.
 */
START_TEST(magic_trace_has_its_own_records)
{
	struct options options = { .format = &format_magic_trace,
				   .input_kind = _i ? INPUT_PERF_SCRIPT : INPUT_PERF_DATA };
	const struct format_request request = {
		.options = &options,
		.output = &output,
		.names = &names,
		.facts = { .wall_base = 1000, .free_id = 9 },
	};
	const struct slice_event whole[] = {
		{ .time = 170, .symbol = &inner, .ip = 0x2000, .kind = SLICE_BEGIN },
		{ .time = 180, .kind = SLICE_END, .order = SLICE_ORDER_WHOLE },
	};
	const struct slice_event ends[] = {
		{ .time = 195, .symbol = &inner, .kind = SLICE_END },
		{ .time = 200, .symbol = &outer, .kind = SLICE_END },
	};
	struct callstack_machine machine = { .base_time = 100 };
	struct track other = { .pid = 1, .tid = 3, .index = 1, .ids = "1/3" };
	struct format_output *format = output_format_open(&format_magic_trace, &request);
	struct error err = { 0 };
	struct trace_reader reader;
	struct trace_record record;
	char got[2000] = "";

	track.ids = "1/2";
	format->machine = &machine;
	format->ids_taken = 2;
	feed_begin(&format->sink, &track, 150, &outer, 0x1000, 0);
	format->sink.events(&format->sink, &track,
			    &(struct slice_batch){ .events = whole, .count = 2 });
	feed_instant(&format->sink, &track, 185, "[decode error]");
	feed_begin(&format->sink, &other, 90, &inner, 0x2000, SLICE_INFERRED_START);
	slice_sink_emit(&format->sink, &other, &ends[0], NULL);
	slice_sink_emit(&format->sink, &track, &ends[1], NULL);
	format_magic_trace.finish(format);
	ck_assert_int_eq(format->err.kind, ERROR_NONE);
	output_format_close(&format_magic_trace, format);
	ck_assert_int_eq(output_close(&output, &err), 0);
	ck_assert_int_eq(trace_reader_open(&reader, path, &err), 0);
	while (trace_reader_next(&reader, &record, &err) == 1) {
		char *at = got + strlen(got);

		ck_assert_str_eq(record.problem, "");
		if (record.kind != TRACE_EVENT)
			continue;
		at += sprintf(at, "%d/%d %c %d", (int)record.thread.pid, (int)record.thread.tid,
			      record.type == EVENT_BEGIN ? 'B'
			      : record.type == EVENT_END ? 'E'
							 : 'X',
			      (int)record.time);
		if (record.type == EVENT_COMPLETE)
			at += sprintf(at, "-%d", (int)record.id);
		at += sprintf(at, " %.*s", (int)record.name.length, record.name.at);
		for (size_t i = 0; i < record.arg_count; i++)
			at += sprintf(at, " %.*s", (int)record.args[i].name.length,
				      record.args[i].name.at);
		strcpy(at, "; ");
	}
	trace_reader_close(&reader);
	ck_assert_str_eq(got, "3/4 B 50 outer address symbol; 3/4 X 70-80 inner; "
			      "3/4 X 85-85 [decode error]; "
			      "5/6 B 0 inner address symbol inferred_start_time; "
			      "5/6 E 95 inner; 3/4 E 100 outer; ");
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("ftf_sink");
	TCase *all = tcase_create("ftf_sink");

	tcase_add_checked_fixture(all, setup, teardown);
	tcase_add_test(all, a_slice_is_one_record_before_the_slices_in_it);
	tcase_add_test(all, a_slice_with_another_at_its_end_has_two_records);
	tcase_add_test(all, events_of_another_thread_separate_an_end_from_its_begin);
	tcase_add_test(all, slices_without_length_stay_beside_each_other);
	tcase_add_test(all, what_is_known_at_the_end_is_in_the_record_of_a_whole_slice);
	tcase_add_test(all, costs_are_arguments_of_the_record_of_a_whole_slice);
	tcase_add_test(all, each_slice_has_its_own_costs);
	tcase_add_test(all, a_mark_in_a_slice_is_an_instant_after_its_beginning);
	tcase_add_test(all, what_has_no_id_gets_the_next_and_new_tracks_those_after_it);
	tcase_add_test(all, each_slice_of_a_symbol_has_its_own_address);
	tcase_add_test(all, slices_of_more_threads_than_references_keep_their_names);
	tcase_add_test(all, fit_distinguishes_tracks_with_equal_ids);
	tcase_add_test(all, an_end_whose_begin_comes_late_is_of_its_thread);
	tcase_add_loop_test(all, edges_have_the_outcome_of_begins_and_ends_one_by_one, 0, 5);
	tcase_add_loop_test(all, magic_trace_has_its_own_records, 0, 2);
	suite_add_tcase(suite, all);
	return unit_run(suite);
}
