/* SPDX-License-Identifier: MIT */
/* The engine on packets beside the flow, kernel code, modes, and sizes of targets. */
#include "tests/unit/decoder/stream_run.h"

/* A system call; then a page fault in an interrupt. */
START_TEST(kernel_code_is_entered_and_left_by_its_own_instructions)
{
	char path[PERF_DATA_PATH];

	begin(_i);
	add_kernel(path);
	pt_packets_psb(&run.packets, SAMPLE_START, 0);
	pt_packets_pge(&run.packets, SAMPLE_SYSCALL);
	pt_packets_tip(&run.packets, KERNEL);
	pt_packets_tnt(&run.packets, "t");
	pt_packets_tip(&run.packets, SAMPLE_SYSCALL + 2);
	pt_packets_fup(&run.packets, SAMPLE_SYSCALL + 2);
	pt_packets_tip(&run.packets, KERNEL_FAULT);
	pt_packets_fup(&run.packets, KERNEL_FAULT);
	pt_packets_tip(&run.packets, KERNEL_FAULT);
	pt_packets_tip(&run.packets, KERNEL_FAULT);
	pt_packets_tip(&run.packets, SAMPLE_SYSCALL + 2);
	pt_packets_fup(&run.packets, SAMPLE_SYSCALL + 2);
	pt_packets_pgd(&run.packets, 0);
	finish();
	unlink(path);
	ck_assert_uint_eq(run.count, 10);
	expect(1, BRANCH_SYSCALL, SAMPLE_SYSCALL, KERNEL);
	expect(2, BRANCH_CALL, KERNEL, KERNEL_SYS);
	expect(3, BRANCH_RETURN, KERNEL_SYS, KERNEL + 5);
	expect(4, BRANCH_SYSRET, KERNEL + 5, SAMPLE_SYSCALL + 2);
	expect(5, BRANCH_INTERRUPT, SAMPLE_SYSCALL + 2, KERNEL_FAULT);
	expect(6, BRANCH_INTERRUPT, KERNEL_FAULT, KERNEL_FAULT);
	expect(7, BRANCH_IRET, KERNEL_FAULT + 1, KERNEL_FAULT);
	expect(8, BRANCH_IRET, KERNEL_FAULT + 1, SAMPLE_SYSCALL + 2);
	expect(9, BRANCH_NONE, SAMPLE_SYSCALL + 2, 0);
	expect_all_bytes_counted();
}
END_TEST

static void add_packet(const struct pt_packet *packet)
{
	ck_assert_int_gt(pt_enc_next(run.packets.encoder, packet), 0);
}

/*
 * Packets of other address spaces, guests and buffers between a call and its return do not affect
 * the flow.  (libipt looks for the instructions that cause PIP and VMCS.)
 */
START_TEST(packets_beside_the_flow_do_not_change_it)
{
	static const enum pt_packet_type types[] = { ppt_pip, ppt_vmcs, ppt_mnt, ppt_stop,
						     ppt_pad };

	begin(PT_ENGINE_FAST);
	pt_packets_psb(&run.packets, SAMPLE_START, 0);
	/* work: call leaf; jne is not taken; ret */
	pt_packets_pge(&run.packets, SAMPLE_WORK);
	pt_packets_tnt(&run.packets, "t");
	add_packet(&(struct pt_packet){ .type = types[_i] });
	pt_packets_tnt(&run.packets, "n");
	pt_packets_pgd(&run.packets, 0);
	finish();
	ck_assert_uint_eq(run.count, 4);
	expect(1, BRANCH_CALL, SAMPLE_WORK, SAMPLE_LEAF);
	expect(2, BRANCH_RETURN, SAMPLE_LEAF, SAMPLE_WORK + 5);
	expect(3, BRANCH_RETURN, SAMPLE_WORK + 7, 0);
	expect_all_bytes_counted();
}
END_TEST

/* The header of a PSB has a FUP while tracing is on (SDM volume 3, "PSB Packet"). */
START_TEST(a_psb_that_shows_tracing_off_reveals_that_its_end_is_lost)
{
	begin(PT_ENGINE_FAST);
	pt_packets_psb(&run.packets, SAMPLE_START, 0);
	pt_packets_pge(&run.packets, SAMPLE_WORK);
	pt_packets_tnt(&run.packets, "t");
	pt_packets_psb(&run.packets, SAMPLE_START + 10, 0);
	pt_packets_pge(&run.packets, SAMPLE_LEAF);
	pt_packets_pgd(&run.packets, 0);
	finish();
	ck_assert_int_eq(run.events[run.count - 3].kind, BRANCH_GAP);
	ck_assert_int_eq(run.events[run.count - 3].gap, GAP_MISMATCH);
	expect(run.count - 2, BRANCH_NONE, 0, SAMPLE_LEAF);
	expect(run.count - 1, BRANCH_RETURN, SAMPLE_LEAF, 0);
}
END_TEST

/* Returns the offset of the packet after `at`; 0: none. */
static size_t next_packet(struct pt_packets *packets, size_t at)
{
	struct pt_packet_decoder *decoder;
	struct pt_packet packet;
	struct pt_config config;
	int size;

	pt_config_init(&config);
	config.begin = packets->bytes;
	config.end = packets->bytes + pt_packets_size(packets);
	decoder = pt_pkt_alloc_decoder(&config);
	pt_pkt_sync_set(decoder, at);
	size = pt_pkt_next(decoder, &packet, sizeof(packet));
	pt_pkt_free_decoder(decoder);
	return size > 0 ? at + (size_t)size : 0;
}

/* TRIG, with and without an instruction count, after each packet from the header on. */
START_TEST(a_trigger_changes_no_branch_wherever_it_is)
{
	static const uint8_t triggers[2][5] = { { 0xd9, 0x20, 0x04 },
						{ 0xd9, 0x40, 0xff, 0x0d, 0x02 } };
	struct branch_event plain[22];
	struct pt_packets trace;
	size_t header;

	pt_packets_init(&trace);
	pt_packets_psb(&trace, SAMPLE_START, 0);
	header = pt_packets_size(&trace);
	pt_packets_release(&trace);
	pt_packets_init(&trace);
	sample_trace(&trace);
	begin(_i / 2);
	sample_trace(&run.packets);
	finish();
	memcpy(plain, run.events, sizeof(plain));
	for (size_t at = header; at; at = next_packet(&trace, at)) {
		begin(_i / 2);
		pt_packets_raw(&run.packets, trace.bytes, at);
		pt_packets_raw(&run.packets, triggers[_i % 2], _i % 2 ? 5 : 3);
		pt_packets_raw(&run.packets, trace.bytes + at, pt_packets_size(&trace) - at);
		finish();
		ck_assert_uint_eq(run.count, 22);
		for (size_t i = 0; i < 22; i++)
			expect(i, plain[i].kind, plain[i].from, plain[i].to);
	}
	pt_packets_release(&trace);
}
END_TEST

/* Padding is skipped in one step; the next packet is read. */
START_TEST(padding_of_any_length_is_passed_over)
{
	static const uint8_t zeros[4000];

	begin(PT_ENGINE_FAST);
	pt_packets_psb(&run.packets, SAMPLE_START, 0);
	pt_packets_pge(&run.packets, SAMPLE_WORK);
	pt_packets_tnt(&run.packets, "t");
	pt_packets_raw(&run.packets, zeros, (size_t)_i);
	pt_packets_tnt(&run.packets, "n");
	pt_packets_raw(&run.packets, zeros, (size_t)_i * 40);
	pt_packets_pgd(&run.packets, 0);
	finish();
	ck_assert_uint_eq(run.count, 4);
	expect(3, BRANCH_RETURN, SAMPLE_WORK + 7, 0);
	expect_all_bytes_counted();
}
END_TEST

/*
 * SDM volume 3, "IP Compression": the packet has some bytes of an address, the previous IP the
 * others.
 */
START_TEST(a_target_has_the_bytes_of_its_packet)
{
	static const uint8_t padding[100];
	static const struct {
		unsigned compression;
		size_t size;
		uint64_t moved;
	} targets[] = {
		{ 1, 2, 0x2000 },
		{ 2, 4, 0x12345000 },
		{ 3, 6, UINT64_C(0x123456789000) },
		{ 4, 6, UINT64_C(0x123456789000) },
		{ 6, 8, UINT64_C(0x123456789000) },
	};
	const uint64_t moved = targets[_i].moved, to = SAMPLE_WORK + moved;
	struct perf_data_mmap map = {
		.pid = SAMPLE_PID,
		.tid = SAMPLE_PID,
		.address = SAMPLE_CODE + moved,
		.length = 0x1000,
		.file_offset = TINY_ELF_CODE_OFFSET,
		.path = SAMPLE_PATH,
		.prot = 5,
	};
	uint8_t bytes[9] = { (uint8_t)(0x0d | targets[_i].compression << 5) };

	begin(PT_ENGINE_FAST);
	perf_data_add_mmap2(&run.data, 0, &map);
	for (size_t i = 0; i < targets[_i].size; i++)
		bytes[1 + i] = (uint8_t)(to >> 8 * i);
	pt_packets_psb(&run.packets, SAMPLE_START, 0);
	pt_packets_pge(&run.packets, SAMPLE_LEAF);
	pt_packets_raw(&run.packets, bytes, 1 + targets[_i].size);
	pt_packets_tnt(&run.packets, "tn");
	pt_packets_raw(&run.packets, padding, sizeof(padding));
	pt_packets_pgd(&run.packets, 0);
	finish();
	expect(1, BRANCH_RETURN, SAMPLE_LEAF, to);
	expect(2, BRANCH_CALL, to, SAMPLE_LEAF + moved);
	expect(3, BRANCH_RETURN, SAMPLE_LEAF + moved, to + 5);
	expect_all_bytes_counted();
}
END_TEST

/*
 * SDM volume 3, "MODE.Exec Packet": CS.L, CS.D.  In 64-bit mode this code is one call with a
 * prefix, in 32- and 16-bit mode a dec and a call with a distance of 4 or 2 bytes.
 */
static const uint8_t mode_bytes[] = {
	0x48, 0xe8, 0x10, 0x00, 0x00, 0x00, 0xc3, [0x14] = 0xc3, 0x90, 0xc3,
};

START_TEST(code_has_the_mode_of_the_trace)
{
	static const struct {
		bool l, d;
		uint64_t call, target, after;
	} modes[] = {
		{ true, false, SAMPLE_MAIN, SAMPLE_MAIN + 0x16, SAMPLE_MAIN + 6 },
		{ false, true, SAMPLE_MAIN + 1, SAMPLE_MAIN + 0x16, SAMPLE_MAIN + 6 },
		{ false, false, SAMPLE_MAIN + 1, SAMPLE_MAIN + 0x14, SAMPLE_MAIN + 4 },
	};
	struct pt_packet mode = { .type = ppt_mode };

	begin(_i / 3);
	memcpy(run.program_bytes + TINY_ELF_CODE_OFFSET, mode_bytes, sizeof(mode_bytes));
	pt_packets_psb(&run.packets, SAMPLE_START, 0);
	mode.payload.mode.leaf = pt_mol_exec;
	mode.payload.mode.bits.exec.csl = modes[_i % 3].l;
	mode.payload.mode.bits.exec.csd = modes[_i % 3].d;
	add_packet(&mode);
	pt_packets_pge(&run.packets, SAMPLE_MAIN);
	pt_packets_tnt(&run.packets, "t");
	pt_packets_pgd(&run.packets, 0);
	finish();
	expect(1, BRANCH_CALL, modes[_i % 3].call, modes[_i % 3].target);
	expect(2, BRANCH_RETURN, modes[_i % 3].target, modes[_i % 3].after);
}
END_TEST

/* Code cannot be of 64 and 32 bits; libipt 2.1 decodes it in a mode of its own. */
START_TEST(libipt_loses_code_of_a_mode_that_does_not_exist)
{
	static const uint8_t mode[] = { 0x99, 0x03 };

	begin(PT_ENGINE_LIBIPT);
	memcpy(run.program_bytes + TINY_ELF_CODE_OFFSET, mode_bytes, sizeof(mode_bytes));
	pt_packets_psb(&run.packets, SAMPLE_START, 0);
	pt_packets_raw(&run.packets, mode, sizeof(mode));
	pt_packets_pge(&run.packets, SAMPLE_MAIN);
	pt_packets_tnt(&run.packets, "t");
	pt_packets_pgd(&run.packets, 0);
	finish();
	expect(1, BRANCH_GAP, SAMPLE_MAIN, 0);
	for (size_t i = 0; i < run.count; i++)
		ck_assert_int_ne(run.events[i].kind, BRANCH_CALL);
}
END_TEST

/* The engines resume at different places. */
START_TEST(a_fup_whose_tip_is_missing_is_a_gap)
{
	size_t gaps = 0;

	begin(_i);
	pt_packets_psb(&run.packets, SAMPLE_START, 0);
	pt_packets_pge(&run.packets, SAMPLE_MAIN);
	pt_packets_fup(&run.packets, SAMPLE_MAIN);
	pt_packets_fup(&run.packets, SAMPLE_WORK);
	pt_packets_pgd(&run.packets, 0);
	finish();
	for (size_t i = 0; i < run.count; i++)
		gaps += run.events[i].kind == BRANCH_GAP;
	ck_assert_uint_eq(gaps, 1);
}
END_TEST

/* perf record -e intel_pt/branch=0/, and /notnt/: bits 13 and 55 of the event. */
START_TEST(an_event_that_leaves_out_branches_is_a_warning)
{
	static const uint64_t configs[] = { 0x401, UINT64_C(1) << 55 | 0x2401 };

	begin(PT_ENGINE_FAST);
	run.data.events[0].attr.config = configs[_i];
	pt_packets_psb(&run.packets, SAMPLE_START, 0);
	finish();
	ck_assert_uint_eq(run.count, 0);
	ck_assert_uint_eq(diag_kinds(&run.diag), 1);
	ck_assert_ptr_nonnull(strstr(run.diag.first->text, _i ? "notnt" : "branch=0"));
	expect_all_bytes_counted();
}
END_TEST

/*
 * By the bus ratio, the cycles take 2000 ticks; but the next TSC or an AUX record is 1000 ticks
 * after the first.  A TSC may be 40,000 bytes away.
 */
static const struct perf_data_pt_info info_of_cycles = {
	.pmu_type = SAMPLE_PMU,
	.time_mult = 1,
	.cap_user_time_zero = 1,
	.tsc_bit = 0x400,
	.noretcomp_bit = 0x800,
	.per_cpu_mmaps = 1,
	.cyc_bit = 2,
	.max_nonturbo_ratio = 25,
};

START_TEST(cycles_do_not_pass_the_next_time_that_is_known)
{
	static const struct pt_packet cycles = { .type = ppt_cyc, .payload.cyc.value = 1000 };

	begin(PT_ENGINE_FAST);
	run.data.events[0].attr.config |= info_of_cycles.cyc_bit;
	perf_data_add_pt_info(&run.data, &info_of_cycles, NULL);
	pt_packets_psb(&run.packets, SAMPLE_START, 0);
	pt_packets_pge(&run.packets, SAMPLE_MAIN);
	pt_packets_add(&run.packets, &cycles);
	pt_packets_tnt(&run.packets, "t");
	pt_packets_add(&run.packets, &cycles);
	pt_packets_tnt(&run.packets, "nt");
	for (size_t i = 0; _i == 2 && i < 40000; i++)
		pt_packets_raw(&run.packets, "", 1);
	if (_i)
		pt_packets_tsc(&run.packets, SAMPLE_START + 1000);
	stamp(SAMPLE_START + (_i ? 5000 : 1000));
	perf_data_add_aux_event(&run.data, 0, pt_packets_size(&run.packets), 0);
	finish();
	expect(3, BRANCH_RETURN, SAMPLE_LEAF, SAMPLE_WORK + 5);
	ck_assert_uint_eq(run.events[3].time, SAMPLE_START + 500);
	expect(4, BRANCH_RETURN, SAMPLE_WORK + 7, SAMPLE_MAIN + 5);
	ck_assert_uint_eq(run.events[4].time, SAMPLE_START + 1000);
}
END_TEST

/*
 * Neither do cycles before other packets, which do not hide the next time, whatever their size. The
 * flow is in leaf() before them. `has_cycles`: they have more than the 2000 cycles before them.
 */
static const struct {
	const char *bytes;
	size_t size;
	bool has_cycles;
} between[] = {
	{ "", 0, false },
	{ "\0\0\0", 3, false },                     /* PAD */
	{ "\x06", 1, false },                       /* TNT */
	{ "\x02\xa3\x03\0\0\0\0\0", 8, false },     /* long TNT */
	{ "\x02\x03\x21\0", 4, false },             /* CBR */
	{ "\x02\x12\x04\x03\x02\x01", 6, false },   /* PTW */
	{ "\x2d\x25\x10", 3, false },               /* TIP of 2 bytes: W+5 */
	{ "\x4d\x25\x10\x40\0", 5, false },         /* of 4 */
	{ "\x6d\x25\x10\x40\0\0\0", 7, false },     /* of 6, sign-extended */
	{ "\x8d\x25\x10\x40\0\0\0", 7, false },     /* of 6 */
	{ "\xcd\x25\x10\x40\0\0\0\0\0", 9, false }, /* of 8 */
	{ "\x2f\x3e", 2, true },                    /* CYC of 2 bytes */
	{ "\x2f\x3f\x02", 3, true },                /* CYC of 3 bytes */
	{ "\x0b\0\x0b", 3, true },                  /* CYC of a byte, PAD, CYC */
};

/* The cycles of a CYC packet (SDM volume 3, CYC packet): 5 bits, then 7 of each byte. */
static uint64_t cycles_of(const char *bytes, size_t size)
{
	uint64_t cycles = 0;

	for (size_t i = 0; i < size; i++) {
		uint8_t byte = (uint8_t)bytes[i];
		unsigned shift = 5;
		bool more;

		if ((byte & 3) != 3)
			continue;
		cycles += byte >> 3;
		for (more = byte & 4; more; shift += 7) {
			byte = (uint8_t)bytes[++i];
			cycles += (uint64_t)(byte >> 1) << shift;
			more = byte & 1;
		}
	}
	return cycles;
}

START_TEST(packets_before_the_next_time_do_not_hide_it)
{
	static const struct pt_packet cycles = { .type = ppt_cyc, .payload.cyc.value = 1000 };
	const char *bytes = between[_i / 2].bytes;
	uint64_t sum = 2000;

	if (between[_i / 2].has_cycles)
		sum += cycles_of(bytes, between[_i / 2].size);
	begin(PT_ENGINE_FAST);
	run.padded = _i % 2;
	run.data.events[0].attr.config |= info_of_cycles.cyc_bit;
	perf_data_add_pt_info(&run.data, &info_of_cycles, NULL);
	pt_packets_psb(&run.packets, SAMPLE_START, 0);
	pt_packets_pge(&run.packets, SAMPLE_MAIN);
	pt_packets_add(&run.packets, &cycles);
	pt_packets_tnt(&run.packets, "t");
	pt_packets_add(&run.packets, &cycles);
	pt_packets_tnt(&run.packets, "nt");
	pt_packets_raw(&run.packets, bytes, between[_i / 2].size);
	pt_packets_tsc(&run.packets, SAMPLE_START + 1000);
	stamp(SAMPLE_START + 5000);
	perf_data_add_aux_event(&run.data, 0, pt_packets_size(&run.packets), 0);
	finish();
	expect(3, BRANCH_RETURN, SAMPLE_LEAF, SAMPLE_WORK + 5);
	expect(4, BRANCH_RETURN, SAMPLE_WORK + 7, SAMPLE_MAIN + 5);
	ck_assert_uint_le(run.events[3].time - SAMPLE_START - 1000 * 1000 / sum, 1);
	ck_assert_uint_le(run.events[4].time - SAMPLE_START - 2000 * 1000 / sum, 1);
}
END_TEST

/*
 * The same in 2 MB of trace, of which less is in memory at a time: a TSC is 1000 ticks after the
 * one before, and up to 45,000 bytes away.
 */
START_TEST(long_traces_have_the_times_of_short_ones)
{
	enum { PARTS = 50, MOST = 48000 };
	static const struct pt_packet cycles = { .type = ppt_cyc, .payload.cyc.value = 1000 };
	uint8_t *bytes = alloc_zeroed(PARTS, MOST);
	size_t size = 0;

	begin(PT_ENGINE_FAST);
	run.cycles = _i;
	run.data.events[0].attr.config |= info_of_cycles.cyc_bit;
	perf_data_add_pt_info(&run.data, &info_of_cycles, NULL);
	for (uint64_t i = 0; i < PARTS; i++) {
		struct pt_packets packets;

		pt_packets_init(&packets);
		pt_packets_psb(&packets, SAMPLE_START + 1000 * i, 0);
		pt_packets_pge(&packets, SAMPLE_MAIN);
		pt_packets_add(&packets, &cycles);
		pt_packets_tnt(&packets, "t");
		pt_packets_add(&packets, &cycles);
		pt_packets_tnt(&packets, "nt");
		pt_packets_fup(&packets, SAMPLE_WORK);
		pt_packets_pgd(&packets, 0);
		memcpy(bytes + size, packets.bytes, pt_packets_size(&packets));
		size += pt_packets_size(&packets) + (_i ? 40000 : 45000) + 8 * i;
		pt_packets_release(&packets);
	}
	perf_data_add_auxtrace(&run.data, &(struct perf_data_aux){ .reference = SAMPLE_START,
								   .tid = -1,
								   .bytes = bytes,
								   .size = size });
	run.has_pieces = true;
	finish();
	free(bytes);
	ck_assert_uint_eq(run.stats.times_impossible, 0);
	ck_assert_uint_eq(run.stats.bytes_lost + run.stats.bytes_skipped, 0);
	for (size_t i = 0, part = 0; i < run.count; i++) {
		part += run.events[i].flags & BRANCH_TRACE_ON && run.events[i].from == 0 && i;
		ck_assert_uint_ge(run.events[i].time, SAMPLE_START + 1000 * part);
		if (part + 1 < PARTS) /* of the last one, no end is known */
			ck_assert_uint_le(run.events[i].time, SAMPLE_START + 1000 * (part + 1));
	}
	ck_assert_uint_eq(run.stats.events, PARTS * 7);
	expect_all_bytes_counted();
}
END_TEST

/*
 * "Any IP compression that follows the OVF is guaranteed to use as a reference LastIP the IP
 * payload of an IP packet that preceded the overflow" (SDM volume 3, OVF packet). libipt takes 0.
 */
START_TEST(an_address_after_an_overflow_is_compressed_against_the_last_one)
{
	begin(PT_ENGINE_FAST);
	pt_packets_psb(&run.packets, SAMPLE_START, 0);
	pt_packets_pge(&run.packets, SAMPLE_MAIN);
	pt_packets_ovf(&run.packets);
	pt_packets_add(&run.packets,
		       &(struct pt_packet){ .type = ppt_fup,
					    .payload.ip = { .ipc = pt_ipc_update_16,
							    .ip = SAMPLE_LEAF & UINT16_MAX } });
	pt_packets_tip(&run.packets, SAMPLE_WORK + 5);
	finish();
	ck_assert_uint_eq(run.events[1].gap, GAP_OVERFLOW);
	expect(2, BRANCH_NONE, 0, SAMPLE_LEAF);
	expect(3, BRANCH_RETURN, SAMPLE_LEAF, SAMPLE_WORK + 5);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("pt_stream_packets");
	TCase *all = tcase_create("pt_stream_packets");

	tcase_add_loop_test(all, kernel_code_is_entered_and_left_by_its_own_instructions, 0, 2);
	tcase_add_loop_test(all, packets_beside_the_flow_do_not_change_it, 0, 5);
	tcase_add_test(all, a_psb_that_shows_tracing_off_reveals_that_its_end_is_lost);
	tcase_add_loop_test(all, a_trigger_changes_no_branch_wherever_it_is, 0, 4);
	tcase_add_loop_test(all, padding_of_any_length_is_passed_over, 0, 100);
	tcase_add_loop_test(all, a_target_has_the_bytes_of_its_packet, 0, 5);
	tcase_add_loop_test(all, code_has_the_mode_of_the_trace, 0, 6);
	tcase_add_test(all, libipt_loses_code_of_a_mode_that_does_not_exist);
	tcase_add_loop_test(all, a_fup_whose_tip_is_missing_is_a_gap, 0, 2);
	tcase_add_loop_test(all, an_event_that_leaves_out_branches_is_a_warning, 0, 2);
	tcase_add_loop_test(all, cycles_do_not_pass_the_next_time_that_is_known, 0, 3);
	tcase_add_loop_test(all, packets_before_the_next_time_do_not_hide_it, 0,
			    2 * COUNT_OF(between));
	tcase_add_loop_test(all, long_traces_have_the_times_of_short_ones, 0, 2);
	tcase_add_test(all, an_address_after_an_overflow_is_compressed_against_the_last_one);
	suite_add_tcase(suite, all);
	return unit_run(suite);
}
