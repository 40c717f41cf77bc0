/* SPDX-License-Identifier: MIT */
/*
 * What the trace tells beside branches, and the recording beside the trace: the
 * whole program, over recordings made from nothing, read back by ftfdump.
 * Meanings of packets: SDM volume 3, "Intel Processor Trace", packet
 * definitions.  The sample's clock: 1 ns a tick, so 25 bus clocks are 1000 MHz.
 */
#include <intel-pt.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/support/sample.h"
#include "tests/support/unit.h"

#define ROOM 100000

static struct perf_data data;
static struct pt_packets packets;
static char place[64];
static char records[ROOM], slices[ROOM], messages[ROOM];
static int status;

/* Tests of what libipt does not know are run with each. */
static const char *const engines[] = { "", "--engine=libipt" };

static void run(char *text, const char *format, ...)
{
	char command[1000];
	va_list list;
	FILE *out;
	size_t size;

	va_start(list, format);
	vsnprintf(command, sizeof(command), format, list);
	va_end(list);
	out = popen(command, "r");
	ck_assert_ptr_nonnull(out);
	size = fread(text, 1, ROOM - 1, out);
	text[size] = 0;
	status = pclose(out) >> 8;
}

/* The trace begins in main, at SAMPLE_START. */
static void begin(void)
{
	pt_packets_init(&packets);
	sample_begin(&data);
	pt_packets_psb(&packets, SAMPLE_START, 0);
	pt_packets_pge(&packets, SAMPLE_MAIN);
}

static void finish(const char *options)
{
	const char *build = getenv("top_builddir");

	build = build ? build : ".";
	strcpy(place, "/tmp/side_events.XXXXXX");
	ck_assert_ptr_nonnull(mkdtemp(place));
	run(records, "mkdir -p %s", place);
	snprintf(records, sizeof(records), "%s/perf.data", place);
	sample_add_trace(&data, &packets);
	perf_data_write(&data, records);
	snprintf(records, sizeof(records), "%s/sample", place);
	tiny_elf_write(&sample_elf, records);
	run(messages, "%s/ptrace2ftf %s --symfs=%s %s/perf.data -o %s/out.ftf 2>&1", build,
	    options, place, place, place);
	ck_assert_msg(status == 0 || status == 2, "%s", messages);
	run(records, "%s/ftfdump %s/out.ftf 2>&1", build, place);
	ck_assert_msg(status == 0, "%s", records);
	run(slices, "%s/ftfdump --slices %s/out.ftf 2>&1", build, place);
	ck_assert_msg(status == 0, "%s", slices);
	perf_data_release(&data);
	pt_packets_release(&packets);
}

static void clean(void)
{
	char none[ROOM];

	if (place[0])
		run(none, "rm -rf %s", place);
}

/* Returns how many lines of a text have both. */
static unsigned count(const char *text, const char *first, const char *second)
{
	unsigned found = 0;

	for (const char *at = text; (at = strstr(at, first)); at += strcspn(at, "\n")) {
		const char *line_end = at + strcspn(at, "\n"), *other = strstr(at, second);

		found += other && other < line_end;
	}
	return found;
}

#define EXPECT(number, text, first, second) \
	ck_assert_msg(count(text, first, second) == (number), "%s", text)

static void add_ratio(uint8_t ratio)
{
	struct pt_packet packet = { .type = ppt_cbr };

	packet.payload.cbr.ratio = ratio;
	pt_packets_add(&packets, &packet);
}

static void add_ptwrite(uint64_t value, uint64_t ip)
{
	struct pt_packet packet = { .type = ppt_ptw };

	packet.payload.ptw.payload = value;
	packet.payload.ptw.plc = 1;
	packet.payload.ptw.ip = ip != 0;
	pt_packets_add(&packets, &packet);
	if (ip)
		pt_packets_fup(&packets, ip);
}

static void add_transaction(bool in, bool aborted, uint64_t ip)
{
	struct pt_packet packet = { .type = ppt_mode };

	packet.payload.mode.leaf = pt_mol_tsx;
	packet.payload.mode.bits.tsx.intx = in;
	packet.payload.mode.bits.tsx.abrt = aborted;
	pt_packets_add(&packets, &packet);
	pt_packets_fup(&packets, ip);
}

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
	EXPECT(3, records, " counter ", "\"CPU 0 frequency (MHz)\" id 0 value=");
	EXPECT(1, records, " 1000000 \"CPU 0 frequency (MHz)\"", "value=1000\n");
	EXPECT(1, records, " 1000100 \"CPU 0 frequency (MHz)\"", "value=1680\n");
	EXPECT(1, records, " 1000300 \"CPU 0 frequency (MHz)\"", "value=400\n");
}
END_TEST

/* A header's packets come in any order: its time is that of all. */
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
	EXPECT(1, records, " 1000000 \"CPU 0 frequency (MHz)\"", "value=1680\n");
	EXPECT(1, records, " counter ", "");
}
END_TEST

START_TEST(a_written_value_stands_in_the_function_that_wrote_it)
{
	begin();
	pt_packets_tsc(&packets, SAMPLE_START + 100);
	/* main calls work, and work calls leaf: neither has a packet. */
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

START_TEST(a_sleep_is_a_slice_of_the_cpu_with_what_it_was_told)
{
	struct pt_packet wait = { .type = ppt_mwait }, sleep = { .type = ppt_pwre },
			 stop = { .type = ppt_exstop }, wake = { .type = ppt_pwrx };

	begin();
	pt_packets_tsc(&packets, SAMPLE_START + 100);
	wait.payload.mwait.hints = 0x20;
	wait.payload.mwait.ext = 1;
	pt_packets_add(&packets, &wait);
	sleep.payload.pwre.state = 2;
	sleep.payload.pwre.sub_state = 1;
	pt_packets_add(&packets, &sleep);
	stop.payload.exstop.ip = 1;
	pt_packets_add(&packets, &stop);
	pt_packets_fup(&packets, SAMPLE_LEAF);
	pt_packets_tsc(&packets, SAMPLE_START + 5000);
	wake.payload.pwrx.last = 2;
	wake.payload.pwrx.deepest = 3;
	wake.payload.pwrx.interrupt = 1;
	pt_packets_add(&packets, &wake);
	pt_packets_fup(&packets, SAMPLE_LEAF);
	pt_packets_pgd(&packets, 0);
	finish("");
	EXPECT(1, slices, "10000000/10000001 0 1000100 1005000 C-state 2 ",
	       "cstate=2 sub_cstate=1 hints=0x20 extensions=0x1 last_cstate=2 deepest_cstate=3 "
	       "wake=interrupt");
	/* One FUP is of both packets, and the next is an interrupt's. */
	EXPECT(1, slices, "[untraced]", "");
	EXPECT(1, slices, "10000000/10000001 1 1000100 1000100 exstop", "address=0x401040");
}
END_TEST

/* perf of Debian 12 reads the same file: it is another decoder's word for the values. */
START_TEST(perf_reads_the_same_values)
{
	static char perf[ROOM];
	struct pt_packet wait = { .type = ppt_mwait }, sleep = { .type = ppt_pwre },
			 stop = { .type = ppt_exstop }, wake = { .type = ppt_pwrx };

	if (system("perf version >/dev/null 2>&1") != 0)
		return;
	begin();
	data.events[0].attr.config = 0x3431 | 0x1000; /* with pwr_evt, fup_on_ptw, ptw */
	pt_packets_tsc(&packets, SAMPLE_START + 100);
	add_ratio(42);
	add_ptwrite(0x123456789, SAMPLE_LEAF);
	pt_packets_tnt(&packets, "t");
	wait.payload.mwait.hints = 0x20;
	wait.payload.mwait.ext = 1;
	pt_packets_add(&packets, &wait);
	sleep.payload.pwre.state = 2;
	sleep.payload.pwre.sub_state = 1;
	pt_packets_add(&packets, &sleep);
	stop.payload.exstop.ip = 1;
	pt_packets_add(&packets, &stop);
	pt_packets_fup(&packets, SAMPLE_WORK + 5);
	pt_packets_fup(&packets, SAMPLE_WORK + 5);
	pt_packets_pgd(&packets, 0);
	pt_packets_tsc(&packets, SAMPLE_START + 900);
	wake.payload.pwrx.last = 2;
	wake.payload.pwrx.deepest = 3;
	wake.payload.pwrx.interrupt = 1;
	pt_packets_add(&packets, &wake);
	pt_packets_pge(&packets, SAMPLE_MAIN);
	pt_packets_tsc(&packets, SAMPLE_START + 1000);
	pt_packets_pgd(&packets, 0);
	finish("");
	run(perf, "perf script -i %s/perf.data --symfs %s --itrace=wp --ns -F time,event,ip,synth 2>&1",
	    place, place);
	EXPECT(1, perf, "cbr:", "cbr: 42 freq: 1680 MHz");
	EXPECT(1, records, "frequency (MHz)", "value=1680");
	EXPECT(1, perf, "ptwrite:", "payload: 0x123456789");
	EXPECT(1, slices, "ptwrite", "value=0x123456789");
	EXPECT(1, perf, "mwait:", "hints: 0x20 extensions: 0x1");
	EXPECT(1, perf, "pwre:", "hw: 0 cstate: 2 sub-cstate: 1");
	EXPECT(1, perf, "pwrx:", "deepest cstate: 3 last cstate: 2 wake reason: 0x1");
	EXPECT(1, slices, "C-state 2", "cstate=2 sub_cstate=1 hints=0x20 extensions=0x1 "
	       "last_cstate=2 deepest_cstate=3 wake=interrupt");
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

static void stamp(uint64_t time, int32_t tid, int32_t cpu)
{
	perf_data_stamp(&data, (struct perf_data_stamp){ .time = time, .pid = tid, .tid = tid,
							 .cpu = cpu });
}

/* The stamp's thread leaves and `tid` comes (linux/perf_event.h, PERF_RECORD_SWITCH_CPU_WIDE). */
static void add_switch(uint64_t time, int32_t from, int32_t to, bool preempted)
{
	uint32_t next[2] = { (uint32_t)to, (uint32_t)to };

	stamp(time, from, 0);
	perf_data_add_record(&data, PERF_RECORD_SWITCH_CPU_WIDE,
			     PERF_RECORD_MISC_SWITCH_OUT |
				     (preempted ? PERF_RECORD_MISC_SWITCH_OUT_PREEMPT : 0),
			     next, sizeof(next));
}

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
	EXPECT(1, records, " cpu 0 100 from 0 state 3 to 1234 outgoing_weight=-2147483648", "");
	EXPECT(1, records, " cpu 0 2000 from 1234 state 1 to 77\n", "");
	EXPECT(1, records, " cpu 0 3000 from 77 state 3 to 0 incoming_weight=-2147483648", "");
	EXPECT(1, records, " cpu 0 4000 from 0 state 3 to 1234 outgoing_weight=-2147483648", "");
	EXPECT(1, records, " cpu 0 5000 from 1234 state 5 to 0 incoming_weight=-2147483648", "");
	/* By this Perfetto knows the process of a thread. */
	EXPECT(1, records, "kernel-object type 2 id 77 \":77\"", "process=77");
}
END_TEST

/* CFE: 02, 13 with the IP bit, type, vector.  EVD: 02, 53, type, 8 bytes. */
static void add_control(uint8_t type, uint8_t vector, bool has_ip)
{
	const uint8_t bytes[] = { 0x02, has_ip ? 0x93 : 0x13, type, vector };

	pt_packets_raw(&packets, bytes, sizeof(bytes));
}

static void add_data(uint8_t type, uint64_t value)
{
	uint8_t bytes[11] = { 0x02, 0x53, type };

	memcpy(bytes + 3, &value, sizeof(value));
	pt_packets_raw(&packets, bytes, sizeof(bytes));
}

START_TEST(an_interrupts_slice_and_mark_tell_its_vector)
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
	EXPECT(1, slices, _i ? " 1000166 1000200 [untraced] " : " 1000100 1000200 [untraced] ",
	       "vector=14");
	EXPECT(1, slices, "leaf", "");
}
END_TEST

/* The interrupt flag changed: MODE.Exec with a FUP; CFE of a return, with one, too. */
START_TEST(events_with_a_place_of_their_own_are_no_interrupts)
{
	static const uint8_t mode[] = { 0x99, 0x05 };

	begin();
	pt_packets_raw(&packets, mode, sizeof(mode));
	pt_packets_fup(&packets, SAMPLE_WORK);
	add_control(2, 0, true);
	pt_packets_fup(&packets, SAMPLE_LEAF);
	/* An indirect branch's TIP, of leaf's return. */
	pt_packets_tip(&packets, SAMPLE_WORK + 5);
	pt_packets_tnt(&packets, "n");
	pt_packets_tip(&packets, SAMPLE_MAIN + 5);
	finish(engines[_i]);
	EXPECT(1, slices, " iret address=0x401040", "");
	EXPECT(0, slices, "[", "");
	EXPECT(1, slices, "leaf", "");
}
END_TEST

static void add_paging(uint64_t cr3, bool guest)
{
	struct pt_packet packet = { .type = ppt_pip };

	packet.payload.pip.cr3 = cr3;
	packet.payload.pip.nr = guest;
	pt_packets_add(&packets, &packet);
}

/*
 * PIP's NR bit: a guest runs from the TIP behind it to that of the PIP without
 * it (SDM volume 3, "PIP").  The sample's far transfer stands for a VM entry.
 */
START_TEST(a_guest_is_a_slice_whose_flow_is_passed_over)
{
	struct pt_packet vmcs = { .type = ppt_vmcs };

	pt_packets_init(&packets);
	sample_begin(&data);
	pt_packets_psb(&packets, SAMPLE_START, 0);
	vmcs.payload.vmcs.base = 0x123000;
	pt_packets_add(&packets, &vmcs);
	pt_packets_pge(&packets, SAMPLE_SYSCALL);
	pt_packets_tsc(&packets, SAMPLE_START + 100);
	add_paging(0x7000, true);
	pt_packets_tip(&packets, SAMPLE_LEAF); /* of the guest, whatever is there in the host */
	pt_packets_tnt(&packets, "nnn");
	pt_packets_tip(&packets, 0x999000);
	pt_packets_psb(&packets, SAMPLE_START + 150, 0x999000);
	add_paging(0x8000, true);
	pt_packets_tip(&packets, 0x888000);
	pt_packets_tsc(&packets, SAMPLE_START + 200);
	pt_packets_fup(&packets, 0x888004);
	add_paging(0x1000, false);
	pt_packets_tip(&packets, SAMPLE_WORK + 7);
	pt_packets_tip(&packets, SAMPLE_MAIN + 5);
	pt_packets_tsc(&packets, SAMPLE_START + 300);
	finish(engines[_i]);
	EXPECT(1, slices, " 1000100 1000200 [guest] vmcs=0x123000 cr3=0x7000", "");
	/* libipt does not tell where the trace's last return went. */
	EXPECT(1, slices, _i ? "1234/1234 1 1000100 1000200 [guest]"
			     : "1234/1234 2 1000100 1000200 [guest]", "");
	EXPECT(0, slices, "[lost", "");
	EXPECT(0, slices, "leaf", "");
}
END_TEST

/* A block of PEBS: BBP, BIPs whose bytes could be TNTs, BEP. */
START_TEST(records_of_pebs_in_the_trace_are_passed_over)
{
	static const uint8_t block[] = { 0x02, 0x63, 0x01, 0x04, 1, 2, 3, 4, 5, 6, 7, 8,
					 0x0c, 9, 9, 9, 9, 9, 9, 9, 9, 0x02, 0x33 };

	begin();
	pt_packets_raw(&packets, block, sizeof(block));
	pt_packets_tnt(&packets, "tnt");
	pt_packets_tsc(&packets, SAMPLE_START + 300);
	finish(engines[_i]);
	EXPECT(0, slices, "[", "");
	EXPECT(0, messages, "warning", "");
	EXPECT(1, slices, "leaf", "");
}
END_TEST

/* A sample of an event besides Intel PT, with the fields that linux/perf_event.h gives it. */
static void add_sample(uint64_t time, int32_t tid, uint64_t ip)
{
	const uint64_t words[] = { 1100, ip, (uint64_t)(uint32_t)tid << 32 | (uint32_t)tid, time,
				   0xdada, 0, 4000 };

	perf_data_add_user_record(&data, PERF_RECORD_SAMPLE, words, sizeof(words));
}

static void begin_with_cycles(void)
{
	struct perf_data_event cycles = {
		.attr = {
			.sample_type = PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP | PERF_SAMPLE_TID |
				       PERF_SAMPLE_TIME | PERF_SAMPLE_ADDR | PERF_SAMPLE_CPU |
				       PERF_SAMPLE_PERIOD,
			.sample_id_all = 1,
		},
		.name = "cycles:u",
		.first_id = 1100,
		.attr_bytes = sizeof(struct perf_event_attr),
	};

	begin();
	perf_data_add_event(&data, &cycles);
	add_sample(1000042, SAMPLE_PID, SAMPLE_WORK + 3);
	add_sample(1000043, 0, 0);
}

START_TEST(samples_of_other_events_are_instants_of_their_thread)
{
	begin_with_cycles();
	finish("");
	EXPECT(1, records, "instant 1234/1234 1000042 \"cycles:u\" category \"sample\" ",
	       "period=4000 address=0x401023 function=work data_address=0xdada cpu=0");
	/* The idle thread's are of the CPU. */
	EXPECT(1, records, "instant 10000000/10000001 1000043 \"cycles:u\"", "");
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
	EXPECT(1, records, "instant 10000000/10000001 1000007 \"[lost records]\"", "count=17");
	EXPECT(1, records, "instant 10000000/10000001 1000007 \"[lost samples]\"", "count=5");
	EXPECT(1, messages, "perf lost 17 records", "");
	EXPECT(1, messages, "perf lost 5 samples", "");
}
END_TEST

/* CLOCK_DATA: version, clock, and the same instant on the wall and on that clock. */
START_TEST(the_clock_on_the_wall_is_told_at_the_beginning)
{
	struct {
		uint32_t version, clock;
		uint64_t wall, perf;
	} clock = { 1, 1, UINT64_C(1700000000000000000), SAMPLE_START + 1000000005 };

	begin();
	perf_data_set_feature(&data, 29, &clock, sizeof(clock));
	finish("");
	EXPECT(1, records, " 1000000 \"wall clock\" wall_clock=2023-11-14 22:13:18.999999995 UTC",
	       "wall_ns=1699999998999999995 trace_ns=1000000");
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("side_events");
	TCase *all = tcase_create("side_events");

	tcase_add_checked_fixture(all, NULL, clean);
	tcase_add_test(all, the_core_clock_is_a_counter_of_its_changes);
	tcase_add_test(all, the_core_clock_of_a_header_has_the_headers_time);
	tcase_add_test(all, a_written_value_stands_in_the_function_that_wrote_it);
	tcase_add_test(all, a_written_value_is_no_interrupt);
	tcase_add_test(all, a_sleep_is_a_slice_of_the_cpu_with_what_it_was_told);
	tcase_add_test(all, perf_reads_the_same_values);
	tcase_add_test(all, a_transaction_is_a_slice_beside_the_thread_that_says_how_it_ended);
	tcase_add_loop_test(all, an_interrupts_slice_and_mark_tell_its_vector, 0, 2);
	tcase_add_loop_test(all, events_with_a_place_of_their_own_are_no_interrupts, 0, 2);
	tcase_add_loop_test(all, a_guest_is_a_slice_whose_flow_is_passed_over, 0, 2);
	tcase_add_loop_test(all, records_of_pebs_in_the_trace_are_passed_over, 0, 2);
	tcase_add_test(all, context_switches_are_scheduling_records_with_the_state_of_who_leaves);
	tcase_add_test(all, samples_of_other_events_are_instants_of_their_thread);
	tcase_add_test(all, samples_can_be_left_out);
	tcase_add_test(all, what_perf_lost_is_marked_where_it_was_lost);
	tcase_add_test(all, the_clock_on_the_wall_is_told_at_the_beginning);
	suite_add_tcase(suite, all);
	return unit_run(suite);
}
