/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "tests/support/unit.h"
#include "tests/unit/writer/round_trip.h"

static struct ftf_name name(const char *text)
{
	return ftf_text(trace.writer, text);
}

static void slice(struct ftf_thread thread, uint64_t begin, uint64_t end, const char *text)
{
	ftf_begin(trace.writer,
		  &(struct ftf_event){ .thread = thread, .time = begin, .name = name(text) });
	ftf_end(trace.writer, &(struct ftf_event){ .thread = thread, .time = end });
}

/*
 * The bytes of one slice, by hand from the specification ("Record header", "Provider Info
 * Metadata", "Initialization Record", "String Record", "Thread Record", "Event Record").
 */
START_TEST(a_slice_has_the_bytes_that_the_specification_gives)
{
	static const uint64_t expected[] = {
		0x0016547846040010,                 /* magic */
		0x0040000000110020, 0x74736574,     /* provider info, id 1, 4 bytes: "test" */
		0x0000000000000021, 1000000000,     /* initialization */
		0x0000000000010033, 10,         11, /* thread 1 */
		0x0000000100010022, 'f',            /* string 1, 1 byte */
		0x0001000001020024, 5,              /* duration begin on thread 1, name 1, at 5 */
		0x0000000001030024, 9,              /* duration end at 9 */
	};

	trace_begin("");
	slice(ftf_thread(trace.writer, 10, 11), 5, 9, "f");
	trace_finish();
	ck_assert_uint_eq(trace.size, sizeof(expected));
	/* seeds.md: duration begin and end */
	ck_assert_mem_eq(trace.bytes, expected, sizeof(expected));
}
END_TEST

START_TEST(arguments_of_every_type_read_back)
{
	struct ftf_event event = { .time = 1 };

	trace_begin("");
	const struct ftf_arg args[] = {
		ftf_arg_word(name("a"), FTF_NULL, 0),
		ftf_arg_int32(name("b"), -7),
		ftf_arg_word(name("c"), FTF_UINT32, 4000000000),
		ftf_arg_int64(name("d"), -8000000000),
		ftf_arg_word(name("e"), FTF_UINT64, UINT64_MAX),
		ftf_arg_double(name("f"), 0.5),
		ftf_arg_string(name("g"), name("with blank")),
		ftf_arg_pointer(name("h"), 0x401000),
		ftf_arg_word(name("i"), FTF_KOID, 77),
		ftf_arg_word(name("j"), FTF_BOOL, 1),
		ftf_arg_word(name("k"), FTF_BOOL, 0),
		ftf_arg_int32(name("l"), INT32_MAX),
		ftf_arg_double(name("m"), -1e300),
		ftf_arg_string(name("n"), name("")),
		ftf_arg_int64(name("o"), INT64_MIN),
	};

	event.thread = ftf_thread(trace.writer, 10, 11);
	event.category = name("category");
	event.name = name("x\ty");
	event.args = args;
	event.arg_count = 15;
	ftf_begin(trace.writer, &event);
	ftf_end(trace.writer, &(struct ftf_event){ .thread = event.thread, .time = 2 });
	trace_finish();
	/* seeds.md: arguments: string, int32, int64, pointer, double, bool */
	/* seeds.md: arguments null, uint32, uint64, koid */
	/* seeds.md: arguments with their types; uint32, uint64 and koid are counted */
	ck_assert_str_eq(trace.slices,
			 "10/11 0 1 2 x\\x09y a=null b=-7 c=4000000000 d=-8000000000 "
			 "e=18446744073709551615 f=0.5 g=with blank h=0x401000 i=77 j=true "
			 "k=false l=2147483647 m=-1e+300 n= "
			 "o=-9223372036854775808\n");
}
END_TEST

START_TEST(events_of_every_type_read_back)
{
	struct ftf_event event = { .time = 5 };
	struct ftf_arg arg;

	trace_begin("");
	arg = ftf_arg_int32(name("v"), 3);
	event.thread = ftf_thread(trace.writer, 10, 11);
	event.category = name("c");
	event.name = name("n");
	event.args = &arg;
	event.arg_count = 1;
	ftf_instant(trace.writer, &event);
	ftf_counter(trace.writer, &event, 7);
	ftf_begin(trace.writer, &event);
	ftf_flow_begin(trace.writer, &event, 12);
	ftf_flow_step(trace.writer, &event, 12);
	ftf_flow_end(trace.writer, &event, 12);
	ftf_end(trace.writer, &event);
	ftf_complete(trace.writer, &event, 6);
	ftf_async_begin(trace.writer, &event, UINT64_MAX);
	ftf_async_instant(trace.writer, &event, UINT64_MAX);
	event.arg_count = 0;
	ftf_async_end(trace.writer, &event, UINT64_MAX);
	ck_assert_uint_eq(ftf_events(trace.writer), 11);
	trace_finish();
	/* seeds.md: instants */
	/* seeds.md: counters, with an id */
	/* seeds.md: duration complete */
	/* seeds.md: a duration instant: a complete event without length */
	/* seeds.md: async begin, instant and end, by id */
	/* seeds.md: flow begin, step and end, by id */
	/* seeds.md: events of all types, strings, threads, names and clocks */
	ck_assert_str_eq(trace.records,
			 "instant 10/11 5 \"n\" category \"c\" v=3\n"
			 "counter 10/11 5 \"n\" category \"c\" id 7 v=3\n"
			 "begin 10/11 5 \"n\" category \"c\" v=3\n"
			 "flow-begin 10/11 5 \"n\" category \"c\" id 12 v=3\n"
			 "flow-step 10/11 5 \"n\" category \"c\" id 12 v=3\n"
			 "flow-end 10/11 5 \"n\" category \"c\" id 12 v=3\n"
			 "end 10/11 5 \"n\" category \"c\" v=3\n"
			 "complete 10/11 5 6 \"n\" category \"c\" v=3\n"
			 "async-begin 10/11 5 \"n\" category \"c\" id 18446744073709551615 v=3\n"
			 "async-instant 10/11 5 \"n\" category \"c\" id 18446744073709551615 v=3\n"
			 "async-end 10/11 5 \"n\" category \"c\" id 18446744073709551615\n");
}
END_TEST

START_TEST(scheduling_records_read_back)
{
	trace_begin("");
	ftf_context_switch(trace.writer, &(struct ftf_switch){ 5, 65535, FTF_STATE_BLOCKED, 20, 21,
							       0, INT32_MIN });
	ftf_context_switch(trace.writer,
			   &(struct ftf_switch){ 6, 1, FTF_STATE_RUNNING, 21, 20, 3, 4 });
	ftf_thread_wakeup(trace.writer, &(struct ftf_wakeup){ .time = 7, .cpu = 2, .tid = 20 });
	ftf_thread_wakeup(trace.writer, &(struct ftf_wakeup){ 8, 2, 20, 21, 5 });
	trace_finish();
	/* seeds.md: blobs, logs, objects, scheduling */
	ck_assert_str_eq(trace.records,
			 "context-switch cpu 65535 5 from 20 state 3 to 21 "
			 "incoming_weight=-2147483648\n"
			 "context-switch cpu 1 6 from 21 state 1 to 20 incoming_weight=4 "
			 "outgoing_weight=3\n"
			 "wakeup cpu 2 7 thread 20\n"
			 "wakeup cpu 2 8 thread 20 waker=21 weight=5\n");
}
END_TEST

START_TEST(objects_blobs_and_logs_read_back)
{
	struct ftf_object object = { .id = 0xfff0 };
	struct ftf_thread thread;
	struct ftf_arg arg;

	trace_begin("");
	thread = ftf_thread(trace.writer, 10, 11);
	arg = ftf_arg_double(name("size"), 1.5);
	object.name = name("heap");
	object.args = &arg;
	object.arg_count = 1;
	ftf_kernel_object(trace.writer, 17, &object);
	ftf_log(trace.writer, thread, 4, "hello");
	ftf_blob(trace.writer, &(struct ftf_blob){ FTF_BLOB_PERFETTO, name("b"), "12345678\0", 9 });
	trace_finish();
	/* seeds.md: blobs, logs, objects, scheduling */
	ck_assert_str_eq(trace.records, "kernel-object type 17 id 65520 \"heap\" size=1.5\n"
					"log 10/11 4 \"hello\"\n"
					"blob type 3 \"b\" 9 bytes\n");
}
END_TEST

START_TEST(processes_and_threads_are_named)
{
	struct ftf_thread thread;
	uint64_t pid;

	trace_begin("");
	ftf_process_name(trace.writer, 10, name("prog"));
	ftf_thread_name(trace.writer, ftf_thread(trace.writer, 10, 11), name("worker"));
	pid = ftf_process_new(trace.writer, name("memory"));
	thread = ftf_thread_new(trace.writer, pid, name("heap"));
	slice(thread, 1, 2, "f");
	trace_finish();
	/* seeds.md: processes and threads have names */
	/* seeds.md: allocate_pid, allocate_thread: ids that are free */
	ck_assert_str_eq(trace.names, "process 10 prog\nthread 11 worker process=10\n"
				      "process 10000000 memory\n"
				      "thread 10000001 heap process=10000000\n");
	ck_assert_str_eq(trace.slices, "10000000/10000001 0 1 2 f\n");
}
END_TEST

START_TEST(a_name_given_twice_is_defined_once)
{
	struct ftf_thread thread;

	trace_begin("");
	thread = ftf_thread(trace.writer, 1, 1);
	ck_assert_uint_eq(thread.id, ftf_thread(trace.writer, 1, 1).id);
	slice(thread, 1, 2, "same");
	slice(thread, 3, 4, "same");
	trace_finish();
	/* seeds.md: a string is defined once and referred to */
	ck_assert_uint_eq(trace.strings, 1);
	ck_assert_uint_eq(trace.threads, 1);
}
END_TEST

/* Three times as many names as references, in an order that reuses some. */
START_TEST(a_hundred_thousand_names_pass_through_32767_references)
{
	enum { NAMES = 100000 };
	struct ftf_thread thread;
	char text[40], *line;

	trace_begin("");
	thread = ftf_thread(trace.writer, 10, 11);
	for (int i = 0; i < NAMES; i++) {
		struct ftf_arg arg = ftf_arg_string(name("key"), name("hot value"));
		struct ftf_event event = { thread, { 0 }, { 0 }, (uint64_t)i, &arg, 1 };

		snprintf(text, sizeof(text), "function %d", i);
		event.name = name(text);
		ftf_begin(trace.writer, &event);
		event.arg_count = 0;
		ftf_end(trace.writer, &event);
	}
	trace_finish();
	line = trace.slices;
	for (int i = 0; i < NAMES; i++) {
		int length =
			snprintf(text, sizeof(text), "10/11 0 %d %d function %d key=", i, i, i);

		ck_assert_int_eq(strncmp(line, text, (size_t)length), 0);
		ck_assert_int_eq(strncmp(line + length, "hot value\n", 10), 0);
		line += length + 10;
	}
	/* The constantly used "key" and "hot value" keep their references. */
	/* seeds.md: set_temp_string_slot: references that are used again */
	ck_assert_uint_eq(trace.strings, NAMES + 2);
	ck_assert_uint_eq(trace.sections, 0);
}
END_TEST

/* 60,000 names in rotation would need as many references. */
START_TEST(more_hot_names_than_references_use_several_providers)
{
	enum { NAMES = 60000, ROUNDS = 6 };
	static struct ftf_name names[NAMES];
	struct ftf_thread thread;
	char text[40], *line;

	trace_begin("");
	thread = ftf_thread(trace.writer, 10, 11);
	for (int i = 0; i < NAMES; i++) {
		snprintf(text, sizeof(text), "a function with a long name %d", i);
		names[i] = name(text);
	}
	for (int i = 0; i < NAMES * ROUNDS; i++) {
		struct ftf_event event = { .thread = thread, .time = (uint64_t)i };

		event.name = names[i % NAMES];
		ftf_instant(trace.writer, &event);
	}
	trace_finish();
	line = trace.records;
	for (int i = 0; i < NAMES * ROUNDS; i++) {
		char *end = strchr(line, '\n');

		snprintf(text, sizeof(text), "a function with a long name %d\"", i % NAMES);
		ck_assert_ptr_nonnull(memmem(line, (size_t)(end - line), text, strlen(text)));
		line = end + 1;
	}
	/* Each was defined in one provider; names of the first one came again. */
	ck_assert_uint_lt(trace.strings, 4 * NAMES);
	ck_assert_uint_gt(trace.sections, 0);
}
END_TEST

START_TEST(a_thousand_threads_pass_through_255_references)
{
	trace_begin("");
	for (uint64_t round = 0; round < 2; round++) {
		for (uint64_t i = 0; i < 1000; i++) {
			struct ftf_event event = { .time = round * 5000 + i };

			event.thread = ftf_thread(trace.writer, 1, 100 + i);
			event.name = name("f");
			if (round == 0)
				ftf_begin(trace.writer, &event);
			else
				ftf_end(trace.writer, &event);
		}
	}
	trace_finish();
	ck_assert_ptr_nonnull(strstr(trace.slices, "1/100 0 0 5000 f\n"));
	ck_assert_ptr_nonnull(strstr(trace.slices, "1/1099 0 999 5999 f\n"));
	/* A thread that is used only twice has inline ids: 16 bytes instead of 24. */
	/* seeds.md: set_thread_slot: 255 threads, chosen by the caller */
	ck_assert_uint_eq(trace.threads, 255);
}
END_TEST

/* Returns whether a slice could be written from a template; `end` 0: it only begins. */
static bool write_one(const struct ftf_template *from, struct ftf_thread thread, uint64_t time,
		      uint64_t end)
{
	const struct ftf_templated record = { .from = from, .time = time, .end = end };

	return from->count && ftf_write_templates(trace.writer, thread, &record, NULL, 1);
}

/* Returns whether a slice was written from the template; if not, writes it and makes one. */
static bool again(struct ftf_template *kept, struct ftf_event event, uint64_t time)
{
	bool written = write_one(kept, event.thread, time, 0);

	event.time = time;
	if (!written)
		ftf_make_template(trace.writer, &event, 0, 0, kept);
	ftf_end(trace.writer, &(struct ftf_event){ .thread = event.thread, .time = time + 1 });
	return written;
}

START_TEST(a_template_is_written_with_another_time_and_thread)
{
	struct ftf_template kept = { .count = 0 };
	struct ftf_event event = { .time = 1 };

	trace_begin("");
	const struct ftf_arg args[] = { ftf_arg_pointer(name("at"), 0x401000),
					ftf_arg_string(name("file"), name("a.c")) };

	event.thread = ftf_thread(trace.writer, 1, 1);
	event.category = name("inlined");
	event.name = name("f");
	event.args = args;
	event.arg_count = 2;
	ck_assert(!again(&kept, event, 1));
	ck_assert(again(&kept, event, 10));
	/* A thread needs a reference first. */
	event.thread = ftf_thread(trace.writer, 1, 2);
	ck_assert(!again(&kept, event, 20));
	ck_assert(again(&kept, event, 30));
	trace_finish();
	/* seeds.md: precompute_header: a header for many events */
	ck_assert_str_eq(trace.slices, "1/1 0 1 2 f at=0x401000 file=a.c\n"
				       "1/1 0 10 11 f at=0x401000 file=a.c\n"
				       "1/2 0 20 21 f at=0x401000 file=a.c\n"
				       "1/2 0 30 31 f at=0x401000 file=a.c\n");
}
END_TEST

/* From a template of either kind of slice. */
START_TEST(a_template_is_written_as_a_whole_slice_too)
{
	struct ftf_template kept = { .count = 0 };
	struct ftf_event event = { .time = 1 };

	trace_begin("");
	const struct ftf_arg arg = ftf_arg_pointer(name("at"), 0x401000);

	event.thread = ftf_thread(trace.writer, 1, 1);
	event.name = name("f");
	event.args = &arg;
	event.arg_count = 1;
	ck_assert(!write_one(&kept, event.thread, 1, 2));
	ftf_make_template(trace.writer, &event, 2, 0, &kept);
	ck_assert(write_one(&kept, event.thread, 10, 15));
	ck_assert(again(&kept, event, 20));
	event.name = name("g");
	ck_assert(!again(&(struct ftf_template){ 0 }, event, 30));
	event.time = 40;
	ftf_make_template(trace.writer, &event, 0, 0, &kept);
	ck_assert(write_one(&kept, event.thread, 41, 42));
	ftf_end(trace.writer, &(struct ftf_event){ .thread = event.thread, .time = 50 });
	trace_finish();
	ck_assert_str_eq(trace.slices, "1/1 0 1 2 f at=0x401000\n"
				       "1/1 0 10 15 f at=0x401000\n"
				       "1/1 0 20 21 f at=0x401000\n"
				       "1/1 0 30 31 g at=0x401000\n"
				       "1/1 0 40 50 g at=0x401000\n"
				       "1/1 1 41 42 g at=0x401000\n");
}
END_TEST

/* Beyond the buffer's size. */
START_TEST(many_templates_and_ends_are_written_at_once)
{
	enum { SLICES = 20000 };
	struct ftf_event event = { .time = 1 };
	struct ftf_templated records[3];
	struct ftf_template kept[2];

	trace_begin("");
	const struct ftf_arg arg = ftf_arg_pointer(name("at"), 0x401000);
	struct ftf_arg named[] = { ftf_arg_int32(name("i"), 0), ftf_arg_double(name("half"), 0.5),
				   ftf_arg_int64(name("wide"), INT64_MAX) };
	uint64_t own[2 * FTF_OWN_WORDS] = { 0 };
	struct ftf_own_args more[] = { { own, 0, 0 }, { own, 5, 3 }, { own + 1, 0, 0 } };

	event.thread = ftf_thread(trace.writer, 1, 1);
	ck_assert(!ftf_write_templates(trace.writer, event.thread, NULL, NULL, 0));
	event.name = name("f");
	ftf_make_template(trace.writer, &event, 2, 0, &kept[0]);
	event.name = name("g");
	event.args = &arg;
	event.arg_count = 1;
	ftf_make_template(trace.writer, &event, 2, 0, &kept[1]);
	ck_assert_uint_eq(ftf_arg_head(trace.writer, FTF_INT32, named[0].name), 0);
	event.args = named;
	event.arg_count = 3;
	ftf_instant(trace.writer, &event);
	for (size_t i = 0, at = 0; i < 3; at += ftf_type_words(named[i++].type)) {
		own[at] = ftf_arg_head(trace.writer, named[i].type, named[i].name);
		ck_assert_uint_ne(own[at], 0);
		own[at + 1] = named[i].value.word;
	}
	const uint64_t head = ftf_arg_head(trace.writer, FTF_INT32, named[0].name);

	ck_assert(ftf_write_templates(trace.writer, event.thread, NULL, NULL, 0));
	for (uint64_t i = 1; i <= SLICES; i++) {
		own[0] = head | i << 32;
		records[0] = (struct ftf_templated){ .from = &kept[i % 2], .time = 10 * i };
		records[1] = (struct ftf_templated){
			.from = &kept[1],
			.time = 10 * i + 1,
			.end = 10 * i + 3,
		};
		records[2] = (struct ftf_templated){
			.time = 10 * i + 4,
		};
		more[2].word_count = 2 * (i % 2);
		more[2].count = i % 2;
		ck_assert(ftf_write_templates(trace.writer, event.thread, records, more, 3));
	}
	trace_finish();
	ck_assert_ptr_nonnull(strstr(
		trace.slices, "1/1 0 10 14 g at=0x401000 half=0.5\n"
			      "1/1 1 11 13 g at=0x401000 i=1 half=0.5 wide=9223372036854775807\n"
			      "1/1 0 20 24 f\n"
			      "1/1 1 21 23 g at=0x401000 i=2 half=0.5 wide=9223372036854775807\n"));
	/* seeds.md: precompute_header: a header for many events */
	ck_assert_ptr_nonnull(strstr(trace.slices,
				     "1/1 0 200000 200004 f\n"
				     "1/1 1 200001 200003 g at=0x401000 i=20000 half=0.5"));
}
END_TEST

START_TEST(a_long_event_is_no_template)
{
	struct ftf_template kept = { .count = 0 };
	struct ftf_arg args[6];
	struct ftf_event event = { .args = args, .arg_count = 6 };

	trace_begin("");
	event.thread = ftf_thread(trace.writer, 1, 1);
	event.name = name("f");
	for (int i = 0; i < 6; i++)
		args[i] = ftf_arg_pointer(name("at"), 1);
	ck_assert(!again(&kept, event, 1));
	ck_assert(!again(&kept, event, 5));
	trace_finish();
}
END_TEST

/* While names take over references, a template could refer to another name. */
START_TEST(a_template_keeps_its_name_when_references_change)
{
	enum { NAMES = 40000 };
	struct ftf_template kept = { .count = 0 };
	struct ftf_event event = { .time = 0 };
	char text[40], expected[80], *line;

	trace_begin("");
	event.thread = ftf_thread(trace.writer, 1, 1);
	event.name = name("kept");
	ck_assert(!again(&kept, event, 0));
	ck_assert(again(&kept, event, 2));
	/* Each twice: on its return a name gets another one's reference. */
	for (unsigned i = 0; i < 2 * NAMES; i++) {
		snprintf(text, sizeof(text), "function %u", i / 2);
		slice(event.thread, 4 + 2 * i, 5 + 2 * i, text);
	}
	ck_assert(!ftf_write_templates(trace.writer, event.thread, NULL, NULL, 0));
	again(&kept, event, 4 + 4 * NAMES);
	trace_finish();
	snprintf(expected, sizeof(expected), "1/1 0 %d %d kept\n", 4 + 4 * NAMES, 5 + 4 * NAMES);
	line = trace.slices + strlen(trace.slices) - strlen(expected);
	ck_assert_str_eq(line, expected);
}
END_TEST

/* "ä" has two bytes: with an even start one crosses the limit. */
START_TEST(a_long_name_is_cut_between_characters)
{
	static char text[40001];
	char *end;

	trace_begin("");
	for (size_t i = 0; i + 1 < sizeof(text); i += 2)
		memcpy(text + i, "\xc3\xa4", 2);
	text[sizeof(text) - 1] = 0;
	slice(ftf_thread(trace.writer, 10, 11), 0, 0, text);
	ftf_log(trace.writer, ftf_thread(trace.writer, 10, 11), 0, text);
	trace_finish();
	end = strchr(trace.slices, '\n');
	ck_assert_uint_eq((size_t)(end - trace.slices) - strlen("10/11 0 0 0 "), 31998);
	/* seeds.md: a name that is too long is left out */
	/* seeds.md: a string above 31,999 bytes is an error */
	ck_assert_mem_eq(end - 2, "\xc3\xa4", 2);
}
END_TEST

/* ---- Wrong use ----------------------------------------------------------- */

/* Returns the error of a trace into which `emit` wrote; the file must be gone. */
static const char *error_of(void (*emit)(void))
{
	static struct ftf_error err;

	trace_begin("");
	ftf_set_strict(trace.writer, false);
	emit();
	ck_assert_int_eq(ftf_close(trace.writer, &err), -1);
	unlink(trace.path);
	return err.text;
}

static void emit_16_args(void)
{
	struct ftf_arg args[16];
	struct ftf_event event = { .args = args, .arg_count = 16 };

	for (int i = 0; i < 16; i++)
		args[i] = ftf_arg_int32(name("a"), i);
	ftf_begin(trace.writer, &event);
}

static void emit_end_before_begin(void)
{
	ftf_complete(trace.writer, &(struct ftf_event){ .time = 5 }, 4);
}

static void emit_text_counter(void)
{
	struct ftf_arg arg = ftf_arg_string(name("a"), name("b"));

	ftf_counter(trace.writer, &(struct ftf_event){ .args = &arg, .arg_count = 1 }, 1);
}

static void emit_empty_counter(void)
{
	ftf_counter(trace.writer, &(struct ftf_event){ .time = 1 }, 1);
}

static void emit_foreign_name(void)
{
	ftf_begin(trace.writer, &(struct ftf_event){ .name = { 1000 } });
}

static void emit_foreign_thread(void)
{
	ftf_begin(trace.writer, &(struct ftf_event){ .thread = { 1000 } });
}

static void emit_large_blob(void)
{
	static const char bytes[FTF_STRING_MAX + 1];

	ftf_blob(trace.writer,
		 &(struct ftf_blob){ FTF_BLOB_DATA, name("b"), bytes, sizeof(bytes) });
}

START_TEST(what_the_format_cannot_say_is_an_error_with_a_reason)
{
	ck_assert_str_eq(error_of(emit_16_args), "a record has more than 15 arguments");
	/* seeds.md: an end before its begin is an error */
	ck_assert_str_eq(error_of(emit_end_before_begin), "a complete event ends before it begins");
	ck_assert_str_eq(error_of(emit_text_counter), "a counter's value is not a number");
	ck_assert_str_eq(error_of(emit_empty_counter), "a counter has no value");
	ck_assert_str_eq(error_of(emit_foreign_name), "a name is not of this writer");
	ck_assert_str_eq(error_of(emit_foreign_thread), "a thread is not of this writer");
	ck_assert_str_eq(error_of(emit_large_blob), "a blob has more than 31999 bytes");
}
END_TEST

static uint64_t pieces[2][256];
static size_t piece_words[2];

static int keep_piece(void *context, const void *bytes, size_t size)
{
	size_t which = *(const size_t *)context;

	memcpy(pieces[which] + piece_words[which], bytes, size);
	piece_words[which] += size / 8;
	return 0;
}

/* The initialization record is that of Jane Street's Tick_translation. */
START_TEST(a_trace_is_appended_flushed_and_passed_to_another_destination)
{
	static size_t first = 0, second = 1;
	const struct ftf_options options = { "p", { 3000000000, true, 17, 1700 }, true, 77 };
	struct ftf_event event = { .time = 5 };
	struct ftf_writer *writer = ftf_open_destination(
		&(struct ftf_destination){ keep_piece, &first }, &options, NULL);
	size_t length;

	event.name = ftf_name(writer, "func", 4);
	/* seeds.md: string_of_string_id: a name's text */
	ck_assert_mem_eq(ftf_name_text(writer, event.name, &length), "func", 4);
	ck_assert_uint_eq(length, 4);
	ck_assert_uint_eq(ftf_id_new(writer), 77);
	event.thread = ftf_thread(writer, 10, 11);
	ftf_instant(writer, &event);
	ck_assert_uint_eq(piece_words[0], 0);
	ftf_flush(writer);
	/* seeds.md: force_switch_buffers: buffered bytes are handed out */
	ck_assert_uint_eq(piece_words[0], 2 + 4 + 3 + 2 + 2);
	ck_assert_uint_eq(pieces[0][0], 0x0010000000110020);
	ck_assert_uint_eq(pieces[0][2], 0x0000000000000041);
	ck_assert_uint_eq(pieces[0][3], 3000000000);
	ck_assert_uint_eq(pieces[0][4], 17);
	ck_assert_uint_eq(pieces[0][5], 1700);
	ftf_set_destination(writer, &(struct ftf_destination){ keep_piece, &second });
	ftf_instant(writer, &event);
	ck_assert_int_eq(ftf_close(writer, NULL), 0);
	ck_assert_uint_eq(piece_words[0], 13);
	ck_assert_uint_eq(piece_words[1], 2);
	/* seeds.md: a file, a buffer or any destination takes the bytes */
	/* seeds.md: set_destination: other bytes go elsewhere */
	/* seeds.md: a buffer until a destination is there */
	ck_assert_mem_eq(pieces[1], &pieces[0][11], 16);
}
END_TEST

/* Compared with the clocks themselves at two instants. */
START_TEST(the_clock_of_the_tsc_is_that_of_the_system)
{
	struct ftf_clock clock = ftf_tsc_clock();
	struct timespec pause = { 0, 20000000 }, now;
	double per_ns = (double)clock.ticks_per_second / 1e9, wall;
	uint64_t before, after;

	nanosleep(&pause, NULL);
	before = ftf_tsc() - clock.base_ticks;
	clock_gettime(CLOCK_REALTIME, &now);
	after = ftf_tsc() - clock.base_ticks;
	wall = (double)now.tv_sec * 1e9 + (double)now.tv_nsec - (double)clock.base_time;
	/* seeds.md: make_tick_translation: the time-stamp counter's clock */
	ck_assert(clock.has_base);
	ck_assert_double_ge(wall, 1e7);
	/* The machine may be busy: within 1 % and one millisecond. */
	ck_assert_double_le((double)before / per_ns, wall * 1.01 + 1e6);
	/* seeds.md: write_from_header_with_tsc */
	ck_assert_double_ge((double)after / per_ns, wall * 0.99 - 1e6);
}
END_TEST

START_TEST(wrong_use_aborts_if_it_shall)
{
	trace_begin("");
	/* seeds.md: a wrong use raises an exception */
	ck_assert_int_eq(unit_signal_of(emit_16_args), SIGABRT);
	trace_close();
	unlink(trace.path);
}
END_TEST

/* ---- Output -------------------------------------------------------------- */

static void round_trip_packed(const char *suffix, const char *magic)
{
	struct ftf_thread thread;
	char *line;

	trace_begin(suffix);
	thread = ftf_thread(trace.writer, 10, 11);
	for (uint64_t i = 0; i < 100000; i++)
		slice(thread, i, i + 1, i % 2 ? "odd" : "even");
	trace_finish();
	ck_assert_mem_eq(trace.bytes, magic, strlen(magic));
	ck_assert_uint_lt(trace.size, 100000 * 32 / 3);
	line = strrchr(trace.slices, 'o');
	ck_assert_str_eq(line, "odd\n");
}

START_TEST(a_name_in_gz_or_zst_gives_a_packed_trace)
{
	round_trip_packed(".gz", "\x1f\x8b");
	round_trip_packed(".zst", "\x28\xb5\x2f\xfd");
}
END_TEST

START_TEST(a_cut_packed_trace_is_refused)
{
	for (int i = 0; i < 2; i++) {
		trace_begin(i ? ".gz" : ".zst");
		slice(ftf_thread(trace.writer, 10, 11), 1, 2, "f");
		trace_finish();
		ck_assert_str_eq(trace_problem_of(trace.bytes, trace.size), "");
		ck_assert_ptr_nonnull(strstr(trace_problem_of(trace.bytes, trace.size - 1),
					     "compressed data are cut off"));
	}
}
END_TEST

static void fill_the_disk(const char *path)
{
	struct ftf_error err = { 0 };
	struct ftf_thread thread;
	struct ftf_event event = { .time = 1 };
	uint64_t noise = 1;

	trace.writer = ftf_open(path, &(struct ftf_options){ .provider = "test" }, &err);
	ck_assert_ptr_nonnull(trace.writer);
	thread = ftf_thread(trace.writer, 1, 1);
	event.thread = thread;
	for (uint64_t i = 0; i < 1000000; i++) {
		noise = noise * UINT64_C(6364136223846793005) + 1;
		event.time = noise;
		ftf_instant(trace.writer, &event);
	}
	ck_assert_ptr_nonnull(ftf_failure(trace.writer));
	ck_assert_int_eq(ftf_close(trace.writer, &err), -1);
	ck_assert_int_eq(err.system, ENOSPC);
	ck_assert_ptr_nonnull(strstr(err.text, ": cannot write: No space left on device"));
}

START_TEST(a_full_disk_is_a_sticky_error)
{
	char directory[] = "/tmp/ptrace2ftf-XXXXXX", path[64];

	/* seeds.md: a full disk ends the program */
	fill_the_disk("/dev/full");
	ck_assert_ptr_nonnull(mkdtemp(directory));
	snprintf(path, sizeof(path), "%s/full.gz", directory);
	ck_assert_int_eq(symlink("/dev/full", path), 0);
	fill_the_disk(path);
	unlink(path);
	rmdir(directory);
}
END_TEST

START_TEST(an_abandoned_trace_leaves_the_old_file_and_nothing_else)
{
	char found[64];
	FILE *list;

	trace_begin(".gz"); /* the empty file of mkstemps() is the old one */
	slice(ftf_thread(trace.writer, 10, 11), 1, 2, "f");
	ftf_abandon(trace.writer);
	snprintf(found, sizeof(found), "ls -s %s*", trace.path);
	list = popen(found, "r");
	ck_assert_ptr_nonnull(fgets(found, sizeof(found), list));
	ck_assert_int_eq(strncmp(found, "0 ", 2), 0);
	/* seeds.md: a trace that is not closed may not load */
	ck_assert_ptr_null(fgets(found, sizeof(found), list));
	pclose(list);
	unlink(trace.path);
}
END_TEST

START_TEST(a_place_that_cannot_be_written_is_an_error_at_once)
{
	struct ftf_error err = { 0 };

	ck_assert_ptr_null(
		ftf_open("/nowhere/x.ftf", &(struct ftf_options){ .provider = "test" }, &err));
	ck_assert_int_eq(err.system, ENOENT);
	ck_assert_str_eq(err.text, "/nowhere/x.ftf: cannot create: No such file or directory");
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("ftf_writer");
	TCase *all = tcase_create("ftf_writer");

	tcase_add_test(all, a_slice_has_the_bytes_that_the_specification_gives);
	tcase_add_test(all, arguments_of_every_type_read_back);
	tcase_add_test(all, events_of_every_type_read_back);
	tcase_add_test(all, scheduling_records_read_back);
	tcase_add_test(all, objects_blobs_and_logs_read_back);
	tcase_add_test(all, processes_and_threads_are_named);
	tcase_add_test(all, a_name_given_twice_is_defined_once);
	tcase_add_test(all, a_hundred_thousand_names_pass_through_32767_references);
	tcase_add_test(all, more_hot_names_than_references_use_several_providers);
	tcase_add_test(all, a_thousand_threads_pass_through_255_references);
	tcase_add_test(all, a_template_is_written_with_another_time_and_thread);
	tcase_add_test(all, a_template_is_written_as_a_whole_slice_too);
	tcase_add_test(all, many_templates_and_ends_are_written_at_once);
	tcase_add_test(all, a_long_event_is_no_template);
	tcase_add_test(all, a_template_keeps_its_name_when_references_change);
	tcase_add_test(all, a_long_name_is_cut_between_characters);
	tcase_add_test(all, what_the_format_cannot_say_is_an_error_with_a_reason);
	tcase_add_test(all, a_trace_is_appended_flushed_and_passed_to_another_destination);
	tcase_add_test(all, the_clock_of_the_tsc_is_that_of_the_system);
	tcase_add_test(all, wrong_use_aborts_if_it_shall);
	tcase_add_test(all, a_name_in_gz_or_zst_gives_a_packed_trace);
	tcase_add_test(all, a_cut_packed_trace_is_refused);
	tcase_add_test(all, a_full_disk_is_a_sticky_error);
	tcase_add_test(all, an_abandoned_trace_leaves_the_old_file_and_nothing_else);
	tcase_add_test(all, a_place_that_cannot_be_written_is_an_error_at_once);
	suite_add_tcase(suite, all);
	return unit_run(suite);
}
