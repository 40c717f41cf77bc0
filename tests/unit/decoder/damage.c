/* SPDX-License-Identifier: MIT */
/*
 * A recording that is cut or changed anywhere is read as far as it goes, or
 * refused with a reason; under the sanitizers this also shows any access out
 * of bounds.
 */
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "decoder/auxtrace.h"
#include "decoder/perf_file.h"
#include "decoder/timeline.h"
#include "tests/support/perf_data.h"
#include "tests/support/unit.h"

static struct perf_data data;
static char path[PERF_DATA_PATH];
static uint8_t *bytes;
static size_t size;

/* What was read of one damaged file. */
struct outcome {
	bool opened;
	size_t records, threads;
	uint64_t trace_bytes;
	unsigned warnings;
};

static void add_records(void)
{
	static const uint8_t id[20] = { 1, 2, 3 };
	struct perf_data_mmap map = {
		.pid = 5, .tid = 5, .address = 0x1000, .length = 0x1000, .path = "/bin/prog",
		.prot = PROT_EXEC, .build_id = id, .build_id_size = 20,
	};

	perf_data_stamp(&data, (struct perf_data_stamp){ 100, 5, 5, 0, 0 });
	perf_data_add_comm(&data, PERF_RECORD_MISC_COMM_EXEC, 5, 5, "prog");
	perf_data_add_mmap2(&data, PERF_RECORD_MISC_USER, &map);
	perf_data_add_mmap(&data, PERF_RECORD_MISC_USER, &map);
	perf_data_add_fork(&data, 6, 6, 5);
	perf_data_add_itrace_start(&data, 5, 5);
	perf_data_add_switch(&data, true, 6, 6);
	perf_data_add_aux_event(&data, 0, 16, PERF_AUX_FLAG_TRUNCATED);
	perf_data_add_lost(&data, 1);
	perf_data_add_exit(&data, 6, 6);
}

static void set_up(void)
{
	static const char *const words[] = { "perf", "record", NULL };
	struct perf_data_pt_info info = { .pmu_type = 8, .time_mult = 1, .cap_user_time_zero = 1 };
	struct perf_data_aux aux = { .tid = -1, .bytes = "sixteen bytes...", .size = 16 };

	perf_data_init(&data);
	perf_data_add_pt_event(&data, 8, 0x300e601);
	perf_data_add_pt_info(&data, &info, "filter 0x1/0x2@/bin/prog");
	add_records();
	perf_data_add_auxtrace(&data, &aux);
	perf_data_add_user_record(&data, PERF_USER_TIME_CONV, (uint64_t[]){ 1, 2, 3 }, 24);
	perf_data_set_text(&data, PERF_FEATURE_CPUID, "GenuineIntel,6,94,3");
	perf_data_set_command_line(&data, words);
	perf_data_add_build_id(&data, 0, "/bin/prog", (const uint8_t *)"0123456789", 10);
	perf_data_write_temporary(&data, path);
	bytes = perf_data_finish(&data, &size);
}

static void tear_down(void)
{
	unlink(path);
	free(bytes);
	perf_data_release(&data);
}

static void read_trace(const struct perf_file *file, struct outcome *outcome)
{
	struct auxtrace aux;
	struct error err = { 0 };

	if (auxtrace_init(&aux, file, &err) < 0)
		ck_assert(err.kind != ERROR_NONE && err.text[0]);
	for (size_t i = 0; i < aux.stream_count; i++)
		outcome->trace_bytes += aux.streams[i].size;
	auxtrace_release(&aux);
}

static struct outcome read_damaged(void)
{
	struct outcome outcome = { 0 };
	struct timeline *timeline;
	struct perf_record record;
	struct perf_file file;
	struct error err = { 0 };
	struct diag diag;
	uint64_t position = 0;

	diag_init(&diag);
	outcome.opened = perf_file_open(&file, path, &diag, &err) == 0;
	if (outcome.opened) {
		while (perf_file_next(&file, &position, &record, &diag))
			outcome.records++;
		timeline = timeline_open(&file, &diag, &err);
		timeline_threads(timeline, &outcome.threads);
		timeline_close(timeline);
		read_trace(&file, &outcome);
	} else {
		ck_assert(err.kind != ERROR_NONE && err.text[0]);
	}
	outcome.warnings = diag_kinds(&diag);
	perf_file_close(&file);
	diag_release(&diag);
	return outcome;
}

START_TEST(every_prefix_is_refused_or_read_as_far_as_it_goes)
{
	struct outcome whole = read_damaged(), last = whole;

	ck_assert(whole.opened);
	ck_assert_uint_eq(whole.records, 12);
	ck_assert_uint_eq(whole.threads, 2);
	ck_assert_uint_eq(whole.trace_bytes, 16);
	for (size_t length = size; length-- > 0;) {
		struct outcome outcome;

		ck_assert_int_eq(truncate(path, (off_t)length), 0);
		outcome = read_damaged();
		ck_assert_uint_le(outcome.records, last.records);
		ck_assert_uint_le(outcome.threads, last.threads);
		ck_assert_uint_le(outcome.trace_bytes, last.trace_bytes);
		ck_assert(last.opened || !outcome.opened);
		ck_assert(!outcome.opened || outcome.warnings);
		last = outcome;
	}
	ck_assert(!last.opened);
}
END_TEST

START_TEST(any_byte_may_have_any_value)
{
	static const uint8_t masks[] = { 0xff, 0x80, 0x01, 0x10 };
	int fd = open(path, O_WRONLY);

	ck_assert_int_ge(fd, 0);
	for (size_t i = 0; i < size; i++) {
		uint8_t changed = bytes[i] ^ masks[_i];
		struct outcome outcome;

		ck_assert_int_eq(pwrite(fd, &changed, 1, (off_t)i), 1);
		outcome = read_damaged();
		ck_assert_uint_le(outcome.records, size / 8);
		ck_assert_uint_le(outcome.trace_bytes, size);
		ck_assert_int_eq(pwrite(fd, &bytes[i], 1, (off_t)i), 1);
	}
	close(fd);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("damage");
	TCase *all = tcase_create("damage");

	tcase_add_checked_fixture(all, set_up, tear_down);
	tcase_set_timeout(all, 60); /* seconds, for a loaded machine with sanitizers */
	tcase_add_test(all, every_prefix_is_refused_or_read_as_far_as_it_goes);
	tcase_add_loop_test(all, any_byte_may_have_any_value, 0, 4);
	suite_add_tcase(suite, all);
	return unit_run(suite);
}
