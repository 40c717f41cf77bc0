/* SPDX-License-Identifier: MIT */
/*
 * Samples of the scheduler's tracepoints as scheduling records: the whole program on artificial
 * recordings, read back by ftfdump and by perf script.  Formats: tracefs's events/sched/ of Linux
 * 6.1, except in the last test; their form in a recording: tools/perf/util/trace-event-info.c.
 */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "decoder/timeline/tracepoint_formats.h"
#include "tests/support/perf_forms.h"
#include "tests/support/sample.h"
#include "tests/support/tracing_data.h"
#include "tests/support/unit.h"

#define ROOM                100000
#define RECORD_TRACING_DATA 66

enum { SWITCH_ID = 314, WAKING_ID = 318, WAKEUP_ID = 317, NEW_ID = 316 };

static struct perf_data data;
static struct pt_packets packets;
static char place[64];
static char records[ROOM], messages[ROOM], perf[ROOM];
static int status;

static void run(char *text, const char *format, ...)
{
	char command[1000];
	va_list list;
	FILE *out;
	size_t size;

	va_start(list, format);
	vsnprintf(command, sizeof(command), format, list);
	va_end(list);
	out = popen(command, "r");
	ck_assert_ptr_nonnull(out);
	size = fread(text, 1, ROOM - 1, out);
	text[size] = 0;
	status = pclose(out) >> 8;
}

static void clean(void)
{
	perf_data_release(&data);
	pt_packets_release(&packets);
	if (place[0])
		run(messages, "rm -rf %s", place);
}

static void expect(unsigned wanted, const char *text, const char *part)
{
	unsigned found = 0;

	for (const char *at = text; (at = strstr(at, part)); at++)
		found++;
	ck_assert_msg(found == wanted, "%u of '%s' in:\n%s", found, part, text);
}

/* ---- TRACING_DATA -------------------------------------------------------- */

static const char switch_format[] =
	"name: sched_switch\nID: 314\nformat:\n" TRACING_COMMON
	"\tfield:char prev_comm[16];\toffset:8;\tsize:16;\tsigned:0;\n"
	"\tfield:pid_t prev_pid;\toffset:24;\tsize:4;\tsigned:1;\n"
	"\tfield:int prev_prio;\toffset:28;\tsize:4;\tsigned:1;\n"
	"\tfield:long prev_state;\toffset:32;\tsize:8;\tsigned:1;\n"
	"\tfield:char next_comm[16];\toffset:40;\tsize:16;\tsigned:0;\n"
	"\tfield:pid_t next_pid;\toffset:56;\tsize:4;\tsigned:1;\n"
	"\tfield:int next_prio;\toffset:60;\tsize:4;\tsigned:1;\n\n"
	"print fmt: \"prev_pid=%d prev_state=%ld ==> next_comm=%s next_pid=%d\", REC->prev_pid, "
	"REC->prev_state, REC->next_comm, REC->next_pid\n";

#define WAKE_FIELDS                                                                                \
	TRACING_COMMON                                                                             \
	"\tfield:char comm[16];\toffset:8;\tsize:16;\tsigned:0;\n"                                 \
	"\tfield:pid_t pid;\toffset:24;\tsize:4;\tsigned:1;\n"                                     \
	"\tfield:int prio;\toffset:28;\tsize:4;\tsigned:1;\n"                                      \
	"\tfield:int target_cpu;\toffset:32;\tsize:4;\tsigned:1;\n\n"                              \
	"print fmt: \"comm=%s pid=%d target_cpu=%03d\", REC->comm, REC->pid, REC->target_cpu\n"

static const char *const formats[] = {
	"name: sched_waking\nID: 318\nformat:\n" WAKE_FIELDS,
	"name: sched_wakeup\nID: 317\nformat:\n" WAKE_FIELDS,
	"name: sched_wakeup_new\nID: 316\nformat:\n" WAKE_FIELDS,
};

static void put(struct perf_data_buffer *to, const void *bytes, size_t size)
{
	to->bytes = realloc(to->bytes, to->size + size);
	memcpy(to->bytes + to->size, bytes, size);
	to->size += size;
}

/* The whole of it, with `format` as sched_switch's; owned by the caller. */
static struct perf_data_buffer tracing_data_of(const char *format)
{
	const char *const all[] = { format, formats[0], formats[1], formats[2] };

	return tracing_data(&(struct tracing_system){ "sched", all, 4 }, 1);
}

static void set_formats(const char *format)
{
	struct perf_data_buffer bytes = tracing_data_of(format);

	perf_data_set_feature(&data, FEATURE_TRACING_DATA, bytes.bytes, bytes.size);
	free(bytes.bytes);
}

/* ---- Samples ------------------------------------------------------------- */

static const struct {
	uint64_t config, first_id;
	const char *name;
} events[] = {
	{ SWITCH_ID, 2000, "sched:sched_switch" },
	{ WAKING_ID, 2100, "sched:sched_waking" },
	{ WAKEUP_ID, 2200, "sched:sched_wakeup" },
	{ NEW_ID, 2300, "sched:sched_wakeup_new" },
};

static void add_event(uint64_t config)
{
	struct perf_data_event event = {
		.attr = {
			.type = PERF_TYPE_TRACEPOINT,
			.config = config,
			.sample_type = PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_TID | PERF_SAMPLE_TIME |
				       PERF_SAMPLE_CPU | PERF_SAMPLE_RAW,
			.sample_id_all = 1,
		},
		.attr_bytes = sizeof(struct perf_event_attr),
	};

	for (unsigned i = 0; i < 4; i++) {
		if (events[i].config == config) {
			event.first_id = events[i].first_id;
			event.name = events[i].name;
		}
	}
	perf_data_add_event(&data, &event);
}

struct when {
	uint64_t time;
	int32_t tid; /* the current thread */
	uint32_t cpu;
};

/* linux/perf_event.h, PERF_RECORD_SAMPLE: the raw data's size, itself and padding end on 8. */
static void add_sample(uint64_t config, const struct when *when, const void *raw, uint32_t size)
{
	struct {
		uint64_t id;
		int32_t pid, tid;
		uint64_t time;
		uint32_t cpu, zero, size;
		uint8_t raw[68];
	} sample = { .pid = when->tid, .tid = when->tid, .time = when->time, .cpu = when->cpu };
	uint32_t whole = (size + 4 + 7) / 8 * 8 - 4;

	for (unsigned i = 0; i < 4; i++) {
		if (events[i].config == config)
			sample.id = events[i].first_id;
	}
	sample.size = whole;
	memcpy(sample.raw, raw, size);
	perf_data_add_user_record(&data, PERF_RECORD_SAMPLE, &sample,
				  offsetof(typeof(sample), raw) + whole);
}

struct switch_fields {
	uint16_t type;
	uint8_t flags, preempt_count;
	int32_t common_pid;
	char prev_comm[16];
	int32_t prev_pid, prev_prio;
	int64_t prev_state;
	char next_comm[16];
	int32_t next_pid, next_prio;
};

/* Of 77: first real-time, later niced; of others slightly below normal. */
static int32_t priority_of(int32_t tid, uint64_t time)
{
	return tid != 77 ? 121 : time < 1000000 ? 98 : 130;
}

static void add_switch(const struct when *when, int64_t state, int32_t next, const char *name)
{
	struct switch_fields fields = { .type = SWITCH_ID,
					.common_pid = when->tid,
					.prev_pid = when->tid,
					.prev_state = state,
					.next_pid = next,
					.next_prio = priority_of(next, when->time) };

	memcpy(fields.next_comm, name, strnlen(name, sizeof(fields.next_comm)));
	add_sample(SWITCH_ID, when, &fields, sizeof(fields));
}

static void add_wakeup(uint64_t config, const struct when *when, int32_t tid, int32_t target)
{
	struct {
		uint16_t type;
		uint8_t flags, preempt_count;
		int32_t common_pid;
		char comm[16];
		int32_t pid, prio, target_cpu;
	} fields = { .type = (uint16_t)config,
		     .common_pid = when->tid,
		     .comm = "other",
		     .pid = tid,
		     .prio = 118,
		     .target_cpu = target };

	add_sample(config, when, &fields, sizeof(fields));
}

/* ---- A recording --------------------------------------------------------- */

static void begin(void)
{
	pt_packets_init(&packets);
	sample_begin(&data);
	sample_trace(&packets);
	add_event(SWITCH_ID);
}

/* To 77 "other" of the same CPU, preempted; to idle; back; and the thread's end. */
static void add_switches(void)
{
	add_switch(&(struct when){ 2000, SAMPLE_PID, 0 }, 0x100, 77, "other");
	add_switch(&(struct when){ 3000, 77, 0 }, 1, 0, "swapper/0");
	add_switch(&(struct when){ 4000, 0, 0 }, 0, SAMPLE_PID, "sample");
	add_switch(&(struct when){ 1000500, 78, 1 }, 1, 77, "other");
	add_switch(&(struct when){ 2000000, SAMPLE_PID, 0 }, 0x20, 0, "swapper/0");
}

static void convert(const char *options)
{
	const char *build = getenv("top_builddir");

	run(messages, "%s/ptrace2ftf %s --symfs=%s %s/perf.data -o %s/out.ftf 2>&1", build, options,
	    place, place, place);
	ck_assert_msg(status == 0 || status == 2, "%s", messages);
	run(records, "%s/ftfdump %s/out.ftf 2>&1", build, place);
	ck_assert_msg(status == 0, "%s", records);
}

static void make_place(void)
{
	char path[100];

	strcpy(place, "/tmp/sched_points.XXXXXX");
	ck_assert_ptr_nonnull(mkdtemp(place));
	snprintf(path, sizeof(path), "%s/sample", place);
	tiny_elf_write(&sample_elf, path);
}

static void finish(const char *options)
{
	char path[100];

	make_place();
	snprintf(path, sizeof(path), "%s/perf.data", place);
	sample_add_trace(&data, &packets);
	perf_data_write(&data, path);
	convert(options);
}

static void expect_switches(void)
{
	expect(1, records, " 2000 from 1234 state 1 to 77 incoming_weight=98\n");
	expect(1, records, " 3000 from 77 state 3 to 0 incoming_weight=-2147483648");
	expect(1, records,
	       " 4000 from 0 state 1 to 1234 incoming_weight=121 outgoing_weight=-2147483648");
	expect(1, records, " cpu 1 1000500 from 0 state 3 to 77 incoming_weight=130 ");
	expect(1, records, " cpu 0 2000000 from 1234 state 5 to 0 ");
	expect(0, records, "\"sched:sched_switch\"");
	expect(1, records, "kernel-object type 2 id 77 \"other\" process=77");
	/* Only these show whose code it is, and so the calls. */
	expect(1, records, "begin 1234/1234 1000000 \"main\"");
}

START_TEST(sched_switch_names_the_running_thread_where_no_switch_record_does)
{
	begin();
	set_formats(switch_format);
	add_switches();
	finish(_i ? "--no-samples" : "");
	run(perf, "perf script -i %s/perf.data --ns -F tid,time,event,trace 2>&1", place);
	if (strstr(perf, "sched_switch")) {
		expect(1, perf,
		       "1234     0.000002000: sched:sched_switch: "
		       "prev_pid=1234 prev_state=256 ==> next_comm=other next_pid=77\n");
		expect(1, perf,
		       "1234     0.002000000: sched:sched_switch: "
		       "prev_pid=1234 prev_state=32 ==> next_comm=swapper/0 next_pid=0\n");
	}
	expect_switches();
	expect(0, messages, "sched_switch");
}
END_TEST

/* Masked recordings have no samples, so the thread of the trace would be lost. */
START_TEST(switches_that_are_samples_are_not_masked)
{
	char path[100];

	begin();
	set_formats(switch_format);
	add_switches();
	make_place();
	snprintf(path, sizeof(path), "%s/perf.data", place);
	sample_add_trace(&data, &packets);
	perf_data_write(&data, path);
	run(messages, "%s/ptrace2ftf pack %s --symfs=%s %s -o %s/packed 2>&1",
	    getenv("top_builddir"), _i ? "--mask" : "", place, path, place);
	ck_assert_int_eq(strstr(messages, "samples of sched_switch") != NULL, _i);
	ck_assert_int_eq(status == 1, _i);
}
END_TEST

/* perf record -o -: the record TRACING_DATA, followed by the formats. */
START_TEST(formats_in_a_stream_are_read_too)
{
	struct perf_data_buffer formats_bytes = tracing_data_of(switch_format);
	uint32_t header[3] = { RECORD_TRACING_DATA, 12u << 16, (uint32_t)formats_bytes.size };
	static const uint8_t zeros[8];
	char path[100];
	uint8_t *bytes;
	size_t size;
	FILE *out;

	begin();
	put(&data.records, header, sizeof(header));
	put(&data.records, formats_bytes.bytes, formats_bytes.size);
	put(&data.records, zeros, (8 - formats_bytes.size % 8) % 8);
	free(formats_bytes.bytes);
	add_switches();
	sample_add_trace(&data, &packets);
	make_place();
	bytes = perf_forms_stream(&data, &size);
	snprintf(path, sizeof(path), "%s/perf.data", place);
	out = fopen(path, "w");
	fwrite(bytes, 1, size, out);
	fclose(out);
	free(bytes);
	convert("");
	expect_switches();
}
END_TEST

/* The kernel wrote both for one switch: only the record's is shown. */
START_TEST(a_switch_that_a_record_has_too_is_shown_once)
{
	uint32_t next[2] = { 77, 77 };

	begin();
	data.events[0].attr.context_switch = 1;
	set_formats(switch_format);
	add_switch(&(struct when){ 2000, SAMPLE_PID, 0 }, 0x100, 77, "other");
	perf_data_stamp(&data, (struct perf_data_stamp){
				       .time = 2001, .pid = SAMPLE_PID, .tid = SAMPLE_PID });
	perf_data_add_record(&data, PERF_RECORD_SWITCH_CPU_WIDE, PERF_RECORD_MISC_SWITCH_OUT, next,
			     sizeof(next));
	finish("");
	expect(1, records, " to 77 incoming_weight=98\n");
	/* The priority is that of the tracepoint. */
	expect(1, records, " cpu 0 2001 from 1234 state 3 to 77 incoming_weight=98\n");
	expect(0, records, "\"sched:sched_switch\"");
}
END_TEST

/* By the waker; the later event, at completion, repeats it. */
START_TEST(wakings_are_wakeup_records_once_each)
{
	begin();
	add_event(WAKEUP_ID);
	add_event(NEW_ID);
	if (_i)
		add_event(WAKING_ID);
	set_formats(switch_format);
	add_switches();
	if (_i)
		add_wakeup(WAKING_ID, &(struct when){ 1000100, SAMPLE_PID, 0 }, 77, 1);
	add_wakeup(WAKEUP_ID, &(struct when){ 1000200, SAMPLE_PID, 0 }, 77, 1);
	add_wakeup(NEW_ID, &(struct when){ 1000300, SAMPLE_PID, 0 }, 78, 3);
	finish("");
	expect(2, records, "wakeup ");
	expect(1, records,
	       _i ? "wakeup cpu 1 1000100 thread 77 waker=1234 weight=118\n"
		  : "wakeup cpu 1 1000200 thread 77 waker=1234 weight=118\n");
	expect(1, records, "wakeup cpu 3 1000300 thread 78 waker=1234 weight=118\n");
	expect(0, records, "\"sched:sched_wak");
}
END_TEST

/*
 * The woken thread has no other record; its id is followed by that of the next thread without one.
 */
START_TEST(tracks_have_no_id_of_a_thread_that_was_woken_only)
{
	begin();
	add_event(NEW_ID);
	set_formats(switch_format);
	add_switches();
	add_wakeup(NEW_ID, &(struct when){ 1000300, SAMPLE_PID, 0 }, 2000, 3);
	finish("");
	expect(1, records, "thread 2000 waker=1234");
	expect(1, records, "id 2002 \"CPUs\"");
}
END_TEST

/* Other kernels have other offsets (5.14: common fields; some have more of them). */
START_TEST(fields_are_where_the_format_has_them)
{
	static const char format[] =
		"name: sched_switch\nID: 314\nformat:\n" TRACING_COMMON
		"\tfield:pid_t next_pid;\toffset:8;\tsize:4;\tsigned:1;\n"
		"\tfield:int next_pid_of_no_one;\toffset:12;\tsize:4;\tsigned:1;\n"
		"\tfield:char\tnext_comm[16];\toffset:16;\tsize:16;\tsigned:0;\n"
		"\tfield:unsigned int prev_state;\toffset:32;\tsize:4;\tsigned:0;\n";
	const uint32_t fields[] = { SWITCH_ID, SAMPLE_PID, 77, 99, 0, 0, 0, 0, 0x10 };

	begin();
	set_formats(format);
	add_sample(SWITCH_ID, &(struct when){ 2000, SAMPLE_PID, 0 }, fields, sizeof(fields));
	/* Cut before next_pid: no switch, and no crash. */
	add_sample(SWITCH_ID, &(struct when){ 2500, 77, 0 }, fields, 4);
	finish("");
	expect(1, records, " cpu 0 2000 from 1234 state 5 to 77 incoming_weight=120\n");
	expect(0, records, " 2500 from");
}
END_TEST

/* An instant like any other sample's, with a message why. */
START_TEST(without_a_format_a_switch_is_a_sample)
{
	struct perf_data_buffer bytes = tracing_data_of(switch_format);

	begin();
	if (_i)
		perf_data_set_feature(&data, FEATURE_TRACING_DATA, bytes.bytes, 200);
	free(bytes.bytes);
	add_switches();
	finish("");
	expect(0, records, " to 77");
	expect(2, records, "instant 1234/1234 ");
	expect(1, messages, "sched:sched_switch: the recording lacks the event's format");
}
END_TEST

/* Every cut and every wrong byte at worst loses the formats. */
START_TEST(damaged_formats_do_no_harm)
{
	struct perf_data_buffer bytes = tracing_data_of(switch_format);
	struct perf_file file = { 0 };
	struct sched_points points;

	for (size_t at = 0; at <= bytes.size; at++) {
		uint8_t *copy = malloc(at ? at : 1);

		memcpy(copy, bytes.bytes, at);
		file.features.sections[FEATURE_TRACING_DATA] = (struct byte_view){ copy, at };
		sched_points_init(&points, &file);
		free(copy);
		if (at == bytes.size)
			break;
		bytes.bytes[at] ^= 0xff;
		file.features.sections[FEATURE_TRACING_DATA] =
			(struct byte_view){ bytes.bytes, bytes.size };
		sched_points_init(&points, &file);
		bytes.bytes[at] ^= 0xff;
	}
	ck_assert_uint_eq(points.formats[SCHED_SWITCH].id, SWITCH_ID);
	ck_assert_uint_eq(points.formats[SCHED_SWITCH].fields[SCHED_TID].offset, 56);
	free(bytes.bytes);
	sample_begin(&data);
	pt_packets_init(&packets);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("sched_points");
	TCase *all = tcase_create("all");

	tcase_add_checked_fixture(all, NULL, clean);
	tcase_add_loop_test(all, sched_switch_names_the_running_thread_where_no_switch_record_does,
			    0, 2);
	tcase_add_loop_test(all, switches_that_are_samples_are_not_masked, 0, 2);
	tcase_add_test(all, formats_in_a_stream_are_read_too);
	tcase_add_test(all, a_switch_that_a_record_has_too_is_shown_once);
	tcase_add_loop_test(all, wakings_are_wakeup_records_once_each, 0, 2);
	tcase_add_test(all, tracks_have_no_id_of_a_thread_that_was_woken_only);
	tcase_add_test(all, fields_are_where_the_format_has_them);
	tcase_add_loop_test(all, without_a_format_a_switch_is_a_sample, 0, 2);
	tcase_add_test(all, damaged_formats_do_no_harm);
	suite_add_tcase(suite, all);
	return unit_run(suite);
}
