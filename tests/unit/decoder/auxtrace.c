/* SPDX-License-Identifier: MIT */
#include "decoder/streams/auxtrace.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "decoder/perf_data/perf_file.h"
#include "tests/support/perf_data.h"
#include "tests/support/unit.h"

static struct perf_data data;
static struct perf_file file;
static struct auxtrace aux;
static struct diag diag;
static struct error err;

/* Each word has another value, so that a swap shows. */
static const struct perf_data_pt_info words = {
	.pmu_type = 8,
	.time_shift = 31,
	.time_mult = 3,
	.time_zero = 4,
	.cap_user_time_zero = 1,
	.tsc_bit = 0x400,
	.noretcomp_bit = 0x800,
	.have_sched_switch = 1,
	.snapshot_mode = 1,
	.per_cpu_mmaps = 1,
	.mtc_bit = 0x200,
	.mtc_freq_bits = 0x3c000,
	.tsc_ctc_ratio_n = 250,
	.tsc_ctc_ratio_d = 2,
	.cyc_bit = 0x2,
	.max_nonturbo_ratio = 32,
};

static void set_up(void)
{
	perf_data_init(&data);
	diag_init(&diag);
	memset(&err, 0, sizeof(err));
	memset(&file, 0, sizeof(file));
	memset(&aux, 0, sizeof(aux));
	perf_data_add_pt_event(&data, 8, 0x300e601);
}

static void tear_down(void)
{
	auxtrace_release(&aux);
	auxtrace_release(&aux);
	perf_file_close(&file);
	perf_data_release(&data);
	diag_release(&diag);
}

static int read_built(void)
{
	char path[PERF_DATA_PATH];

	perf_data_write_temporary(&data, path);
	ck_assert_msg(perf_file_open(&file, path, &diag, &err) == 0, "%s", err.text);
	unlink(path);
	return auxtrace_init(&aux, &file, &err);
}

static void add_piece(uint32_t queue, int32_t tid, int32_t cpu, uint64_t offset, const char *text)
{
	struct perf_data_aux piece = {
		.aux_offset = offset,
		.reference = offset + 100,
		.queue = queue,
		.tid = tid,
		.cpu = cpu,
		.bytes = text,
		.size = strlen(text),
	};

	perf_data_add_auxtrace(&data, &piece);
}

START_TEST(every_word_of_the_parameters_is_read)
{
	const struct pt_info *info = &aux.info;

	perf_data_add_pt_info(&data, &words, "filter 0x10/0x20@/bin/x");
	perf_data_set_text(&data, PERF_FEATURE_CPUID, "GenuineIntel,6,151,2");
	ck_assert_int_eq(read_built(), 0);
	ck_assert_uint_eq(info->pmu_type, 8);
	ck_assert_uint_eq(info->time_shift, 31);
	ck_assert_uint_eq(info->time_mult, 3);
	ck_assert_uint_eq(info->time_zero, 4);
	ck_assert_uint_eq(info->tsc_bit, 0x400);
	ck_assert_uint_eq(info->noretcomp_bit, 0x800);
	ck_assert(info->snapshot_mode && info->per_cpu_mmaps);
	ck_assert_uint_eq(info->mtc_bit, 0x200);
	ck_assert_uint_eq(info->mtc_freq_bits, 0x3c000);
	ck_assert_uint_eq(info->tsc_ctc_ratio_n, 250);
	ck_assert_uint_eq(info->tsc_ctc_ratio_d, 2);
	ck_assert_uint_eq(info->cyc_bit, 2);
	ck_assert_uint_eq(info->max_nonturbo_ratio, 32);
	ck_assert_str_eq(info->filter, "filter 0x10/0x20@/bin/x");
	ck_assert_uint_eq(info->config, 0x300e601);
	ck_assert(info->exclude_kernel && !info->exclude_user);
	ck_assert(info->cpu_is_intel);
	ck_assert_uint_eq(info->cpu_family, 6);
	ck_assert_uint_eq(info->cpu_model, 151);
	ck_assert_uint_eq(info->cpu_stepping, 2);
}
END_TEST

/* perf 4.2 wrote 10 words, without MTC, CYC and filters. */
START_TEST(words_that_an_older_perf_did_not_write_are_zero)
{
	uint8_t payload[8 + 10 * 8] = { 1 };

	memcpy(payload + 8, &words, sizeof(payload) - 8);
	perf_data_add_user_record(&data, PERF_USER_AUXTRACE_INFO, payload, sizeof(payload));
	ck_assert_int_eq(read_built(), 0);
	ck_assert(aux.info.per_cpu_mmaps);
	ck_assert_uint_eq(aux.info.mtc_bit, 0);
	ck_assert_uint_eq(aux.info.tsc_ctc_ratio_n, 0);
	ck_assert_ptr_null(aux.info.filter);
	ck_assert(!aux.info.cpu_is_intel);
}
END_TEST

START_TEST(pieces_of_a_queue_are_one_stream_in_file_order)
{
	perf_data_add_pt_info(&data, &words, NULL);
	add_piece(1, -1, 3, 0, "c0______");
	add_piece(0, -1, 2, 0, "a0______");
	add_piece(1, -1, 3, 8, "c1______");
	add_piece(0, -1, 2, 8, "a1______c2______");
	add_piece(7, 4711, -1, 0, "t");
	ck_assert_int_eq(read_built(), 0);
	ck_assert_uint_eq(aux.stream_count, 3);
	ck_assert_int_eq(aux.streams[0].cpu, 2);
	ck_assert_int_eq(aux.streams[0].tid, -1);
	ck_assert_uint_eq(aux.streams[0].piece_count, 2);
	ck_assert_uint_eq(aux.streams[0].size, 24);
	ck_assert_mem_eq(aux.streams[0].pieces[0].bytes, "a0", 2);
	ck_assert_mem_eq(aux.streams[0].pieces[1].bytes, "a1______c2", 10);
	ck_assert_uint_eq(aux.streams[0].pieces[1].aux_offset, 8);
	ck_assert_uint_eq(aux.streams[0].pieces[1].reference, 108);
	ck_assert_ptr_eq(file.parts[0].bytes + aux.streams[0].pieces[1].file_offset,
			 aux.streams[0].pieces[1].bytes);
	ck_assert_int_eq(aux.streams[1].cpu, 3);
	ck_assert_mem_eq(aux.streams[1].pieces[1].bytes, "c1", 2);
	ck_assert_int_eq(aux.streams[2].cpu, -1);
	ck_assert_int_eq(aux.streams[2].tid, 4711);
	ck_assert_uint_eq(aux.streams[2].size, 8);
}
END_TEST

START_TEST(the_clock_comes_from_time_conv_where_the_parameters_have_none)
{
	static const uint64_t conversion[] = { 10, 1000, 99 };
	struct perf_data_pt_info without = words;

	without.cap_user_time_zero = _i;
	perf_data_add_pt_info(&data, &without, NULL);
	perf_data_add_user_record(&data, PERF_USER_TIME_CONV, conversion, sizeof(conversion));
	ck_assert_int_eq(read_built(), 0);
	ck_assert_uint_eq(aux.info.time_shift, _i ? 31 : 10);
	ck_assert_uint_eq(aux.info.time_mult, _i ? 3 : 1000);
	ck_assert_uint_eq(aux.info.time_zero, _i ? 4 : 99);
}
END_TEST

/* The order of the two records in the file does not matter. */
START_TEST(a_time_conv_before_the_parameters_counts_as_well)
{
	static const uint64_t conversion[] = { 10, 1000, 99 };
	struct perf_data_pt_info without = words;

	without.cap_user_time_zero = 0;
	perf_data_add_user_record(&data, PERF_USER_TIME_CONV, conversion, sizeof(conversion));
	perf_data_add_pt_info(&data, &without, NULL);
	ck_assert_int_eq(read_built(), 0);
	ck_assert_uint_eq(aux.info.time_mult, 1000);
}
END_TEST

/* A shift of 64-bit words; a field of four bits, MTCFreq. */
static const struct {
	uint64_t shift, mtc;
	int status;
} clocks[] = {
	{ 63, 0x3c000, 0 }, { 64, 0x3c000, -1 }, { 31, 0x7c000, -1 },
	{ 31, 0x1c000, 0 }, { 31, 0, 0 },
};

START_TEST(a_clock_that_no_shift_can_make_is_damage)
{
	struct perf_data_pt_info damaged = words;

	damaged.time_shift = clocks[_i].shift;
	damaged.mtc_freq_bits = clocks[_i].mtc;
	perf_data_add_pt_info(&data, &damaged, NULL);
	ck_assert_int_eq(read_built(), clocks[_i].status);
	ck_assert_int_eq(err.kind, clocks[_i].status ? ERROR_FORMAT : ERROR_NONE);
}
END_TEST

/* struct perf_record_time_conv: perf 5.10 added cycles, mask, and flags. */
static const struct {
	uint64_t shift;
	size_t size;
	uint8_t valid;
	bool taken;
} conversions[] = {
	{ 10, 24, 0, true }, { 10, 48, 1, true },  { 10, 48, 0, false },
	{ 63, 24, 0, true }, { 64, 24, 0, false }, { 10, 16, 0, false },
};

/* Without a clock, no packet has a time. */
START_TEST(a_valid_time_conv_is_the_clock_of_times)
{
	struct perf_data_pt_info without = words;
	uint64_t record[6] = { conversions[_i].shift, 1000, 99, 5, 6, 0 };
	const bool taken = conversions[_i].taken;

	memcpy(&record[5], &conversions[_i].valid, 1);
	without.cap_user_time_zero = 0;
	perf_data_add_pt_info(&data, &without, NULL);
	perf_data_add_user_record(&data, PERF_USER_TIME_CONV, record, conversions[_i].size);
	ck_assert_int_eq(read_built(), 0);
	ck_assert_uint_eq(aux.info.time_mult, taken ? 1000 : 0);
	ck_assert_uint_eq(aux.info.config, taken ? 0x300e601 : 0x300e001);
}
END_TEST

/* PERF_AUX_FLAG_*: 1 truncated, 2 overwrite. */
static const struct {
	uint64_t config, flags;
	int cuts;    /* of the CPU's buffer */
	bool copies; /* snapshots */
} records[] = {
	{ 0x300e601, 0, 0, false }, /* no CYC: only losses matter */
	{ 0x300e601, 1, 2, false }, { 0x300e603, 0, 2, false },
	{ 0x300e603, 1, 2, false }, { 0x300e603, 2, 0, true },
};

START_TEST(a_buffer_has_the_ends_that_its_records_report)
{
	struct perf_data_pt_info each = words;

	each.snapshot_mode = 0;
	data.events[0].attr.config = records[_i].config;
	perf_data_add_pt_info(&data, &each, NULL);
	add_piece(0, -1, 2, 0, "a0______");
	add_piece(0, -1, 2, 8, "a1______");
	add_piece(1, -1, 3, 0, "b0______");
	perf_data_stamp(&data,
			(struct perf_data_stamp){ .time = 70, .pid = 5, .tid = 6, .cpu = 2 });
	perf_data_add_aux_event(&data, 8, 8, records[_i].flags);
	perf_data_stamp(&data,
			(struct perf_data_stamp){ .time = 60, .pid = 5, .tid = 6, .cpu = 2 });
	perf_data_add_aux_event(&data, 0, 8, records[_i].flags);
	ck_assert_int_eq(read_built(), 0);
	ck_assert_uint_eq(aux.stream_count, 2);
	ck_assert_int_eq(aux.streams[0].copies, records[_i].copies);
	ck_assert_uint_eq(aux.streams[0].cut_count, records[_i].cuts);
	ck_assert_uint_eq(aux.streams[1].cut_count, 0);
	for (size_t i = 0; i < aux.streams[0].cut_count; i++) {
		ck_assert_uint_eq(aux.streams[0].cuts[i].at, 8 * (i + 1));
		ck_assert_uint_eq(aux.streams[0].cuts[i].time, 60 + 10 * i);
		ck_assert_int_eq(aux.streams[0].cuts[i].whole, !records[_i].flags);
	}
}
END_TEST

/* A file can have a buffer more than once, in queues of their own; its losses count once. */
START_TEST(a_buffer_that_is_there_again_is_marked)
{
	perf_data_add_pt_info(&data, &words, NULL);
	add_piece(0, -1, 2, 0, "a_______");
	add_piece(1, 77, -1, 0, "b_______");
	add_piece(2, -1, 2, 0, "c_______");
	add_piece(3, 78, -1, 0, "d_______");
	add_piece(4, 77, -1, 0, "e_______");
	ck_assert_int_eq(read_built(), 0);
	ck_assert_uint_eq(aux.stream_count, 5);
	for (size_t i = 0; i < 5; i++) {
		ck_assert_int_eq(aux.streams[i].again, i == 2 || i == 4);
		/* The record before its bytes, with its own bytes of the header. */
		ck_assert_uint_gt(aux.streams[i].pieces[0].before, 0);
		ck_assert_uint_eq(aux.streams[i].pieces[0].before + 48,
				  aux.streams[i].pieces[0].file_offset);
	}
}
END_TEST

START_TEST(a_recording_without_intel_pt_says_how_to_make_one)
{
	perf_data_add_comm(&data, 0, 1, 1, "x");
	ck_assert_int_eq(read_built(), -1);
	ck_assert_int_eq(err.kind, ERROR_FORMAT);
	ck_assert_msg(strstr(err.text, "perf record -e intel_pt") != NULL, "%s", err.text);
}
END_TEST

/* intel_pt_synth_events() of perf: the first id of the event, and 1,000,000,000 or more. */
START_TEST(events_made_of_a_trace_are_refused_with_the_reason)
{
	struct perf_data_event branches = { .attr.type = PERF_TYPE_HARDWARE,
					    .first_id = 1000000000 + (uint64_t)_i };

	perf_data_add_event(&data, &branches);
	perf_data_add_comm(&data, 0, 1, 1, "x");
	ck_assert_int_eq(read_built(), -1);
	ck_assert_msg(strstr(err.text, "perf inject --itrace replaced it") != NULL, "%s", err.text);
}
END_TEST

/* enum auxtrace_type of util/auxtrace.h: 2 Intel BTS, 3 CoreSight, 4 SPE, 6 HiSilicon. */
START_TEST(other_kinds_of_traces_are_refused_by_name)
{
	static const struct {
		uint32_t type;
		const char *name;
	} kinds[] = {
		{ 0, "type 0" }, { 2, "Intel BTS" }, { 3, "CoreSight" },
		{ 4, "SPE" },    { 5, "s390" },      { 6, "type 6" },
	};

	perf_data_add_user_record(&data, PERF_USER_AUXTRACE_INFO, (uint32_t[]){ kinds[_i].type, 0 },
				  8);
	ck_assert_int_eq(read_built(), -1);
	ck_assert_int_eq(err.kind, ERROR_UNSUPPORTED);
	ck_assert_msg(strstr(err.text, kinds[_i].name) != NULL, "%s", err.text);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("auxtrace");
	TCase *all = tcase_create("auxtrace");

	tcase_add_checked_fixture(all, set_up, tear_down);
	tcase_add_test(all, every_word_of_the_parameters_is_read);
	tcase_add_test(all, words_that_an_older_perf_did_not_write_are_zero);
	tcase_add_test(all, pieces_of_a_queue_are_one_stream_in_file_order);
	tcase_add_loop_test(all, the_clock_comes_from_time_conv_where_the_parameters_have_none, 0,
			    2);
	tcase_add_test(all, a_time_conv_before_the_parameters_counts_as_well);
	tcase_add_loop_test(all, a_clock_that_no_shift_can_make_is_damage, 0, COUNT_OF(clocks));
	tcase_add_loop_test(all, a_valid_time_conv_is_the_clock_of_times, 0, COUNT_OF(conversions));
	tcase_add_loop_test(all, a_buffer_has_the_ends_that_its_records_report, 0,
			    COUNT_OF(records));
	tcase_add_test(all, a_buffer_that_is_there_again_is_marked);
	tcase_add_test(all, a_recording_without_intel_pt_says_how_to_make_one);
	tcase_add_loop_test(all, events_made_of_a_trace_are_refused_with_the_reason, 0, 3);
	tcase_add_loop_test(all, other_kinds_of_traces_are_refused_by_name, 0, 6);
	suite_add_tcase(suite, all);
	return unit_run(suite);
}
