/* SPDX-License-Identifier: MIT */
/*
 * Trace contents besides branches, and records besides the trace: the whole program on artificial
 * recordings, read back by ftfdump.  Packets: SDM volume 3, "Intel Processor Trace", packet
 * definitions. The sample's clock: 1 ns a tick, so 25 bus clocks are 1000 MHz.
 */
#include <intel-pt.h>
#include <stdlib.h>

#include "decoder/perf_data/perf_record.h"
#include "src/events/event_output.h"
#include "tests/unit/src/event_recording.h"

/* Tests of packets unknown to libipt run with each engine. */
/* In libipt 2.0, events without an address have no time of their own. */
static const char *const engines[] = { "", "--engine=libipt" };

START_TEST(the_core_clock_is_a_counter_of_its_changes)
{
	begin();
	pt_packets_tsc(&packets, SAMPLE_START + 100);
	add_ratio(42);
	pt_packets_tsc(&packets, SAMPLE_START + 200);
	add_ratio(42);
	pt_packets_tsc(&packets, SAMPLE_START + 300);
	add_ratio(10);
	finish("");
	/* seeds.md: cbr lines give a counter of the core's clock */
	/* seeds.md: the clock of the core is a counter */
	EXPECT(3, records, " counter ", "\"CPU 0 GHz\" id 0 value=");
	EXPECT(1, records, " 1000000 \"CPU 0 GHz\"", "value=1\n");
	EXPECT(1, records, " 1000100 \"CPU 0 GHz\"", "value=1.68\n");
	EXPECT(1, records, " 1000300 \"CPU 0 GHz\"", "value=0.4\n");
}
END_TEST

/* A header's packets come in any order; its time applies to all. */
START_TEST(the_core_clock_of_a_header_has_the_headers_time)
{
	struct pt_packet packet = { .type = ppt_psb };

	pt_packets_init(&packets);
	sample_begin(&data);
	pt_packets_add(&packets, &packet);
	add_ratio(42);
	pt_packets_tsc(&packets, SAMPLE_START);
	packet.type = ppt_psbend;
	pt_packets_add(&packets, &packet);
	finish("");
	EXPECT(1, records, " 1000000 \"CPU 0 GHz\"", "value=1.68\n");
	EXPECT(1, records, " counter ", "");
}
END_TEST

/* Found by fuzzing: a conversion beyond the range of integers. */
START_TEST(the_core_clock_of_a_senseless_time_base_is_left_out)
{
	struct pt_info info = { .max_nonturbo_ratio = 25, .time_mult = 1, .time_shift = 23 };

	ck_assert_uint_eq(core_clock_mhz(&info, 42), 0);
	info = (struct pt_info){ .max_nonturbo_ratio = 25, .time_mult = 1 };
	ck_assert_uint_eq(core_clock_mhz(&info, 42), 1680);
}
END_TEST

START_TEST(a_written_value_is_in_the_function_that_wrote_it)
{
	begin();
	pt_packets_tsc(&packets, SAMPLE_START + 100);
	/* main calls work, and work calls leaf, both without a packet. */
	add_ptwrite(UINT64_C(0x1122334455667788), SAMPLE_LEAF);
	pt_packets_tnt(&packets, "t");
	add_ptwrite(7, 0);
	finish("");
	EXPECT(1, slices, "1234/1234 3 1000", " ptwrite value=0x1122334455667788");
	EXPECT(1, slices, "1234/1234 2 1000", " ptwrite value=0x7");
}
END_TEST

START_TEST(a_written_value_is_no_interrupt)
{
	begin();
	add_transaction(true, false, SAMPLE_MAIN);
	add_transaction(false, true, SAMPLE_WORK);
	pt_packets_tip(&packets, SAMPLE_MAIN + 5);
	add_ptwrite(1, SAMPLE_WORK);
	pt_packets_tnt(&packets, "t");
	pt_packets_tip(&packets, SAMPLE_WORK + 5);
	finish("");
	/* The second TIP has no interrupt or abort before it: the trace is damaged. */
	EXPECT(1, slices, "[transaction aborted]", "");
	EXPECT(1, slices, "[lost: Trace doesn't match instruction]", "");
}
END_TEST

START_TEST(a_sleep_is_a_slice_of_the_cpu_with_its_hints)
{
	begin();
	pt_packets_tsc(&packets, SAMPLE_START + 100);
	add_sleep(2, 0x20, SAMPLE_LEAF);
	pt_packets_tsc(&packets, SAMPLE_START + 5000);
	add_wake(2, 3);
	pt_packets_fup(&packets, SAMPLE_LEAF);
	pt_packets_pgd(&packets, 0);
	finish(engines[_i]);
	EXPECT(1, slices, _i ? " C-state 3 " : "1236/1237 0 1000100 1005000 C-state 3 ",
	       "cstate=3 sub_cstate=1 hints=0x20 extensions=0x1 last_cstate=3 deepest_cstate=4 "
	       "wake=interrupt");
	/* One FUP belongs to both packets, and the next is an interrupt's. */
	EXPECT(1, slices, "[untraced]", "");
	EXPECT(1, slices, " 1000100 1000100 exstop", "address=0x401040");
}
END_TEST

/*
 * If the current instruction is not traced, EXSTOP has no FUP (SDM volume 3, "Execution Stop
 * (EXSTOP) Packet"), nor has MWAIT, which shares it: the next one is an interrupt's.
 */
START_TEST(a_sleep_without_a_place_leaves_the_next_interrupt_its_own)
{
	begin();
	data.events[0].attr.exclude_kernel = 0;
	pt_packets_tsc(&packets, SAMPLE_START + 100);
	add_sleep(15, 0xf0, 0);
	pt_packets_tsc(&packets, SAMPLE_START + 200);
	add_wake(15, 0);
	pt_packets_tsc(&packets, SAMPLE_START + 300);
	pt_packets_fup(&packets, SAMPLE_LEAF);
	pt_packets_tip(&packets, SAMPLE_CIRCLE);
	pt_packets_tsc(&packets, SAMPLE_START + 400);
	pt_packets_fup(&packets, SAMPLE_CIRCLE);
	pt_packets_pgd(&packets, 0);
	finish(engines[_i]);
	EXPECT(1, slices, _i ? " C-state 0 " : " 1000100 1000200 C-state 0 ",
	       "hints=0xf0 extensions=0x1 last_cstate=0 deepest_cstate=1 wake=interrupt");
	EXPECT(0, slices, " wake ", "");
	EXPECT(0, slices, " mwait ", "");
	EXPECT(0, slices, "[lost", "");
	EXPECT(1, slices, " circle address=0x401050", "");
}
END_TEST

START_TEST(a_deeper_sleep_ends_the_one_before_it)
{
	struct pt_packet sleep = { .type = ppt_pwre, .payload.pwre.state = 5 };

	begin();
	pt_packets_tsc(&packets, SAMPLE_START + 100);
	add_sleep(0, 0x50, SAMPLE_LEAF);
	pt_packets_tsc(&packets, SAMPLE_START + 200);
	pt_packets_add(&packets, &sleep);
	pt_packets_tsc(&packets, SAMPLE_START + 300);
	add_wake(5, 5);
	pt_packets_fup(&packets, SAMPLE_LEAF);
	pt_packets_pgd(&packets, 0);
	finish(engines[_i]);
	EXPECT(1, slices, _i ? " C-state 1 " : " 1000100 1000200 C-state 1 ",
	       "end=another C-state");
	EXPECT(1, slices, _i ? " C-state 6 " : " 1000200 1000300 C-state 6 ", "wake=interrupt");
}
END_TEST

/* perf of Debian 12, an independent decoder, reads the same values. */
START_TEST(perf_reads_the_same_values)
{
	static char perf[ROOM];
	if (system("perf version >/dev/null 2>&1") != 0)
		return;
	begin();
	data.events[0].attr.config = 0x3431 | 0x1000; /* with pwr_evt, fup_on_ptw, ptw */
	pt_packets_tsc(&packets, SAMPLE_START + 100);
	add_ratio(42);
	add_ptwrite(0x123456789, SAMPLE_LEAF);
	pt_packets_tnt(&packets, "t");
	add_sleep(2, 0x20, SAMPLE_WORK + 5);
	pt_packets_fup(&packets, SAMPLE_WORK + 5);
	pt_packets_pgd(&packets, 0);
	pt_packets_tsc(&packets, SAMPLE_START + 900);
	add_wake(2, 3);
	pt_packets_pge(&packets, SAMPLE_MAIN);
	pt_packets_tsc(&packets, SAMPLE_START + 1000);
	pt_packets_pgd(&packets, 0);
	finish("");
	run(perf,
	    "perf script -i %s/perf.data --symfs %s --itrace=wp --ns -F time,event,ip,synth 2>&1",
	    place, place);
	EXPECT(1, perf, "cbr:", "cbr: 42 freq: 1680 MHz");
	EXPECT(1, records, " GHz\"", "value=1.68");
	EXPECT(1, perf, "ptwrite:", "payload: 0x123456789");
	EXPECT(1, slices, "ptwrite", "value=0x123456789");
	EXPECT(1, perf, "mwait:", "hints: 0x20 extensions: 0x1");
	EXPECT(1, perf, "pwre:", "hw: 0 cstate: 2 sub-cstate: 1");
	EXPECT(1, perf, "pwrx:", "deepest cstate: 3 last cstate: 2 wake reason: 0x1");
	/* perf prints MWAIT's encoding, which is one less. */
	EXPECT(1, slices, "C-state 3",
	       "cstate=3 sub_cstate=1 hints=0x20 extensions=0x1 "
	       "last_cstate=3 deepest_cstate=4 wake=interrupt");
}
END_TEST

START_TEST(a_transaction_is_a_slice_beside_the_thread_that_says_how_it_ended)
{
	begin();
	pt_packets_tsc(&packets, SAMPLE_START + 100);
	add_transaction(true, false, SAMPLE_WORK);
	pt_packets_tnt(&packets, "t");
	pt_packets_tsc(&packets, SAMPLE_START + 200);
	add_transaction(false, false, SAMPLE_WORK + 5);
	pt_packets_tsc(&packets, SAMPLE_START + 300);
	add_transaction(true, false, SAMPLE_WORK + 5);
	pt_packets_tnt(&packets, "t");
	pt_packets_tsc(&packets, SAMPLE_START + 400);
	add_transaction(false, true, SAMPLE_LEAF);
	pt_packets_tip(&packets, SAMPLE_WORK + 7);
	finish("");
	EXPECT(1, slices, "1000100 1000200 transaction", "address=0x401020 end=committed");
	EXPECT(1, slices, "1000300 1000400 transaction", "address=0x401025 end=aborted");
}
END_TEST

/* A PSB whose header says whether a transaction is open; ip 0: tracing is off. */
static void add_header(uint64_t time, bool in_transaction, uint64_t ip)
{
	static const uint8_t mode[] = { 0x99, 0x01 }; /* MODE.Exec: 64-bit code */
	struct pt_packet packet = { .type = ppt_psb };

	pt_packets_add(&packets, &packet);
	pt_packets_tsc(&packets, time);
	pt_packets_raw(&packets, mode, sizeof(mode));
	add_transaction(in_transaction, false, 0);
	if (ip)
		pt_packets_fup(&packets, ip);
	packet.type = ppt_psbend;
	pt_packets_add(&packets, &packet);
}

/* A begin or end without a packet: while tracing is off, only headers have the state. */
START_TEST(a_transaction_may_be_open_where_the_trace_begins)
{
	pt_packets_init(&packets);
	sample_begin(&data);
	add_header(SAMPLE_START, true, SAMPLE_WORK);
	pt_packets_tnt(&packets, "t");
	pt_packets_tsc(&packets, SAMPLE_START + 100);
	add_transaction(false, false, SAMPLE_WORK + 5);
	pt_packets_tnt(&packets, "t");
	pt_packets_tsc(&packets, SAMPLE_START + 200);
	/* A repeated state is no second commit. */
	add_header(SAMPLE_START + 300, false, SAMPLE_WORK);
	pt_packets_tnt(&packets, "t");
	finish(engines[_i]);
	EXPECT(1, slices, " transaction", "");
	EXPECT(1, slices, " 1000000 1000100 transaction end=committed", "");
	EXPECT(0, slices, "[lost", "");
}
END_TEST

/* libipt's test psb-tsx_abort.ptt: no code runs between the header and the abort. */
START_TEST(a_transaction_may_be_aborted_where_the_trace_begins)
{
	pt_packets_init(&packets);
	sample_begin(&data);
	add_header(SAMPLE_START, true, SAMPLE_WORK);
	pt_packets_tsc(&packets, SAMPLE_START + 100);
	add_transaction(false, true, SAMPLE_WORK);
	pt_packets_tip(&packets, SAMPLE_LEAF);
	pt_packets_tip(&packets, SAMPLE_WORK + 5);
	pt_packets_tnt(&packets, "t");
	finish(engines[_i]);
	EXPECT(1, slices, " transaction", "");
	EXPECT(1, slices, " transaction", "end=aborted");
	EXPECT(1, slices, "[transaction aborted]", "");
	EXPECT(0, slices, "[lost", "");
}
END_TEST

START_TEST(a_transaction_whose_end_is_lost_ends_there)
{
	begin();
	pt_packets_tsc(&packets, SAMPLE_START + 100);
	add_transaction(true, false, SAMPLE_WORK);
	pt_packets_tsc(&packets, SAMPLE_START + 200);
	pt_packets_ovf(&packets);
	pt_packets_fup(&packets, SAMPLE_WORK);
	pt_packets_tsc(&packets, SAMPLE_START + 300);
	pt_packets_tnt(&packets, "t");
	add_transaction(true, false, SAMPLE_WORK + 5);
	pt_packets_tsc(&packets, SAMPLE_START + 400);
	add_header(SAMPLE_START + 500, false, SAMPLE_WORK + 5);
	pt_packets_tnt(&packets, "t");
	pt_packets_tsc(&packets, SAMPLE_START + 600);
	finish(engines[_i]);
	EXPECT(2, slices, " transaction", "");
	EXPECT(1, slices, " 1000100 1000200 transaction address=0x401020 ", "end=not seen");
	EXPECT(1, slices, " 1000300 1000500 transaction address=0x401025 ", "end=not seen");
}
END_TEST

START_TEST(a_transaction_may_be_open_after_an_overflow)
{
	begin();
	pt_packets_tsc(&packets, SAMPLE_START + 100);
	pt_packets_ovf(&packets);
	if (_i == 0)
		add_transaction(true, false, 0);
	else if (_i == 1) /* SDM volume 3, "Compound Packet Event Summary" */
		add_header(SAMPLE_START + 100, true, SAMPLE_WORK);
	pt_packets_fup(&packets, SAMPLE_WORK);
	if (_i == 2) /* libipt 2.0.5 resumes only at a FUP right after the OVF */
		add_header(SAMPLE_START + 100, true, SAMPLE_WORK);
	pt_packets_tnt(&packets, "t");
	pt_packets_tsc(&packets, SAMPLE_START + 200);
	add_transaction(false, true, SAMPLE_WORK + 5);
	pt_packets_tip(&packets, SAMPLE_MAIN);
	pt_packets_tsc(&packets, SAMPLE_START + 300);
	finish(engines[_i / 2]);
	EXPECT(1, slices, " transaction", "");
	EXPECT(1, slices, " 1000100 1000200 transaction end=aborted", "");
}
END_TEST

/*
 * libipt's test tip_pgd-tsx.ptt: with address filters, a transaction enters and leaves the range.
 */
START_TEST(a_transaction_may_begin_and_end_where_tracing_is_off)
{
	pt_packets_init(&packets);
	sample_begin(&data);
	pt_packets_psb(&packets, SAMPLE_START, 0);
	pt_packets_tsc(&packets, SAMPLE_START + 100);
	add_transaction(true, false, 0);
	pt_packets_pge(&packets, SAMPLE_WORK);
	pt_packets_tsc(&packets, SAMPLE_START + 200);
	pt_packets_fup(&packets, SAMPLE_LEAF);
	pt_packets_pgd(&packets, 0);
	pt_packets_tsc(&packets, SAMPLE_START + 300);
	add_transaction(false, _i & 1, 0);
	pt_packets_pge(&packets, SAMPLE_LEAF);
	pt_packets_tnt(&packets, "t");
	pt_packets_tsc(&packets, SAMPLE_START + 400);
	finish(engines[_i / 2]);
	EXPECT(1, slices, " transaction", "");
	EXPECT(1, slices, " 1000100 1000300 transaction", _i & 1 ? "end=aborted" : "end=committed");
	EXPECT(0, slices, "[lost", "");
}
END_TEST

START_TEST(context_switches_are_scheduling_records_with_the_state_of_who_leaves)
{
	begin();
	data.events[0].attr.context_switch = 1;
	add_switch(2000, SAMPLE_PID, 77, true);
	add_switch(3000, 77, 0, false);
	add_switch(4000, 0, SAMPLE_PID, false);
	stamp(4500, SAMPLE_PID, 0);
	perf_data_add_exit(&data, SAMPLE_PID, SAMPLE_PID);
	add_switch(5000, SAMPLE_PID, 0, false);
	finish("");
	/* Perfetto treats a priority below 100 as a real-time thread's. */
	EXPECT(1, records,
	       " cpu 0 100 from 0 state 3 to 1234 incoming_weight=120 outgoing_weight=-2147483648",
	       "");
	EXPECT(1, records, " cpu 0 2000 from 1234 state 1 to 77 incoming_weight=120\n", "");
	EXPECT(1, records, " cpu 0 3000 from 77 state 3 to 0 incoming_weight=-2147483648", "");
	EXPECT(1, records,
	       " cpu 0 4000 from 0 state 3 to 1234 incoming_weight=120 "
	       "outgoing_weight=-2147483648",
	       "");
	EXPECT(1, records, " cpu 0 5000 from 1234 state 5 to 0 incoming_weight=-2147483648", "");
	/* Gives Perfetto the process of a thread without a recorded name. */
	EXPECT(1, records, "kernel-object type 2 id 77 \"\"", "process=77");
}
END_TEST

/* exec ends the thread's own tid, although perf writes no switch. */
START_TEST(a_thread_that_runs_exec_is_dead_and_the_leader_runs)
{
	begin();
	data.events[0].attr.context_switch = 1;
	perf_data_stamp(&data, (struct perf_data_stamp){
				       .time = 2000, .pid = SAMPLE_PID, .tid = SAMPLE_PID + 1 });
	perf_data_add_switch(&data, false, SAMPLE_PID, SAMPLE_PID);
	stamp(3000, SAMPLE_PID, 0);
	perf_data_add_comm(&data, PERF_RECORD_MISC_COMM_EXEC, SAMPLE_PID, SAMPLE_PID, "two");
	finish("");
	EXPECT(1, records, " cpu 0 3000 from 1235 state 5 to 1234 ", "");
}
END_TEST

/* In the trace, 77 is on the CPU from 1002000 to 1004000, then SAMPLE_PID. */
START_TEST(a_selected_time_begins_with_the_thread_that_is_on_the_cpu)
{
	begin();
	data.events[0].attr.context_switch = 1;
	add_switch(1002000, SAMPLE_PID, 77, true);
	add_switch(1004000, 77, SAMPLE_PID, true);
	pt_packets_tsc(&packets, SAMPLE_START + 9000);
	pt_packets_pgd(&packets, 0);
	finish("--time=0.001003000,0.001005000");
	EXPECT(2, records, "context-switch", "");
	EXPECT(1, records, " cpu 0 1003000 from 0 state 3 to 77 incoming_weight=120", "");
	EXPECT(1, records, " cpu 0 1004000 from 77 state 1 to 1234 incoming_weight=120\n", "");
	/* The time has no switch. */
	convert("", "--time=0.001005000,0.001006000");
	EXPECT(1, records, "context-switch", "");
	EXPECT(1, records, " cpu 0 1005000 from 0 state 3 to 1234 incoming_weight=120", "");
	/* A switch at the start shows the next thread. */
	convert("", "--time=0.001004000,0.001006000");
	EXPECT(1, records, "context-switch", "");
	EXPECT(1, records, " cpu 0 1004000 from 77 state 1 to 1234 incoming_weight=120\n", "");
}
END_TEST

START_TEST(switches_without_a_time_are_counted_and_not_shown)
{
	begin();
	data.events[0].attr.context_switch = 1;
	add_switch(2000, SAMPLE_PID, 77, true);
	add_switch(0, 77, SAMPLE_PID, false);
	finish("");
	EXPECT(0, records, "context-switch cpu 0 0 ", "");
	EXPECT(1, records, "context-switch cpu 0 2000 ", "");
	EXPECT(1, messages, "1 context switches have no time, and are not shown", "");
}
END_TEST

/* Without decoded events: the first record's time, because 0 would be far from everything. */
START_TEST(the_wall_clock_of_a_recording_without_calls_is_at_its_first_record)
{
	struct {
		uint32_t version, clock;
		uint64_t wall, perf;
	} clock = { 1, 1, UINT64_C(1700000000000000000), 2000 };

	pt_packets_init(&packets);
	sample_begin(&data);
	data.events[0].attr.context_switch = 1;
	perf_data_set_feature(&data, 29, &clock, sizeof(clock));
	add_switch(2000, SAMPLE_PID, 77, true);
	add_switch(3000, 77, SAMPLE_PID, true);
	finish("");
	EXPECT(0, records, " 0 \"wall clock\"", "");
	EXPECT(1, records, "\"wall clock\" wall_clock=2023-11-14 22:13:", "");
}
END_TEST

/* They would be days after the calls, by the machine's uptime. */
START_TEST(switches_have_no_place_beside_calls_without_times)
{
	pt_packets_init(&packets);
	sample_begin(&data);
	data.events[0].attr.context_switch = 1;
	pt_packets_psb(&packets, 0, 0);
	pt_packets_pge(&packets, SAMPLE_MAIN);
	pt_packets_tnt(&packets, "t");
	add_switch(2000, SAMPLE_PID, 77, true);
	add_switch(1500000000000, 77, SAMPLE_PID, true);
	finish("--counters=1ms");
	EXPECT(0, records, "context-switch", "");
	EXPECT(0, records, " counter ", "");
	EXPECT(1, messages, "the trace has no times: --counters shows nothing", "");
	EXPECT(1, messages,
	       "the trace has no times; side events with times are not shown: 3 context switches",
	       "");
}
END_TEST

/* Change word `index` of priv[] in the AUXTRACE_INFO record (perf_data_pt_info). */
static void set_pt_info(size_t index, uint64_t value)
{
	const uint64_t head[] = { SAMPLE_PMU, 0, 1 }; /* type, shift, mult */
	uint8_t *at = memmem(data.records.bytes, data.records.size, head, sizeof(head));

	ck_assert_ptr_nonnull(at);
	memcpy(at + index * sizeof(value), &value, sizeof(value));
}

/* The reference is 2 s before perf's clock started, so the estimated times begin at 0. */
START_TEST(times_are_made_up_from_a_time_that_can_be)
{
	pt_packets_init(&packets);
	sample_begin(&data);
	set_pt_info(3, (uint64_t)-2000000000);
	data.events[0].attr.config &= ~UINT64_C(0x400); /* no TSC packets */
	pt_packets_psb(&packets, 0, 0);
	pt_packets_pge(&packets, SAMPLE_MAIN);
	add_ratio(20);
	pt_packets_tnt(&packets, "tttttnt");
	finish("");
	EXPECT(1, messages, "times are invented", "");
	EXPECT(0, messages, "beyond", "");
	EXPECT(0, records, "!!", "");
	EXPECT(0, records, "9223372036854775807", "");
	EXPECT(3, records, "complete 1234/1234 ", "\"leaf\" category \"sample\" address=0x401040");
}
END_TEST

/* A TSC of 1 ms with a clock that is 2 s behind. */
START_TEST(events_with_a_time_that_cannot_be_are_counted_and_not_shown)
{
	begin();
	set_pt_info(3, (uint64_t)-2000000000);
	pt_packets_tsc(&packets, SAMPLE_START + 100);
	add_ratio(20);
	pt_packets_tnt(&packets, "t");
	finish("");
	EXPECT(0, records, "!!", "");
	EXPECT(0, records, "CPU frequency", "");
	/* With the PSB+'s. */
	EXPECT(1, messages, "2 side events", "or with an impossible time; not shown");
}
END_TEST

START_TEST(an_interrupts_slice_and_mark_have_its_vector)
{
	begin();
	pt_packets_tsc(&packets, SAMPLE_START + 100);
	add_data(0, 0xdeadbee0);
	add_control(1, 14, false);
	pt_packets_fup(&packets, SAMPLE_LEAF);
	pt_packets_pgd(&packets, 0);
	pt_packets_tsc(&packets, SAMPLE_START + 200);
	pt_packets_pge(&packets, SAMPLE_LEAF);
	pt_packets_tnt(&packets, "t");
	pt_packets_tsc(&packets, SAMPLE_START + 300);
	finish(_i ? "--args=full --engine=libipt" : "--args=full");
	EXPECT(1, slices, " 1000100 1000100 interrupt ",
	       "vector=14 address=0x401040 page_fault_address=0xdeadbee0");
	/* libipt 2.1 reports the fault's packets before the calls on the way to it. */
	EXPECT(1, slices, _i ? " 1000200 [untraced] " : " 1000100 1000200 [untraced] ",
	       "vector=14 page_fault_address=0xdeadbee0");
	EXPECT(1, slices, "leaf", "");
}
END_TEST

/*
 * Types 14 and 15 of CFE, of CPUs with FRED (libipt 2.2, enum pt_cfe_type).  An INT has the FUP of
 * its far transfer; SYSCALL, IRET and ERETU have none, and the next one belongs to another event.
 */
START_TEST(events_that_are_instructions_are_marked_where_they_are)
{
	begin();
	pt_packets_tsc(&packets, SAMPLE_START + 100);
	add_control(14, 0x80, false);
	pt_packets_fup(&packets, SAMPLE_LEAF);
	pt_packets_pgd(&packets, 0);
	pt_packets_tsc(&packets, SAMPLE_START + 200);
	add_control(2, 0, false);
	pt_packets_pge(&packets, SAMPLE_LEAF);
	pt_packets_tsc(&packets, SAMPLE_START + 300);
	add_control(15, 0, false);
	pt_packets_tnt(&packets, "t");
	pt_packets_tsc(&packets, SAMPLE_START + 400);
	add_control(2, 0, false);
	pt_packets_tsc(&packets, SAMPLE_START + 500);
	add_control(1, 0xec, false);
	pt_packets_fup(&packets, SAMPLE_WORK + 5);
	pt_packets_pgd(&packets, 0);
	finish(_i ? "--args=full --engine=libipt" : "--args=full");
	EXPECT(1, slices, " software interrupt vector=128 address=0x401040", "");
	EXPECT(1, slices, "[untraced] ", "vector=128");
	/* libipt 2.0 has earlier times. */
	EXPECT(1, slices, _i ? " 1000" : " 1000300 1000300 ", " syscall\n");
	EXPECT(_i ? 2 : 1, slices, _i ? " 1000" : " 1000200 1000200 ", " iret\n");
	EXPECT(1, slices, " 1000400 1000400 ", " iret\n");
	/* seeds.md: interrupts and events (I) */
	EXPECT(1, slices, " interrupt vector=236 address=0x401025", "");
	EXPECT(0, slices, "unknown event", "");
}
END_TEST

/*
 * If the kernel is traced, the data go to its handler's slice; here another function replaces it.
 */
START_TEST(a_page_faults_address_is_in_the_handlers_slice)
{
	begin();
	data.events[0].attr.exclude_kernel = 0;
	pt_packets_tsc(&packets, SAMPLE_START + 100);
	add_data(0, 0xdeadbee0);
	add_control(1, 14, false);
	pt_packets_fup(&packets, SAMPLE_LEAF);
	pt_packets_tip(&packets, SAMPLE_CIRCLE);
	pt_packets_tsc(&packets, SAMPLE_START + 200);
	pt_packets_pgd(&packets, 0);
	finish("--mode=both");
	EXPECT(1, slices, " 1000100 1000200 circle ",
	       "address=0x401050 vector=14 page_fault_address=0xdeadbee0");
}
END_TEST

/* The data belong to the next event only. */
START_TEST(an_interrupt_has_no_data_of_an_event_before_it)
{
	begin();
	pt_packets_tsc(&packets, SAMPLE_START + 100);
	add_data(2, 0x30);
	add_control(8, 0, true);
	pt_packets_fup(&packets, SAMPLE_WORK);
	add_control(1, 14, false);
	pt_packets_fup(&packets, SAMPLE_LEAF);
	pt_packets_pgd(&packets, 0);
	finish(engines[_i]);
	EXPECT(1, slices, " vm exit ", "exit_reason=0x30");
	EXPECT(1, slices, "[untraced] ", "vector=14");
	EXPECT(1, slices, "exit_reason", "");
}
END_TEST

/* Changes of the interrupt flag: MODE.Exec with a FUP, and a CFE of a return with one. */
START_TEST(events_with_a_place_of_their_own_are_no_interrupts)
{
	static const uint8_t mode[] = { 0x99, 0x05 };

	begin();
	pt_packets_raw(&packets, mode, sizeof(mode));
	pt_packets_fup(&packets, SAMPLE_WORK);
	add_control(2, 0, true);
	pt_packets_fup(&packets, SAMPLE_LEAF);
	/* The indirect branch's TIP for leaf's return. */
	pt_packets_tip(&packets, SAMPLE_WORK + 5);
	pt_packets_tnt(&packets, "n");
	pt_packets_tip(&packets, SAMPLE_MAIN + 5);
	finish(engines[_i]);
	EXPECT(1, slices, " iret address=0x401040", "");
	run(messages, "%s/ptrace2ftf -q --format=branches --symfs=%s %s/perf.data",
	    getenv("top_builddir"), place, place);
	EXPECT(1, messages, " return ", " 401025 work+0x5");
	EXPECT(0, slices, "[", "");
	EXPECT(1, slices, "leaf", "");
}
END_TEST

/*
 * PIP's NR bit: a guest runs from the TIP after this PIP to the TIP of the next PIP without NR (SDM
 * volume 3, "PIP").  The sample's far transfer is the VM entry.
 */
START_TEST(a_guest_is_a_slice_whose_flow_is_passed_over)
{
	struct pt_packet vmcs = { .type = ppt_vmcs };

	pt_packets_init(&packets);
	sample_begin(&data);
	data.events[0].attr.exclude_kernel = 0;
	pt_packets_psb(&packets, SAMPLE_START, 0);
	vmcs.payload.vmcs.base = 0x123000;
	pt_packets_add(&packets, &vmcs);
	pt_packets_pge(&packets, SAMPLE_SYSCALL);
	pt_packets_tsc(&packets, SAMPLE_START + 100);
	add_paging(0x7000, true);
	pt_packets_tip(&packets,
		       SAMPLE_LEAF); /* of the guest, regardless of the host's code there */
	pt_packets_tnt(&packets, "nnn");
	pt_packets_tip(&packets, 0x999000);
	pt_packets_psb(&packets, SAMPLE_START + 150, 0x999000);
	add_paging(0x8000, true);
	pt_packets_tip(&packets, 0x888000);
	pt_packets_tsc(&packets, SAMPLE_START + 200);
	add_data(1, 0x181);
	add_data(2, 48);
	add_control(8, 0, true);
	pt_packets_fup(&packets, 0x888004);
	add_paging(0x1000, false);
	pt_packets_tip(&packets, SAMPLE_WORK + 7);
	pt_packets_tip(&packets, SAMPLE_MAIN + 5);
	pt_packets_tsc(&packets, SAMPLE_START + 300);
	finish(engines[_i]);
	EXPECT(1, slices, " 1000100 1000200 [guest] vmcs=0x123000 cr3=0x7000 ",
	       "exit_qualification=0x181 exit_reason=0x30");
	/* While tracing is off, libipt 2.0 uses the PSB's times. */
	EXPECT(1, slices, _i ? " vm exit " : " 1000200 1000200 vm exit ", "exit_reason=0x30");
	EXPECT(1, slices, "1234/1234 2 1000100 1000200 [guest]", "");
	EXPECT(0, slices, "[lost", "");
	EXPECT(0, slices, "leaf", "");
}
END_TEST

/* A PSB+ whose PIP distinguishes guest and host; ip 0: tracing is off. */
static void add_guest_header(uint64_t tsc, bool guest, uint64_t ip)
{
	pt_packets_add(&packets, &(struct pt_packet){ .type = ppt_psb });
	pt_packets_tsc(&packets, tsc);
	pt_packets_raw(&packets, (const uint8_t[]){ 0x99, 0x01 }, 2); /* MODE.Exec: 64-bit code */
	add_paging(guest ? 0x7000 : 0x1000, guest);
	if (ip)
		pt_packets_fup(&packets, ip);
	pt_packets_add(&packets, &(struct pt_packet){ .type = ppt_psbend });
}

/*
 * NR holds until the next PIP: across TIP.PGD, with which the host stops tracing (a fuzzer's VM
 * exit), an overflow and a PSB.  The host's code at these addresses does not run.
 */
START_TEST(a_guest_is_one_until_the_next_pip)
{
	pt_packets_init(&packets);
	sample_begin(&data);
	data.events[0].attr.exclude_kernel = 0;
	add_guest_header(SAMPLE_START, true, 0);
	for (unsigned round = 1; round <= 3; round++) {
		pt_packets_tsc(&packets, SAMPLE_START + 100 * round);
		pt_packets_pge(&packets, SAMPLE_MAIN);
		pt_packets_tip(&packets, SAMPLE_MAIN + 5);
		if (round == 2)
			add_guest_header(SAMPLE_START + 250, true, SAMPLE_MAIN + 5);
		pt_packets_fup(&packets, SAMPLE_MAIN + 5);
		pt_packets_pgd(&packets, 0);
	}
	pt_packets_psb(&packets, SAMPLE_START + 400, 0);
	pt_packets_pge(&packets, SAMPLE_MAIN);
	add_guest_header(SAMPLE_START + 500, false, 0);
	pt_packets_pge(&packets, SAMPLE_LEAF);
	pt_packets_pgd(&packets, 0);
	finish(engines[_i]);
	EXPECT(4, slices, "1234/1234 ", " [guest] address");
	EXPECT(0, slices, "main", "");
	EXPECT(1, slices, "leaf", "");
	EXPECT(0, slices, "[lost", "");
	run(messages, "%s/ptrace2ftf --format=none --symfs=%s %s/perf.data 2>&1",
	    getenv("top_builddir"), place, place);
	EXPECT(1, messages, "4 runs of a guest's code not followed", "");
}
END_TEST

START_TEST(a_recording_may_begin_in_a_guest)
{
	pt_packets_init(&packets);
	sample_begin(&data);
	data.events[0].attr.exclude_kernel = 0;
	add_guest_header(SAMPLE_START, true, 0x999000);
	pt_packets_tip(&packets, 0x888000);
	pt_packets_tsc(&packets, SAMPLE_START + 200);
	add_paging(0x1000, false);
	pt_packets_tip(&packets, SAMPLE_WORK + 7);
	pt_packets_tip(&packets, SAMPLE_MAIN + 5);
	pt_packets_tsc(&packets, SAMPLE_START + 300);
	finish(engines[_i]);
	EXPECT(1, slices, "1234/1234 ", " [guest] address");
	EXPECT(1, slices, "1234/1234 1 ", " work ");
}
END_TEST

/* A recorder of guest user code alone: the mappings are the guest's. */
START_TEST(without_kernel_code_a_guest_is_all_that_was_recorded)
{
	pt_packets_init(&packets);
	sample_begin(&data);
	add_guest_header(SAMPLE_START, true, 0);
	pt_packets_pge(&packets, SAMPLE_WORK + 7);
	pt_packets_tip(&packets, SAMPLE_MAIN + 5);
	pt_packets_pgd(&packets, 0);
	finish(engines[_i]);
	EXPECT(0, slices, "1234/1234 ", " [guest]");
	EXPECT(1, slices, " work ", "inferred_start_time");
	EXPECT(1, slices, " leaf ", "");
}
END_TEST

START_TEST(control_structures_distinguish_guests)
{
	struct pt_packet vmcs = { .type = ppt_vmcs };

	begin();
	data.events[0].attr.exclude_kernel = 0;
	for (unsigned guest = 1; guest <= 3; guest++) {
		pt_packets_tsc(&packets, SAMPLE_START + 1000 * guest);
		vmcs.payload.vmcs.base = 0x10000 * guest;
		pt_packets_add(&packets, &vmcs);
		pt_packets_fup(&packets, SAMPLE_LEAF);
		add_paging(0x7000, true); /* two guests may have the same CR3 */
		pt_packets_tip(&packets, 0x999000);
		add_paging(0x8000, true); /* and a guest may change it */
		pt_packets_tsc(&packets, SAMPLE_START + 1000 * guest + 500);
		add_paging(0x1000, false);
		pt_packets_tip(&packets, SAMPLE_LEAF);
	}
	finish("");
	EXPECT(3, slices, "[guest] vmcs=", "cr3=0x7000");
	EXPECT(1, slices, " 1001000 1001500 [guest] vmcs=0x10000 ", "");
	EXPECT(1, slices, " 1002000 1002500 [guest] vmcs=0x20000 ", "");
	EXPECT(1, slices, " 1003000 1003500 [guest] vmcs=0x30000 ", "");
	EXPECT(3, slices, "1234/1234 3 ", " [guest]");
}
END_TEST

/* ---- PEBS in the trace ---------------------------------------------------- */

/* BBP: 02, 63, type; bit 7: values have 4 bytes, not 8.  BIP: id above 100b, value. */
static unsigned item_size;

static void add_block(uint8_t type, unsigned size)
{
	const uint8_t bytes[] = { 0x02, 0x63, (uint8_t)(type | (size == 4 ? 0x80 : 0)) };

	item_size = size;
	pt_packets_raw(&packets, bytes, sizeof(bytes));
}

static void add_item(uint8_t id, uint64_t value)
{
	uint8_t bytes[9] = { (uint8_t)(id << 3 | 4) };

	memcpy(bytes + 1, &value, item_size);
	pt_packets_raw(&packets, bytes, 1 + item_size);
}

/* BEP: 02, 33; bit 7 of the second byte: a FUP with the sample's address follows. */
static void add_block_end(uint64_t ip)
{
	const uint8_t bytes[] = { 0x02, ip ? 0xb3 : 0x33 };

	pt_packets_raw(&packets, bytes, sizeof(bytes));
	if (ip)
		pt_packets_fup(&packets, ip);
}

/* An event with samples in the trace, by its counter (AUX_OUTPUT_HW_ID). */
static void add_output_event(const char *name, uint64_t first_id, uint64_t counter)
{
	struct perf_data_event event = {
		.attr = {
			.type = PERF_TYPE_RAW,
			.sample_type = PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP | PERF_SAMPLE_TID |
				       PERF_SAMPLE_TIME | PERF_SAMPLE_ADDR | PERF_SAMPLE_CPU |
				       PERF_SAMPLE_REGS_INTR,
			.sample_regs_intr = 0x800205, /* AX, CX, FLAGS, R15 */
			.precise_ip = 2,
			.aux_output = 1,
			.sample_id_all = 1,
			.sample_period = 1000,
		},
		.name = name,
		.first_id = first_id,
		.attr_bytes = sizeof(struct perf_event_attr),
	};
	unsigned index = perf_data_add_event(&data, &event);

	perf_data_stamp(&data, (struct perf_data_stamp){ .time = SAMPLE_START,
							 .pid = SAMPLE_PID,
							 .tid = SAMPLE_PID,
							 .event = index });
	perf_data_add_record(&data, RECORD_AUX_OUTPUT_HW_ID, 0, &counter, sizeof(counter));
}

/* A record of "stores" with data of every PEBS group. */
static void add_pebs_record(void)
{
	add_block(4, 8); /* basic */
	add_item(0, SAMPLE_LEAF);
	add_item(1, 1 << 2);
	add_item(2, SAMPLE_START + 60);
	add_block(1, 8); /* general */
	add_item(0, 0x246);
	add_item(2, 0xaaaa);
	add_item(3, 0xcccc);
	add_item(17, 0x1515);
	add_block(5, 8); /* memory */
	add_item(0, 0xdadadada);
	add_item(2, 77);
	add_block(16, 8); /* vectors */
	add_item(2, 0x1111);
	add_item(3, 0x2222);
	add_block(9, 8); /* branches, from the tenth on */
	add_item(0, SAMPLE_MAIN);
	add_item(1, SAMPLE_WORK);
	add_block(30, 8); /* unknown */
	add_item(0, 1);
	add_block_end(SAMPLE_MAIN);
}

START_TEST(a_sample_of_pebs_is_instants_with_its_registers)
{
	begin();
	add_output_event("loads", 1300, 0);
	add_output_event("stores", 1400, 2);
	pt_packets_tsc(&packets, SAMPLE_START + 100);
	add_pebs_record();
	pt_packets_tnt(&packets, "tnt");
	pt_packets_tsc(&packets, SAMPLE_START + 300);
	finish(engines[_i]);
	EXPECT(1, records, "\"stores\" category \"sample\" ",
	       "address=0x401040 function=leaf counters=0x4 data_address=0xdadadada latency=0x4d "
	       "other_values=1");
	EXPECT(1, records, "\"registers\" category",
	       "rflags=0x246 rax=0xaaaa rcx=0xcccc r15=0x1515");
	EXPECT(1, records, "\"vector registers\" category", "xmm1_low=0x1111 xmm1_high=0x2222");
	EXPECT(1, records, "\"last branches\" category", "from10=0x401000 to10=0x401020");
	/* libipt 2.0 knows only the times of branches. */
	if (!_i)
		EXPECT(4, records, "instant 1234/1234 1000060 ", "category \"sample\"");
	EXPECT(0, messages, "warning", "");
	EXPECT(1, slices, "leaf", "");
	convert("", "--no-samples");
	EXPECT(0, records, "\"stores\"", "");
}
END_TEST

/* 4-byte values; the BIPs' bytes could be TNTs.  Only one event has output. */
START_TEST(without_a_counter_the_only_event_names_a_sample)
{
	begin();
	add_output_event("loads", 1300, 7);
	pt_packets_tsc(&packets, SAMPLE_START + 100);
	add_block(1, 4);
	add_item(1, 0x04040404);
	add_item(9, 0x44444444);
	add_block_end(0);
	pt_packets_tnt(&packets, "tnt");
	pt_packets_tsc(&packets, SAMPLE_START + 300);
	finish(engines[_i]);
	EXPECT(1, records, "\"loads\" category \"sample\"", "");
	EXPECT(1, records, "\"registers\" category \"sample\"", "rip=0x4040404 rdi=0x44444444");
	EXPECT(1, slices, "leaf", "");
}
END_TEST

/* The processor drops the rest; the next record has no data of the first. */
START_TEST(an_overflow_ends_a_sample_of_pebs)
{
	begin();
	add_output_event("loads", 1300, 0);
	pt_packets_tsc(&packets, SAMPLE_START + 100);
	add_block(1, 8);
	add_item(2, 0xaaaa);
	pt_packets_add(&packets, &(struct pt_packet){ .type = ppt_ovf });
	pt_packets_fup(&packets, SAMPLE_MAIN);
	pt_packets_tnt(&packets, "t");
	pt_packets_raw(&packets, (const uint8_t[]){ 0x04 }, 1); /* "n"; in a block, a BIP */
	add_block(1, 8);
	add_item(3, 0xcccc);
	add_block_end(0);
	pt_packets_tsc(&packets, SAMPLE_START + 300);
	finish(engines[_i]);
	EXPECT(1, records, "\"registers\"", " rcx=0xcccc");
	EXPECT(0, records, "rax=", "");
	EXPECT(1, slices, "leaf", "");
	EXPECT(0, messages, "Trace doesn't match", "");
}
END_TEST

/* More values than a record of the format can have arguments. */
START_TEST(all_registers_of_a_sample_are_shown)
{
	begin();
	add_output_event("loads", 1300, 0);
	pt_packets_tsc(&packets, SAMPLE_START + 100);
	for (uint8_t type = 0; type < 32; type++) {
		add_block(type, 8);
		for (uint8_t id = 0; id < 32; id++)
			add_item(id, type * 100u + id);
	}
	add_block_end(0);
	pt_packets_tsc(&packets, SAMPLE_START + 300);
	finish("");
	EXPECT(3, records, "\"registers\"", "=0x");
	EXPECT(3, records, "\"vector registers\"", "=0x");
	EXPECT(7, records, "\"last branches\"", "=0x");
	EXPECT(1, records, "\"loads\"", "other_values=800");
	EXPECT(1, records, "xmm15_high=0x65f", "");
}
END_TEST

/* perf of Debian 12 reads the same record. */
START_TEST(perf_reads_the_same_registers)
{
	static char perf[ROOM];

	if (system("perf version >/dev/null 2>&1") != 0)
		return;
	begin();
	add_output_event("stores", 1400, 2);
	pt_packets_tsc(&packets, SAMPLE_START + 100);
	add_pebs_record();
	pt_packets_tsc(&packets, SAMPLE_START + 300);
	finish("");
	run(perf,
	    "perf script -i %s/perf.data --symfs %s --itrace=o --ns -F event,ip,addr,iregs 2>&1",
	    place, place);
	EXPECT(1, perf, "stores:", "dadadada");
	EXPECT(1, perf, "401040", "");
	EXPECT(1, perf, "AX:0xaaaa", "CX:0xcccc");
	EXPECT(1, perf, "FLAGS:0x246", "R15:0x1515");
	/* seeds.md: PEBS via PT (o) */
	EXPECT(1, records, "\"registers\"", "rflags=0x246 rax=0xaaaa rcx=0xcccc r15=0x1515");
}
END_TEST

/* As in perf's struct perf_record_auxtrace_info: type, padding, 8-byte parameters. */
static void set_clock_zero(uint64_t zero)
{
	uint8_t *at = data.records.bytes;
	uint32_t type;

	for (uint16_t size; memcpy(&type, at, 4), type != 70; at += size)
		memcpy(&size, at + 6, 2);
	memcpy(at + 16 + 3 * sizeof(zero), &zero, sizeof(zero));
}

START_TEST(times_that_cannot_be_are_no_times_and_counted)
{
	begin();
	set_clock_zero(INT64_MAX - (SAMPLE_START + 150));
	pt_packets_tnt(&packets, "tn");
	pt_packets_tsc(&packets, SAMPLE_START + 100);
	pt_packets_tip(&packets, SAMPLE_MAIN + 5);
	pt_packets_tsc(&packets, SAMPLE_START + 200);
	pt_packets_tsc(&packets, SAMPLE_START + 300);
	pt_packets_fup(&packets, SAMPLE_MAIN + 5);
	pt_packets_pgd(&packets, 0);
	finish(engines[_i]);
	EXPECT(0, slices, " 92233720368547758", "");
	EXPECT(0, slices, " 92233720368547759", "");
	EXPECT(1, slices, "1234/1234 0 9223372036854775657 ", " main ");
	EXPECT(1, slices, " work ", "");
	EXPECT(1, messages, " impossible time", ""); /* libipt 2.1 gives one of them */
}
END_TEST

/* The same for event trace and transactions. */
START_TEST(perf_reads_the_same_events_and_transactions)
{
	static char perf[ROOM];
	const char *mark;

	if (system("perf version >/dev/null 2>&1") != 0)
		return;
	begin();
	data.events[0].attr.config = 0x2401 | UINT64_C(1) << 31; /* with event */
	pt_packets_tsc(&packets, SAMPLE_START + 100);
	add_transaction(true, false, SAMPLE_WORK);
	pt_packets_tnt(&packets, "t");
	pt_packets_tsc(&packets, SAMPLE_START + 200);
	add_transaction(false, false, SAMPLE_WORK + 5);
	add_transaction(true, false, SAMPLE_WORK + 5);
	pt_packets_tnt(&packets, "t");
	pt_packets_tsc(&packets, SAMPLE_START + 400);
	add_transaction(false, true, SAMPLE_LEAF);
	pt_packets_tip(&packets, SAMPLE_WORK);
	pt_packets_tsc(&packets, SAMPLE_START + 500);
	add_data(0, 0xdeadbee0);
	add_control(1, 14, false);
	pt_packets_fup(&packets, SAMPLE_LEAF);
	pt_packets_pgd(&packets, 0);
	pt_packets_tsc(&packets, SAMPLE_START + 600);
	pt_packets_pge(&packets, SAMPLE_LEAF);
	add_control(2, 0, true);
	pt_packets_fup(&packets, SAMPLE_LEAF);
	pt_packets_tnt(&packets, "t");
	pt_packets_tsc(&packets, SAMPLE_START + 700);
	add_control(1, 0xec, false);
	pt_packets_fup(&packets, SAMPLE_WORK + 5);
	pt_packets_pgd(&packets, 0);
	finish("");
	run(perf,
	    "perf script -i %s/perf.data --symfs %s --itrace=Ixe --ns -F time,event,ip,synth,flags 2>&1",
	    place, place);
	EXPECT(0, perf, "error", "");
	EXPECT(4, perf, "transactions:", "");
	mark = strstr(perf, " () ") ? " () " : " x "; /* of a begin: perf 7's or perf 6's */
	EXPECT(1, perf, "0.001000100: transactions:   ", " 401020");
	EXPECT(1, perf, "0.001000100: transactions:   ", mark);
	EXPECT(2, perf, "0.001000200: transactions:   ", " 401025");
	EXPECT(1, perf, "0.001000200: transactions:   ", mark);
	EXPECT(1, perf, "0.001000400: transactions:   tx abrt", " 401040");
	EXPECT(1, slices, " 1000100 1000200 transaction address=0x401020", "end=committed");
	/* seeds.md: transactions (x) */
	EXPECT(1, slices, " 1000200 1000400 transaction address=0x401025", "end=aborted");
	EXPECT(3, perf, "evt:", "cfe:");
	EXPECT(1, perf, "0.001000500: ", "cfe: INTR IP: 1 vector: 14 PFA: 0xdeadbee0");
	EXPECT(1, perf, "0.001000600: ", "cfe: IRET IP: 1");
	EXPECT(1, perf, "0.001000700: ", "cfe: INTR IP: 1 vector: 236");
	EXPECT(1, slices, " 1000500 1000500 interrupt vector=14 address=0x401040",
	       "page_fault_address=0xdeadbee0");
	EXPECT(1, slices, " 1000600 1000600 iret address=0x401040", "");
	EXPECT(1, slices, " 1000700 1000700 interrupt vector=236 address=0x401025", "");
}
END_TEST

/* The cases of libipt 2.2's tests (test/src: trig, trig-fup, tip_pge-trig and others). */
START_TEST(triggers_are_marks_of_the_cpu)
{
	begin();
	pt_packets_tsc(&packets, SAMPLE_START + 100);
	add_trigger(0x02, 0, 0);
	pt_packets_tsc(&packets, SAMPLE_START + 200);
	add_trigger(0x89, TRIG_MULT, 0);
	pt_packets_tsc(&packets, SAMPLE_START + 300);
	add_trigger(0x01, TRIG_ICNTV, 0x203);
	pt_packets_tsc(&packets, SAMPLE_START + 400);
	/* Its FUP is no interrupt's: the TIP is for leaf's return. */
	add_trigger(0x04, TRIG_IP | TRIG_ICNTV, 0);
	pt_packets_fup(&packets, SAMPLE_LEAF);
	pt_packets_tip(&packets, SAMPLE_WORK + 5);
	pt_packets_tnt(&packets, "n");
	pt_packets_tip(&packets, SAMPLE_MAIN + 5);
	pt_packets_fup(&packets, SAMPLE_MAIN + 5);
	pt_packets_pgd(&packets, 0);
	pt_packets_tsc(&packets, SAMPLE_START + 500);
	add_trigger(0x10, 0, 0);
	pt_packets_tsc(&packets, SAMPLE_START + 600);
	add_trigger(0x20, TRIG_IP | TRIG_ICNTV, 0);
	pt_packets_fup(&packets, SAMPLE_CIRCLE);
	pt_packets_pge(&packets, SAMPLE_MAIN + 5);
	pt_packets_tsc(&packets, SAMPLE_START + 700);
	finish(engines[_i]);
	EXPECT(6, slices, " trigger triggers=", "");
	EXPECT(1, slices, " trigger triggers=1", "");
	EXPECT(1, slices, " trigger triggers=0,3,7", " multiple=true");
	EXPECT(1, slices, " trigger triggers=0 ", "instructions=515");
	EXPECT(1, slices, " trigger triggers=2 ", "address=0x401040");
	EXPECT(1, slices, " trigger triggers=4", "");
	EXPECT(1, slices, " trigger triggers=5 ", "address=0x401050");
	/* libipt replaces these with EXSTOP events, which have no time. */
	for (int i = 1; i <= 6 && !_i; i++) {
		char time[64];

		snprintf(time, sizeof(time), " 1000%d00 1000%d00 ", i, i);
		EXPECT(1, slices, time, "trigger");
	}
	EXPECT(0, slices, "[lost", "");
	EXPECT(0, messages, "warning", "");
	EXPECT(1, slices, " leaf", "");
}
END_TEST

/* No packet begins with these bytes. */
START_TEST(a_packet_that_is_not_known_is_a_gap_up_to_the_next_psb)
{
	static const uint8_t unknown[] = { 0x02, 0xd9, 0x01, 0x00 };

	begin();
	pt_packets_tsc(&packets, SAMPLE_START + 100);
	pt_packets_raw(&packets, unknown, sizeof(unknown));
	pt_packets_tnt(&packets, "tnt");
	pt_packets_psb(&packets, SAMPLE_START + 200, SAMPLE_LEAF);
	pt_packets_tip(&packets, SAMPLE_WORK + 5);
	pt_packets_tsc(&packets, SAMPLE_START + 300);
	pt_packets_pgd(&packets, 0);
	finish("");
	EXPECT(1, slices, "1000100 1000200 [lost: ", "");
	EXPECT(1, messages, "gaps in the trace", "");
}
END_TEST

/*
 * Code up to the next packet runs at the time of the last: in the first microsecond call work, call
 * leaf, return, a jump that is not taken, return, and both calls again; then return, jump, return;
 * and at last the system call.  A microsecond in which nothing ran has zeros, before the next one.
 */
START_TEST(counters_are_rates_of_stretches_of_time)
{
	static const char *const expected[] = {
		"1000000 \"%s\" id %d insns/s=7000000 calls/s=4000000 branches/insn=0.857142857142857",
		"1001000 \"%s\" id %d insns/s=0 calls/s=0 branches/insn=0\n",
		"1003000 \"%s\" id %d insns/s=3000000 calls/s=0 branches/insn=0.6666666666666666\n",
		"1004000 \"%s\" id %d insns/s=0 calls/s=0 branches/insn=0\n",
		"1007000 \"%s\" id %d insns/s=1000000 calls/s=0 branches/insn=1\n",
		"1008000 \"%s\" id %d insns/s=0 calls/s=0 branches/insn=0\n",
	};
	char line[200];

	begin();
	pt_packets_tsc(&packets, SAMPLE_START + 100);
	pt_packets_tnt(&packets, "tnt");
	pt_packets_tsc(&packets, SAMPLE_START + 3100);
	pt_packets_tnt(&packets, "tnt");
	pt_packets_tsc(&packets, SAMPLE_START + 7900);
	pt_packets_pgd(&packets, 0);
	finish("--counters=1us");
	for (size_t i = 0; i < COUNT_OF(expected); i++) {
		snprintf(line, sizeof(line), expected[i], "sample", 1234);
		EXPECT(1, records, line, "");
		snprintf(line, sizeof(line), expected[i], "CPU 0", 0);
		EXPECT(1, records, line, "");
	}
	EXPECT(12, records, " insns/s=", "");
}
END_TEST

START_TEST(samples_of_other_events_are_instants_of_their_thread)
{
	begin_with_cycles();
	finish("");
	EXPECT(1, records, "instant 1234/1234 1000042 \"cycles:u\" category \"sample\" ",
	       "period=4000 address=0x401023 function=work data_address=0xdada cpu=0");
	/* The idle thread's samples are the CPU's. */
	/* seeds.md: branch-misses and cache-misses are marks on separate tracks */
	EXPECT(1, records, "instant 1236/1237 1000043 \"cycles:u\"", "");
}
END_TEST

/* As tools/perf/util/bpf_off_cpu.c, off_cpu_write(), writes them: OFF_CPU_TIMESTAMP and later. */
START_TEST(totals_of_off_cpu_time_have_no_instant_and_are_counted)
{
	struct perf_data_event waits = {
		.attr = {
			.type = PERF_TYPE_SOFTWARE,
			.config = PERF_COUNT_SW_BPF_OUTPUT,
			.sample_type = PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP | PERF_SAMPLE_TID |
				       PERF_SAMPLE_TIME | PERF_SAMPLE_CPU | PERF_SAMPLE_PERIOD,
			.sample_id_all = 1,
		},
		.name = "offcpu-time",
		.first_id = 1200,
		.attr_bytes = sizeof(struct perf_event_attr),
	};
	uint64_t words[] = {
		1200, SAMPLE_WORK, (uint64_t)SAMPLE_PID << 32 | SAMPLE_PID, UINT64_MAX << 32,
		0,    5000000
	};

	begin_with_cycles();
	perf_data_add_event(&data, &waits);
	for (int i = 0; i < 3; i++, words[3]++)
		perf_data_add_user_record(&data, PERF_RECORD_SAMPLE, words, sizeof(words));
	finish("");
	EXPECT(0, records, "offcpu-time", "");
	EXPECT(2, records, "instant ", "\"cycles:u\"");
	EXPECT(1, messages, "samples of offcpu-time are totals", "(3 times)");
}
END_TEST

/* An event whose samples pause (2) or resume (4) the trace: perf_event_attr.aux_action. */
static void add_pausing_event(const char *name, uint64_t first_id, uint32_t action)
{
	struct perf_data_event event = {
		.attr = {
			.sample_type = PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_TID | PERF_SAMPLE_TIME |
				       PERF_SAMPLE_CPU,
			.sample_id_all = 1,
		},
		.name = name,
		.first_id = first_id,
		.attr_bytes = sizeof(struct perf_event_attr),
	};

	memcpy((uint8_t *)&event.attr + 116, &action, sizeof(action));
	perf_data_add_event(&data, &event);
}

static void add_pausing_sample(uint64_t id, uint64_t time)
{
	const uint64_t words[] = { id, (uint64_t)SAMPLE_PID << 32 | SAMPLE_PID, time, 0 };

	perf_data_add_user_record(&data, PERF_RECORD_SAMPLE, words, sizeof(words));
}

/*
 * main() is interrupted at 1000100; that interrupt pauses the trace at 1000150 and another one
 * resumes it; then leaf() runs without a traced call.
 */
static void trace_a_pause(bool with_samples)
{
	begin();
	add_pausing_event("stop", 1100, 2);
	add_pausing_event("start", 1200, 4);
	if (with_samples) {
		add_pausing_sample(1100, 1000150);
		add_pausing_sample(1200, 1000290);
	}
	pt_packets_tsc(&packets, SAMPLE_START + 100);
	pt_packets_fup(&packets, SAMPLE_MAIN);
	pt_packets_pgd(&packets, 0);
	pt_packets_tsc(&packets, SAMPLE_START + 300);
	pt_packets_pge(&packets, SAMPLE_LEAF);
	pt_packets_tsc(&packets, SAMPLE_START + 400);
	pt_packets_tip(&packets, SAMPLE_WORK + 5);
	pt_packets_tsc(&packets, SAMPLE_START + 500);
	pt_packets_fup(&packets, SAMPLE_WORK + 5);
	pt_packets_pgd(&packets, 0);
}

START_TEST(a_pause_of_the_trace_is_a_slice_and_the_stack_begins_anew)
{
	trace_a_pause(true);
	finish(engines[_i]);
	EXPECT(1, slices, " 1000100 1000150 [untraced]", "");
	EXPECT(1, slices, " 1000150 1000300 [paused]", "");
	EXPECT(1, slices, " leaf ", "inferred_start_time");
	EXPECT(1, slices, " main ", "");
	EXPECT(0, messages, "warning", "");
	convert("", "--json");
	EXPECT(1, messages, "\"paused\"", "");
	/* magic-trace knows no pauses. */
	convert("", "--stacks=magic-trace");
	EXPECT(0, slices, "aused", "");
}
END_TEST

/* The attributes alone do not show when: the trace may have stopped for another reason. */
START_TEST(without_a_sample_nothing_is_a_pause)
{
	trace_a_pause(false);
	finish("");
	EXPECT(0, slices, "[paused]", "");
	EXPECT(1, slices, " 1000100 1000300 [untraced]", "");
}
END_TEST

START_TEST(samples_can_be_left_out)
{
	begin_with_cycles();
	finish("--no-samples");
	EXPECT(0, records, "cycles:u", "");
}
END_TEST

START_TEST(what_perf_lost_is_marked_where_it_was_lost)
{
	const uint64_t lost_samples = 5;

	begin();
	stamp(1000007, SAMPLE_PID, 0);
	perf_data_add_lost(&data, 17);
	perf_data_add_record(&data, PERF_RECORD_LOST_SAMPLES, 0, &lost_samples,
			     sizeof(lost_samples));
	finish("");
	EXPECT(1, records, "instant 1236/1237 1000007 \"[lost records]\"", "count=17");
	EXPECT(1, records, "instant 1236/1237 1000007 \"[lost samples]\"", "count=5");
	EXPECT(1, messages, "perf lost 17 records", "");
	EXPECT(1, messages, "perf lost 5 samples", "");
}
END_TEST

/* CLOCK_DATA: version, clock, and one instant on the wall clock and on that clock. */
START_TEST(the_wall_clock_is_an_instant_at_the_beginning)
{
	struct {
		uint32_t version, clock;
		uint64_t wall, perf;
	} clock = { 1, 1, UINT64_C(1700000000000000000), SAMPLE_START + 1000000005 };

	begin();
	perf_data_set_feature(&data, 29, &clock, sizeof(clock));
	finish("");
	/* seeds.md: the trace has the wall-clock time */
	EXPECT(1, records, " 1000000 \"wall clock\" wall_clock=2023-11-14 22:13:18.999999995 UTC",
	       "wall_ns=1699999998999999995 trace_ns=1000000");
	/* The same for readers of base ticks and base time. */
	EXPECT(1, records, "initialization 1000000000 base 0 at 1699999998998999995\n", "");
}
END_TEST

/* `ptrace2ftf clock-sync`: the TSC is perf's clock here. */
START_TEST(lines_of_clock_sync_know_the_wall_clock)
{
	char path[100], option[140];
	FILE *file;

	begin();
	save();
	convert("", "");
	EXPECT(0, records, "\"wall clock\"", "");
	EXPECT(1, records, "initialization 1000000000\n", "");
	snprintf(path, sizeof(path), "%s/sync", place);
	snprintf(option, sizeof(option), "--clock-sync=%s", path);
	file = fopen(path, "w");
	ck_assert_ptr_nonnull(file);
	fprintf(file, "tsc=%llu mono=5 real=1700000000000000000\n",
		(unsigned long long)SAMPLE_START + 1000000);
	fclose(file);
	convert("", option);
	EXPECT(1, records, "\"wall clock\" wall_clock=2023-11-14 22:13:19.999000000 UTC", "");
	EXPECT(1, records, "initialization 1000000000 base 0 at 1699999999998000000", "");
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("side_events");
	TCase *all = tcase_create("side_events");

	tcase_add_checked_fixture(all, NULL, clean);
	tcase_add_test(all, the_core_clock_is_a_counter_of_its_changes);
	tcase_add_test(all, the_core_clock_of_a_header_has_the_headers_time);
	tcase_add_test(all, the_core_clock_of_a_senseless_time_base_is_left_out);
	tcase_add_test(all, a_written_value_is_in_the_function_that_wrote_it);
	tcase_add_test(all, a_written_value_is_no_interrupt);
	tcase_add_loop_test(all, a_sleep_is_a_slice_of_the_cpu_with_its_hints, 0, 2);
	tcase_add_loop_test(all, a_sleep_without_a_place_leaves_the_next_interrupt_its_own, 0, 2);
	tcase_add_loop_test(all, a_deeper_sleep_ends_the_one_before_it, 0, 2);
	tcase_add_test(all, perf_reads_the_same_values);
	tcase_add_test(all, a_transaction_is_a_slice_beside_the_thread_that_says_how_it_ended);
	tcase_add_loop_test(all, an_interrupts_slice_and_mark_have_its_vector, 0, 2);
	tcase_add_loop_test(all, events_that_are_instructions_are_marked_where_they_are, 0, 2);
	tcase_add_test(all, a_page_faults_address_is_in_the_handlers_slice);
	tcase_add_loop_test(all, an_interrupt_has_no_data_of_an_event_before_it, 0, 2);
	tcase_add_loop_test(all, events_with_a_place_of_their_own_are_no_interrupts, 0, 2);
	tcase_add_test(all, a_thread_that_runs_exec_is_dead_and_the_leader_runs);
	tcase_add_loop_test(all, a_guest_is_a_slice_whose_flow_is_passed_over, 0, 2);
	tcase_add_loop_test(all, a_guest_is_one_until_the_next_pip, 0, 2);
	tcase_add_loop_test(all, a_recording_may_begin_in_a_guest, 0, 2);
	tcase_add_loop_test(all, without_kernel_code_a_guest_is_all_that_was_recorded, 0, 2);
	tcase_add_test(all, control_structures_distinguish_guests);
	tcase_add_loop_test(all, a_transaction_may_be_open_where_the_trace_begins, 0, 2);
	tcase_add_loop_test(all, a_transaction_may_be_aborted_where_the_trace_begins, 0, 2);
	tcase_add_loop_test(all, a_transaction_whose_end_is_lost_ends_there, 0, 2);
	tcase_add_loop_test(all, a_transaction_may_be_open_after_an_overflow, 0, 3);
	tcase_add_loop_test(all, a_transaction_may_begin_and_end_where_tracing_is_off, 0, 4);
	tcase_add_loop_test(all, a_sample_of_pebs_is_instants_with_its_registers, 0, 2);
	tcase_add_loop_test(all, without_a_counter_the_only_event_names_a_sample, 0, 2);
	tcase_add_loop_test(all, an_overflow_ends_a_sample_of_pebs, 0, 2);
	tcase_add_loop_test(all, times_that_cannot_be_are_no_times_and_counted, 0, 2);
	tcase_add_test(all, all_registers_of_a_sample_are_shown);
	tcase_add_test(all, perf_reads_the_same_registers);
	tcase_add_test(all, context_switches_are_scheduling_records_with_the_state_of_who_leaves);
	tcase_add_test(all, a_selected_time_begins_with_the_thread_that_is_on_the_cpu);
	tcase_add_test(all, switches_without_a_time_are_counted_and_not_shown);
	tcase_add_test(all, the_wall_clock_of_a_recording_without_calls_is_at_its_first_record);
	tcase_add_test(all, switches_have_no_place_beside_calls_without_times);
	tcase_add_test(all, times_are_made_up_from_a_time_that_can_be);
	tcase_add_test(all, events_with_a_time_that_cannot_be_are_counted_and_not_shown);
	tcase_add_test(all, perf_reads_the_same_events_and_transactions);
	tcase_add_loop_test(all, triggers_are_marks_of_the_cpu, 0, 2);
	tcase_add_test(all, a_packet_that_is_not_known_is_a_gap_up_to_the_next_psb);
	tcase_add_test(all, samples_of_other_events_are_instants_of_their_thread);
	tcase_add_test(all, totals_of_off_cpu_time_have_no_instant_and_are_counted);
	tcase_add_loop_test(all, a_pause_of_the_trace_is_a_slice_and_the_stack_begins_anew, 0, 2);
	tcase_add_test(all, without_a_sample_nothing_is_a_pause);
	tcase_add_test(all, counters_are_rates_of_stretches_of_time);
	tcase_add_test(all, samples_can_be_left_out);
	tcase_add_test(all, what_perf_lost_is_marked_where_it_was_lost);
	tcase_add_test(all, the_wall_clock_is_an_instant_at_the_beginning);
	tcase_add_test(all, lines_of_clock_sync_know_the_wall_clock);
	suite_add_tcase(suite, all);
	return unit_run(suite);
}
