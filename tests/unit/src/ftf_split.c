/* SPDX-License-Identifier: MIT */
/* The parts that --split makes: their names (ptrace2ftf(1)), and the state at the begin of each. */
#include "base/io/output_path.h"

#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "reader/trace_reader.h"
#include "src/formats/ftf/ftf_side.h"
#include "src/formats/output_format.h"
#include "src/slices/track.h"
#include "tests/support/unit.h"
#include "tests/unit/src/slice_feed.h"

static void expect(const char *path, size_t part, const char *expected)
{
	char *made = output_path_part(path, part);

	ck_assert_str_eq(made, expected);
	free(made);
}

START_TEST(the_number_precedes_the_endings)
{
	expect("out.ftf", 0, "out.000.ftf");
	expect("a.b/out.ftf.gz", 12, "a.b/out.012.ftf.gz");
	expect("x.zst", 1000, "x.1000.zst");
	expect("a.b.ftf", 1, "a.b.001.ftf");
}
END_TEST

START_TEST(a_name_without_an_ending_gets_it_at_its_end)
{
	expect("out", 3, "out.003");
	expect("a.b/out", 3, "a.b/out.003");
	expect(".hidden", 3, ".hidden.003");
	expect("a/.hidden", 3, "a/.hidden.003");
	expect(".hidden.ftf", 3, ".hidden.003.ftf");
}
END_TEST

/* ---- Events beside the slices of calls -------------------------------------- */

static const struct trace_facts facts = { .wall_base = WALL_BASE_UNKNOWN, .free_id = 100 };
static const struct options options = { .args = OPTION_ARGS_LINE };
static char file[] = "ftf_split-XXXXXX";
static struct name_table names;
static struct ftf_side side;

static void setup(void)
{
	name_table_init(&names);
	ck_assert_int_eq(chdir(getenv("TMPDIR") ? getenv("TMPDIR") : "/tmp"), 0);
	close(mkstemp(file));
	event_store_init(&side.store, &names, facts.free_id);
}

static void teardown(void)
{
	unlink(file);
	ftf_side_release(&side);
	name_table_release(&names);
}

/* Add an event of a track; `id`: see struct track_event. Counters have a value. */
static void add(enum track_event_kind kind, uint64_t tid, uint64_t time, const char *name,
		uint64_t id)
{
	struct event_record record;

	event_record_init(&record, &side.store.sink, (struct event_track){ 1, tid }, NULL, name,
			  time);
	record.event.id = id;
	if (kind == TRACK_COUNTER)
		event_record_add_number(&record, "value", 1);
	event_record_emit(&record, kind);
}

/* "TYPE TIME NAME/TID" of each event of a part; 'S' is a switch; '+' follows the begin's argument.
 */
static void expect_records(const char *expected)
{
	static const char types[] = "ICBEXaiz";
	struct trace_reader reader;
	static struct trace_record record;
	struct error err = { 0 };
	char got[500] = "", *at = got;

	ck_assert_int_eq(trace_reader_open(&reader, file, &err), 0);
	while (trace_reader_next(&reader, &record, &err) == 1) {
		ck_assert_str_eq(record.problem, "");
		if (record.kind == TRACE_EVENT)
			at += sprintf(at, "%c%s %d %.*s/%d; ", types[record.type],
				      record.arg_count && record.type == EVENT_BEGIN ? "+" : "",
				      (int)record.time, (int)record.name.length, record.name.at,
				      (int)record.thread.tid);
		else if (record.kind == TRACE_CONTEXT_SWITCH)
			at += sprintf(at, "S %d %d>%d; ", (int)record.time, (int)record.thread.tid,
				      (int)record.other.tid);
	}
	ck_assert_str_eq(err.text, "");
	trace_reader_close(&reader);
	ck_assert_str_eq(got, expected);
}

/* Write the events before `to` into a part that begins at `from`. */
static void expect_part(uint64_t from, uint64_t to, const char *expected)
{
	struct output output;
	struct ftf_sink part;
	struct error err = { 0 };

	ck_assert_int_eq(output_open(&output, file, &err), 0);
	ftf_sink_init(&part, &output, &names, &options, &facts);
	ftf_side_begin_part(&side, &part, from);
	while (ftf_side_time(&side) < to)
		ftf_side_write(&side, &part);
	ftf_side_end_part(&side, &part, to);
	ck_assert_int_eq(ftf_sink_close(&part, &err), 0);
	ck_assert_int_eq(output_close(&output, &err), 0);
	ftf_sink_release(&part);
	expect_records(expected);
}

START_TEST(a_part_begins_with_the_state_and_ends_what_is_open)
{
	add(TRACK_BEGIN, 7, 20, "outer", 0);
	add(TRACK_BEGIN, 7, 30, "inner", 0);
	add(TRACK_END, 7, 140, NULL, 0);
	add(TRACK_WHOLE, 8, 50, "whole", 110);
	add(TRACK_ASYNC_BEGIN, 8, 60, "async", 5);
	add(TRACK_ASYNC_END, 8, 210, "async", 5);
	add(TRACK_COUNTER, 9, 10, "count", 1);
	add(TRACK_COUNTER, 9, 70, "count", 1);
	add(TRACK_SWITCH, 8, 40, NULL, 3);
	event_store_sort(&side.store);
	ck_assert_int_eq(ftf_side_kind(&side), SIDE_VALUE);
	expect_part(0, 100,
		    "C 10 count/9; B 20 outer/7; B 30 inner/7; S 40 0>8; B 50 whole/8; "
		    "a 60 async/8; C 70 count/9; E 100 /7; E 100 /7; E 100 /8; z 100 async/8; ");
	expect_part(100, 200,
		    "B+ 100 outer/7; B+ 100 inner/7; B+ 100 whole/8; a 100 async/8; C 100 count/9; "
		    "S 100 0>8; E 110 /8; E 140 /7; E 200 /7; z 200 async/8; ");
	expect_part(200, 300,
		    "B+ 200 outer/7; a 200 async/8; C 200 count/9; S 200 0>8; z 210 async/8; "
		    "E 300 /7; ");
	ck_assert_uint_eq(ftf_side_time(&side), UINT64_MAX);
}
END_TEST

/* ---- Slices of calls ----------------------------------------------------------- */

struct interval {
	uint64_t begin, end, tid;
	char name[16];
};

static int compare_intervals(const void *left, const void *right)
{
	const struct interval *a = left, *b = right;

	return COMPARE(a->begin, b->begin) ?: COMPARE(b->end, a->end) ?: COMPARE(a->tid, b->tid);
}

/* Compares the slices of a part: "NAME/TID BEGIN-END", outer ones first. */
static void expect_slices(const char *path, const char *expected)
{
	struct interval found[20], *open[4][4];
	size_t count = 0, depth[4] = { 0 };
	struct trace_reader reader;
	static struct trace_record record;
	struct error err = { 0 };
	char got[500] = "";

	ck_assert_int_eq(trace_reader_open(&reader, path, &err), 0);
	while (trace_reader_next(&reader, &record, &err) == 1) {
		size_t tid = record.thread.tid;

		ck_assert_str_eq(record.problem, "");
		if (record.kind != TRACE_EVENT)
			continue;
		if (record.type == EVENT_END) {
			ck_assert_uint_gt(depth[tid], 0);
			open[tid][--depth[tid]]->end = record.time;
			continue;
		}
		found[count] = (struct interval){ record.time, record.id, tid, "" };
		snprintf(found[count].name, 16, "%.*s", (int)record.name.length, record.name.at);
		if (record.type == EVENT_BEGIN)
			open[tid][depth[tid]++] = &found[count];
		count++;
	}
	trace_reader_close(&reader);
	ck_assert_str_eq(err.text, "");
	ck_assert_uint_eq(depth[2] + depth[3], 0);
	qsort(found, count, sizeof(*found), compare_intervals);
	for (size_t i = 0; i < count; i++)
		sprintf(got + strlen(got), "%s/%d %d-%d, ", found[i].name, (int)found[i].tid,
			(int)found[i].begin, (int)found[i].end);
	ck_assert_str_eq(got, expected);
}

/* Thread 2: outer from 0 to 100, with inner at 10, 30 and 60; thread 3: g from 20 to 90. */
static const struct {
	struct split_size size;
	bool empty;
	const char *parts[4];
} splits[] = {
	{ { SPLIT_SLICES, 100 },
	  false,
	  { "outer/2 0-100, inner/2 10-15, g/3 20-90, inner/2 30-35, inner/2 60-65, " } },
	{ { SPLIT_SLICES, 2 },
	  false,
	  { "outer/2 0-20, inner/2 10-15, ", "outer/2 20-60, g/3 20-60, inner/2 30-35, ",
	    "outer/2 60-100, g/3 60-90, inner/2 60-65, " } },
	{ { SPLIT_SLICES, 3 },
	  false,
	  { "outer/2 0-30, inner/2 10-15, g/3 20-30, ",
	    "outer/2 30-100, g/3 30-90, inner/2 30-35, inner/2 60-65, " } },
	/* Units of 50 ns, from the first slice on. */
	{ { SPLIT_NS, 50 },
	  false,
	  { "outer/2 0-50, inner/2 10-15, g/3 20-50, inner/2 30-35, ",
	    "outer/2 50-100, g/3 50-90, inner/2 60-65, " } },
	/* The unit from 33 to 66 begins after the end of the slice that ends in it. */
	{ { SPLIT_NS, 33 },
	  false,
	  { "outer/2 0-35, inner/2 10-15, g/3 20-35, inner/2 30-35, ",
	    "outer/2 35-100, g/3 35-90, inner/2 60-65, " } },
	{ { SPLIT_SLICES, 2 }, true, { "" } },
};

START_TEST(each_part_has_its_slices_and_those_that_are_open)
{
	struct symbol symbols[3];
	struct track tracks[] = { { .pid = 1, .tid = 2 }, { .pid = 1, .tid = 3, .index = 1 } };
	struct options split = { .args = OPTION_ARGS_LINE,
				 .format = &format_ftf,
				 .select.split = splits[_i].size };
	struct output output = { 0 };
	struct format_output *format;
	size_t count = 0;

	for (int i = 0; i < 3; i++) {
		symbols[i] = (struct symbol){ 0 };
		symbols[i].name = symbols[i].linkage =
			name_intern_text(&names, (const char *[]){ "outer", "inner", "g" }[i]);
	}
	format = output_format_open(&format_ftf_split, &(struct format_request){ .options = &split,
										 .output = &output,
										 .path = "part.ftf",
										 .names = &names,
										 .facts = facts });
	if (!splits[_i].empty) {
		feed_begin(&format->sink, &tracks[0], 0, &symbols[0], 0x1000, 0);
		for (uint64_t time = 10; time <= 60; time = 3 * time - (time == 30 ? 30 : 0)) {
			feed_begin(&format->sink, &tracks[0], time, &symbols[1], 0x2000, 0);
			feed_end(&format->sink, &tracks[0], time + 5);
		}
		feed_end(&format->sink, &tracks[0], 100);
		feed_begin(&format->sink, &tracks[1], 20, &symbols[2], 0x3000, 0);
		feed_end(&format->sink, &tracks[1], 90);
	}
	format_ftf_split.finish(format);
	ck_assert_msg(format->err.kind == ERROR_NONE, "%s", format->err.text);
	while (count < 4 && splits[_i].parts[count])
		count++;
	ck_assert_uint_eq(format->part_count, count);
	for (size_t i = 0; i < count; i++) {
		expect_slices(format->parts[i], splits[_i].parts[i]);
		unlink(format->parts[i]);
	}
	ck_assert_uint_eq(*format->slices, splits[_i].empty ? 0 : 5);
	output_format_close(&format_ftf_split, format);
	for (int i = 0; i < 2; i++)
		track_release(&tracks[i]);
}
END_TEST

/* ---- Bytes --------------------------------------------------------------------- */

struct part_sums {
	size_t bytes, slices, counters; /* `slices`: begins */
	uint64_t times;                 /* of all begins */
};

static void add_part(const char *path, struct part_sums *sums)
{
	struct trace_reader reader;
	static struct trace_record record;
	struct error err = { 0 };
	struct stat status;

	ck_assert_int_eq(stat(path, &status), 0);
	sums->bytes += (size_t)status.st_size;
	ck_assert_int_eq(trace_reader_open(&reader, path, &err), 0);
	while (trace_reader_next(&reader, &record, &err) == 1) {
		ck_assert_str_eq(record.problem, "");
		if (record.kind != TRACE_EVENT)
			continue;
		sums->counters += record.type == EVENT_COUNTER;
		if (record.type != EVENT_BEGIN && record.type != EVENT_COMPLETE)
			continue;
		sums->slices++;
		sums->times += record.time;
	}
	ck_assert_str_eq(err.text, "");
	trace_reader_close(&reader);
}

/* What the writer and the sink keep before they write it. */
#define BUFFERS (128 * 1024)

/* Calls in a row, then counters in a row. */
static const struct {
	size_t slices, counters;
	uint64_t split, most; /* bytes of a part, and of all parts; 0: no limit */
} byte_splits[] = {
	{ 10000, 0, 100000, 0 },      { 0, 10000, 100000, 0 },       { 5000, 5000, 150000, 0 },
	{ 10000, 0, 100000, 250000 }, { 10, 20000, 100000, 250000 }, { 10000, 0, 1000000, 250000 },
};

static void feed_in_a_row(struct format_output *format, struct track *track, struct symbol *symbol,
			  size_t slices, size_t counters)
{
	struct event_record record;
	uint64_t time = 10;

	for (; slices--; time += 10) {
		feed_begin(&format->sink, track, time, symbol, 0x1000, 0);
		feed_end(&format->sink, track, time + 5);
	}
	for (; counters--; time += 10) {
		event_record_init(&record, format->events, (struct event_track){ 1, 2 }, NULL,
				  "count", time);
		record.event.id = 1;
		event_record_add_number(&record, "value", time);
		event_record_emit(&record, TRACK_COUNTER);
	}
}

START_TEST(parts_have_their_bytes_and_each_record_once_up_to_the_limit_of_all)
{
	struct symbol symbol = { 0 };
	struct track track = { .pid = 1, .tid = 2 };
	struct options split = { .args = OPTION_ARGS_LINE,
				 .format = &format_ftf,
				 .max_output = byte_splits[_i].most,
				 .select.split = { SPLIT_BYTES, byte_splits[_i].split } };
	struct output output = { 0 };
	struct format_output *format;
	struct part_sums sums = { 0 };

	symbol.name = symbol.linkage = name_intern_text(&names, "call");
	format = output_format_open(&format_ftf_split, &(struct format_request){ .options = &split,
										 .output = &output,
										 .path = "part.ftf",
										 .names = &names,
										 .facts = facts });
	feed_in_a_row(format, &track, &symbol, byte_splits[_i].slices, byte_splits[_i].counters);
	format_ftf_split.finish(format);
	ck_assert_msg(format->err.kind == ERROR_NONE, "%s", format->err.text);
	for (size_t i = 0; i < format->part_count; i++) {
		size_t before = sums.bytes;

		/* The first counter of a part is the state. */
		sums.counters -= i && sums.counters;
		add_part(format->parts[i], &sums);
		if (i + 1 < format->part_count)
			ck_assert_uint_ge(sums.bytes - before, byte_splits[_i].split);
		ck_assert_uint_lt(sums.bytes - before, byte_splits[_i].split + BUFFERS);
		unlink(format->parts[i]);
	}
	ck_assert_uint_eq(*format->slices, sums.slices);
	ck_assert_int_eq(output.cut, byte_splits[_i].most != 0);
	if (byte_splits[_i].most) {
		ck_assert_uint_ge(sums.bytes, byte_splits[_i].most);
		ck_assert_uint_lt(sums.bytes, byte_splits[_i].most + BUFFERS);
	} else {
		ck_assert_uint_gt(format->part_count, 1);
		ck_assert_uint_eq(sums.slices, byte_splits[_i].slices);
		ck_assert_uint_eq(sums.times, sums.slices * (sums.slices + 1) / 2 * 10);
		ck_assert_uint_eq(sums.counters, byte_splits[_i].counters);
	}
	output_format_close(&format_ftf_split, format);
	track_release(&track);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("ftf_split");
	TCase *all = tcase_create("ftf_split");

	tcase_add_test(all, the_number_precedes_the_endings);
	tcase_add_test(all, a_name_without_an_ending_gets_it_at_its_end);
	suite_add_tcase(suite, all);
	all = tcase_create("ftf_side");
	tcase_add_checked_fixture(all, setup, teardown);
	tcase_add_test(all, a_part_begins_with_the_state_and_ends_what_is_open);
	tcase_add_loop_test(all, each_part_has_its_slices_and_those_that_are_open, 0,
			    COUNT_OF(splits));
	tcase_add_loop_test(all, parts_have_their_bytes_and_each_record_once_up_to_the_limit_of_all,
			    0, COUNT_OF(byte_splits));
	suite_add_tcase(suite, all);
	return unit_run(suite);
}
