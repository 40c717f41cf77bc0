/* SPDX-License-Identifier: MIT */
/* Fields in the order of linux/perf_event.h, PERF_RECORD_SAMPLE. */

#include <string.h>
#include <unistd.h>

#include "decoder/perf_data/perf_file.h"
#include "tests/support/perf_data.h"
#include "tests/support/unit.h"

static struct perf_data data;
static struct perf_file file;
static struct diag diag;
static uint64_t words[64];
static size_t count;

static void set_up(void)
{
	perf_data_init(&data);
	diag_init(&diag);
	count = 0;
}

static void tear_down(void)
{
	perf_file_close(&file);
	perf_data_release(&data);
	diag_release(&diag);
}

static void word(uint64_t value)
{
	words[count++] = value;
}

/* Read the words, cut to `size` bytes, as a sample. */
static int read_words(size_t size, struct perf_sample *sample)
{
	char path[PERF_DATA_PATH];
	struct perf_record record;
	struct error err = { 0 };
	uint64_t position = 0;

	perf_data_add_user_record(&data, PERF_RECORD_SAMPLE, words, size);
	perf_data_write_temporary(&data, path);
	ck_assert_int_eq(perf_file_open(&file, path, &diag, &err), 0);
	unlink(path);
	ck_assert_int_eq(perf_file_next(&file, &position, &record, &diag), 1);
	return perf_sample_read(&file, &record, sample);
}

static void write_all_fields(void)
{
	static const uint64_t plain[] = { 1003, 0x401000, (uint64_t)7 << 32 | 6,
					  123,  0xadd,    1003,
					  1,    5,        99 };

	memcpy(words, plain, sizeof(plain)); /* IDENTIFIER to PERIOD */
	count = 9;
	word(42), word(1003);                              /* READ: value, id */
	word(2), word(0xc1), word(0xc2);                   /* CALLCHAIN */
	word(UINT64_C(0x61626364) << 32 | 12), word(0x65); /* RAW: a size, then 12 bytes */
	word(1), word(0xf), word(0x1), word(0x0);          /* BRANCH_STACK */
	word(2), word(0xa1), word(0xa2);                   /* REGS_USER: ABI, two registers */
	word(8), word(0x57ac), word(8);                    /* STACK_USER: size, data, valid size */
	word(11), word(12), word(13);                      /* WEIGHT, DATA_SRC, TRANSACTION */
	word(0);                                           /* REGS_INTR: none */
	word(14), word(15), word(16), word(17); /* PHYS_ADDR, CGROUP, DATA and CODE_PAGE_SIZE */
	word(3), word(0x636261);                /* AUX: 3 bytes */
}

static void add_event_with_all_fields(void)
{
	struct perf_data_event event = { .first_id = 1000, .attr_bytes = 112 };

	event.attr.sample_type = (UINT64_C(1) << 24) - 1;
	event.attr.read_format = PERF_FORMAT_ID;
	event.attr.sample_regs_user = 0x41;
	event.attr.sample_regs_intr = 0x3;
	perf_data_add_event(&data, &event);
}

START_TEST(every_field_of_a_sample_is_found)
{
	struct perf_sample sample;

	add_event_with_all_fields();
	write_all_fields();
	ck_assert_int_eq(read_words(count * 8, &sample), 0);
	ck_assert_ptr_eq(sample.attr, &file.attrs[0]);
	ck_assert_uint_eq(sample.ip, 0x401000);
	ck_assert_int_eq(sample.pid, 6);
	ck_assert_int_eq(sample.tid, 7);
	ck_assert_int_eq(sample.cpu, 5);
	ck_assert_uint_eq(sample.time, 123);
	ck_assert_uint_eq(sample.address, 0xadd);
	ck_assert_uint_eq(sample.period, 99);
	ck_assert_uint_eq(sample.raw.size, 12);
	ck_assert_mem_eq(sample.raw.bytes, "dcbae", 5);
	ck_assert_uint_eq(sample.aux.size, 3);
	ck_assert_mem_eq(sample.aux.bytes, "abc", 3);
}
END_TEST

START_TEST(a_sample_that_is_cut_anywhere_is_refused)
{
	struct perf_sample sample;

	add_event_with_all_fields();
	write_all_fields();
	ck_assert_int_eq(read_words((size_t)_i * 8, &sample), -1);
}
END_TEST

/* Counts and sizes larger than a record. */
START_TEST(a_sample_that_claims_more_than_it_has_is_refused)
{
	static const size_t counts[] = { 11, 14, 16, 23, 34 };
	struct perf_sample sample;

	add_event_with_all_fields();
	write_all_fields();
	words[counts[_i]] = UINT64_MAX / 2;
	ck_assert_int_eq(read_words(count * 8, &sample), -1);
}
END_TEST

/* After the registers: 2 vectors of 4 words, 1 predicate of 1 word; then the period. */
START_TEST(vector_registers_are_passed_over)
{
	struct perf_data_event event = { .first_id = 1000, .attr_bytes = 112 };
	struct perf_sample sample;
	bool intr = _i;

	event.attr.sample_type = PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_AUX |
				 (intr ? PERF_SAMPLE_REGS_INTR : PERF_SAMPLE_REGS_USER);
	event.attr.sample_regs_user = intr ? 0 : 0x3;
	event.attr.sample_regs_intr = intr ? 0x3 : 0;
	perf_data_add_event(&data, &event);
	word(1000), word(2 | 4), word(0xa1), word(0xa2);
	word(UINT64_C(1) << 48 | UINT64_C(1) << 32 | 4 << 16 | 2);
	for (uint64_t i = 0; i < 9; i++)
		word(0x1000 + i);
	word(3), word(0x636261);
	ck_assert_int_eq(read_words(count * 8, &sample), 0);
	ck_assert_uint_eq(sample.aux.size, 3);
	ck_assert_mem_eq(sample.aux.bytes, "abc", 3);
}
END_TEST

/* Of perf record --off-cpu (tools/perf/util/evsel.c, __set_offcpu_sample()). */
START_TEST(a_wait_is_of_the_thread_that_waited)
{
	struct perf_data_event event = { .first_id = 1000, .attr_bytes = 112 };
	const uint64_t embedded[] = { (uint64_t)78 << 32 | 77,           5000,     2,
				      (uint64_t)-512 /* CONTEXT_USER */, 0x401234, 9 };
	struct perf_sample sample;

	event.name = "offcpu-time";
	event.attr.type = PERF_TYPE_SOFTWARE;
	event.attr.config = PERF_COUNT_SW_BPF_OUTPUT;
	event.attr.sample_type = PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP | PERF_SAMPLE_TID |
				 PERF_SAMPLE_TIME | PERF_SAMPLE_PERIOD | PERF_SAMPLE_RAW;
	perf_data_add_event(&data, &event);
	word(1000), word(0xfff1), word((uint64_t)6 << 32 | 5), word(123), word(1);
	memcpy((uint8_t *)&words[count] + 4, embedded, sizeof(embedded));
	memcpy(&words[count], &(uint32_t){ sizeof(embedded) + 4 }, 4);
	count += 7;
	ck_assert_int_eq(read_words(count * 8, &sample), 0);
	ck_assert_uint_eq(sample.time, 123);
	ck_assert_int_eq(sample.pid, 77);
	ck_assert_int_eq(sample.tid, 78);
	ck_assert_uint_eq(sample.period, 5000);
	ck_assert_uint_eq(sample.ip, 0x401234);
}
END_TEST

START_TEST(the_id_names_the_event_of_a_sample)
{
	struct perf_data_event event = { .first_id = 1000, .attr_bytes = 112 };
	struct perf_sample sample;

	event.attr.sample_type = PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_TIME;
	perf_data_add_event(&data, &event);
	event.first_id = 2000;
	event.attr.sample_type = PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_CPU;
	perf_data_add_event(&data, &event);
	word(2001), word(3);
	ck_assert_int_eq(read_words(16, &sample), 0);
	ck_assert_ptr_eq(sample.attr, &file.attrs[1]);
	ck_assert_int_eq(sample.cpu, 3);
	ck_assert_uint_eq(sample.time, 0);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("perf_sample");
	TCase *all = tcase_create("perf_sample");

	tcase_add_checked_fixture(all, set_up, tear_down);
	tcase_add_test(all, every_field_of_a_sample_is_found);
	tcase_add_loop_test(all, a_sample_that_is_cut_anywhere_is_refused, 0, 36);
	tcase_add_loop_test(all, a_sample_that_claims_more_than_it_has_is_refused, 0, 5);
	tcase_add_test(all, the_id_names_the_event_of_a_sample);
	tcase_add_loop_test(all, vector_registers_are_passed_over, 0, 2);
	tcase_add_test(all, a_wait_is_of_the_thread_that_waited);
	suite_add_tcase(suite, all);
	return unit_run(suite);
}
