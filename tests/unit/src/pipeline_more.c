/* SPDX-License-Identifier: MIT */
/*
 * The whole program on recordings of small programs with tail calls, stacks, many threads, nameless
 * code and damage, and on the text of perf script.  Expected values follow from the code, in
 * comments, and from man ptrace2ftf.7.
 */
#include <elf.h>
#include <intel-pt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/common.h"
#include "tests/support/memtrace_ctf.h"
#include "tests/support/sample.h"
#include "tests/support/unit.h"

#define FUNCTION ELF64_ST_INFO(STB_GLOBAL, STT_FUNC)
#define F        (SAMPLE_CODE + 0x10)
#define G        (SAMPLE_CODE + 0x20)
#define SWITCHES (SAMPLE_CODE + 0x40)

static char folder[40], text[40000];

/* ---- Recordings ------------------------------------------------------------ */

/* main: call f; syscall.  f: jmp g.  g: ret. */
static const uint8_t tails[0x30] = {
	[0x00] = 0xe8, 0x0b, 0, 0, 0, 0x0f, 0x05, [0x10] = 0xeb, 0x0e, [0x20] = 0xc3,
};

/* main: call s; syscall.  g: call s; ret.  s: mov %rsp, (%rsi); mov %rdi, %rsp; ret. */
static const uint8_t stacks[0x50] = {
	[0x00] = 0xe8, 0x3b,          0,    0,    0,    0x0f, 0x05, [0x20] = 0xe8, 0x1b, 0, 0, 0,
	0xc3,          [0x40] = 0x48, 0x89, 0x26, 0x48, 0x89, 0xfc, 0xc3,
};

static const struct tiny_symbol tail_symbols[] = {
	{ "main", SAMPLE_MAIN, 7, FUNCTION },
	{ "f", F, 2, FUNCTION },
	{ "g", G, 1, FUNCTION },
};

static const struct tiny_symbol stack_symbols[] = {
	{ "main", SAMPLE_MAIN, 7, FUNCTION },
	{ "g", G, 6, FUNCTION },
	{ "s", SWITCHES, 7, FUNCTION },
};

static const struct tiny_elf tails_elf = {
	SAMPLE_CODE, tails, sizeof(tails), tail_symbols, 3, 0, 0
};
static const struct tiny_elf stacks_elf = { SAMPLE_CODE, stacks, sizeof(stacks), stack_symbols, 3,
					    0,           0 };
/* The code of tails, without names. */
static const struct tiny_elf nameless_elf = { SAMPLE_CODE, tails, sizeof(tails), NULL, 0, 0, 0 };

static void trace_tails(struct pt_packets *packets)
{
	pt_packets_psb(packets, SAMPLE_START, 0);
	pt_packets_pge(packets, SAMPLE_MAIN);
	pt_packets_tsc(packets, SAMPLE_START + 60);
	pt_packets_tnt(packets, "t");
	pt_packets_tsc(packets, SAMPLE_START + 100);
	pt_packets_pgd(packets, 0);
}

/* s leaves for g on another stack, and g's s for main. */
static void trace_stacks(struct pt_packets *packets)
{
	pt_packets_psb(packets, SAMPLE_START, 0);
	pt_packets_pge(packets, SAMPLE_MAIN);
	pt_packets_tsc(packets, SAMPLE_START + 100);
	pt_packets_tip(packets, G);
	pt_packets_tsc(packets, SAMPLE_START + 200);
	pt_packets_tip(packets, SAMPLE_MAIN + 5);
	pt_packets_tsc(packets, SAMPLE_START + 300);
	pt_packets_pgd(packets, 0);
}

/* The sample with an overflow instead of its second half. */
static void trace_overflow(struct pt_packets *packets)
{
	pt_packets_psb(packets, SAMPLE_START, 0);
	pt_packets_pge(packets, SAMPLE_MAIN);
	pt_packets_tsc(packets, SAMPLE_START + 50);
	pt_packets_tnt(packets, "tt");
	pt_packets_tsc(packets, SAMPLE_START + 150);
	pt_packets_ovf(packets);
	pt_packets_fup(packets, SAMPLE_LEAF);
	pt_packets_tsc(packets, SAMPLE_START + 250);
	pt_packets_tip(packets, SAMPLE_MAIN + 10);
	pt_packets_tsc(packets, SAMPLE_START + 350);
	pt_packets_pgd(packets, 0);
}

static void add_threads(struct perf_data *recording)
{
	for (int32_t tid = 31; tid < 42; tid++) {
		char name[16];

		snprintf(name, sizeof(name), "t%d", (int)tid);
		perf_data_add_comm(recording, 0, tid, tid, name);
	}
	perf_data_stamp(recording, (struct perf_data_stamp){
					   .time = 50, .pid = SAMPLE_PID, .tid = SAMPLE_PID });
	perf_data_add_switch(recording, true, 0, 0);
	perf_data_add_switch(recording, false, SAMPLE_PID, SAMPLE_PID);
}

/* Without TSC packets, so each instruction takes 1 ns. */
static void omit_times(struct perf_data *recording)
{
	recording->events[0].attr.config &= ~UINT64_C(0x400);
}

static void trace_untimed(struct pt_packets *packets)
{
	const struct pt_packet psb = { .type = ppt_psb }, end = { .type = ppt_psbend };

	pt_packets_add(packets, &psb);
	pt_packets_add(packets, &end);
	pt_packets_pge(packets, SAMPLE_MAIN);
	pt_packets_tnt(packets, "t");
	pt_packets_pgd(packets, 0);
}

/* Write NAME/sample and NAME.data. */
static void record(const char *name, const struct tiny_elf *elf,
		   void (*trace)(struct pt_packets *packets),
		   void (*add)(struct perf_data *recording))
{
	struct perf_data recording;
	struct pt_packets packets;
	char *path = alloc_text("mkdir %s/%s", folder, name);

	ck_assert_int_eq(system(path), 0);
	free(path);
	path = alloc_text("%s/%s/sample", folder, name);
	tiny_elf_write(elf, path);
	free(path);
	sample_begin(&recording);
	if (add)
		add(&recording);
	pt_packets_init(&packets);
	trace(&packets);
	sample_add_trace(&recording, &packets);
	pt_packets_release(&packets);
	path = alloc_text("%s/%s.data", folder, name);
	perf_data_write(&recording, path);
	free(path);
	perf_data_release(&recording);
}

/* PSBs with three rounds of work's loop each: 1 MiB of trace, which several threads decode. */
#define ROUNDS 25500

static void record_long(void)
{
	struct perf_data recording;
	struct pt_packets packets;
	struct perf_data_aux aux = { .reference = SAMPLE_START, .tid = -1 };
	uint8_t *bytes = alloc_zeroed(ROUNDS + 2, 64);
	char *path = alloc_text("%s/long.data", folder);

	for (uint64_t i = 0; i < ROUNDS + 2; i++) {
		pt_packets_init(&packets);
		if (i == 0) {
			pt_packets_psb(&packets, SAMPLE_START, 0);
			pt_packets_pge(&packets, SAMPLE_MAIN);
		} else if (i <= ROUNDS) {
			pt_packets_psb(&packets, SAMPLE_START + 30 * i, SAMPLE_WORK);
			pt_packets_tnt(&packets, "tttttt");
		} else {
			pt_packets_fup(&packets, SAMPLE_WORK);
			pt_packets_pgd(&packets, 0);
		}
		memcpy(bytes + aux.size, packets.bytes, pt_packets_size(&packets));
		aux.size += pt_packets_size(&packets);
		pt_packets_release(&packets);
	}
	aux.bytes = bytes;
	sample_begin(&recording);
	perf_data_add_auxtrace(&recording, &aux);
	perf_data_write(&recording, path);
	perf_data_release(&recording);
	free(bytes);
	free(path);
}

/* Another file is mapped over the code after the trace. */
static void replace_code(struct perf_data *recording)
{
	const struct perf_data_mmap map = { .pid = SAMPLE_PID,
					    .tid = SAMPLE_PID,
					    .address = SAMPLE_CODE,
					    .length = 0x1000,
					    .file_offset = TINY_ELF_CODE_OFFSET,
					    .path = "/other",
					    .prot = 5 };

	perf_data_stamp(recording, (struct perf_data_stamp){ .time = SAMPLE_START + 5000,
							     .pid = SAMPLE_PID,
							     .tid = SAMPLE_PID });
	perf_data_add_mmap2(recording, 0, &map);
}

/* Samples of the CPU's cycles, without a trace. */
static void record_samples(void)
{
	const struct perf_data_event event = {
		.attr = { .type = PERF_TYPE_HARDWARE,
			  .config = PERF_COUNT_HW_CPU_CYCLES,
			  .sample_type = PERF_SAMPLE_TID | PERF_SAMPLE_TIME,
			  .sample_id_all = 1 },
		.name = "cycles",
		.first_id = 1000,
		.attr_bytes = sizeof(struct perf_event_attr),
	};
	struct perf_data recording;
	char *path = alloc_text("%s/samples.data", folder);

	perf_data_init(&recording);
	perf_data_add_event(&recording, &event);
	perf_data_stamp(&recording, (struct perf_data_stamp){ .time = 100, .pid = 5, .tid = 5 });
	perf_data_add_comm(&recording, 0, 5, 5, "prog");
	perf_data_write(&recording, path);
	perf_data_release(&recording);
	free(path);
}

#define MEMTRACE_START UINT64_C(1700000000000000) /* us */

/* Four blocks, a second apart; the first one is collected after 2.5 s. */
static void record_memtrace(void)
{
	static const struct ctf_location where = { "main.ml", "Main.f", 3, 4, 5 };
	const uint64_t code = 1;
	struct ctf_file file;
	char *path = alloc_text("%s/mem.ctf", folder);
	FILE *out = fopen(path, "w");

	ctf_init(&file, 3, 0.01, 77, MEMTRACE_START);
	ctf_locate(&file, 0, code, &where, 1);
	for (uint64_t i = 1; i <= 4; i++) {
		const struct ctf_alloc alloc = { .time = MEMTRACE_START + 1000000 * i,
						 .words = 10 * i,
						 .samples = 1,
						 .backtrace = &code,
						 .length = 1 };

		ctf_alloc(&file, 0, &alloc);
		if (i == 2)
			ctf_object(&file, 0, 4, MEMTRACE_START + 2500000, 0);
	}
	ctf_flush(&file, 0);
	ck_assert_uint_eq(fwrite(file.out.bytes, 1, file.out.size, out), file.out.size);
	fclose(out);
	ctf_release(&file);
	free(path);
}

static const char script[] =
	"prog 7/8 1.000000100: call 401000 main+0x0 (/bin/prog) => 401020 work+0x0 (/bin/prog)\n"
	"prog 7/8 1.000000200: call 401020 work+0x0 (/bin/prog) => 401040 leaf+0x0 (/bin/prog)\n"
	"prog 7/8 1.000000300: return 401040 leaf+0x0 (/bin/prog) => 401025 work+0x5 (/bin/prog)\n"
	"prog 7/8 1.000000500: return 401027 work+0x7 (/bin/prog) => 401005 main+0x5 (/bin/prog)\n";

static void set_up(void)
{
	FILE *out;
	char *path;

	strcpy(folder, "/tmp/ptrace2ftf-XXXXXX");
	ck_assert_ptr_nonnull(mkdtemp(folder));
	record("tails", &tails_elf, trace_tails, NULL);
	record("stacks", &stacks_elf, trace_stacks, NULL);
	record("nameless", &nameless_elf, trace_tails, NULL);
	record("overflow", &sample_elf, trace_overflow, NULL);
	record("threads", &sample_elf, sample_trace, add_threads);
	record("untimed", &tails_elf, trace_untimed, omit_times);
	record("long", &sample_elf, sample_trace, NULL); /* record_long() replaces long.data */
	record_long();
	record_memtrace();
	record("replaced", &tails_elf, trace_tails, replace_code);
	record("samples", &tails_elf, trace_tails, NULL);
	record_samples(); /* replaces samples.data */
	path = alloc_text("%s/script.data", folder);
	out = fopen(path, "w");
	fputs(script, out);
	fclose(out);
	free(path);
}

static void tear_down(void)
{
	char command[60];

	sprintf(command, "rm -r %s", folder);
	ck_assert_int_eq(system(command), 0);
}

/* ---- Running the program --------------------------------------------------- */

/* `name` "": no recording. `after`: a command for the output, or "". */
static int run(const char *name, const char *options, const char *after)
{
	bool is_text = strcmp(name, "script") == 0;
	char *input = !*name    ? alloc_text(" ")
		      : is_text ? alloc_text("--input=perf-script script.data")
				: alloc_text("--symfs=%s %s.data", name, name);
	char *command = alloc_text("cd %s; %s/ptrace2ftf %s %s 2>&1 </dev/null %s", folder,
				   getenv("top_builddir"), options, input, after);
	FILE *out = popen(command, "r");
	size_t size;

	ck_assert_ptr_nonnull(out);
	size = fread(text, 1, sizeof(text) - 1, out);
	text[size] = 0;
	free(command);
	free(input);
	return WEXITSTATUS(pclose(out));
}

#define CSV "pid,tid,depth,begin_ns,duration_ns,name,location,insns,cycles,marks\n"

/* Between two TSCs, time is shared by instructions. */
static const struct {
	const char *name, *options;
	int status;
	const char *output;
} outputs[] = {
	{ "tails", "-f folded", 0, "sample;main 2\nsample;main;f 1\nsample;main;f;g 1\n" },
	{ "tails", "-f folded --stacks=replace", 0,
	  "sample;main 2\nsample;main;f 1\nsample;main;g 1\n" },
	{ "stacks", "-f folded", 0, "sample;main 2\nsample;main;s 3\nsample;g 1\nsample;g;s 3\n" },
	{ "stacks", "-f csv", 0,
	  CSV "1234,1234,0,1000000,100,main,,,,inferred_start_time\n1234,1234,1,1000000,100,s,,,,\n"
	      "1234,1234,0,1000100,100,g,,,,\n1234,1234,1,1000125,75,s,,,,\n"
	      "1234,1234,0,1000200,100,main,,,,cut\n1234,1234,1,1000300,0,[syscall],,,,cut\n" },
	/* The stack that main left waits for 100 ns, inside of s, and g's for ever. */
	{ "stacks", "-f csv --fibers", 0,
	  CSV "1234,1234,0,1000000,300,main,,,,inferred_start_time cut\n"
	      "1234,1234,1,1000000,200,s,,,,\n1234,1234,2,1000100,100,[parked],,,,\n"
	      "1234,1234,1,1000300,0,[syscall],,,,cut\n1234,5000001,0,1000100,100,g,,,,cut\n"
	      "1234,5000001,1,1000125,75,s,,,,cut\n" },
	{ "stacks", "-f folded --fibers", 0,
	  "sample;main 2\nsample;main;s 3\nsample > fiber 1 g;g 1\nsample > fiber 1 g;g;s 3\n" },
	/* Before the overflow: two calls, a return and a jump; after it leaf's return. */
	{ "overflow", "-f folded", 2,
	  "sample;main 2\nsample;main;work 2\nsample;main;work;leaf 1\nsample;main;leaf 1\n" },
	{ "overflow", "-f folded --time=+200ns,", 0, "sample;main 1\nsample;main;leaf 1\n" },
	/* A text has no instructions, so ns. */
	{ "script", "-f folded", 0, "unknown;main;work 300\nunknown;main;work;leaf 100\n" },
	{ "script", "-f csv", 0,
	  CSV "7,8,0,1000000100,400,main,,,,inferred_start_time cut\n"
	      "7,8,1,1000000100,400,work,,,,\n7,8,2,1000000200,100,leaf,,,,\n" },
	{ "script", "-f csv --depth=1", 0,
	  CSV "7,8,0,1000000100,400,main,,,,inferred_start_time cut\n" },
	{ "script", "-f events", 0, "" },
	/* Three calls of leaf have begun. */
	{ "threads", "-f folded --time=,+200ns", 0,
	  "sample;main 1\nsample;main;work 5\nsample;main;work;leaf 2\n" },
	{ "untimed", "-f csv", 2,
	  CSV "1234,1234,0,1000000,4,main,,,,inferred_start_time cut\n"
	      "1234,1234,1,1000001,2,f,,,,\n1234,1234,2,1000002,1,g,,,,tail_call\n"
	      "1234,1234,1,1000004,0,[syscall],,,,cut\n" },
	{ "untimed", "-f folded", 2, "sample;main 2\nsample;main;f 1\nsample;main;f;g 1\n" },
};

START_TEST(programs_have_their_slices)
{
	char *options = alloc_text("-q %s -o -", outputs[_i].options);

	ck_assert_int_eq(run(outputs[_i].name, options, ""), outputs[_i].status);
	ck_assert_str_eq(text, outputs[_i].output);
	free(options);
}
END_TEST

/* Parts of the output, and one that it has not; `after`: a command for it, or NULL. */
static const struct {
	const char *name, *options, *after;
	int status;
	const char *has[5], *lacks;
} messages[] = {
	{ "nameless",
	  "-f csv -o /dev/null",
	  NULL,
	  0,
	  { "  no names in 1 of 1 files (--symfs, --debug-dir, --debuginfod): /sample\n",
	    "  sample: 100 % of the time has no names; get debug files by: " },
	  "warning" },
	/* Twelve threads, and the idle one. */
	{ "threads",
	  "-f folded --tid=77 --pid=1-5000 --comm='*' --time=0, -o -",
	  NULL,
	  2,
	  { "no recorded data matches --tid=77 --pid=1-5000 --comm=* --time=0,; recorded threads: "
	    "1234/1234 (sample), 31/31 (t31), 32/32 (t32), ",
	    "38/38 (t38), 39/39 (t39) and 2 more\n" },
	  "40/40" },
	{ "threads",
	  "--cpu=3 -f folded -o -",
	  NULL,
	  2,
	  { "matches --cpu=3; `ptrace2ftf list`" },
	  "recorded threads" },
	{ "tails",
	  "--mode=kernel -f none",
	  NULL,
	  1,
	  { "tails.data: cannot apply --mode=kernel: it was not recorded; record without u in "
	    "intel_pt//u\n" },
	  "branches" },
	{ "tails",
	  "--clock=cycles -f csv",
	  NULL,
	  1,
	  { "tails.data: cannot use --clock=cycles: the recording has no CYC packets; record with "
	    "cyc=1, or use --clock=insns\n" },
	  "branches" },
	{ "script",
	  "-f branches",
	  NULL,
	  1,
	  { "perf script text has no branches to decode; use --format=ftf, calls or slices\n" },
	  "peak" },
	{ "script",
	  "-f csv -o /dev/null",
	  NULL,
	  0,
	  { "ptrace2ftf: 4 branches, 3 slices on 1 thread, 400 ns\n", "wrote /dev/null\n" },
	  "bytes of trace" },
	{ "tails",
	  "-v -f csv -o /dev/null",
	  NULL,
	  0,
	  { "ptrace2ftf: 5 branches, 4 slices on 1 thread, 100 ns, 64 bytes of trace\n",
	    "stream of cpu 0: 64 bytes of trace, 64 decoded, 0 skipped, 0 lost, 0 missing, 0 "
	    "recorded twice; 5 events\n",
	    "/tails/sample, names: all (3)\n" },
	  "warning" },
	{ "tails",
	  "--json -q -f none",
	  NULL,
	  0,
	  { "\"branches\": 5,", "\"thread_count\": 1,", "\"first_time_ns\": 1000000,",
	    "\"last_time_ns\": 1000100,", "\"instructions\": 4\n" },
	  "\"kind\": \"gaps\"" },
	{ "overflow",
	  "--json -q -f none",
	  NULL,
	  2,
	  { "\"branches\": 8,", "\"reason\": \"overflow\",", "\"instructions\": 6\n",
	    "\"kind\": \"gaps\",", "\"symbols\": 4," },
	  "\"names\": \"none\"" },
	/* Counts between branches are no branches. */
	{ "overflow",
	  "--counters=100ns -o x.ftf",
	  NULL,
	  2,
	  { "ptrace2ftf: 8 branches, 7 slices on 1 thread, 350 ns" },
	  "0 branches" },
	{ "tails",
	  "--clock=insns -f csv -o /dev/null",
	  NULL,
	  0,
	  { "ptrace2ftf: 5 branches, " },
	  "warning" },
	{ "untimed", "--counters=100ns -o x.ftf", NULL, 2, { "5 branches" }, "gap" },
	/* Only code that ran is asked for, though no slices need names. */
	{ "nameless",
	  "--json -q -f none",
	  NULL,
	  0,
	  { "\"used\": true,", "\"names\": \"none\"," },
	  "\"used\": false" },
	{ "overflow",
	  "-q -f csv -o -",
	  NULL,
	  2,
	  { "1234,1234,0,1000150,50,[lost: Overflow packet],,,,estimated\n" },
	  "warning" },
	/* A tail call is an arrow from where the function jumps. */
	{ "tails",
	  "-q --stacks=flows -o x.ftf",
	  "; $top_builddir/ftfdump x.ftf",
	  0,
	  { "flow-begin 1234/1234 1000030 \"tail call\" id 1\n",
	    "flow-end 1234/1234 1000030 \"tail call\" id 1\n" },
	  "id 2" },
	{ "tails",
	  "-q --stacks=replace -o x.ftf",
	  "; $top_builddir/ftfdump x.ftf",
	  0,
	  { "\"g\"" },
	  "flow" },
	{ "tails", "-q -o x.ftf", "; $top_builddir/ftfdump x.ftf", 0, { "\"g\"" }, "flow" },
	/* Overlays alone, and cut; of a text they are not shown. */
	{ "",
	  "--memtrace=mem.ctf -f folded -o -",
	  NULL,
	  1,
	  { "overlays alone have no branches; use --format=ftf, html or events\n" },
	  "written" },
	{ "",
	  "--memtrace=mem.ctf -o x.ftf",
	  "; $top_builddir/ftfdump x.ftf",
	  0,
	  { "ptrace2ftf: mem.ctf: clock: its own\n", "Main.f" },
	  "warning" },
	{ "", "--memtrace=mem.ctf -f events -o -", NULL, 0, { "Main.f" }, "warning" },
	{ "",
	  "--memtrace=mem.ctf -f memtrace --time=+2s,+1.5s -o cut.ctf",
	  NULL,
	  0,
	  { "4 of 5 events of memtrace, 1 of them blocks that were allocated before\n" },
	  "warning" },
	{ "tails",
	  "--memtrace=mem.ctf -f folded -o -",
	  NULL,
	  2,
	  { "sample;main;f;g 1\n",
	    "overlays are left out: only --format=ftf, html and events of a perf.data file show them\n" },
	  "Main.f" },
	/* Without Intel PT there is nothing to decode, but overlays are shown. */
	{ "samples",
	  "-o x.ftf",
	  NULL,
	  1,
	  { "samples.data: holds no Intel PT; record with: perf record -e intel_pt//u\n" },
	  "branches" },
	{ "samples",
	  "--memtrace=mem.ctf -o x.ftf",
	  NULL,
	  2,
	  { "perf record -e intel_pt//u; showing the overlays only\n", "0 branches, 5 slices" },
	  "1 branches" },
	/* The replacement may be earlier, as times are coarse. */
	{ "replaced",
	  "-f none",
	  NULL,
	  2,
	  { "cannot know which of two files had the code at an address: 1 mappings replaced other "
	    "code, and times are coarse; record with cyc=1\n" },
	  "gap" },
	/* Of ten slices, the shortest are the system call (0 ns) and the first leaf (25 ns). */
	{ "threads",
	  "--fit=8 -o x.ftf",
	  "; $top_builddir/ftfdump x.ftf | grep -c '\"leaf\" category'",
	  0,
	  { "ptrace2ftf: 22 branches, 8 slices on 1 thread, 700 ns, ",
	    "  of 10 slices, 2 short ones, ", "(--fit)", "\n5\n" },
	  "warning" },
	{ "threads",
	  "--fit=10 -q -o x.ftf",
	  "; $top_builddir/ftfdump x.ftf | grep -c '\"leaf\" category'",
	  0,
	  { "6\n" },
	  "fit" },
	/* An arrow leads to each stack, and none from the one that never runs again. */
	{ "stacks",
	  "-q --fibers -o x.ftf",
	  "; $top_builddir/ftfdump x.ftf",
	  0,
	  { "\"sample > fiber 1 g\"", "flow-begin 1234/1234 1000100 \"switch\" id 4294967297\n",
	    "flow-end 1234/5000001 1000100 \"switch\" id 4294967297\n",
	    "flow-end 1234/1234 1000200 \"switch\" id 4294967298\n" },
	  "id 4294967299" },
	/* In 100 ns from 1000000: 4 instructions, 2 of them calls, all 4 taken; later leaf's ret.
	 */
	{ "overflow",
	  "-q --counters=100ns -o x.ftf",
	  "; $top_builddir/ftfdump x.ftf",
	  0,
	  { "counter 1234/1234 1000000 \"sample\" id 1234 insns/s=40000000 calls/s=20000000 "
	    "branches/insn=1\n",
	    "counter 1234/1234 1000100 \"sample\" id 1234 insns/s=0 calls/s=0 branches/insn=0\n",
	    "counter 1234/1234 1000200 \"sample\" id 1234 insns/s=10000000 calls/s=0 "
	    "branches/insn=1\n",
	    "\"CPU 0\" id 0 insns/s=40000000 calls/s=20000000 branches/insn=1\n" },
	  "ipc" },
};

START_TEST(conversions_are_reported)
{
	int status = run(messages[_i].name, messages[_i].options,
			 messages[_i].after ? messages[_i].after : "");

	for (size_t i = 0; i < 5 && messages[_i].has[i]; i++)
		ck_assert_msg(strstr(text, messages[_i].has[i]) != NULL, "%s in:\n%s",
			      messages[_i].has[i], text);
	ck_assert_msg(strstr(text, messages[_i].lacks) == NULL, "%s in:\n%s", messages[_i].lacks,
		      text);
	ck_assert_int_eq(status, messages[_i].status);
}
END_TEST

/* main calls work, which runs 2 instructions a round, and leaf 1. */
START_TEST(any_number_of_threads_gives_the_same)
{
	static const char *const options[] = { "-j1", "-j4", "--engine=libipt" };
	char *with = alloc_text("-q -f folded %s -o -", options[_i]);
	char *wanted = alloc_text("sample;main 1\nsample;main;work %d\nsample;main;work;leaf %d\n",
				  6 * ROUNDS, 3 * ROUNDS);

	ck_assert_int_eq(run("long", with, ""), 0);
	ck_assert_str_eq(text, wanted);
	free(with);
	free(wanted);
	with = alloc_text("%s -f csv -o /dev/null", options[_i]);
	wanted = alloc_text("%d branches, %d slices on 1 thread", 9 * ROUNDS + 3, 3 * ROUNDS + 3);
	ck_assert_int_eq(run("long", with, ""), 0);
	ck_assert_msg(strstr(text, wanted) != NULL, "%s in:\n%s", wanted, text);
	free(with);
	free(wanted);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("pipeline_more");
	TCase *all = tcase_create("all");

	tcase_add_unchecked_fixture(all, set_up, tear_down);
	tcase_add_loop_test(all, programs_have_their_slices, 0, COUNT_OF(outputs));
	tcase_add_loop_test(all, conversions_are_reported, 0, COUNT_OF(messages));
	tcase_add_loop_test(all, any_number_of_threads_gives_the_same, 0, 3);
	suite_add_tcase(suite, all);
	return unit_run(suite);
}
