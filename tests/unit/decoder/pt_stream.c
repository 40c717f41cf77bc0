/* SPDX-License-Identifier: MIT */
/*
 * The engine on the sample program (tests/support/sample.h) with each test's packets.  Expected
 * branches follow from the program's code and from the packets' definitions (SDM volume 3, "Intel
 * Processor Trace").
 */
#include "tests/unit/decoder/stream_run.h"

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

static uint64_t counted_events, counted_bytes;

/* The bytes up to the last event were decoded; each TNT has three. */
static void look_at_bytes(struct pt_stream *stream)
{
	uint64_t bytes = pt_stream_stats(stream)->bytes_decoded;

	ck_assert_uint_ge(bytes, counted_bytes);
	ck_assert_uint_le(bytes, pt_stream_stats(stream)->bytes_total);
	if (counted_events)
		ck_assert_uint_ge(bytes, (counted_events - 1) / 3);
	counted_bytes = bytes;
	counted_events++;
}

/* For the progress: there are more events than are decoded at a time. */
START_TEST(bytes_are_counted_while_they_are_decoded)
{
	enum { ROUNDS = 400 };

	begin(PT_ENGINE_FAST);
	counted_events = counted_bytes = 0;
	run.before_event = look_at_bytes;
	pt_packets_psb(&run.packets, SAMPLE_START, 0);
	pt_packets_pge(&run.packets, SAMPLE_WORK);
	for (int i = 0; i < ROUNDS; i++)
		pt_packets_tnt(&run.packets, "tt"); /* leaf returns, work starts again */
	pt_packets_fup(&run.packets, SAMPLE_WORK);
	pt_packets_pgd(&run.packets, 0);
	finish();
	ck_assert_uint_eq(run.count, 3 * ROUNDS + 2);
	ck_assert_uint_eq(counted_events, run.count + 1);
	expect_all_bytes_counted();
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

START_TEST(streams_in_groups_come_as_they_do_at_once)
{
	begin(_i);
	sample_trace(&run.packets);
	run.many = true;
	finish();
	ck_assert_uint_gt(run.count, 22 * 1000);
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
		/* The packet before the overflow has decided a branch. */
		expect(i - 1, BRANCH_RETURN, SAMPLE_LEAF, SAMPLE_WORK + 5);
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

static void begin_with_leaf(bool calls_only, const uint8_t *leaf, size_t size)
{
	begin(PT_ENGINE_FAST);
	run.skip = calls_only;
	run.padded = true;
	memcpy(run.program_bytes + TINY_ELF_CODE_OFFSET + (SAMPLE_LEAF - SAMPLE_CODE), leaf, size);
	pt_packets_psb(&run.packets, SAMPLE_START, 0);
	pt_packets_pge(&run.packets, SAMPLE_MAIN);
}

static void begin_in_leaf(bool calls_only)
{
	static const uint8_t leaf[] = { 0xff, 0xd0, 0x75, 0xfe, 0xc3 }; /* call *%rax; jne .; ret */

	begin_with_leaf(calls_only, leaf, sizeof(leaf));
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

/* It jumped into work(), so nothing is known of what that returns to. */
START_TEST(a_jump_out_of_missing_code_leaves_no_callers)
{
	begin_in_leaf(false);
	pt_packets_tip(&run.packets, 0x900000);
	pt_packets_tip(&run.packets, SAMPLE_WORK + 7); /* its return */
	pt_packets_tnt(&run.packets, "t");
	pt_packets_tip(&run.packets, SAMPLE_LEAF);
	finish();
	expect(4, BRANCH_GAP, 0x900000, 0);
	expect(5, BRANCH_NONE, 0, SAMPLE_WORK + 7);
	expect(6, BRANCH_GAP, 0, 0);
	ck_assert_uint_eq(run.events[6].gap, GAP_NO_CODE);
	expect(7, BRANCH_NONE, 0, SAMPLE_LEAF);
}
END_TEST

/* work() three times round, called by main or by code without bytes. */
static void follow_work(void)
{
	static const char *const decisions[] = { "t", "tt", "tt", "tt", "nt" };

	for (size_t i = 0; i < sizeof(decisions) / sizeof(decisions[0]); i++)
		pt_packets_tnt(&run.packets, decisions[i]);
}

/* The same decisions led to a return to main before. */
START_TEST(a_function_that_missing_code_called_does_not_return_to_known_code)
{
	/* call work; call *%rax; jne main */
	static const uint8_t code[] = { 0xe8, 0x1b, 0, 0, 0, 0xff, 0xd0, 0x75, 0xf7 };
	static const uint8_t padding[256];

	begin(PT_ENGINE_FAST);
	run.skip = true;
	write_program(code, sizeof(code));
	pt_packets_psb(&run.packets, SAMPLE_START, 0);
	pt_packets_pge(&run.packets, SAMPLE_MAIN);
	for (int i = 0; i < 40; i++) {
		follow_work();
		pt_packets_tip(&run.packets, SAMPLE_LEAF);
		pt_packets_tnt(&run.packets, "tt");
	}
	follow_work();
	pt_packets_tip(&run.packets, 0x900000);
	pt_packets_tip(&run.packets, SAMPLE_WORK);
	follow_work();
	pt_packets_raw(&run.packets, padding, sizeof(padding)); /* runs end before the last bytes */
	finish();
	expect_gap_at(0);
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

/* The missing code can have branches to any address, but a stub jumps to one function only. */
START_TEST(a_stub_explains_a_packet_only_if_it_led_there_before)
{
	/* jne 1; jmp *pointer; 1: call *%rax; jmp *pointer */
	static const uint8_t leaf[] = { 0x75, 0x06, 0xff, 0x25, 0x08, 0x10, 0, 0,
					0xff, 0xd0, 0xff, 0x25, 0x00, 0x10, 0, 0 };

	begin_with_leaf(true, leaf, sizeof(leaf));
	pt_packets_tnt(&run.packets, "n");
	pt_packets_tip(&run.packets, 0x910000);
	pt_packets_tip(&run.packets, SAMPLE_WORK + 5);
	pt_packets_tnt(&run.packets, "tt");
	call_missing_code("", "t");
	pt_packets_tip(&run.packets, _i ? 0x910000 : 0x920000);
	finish();
	ck_assert_uint_eq(run.last.kind, _i ? BRANCH_JUMP : BRANCH_GAP);
}
END_TEST

/*
 * Stubs jump by a pointer to a function's entry, and few other branches of a caller do. So this
 * makes a return likely, but a jump by a register does not, nor does a caller without a later bit.
 */
START_TEST(a_pointer_that_leads_to_a_function_makes_a_return_likely)
{
	static const struct {
		uint8_t leaf[10];
		const char *bits;
		bool returns;
	} forms[] = {
		/* call *%rax; jne 1; 1: jmp *pointer */
		{ { 0xff, 0xd0, 0x75, 0x00, 0xff, 0x25, 0x08, 0x10, 0, 0 }, "tn", true },
		/* call *%rax; jne 1; 1: jmp *%rax */
		{ { 0xff, 0xd0, 0x75, 0x00, 0xff, 0xe0 }, "tn", false },
		/* call *%rax; jmp *pointer */
		{ { 0xff, 0xd0, 0xff, 0x25, 0x08, 0x10, 0, 0 }, "t", false },
	};
	bool returns = forms[_i].returns;

	begin_with_leaf(true, forms[_i].leaf, sizeof(forms[_i].leaf));
	call_missing_code("", forms[_i].bits);
	pt_packets_tip(&run.packets, SAMPLE_WORK);
	finish();
	expect(4, BRANCH_GAP, 0x900000, 0);
	expect(5, BRANCH_NONE, 0, returns ? SAMPLE_LEAF + 2 : SAMPLE_WORK);
	if (returns)
		expect(6, BRANCH_JUMP, SAMPLE_LEAF + 4, SAMPLE_WORK);
}
END_TEST

/*
 * leaf() calls code without bytes, and returns. Its own return proves the other's if it leads to
 * leaf()'s caller, and does not if it leads elsewhere. If a PSB forgot the caller, nothing is
 * known.
 */
START_TEST(a_return_to_its_caller_proves_the_return_before)
{
	static const struct {
		uint64_t to;
		bool forgets, proves;
	} forms[] = {
		{ SAMPLE_WORK + 5, false, true },
		{ SAMPLE_WORK + 7, false, false },
		{ SAMPLE_MAIN + 5, false, false },
		{ SAMPLE_WORK + 5, true, false },
	};
	static const uint8_t leaf[] = { 0xff, 0xd0, 0xc3 }; /* call *%rax; ret */
	size_t at = forms[_i].forgets ? 3 : 4;

	begin_with_leaf(false, leaf, sizeof(leaf));
	if (forms[_i].forgets)
		pt_packets_psb(&run.packets, SAMPLE_START + 10, SAMPLE_LEAF);
	call_missing_code("nn", "t");
	pt_packets_tip(&run.packets, forms[_i].to);
	pt_packets_fup(&run.packets, forms[_i].to);
	pt_packets_pgd(&run.packets, 0);
	finish();
	while (run.events[at].kind != BRANCH_GAP)
		at++;
	expect(at, BRANCH_GAP, 0x900000, 0);
	ck_assert_uint_eq(run.events[at].gap, GAP_NO_CODE);
	expect(at + 1, BRANCH_NONE, 0, forms[_i].proves ? SAMPLE_LEAF + 2 : forms[_i].to);
	at += forms[_i].proves;
	if (forms[_i].proves)
		expect(at + 1, BRANCH_RETURN, SAMPLE_LEAF + 2, forms[_i].to);
	expect(at + 2, BRANCH_NONE, forms[_i].to, 0);
	ck_assert_uint_eq(run.count, at + 3);
	ck_assert_uint_eq(run.stats.gaps[GAP_NO_CODE], 1);
	expect_all_bytes_counted();
}
END_TEST

/*
 * The same with an interrupt in the code without bytes, which goes back to it. Its decisions before
 * the interrupt are no return, and those after it are.
 */
START_TEST(an_interrupt_of_missing_code_does_not_hide_its_return)
{
	static const uint8_t leaf[] = { 0xff, 0xd0, 0xc3 }; /* call *%rax; ret */
	const bool at_once = _i / 2; /* a packet has all decisions after the interrupt */
	size_t at = 4;

	begin_with_leaf(false, leaf, sizeof(leaf));
	call_missing_code("nn", "n");
	for (int i = 0; i <= _i % 2; i++) {
		pt_packets_fup(&run.packets, 0x900010);
		pt_packets_pgd(&run.packets, 0);
		pt_packets_pge(&run.packets, 0x900010);
		add_decisions(at_once && i == _i % 2 ? "nt" : "n");
	}
	if (!at_once)
		add_decisions("t");
	pt_packets_tip(&run.packets, SAMPLE_WORK + 5);
	pt_packets_fup(&run.packets, SAMPLE_WORK + 5);
	pt_packets_pgd(&run.packets, 0);
	finish();
	while (run.events[at].from != SAMPLE_LEAF + 2) {
		ck_assert_uint_ne(run.events[at].kind, BRANCH_RETURN);
		ck_assert_uint_lt(++at, run.count);
	}
	expect(at - 1, BRANCH_NONE, 0, SAMPLE_LEAF + 2);
	expect(at, BRANCH_RETURN, SAMPLE_LEAF + 2, SAMPLE_WORK + 5);
	expect(at + 1, BRANCH_NONE, SAMPLE_WORK + 5, 0);
	ck_assert_uint_eq(run.count, at + 2);
	ck_assert_uint_eq(run.stats.gaps[GAP_MISMATCH], 0);
	expect_all_bytes_counted();
}
END_TEST

/*
 * Code without bytes, which leaf() calls directly, writes a value: its FUP is not an interrupt's.
 * So the end of tracing after it is a system call, which leaf() makes after the code's return.
 */
START_TEST(a_value_of_missing_code_does_not_hide_its_return)
{
	/* call 0x900000; jne 1; 1: syscall */
	static const uint8_t leaf[] = { 0xe8, 0xbb, 0xef, 0x4f, 0, 0x75, 0, 0x0f, 0x05 };

	begin_with_leaf(true, leaf, sizeof(leaf));
	pt_packets_raw(&run.packets, "\x02\x92\x04\x03\x02\x01", 6); /* PTW */
	pt_packets_fup(&run.packets, 0x900010);
	add_decisions("tn");
	pt_packets_pgd(&run.packets, 0);
	finish();
	expect(3, BRANCH_CALL, SAMPLE_LEAF, 0x900000);
	expect(4, BRANCH_GAP, 0x900000, 0);
	expect(5, BRANCH_NONE, 0, SAMPLE_LEAF + 5);
	expect(6, BRANCH_SYSCALL, SAMPLE_LEAF + 7, 0);
	ck_assert_uint_eq(run.count, 7);
}
END_TEST

/* The bits and leaf()'s own call explain a packet with any address of code without bytes. */
static void begin_in_leaf_that_calls_again(void)
{
	/* call *%rax; jne 1; 1: call *%rax */
	static const uint8_t leaf[] = { 0xff, 0xd0, 0x75, 0x00, 0xff, 0xd0 };

	begin_with_leaf(true, leaf, sizeof(leaf));
	call_missing_code("", "tn");
}

START_TEST(no_near_branch_leads_from_a_caller_of_missing_code_to_the_kernel)
{
	begin_in_leaf_that_calls_again();
	pt_packets_tip(&run.packets, _i ? 0x910000 : 0xffffffff81000000);
	finish();
	ck_assert_uint_eq(run.last.kind, _i ? BRANCH_CALL : BRANCH_GAP);
}
END_TEST

/*
 * A system call proves a return only after four returns that the bits explain. The code after the
 * call of code without bytes has `calls` calls of leaf(), and then a system call.
 */
static const struct {
	unsigned calls;
	bool off, calls_only, proves; /* off: tracing ends at the system call */
} believed[] = {
	{ 3, false, false, false }, { 4, false, false, true }, { 3, false, true, false },
	{ 4, false, true, true },   { 3, true, false, false }, { 4, true, false, true },
	{ 3, true, true, true },  /* likely: enough for call stacks */
	{ 0, true, true, false }, /* no bit shows that the caller ran */
};

START_TEST(a_system_call_proves_a_return_after_four_more_returns)
{
	uint8_t code[2 + 4 * 5 + 2] = { 0xff, 0xd0 }; /* call *%rax */
	uint8_t *at = code + 2;
	bool found = false;
	uint64_t from;

	begin(PT_ENGINE_FAST);
	run.skip = believed[_i].calls_only;
	run.padded = true;
	for (unsigned i = 0; i < believed[_i].calls; i++, at += 5) {
		int32_t distance = (int32_t)(SAMPLE_LEAF - SAMPLE_MAIN) - (int32_t)(at - code) - 5;

		*at = 0xe8;
		memcpy(at + 1, &distance, 4);
	}
	from = SAMPLE_MAIN + (uint64_t)(at - code);
	memcpy(at, "\x0f\x05", 2);
	write_program(code, sizeof(code));
	pt_packets_psb(&run.packets, SAMPLE_START, 0);
	pt_packets_pge(&run.packets, SAMPLE_MAIN);
	pt_packets_tip(&run.packets, 0x900000);
	add_decisions("nnt");
	for (unsigned i = 0; i < believed[_i].calls; i++)
		pt_packets_tnt(&run.packets, "t");
	if (believed[_i].off)
		pt_packets_pgd(&run.packets, 0);
	else
		pt_packets_tip(&run.packets, 0xffffffff81000000);
	finish();
	expect(1, BRANCH_CALL, SAMPLE_MAIN, 0x900000);
	expect(2, BRANCH_GAP, 0x900000, 0);
	for (size_t i = 3; i < run.count; i++)
		found |= run.events[i].kind == BRANCH_SYSCALL && run.events[i].from == from;
	ck_assert_int_eq(found, believed[_i].proves);
	ck_assert_uint_eq(run.stats.gaps[GAP_MISMATCH], 0);
}
END_TEST

#define FORTY_NOT_TAKEN "nnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnn"

/*
 * main calls code without bytes, which calls work(), which calls other code without bytes. All
 * three return by bits before one packet, so each gets its own bits, and leaves the rest to its
 * caller: the bits of the other code end with `inner`, of the first one with `outer`. The first one
 * had the bits `before` the call of work().
 */
static const struct {
	const char *inner, *outer, *before;
} nested[] = { { "t", "t", "" },
	       { "nt", "nt", "" },
	       { "nnnt", "t", "" },
	       { "t", "nnnnt", "" },
	       { "nnnnnnnnnt", "nnnnnnnt", "" },
	       { "t", FORTY_NOT_TAKEN "t", "" },
	       { "nt", FORTY_NOT_TAKEN FORTY_NOT_TAKEN "t", "" },
	       { FORTY_NOT_TAKEN "t", FORTY_NOT_TAKEN "nt", "" },
	       { "t", "t", "t" },
	       { "nt", "nt", "tnt" } };

START_TEST(code_without_bytes_returns_through_known_code_to_more_of_it)
{
	/* call *%rax; jne 1; 1: jmp *%rax; syscall */
	static const uint8_t code[] = { 0xff, 0xd0, 0x75, 0x00, 0xff, 0xe0, 0x0f, 0x05 };
	static const uint8_t work[] = { 0xff, 0xd0, 0xc3 }; /* call *%rax; ret */

	begin(PT_ENGINE_FAST);
	run.padded = true;
	write_program(code, sizeof(code));
	memcpy(run.program_bytes + TINY_ELF_CODE_OFFSET + (SAMPLE_WORK - SAMPLE_CODE), work,
	       sizeof(work));
	pt_packets_psb(&run.packets, SAMPLE_START, 0);
	pt_packets_pge(&run.packets, SAMPLE_MAIN);
	pt_packets_tip(&run.packets, 0x900000);
	add_decisions(nested[_i].before);
	pt_packets_tip(&run.packets, SAMPLE_WORK);
	pt_packets_tip(&run.packets, 0x910000);
	add_decisions(nested[_i].inner);
	pt_packets_tnt(&run.packets, "t");
	add_decisions(nested[_i].outer);
	pt_packets_tnt(&run.packets, "n");
	pt_packets_tip(&run.packets, SAMPLE_MAIN + 6);
	pt_packets_pgd(&run.packets, 0);
	finish();
	expect(1, BRANCH_CALL, SAMPLE_MAIN, 0x900000);
	expect(2, BRANCH_GAP, 0x900000, 0);
	expect(3, BRANCH_NONE, 0, SAMPLE_WORK);
	expect(4, BRANCH_CALL, SAMPLE_WORK, 0x910000);
	expect(5, BRANCH_GAP, 0x910000, 0);
	expect(6, BRANCH_NONE, 0, SAMPLE_WORK + 2);
	expect(run.count - 3, BRANCH_NONE, 0, SAMPLE_MAIN + 2);
	expect(run.count - 2, BRANCH_JUMP, SAMPLE_MAIN + 4, SAMPLE_MAIN + 6);
	expect(run.count - 1, BRANCH_SYSCALL, SAMPLE_MAIN + 6, 0);
	ck_assert_uint_eq(run.stats.gaps[GAP_MISMATCH], 0);
	expect_all_bytes_counted();
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
	pt_packets_tip(&run.packets, 0x910000);
	pt_packets_tip(&run.packets, SAMPLE_LEAF + 6); /* its return */
	if (_i == PSB)
		pt_packets_psb(&run.packets, SAMPLE_START + 100, SAMPLE_LEAF);
	if (_i == OVERFLOW) {
		pt_packets_ovf(&run.packets);
		pt_packets_fup(&run.packets, SAMPLE_LEAF);
	}
	pt_packets_add(&run.packets, &end_alone);
	finish();
	ck_assert_uint_eq(run.stats.gaps[GAP_NO_CODE], _i == NOTHING ? 3 : 2);
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

int main(void)
{
	Suite *suite = suite_create("pt_stream");
	TCase *all = tcase_create("pt_stream");

	tcase_add_loop_test(all, a_whole_program_gives_its_branches_in_order, 0, 2);
	tcase_add_test(all, bytes_are_counted_while_they_are_decoded);
	tcase_add_loop_test(all, opening_all_streams_decodes_nothing, 0, 2);
	tcase_add_loop_test(all, streams_in_groups_come_as_they_do_at_once, 0, 2);
	tcase_add_loop_test(all, a_branch_has_the_time_of_its_packet, 0, 2);
	tcase_add_loop_test(all, the_missing_top_byte_of_a_tsc_comes_from_the_reference, 0, 2);
	tcase_add_loop_test(all, an_interrupt_ends_the_trace_after_the_call_it_follows, 0, 2);
	tcase_add_loop_test(all, an_overflow_is_a_gap_and_tracing_goes_on_where_it_ends, 0, 2);
	tcase_add_loop_test(all, missing_code_costs_the_trace_up_to_the_next_place_only, 0, 2);
	tcase_add_test(all, a_return_to_missing_code_is_a_gap_for_lack_of_code);
	tcase_add_test(all, a_return_out_of_missing_code_is_where_its_caller_explains_the_packets);
	tcase_add_test(all, a_jump_out_of_missing_code_leaves_no_callers);
	tcase_add_test(all, a_function_that_missing_code_called_does_not_return_to_known_code);
	tcase_add_loop_test(all, a_return_that_may_be_at_several_bits_is_no_branch_of_the_trace, 0,
			    2);
	tcase_add_loop_test(all, a_return_to_its_caller_proves_the_return_before, 0, 4);
	tcase_add_loop_test(all, an_interrupt_of_missing_code_does_not_hide_its_return, 0, 4);
	tcase_add_test(all, a_value_of_missing_code_does_not_hide_its_return);
	tcase_add_loop_test(all, a_stub_explains_a_packet_only_if_it_led_there_before, 0, 2);
	tcase_add_loop_test(all, a_pointer_that_leads_to_a_function_makes_a_return_likely, 0, 3);
	tcase_add_loop_test(all, no_near_branch_leads_from_a_caller_of_missing_code_to_the_kernel,
			    0, 2);
	tcase_add_loop_test(all, a_system_call_proves_a_return_after_four_more_returns, 0,
			    COUNT_OF(believed));
	tcase_add_loop_test(all, code_without_bytes_returns_through_known_code_to_more_of_it, 0,
			    COUNT_OF(nested));
	tcase_add_loop_test(all, a_packet_that_contradicts_a_guessed_return_shows_missing_code, 0,
			    3);
	tcase_add_loop_test(all, an_interrupt_before_any_missing_code_ran_is_no_gap, 0, 2);
	tcase_add_test(all, an_end_of_tracing_without_its_begin_is_damage);
	tcase_add_loop_test(all, a_place_beyond_4_gib_has_64_bit_code, 0, 2);
	tcase_add_loop_test(all, int_80_is_marked, 0, 2);
	tcase_add_loop_test(all, decisions_may_precede_the_targets_between_them, 0, 2);
	tcase_add_loop_test(all, decisions_that_wait_for_no_target_are_damage, 0, 4);
	tcase_add_loop_test(all, a_flow_that_turns_in_a_circle_is_a_gap, 0, 2);
	tcase_add_loop_test(all, packets_that_fit_no_code_are_a_gap_and_no_crash, 0, 2);
	tcase_add_loop_test(all, no_way_leads_out_of_a_mapping, 0, 2);
	suite_add_tcase(suite, all);
	return unit_run(suite);
}
