/* SPDX-License-Identifier: MIT */
/*
 * The engine on the sample program (tests/support/sample.h) with packets that
 * each test writes.  Expected branches follow from the program's code and the
 * packets' meaning (SDM volume 3, "Intel Processor Trace").
 */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "decoder/auxtrace.h"
#include "decoder/code_image.h"
#include "decoder/perf_file.h"
#include "decoder/pt_stream.h"
#include "decoder/timeline.h"
#include "tests/support/sample.h"
#include "tests/support/unit.h"

#define EVENTS_MAX 64

/* A recording, opened; one stream's events. */
struct run {
	struct perf_data data;
	struct pt_packets packets;
	char recording[PERF_DATA_PATH], program[PERF_DATA_PATH];
	uint8_t *program_bytes;
	size_t program_size;
	struct branch_event events[EVENTS_MAX]; /* the first ones */
	struct branch_event last;
	size_t count;
	struct pt_stream_stats stats;
	struct diag diag;
	int32_t tid;   /* of the last event */
	enum pt_engine engine;
	bool skip; /* leave out local jumps */
	bool in_pieces; /* write the trace in pieces of eight bytes */
};

static struct run run;

static struct code_file find_code(void *context, const struct mapped_file *file)
{
	(void)context;
	if (strcmp(file->path, SAMPLE_PATH) != 0)
		return (struct code_file){ 0 };
	return (struct code_file){ run.program, run.program_bytes, run.program_size };
}

/* `engine` is one of enum pt_engine: every test is run with each. */
static void begin(int engine)
{
	int fd;

	memset(&run, 0, sizeof(run));
	run.engine = (enum pt_engine)engine;
	strcpy(run.program, "/tmp/ptrace2ftf-XXXXXX");
	fd = mkstemp(run.program);
	ck_assert_int_ge(fd, 0);
	close(fd);
	tiny_elf_write(&sample_elf, run.program);
	run.program_bytes = tiny_elf_bytes(&sample_elf, &run.program_size);
	sample_begin(&run.data);
	pt_packets_init(&run.packets);
	diag_init(&run.diag);
}

/* The sample's function work, by where it lies in the file. */
static bool find_work(void *context, const struct mapped_file *file, uint64_t offset,
		      uint64_t *begin_offset, uint64_t *end_offset)
{
	(void)context;
	(void)file;
	*begin_offset = SAMPLE_WORK - SAMPLE_CODE + TINY_ELF_CODE_OFFSET;
	*end_offset = *begin_offset + 8;
	return offset >= *begin_offset && offset < *end_offset;
}

static void decode(const struct auxtrace *auxtrace, const struct timeline *timeline)
{
	struct code_source source = { find_code, find_work, NULL };
	struct code_image *code = code_image_open(&source, timeline_space_count(timeline),
						  &run.diag);
	struct pt_stream_input input = { &auxtrace->info, &auxtrace->streams[0], timeline, code,
					 &run.diag, run.engine, run.skip };
	struct pt_stream *stream = pt_stream_open(&input, NULL);

	ck_assert_ptr_nonnull(stream);
	while (pt_stream_next(stream, &run.last)) {
		if (run.count < EVENTS_MAX)
			run.events[run.count++] = run.last;
	}
	if (run.last.thread)
		run.tid = run.last.thread->tid;
	run.stats = *pt_stream_stats(stream);
	pt_stream_close(stream);
	code_image_close(code);
}

static void add_trace(void)
{
	if (!run.in_pieces) {
		sample_add_trace(&run.data, &run.packets);
		return;
	}
	for (size_t at = 0; at < pt_packets_size(&run.packets); at += 8) {
		struct perf_data_aux aux = { .aux_offset = at, .reference = SAMPLE_START,
					     .tid = -1, .bytes = run.packets.bytes + at,
					     .size = 8 };

		perf_data_add_auxtrace(&run.data, &aux);
	}
}

/* Decode what was written; the events are in `run`. */
static void finish(void)
{
	struct auxtrace auxtrace;
	struct timeline *timeline;
	struct perf_file file;

	add_trace();
	perf_data_write_temporary(&run.data, run.recording);
	ck_assert_int_eq(perf_file_open(&file, run.recording, &run.diag, NULL), 0);
	ck_assert_int_eq(auxtrace_init(&auxtrace, &file, NULL), 0);
	timeline = timeline_open(&file, &run.diag, NULL);
	decode(&auxtrace, timeline);
	timeline_close(timeline);
	auxtrace_release(&auxtrace);
	perf_file_close(&file);
	unlink(run.recording);
	unlink(run.program);
	free(run.program_bytes);
	perf_data_release(&run.data);
	pt_packets_release(&run.packets);
}

static void expect(size_t index, enum branch_kind kind, uint64_t from, uint64_t to)
{
	ck_assert_uint_lt(index, run.count);
	ck_assert_uint_eq(run.events[index].kind, kind);
	ck_assert_uint_eq(run.events[index].from, from);
	ck_assert_uint_eq(run.events[index].to, to);
}

START_TEST(a_whole_program_gives_its_branches_in_order)
{
	begin(_i);
	sample_trace(&run.packets);
	finish();
	ck_assert_uint_eq(run.count, 22);
	expect(0, BRANCH_NONE, 0, SAMPLE_MAIN);
	ck_assert(run.events[0].flags & BRANCH_TRACE_ON);
	expect(1, BRANCH_CALL, SAMPLE_MAIN, SAMPLE_WORK);
	expect(2, BRANCH_CALL, SAMPLE_WORK, SAMPLE_LEAF);
	expect(3, BRANCH_RETURN, SAMPLE_LEAF, SAMPLE_WORK + 5);
	expect(4, BRANCH_COND, SAMPLE_WORK + 5, SAMPLE_WORK);
	/* The third time the jump is not taken: no event for it. */
	expect(9, BRANCH_RETURN, SAMPLE_LEAF, SAMPLE_WORK + 5);
	expect(10, BRANCH_RETURN, SAMPLE_WORK + 7, SAMPLE_MAIN + 5);
	expect(21, BRANCH_SYSCALL, SAMPLE_SYSCALL, 0);
	ck_assert(run.events[21].flags & BRANCH_TRACE_OFF);
	ck_assert(!(run.events[21].flags & BRANCH_ASYNC));
	ck_assert_int_eq(run.tid, SAMPLE_PID);
	ck_assert_uint_eq(run.stats.gaps[GAP_NO_CODE] + run.stats.bytes_lost, 0);
}
END_TEST

START_TEST(a_branch_has_the_time_of_its_packet)
{
	begin(_i);
	sample_trace(&run.packets);
	finish();
	/* PGE, then TSC +50, then TNT: calls need no packet, the first return is the TNT's. */
	ck_assert_uint_eq(run.events[1].time, SAMPLE_START);
	ck_assert_uint_eq(run.events[3].time, SAMPLE_START + 50);
	ck_assert_uint_eq(run.events[6].time, SAMPLE_START + 150);
	/* The last return of work: libipt may have read the TSC behind its TNT. */
	ck_assert_uint_ge(run.events[20].time, SAMPLE_START + 600);
	ck_assert_uint_le(run.events[20].time, SAMPLE_START + 700);
	ck_assert_uint_eq(run.events[21].time, SAMPLE_START + 700);
	for (size_t i = 1; i < run.count; i++)
		ck_assert_uint_ge(run.events[i].time, run.events[i - 1].time);
}
END_TEST

START_TEST(the_missing_top_byte_of_a_tsc_comes_from_the_reference)
{
	const uint64_t high = UINT64_C(0x12) << 56;
	struct perf_data_aux aux = { .reference = high + 100, .tid = -1 };

	begin(_i);
	pt_packets_psb(&run.packets, high + 5000, 0);
	pt_packets_pge(&run.packets, SAMPLE_SYSCALL);
	pt_packets_pgd(&run.packets, 0);
	aux.bytes = run.packets.bytes;
	aux.size = pt_packets_size(&run.packets);
	perf_data_add_auxtrace(&run.data, &aux);
	finish();
	ck_assert_uint_eq(run.events[0].tsc, high + 5000);
}
END_TEST

START_TEST(an_interrupt_ends_the_trace_after_the_call_it_follows)
{
	begin(_i);
	pt_packets_psb(&run.packets, SAMPLE_START, 0);
	pt_packets_pge(&run.packets, SAMPLE_MAIN);
	pt_packets_fup(&run.packets, SAMPLE_LEAF);
	pt_packets_pgd(&run.packets, 0);
	finish();
	ck_assert_uint_eq(run.count, 4);
	expect(2, BRANCH_CALL, SAMPLE_WORK, SAMPLE_LEAF);
	expect(3, BRANCH_NONE, SAMPLE_LEAF, 0);
	ck_assert_uint_eq(run.events[3].flags, BRANCH_TRACE_OFF | BRANCH_ASYNC);
}
END_TEST

START_TEST(an_overflow_is_a_gap_and_tracing_goes_on_where_it_ends)
{
	begin(_i);
	pt_packets_psb(&run.packets, SAMPLE_START, 0);
	pt_packets_pge(&run.packets, SAMPLE_MAIN);
	pt_packets_tnt(&run.packets, "t");
	pt_packets_ovf(&run.packets);
	pt_packets_fup(&run.packets, SAMPLE_LEAF);
	pt_packets_tip(&run.packets, SAMPLE_WORK + 5);
	pt_packets_tnt(&run.packets, "n");
	pt_packets_tip(&run.packets, SAMPLE_MAIN + 10);
	pt_packets_pgd(&run.packets, 0);
	finish();
	ck_assert_uint_eq(run.stats.gaps[GAP_OVERFLOW], 1);
	for (size_t i = 0; i < run.count; i++) {
		if (run.events[i].kind != BRANCH_GAP)
			continue;
		expect(i + 1, BRANCH_NONE, 0, SAMPLE_LEAF);
		ck_assert(run.events[i + 1].flags & BRANCH_TRACE_ON);
		expect(i + 2, BRANCH_RETURN, SAMPLE_LEAF, SAMPLE_WORK + 5);
		expect(i + 3, BRANCH_RETURN, SAMPLE_WORK + 7, SAMPLE_MAIN + 10);
		expect(i + 4, BRANCH_SYSCALL, SAMPLE_SYSCALL, 0);
		return;
	}
	ck_abort_msg("no gap");
}
END_TEST

START_TEST(missing_code_costs_the_trace_up_to_the_next_place_only)
{
	size_t lost;

	begin(_i);
	pt_packets_psb(&run.packets, SAMPLE_START, 0);
	pt_packets_pge(&run.packets, SAMPLE_LEAF);
	pt_packets_tip(&run.packets, 0x900000); /* a return to where nothing is mapped */
	lost = pt_packets_size(&run.packets);
	pt_packets_tnt(&run.packets, "tttt");
	pt_packets_psb(&run.packets, SAMPLE_START + 100, SAMPLE_LEAF);
	pt_packets_tip(&run.packets, SAMPLE_MAIN + 10);
	pt_packets_pgd(&run.packets, 0);
	finish();
	expect(1, BRANCH_RETURN, SAMPLE_LEAF, 0x900000);
	expect(2, BRANCH_GAP, 0x900000, 0);
	ck_assert_uint_eq(run.events[2].gap, GAP_NO_CODE);
	expect(3, BRANCH_NONE, 0, SAMPLE_LEAF);
	expect(4, BRANCH_RETURN, SAMPLE_LEAF, SAMPLE_MAIN + 10);
	expect(5, BRANCH_SYSCALL, SAMPLE_SYSCALL, 0);
	ck_assert_uint_eq(run.count, 6);
	ck_assert_uint_gt(run.stats.bytes_lost, 0);
	ck_assert_uint_le(run.stats.bytes_lost, run.stats.bytes_total - lost);
}
END_TEST

START_TEST(what_precedes_the_first_psb_is_skipped_and_counted)
{
	begin(_i);
	pt_packets_tnt(&run.packets, "tntntn");
	sample_trace(&run.packets);
	finish();
	ck_assert_uint_eq(run.count, 22);
	ck_assert_uint_eq(run.stats.bytes_skipped, 1);
	ck_assert_uint_eq(run.stats.bytes_lost, 0);
}
END_TEST

/* PSBs and packets straddle pieces; perf pads pieces to eight bytes, so that is the least. */
START_TEST(a_trace_in_pieces_is_one_stream)
{
	begin(_i);
	sample_trace(&run.packets);
	run.in_pieces = true;
	finish();
	ck_assert_uint_eq(run.count, 22);
	expect(21, BRANCH_SYSCALL, SAMPLE_SYSCALL, 0);
}
END_TEST

START_TEST(lost_data_that_the_kernel_reports_is_a_gap)
{
	begin(_i);
	sample_trace(&run.packets);
	perf_data_stamp(&run.data, (struct perf_data_stamp){ .time = SAMPLE_START + 300,
							     .pid = SAMPLE_PID,
							     .tid = SAMPLE_PID });
	perf_data_add_aux_event(&run.data, 0, 100, PERF_AUX_FLAG_TRUNCATED);
	finish();
	ck_assert_uint_eq(run.stats.gaps[GAP_LOST], 1);
	ck_assert_uint_eq(run.count, 23);
	ck_assert_uint_eq(diag_kinds(&run.diag), 1);
}
END_TEST

/* work's conditional jump goes round in work, three times a call; the calls stay. */
START_TEST(jumps_within_a_function_are_left_out_if_nobody_wants_them)
{
	begin(PT_ENGINE_FAST);
	sample_trace(&run.packets);
	run.skip = true;
	finish();
	ck_assert_uint_eq(run.stats.local_jumps, 4);
	ck_assert_uint_eq(run.count, 22 - 4);
	ck_assert_uint_eq(run.stats.events, 22);
	for (size_t i = 0; i < run.count; i++)
		ck_assert_int_ne(run.events[i].kind, BRANCH_COND);
}
END_TEST

/* A circle of direct jumps needs no packet: only a bound ends it. */
START_TEST(a_flow_that_turns_in_a_circle_is_a_gap)
{
	begin(_i);
	pt_packets_psb(&run.packets, SAMPLE_START, 0);
	pt_packets_pge(&run.packets, SAMPLE_CIRCLE);
	pt_packets_tip(&run.packets, SAMPLE_MAIN); /* no instruction of the circle takes it */
	pt_packets_psb(&run.packets, SAMPLE_START + 100, SAMPLE_LEAF);
	pt_packets_tip(&run.packets, SAMPLE_SYSCALL);
	pt_packets_pgd(&run.packets, 0);
	finish();
	ck_assert_uint_eq(run.stats.gaps[GAP_ENDLESS], 1);
	ck_assert_uint_gt(run.count, 3);
	/* Decoding went on behind it. */
	ck_assert_uint_eq(run.last.kind, BRANCH_SYSCALL);
}
END_TEST

START_TEST(packets_that_fit_no_code_are_a_gap_and_no_crash)
{
	begin(_i);
	pt_packets_psb(&run.packets, SAMPLE_START, 0);
	pt_packets_pge(&run.packets, SAMPLE_MAIN);
	pt_packets_pge(&run.packets, SAMPLE_MAIN); /* on, but it is on */
	finish();
	ck_assert_uint_ge(run.count, 1);
	ck_assert_uint_ge(run.stats.gaps[GAP_MISMATCH] + run.stats.gaps[GAP_INTERNAL] +
				  run.stats.gaps[GAP_BAD_PACKET], 1);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("pt_stream");
	TCase *all = tcase_create("pt_stream");

	tcase_add_loop_test(all, a_whole_program_gives_its_branches_in_order, 0, 2);
	tcase_add_loop_test(all, a_branch_has_the_time_of_its_packet, 0, 2);
	tcase_add_loop_test(all, the_missing_top_byte_of_a_tsc_comes_from_the_reference, 0, 2);
	tcase_add_loop_test(all, an_interrupt_ends_the_trace_after_the_call_it_follows, 0, 2);
	tcase_add_loop_test(all, an_overflow_is_a_gap_and_tracing_goes_on_where_it_ends, 0, 2);
	tcase_add_loop_test(all, missing_code_costs_the_trace_up_to_the_next_place_only, 0, 2);
	tcase_add_loop_test(all, what_precedes_the_first_psb_is_skipped_and_counted, 0, 2);
	tcase_add_loop_test(all, a_trace_in_pieces_is_one_stream, 0, 2);
	tcase_add_loop_test(all, lost_data_that_the_kernel_reports_is_a_gap, 0, 2);
	tcase_add_loop_test(all, a_flow_that_turns_in_a_circle_is_a_gap, 0, 2);
	tcase_add_loop_test(all, packets_that_fit_no_code_are_a_gap_and_no_crash, 0, 2);
	tcase_add_test(all, jumps_within_a_function_are_left_out_if_nobody_wants_them);
	suite_add_tcase(suite, all);
	return unit_run(suite);
}
