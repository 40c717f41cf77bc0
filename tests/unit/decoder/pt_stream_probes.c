/* SPDX-License-Identifier: MIT */
/* The engine on probes that are calls of the page [uprobes-trampoline]. */
#include "tests/unit/decoder/stream_run.h"

#define PROBES (SAMPLE_CODE - 0x1000)

static void map_probes(void)
{
	const struct perf_data_mmap map = {
		.pid = SAMPLE_PID,
		.tid = SAMPLE_PID,
		.address = PROBES,
		.length = 0x1000,
		.path = "[uprobes-trampoline]",
		.prot = 5,
	};

	perf_data_add_mmap2(&run.data, 0, &map);
}

/*
 * call F; jmp *%rax; F: nop; NOP of 5 bytes; ret; G: two such NOPs; ret.  Since Linux 6.18 a probe
 * makes such a NOP a call in memory (arch/x86/kernel/uprobes.c).
 */
#define PROBE_F (SAMPLE_CODE + 0x10)
#define PROBE_G (SAMPLE_CODE + 0x20)
static const uint8_t probed[] = {
	0xe8, 0x0b, 0,    0,    0,    0xff, 0xe0, 0xcc, 0xcc, 0xcc, 0xcc, 0xcc, 0xcc, 0xcc, 0xcc,
	0xcc, 0x90, 0x0f, 0x1f, 0x44, 0,    0,    0xc3, 0xcc, 0xcc, 0xcc, 0xcc, 0xcc, 0xcc, 0xcc,
	0xcc, 0xcc, 0x0f, 0x1f, 0x44, 0,    0,    0x0f, 0x1f, 0x44, 0,    0,    0xc3,
};

/* The return from the page is compressed, or not, where a PSB came before. */
START_TEST(a_nop_is_a_call_where_the_trace_returns_into_the_page_of_probes)
{
	begin(PT_ENGINE_FAST);
	run.skip = _i / 2;
	map_probes();
	write_program(probed, sizeof(probed));
	pt_packets_psb(&run.packets, SAMPLE_START, 0);
	for (size_t i = 0; i < 3; i++) {
		pt_packets_pge(&run.packets, SAMPLE_CODE);
		pt_packets_pgd(&run.packets, 0);
		if (_i % 2)
			pt_packets_psb(&run.packets, SAMPLE_START + 100 * i + 100, 0);
		pt_packets_pge(&run.packets, PROBES + 13);
		if (_i % 2) {
			pt_packets_tip(&run.packets, PROBE_F + 6);
			pt_packets_tip(&run.packets, SAMPLE_CODE + 5);
		} else {
			pt_packets_tnt(&run.packets, "tt");
		}
		pt_packets_pgd(&run.packets, 0);
	}
	finish();
	ck_assert_uint_eq(run.stats.bytes_lost, 0);
	for (size_t i = 0; i < 24; i += 8) {
		expect(i, BRANCH_NONE, 0, SAMPLE_CODE);
		expect(i + 1, BRANCH_CALL, SAMPLE_CODE, PROBE_F);
		expect(i + 2, BRANCH_CALL, PROBE_F + 1, PROBES);
		expect(i + 3, BRANCH_SYSCALL, PROBES + 11, 0);
		expect(i + 4, BRANCH_NONE, 0, PROBES + 13);
		expect(i + 5, BRANCH_RETURN, PROBES + 17, PROBE_F + 6);
		expect(i + 6, BRANCH_RETURN, PROBE_F + 6, SAMPLE_CODE + 5);
		expect(i + 7, BRANCH_JUMP, SAMPLE_CODE + 5, 0);
	}
}
END_TEST

/* L: jne 1; 1: NOP of 5 bytes; jmp L.  The loop was followed before without a probe. */
START_TEST(a_nop_of_known_code_is_a_call_as_well)
{
	static const uint8_t loop[] = { 0x75, 0x00, 0x0f, 0x1f, 0x44, 0, 0, 0xeb, 0xf7 };
	const uint64_t nop = SAMPLE_CODE + 2;
	size_t at;

	begin(PT_ENGINE_FAST);
	run.skip = _i;
	map_probes();
	write_program(loop, sizeof(loop));
	pt_packets_psb(&run.packets, SAMPLE_START, 0);
	pt_packets_pge(&run.packets, SAMPLE_CODE);
	for (int i = 0; i < 20; i++)
		pt_packets_tnt(&run.packets, "tttttt");
	for (int i = 0; i < 3; i++) {
		pt_packets_pgd(&run.packets, 0);
		pt_packets_pge(&run.packets, PROBES + 13);
		pt_packets_tnt(&run.packets, "t");
		pt_packets_tnt(&run.packets, "tt");
	}
	finish();
	ck_assert_uint_eq(run.stats.bytes_lost, 0);
	for (at = 0; run.events[at].kind != BRANCH_CALL; at++)
		ck_assert_uint_lt(at, 250);
	expect(at, BRANCH_CALL, nop, PROBES);
	expect(at + 1, BRANCH_SYSCALL, PROBES + 11, 0);
	expect(at + 2, BRANCH_NONE, 0, PROBES + 13);
	expect(at + 3, BRANCH_RETURN, PROBES + 17, nop + 5);
	for (at = 0; run.count; run.count--)
		at += run.events[run.count - 1].kind == BRANCH_CALL;
	ck_assert_uint_eq(at, 3);
}
END_TEST

START_TEST(a_probe_is_a_call_if_the_kernel_is_traced_too)
{
	char path[PERF_DATA_PATH];

	begin(PT_ENGINE_FAST);
	map_probes();
	add_kernel(path);
	write_program(probed, sizeof(probed));
	pt_packets_psb(&run.packets, SAMPLE_START, 0);
	pt_packets_pge(&run.packets, SAMPLE_CODE);
	for (size_t i = 0; i < 2; i++) {
		pt_packets_tip(&run.packets, KERNEL);
		pt_packets_tnt(&run.packets, "t");
		pt_packets_tip(&run.packets, PROBES + 13);
		pt_packets_tnt(&run.packets, "tt");
		pt_packets_tip(&run.packets, SAMPLE_CODE);
	}
	pt_packets_tip(&run.packets, SAMPLE_CODE + 5); /* without a probe */
	pt_packets_pgd(&run.packets, 0);
	finish();
	unlink(path);
	ck_assert_uint_eq(run.stats.bytes_lost, 0);
	for (size_t i = 1; i < 19; i += 9) {
		expect(i + 1, BRANCH_CALL, PROBE_F + 1, PROBES);
		expect(i + 2, BRANCH_SYSCALL, PROBES + 11, KERNEL);
		expect(i + 5, BRANCH_SYSRET, KERNEL + 5, PROBES + 13);
		expect(i + 6, BRANCH_RETURN, PROBES + 17, PROBE_F + 6);
		expect(i + 8, BRANCH_JUMP, SAMPLE_CODE + 5, SAMPLE_CODE);
	}
	expect(20, BRANCH_RETURN, PROBE_F + 6, SAMPLE_CODE + 5);
}
END_TEST

/* The trace ends, or continues elsewhere. */
START_TEST(a_nop_stays_one_where_the_trace_does_not_return_into_the_page)
{
	begin(PT_ENGINE_FAST);
	map_probes();
	write_program(probed, sizeof(probed));
	pt_packets_psb(&run.packets, SAMPLE_START, 0);
	pt_packets_pge(&run.packets, SAMPLE_CODE);
	pt_packets_pgd(&run.packets, 0);
	if (_i)
		pt_packets_pge(&run.packets, _i == 1 ? PROBES : SAMPLE_CODE + 5);
	finish();
	expect(2, BRANCH_RETURN, PROBE_F + 6, 0);
}
END_TEST

/* The trace returns into the page, but the code that ran before has no NOP of 5 bytes. */
START_TEST(other_code_does_not_become_a_call)
{
	uint8_t other[sizeof(probed)];

	memcpy(other, probed, sizeof(other));
	memcpy(other + (PROBE_F + 1 - SAMPLE_CODE), "\xb8\0\0\0\0", 5); /* mov $0,%eax */
	begin(PT_ENGINE_FAST);
	map_probes();
	write_program(other, sizeof(other));
	pt_packets_psb(&run.packets, SAMPLE_START, 0);
	pt_packets_pge(&run.packets, SAMPLE_CODE);
	pt_packets_pgd(&run.packets, 0);
	pt_packets_pge(&run.packets, PROBES + 13);
	finish();
	expect(1, BRANCH_CALL, SAMPLE_CODE, PROBE_F);
	expect(2, BRANCH_RETURN, PROBE_F + 6, 0);
	expect(3, BRANCH_NONE, 0, PROBES + 13);
	ck_assert_uint_eq(run.count, 4);
}
END_TEST

/* The page of code was saved with the call: an earlier NOP is none. */
START_TEST(a_nop_stays_one_where_the_code_has_the_call)
{
	uint8_t saved[sizeof(probed)];
	int32_t distance = (int32_t)(PROBES - (PROBE_G + 10));

	memcpy(saved, probed, sizeof(saved));
	saved[PROBE_G + 5 - SAMPLE_CODE] = 0xe8;
	memcpy(saved + (PROBE_G + 6 - SAMPLE_CODE), &distance, sizeof(distance));
	begin(PT_ENGINE_FAST);
	map_probes();
	write_program(saved, sizeof(saved));
	pt_packets_psb(&run.packets, SAMPLE_START, 0);
	pt_packets_pge(&run.packets, PROBE_G);
	pt_packets_pgd(&run.packets, 0);
	pt_packets_pge(&run.packets, PROBES + 13);
	pt_packets_tnt(&run.packets, "t");
	pt_packets_pgd(&run.packets, 0);
	finish();
	expect(1, BRANCH_CALL, PROBE_G + 5, PROBES);
	expect(4, BRANCH_RETURN, PROBES + 17, PROBE_G + 10);
	ck_assert_uint_eq(diag_kinds(&run.diag), 0);
}
END_TEST

START_TEST(a_warning_says_that_several_nops_could_be_the_probe)
{
	begin(PT_ENGINE_FAST);
	map_probes();
	write_program(probed, sizeof(probed));
	pt_packets_psb(&run.packets, SAMPLE_START, 0);
	pt_packets_pge(&run.packets, PROBE_G);
	pt_packets_pgd(&run.packets, 0);
	pt_packets_pge(&run.packets, PROBES + 13);
	pt_packets_tnt(&run.packets, "t");
	pt_packets_pgd(&run.packets, 0);
	finish();
	expect(1, BRANCH_CALL, PROBE_G, PROBES);
	expect(4, BRANCH_RETURN, PROBES + 17, PROBE_G + 5);
	ck_assert_uint_eq(diag_kinds(&run.diag), 1);
}
END_TEST

/* The kernel runs such a NOP before it returns into the page: probes are in user code. */
START_TEST(a_nop_of_the_kernel_is_no_call)
{
	char path[PERF_DATA_PATH];

	begin(PT_ENGINE_FAST);
	map_probes();
	add_kernel(path);
	pt_packets_psb(&run.packets, SAMPLE_START, 0);
	pt_packets_pge(&run.packets, SAMPLE_SYSCALL);
	pt_packets_tip(&run.packets, KERNEL_NOP);
	pt_packets_tip(&run.packets, KERNEL);
	pt_packets_tnt(&run.packets, "t");
	pt_packets_tip(&run.packets, PROBES + 13);
	finish();
	unlink(path);
	expect(1, BRANCH_SYSCALL, SAMPLE_SYSCALL, KERNEL_NOP);
	expect(2, BRANCH_RETURN, KERNEL_NOP + 5, KERNEL);
	expect(3, BRANCH_CALL, KERNEL, KERNEL_SYS);
	expect(5, BRANCH_SYSRET, KERNEL + 5, PROBES + 13);
	ck_assert_uint_eq(run.count, 6);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("pt_stream_probes");
	TCase *all = tcase_create("pt_stream_probes");

	tcase_add_loop_test(all, a_nop_is_a_call_where_the_trace_returns_into_the_page_of_probes, 0,
			    4);
	tcase_add_loop_test(all, a_nop_of_known_code_is_a_call_as_well, 0, 2);
	tcase_add_test(all, a_probe_is_a_call_if_the_kernel_is_traced_too);
	tcase_add_loop_test(all, a_nop_stays_one_where_the_trace_does_not_return_into_the_page, 0,
			    3);
	tcase_add_test(all, other_code_does_not_become_a_call);
	tcase_add_test(all, a_nop_stays_one_where_the_code_has_the_call);
	tcase_add_test(all, a_warning_says_that_several_nops_could_be_the_probe);
	tcase_add_test(all, a_nop_of_the_kernel_is_no_call);
	suite_add_tcase(suite, all);
	return unit_run(suite);
}
