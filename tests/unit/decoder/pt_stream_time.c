/* SPDX-License-Identifier: MIT */
/* The engine on cycles, and on switches of threads. */
#include "decoder/engine/fast/flow_checkpoint.h"
#include "tests/unit/decoder/stream_run.h"

static void add_cycles(uint64_t cycles)
{
	struct pt_packet packet = { .type = ppt_cyc, .payload.cyc.value = cycles };

	pt_packets_add(&run.packets, &packet);
}

static void add_padding(unsigned count)
{
	static const struct pt_packet padding = { .type = ppt_pad };

	while (count--)
		pt_packets_add(&run.packets, &padding);
}

/* The last 64 bytes of a trace are read in another way, so put some packets among them. */
static void finish_with_padding(void)
{
	add_padding(50);
	finish();
}

/*
 * "In the case of TNT packets [...] the preceding CYC packet provides the retirement time of the
 * first branch in the packet." (SDM volume 3, "Cycle Packet Semantics"). `_i / 2`: padding.
 */
START_TEST(cycles_end_with_the_first_branch_of_the_packet)
{
	begin(PT_ENGINE_FAST);
	run.cycles = true;
	run.in_pieces = _i % 2;
	pt_packets_psb(&run.packets, SAMPLE_START, 0);
	pt_packets_pge(&run.packets, SAMPLE_MAIN);
	add_cycles(30);
	add_padding(_i / 2);
	pt_packets_tnt(&run.packets, "tt");
	add_cycles(40);
	add_padding(_i / 2);
	pt_packets_tip(&run.packets, SAMPLE_WORK + 5);
	add_cycles(30);
	pt_packets_tnt(&run.packets, "n");
	finish_with_padding();
	expect(3, BRANCH_RETURN, SAMPLE_LEAF, SAMPLE_WORK + 5);
	ck_assert_uint_eq(run.events[3].cycles, 30);
	expect(4, BRANCH_COND, SAMPLE_WORK + 5, SAMPLE_WORK);
	ck_assert_uint_eq(run.events[4].cycles, 0);
	expect(5, BRANCH_CALL, SAMPLE_WORK, SAMPLE_LEAF);
	expect(6, BRANCH_RETURN, SAMPLE_LEAF, SAMPLE_WORK + 5);
	ck_assert_uint_eq(run.events[6].cycles, 40);
	/* The code after the last branch: */
	expect(7, BRANCH_COUNTS, SAMPLE_WORK + 7, 0);
	ck_assert_uint_eq(run.events[7].insns, 1);
	ck_assert_uint_eq(run.events[7].cycles, 30);
}
END_TEST

/* A CYC has 5 bits of the count in its first byte, and 7 in each later one. */
START_TEST(cycles_of_any_size_count_once)
{
	static const uint64_t cycles[] = { 1, 31, 32, 4095, 4096, 300000, 100000000 };

	begin(PT_ENGINE_FAST);
	run.cycles = true;
	pt_packets_psb(&run.packets, SAMPLE_START, 0);
	pt_packets_pge(&run.packets, SAMPLE_MAIN);
	add_cycles(cycles[_i]);
	pt_packets_tnt(&run.packets, "t");
	finish_with_padding();
	expect(3, BRANCH_RETURN, SAMPLE_LEAF, SAMPLE_WORK + 5);
	ck_assert_uint_eq(run.events[3].cycles, cycles[_i]);
	ck_assert_uint_eq(run.count, 4);
}
END_TEST

/* The flow was in a TNT after a CYC when it left another segment, which had too many events. */
static void begin_in_bits(struct pt_stream *stream)
{
	struct pt_flow *flow = (struct pt_flow *)stream;
	struct flow_checkpoint start;

	if (run.count)
		return;
	flow_checkpoint_save(&start, flow);
	flow->later_bits = tnt_bits(1, 1);
	flow_checkpoint_load(&start, flow);
}

START_TEST(bits_of_another_segment_are_not_followed)
{
	begin(PT_ENGINE_FAST);
	run.cycles = true;
	run.before_event = begin_in_bits;
	pt_packets_psb(&run.packets, SAMPLE_START, 0);
	pt_packets_pge(&run.packets, SAMPLE_MAIN);
	add_cycles(30);
	pt_packets_tip(&run.packets, SAMPLE_WORK + 5);
	pt_packets_tnt(&run.packets, "n");
	finish();
	expect(3, BRANCH_RETURN, SAMPLE_LEAF, SAMPLE_WORK + 5);
	ck_assert_uint_eq(run.events[3].cycles, 30);
	ck_assert_uint_eq(run.count, 4);
}
END_TEST

/* A clock of 1 ns a tick, one tick a cycle. */
static void begin_with_clock(uint64_t time_zero)
{
	const struct perf_data_pt_info info = {
		.pmu_type = SAMPLE_PMU,
		.time_mult = 1,
		.time_zero = time_zero,
		.cap_user_time_zero = 1,
		.tsc_bit = 0x400,
		.noretcomp_bit = 0x800,
		.mtc_bit = 0x200,
		.mtc_freq_bits = 0x3c000,
		.tsc_ctc_ratio_n = 1000,
		.tsc_ctc_ratio_d = 1,
		.per_cpu_mmaps = 1,
		.cyc_bit = 2,
		.max_nonturbo_ratio = 25,
	};
	static const struct pt_packet tma = { .type = ppt_tma };

	begin(PT_ENGINE_FAST);
	run.data.events[0].attr.config |= info.cyc_bit | info.mtc_bit | 6 << 14;
	perf_data_add_pt_info(&run.data, &info, NULL);
	pt_packets_psb(&run.packets, SAMPLE_START, 0);
	pt_packets_add(&run.packets, &tma);
}

static void begin_with_cycles(void)
{
	begin_with_clock(0);
}

static void add_tip(uint64_t ip, enum pt_ip_compression compression)
{
	struct pt_packet packet = { .type = ppt_tip };

	packet.payload.ip.ipc = compression;
	packet.payload.ip.ip = compression == pt_ipc_update_16 ? (uint16_t)ip : ip;
	pt_packets_add(&run.packets, &packet);
}

/* expect() with a time. */
static void expect_at(size_t index, uint64_t time, enum branch_kind kind, uint64_t from,
		      uint64_t to)
{
	expect(index, kind, from, to);
	ck_assert_uint_eq(run.events[index].time, time);
}

/*
 * A branch with a bit or a target has the time of its packet, and a direct call that of the packet
 * before, also if all was followed before.  Packets are TNTs and TIPs, with and without a CYC.
 */
START_TEST(code_that_was_followed_before_has_the_times_of_its_packets)
{
	enum { ROUNDS = 16 };
	uint64_t time = SAMPLE_START, times[ROUNDS];

	begin_with_cycles();
	pt_packets_pge(&run.packets, SAMPLE_MAIN);
	for (unsigned i = 0; i < ROUNDS; i++) {
		uint64_t cycles = i % 4 == 3 ? 0 : 5 + i * i;

		times[i] = time += cycles;
		add_padding(i % 3 == 1);
		if (cycles)
			add_cycles(cycles);
		add_padding(i % 5 == 2);
		if (i % 3 == 2)
			add_tip(SAMPLE_WORK + 5, i % 2 ? pt_ipc_update_16 : pt_ipc_full);
		pt_packets_tnt(&run.packets, i % 3 == 2 ? "t" : "tt");
	}
	finish_with_padding();
	ck_assert_uint_eq(run.count, 3 * ROUNDS + 2);
	for (size_t i = 0; i < ROUNDS; i++) {
		expect_at(3 * i + 2, i ? times[i - 1] : SAMPLE_START, BRANCH_CALL, SAMPLE_WORK,
			  SAMPLE_LEAF);
		expect_at(3 * i + 3, times[i], BRANCH_RETURN, SAMPLE_LEAF, SAMPLE_WORK + 5);
		expect_at(3 * i + 4, times[i], BRANCH_COND, SAMPLE_WORK + 5, SAMPLE_WORK);
	}
	expect_all_bytes_counted();
}
END_TEST

/*
 * The same, for cycles: they end with the packet's first branch, and with it the instructions up to
 * there, also in code that was followed before, perhaps elsewhere.  `_i % 2`: jumps within
 * functions are no events, but counted where cycles end. `_i / 2`: a packet leads from one mapping
 * to another.
 */
START_TEST(code_that_was_followed_before_has_the_cycles_of_its_packets)
{
	static const struct cycle_event {
		enum branch_kind kind;
		uint64_t from, to;
		uint32_t cycles, insns, insns_of_skip;
	} events[] = {
		{ BRANCH_NONE, 0, SAMPLE_MAIN, 0, 0, 0 },
		{ BRANCH_CALL, SAMPLE_MAIN, SAMPLE_WORK, 0, 1, 1 },
		{ BRANCH_CALL, SAMPLE_WORK, SAMPLE_LEAF, 0, 1, 1 },
		{ BRANCH_RETURN, SAMPLE_LEAF, SAMPLE_WORK + 5, 7, 1, 1 },
		{ BRANCH_COND, SAMPLE_WORK + 5, SAMPLE_WORK, 0, 1, 1 },
		{ BRANCH_CALL, SAMPLE_WORK, SAMPLE_LEAF, 0, 1, 2 },
		{ BRANCH_RETURN, SAMPLE_LEAF, MOVED + SAMPLE_WORK + 5, 8, 1, 1 },
		{ BRANCH_COUNTS, MOVED + SAMPLE_WORK + 7, 1, 9, 1, 1 },
		{ BRANCH_RETURN, MOVED + SAMPLE_WORK + 7, SAMPLE_MAIN + 5, 0, 1, 1 },
		{ BRANCH_CALL, SAMPLE_MAIN + 5, SAMPLE_WORK, 0, 1, 1 },
		{ BRANCH_CALL, SAMPLE_WORK, SAMPLE_LEAF, 0, 1, 1 },
		{ BRANCH_RETURN, SAMPLE_LEAF, SAMPLE_WORK + 5, 0, 1, 1 },
		{ BRANCH_COND, SAMPLE_WORK + 5, SAMPLE_WORK, 3, 1, 1 },
		{ BRANCH_CALL, SAMPLE_WORK, SAMPLE_LEAF, 0, 1, 1 },
		{ BRANCH_RETURN, SAMPLE_LEAF, SAMPLE_WORK + 5, 0, 1, 1 },
		{ BRANCH_COND, SAMPLE_WORK + 5, SAMPLE_WORK, 0, 1, 1 },
		{ BRANCH_COUNTS, SAMPLE_WORK, 1, 5, 0, 1 },
		{ BRANCH_CALL, SAMPLE_WORK, SAMPLE_LEAF, 0, 1, 1 },
		{ BRANCH_RETURN, SAMPLE_LEAF, SAMPLE_WORK + 5, 6, 1, 1 },
		{ BRANCH_COUNTS, SAMPLE_WORK + 7, 0, 4, 1, 1 },
		{ BRANCH_RETURN, SAMPLE_WORK + 7, SAMPLE_MAIN + 10, 0, 1, 1 },
		{ BRANCH_SYSCALL, SAMPLE_SYSCALL, 0, 0, 1, 1 },
	};
	enum { ROUNDS = 5, EVENTS = sizeof(events) / sizeof(*events) };
	const bool skip = _i % 2;
	size_t at = 0;

	begin_with_cycles();
	add_mapping(SAMPLE_CODE, 0x100, MOVED);
	add_mapping(SAMPLE_CODE, 0x100, MOVED_MORE);
	run.cycles = true;
	run.skip = skip;
	for (unsigned i = 0; i < ROUNDS; i++) {
		pt_packets_pge(&run.packets, SAMPLE_MAIN);
		add_cycles(7);
		pt_packets_tnt(&run.packets, "tt");
		add_cycles(8);
		add_tip(SAMPLE_WORK + 5 + (i % 2 ? MOVED : MOVED_MORE), pt_ipc_full);
		add_cycles(9);
		pt_packets_tnt(&run.packets, _i / 2 ? "ntt" : "n");
		if (_i < 2)
			pt_packets_tnt(&run.packets, "tt");
		add_cycles(3);
		pt_packets_tnt(&run.packets, "ttt");
		add_cycles(5);
		add_padding(i % 2);
		add_cycles(6);
		pt_packets_tnt(&run.packets, "t");
		add_cycles(4);
		pt_packets_tnt(&run.packets, "nt");
		pt_packets_pgd(&run.packets, 0);
	}
	add_padding(50);
	finish_with_padding();
	for (size_t i = 0; i < ROUNDS * EVENTS; i++) {
		const struct cycle_event *event = &events[i % EVENTS];
		bool is_jump = skip && event->kind == BRANCH_COND;
		uint64_t more = i / EVENTS % 2 ? 0 : MOVED_MORE - MOVED;
		uint64_t from = event->from + (event->from > MOVED + SAMPLE_CODE ? more : 0);
		uint64_t to = event->to + (event->to > MOVED + SAMPLE_CODE ? more : 0);

		if (is_jump && !event->cycles)
			continue;
		if (is_jump)
			expect(at, BRANCH_COUNTS, to, 1);
		else
			expect(at, event->kind, from,
			       skip || event->kind != BRANCH_COUNTS ? to : 0);
		ck_assert_uint_eq(run.events[at].cycles, event->cycles);
		ck_assert_uint_eq(run.events[at].insns, skip ? event->insns_of_skip : event->insns);
		at++;
	}
	ck_assert_uint_eq(run.count, at);
}
END_TEST

/* Instructions that no run has. */
#define MARK 1000

static size_t events_before, marked, chained;

/* After a while, mark the branches of all kept runs. */
static void mark_runs(struct pt_stream *stream)
{
	struct run_memo *memo = &((struct pt_flow *)stream)->blocks.runs;
	const struct run *runs = memo->table.slots;

	marked += run.last.insns >= MARK;
	if (++events_before != 1000)
		return;
	for (size_t i = 0; i < memo->branch_count; i++)
		memo->branches[i].insns += MARK;
	for (size_t i = 0; i < direct_cache_count(&memo->table); i++)
		chained += runs[i].id && runs[i].next[0];
}

/* Only the fast way of following code takes branches from kept runs. */
START_TEST(code_that_was_followed_before_is_not_followed_again)
{
	enum { ROUNDS = 1000 };

	events_before = marked = chained = 0;
	begin_with_cycles();
	run.before_event = mark_runs;
	run.counts = _i & 2;
	pt_packets_pge(&run.packets, SAMPLE_MAIN);
	for (unsigned i = 0; i < ROUNDS; i++) {
		if (_i & 1)
			add_cycles(5);
		pt_packets_tnt(&run.packets, i % 5 ? "tt" : "tttt");
	}
	finish_with_padding();
	ck_assert_uint_gt(events_before, 3000);
	ck_assert_uint_gt(marked, (events_before - 1000) / 10 * 9);
	ck_assert_uint_gt(chained, 0);
}
END_TEST

/* A packet has more bits than a run. */
START_TEST(jumps_of_each_run_of_a_packet_count)
{
	enum { ROUNDS = 6, JUMPS = 20 };

	begin_with_cycles();
	run.skip = true;
	pt_packets_pge(&run.packets, SAMPLE_MAIN);
	for (unsigned i = 0; i < ROUNDS; i++)
		pt_packets_tnt(&run.packets, "tttttttttttttttttttttttttttttttttttttttt");
	finish_with_padding();
	ck_assert_uint_eq(run.stats.local_jumps, ROUNDS * JUMPS);
}
END_TEST

/* Twelve conditional jumps to the next instruction, and a jump back. */
static void write_loop(void)
{
	uint8_t code[26] = { 0 };

	for (unsigned i = 0; i < sizeof(code); i += 2)
		code[i] = 0x75;
	code[24] = 0xeb;
	code[25] = (uint8_t)-26;
	write_program(code, sizeof(code));
}

/* More runs than are kept, so they replace each other; with padding, which belongs to no run. */
START_TEST(padding_follows_no_code)
{
	enum { ROUNDS = 4, WAYS = 400 };

	begin_with_cycles();
	write_loop();
	pt_packets_pge(&run.packets, SAMPLE_MAIN);
	for (unsigned i = 0; i < ROUNDS * WAYS; i++) {
		for (unsigned half = 0; half < 2; half++) {
			unsigned bits = (i % WAYS * 2 + half) * 0x9e3779b1U >> 26;
			char text[7] = "";

			for (unsigned k = 0; k < 6; k++)
				text[k] = bits >> k & 1 ? 't' : 'n';
			pt_packets_tnt(&run.packets, text);
		}
		add_padding(9);
	}
	add_padding(50);
	finish_with_padding();
	/* The last jump back is not confirmed. */
	ck_assert_uint_eq(run.stats.insns, 13 * ROUNDS * WAYS - 1);
	ck_assert_uint_eq(run.stats.gaps[GAP_MISMATCH], 0);
}
END_TEST

/* main() calls work() twice: the same bits lead to different callers. */
START_TEST(bits_that_were_followed_before_return_to_their_own_callers)
{
	static const char *const bits[] = { "tt", "tt", "tnt", "tt", "tt", "tnt" };
	enum { ROUNDS = 5, PACKETS = 6, EVENTS = 22 };

	begin_with_cycles();
	for (unsigned i = 0; i < ROUNDS; i++) {
		pt_packets_pge(&run.packets, SAMPLE_MAIN);
		for (unsigned k = 0; k < PACKETS; k++) {
			add_cycles(7);
			pt_packets_tnt(&run.packets, bits[k]);
		}
		pt_packets_pgd(&run.packets, 0);
	}
	add_padding(50);
	finish_with_padding();
	ck_assert_uint_eq(run.count, ROUNDS * EVENTS);
	for (size_t i = 0, at = 0; i < ROUNDS; i++) {
		uint64_t time = SAMPLE_START + 7 * PACKETS * i;

		expect(at++, BRANCH_NONE, 0, SAMPLE_MAIN);
		expect_at(at++, time, BRANCH_CALL, SAMPLE_MAIN, SAMPLE_WORK);
		for (unsigned k = 0; k < PACKETS; k++) {
			uint64_t back = SAMPLE_MAIN + (k < 3 ? 5 : 10);

			expect_at(at++, time, BRANCH_CALL, SAMPLE_WORK, SAMPLE_LEAF);
			time += 7;
			expect_at(at++, time, BRANCH_RETURN, SAMPLE_LEAF, SAMPLE_WORK + 5);
			if (bits[k][1] == 't') {
				expect_at(at++, time, BRANCH_COND, SAMPLE_WORK + 5, SAMPLE_WORK);
				continue;
			}
			expect_at(at++, time, BRANCH_RETURN, SAMPLE_WORK + 7, back);
			if (k == 2)
				expect_at(at++, time, BRANCH_CALL, back, SAMPLE_WORK);
		}
		expect(at++, BRANCH_SYSCALL, SAMPLE_SYSCALL, 0);
	}
}
END_TEST

/* Between two TSCs, one-bit packets are, in turn, the return of leaf() and the jump in work(). */
START_TEST(packets_that_were_followed_before_are_followed_from_where_they_are)
{
	static const unsigned counts[] = { 2, 2, 2, 2, 3, 2, 2, 2, 2, 3, 2, 2 };
	size_t bits = 0, at = 1;

	begin_with_cycles();
	pt_packets_pge(&run.packets, SAMPLE_MAIN);
	for (size_t i = 0; i < sizeof(counts) / sizeof(*counts); i++) {
		for (unsigned k = 0; k < counts[i]; k++, bits++)
			pt_packets_tnt(&run.packets, "t");
		pt_packets_tsc(&run.packets, SAMPLE_START + i);
	}
	add_padding(50);
	finish_with_padding();
	expect(at++, BRANCH_CALL, SAMPLE_MAIN, SAMPLE_WORK);
	for (size_t i = 0; i < bits; i++) {
		if (i % 2 == 1) {
			expect(at++, BRANCH_COND, SAMPLE_WORK + 5, SAMPLE_WORK);
			continue;
		}
		expect(at++, BRANCH_CALL, SAMPLE_WORK, SAMPLE_LEAF);
		expect(at++, BRANCH_RETURN, SAMPLE_LEAF, SAMPLE_WORK + 5);
	}
	ck_assert_uint_eq(run.count, at);
}
END_TEST

/*
 * The same bytes of a TIP lead to the same code at another address, after another TIP with a full
 * address (SDM volume 3, "IP Compression").
 */
START_TEST(the_bytes_of_a_target_have_the_upper_bits_of_the_last_one)
{
	static const uint64_t moves[] = { 0, 0, 0, 0, MOVED, MOVED, 0, MOVED };
	enum { ROUNDS = sizeof(moves) / sizeof(*moves), EVENTS = 16 };

	begin_with_cycles();
	add_mapping(SAMPLE_CODE, 0x100, MOVED);
	for (size_t i = 0; i < ROUNDS; i++) {
		pt_packets_pge(&run.packets, SAMPLE_MAIN);
		pt_packets_tnt(&run.packets, "tt");
		add_tip(SAMPLE_WORK + 5 + moves[i], pt_ipc_full);
		pt_packets_tnt(&run.packets, "nt");
		pt_packets_tnt(&run.packets, "tt");
		add_tip(SAMPLE_WORK + 5, pt_ipc_update_16);
		pt_packets_tnt(&run.packets, "nt");
		pt_packets_pgd(&run.packets, 0);
	}
	add_padding(50);
	finish_with_padding();
	ck_assert_uint_eq(run.count, ROUNDS * EVENTS);
	for (size_t i = 0, at = 0; i < ROUNDS; i++) {
		expect(at++, BRANCH_NONE, 0, SAMPLE_MAIN);
		for (unsigned k = 0; k < 2; k++) {
			uint64_t back = SAMPLE_MAIN + (k ? 10 : 5), work = SAMPLE_WORK + moves[i];

			expect(at++, BRANCH_CALL, back - 5, SAMPLE_WORK);
			expect(at++, BRANCH_CALL, SAMPLE_WORK, SAMPLE_LEAF);
			expect(at++, BRANCH_RETURN, SAMPLE_LEAF, SAMPLE_WORK + 5);
			expect(at++, BRANCH_COND, SAMPLE_WORK + 5, SAMPLE_WORK);
			expect(at++, BRANCH_CALL, SAMPLE_WORK, SAMPLE_LEAF);
			expect(at++, BRANCH_RETURN, SAMPLE_LEAF, work + 5);
			expect(at++, BRANCH_RETURN, work + 7, back);
		}
		expect(at++, BRANCH_SYSCALL, SAMPLE_SYSCALL, 0);
	}
}
END_TEST

/* Returns the bytes decoded up to two TNTs that do not fit, after two bytes for each round. */
static uint64_t decode_rounds(unsigned rounds)
{
	begin_with_cycles();
	pt_packets_pge(&run.packets, SAMPLE_MAIN);
	while (rounds--) {
		pt_packets_tnt(&run.packets, "tttttt");
		add_cycles(7);
	}
	pt_packets_tnt(&run.packets, "tttttt");
	pt_packets_tnt(&run.packets, "n");
	add_padding(50);
	finish_with_padding();
	ck_assert_uint_eq(run.stats.gaps[GAP_MISMATCH], 1);
	return run.stats.bytes_decoded;
}

/* Segments begin with no code that was followed before. */
START_TEST(lost_bytes_do_not_depend_on_what_was_followed_before)
{
	uint64_t before = decode_rounds(0);

	for (unsigned rounds = 1; rounds < 8; rounds++)
		ck_assert_uint_eq(decode_rounds(rounds), before + 2 * rounds);
}
END_TEST

/* A TSC before the zero of perf's clock is damage: the time does not change. */
START_TEST(times_before_the_clock_began_do_not_change_the_time)
{
	enum { ROUNDS = 16 };
	const uint64_t zero = SAMPLE_START / 2;

	begin_with_clock(-zero);
	pt_packets_pge(&run.packets, SAMPLE_MAIN);
	for (unsigned i = 0; i < ROUNDS; i++) {
		if (i == ROUNDS / 2)
			pt_packets_tsc(&run.packets, zero / 2);
		add_cycles(7);
		pt_packets_tnt(&run.packets, "tt");
	}
	add_padding(50);
	finish_with_padding();
	for (size_t i = 0; i < ROUNDS; i++) {
		uint64_t cycles = 7 * (i < ROUNDS / 2 ? i + 1 : ROUNDS / 2);

		expect_at(3 * i + 3, SAMPLE_START - zero + cycles, BRANCH_RETURN, SAMPLE_LEAF,
			  SAMPLE_WORK + 5);
	}
}
END_TEST

/*
 * One bit of a TSC is wrong (`_i / 2`: upwards): it, or the next TSC, is before an earlier one,
 * also across a PSB (`_i % 2`).
 */
START_TEST(a_tsc_that_goes_back_is_counted)
{
	uint64_t wrong = _i / 2 ? 0x100000 : -0x100000;

	begin_with_cycles();
	pt_packets_pge(&run.packets, SAMPLE_MAIN);
	for (unsigned i = 1; i < 4; i++) {
		uint64_t tsc = SAMPLE_START + i * 0x1000 + (i == 2 ? wrong : 0);

		if (_i % 2)
			pt_packets_psb(&run.packets, tsc, SAMPLE_LEAF);
		else
			pt_packets_tsc(&run.packets, tsc);
		pt_packets_tnt(&run.packets, "tt");
	}
	finish_with_padding();
	ck_assert_uint_eq(run.stats.times_impossible, 1);
}
END_TEST

/*
 * The next MTC is far away.  The first AUX record, 700 ticks after the TSC, reports 1000 cycles,
 * and the second one 500 more.
 */
START_TEST(cycles_between_mtcs_do_not_pass_the_aux_record_of_their_bytes)
{
	size_t reported;

	begin_with_cycles();
	pt_packets_pge(&run.packets, SAMPLE_MAIN);
	add_cycles(1000);
	pt_packets_tnt(&run.packets, "t");
	reported = pt_packets_size(&run.packets);
	stamp(SAMPLE_START + 700);
	perf_data_add_aux_event(&run.data, 0, reported, 0);
	add_cycles(500);
	pt_packets_tnt(&run.packets, "nt");
	stamp(SAMPLE_START + 5000);
	perf_data_add_aux_event(&run.data, reported, pt_packets_size(&run.packets) - reported, 0);
	finish();
	expect_at(3, SAMPLE_START + 700, BRANCH_RETURN, SAMPLE_LEAF, SAMPLE_WORK + 5);
	expect_at(4, SAMPLE_START + 1500, BRANCH_RETURN, SAMPLE_WORK + 7, SAMPLE_MAIN + 5);
}
END_TEST

/*
 * So do cycles before packets that were followed before.  `_i`: padding separates the CYC after the
 * first record from the one before it.
 */
START_TEST(cycles_of_known_code_do_not_pass_the_aux_record_of_their_bytes)
{
	enum { ROUNDS = 8 };
	size_t reported;

	begin_with_cycles();
	pt_packets_pge(&run.packets, SAMPLE_MAIN);
	for (unsigned i = 0; i < ROUNDS; i++)
		pt_packets_tnt(&run.packets, "tt");
	add_cycles(1000);
	if (_i)
		add_padding(2);
	else
		pt_packets_tnt(&run.packets, "tt");
	reported = pt_packets_size(&run.packets);
	stamp(SAMPLE_START + 700);
	perf_data_add_aux_event(&run.data, 0, reported, 0);
	add_cycles(500);
	pt_packets_tnt(&run.packets, "tt");
	add_padding(50);
	stamp(SAMPLE_START + 5000);
	perf_data_add_aux_event(&run.data, reported, pt_packets_size(&run.packets) - reported, 0);
	finish_with_padding();
	expect_at(3 * ROUNDS, SAMPLE_START, BRANCH_RETURN, SAMPLE_LEAF, SAMPLE_WORK + 5);
	if (!_i)
		expect_at(3 * ROUNDS + 3, SAMPLE_START + 700, BRANCH_RETURN, SAMPLE_LEAF,
			  SAMPLE_WORK + 5);
	expect_at(3 * ROUNDS + 6 - 3 * _i, SAMPLE_START + 1500, BRANCH_RETURN, SAMPLE_LEAF,
		  SAMPLE_WORK + 5);
}
END_TEST

/*
 * Timing packets are 300 ns early or late; the switch record is at SAMPLE_START + 1000.  The thread
 * changes at the entry of __switch_to (here KERNEL_SYS), not at the timing packet.
 */
START_TEST(threads_change_where_the_kernel_switches_them)
{
	char path[PERF_DATA_PATH];

	begin(_i / 3);
	add_kernel(path);
	run.switch_ip = KERNEL_SYS;
	stamp(SAMPLE_START + 1000);
	perf_data_add_switch(&run.data, true, SAMPLE_PID, SAMPLE_PID + 1);
	pt_packets_psb(&run.packets, SAMPLE_START, 0);
	pt_packets_pge(&run.packets, SAMPLE_SYSCALL);
	pt_packets_tsc(&run.packets, SAMPLE_START + 1000 + 300 * (_i % 3 - 1));
	pt_packets_tip(&run.packets, KERNEL);
	pt_packets_tnt(&run.packets, "t");
	pt_packets_tip(&run.packets, SAMPLE_SYSCALL + 2);
	pt_packets_fup(&run.packets, SAMPLE_SYSCALL + 2);
	pt_packets_pgd(&run.packets, 0);
	finish();
	unlink(path);
	expect(1, BRANCH_SYSCALL, SAMPLE_SYSCALL, KERNEL);
	ck_assert_int_eq(run.tids[1], SAMPLE_PID);
	expect(2, BRANCH_CALL, KERNEL, KERNEL_SYS);
	ck_assert_int_eq(run.tids[2], SAMPLE_PID);
	expect(3, BRANCH_RETURN, KERNEL_SYS, KERNEL + 5);
	ck_assert_int_eq(run.tids[3], SAMPLE_PID + 1);
}
END_TEST

/*
 * Two threads have the same code, and the clock may be 500 ns early. Shortly before the other one's
 * turn, user code begins where the other one stopped. If the thread left by a system call, it
 * continues after that, so the other one runs; if it left in another way, it may continue anywhere.
 */
START_TEST(a_thread_whose_stop_is_unknown_may_continue_anywhere)
{
	const int engine = _i / 2;
	const bool by_call = _i % 2;

	begin_with_cycles();
	run.engine = (enum pt_engine)engine;
	perf_data_add_fork(&run.data, SAMPLE_PID, SAMPLE_PID + 1, SAMPLE_PID);
	stamp(SAMPLE_START + 1000);
	perf_data_add_switch(&run.data, true, SAMPLE_PID, SAMPLE_PID + 1);
	perf_data_stamp(&run.data, (struct perf_data_stamp){ .time = SAMPLE_START + 3000,
							     .pid = SAMPLE_PID,
							     .tid = SAMPLE_PID + 1 });
	perf_data_add_switch(&run.data, true, SAMPLE_PID, SAMPLE_PID);
	pt_packets_pge(&run.packets, SAMPLE_LEAF);
	pt_packets_fup(&run.packets, SAMPLE_LEAF);
	pt_packets_pgd(&run.packets, 0);
	pt_packets_tsc(&run.packets, SAMPLE_START + 2000);
	pt_packets_pge(&run.packets, by_call ? SAMPLE_SYSCALL : SAMPLE_WORK + 7);
	pt_packets_pgd(&run.packets, 0);
	pt_packets_tsc(&run.packets, SAMPLE_START + 2800);
	pt_packets_pge(&run.packets, SAMPLE_LEAF);
	pt_packets_pgd(&run.packets, 0);
	finish();
	expect(3, by_call ? BRANCH_SYSCALL : BRANCH_RETURN,
	       by_call ? SAMPLE_SYSCALL : SAMPLE_WORK + 7, 0);
	ck_assert_int_eq(run.tids[3], SAMPLE_PID + 1);
	expect(5, BRANCH_RETURN, SAMPLE_LEAF, 0);
	ck_assert_int_eq(run.tids[5], by_call ? SAMPLE_PID : SAMPLE_PID + 1);
}
END_TEST

/* A system call, up to a FUP, after which tracing goes off. */
static void add_system_call(uint64_t time)
{
	pt_packets_pge(&run.packets, SAMPLE_SYSCALL);
	pt_packets_tsc(&run.packets, time);
	pt_packets_tip(&run.packets, KERNEL);
	pt_packets_tnt(&run.packets, "t");
	pt_packets_tip(&run.packets, SAMPLE_SYSCALL + 2);
	pt_packets_fup(&run.packets, SAMPLE_SYSCALL + 2);
	pt_packets_pgd(&run.packets, 0);
}

/* Kernel code that was followed before, with a switch record between two packets. */
START_TEST(threads_change_between_packets_of_known_code)
{
	enum { ROUNDS = 16 };
	char path[PERF_DATA_PATH];

	begin_with_cycles();
	add_kernel(path);
	stamp(SAMPLE_START + 50);
	perf_data_add_switch(&run.data, true, SAMPLE_PID, SAMPLE_PID + 1);
	pt_packets_pge(&run.packets, KERNEL);
	for (unsigned i = 0; i < ROUNDS; i++) {
		add_cycles(7);
		add_tip(KERNEL, pt_ipc_sext_48);
	}
	finish_with_padding();
	unlink(path);
	for (size_t i = 0; i < ROUNDS; i++) {
		uint64_t time = SAMPLE_START + 7 * (i + 1);

		expect_at(2 * i + 2, time, BRANCH_RETURN, KERNEL_SYS, KERNEL);
		ck_assert_int_eq(run.tids[2 * i + 2], SAMPLE_PID + (time >= SAMPLE_START + 50));
	}
}
END_TEST

/* A header of kernel code on the way has a time after the record, but no thread of its own. */
START_TEST(a_header_before_the_kernel_switches_changes_no_thread)
{
	char path[PERF_DATA_PATH];

	begin(PT_ENGINE_FAST);
	add_kernel(path);
	run.switch_ip = KERNEL_SYS;
	stamp(SAMPLE_START + 1000);
	perf_data_add_switch(&run.data, true, SAMPLE_PID, SAMPLE_PID + 1);
	pt_packets_psb(&run.packets, SAMPLE_START, 0);
	pt_packets_pge(&run.packets, SAMPLE_SYSCALL);
	pt_packets_tip(&run.packets, KERNEL);
	pt_packets_psb(&run.packets, SAMPLE_START + 1100, KERNEL);
	pt_packets_tnt(&run.packets, "t");
	finish();
	unlink(path);
	expect(2, BRANCH_CALL, KERNEL, KERNEL_SYS);
	ck_assert_int_eq(run.tids[2], SAMPLE_PID);
	expect(3, BRANCH_RETURN, KERNEL_SYS, KERNEL + 5);
	ck_assert_int_eq(run.tids[3], SAMPLE_PID + 1);
}
END_TEST

/* Even if the path was decoded before. */
START_TEST(threads_change_there_each_time)
{
	char path[PERF_DATA_PATH];

	begin(_i);
	add_kernel(path);
	run.switch_ip = KERNEL_SYS;
	stamp(SAMPLE_START + 1000);
	perf_data_add_switch(&run.data, true, SAMPLE_PID, SAMPLE_PID + 1);
	perf_data_stamp(&run.data, (struct perf_data_stamp){ .time = SAMPLE_START + 3000,
							     .pid = SAMPLE_PID,
							     .tid = SAMPLE_PID + 1 });
	perf_data_add_switch(&run.data, true, SAMPLE_PID, SAMPLE_PID);
	pt_packets_psb(&run.packets, SAMPLE_START, 0);
	add_system_call(SAMPLE_START + 1000);
	add_system_call(SAMPLE_START + 3000);
	finish();
	unlink(path);
	for (size_t i = 0; i < 2; i++) {
		expect(6 * i + 2, BRANCH_CALL, KERNEL, KERNEL_SYS);
		ck_assert_int_eq(run.tids[6 * i + 2], SAMPLE_PID + (int)i);
		expect(6 * i + 3, BRANCH_RETURN, KERNEL_SYS, KERNEL + 5);
		ck_assert_int_eq(run.tids[6 * i + 3], SAMPLE_PID + !i);
	}
}
END_TEST

/* Also by an interrupt's return: the thread may be preempted before it leaves the kernel. */
START_TEST(where_the_kernel_enters_user_code_this_is_of_the_program_that_exec_ran)
{
	const uint64_t work = SAMPLE_WORK + MOVED;
	bool interrupted = _i / 2;
	char path[PERF_DATA_PATH];

	begin(_i % 2);
	add_kernel(path);
	stamp(SAMPLE_START + 1000);
	perf_data_add_comm(&run.data, PERF_RECORD_MISC_COMM_EXEC, SAMPLE_PID, SAMPLE_PID, "new");
	add_mapping(SAMPLE_CODE, 0x100, MOVED);
	pt_packets_psb(&run.packets, SAMPLE_START, 0);
	pt_packets_pge(&run.packets, SAMPLE_SYSCALL);
	pt_packets_tip(&run.packets, KERNEL);
	pt_packets_tsc(&run.packets, SAMPLE_START + 2000);
	pt_packets_tnt(&run.packets, "t");
	if (interrupted) {
		pt_packets_fup(&run.packets, KERNEL + 5);
		pt_packets_tip(&run.packets, KERNEL_FAULT);
	}
	pt_packets_tip(&run.packets, work);
	pt_packets_tnt(&run.packets, "tn");
	pt_packets_fup(&run.packets, work + 7);
	pt_packets_pgd(&run.packets, 0);
	finish();
	unlink(path);
	expect(4 + interrupted, interrupted ? BRANCH_IRET : BRANCH_SYSRET,
	       interrupted ? KERNEL_FAULT + 1 : KERNEL + 5, work);
	expect(5 + interrupted, BRANCH_CALL, work, SAMPLE_LEAF + MOVED);
	ck_assert_ptr_ne(run.events[1].space, run.events[4 + interrupted].space);
	for (size_t i = 0; i < run.count; i++)
		ck_assert_int_ne(run.events[i].kind, BRANCH_GAP);
}
END_TEST

/*
 * The clock is late: by its time, the exec comes after all packets.  Both programs have one entry.
 * After a page fault on its first instruction, a program resumes there; after an interrupt of
 * other code, only an exec leads there.
 */
START_TEST(an_interrupted_thread_that_enters_at_the_entry_runs_the_next_program_or_resumes)
{
	const bool faulted = _i / 2;
	const size_t first = faulted ? 1 : 2;
	char path[PERF_DATA_PATH];

	begin(_i % 2);
	add_kernel(path);
	stamp(SAMPLE_START + 1000);
	perf_data_add_comm(&run.data, PERF_RECORD_MISC_COMM_EXEC, SAMPLE_PID, SAMPLE_PID, "new");
	add_mapping(SAMPLE_CODE, 0x1000, 0);
	pt_packets_psb(&run.packets, SAMPLE_START, 0);
	pt_packets_pge(&run.packets, SAMPLE_MAIN);
	pt_packets_fup(&run.packets, faulted ? SAMPLE_MAIN : SAMPLE_WORK);
	pt_packets_tip(&run.packets, KERNEL_FAULT);
	pt_packets_tip(&run.packets, SAMPLE_MAIN);
	pt_packets_fup(&run.packets, SAMPLE_WORK);
	pt_packets_pgd(&run.packets, 0);
	finish();
	unlink(path);
	expect(first, BRANCH_INTERRUPT, faulted ? SAMPLE_MAIN : SAMPLE_WORK, KERNEL_FAULT);
	expect(first + 1, BRANCH_IRET, KERNEL_FAULT + 1, SAMPLE_MAIN);
	expect(first + 2, BRANCH_CALL, SAMPLE_MAIN, SAMPLE_WORK);
	ck_assert_int_eq(run.events[0].space == run.events[first + 2].space, faulted);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("pt_stream_time");
	TCase *all = tcase_create("pt_stream_time");

	tcase_add_loop_test(all, cycles_end_with_the_first_branch_of_the_packet, 0, 4);
	tcase_add_test(all, bits_of_another_segment_are_not_followed);
	tcase_add_test(all, code_that_was_followed_before_has_the_times_of_its_packets);
	tcase_add_loop_test(all, code_that_was_followed_before_has_the_cycles_of_its_packets, 0, 4);
	tcase_add_loop_test(all, code_that_was_followed_before_is_not_followed_again, 0, 4);
	tcase_add_test(all, jumps_of_each_run_of_a_packet_count);
	tcase_add_test(all, padding_follows_no_code);
	tcase_add_test(all, bits_that_were_followed_before_return_to_their_own_callers);
	tcase_add_test(all, packets_that_were_followed_before_are_followed_from_where_they_are);
	tcase_add_test(all, the_bytes_of_a_target_have_the_upper_bits_of_the_last_one);
	tcase_add_test(all, lost_bytes_do_not_depend_on_what_was_followed_before);
	tcase_add_test(all, times_before_the_clock_began_do_not_change_the_time);
	tcase_add_loop_test(all, a_tsc_that_goes_back_is_counted, 0, 4);
	tcase_add_test(all, cycles_between_mtcs_do_not_pass_the_aux_record_of_their_bytes);
	tcase_add_loop_test(all, cycles_of_known_code_do_not_pass_the_aux_record_of_their_bytes, 0,
			    2);
	tcase_add_loop_test(all, threads_change_where_the_kernel_switches_them, 0, 6);
	tcase_add_loop_test(all, a_thread_whose_stop_is_unknown_may_continue_anywhere, 0, 4);
	tcase_add_test(all, threads_change_between_packets_of_known_code);
	tcase_add_loop_test(all, cycles_of_any_size_count_once, 0, 7);
	tcase_add_test(all, a_header_before_the_kernel_switches_changes_no_thread);
	tcase_add_loop_test(all, threads_change_there_each_time, 0, 2);
	tcase_add_loop_test(
		all, where_the_kernel_enters_user_code_this_is_of_the_program_that_exec_ran, 0, 4);
	tcase_add_loop_test(
		all,
		an_interrupted_thread_that_enters_at_the_entry_runs_the_next_program_or_resumes, 0,
		4);
	suite_add_tcase(suite, all);
	return unit_run(suite);
}
