/* SPDX-License-Identifier: MIT */
/*
 * Events besides the calls, when only a part is chosen or several threads decode: the same events,
 * by the whole program on artificial recordings.
 */
#include <intel-pt.h>
#include <stdio.h>

#include "tests/unit/src/event_recording.h"

/* 1,100 to 1,900 us: a sleep, a transaction and a clock that last across a PSB. */
static void record_states(void)
{
	begin();
	pt_packets_tsc(&packets, SAMPLE_START + 100000);
	add_ratio(42);
	add_sleep(2, 0x20, SAMPLE_LEAF);
	pt_packets_tsc(&packets, SAMPLE_START + 200000);
	add_wake(2, 2);
	add_transaction(true, false, SAMPLE_LEAF);
	add_ptwrite(0x111, SAMPLE_LEAF);
	pt_packets_tsc(&packets, SAMPLE_START + 300000);
	add_ratio(10);
	add_sleep(2, 0x20, SAMPLE_LEAF);
	pt_packets_tsc(&packets, SAMPLE_START + 600000);
	add_wake(2, 2);
	add_ptwrite(0x222, SAMPLE_LEAF);
	pt_packets_tsc(&packets, SAMPLE_START + 700000);
	add_transaction(false, false, SAMPLE_LEAF);
	pt_packets_tsc(&packets, SAMPLE_START + 800000);
	add_ratio(20);
	add_sleep(2, 0x20, SAMPLE_LEAF);
	pt_packets_tsc(&packets, SAMPLE_START + 850000);
	add_wake(2, 2);
	pt_packets_tsc(&packets, SAMPLE_START + 900000);
	pt_packets_pgd(&packets, 0);
}

START_TEST(what_goes_on_when_the_chosen_time_begins_begins_with_it)
{
	record_states();
	finish("--time=+0.4ms,+0.35ms");
	/* The frequency is unchanged; the second sleep and the transaction begin with the time. */
	EXPECT(1, records, " counter ", "");
	EXPECT(1, records, " 1400000 \"CPU 0 GHz\"", "value=0.4\n");
	EXPECT(1, slices, "C-state", "");
	EXPECT(1, slices, " 1400000 1600000 C-state 3", "hints=0x20");
	EXPECT(1, slices, "transaction", "");
	EXPECT(1, slices, " 1400000 1700000 transaction", "end=committed");
	EXPECT(1, slices, "ptwrite", "");
	EXPECT(1, slices, "ptwrite", "0x222");
}
END_TEST

START_TEST(what_goes_on_when_the_chosen_time_ends_says_so)
{
	record_states();
	finish("--time=,+0.25ms");
	EXPECT(1, slices, "transaction", "end=not seen");
	EXPECT(1, slices, "ptwrite", "");
	EXPECT(1, slices, "C-state 3", "wake=interrupt");
	EXPECT(0, records, "value=400\n", "");
}
END_TEST

static void add_vmcs(uint64_t base)
{
	struct pt_packet vmcs = { .type = ppt_vmcs };

	vmcs.payload.vmcs.base = base;
	pt_packets_add(&packets, &vmcs);
}

static void record_guest(void)
{
	pt_packets_init(&packets);
	sample_begin(&data);
	data.events[0].attr.exclude_kernel = 0;
	pt_packets_psb(&packets, SAMPLE_START, 0);
	add_vmcs(0x123000);
	pt_packets_pge(&packets, SAMPLE_SYSCALL);
	pt_packets_tsc(&packets, SAMPLE_START + 100000);
	add_paging(0x7000, true);
	pt_packets_tip(&packets, 0x999000);
	pt_packets_tsc(&packets, SAMPLE_START + 600000);
	add_paging(0x1000, false);
	pt_packets_tip(&packets, SAMPLE_WORK + 7);
	pt_packets_tsc(&packets, SAMPLE_START + 900000);
	pt_packets_pgd(&packets, 0);
}

START_TEST(a_guest_that_runs_when_the_chosen_time_begins_has_its_name)
{
	record_guest();
	finish("--time=+0.4ms,");
	EXPECT(1, slices, " 1400000 1600000 [guest] vmcs=0x123000 cr3=0x7000", "");
}
END_TEST

START_TEST(what_other_cpus_did_is_left_out)
{
	record_states();
	data.events[0].attr.context_switch = 1;
	add_switch(1350000, SAMPLE_PID, 0, false);
	stamp(1360000, SAMPLE_PID, 7);
	perf_data_add_lost(&data, 17);
	add_switch(1370000, 0, SAMPLE_PID, false);
	save();
	convert("", "--cpu=0");
	EXPECT(3, slices, "C-state", "");
	EXPECT(1, records, " cpu 0 1350000 ", "");
	EXPECT(0, records, "[lost records]", "");
	convert("", "--cpu=7");
	EXPECT(0, slices, "C-state", "");
	EXPECT(0, records, " cpu 0 ", "");
	EXPECT(0, records, " counter ", "");
	EXPECT(1, records, "[lost records]", "count=17");
}
END_TEST

/* Events of a CPU, such as its clock, are kept whichever thread runs. */
START_TEST(what_other_threads_did_is_left_out)
{
	begin_with_cycles();
	pt_packets_tsc(&packets, SAMPLE_START + 100000);
	add_ratio(42);
	add_transaction(true, false, SAMPLE_LEAF);
	add_ptwrite(0x111, SAMPLE_LEAF);
	add_control(2, 0, true);
	pt_packets_fup(&packets, SAMPLE_LEAF);
	pt_packets_tsc(&packets, SAMPLE_START + 200000);
	data.events[0].attr.context_switch = 1;
	stamp(1300000, 77, 0);
	perf_data_add_comm(&data, 0, 77, 77, "other");
	add_switch(1300000, 99, 98, false);
	save();
	for (int i = 0; i < 3; i++) {
		static const char *const options[] = { "--pid=77", "--tid=77", "--comm=other" };

		convert("", options[i]);
		EXPECT(0, slices, "transaction", "");
		EXPECT(0, slices, "ptwrite", "");
		EXPECT(0, slices, "iret", "");
		EXPECT(0, records, "cycles:u", "");
		EXPECT(0, records, " to 98", "");
		EXPECT(1, records, " counter ", "value=1.68\n");
	}
	convert("", "--comm=sample");
	EXPECT(1, slices, "transaction", "");
	EXPECT(1, slices, "ptwrite", "");
	EXPECT(1, slices, "iret", "");
	EXPECT(1, records, "cycles:u", "function=work");
}
END_TEST

START_TEST(samples_switches_and_losses_outside_of_the_chosen_time_are_left_out)
{
	begin_with_cycles();
	data.events[0].attr.context_switch = 1;
	pt_packets_tsc(&packets, SAMPLE_START + 100000);
	pt_packets_tnt(&packets, "t");
	pt_packets_tsc(&packets, SAMPLE_START + 900000);
	for (uint64_t at = 1200000; at <= 1800000; at += 300000) {
		add_sample(at, SAMPLE_PID, SAMPLE_WORK);
		add_switch(at, at == 1500000 ? 0 : SAMPLE_PID, at == 1500000 ? SAMPLE_PID : 0,
			   false);
		perf_data_add_lost(&data, at);
	}
	finish("--time=+0.4ms,+0.2ms");
	EXPECT(1, records, " instant ", "\"cycles:u\"");
	EXPECT(1, records, " 1500000 \"cycles:u\"", "");
	EXPECT(1, records, " cpu 0 ", " from ");
	EXPECT(1, records, " cpu 0 1500000 from 0 ", " to 1234");
	EXPECT(1, records, "lost records", "count=1500000");
}
END_TEST

/* A PSB+ repeats whether a guest or a transaction runs (SDM volume 3, "PSB+"). */
static void add_header(uint64_t tsc, bool in_transaction, bool in_guest)
{
	struct pt_packet packet = { .type = ppt_psb }, time = { .type = ppt_tsc },
			 mode = { .type = ppt_mode };

	pt_packets_add(&packets, &packet);
	time.payload.tsc.tsc = tsc;
	pt_packets_add(&packets, &time);
	add_ratio(25);
	mode.payload.mode.leaf = pt_mol_exec;
	mode.payload.mode.bits.exec.csl = 1;
	pt_packets_add(&packets, &mode);
	mode.payload.mode.leaf = pt_mol_tsx;
	mode.payload.mode.bits.tsx = (struct pt_packet_mode_tsx){ .intx = in_transaction };
	pt_packets_add(&packets, &mode);
	add_paging(in_guest ? 0x7000 : 0x1000, in_guest);
	add_vmcs(in_guest ? 0x123000 : 0x456000);
	pt_packets_fup(&packets, in_guest ? 0x999000 : SAMPLE_LEAF);
	packet.type = ppt_psbend;
	pt_packets_add(&packets, &packet);
}

static void enter_guest(void)
{
	add_vmcs(0x123000);
	pt_packets_fup(&packets, SAMPLE_LEAF);
	add_paging(0x7000, true);
	pt_packets_tip(&packets, 0x999000);
}

static void leave_guest(unsigned round)
{
	add_data(2, round);
	add_control(8, 0, true);
	pt_packets_fup(&packets, 0x999004);
	add_paging(0x1000, false);
	pt_packets_tip(&packets, SAMPLE_LEAF);
}

/* Each kind of state lasts across a PSB in some round. */
static void add_round(unsigned round)
{
	uint64_t tsc = SAMPLE_START + (uint64_t)(round + 1) * 1000;
	bool guest = round % 5 == 2, sleep = round % 5 == 3;
	bool transaction = round % 3 == 1 && !guest; /* a VM entry aborts it */

	pt_packets_tsc(&packets, tsc);
	add_ptwrite(round, SAMPLE_LEAF);
	add_ratio((uint8_t)(10 + round % 7));
	if (transaction)
		add_transaction(true, false, SAMPLE_LEAF);
	if (sleep)
		add_sleep(2, 0x20, SAMPLE_LEAF);
	if (guest)
		enter_guest();
	pt_packets_tsc(&packets, tsc + 300);
	add_header(tsc + 500, transaction, guest);
	pt_packets_tsc(&packets, tsc + 700);
	if (guest)
		leave_guest(round);
	if (sleep)
		add_wake(2, 2);
	if (transaction)
		add_transaction(false, false, SAMPLE_LEAF);
	if (round % 2) {
		add_data(0, round);
		add_control(1, 14, false);
		pt_packets_fup(&packets, SAMPLE_LEAF);
		pt_packets_pgd(&packets, 0);
		pt_packets_tsc(&packets, tsc + 800);
		pt_packets_pge(&packets, SAMPLE_LEAF);
	}
	pt_packets_tip(&packets, SAMPLE_WORK + 5);
	pt_packets_tnt(&packets, "t");
}

#define ROUNDS 120

static void record_rounds(void)
{
	begin();
	data.events[0].attr.exclude_kernel = 0;
	pt_packets_tsc(&packets, SAMPLE_START + 500);
	for (unsigned round = 0; round < ROUNDS; round++)
		add_round(round);
	save();
}

static void keep_as(const char *name)
{
	static char none[ROOM];

	run(none, "mv %s/out.ftf %s/%s", place, place, name);
}

static void expect_the_same(const char *options)
{
	static const char *const threads[] = { "1", "2", "3" };
	char line[200];

	for (int i = 0; i < 3; i++) {
		snprintf(line, sizeof(line), "%s -j%s", options, threads[i]);
		convert("PTRACE2FTF_SEGMENT=60", line);
		keep_as(threads[i]);
		if (i)
			run(messages, "cmp %s/1 %s/%s 2>&1", place, place, threads[i]);
		ck_assert_msg(!i || status == 0, "%s: %s", options, messages);
	}
}

START_TEST(what_goes_on_over_a_place_where_threads_divide_the_trace_is_the_same)
{
	record_rounds();
	expect_the_same("--args=full");
	/* The rounds are complete. */
	EXPECT(ROUNDS, slices, " ptwrite value=", "");
	EXPECT(ROUNDS / 2, slices, "[untraced]", "page_fault_address=");
	EXPECT(ROUNDS / 5, slices, "[guest] vmcs=0x123000 cr3=0x7000", "exit_reason=");
	EXPECT(ROUNDS / 5, slices, "C-state 3", "wake=interrupt");
	EXPECT(ROUNDS / 3 - ROUNDS / 15, slices, "transaction", "end=committed");
	EXPECT(0, slices, "[lost", "");
	EXPECT(0, slices, "not seen", "");
}
END_TEST

START_TEST(the_same_where_the_chosen_time_begins_amid_it)
{
	char window[100];

	record_rounds();
	for (unsigned round = 30; round < 42; round++) {
		snprintf(window, sizeof(window), "--time=+%u.4us,+4.2us", round + 1);
		expect_the_same(window);
	}
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("side_choice");
	TCase *all = tcase_create("side_choice");

	tcase_add_checked_fixture(all, NULL, clean);
	tcase_add_test(all, what_goes_on_when_the_chosen_time_begins_begins_with_it);
	tcase_add_test(all, what_goes_on_when_the_chosen_time_ends_says_so);
	tcase_add_test(all, a_guest_that_runs_when_the_chosen_time_begins_has_its_name);
	tcase_add_test(all, what_other_cpus_did_is_left_out);
	tcase_add_test(all, what_other_threads_did_is_left_out);
	tcase_add_test(all, samples_switches_and_losses_outside_of_the_chosen_time_are_left_out);
	tcase_add_test(all, what_goes_on_over_a_place_where_threads_divide_the_trace_is_the_same);
	tcase_add_test(all, the_same_where_the_chosen_time_begins_amid_it);
	suite_add_tcase(suite, all);
	return unit_run(suite);
}
