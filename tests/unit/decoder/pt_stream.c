/* SPDX-License-Identifier: MIT */
/*
 * The engine on the sample program (tests/support/sample.h) with each test's packets.  Expected
 * branches follow from the program's code and from the packets' definitions (SDM volume 3, "Intel
 * Processor Trace").
 */
#include <intel-pt.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "decoder/aux/auxtrace.h"
#include "decoder/code/code_image.h"
#include "decoder/perf_data/perf_file.h"
#include "decoder/streams/pt_streams.h"
#include "decoder/timeline/timeline.h"
#include "tests/support/sample.h"
#include "tests/support/unit.h"

#define EVENTS_MAX 64

/* Offset in a file: the usual offsets fit in 32 bits. */
#define FAR (UINT64_C(1) << 32)

/* An open recording and one stream's events. */
struct run {
	struct perf_data data;
	struct pt_packets packets;
	char recording[PERF_DATA_PATH], program[PERF_DATA_PATH];
	uint8_t *program_bytes;
	size_t program_size;
	size_t work_size;   /* 0: the sample's */
	uint8_t *far_bytes; /* instead: a file with the program at FAR; NULL: none */
	struct branch_event events[EVENTS_MAX]; /* the first ones */
	int32_t tids[EVENTS_MAX];
	struct branch_event last;
	size_t count;
	struct pt_stream_stats stats;
	struct diag diag;
	int32_t tid; /* of the last event */
	enum pt_engine engine;
	bool skip;   /* leave out local jumps */
	bool cycles; /* emit cycles */
	bool counts; /* count executions of code: */
	struct code_count code[EVENTS_MAX];
	size_t code_count;
	bool merged;                      /* decode by pt_streams */
	const struct kernel_code *kernel; /* NULL: none */
	uint64_t switch_ip;               /* in it; 0: unknown */
	uint64_t begin, end;              /* ns: the selected time; end 0: all */
	bool has_pieces;                  /* the trace is already added */
	bool in_pieces;                   /* write the trace in pieces of eight bytes */
};

static struct run run;

static struct code_file find_code(void *context, const struct mapped_file *file)
{
	(void)context;
	if (strcmp(file->path, SAMPLE_PATH) != 0)
		return (struct code_file){ 0 };
	if (run.far_bytes)
		return (struct code_file){ run.program, run.far_bytes, FAR + run.program_size };
	return (struct code_file){ run.program, run.program_bytes, run.program_size };
}

/* `engine` is of enum pt_engine: every test runs with each. */
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

/* The sample's function work, by its offset in the file. */
static bool find_work(void *context, const struct mapped_file *file, uint64_t offset,
		      uint64_t *begin_offset, uint64_t *end_offset)
{
	(void)context;
	(void)file;
	*begin_offset = SAMPLE_WORK - SAMPLE_CODE + TINY_ELF_CODE_OFFSET + (offset & FAR);
	*end_offset = *begin_offset + (run.work_size ? run.work_size : 8);
	return offset >= *begin_offset && offset < *end_offset;
}

static struct pt_stream_input stream_input(const void *input, size_t index)
{
	(void)index;
	return *(const struct pt_stream_input *)input;
}

/* Decoding begins with the request for the first event. */
static void decode_merged(const struct pt_stream_input *input)
{
	const struct branch_event *events;
	struct pt_streams streams = { .input = stream_input, .context = input, .count = 1 };
	size_t count;

	ck_assert_int_eq(pt_streams_open(&streams, NULL), 0);
	ck_assert_uint_eq(pt_streams_stats(&streams, 0)->bytes_decoded, 0);
	ck_assert_uint_eq(pt_streams_stats(&streams, 0)->events, 0);
	while ((count = pt_streams_next(&streams, &events)))
		for (size_t i = 0; i < count && run.count < EVENTS_MAX; i++)
			run.events[run.count++] = events[i];
	ck_assert(!pt_streams_wait(&streams));
	run.stats = *pt_streams_stats(&streams, 0);
	pt_streams_close(&streams);
}

static void add_counts(struct code_counter *counter, const struct code_count *counts, size_t count)
{
	(void)counter;
	for (size_t i = 0; i < count; i++)
		if (run.code_count < EVENTS_MAX)
			run.code[run.code_count++] = counts[i];
}

static void decode(const struct auxtrace *auxtrace, const struct timeline *timeline)
{
	struct code_source source = { find_code, find_work, NULL, NULL, run.kernel, NULL };
	struct code_image *code =
		code_image_open(&source, timeline_space_count(timeline), &run.diag);
	struct code_counter counter = { add_counts };
	struct pt_stream_input input = {
		.info = &auxtrace->info,
		.aux = &auxtrace->streams[0],
		.timeline = timeline,
		.code = code,
		.diag = &run.diag,
		.engine = run.engine,
		.skip_local_jumps = run.skip,
		.cycles = run.cycles,
		.counter = run.counts ? &counter : NULL,
		.switch_ip = run.switch_ip,
		.begin = run.begin,
		.end = run.end,
	};
	struct pt_stream *stream;

	if (run.merged) {
		decode_merged(&input);
		code_image_close(code);
		return;
	}
	stream = pt_stream_open(&input, NULL);
	ck_assert_ptr_nonnull(stream);
	while (pt_stream_next(stream, &run.last)) {
		if (run.count == EVENTS_MAX)
			continue;
		run.tids[run.count] = run.last.thread ? run.last.thread->tid : -1;
		run.events[run.count++] = run.last;
	}
	if (run.last.thread)
		run.tid = run.last.thread->tid;
	run.stats = *pt_stream_stats(stream);
	pt_stream_flush(stream);
	pt_stream_close(stream);
	code_image_close(code);
}

static void add_trace(void)
{
	if (run.has_pieces)
		return;
	if (!run.in_pieces) {
		sample_add_trace(&run.data, &run.packets);
		return;
	}
	for (size_t at = 0; at < pt_packets_size(&run.packets); at += 8) {
		struct perf_data_aux aux = { .aux_offset = at,
					     .reference = SAMPLE_START,
					     .tid = -1,
					     .bytes = run.packets.bytes + at,
					     .size = 8 };

		perf_data_add_auxtrace(&run.data, &aux);
	}
}

/* Put `size` written bytes, from `from` on, into the recording. */
static void add_piece(uint64_t aux_offset, size_t from, size_t size)
{
	struct perf_data_aux aux = { .aux_offset = aux_offset,
				     .reference = SAMPLE_START,
				     .tid = -1,
				     .bytes = run.packets.bytes + from,
				     .size = size };

	perf_data_add_auxtrace(&run.data, &aux);
	run.has_pieces = true;
}

/* Decode the written packets into `run`. */
static void finish(void)
{
	struct auxtrace auxtrace;
	struct timeline *timeline;
	struct perf_file file;

	add_trace();
	perf_data_write_temporary(&run.data, run.recording);
	ck_assert_int_eq(perf_file_open(&file, run.recording, &run.diag, NULL), 0);
	ck_assert_int_eq(auxtrace_init(&auxtrace, &file, NULL), 0);
	timeline = timeline_open(&file, NULL, 0, &run.diag);
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
	/* The third time, the jump is not taken: no event. */
	expect(9, BRANCH_RETURN, SAMPLE_LEAF, SAMPLE_WORK + 5);
	expect(10, BRANCH_RETURN, SAMPLE_WORK + 7, SAMPLE_MAIN + 5);
	expect(21, BRANCH_SYSCALL, SAMPLE_SYSCALL, 0);
	ck_assert(run.events[21].flags & BRANCH_TRACE_OFF);
	ck_assert(!(run.events[21].flags & BRANCH_ASYNC));
	ck_assert_int_eq(run.tid, SAMPLE_PID);
	ck_assert_uint_eq(run.stats.gaps[GAP_NO_CODE] + run.stats.bytes_lost, 0);
}
END_TEST

START_TEST(opening_all_streams_decodes_nothing)
{
	begin(_i);
	sample_trace(&run.packets);
	run.merged = true;
	finish();
	ck_assert_uint_eq(run.count, 22);
	expect(21, BRANCH_SYSCALL, SAMPLE_SYSCALL, 0);
	ck_assert_uint_gt(run.stats.bytes_decoded, 0);
}
END_TEST

START_TEST(a_branch_has_the_time_of_its_packet)
{
	begin(_i);
	sample_trace(&run.packets);
	finish();
	/* PGE, TSC +50, TNT: calls need no packet; the first return takes the TNT. */
	ck_assert_uint_eq(run.events[1].time, SAMPLE_START);
	ck_assert_uint_eq(run.events[3].time, SAMPLE_START + 50);
	ck_assert_uint_eq(run.events[6].time, SAMPLE_START + 150);
	/* The last return of work: libipt may have read the TSC after its TNT. */
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
	ck_assert_uint_eq(run.events[0].time, high + 5000);
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
	pt_packets_tip(&run.packets, 0x900000); /* a return to an unmapped address */
	lost = pt_packets_size(&run.packets);
	pt_packets_tnt(&run.packets, "tttt"); /* libipt 2.1 reads it before it asks for code */
	pt_packets_tip(&run.packets, SAMPLE_LEAF);
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

/*
 * The processor compresses a return if it saw the call, even if the decoder did not (SDM volume 3,
 * "RET Compression"); after a PSB it compresses no returns of earlier calls.
 */
START_TEST(a_return_to_missing_code_is_a_gap_for_lack_of_code)
{
	begin(PT_ENGINE_FAST);
	pt_packets_psb(&run.packets, SAMPLE_START, 0);
	pt_packets_pge(&run.packets, 0x900000); /* unmapped */
	pt_packets_tnt(&run.packets, "n");
	pt_packets_tip(&run.packets, SAMPLE_LEAF);
	pt_packets_tnt(&run.packets, "t");
	pt_packets_tip(&run.packets, SAMPLE_LEAF);
	pt_packets_psb(&run.packets, SAMPLE_START + 100, SAMPLE_LEAF);
	pt_packets_tnt(&run.packets, "t");
	finish();
	expect(1, BRANCH_GAP, 0x900000, 0);
	ck_assert_uint_eq(run.events[1].gap, GAP_NO_CODE);
	expect(2, BRANCH_NONE, 0, SAMPLE_LEAF);
	expect(3, BRANCH_GAP, 0, 0);
	ck_assert_uint_eq(run.events[3].gap, GAP_NO_CODE);
	expect(4, BRANCH_NONE, 0, SAMPLE_LEAF);
	expect(5, BRANCH_GAP, SAMPLE_LEAF, 0);
	ck_assert_uint_eq(run.events[5].gap, GAP_MISMATCH);
}
END_TEST

static void add_decisions(const char *decisions)
{
	char packet[7] = "";

	for (; *decisions; decisions += strlen(packet)) {
		snprintf(packet, sizeof(packet), "%.6s", decisions);
		pt_packets_tnt(&run.packets, packet);
	}
}

/*
 * leaf() calls code without bytes, and has a loop.  That code takes the TNT bits `first`, and
 * returns by the first bit of `rest`; leaf() and work() take the others.
 */
static void call_missing_code(const char *first, const char *rest)
{
	pt_packets_tip(&run.packets, 0x900000);
	add_decisions(first);
	add_decisions(rest);
}

static void begin_in_leaf(bool calls_only)
{
	static const uint8_t leaf[] = { 0xff, 0xd0, 0x75, 0xfe, 0xc3 }; /* call *%rax; jne .; ret */

	begin(PT_ENGINE_FAST);
	run.skip = calls_only;
	memcpy(run.program_bytes + TINY_ELF_CODE_OFFSET + (SAMPLE_LEAF - SAMPLE_CODE), leaf,
	       sizeof(leaf));
	pt_packets_psb(&run.packets, SAMPLE_START, 0);
	pt_packets_pge(&run.packets, SAMPLE_MAIN);
}

START_TEST(a_return_out_of_missing_code_is_where_its_caller_explains_the_packets)
{
	const uint64_t back = SAMPLE_LEAF + 2;
	size_t at = 3;

	begin_in_leaf(false);
	call_missing_code("n", "tntt");
	call_missing_code("tn", "tntt");
	pt_packets_tip(&run.packets, 0x900000);
	finish();
	for (size_t i = 0; i < 2; i++) {
		expect(at++, BRANCH_CALL, SAMPLE_LEAF, 0x900000);
		expect(at++, BRANCH_GAP, 0x900000, 0);
		expect(at++, BRANCH_NONE, 0, back);
		expect(at++, BRANCH_RETURN, back + 2, SAMPLE_WORK + 5);
		expect(at++, BRANCH_COND, SAMPLE_WORK + 5, SAMPLE_WORK);
		at++; /* leaf()'s call */
	}
	expect(at, BRANCH_CALL, SAMPLE_LEAF, 0x900000);
	ck_assert_uint_eq(run.stats.gaps[GAP_NO_CODE], 2);
	ck_assert_uint_eq(run.stats.gaps[GAP_MISMATCH], 0);
}
END_TEST

/* The loop may have ended at any of these bits: the return is only for call stacks, and marked. */
START_TEST(a_return_that_may_be_at_several_bits_is_no_branch_of_the_trace)
{
	begin_in_leaf(_i);
	call_missing_code("n", "tntt");
	call_missing_code("", "tttttttntt");
	pt_packets_tip(&run.packets, 0x900000);
	finish();
	ck_assert_uint_eq(run.last.kind, _i ? BRANCH_CALL : BRANCH_GAP);
}
END_TEST

/* The taken bit and leaf()'s own call explain a packet with any address of user code. */
static void begin_in_leaf_that_calls_again(void)
{
	static const uint8_t calls_again[] = { 0xff, 0xd0 };

	begin_in_leaf(true);
	memcpy(run.program_bytes + TINY_ELF_CODE_OFFSET + (SAMPLE_LEAF + 2 - SAMPLE_CODE),
	       calls_again, sizeof(calls_again));
	call_missing_code("", "t");
}

START_TEST(no_near_branch_leads_from_a_caller_of_missing_code_to_the_kernel)
{
	begin_in_leaf_that_calls_again();
	pt_packets_tip(&run.packets, _i ? 0x910000 : 0xffffffff81000000);
	finish();
	ck_assert_uint_eq(run.last.kind, _i ? BRANCH_CALL : BRANCH_GAP);
}
END_TEST

enum between { NOTHING, PSB, OVERFLOW };

/*
 * The trace lacks the code that was guessed about, rather than not matching the code it has; but
 * not any more where a PSB or an overflow says where it is.
 */
START_TEST(a_packet_that_contradicts_a_guessed_return_shows_missing_code)
{
	const struct pt_packet end_alone = { .type = ppt_psbend };

	begin_in_leaf_that_calls_again();
	pt_packets_tip(&run.packets, SAMPLE_LEAF);
	if (_i == PSB)
		pt_packets_psb(&run.packets, SAMPLE_START + 100, SAMPLE_LEAF);
	if (_i == OVERFLOW) {
		pt_packets_ovf(&run.packets);
		pt_packets_fup(&run.packets, SAMPLE_LEAF);
	}
	pt_packets_add(&run.packets, &end_alone);
	finish();
	ck_assert_uint_eq(run.stats.gaps[GAP_NO_CODE], _i == NOTHING ? 2 : 1);
	ck_assert_uint_eq(run.stats.gaps[GAP_MISMATCH], _i == NOTHING ? 0 : 1);
}
END_TEST

/* A page fault, for example, of code that perf could not keep. */
START_TEST(an_interrupt_before_any_missing_code_ran_is_no_gap)
{
	begin(_i);
	pt_packets_psb(&run.packets, SAMPLE_START, 0);
	pt_packets_pge(&run.packets, SAMPLE_LEAF);
	pt_packets_tip(&run.packets, 0x900000);
	pt_packets_fup(&run.packets, 0x900000);
	pt_packets_tip(&run.packets, SAMPLE_MAIN + 10);
	pt_packets_pgd(&run.packets, 0);
	finish();
	expect(1, BRANCH_RETURN, SAMPLE_LEAF, 0x900000);
	expect(2, BRANCH_INTERRUPT, 0x900000, SAMPLE_MAIN + 10);
	expect(3, BRANCH_SYSCALL, SAMPLE_SYSCALL, 0);
	ck_assert_uint_eq(run.stats.gaps[GAP_NO_CODE], 0);
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

/* PSBs and packets straddle pieces; eight bytes is the minimum, because perf pads pieces to it. */
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

static void stamp(uint64_t time)
{
	perf_data_stamp(&run.data, (struct perf_data_stamp){
					   .time = time, .pid = SAMPLE_PID, .tid = SAMPLE_PID });
}

static void expect_all_bytes_counted(void)
{
	ck_assert_uint_eq(run.stats.bytes_decoded + run.stats.bytes_skipped + run.stats.bytes_lost,
			  run.stats.bytes_total);
}

/* A collision, or data missing anywhere in the record: only the time shows where. */
START_TEST(lost_data_that_the_kernel_reports_is_a_gap)
{
	static const uint64_t flags[] = { PERF_AUX_FLAG_PARTIAL, PERF_AUX_FLAG_COLLISION };

	begin(_i % 2);
	sample_trace(&run.packets);
	stamp(SAMPLE_START + 300);
	perf_data_add_aux_event(&run.data, 0, 100, flags[_i / 2]);
	finish();
	ck_assert_uint_eq(run.stats.gaps[GAP_LOST], 1);
	ck_assert_uint_eq(run.count, 23);
	ck_assert_uint_eq(diag_kinds(&run.diag), 1);
	expect_all_bytes_counted();
}
END_TEST

/*
 * The buffer was full in the middle of a TIP, and the CPU restarted with a PSB, whose first bytes
 * must not complete the TIP.
 */
START_TEST(a_full_buffer_is_a_gap_exactly_where_it_was_full)
{
	size_t full;

	begin(PT_ENGINE_FAST);
	pt_packets_psb(&run.packets, SAMPLE_START, 0);
	pt_packets_pge(&run.packets, SAMPLE_MAIN);
	pt_packets_tnt(&run.packets, "t"); /* main calls work, work calls leaf, leaf returns */
	full = pt_packets_size(&run.packets) + 3;
	pt_packets_tip(&run.packets, SAMPLE_SYSCALL);
	add_piece(0, 0, full);
	stamp(SAMPLE_START + 300);
	perf_data_add_aux_event(&run.data, 0, full, PERF_AUX_FLAG_TRUNCATED);
	full = pt_packets_size(&run.packets);
	pt_packets_psb(&run.packets, SAMPLE_START + 500, 0);
	pt_packets_pge(&run.packets, SAMPLE_SYSCALL);
	pt_packets_pgd(&run.packets, 0);
	add_piece(full - 6, full, pt_packets_size(&run.packets) - full);
	finish();
	ck_assert_uint_eq(run.count, 7);
	expect(3, BRANCH_RETURN, SAMPLE_LEAF, SAMPLE_WORK + 5);
	ck_assert_uint_eq(run.events[4].kind, BRANCH_GAP);
	ck_assert_uint_eq(run.events[4].gap, GAP_LOST);
	ck_assert_uint_eq(run.events[5].flags & BRANCH_TRACE_ON, BRANCH_TRACE_ON);
	ck_assert_uint_eq(run.events[5].time, SAMPLE_START + 500);
	expect(6, BRANCH_SYSCALL, SAMPLE_SYSCALL, 0);
	ck_assert_uint_eq(run.stats.gaps[GAP_LOST], 1);
	expect_all_bytes_counted();
}
END_TEST

/*
 * The same, but without a PSB, since none was due: the CPU still compresses addresses against
 * earlier ones, and no packet has the time.
 */
START_TEST(tracing_resumes_after_a_full_buffer_without_a_psb)
{
	struct pt_packet resume = { .type = ppt_tip_pge };

	begin(_i);
	pt_packets_psb(&run.packets, SAMPLE_START, 0);
	pt_packets_pge(&run.packets, SAMPLE_MAIN);
	pt_packets_tnt(&run.packets, "t");
	if (run.engine == PT_ENGINE_FAST)                        /* libipt reports a second gap */
		pt_packets_raw(&run.packets, "\xcd\x0a\x10", 3); /* the start of a TIP */
	stamp(SAMPLE_START + 300);
	perf_data_add_aux_event(&run.data, 0, pt_packets_size(&run.packets),
				PERF_AUX_FLAG_TRUNCATED);
	resume.payload.ip.ipc = pt_ipc_update_16;
	resume.payload.ip.ip = SAMPLE_SYSCALL & UINT16_MAX;
	pt_packets_add(&run.packets, &resume);
	pt_packets_pgd(&run.packets, 0);
	finish();
	ck_assert_uint_eq(run.count, 7);
	expect(3, BRANCH_RETURN, SAMPLE_LEAF, SAMPLE_WORK + 5); /* from the last packet */
	ck_assert_uint_eq(run.events[4].kind, BRANCH_GAP);
	ck_assert_uint_eq(run.events[4].gap, GAP_LOST);
	ck_assert_uint_eq(run.events[5].flags & BRANCH_TRACE_ON, BRANCH_TRACE_ON);
	ck_assert_uint_eq(run.events[5].time, SAMPLE_START + 300);
	expect(6, BRANCH_SYSCALL, SAMPLE_SYSCALL, 0);
	ck_assert_uint_eq(run.stats.gaps[GAP_LOST], 1);
	ck_assert_uint_eq(run.stats.bytes_lost, 0);
	expect_all_bytes_counted();
}
END_TEST

/* Compressed returns after the full buffer match earlier calls: there is no PSB between. */
START_TEST(returns_after_a_full_buffer_match_calls_before_it)
{
	size_t full;

	begin(PT_ENGINE_FAST);
	pt_packets_psb(&run.packets, SAMPLE_START, 0);
	pt_packets_pge(&run.packets, SAMPLE_MAIN);
	pt_packets_tnt(&run.packets, "tnttn"); /* leaf and work return, again leaf */
	pt_packets_fup(&run.packets, SAMPLE_WORK + 7);
	pt_packets_pgd(&run.packets, 0);
	full = pt_packets_size(&run.packets);
	pt_packets_pge(&run.packets, SAMPLE_WORK + 7);
	pt_packets_tnt(&run.packets, "t");
	pt_packets_pgd(&run.packets, 0);
	stamp(SAMPLE_START + 300);
	perf_data_add_aux_event(&run.data, 0, full, PERF_AUX_FLAG_TRUNCATED);
	finish();
	expect(run.count - 2, BRANCH_RETURN, SAMPLE_WORK + 7, SAMPLE_SYSCALL);
	expect(run.count - 1, BRANCH_SYSCALL, SAMPLE_SYSCALL, 0);
	ck_assert_uint_eq(run.stats.gaps[GAP_LOST], 1);
	ck_assert_uint_eq(run.stats.gaps[GAP_MISMATCH], 0);
}
END_TEST

/* 64 bytes between two pieces are not in the file: perf could not write them. */
START_TEST(a_hole_between_pieces_is_a_gap_of_known_size)
{
	size_t first;

	begin(_i);
	sample_trace(&run.packets);
	first = pt_packets_size(&run.packets);
	sample_trace(&run.packets);
	add_piece(0, 0, first);
	add_piece(first + 64, first, first);
	finish();
	ck_assert_uint_eq(run.count, 2 * 22 + 1);
	ck_assert_uint_eq(run.events[22].gap, GAP_LOST);
	ck_assert_uint_eq(run.stats.bytes_missing, 64);
	expect_all_bytes_counted();
}
END_TEST

/*
 * Three snapshots: the second one repeats the end of the first, so they are one trace; the third is
 * later.
 */
START_TEST(snapshots_that_overlap_are_joined_and_others_are_apart)
{
	size_t whole, second, third;

	begin(_i);
	sample_trace(&run.packets);
	whole = pt_packets_size(&run.packets);
	pt_packets_psb(&run.packets, SAMPLE_START + 1000, 0);
	pt_packets_pge(&run.packets, SAMPLE_SYSCALL);
	second = pt_packets_size(&run.packets);
	pt_packets_pgd(&run.packets, 0);
	third = pt_packets_size(&run.packets);
	pt_packets_psb(&run.packets, SAMPLE_START + 2000, 0);
	pt_packets_pge(&run.packets, SAMPLE_SYSCALL);
	pt_packets_pgd(&run.packets, 0);
	stamp(SAMPLE_START + 100);
	perf_data_add_aux_event(&run.data, 0, 4096, PERF_AUX_FLAG_OVERWRITE);
	add_piece(0, 0, second);
	add_piece(0, whole - 20, third - whole + 20);
	add_piece(0, third, pt_packets_size(&run.packets) - third);
	finish();
	/* The sample; on and off; a gap; on and off. */
	ck_assert_uint_eq(run.count, 22 + 2 + 1 + 2);
	ck_assert_uint_eq(run.events[24].kind, BRANCH_GAP);
	/* seeds.md: an end of a snapshot resets the stacks (-multi-snapshot) */
	ck_assert_uint_eq(run.events[24].gap, GAP_NOT_RECORDED);
	ck_assert_uint_eq(run.stats.gaps[GAP_NOT_RECORDED], 1);
	ck_assert_uint_eq(run.stats.gaps[GAP_LOST], 0);
	ck_assert_uint_ge(run.stats.bytes_repeated, second - whole + 20);
	expect_all_bytes_counted();
}
END_TEST

/* PERF_RECORD_SAMPLE of an event with trace data: id, pid/tid, time, cpu, size, data. */
static void add_sample(uint64_t time, size_t from, size_t size)
{
	struct {
		uint64_t id;
		int32_t pid, tid;
		uint64_t time, cpu, size;
		uint8_t bytes[1024];
	} sample = { 2000, SAMPLE_PID, SAMPLE_PID, time, 0, size, { 0 } };

	memcpy(sample.bytes, run.packets.bytes + from, size);
	perf_data_add_user_record(&run.data, PERF_RECORD_SAMPLE, &sample,
				  offsetof(typeof(sample), bytes) + size);
	run.has_pieces = true;
}

/*
 * perf record --aux-sample: each sample has the trace before it.  Only the samples show which
 * thread ran: there are no context switches.
 */
START_TEST(samples_with_trace_data_are_pieces_of_their_cpus_trace)
{
	struct perf_data_event event = {
		.attr = { .sample_type = PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_TID |
					 PERF_SAMPLE_TIME | PERF_SAMPLE_CPU | PERF_SAMPLE_AUX },
		.first_id = 2000,
	};
	size_t whole, last;

	begin(_i);
	perf_data_add_event(&run.data, &event);
	sample_trace(&run.packets);
	whole = pt_packets_size(&run.packets);
	pt_packets_psb(&run.packets, SAMPLE_START + 2000, 0);
	last = pt_packets_size(&run.packets);
	pt_packets_pge(&run.packets, SAMPLE_SYSCALL);
	pt_packets_pgd(&run.packets, 0);
	add_sample(SAMPLE_START + 900, 0, whole);
	add_sample(SAMPLE_START + 1900, whole, last - whole);
	add_sample(SAMPLE_START + 2900, whole, pt_packets_size(&run.packets) - whole);
	finish();
	/* The sample, a gap, on and off. */
	ck_assert_uint_eq(run.count, 22 + 1 + 2);
	ck_assert_uint_eq(run.events[22].gap, GAP_NOT_RECORDED);
	ck_assert_int_eq(run.tid, SAMPLE_PID);
	ck_assert_uint_eq(run.stats.bytes_repeated, last - whole);
	expect_all_bytes_counted();
}
END_TEST

#define KERNEL       UINT64_C(0xffffffff81000000)
#define KERNEL_SYS   (KERNEL + 0x20)
#define KERNEL_FAULT (KERNEL + 0x40)

static const uint8_t kernel_bytes[0x70] = {
	[0x00] = 0xe8, 0x1b, 0x00, 0x00, 0x00, /* call KERNEL_SYS */
	0x48,          0x0f, 0x07,             /* sysretq */
	[0x20] = 0xc3,                         /* ret */
	[0x40] = 0x90,                         /* nop */
	0x48,          0xcf,                   /* iretq */
};

/* Pass a copy of kernel memory, by address, to the decoder. */
static void add_kernel(char path[PERF_DATA_PATH])
{
	static struct kernel_segment segment = { KERNEL, KERNEL + sizeof(kernel_bytes), 0 };
	static struct kernel_code kernel;
	int fd;

	strcpy(path, "/tmp/ptrace2ftf-XXXXXX");
	fd = mkstemp(path);
	ck_assert_int_ge(fd, 0);
	ck_assert_int_eq(write(fd, kernel_bytes, sizeof(kernel_bytes)), sizeof(kernel_bytes));
	close(fd);
	kernel = (struct kernel_code){ .file = { path, kernel_bytes, sizeof(kernel_bytes) },
				       .segments = &segment,
				       .count = 1 };
	run.kernel = &kernel;
	run.data.events[0].attr.exclude_kernel = 0;
}

/* A system call; then a page fault in an interrupt. */
START_TEST(kernel_code_is_entered_and_left_by_its_own_instructions)
{
	char path[PERF_DATA_PATH];

	begin(_i);
	add_kernel(path);
	pt_packets_psb(&run.packets, SAMPLE_START, 0);
	pt_packets_pge(&run.packets, SAMPLE_SYSCALL);
	pt_packets_tip(&run.packets, KERNEL);
	pt_packets_tnt(&run.packets, "t");
	pt_packets_tip(&run.packets, SAMPLE_SYSCALL + 2);
	pt_packets_fup(&run.packets, SAMPLE_SYSCALL + 2);
	pt_packets_tip(&run.packets, KERNEL_FAULT);
	pt_packets_fup(&run.packets, KERNEL_FAULT);
	pt_packets_tip(&run.packets, KERNEL_FAULT);
	pt_packets_tip(&run.packets, KERNEL_FAULT);
	pt_packets_tip(&run.packets, SAMPLE_SYSCALL + 2);
	pt_packets_fup(&run.packets, SAMPLE_SYSCALL + 2);
	pt_packets_pgd(&run.packets, 0);
	finish();
	unlink(path);
	ck_assert_uint_eq(run.count, 10);
	expect(1, BRANCH_SYSCALL, SAMPLE_SYSCALL, KERNEL);
	expect(2, BRANCH_CALL, KERNEL, KERNEL_SYS);
	expect(3, BRANCH_RETURN, KERNEL_SYS, KERNEL + 5);
	expect(4, BRANCH_SYSRET, KERNEL + 5, SAMPLE_SYSCALL + 2);
	expect(5, BRANCH_INTERRUPT, SAMPLE_SYSCALL + 2, KERNEL_FAULT);
	expect(6, BRANCH_INTERRUPT, KERNEL_FAULT, KERNEL_FAULT);
	expect(7, BRANCH_IRET, KERNEL_FAULT + 1, KERNEL_FAULT);
	expect(8, BRANCH_IRET, KERNEL_FAULT + 1, SAMPLE_SYSCALL + 2);
	expect(9, BRANCH_NONE, SAMPLE_SYSCALL + 2, 0);
	expect_all_bytes_counted();
}
END_TEST

static void add_packet(const struct pt_packet *packet)
{
	ck_assert_int_gt(pt_enc_next(run.packets.encoder, packet), 0);
}

/*
 * Packets of other address spaces, guests and buffers between a call and its return do not affect
 * the flow.  (libipt looks for the instructions that cause PIP and VMCS.)
 */
START_TEST(packets_beside_the_flow_do_not_change_it)
{
	static const enum pt_packet_type types[] = { ppt_pip, ppt_vmcs, ppt_mnt, ppt_stop,
						     ppt_pad };

	begin(PT_ENGINE_FAST);
	pt_packets_psb(&run.packets, SAMPLE_START, 0);
	/* work: call leaf; jne is not taken; ret */
	pt_packets_pge(&run.packets, SAMPLE_WORK);
	pt_packets_tnt(&run.packets, "t");
	add_packet(&(struct pt_packet){ .type = types[_i] });
	pt_packets_tnt(&run.packets, "n");
	pt_packets_pgd(&run.packets, 0);
	finish();
	ck_assert_uint_eq(run.count, 4);
	expect(1, BRANCH_CALL, SAMPLE_WORK, SAMPLE_LEAF);
	expect(2, BRANCH_RETURN, SAMPLE_LEAF, SAMPLE_WORK + 5);
	expect(3, BRANCH_RETURN, SAMPLE_WORK + 7, 0);
	expect_all_bytes_counted();
}
END_TEST

/* Returns the offset of the packet after `at`; 0: none. */
static size_t next_packet(struct pt_packets *packets, size_t at)
{
	struct pt_packet_decoder *decoder;
	struct pt_packet packet;
	struct pt_config config;
	int size;

	pt_config_init(&config);
	config.begin = packets->bytes;
	config.end = packets->bytes + pt_packets_size(packets);
	decoder = pt_pkt_alloc_decoder(&config);
	pt_pkt_sync_set(decoder, at);
	size = pt_pkt_next(decoder, &packet, sizeof(packet));
	pt_pkt_free_decoder(decoder);
	return size > 0 ? at + (size_t)size : 0;
}

/* TRIG, with and without an instruction count, after each packet from the header on. */
START_TEST(a_trigger_changes_no_branch_wherever_it_is)
{
	static const uint8_t triggers[2][5] = { { 0xd9, 0x20, 0x04 },
						{ 0xd9, 0x40, 0xff, 0x0d, 0x02 } };
	struct branch_event plain[22];
	struct pt_packets trace;
	size_t header;

	pt_packets_init(&trace);
	pt_packets_psb(&trace, SAMPLE_START, 0);
	header = pt_packets_size(&trace);
	pt_packets_release(&trace);
	pt_packets_init(&trace);
	sample_trace(&trace);
	begin(_i / 2);
	sample_trace(&run.packets);
	finish();
	memcpy(plain, run.events, sizeof(plain));
	for (size_t at = header; at; at = next_packet(&trace, at)) {
		begin(_i / 2);
		pt_packets_raw(&run.packets, trace.bytes, at);
		pt_packets_raw(&run.packets, triggers[_i % 2], _i % 2 ? 5 : 3);
		pt_packets_raw(&run.packets, trace.bytes + at, pt_packets_size(&trace) - at);
		finish();
		ck_assert_uint_eq(run.count, 22);
		for (size_t i = 0; i < 22; i++)
			expect(i, plain[i].kind, plain[i].from, plain[i].to);
	}
	pt_packets_release(&trace);
}
END_TEST

/* Padding is skipped in one step; the next packet is read. */
START_TEST(padding_of_any_length_is_passed_over)
{
	static const uint8_t zeros[4000];

	begin(PT_ENGINE_FAST);
	pt_packets_psb(&run.packets, SAMPLE_START, 0);
	pt_packets_pge(&run.packets, SAMPLE_WORK);
	pt_packets_tnt(&run.packets, "t");
	pt_packets_raw(&run.packets, zeros, (size_t)_i);
	pt_packets_tnt(&run.packets, "n");
	pt_packets_raw(&run.packets, zeros, (size_t)_i * 40);
	pt_packets_pgd(&run.packets, 0);
	finish();
	ck_assert_uint_eq(run.count, 4);
	expect(3, BRANCH_RETURN, SAMPLE_WORK + 7, 0);
	expect_all_bytes_counted();
}
END_TEST

/*
 * SDM volume 3, "IP Compression": the packet has some bytes of an address, the previous IP the
 * others.
 */
START_TEST(a_target_has_the_bytes_of_its_packet)
{
	static const uint8_t padding[100];
	static const struct {
		unsigned compression;
		size_t size;
		uint64_t moved;
	} targets[] = {
		{ 1, 2, 0x2000 },
		{ 2, 4, 0x12345000 },
		{ 3, 6, UINT64_C(0x123456789000) },
		{ 4, 6, UINT64_C(0x123456789000) },
		{ 6, 8, UINT64_C(0x123456789000) },
	};
	const uint64_t moved = targets[_i].moved, to = SAMPLE_WORK + moved;
	struct perf_data_mmap map = {
		.pid = SAMPLE_PID,
		.tid = SAMPLE_PID,
		.address = SAMPLE_CODE + moved,
		.length = 0x1000,
		.file_offset = TINY_ELF_CODE_OFFSET,
		.path = SAMPLE_PATH,
		.prot = 5,
	};
	uint8_t bytes[9] = { (uint8_t)(0x0d | targets[_i].compression << 5) };

	begin(PT_ENGINE_FAST);
	perf_data_add_mmap2(&run.data, 0, &map);
	for (size_t i = 0; i < targets[_i].size; i++)
		bytes[1 + i] = (uint8_t)(to >> 8 * i);
	pt_packets_psb(&run.packets, SAMPLE_START, 0);
	pt_packets_pge(&run.packets, SAMPLE_LEAF);
	pt_packets_raw(&run.packets, bytes, 1 + targets[_i].size);
	pt_packets_tnt(&run.packets, "tn");
	pt_packets_raw(&run.packets, padding, sizeof(padding));
	pt_packets_pgd(&run.packets, 0);
	finish();
	expect(1, BRANCH_RETURN, SAMPLE_LEAF, to);
	expect(2, BRANCH_CALL, to, SAMPLE_LEAF + moved);
	expect(3, BRANCH_RETURN, SAMPLE_LEAF + moved, to + 5);
	expect_all_bytes_counted();
}
END_TEST

/*
 * SDM volume 3, "MODE.Exec Packet": CS.L, CS.D.  In 64-bit mode this code is one call with a
 * prefix, in 32- and 16-bit mode a dec and a call with a distance of 4 or 2 bytes.
 */
static const uint8_t mode_bytes[] = {
	0x48, 0xe8, 0x10, 0x00, 0x00, 0x00, 0xc3, [0x14] = 0xc3, 0x90, 0xc3,
};

START_TEST(code_has_the_mode_of_the_trace)
{
	static const struct {
		bool l, d;
		uint64_t call, target, after;
	} modes[] = {
		{ true, false, SAMPLE_MAIN, SAMPLE_MAIN + 0x16, SAMPLE_MAIN + 6 },
		{ false, true, SAMPLE_MAIN + 1, SAMPLE_MAIN + 0x16, SAMPLE_MAIN + 6 },
		{ false, false, SAMPLE_MAIN + 1, SAMPLE_MAIN + 0x14, SAMPLE_MAIN + 4 },
	};
	struct pt_packet mode = { .type = ppt_mode };

	begin(PT_ENGINE_FAST);
	memcpy(run.program_bytes + TINY_ELF_CODE_OFFSET, mode_bytes, sizeof(mode_bytes));
	pt_packets_psb(&run.packets, SAMPLE_START, 0);
	mode.payload.mode.leaf = pt_mol_exec;
	mode.payload.mode.bits.exec.csl = modes[_i].l;
	mode.payload.mode.bits.exec.csd = modes[_i].d;
	add_packet(&mode);
	pt_packets_pge(&run.packets, SAMPLE_MAIN);
	pt_packets_tnt(&run.packets, "t");
	pt_packets_pgd(&run.packets, 0);
	finish();
	expect(1, BRANCH_CALL, modes[_i].call, modes[_i].target);
	expect(2, BRANCH_RETURN, modes[_i].target, modes[_i].after);
}
END_TEST

/* Code cannot be of 64 and 32 bits; libipt 2.1 decodes it in a mode of its own. */
START_TEST(libipt_loses_code_of_a_mode_that_does_not_exist)
{
	static const uint8_t mode[] = { 0x99, 0x03 };

	begin(PT_ENGINE_LIBIPT);
	memcpy(run.program_bytes + TINY_ELF_CODE_OFFSET, mode_bytes, sizeof(mode_bytes));
	pt_packets_psb(&run.packets, SAMPLE_START, 0);
	pt_packets_raw(&run.packets, mode, sizeof(mode));
	pt_packets_pge(&run.packets, SAMPLE_MAIN);
	pt_packets_tnt(&run.packets, "t");
	pt_packets_pgd(&run.packets, 0);
	finish();
	expect(1, BRANCH_GAP, SAMPLE_MAIN, 0);
	for (size_t i = 0; i < run.count; i++)
		ck_assert_int_ne(run.events[i].kind, BRANCH_CALL);
}
END_TEST

/* The engines resume at different places. */
START_TEST(a_fup_whose_tip_is_missing_is_a_gap)
{
	size_t gaps = 0;

	begin(_i);
	pt_packets_psb(&run.packets, SAMPLE_START, 0);
	pt_packets_pge(&run.packets, SAMPLE_MAIN);
	pt_packets_fup(&run.packets, SAMPLE_MAIN);
	pt_packets_fup(&run.packets, SAMPLE_WORK);
	pt_packets_pgd(&run.packets, 0);
	finish();
	for (size_t i = 0; i < run.count; i++)
		gaps += run.events[i].kind == BRANCH_GAP;
	ck_assert_uint_eq(gaps, 1);
}
END_TEST

/* perf record -e intel_pt/branch=0/, and /notnt/: bits 13 and 55 of the event. */
START_TEST(an_event_that_leaves_out_branches_is_a_warning)
{
	static const uint64_t configs[] = { 0x401, UINT64_C(1) << 55 | 0x2401 };

	begin(PT_ENGINE_FAST);
	run.data.events[0].attr.config = configs[_i];
	pt_packets_psb(&run.packets, SAMPLE_START, 0);
	finish();
	ck_assert_uint_eq(run.count, 0);
	ck_assert_uint_eq(diag_kinds(&run.diag), 1);
	ck_assert_ptr_nonnull(strstr(run.diag.first->text, _i ? "notnt" : "branch=0"));
	expect_all_bytes_counted();
}
END_TEST

/*
 * By the bus ratio, the cycles take 2000 ticks; but the next TSC or an AUX record is 1000 ticks
 * after the first.  A TSC may be 40,000 bytes away.
 */
START_TEST(cycles_do_not_pass_the_next_time_that_is_known)
{
	static const struct perf_data_pt_info info = {
		.pmu_type = SAMPLE_PMU,
		.time_mult = 1,
		.cap_user_time_zero = 1,
		.tsc_bit = 0x400,
		.noretcomp_bit = 0x800,
		.per_cpu_mmaps = 1,
		.cyc_bit = 2,
		.max_nonturbo_ratio = 25,
	};
	static const struct pt_packet cycles = { .type = ppt_cyc, .payload.cyc.value = 1000 };

	begin(PT_ENGINE_FAST);
	run.data.events[0].attr.config |= info.cyc_bit;
	perf_data_add_pt_info(&run.data, &info, NULL);
	pt_packets_psb(&run.packets, SAMPLE_START, 0);
	pt_packets_pge(&run.packets, SAMPLE_MAIN);
	pt_packets_add(&run.packets, &cycles);
	pt_packets_tnt(&run.packets, "t");
	pt_packets_add(&run.packets, &cycles);
	pt_packets_tnt(&run.packets, "nt");
	for (size_t i = 0; _i == 2 && i < 40000; i++)
		pt_packets_raw(&run.packets, "", 1);
	if (_i)
		pt_packets_tsc(&run.packets, SAMPLE_START + 1000);
	stamp(SAMPLE_START + (_i ? 5000 : 1000));
	perf_data_add_aux_event(&run.data, 0, pt_packets_size(&run.packets), 0);
	finish();
	expect(3, BRANCH_RETURN, SAMPLE_LEAF, SAMPLE_WORK + 5);
	ck_assert_uint_eq(run.events[3].time, SAMPLE_START + 500);
	expect(4, BRANCH_RETURN, SAMPLE_WORK + 7, SAMPLE_MAIN + 5);
	ck_assert_uint_eq(run.events[4].time, SAMPLE_START + 1000);
}
END_TEST

/* An event with a cycle count, up to `ip`. */
static void expect_cycles(size_t index, uint64_t ip, uint32_t insns, uint32_t cycles)
{
	expect(index, BRANCH_COUNTS, ip, 0);
	ck_assert_uint_eq(run.events[index].insns, insns);
	ck_assert_uint_eq(run.events[index].cycles, cycles);
}

/*
 * "In the case of TNT packets [...] the preceding CYC packet provides the retirement time of the
 * first branch in the packet." (SDM volume 3, "Cycle Packet Semantics")
 */
START_TEST(cycles_end_with_the_first_branch_of_the_packet)
{
	static const struct pt_packet cycles = { .type = ppt_cyc, .payload.cyc.value = 30 },
				      more = { .type = ppt_cyc, .payload.cyc.value = 40 };

	begin(PT_ENGINE_FAST);
	run.cycles = true;
	run.in_pieces = _i;
	pt_packets_psb(&run.packets, SAMPLE_START, 0);
	pt_packets_pge(&run.packets, SAMPLE_MAIN);
	pt_packets_add(&run.packets, &cycles);
	pt_packets_tnt(&run.packets, "tt");
	pt_packets_add(&run.packets, &more);
	pt_packets_tip(&run.packets, SAMPLE_WORK + 5);
	pt_packets_add(&run.packets, &cycles);
	pt_packets_tnt(&run.packets, "n");
	finish();
	expect(3, BRANCH_RETURN, SAMPLE_LEAF, SAMPLE_WORK + 5);
	expect_cycles(4, SAMPLE_WORK + 5, 0, 30);
	expect(5, BRANCH_COND, SAMPLE_WORK + 5, SAMPLE_WORK);
	expect(6, BRANCH_CALL, SAMPLE_WORK, SAMPLE_LEAF);
	expect(7, BRANCH_RETURN, SAMPLE_LEAF, SAMPLE_WORK + 5);
	expect_cycles(8, SAMPLE_WORK + 5, 0, 40);
	expect_cycles(9, SAMPLE_WORK + 7, 1, 30);
}
END_TEST

/*
 * The next MTC is far away.  The first AUX record, 700 ticks after the TSC, reports 1000 cycles,
 * and the second one 500 more.
 */
START_TEST(cycles_between_mtcs_do_not_pass_the_aux_record_of_their_bytes)
{
	static const struct perf_data_pt_info info = {
		.pmu_type = SAMPLE_PMU,
		.time_mult = 1,
		.cap_user_time_zero = 1,
		.tsc_bit = 0x400,
		.noretcomp_bit = 0x800,
		.mtc_bit = 0x200,
		.mtc_freq_bits = 0x3c000,
		.tsc_ctc_ratio_n = 1000,
		.tsc_ctc_ratio_d = 1,
		.per_cpu_mmaps = 1,
		.cyc_bit = 2,
		.max_nonturbo_ratio = 25,
	};
	static const struct pt_packet cycles = { .type = ppt_cyc, .payload.cyc.value = 1000 },
				      few = { .type = ppt_cyc, .payload.cyc.value = 500 },
				      tma = { .type = ppt_tma };
	size_t reported;

	begin(PT_ENGINE_FAST);
	run.data.events[0].attr.config |= info.cyc_bit | info.mtc_bit | 6 << 14;
	perf_data_add_pt_info(&run.data, &info, NULL);
	pt_packets_psb(&run.packets, SAMPLE_START, 0);
	pt_packets_add(&run.packets, &tma);
	pt_packets_pge(&run.packets, SAMPLE_MAIN);
	pt_packets_add(&run.packets, &cycles);
	pt_packets_tnt(&run.packets, "t");
	reported = pt_packets_size(&run.packets);
	stamp(SAMPLE_START + 700);
	perf_data_add_aux_event(&run.data, 0, reported, 0);
	pt_packets_add(&run.packets, &few);
	pt_packets_tnt(&run.packets, "nt");
	stamp(SAMPLE_START + 5000);
	perf_data_add_aux_event(&run.data, reported, pt_packets_size(&run.packets) - reported, 0);
	finish();
	expect(3, BRANCH_RETURN, SAMPLE_LEAF, SAMPLE_WORK + 5);
	ck_assert_uint_eq(run.events[3].time, SAMPLE_START + 700);
	expect(4, BRANCH_RETURN, SAMPLE_WORK + 7, SAMPLE_MAIN + 5);
	ck_assert_uint_eq(run.events[4].time, SAMPLE_START + 1500);
}
END_TEST

/*
 * Timing packets are 300 ns early or late; the switch record is at SAMPLE_START + 1000.  The thread
 * changes at the entry of __switch_to (here KERNEL_SYS), not at the timing packet.
 */
START_TEST(threads_change_where_the_kernel_switches_them)
{
	char path[PERF_DATA_PATH];

	begin(_i / 3);
	add_kernel(path);
	run.switch_ip = KERNEL_SYS;
	stamp(SAMPLE_START + 1000);
	perf_data_add_switch(&run.data, true, SAMPLE_PID, SAMPLE_PID + 1);
	pt_packets_psb(&run.packets, SAMPLE_START, 0);
	pt_packets_pge(&run.packets, SAMPLE_SYSCALL);
	pt_packets_tsc(&run.packets, SAMPLE_START + 1000 + 300 * (_i % 3 - 1));
	pt_packets_tip(&run.packets, KERNEL);
	pt_packets_tnt(&run.packets, "t");
	pt_packets_tip(&run.packets, SAMPLE_SYSCALL + 2);
	pt_packets_fup(&run.packets, SAMPLE_SYSCALL + 2);
	pt_packets_pgd(&run.packets, 0);
	finish();
	unlink(path);
	expect(1, BRANCH_SYSCALL, SAMPLE_SYSCALL, KERNEL);
	ck_assert_int_eq(run.tids[1], SAMPLE_PID);
	expect(2, BRANCH_CALL, KERNEL, KERNEL_SYS);
	ck_assert_int_eq(run.tids[2], SAMPLE_PID);
	expect(3, BRANCH_RETURN, KERNEL_SYS, KERNEL + 5);
	ck_assert_int_eq(run.tids[3], SAMPLE_PID + 1);
}
END_TEST

/* A system call, up to a FUP, after which tracing goes off. */
static void add_system_call(uint64_t time)
{
	pt_packets_pge(&run.packets, SAMPLE_SYSCALL);
	pt_packets_tsc(&run.packets, time);
	pt_packets_tip(&run.packets, KERNEL);
	pt_packets_tnt(&run.packets, "t");
	pt_packets_tip(&run.packets, SAMPLE_SYSCALL + 2);
	pt_packets_fup(&run.packets, SAMPLE_SYSCALL + 2);
	pt_packets_pgd(&run.packets, 0);
}

/* Even if the path was decoded before. */
START_TEST(threads_change_there_each_time)
{
	char path[PERF_DATA_PATH];

	begin(_i);
	add_kernel(path);
	run.switch_ip = KERNEL_SYS;
	stamp(SAMPLE_START + 1000);
	perf_data_add_switch(&run.data, true, SAMPLE_PID, SAMPLE_PID + 1);
	perf_data_stamp(&run.data, (struct perf_data_stamp){ .time = SAMPLE_START + 3000,
							     .pid = SAMPLE_PID,
							     .tid = SAMPLE_PID + 1 });
	perf_data_add_switch(&run.data, true, SAMPLE_PID, SAMPLE_PID);
	pt_packets_psb(&run.packets, SAMPLE_START, 0);
	add_system_call(SAMPLE_START + 1000);
	add_system_call(SAMPLE_START + 3000);
	finish();
	unlink(path);
	for (size_t i = 0; i < 2; i++) {
		expect(6 * i + 2, BRANCH_CALL, KERNEL, KERNEL_SYS);
		ck_assert_int_eq(run.tids[6 * i + 2], SAMPLE_PID + (int)i);
		expect(6 * i + 3, BRANCH_RETURN, KERNEL_SYS, KERNEL + 5);
		ck_assert_int_eq(run.tids[6 * i + 3], SAMPLE_PID + !i);
	}
}
END_TEST

/* Map a part of the sample's code again. */
static void add_mapping(uint64_t begin, uint64_t length, uint64_t moved)
{
	struct perf_data_mmap map = {
		.pid = SAMPLE_PID,
		.tid = SAMPLE_PID,
		.address = begin + moved,
		.length = length,
		.file_offset = TINY_ELF_CODE_OFFSET + begin - SAMPLE_CODE,
		.path = SAMPLE_PATH,
		.prot = 5,
	};

	perf_data_add_mmap2(&run.data, 0, &map);
}

static void expect_gap_at(uint64_t ip)
{
	ck_assert_uint_eq(run.last.kind, BRANCH_GAP);
	ck_assert_uint_eq(run.last.gap, GAP_NO_CODE);
	ck_assert_uint_eq(run.last.from, ip);
}

#define MOVED      UINT64_C(0x100000)
#define MOVED_MORE UINT64_C(0x200000)

/* Also by an interrupt's return: the thread may be preempted before it leaves the kernel. */
START_TEST(where_the_kernel_enters_user_code_this_is_of_the_program_that_exec_ran)
{
	const uint64_t work = SAMPLE_WORK + MOVED;
	bool interrupted = _i / 2;
	char path[PERF_DATA_PATH];

	begin(_i % 2);
	add_kernel(path);
	stamp(SAMPLE_START + 1000);
	perf_data_add_comm(&run.data, PERF_RECORD_MISC_COMM_EXEC, SAMPLE_PID, SAMPLE_PID, "new");
	add_mapping(SAMPLE_CODE, 0x100, MOVED);
	pt_packets_psb(&run.packets, SAMPLE_START, 0);
	pt_packets_pge(&run.packets, SAMPLE_SYSCALL);
	pt_packets_tip(&run.packets, KERNEL);
	pt_packets_tsc(&run.packets, SAMPLE_START + 2000);
	pt_packets_tnt(&run.packets, "t");
	if (interrupted) {
		pt_packets_fup(&run.packets, KERNEL + 5);
		pt_packets_tip(&run.packets, KERNEL_FAULT);
	}
	pt_packets_tip(&run.packets, work);
	pt_packets_tnt(&run.packets, "tn");
	pt_packets_fup(&run.packets, work + 7);
	pt_packets_pgd(&run.packets, 0);
	finish();
	unlink(path);
	expect(4 + interrupted, interrupted ? BRANCH_IRET : BRANCH_SYSRET,
	       interrupted ? KERNEL_FAULT + 1 : KERNEL + 5, work);
	expect(5 + interrupted, BRANCH_CALL, work, SAMPLE_LEAF + MOVED);
	ck_assert_ptr_ne(run.events[1].space, run.events[4 + interrupted].space);
	for (size_t i = 0; i < run.count; i++)
		ck_assert_int_ne(run.events[i].kind, BRANCH_GAP);
}
END_TEST

/* A file's code was cached from another, larger mapping. */
START_TEST(no_way_leads_out_of_a_mapping)
{
	begin(PT_ENGINE_FAST);
	run.skip = true;
	add_mapping(SAMPLE_WORK + 5, 0x100, MOVED); /* from the jump to work's start on */
	add_mapping(SAMPLE_WORK, 8, MOVED_MORE);    /* without work's callee */
	sample_trace(&run.packets);
	pt_packets_pge(&run.packets, SAMPLE_LEAF + MOVED);
	if (_i)
		pt_packets_tip(&run.packets, SAMPLE_WORK + MOVED_MORE);
	else
		pt_packets_tip(&run.packets, SAMPLE_WORK + 5 + MOVED);
	pt_packets_tnt(&run.packets, "ttt");
	pt_packets_pgd(&run.packets, 0);
	finish();
	if (_i) {
		expect(run.count - 2, BRANCH_CALL, SAMPLE_WORK + MOVED_MORE,
		       SAMPLE_LEAF + MOVED_MORE);
		expect_gap_at(SAMPLE_LEAF + MOVED_MORE);
	} else {
		expect(run.count - 2, BRANCH_RETURN, SAMPLE_LEAF + MOVED, SAMPLE_WORK + 5 + MOVED);
		expect_gap_at(SAMPLE_WORK + MOVED);
	}
	ck_assert_uint_eq(run.stats.local_jumps, _i ? 4 : 5);
}
END_TEST

/* work's conditional jump loops in work, three times a call; the calls stay. */
/* Known code's position is kept as an offset in its mapping. */
START_TEST(known_code_may_lie_anywhere_in_a_large_mapping)
{
	const uint64_t moved = UINT64_C(0x100000000000);
	struct perf_data_mmap map = {
		.pid = SAMPLE_PID,
		.tid = SAMPLE_PID,
		.address = SAMPLE_CODE + moved,
		.length = FAR + 0x1000,
		.file_offset = TINY_ELF_CODE_OFFSET,
		.path = SAMPLE_PATH,
		.prot = PROT_EXEC,
	};

	begin(PT_ENGINE_FAST);
	run.skip = true;
	run.far_bytes = mmap(NULL, FAR + run.program_size, PROT_READ | PROT_WRITE,
			     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	ck_assert_ptr_ne(run.far_bytes, MAP_FAILED);
	memcpy(run.far_bytes + FAR, run.program_bytes, run.program_size);
	perf_data_add_mmap2(&run.data, 0, &map);
	pt_packets_psb(&run.packets, SAMPLE_START, 0);
	pt_packets_pge(&run.packets, SAMPLE_WORK + moved + FAR);
	for (int i = 0; i < 4; i++)
		pt_packets_tnt(&run.packets, "tt"); /* leaf returns, work starts again */
	pt_packets_pgd(&run.packets, 0);
	finish();
	munmap(run.far_bytes, FAR + run.program_size);
	for (size_t i = 0; i < 5; i++)
		expect(2 * i + 1, BRANCH_CALL, SAMPLE_WORK + moved + FAR,
		       SAMPLE_LEAF + moved + FAR);
	ck_assert_uint_eq(run.stats.local_jumps, 4);
}
END_TEST

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

/* work becomes `count` times an instruction, a conditional jump back to its start, and a return. */
static void make_work_long(size_t count, const uint8_t *insn, size_t size)
{
	uint8_t *work, jump[] = { 0x0f, 0x85, 0, 0, 0, 0, 0xc3 };
	int32_t distance = -(int32_t)(count * size + 6);

	run.program_size = TINY_ELF_CODE_OFFSET + 0x1000;
	run.program_bytes = realloc(run.program_bytes, run.program_size);
	ck_assert_ptr_nonnull(run.program_bytes);
	work = run.program_bytes + TINY_ELF_CODE_OFFSET + (SAMPLE_WORK - SAMPLE_CODE);
	for (size_t i = 0; i < count; i++, work += size)
		memcpy(work, insn, size);
	memcpy(jump + 2, &distance, sizeof(distance));
	memcpy(work, jump, sizeof(jump));
	run.work_size = count * size + sizeof(jump);
}

/* Jumps' instruction counts have few bits; a larger count takes the slow path. */
START_TEST(all_instructions_count_however_long_the_code_is_between_two_jumps)
{
	static const size_t nops[] = { 1, 2045, 2046, 2047, 2048, 3000 };
	static const uint8_t nop = 0x90;
	const uint64_t passes = 5 + 3;

	begin(PT_ENGINE_FAST);
	run.skip = true;
	make_work_long(nops[_i], &nop, 1);
	pt_packets_psb(&run.packets, SAMPLE_START, 0);
	pt_packets_pge(&run.packets, SAMPLE_MAIN);
	pt_packets_tnt(&run.packets, "ttttn"); /* five times round */
	pt_packets_tnt(&run.packets, "tttnt"); /* returns; three times, returns */
	pt_packets_pgd(&run.packets, 0);
	finish();
	ck_assert_uint_eq(run.stats.local_jumps, passes - 2);
	/* Two calls and a syscall of main; all rounds and two returns of work. */
	ck_assert_uint_eq(run.stats.insns, 3 + passes * (nops[_i] + 1) + 2);
	expect(4, BRANCH_RETURN, SAMPLE_WORK + nops[_i] + 6, SAMPLE_MAIN + 10);
}
END_TEST

/* Bits in one packet or in several, short and long packets, with a jump that needs no bit. */
static const char *const ways[][3] = {
	{ "ttttn", "tttnt", "ttttttttttn" },
	{ "ttn", "ttttttttttttttttttttt", "n" },
	{ "tn", "t", "n" },
};

static void follow_way(const char *const *way, bool skip)
{
	static const uint8_t insns[] = { 0xeb, 0x00, 0x90 };

	begin(PT_ENGINE_FAST);
	run.skip = skip;
	run.counts = true;
	make_work_long(1, insns, sizeof(insns));
	pt_packets_psb(&run.packets, SAMPLE_START, 0);
	pt_packets_pge(&run.packets, SAMPLE_MAIN);
	for (int i = 0; i < 3; i++)
		pt_packets_tnt(&run.packets, way[i]);
	pt_packets_pgd(&run.packets, 0);
	finish();
}

/* Decode a loop of two jumps, of which the second needs a bit, over some times. */
static void follow_loop_over(uint64_t begin_time, uint64_t end_time, bool skip)
{
	static const uint8_t insns[] = { 0xeb, 0x00, 0x90 };

	begin(PT_ENGINE_FAST);
	run.begin = begin_time;
	run.end = end_time;
	run.skip = run.counts = skip;
	make_work_long(1, insns, sizeof(insns));
	pt_packets_psb(&run.packets, SAMPLE_START, 0);
	pt_packets_pge(&run.packets, SAMPLE_MAIN);
	for (int i = 1; i <= 4; i++) {
		pt_packets_tsc(&run.packets, SAMPLE_START + 100 * (uint64_t)i);
		pt_packets_tnt(&run.packets, i < 4 ? "tttt" : "ttn");
	}
	pt_packets_tsc(&run.packets, SAMPLE_START + 500);
	pt_packets_pgd(&run.packets, 0);
	finish();
}

static bool is_jump(unsigned kind)
{
	return kind == BRANCH_COND || kind == BRANCH_JUMP;
}

/* Returns how many of the events, or of those that are jumps, are in [begin, end]. */
static size_t count_events(uint64_t begin_time, uint64_t end_time, bool jumps)
{
	size_t count = 0;

	for (size_t i = 0; i < run.count; i++)
		count += run.events[i].time >= begin_time && run.events[i].time <= end_time &&
			 (!jumps || is_jump(run.events[i].kind));
	return count;
}

/* Returns the counted jumps between two ips; 0: anywhere. */
static uint64_t counted_jumps(uint64_t from, uint64_t to)
{
	uint64_t count = 0;

	for (size_t i = 0; i < run.code_count; i++)
		if (is_jump(run.code[i].kind) && (!from || run.code[i].last == from) &&
		    (!to || run.code[i].to == to))
			count += run.code[i].taken;
	return count;
}

/* Where a stream is cut at a time, packets on both sides are decoded. */
START_TEST(jumps_that_are_left_out_count_if_their_time_is_chosen)
{
	struct branch_event all[EVENTS_MAX];
	size_t count, expected, jumps;

	follow_loop_over(0, 0, false);
	count = run.count;
	ck_assert_uint_gt(count, 2 * 14);
	memcpy(all, run.events, sizeof(all));
	for (size_t i = 0; i < 2 * count; i++) {
		uint64_t from = i % 2 ? 0 : all[i / 2].time;
		uint64_t to = i % 2 ? all[i / 2].time : UINT64_MAX;

		run.count = count;
		memcpy(run.events, all, sizeof(all));
		expected = count_events(from, to, false);
		jumps = count_events(from, to, true);
		follow_loop_over(from, to, true);
		ck_assert_uint_eq(count_events(from, to, false) + run.stats.local_jumps, expected);
		ck_assert_uint_eq(counted_jumps(0, 0), jumps);
	}
}
END_TEST

START_TEST(code_counts_as_often_as_its_branches)
{
	struct branch_event events[EVENTS_MAX];
	uint64_t executions = 0, insns, jumps = 0;
	size_t count, seen;

	follow_way(ways[_i / 2], false);
	count = run.count;
	insns = run.stats.insns;
	ck_assert_uint_lt(count, EVENTS_MAX);
	memcpy(events, run.events, sizeof(events));
	if (_i % 2)
		follow_way(ways[_i / 2], true);
	for (size_t i = 0; i < count; i++) {
		if (!is_jump(events[i].kind))
			continue;
		seen = 0;
		for (size_t k = 0; k < count; k++)
			seen += events[k].from == events[i].from && events[k].to == events[i].to;
		ck_assert_uint_eq(counted_jumps(events[i].from, events[i].to), seen);
		jumps++;
	}
	ck_assert_uint_eq(counted_jumps(0, 0), jumps);
	ck_assert_uint_gt(jumps, 1);
	for (size_t i = 0; i < run.code_count; i++)
		executions += run.code[i].count;
	ck_assert_uint_gt(executions, jumps);
	ck_assert_uint_le(executions, insns);
}
END_TEST

START_TEST(jumps_on_the_way_to_a_target_count)
{
	static const uint8_t jump[] = { 0xeb, 0x00 };

	begin(PT_ENGINE_FAST);
	run.skip = true;
	make_work_long(1, jump, sizeof(jump));
	run.program_bytes[TINY_ELF_CODE_OFFSET + (SAMPLE_WORK - SAMPLE_CODE) + 2] = 0xc3;
	pt_packets_psb(&run.packets, SAMPLE_START, 0);
	pt_packets_pge(&run.packets, SAMPLE_MAIN);
	pt_packets_tip(&run.packets, SAMPLE_MAIN + 5);
	pt_packets_tip(&run.packets, SAMPLE_MAIN + 10);
	pt_packets_pgd(&run.packets, 0);
	finish();
	expect(4, BRANCH_RETURN, SAMPLE_WORK + 2, SAMPLE_MAIN + 10);
	ck_assert_uint_eq(run.stats.local_jumps, 2);
	ck_assert_uint_eq(run.stats.insns, 2 * (1 + 2) + 1);
}
END_TEST

/* Also in known code: one packet may cause only some thousand jumps. */
START_TEST(jumps_between_two_decisions_count_up_to_a_bound)
{
	static const uint8_t jump[] = { 0xeb, 0x00 }; /* to the next instruction */
	static const size_t jumps[] = { 1, 40, 86, 88, 400, 1500 };
	const size_t bits = 46, each = jumps[_i] + 1;
	const bool endless = bits * each > 4096;
	char taken[48] = "";

	begin(PT_ENGINE_FAST);
	run.skip = true;
	make_work_long(jumps[_i], jump, sizeof(jump));
	memset(taken, 't', bits);
	pt_packets_psb(&run.packets, SAMPLE_START, 0);
	pt_packets_pge(&run.packets, SAMPLE_MAIN);
	pt_packets_tnt(&run.packets, "t"); /* two more make the path known */
	pt_packets_tnt(&run.packets, "t");
	pt_packets_tnt(&run.packets, taken);
	if (endless)
		pt_packets_psb(&run.packets, SAMPLE_START + 100, SAMPLE_SYSCALL);
	else
		pt_packets_tnt(&run.packets, "n");
	pt_packets_pgd(&run.packets, 0);
	finish();
	ck_assert_uint_eq(run.stats.gaps[GAP_ENDLESS], endless);
	if (!endless)
		ck_assert_uint_eq(run.stats.local_jumps, (bits + 2) * each + jumps[_i]);
	ck_assert_uint_eq(run.last.from,
			  endless ? SAMPLE_SYSCALL : SAMPLE_WORK + run.work_size - 1);
	ck_assert_uint_eq(run.last.kind, endless ? BRANCH_SYSCALL : BRANCH_RETURN);
}
END_TEST

/*
 * The first bytes of a PSB+ are missing: its MODE.Exec and FUP look like those of an event, and the
 * trace continues elsewhere.
 */
START_TEST(the_end_of_a_header_without_its_begin_is_damage)
{
	static const uint8_t mode_exec[] = { 0x99, 0x01 }, psbend[] = { 0x02, 0x23 };

	begin(PT_ENGINE_FAST);
	pt_packets_psb(&run.packets, SAMPLE_START, 0);
	pt_packets_pge(&run.packets, SAMPLE_LEAF);
	pt_packets_raw(&run.packets, mode_exec, 2);
	pt_packets_fup(&run.packets, SAMPLE_LEAF);
	pt_packets_raw(&run.packets, psbend, 2);
	pt_packets_tip(&run.packets, SAMPLE_LEAF);
	pt_packets_tip(&run.packets, SAMPLE_MAIN + 10);
	pt_packets_pgd(&run.packets, 0);
	finish();
	expect(1, BRANCH_GAP, SAMPLE_LEAF, 0);
	ck_assert_uint_eq(run.events[1].gap, GAP_MISMATCH);
	expect(2, BRANCH_NONE, 0, SAMPLE_LEAF);
	expect(3, BRANCH_RETURN, SAMPLE_LEAF, SAMPLE_MAIN + 10);
	expect(4, BRANCH_SYSCALL, SAMPLE_SYSCALL, 0);
}
END_TEST

START_TEST(an_end_of_tracing_without_its_begin_is_damage)
{
	begin(PT_ENGINE_FAST);
	pt_packets_psb(&run.packets, SAMPLE_START, 0);
	pt_packets_pgd(&run.packets, 0);
	pt_packets_pge(&run.packets, SAMPLE_LEAF);
	pt_packets_tip(&run.packets, SAMPLE_MAIN + 10);
	pt_packets_pgd(&run.packets, 0);
	finish();
	expect(0, BRANCH_GAP, 0, 0);
	ck_assert_uint_eq(run.events[0].gap, GAP_MISMATCH);
	expect(1, BRANCH_NONE, 0, SAMPLE_LEAF);
	expect(2, BRANCH_RETURN, SAMPLE_LEAF, SAMPLE_MAIN + 10);
	expect(3, BRANCH_SYSCALL, SAMPLE_SYSCALL, 0);
}
END_TEST

/* A damaged MODE.Exec may be impossible: in other modes, addresses have 32 bits. */
START_TEST(a_place_beyond_4_gib_has_64_bit_code)
{
	static const uint8_t mode_16[] = { 0x99, 0x00 };
	const uint64_t beyond = SAMPLE_CODE + (UINT64_C(1) << 32);
	struct perf_data_mmap map = {
		.pid = SAMPLE_PID,
		.tid = SAMPLE_PID,
		.address = beyond,
		.length = 0x1000,
		.file_offset = TINY_ELF_CODE_OFFSET,
		.path = SAMPLE_PATH,
		.prot = PROT_EXEC,
	};

	begin(_i);
	perf_data_add_mmap2(&run.data, PERF_RECORD_MISC_USER, &map);
	pt_packets_psb(&run.packets, SAMPLE_START, 0);
	pt_packets_raw(&run.packets, mode_16, 2);
	pt_packets_pge(&run.packets, beyond);
	pt_packets_tip(&run.packets, SAMPLE_MAIN + 10);
	pt_packets_pgd(&run.packets, 0);
	finish();
	if (_i == PT_ENGINE_LIBIPT) /* its engine reports a gap */
		ck_assert_uint_eq(run.stats.gaps[GAP_MISMATCH], 1);
	else
		expect(1, BRANCH_CALL, beyond, beyond + (SAMPLE_WORK - SAMPLE_CODE));
}
END_TEST

/* SDM volume 3, "Deferred TIPs": the TNT is sent, followed by all the deferred TIP packets. */
static const uint8_t deferring[] = {
	0x75,          0x01, 0x90, 0xff, 0xe0,                   /* jne .+3; nop; jmp *%rax */
	[0x20] = 0x75, 0x01, 0x90, 0xff, 0xd0,                   /* the same; call *%rax */
	[0x40] = 0x75, 0x01, 0x90, 0x75, 0x01, 0x90, 0x0f, 0x05, /* twice; syscall */
};

static void write_program(const uint8_t *bytes, size_t size)
{
	FILE *file = fopen(run.program, "r+b");

	memcpy(run.program_bytes + TINY_ELF_CODE_OFFSET, bytes, size);
	fwrite(run.program_bytes, 1, run.program_size, file);
	fclose(file);
}

static const uint8_t interrupting[] = { 0xcd, 0x80, 0xcd, 0x81 }; /* int $0x80; int $0x81 */

/* perf calls both "int"; the first one is a system call. */
START_TEST(int_80_is_marked)
{
	begin(_i);
	write_program(interrupting, sizeof(interrupting));
	pt_packets_psb(&run.packets, SAMPLE_START, 0);
	for (uint64_t at = SAMPLE_CODE; at < SAMPLE_CODE + 4; at += 2) {
		pt_packets_pge(&run.packets, at);
		pt_packets_pgd(&run.packets, 0);
	}
	finish();
	ck_assert_uint_eq(run.count, 4);
	expect(1, BRANCH_SOFTINT, SAMPLE_CODE, 0);
	ck_assert_uint_eq(run.events[1].flags, BRANCH_TRACE_OFF | BRANCH_INT80);
	expect(3, BRANCH_SOFTINT, SAMPLE_CODE + 2, 0);
	ck_assert_uint_eq(run.events[3].flags, BRANCH_TRACE_OFF);
}
END_TEST

/* ---- Instructions -------------------------------------------------------- */

/*
 * The program is `nops` times NOP, a conditional jump to its start, and a system call; in its own
 * mapping at SAMPLE_CODE + MOVED.
 */
static void write_long_code(size_t nops)
{
	uint8_t *code, end[] = { 0x0f, 0x85, 0, 0, 0, 0, 0x0f, 0x05 };
	int32_t distance = -(int32_t)(nops + 6);
	FILE *file = fopen(run.program, "r+b");

	run.program_size = TINY_ELF_CODE_OFFSET + nops + sizeof(end);
	run.program_bytes = realloc(run.program_bytes, run.program_size);
	ck_assert_ptr_nonnull(run.program_bytes);
	code = run.program_bytes + TINY_ELF_CODE_OFFSET;
	memset(code, 0x90, nops);
	memcpy(end + 2, &distance, sizeof(distance));
	memcpy(code + nops, end, sizeof(end));
	fwrite(run.program_bytes, 1, run.program_size, file);
	fclose(file);
	add_mapping(SAMPLE_CODE, nops + sizeof(end), MOVED);
}

static const size_t long_code[] = {
	2046, 2048, 32768, 40000, 65534, 65535, 65536, 100000, 3000000
};

#define LONG_CODES ((int)(sizeof(long_code) / sizeof(long_code[0])))

/* All sizes, each with both engines. */
START_TEST(code_without_a_branch_is_followed_however_long_it_is)
{
	const size_t nops = long_code[_i / 2];
	const uint64_t code = SAMPLE_CODE + MOVED, jump = code + nops;

	begin(_i % 2);
	write_long_code(nops);
	pt_packets_psb(&run.packets, SAMPLE_START, 0);
	pt_packets_pge(&run.packets, code);
	pt_packets_tnt(&run.packets, "t");
	pt_packets_tnt(&run.packets, "t");
	pt_packets_fup(&run.packets, jump - 1); /* an interrupt, and its return to the middle */
	pt_packets_tip(&run.packets, code + nops / 2);
	pt_packets_tnt(&run.packets, "n");
	pt_packets_pgd(&run.packets, 0);
	finish();
	ck_assert_uint_eq(run.count, 5);
	expect(1, BRANCH_COND, jump, code);
	ck_assert_uint_eq(run.events[1].insns, nops + 1);
	expect(2, BRANCH_COND, jump, code);
	ck_assert_uint_eq(run.events[2].insns, nops + 1);
	expect(3, BRANCH_INTERRUPT, jump - 1, code + nops / 2);
	ck_assert_uint_eq(run.events[3].insns, nops - 1);
	expect(4, BRANCH_SYSCALL, jump + 6, 0);
	ck_assert_uint_eq(run.events[4].insns, nops - nops / 2 + 2);
	ck_assert_uint_eq(run.stats.bytes_lost, 0);
}
END_TEST

/* The mapping's end is the code's end, but not a block's. */
START_TEST(long_code_that_ends_without_a_branch_is_missing_code)
{
	const uint64_t code = SAMPLE_CODE + MOVED;

	begin(_i);
	write_long_code(100000);
	add_mapping(SAMPLE_CODE, 90000, MOVED_MORE);
	pt_packets_psb(&run.packets, SAMPLE_START, 0);
	pt_packets_pge(&run.packets, code + MOVED);
	pt_packets_tnt(&run.packets, "t");
	pt_packets_psb(&run.packets, SAMPLE_START + 100, code + 99999);
	pt_packets_tnt(&run.packets, "n");
	pt_packets_pgd(&run.packets, 0);
	finish();
	ck_assert_uint_eq(run.events[1].kind, BRANCH_GAP);
	ck_assert_uint_eq(run.events[1].gap, GAP_NO_CODE);
	ck_assert_uint_eq(run.events[1].from, code + MOVED + 90000);
	expect(3, BRANCH_SYSCALL, code + 100006, 0);
}
END_TEST

/* Instructions that leave the code without being branches: decoder/code/insn.h. */
static const struct leaving_insn {
	uint8_t size, bytes[4];
	bool returns; /* without a packet, continues at the next instruction */
} leaving[] = {
	{ 3, { 0x0f, 0x01, 0xd7 }, true },       /* ENCLU */
	{ 3, { 0x0f, 0x01, 0xcf }, true },       /* ENCLS */
	{ 3, { 0x0f, 0x01, 0xc0 }, true },       /* ENCLV */
	{ 4, { 0x66, 0x0f, 0x01, 0xcc }, true }, /* TDCALL */
	{ 4, { 0x66, 0x0f, 0x01, 0xcf }, true }, /* SEAMCALL */
	{ 4, { 0x66, 0x0f, 0x01, 0xcd }, true }, /* SEAMRET */
	{ 3, { 0x0f, 0x01, 0xd9 }, true },       /* VMMCALL */
	{ 2, { 0x0f, 0xaa }, true },             /* RSM */
	{ 2, { 0x0f, 0xa2 }, true },             /* CPUID */
	{ 3, { 0x0f, 0x01, 0xc1 }, false },      /* VMCALL */
};

#define LEAVING ((int)(sizeof(leaving) / sizeof(leaving[0])))

/* nop; the instruction; nop; syscall */
static uint64_t write_leaving(const struct leaving_insn *insn)
{
	uint8_t code[8] = { 0x90 };

	memcpy(code + 1, insn->bytes, insn->size);
	memcpy(code + 1 + insn->size, (const uint8_t[]){ 0x90, 0x0f, 0x05 }, 3);
	write_program(code, sizeof(code));
	return SAMPLE_MAIN + 1;
}

/* SDM volume 3, "Packet Generation Scenarios": EENTER of an enclave; VM exits; #UD. */
START_TEST(an_enclave_or_a_hypervisor_is_entered_by_a_fup)
{
	const struct leaving_insn *insn = &leaving[_i / 2];
	uint64_t at, next;

	begin(_i % 2);
	at = write_leaving(insn);
	next = at + insn->size;
	pt_packets_psb(&run.packets, SAMPLE_START, 0);
	pt_packets_pge(&run.packets, SAMPLE_MAIN);
	pt_packets_fup(&run.packets, at);
	pt_packets_pgd(&run.packets, 0);
	pt_packets_pge(&run.packets, next);
	pt_packets_pgd(&run.packets, 0);
	finish();
	ck_assert_uint_eq(run.count, 4);
	expect(1, BRANCH_NONE, at, 0);
	ck_assert_uint_eq(run.events[1].flags, BRANCH_TRACE_OFF | BRANCH_ASYNC);
	expect(2, BRANCH_NONE, 0, next);
	expect(3, BRANCH_SYSCALL, next + 1, 0);
}
END_TEST

/* EENTER and EEXIT of a debug enclave, and a VM exit to a hypervisor that is also traced. */
START_TEST(a_traced_enclave_or_hypervisor_is_entered_by_a_fup_and_its_target)
{
	const struct leaving_insn *insn = &leaving[_i / 2];
	uint64_t at;

	begin(_i % 2);
	at = write_leaving(insn);
	pt_packets_psb(&run.packets, SAMPLE_START, 0);
	pt_packets_pge(&run.packets, SAMPLE_MAIN);
	pt_packets_fup(&run.packets, at);
	pt_packets_tip(&run.packets, SAMPLE_LEAF);
	pt_packets_tip(&run.packets, at + insn->size);
	pt_packets_pgd(&run.packets, 0);
	finish();
	ck_assert_uint_eq(run.count, 4);
	expect(1, BRANCH_INTERRUPT, at, SAMPLE_LEAF);
	expect(2, BRANCH_RETURN, SAMPLE_LEAF, at + insn->size);
	expect(3, BRANCH_SYSCALL, at + insn->size + 1, 0);
}
END_TEST

/* For example another leaf of ENCLU (EGETKEY), or a failure. */
START_TEST(what_does_not_leave_needs_no_packet)
{
	const struct leaving_insn *insn = &leaving[_i / 2];
	uint64_t at;

	begin(_i % 2);
	at = write_leaving(insn);
	pt_packets_psb(&run.packets, SAMPLE_START, 0);
	pt_packets_pge(&run.packets, SAMPLE_MAIN);
	pt_packets_pgd(&run.packets, 0);
	finish();
	ck_assert_uint_eq(run.count, 2);
	if (insn->returns)
		expect(1, BRANCH_SYSCALL, at + insn->size + 1, 0);
	else
		expect(1, BRANCH_SOFTINT, at, 0);
}
END_TEST

/* Far branches have a TIP without a FUP.  A failed VM entry continues at the next IP. */
START_TEST(far_branches_have_their_kind)
{
	static const struct {
		struct leaving_insn insn;
		enum branch_kind kind;
	} rows[] = {
		{ { 3, { 0x0f, 0x01, 0xc2 }, false }, BRANCH_SOFTINT },    /* VMLAUNCH */
		{ { 3, { 0x0f, 0x01, 0xc3 }, false }, BRANCH_SOFTINT },    /* VMRESUME */
		{ { 4, { 0xf2, 0x0f, 0x01, 0xca }, false }, BRANCH_IRET }, /* ERETS */
		{ { 4, { 0xf3, 0x0f, 0x01, 0xca }, false }, BRANCH_IRET }, /* ERETU */
		{ { 4, { 0xf3, 0x0f, 0x01, 0xec }, false }, BRANCH_IRET }, /* UIRET */
	};
	const struct leaving_insn *insn = &rows[_i / 2].insn;
	uint64_t at;

	/* libipt 2.0 does not know the later three. */
	if (_i % 2 == PT_ENGINE_LIBIPT && rows[_i / 2].kind == BRANCH_IRET)
		return;
	begin(_i % 2);
	at = write_leaving(insn);
	pt_packets_psb(&run.packets, SAMPLE_START, 0);
	pt_packets_pge(&run.packets, SAMPLE_MAIN);
	pt_packets_tip(&run.packets, at + insn->size);
	pt_packets_pgd(&run.packets, 0);
	finish();
	ck_assert_uint_eq(run.count, 3);
	expect(1, rows[_i / 2].kind, at, at + insn->size);
	expect(2, BRANCH_SYSCALL, at + insn->size + 1, 0);
}
END_TEST

/* APX: JMPABS amid code that libipt 2.0 does not know. */
static const uint8_t apx_code[] = {
	0xd5, 0x18, 0x01, 0xc0,                                  /* add %r16, %r16 */
	0x62, 0xf4, 0x7c, 0x18, 0x01, 0xc8,                      /* add %ecx, %eax, %eax */
	0xd5, 0x00, 0xa1, 0x40, 0x10, 0x40, 0x00, 0x00, 0, 0, 0, /* jmpabs leaf */
};

START_TEST(jmpabs_is_a_jump_that_has_a_target_in_the_trace)
{
	begin(PT_ENGINE_FAST);
	write_program(apx_code, sizeof(apx_code));
	pt_packets_psb(&run.packets, SAMPLE_START, 0);
	pt_packets_pge(&run.packets, SAMPLE_MAIN);
	pt_packets_tip(&run.packets, SAMPLE_LEAF);
	pt_packets_tip(&run.packets, SAMPLE_CIRCLE);
	finish();
	expect(1, BRANCH_JUMP, SAMPLE_MAIN + 10, SAMPLE_LEAF);
	ck_assert(run.events[1].flags & BRANCH_INDIRECT);
	expect(2, BRANCH_RETURN, SAMPLE_LEAF, SAMPLE_CIRCLE);
}
END_TEST

/* Calls into another mapping, which begins at the returns. */
static const uint8_t far_calls[] = {
	0xff,          0xd0,                      /* call *%rax */
	0x75,          0xfc,                      /* jne to it */
	0xff,          0xd0,          0x0f, 0x05, /* call *%rax; syscall */
	[0x10] = 0xc3, [0x11] = 0xc3,             /* ret; ret */
};

/* Known code leads to unknown code: a call's target, and the code after another call. */
START_TEST(known_code_may_lead_to_unknown_code_of_another_mapping)
{
	const uint64_t code = SAMPLE_CODE, first = code + 0x10 + MOVED, second = first + 1;

	begin(_i);
	write_program(far_calls, sizeof(far_calls));
	add_mapping(code + 0x10, 0x10, MOVED);
	pt_packets_psb(&run.packets, SAMPLE_START, 0);
	pt_packets_pge(&run.packets, code);
	pt_packets_tip(&run.packets, first);
	pt_packets_tnt(&run.packets, "tt");
	pt_packets_tip(&run.packets, second);
	pt_packets_tnt(&run.packets, "tn");
	pt_packets_tip(&run.packets, first);
	pt_packets_tnt(&run.packets, "t");
	pt_packets_pgd(&run.packets, 0);
	finish();
	ck_assert_uint_eq(run.count, 9);
	expect(1, BRANCH_CALL, code, first);
	expect(4, BRANCH_CALL, code, second);
	expect(5, BRANCH_RETURN, second, code + 2);
	expect(6, BRANCH_CALL, code + 4, first);
	expect(7, BRANCH_RETURN, first, code + 6);
	expect(8, BRANCH_SYSCALL, code + 6, 0);
}
END_TEST

START_TEST(decisions_may_precede_the_targets_between_them)
{
	begin(_i);
	write_program(deferring, sizeof(deferring));
	pt_packets_psb(&run.packets, SAMPLE_START, 0);
	pt_packets_pge(&run.packets, SAMPLE_MAIN);
	pt_packets_tnt(&run.packets, "tttt");
	pt_packets_tip(&run.packets, SAMPLE_WORK);
	pt_packets_tip(&run.packets, SAMPLE_LEAF);
	pt_packets_pgd(&run.packets, 0);
	finish();
	expect(1, BRANCH_COND, SAMPLE_MAIN, SAMPLE_MAIN + 3);
	expect(2, BRANCH_JUMP, SAMPLE_MAIN + 3, SAMPLE_WORK);
	expect(3, BRANCH_COND, SAMPLE_WORK, SAMPLE_WORK + 3);
	expect(4, BRANCH_CALL, SAMPLE_WORK + 3, SAMPLE_LEAF);
	expect(5, BRANCH_COND, SAMPLE_LEAF, SAMPLE_LEAF + 3);
	expect(6, BRANCH_COND, SAMPLE_LEAF + 3, SAMPLE_LEAF + 6);
	expect(7, BRANCH_SYSCALL, SAMPLE_LEAF + 6, 0);
	ck_assert_uint_eq(run.count, 8);
	ck_assert_uint_eq(run.stats.insns, 7);
}
END_TEST

/* A missing target is damage; decoding continues at the next known IP. */
START_TEST(decisions_that_wait_for_no_target_are_damage)
{
	begin(PT_ENGINE_FAST);
	write_program(deferring, sizeof(deferring));
	pt_packets_psb(&run.packets, SAMPLE_START, 0);
	pt_packets_pge(&run.packets, SAMPLE_MAIN);
	pt_packets_tnt(&run.packets, "tttt");
	if (_i == 0)
		pt_packets_fup(&run.packets, SAMPLE_WORK);
	else if (_i == 1)
		pt_packets_pgd(&run.packets, 0);
	else if (_i == 2)
		pt_packets_psb(&run.packets, SAMPLE_START + 1, SAMPLE_WORK + 3);
	else
		pt_packets_tsc(&run.packets, SAMPLE_START + 1);
	if (_i == 3)
		pt_packets_tnt(&run.packets, "t");
	pt_packets_tip(&run.packets, SAMPLE_LEAF);
	pt_packets_tnt(&run.packets, "tt");
	pt_packets_pgd(&run.packets, 0);
	finish();
	expect(2, BRANCH_GAP, SAMPLE_MAIN + 3, 0);
	ck_assert_uint_eq(run.events[2].gap, GAP_MISMATCH);
	if (_i != 1)
		ck_assert_uint_eq(run.events[run.count - 1].kind, BRANCH_SYSCALL);
}
END_TEST

/* A cycle of direct jumps needs no packet: only a limit ends it. */
START_TEST(a_flow_that_turns_in_a_circle_is_a_gap)
{
	begin(_i);
	pt_packets_psb(&run.packets, SAMPLE_START, 0);
	pt_packets_pge(&run.packets, SAMPLE_CIRCLE);
	pt_packets_tip(&run.packets, SAMPLE_MAIN); /* no instruction of the cycle takes it */
	pt_packets_psb(&run.packets, SAMPLE_START + 100, SAMPLE_LEAF);
	pt_packets_tip(&run.packets, SAMPLE_SYSCALL);
	pt_packets_pgd(&run.packets, 0);
	finish();
	ck_assert_uint_eq(run.stats.gaps[GAP_ENDLESS], 1);
	ck_assert_uint_gt(run.count, 3);
	/* Decoding continued. */
	ck_assert_uint_eq(run.last.kind, BRANCH_SYSCALL);
}
END_TEST

START_TEST(packets_that_fit_no_code_are_a_gap_and_no_crash)
{
	begin(_i);
	pt_packets_psb(&run.packets, SAMPLE_START, 0);
	pt_packets_pge(&run.packets, SAMPLE_MAIN);
	pt_packets_pge(&run.packets, SAMPLE_MAIN); /* on, while it is on */
	finish();
	ck_assert_uint_ge(run.count, 1);
	ck_assert_uint_ge(run.stats.gaps[GAP_MISMATCH] + run.stats.gaps[GAP_INTERNAL] +
				  run.stats.gaps[GAP_BAD_PACKET],
			  1);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("pt_stream");
	TCase *all = tcase_create("pt_stream");

	tcase_add_loop_test(all, a_whole_program_gives_its_branches_in_order, 0, 2);
	tcase_add_loop_test(all, opening_all_streams_decodes_nothing, 0, 2);
	tcase_add_loop_test(all, a_branch_has_the_time_of_its_packet, 0, 2);
	tcase_add_loop_test(all, the_missing_top_byte_of_a_tsc_comes_from_the_reference, 0, 2);
	tcase_add_loop_test(all, an_interrupt_ends_the_trace_after_the_call_it_follows, 0, 2);
	tcase_add_loop_test(all, int_80_is_marked, 0, 2);
	tcase_add_loop_test(all, an_overflow_is_a_gap_and_tracing_goes_on_where_it_ends, 0, 2);
	tcase_add_loop_test(all, missing_code_costs_the_trace_up_to_the_next_place_only, 0, 2);
	tcase_add_test(all, a_return_to_missing_code_is_a_gap_for_lack_of_code);
	tcase_add_test(all, a_return_out_of_missing_code_is_where_its_caller_explains_the_packets);
	tcase_add_loop_test(all, a_return_that_may_be_at_several_bits_is_no_branch_of_the_trace, 0,
			    2);
	tcase_add_loop_test(all, no_near_branch_leads_from_a_caller_of_missing_code_to_the_kernel,
			    0, 2);
	tcase_add_loop_test(all, a_packet_that_contradicts_a_guessed_return_shows_missing_code, 0,
			    3);
	tcase_add_loop_test(all, an_interrupt_before_any_missing_code_ran_is_no_gap, 0, 2);
	tcase_add_loop_test(all, what_precedes_the_first_psb_is_skipped_and_counted, 0, 2);
	tcase_add_loop_test(all, a_trace_in_pieces_is_one_stream, 0, 2);
	tcase_add_loop_test(all, lost_data_that_the_kernel_reports_is_a_gap, 0, 4);
	tcase_add_test(all, a_full_buffer_is_a_gap_exactly_where_it_was_full);
	tcase_add_loop_test(all, tracing_resumes_after_a_full_buffer_without_a_psb, 0, 2);
	tcase_add_test(all, returns_after_a_full_buffer_match_calls_before_it);
	tcase_add_loop_test(all, a_hole_between_pieces_is_a_gap_of_known_size, 0, 2);
	tcase_add_loop_test(all, snapshots_that_overlap_are_joined_and_others_are_apart, 0, 2);
	tcase_add_loop_test(all, decisions_may_precede_the_targets_between_them, 0, 2);
	tcase_add_loop_test(all, decisions_that_wait_for_no_target_are_damage, 0, 4);
	tcase_add_test(all, the_end_of_a_header_without_its_begin_is_damage);
	tcase_add_test(all, an_end_of_tracing_without_its_begin_is_damage);
	tcase_add_loop_test(all, a_place_beyond_4_gib_has_64_bit_code, 0, 2);
	tcase_add_loop_test(all, a_flow_that_turns_in_a_circle_is_a_gap, 0, 2);
	tcase_add_loop_test(all, packets_that_fit_no_code_are_a_gap_and_no_crash, 0, 2);
	tcase_add_loop_test(all, kernel_code_is_entered_and_left_by_its_own_instructions, 0, 2);
	tcase_add_loop_test(all, packets_beside_the_flow_do_not_change_it, 0, 5);
	tcase_add_loop_test(all, a_trigger_changes_no_branch_wherever_it_is, 0, 4);
	tcase_add_loop_test(all, a_target_has_the_bytes_of_its_packet, 0, 5);
	tcase_add_loop_test(all, padding_of_any_length_is_passed_over, 0, 100);
	tcase_add_loop_test(all, all_instructions_count_however_long_the_code_is_between_two_jumps,
			    0, 6);
	tcase_add_loop_test(all, code_counts_as_often_as_its_branches, 0, 6);
	tcase_add_test(all, jumps_on_the_way_to_a_target_count);
	tcase_add_loop_test(all, jumps_between_two_decisions_count_up_to_a_bound, 0, 6);
	tcase_add_loop_test(all, code_has_the_mode_of_the_trace, 0, 3);
	tcase_add_loop_test(all, a_fup_whose_tip_is_missing_is_a_gap, 0, 2);
	tcase_add_test(all, libipt_loses_code_of_a_mode_that_does_not_exist);
	tcase_add_loop_test(
		all, where_the_kernel_enters_user_code_this_is_of_the_program_that_exec_ran, 0, 4);
	tcase_add_loop_test(all, cycles_do_not_pass_the_next_time_that_is_known, 0, 3);
	tcase_add_loop_test(all, cycles_end_with_the_first_branch_of_the_packet, 0, 2);
	tcase_add_test(all, cycles_between_mtcs_do_not_pass_the_aux_record_of_their_bytes);
	tcase_add_loop_test(all, threads_change_where_the_kernel_switches_them, 0, 6);
	tcase_add_loop_test(all, threads_change_there_each_time, 0, 2);
	tcase_add_loop_test(all, no_way_leads_out_of_a_mapping, 0, 2);
	tcase_add_test(all, known_code_may_lie_anywhere_in_a_large_mapping);
	tcase_add_loop_test(all, code_without_a_branch_is_followed_however_long_it_is, 0,
			    2 * LONG_CODES);
	tcase_add_loop_test(all, long_code_that_ends_without_a_branch_is_missing_code, 0, 2);
	tcase_add_loop_test(all, an_enclave_or_a_hypervisor_is_entered_by_a_fup, 0, 2 * LEAVING);
	tcase_add_loop_test(all, a_traced_enclave_or_hypervisor_is_entered_by_a_fup_and_its_target,
			    0, 2 * LEAVING);
	tcase_add_loop_test(all, what_does_not_leave_needs_no_packet, 0, 2 * LEAVING);
	tcase_add_loop_test(all, far_branches_have_their_kind, 0, 2 * 5);
	tcase_add_test(all, jmpabs_is_a_jump_that_has_a_target_in_the_trace);
	tcase_add_loop_test(all, known_code_may_lead_to_unknown_code_of_another_mapping, 0, 2);
	tcase_add_loop_test(all, an_event_that_leaves_out_branches_is_a_warning, 0, 2);
	tcase_add_loop_test(all, samples_with_trace_data_are_pieces_of_their_cpus_trace, 0, 2);
	tcase_add_test(all, jumps_within_a_function_are_left_out_if_nobody_wants_them);
	tcase_add_test(all, jumps_that_are_left_out_count_if_their_time_is_chosen);
	suite_add_tcase(suite, all);
	return unit_run(suite);
}
