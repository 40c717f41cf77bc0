/* SPDX-License-Identifier: MIT */
/*
 * Both engines on the sample program (tests/support/sample.h), which runs five times, each from a
 * PSB: once with the same code, once with a changed byte for one engine.
 */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "decoder/code/code_image.h"
#include "decoder/perf_data/perf_file.h"
#include "decoder/streams/auxtrace.h"
#include "decoder/streams/pt_verify.h"
#include "decoder/timeline/timeline.h"
#include "tests/support/sample.h"
#include "tests/support/unit.h"

#define RUNS   5
#define PERIOD 2000

static struct {
	uint8_t *original, *bytes; /* of the program; for libipt, and for the fast engine */
	size_t size;
	struct pt_packets packets;
} sample;

static struct byte_view find_code(void *context, const struct mapped_file *file)
{
	uint8_t *const *bytes = context;

	if (strcmp(file->path, SAMPLE_PATH) != 0)
		return (struct byte_view){ 0 };
	return (struct byte_view){ *bytes, sample.size };
}

struct pt_stream *__real_pt_stream_open(const struct pt_stream_input *input, struct error *err);
struct pt_stream *__wrap_pt_stream_open(const struct pt_stream_input *input, struct error *err);

/* Give libipt the program as it was, whatever a test changed for the fast engine. */
struct pt_stream *__wrap_pt_stream_open(const struct pt_stream_input *input, struct error *err)
{
	static const struct code_source source = { .find = find_code, .context = &sample.original };
	struct pt_stream_input own = *input;

	if (own.engine == PT_ENGINE_LIBIPT)
		own.code = &source;
	return __real_pt_stream_open(&own, err);
}

static void setup(void)
{
	sample.original = tiny_elf_bytes(&sample_elf, &sample.size);
	sample.bytes = tiny_elf_bytes(&sample_elf, &sample.size);
	pt_packets_init(&sample.packets);
}

static void teardown(void)
{
	free(sample.original);
	free(sample.bytes);
	pt_packets_release(&sample.packets);
}

static uint64_t trace_begin; /* position in the file */

static struct pt_verdict verify(uint64_t every)
{
	struct code_source source = { .find = find_code, .context = &sample.bytes };
	struct pt_verdict verdict = { 0 };
	char recording[PERF_DATA_PATH];
	struct auxtrace auxtrace;
	struct timeline *timeline;
	struct perf_data data;
	struct perf_file file;
	struct diag diag;

	diag_init(&diag);
	sample_begin(&data);
	sample_add_trace(&data, &sample.packets);
	perf_data_write_temporary(&data, recording);
	ck_assert_int_eq(perf_file_open(&file, recording, &diag, NULL), 0);
	ck_assert_int_eq(auxtrace_init(&auxtrace, &file, NULL), 0);
	/* MTCs each PERIOD ns, by a bit that the sample's event has; the trace may have none. */
	auxtrace.info.mtc_bit = 1;
	auxtrace.info.mtc_freq_bits = 0x3c000;
	auxtrace.info.tsc_ctc_ratio_n = PERIOD;
	auxtrace.info.tsc_ctc_ratio_d = 1;
	timeline = timeline_open(&file, NULL, 0, &diag);
	ck_assert_int_eq(pt_verify(&(struct pt_stream_input){ .info = &auxtrace.info,
							      .aux = &auxtrace.streams[0],
							      .history = &timeline->history,
							      .code = &source,
							      .diag = &diag },
				   every, &verdict, NULL),
			 0);
	trace_begin = auxtrace.streams[0].pieces[0].file_offset;
	timeline_close(timeline);
	auxtrace_release(&auxtrace);
	perf_file_close(&file);
	unlink(recording);
	perf_data_release(&data);
	diag_release(&diag);
	return verdict;
}

static void run_sample(void)
{
	for (int i = 0; i < RUNS; i++)
		sample_trace(&sample.packets);
}

/* The byte at an IP in the program that the fast engine decodes. */
static uint8_t *byte_at(uint64_t ip)
{
	return &sample.bytes[ip - SAMPLE_CODE + TINY_ELF_CODE_OFFSET];
}

START_TEST(equal_engines_have_no_differences)
{
	struct pt_verdict verdict;

	run_sample();
	verdict = verify(1);
	ck_assert_uint_eq(verdict.segments, RUNS);
	ck_assert_uint_eq(verdict.differences, 0);
	for (int i = 0; i < VERIFY_STOPS; i++)
		ck_assert_uint_eq(verdict.rest[i].fast + verdict.rest[i].libipt, 0);
	ck_assert_uint_eq(verify(2).segments, 3);
	ck_assert_uint_eq(verify(100).segments, 1);
}
END_TEST

/* work() calls leaf at 0x20 after it; the fast engine sees a call of `circle`. */
START_TEST(another_target_of_a_call_is_reported_with_both_sides)
{
	struct pt_verdict verdict;

	run_sample();
	ck_assert_uint_eq(*byte_at(SAMPLE_WORK), 0xe8);
	*byte_at(SAMPLE_WORK + 1) += SAMPLE_CIRCLE - SAMPLE_LEAF;
	verdict = verify(1);
	ck_assert_uint_eq(verdict.segments, RUNS);
	ck_assert_uint_eq(verdict.differences, RUNS);
	ck_assert_uint_eq(verdict.file_offset, trace_begin);
	ck_assert_uint_eq(verdict.index, 2); /* after trace on and the call of work */
	ck_assert_str_eq(verdict.fast, "call 401020 => 401050"); /* circle */
	ck_assert_str_eq(verdict.libipt, "call 401020 => 401040");
	/*
	 * Trace on, twice (call work, three times call leaf and ret, jne twice, ret), and the
	 * syscall; and trace on of the next run. The first two are compared.
	 */
	ck_assert_uint_eq(verdict.branches, RUNS * 2);
	ck_assert_uint_eq(verdict.rest[VERIFY_DIFFERENCE].libipt,
			  RUNS * (1 + 2 * 10 + 1) + (RUNS - 1) - RUNS * 2);
}
END_TEST

/* A conditional jump for one engine only. */
START_TEST(damage_that_only_one_finds_is_a_difference)
{
	run_sample();
	*byte_at(SAMPLE_WORK + 5) = 0x0f; /* an incomplete ud2: no instruction */
	*byte_at(SAMPLE_WORK + 6) = 0xff;
	ck_assert_uint_eq(verify(1).differences, RUNS);
}
END_TEST

/* A PSBEND without PSB is damage for the fast engine only; it comes first, but is not reported. */
START_TEST(a_difference_without_any_damage_is_named_rather)
{
	static const uint8_t psbend[] = { 0x02, 0x23 };
	struct pt_verdict verdict;

	pt_packets_psb(&sample.packets, SAMPLE_START, 0);
	pt_packets_pge(&sample.packets, SAMPLE_LEAF);
	pt_packets_raw(&sample.packets, psbend, sizeof(psbend));
	pt_packets_tip(&sample.packets, SAMPLE_MAIN + 10);
	pt_packets_pgd(&sample.packets, 0);
	run_sample();
	*byte_at(SAMPLE_WORK + 1) += SAMPLE_CIRCLE - SAMPLE_LEAF;
	verdict = verify(1);
	ck_assert_uint_eq(verdict.differences, RUNS + 1);
	ck_assert_uint_eq(verdict.one_sided, 1);
	ck_assert_uint_gt(verdict.file_offset, trace_begin);
	ck_assert_str_eq(verdict.fast, "call 401020 => 401050"); /* circle */
	ck_assert_str_eq(verdict.libipt, "call 401020 => 401040");
}
END_TEST

/* After missing code, each engine resumes in its own way. */
START_TEST(what_both_call_damaged_is_counted_as_not_compared)
{
	struct pt_verdict verdict;

	pt_packets_psb(&sample.packets, SAMPLE_START, 0);
	pt_packets_pge(&sample.packets, SAMPLE_LEAF);
	pt_packets_tip(&sample.packets, 0x900000);
	pt_packets_tnt(&sample.packets, "tttt");
	pt_packets_tip(&sample.packets, SAMPLE_LEAF);
	pt_packets_tip(&sample.packets, SAMPLE_MAIN + 10);
	pt_packets_pgd(&sample.packets, 0);
	run_sample();
	verdict = verify(1);
	ck_assert_uint_eq(verdict.segments, RUNS + 1);
	ck_assert_uint_eq(verdict.differences, 0);
	/* At the TIP to leaf: its address, ret, the syscall; both: trace on of the next run. */
	ck_assert_uint_eq(verdict.rest[VERIFY_DAMAGE].fast, 4);
	ck_assert_uint_eq(verdict.rest[VERIFY_DAMAGE].libipt, 1);
}
END_TEST

/* libipt reads up to the next PSB, and gives the last branch before it the PSB's time. */
START_TEST(the_time_of_the_last_branch_before_a_psb_is_left_out)
{
	struct pt_verdict verdict;

	pt_packets_psb(&sample.packets, SAMPLE_START, 0);
	pt_packets_pge(&sample.packets, SAMPLE_LEAF);
	pt_packets_tip(&sample.packets, SAMPLE_MAIN + 5);
	pt_packets_psb(&sample.packets, SAMPLE_START + 2 * PERIOD, SAMPLE_WORK);
	pt_packets_tnt(&sample.packets, "tn");
	pt_packets_tip(&sample.packets, SAMPLE_MAIN + 10);
	pt_packets_pgd(&sample.packets, 0);
	verdict = verify(1);
	ck_assert_uint_eq(verdict.segments, 2);
	ck_assert_uint_eq(verdict.differences, 0);
	ck_assert_uint_eq(verdict.apart, 0);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("pt_verify");
	TCase *tests = tcase_create("all");

	tcase_add_checked_fixture(tests, setup, teardown);
	tcase_add_test(tests, equal_engines_have_no_differences);
	tcase_add_test(tests, another_target_of_a_call_is_reported_with_both_sides);
	tcase_add_test(tests, damage_that_only_one_finds_is_a_difference);
	tcase_add_test(tests, a_difference_without_any_damage_is_named_rather);
	tcase_add_test(tests, what_both_call_damaged_is_counted_as_not_compared);
	tcase_add_test(tests, the_time_of_the_last_branch_before_a_psb_is_left_out);
	suite_add_tcase(suite, tests);
	return unit_run(suite);
}
