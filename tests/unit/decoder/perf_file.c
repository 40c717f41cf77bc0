/* SPDX-License-Identifier: MIT */
#include "decoder/perf_data/perf_file.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>
#include <zstd.h>

#include "tests/support/perf_data.h"
#include "tests/support/perf_forms.h"
#include "tests/support/unit.h"

static struct perf_data data;
static struct perf_file file;
static struct diag diag;
static struct error err;
static char path[PERF_DATA_PATH];

static void set_up(void)
{
	perf_data_init(&data);
	diag_init(&diag);
	memset(&err, 0, sizeof(err));
	memset(&file, 0, sizeof(file));
}

static void tear_down(void)
{
	perf_file_close(&file);
	perf_file_close(&file);
	perf_data_release(&data);
	diag_release(&diag);
}

/* Open the built file, with a record: without data it would look like one of a killed perf. */
static void open_built(void)
{
	if (!data.records.size)
		perf_data_add_user_record(&data, PERF_USER_FINISHED_ROUND, NULL, 0);
	perf_data_write_temporary(&data, path);
	ck_assert_msg(perf_file_open(&file, path, &diag, &err) == 0, "%s", err.text);
	unlink(path);
}

/* Open these bytes and return the outcome. */
static int open_bytes(const void *bytes, size_t size)
{
	int fd, status;

	strcpy(path, "/tmp/perf-data-XXXXXX");
	fd = mkstemp(path);
	ck_assert_int_ge(fd, 0);
	ck_assert_int_eq(write(fd, bytes, size), (ssize_t)size);
	close(fd);
	status = perf_file_open(&file, path, &diag, &err);
	unlink(path);
	return status;
}

static size_t count_records(void)
{
	struct perf_record record;
	uint64_t position = 0;
	size_t count = 0;

	while (perf_file_next(&file, &position, &record, &diag))
		count++;
	return count;
}

static size_t count_of(uint32_t type)
{
	struct perf_record record;
	uint64_t position = 0;
	size_t count = 0;

	while (perf_file_next(&file, &position, &record, &diag))
		count += record.type == type;
	return count;
}

static void assert_warned(const char *kind)
{
	const struct diag_line *line = diag.first;

	while (line && strcmp(line->kind, kind) != 0)
		line = line->next;
	ck_assert_msg(line != NULL, "no warning of kind %s", kind);
}

START_TEST(events_have_their_attributes_ids_and_names)
{
	struct perf_data_event cycles = {
		.attr = { .config = 0x77, .sample_type = PERF_SAMPLE_IDENTIFIER },
		.name = "cycles:u",
		.first_id = 5,
	};

	perf_data_add_pt_event(&data, 8, 0x300e601);
	perf_data_add_event(&data, &cycles);
	open_built();
	ck_assert_uint_eq(file.attr_count, 2);
	ck_assert_uint_eq(file.attrs[0].attr.type, 8);
	ck_assert_uint_eq(file.attrs[0].attr.config, 0x300e601);
	ck_assert(file.attrs[0].attr.exclude_kernel);
	ck_assert_str_eq(file.attrs[0].name, "intel_pt//u");
	ck_assert_str_eq(file.attrs[1].name, "cycles:u");
	ck_assert_ptr_eq(perf_file_borrow_attr(&file, 1003), &file.attrs[0]);
	ck_assert_ptr_eq(perf_file_borrow_attr(&file, 5), &file.attrs[1]);
	ck_assert_ptr_null(perf_file_borrow_attr(&file, 9));
	ck_assert_uint_eq(diag_kinds(&diag), 0);
}
END_TEST

/* PERF_ATTR_SIZE_VER0 is 64, perf 4.14's 112; a future one is larger than ours. */
START_TEST(attributes_of_older_and_newer_perfs_are_read)
{
	static const uint32_t sizes[] = { 64, 96, 112, 128, 136, 200 };
	unsigned event;

	event = perf_data_add_pt_event(&data, 8, 0x300e601);
	data.events[event].attr_bytes = sizes[_i];
	perf_data_add_pt_event(&data, 9, 0x123);
	perf_data_stamp(&data, (struct perf_data_stamp){ .time = 77, .tid = 3, .event = 1 });
	perf_data_add_comm(&data, 0, 3, 3, "x");
	open_built();
	ck_assert_uint_eq(file.attr_count, 2);
	ck_assert_uint_eq(file.attrs[1].attr.config, 0x123);
	ck_assert_str_eq(file.attrs[1].name, "intel_pt//u");

	struct perf_record record;
	uint64_t position = 0;

	ck_assert_int_eq(perf_file_next(&file, &position, &record, &diag), 1);
	ck_assert_uint_eq(record.id.time, 77);
	ck_assert_uint_eq(diag_kinds(&diag), 0);
}
END_TEST

START_TEST(records_come_in_file_order_with_their_trailers)
{
	struct perf_record record;
	uint64_t position = 0;

	perf_data_add_pt_event(&data, 8, 0);
	perf_data_stamp(&data, (struct perf_data_stamp){ 123456789012, 10, 11, 3, 0 });
	perf_data_add_comm(&data, PERF_RECORD_MISC_COMM_EXEC, 10, 11, "seven77");
	perf_data_add_auxtrace(&data, &(struct perf_data_aux){ .bytes = "12345", .size = 5 });
	perf_data_add_user_record(&data, PERF_USER_FINISHED_ROUND, NULL, 0);
	perf_data_add_itrace_start(&data, 10, 11);
	open_built();

	ck_assert_int_eq(perf_file_next(&file, &position, &record, &diag), 1);
	ck_assert_uint_eq(record.type, PERF_RECORD_COMM);
	ck_assert_uint_eq(record.misc, PERF_RECORD_MISC_COMM_EXEC);
	ck_assert_uint_eq(record.size, 16);
	ck_assert_str_eq((const char *)record.payload + 8, "seven77");
	ck_assert_uint_eq(record.id.time, 123456789012);
	ck_assert_int_eq(record.id.pid, 10);
	ck_assert_int_eq(record.id.tid, 11);
	ck_assert_int_eq(record.id.cpu, 3);
	ck_assert_uint_eq(record.id.id, 1003);
	ck_assert_uint_eq(record.offset, file.parts[0].begin);

	ck_assert_int_eq(perf_file_next(&file, &position, &record, &diag), 1);
	ck_assert_uint_eq(record.type, PERF_USER_AUXTRACE);
	ck_assert_uint_eq(record.aux.size, 8);
	ck_assert_mem_eq(record.aux.bytes, "12345\0\0\0", 8);
	ck_assert_int_eq(record.id.cpu, -1);

	ck_assert_int_eq(perf_file_next(&file, &position, &record, &diag), 1);
	ck_assert_uint_eq(record.type, PERF_USER_FINISHED_ROUND);
	ck_assert_uint_eq(record.size, 0);
	ck_assert_int_eq(perf_file_next(&file, &position, &record, &diag), 1);
	ck_assert_uint_eq(record.type, PERF_RECORD_ITRACE_START);
	ck_assert_int_eq(perf_file_next(&file, &position, &record, &diag), 0);
	ck_assert_int_eq(perf_file_next(&file, &position, &record, &diag), 0);
}
END_TEST

/* Two events with different trailer layouts: the id, at the same position, distinguishes them. */
static void check_two_layouts(uint64_t common, uint64_t of_first, uint64_t of_second)
{
	struct perf_data_event event = { .attr.sample_id_all = 1, .attr_bytes = 112 };
	struct perf_record record;
	uint64_t position = 0;

	event.attr.sample_type = common | of_first;
	event.first_id = 40;
	perf_data_add_event(&data, &event);
	event.attr.sample_type = common | of_second;
	event.first_id = 50;
	perf_data_add_event(&data, &event);
	for (unsigned i = 0; i < 2; i++) {
		perf_data_stamp(&data, (struct perf_data_stamp){ 600 + i, 70, 80 + i, 2, i });
		perf_data_add_itrace_start(&data, 1, 2);
	}
	open_built();
	for (unsigned i = 0; i < 2; i++) {
		uint64_t fields = common | (i ? of_second : of_first);

		ck_assert_int_eq(perf_file_next(&file, &position, &record, &diag), 1);
		ck_assert_uint_eq(record.size, 8);
		ck_assert_uint_eq(record.id.id, (i ? 50 : 40) + 2);
		ck_assert_uint_eq(record.id.time, fields & PERF_SAMPLE_TIME ? 600 + i : 0);
		ck_assert_int_eq(record.id.tid, fields & PERF_SAMPLE_TID ? 80 + (int)i : -1);
		ck_assert_int_eq(record.id.cpu, fields & PERF_SAMPLE_CPU ? 2 : -1);
	}
}

START_TEST(the_identifier_selects_the_layout_of_a_trailer)
{
	check_two_layouts(PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_TID, PERF_SAMPLE_TIME,
			  PERF_SAMPLE_TIME | PERF_SAMPLE_CPU | PERF_SAMPLE_STREAM_ID);
}
END_TEST

/* perf before PERF_SAMPLE_IDENTIFIER: the id is before STREAM_ID and CPU. */
START_TEST(without_an_identifier_the_id_selects_it)
{
	check_two_layouts(PERF_SAMPLE_ID | PERF_SAMPLE_STREAM_ID | PERF_SAMPLE_CPU, PERF_SAMPLE_TID,
			  PERF_SAMPLE_TID | PERF_SAMPLE_TIME);
}
END_TEST

START_TEST(features_are_given_as_plain_values)
{
	static const char *const words[] = { "perf", "record", "-e", "intel_pt//u", NULL };
	const uint8_t id[20] = { 0xab, 0xcd };
	struct perf_build_id entry = { 0 };

	perf_data_set_text(&data, PERF_FEATURE_HOSTNAME, "host");
	perf_data_set_text(&data, PERF_FEATURE_OSRELEASE, "6.1.0-42");
	perf_data_set_text(&data, PERF_FEATURE_VERSION, "6.1.9");
	perf_data_set_text(&data, PERF_FEATURE_CPUDESC, "some CPU");
	perf_data_set_text(&data, PERF_FEATURE_CPUID, "GenuineIntel,6,94,3");
	perf_data_set_feature(&data, PERF_FEATURE_NRCPUS, (uint32_t[]){ 16, 12 }, 8);
	perf_data_set_command_line(&data, words);
	perf_data_set_feature(&data, PERF_FEATURE_SAMPLE_TIME, (uint64_t[]){ 100, 200 }, 16);
	perf_data_set_feature(&data, PERF_FEATURE_CLOCK_DATA,
			      (uint32_t[]){ 1, 4, 0xfffffffe, 1, 5, 0 }, 24);
	perf_data_add_build_id(&data, PERF_RECORD_MISC_USER, "/bin/true", id, 16);
	open_built();
	ck_assert_str_eq(file.features.hostname, "host");
	ck_assert_str_eq(file.features.os_release, "6.1.0-42");
	ck_assert_str_eq(file.features.version, "6.1.9");
	ck_assert_str_eq(file.features.cpu_description, "some CPU");
	ck_assert_str_eq(file.features.cpuid, "GenuineIntel,6,94,3");
	ck_assert_uint_eq(file.features.cpus_available, 16);
	ck_assert_str_eq(file.features.command_line, "perf record -e intel_pt//u");
	ck_assert_uint_eq(file.features.first_sample_time, 100);
	ck_assert_uint_eq(file.features.last_sample_time, 200);
	ck_assert(file.features.has_clock_data);
	ck_assert_uint_eq(file.features.clock_wall_ns, 0x1fffffffe);
	ck_assert_uint_eq(file.features.clock_ns, 5);
	ck_assert_int_eq(perf_features_next_build_id(&file, &entry), 1);
	ck_assert_str_eq(entry.path, "/bin/true");
	ck_assert_uint_eq(entry.id_size, 16);
	ck_assert_mem_eq(entry.id, id, 16);
	ck_assert_int_eq(perf_features_next_build_id(&file, &entry), 0);
	ck_assert_uint_eq(diag_kinds(&diag), 0);
}
END_TEST

START_TEST(a_damaged_feature_costs_only_itself)
{
	perf_data_set_text(&data, PERF_FEATURE_HOSTNAME, "host");
	perf_data_set_feature(&data, PERF_FEATURE_OSRELEASE, (uint32_t[]){ 99 }, 4);
	perf_data_set_text(&data, PERF_FEATURE_CPUID, "GenuineIntel,6,94,3");
	open_built();
	ck_assert_str_eq(file.features.hostname, "host");
	ck_assert_ptr_null(file.features.os_release);
	ck_assert_str_eq(file.features.cpuid, "GenuineIntel,6,94,3");
	assert_warned("feature-damaged");
	ck_assert_ptr_nonnull(strstr(diag.first->text, "OSRELEASE (4)"));
}
END_TEST

/* All features that the manual ignores, with any bytes. */
START_TEST(features_without_a_use_change_nothing)
{
	static const unsigned unused[] = { 6,  7,  10, 13, 14, 15, 16, 17, 18, 19, 20,
					   21, 22, 23, 24, 26, 27, 28, 31, 32, 33, 34 };
	uint8_t bytes[64];

	memset(bytes, 0xff, sizeof(bytes));
	bytes[0] = 4; /* ARCH is a string */
	bytes[1] = bytes[2] = bytes[3] = 0;
	for (size_t i = 0; i < sizeof(unused) / sizeof(unused[0]); i++)
		perf_data_set_feature(&data, unused[i], bytes, sizeof(bytes));
	open_built();
	ck_assert_uint_eq(diag_kinds(&diag), 0);
}
END_TEST

/* HEADER_CLN_SIZE, 34, is the last one of tools/perf/util/header.h. */
START_TEST(a_feature_of_a_newer_perf_is_a_warning_with_its_number)
{
	perf_data_set_feature(&data, 34, "", 1);
	perf_data_set_feature(&data, 35, "", 1);
	perf_data_set_feature(&data, 36, "", 1);
	open_built();
	assert_warned("feature-unknown");
	ck_assert_uint_eq(diag.first->count, 2);
	ck_assert_ptr_nonnull(strstr(diag.first->text, "section 35 "));
}
END_TEST

START_TEST(a_command_line_that_claims_too_many_words_ends_with_the_section)
{
	const struct {
		uint32_t words, length;
		char text[4];
	} section = { 0xffffffff, 4, "abc" };

	perf_data_set_feature(&data, PERF_FEATURE_CMDLINE, &section, sizeof(section));
	open_built();
	ck_assert_str_eq(file.features.command_line, "abc");
	assert_warned("feature-damaged");
}
END_TEST

START_TEST(what_is_no_perf_data_is_refused_in_one_clear_line)
{
	static const struct {
		const char *bytes;
		size_t size;
		enum error_kind kind;
		const char *text;
	} cases[] = {
		{ "", 0, ERROR_FORMAT, "is empty; record again" },
		{ "P", 1, ERROR_FORMAT, "not a perf.data file" },
		{ "\177ELF____________", 16, ERROR_FORMAT, "not a perf.data file" },
		{ "2ELIFREP\0\0\0\0\0\0\0\150", 16, ERROR_UNSUPPORTED, "big-endian" },
		{ "PERFILE2\150\0\0\0\0\0\0\0", 16, ERROR_FORMAT, "damaged header" },
	};

	ck_assert_int_eq(open_bytes(cases[_i].bytes, cases[_i].size), -1);
	ck_assert_int_eq(err.kind, cases[_i].kind);
	ck_assert_msg(strstr(err.text, cases[_i].text) != NULL, "%s", err.text);
	ck_assert_msg(strstr(err.text, path) == err.text, "%s", err.text);
}
END_TEST

START_TEST(a_missing_file_and_a_directory_are_refused)
{
	ck_assert_int_eq(perf_file_open(&file, "/nonexistent/perf.data", &diag, &err), -1);
	ck_assert_str_eq(err.text, "/nonexistent/perf.data: cannot open: "
				   "No such file or directory");
	memset(&err, 0, sizeof(err));
	perf_file_close(&file);
	ck_assert_int_eq(perf_file_open(&file, "/dev", &diag, &err), -1);
	ck_assert_int_eq(err.kind, ERROR_UNSUPPORTED);
	ck_assert_msg(strstr(err.text, "/dev: is a directory") == err.text, "%s", err.text);
}
END_TEST

START_TEST(a_file_that_perf_did_not_finish_is_read_to_its_end)
{
	perf_data_add_pt_event(&data, 8, 0);
	perf_data_add_comm(&data, 0, 1, 1, "a");
	perf_data_add_comm(&data, 0, 1, 1, "b");
	data.unfinished = true;
	open_built();
	ck_assert(file.unfinished);
	ck_assert_uint_eq(count_records(), 2);
	assert_warned("unfinished");
}
END_TEST

/*
 * perf's util/event.h, struct perf_record_header_tracing_data: the formats follow the record; it
 * has their size, padded to eight bytes.
 */
START_TEST(formats_of_tracepoints_in_a_stream_are_passed_over)
{
	const uint32_t size = 21;
	const char text[16] = "no record here";
	uint8_t *bytes;
	size_t length;

	perf_data_add_pt_event(&data, 8, 0);
	perf_data_add_user_record(&data, PERF_USER_HEADER_TRACING_DATA, &size, sizeof(size));
	/* 24 bytes that look like a record. */
	perf_data_add_user_record(&data, 4000, text, sizeof(text));
	perf_data_add_comm(&data, 0, 1, 1, "a");
	bytes = perf_forms_stream(&data, &length);
	ck_assert_int_eq(open_bytes(bytes, length), 0);
	free(bytes);
	ck_assert_uint_eq(count_of(PERF_USER_HEADER_TRACING_DATA), 1);
	ck_assert_uint_eq(count_of(4000), 0);
	ck_assert_uint_eq(count_of(PERF_RECORD_COMM), 1);
}
END_TEST

/* The same, struct perf_record_header_build_id: pid, id of 24 bytes, name. */
START_TEST(build_ids_in_a_stream_come_in_records)
{
	struct {
		int32_t pid;
		uint8_t id[24];
		char name[12];
	} entry = { -1, "twenty bytes of an id", "/bin/true" };
	struct perf_build_id found = { 0 };
	uint8_t *bytes;
	size_t length;

	perf_data_add_pt_event(&data, 8, 0);
	perf_data_add_user_record(&data, PERF_USER_HEADER_BUILD_ID, &entry, sizeof(entry));
	bytes = perf_forms_stream(&data, &length);
	ck_assert_int_eq(open_bytes(bytes, length), 0);
	free(bytes);
	ck_assert_int_eq(perf_features_next_build_id(&file, &found), 1);
	ck_assert_str_eq(found.path, "/bin/true");
	ck_assert_uint_eq(found.id_size, 20);
	ck_assert_mem_eq(found.id, entry.id, 20);
	ck_assert_int_eq(perf_features_next_build_id(&file, &found), 0);
}
END_TEST

START_TEST(a_stream_in_memory_is_read_as_one_in_a_file)
{
	struct byte_view stream;
	uint8_t *bytes, *mapped;

	perf_data_add_pt_event(&data, 8, 0);
	perf_data_add_comm(&data, 0, 1, 1, "a");
	bytes = perf_forms_stream(&data, &stream.size);
	mapped =
		mmap(NULL, stream.size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	ck_assert_ptr_ne(mapped, MAP_FAILED);
	stream.bytes = memcpy(mapped, bytes, stream.size);
	free(bytes);
	perf_file_open_stream(&file, "somewhere", stream, &diag);
	ck_assert_str_eq(file.path, "somewhere");
	ck_assert_uint_eq(file.attr_count, 1);
	ck_assert_uint_eq(file.attrs[0].attr.type, 8);
	ck_assert_uint_eq(count_of(PERF_RECORD_COMM), 1);
}
END_TEST

/* A size below the header's would make a reader loop forever. */
START_TEST(a_record_that_is_too_small_ends_the_reading)
{
	static const uint16_t sizes[] = { 0, 7, 0xffff };
	size_t size;

	perf_data_add_pt_event(&data, 8, 0);
	perf_data_add_comm(&data, 0, 1, 1, "a");
	size = data.records.size;
	perf_data_add_comm(&data, 0, 1, 1, "b");
	memcpy(data.records.bytes + size + 6, &sizes[_i], 2);
	open_built();
	ck_assert_uint_eq(count_records(), 1);
	assert_warned("record-damaged");
}
END_TEST

START_TEST(trace_data_that_is_cut_is_kept_as_far_as_it_goes)
{
	struct perf_record record;
	uint64_t position = 0;
	uint8_t *bytes;
	size_t size;

	perf_data_add_pt_event(&data, 8, 0);
	perf_data_add_auxtrace(&data, &(struct perf_data_aux){ .bytes = "12345678", .size = 8 });
	data.unfinished = true;
	bytes = perf_data_finish(&data, &size);
	ck_assert_int_eq(open_bytes(bytes, size - 5), 0);
	ck_assert_int_eq(perf_file_next(&file, &position, &record, &diag), 1);
	ck_assert_uint_eq(record.aux.size, 3);
	ck_assert_mem_eq(record.aux.bytes, "123", 3);
	ck_assert_int_eq(perf_file_next(&file, &position, &record, &diag), 0);
	assert_warned("aux-cut");
	free(bytes);
}
END_TEST

/* 20,000 attributes, each of which claims the whole file as its ids. */
START_TEST(ids_that_overlap_cost_no_more_than_the_file_is_long)
{
	struct {
		uint64_t magic, size, attr_size;
		uint64_t attrs, attrs_size, records, records_size, types[2], features[4];
	} header = { 0x32454c4946524550, 104, 80, 104, 20000 * 80, 104, 0, { 0 }, { 0 } };
	uint8_t *bytes = calloc(1, 104 + header.attrs_size);

	memcpy(bytes, &header, sizeof(header));
	for (size_t i = 0; i < 20000; i++)
		memcpy(bytes + 104 + i * 80 + 64, (uint64_t[]){ 0, header.attrs_size }, 16);
	ck_assert_int_eq(open_bytes(bytes, 104 + header.attrs_size), 0);
	ck_assert_uint_eq(file.attr_count, 20000);
	free(bytes);
}
END_TEST

/* ---- Compressed records: perf.data-file-format.txt, zstd ------------------- */

#define PACKED_ROOM 2048

/*
 * COMM records in blocks of these counts (0 ends), padded to a multiple of 8 bytes.  Returns the
 * size.
 */
static size_t pack_records(uint8_t packed[PACKED_ROOM], const size_t *counts)
{
	/* A skippable frame comes first: RFC 8878, 3.1.2. */
	static const uint8_t skipped[15] = { 0x50, 0x2a, 0x4d, 0x18 };
	static uint8_t records[8000 * 64];
	const struct perf_event_header header = { PERF_RECORD_COMM, 0, 64 };
	ZSTD_outBuffer out = { packed, PACKED_ROOM - sizeof(skipped), 0 };
	ZSTD_CCtx *context = ZSTD_createCCtx();
	size_t skip;

	for (size_t at = 0; at < sizeof(records); at += 64)
		memcpy(records + at, &header, sizeof(header));
	for (; *counts; counts++) {
		ZSTD_inBuffer in = { records, *counts * 64, 0 };

		ck_assert_uint_eq(ZSTD_compressStream2(context, &out, &in,
						       counts[1] ? ZSTD_e_flush : ZSTD_e_end),
				  0);
	}
	ZSTD_freeCCtx(context);
	skip = 8 + -out.pos % 8;
	memmove(packed + skip, packed, out.pos);
	memcpy(packed, skipped, skip);
	packed[4] = (uint8_t)(skip - 8);
	return skip + out.pos;
}

START_TEST(a_record_may_unpack_to_many_times_its_size)
{
	uint8_t packed[PACKED_ROOM];

	perf_data_add_user_record(&data, PERF_USER_COMPRESSED, packed,
				  pack_records(packed, (size_t[]){ 1, 7999, 0 }));
	open_built();
	ck_assert_uint_eq(count_of(PERF_RECORD_COMM), 8000);
	ck_assert_uint_eq(diag_kinds(&diag), 0);
}
END_TEST

START_TEST(what_unpacks_to_too_much_is_reported)
{
	const size_t size = (size_t)16 << 20;
	uint8_t *zeros = calloc(1, size), packed[4096];
	size_t packed_size = ZSTD_compress(packed, sizeof(packed), zeros, size, 1);

	free(zeros);
	ck_assert(!ZSTD_isError(packed_size));
	perf_data_add_user_record(&data, PERF_USER_COMPRESSED, packed, packed_size);
	open_built();
	ck_assert_uint_eq(diag_kinds(&diag), 1);
	ck_assert_ptr_nonnull(strstr(diag.first->text, "as much when unpacked"));
}
END_TEST

START_TEST(a_compressed_record_that_claims_more_than_it_has_is_what_it_has)
{
	struct {
		uint64_t claimed;
		uint8_t packed[PACKED_ROOM];
	} record = { .claimed = 1000000 };
	size_t size = pack_records(record.packed, (size_t[]){ 10, 0 });

	perf_data_add_user_record(&data, PERF_USER_COMPRESSED2, &record, sizeof(uint64_t) + size);
	perf_data_add_user_record(&data, PERF_USER_FINISHED_ROUND, NULL, 0);
	open_built();
	ck_assert_uint_eq(count_of(PERF_RECORD_COMM), 10);
	ck_assert_uint_eq(diag_kinds(&diag), 0);
}
END_TEST

/* ---- Packed recordings: RFC 1952 (gzip), RFC 8878 (zstd) ------------------- */

#define PACKED_SIZE ((size_t)1 << 20)

static uint8_t packed_bytes[PACKED_SIZE];

/* Append one member or frame with these bytes to packed_bytes. Returns the new size. */
static size_t pack(bool zstd, const uint8_t *bytes, size_t size, size_t at)
{
	z_stream gzip = { .next_in = (uint8_t *)bytes, .avail_in = (uInt)size };

	if (zstd)
		return at + ZSTD_compress(packed_bytes + at, PACKED_SIZE - at, bytes, size, 1);
	gzip.next_out = packed_bytes + at;
	gzip.avail_out = (uInt)(PACKED_SIZE - at);
	ck_assert_int_eq(deflateInit2(&gzip, 1, Z_DEFLATED, 15 + 16, 8, 0), Z_OK);
	ck_assert_int_eq(deflate(&gzip, Z_FINISH), Z_STREAM_END);
	at = PACKED_SIZE - gzip.avail_out;
	deflateEnd(&gzip);
	return at;
}

/* Names that do not get much smaller, in 8000 records. */
static uint8_t *make_recording(size_t *size)
{
	unsigned random = 1;
	char name[40] = "";

	for (int i = 0; i < 8000; i++) {
		for (size_t at = 0; at + 1 < sizeof(name); at++)
			name[at] =
				(char)('0' + (random = random * 1103515245 + 12345) / 65536 % 64);
		perf_data_add_comm(&data, 0, i + 1, i + 1, name);
	}
	return perf_data_finish(&data, size);
}

START_TEST(a_packed_recording_is_read_also_in_several_members)
{
	size_t size, packed;
	uint8_t *bytes = make_recording(&size);

	packed = pack(_i, bytes, 100000, 0);
	packed = pack(_i, bytes + 100000, size - 100000, packed);
	free(bytes);
	ck_assert_int_eq(open_bytes(packed_bytes, packed), 0);
	ck_assert_uint_eq(count_of(PERF_RECORD_COMM), 8000);
	ck_assert_uint_eq(diag_kinds(&diag), 0);
}
END_TEST

START_TEST(a_packed_recording_is_read_up_to_where_it_is_cut_or_damaged)
{
	size_t size, packed, count;
	uint8_t *bytes = make_recording(&size);

	packed = pack(_i % 2, bytes, size, 0);
	free(bytes);
	if (_i < 2)
		packed -= packed / 4;
	else
		memset(packed_bytes + packed / 4 * 3, 0xff, 1000);
	ck_assert_int_eq(open_bytes(packed_bytes, packed), 0);
	count = count_of(PERF_RECORD_COMM);
	ck_assert_uint_gt(count, 2000);
	/* Damage inside of gzip can be seen only by the checksum at its end. */
	ck_assert_uint_lt(count, 8000 + (_i == 2));
	assert_warned("compressed");
}
END_TEST

START_TEST(a_packed_file_of_whole_chunks_is_complete)
{
	uint8_t *bytes = calloc(1, 1 << 18);

	ck_assert_int_eq(open_bytes(packed_bytes, pack(_i, bytes, 1 << 18, 0)), -1);
	ck_assert_ptr_nonnull(strstr(err.text, "is not a perf.data file"));
	ck_assert_uint_eq(diag_kinds(&diag), 0);
	free(bytes);
}
END_TEST

START_TEST(what_a_packed_file_lacks_is_an_error_if_nothing_is_left)
{
	static const char *const starts[] = { "\x1f\x8b\x08", "\x28\xb5\x2f\xfd",
					      "\x1f\x8b\x08\xff\xff\xff\xff\xff\xff\xff\xff\xff" };

	ck_assert_int_eq(open_bytes(starts[_i], strlen(starts[_i])), -1);
	ck_assert_ptr_nonnull(strstr(err.text, "cannot unpack: "));
}
END_TEST

/* A frame of 80 MiB in 7 KB: INPUT_UNPACK_START and 256 times the file. */
START_TEST(a_packed_file_is_unpacked_up_to_a_limit)
{
	const size_t size = (size_t)80 << 20;
	uint8_t *zeros = calloc(1, size);
	size_t whole, packed;
	uint8_t *bytes;

	perf_data_add_comm(&data, 0, 1, 1, "x");
	bytes = perf_data_finish(&data, &whole);
	memcpy(zeros, bytes, whole);
	packed = pack(true, zeros, size, 0);
	free(bytes);
	free(zeros);
	ck_assert_int_eq(open_bytes(packed_bytes, packed), 0);
	ck_assert_uint_lt(file.size, ((size_t)64 << 20) + 256 * packed + 1);
	ck_assert_uint_eq(count_of(PERF_RECORD_COMM), 1);
	ck_assert_ptr_nonnull(strstr(diag.first->text, "256 times as much when unpacked"));
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("perf_file");
	TCase *all = tcase_create("perf_file");

	tcase_add_checked_fixture(all, set_up, tear_down);
	tcase_add_test(all, events_have_their_attributes_ids_and_names);
	tcase_add_loop_test(all, attributes_of_older_and_newer_perfs_are_read, 0, 6);
	tcase_add_test(all, records_come_in_file_order_with_their_trailers);
	tcase_add_test(all, the_identifier_selects_the_layout_of_a_trailer);
	tcase_add_test(all, without_an_identifier_the_id_selects_it);
	tcase_add_test(all, features_are_given_as_plain_values);
	tcase_add_test(all, a_damaged_feature_costs_only_itself);
	tcase_add_test(all, features_without_a_use_change_nothing);
	tcase_add_test(all, a_feature_of_a_newer_perf_is_a_warning_with_its_number);
	tcase_add_test(all, a_command_line_that_claims_too_many_words_ends_with_the_section);
	tcase_add_loop_test(all, what_is_no_perf_data_is_refused_in_one_clear_line, 0, 5);
	tcase_add_test(all, a_missing_file_and_a_directory_are_refused);
	tcase_add_test(all, a_file_that_perf_did_not_finish_is_read_to_its_end);
	tcase_add_test(all, formats_of_tracepoints_in_a_stream_are_passed_over);
	tcase_add_test(all, build_ids_in_a_stream_come_in_records);
	tcase_add_test(all, a_stream_in_memory_is_read_as_one_in_a_file);
	tcase_add_loop_test(all, a_record_that_is_too_small_ends_the_reading, 0, 3);
	tcase_add_test(all, trace_data_that_is_cut_is_kept_as_far_as_it_goes);
	tcase_add_test(all, ids_that_overlap_cost_no_more_than_the_file_is_long);
	tcase_add_loop_test(all, a_packed_recording_is_read_also_in_several_members, 0, 2);
	tcase_add_loop_test(all, a_packed_recording_is_read_up_to_where_it_is_cut_or_damaged, 0, 3);
	tcase_add_loop_test(all, a_packed_file_of_whole_chunks_is_complete, 0, 2);
	tcase_add_loop_test(all, what_a_packed_file_lacks_is_an_error_if_nothing_is_left, 0, 3);
	tcase_add_test(all, a_packed_file_is_unpacked_up_to_a_limit);
	tcase_add_test(all, a_record_may_unpack_to_many_times_its_size);
	tcase_add_test(all, what_unpacks_to_too_much_is_reported);
	tcase_add_test(all, a_compressed_record_that_claims_more_than_it_has_is_what_it_has);
	suite_add_tcase(suite, all);
	return unit_run(suite);
}
