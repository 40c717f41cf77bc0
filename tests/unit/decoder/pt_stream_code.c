/* SPDX-License-Identifier: MIT */
/* The engine on code: mappings, local jumps, long code, kinds of instructions. */
#include "tests/unit/decoder/stream_run.h"

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

/*
 * Code falls into work by a jump that is not taken, known or not; then only the first jump within
 * work shows that work runs.
 */
START_TEST(the_first_jump_is_shown_where_one_function_continues_in_another)
{
	static const uint8_t code[] = {
		0xc3, 0x75, 0x00, 0x75, 0x01, 0x90, 0x75, 0x01, 0x90, 0xc3
	};
	const uint64_t before = SAMPLE_WORK - 3;
	const unsigned rounds = 5;
	size_t at = 1;

	begin(_i);
	run.skip = true;
	memcpy(run.program_bytes + TINY_ELF_CODE_OFFSET + (before - SAMPLE_CODE), code,
	       sizeof(code));
	pt_packets_psb(&run.packets, SAMPLE_START, 0);
	pt_packets_pge(&run.packets, before);
	for (unsigned i = 0; i < rounds; i++) {
		pt_packets_tip(&run.packets, before + 1);
		pt_packets_tnt(&run.packets, "ntt");
	}
	pt_packets_pgd(&run.packets, 0);
	finish();
	for (unsigned i = 0; i < rounds; i++) {
		expect(at++, BRANCH_RETURN, i ? SAMPLE_WORK + 6 : before, before + 1);
		expect(at++, BRANCH_COND, SAMPLE_WORK, SAMPLE_WORK + 3);
		if (_i == PT_ENGINE_LIBIPT) /* shows all jumps */
			at++;
	}
	expect(at, BRANCH_RETURN, SAMPLE_WORK + 6, 0);
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

static bool has_cycles; /* before and after each time */

/* Decode a loop of two jumps, of which the second needs a bit, over some times. */
static void follow_loop_over(uint64_t begin_time, uint64_t end_time, bool skip)
{
	static const uint8_t insns[] = { 0xeb, 0x00, 0x90 };
	static const struct pt_packet cycles = { .type = ppt_cyc, .payload.cyc.value = 30 };

	begin(PT_ENGINE_FAST);
	run.begin = begin_time;
	run.end = end_time;
	run.skip = run.counts = run.cycles = skip;
	make_work_long(1, insns, sizeof(insns));
	pt_packets_psb(&run.packets, SAMPLE_START, 0);
	pt_packets_pge(&run.packets, SAMPLE_MAIN);
	for (int i = 1; i <= 4; i++) {
		if (has_cycles)
			pt_packets_add(&run.packets, &cycles);
		pt_packets_tsc(&run.packets, SAMPLE_START + 100 * (uint64_t)i);
		if (has_cycles)
			pt_packets_add(&run.packets, &cycles);
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
			 run.events[i].kind != BRANCH_COUNTS &&
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

/* The loop has three instructions; main has one before it. */
START_TEST(instructions_are_of_the_time_of_the_packet_that_led_to_them)
{
	has_cycles = _i;
	for (uint64_t first = 0; first < 4; first++) {
		for (uint64_t last = first; last < 4; last++) {
			uint64_t insns = 0, executed = 0;

			follow_loop_over(first ? SAMPLE_START + 100 * first - 50 : 0,
					 SAMPLE_START + 100 * last + 50, true);
			for (size_t i = 0; i < run.count; i++)
				if (branch_event_time(&run.events[i]) >= run.begin &&
				    branch_event_time(&run.events[i]) <= run.end)
					insns += run.events[i].insns;
			for (size_t i = 0; i < run.code_count; i++)
				executed += run.code[i].count *
					    (run.code[i].kind == BRANCH_COND ? 2 : 1);
			ck_assert_uint_eq(insns, executed);
			if (first)
				ck_assert_uint_eq(insns, 4 * 3 * (last - first + 1));
		}
	}
	has_cycles = false;
}
END_TEST

#define JUMPS  20 /* and one back to the first */
#define ROUNDS 200

/* Code outside of the chosen time uses the same cache of ways. */
START_TEST(code_of_the_chosen_time_counts_whatever_ran_beside_it)
{
	static const uint8_t jump[] = { 0x75, 0x00 }; /* to the next instruction */
	uint64_t taken[JUMPS] = { 0 };
	char bits[JUMPS + 2] = { [JUMPS] = 't' };
	uint32_t number = 1;

	begin(PT_ENGINE_FAST);
	run.skip = run.counts = true;
	run.end = SAMPLE_START + 100;
	make_work_long(JUMPS, jump, sizeof(jump));
	pt_packets_psb(&run.packets, SAMPLE_START, 0);
	pt_packets_pge(&run.packets, SAMPLE_WORK);
	for (int round = 0; round < 2 * ROUNDS; round++) {
		if (round == ROUNDS)
			pt_packets_tsc(&run.packets, SAMPLE_START + 200);
		for (int i = 0; i < JUMPS; i++) {
			bool is_taken = (number = number * 1103515245 + 12345) >> 31;

			bits[i] = is_taken ? 't' : 'n';
			taken[i] += is_taken && round < ROUNDS;
		}
		pt_packets_tnt(&run.packets, bits);
	}
	finish();
	for (int i = 0; i < JUMPS; i++)
		ck_assert_uint_eq(counted_jumps(SAMPLE_WORK + 2 * (uint64_t)i, 0), taken[i]);
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

/* The same bits from the same block: only the calls before differ. */
START_TEST(a_return_leads_to_its_call_wherever_the_same_bits_led)
{
	static const uint8_t jump[] = { 0x75, 0x00 }; /* to the next instruction */
	const unsigned rounds = 5;
	size_t returns = 0;

	begin(PT_ENGINE_FAST);
	run.skip = true;
	make_work_long(1, jump, sizeof(jump));
	run.program_bytes[TINY_ELF_CODE_OFFSET + (SAMPLE_WORK - SAMPLE_CODE) + 2] = 0xc3;
	pt_packets_psb(&run.packets, SAMPLE_START, 0);
	for (unsigned i = 0; i < rounds; i++) {
		pt_packets_pge(&run.packets, SAMPLE_MAIN);
		for (unsigned call = 0; call < 2; call++) {
			pt_packets_tnt(&run.packets, "n");
			pt_packets_tnt(&run.packets, "t");
		}
		pt_packets_pgd(&run.packets, 0);
	}
	finish();
	for (size_t i = 0; i < run.count; i++) {
		if (run.events[i].kind != BRANCH_RETURN)
			continue;
		ck_assert_uint_eq(run.events[i].from, SAMPLE_WORK + 2);
		ck_assert_uint_eq(run.events[i].to, SAMPLE_MAIN + (returns++ % 2 ? 10 : 5));
	}
	ck_assert_uint_eq(returns, 2 * rounds);
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

/*
 * The program is `nops` times NOP, a conditional jump to its start, and a system call; in its own
 * mapping at SAMPLE_CODE + MOVED.
 */
static void write_long_code(size_t nops)
{
	uint8_t *code, end[] = { 0x0f, 0x85, 0, 0, 0, 0, 0x0f, 0x05 };
	int32_t distance = -(int32_t)(nops + 6);

	run.program_size = TINY_ELF_CODE_OFFSET + nops + sizeof(end);
	run.program_bytes = realloc(run.program_bytes, run.program_size);
	ck_assert_ptr_nonnull(run.program_bytes);
	code = run.program_bytes + TINY_ELF_CODE_OFFSET;
	memset(code, 0x90, nops);
	memcpy(end + 2, &distance, sizeof(distance));
	memcpy(code + nops, end, sizeof(end));
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

/* A program maps a library twice (dlmopen()): calls from one copy into the other. */
START_TEST(code_returns_to_another_mapping_of_the_same_code_as_often_as_it_does)
{
	const uint64_t code = SAMPLE_CODE, ret = code + 0x10 + MOVED;
	const size_t rounds = 40;

	begin(_i);
	write_program(far_calls, sizeof(far_calls));
	add_mapping(code, 0x1000, MOVED);
	pt_packets_psb(&run.packets, SAMPLE_START, 0);
	pt_packets_pge(&run.packets, code);
	for (size_t i = 0; i < rounds; i++) {
		pt_packets_tip(&run.packets, ret);
		pt_packets_tnt(&run.packets, "tt");
	}
	finish();
	for (size_t i = 0; i < rounds; i++) {
		expect(3 * i + 1, BRANCH_CALL, code, ret);
		expect(3 * i + 2, BRANCH_RETURN, ret, code + 2);
		expect(3 * i + 3, BRANCH_COND, code + 2, code);
	}
}
END_TEST

/* A process maps the program's first bytes at an address, and a copy of the others behind them. */
enum { SECOND_HALF = 0x800 };

static void map_halves(uint64_t seam, bool second)
{
	uint8_t *code;

	run.program_size = TINY_ELF_CODE_OFFSET + 2 * SECOND_HALF;
	run.program_bytes = realloc(run.program_bytes, run.program_size);
	ck_assert_ptr_nonnull(run.program_bytes);
	code = run.program_bytes + TINY_ELF_CODE_OFFSET;
	memcpy(code + SECOND_HALF, code, 0x60);
	memset(code + (seam - SAMPLE_CODE), 0x06, 0x60); /* no instruction */
	add_mapping(SAMPLE_CODE, seam - SAMPLE_CODE, MOVED);
	if (second)
		perf_data_add_mmap2(&run.data, 0,
				    &(struct perf_data_mmap){ .pid = SAMPLE_PID,
							      .tid = SAMPLE_PID,
							      .address = seam + MOVED,
							      .length = 0x1000,
							      .file_offset = TINY_ELF_CODE_OFFSET +
									     SECOND_HALF + seam -
									     SAMPLE_CODE,
							      .path = SAMPLE_PATH,
							      .prot = PROT_EXEC });
}

static void expect_the_sample(uint64_t moved)
{
	const uint64_t work = SAMPLE_WORK + moved, leaf = SAMPLE_LEAF + moved;
	size_t at = 1;

	for (uint64_t call = SAMPLE_MAIN + moved; call < SAMPLE_SYSCALL + moved; call += 5) {
		expect(at++, BRANCH_CALL, call, work);
		for (int i = 0; i < 3; i++) {
			if (i)
				expect(at++, BRANCH_COND, work + 5, work);
			expect(at++, BRANCH_CALL, work, leaf);
			expect(at++, BRANCH_RETURN, leaf, work + 5);
		}
		expect(at++, BRANCH_RETURN, work + 7, call + 5);
	}
	expect(at, BRANCH_SYSCALL, SAMPLE_SYSCALL + moved, 0);
	ck_assert_uint_eq(run.count, at + 1);
	ck_assert_uint_eq(run.stats.insns, 23); /* main 3, work 2 * 7, leaf 6 */
}

static void add_moved_trace(void)
{
	pt_packets_psb(&run.packets, SAMPLE_START, 0);
	pt_packets_pge(&run.packets, SAMPLE_MAIN + MOVED);
	for (int i = 0; i < 2; i++) {
		pt_packets_tnt(&run.packets, "tttt");
		pt_packets_tnt(&run.packets, "tnt");
	}
	pt_packets_pgd(&run.packets, 0);
}

/* The seam is before each byte of main, work and leaf in turn. */
START_TEST(code_in_two_mappings_runs_as_in_one)
{
	uint64_t returns = 0;

	begin(_i % 2);
	run.counts = _i % 4 < 2;
	map_halves(SAMPLE_CODE + 1 + (uint64_t)_i / 4, true);
	add_moved_trace();
	finish();
	expect_the_sample(MOVED);
	for (size_t i = 0; i < run.code_count; i++)
		returns += run.code[i].kind == BRANCH_RETURN ? run.code[i].count : 0;
	ck_assert_uint_eq(returns, run.counts ? 8 : 0);
	ck_assert_uint_eq(counted_jumps(SAMPLE_WORK + 5 + MOVED, SAMPLE_WORK + MOVED),
			  run.counts ? 4 : 0);
}
END_TEST

/* main's first call, or work's jump, has bytes behind the end of the mapping. */
START_TEST(an_instruction_that_is_cut_by_the_end_of_its_mapping_is_missing_code)
{
	const uint64_t insn = _i / 2 ? SAMPLE_WORK + 5 : SAMPLE_MAIN;

	begin(_i % 2);
	map_halves(insn + 1, false);
	pt_packets_psb(&run.packets, SAMPLE_START, 0);
	pt_packets_pge(&run.packets, insn + MOVED);
	pt_packets_tnt(&run.packets, "t");
	finish();
	expect_gap_at(insn + MOVED);
}
END_TEST

/* libipt measures instructions that do not exist. */
START_TEST(an_instruction_that_is_invalid_before_more_code_does_not_fit)
{
	begin(PT_ENGINE_FAST);
	map_halves(SAMPLE_MAIN + 1, true);
	run.program_bytes[TINY_ELF_CODE_OFFSET] = 0x06;
	pt_packets_psb(&run.packets, SAMPLE_START, 0);
	pt_packets_pge(&run.packets, SAMPLE_MAIN + MOVED);
	pt_packets_tnt(&run.packets, "t");
	finish();
	ck_assert_uint_eq(run.last.kind, BRANCH_GAP);
	ck_assert_uint_eq(run.last.gap, GAP_MISMATCH);
	ck_assert_uint_eq(run.last.from, SAMPLE_MAIN + MOVED);
}
END_TEST

/* A kcore has the kernel's code in segments. */
START_TEST(code_in_two_segments_of_the_kernel_runs_as_in_one)
{
	enum { SIZE = 0x30, FIRST_BYTES = 3 };
	uint8_t memory[2 * SIZE] = { 0xe8,         0x1b, 0,    0, 0, /* call KERNEL_SYS */
				     0x48,         0x0f, 0x07,       /* sysretq */
				     [0x20] = 0xc3 };                /* ret */
	const struct kernel_segment halves[] = { { KERNEL, KERNEL + FIRST_BYTES, 0 },
						 { KERNEL + FIRST_BYTES, KERNEL + SIZE, SIZE } };
	const struct kernel_code kernel = { .file = { NULL, memory, sizeof(memory) },
					    .segments = halves,
					    .count = 2 };

	memcpy(memory + SIZE, memory + FIRST_BYTES, SIZE - FIRST_BYTES);
	memset(memory + FIRST_BYTES, 0x06, SIZE - FIRST_BYTES);
	begin(_i);
	run.kernel = &kernel;
	run.data.events[0].attr.exclude_kernel = 0;
	pt_packets_psb(&run.packets, SAMPLE_START, 0);
	pt_packets_pge(&run.packets, KERNEL);
	pt_packets_tnt(&run.packets, "t");
	pt_packets_tip(&run.packets, SAMPLE_LEAF);
	finish();
	expect(1, BRANCH_CALL, KERNEL, KERNEL_SYS);
	expect(2, BRANCH_RETURN, KERNEL_SYS, KERNEL + 5);
	expect(3, BRANCH_SYSRET, KERNEL + 5, SAMPLE_LEAF);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("pt_stream_code");
	TCase *all = tcase_create("pt_stream_code");

	tcase_add_test(all, known_code_may_lie_anywhere_in_a_large_mapping);
	tcase_add_test(all, jumps_within_a_function_are_left_out_if_nobody_wants_them);
	tcase_add_loop_test(all, the_first_jump_is_shown_where_one_function_continues_in_another, 0,
			    2);
	tcase_add_loop_test(all, all_instructions_count_however_long_the_code_is_between_two_jumps,
			    0, 6);
	tcase_add_test(all, jumps_that_are_left_out_count_if_their_time_is_chosen);
	tcase_add_loop_test(all, instructions_are_of_the_time_of_the_packet_that_led_to_them, 0, 2);
	tcase_add_test(all, code_of_the_chosen_time_counts_whatever_ran_beside_it);
	tcase_add_loop_test(all, code_counts_as_often_as_its_branches, 0, 6);
	tcase_add_test(all, jumps_on_the_way_to_a_target_count);
	tcase_add_test(all, a_return_leads_to_its_call_wherever_the_same_bits_led);
	tcase_add_loop_test(all, jumps_between_two_decisions_count_up_to_a_bound, 0, 6);
	tcase_add_test(all, the_end_of_a_header_without_its_begin_is_damage);
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
	tcase_add_loop_test(
		all, code_returns_to_another_mapping_of_the_same_code_as_often_as_it_does, 0, 2);
	tcase_add_loop_test(all, code_in_two_mappings_runs_as_in_one, 0, 4 * 0x40);
	tcase_add_test(all, an_instruction_that_is_invalid_before_more_code_does_not_fit);
	tcase_add_loop_test(all, code_in_two_segments_of_the_kernel_runs_as_in_one, 0, 2);
	tcase_add_loop_test(
		all, an_instruction_that_is_cut_by_the_end_of_its_mapping_is_missing_code, 0, 4);
	suite_add_tcase(suite, all);
	return unit_run(suite);
}
