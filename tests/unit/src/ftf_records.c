/* SPDX-License-Identifier: MIT */
/* All fields of the records of events, slices, arrows and parts, read back by the strict reader. */
#include <stdlib.h>
#include <unistd.h>

#include "reader/trace_reader.h"
#include "src/formats/ftf/ftf_side.h"
#include "src/formats/output_format.h"
#include "src/slices/track.h"
#include "tests/support/unit.h"
#include "tests/unit/src/slice_feed.h"

static const struct trace_facts facts = { .wall_base = WALL_BASE_UNKNOWN, .free_id = 100 };
static char path[] = "ftf_records-XXXXXX";
static struct name_table names;
static struct symbol outer, inner;
static struct track tracks[2];
static struct output output;
static struct ftf_sink ftf;

static void setup(void)
{
	name_table_init(&names);
	outer.name = outer.linkage = name_intern_text(&names, "outer");
	inner.name = inner.linkage = name_intern_text(&names, "inner");
	for (int i = 0; i < 2; i++)
		tracks[i] = (struct track){ .pid = 1, .tid = 2 + i, .index = (uint32_t)i };
	ck_assert_int_eq(chdir(getenv("TMPDIR") ? getenv("TMPDIR") : "/tmp"), 0);
	close(mkstemp(path));
}

static void teardown(void)
{
	unlink(path);
	for (int i = 0; i < 2; i++)
		track_release(&tracks[i]);
	name_table_release(&names);
}

static void open_sink(const struct options *options)
{
	struct error err = { 0 };

	ck_assert_int_eq(output_open(&output, path, &err), 0);
	ftf_sink_init(&ftf, &output, &names, options, &facts);
}

static void close_sink(void)
{
	struct error err = { 0 };

	ck_assert_int_eq(ftf_sink_close(&ftf, &err), 0);
	ck_assert_int_eq(output_close(&output, &err), 0);
	ftf_sink_release(&ftf);
}

/* ---- Records as text ----------------------------------------------------------- */

static void print_args(const struct trace_record *record, FILE *out)
{
	for (const struct trace_arg *arg = record->args; arg < record->args + record->arg_count;
	     arg++) {
		double real;

		memcpy(&real, &arg->word, sizeof(real));
		fprintf(out, " %.*s=", (int)arg->name.length, arg->name.at);
		if (arg->type == ARG_STRING)
			fprintf(out, "%.*s", (int)arg->string.length, arg->string.at);
		else if (arg->type == ARG_DOUBLE)
			fprintf(out, "%g", real);
		else if (arg->type == ARG_POINTER)
			fprintf(out, "0x%" PRIx64, arg->word);
		else
			fprintf(out, "%" PRId64 "%s", (int64_t)arg->word,
				arg->type == ARG_INT32 ? "" : "L");
	}
	fputs("; ", out);
}

static void print_event(const struct trace_record *record, FILE *out)
{
	static const char *const types[EVENT_TYPES] = {
		[EVENT_INSTANT] = "I",   [EVENT_COUNTER] = "C",    [EVENT_BEGIN] = "B",
		[EVENT_END] = "E",       [EVENT_COMPLETE] = "X",   [EVENT_ASYNC_BEGIN] = "a",
		[EVENT_ASYNC_END] = "z", [EVENT_FLOW_BEGIN] = ">", [EVENT_FLOW_STEP] = "-",
		[EVENT_FLOW_END] = "<",
	};

	fprintf(out, "%s %d", types[record->type] ?: "?", (int)record->time);
	if (record->id)
		fprintf(out, "#%" PRId64, record->id);
	fprintf(out, " %d/%d", (int)record->thread.pid, (int)record->thread.tid);
	if (record->category.length)
		fprintf(out, " %.*s:", (int)record->category.length, record->category.at);
	if (record->name.length)
		fprintf(out, " %.*s", (int)record->name.length, record->name.at);
	print_args(record, out);
}

static void print_record(const struct trace_record *record, FILE *out)
{
	if (record->kind == TRACE_EVENT) {
		print_event(record, out);
	} else if (record->kind == TRACE_CONTEXT_SWITCH) {
		fprintf(out, "S %d cpu%d %d(%d)>%d", (int)record->time, (int)record->number,
			(int)record->thread.tid, (int)record->state, (int)record->other.tid);
		print_args(record, out);
	} else if (record->kind == TRACE_THREAD_WAKEUP) {
		fprintf(out, "W %d cpu%d %d", (int)record->time, (int)record->number,
			(int)record->thread.tid);
		print_args(record, out);
	} else if (record->kind == TRACE_KERNEL_OBJECT) {
		fprintf(out, "N %d %.*s", (int)record->id, (int)record->name.length,
			record->name.at);
		print_args(record, out);
	}
}

/* Compare all records of a file but those of strings, threads and the trace. */
static void expect_records(const char *file, const char *expected)
{
	static struct trace_record record;
	struct trace_reader reader;
	struct error err = { 0 };
	char *text;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	ck_assert_int_eq(trace_reader_open(&reader, file, &err), 0);
	while (trace_reader_next(&reader, &record, &err) == 1) {
		ck_assert_str_eq(record.problem, "");
		print_record(&record, out);
	}
	trace_reader_close(&reader);
	ck_assert_str_eq(err.text, "");
	fclose(out);
	ck_assert_str_eq(text, expected);
	free(text);
}

/* ---- Events that are not slices of calls ------------------------------------------ */

#define TEXT(text)                                                                                 \
	{                                                                                          \
		text, sizeof(text) - 1                                                             \
	}

static const struct event_arg five[] = {
	{ TEXT("small"), EVENT_ARG_INT32, .number = -5 },
	{ TEXT("large"), EVENT_ARG_INT64, .number = INT64_C(1) << 40 },
	{ TEXT("address"), EVENT_ARG_POINTER, .pointer = 0xffff800000001000 },
	{ TEXT("real"), EVENT_ARG_REAL, .real = 2.5 },
	{ TEXT("text"), EVENT_ARG_TEXT, .text = TEXT("a text") },
};

static const struct event_arg fifteen[EVENT_ARGS_MAX] = {
	{ TEXT("a"), EVENT_ARG_INT32, .number = 1 },
	{ TEXT("b"), EVENT_ARG_INT32, .number = 2 },
};

#define OF(track_kind) .kind = track_kind, .time = 20, .track = { 7, 8 }, .name = TEXT("name")
#define FIVE           " small=-5 large=1099511627776L address=0xffff800000001000 real=2.5 text=a text; "

static const struct {
	struct track_event event;
	enum option_args level;
	const char *expected;
} events[] = {
	{ { OF(TRACK_PROCESS) }, OPTION_ARGS_LINE, "N 7 name; " },
	{ { OF(TRACK_THREAD) }, OPTION_ARGS_LINE, "N 8 name process=7L; " },
	{ { OF(TRACK_INSTANT), .args = five, .arg_count = 5, .category = TEXT("cat") },
	  OPTION_ARGS_LINE,
	  "I 20 7/8 cat: name" FIVE },
	{ { OF(TRACK_COUNTER), .args = five, .arg_count = 1, .id = 3 },
	  OPTION_ARGS_LINE,
	  "C 20#3 7/8 name small=-5; " },
	{ { OF(TRACK_BEGIN) }, OPTION_ARGS_LINE, "B 20 7/8 name; " },
	{ { .kind = TRACK_END, .time = 20, .track = { 7, 8 } }, OPTION_ARGS_LINE, "E 20 7/8; " },
	{ { OF(TRACK_WHOLE), .end = 29 }, OPTION_ARGS_LINE, "X 20#29 7/8 name; " },
	{ { OF(TRACK_ASYNC_BEGIN), .id = 3 }, OPTION_ARGS_LINE, "a 20#3 7/8 name; " },
	{ { OF(TRACK_ASYNC_END), .id = 3 }, OPTION_ARGS_LINE, "z 20#3 7/8 name; " },
	{ { OF(TRACK_FLOW_BEGIN), .id = 3 }, OPTION_ARGS_LINE, "> 20#3 7/8 name; " },
	{ { OF(TRACK_FLOW_STEP), .id = 3 }, OPTION_ARGS_LINE, "- 20#3 7/8 name; " },
	{ { OF(TRACK_FLOW_END), .id = 3 }, OPTION_ARGS_LINE, "< 20#3 7/8 name; " },
	/* Texts that are seldom repeated are inline; the values are the same. */
	{ { OF(TRACK_BEGIN), .args = five, .arg_count = 5, .category = TEXT("category"),
	    .once = true },
	  OPTION_ARGS_LINE,
	  "B 20 7/8 category: name" FIVE },
	{ { OF(TRACK_BEGIN), .once = true }, OPTION_ARGS_LINE, "B 20 7/8 name; " },
	/* A slice of an earlier part says so, unless arguments are left out or have no room. */
	{ { OF(TRACK_BEGIN), .continued = true },
	  OPTION_ARGS_LINE,
	  "B 20 7/8 name continued=true; " },
	{ { OF(TRACK_BEGIN), .args = fifteen, .arg_count = 2, .continued = true },
	  OPTION_ARGS_FULL,
	  "B 20 7/8 name a=1 b=2 continued=true; " },
	{ { OF(TRACK_BEGIN), .continued = true }, OPTION_ARGS_NONE, "B 20 7/8 name; " },
	{ { OF(TRACK_BEGIN), .args = fifteen, .arg_count = 15, .continued = true },
	  OPTION_ARGS_LINE,
	  "B 20 7/8 name a=1 b=2 =0 =0 =0 =0 =0 =0 =0 =0 =0 =0 =0 =0 =0; " },
	/* The idle thread has the lowest weight, on both sides; states are those of FTF. */
	{ { OF(TRACK_SWITCH), .cpu = 3,
	    .change = { .other = { 7, 9 }, .priority = 120, .state = EVENT_THREAD_BLOCKED } },
	  OPTION_ARGS_LINE,
	  "S 20 cpu3 9(3)>8 incoming_weight=120; " },
	{ { OF(TRACK_SWITCH),
	    .change = { .other = { 7, 9 }, .priority = 1, .state = EVENT_THREAD_PREEMPTED } },
	  OPTION_ARGS_LINE,
	  "S 20 cpu0 9(1)>8 incoming_weight=1; " },
	{ { OF(TRACK_SWITCH), .change = { .priority = 1, .state = EVENT_THREAD_DEAD } },
	  OPTION_ARGS_LINE,
	  "S 20 cpu0 0(5)>8 incoming_weight=1 outgoing_weight=-2147483648; " },
	{ { .kind = TRACK_SWITCH, .time = 20, .change = { .other = { 7, 9 }, .priority = 1 } },
	  OPTION_ARGS_LINE,
	  "S 20 cpu0 9(3)>0 incoming_weight=-2147483648; " },
	{ { OF(TRACK_WAKEUP), .cpu = 2, .change = { .other = { 7, 9 }, .priority = 120 } },
	  OPTION_ARGS_LINE,
	  "W 20 cpu2 8 waker=9L weight=120; " },
	{ { OF(TRACK_WAKEUP), .cpu = 2 }, OPTION_ARGS_LINE, "W 20 cpu2 8; " },
};

START_TEST(an_event_has_all_its_fields_in_its_record)
{
	open_sink(&(struct options){ .args = events[_i].level });
	event_sink_emit(&ftf.events, &events[_i].event);
	close_sink();
	expect_records(path, events[_i].expected);
}
END_TEST

/* Stored texts are the program's names, which need no inline texts. */
START_TEST(an_event_has_the_same_values_with_stored_texts)
{
	open_sink(&(struct options){ .args = events[_i].level });
	ftf.stored_texts = true;
	event_sink_emit(&ftf.events, &events[_i].event);
	close_sink();
	expect_records(path, events[_i].expected);
}
END_TEST

/* ---- Slices, with arrows of tail calls and with costs ------------------------------- */

enum { TAIL = SLICE_TAIL_CALL, TAILED = SLICE_TAIL_CALLED };

/* An event of a thread: 'O' and 'I' begin outer and inner, 'E' is an end, others: see feed(). */
struct step {
	int track;
	char kind;
	uint64_t time;
	unsigned flags;
	uint64_t insns, cycles;
};

#define AT(track, kind, time)                                                                      \
	{                                                                                          \
		track, kind, time, 0, 0, 0                                                         \
	}
#define JUMP(track, kind, time, flags)                                                             \
	{                                                                                          \
		track, kind, time, flags, 0, 0                                                     \
	}
#define COSTS(track, kind, time, insns, cycles)                                                    \
	{                                                                                          \
		track, kind, time, 0, insns, cycles                                                \
	}

static void feed(const struct slice_sink *sink, const struct step *step)
{
	static const uint8_t kinds[128] = { ['E'] = SLICE_END,
					    ['M'] = SLICE_INSTANT,
					    ['>'] = SLICE_ARROW,
					    ['<'] = SLICE_ARROW_END };
	struct slice_event event = { .time = step->time,
				     .flags = (uint16_t)step->flags,
				     .kind = kinds[(int)step->kind] };
	struct slice_detail detail = { .insns = step->insns, .cycles = step->cycles };

	if (event.kind == SLICE_INSTANT)
		event.text = "mark";
	else if (event.kind == SLICE_BEGIN)
		event.symbol = step->kind == 'O' ? &outer : &inner;
	event.ip = event.kind == SLICE_BEGIN ? 0x1000 : event.kind >= SLICE_ARROW ? 6 : 0;
	slice_sink_emit(sink, &tracks[step->track], &event, step->insns ? &detail : NULL);
}

#define ADDRESS " address=0x1000"
#define FULL    ADDRESS " symbol="

static const struct {
	enum stack_machine stacks;
	enum option_args level;
	struct step steps[10]; /* until kind 0 */
	const char *expected;
} slices[] = {
	/* An arrow leads from the slice that a tail call leaves to the slice of its target. */
	{ STACKS_FLOWS,
	  OPTION_ARGS_LINE,
	  { AT(0, 'O', 10), JUMP(0, 'E', 20, TAIL), JUMP(0, 'I', 21, TAILED), AT(0, 'E', 30) },
	  "B 10 1/2 outer" ADDRESS "; > 20#1 1/2 tail call; E 20 1/2; B 21 1/2 inner" ADDRESS
	  "; < 21#1 1/2 tail call; E 30 1/2; " },
	/* Each call has an arrow of its own; the target can be left by another one. */
	{ STACKS_FLOWS,
	  OPTION_ARGS_NONE,
	  { AT(0, 'O', 10), JUMP(0, 'E', 20, TAIL), JUMP(0, 'I', 20, TAILED),
	    JUMP(0, 'E', 30, TAIL), JUMP(0, 'O', 31, TAILED), AT(0, 'E', 40) },
	  "B 10 1/2 outer; > 20#1 1/2 tail call; E 20 1/2; B 20 1/2 inner; < 20#1 1/2 tail call; "
	  "> 30#2 1/2 tail call; E 30 1/2; B 31 1/2 outer; < 31#2 1/2 tail call; E 40 1/2; " },
	/* The selection leaves out the target: the next slice is another. */
	{ STACKS_FLOWS,
	  OPTION_ARGS_NONE,
	  { AT(0, 'O', 10), JUMP(0, 'E', 20, TAIL), AT(0, 'I', 25), AT(0, 'E', 30) },
	  "B 10 1/2 outer; E 20 1/2; B 25 1/2 inner; E 30 1/2; " },
	{ STACKS_FLOWS,
	  OPTION_ARGS_NONE,
	  { AT(0, 'O', 10), AT(0, 'I', 11), JUMP(0, 'E', 20, TAIL), AT(0, 'M', 22),
	    AT(0, 'E', 30) },
	  "B 10 1/2 outer; B 11 1/2 inner; E 20 1/2; I 22 1/2 mark; E 30 1/2; " },
	/* The trace ends at a tail call. */
	{ STACKS_FLOWS,
	  OPTION_ARGS_NONE,
	  { AT(0, 'O', 10), AT(1, 'I', 11), JUMP(0, 'E', 20, TAIL), JUMP(1, 'E', 21, TAIL) },
	  "B 10 1/2 outer; B 11 1/3 inner; E 21 1/3; E 20 1/2; " },
	/* A target is of its own thread. */
	{ STACKS_FLOWS,
	  OPTION_ARGS_NONE,
	  { AT(0, 'O', 10), JUMP(0, 'E', 20, TAIL), JUMP(1, 'I', 21, TAILED),
	    JUMP(0, 'I', 22, TAILED), AT(1, 'E', 23), AT(0, 'E', 30) },
	  "B 10 1/2 outer; B 21 1/3 inner; > 20#1 1/2 tail call; E 20 1/2; B 22 1/2 inner; "
	  "< 22#1 1/2 tail call; E 23 1/3; E 30 1/2; " },
	/* The slice that is left has its costs, though its end waits. */
	{ STACKS_FLOWS,
	  OPTION_ARGS_FULL,
	  { COSTS(0, 'O', 10, 100, 50),
	    { 0, 'E', 20, TAIL, 130, 65 },
	    { 0, 'I', 21, TAILED, 131, 66 },
	    COSTS(0, 'E', 30, 141, 86) },
	  "B 10 1/2 outer" FULL "outer; > 20#1 1/2 tail call; "
	  "E 20 1/2 insns=30 cycles=15 ipc=2; B 21 1/2 inner" FULL
	  "inner; < 21#1 1/2 tail call; E 30 1/2 insns=10 cycles=20 ipc=0.5; " },
	/* Without arrows, the argument says that a call was a tail call. */
	{ STACKS_PRECISE,
	  OPTION_ARGS_LINE,
	  { AT(0, 'O', 10), JUMP(0, 'I', 11, TAILED), AT(0, 'E', 20), AT(0, 'E', 20) },
	  "X 10#20 1/2 outer" ADDRESS "; X 11#20 1/2 inner" ADDRESS " tail_call=true; " },
	/* Arrows between stacks have ids above those of tail calls. */
	{ STACKS_PRECISE,
	  OPTION_ARGS_NONE,
	  { AT(0, 'O', 10), AT(0, '>', 15), AT(1, 'I', 16), AT(1, '<', 16), AT(1, 'E', 18),
	    AT(0, 'E', 20) },
	  "B 10 1/2 outer; > 15#4294967302 1/2 switch; B 16 1/3 inner; "
	  "< 16#4294967302 1/3 switch; E 18 1/3; E 20 1/2; " },
	/* Costs are in the last record of their slice: of the whole slice, or of its end. */
	{ STACKS_PRECISE,
	  OPTION_ARGS_FULL,
	  { COSTS(0, 'O', 10, 100, 0), COSTS(0, 'I', 12, 120, 0), COSTS(0, 'E', 12, 125, 0),
	    COSTS(0, 'E', 20, 160, 0) },
	  "X 10#20 1/2 outer" FULL "outer insns=60; B 12 1/2 inner" FULL
	  "inner; E 12 1/2 insns=5; " },
	{ STACKS_PRECISE,
	  OPTION_ARGS_FULL,
	  { COSTS(0, 'O', 10, 100, 10), COSTS(0, 'I', 12, 120, 14), AT(0, 'M', 13),
	    COSTS(0, 'E', 14, 129, 17), COSTS(1, 'I', 15, 7, 7), COSTS(1, 'E', 17, 9, 11),
	    COSTS(0, 'E', 20, 130, 50) },
	  "B 10 1/2 outer" FULL "outer; B 12 1/2 inner" FULL "inner; I 13 1/2 mark; "
	  "E 14 1/2 insns=9 cycles=3 ipc=3; X 15#17 1/3 inner" FULL
	  "inner insns=2 cycles=4 ipc=0.5; E 20 1/2 insns=30 cycles=40 ipc=0.75; " },
	/* Costs that are not known are left out, whatever is known of other slices. */
	{ STACKS_PRECISE,
	  OPTION_ARGS_FULL,
	  { COSTS(0, 'O', 10, 100, 10), AT(0, 'I', 12), AT(0, 'E', 14), COSTS(0, 'I', 15, 120, 20),
	    COSTS(0, 'E', 16, 110, 30), COSTS(0, 'E', 20, 150, 20) },
	  "X 10#20 1/2 outer" FULL "outer insns=50 cycles=10 ipc=5; X 12#14 1/2 inner" FULL
	  "inner; X 15#16 1/2 inner" FULL "inner; " },
};

START_TEST(slices_have_these_records)
{
	struct slice_sink sink;

	open_sink(&(struct options){ .args = slices[_i].level, .stacks = slices[_i].stacks });
	sink = ftf_sink_slices(&ftf);
	for (const struct step *step = slices[_i].steps; step->kind; step++)
		feed(&sink, step);
	close_sink();
	expect_records(path, slices[_i].expected);
}
END_TEST

/*
 * Slices that are more deeply nested than records wait: each has its own costs, in one record or in
 * two. Slice N begins at N with 10 * N instructions, and ends with N * N + 40,000.
 */
START_TEST(nested_slices_have_their_own_costs_however_deep)
{
	const uint64_t depth = (const uint64_t[]){ 63, 64, 65, 1023, 1024, 1025, 3000 }[_i];
	static struct trace_record record;
	struct slice_sink sink;
	struct trace_reader reader;
	struct error err = { 0 };
	uint64_t *begun = calloc(depth, sizeof(*begun)), open = 0, ended = 0;

	open_sink(&(struct options){ .args = OPTION_ARGS_FULL });
	sink = ftf_sink_slices(&ftf);
	for (uint64_t i = 0; i < depth; i++)
		feed(&sink, &(struct step)COSTS(0, 'O', i, 10 * i + 1, 0));
	for (uint64_t i = depth; i-- > 0;)
		feed(&sink, &(struct step)COSTS(0, 'E', 2 * depth - i, i * i + 40001, 0));
	close_sink();
	ck_assert_int_eq(trace_reader_open(&reader, path, &err), 0);
	while (trace_reader_next(&reader, &record, &err) == 1) {
		uint64_t number = record.time;

		ck_assert_str_eq(record.problem, "");
		if (record.kind != TRACE_EVENT)
			continue;
		if (record.type == EVENT_BEGIN) {
			begun[open++] = number;
			ck_assert_uint_eq(record.arg_count, 2);
			continue;
		}
		if (record.type == EVENT_END)
			number = begun[--open];
		ck_assert_uint_eq(record.type == EVENT_END ? record.time : record.id,
				  2 * depth - number);
		ck_assert_uint_eq(record.args[record.arg_count - 1].word,
				  number * number + 40000 - 10 * number);
		ended++;
	}
	trace_reader_close(&reader);
	ck_assert_uint_eq(ended, depth);
	free(begun);
}
END_TEST

/* ---- The number of slices ------------------------------------------------------------ */

/* The limit of four slices; `stored`: slices are stored from the start, and the shortest go. */
static const struct {
	uint64_t fit, trace_bytes;
	bool fits, direct, stored;
} limits[] = {
	{ 4, 0, false, false, false },
	{ 4, 1, false, false, true }, /* the size of the input is known */
	{ 4, 0, true, false, true },  /* the second conversion */
	{ 4, 0, false, true, true },  /* the output cannot be written again */
	/* Without --fit, from a size that makes more slices likely. */
	{ 0, 64 * FIT_DEFAULT + 63, false, false, false },
	{ 0, 64 * FIT_DEFAULT + 64, false, false, true },
	{ FIT_NONE, UINT64_MAX, true, true, false },
};

START_TEST(slices_are_stored_if_too_many_are_likely)
{
	const struct options options = { .select.fit = limits[_i].fit, .fits = limits[_i].fits };
	struct trace_facts with = facts;
	struct error err = { 0 };

	with.trace_bytes = limits[_i].trace_bytes;
	ck_assert_int_eq(output_open(&output, limits[_i].direct ? "/dev/null" : path, &err), 0);
	ftf_sink_init(&ftf, &output, &names, &options, &with);
	ck_assert_uint_eq(ftf.fit.limit != 0, limits[_i].stored);
	ftf_sink_release(&ftf);
	output_abandon(&output);
}
END_TEST

/* Four slices fit; those of `others` count. */
START_TEST(more_slices_than_fit_are_an_error)
{
	const uint64_t own = (uint64_t)_i / 3, others = (uint64_t)_i % 3;
	struct slice_sink sink;
	struct error err = { 0 };

	open_sink(&(struct options){ .args = OPTION_ARGS_NONE, .select.fit = 4 });
	sink = ftf_sink_slices(&ftf);
	for (uint64_t i = 0; i < own; i++) {
		feed(&sink, &(struct step)AT(0, i % 2 ? 'M' : 'O', 2 * i));
		if (i % 2 == 0)
			feed(&sink, &(struct step)AT(0, 'E', 2 * i + 1));
	}
	ftf.others = others;
	ck_assert_int_eq(ftf_sink_close(&ftf, &err), 0);
	ck_assert_int_eq(output.err.kind, own + others > 4 ? ERROR_MORE_SLICES : ERROR_NONE);
	ck_assert_uint_eq(ftf.slices, own);
	ftf_sink_release(&ftf);
	output_abandon(&output);
}
END_TEST

/* ---- Parts ---------------------------------------------------------------------------- */

static struct event_record made;

static struct track_event *event_of(struct event_sink *sink, uint64_t tid, uint64_t time,
				    const char *name)
{
	event_record_init(&made, sink, (struct event_track){ 1, tid }, NULL, name, time);
	return &made.event;
}

/* Write all events into a part of a side, which is at `time`. */
static void expect_side(struct ftf_side *side, uint64_t from, uint64_t to, const char *expected)
{
	open_sink(&(struct options){ .args = OPTION_ARGS_LINE });
	ftf_side_begin_part(side, &ftf, from);
	while (ftf_side_time(side) < to)
		ftf_side_write(side, &ftf);
	ftf_side_end_part(side, &ftf, to);
	close_sink();
	expect_records(path, expected);
}

START_TEST(a_part_names_the_threads_of_its_records_once)
{
	struct ftf_side side = { 0 };
	struct event_sink *sink = &side.store.sink;

	event_store_init(&side.store, &names, facts.free_id);
	event_sink_name_process(sink, 1, "app");
	for (uint64_t tid = 2; tid <= 6; tid++)
		event_sink_name_track(
			sink, (struct event_track){ 1, tid },
			(const char *[]){ "two", "three", "four", "five", "six" }[tid - 2]);
	event_of(sink, 2, 10, "first");
	event_record_emit(&made, TRACK_INSTANT);
	event_of(sink, 2, 11, "second");
	event_record_emit(&made, TRACK_INSTANT);
	event_of(sink, 3, 20, NULL)->change.other = (struct event_track){ 1, 4 };
	event_record_emit(&made, TRACK_SWITCH);
	event_of(sink, 5, 30, NULL)->change.other = (struct event_track){ 1, 6 };
	event_record_emit(&made, TRACK_WAKEUP);
	event_of(sink, 2, 40, NULL);
	event_record_emit(&made, TRACK_WAKEUP); /* by an unknown thread */
	event_store_sort(&side.store);
	expect_side(&side, 0, 15, "N 1 app; N 2 two process=1L; I 10 1/2 first; I 11 1/2 second; ");
	expect_side(&side, 15, 100,
		    "N 1 app; N 4 four process=1L; N 3 three process=1L; "
		    "S 20 cpu0 4(3)>3; N 5 five process=1L; N 6 six process=1L; "
		    "W 30 cpu0 5 waker=6L; N 2 two process=1L; W 40 cpu0 2; ");
	ftf_side_release(&side);
}
END_TEST

/* What is equal in Perfetto has one value: counters by process, id and name; switches by CPU. */
START_TEST(a_part_begins_with_the_last_value_of_each_counter_and_cpu)
{
	struct ftf_side side = { 0 };
	struct event_sink *sink = &side.store.sink;

	event_store_init(&side.store, &names, facts.free_id);
	for (int i = 0; i < 5; i++) {
		event_of(sink, 2, 10 + (uint64_t)i, i == 3 ? "other" : "count")->id =
			i == 2 ? 9 : 8;
		made.event.track.pid = i == 4 ? 7 : 1;
		event_record_add_number(&made, "value", i);
		event_record_emit(&made, TRACK_COUNTER);
	}
	for (uint64_t cpu = 0; cpu < 4; cpu++) {
		event_of(sink, cpu == 2 ? 0 : 3 + cpu, 20, NULL)->cpu = cpu / 3 * 2 + cpu;
		made.event.track.pid = cpu != 2;
		made.event.change.other = (struct event_track){ 1, 9 };
		made.event.change.priority = 120;
		made.event.change.state = EVENT_THREAD_DEAD;
		event_record_emit(&made, TRACK_SWITCH);
	}
	event_of(sink, 2, 30, "open")->id = 8;
	event_record_add_number(&made, "value", 1);
	event_record_emit(&made, TRACK_ASYNC_BEGIN);
	event_store_sort(&side.store);
	open_sink(&(struct options){ .args = OPTION_ARGS_LINE });
	while (ftf_side_time(&side) < 50)
		ftf_side_write(&side, &ftf);
	close_sink();
	expect_side(&side, 50, 60,
		    "a 50#8 1/2 open value=1L continued=true; "
		    "C 50#8 1/2 count value=1L; C 50#9 1/2 count value=2L; "
		    "C 50#8 1/2 other value=3L; C 50#8 7/2 count value=4L; "
		    "S 50 cpu0 0(3)>3 incoming_weight=120 outgoing_weight=-2147483648; "
		    "S 50 cpu1 0(3)>4 incoming_weight=120 outgoing_weight=-2147483648; "
		    "S 50 cpu5 0(3)>6 incoming_weight=120 outgoing_weight=-2147483648; "
		    "z 60#8 1/2 open; ");
	ftf_side_release(&side);
}
END_TEST

/* An end belongs to the record before it. Values begin a part, and are not counted as slices. */
START_TEST(slices_marks_and_values_begin_parts)
{
	static const enum side_kind kinds[TRACK_EVENT_KINDS] = {
		[TRACK_INSTANT] = SIDE_SLICE,     [TRACK_BEGIN] = SIDE_SLICE,
		[TRACK_ASYNC_BEGIN] = SIDE_SLICE, [TRACK_COUNTER] = SIDE_VALUE,
		[TRACK_SWITCH] = SIDE_VALUE,      [TRACK_WAKEUP] = SIDE_VALUE,
	};
	struct ftf_side side = { 0 };

	if (_i == TRACK_WHOLE)
		return; /* the store has a begin and an end instead */
	event_store_init(&side.store, &names, facts.free_id);
	event_of(&side.store.sink, 2, 10, "name");
	event_record_emit(&made, (enum track_event_kind)_i);
	event_store_sort(&side.store);
	ck_assert_uint_eq(ftf_side_time(&side), 10);
	ck_assert_int_eq(ftf_side_kind(&side), kinds[_i]);
	ftf_side_release(&side);
}
END_TEST

/* Steps of kind 'c' and 'i' are a counter and an instant beside the calls. */
static const struct {
	struct split_size size;
	struct step steps[10];
	const char *parts[4];
} splits[] = {
	/* The costs of a slice are in the part where they arose. */
	{ { SPLIT_SLICES, 2 },
	  { COSTS(0, 'O', 1, 100, 0), COSTS(0, 'I', 10, 110, 0), COSTS(0, 'E', 15, 130, 0),
	    COSTS(0, 'I', 20, 150, 0), COSTS(0, 'E', 25, 190, 0), COSTS(0, 'E', 90, 200, 0) },
	  { "X 1#20 1/2 outer" FULL "outer insns=50; X 10#15 1/2 inner" FULL "inner insns=20; ",
	    "X 20#90 1/2 outer" FULL "outer continued=true insns=50; X 20#25 1/2 inner" FULL
	    "inner insns=40; " } },
	/* A mark is counted, a value is not, and stays the value of the next part. */
	{ { SPLIT_SLICES, 2 },
	  { COSTS(0, 'O', 1, 10, 0), AT(0, 'c', 2), AT(0, 'c', 3), AT(0, 'i', 4), AT(0, 'c', 5),
	    AT(0, 'i', 6), COSTS(0, 'E', 9, 30, 0) },
	  { "C 2#1 1/9 value v=2L; C 3#1 1/9 value v=3L; I 4 1/9 mark; C 5#1 1/9 value v=5L; "
	    "X 1#6 1/2 outer" FULL "outer; ",
	    "C 6#1 1/9 value v=5L; I 6 1/9 mark; "
	    "X 6#9 1/2 outer" FULL "outer continued=true insns=20; " } },
	/* Units of 10 ns from the first slice; the one without a begin has no part. */
	{ { SPLIT_NS, 10 },
	  { COSTS(0, 'O', 3, 1, 0), COSTS(0, 'E', 5, 2, 0), COSTS(0, 'O', 12, 3, 0),
	    COSTS(0, 'E', 13, 4, 0), COSTS(0, 'O', 33, 5, 0), COSTS(0, 'E', 34, 6, 0) },
	  { "X 3#5 1/2 outer" FULL "outer insns=1; X 12#13 1/2 outer" FULL "outer insns=1; ",
	    "X 33#34 1/2 outer" FULL "outer insns=1; " } },
	/* A value begins no unit: it is with the slices before it. */
	{ { SPLIT_NS, 10 },
	  { COSTS(0, 'O', 3, 1, 0), COSTS(0, 'E', 5, 2, 0), AT(0, 'c', 17), AT(0, 'i', 28) },
	  { "C 17#1 1/9 value v=17L; X 3#5 1/2 outer" FULL "outer insns=1; ",
	    "C 23#1 1/9 value v=17L; I 28 1/9 mark; " } },
	/* Nothing is before the first slice but values. */
	{ { SPLIT_SLICES, 1 },
	  { AT(0, 'c', 1), COSTS(0, 'O', 3, 1, 0), COSTS(0, 'E', 5, 2, 0), COSTS(0, 'O', 6, 2, 0) },
	  { "C 1#1 1/9 value v=1L; X 3#5 1/2 outer" FULL "outer insns=1; ",
	    "C 6#1 1/9 value v=1L; B 6 1/2 outer" FULL "outer; " } },
};

static struct format_output *open_split(const struct options *options)
{
	return output_format_open(&format_ftf_split,
				  &(struct format_request){ .options = options,
							    .output = &output,
							    .path = "records.ftf",
							    .names = &names,
							    .facts = facts });
}

static void feed_side(struct event_sink *sink, char kind, uint64_t time)
{
	event_of(sink, 9, time, kind == 'c' ? "value" : "mark")->id = kind == 'c';
	if (kind == 'c')
		event_record_add_number(&made, "v", (int64_t)time);
	event_record_emit(&made, kind == 'c' ? TRACK_COUNTER : TRACK_INSTANT);
}

START_TEST(parts_have_these_records)
{
	const struct options options = { .args = OPTION_ARGS_FULL,
					 .format = &format_ftf,
					 .select.split = splits[_i].size };
	struct format_output *format;
	size_t count = 0;

	output = (struct output){ 0 };
	format = open_split(&options);
	for (const struct step *step = splits[_i].steps; step->kind; step++) {
		if (step->kind == 'c' || step->kind == 'i')
			feed_side(format->events, step->kind, step->time);
		else
			feed(&format->sink, step);
	}
	format_ftf_split.finish(format);
	ck_assert_msg(format->err.kind == ERROR_NONE, "%s", format->err.text);
	while (count < 4 && splits[_i].parts[count])
		count++;
	ck_assert_uint_eq(format->part_count, count);
	for (size_t i = 0; i < count; i++) {
		expect_records(format->parts[i], splits[_i].parts[i]);
		unlink(format->parts[i]);
	}
	output_format_close(&format_ftf_split, format);
}
END_TEST

/* Returns the number of slices and instants of a part. */
static uint64_t slices_of(const char *file)
{
	static struct trace_record record;
	struct trace_reader reader;
	struct error err = { 0 };
	uint64_t count = 0;

	ck_assert_int_eq(trace_reader_open(&reader, file, &err), 0);
	while (trace_reader_next(&reader, &record, &err) == 1) {
		ck_assert_str_eq(record.problem, "");
		count += record.kind == TRACE_EVENT && record.type != EVENT_END;
	}
	ck_assert_str_eq(err.text, "");
	trace_reader_close(&reader);
	return count;
}

/*
 * By bytes, each part but the last has the chosen size, and no more than what the writer holds.
 * With a limit of the output, the parts end at it, and say that something is left out.
 */
START_TEST(parts_have_the_chosen_bytes_and_end_at_the_limit)
{
	enum { SLICES = 20000, PART = 100000, LIMIT = 350000 };
	const struct options options = { .args = OPTION_ARGS_LINE,
					 .format = &format_ftf,
					 .max_output = _i ? LIMIT : 0,
					 .select.split = { SPLIT_BYTES, PART } };
	struct format_output *format;
	uint64_t begun = 0, bytes = 0;

	output = (struct output){ 0 };
	format = open_split(&options);
	for (uint64_t i = 0; i < SLICES; i++) {
		feed(&format->sink, &(struct step)AT(0, 'O', 2 * i + 1));
		feed(&format->sink, &(struct step)AT(0, 'E', 2 * i + 2));
	}
	format_ftf_split.finish(format);
	ck_assert_int_eq(format->err.kind, ERROR_NONE);
	for (size_t i = 0; i < format->part_count; i++) {
		FILE *file = fopen(format->parts[i], "r");
		long size;

		ck_assert_ptr_nonnull(file);
		fseek(file, 0, SEEK_END);
		size = ftell(file);
		fclose(file);
		if (i + 1 < format->part_count)
			ck_assert_int_ge(size, PART);
		ck_assert_int_lt(size, PART + 140000);
		begun += slices_of(format->parts[i]);
		bytes += (uint64_t)size;
		unlink(format->parts[i]);
	}
	ck_assert_uint_eq(begun, *format->slices);
	ck_assert_int_eq(output.cut, _i);
	if (_i) {
		ck_assert_uint_gt(bytes, LIMIT);
		ck_assert_uint_lt(bytes, LIMIT + 140000);
	} else {
		ck_assert_uint_eq(begun, SLICES);
		ck_assert_uint_gt(format->part_count, 2);
	}
	output_format_close(&format_ftf_split, format);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("ftf_records");
	TCase *all = tcase_create("ftf_records");

	tcase_add_checked_fixture(all, setup, teardown);
	tcase_add_loop_test(all, an_event_has_all_its_fields_in_its_record, 0, COUNT_OF(events));
	tcase_add_loop_test(all, an_event_has_the_same_values_with_stored_texts, 0,
			    COUNT_OF(events));
	tcase_add_loop_test(all, slices_have_these_records, 0, COUNT_OF(slices));
	tcase_add_loop_test(all, nested_slices_have_their_own_costs_however_deep, 0, 7);
	tcase_add_loop_test(all, slices_are_stored_if_too_many_are_likely, 0, COUNT_OF(limits));
	tcase_add_loop_test(all, more_slices_than_fit_are_an_error, 0, 18);
	tcase_add_test(all, a_part_names_the_threads_of_its_records_once);
	tcase_add_test(all, a_part_begins_with_the_last_value_of_each_counter_and_cpu);
	tcase_add_loop_test(all, slices_marks_and_values_begin_parts, TRACK_INSTANT,
			    TRACK_EVENT_KINDS);
	tcase_add_loop_test(all, parts_have_these_records, 0, COUNT_OF(splits));
	tcase_add_loop_test(all, parts_have_the_chosen_bytes_and_end_at_the_limit, 0, 2);
	suite_add_tcase(suite, all);
	return unit_run(suite);
}
