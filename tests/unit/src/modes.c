/* SPDX-License-Identifier: MIT */
/*
 * Recording modes that leave things out (perf-intel-pt(1), "config terms"), and losses, as the
 * whole program shows them.
 */
#include <intel-pt.h>
#include <stdlib.h>

#include "tests/unit/src/event_recording.h"

/* attr.config: pt and tsc; the second one also branch. */
#define NO_BRANCHES 0x401
#define NO_TNT      (UINT64_C(1) << 55 | 0x2401)
#define PTWRITE     0x1020 /* ptw, fup_on_ptw */
#define POWER       0x10   /* pwr_evt */

/*
 * A filter of work() alone: tracing goes off at its call of leaf and at its return, and on after
 * them.
 */
START_TEST(a_filter_leaves_out_what_other_functions_do)
{
	pt_packets_init(&packets);
	sample_begin(&data);
	pt_packets_psb(&packets, SAMPLE_START, 0);
	pt_packets_pge(&packets, SAMPLE_WORK);
	pt_packets_tsc(&packets, SAMPLE_START + 100);
	pt_packets_pgd(&packets, SAMPLE_LEAF);
	pt_packets_tsc(&packets, SAMPLE_START + 200);
	pt_packets_pge(&packets, SAMPLE_WORK + 5);
	pt_packets_tsc(&packets, SAMPLE_START + 300);
	pt_packets_tnt(&packets, "n");
	pt_packets_pgd(&packets, SAMPLE_MAIN + 5);
	pt_packets_tsc(&packets, SAMPLE_START + 400);
	pt_packets_pge(&packets, SAMPLE_WORK);
	pt_packets_tsc(&packets, SAMPLE_START + 500);
	pt_packets_pgd(&packets, SAMPLE_LEAF);
	finish("");
	/* The second work() has a new slice: its caller is not traced. */
	EXPECT(1, slices, "1234/1234 0 1000000 1000300 work ", "");
	EXPECT(1, slices, "1234/1234 1 1000100 1000200 [untraced: filtered] ", "");
	EXPECT(1, slices, "1234/1234 0 1000300 1000400 [untraced: filtered] ", "");
	EXPECT(1, slices, "1234/1234 0 1000400 1000500 work address=0x401020\n", "");
	EXPECT(0, slices, "[lost", "");
	run(messages,
	    "perf script -i %s/perf.data --symfs %s --itrace=be --ns -F time,ip,addr,flags 2>&1 || echo no perf",
	    place, place);
	EXPECT(0, messages, "error", "");
}
END_TEST

static void add_interrupt(uint64_t ip, uint64_t resumed)
{
	pt_packets_fup(&packets, ip);
	pt_packets_pgd(&packets, 0);
	pt_packets_tsc(&packets, resumed);
	pt_packets_pge(&packets, ip);
}

/*
 * The second of three interrupts switches its thread off the CPU; other threads' interrupts do not
 * matter.
 */
START_TEST(an_interrupt_that_switched_threads_says_so)
{
	pt_packets_init(&packets);
	sample_begin(&data);
	data.events[0].attr.context_switch = 1;
	pt_packets_psb(&packets, SAMPLE_START, 0);
	pt_packets_pge(&packets, SAMPLE_MAIN);
	pt_packets_tsc(&packets, SAMPLE_START + 100);
	add_interrupt(SAMPLE_WORK, SAMPLE_START + 200);
	pt_packets_tsc(&packets, SAMPLE_START + 300);
	add_interrupt(SAMPLE_WORK, SAMPLE_START + 400);
	pt_packets_tsc(&packets, SAMPLE_START + 500);
	add_interrupt(SAMPLE_WORK, SAMPLE_START + 600);
	pt_packets_tsc(&packets, SAMPLE_START + 700);
	pt_packets_pgd(&packets, SAMPLE_LEAF);
	add_switch(SAMPLE_START + 310, SAMPLE_PID, 0, true);
	add_switch(SAMPLE_START + 390, 0, SAMPLE_PID, false);
	stamp(SAMPLE_START + 510, 77, 3);
	perf_data_add_switch(&data, true, 0, 0);
	stamp(SAMPLE_START + 590, 0, 3);
	perf_data_add_switch(&data, true, 77, 77);
	finish("");
	EXPECT(2, slices, "[untraced] ", "");
	EXPECT(1, slices, " 1000300 1000400 [untraced: off CPU] ", "");
	EXPECT(1, slices, "[untraced: filtered] ", "");
}
END_TEST

START_TEST(without_branches_the_rest_is_shown)
{
	pt_packets_init(&packets);
	sample_begin(&data);
	data.events[0].attr.config = NO_BRANCHES | PTWRITE | POWER;
	pt_packets_psb(&packets, SAMPLE_START, 0);
	pt_packets_tsc(&packets, SAMPLE_START + 100);
	add_ptwrite(0x111, SAMPLE_LEAF);
	pt_packets_tsc(&packets, SAMPLE_START + 200);
	add_ptwrite(0x222, SAMPLE_WORK);
	add_sleep(3, 0x30, SAMPLE_MAIN);
	pt_packets_tsc(&packets, SAMPLE_START + 300);
	add_wake(3, 3);
	add_ratio(42);
	pt_packets_psb(&packets, SAMPLE_START + 400, 0);
	finish("");
	EXPECT(1, slices, "1234/1234 0 1000100 1000100 ptwrite value=0x111", "");
	EXPECT(1, slices, "1234/1234 0 1000200 1000200 ptwrite value=0x222", "");
	EXPECT(1, slices, " 1000200 1000300 C-state 4 ", "cstate=4");
	EXPECT(1, records, " 1000300 \"CPU 0 GHz\"", "value=1.68");
	EXPECT(0, slices, "[lost", "");
	EXPECT(1, messages, "warning", "");
	EXPECT(1, messages, "warning: recorded with branch=0", "");
}
END_TEST

START_TEST(without_tnt_packets_only_targets_are_known)
{
	pt_packets_init(&packets);
	sample_begin(&data);
	data.events[0].attr.config = NO_TNT | 0x800; /* noretcomp: returns have TIPs */
	pt_packets_psb(&packets, SAMPLE_START, 0);
	pt_packets_pge(&packets, SAMPLE_MAIN);
	pt_packets_tsc(&packets, SAMPLE_START + 100);
	for (int i = 0; i < 2; i++) {
		pt_packets_tip(&packets, SAMPLE_WORK + 5); /* leaf returns; jne is taken twice */
		pt_packets_tip(&packets, SAMPLE_WORK + 5);
		pt_packets_tip(&packets, SAMPLE_WORK + 5);
		pt_packets_tip(&packets, SAMPLE_MAIN + 5 + 5 * i); /* work does */
	}
	pt_packets_tsc(&packets, SAMPLE_START + 300);
	pt_packets_pgd(&packets, 0);
	finish("");
	/* As in perf, each decision is damage; each target is known. */
	EXPECT(1, messages, "warning: recorded with notnt", "");
	EXPECT(4, slices, "[lost: Trace doesn't match instruction]", "");
	run(messages, "%s/ptrace2ftf -q --format=branches --symfs=%s %s/perf.data",
	    getenv("top_builddir"), place, place);
	EXPECT(1, messages, " return ", " 401025 work+0x5");
	EXPECT(3, messages, " tr strt ", " 401025 work+0x5");
}
END_TEST

#define OTHER 1235 /* another thread, on CPU 1 */

static struct pt_packets others;

/* Two threads of the program, each on its own CPU. */
static void begin_two(void)
{
	begin();
	pt_packets_tsc(&packets, SAMPLE_START + 900);
	pt_packets_pgd(&packets, 0);
	stamp(100, OTHER, 1);
	perf_data_add_fork(&data, SAMPLE_PID, OTHER, SAMPLE_PID);
	perf_data_add_itrace_start(&data, SAMPLE_PID, OTHER);
	pt_packets_init(&others);
	pt_packets_psb(&others, SAMPLE_START, 0);
	pt_packets_pge(&others, SAMPLE_MAIN);
	pt_packets_tsc(&others, SAMPLE_START + 100);
	pt_packets_tnt(&others, "t");
}

/* The other thread's buffer from a byte to its end; its offset counts all written bytes. */
static void add_other_piece(uint64_t offset, size_t from)
{
	struct perf_data_aux aux = {
		.aux_offset = offset,
		.reference = SAMPLE_START,
		.queue = 1,
		.cpu = 1,
		.tid = -1,
		.bytes = others.bytes + from,
		.size = pt_packets_size(&others) - from,
	};

	perf_data_add_auxtrace(&data, &aux);
}

static void finish_two(void)
{
	finish("");
	pt_packets_release(&others);
}

START_TEST(an_overflow_is_a_gap_of_its_thread_until_tracing_goes_on)
{
	begin_two();
	pt_packets_tsc(&others, SAMPLE_START + 200);
	pt_packets_ovf(&others);
	pt_packets_tsc(&others, SAMPLE_START + 350);
	pt_packets_fup(&others, SAMPLE_LEAF);
	pt_packets_tip(&others, SAMPLE_WORK + 5);
	pt_packets_tsc(&others, SAMPLE_START + 500);
	pt_packets_pgd(&others, 0);
	add_other_piece(0, 0);
	finish_two();
	EXPECT(1, slices, "1234/1235 0 1000200 1000350 [lost: Overflow packet] ", "");
	EXPECT(1, slices, "[lost", "");
	/* seeds.md: decode errors (e) */
	EXPECT(1, messages, "gaps in the trace (Overflow packet: 1)", "");
}
END_TEST

START_TEST(trace_that_was_lost_is_a_gap_of_its_thread_from_then_on)
{
	static const struct {
		uint64_t flags;
		const char *warning;
	} losses[] = {
		{ PERF_AUX_FLAG_PARTIAL, "did a KVM guest run? A larger buffer does not help" },
		{ PERF_AUX_FLAG_COLLISION, "a sample collided with another one; a larger buffer" },
	};

	begin_two();
	stamp(SAMPLE_START + 300, OTHER, 1);
	perf_data_add_aux_event(&data, 0, 100, losses[_i].flags);
	pt_packets_tsc(&others, SAMPLE_START + 400);
	pt_packets_tnt(&others, "t");
	pt_packets_tsc(&others, SAMPLE_START + 500);
	pt_packets_tnt(&others, "t");
	pt_packets_pgd(&others, 0);
	add_other_piece(0, 0);
	finish_two();
	EXPECT(1, slices, "1234/1235 0 1000300 1000400 [lost: Lost trace data] ", "");
	EXPECT(1, slices, "[lost", "");
	EXPECT(1, messages, losses[_i].warning, "");
	EXPECT(0, messages, "Lost trace data", "");
	EXPECT(0, messages, "-m,64M", "");
}
END_TEST

START_TEST(a_full_buffer_is_a_gap_of_its_thread_until_there_was_room)
{
	size_t full;

	begin_two();
	full = pt_packets_size(&others);
	add_other_piece(0, 0);
	stamp(SAMPLE_START + 300, OTHER, 1);
	perf_data_add_aux_event(&data, 0, full, PERF_AUX_FLAG_TRUNCATED);
	pt_packets_psb(&others, SAMPLE_START + 400, 0);
	pt_packets_pge(&others, SAMPLE_SYSCALL);
	pt_packets_tsc(&others, SAMPLE_START + 500);
	pt_packets_pgd(&others, 0);
	add_other_piece(full, full);
	finish_two();
	EXPECT(1, slices, "1234/1235 0 1000100 1000400 [lost: Lost trace data] ", "");
	EXPECT(1, slices, "[lost", "");
	EXPECT(1, messages, "its buffer was full; record with a larger one, perf record -m,64M",
	       "");
	EXPECT(0, messages, "Lost trace data", "");
}
END_TEST

START_TEST(trace_that_is_not_in_the_file_is_a_gap_of_its_thread)
{
	size_t first;

	begin_two();
	add_other_piece(0, 0);
	first = pt_packets_size(&others);
	pt_packets_psb(&others, SAMPLE_START + 400, 0);
	pt_packets_pge(&others, SAMPLE_SYSCALL);
	pt_packets_tsc(&others, SAMPLE_START + 500);
	pt_packets_pgd(&others, 0);
	add_other_piece(first + 640, first);
	finish_two();
	EXPECT(1, slices, "1234/1235 0 1000100 1000400 [lost: Lost trace data] ", "");
	EXPECT(1, slices, "[lost", "");
	EXPECT(1, messages, "bytes of trace are not in the file; copy it", "");
	EXPECT(0, messages, "Lost trace data", "");
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("modes");
	TCase *all = tcase_create("modes");

	tcase_add_checked_fixture(all, NULL, clean);
	tcase_add_test(all, a_filter_leaves_out_what_other_functions_do);
	tcase_add_test(all, an_interrupt_that_switched_threads_says_so);
	tcase_add_test(all, without_branches_the_rest_is_shown);
	tcase_add_test(all, without_tnt_packets_only_targets_are_known);
	tcase_add_test(all, an_overflow_is_a_gap_of_its_thread_until_tracing_goes_on);
	tcase_add_loop_test(all, trace_that_was_lost_is_a_gap_of_its_thread_from_then_on, 0, 2);
	tcase_add_test(all, a_full_buffer_is_a_gap_of_its_thread_until_there_was_room);
	tcase_add_test(all, trace_that_is_not_in_the_file_is_a_gap_of_its_thread);
	suite_add_tcase(suite, all);
	return unit_run(suite);
}
