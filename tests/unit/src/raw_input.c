/* SPDX-License-Identifier: MIT */
/*
 * Raw traces as recordings: the records that are made of options and of LLDB's trace.json. Expected
 * values are those of the files, and of the ELF and JSON texts written here.
 */
#include "src/pipeline/recording.h"

#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "decoder/timeline/timeline.h"
#include "tests/support/sample.h"
#include "tests/support/unit.h"

static char folder[] = "/tmp/ptrace2ftf-raw-XXXXXX";
static struct name_table names;
static struct diag diag;
static struct perf_file file;
static struct dso_store *store;
static struct auxtrace auxtrace;
static struct timeline *timeline;
static struct error err;

static char *path_of(const char *name)
{
	return alloc_text("%s/%s", folder, name);
}

static void write_file(const char *name, const void *bytes, size_t size)
{
	char *path = path_of(name);
	FILE *out = fopen(path, "w");

	ck_assert_uint_eq(fwrite(bytes, 1, size, out), size);
	fclose(out);
	free(path);
}

static void set_up(void)
{
	struct pt_packets packets;
	char *path;

	strcpy(folder + sizeof(folder) - 7, "XXXXXX");
	ck_assert_ptr_nonnull(mkdtemp(folder));
	path = path_of("sample");
	tiny_elf_write(&sample_elf, path);
	free(path);
	pt_packets_init(&packets);
	sample_trace(&packets);
	write_file("trace", packets.bytes, pt_packets_size(&packets));
	pt_packets_release(&packets);
	name_table_init(&names);
	diag_init(&diag);
	err = (struct error){ 0 };
}

static void tear_down(void)
{
	static const char *const made[] = { "sample", "trace",    "other",
					    "image",  "switches", "trace.json" };

	timeline_close(timeline);
	auxtrace_release(&auxtrace);
	perf_file_close(&file);
	dso_store_close(store);
	diag_release(&diag);
	name_table_release(&names);
	for (size_t i = 0; i < COUNT_OF(made); i++) {
		char *path = path_of(made[i]);

		unlink(path);
		free(path);
	}
	rmdir(folder);
}

static int open_options(const struct options *options)
{
	const struct dso_store_options found = { .find.symfs = options->symfs };

	store = dso_store_open(&found, &names, &diag);
	if (raw_input_open(&file, options, store, &diag, &err) < 0)
		return -1;
	ck_assert_msg(auxtrace_init(&auxtrace, &file, &err) == 0, "%s", err.text);
	raw_input_settle_clock(&auxtrace, &diag);
	timeline = timeline_open(&file, NULL, 0, &diag);
	return 0;
}

/* --raw=FOLDER/trace, and some mappings. */
static void open_raw(const char *maps[], size_t map_count, const char *processor)
{
	char *input = path_of("trace");
	const char *raws[] = { input };
	struct options options = { .input = input,
				   .inputs = &input,
				   .input_count = 1,
				   .raws = { raws, 1, 1 },
				   .maps = { maps, map_count, map_count } };

	if (processor)
		ck_assert(processor_read(&options, processor));
	ck_assert_msg(open_options(&options) == 0, "%s", err.text);
	free(input);
}

static int open_json(const char *text)
{
	char *input = path_of("trace.json");
	const struct options options = { .input = input, .inputs = &input, .input_count = 1 };
	int status;

	write_file("trace.json", text, strlen(text));
	status = open_options(&options);
	free(input);
	return status;
}

static bool warned(const char *kind)
{
	for (const struct diag_line *line = diag.first; line; line = line->next)
		if (strcmp(line->kind, kind) == 0)
			return true;
	return false;
}

/* The mapping of a process's address. */
static const struct mapping *mapping_at(int32_t pid, uint64_t address)
{
	const struct thread *thread = timeline_borrow_thread(timeline, pid, 0);

	ck_assert_ptr_nonnull(thread);
	return address_space_borrow_mapping(thread->process->epochs[0].space, address);
}

static void assert_mapping(uint64_t address, uint64_t begin, uint64_t end, uint64_t offset)
{
	const struct mapping *mapping = mapping_at(1, address);

	ck_assert_ptr_nonnull(mapping);
	ck_assert_uint_eq(mapping->begin, begin);
	ck_assert_uint_eq(mapping->end, end);
	ck_assert_uint_eq(mapping->file_offset, offset);
}

/* ---- Texts of options ---------------------------------------------------- */

START_TEST(a_mapping_has_a_path_and_hexadecimal_numbers)
{
	static const struct {
		const char *text, *path;
		uint64_t offset, begin, end;
		bool exact;
	} good[] = {
		{ "a@1000", "a", 0, 0x1000, 0, false },
		{ "a@0x1000", "a", 0, 0x1000, 0, false },
		{ "a:10@1000", "a", 0x10, 0x1000, 0, true },
		{ "a:0@1000", "a", 0, 0x1000, 0, true },
		{ "a@1000-2000", "a", 0, 0x1000, 0x2000, true },
		{ "a:0x10@0x1000-0x2000", "a", 0x10, 0x1000, 0x2000, true },
		{ "a:b@1000", "a", 0xb, 0x1000, 0, true },
		{ "a:x@1000", "a:x", 0, 0x1000, 0, false },
		{ "a@2:b c@ffffffffffffffff", "a@2:b c", 0, UINT64_MAX, 0, false },
		{ "[vdso]@7fff00000000-7fff00002000", "[vdso]", 0, 0x7fff00000000, 0x7fff00002000,
		  true },
	};
	struct raw_map map;

	for (size_t i = 0; i < COUNT_OF(good); i++) {
		ck_assert_msg(raw_map_read(good[i].text, &map), "%s", good[i].text);
		ck_assert_uint_eq(map.path.length, strlen(good[i].path));
		ck_assert_int_eq(memcmp(map.path.at, good[i].path, map.path.length), 0);
		ck_assert_uint_eq(map.offset, good[i].offset);
		ck_assert_uint_eq(map.begin, good[i].begin);
		ck_assert_uint_eq(map.end, good[i].end);
		ck_assert_int_eq(map.exact, good[i].exact);
	}
}
END_TEST

START_TEST(other_texts_are_no_mapping)
{
	static const char *const bad[] = { "",
					   "a",
					   "@1000",
					   "a@",
					   "a@g",
					   "a@1000-",
					   "a@-1000",
					   "a@2000-1000",
					   "a@1000-1000",
					   "a@0x",
					   "a@ 1000",
					   "a@+1000",
					   "a@1000 ",
					   "a@1-2-3",
					   "a@10000000000000000",
					   ":1@1000",
					   "a@1000-10000000000000000" };
	char *longest = alloc_text("%0*d@1000", PATH_MAX, 0);
	struct raw_map map;

	for (size_t i = 0; i < COUNT_OF(bad); i++)
		ck_assert_msg(!raw_map_read(bad[i], &map), "%s", bad[i]);
	ck_assert(!raw_map_read(longest, &map));
	ck_assert(raw_map_read(longest + 1, &map));
	free(longest);
}
END_TEST

START_TEST(a_processor_has_three_numbers)
{
	static const char *const bad[] = { "",        "6",       "6/94",      "6/94/",
					   "/94/3",   "6/94/3/", "6/94/3000", "6/+94/3",
					   "6/ 94/3", "-6/94/3", "6/0x5e/3" };
	struct options options = { 0 };

	ck_assert(processor_read(&options, "6/94/3"));
	ck_assert_str_eq(options.processor, "GenuineIntel,6,94,3");
	for (size_t i = 0; i < COUNT_OF(bad); i++)
		ck_assert_msg(!processor_read(&options, bad[i]), "%s", bad[i]);
}
END_TEST

/* ---- --raw --------------------------------------------------------------- */

START_TEST(a_file_is_the_buffer_of_a_thread)
{
	open_raw(NULL, 0, "6/94/3");
	ck_assert_uint_eq(auxtrace.stream_count, 1);
	ck_assert_int_eq(auxtrace.streams[0].tid, 1);
	ck_assert_int_eq(auxtrace.streams[0].cpu, -1);
	ck_assert_uint_eq(auxtrace.streams[0].piece_count, 1);
	ck_assert_uint_eq(auxtrace.streams[0].pieces[0].aux_offset, 0);
	ck_assert_str_eq(thread_last_name(timeline_borrow_thread(timeline, 1, 0)), "trace");
	ck_assert_uint_eq(auxtrace.info.cpu_family, 6);
	ck_assert_uint_eq(auxtrace.info.cpu_model, 94);
	ck_assert_uint_eq(auxtrace.info.cpu_stepping, 3);
	ck_assert(auxtrace.info.exclude_kernel);
	ck_assert(!warned("processor-unknown"));
}
END_TEST

START_TEST(times_of_an_unknown_clock_are_ticks)
{
	struct tsc_clock clock;

	open_raw(NULL, 0, NULL);
	clock = pt_info_tsc_clock(&auxtrace.info);
	ck_assert_uint_eq(tsc_clock_ns(&clock, 12345), 12345);
	ck_assert(warned("clock-unknown"));
	ck_assert(warned("processor-unknown"));
}
END_TEST

START_TEST(a_trace_without_tsc_packets_has_no_times)
{
	static const uint8_t packets[] =
		"\x02\x82\x02\x82\x02\x82\x02\x82\x02\x82\x02\x82\x02\x82\x02\x82"
		"\x02\x23"; /* PSB, PSBEND */

	write_file("trace", packets, sizeof(packets) - 1);
	open_raw(NULL, 0, NULL);
	ck_assert_uint_eq(auxtrace.info.config & auxtrace.info.tsc_bit, 0);
	ck_assert_uint_eq(auxtrace.streams[0].size, sizeof(packets) - 1);
	ck_assert(!warned("clock-unknown"));
}
END_TEST

/* The sample has one segment, at SAMPLE_CODE, whose bytes begin at TINY_ELF_CODE_OFFSET. */
START_TEST(the_segments_of_an_elf_file_are_mapped)
{
	char *map = alloc_text("%s/sample@7f0000001000", folder);

	open_raw((const char *[]){ map }, 1, NULL);
	assert_mapping(0x7f0000001000, 0x7f0000001000, 0x7f0000002000, TINY_ELF_CODE_OFFSET);
	ck_assert_ptr_null(mapping_at(1, 0x7f0000002000));
	free(map);
}
END_TEST

START_TEST(an_exact_mapping_is_as_given)
{
	char *ends = alloc_text("%s/sample:1010@5000-5100", folder);
	char *open = alloc_text("%s/image:10@9000", folder);

	write_file("image", "0123456789abcdef01234567", 24);
	open_raw((const char *[]){ ends, open }, 2, NULL);
	assert_mapping(0x5080, 0x5000, 0x5100, 0x1010);
	assert_mapping(0x9000, 0x9000, 0x9008, 0x10);
	free(ends);
	free(open);
}
END_TEST

START_TEST(a_later_mapping_replaces_what_it_overlaps)
{
	char *first = alloc_text("%s/sample:0@1000-5000", folder);
	char *second = alloc_text("%s/image:0@2000-3000", folder);

	write_file("image", "0123456789abcdef01234567", 24);
	open_raw((const char *[]){ first, second }, 2, NULL);
	assert_mapping(0x1fff, 0x1000, 0x2000, 0);
	assert_mapping(0x2000, 0x2000, 0x3000, 0);
	assert_mapping(0x3000, 0x3000, 0x5000, 0x2000);
	free(first);
	free(second);
}
END_TEST

START_TEST(code_of_the_kernel_is_mapped_for_all)
{
	char *map = alloc_text("%s/sample@ffffffff81000000", folder);

	open_raw((const char *[]){ map }, 1, NULL);
	ck_assert(!auxtrace.info.exclude_kernel);
	assert_mapping(UINT64_C(0xffffffff81000000), UINT64_C(0xffffffff81000000),
		       UINT64_C(0xffffffff81001000), TINY_ELF_CODE_OFFSET);
	free(map);
}
END_TEST

/* Each file is a buffer of a thread of process 1, with the name of the file. */
START_TEST(several_files_are_threads_of_a_process)
{
	char *inputs[] = { path_of("trace"), path_of("other") };
	const char *raws[] = { inputs[0], inputs[1] };
	const struct options options = {
		.input = inputs[0], .inputs = inputs, .input_count = 2, .raws = { raws, 2, 2 }
	};
	struct pt_packets packets;

	pt_packets_init(&packets);
	pt_packets_psb(&packets, SAMPLE_START, 0);
	write_file("other", packets.bytes, pt_packets_size(&packets));
	ck_assert_msg(open_options(&options) == 0, "%s", err.text);
	ck_assert_uint_eq(auxtrace.stream_count, 2);
	for (int32_t i = 0; i < 2; i++) {
		const struct thread *thread = timeline_borrow_thread(timeline, 1 + i, 0);

		ck_assert_int_eq(auxtrace.streams[i].tid, 1 + i);
		ck_assert_ptr_nonnull(thread);
		ck_assert_int_eq(thread->pid, 1);
		ck_assert_str_eq(thread_last_name(thread), i ? "other" : "trace");
		free(inputs[i]);
	}
	ck_assert_uint_eq(auxtrace.streams[1].size, pt_packets_size(&packets));
	ck_assert_mem_eq(auxtrace.streams[1].pieces[0].bytes, packets.bytes,
			 pt_packets_size(&packets));
	pt_packets_release(&packets);
}
END_TEST

/* An empty file, a missing one, and one that is named twice. */
START_TEST(a_file_that_is_no_trace_is_refused)
{
	static const struct {
		const char *second, *error;
	} bad[] = {
		{ "other", "is empty" },
		{ "nothing", "cannot open" },
		{ "trace", "is named twice" },
	};
	char *inputs[] = { path_of("trace"), path_of(bad[_i].second) };
	const char *raws[] = { inputs[0], inputs[1] };
	const struct options options = {
		.input = inputs[0], .inputs = inputs, .input_count = 2, .raws = { raws, 2, 2 }
	};

	write_file("other", "", 0);
	ck_assert_int_eq(open_options(&options), -1);
	ck_assert_msg(strstr(err.text, bad[_i].error) && strstr(err.text, inputs[1]), "%s",
		      err.text);
	free(inputs[0]);
	free(inputs[1]);
}
END_TEST

START_TEST(a_map_of_no_code_is_a_warning)
{
	char *missing = alloc_text("%s/nothing@1000", folder);
	char *beyond = alloc_text("%s/image:100@1000", folder);

	write_file("image", "0123456789abcdef", 16);
	open_raw((const char *[]){ _i ? beyond : missing }, 1, NULL);
	ck_assert(warned("map-missing"));
	ck_assert_ptr_nonnull(
		strstr(diag.first->text, _i ? "it ends before the offset" : "it is not found"));
	ck_assert_uint_eq(timeline->files.count, 0);
	free(missing);
	free(beyond);
}
END_TEST

/* ---- trace.json ---------------------------------------------------------- */

#define HEAD                                                                                       \
	"{\"type\": \"intel-pt\", \"cpuInfo\": {\"vendor\": \"GenuineIntel\", "                    \
	"\"family\": 6, \"model\": 85, \"stepping\": 4}, "
#define CLOCK "\"tscPerfZeroConversion\": {\"timeMult\": 8, \"timeShift\": 2, \"timeZero\": %s}, "

static void assert_zero(const char *text, uint64_t zero)
{
	char *json =
		alloc_text(HEAD CLOCK "\"processes\": [{\"pid\": 7, \"threads\": [{\"tid\": 8, "
				      "\"iptTrace\": \"trace\"}]}]}",
			   text);

	ck_assert_msg(open_json(json) == 0, "%s: %s", text, err.text);
	ck_assert_uint_eq(auxtrace.info.time_zero, zero);
	ck_assert_uint_eq(auxtrace.info.time_mult, 8);
	ck_assert_uint_eq(auxtrace.info.time_shift, 2);
	ck_assert_uint_eq(auxtrace.info.cpu_model, 85);
	ck_assert_int_eq(auxtrace.streams[0].tid, 8);
	ck_assert_int_eq(timeline_borrow_thread(timeline, 8, 0)->pid, 7);
	ck_assert_uint_eq(diag_kinds(&diag), 0);
	free(json);
}

START_TEST(numbers_are_numbers_or_texts)
{
	static const struct {
		const char *text;
		uint64_t value;
	} good[] = { { "10", 10 },
		     { "\"10\"", 10 },
		     { "\"0x10\"", 16 },
		     { "\"18446744061102431664\"", UINT64_C(18446744061102431664) },
		     { "\"0xffffffffffffffff\"", UINT64_MAX } };

	assert_zero(good[_i].text, good[_i].value);
}
END_TEST

START_TEST(other_values_are_refused)
{
	static const char *const bad[] = {
		"-1", "\"-1\"", "\"\"",   "\"x\"",  "1.5",    "null",   "[1]",
		"{}", "true",   "\" 1\"", "\"1 \"", "\"+1\"", "\"0x\"", "\"18446744073709551616\""
	};
	char *json = alloc_text(HEAD CLOCK "\"processes\": []}", bad[_i]);

	ck_assert_msg(open_json(json) < 0, "%s", bad[_i]);
	ck_assert_msg(strstr(err.text, "'timeZero' is missing, or is no such number") != NULL,
		      "%s: %s", bad[_i], err.text);
	free(json);
}
END_TEST

/* The record of perf_event_open(2): SWITCH_CPU_WIDE, out; then its sample_id without a CPU. */
START_TEST(context_switches_get_their_cpu)
{
	static const struct {
		struct perf_event_header header;
		uint32_t next_pid, next_tid, pid, tid;
		uint64_t time;
	} switches[] = {
		{ { PERF_RECORD_SWITCH_CPU_WIDE, PERF_RECORD_MISC_SWITCH_OUT, 32 },
		  7,
		  9,
		  7,
		  8,
		  100 },
		{ { PERF_RECORD_SWITCH_CPU_WIDE, PERF_RECORD_MISC_SWITCH_OUT, 32 },
		  7,
		  8,
		  7,
		  9,
		  300 },
	};
	const struct cpu_switch *seen;
	size_t count;

	write_file("switches", switches, sizeof(switches));
	ck_assert_msg(open_json(HEAD "\"cpus\": [{\"id\": 300, \"iptTrace\": \"trace\", "
				     "\"contextSwitchTrace\": \"switches\"}]}") == 0,
		      "%s", err.text);
	ck_assert_int_eq(auxtrace.streams[0].cpu, 300);
	seen = history_switches(&timeline->history, 300, &count);
	ck_assert_uint_eq(count, 2);
	ck_assert_uint_eq(seen[0].time, 100);
	ck_assert_int_eq(seen[0].thread->tid, 9);
	ck_assert_uint_eq(seen[1].time, 300);
	ck_assert_int_eq(seen[1].thread->tid, 8);
}
END_TEST

/* LLDB's default address; the kernel is in no process. */
START_TEST(the_kernel_needs_no_address)
{
	const struct mapping *mapping;

	ck_assert_msg(open_json(HEAD "\"processes\": null, \"cpus\": [{\"id\": 0, \"iptTrace\": "
				     "\"trace\"}], \"kernel\": {\"file\": \"sample\"}}") == 0,
		      "%s", err.text);
	ck_assert(!auxtrace.info.exclude_kernel);
	ck_assert_uint_eq(timeline->files.count, 1);
	mapping = address_space_borrow_mapping(&timeline->processes.kernel.space,
					       UINT64_C(0xffffffff81000000));
	ck_assert_ptr_nonnull(mapping);
	ck_assert_uint_eq(mapping->begin, UINT64_C(0xffffffff81000000));
}
END_TEST

/* A process's threads have the name of its first module; modules are where LLDB says. */
START_TEST(a_process_has_threads_and_modules)
{
	const struct mapping *mapping;

	ck_assert_msg(
		open_json(HEAD
			  "\"processes\": [{\"pid\": 7, \"threads\": [{\"tid\": 7, "
			  "\"iptTrace\": \"trace\"}, {\"tid\": 9}], \"modules\": ["
			  "{\"systemPath\": \"/usr/bin/prog\", \"file\": \"sample\", "
			  "\"loadAddress\": \"0x7f0000001000\"}, "
			  "{\"systemPath\": \"/usr/lib/other\", \"loadAddress\": 4096}]}]}") == 0,
		"%s", err.text);
	for (int32_t tid = 7; tid <= 9; tid += 2) {
		const struct thread *thread = timeline_borrow_thread(timeline, tid, 0);

		ck_assert_ptr_nonnull(thread);
		ck_assert_int_eq(thread->pid, 7);
		ck_assert_str_eq(thread_last_name(thread), "prog");
	}
	mapping = mapping_at(7, 0x7f0000001000);
	ck_assert_ptr_nonnull(mapping);
	ck_assert_uint_eq(mapping->begin, 0x7f0000001000);
	ck_assert_uint_eq(timeline->files.count, 1);
	ck_assert(warned("map-missing")); /* of the second module */
	ck_assert(auxtrace.info.exclude_kernel);
}
END_TEST

/* Checksums and other texts are no build ids. With one, a file without it is another one. */
START_TEST(a_uuid_is_a_build_id_if_it_is_one)
{
	static const struct {
		const char *uuid;
		bool is_id;
	} uuids[] = {
		{ "0102030405", true },
		{ "01020304", false },
		{ "01-02-03-04-05-06", true },
		{ "010203040", false },
		{ "01020304g5", false },
		{ "000102030405060708090a0b0c0d0e0f10111213", true },
		{ "000102030405060708090a0b0c0d0e0f1011121314", false },
		{ "", false },
	};
	char *json = alloc_text(HEAD "\"processes\": [{\"pid\": 7, \"threads\": [{\"tid\": 7, "
				     "\"iptTrace\": \"trace\"}], \"modules\": [{\"file\": "
				     "\"sample\", \"loadAddress\": 4096, \"uuid\": \"%s\"}]}]}",
				uuids[_i].uuid);

	ck_assert_msg(open_json(json) == 0, "%s", err.text);
	free(json);
	ck_assert_int_eq(mapping_at(7, 4096) == NULL, uuids[_i].is_id);
	ck_assert_int_eq(warned("map-missing"), uuids[_i].is_id);
}
END_TEST

/* An older schema: "trace", "traceFile", "cores", "coreId", "traceBuffer"; the first ones. */
START_TEST(an_older_description_is_read)
{
	ck_assert_msg(open_json("{\"trace\": {\"type\": \"intel-pt\", \"cpuInfo\": {\"vendor\": "
				"\"intel\", \"family\": 6, \"model\": 79, \"stepping\": 1}}, "
				"\"cores\": [{\"coreId\": 3, \"traceBuffer\": \"trace\"}]}") == 0,
		      "%s", err.text);
	ck_assert_uint_eq(auxtrace.stream_count, 1);
	ck_assert_int_eq(auxtrace.streams[0].cpu, 3);
	ck_assert_int_eq(auxtrace.streams[0].tid, -1);
	ck_assert_uint_eq(auxtrace.info.cpu_model, 79);
	ck_assert_uint_eq(auxtrace.info.cpu_stepping, 1);
}
END_TEST

START_TEST(another_json_is_refused)
{
	static const char *const bad[] = { "{\"type\": \"intel\"}", "{}", "[]",
					   "{\"type\": \"intel-pt\"}" };
	static const char *const errors[] = { "is JSON, but not a trace.json of LLDB",
					      "is JSON, but not a trace.json of LLDB",
					      "is JSON, but not a trace.json of LLDB",
					      "has no trace data" };

	ck_assert_int_eq(open_json(bad[_i]), -1);
	ck_assert_msg(strstr(err.text, errors[_i]) && strstr(err.text, "/trace.json: "), "%s",
		      err.text);
}
END_TEST

START_TEST(a_file_is_read_once)
{
	ck_assert_int_eq(open_json(HEAD "\"processes\": [{\"pid\": 1, \"threads\": ["
					"{\"tid\": 1, \"iptTrace\": \"trace\"}, "
					"{\"tid\": 2, \"iptTrace\": \"./trace\"}]}]}"),
			 0);
	ck_assert_uint_eq(auxtrace.stream_count, 1);
	ck_assert(warned("part-missing"));
}
END_TEST

START_TEST(deep_json_is_refused)
{
	const size_t size = 1 << 20;
	char *text = alloc_zeroed(size, 1);

	memset(text, '[', size - 1);
	memcpy(text, "{\"type\":", 8);
	ck_assert_int_eq(open_json(text), -1);
	ck_assert_ptr_nonnull(strstr(err.text, "damaged JSON"));
	free(text);
}
END_TEST

START_TEST(a_description_is_known_by_its_content)
{
	static const struct {
		const char *text;
		size_t padding;
		bool is;
	} texts[] = { { "{\"type\":\"intel-pt\"}", 0, true },
		      { "\n\t {\"a\":[],\"type\": \"intel-pt\"}", 0, true },
		      { "{\"type\":\"intel-pt\"}", (768 << 10) - 20, true },
		      { "{\"type\":\"intel-pt\"}", 768 << 10, false },
		      { "{\"type\":\"intel\"}", 0, false },
		      { "[\"intel-pt\"]", 0, false },
		      { "PERFILE2 \"intel-pt\"", 0, false } };
	char *path = path_of("trace.json");

	for (size_t i = 0; i < COUNT_OF(texts); i++) {
		char *text = alloc_text("%s%*s", texts[i].text, (int)texts[i].padding, "");

		write_file("trace.json", text, strlen(text));
		ck_assert_msg(input_paths_is_bundle(path) == texts[i].is, "%zu: %s", i,
			      texts[i].text);
		free(text);
	}
	write_file("trace.json", "", 0);
	ck_assert(!input_paths_is_bundle(path));
	ck_assert(!input_paths_is_bundle("/dev/null"));
	ck_assert(!input_paths_is_bundle(folder));
	free(path);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("raw_input");
	TCase *tc = tcase_create("raw_input");

	tcase_add_checked_fixture(tc, set_up, tear_down);
	tcase_add_test(tc, a_mapping_has_a_path_and_hexadecimal_numbers);
	tcase_add_test(tc, other_texts_are_no_mapping);
	tcase_add_test(tc, a_processor_has_three_numbers);
	tcase_add_test(tc, a_file_is_the_buffer_of_a_thread);
	tcase_add_test(tc, times_of_an_unknown_clock_are_ticks);
	tcase_add_test(tc, a_trace_without_tsc_packets_has_no_times);
	tcase_add_test(tc, the_segments_of_an_elf_file_are_mapped);
	tcase_add_test(tc, an_exact_mapping_is_as_given);
	tcase_add_test(tc, a_later_mapping_replaces_what_it_overlaps);
	tcase_add_test(tc, code_of_the_kernel_is_mapped_for_all);
	tcase_add_test(tc, several_files_are_threads_of_a_process);
	tcase_add_loop_test(tc, a_file_that_is_no_trace_is_refused, 0, 3);
	tcase_add_loop_test(tc, a_map_of_no_code_is_a_warning, 0, 2);
	tcase_add_test(tc, a_process_has_threads_and_modules);
	tcase_add_loop_test(tc, a_uuid_is_a_build_id_if_it_is_one, 0, 8);
	tcase_add_test(tc, an_older_description_is_read);
	tcase_add_loop_test(tc, another_json_is_refused, 0, 4);
	tcase_add_loop_test(tc, numbers_are_numbers_or_texts, 0, 5);
	tcase_add_loop_test(tc, other_values_are_refused, 0, 14);
	tcase_add_test(tc, context_switches_get_their_cpu);
	tcase_add_test(tc, the_kernel_needs_no_address);
	tcase_add_test(tc, a_file_is_read_once);
	tcase_add_test(tc, deep_json_is_refused);
	tcase_add_test(tc, a_description_is_known_by_its_content);
	suite_add_tcase(suite, tc);
	return unit_run_apart(suite);
}
