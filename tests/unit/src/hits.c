/* SPDX-License-Identifier: MIT */
/*
 * Hits of breakpoints and probes: the whole program on artificial recordings, read back by ftfdump
 * and by perf script.  Formats: tracefs's events/ of Linux 6.1 for events of perf probe
 * (kernel/trace/trace_uprobe.c, trace_probe.h).
 */
#include <linux/hw_breakpoint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "decoder/timeline/hits.h"
#include "tests/support/tracing_data.h"
#include "tests/unit/src/event_recording.h"

enum { LEAF_ID = 1500, RETURN_ID = 1501, MANY_ID = 1502, TEXTS_ID = 1503 };

/* n=%di:s32 flags=%si:x16 text=+0(%dx):string list=+0(%cx):u8[3] size=%r8:u64 */
static const char leaf_format[] =
	"name: leaf\nID: 1500\nformat:\n" TRACING_COMMON
	"\tfield:unsigned long __probe_ip;\toffset:8;\tsize:8;\tsigned:0;\n"
	"\tfield:s32 n;\toffset:16;\tsize:4;\tsigned:1;\n"
	"\tfield:u16 flags;\toffset:20;\tsize:2;\tsigned:0;\n"
	"\tfield:__data_loc char[] text;\toffset:22;\tsize:4;\tsigned:1;\n"
	"\tfield:u8 list[];\toffset:26;\tsize:3;\tsigned:0;\n"
	"\tfield:u64 tid;\toffset:32;\tsize:8;\tsigned:0;\n\n"
	"print fmt: \"(%lx) n=%d flags=0x%x text=\\\"%s\\\" list={%u,%u,%u} tid=%Lu\", "
	"REC->__probe_ip, REC->n, REC->flags, __get_str(text), REC->list[0], REC->list[1], "
	"REC->list[2], REC->tid\n";

struct __attribute__((packed)) leaf_fields {
	uint16_t type;
	uint8_t flags, preempt_count;
	int32_t common_pid;
	uint64_t ip;
	int32_t n;
	uint16_t bits;
	uint16_t text_offset, text_size;
	uint8_t list[3], padding[3];
	uint64_t tid;
	char text[12];
};

/* A return probe. */
static const char return_format[] =
	"name: work__return\nID: 1501\nformat:\n" TRACING_COMMON
	"\tfield:unsigned long __probe_func;\toffset:8;\tsize:8;\tsigned:0;\n"
	"\tfield:unsigned long __probe_ret_ip;\toffset:16;\tsize:8;\tsigned:0;\n"
	"\tfield:u64 result;\toffset:24;\tsize:8;\tsigned:0;\n"
	"\tfield:u8 bytes[];\toffset:32;\tsize:2;\tsigned:0;\n\n"
	"print fmt: \"(%lx <- %lx) result=0x%Lx bytes={0x%x,0x%x}\", REC->__probe_func, "
	"REC->__probe_ret_ip, REC->result, REC->bytes[0], REC->bytes[1]\n";

static void set_formats(const char *const *formats, uint32_t count)
{
	struct perf_data_buffer bytes =
		tracing_data(&(struct tracing_system){ "probe_sample", formats, count }, 1);

	perf_data_set_feature(&data, FEATURE_TRACING_DATA, bytes.bytes, bytes.size);
	free(bytes.bytes);
}

static void add_event(const struct perf_event_attr *attr, const char *name, uint64_t first_id)
{
	struct perf_data_event event = {
		.attr = *attr,
		.name = name,
		.first_id = first_id,
		.attr_bytes = sizeof(struct perf_event_attr),
	};

	event.attr.sample_type |=
		PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME;
	event.attr.sample_id_all = 1;
	perf_data_add_event(&data, &event);
}

/* perf record -e mem:0x401020:x --user-regs=di,si: bits 4 and 5 of asm/perf_regs.h. */
static void add_breakpoint(void)
{
	add_event(&(struct perf_event_attr){ .type = PERF_TYPE_BREAKPOINT,
					     .bp_type = HW_BREAKPOINT_X,
					     .bp_addr = SAMPLE_WORK,
					     .bp_len = 8,
					     .sample_type = PERF_SAMPLE_REGS_USER,
					     .sample_regs_user = 0x30 },
		  "mem:0x401020:x", 3000);
}

static void add_probe(uint64_t id, const char *name, uint64_t first_id)
{
	add_event(&(struct perf_event_attr){ .type = PERF_TYPE_TRACEPOINT,
					     .config = id,
					     .sample_type = PERF_SAMPLE_RAW },
		  name, first_id);
}

/* linux/perf_event.h, PERF_RECORD_SAMPLE, of user code. */
static void put_sample(const void *bytes, size_t size)
{
	const uint16_t misc = PERF_RECORD_MISC_USER;
	size_t at = data.records.size;

	perf_data_add_user_record(&data, PERF_RECORD_SAMPLE, bytes, size);
	memcpy(data.records.bytes + at + offsetof(struct perf_event_header, misc), &misc,
	       sizeof(misc));
}

static void hit_breakpoint(uint64_t time, uint64_t ip, uint64_t rsi, uint64_t rdi)
{
	const uint64_t words[] = { 3000, ip, (uint64_t)SAMPLE_PID << 32 | SAMPLE_PID, time, 2,
				   rsi,  rdi };

	put_sample(words, sizeof(words));
}

/* A uretprobe's hit is at the function's return address (kernel/events/uprobes.c). */
static void hit_probe(uint64_t id, uint64_t time, const void *raw, uint32_t size)
{
	struct {
		uint64_t id, ip;
		int32_t pid, tid;
		uint64_t time;
		uint32_t size;
		uint8_t raw[1000];
	} sample = { .id = id,
		     .ip = id == 3200 ? SAMPLE_MAIN + 5 : SAMPLE_LEAF,
		     .pid = SAMPLE_PID,
		     .tid = SAMPLE_PID,
		     .time = time };

	sample.size = (size + 4 + 7) / 8 * 8 - 4;
	memcpy(sample.raw, raw, size);
	put_sample(&sample, offsetof(typeof(sample), raw) + sample.size);
}

static void hit_leaf(uint64_t time, int32_t n)
{
	const struct leaf_fields fields = { .type = LEAF_ID,
					    .common_pid = SAMPLE_PID,
					    .ip = SAMPLE_LEAF,
					    .n = n,
					    .bits = 0xbeef,
					    .text_offset = offsetof(struct leaf_fields, text),
					    .text_size = 6,
					    .list = { 1, 2, 250 },
					    .tid = 99,
					    .text = "hello" };

	hit_probe(3100, time, &fields, sizeof(fields));
}

/* Out of order, as with buffers of several CPUs. */
static void record_hits(void)
{
	static const char *const formats[] = { leaf_format, return_format };
	const uint64_t returned[] = { RETURN_ID, SAMPLE_WORK, SAMPLE_MAIN + 5, 0x77, 0xff10 };

	pt_packets_init(&packets);
	sample_begin(&data);
	sample_trace(&packets);
	add_breakpoint();
	add_probe(LEAF_ID, "probe_sample:leaf", 3100);
	add_probe(RETURN_ID, "probe_sample:work__return", 3200);
	set_formats(formats, 2);
	hit_leaf(SAMPLE_START + 120, -5);
	hit_breakpoint(SAMPLE_START + 400, SAMPLE_WORK, 8, 9);
	hit_breakpoint(SAMPLE_START + 60, SAMPLE_WORK, 0xffffffffffffffff, 7);
	hit_probe(3200, SAMPLE_START + 380, returned, sizeof(returned));
}

/* "timestamp" has the times, which are also the marks' positions; the recording's order differs. */
START_TEST(each_event_has_a_track_of_its_hits)
{
	record_hits();
	finish("");
	EXPECT(1, records, "id 1238 \"hits\"", "");
	EXPECT(1, records, "\"mem:0x401020:x\" process=1238", "");
	EXPECT(1, records, "\"probe_sample:leaf\" process=1238", "");
	EXPECT(4, records, "category \"hit\"", "");
	EXPECT(1, records, "instant 1238/1239 1000060 \"hit work\" category \"hit\"",
	       " timestamp=1000060 tid=1234 ip=0x401020 rdi=0x7 rsi=0xffffffffffffffff\n");
	EXPECT(1, records, "instant 1238/1239 1000400 \"hit work\"", " rdi=0x9 rsi=0x8\n");
	/* An argument may have the same name as one of the hit's own. */
	/* seeds.md: a hit has timestamp, tid and ip */
	EXPECT(1, records, "instant 1238/1240 1000120 \"hit leaf\" category \"hit\"",
	       " timestamp=1000120 tid=1234 ip=0x401040 n=-5 flags=0xbeef text=hello "
	       "list={1,2,250} tid_=99\n");
	/* It belongs to the function that returned. */
	EXPECT(1, records, "instant 1238/1241 1000380 \"hit work\"",
	       " ip=0x401005 result=0x77 bytes={0x10,0xff}\n");
	/* In the thread, each is a sample like those of other events. */
	EXPECT(4, records, "instant 1234/1234 ", "category \"sample\"");
}
END_TEST

START_TEST(hits_are_samples_that_options_choose)
{
	record_hits();
	finish("--no-samples");
	EXPECT(0, records, "\"hits\"", "");
	convert("", "--time=+0.1us,+0.29us");
	EXPECT(2, records, "category \"hit\"", "");
	convert("", "--tid=77");
	EXPECT(0, records, "category \"hit\"", "");
}
END_TEST

static void print_events(const char *options, const char *file)
{
	const char *build = getenv("top_builddir");

	run(records, "%s/ptrace2ftf --format=events --symfs=%s %s %s/%s 2>&1", build, place,
	    options, place, file);
}

/* The text of a hit's fields equals perf's. */
START_TEST(events_are_printed_as_perf_does)
{
	const char *leaf = "(401040) n=-5 flags=0xbeef text=\"hello\" list={1,2,250} tid=99\n";

	record_hits();
	finish("");
	print_events("", "perf.data");
	ck_assert_str_eq(records,
			 "1234/1234 1000060 mem:0x401020:x 0x401020 work+0x0 rdi=0x7 "
			 "rsi=0xffffffffffffffff\n"
			 "1234/1234 1000120 probe_sample:leaf 0x401040 leaf+0x0 n=-5 flags=0xbeef "
			 "text=\"hello\" list={1,2,250} tid=99\n"
			 "1234/1234 1000380 probe_sample:work__return 0x401005 main+0x5 "
			 "result=0x77 bytes={0x10,0xff}\n"
			 "1234/1234 1000400 mem:0x401020:x 0x401020 work+0x0 rdi=0x9 rsi=0x8\n");
	run(messages, "perf script -i %s/perf.data --ns -F tid,time,event,trace 2>&1", place);
	if (!strstr(messages, "probe_sample:leaf: (")) /* without perf, or if it reads no formats */
		return;
	EXPECT(1, messages, "1234     0.001000120: ", leaf);
	EXPECT(1, messages,
	       "1234     0.001000380: ", "(401020 <- 401005) result=0x77 bytes={0x10,0xff}\n");
	EXPECT(1, messages, "1234     0.001000060: ", "mem:0x401020:x");
}
END_TEST

/* From perf's text, which lacks the registers. */
START_TEST(text_of_perf_has_the_same_hits)
{
	const char *const expected =
		"1234/1234 1000060 mem:0x401020:x 0x401020 work+0x0\n"
		"1234/1234 1000120 probe_sample:leaf 0x401040 leaf+0x0 n=-5 flags=0xbeef "
		"text=\"hello\" list={1,2,250} tid=99\n"
		"1234/1234 1000380 probe_sample:work__return 0x401005 main+0x5 result=0x77 "
		"bytes={0x10,0xff}\n"
		"1234/1234 1000400 mem:0x401020:x 0x401020 work+0x0\n";

	record_hits();
	finish("");
	run(messages,
	    "perf script -i %s/perf.data --symfs=%s --ns --itrace=be "
	    "-F pid,tid,time,flags,event,ip,addr,sym,symoff,trace 2>&1 >%s/text",
	    place, place, place);
	run(records, "grep -c 'probe_sample:leaf: *(4' %s/text", place);
	if (records[0] != '1') /* without perf, or if it reads no formats */
		return;
	run(messages, "cat %s/text", place);
	print_events("--input=perf-script", "text");
	ck_assert_msg(strcmp(records, expected) == 0, "%s\nof\n%s", records, messages);
	run(messages, "rm %s/perf.data && mv %s/text %s/perf.data", place, place, place);
	convert("", "--input=perf-script");
	EXPECT(1, records, "instant 4194305/4194306 1000060 \"hit work\" category \"hit\"",
	       " timestamp=1000060 tid=1234 ip=0x401020\n");
	EXPECT(1, records, " 1000120 \"hit leaf\" category \"hit\"",
	       " ip=0x401040 n=-5 flags=0xbeef text=hello list={1,2,250} tid_=99\n");
	EXPECT(1, records, " 1000380 \"hit 0x401020\" category \"hit\"",
	       " ip=0x401005 result=0x77 bytes={0x10,0xff}\n");
}
END_TEST

/* An address without a name, values of other forms, and more values than fit. */
START_TEST(text_of_other_forms_is_shown_as_it_is)
{
	static const char *const fields[] = {
		"n=0x7fffffffffffffff m=-9223372036854775808 k=18446744073709551615",
		"a=\"x y=3 z\" b= c=12ab d=\"",
		"some odd text=5",
		"=1",
		"",
	};
	char path[100];
	FILE *out;

	strcpy(place, "/tmp/hits.XXXXXX");
	ck_assert_ptr_nonnull(mkdtemp(place));
	snprintf(path, sizeof(path), "%s/text", place);
	out = fopen(path, "w");
	for (size_t i = 0; i < sizeof(fields) / sizeof(fields[0]); i++)
		fprintf(out, "7/7 1.00000000%zu: probe_a:f: (4020) %s 4020 [unknown]\n", i,
			fields[i]);
	fprintf(out, "7/7 1.000000009: mem:0x5020:w: 5020 4024 f+0x4\n7/7 2.000000000: probe_a:f: "
		     "(4020)");
	for (unsigned i = 0; i < 200; i++)
		fprintf(out, " a%u=%u", i, i);
	fclose(out);
	print_events("--input=perf-script", "text");
	EXPECT(1, records, "7/7 1000000000 probe_a:f 0x4020 [unknown] n=0x7fffffffffffffff ",
	       "m=-9223372036854775808 k=18446744073709551615\n");
	EXPECT(1, records, "7/7 1000000001 ", " a=\"x y=3 z\" b=\"\" c=\"12ab\" d=\"\\\"\"\n");
	EXPECT(1, records, "7/7 1000000002 ", " arguments=\"some odd text=5\"\n");
	EXPECT(1, records, "7/7 1000000003 ", " arguments=\"=1\"\n");
	EXPECT(1, records, "7/7 1000000004 probe_a:f 0x4020 [unknown]\n", "");
	EXPECT(1, records, "7/7 1000000009 ", " 0x4024 f+0x4 data_address=0x5020\n");
	EXPECT(1, records, "7/7 2000000000 ", " a198=198 a199=199");
	EXPECT(1, records, "7/7 2000000000 ", " a158=158 arguments=\"a159=159 a160=160");
}
END_TEST

START_TEST(registers_are_those_that_perf_prints)
{
	pt_packets_init(&packets);
	sample_begin(&data);
	sample_trace(&packets);
	add_breakpoint();
	hit_breakpoint(SAMPLE_START + 60, SAMPLE_WORK, 0x1234, 0x5678);
	finish("");
	EXPECT(1, records, "\"hit work\"", " rdi=0x5678 rsi=0x1234\n");
	run(messages, "perf script -i %s/perf.data -D 2>/dev/null | grep -A3 'user regs'", place);
	if (messages[0]) { /* if perf is installed */
		EXPECT(1, messages, ".... SI    0x0000000000001234", "");
		EXPECT(1, messages, ".... DI    0x0000000000005678", "");
	}
}
END_TEST

/* A write to data: the hit's address is not the data's. */
START_TEST(a_breakpoint_of_data_has_their_address)
{
	pt_packets_init(&packets);
	sample_begin(&data);
	sample_trace(&packets);
	add_event(&(struct perf_event_attr){ .type = PERF_TYPE_BREAKPOINT,
					     .bp_type = HW_BREAKPOINT_W,
					     .bp_addr = 0x404040,
					     .bp_len = 8,
					     .sample_type = PERF_SAMPLE_REGS_USER,
					     .sample_regs_user = 0x30 },
		  "mem:0x404040:w", 3000);
	hit_breakpoint(SAMPLE_START + 60, SAMPLE_WORK + 5, 1, 2);
	finish("");
	EXPECT(1, records, "\"hit work\"", " ip=0x401025 data_address=0x404040 rdi=0x2 ");
}
END_TEST

/* perf record -e mem:0x401020:x alone: no code is known or needed. */
START_TEST(hits_are_listed_without_a_trace)
{
	perf_data_init(&data);
	add_breakpoint();
	hit_breakpoint(SAMPLE_START + 60, SAMPLE_WORK, 1, 2);
	strcpy(place, "/tmp/hits.XXXXXX");
	ck_assert_ptr_nonnull(mkdtemp(place));
	snprintf(records, sizeof(records), "%s/perf.data", place);
	perf_data_write(&data, records);
	perf_data_release(&data);
	print_events("", "perf.data");
	ck_assert_str_eq(records, "1234/1234 1000060 mem:0x401020:x 0x401020 [unknown] rdi=0x2 "
				  "rsi=0x1\n");
	ck_assert_int_eq(status, 0);
}
END_TEST

/* ---- magic-trace's function ---------------------------------------------- */

/* OCaml's form of a number. */
static uint64_t ocaml(uint64_t number)
{
	return 2 * number + 1;
}

/*
 * trace_writer.ml, write_hits(): from the passed time, if the trace has it; the clock is 1 ns a
 * tick.
 */
START_TEST(a_snapshot_lasts_since_the_time_passed_to_it)
{
	static const struct tiny_symbol symbols[] = {
		{ "main", SAMPLE_MAIN, 0x0d, 0x12 },
		{ "magic_trace_stop_indicator", SAMPLE_WORK, 0x08, 0x12 },
		{ "leaf", SAMPLE_LEAF, 0x01, 0x12 },
	};
	struct tiny_elf elf = sample_elf;
	char path[100];

	elf.symbols = symbols;
	elf.symbol_count = 3;
	pt_packets_init(&packets);
	sample_begin(&data);
	sample_trace(&packets);
	add_breakpoint();
	hit_breakpoint(SAMPLE_START + 100, SAMPLE_WORK, ocaml(42), ocaml(SAMPLE_START + 20));
	hit_breakpoint(SAMPLE_START + 200, SAMPLE_WORK, ocaml(0) - 4, ocaml(SAMPLE_START + 60));
	hit_breakpoint(SAMPLE_START + 300, SAMPLE_WORK, ocaml(1), ocaml(0));
	hit_breakpoint(SAMPLE_START + 400, SAMPLE_WORK, ocaml(1), ocaml(SAMPLE_START + 900));
	hit_breakpoint(SAMPLE_START + 500, SAMPLE_WORK, ocaml(1), ocaml(SAMPLE_START - 900));
	save();
	snprintf(path, sizeof(path), "%s/sample", place);
	tiny_elf_write(&elf, path);
	convert("", "");
	/* seeds.md: magic_trace_stop_indicator's has the passed time and number, and lasts since
	 * then */
	/* seeds.md: lib/magic_trace marks locations in OCaml programs */
	EXPECT(1, records, " 1000020 1000100 \"hit magic_trace_stop_indicator\"",
	       " timestamp_passed=1000020 arg=42 timestamp=1000100 tid=1234 ip=0x401020 ");
	/* Perfetto drops partly overlapping slices, so it begins at the other's end. */
	EXPECT(1, records, "complete 1238/1239 1000100 1000200 ",
	       " timestamp_passed=1000060 arg=-2 ");
	EXPECT(1, records, "instant 1238/1239 1000300 ", " timestamp_passed=0 arg=1 ");
	EXPECT(1, records, "instant 1238/1239 1000400 ", " timestamp_passed=1000900 ");
	EXPECT(1, records, "instant 1238/1239 1000500 ", " timestamp_passed=999100 ");
}
END_TEST

/*
 * trace_writer.ml, write_hits() and create_expert(): one complete record each, the newest first, in
 * time since the earliest hit or event.
 */
START_TEST(hits_like_those_of_magic_trace)
{
	const char *build = getenv("top_builddir");

	pt_packets_init(&packets);
	sample_begin(&data);
	sample_trace(&packets);
	add_breakpoint();
	hit_breakpoint(SAMPLE_START - 50, SAMPLE_WORK, 1, 2);
	hit_breakpoint(SAMPLE_START + 300, SAMPLE_WORK, 1, 2);
	save();
	/* Times go back, which ftfdump reports. */
	run(messages, "%s/ptrace2ftf -q --format=magic-trace --symfs=%s %s/perf.data -o %s/out.ftf",
	    build, place, place, place);
	run(records, "%s/ftfdump %s/out.ftf", build, place);
	/* seeds.md: an earlier hit of a breakpoint moves that begin */
	EXPECT(1, records, "complete 1/2 0 0 \"hit work\" timestamp=999950 tid=1234 ip=0x401020",
	       "");
	/* seeds.md: hits of the trigger are slices without length, on a separate track */
	EXPECT(1, records, "complete 1/2 350 350 \"hit work\" timestamp=1000300 ", "");
	EXPECT(1, records, "type 1 id 1 \"Snapshot symbol hits\"", "");
	EXPECT(1, records, "type 2 id 2 \"hits\" process=1", "");
	ck_assert(strstr(records, " 0 0 \"hit") > strstr(records, " 350 350 \"hit"));
	ck_assert(strstr(records, " begin ") > strstr(records, " 0 0 \"hit"));
	run(messages,
	    "%s/ptrace2ftf -q --format=magic-trace --time=0.001000299,0.001000301 --symfs=%s %s/perf.data -o "
	    "%s/out.ftf",
	    build, place, place, place);
	run(records, "%s/ftfdump %s/out.ftf", build, place);
	EXPECT(1, records, "complete 1/2 1000300 1000300 \"hit work\" timestamp=1000300 ", "");
}
END_TEST

/* ---- --time -------------------------------------------------------------- */

START_TEST(the_chosen_time_may_be_that_of_a_hit)
{
	record_hits();
	finish("--time=-10ns@hit,+200ns@hit"); /* 1,000,050 to 1,000,260 */
	EXPECT(1, slices, "1234/1234 0 1000050 1000250 main", "");
	EXPECT(2, records, "category \"hit\"", "");
	convert("", "--time=@hit:2,@hit:3"); /* 1,000,120 to 1,000,380 */
	EXPECT(1, slices, "1234/1234 0 1000150 1000250 main", "");
	convert("", "--time=,@hit:4"); /* to 1,000,400 */
	EXPECT(1, slices, "1234/1234 0 1000000 1000400 main", "");
}
END_TEST

static void refuse(const char *options)
{
	const char *build = getenv("top_builddir");

	run(messages, "%s/ptrace2ftf %s --symfs=%s --format=none %s/perf.data 2>&1", build, options,
	    place, place);
	ck_assert_int_eq(status, 1);
}

START_TEST(a_time_of_no_hit_is_refused)
{
	record_hits();
	finish("");
	refuse("--time=@hit:5,");
	EXPECT(1, messages, "--time: there is no hit 5: the chosen threads have 4", "");
	refuse("--tid=77 --time=@hit,");
	EXPECT(1, messages, "--time: there is no hit 1: the chosen threads have 0", "");
	clean();
	pt_packets_init(&packets);
	sample_begin(&data);
	sample_trace(&packets);
	finish("");
	refuse("--time=@hit,");
	EXPECT(1, messages, "--time: the recording has no hit; record a breakpoint", "");
}
END_TEST

/* ---- Odd formats and samples --------------------------------------------- */

/* Perfetto's records have 15 arguments. */
START_TEST(more_values_than_a_record_has_room_for_are_one_text)
{
	char format[4000] = "name: many\nID: 1502\nformat:\n" TRACING_COMMON
			    "\tfield:unsigned long __probe_ip;\toffset:8;\tsize:8;\tsigned:0;\n";
	const char *formats[] = { format };
	uint64_t fields[24] = { MANY_ID, SAMPLE_LEAF };

	for (unsigned i = 0; i < 20; i++) {
		sprintf(strchr(format, 0), "\tfield:u64 a%u;\toffset:%u;\tsize:8;\tsigned:0;\n", i,
			16 + 8 * i);
		fields[2 + i] = i;
	}
	pt_packets_init(&packets);
	sample_begin(&data);
	sample_trace(&packets);
	add_probe(MANY_ID, "probe_sample:many", 3100);
	set_formats(formats, 1);
	hit_probe(3100, SAMPLE_START + 100, fields, sizeof(fields));
	finish("");
	EXPECT(1, records, "\"hit leaf\"",
	       " a9=9 a10=10 more=a11=11 a12=12 a13=13 a14=14 a15=15 a16=16 a17=17 a18=18 "
	       "a19=19\n");
	print_events("", "perf.data");
	EXPECT(1, records, "probe_sample:many", " a0=0 a1=1 ");
	EXPECT(1, records, "probe_sample:many", " a19=19\n");
}
END_TEST

/* Returns the values of a sample of `leaf`, cut to a size, by a format. */
static void list_values(const struct perf_file *file, const uint8_t *raw, size_t size,
			struct hit_args *args)
{
	struct hit hit = { .sample = { .attr = file->attrs, .raw = { raw, size } } };
	struct hits hits;

	args->count = 0;
	hits_init(&hits, file);
	if (hits_are_of(&hits, file->attrs))
		hits_list_args(&hits, &hit, args);
	for (size_t i = 0; i < args->count; i++)
		ck_assert_uint_eq(strnlen(args->list[i].text, args->list[i].length),
				  args->list[i].length); /* readable to its end */
	hits_release(&hits);
}

/* As Linux 6.18 writes it; perf 6.1 cannot read such texts, and prints such numbers as 0. */
START_TEST(arrays_of_texts_and_characters_are_shown_in_one_line)
{
	static const char format[] =
		"name: texts\nID: 1503\nformat:\n" TRACING_COMMON
		"\tfield:unsigned long __probe_ip;\toffset:8;\tsize:8;\tsigned:0;\n"
		"\tfield:__data_loc char[][2] a;\toffset:16;\tsize:8;\tsigned:1;\n"
		"\tfield:u8 c;\toffset:24;\tsize:1;\tsigned:0;\n"
		"\tfield:s16 list[];\toffset:26;\tsize:4;\tsigned:1;\n\n"
		"print fmt: \"(%lx) a={\\\"%s\\\",\\\"%s\\\"} c='%c' list={%d,%d}\", "
		"REC->__probe_ip, __get_str(a[0]), __get_str(a[1]), REC->c, REC->list[0], "
		"REC->list[1]\n";
	static const char *const formats[] = { format };
	const struct __attribute__((packed)) {
		uint64_t common, ip;
		uint16_t places[4];
		char c, padding;
		int16_t list[2];
		char texts[17];
	} fields = { TEXTS_ID, SAMPLE_LEAF, { 30, 6, 36, 11 },   'x',
		     0,        { -2, 300 }, "first\0second\none" };

	pt_packets_init(&packets);
	sample_begin(&data);
	sample_trace(&packets);
	add_probe(TEXTS_ID, "probe_sample:texts", 3100);
	set_formats(formats, 1);
	hit_probe(3100, SAMPLE_START + 100, &fields, sizeof(fields));
	finish("");
	EXPECT(1, records, "\"hit leaf\"", " a={\"first\",\"second\\x0aone\"} c=x list={-2,300}\n");
	print_events("", "perf.data");
	EXPECT(1, records, "probe_sample:texts",
	       " a={\"first\",\"second\\x0aone\"} c=\"x\" list={-2,300}\n");
}
END_TEST

START_TEST(damaged_formats_and_samples_do_no_harm)
{
	static const char *const formats[] = { leaf_format };
	struct perf_data_buffer bytes =
		tracing_data(&(struct tracing_system){ "probe_sample", formats, 1 }, 1);
	struct perf_attr attr = { .attr = { .type = PERF_TYPE_TRACEPOINT, .config = LEAF_ID } };
	struct perf_file file = { .attrs = &attr, .attr_count = 1 };
	const struct leaf_fields fields = { .ip = SAMPLE_LEAF, .text_offset = 40, .text_size = 6 };
	struct hit_args args;

	file.features.sections[FEATURE_TRACING_DATA] =
		(struct byte_view){ bytes.bytes, bytes.size };
	for (size_t size = 0; size <= sizeof(fields); size++) {
		uint8_t *raw = malloc(size ? size : 1);

		memcpy(raw, &fields, size);
		list_values(&file, raw, size, &args);
		ck_assert_uint_eq(args.count, 5);
		free(raw);
	}
	for (size_t at = 0; at < 8 * bytes.size; at++) {
		uint8_t *raw = malloc(sizeof(fields));

		memcpy(raw, &fields, sizeof(fields));
		bytes.bytes[at / 8] ^= (uint8_t)(1u << at % 8);
		list_values(&file, raw, sizeof(fields), &args);
		bytes.bytes[at / 8] ^= (uint8_t)(1u << at % 8);
		free(raw);
	}
	free(bytes.bytes);
	sample_begin(&data);
	pt_packets_init(&packets);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("hits");
	TCase *all = tcase_create("all");

	tcase_add_checked_fixture(all, NULL, clean);
	tcase_add_test(all, each_event_has_a_track_of_its_hits);
	tcase_add_test(all, hits_are_samples_that_options_choose);
	tcase_add_test(all, events_are_printed_as_perf_does);
	tcase_add_test(all, text_of_perf_has_the_same_hits);
	tcase_add_test(all, text_of_other_forms_is_shown_as_it_is);
	tcase_add_test(all, registers_are_those_that_perf_prints);
	tcase_add_test(all, a_breakpoint_of_data_has_their_address);
	tcase_add_test(all, hits_are_listed_without_a_trace);
	tcase_add_test(all, a_snapshot_lasts_since_the_time_passed_to_it);
	tcase_add_test(all, hits_like_those_of_magic_trace);
	tcase_add_test(all, the_chosen_time_may_be_that_of_a_hit);
	tcase_add_test(all, a_time_of_no_hit_is_refused);
	tcase_add_test(all, more_values_than_a_record_has_room_for_are_one_text);
	tcase_add_test(all, arrays_of_texts_and_characters_are_shown_in_one_line);
	tcase_add_test(all, damaged_formats_and_samples_do_no_harm);
	suite_add_tcase(suite, all);
	return unit_run(suite);
}
