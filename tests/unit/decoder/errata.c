/* SPDX-License-Identifier: MIT */
/*
 * Packets of CPU errata (Intel's specification updates, quoted in intel-pt.h at struct pt_errata)
 * on the sample program: both engines must give the program's branches, and on a CPU without the
 * erratum, damage.  Also the table of errata by CPU.
 */
#include <intel-pt.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "decoder/aux/pt_packet_read.h"
#include "decoder/code/code_image.h"
#include "decoder/perf_data/perf_file.h"
#include "decoder/streams/auxtrace.h"
#include "decoder/streams/pt_streams.h"
#include "decoder/timeline/timeline.h"
#include "tests/support/sample.h"
#include "tests/support/unit.h"

#define EVENTS_MAX 64

#define BROADWELL   "GenuineIntel,6,61,4"
#define SKYLAKE     "GenuineIntel,6,94,3"
#define SKYLAKE_X   "GenuineIntel,6,85,4"
#define APOLLO_LAKE "GenuineIntel,6,92,9"
#define ALDER_LAKE  "GenuineIntel,6,151,2"
#define UNKNOWN     "GenuineIntel,6,255,0" /* a CPU that is in no table and has no errata */

static struct {
	uint8_t *bytes;
	size_t size;
	struct pt_packets packets;
	const char *filter;   /* NULL: none */
	const char *big_cpus; /* of a hybrid CPU's topology; NULL: not hybrid */
} sample;

struct events {
	struct branch_event event[EVENTS_MAX];
	size_t count;
};

static struct byte_view find_code(void *context, const struct mapped_file *file)
{
	(void)context;
	if (strcmp(file->path, SAMPLE_PATH) != 0)
		return (struct byte_view){ 0 };
	return (struct byte_view){ sample.bytes, sample.size };
}

static void setup(void)
{
	sample.bytes = tiny_elf_bytes(&sample_elf, &sample.size);
	pt_packets_init(&sample.packets);
	sample.filter = sample.big_cpus = NULL;
}

static void teardown(void)
{
	free(sample.bytes);
	pt_packets_release(&sample.packets);
}

static void read_events(struct events *events, const struct auxtrace *auxtrace,
			const struct timeline *timeline, enum pt_engine engine)
{
	struct code_source source = { .find = find_code };
	struct pt_stream *stream;
	struct branch_event event;
	struct diag diag;

	diag_init(&diag);
	stream = pt_stream_open(&(struct pt_stream_input){ .info = &auxtrace->info,
							   .aux = &auxtrace->streams[0],
							   .history = &timeline->history,
							   .code = &source,
							   .diag = &diag,
							   .engine = engine },
				NULL);
	events->count = 0;
	while (events->count < EVENTS_MAX && pt_stream_next(stream, &event))
		events->event[events->count++] = event;
	pt_stream_close(stream);
	diag_release(&diag);
}

/* HYBRID_TOPOLOGY as perf writes it: a PMU and its CPUs for each kind of core. */
static void add_topology(struct perf_data *data)
{
	const char *const texts[] = { "cpu_atom", "16-23", "cpu_core", sample.big_cpus };
	uint8_t bytes[4 + 4 * (4 + 64)] = { 2 };
	size_t size = 4;

	for (int i = 0; i < 4; i++) {
		bytes[size] = 64; /* perf pads strings to this size */
		strcpy((char *)bytes + size + 4, texts[i]);
		size += 4 + 64;
	}
	perf_data_set_feature(data, PERF_FEATURE_HYBRID_TOPOLOGY, bytes, size);
}

/* Decode the packets as of one CPU. */
static void decode(struct events *events, const char *cpu, enum pt_engine engine)
{
	char recording[PERF_DATA_PATH];
	struct auxtrace auxtrace;
	struct timeline *timeline;
	struct perf_data data;
	struct perf_file file;
	struct diag diag;

	diag_init(&diag);
	sample_begin(&data);
	perf_data_set_text(&data, PERF_FEATURE_CPUID, cpu);
	if (sample.big_cpus)
		add_topology(&data);
	sample_add_trace(&data, &sample.packets);
	perf_data_write_temporary(&data, recording);
	ck_assert_int_eq(perf_file_open(&file, recording, &diag, NULL), 0);
	ck_assert_int_eq(auxtrace_init(&auxtrace, &file, NULL), 0);
	auxtrace.info.filter = sample.filter;
	timeline = timeline_open(&file, NULL, 0, &diag);
	read_events(events, &auxtrace, timeline, engine);
	timeline_close(timeline);
	auxtrace_release(&auxtrace);
	perf_file_close(&file);
	unlink(recording);
	perf_data_release(&data);
	diag_release(&diag);
}

static unsigned count_damage(const struct events *events)
{
	unsigned count = 0;

	for (size_t i = 0; i < events->count; i++)
		count +=
			events->event[i].kind == BRANCH_GAP && events->event[i].gap != GAP_OVERFLOW;
	return count;
}

/* Decode with both engines, without damage, into *events. */
static void decode_by_both(struct events *events, const char *cpu)
{
	struct events libipt;

	decode(events, cpu, PT_ENGINE_FAST);
	decode(&libipt, cpu, PT_ENGINE_LIBIPT);
	ck_assert_uint_eq(count_damage(events), 0);
	ck_assert_uint_eq(events->count, libipt.count);
	for (size_t i = 0; i < events->count; i++) {
		ck_assert_uint_eq(events->event[i].kind, libipt.event[i].kind);
		ck_assert_uint_eq(events->event[i].from, libipt.event[i].from);
		ck_assert_uint_eq(events->event[i].to, libipt.event[i].to);
		ck_assert_uint_eq(events->event[i].flags, libipt.event[i].flags);
	}
}

static void is_damage_elsewhere(void)
{
	struct events events;

	decode(&events, UNKNOWN, PT_ENGINE_FAST);
	ck_assert_uint_ne(count_damage(&events), 0);
}

static void expect(const struct events *events, size_t i, enum branch_kind kind, uint64_t from,
		   uint64_t to)
{
	ck_assert_uint_lt(i, events->count);
	ck_assert_uint_eq(events->event[i].kind, kind);
	ck_assert_uint_eq(events->event[i].from, from);
	ck_assert_uint_eq(events->event[i].to, to);
}

/* From leaf to the end of main; then tracing goes off. */
static void run_to_end(void)
{
	pt_packets_tip(&sample.packets, SAMPLE_MAIN + 10);
	pt_packets_pgd(&sample.packets, 0);
}

/* CPUs that Debian 12's libipt does not know, by libipt 2.2's pt_cpu_errata(). */
static const char *const newer_cpus[] = {
	/* with SKZ84: */
	"GenuineIntel,6,173,1",
	"GenuineIntel,6,174,1",
	"GenuineIntel,6,207,2",
	"GenuineIntel,19,1,0",
	/* without: */
	"GenuineIntel,6,170,4",
	"GenuineIntel,6,172,1",
	"GenuineIntel,6,181,0",
	"GenuineIntel,6,183,1",
	"GenuineIntel,6,186,2",
	"GenuineIntel,6,189,1",
	"GenuineIntel,6,197,2",
	"GenuineIntel,6,198,2",
	"GenuineIntel,6,204,0",
	"GenuineIntel,6,213,0",
	"GenuineIntel,18,1,0",
	"GenuineIntel,18,3,0",
};

#define NEWER_CPUS_SKZ84 4
#define NEWER_CPUS       ((int)(sizeof(newer_cpus) / sizeof(newer_cpus[0])))

START_TEST(bdm70_of_cpus_since_2022)
{
	struct events events;

	pt_packets_psb(&sample.packets, SAMPLE_START, SAMPLE_WORK);
	pt_packets_pge(&sample.packets, SAMPLE_LEAF);
	run_to_end();
	decode_by_both(&events, newer_cpus[_i]);
	expect(&events, 0, BRANCH_NONE, 0, SAMPLE_LEAF);
	ck_assert_uint_eq(events.count, 3);
}
END_TEST

/* The trace is of CPU 0. */
START_TEST(bdm70_of_the_large_cores_of_a_hybrid_cpu)
{
	static const char *const on_large_cores[] = { "0-15", "2,4-7,0", "0" };
	static const char *const on_small_cores[] = { "1-15", "2,4-7", "" };
	struct events events;

	pt_packets_psb(&sample.packets, SAMPLE_START, SAMPLE_WORK);
	pt_packets_pge(&sample.packets, SAMPLE_LEAF);
	run_to_end();
	sample.big_cpus = on_large_cores[_i];
	decode_by_both(&events, ALDER_LAKE);
	sample.big_cpus = on_small_cores[_i];
	decode(&events, ALDER_LAKE, PT_ENGINE_FAST);
	ck_assert_uint_ne(count_damage(&events), 0);
}
END_TEST

/*
 * Intel mended SKL014 with Sapphire Rapids and Alder Lake.  libipt 2.0 still has it for all CPUs
 * since then that it knows, 2.0.5 for four of these and 2.0.6 for all; 2.1.2 and 2.2 for none.
 */
static bool skl014_is_mended(const struct pt_cpu *cpu)
{
	static const uint8_t models[] = { 0x8f, 0x97, 0x9a, 0xaa, 0xac, 0xad,
					  0xae, 0xb5, 0xb7, 0xbf, 0xcf };

	return cpu->family == 6 && memchr(models, cpu->model, sizeof(models));
}

static bool libipt_has_skl014_mended(void)
{
	const struct pt_cpu sapphire_rapids = { pcv_intel, 6, 0x8f, 0 };
	struct pt_errata errata;

	ck_assert_int_eq(pt_cpu_errata(&errata, &sapphire_rapids), 0);
	ck_assert(!errata.skl014 || pt_library_version().minor < 2);
	return !errata.skl014;
}

START_TEST(the_table_has_what_libipt_has)
{
	const bool mended = libipt_has_skl014_mended();

	for (unsigned model = 0; model < 256; model++) {
		const struct pt_cpu cpu = { pcv_intel, (uint16_t)_i, (uint8_t)model, 0 };
		const struct pt_errata known = pt_errata_of(cpu.family, model, CORE_UNKNOWN);
		struct pt_errata errata;

		if (pt_cpu_errata(&errata, &cpu) < 0)
			continue;
		if (skl014_is_mended(&cpu)) {
			ck_assert_uint_eq(errata.skl014, !mended);
			errata.skl014 = 0;
		}
		ck_assert_uint_eq(known.bdm70, errata.bdm70);
		ck_assert_uint_eq(known.bdm64, errata.bdm64);
		ck_assert_uint_eq(known.skd007, errata.skd007);
		ck_assert_uint_eq(known.skd022, errata.skd022);
		ck_assert_uint_eq(known.skd010, errata.skd010);
		ck_assert_uint_eq(known.skl014, errata.skl014);
		ck_assert_uint_eq(known.apl12, errata.apl12);
		ck_assert_uint_eq(known.apl11, errata.apl11);
		ck_assert_uint_eq(known.skl168, errata.skl168);
		ck_assert_uint_eq(known.skz84, errata.skz84);
	}
}
END_TEST

/* "TIP.PGE may be preceded by a PSB+ that incorrectly includes FUP and MODE.Exec" */
START_TEST(bdm70_a_header_before_tracing_begins_has_no_ip)
{
	struct events events;

	pt_packets_psb(&sample.packets, SAMPLE_START, SAMPLE_WORK);
	pt_packets_pge(&sample.packets, SAMPLE_LEAF);
	run_to_end();
	decode_by_both(&events, SKYLAKE);
	expect(&events, 0, BRANCH_NONE, 0, SAMPLE_LEAF);
	expect(&events, 1, BRANCH_RETURN, SAMPLE_LEAF, SAMPLE_MAIN + 10);
	expect(&events, 2, BRANCH_SYSCALL, SAMPLE_SYSCALL, 0);
	ck_assert_uint_eq(events.count, 3);
	is_damage_elsewhere();
}
END_TEST

START_TEST(bdm70_after_damage_too)
{
	struct events events;

	pt_packets_psb(&sample.packets, SAMPLE_START, 0);
	pt_packets_pge(&sample.packets, SAMPLE_LEAF);
	pt_packets_tip(&sample.packets, 0x900000);
	pt_packets_tnt(&sample.packets, "t"); /* without code */
	pt_packets_psb(&sample.packets, SAMPLE_START + 10, SAMPLE_WORK);
	pt_packets_pge(&sample.packets, SAMPLE_LEAF);
	run_to_end();
	decode(&events, SKYLAKE, PT_ENGINE_FAST);
	ck_assert_uint_eq(count_damage(&events), 1);
	decode(&events, UNKNOWN, PT_ENGINE_FAST);
	ck_assert_uint_eq(count_damage(&events), 2);
}
END_TEST

START_TEST(bdm70_a_header_in_the_middle_is_believed)
{
	struct events events;

	pt_packets_psb(&sample.packets, SAMPLE_START, SAMPLE_LEAF);
	run_to_end();
	decode_by_both(&events, SKYLAKE);
	expect(&events, 0, BRANCH_RETURN, SAMPLE_LEAF, SAMPLE_MAIN + 10);
	expect(&events, 1, BRANCH_SYSCALL, SAMPLE_SYSCALL, 0);
}
END_TEST

/* "an incorrect branch target may be logged ... before the ... packet produced by the abort" */
START_TEST(bdm64_an_abort_is_where_its_fup_says)
{
	const struct pt_packet begin = {
		.type = ppt_mode, .payload.mode = { .leaf = pt_mol_tsx, .bits.tsx.intx = 1 }
	};
	const struct pt_packet abort = {
		.type = ppt_mode, .payload.mode = { .leaf = pt_mol_tsx, .bits.tsx.abrt = 1 }
	};
	struct events events;

	pt_packets_psb(&sample.packets, SAMPLE_START, 0);
	pt_packets_pge(&sample.packets, SAMPLE_LEAF);
	pt_packets_add(&sample.packets, &begin);
	pt_packets_fup(&sample.packets, SAMPLE_LEAF);
	pt_packets_tip(&sample.packets,
		       SAMPLE_WORK); /* wrong: the flow from there never reaches the FUP */
	pt_packets_add(&sample.packets, &abort);
	pt_packets_fup(&sample.packets, SAMPLE_MAIN + 5);
	pt_packets_tip(&sample.packets, SAMPLE_LEAF);
	run_to_end();
	/* libipt lets the return go to the abort's address; we report it as the CPU executed it. */
	decode(&events, BROADWELL, PT_ENGINE_FAST);
	ck_assert_uint_eq(count_damage(&events), 0);
	expect(&events, 1, BRANCH_RETURN, SAMPLE_LEAF, SAMPLE_WORK);
	expect(&events, 2, BRANCH_TX_ABORT, SAMPLE_MAIN + 5, SAMPLE_LEAF);
	is_damage_elsewhere();
}
END_TEST

/* "OVF may be issued after the first byte of a multi-byte CYC" */
START_TEST(skd007_an_overflow_may_cut_a_cyc)
{
	static const uint8_t first_byte = 0x7f; /* a CYC of more bytes */
	struct events events;

	pt_packets_psb(&sample.packets, SAMPLE_START, 0);
	pt_packets_pge(&sample.packets, SAMPLE_WORK + 5);
	pt_packets_tnt(&sample.packets, "n");
	pt_packets_raw(&sample.packets, &first_byte, 1);
	pt_packets_ovf(&sample.packets);
	pt_packets_fup(&sample.packets, SAMPLE_LEAF);
	run_to_end();
	/* Keeps these packets from being the last ones. */
	pt_packets_psb(&sample.packets, SAMPLE_START + 10, 0);
	pt_packets_psb(&sample.packets, SAMPLE_START + 20, 0);
	decode(&events, SKYLAKE, PT_ENGINE_FAST);
	ck_assert_uint_eq(count_damage(&events), 0);
	expect(&events, 1, BRANCH_GAP, 0, 0);
	ck_assert_uint_eq(events.event[1].gap, GAP_OVERFLOW);
	expect(&events, 2, BRANCH_NONE, 0, SAMPLE_LEAF);
	expect(&events, 3, BRANCH_RETURN, SAMPLE_LEAF, SAMPLE_MAIN + 10);
	is_damage_elsewhere();
}
END_TEST

/* Read by libipt's packet decoder, which in 2.0.5 does not know the erratum. */
START_TEST(skd007_at_the_end_of_a_piece)
{
	static const uint8_t first_byte = 0x7f;
	struct events events;

	pt_packets_psb(&sample.packets, SAMPLE_START, 0);
	pt_packets_pge(&sample.packets, SAMPLE_WORK + 5);
	pt_packets_tnt(&sample.packets, "n");
	pt_packets_raw(&sample.packets, &first_byte, 1);
	pt_packets_ovf(&sample.packets);
	pt_packets_fup(&sample.packets, SAMPLE_LEAF);
	run_to_end();
	decode_by_both(&events, SKYLAKE);
	ck_assert_uint_eq(events.event[1].gap, GAP_OVERFLOW);
	expect(&events, 2, BRANCH_NONE, 0, SAMPLE_LEAF);
	expect(&events, 3, BRANCH_RETURN, SAMPLE_LEAF, SAMPLE_MAIN + 10);
}
END_TEST

/* "OVF packets may not be followed by a FUP or TIP.PGE" */
START_TEST(skd010_an_overflow_without_a_place_ends_at_the_next_one)
{
	struct events events;

	pt_packets_psb(&sample.packets, SAMPLE_START, 0);
	pt_packets_pge(&sample.packets, SAMPLE_WORK + 5);
	pt_packets_tnt(&sample.packets, "n");
	pt_packets_ovf(&sample.packets);
	pt_packets_tnt(&sample.packets, "n");
	pt_packets_tip(&sample.packets, SAMPLE_LEAF);
	run_to_end();
	decode(&events, SKYLAKE, PT_ENGINE_FAST);
	ck_assert_uint_eq(count_damage(&events), 0);
	expect(&events, 1, BRANCH_GAP, 0, 0);
	expect(&events, 2, BRANCH_NONE, 0, SAMPLE_LEAF);
	expect(&events, 3, BRANCH_RETURN, SAMPLE_LEAF, SAMPLE_MAIN + 10);
	is_damage_elsewhere();
}
END_TEST

/* "OVF may be unexpectedly followed by a FUP" where tracing is off */
START_TEST(apl12_a_place_after_an_overflow_may_be_none)
{
	struct events events;

	pt_packets_psb(&sample.packets, SAMPLE_START, 0);
	pt_packets_ovf(&sample.packets);
	pt_packets_fup(&sample.packets, SAMPLE_WORK);
	pt_packets_pge(&sample.packets, SAMPLE_LEAF);
	run_to_end();
	decode_by_both(&events, APOLLO_LAKE);
	expect(&events, 0, BRANCH_GAP, 0, 0);
	expect(&events, 1, BRANCH_NONE, 0, SAMPLE_LEAF);
	expect(&events, 2, BRANCH_RETURN, SAMPLE_LEAF, SAMPLE_MAIN + 10);
	is_damage_elsewhere();
}
END_TEST

/* "the OVF may be followed by a TIP.PGD" */
START_TEST(apl11_tracing_may_go_off_after_an_overflow)
{
	struct events events;

	pt_packets_psb(&sample.packets, SAMPLE_START, 0);
	pt_packets_ovf(&sample.packets);
	pt_packets_pgd(&sample.packets, 0);
	pt_packets_pge(&sample.packets, SAMPLE_LEAF);
	run_to_end();
	decode_by_both(&events, APOLLO_LAKE);
	expect(&events, 0, BRANCH_GAP, 0, 0);
	expect(&events, 1, BRANCH_NONE, 0, SAMPLE_LEAF);
	expect(&events, 2, BRANCH_RETURN, SAMPLE_LEAF, SAMPLE_MAIN + 10);
}
END_TEST

/* perf's INTEL_PT_FUP_WITH_NLIP: the FUP of an indirect branch has the ip after it */
START_TEST(a_fup_of_apollo_lake_may_have_the_next_ip)
{
	struct events events;

	pt_packets_psb(&sample.packets, SAMPLE_START, 0);
	pt_packets_pge(&sample.packets, SAMPLE_WORK);
	pt_packets_fup(&sample.packets, SAMPLE_LEAF + 1);
	pt_packets_pgd(&sample.packets, 0);
	pt_packets_pge(&sample.packets, SAMPLE_LEAF);
	run_to_end();
	decode(&events, APOLLO_LAKE, PT_ENGINE_FAST);
	ck_assert_uint_eq(count_damage(&events), 0);
	expect(&events, 1, BRANCH_CALL, SAMPLE_WORK, SAMPLE_LEAF);
	expect(&events, 2, BRANCH_NONE, SAMPLE_LEAF, 0);
	ck_assert_uint_eq(events.event[2].flags & (BRANCH_TRACE_OFF | BRANCH_ASYNC),
			  BRANCH_TRACE_OFF | BRANCH_ASYNC);
	expect(&events, 3, BRANCH_NONE, 0, SAMPLE_LEAF);
	is_damage_elsewhere();
}
END_TEST

/* "a FUP will precede the TIP.PGD" of a VM entry */
START_TEST(skd022_a_vm_entry_is_no_interrupt)
{
	static const uint8_t vmlaunch[] = { 0x0f, 0x01, 0xc2 };
	struct events events;
	size_t at = SAMPLE_LEAF - SAMPLE_CODE + TINY_ELF_CODE_OFFSET;

	memcpy(sample.bytes + at, vmlaunch, 3);
	pt_packets_psb(&sample.packets, SAMPLE_START, 0);
	pt_packets_pge(&sample.packets, SAMPLE_LEAF);
	pt_packets_fup(&sample.packets, SAMPLE_LEAF);
	pt_packets_pgd(&sample.packets, 0);
	decode_by_both(&events, SKYLAKE);
	ck_assert_uint_eq(events.count, 2);
	ck_assert_uint_eq(events.event[1].from, SAMPLE_LEAF);
	ck_assert_uint_eq(events.event[1].flags & (BRANCH_TRACE_OFF | BRANCH_ASYNC),
			  BRANCH_TRACE_OFF);
	decode(&events, UNKNOWN, PT_ENGINE_FAST);
	ck_assert_uint_ne(events.event[1].flags & BRANCH_ASYNC, 0);
}
END_TEST

/* Only work's bytes are in the file; leaf and main differ. */
static const char *const only_work[] = {
	"filter 0x1020/0x8@/sample",
	"filter 0x0/0x10@/other,filter 4128/8@/sample",
	"stop 0x1040/0x10@/sample",
};

/* "TIP.PGD may not have an IP payload with the target IP" of a direct branch */
START_TEST(skl014_a_direct_branch_may_leave_the_filter_untold)
{
	struct events events;

	ck_assert_uint_eq(TINY_ELF_CODE_OFFSET, 0x1000);
	pt_packets_psb(&sample.packets, SAMPLE_START, 0);
	pt_packets_pge(&sample.packets, SAMPLE_WORK);
	pt_packets_pgd(&sample.packets, 0);
	pt_packets_pge(&sample.packets, SAMPLE_WORK + 5);
	pt_packets_tnt(&sample.packets, "t");
	pt_packets_pgd(&sample.packets, 0);
	sample.filter = only_work[_i];
	decode(&events, SKYLAKE, PT_ENGINE_FAST);
	expect(&events, 0, BRANCH_NONE, 0, SAMPLE_WORK);
	expect(&events, 1, BRANCH_CALL, SAMPLE_WORK, SAMPLE_LEAF);
	ck_assert_uint_eq(events.event[1].flags & BRANCH_TRACE_OFF, BRANCH_TRACE_OFF);
	expect(&events, 2, BRANCH_NONE, 0, SAMPLE_WORK + 5);
	expect(&events, 3, BRANCH_COND, SAMPLE_WORK + 5, SAMPLE_WORK);
	expect(&events, 4, BRANCH_CALL, SAMPLE_WORK, SAMPLE_LEAF);
	ck_assert_uint_eq(events.count, 5);
	/* Without a filter it is the return address of that call. */
	sample.filter = NULL;
	decode(&events, SKYLAKE, PT_ENGINE_FAST);
	expect(&events, 2, BRANCH_RETURN, SAMPLE_LEAF, 0);
}
END_TEST

/*
 * "any TMA packet generated will have corrupted values ... followed by a bogus data byte" libipt
 * recognises it by set reserved bits; here the bogus byte would begin a TIP.
 */
static void add_corrupt_tma(void)
{
	static const uint8_t tma[] = { 0x02, 0x73, 0x34, 0x12, 0x01, 0x56, 0x00, 0x0d };

	pt_packets_raw(&sample.packets, tma, sizeof(tma));
}

START_TEST(skz84_a_corrupt_tma_is_a_byte_longer_and_no_time)
{
	const char *cpu = _i ? newer_cpus[_i - 1] : SKYLAKE_X;
	struct events events, plain;

	pt_packets_psb(&sample.packets, SAMPLE_START, 0);
	pt_packets_pge(&sample.packets, SAMPLE_LEAF);
	run_to_end();
	decode(&plain, cpu, PT_ENGINE_FAST);
	pt_packets_release(&sample.packets);
	pt_packets_init(&sample.packets);
	pt_packets_psb(&sample.packets, SAMPLE_START, 0);
	add_corrupt_tma();
	pt_packets_pge(&sample.packets, SAMPLE_LEAF);
	run_to_end();
	decode_by_both(&events, cpu);
	ck_assert_uint_eq(events.count, plain.count);
	expect(&events, 1, BRANCH_RETURN, SAMPLE_LEAF, SAMPLE_MAIN + 10);
	for (size_t i = 0; i < events.count; i++)
		ck_assert_uint_eq(events.event[i].time, plain.event[i].time);
	is_damage_elsewhere();
}
END_TEST

/* The reference engine's copy of the trace also replaces packets after it. */
START_TEST(skz84_before_a_packet_that_libipt_does_not_know)
{
	static const uint8_t cfe_iret[] = { 0x02, 0x13, 0x02, 0x00 };
	struct events events;

	pt_packets_psb(&sample.packets, SAMPLE_START, 0);
	add_corrupt_tma();
	pt_packets_pge(&sample.packets, SAMPLE_LEAF);
	pt_packets_raw(&sample.packets, cfe_iret, sizeof(cfe_iret));
	run_to_end();
	decode_by_both(&events, SKYLAKE_X);
	ck_assert_uint_eq(events.count, 3);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("errata");
	TCase *tests = tcase_create("all");

	tcase_add_checked_fixture(tests, setup, teardown);
	tcase_add_test(tests, bdm70_a_header_before_tracing_begins_has_no_ip);
	tcase_add_loop_test(tests, bdm70_of_cpus_since_2022, 0, NEWER_CPUS);
	tcase_add_loop_test(tests, bdm70_of_the_large_cores_of_a_hybrid_cpu, 0, 3);
	tcase_add_loop_test(tests, the_table_has_what_libipt_has, 0, 20);
	tcase_add_test(tests, bdm70_after_damage_too);
	tcase_add_test(tests, bdm70_a_header_in_the_middle_is_believed);
	tcase_add_test(tests, bdm64_an_abort_is_where_its_fup_says);
	tcase_add_test(tests, skd007_an_overflow_may_cut_a_cyc);
	tcase_add_test(tests, skd010_an_overflow_without_a_place_ends_at_the_next_one);
	tcase_add_test(tests, apl12_a_place_after_an_overflow_may_be_none);
	tcase_add_test(tests, apl11_tracing_may_go_off_after_an_overflow);
	tcase_add_test(tests, a_fup_of_apollo_lake_may_have_the_next_ip);
	tcase_add_test(tests, skd022_a_vm_entry_is_no_interrupt);
	tcase_add_test(tests, skd007_at_the_end_of_a_piece);
	tcase_add_loop_test(tests, skz84_a_corrupt_tma_is_a_byte_longer_and_no_time, 0,
			    1 + NEWER_CPUS_SKZ84);
	tcase_add_test(tests, skz84_before_a_packet_that_libipt_does_not_know);
	tcase_add_loop_test(tests, skl014_a_direct_branch_may_leave_the_filter_untold, 0, 3);
	suite_add_tcase(suite, tests);
	return unit_run(suite);
}
