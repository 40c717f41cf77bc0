/* SPDX-License-Identifier: MIT */
/* libptflow's inputs and events, by the shared library: its own numbers, times, gaps, packets. */
#include <assert.h>
#include <intel-pt.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "decoder/aux/aux_window.h"
#include "decoder/cpu_event.h"
#include "decoder/ptflow/ptflow.h"
#include "tests/support/sample.h"
#include "tests/support/unit.h"

static_assert((int)PTFLOW_COND == BRANCH_COND && (int)PTFLOW_TX_ABORT == BRANCH_TX_ABORT &&
		      (int)PTFLOW_GAP == BRANCH_GAP && (int)PTFLOW_COUNTS == BRANCH_COUNTS,
	      "kinds of branches");
static_assert(PTFLOW_PWRX - PTFLOW_CBR == CPU_EVENT_PWRX - CPU_EVENT_CBR &&
		      PTFLOW_TX_LOST - PTFLOW_CBR == CPU_EVENT_TX_LOST - CPU_EVENT_CBR &&
		      PTFLOW_VMCS - PTFLOW_CBR == CPU_EVENT_VMCS - CPU_EVENT_CBR,
	      "kinds of packets");
static_assert((int)PTFLOW_GAP_LIBRARY == GAP_INTERNAL && (int)PTFLOW_GAP_OVERFLOW == GAP_OVERFLOW &&
		      (int)PTFLOW_GAP_ENDLESS == GAP_ENDLESS &&
		      (int)PTFLOW_GAP_NO_MEMORY >= GAP_REASONS,
	      "reasons of gaps");
static_assert((int)PTFLOW_GUEST == BRANCH_GUEST && (int)PTFLOW_INDIRECT == BRANCH_INDIRECT &&
		      (int)PTFLOW_ESTIMATED == BRANCH_TIME_ESTIMATED &&
		      (int)PTFLOW_IN_TX == BRANCH_IN_TX && (int)PTFLOW_ASYNC == BRANCH_ASYNC,
	      "flags");

#define CTL_CYC (1 << 1)
#define CTL_TSC (1 << 10)

static struct {
	uint8_t *bytes;
	size_t size;
	struct pt_packets packets;
	struct ptflow_input input;
	uint64_t begin_moved; /* added to the begin that find() returns */
	bool huge;            /* find() returns an impossible size */
	struct ptflow_event events[64];
	size_t count;
} run;

static const void *find(void *context, uint64_t ip, uint64_t *begin, size_t *size)
{
	(void)ip;
	*begin = SAMPLE_CODE + run.begin_moved;
	*size = run.huge ? SIZE_MAX : run.size - TINY_ELF_CODE_OFFSET;
	return *(uint8_t **)context + TINY_ELF_CODE_OFFSET;
}

static void setup(void)
{
	memset(&run, 0, sizeof(run));
	run.bytes = tiny_elf_bytes(&sample_elf, &run.size);
	pt_packets_init(&run.packets);
	run.input.find = find;
	run.input.context = &run.bytes;
	run.input.ctl = CTL_TSC;
}

static void teardown(void)
{
	free(run.bytes);
	pt_packets_release(&run.packets);
}

static void decode(void)
{
	const struct ptflow_event *event;
	struct ptflow *flow;

	if (!run.input.trace) {
		run.input.trace = run.packets.bytes;
		run.input.trace_size = pt_packets_size(&run.packets);
	}
	flow = ptflow_open(&run.input);
	ck_assert_ptr_nonnull(flow);
	while ((event = ptflow_next(flow)))
		if (run.count < 64)
			run.events[run.count++] = *event;
	ck_assert_ptr_null(ptflow_next(flow));
	ptflow_close(flow);
}

static void expect(size_t index, enum ptflow_kind kind, uint64_t from, uint64_t to)
{
	ck_assert_uint_lt(index, run.count);
	ck_assert_uint_eq(run.events[index].kind, kind);
	ck_assert_uint_eq(run.events[index].from, from);
	ck_assert_uint_eq(run.events[index].to, to);
}

/* Returns the number of gaps of a reason. */
static size_t count_gaps(enum ptflow_reason reason)
{
	size_t found = 0;

	for (size_t i = 0; i < run.count; i++)
		found += run.events[i].kind == PTFLOW_GAP && run.events[i].detail == reason;
	return found;
}

/* From main to its syscall; work() calls leaf() twice, then once. */
static void add_program(void)
{
	pt_packets_psb(&run.packets, 1000, 0);
	pt_packets_pge(&run.packets, SAMPLE_MAIN);
	pt_packets_tsc(&run.packets, 1050);
	pt_packets_tnt(&run.packets, "tttnt");
	pt_packets_tsc(&run.packets, 1090);
	pt_packets_tnt(&run.packets, "tnt");
	pt_packets_pgd(&run.packets, 0);
}

START_TEST(branches_have_instructions_and_times)
{
	add_program();
	if (_i) {
		run.input.time_mult = 3 << 4;
		run.input.time_shift = 4;
		run.input.time_zero = 7;
		run.input.tsc = UINT64_C(1) << 56;
	}
	decode();
	ck_assert_uint_eq(run.count, 14);
	expect(0, PTFLOW_CBR, 0, 25);
	expect(1, PTFLOW_NONE, 0, SAMPLE_MAIN);
	ck_assert_uint_eq(run.events[1].flags, PTFLOW_TRACE_ON);
	expect(2, PTFLOW_CALL, SAMPLE_MAIN, SAMPLE_WORK);
	ck_assert_uint_eq(run.events[2].length, 5);
	expect(3, PTFLOW_CALL, SAMPLE_WORK, SAMPLE_LEAF);
	expect(4, PTFLOW_RETURN, SAMPLE_LEAF, SAMPLE_WORK + 5);
	expect(5, PTFLOW_COND, SAMPLE_WORK + 5, SAMPLE_WORK);
	expect(8, PTFLOW_RETURN, SAMPLE_WORK + 7, SAMPLE_MAIN + 5);
	ck_assert_uint_eq(run.events[8].insns, 2);
	ck_assert_uint_eq(run.events[8].time, _i ? (UINT64_C(3) << 56) + 3157 : 1050);
	ck_assert_uint_eq(run.events[12].time, _i ? (UINT64_C(3) << 56) + 3277 : 1090);
	expect(13, PTFLOW_SYSCALL, SAMPLE_SYSCALL, 0);
	ck_assert_uint_eq(run.events[13].flags, PTFLOW_TRACE_OFF);
}
END_TEST

START_TEST(without_timing_packets_times_are_estimated)
{
	run.input.ctl = 0;
	pt_packets_raw(&run.packets, AUX_PSB "\x99\x01\x02\x23",
		       AUX_PSB_SIZE + 4); /* MODE, PSBEND */
	pt_packets_pge(&run.packets, SAMPLE_MAIN);
	pt_packets_tnt(&run.packets, "t");
	decode();
	expect(3, PTFLOW_RETURN, SAMPLE_LEAF, SAMPLE_WORK + 5);
	ck_assert_uint_eq(run.events[3].flags, PTFLOW_ESTIMATED);
	ck_assert_uint_eq(run.events[3].time, 3);
}
END_TEST

START_TEST(cycles_are_counted_and_advance_the_time)
{
	run.input.ctl |= CTL_CYC;
	run.input.max_ratio = 50; /* and CBR has 25: a cycle is 2 ticks */
	pt_packets_psb(&run.packets, 1000, 0);
	pt_packets_pge(&run.packets, SAMPLE_MAIN);
	pt_packets_raw(&run.packets, "\x2b", 1); /* 5 cycles */
	pt_packets_tnt(&run.packets, "t");
	if (_i)
		pt_packets_tsc(&run.packets, 1004);
	pt_packets_pgd(&run.packets, SAMPLE_WORK);
	decode();
	expect(4, PTFLOW_RETURN, SAMPLE_LEAF, SAMPLE_WORK + 5);
	ck_assert_uint_eq(run.events[4].time, _i ? 1004 : 1010); /* not after the next TSC */
	ck_assert_uint_eq(run.events[4].cycles, 5);
}
END_TEST

START_TEST(mtc_packets_advance_the_time)
{
	run.input.ctl |= 1 << 9 | 3 << 14; /* an MTC every 8 crystal ticks, */
	run.input.crystal_n = 4;           /* of 2 TSC ticks each */
	run.input.crystal_d = 2;
	pt_packets_psb(&run.packets, 1000, 0);
	pt_packets_raw(&run.packets, "\x02\x73\0\0\0\0\0", 7); /* TMA */
	pt_packets_pge(&run.packets, SAMPLE_MAIN);
	pt_packets_raw(&run.packets, "\x59\x01", 2); /* MTC */
	pt_packets_tnt(&run.packets, "t");
	decode();
	expect(4, PTFLOW_RETURN, SAMPLE_LEAF, SAMPLE_WORK + 5);
	ck_assert_uint_eq(run.events[4].time, 1016);
}
END_TEST

START_TEST(packets_have_their_fields)
{
	struct pt_packet write = { .type = ppt_ptw }, pip = { .type = ppt_pip };

	write.payload.ptw.payload = 0x1234567890abcdef;
	write.payload.ptw.plc = 1;
	pip.payload.pip.cr3 = 0x7000;
	pip.payload.pip.nr = 1;
	pt_packets_psb(&run.packets, 1000, 0);
	pt_packets_pge(&run.packets, SAMPLE_MAIN);
	pt_packets_add(&run.packets, &write);
	pt_packets_tsc(&run.packets, 1030);
	pt_packets_add(&run.packets, &pip);
	decode();
	ck_assert_uint_eq(run.events[2].kind, PTFLOW_PTWRITE);
	ck_assert_uint_eq(run.events[2].to, 0x1234567890abcdef);
	ck_assert_uint_eq(run.events[3].kind, PTFLOW_PIP);
	ck_assert_uint_eq(run.events[3].to, 0x7000);
	ck_assert_uint_eq(run.events[3].detail, 1);
	ck_assert_uint_eq(run.events[3].cycles, 0);
	ck_assert_uint_eq(run.events[3].time, 1030);
}
END_TEST

/* Only the kernel can run a guest. */
START_TEST(a_guest_is_one_of_the_kernel)
{
	struct pt_packet pip = { .type = ppt_pip };
	size_t guests = 0;

	run.input.ctl |= _i ? 4 : 0;
	pip.payload.pip.nr = 1;
	pt_packets_psb(&run.packets, 1000, SAMPLE_MAIN);
	pt_packets_fup(&run.packets, SAMPLE_MAIN);
	pt_packets_add(&run.packets, &pip);
	pt_packets_tip(&run.packets, SAMPLE_LEAF);
	decode();
	for (size_t i = 0; i < run.count; i++)
		guests += run.events[i].flags >= PTFLOW_GUEST;
	ck_assert_uint_eq(guests, (size_t)_i);
}
END_TEST

START_TEST(returns_are_compressed_unless_bit_11_is_set)
{
	run.input.ctl |= _i ? 1 << 11 : 0;
	add_program();
	decode();
	ck_assert_uint_eq(count_gaps(PTFLOW_GAP_MISMATCH) > 0, (unsigned)_i);
}
END_TEST

/* SKD007: an OVF cuts a CYC. */
START_TEST(errata_are_those_of_the_cpu)
{
	run.input.ctl |= CTL_CYC;
	run.input.family = _i ? 6 : 0;
	run.input.model = _i ? 0x5e : 0;
	pt_packets_psb(&run.packets, 1000, 0);
	pt_packets_pge(&run.packets, SAMPLE_MAIN);
	pt_packets_raw(&run.packets, "\x2f\x02\xf3", 3);
	pt_packets_fup(&run.packets, SAMPLE_LEAF);
	decode();
	ck_assert_uint_eq(count_gaps(PTFLOW_GAP_OVERFLOW), (size_t)_i);
}
END_TEST

START_TEST(code_that_does_not_contain_the_ip_is_none)
{
	static const uint64_t moved[] = { 0x100000, -(uint64_t)0x402000, -(uint64_t)0x400000, 0 };

	run.begin_moved = moved[_i];
	run.huge = !moved[_i];
	add_program();
	decode();
	ck_assert_uint_gt(count_gaps(PTFLOW_GAP_NO_CODE), 0);
	ck_assert_str_eq(ptflow_reason_text(PTFLOW_GAP_NO_CODE), "Failed to get instruction");
}
END_TEST

START_TEST(the_trace_stays_as_it_is)
{
	const size_t size = 9 << 20;
	uint8_t *trace =
		mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	ck_assert_ptr_ne(trace, MAP_FAILED);
	add_program();
	for (size_t at = 0; at < size; at += 1 << 20)
		memcpy(trace + at, run.packets.bytes, pt_packets_size(&run.packets));
	run.input.trace = trace;
	run.input.trace_size = size;
	decode();
	for (size_t at = 0; at < size; at += 1 << 20)
		ck_assert_mem_eq(trace + at, run.packets.bytes, pt_packets_size(&run.packets));
	munmap(trace, size);
}
END_TEST

START_TEST(an_empty_trace_has_no_events)
{
	run.input.trace = "";
	decode();
	ck_assert_uint_eq(run.count, 0);
	ptflow_close(NULL);
	ck_assert_str_eq(ptflow_reason_text(PTFLOW_GAP_NO_MEMORY), "Out of memory");
	ck_assert_str_eq(ptflow_reason_text(1000), "Unknown error!");
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("ptflow");
	TCase *tc = tcase_create("ptflow");

	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_add_loop_test(tc, branches_have_instructions_and_times, 0, 2);
	tcase_add_test(tc, without_timing_packets_times_are_estimated);
	tcase_add_loop_test(tc, cycles_are_counted_and_advance_the_time, 0, 2);
	tcase_add_test(tc, mtc_packets_advance_the_time);
	tcase_add_test(tc, packets_have_their_fields);
	tcase_add_loop_test(tc, a_guest_is_one_of_the_kernel, 0, 2);
	tcase_add_loop_test(tc, returns_are_compressed_unless_bit_11_is_set, 0, 2);
	tcase_add_loop_test(tc, errata_are_those_of_the_cpu, 0, 2);
	tcase_add_loop_test(tc, code_that_does_not_contain_the_ip_is_none, 0, 4);
	tcase_add_test(tc, the_trace_stays_as_it_is);
	tcase_add_test(tc, an_empty_trace_has_no_events);
	suite_add_tcase(suite, tc);
	return unit_run(suite);
}
