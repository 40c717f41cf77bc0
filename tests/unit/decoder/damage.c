/* SPDX-License-Identifier: MIT */
/*
 * A recording that is cut or changed anywhere is read up to there, or refused with a reason;
 * sanitizers also check its accesses.
 */
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "decoder/code/code_image.h"
#include "decoder/perf_data/perf_file.h"
#include "decoder/streams/auxtrace.h"
#include "decoder/streams/pt_streams.h"
#include "decoder/timeline/timeline.h"
#include "tests/support/sample.h"
#include "tests/support/unit.h"

static struct perf_data data;
static char path[PERF_DATA_PATH];
static uint8_t *bytes;
static size_t size;
static uint8_t *program_bytes;
static size_t program_size;
static size_t trace_size;

/* The result of one damaged file. */
struct outcome {
	bool opened;
	size_t records, threads;
	uint64_t events; /* by both engines */
	uint64_t trace_bytes;
	unsigned warnings;
};

static void add_records(void)
{
	static const uint8_t id[20] = { 1, 2, 3 };
	static const uint8_t poke[] = { 0, 0x10, 0x40, 0, 0,    0,    0,    0,
					2, 0,    2,    0, 0x90, 0x90, 0xc3, 0xc3 };
	static const uint64_t names[] = { 1, 7, 0x656d616e, 0 };
	struct perf_data_mmap map = {
		.pid = 5,
		.tid = 5,
		.address = SAMPLE_CODE,
		.length = 0x1000,
		.file_offset = TINY_ELF_CODE_OFFSET,
		.path = "/bin/prog",
		.prot = PROT_EXEC,
		.build_id = id,
		.build_id_size = 20,
	};

	perf_data_stamp(&data, (struct perf_data_stamp){ 100, 5, 5, 0, 0 });
	perf_data_add_comm(&data, PERF_RECORD_MISC_COMM_EXEC, 5, 5, "prog");
	perf_data_add_mmap2(&data, PERF_RECORD_MISC_USER, &map);
	perf_data_add_mmap(&data, PERF_RECORD_MISC_USER, &map);
	perf_data_add_fork(&data, 6, 6, 5);
	perf_data_add_itrace_start(&data, 5, 5);
	perf_data_add_switch(&data, true, 6, 6);
	perf_data_add_record(&data, PERF_RECORD_TEXT_POKE, 0, poke, sizeof(poke));
	perf_data_add_user_record(&data, PERF_USER_THREAD_MAP, names, sizeof(names));
	perf_data_add_aux_event(&data, 0, trace_size, PERF_AUX_FLAG_TRUNCATED);
	perf_data_add_lost(&data, 1);
	perf_data_add_exit(&data, 6, 6);
}

static void set_up(void)
{
	static const char *const words[] = { "perf", "record", NULL };
	struct perf_data_pt_info info = { .pmu_type = 8,
					  .time_mult = 1,
					  .cap_user_time_zero = 1,
					  .tsc_bit = 0x400,
					  .noretcomp_bit = 0x800,
					  .per_cpu_mmaps = 1,
					  .max_nonturbo_ratio = 25 };
	struct perf_data_aux aux = { .reference = SAMPLE_START, .tid = -1 };
	struct pt_packets packets;

	program_bytes = tiny_elf_bytes(&sample_elf, &program_size);
	pt_packets_init(&packets);
	sample_trace(&packets);
	aux.bytes = packets.bytes;
	aux.size = trace_size = pt_packets_size(&packets);
	perf_data_init(&data);
	perf_data_add_pt_event(&data, 8, 0x300e601);
	perf_data_add_pt_info(&data, &info, "filter 0x1/0x2@/bin/prog");
	add_records();
	perf_data_add_auxtrace(&data, &aux);
	pt_packets_release(&packets);
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
	free(program_bytes);
	free(bytes);
	perf_data_release(&data);
}

/* The sample's code for every file that the damaged recording names. */
static struct byte_view find_code(void *context, const struct mapped_file *file)
{
	(void)context;
	(void)file;
	return (struct byte_view){ program_bytes, program_size };
}

/* Every byte is decoded, skipped or lost. */
static void decode(const struct auxtrace *aux, size_t index, const struct timeline *timeline,
		   struct outcome *outcome)
{
	struct code_source source = { .find = find_code };
	struct branch_event event;
	struct diag diag;

	diag_init(&diag);
	for (int engine = PT_ENGINE_FAST; engine <= PT_ENGINE_LIBIPT; engine++) {
		struct pt_stream_input input = { .info = &aux->info,
						 .aux = &aux->streams[index],
						 .history = &timeline->history,
						 .code = &source,
						 .diag = &diag,
						 .engine = (enum pt_engine)engine };
		struct pt_stream *stream = pt_stream_open(&input, NULL);
		const struct pt_stream_stats *stats = stream ? pt_stream_stats(stream) : NULL;

		while (stream && pt_stream_next(stream, &event))
			outcome->events++;
		if (stream)
			ck_assert_uint_eq(stats->bytes_decoded + stats->bytes_skipped +
						  stats->bytes_lost,
					  stats->bytes_total);
		pt_stream_close(stream);
	}
	diag_release(&diag);
}

static void read_trace(const struct perf_file *file, const struct timeline *timeline,
		       struct outcome *outcome)
{
	struct auxtrace aux;
	struct error err = { 0 };
	bool whole = auxtrace_init(&aux, file, &err) == 0;

	ck_assert(whole || (err.kind != ERROR_NONE && err.text[0]));
	for (size_t i = 0; i < aux.stream_count; i++) {
		outcome->trace_bytes += aux.streams[i].size;
		if (whole)
			decode(&aux, i, timeline, outcome);
	}
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
		timeline = timeline_open(&file, NULL, 0, &diag);
		outcome.threads = timeline->threads.count;
		read_trace(&file, timeline, &outcome);
		timeline_close(timeline);
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
	ck_assert_uint_eq(whole.records, 14);
	ck_assert_uint_eq(whole.threads, 2);
	ck_assert_uint_eq(whole.trace_bytes, trace_size);
	ck_assert_uint_gt(whole.events, 40);
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
	tcase_add_test(all, every_prefix_is_refused_or_read_as_far_as_it_goes);
	tcase_add_loop_test(all, any_byte_may_have_any_value, 0, 4);
	suite_add_tcase(suite, all);
	return unit_run(suite);
}
