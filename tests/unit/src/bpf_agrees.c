/* SPDX-License-Identifier: MIT */
/*
 * perf script and this program find the same branches in a BPF program, whose code is in the
 * recording (BPF_PROG_INFO).  perf treats it as a ksymbol's if a BPF_EVENT names the program.  perf
 * 6.1 reads a program's second function at the address of the first, so this program has one.
 * Skipped without perf.
 */
#include <linux/bpf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/support/sample.h"
#include "tests/support/unit.h"

#define BPF      UINT64_C(0xffffffffc0100000)
#define PROGRAM  7 /* its id */
#define FEATURE  25
#define ROOM     10000
#define BRANCHES "sed -n 's/.* \\([0-9a-f]*\\) [^ ]* *=> *\\([0-9a-f]*\\) .*/\\1 \\2/p'"

/*
 * 0: test; 3: jne 10; 5: call 12; 10: jmp 0; 12: nop; 13: ret.  The JIT compiler's output has the
 * same instructions.
 */
#define CODE                                                                                       \
	{                                                                                          \
		0x48, 0x85, 0xff, 0x75, 5, 0xe8, 2, 0, 0, 0, 0xeb, 0xf4, 0x90, 0xc3                \
	}
#define CODE_SIZE 16

/*
 * struct perf_bpil of tools/perf/util/bpf-utils.h: arrays' addresses are offsets in the data after
 * it.
 */
struct program {
	uint32_t info_size, data_size;
	uint64_t arrays;
	struct bpf_prog_info info;
	uint64_t address;
	uint32_t length, zero;
	uint8_t code[CODE_SIZE];
};

static const struct program program = {
	.info_size = sizeof(struct bpf_prog_info),
	.data_size = sizeof(struct program) - offsetof(struct program, address),
	.arrays = 1 << 0 | 1 << 3 | 1 << 4, /* code, ksyms, their lengths */
	.info = {
		.id = PROGRAM,
		.jited_prog_len = CODE_SIZE,
		.jited_prog_insns = offsetof(struct program, code) - offsetof(struct program, address),
		.nr_jited_ksyms = 1,
		.nr_jited_func_lens = 1,
		.jited_ksyms = 0,
		.jited_func_lens = offsetof(struct program, length) - offsetof(struct program, address),
	},
	.address = BPF,
	.length = CODE_SIZE,
	.code = CODE,
};

static struct perf_data data;
static struct pt_packets packets;

static void run(char *text, const char *format, const char *path)
{
	char command[1000];
	size_t size;
	FILE *out;

	snprintf(command, sizeof(command), format, getenv("top_builddir"), path);
	out = popen(command, "r");
	ck_assert_ptr_nonnull(out);
	size = fread(text, 1, ROOM - 1, out);
	text[size] = 0;
	pclose(out);
}

/* linux/perf_event.h: PERF_RECORD_KSYMBOL of type BPF; PERF_RECORD_BPF_EVENT, PROG_LOAD. */
static void print_program(void)
{
	struct {
		uint64_t address;
		uint32_t size;
		uint16_t type, flags;
		char name[24];
	} symbol = { BPF, CODE_SIZE, 1, 0, "bpf_prog_0123_probe" };
	struct {
		uint16_t type, flags;
		uint32_t id;
		uint8_t tag[8];
	} event = { 1, 0, PROGRAM, { 0x01, 0x23 } };
	uint8_t section[4 + sizeof(program)];

	perf_data_stamp(&data, (struct perf_data_stamp){ .time = 500 });
	perf_data_add_record(&data, PERF_RECORD_KSYMBOL, 0, &symbol, sizeof(symbol));
	perf_data_add_record(&data, PERF_RECORD_BPF_EVENT, 0, &event, sizeof(event));
	memcpy(section, &(uint32_t){ 1 }, 4); /* the number of programs */
	memcpy(section + 4, &program, sizeof(program));
	perf_data_set_feature(&data, FEATURE, section, sizeof(section));
}

/* Some rounds; the last return leaves the program. */
static void trace_program(void)
{
	pt_packets_init(&packets);
	pt_packets_psb(&packets, SAMPLE_START, 0);
	pt_packets_pge(&packets, BPF);
	pt_packets_tnt(&packets, "nttn");
	pt_packets_tip(&packets, BPF + 10); /* the call's return, not compressed */
	pt_packets_tnt(&packets, "tn");
	pt_packets_pgd(&packets, 0);
	pt_packets_tsc(&packets, SAMPLE_START + 1000);
}

START_TEST(perf_finds_the_same_branches_in_a_bpf_program)
{
	static char ours[ROOM], perf[ROOM];
	char path[PERF_DATA_PATH];

	sample_begin(&data);
	data.events[0].attr.exclude_kernel = 0;
	print_program();
	trace_program();
	sample_add_trace(&data, &packets);
	perf_data_write_temporary(&data, path);
	run(ours, "%s/ptrace2ftf -q --format=branches %s | " BRANCHES, path);
	run(perf, ": %s; perf script -i %s --itrace=b -F flags,ip,sym,addr 2>/dev/null | " BRANCHES,
	    path);
	unlink(path);
	ck_assert_msg(strlen(ours) > 200, "%s", ours);
	ck_assert_str_eq(ours, perf);
	perf_data_release(&data);
	pt_packets_release(&packets);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("bpf_agrees");
	TCase *all = tcase_create("all");

	if (system("command -v perf >/dev/null") == 0)
		tcase_add_test(all, perf_finds_the_same_branches_in_a_bpf_program);
	suite_add_tcase(suite, all);
	return unit_run(suite);
}
