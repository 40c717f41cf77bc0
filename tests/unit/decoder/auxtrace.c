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

START_TEST(a_clock_that_no_shift_can_make_is_damage)
{
	struct perf_data_pt_info damaged = words;

	damaged.time_shift = 64;
	perf_data_add_pt_info(&data, &damaged, NULL);
	ck_assert_int_eq(read_built(), -1);
	ck_assert_int_eq(err.kind, ERROR_FORMAT);
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
	} kinds[] = { { 2, "Intel BTS" }, { 3, "CoreSight" }, { 4, "SPE" }, { 6, "type 6" } };

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
	tcase_add_test(all, a_clock_that_no_shift_can_make_is_damage);
	tcase_add_test(all, a_recording_without_intel_pt_says_how_to_make_one);
	tcase_add_loop_test(all, events_made_of_a_trace_are_refused_with_the_reason, 0, 3);
	tcase_add_loop_test(all, other_kinds_of_traces_are_refused_by_name, 0, 4);
	suite_add_tcase(suite, all);
	return unit_run(suite);
}
