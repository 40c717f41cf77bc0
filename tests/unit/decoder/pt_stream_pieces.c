/* SPDX-License-Identifier: MIT */
/* The engine on pieces of trace: holes, full buffers, snapshots and samples. */
#include "tests/unit/decoder/stream_run.h"

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

/* Returns the offset of the sample's first TIP.PGE, after the PSB's header. */
static size_t sample_without_psb(void)
{
	const uint8_t *end;

	sample_trace(&run.packets);
	end = memmem(run.packets.bytes, pt_packets_size(&run.packets), "\x02\x23", 2);
	return (size_t)(end + 2 - run.packets.bytes);
}

/* The kernel does not begin a region with a PSB that it resumes (arch/x86/events/intel/pt.c). */
START_TEST(without_a_psb_a_whole_address_begins)
{
	size_t from;

	begin(_i);
	from = sample_without_psb();
	add_piece(0, from, pt_packets_size(&run.packets) - from);
	finish();
	ck_assert_uint_eq(run.stats.unsynced, run.engine == PT_ENGINE_FAST);
	ck_assert_uint_eq(run.count, run.engine == PT_ENGINE_FAST ? 22 : 0);
	if (run.engine == PT_ENGINE_FAST) {
		ck_assert_uint_eq(run.events[0].to, SAMPLE_MAIN);
		expect(21, BRANCH_SYSCALL, SAMPLE_SYSCALL, 0);
		ck_assert_uint_eq(run.stats.bytes_skipped, 0);
	}
	expect_all_bytes_counted();
}
END_TEST

/* Its buffer's CPU has no packet with a time, but a record of what it ran first. */
START_TEST(without_a_psb_time_begins_with_the_first_thread_of_the_cpu)
{
	struct perf_data_aux aux = { .reference = SAMPLE_START, .tid = -1, .cpu = 1, .queue = 1 };

	begin(PT_ENGINE_FAST);
	perf_data_stamp(&run.data,
			(struct perf_data_stamp){
				.time = 50, .pid = SAMPLE_PID, .tid = SAMPLE_PID, .cpu = 1 });
	perf_data_add_itrace_start(&run.data, SAMPLE_PID, SAMPLE_PID);
	pt_packets_pge(&run.packets, SAMPLE_MAIN);
	aux.bytes = run.packets.bytes;
	aux.size = pt_packets_size(&run.packets);
	perf_data_add_auxtrace(&run.data, &aux);
	run.has_pieces = true;
	finish();
	ck_assert_uint_eq(run.count, 1);
	ck_assert_uint_eq(run.events[0].time, 50); /* CPU 0: from 100 on */
}
END_TEST

/* ---- Traces that are longer than what is in memory ---------------------------- */

/* Bytes in memory at a time (decoder/aux/aux_window.c). */
#define IN_MEMORY (1 << 20)

/* Before the packets at the end of these bytes. */
static const struct {
	bool begins;         /* a PSB at the beginning */
	const char *filling; /* a packet without effect, many times */
	size_t size;
	bool psb; /* a PSB before the packets */
} fillings[] = {
	{ true, "\0", 1, false },                     /* PAD */
	{ true, "\x02\x22\0\x20", 4, false },         /* PWRE */
	{ false, "\x02\x22\0\x20", 4, false },        /* no PSB in the trace */
	{ false, "\x02\x22\0\x20", 4, true },         /* the first PSB is late */
	{ false, "\x02\xff\x02\x22\0\x20", 6, true }, /* and there are no packets before */
};

static const size_t before_end[] = { 0, 1, 7, 20, 63, 70 };

/* Packets straddle the end of the bytes in memory. */
START_TEST(packets_are_whole_wherever_memory_ends)
{
	static uint8_t bytes[IN_MEMORY + 1000];
	const size_t end = IN_MEMORY - before_end[_i % COUNT_OF(before_end)];
	const size_t form = (size_t)_i / COUNT_OF(before_end), size = fillings[form].size;
	size_t at, head;

	begin(PT_ENGINE_FAST);
	if (fillings[form].begins)
		pt_packets_psb(&run.packets, SAMPLE_START, 0);
	at = head = pt_packets_size(&run.packets);
	if (fillings[form].psb)
		pt_packets_psb(&run.packets, SAMPLE_START, 0);
	pt_packets_pge(&run.packets, SAMPLE_WORK);
	pt_packets_tnt(&run.packets, "tt");
	pt_packets_tnt(&run.packets, "tn");
	pt_packets_tip(&run.packets, SAMPLE_LEAF);
	pt_packets_tip(&run.packets, SAMPLE_WORK);
	pt_packets_tnt(&run.packets, "t");
	pt_packets_fup(&run.packets, SAMPLE_WORK + 5);
	pt_packets_pgd(&run.packets, 0);
	memset(bytes, 0, sizeof(bytes));
	memcpy(bytes, run.packets.bytes, head);
	for (; at + size <= end; at += size)
		memcpy(bytes + at, fillings[form].filling, size);
	at = end; /* after padding */
	memcpy(bytes + at, run.packets.bytes + head, pt_packets_size(&run.packets) - head);
	at += pt_packets_size(&run.packets) - head;
	perf_data_add_auxtrace(&run.data, &(struct perf_data_aux){ .reference = SAMPLE_START,
								   .tid = -1,
								   .bytes = bytes,
								   .size = at });
	run.has_pieces = true;
	finish();
	expect(0, BRANCH_NONE, 0, SAMPLE_WORK);
	for (size_t i = 0; i < 2; i++) {
		expect(3 * i + 1, BRANCH_CALL, SAMPLE_WORK, SAMPLE_LEAF);
		expect(3 * i + 2, BRANCH_RETURN, SAMPLE_LEAF, SAMPLE_WORK + 5);
	}
	expect(3, BRANCH_COND, SAMPLE_WORK + 5, SAMPLE_WORK);
	expect(6, BRANCH_RETURN, SAMPLE_WORK + 7, SAMPLE_LEAF);
	expect(7, BRANCH_RETURN, SAMPLE_LEAF, SAMPLE_WORK);
	expect(9, BRANCH_RETURN, SAMPLE_LEAF, SAMPLE_WORK + 5);
	expect(10, BRANCH_NONE, SAMPLE_WORK + 5, 0);
	ck_assert_uint_eq(run.count, 11);
	ck_assert_uint_eq(run.stats.unsynced, !fillings[form].begins && !fillings[form].psb);
	ck_assert_uint_eq(run.stats.bytes_skipped, fillings[form].begins ? 0 : end);
	ck_assert_uint_eq(run.stats.bytes_lost, 0);
	expect_all_bytes_counted();
}
END_TEST

/* Before it: packets without an address, of addresses that need earlier ones, or without code. */
START_TEST(packets_before_a_whole_address_are_skipped_and_counted)
{
	static const uint8_t whole[] = { pt_ipc_sext_48, pt_ipc_update_48, pt_ipc_full };
	struct pt_packet begins = { .type = ppt_tip_pge };
	size_t before;

	begin(PT_ENGINE_FAST);
	pt_packets_tnt(&run.packets, "tntntn");
	begins.payload.ip = (struct pt_packet_ip){ pt_ipc_update_32, SAMPLE_MAIN };
	pt_packets_add(&run.packets, &begins);
	pt_packets_pge(&run.packets, UINT64_C(0x7000000000));
	pt_packets_fup(&run.packets, SAMPLE_WORK);
	pt_packets_tsc(&run.packets, SAMPLE_START + 30);
	before = pt_packets_size(&run.packets);
	begins.payload.ip = (struct pt_packet_ip){ whole[_i], SAMPLE_MAIN };
	pt_packets_add(&run.packets, &begins);
	pt_packets_tnt(&run.packets, "t");
	finish();
	ck_assert_uint_eq(run.count, 4);
	ck_assert_uint_eq(run.events[0].time, SAMPLE_START + 30);
	expect(3, BRANCH_RETURN, SAMPLE_LEAF, SAMPLE_WORK + 5);
	ck_assert_uint_eq(run.stats.unsynced, 1);
	ck_assert_uint_eq(run.stats.bytes_skipped, before);
	expect_all_bytes_counted();
}
END_TEST

/* Region by region: the first one without a PSB, or all. */
START_TEST(regions_without_a_psb_go_on_at_a_psb_and_at_each_other)
{
	size_t from, size;

	begin(PT_ENGINE_FAST);
	from = sample_without_psb();
	size = pt_packets_size(&run.packets) - from;
	if (_i)
		pt_packets_raw(&run.packets, run.packets.bytes + from, size);
	else
		sample_trace(&run.packets);
	add_piece(0, from, pt_packets_size(&run.packets) - from);
	finish();
	ck_assert_uint_eq(run.stats.unsynced, 1);
	ck_assert_uint_eq(run.count, 44);
	ck_assert_uint_eq(run.events[22].to, SAMPLE_MAIN);
	expect(43, BRANCH_SYSCALL, SAMPLE_SYSCALL, 0);
	expect_all_bytes_counted();
}
END_TEST

/* A snapshot begins anywhere, also in a packet; so do bytes that are no packets. */
START_TEST(bytes_that_may_be_no_packets_are_skipped_up_to_a_psb)
{
	size_t from;

	begin(_i % 2);
	if (_i < 2)
		pt_packets_raw(&run.packets, "\x02\xff", 2);
	else
		perf_data_add_aux_event(&run.data, 0, 64, PERF_AUX_FLAG_OVERWRITE);
	pt_packets_pge(&run.packets, SAMPLE_MAIN);
	from = pt_packets_size(&run.packets);
	sample_trace(&run.packets);
	finish();
	ck_assert_uint_eq(run.count, 22);
	ck_assert_uint_eq(run.stats.unsynced, 0);
	ck_assert_uint_eq(run.stats.bytes_skipped, from);
	expect_all_bytes_counted();
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

/* More at one time than the stream's queue has room for, some before and some after the trace. */
START_TEST(all_lost_data_is_shown_however_much)
{
	enum { LOSSES = 200 };
	size_t gaps = 0;

	begin(_i);
	sample_trace(&run.packets);
	for (unsigned i = 0; i < LOSSES; i++) {
		stamp(i < 20 ? 500 : SAMPLE_START + (i < 120 ? 300 : 5000));
		perf_data_add_aux_event(&run.data, 0, 100, PERF_AUX_FLAG_COLLISION);
	}
	finish();
	ck_assert_uint_eq(run.stats.gaps[GAP_LOST], LOSSES);
	ck_assert_uint_eq(run.count, 22 + LOSSES);
	for (size_t i = 0; i < run.count; i++) {
		gaps += run.events[i].kind == BRANCH_GAP;
		if (i)
			ck_assert_uint_ge(run.events[i].time, run.events[i - 1].time);
		if (run.events[i].kind == BRANCH_GAP && gaps > 120)
			ck_assert_uint_eq(run.events[i].time, SAMPLE_START + 5000);
	}
	ck_assert_uint_eq(gaps, LOSSES);
	ck_assert_uint_eq(run.events[0].kind, BRANCH_GAP);
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
	expect(4, BRANCH_GAP, 0, 0);
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
	expect(4, BRANCH_GAP, 0, 0);
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
	expect(22, BRANCH_GAP, 0, 0);
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
	expect(24, BRANCH_GAP, 0, 0);
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

/* The last AUXTRACE record has a hundred bytes more than the file. */
START_TEST(a_trace_that_the_file_cuts_ends_in_a_gap)
{
	uint64_t *index, *size;

	begin(_i);
	sample_trace(&run.packets);
	add_piece(0, 0, pt_packets_size(&run.packets));
	run.data.unfinished = true;
	index = (uint64_t *)(run.data.aux_index.bytes + run.data.aux_index.size) - 2;
	size = (uint64_t *)(run.data.records.bytes + *index + 8);
	*size += 100;
	finish();
	ck_assert_uint_eq(run.count, 23);
	expect(22, BRANCH_GAP, 0, 0);
	ck_assert_uint_eq(run.events[22].gap, GAP_LOST);
	ck_assert_uint_eq(run.stats.gaps[GAP_LOST], 1);
	ck_assert_uint_eq(run.stats.bytes_missing, 100);
	expect_all_bytes_counted();
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("pt_stream_pieces");
	TCase *all = tcase_create("pt_stream_pieces");

	tcase_add_loop_test(all, what_precedes_the_first_psb_is_skipped_and_counted, 0, 2);
	tcase_add_loop_test(all, without_a_psb_a_whole_address_begins, 0, 2);
	tcase_add_loop_test(all, regions_without_a_psb_go_on_at_a_psb_and_at_each_other, 0, 2);
	tcase_add_test(all, without_a_psb_time_begins_with_the_first_thread_of_the_cpu);
	tcase_add_loop_test(all, packets_are_whole_wherever_memory_ends, 0,
			    COUNT_OF(fillings) * COUNT_OF(before_end));
	tcase_add_loop_test(all, packets_before_a_whole_address_are_skipped_and_counted, 0, 3);
	tcase_add_loop_test(all, bytes_that_may_be_no_packets_are_skipped_up_to_a_psb, 0, 4);
	tcase_add_loop_test(all, a_trace_in_pieces_is_one_stream, 0, 2);
	tcase_add_loop_test(all, lost_data_that_the_kernel_reports_is_a_gap, 0, 4);
	tcase_add_loop_test(all, all_lost_data_is_shown_however_much, 0, 2);
	tcase_add_test(all, a_full_buffer_is_a_gap_exactly_where_it_was_full);
	tcase_add_loop_test(all, tracing_resumes_after_a_full_buffer_without_a_psb, 0, 2);
	tcase_add_test(all, returns_after_a_full_buffer_match_calls_before_it);
	tcase_add_loop_test(all, a_hole_between_pieces_is_a_gap_of_known_size, 0, 2);
	tcase_add_loop_test(all, snapshots_that_overlap_are_joined_and_others_are_apart, 0, 2);
	tcase_add_loop_test(all, samples_with_trace_data_are_pieces_of_their_cpus_trace, 0, 2);
	tcase_add_loop_test(all, a_trace_that_the_file_cuts_ends_in_a_gap, 0, 2);
	suite_add_tcase(suite, all);
	return unit_run(suite);
}
