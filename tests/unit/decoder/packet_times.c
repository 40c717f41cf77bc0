/* SPDX-License-Identifier: MIT */
/*
 * Times and instruction counts of events, lost packets, and pieces of trace. An event has the time
 * of the packet that decided it; a direct branch needs no packet, and has the time of the packet
 * that led to the code before it (packet_text.h has the text).
 */
#include "tests/unit/decoder/packet_text.h"

/* The kernel is traced, too. */
#define ALL 1
/* libipt does not follow these packets. */
#define FAST 2
/* The code is that of `deferring`. */
#define DEFERRING 4

static const uint8_t deferring[] = {
	0x75,          0x01, 0x90, 0xff, 0xe0,                   /* M: jne M+3; nop; jmp *%rax */
	[0x20] = 0x75, 0x01, 0x90, 0xff, 0xd0,                   /* W: the same; call *%rax */
	[0x40] = 0x75, 0x01, 0x90, 0x75, 0x01, 0x90, 0x0f, 0x05, /* L: twice; syscall */
};

static const struct row {
	int code;
	const char *packets, *events; /* packets in brackets are lost */
} rows[] = {
	{ 0, "psb pge:W tnt:tn pgd", "on:W@1 call:W>L@1#1 return:L>W+5@2#1 return:W+7>0@3#2" },
	{ 0, "psb pge:M tnt:tttn tip:M+5 pgd",
	  "on:M@1 call:M>W@1#1 call:W>L@1#1 return:L>W+5@2#1 cond:W+5>W@2#1 call:W>L@2#1 "
	  "return:L>W+5@2#1 return:W+7>M+5@3#2 call:M+5>W@3#1 call:W>L@3#1 return:L>0@4#1" },
	/* Interrupts: the time is the target's. */
	{ ALL, "psb pge:W fup:W tip:F tip:W tnt:tn pgd",
	  "on:W@1 interrupt!:W>F@3 iret:F+1>W@4#2 call:W>L@4#1 return:L>W+5@5#1 "
	  "return:W+7>0@6#2" },
	{ ALL, "psb pge:W tnt:t fup:W+5 tip:F tip:W+5 tnt:n fup:W+7 pgd",
	  "on:W@1 call:W>L@1#1 return:L>W+5@2#1 interrupt!:W+5>F@4 iret:F+1>W+5@5#2 "
	  "off!:W+7@8#1" },
	/* On the way to a FUP, direct branches have an earlier time; after it, its time. */
	{ 0, "psb pge:W fup:L pgd", "on:W@1 call:W>L@1#1 off!:L@3" },
	{ 0, "psb pge:M begin fup:W tnt:t pgd",
	  "on:M@1 call:M>W@1#1 call~:W>L@3#1 return~:L>W+5@4#1 cond~:W+5>0@5#1" },
	{ 0, "psb pge:W begin fup:W tnt:t abort fup:W+5 tip:L pgd",
	  "on:W@1 call~:W>L@3#1 return~:L>W+5@4#1 abort!:W+5>L@7 return:L>0@8#1" },
	/* The kernel is entered and left. */
	{ ALL, "psb pge:M+10 tip:K tnt:t tip:M pgd",
	  "on:M+10@1 syscall:M+10>K@2#1 call:K>S@2#1 return:S>K+5@3#1 sysret:K+5>M@4#1 "
	  "call:M>W@4#1 call:W>L@4#1 return:L>0@5#1" },
	/* A filter can end the trace at a direct branch, whose target the packet has. */
	{ FAST, "psb pge:M pgd:W pge:L pgd", "on:M@1 call:M>W@2#1 on:L@3 return:L>0@4#1" },
	{ FAST, "psb pge:M pgd:L pge:L pgd",
	  "on:M@1 call:M>W@1#1 call:W>L@2#1 on:L@3 return:L>0@4#1" },
	/* A header in the middle confirms where the code is. */
	{ FAST, "psb pge:M psb:W tnt:tn tip:M+5 pgd",
	  "on:M@1 call:M>W@1#1 call:W>L@2#1 return:L>W+5@3#1 return:W+7>M+5@4#2 call:M+5>W@4#1 "
	  "call:W>L@4#1 return:L>0@5#1" },
	/* Bits before the targets of indirect branches between them. */
	{ DEFERRING, "psb pge:M tnt:tttt tip:W tip:L pgd",
	  "on:M@1 cond:M>M+3@2#1 jump:M+3>W@3#1 cond:W>W+3@3#1 call:W+3>L@4#1 cond:L>L+3@4#1 "
	  "cond:L+3>L+6@4#1 syscall:L+6>0@5#1" },
	{ DEFERRING, "psb pge:M tnt:nnnt tip:W tip:L pgd",
	  "on:M@1 jump:M+3>W@3#3 call:W+3>L@4#3 cond:L+3>L+6@4#3 syscall:L+6>0@5#1" },
	{ DEFERRING, "psb pge:M+3 tnt:t tip:W tip:L tnt:nn pgd",
	  "on:M+3@1 jump:M+3>W@3#1 cond:W>W+3@3#1 call:W+3>L@4#1 syscall:L+6>0@6#5" },
	/* Packets of traced code while tracing is off are lost, up to the next begin. */
	{ FAST, "psb [tip:W] pge:L pgd", "mismatch@1 on:L@2 return:L>0@3#1" },
	{ FAST, "psb [tnt:t tnt:t] pge:L pgd", "mismatch@1 on:L@3 return:L>0@4#1" },
	{ FAST, "psb pgd pge:L pgd", "mismatch@1 on:L@2 return:L>0@3#1" },
	/* Packets that do not fit the code are lost up to an address. */
	{ FAST, "psb pge:L [tnt:t tnt:t] pge:L pgd", "on:L@1 mismatch:L@2 on:L@4 return:L>0@5#1" },
	{ FAST, "psb pge:W fup:W+1 pgd", "on:W@1 call:W>L@1#1 mismatch:L@2 on:W+1@2 off!:W+1@3" },
	{ FAST, "psb pge:W fup:W fup:L pgd", "on:W@1 mismatch:W@3 on:L@3 off!:L@4" },
	{ FAST, "psb pge:L [tip tnt:t] tip:L pgd", "on:L@1 mismatch:L@2 on:L@4 return:L>0@5#1" },
	{ DEFERRING | FAST, "psb pge:M tnt:tt pgd pge:W tnt:t pgd",
	  "on:M@1 cond:M>M+3@2#1 mismatch:M+3@3 on:W@4 cond:W>W+3@5#1 call:W+3>0@6#1" },
	{ DEFERRING | FAST, "psb pge:M tnt:tt fup:W tnt:t pgd",
	  "on:M@1 cond:M>M+3@2#1 mismatch:M+3@3 on:W@3 cond:W>W+3@4#1 call:W+3>0@5#1" },
	/* Code without bytes: its packets are lost. */
	{ FAST, "psb pge:L tip:X [tnt:tnt] fup:W pgd",
	  "on:L@1 return:L>X@2#1 missing:X@3 on:W@4 off!:W@5" },
	{ FAST, "psb pge:L tip:X [pgd] pge:L pgd",
	  "on:L@1 return:L>X@2#1 missing:X@3 on:L@4 return:L>0@5#1" },
	/* An overflow is no loss of packets in the trace; bytes of no packet are, up to a PSB. */
	{ FAST, "psb pge:W ovf fup:L pgd", "on:W@1 overflow@2 on:L@3 return:L>0@4#1" },
	{ FAST, "psb pge:W pgd [bad pge:W psb] pge:L pgd",
	  "on:W@1 call:W>L@1#1 return:L>0@2#1 bad@3 on:L@6 return:L>0@7#1" },
	/* A hole in the trace: nothing before it affects the code after it. */
	{ 0, "psb pge:L pgd | psb pge:L pgd",
	  "on:L@1 return:L>0@2#1 lost@2 on:L@4 return:L>0@5#1" },
	{ 0, "psb pge:W | psb pge:L pgd", "on:W@1 lost@1 on:L@3 return:L>0@4#1" },
	{ FAST, "psb pge:W fup:W | psb pge:L pgd", "on:W@1 lost@2 on:L@4 return:L>0@5#1" },
	{ FAST, "psb pge:W ovf | psb pge:L pgd", "on:W@1 overflow@2 on:L@4 return:L>0@5#1" },
	{ 0, "psb | psb pge:L pgd", "on:L@2 return:L>0@3#1" },
	{ 0, "psb pge:W | psb:L pgd", "on:W@1 lost@1 on:L@2 return:L>0@3#1" },
	{ FAST, "psb pge:W tnt:t [bad] | psb pge:L pgd",
	  "on:W@1 call:W>L@1#1 return:L>W+5@2#1 bad@3 on:L@5 return:L>0@6#1" },
	{ FAST, "psb pge:X [tnt:t] | psb pge:L [tnt:t] pge:L pgd",
	  "on:X@1 missing:X@2 on:L@4 mismatch:L@5 on:L@6 return:L>0@7#1" },
	{ ALL, "psb guest pge:W tnt:t | psb pge:L pgd", "off!g@2 lost@3 on:L@5 return:L>0@6#1" },
	/* A full buffer: an address shows where the code continues, or a header. The time is that
	 * of the AUX record. */
	{ FAST, "psb pge:W || fup:L tip:W pgd",
	  "on:W@1 lost@1 on:L@1.5 interrupt!:L>W@3 call:W>L@3#1 return:L>0@4#1" },
	{ FAST, "psb pge:W || [tnt:t] tip:L pgd", "on:W@1 lost@1 on:L@3 return:L>0@4#1" },
	{ FAST, "psb pge:W || psb pge:L pgd", "on:W@1 lost@1 on:L@3 return:L>0@4#1" },
	{ FAST, "psb pge:W || psb:L pgd", "on:W@1 lost@1 on:L@2 return:L>0@3#1" },
	/* An interrupt, an overflow or a header before it does not end after it. */
	{ FAST, "psb pge:W fup:W || tip:L pgd", "on:W@1 lost@2 on:L@2.5 return:L>0@4#1" },
	{ FAST, "psb pge:W ovf || fup:L pgd", "on:W@1 overflow@2 on:L@2.5 off!:L@4" },
	{ FAST, "psb pge:W half || fup:L pgd", "on:W@1 lost@1 on:L@2.5 off!:L@4" },
};

/* Also if the file has the trace in pieces of eight bytes, and if padding follows. */
START_TEST(events_have_the_time_of_their_packet_and_their_instructions)
{
	const struct row *row = &rows[_i / 4];
	uint64_t lost, insns = 0;
	char path[PERF_DATA_PATH] = "", expected[512], *events;
	bool holes = strchr(row->packets, '|');

	if ((_i % 4 == 1 && row->code & FAST) || (_i % 4 == 2 && holes))
		return;
	begin(_i % 4 == 1 ? PT_ENGINE_LIBIPT : PT_ENGINE_FAST);
	run.in_pieces = _i % 4 == 2;
	run.padded = _i % 4 == 3;
	if (row->code & DEFERRING)
		write_program(deferring, sizeof(deferring));
	if (row->code & ALL)
		add_kernel(path);
	lost = add_timed_packets(row->packets);
	finish();
	if (row->code & ALL)
		unlink(path);
	events = events_as_text(true);
	strcpy(expected, row->events);
	if (run.engine == PT_ENGINE_LIBIPT) { /* reads ahead of the last bit */
		remove_times(events);
		remove_times(expected);
	}
	ck_assert_str_eq(events, expected);
	free(events);
	for (size_t i = 0; i < run.count; i++)
		insns += run.events[i].insns;
	ck_assert_uint_eq(run.stats.insns, insns);
	ck_assert_uint_eq(run.stats.events, run.count);
	if (run.engine == PT_ENGINE_FAST)
		ck_assert_uint_eq(run.stats.bytes_lost, lost);
	expect_all_bytes_counted();
}
END_TEST

/* The instruction of a branch is executed once for each of its events, and a jump is taken then. */
START_TEST(code_counts_as_often_as_its_branches_wherever_the_trace_begins_and_ends)
{
	const struct row *row = &rows[_i / 3];
	char path[PERF_DATA_PATH] = "";

	if (_i % 3 == 1 && row->code & FAST)
		return;
	begin(_i % 3 == 1 ? PT_ENGINE_LIBIPT : PT_ENGINE_FAST);
	run.padded = _i % 3 == 2;
	run.counts = true;
	if (row->code & DEFERRING)
		write_program(deferring, sizeof(deferring));
	if (row->code & ALL)
		add_kernel(path);
	add_timed_packets(row->packets);
	finish();
	if (row->code & ALL)
		unlink(path);
	for (size_t i = 0; i < run.count; i++) {
		const struct branch_event *event = &run.events[i];
		uint64_t branches = 0, executed = 0;

		if (event->kind == BRANCH_NONE || event->kind > BRANCH_IRET)
			continue;
		for (size_t k = 0; k < run.count; k++)
			branches += run.events[k].from == event->from &&
				    run.events[k].kind == event->kind;
		for (size_t k = 0; k < run.code_count; k++) {
			const struct code_count *code = &run.code[k];

			if (code->last != event->from || code->stopped)
				continue;
			ck_assert_uint_eq(code->kind, event->kind);
			executed += event->kind == BRANCH_COND ? code->taken : code->count;
		}
		ck_assert_uint_eq(executed, branches);
	}
}
END_TEST

/* Without timing packets, time is the number of instructions. */
static const struct {
	const char *packets;
	bool deferring;
} untimed[] = {
	{ "end pge:W tnt:tn pgd", false },
	{ "end pge:M tnt:tttn tip:M+5 pgd", false },
	{ "end pge:W tnt:t fup:W+5 pgd pge:W+5 tnt:n pgd", false },
	{ "end pge:M tnt:t fup:W+7 pgd pge:L pgd", false },
	{ "end pge:M tnt:nnnt tip:W tip:L pgd", true },
};

START_TEST(without_timing_packets_time_is_the_number_of_instructions)
{
	uint64_t insns = 0, first;

	begin(_i % 2 ? PT_ENGINE_LIBIPT : PT_ENGINE_FAST);
	run.data.events[0].attr.config &= ~(uint64_t)0x400;
	add_packets("half");
	pt_packets_raw(&run.packets, "\x99\x01", 2); /* MODE.Exec: 64 bits */
	if (untimed[_i / 2].deferring)
		write_program(deferring, sizeof(deferring));
	add_packets(untimed[_i / 2].packets);
	finish();
	ck_assert_uint_gt(run.count, 3);
	first = run.events[0].time;
	for (size_t i = 0; i < run.count; i++) {
		insns += run.events[i].insns;
		ck_assert_uint_eq(run.events[i].time, first + insns);
		ck_assert_uint_eq(run.events[i].flags & BRANCH_TIME_ESTIMATED,
				  BRANCH_TIME_ESTIMATED);
	}
	ck_assert_uint_eq(run.stats.insns, insns);
}
END_TEST

/* ---- Inlined calls ----------------------------------------------------------- */

/*
 * The code of work has four pieces with inlined calls of their own: 4 nops; nop, jne to this nop,
 * nop; jne to the first piece, jne to the next one; jne to the first piece, ret.
 */
static const uint8_t pieces[] = {
	0x90, 0x90, 0x90, 0x90, 0x90, 0x75, 0xfd, 0x90, 0x75, 0xf6, 0x75, 0x00, 0x75, 0xf2, 0xc3,
};

static void begin_in_pieces(void)
{
	begin(PT_ENGINE_FAST);
	run.skip = true;
	run.piece_size = 4;
	run.work_size = sizeof(pieces);
	memcpy(run.program_bytes + TINY_ELF_CODE_OFFSET + (SAMPLE_WORK - SAMPLE_CODE), pieces,
	       sizeof(pieces));
}

/* Jumps within a piece are left out, but the first; an address shows where another piece begins. */
static const struct {
	const char *packets, *events;
} in_pieces[] = {
	{ "psb pge:W tnt:n tnt:n tnt:n tnt:n pgd",
	  "on:W@1 at:W+4@1#4 at:W+8@2#3 at:W+12@4#2 return:W+14>0@6#2" },
	{ "psb pge:W tnt:tttn tnt:nt tnt:n pgd",
	  "on:W@1 at:W+4@1#4 cond:W+5>W+4@2#2 at:W+8@2#7 cond:W+10>W+12@3#2 "
	  "return:W+14>0@5#2" },
	{ "psb pge:W tnt:ttn tnt:t tnt:n tnt:nnn pgd",
	  "on:W@1 at:W+4@1#4 cond:W+5>W+4@2#2 at:W+8@2#5 cond:W+8>W@3#1 at:W+4@3#4 at:W+8@4#3 "
	  "at:W+12@5#2 return:W+14>0@6#2" },
	{ "psb pge:W+4 tnt:nn fup:W+10 pgd", "on:W+4@1 at:W+8@2#3 off!:W+10@4#1" },
	{ "psb pge:W fup:W+5 tip:L pgd", "on:W@1 at:W+4@1#4 interrupt!:W+5>L@3#1 return:L>0@4#1" },
};

START_TEST(another_piece_of_inlined_calls_is_shown_where_it_begins)
{
	char *events;

	begin_in_pieces();
	run.padded = _i % 2;
	add_timed_packets(in_pieces[_i / 2].packets);
	finish();
	events = events_as_text(true);
	ck_assert_str_eq(events, in_pieces[_i / 2].events);
	free(events);
}
END_TEST

static void expect_passage(size_t index, uint64_t offset, uint32_t insns)
{
	expect(index, BRANCH_NONE, SAMPLE_WORK + offset, SAMPLE_WORK + offset);
	ck_assert_uint_eq(run.events[index].insns, insns);
}

/* The conditional jump at an address was executed, and taken, so often. */
static void expect_decisions(uint64_t ip, uint64_t count, uint64_t taken)
{
	for (size_t i = 0; i < run.code_count; i++) {
		if (run.code[i].last != ip || run.code[i].stopped)
			continue;
		count -= run.code[i].count;
		taken -= run.code[i].taken;
	}
	ck_assert_uint_eq(count, 0);
	ck_assert_uint_eq(taken, 0);
}

/* Also if the code was followed before: in each round, the same way back to the first piece. */
START_TEST(pieces_of_known_code_are_shown_as_well)
{
	static const struct {
		const char *packets;
		bool last;       /* through the last piece */
		uint32_t before; /* instructions in the second piece */
		uint64_t taken;  /* its jump's */
	} ways[] = {
		{ "tnt:ttn tnt:t", false, 7, 2 },
		{ "tnt:n tnt:n tnt:n tnt:t", true, 3, 0 },
		{ "tnt:n tnt:nnt", true, 3, 0 },
		{ "tnt:tnnnt", true, 5, 1 },
	};
	enum { ROUNDS = 30 };
	uint64_t insns = 0;
	size_t at = 1;

	begin_in_pieces();
	run.padded = true;
	run.counts = _i % 2;
	add_packets("psb pge:L tip:W");
	for (int i = 0; i < ROUNDS; i++)
		add_packets(ways[_i / 2].packets);
	add_packets("tnt:n");
	finish();
	expect(at++, BRANCH_RETURN, SAMPLE_LEAF, SAMPLE_WORK);
	for (int i = 0; i < ROUNDS; i++) {
		expect_passage(at++, 4, 4);
		expect_passage(at++, 8, ways[_i / 2].before);
		if (ways[_i / 2].last)
			expect_passage(at++, 12, 2);
		expect(at, BRANCH_COND, SAMPLE_WORK + (ways[_i / 2].last ? 12 : 8), SAMPLE_WORK);
		ck_assert_uint_eq(run.events[at++].insns, 1);
		insns += 4 + ways[_i / 2].before + (ways[_i / 2].last ? 2 : 0) + 1;
	}
	expect_passage(at++, 4, 4);
	ck_assert_uint_eq(run.count, at);
	/* The return; up to the last bit; nothing shows that the code after it was executed. */
	ck_assert_uint_eq(run.stats.insns, 1 + insns + 4 + 2);
	ck_assert_uint_eq(run.stats.bytes_lost, 0);
	if (!run.counts)
		return;
	expect_decisions(SAMPLE_WORK + 5, ROUNDS * (ways[_i / 2].taken + 1) + 1,
			 ROUNDS * ways[_i / 2].taken);
	expect_decisions(SAMPLE_WORK + 10, ways[_i / 2].last ? ROUNDS : 0, 0);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("packet_times");
	TCase *all = tcase_create("packet_times");

	tcase_add_loop_test(all, events_have_the_time_of_their_packet_and_their_instructions, 0,
			    4 * COUNT_OF(rows));
	tcase_add_loop_test(all,
			    code_counts_as_often_as_its_branches_wherever_the_trace_begins_and_ends,
			    0, 3 * COUNT_OF(rows));
	tcase_add_loop_test(all, without_timing_packets_time_is_the_number_of_instructions, 0,
			    2 * COUNT_OF(untimed));
	tcase_add_loop_test(all, another_piece_of_inlined_calls_is_shown_where_it_begins, 0,
			    2 * COUNT_OF(in_pieces));
	tcase_add_loop_test(all, pieces_of_known_code_are_shown_as_well, 0, 8);
	suite_add_tcase(suite, all);
	return unit_run(suite);
}
