/* SPDX-License-Identifier: MIT */
/*
 * Packets that begin, interrupt and end the flow, and its branches (SDM volume 3, "Intel Processor
 * Trace", packets; errata as intel-pt.h quotes them). The text and its places are those of
 * packet_text.h; C is vmlaunch.
 */
#include "decoder/cpu_event.h"
#include "tests/unit/decoder/packet_text.h"

#define BROADWELL   "GenuineIntel,6,61,4"
#define SKYLAKE     "GenuineIntel,6,94,3"
#define APOLLO_LAKE "GenuineIntel,6,92,9"

/* The code of work, and before it of no function: nop; jne itself; W: jne W-3; ret */
#define LOOP 2
/* The same, but with a jump to itself at W: ret is at W+2. */
#define LOCAL 8
/* W-3: nop; bytes of no instruction */
#define INVALID 16
/* leaf() is a jump to X. */
#define LEAVES 32
/* C is vmresume. */
#define RESUMES 64
/* libipt does not follow these packets; nor does it resume after damage, before the next PSB. */
#define FAST 4

static const struct row {
	const char *cpu; /* NULL: without errata */
	int code;        /* true: the kernel is traced, too; LOOP; FAST */
	const char *packets, *events;
} rows[] = {
	/* Interrupts: where the FUP is, up to the TIP's target. */
	{ NULL, true, "psb pge:W fup:W tip:F tip:W tnt:tn pgd",
	  "on:W interrupt!:W>F iret:F+1>W call:W>L return:L>W+5 return:W+7>0" },
	{ NULL, true, "psb pge:W tnt:t fup:W+5 tip:F tip:W+5 tnt:n fup:W+7 pgd",
	  "on:W call:W>L return:L>W+5 interrupt!:W+5>F iret:F+1>W+5 off!:W+7" },
	{ NULL, true, "psb pge:F fup:F+1 tip:F tip:F+1 tip:W fup:W pgd",
	  "on:F interrupt!:F+1>F iret:F+1>F+1 iret:F+1>W off!:W" },
	{ NULL, false, "psb pge:W fup:W pgd pge:W tnt:tn pgd",
	  "on:W off!:W on:W call:W>L return:L>W+5 return:W+7>0" },
	/* The TIP after a FUP is missing. */
	{ NULL, false, "psb pge:W fup:W fup:L pgd", "on:W mismatch:W on:L off!:L" },
	{ NULL, false, "psb pge:W fup:W pge:L pgd", "on:W mismatch:W on:L return:L>0" },
	/* The code does not lead to the FUP. */
	{ NULL, false, "psb pge:W fup:W+1 pgd", "on:W call:W>L mismatch:L on:W+1 off!:W+1" },
	{ NULL, false, "psb pge:W fup:M pgd", "on:W call:W>L mismatch:L on:M off!:M" },
	/* Packets of traced code while tracing is off. */
	{ NULL, false, "psb tip:W pge:L pgd", "mismatch on:L return:L>0" },
	{ NULL, false, "psb tnt:t pge:L pgd", "mismatch on:L return:L>0" },
	{ NULL, false, "psb pgd pge:L pgd", "mismatch on:L return:L>0" },
	{ NULL, false, "psb pge:L pgd pgd pge:L pgd", "on:L return:L>0 mismatch on:L return:L>0" },
	{ NULL, FAST, "psb fup:W pge:L pgd", "on:L return:L>0" },
	/* Tracing begins while it is on; a target without an address. */
	{ NULL, false, "psb pge:W pge:L pgd", "on:W mismatch:W on:L return:L>0" },
	{ BROADWELL, false, "psb pge:W pge:L pgd", "on:W mismatch:W on:L return:L>0" },
	{ NULL, false, "psb pge:L tip pge:L pgd", "on:L mismatch:L on:L return:L>0" },
	{ NULL, false, "psb pge:L pge pge:L pgd", "on:L mismatch:L on:L return:L>0" },
	{ NULL, false, "psb pge pge:L pgd", "mismatch on:L return:L>0" },
	/* A header in the middle: where the code arrives, and calls before it are forgotten. */
	{ NULL, false, "psb pge:M psb:W tnt:tn tip:M+5 pgd",
	  "on:M call:M>W call:W>L return:L>W+5 return:W+7>M+5 call:M+5>W call:W>L return:L>0" },
	{ NULL, false, "psb pge:M psb:W tnt:tnt pge:L pgd",
	  "on:M call:M>W call:W>L return:L>W+5 mismatch:W+7 on:L return:L>0" },
	{ NULL, false, "psb pge:W tnt:t psb:W+7 pgd",
	  "on:W call:W>L return:L>W+5 mismatch:W+5 on:W+7 return:W+7>0" },
	{ NULL, false, "psb pge:W psb pge:L pgd", "on:W mismatch:W on:L return:L>0" },
	/* BDM70: an address in a header says nothing before TIP.PGE, unless a packet confirms it.
	 */
	{ BROADWELL, false, "psb:W pge:L pgd", "on:L return:L>0" },
	{ NULL, false, "psb:W pge:L pgd", "mismatch:W on:L return:L>0" },
	{ BROADWELL, false, "psb:W tnt:tn pgd", "call:W>L return:L>W+5 return:W+7>0" },
	{ BROADWELL, false, "psb:L tip:W+7 pgd", "return:L>W+7 return:W+7>0" },
	{ BROADWELL, false, "psb:L fup:L pgd", "off!:L" },
	{ BROADWELL, false, "psb:L pgd", "return:L>0" },
	{ BROADWELL, false, "psb:W ovf pge:L pgd", "overflow on:L return:L>0" },
	{ BROADWELL, FAST, "psb:W psb pge:L pgd", "on:L return:L>0" },
	{ BROADWELL, FAST, "psb:W psb:M pge:L pgd", "on:L return:L>0" },
	{ BROADWELL, FAST, "psb:W psb pge:L tip:W tnt:tn pgd",
	  "on:L return:L>W call:W>L return:L>W+5 return:W+7>0" },
	/* Tracing was on, so its end is lost. */
	{ BROADWELL, false, "psb pge:W psb:W pge:L pgd", "on:W mismatch:W on:L return:L>0" },
	{ BROADWELL, false, "psb pge:L tip:M psb:W pge:L pgd",
	  "on:L return:L>M call:M>W mismatch:W on:L return:L>0" },
	{ BROADWELL, LOOP, "psb pge:L tip:W tnt:tn pge:L pgd",
	  "on:L return:L>W cond:W>40101d mismatch:W on:L return:L>0" },
	{ BROADWELL, LOOP, "psb:W tnt:tn pge:L pgd", "cond:W>40101d mismatch:W on:L return:L>0" },
	/* Jumps within a function are left out, but the first after each begin, also by falling. */
	{ NULL, LOCAL | FAST, "psb pge:W tnt:ttn pgd", "on:W cond:W>W return:W+2>0" },
	{ NULL, LOCAL | FAST, "psb pge:W-3 tnt:tnttn pgd",
	  "on:40101d cond:40101e>40101e cond:W>W return:W+2>0" },
	/* Overflows end with a FUP, if tracing is on, or a TIP.PGE. */
	{ NULL, false, "psb pge:W ovf fup:L pgd", "on:W overflow on:L return:L>0" },
	{ NULL, false, "psb pge:W ovf pge:L pgd", "on:W overflow on:L return:L>0" },
	{ NULL, FAST, "psb pge:W ovf pgd pge:L pgd", "on:W overflow on:L return:L>0" },
	{ NULL, false, "psb pge:W fup:W ovf fup:L pgd", "on:W overflow on:L return:L>0" },
	{ NULL, false, "psb pge:W ovf tnt:t pge:L pgd", "on:W overflow mismatch on:L return:L>0" },
	{ SKYLAKE, FAST, "psb pge:W ovf tnt:t pge:L pgd", "on:W overflow on:L return:L>0" },
	{ SKYLAKE, false, "psb pge:W ovf tip:L pgd", "on:W overflow on:L return:L>0" },
	{ APOLLO_LAKE, false, "psb pge:W ovf fup:M pge:L pgd", "on:W overflow on:L return:L>0" },
	{ NULL, false, "psb pge:W ovf fup:M pge:L pgd",
	  "on:W overflow on:M mismatch:M on:L return:L>0" },
	{ APOLLO_LAKE, false, "psb pge:W ovf fup:L tip:W+7 pgd",
	  "on:W overflow on:L return:L>W+7 return:W+7>0" },
	/* A compressed return needs a call since the PSB or overflow; it may be in missing code. */
	{ NULL, false, "psb pge:L tnt:t pge:L pgd", "on:L mismatch:L on:L return:L>0" },
	{ NULL, FAST, "psb pge:X tnt:n tip:L tnt:t pge:L pgd",
	  "on:X missing:X on:L missing on:L return:L>0" },
	{ NULL, FAST, "psb pge:X tnt:n tip:L ovf fup:L tnt:t pge:L pgd",
	  "on:X missing:X on:L overflow on:L mismatch:L on:L return:L>0" },
	{ NULL, FAST, "psb pge:X tnt:n psb:L tnt:t pge:L pgd",
	  "on:X missing:X on:L mismatch:L on:L return:L>0" },
	/* Code without bytes: no gap before the first instruction; up to a packet with an address.
	 */
	{ NULL, true | FAST, "psb pge:L tip:X fup:X tip:F tip:L pgd",
	  "on:L return:L>X interrupt!:X>F iret:F+1>L return:L>0" },
	{ NULL, FAST, "psb pge:L tip:X tnt:tnt fup:W pgd",
	  "on:L return:L>X missing:X on:W off!:W" },
	{ NULL, FAST, "psb pge:L tip:X pgd pge:L pgd",
	  "on:L return:L>X missing:X on:L return:L>0" },
	{ NULL, FAST, "psb pge:L tip:X tnt:t psb pge:L pgd",
	  "on:L return:L>X missing:X on:L return:L>0" },
	/* Bytes of no instruction: up to a packet with an address, also if it is the first one. */
	{ NULL, INVALID | FAST, "psb pge:W-3 tnt:tnt tip:L pgd",
	  "on:40101d mismatch:40101e on:L return:L>0" },
	{ NULL, INVALID | FAST, "psb pge:W-3 tnt:t fup:L pgd pge:W-2 tnt:t tip:L pgd",
	  "on:40101d mismatch:40101e on:L off!:L on:40101e mismatch:40101e on:L return:L>0" },
	{ NULL, INVALID | FAST, "psb pge:L tip:W-3 tnt:t ovf fup:L pgd",
	  "on:L return:L>40101d mismatch:40101e overflow on:L return:L>0" },
	/* A guest's packets are not of this code. */
	{ NULL, true, "psb pge:C guest tip:W tnt:t fup:L tip:M host tip:L pgd",
	  "on:C softintg:C>0 on:L return:L>0" },
	{ NULL, true | FAST, "psb pge:W fup:W guest tip:M tnt:t host tip:L pgd",
	  "on:W off!g:W on:L return:L>0" },
	{ NULL, true, "psb guest pge:W tnt:t pgd host pge:L pgd", "off!g off! on:L return:L>0" },
	{ NULL, true, "psb guest pge:W tnt:t tip:M pgd pge:W host tip:L pgd",
	  "off!g off! off!g on:L return:L>0" },
	{ NULL, true | FAST, "psb pge:W guest psb:L host tip:L pgd",
	  "on:W off!g:W on:L return:L>0" },
	{ NULL, true, "psb guest pge:W psb host pge:L pgd", "off!g off! on:L return:L>0" },
	{ NULL, true, "psb pge:C guest tip:W ovf fup:W host tip:L pgd",
	  "on:C softintg:C>0 overflow off!g on:L return:L>0" },
	{ NULL, true, "psb guest pge:W begin abort host pge:L pgd", "off!g on:L return:L>0" },
	/* The host's trace ends at a VM entry, and the guest's begins. */
	{ NULL, true, "psb pge:C guest pgd pge:M pgd host pge:L pgd",
	  "on:C softintg:C>0 off! on:L return:L>0" },
	{ NULL, true | FAST, "psb pge:C guest pgd psb host pge:L pgd",
	  "on:C softintg:C>0 off! on:L return:L>0" },
	/* A header with an address: the guest is traced, if it was not before, too. */
	{ NULL, true | FAST, "psb guest psb:L tip:M pgd host pge:L pgd",
	  "off!g off! on:L return:L>0" },
	{ NULL, true | FAST, "psb pge:L pgd guest psb:L tip:M host tip:L pgd",
	  "on:L return:L>0 off!g on:L return:L>0" },
	/* A guest runs while it is unknown where the host is. */
	{ NULL, true | FAST, "psb pge:L tnt:t guest tip:W tnt:t host tip:L pgd",
	  "on:L mismatch:L off!g on:L return:L>0" },
	{ NULL, true | FAST, "psb pge:X tnt:n guest tip:W tnt:t host tip:L pgd",
	  "on:X missing:X off!g on:L return:L>0" },
	/* If only user code is traced, the recorded program runs in the guest. */
	{ NULL, false, "psb guest pge:W tnt:tn pgd", "on:W call:W>L return:L>W+5 return:W+7>0" },
	/* Transactions begin and end at their FUP; an abort has the address of a TIP. */
	{ NULL, false, "psb pge:W begin fup:W tnt:tn commit fup:W+7 pgd",
	  "on:W call~:W>L return~:L>W+5 return:W+7>0" },
	{ NULL, false, "psb pge:W begin fup:W tnt:t abort fup:W+5 tip:L pgd",
	  "on:W call~:W>L return~:L>W+5 abort!:W+5>L return:L>0" },
	{ NULL, false, "psb pge:W begin fup:W tnt:t ovf fup:L pgd",
	  "on:W call~:W>L return~:L>W+5 overflow~ on:L return:L>0" },
	/* BDM64: an abort may follow a branch that was never taken, so the code before is none. */
	{ BROADWELL, FAST, "psb pge:W begin fup:W abort fup:W+5 tip:L pgd",
	  "on:W abort!:W+5>L return:L>0" },
	{ BROADWELL, FAST, "psb pge:W begin fup:W abort fup:L tip:M fup:W pgd",
	  "on:W call~:W>L abort!:L>M call:M>W off!:W" },
	{ NULL, false, "psb pge:W begin fup:W abort fup:W+5 tip:L pgd",
	  "on:W call~:W>L mismatch~:L on:W+5 abort!:W+5>L return:L>0" },
	{ BROADWELL, LEAVES | FAST, "psb pge:W begin fup:W abort fup:X tip:M fup:W pgd",
	  "on:W call~:W>L jump~:L>X abort!:X>M call:M>W off!:W" },
	{ BROADWELL, LEAVES | FAST, "psb pge:W begin fup:W abort fup:M tip:W+7 pgd",
	  "on:W abort!:M>W+7 return:W+7>0" },
	{ BROADWELL, FAST, "psb pge:W begin fup:M pgd",
	  "on:W call:W>L mismatch:L on:M call~:M>W call~:W>L return~:L>0" },
	/* SKD022: a FUP before a VM entry is no interrupt. */
	{ SKYLAKE, false, "psb pge:C fup:C pgd", "on:C softint:C>0" },
	{ SKYLAKE, RESUMES, "psb pge:C fup:C pgd", "on:C softint:C>0" },
	{ SKYLAKE, false, "psb pge:W fup:W pgd", "on:W off!:W" },
};

#define ROWS ((int)(sizeof(rows) / sizeof(rows[0])))

/* Also if the file has the trace in pieces of eight bytes, and if padding follows. */
START_TEST(packets_give_their_events)
{
	uint8_t vm_entry[] = { 0x0f, 0x01, 0xc2 };
	static const uint8_t jump_away[] = { 0xe9, 0xbb, 0xef, 0x4f, 0 };
	uint8_t jumps[] = { 0x90, 0x75, 0xfe, 0x75, 0xfb, 0xc3 };
	const struct row *row = &rows[_i % ROWS];
	enum pt_engine engine = _i / ROWS == 1 ? PT_ENGINE_LIBIPT : PT_ENGINE_FAST;
	char path[PERF_DATA_PATH] = "";
	uint64_t guests = 0;
	char *events;

	if (engine == PT_ENGINE_LIBIPT && (row->code & FAST || strstr(row->events, "mismatch")))
		return;
	begin(engine);
	run.in_pieces = _i / ROWS == 2;
	run.padded = _i / ROWS == 3;
	if (row->code & RESUMES)
		vm_entry[2] = 0xc3;
	memcpy(run.program_bytes + TINY_ELF_CODE_OFFSET + (SAMPLE_CIRCLE - SAMPLE_CODE), vm_entry,
	       sizeof(vm_entry));
	if (row->code & LOCAL)
		jumps[4] = 0xfe;
	if (row->code & INVALID)
		jumps[1] = 0x06;
	if (row->code & (LOOP | LOCAL | INVALID))
		memcpy(run.program_bytes + TINY_ELF_CODE_OFFSET + (SAMPLE_WORK - 3 - SAMPLE_CODE),
		       jumps, sizeof(jumps));
	if (row->code & LEAVES)
		memcpy(run.program_bytes + TINY_ELF_CODE_OFFSET + (SAMPLE_LEAF - SAMPLE_CODE),
		       jump_away, sizeof(jump_away));
	run.skip = row->code & (LOOP | LOCAL | INVALID);
	if (row->cpu)
		perf_data_set_text(&run.data, PERF_FEATURE_CPUID, row->cpu);
	else
		perf_data_set_text(&run.data, PERF_FEATURE_CPUID, "GenuineIntel,6,13,8");
	if (row->code & true)
		add_kernel(path);
	add_packets(row->packets);
	finish();
	if (row->code & true)
		unlink(path);
	events = events_as_text(false);
	ck_assert_str_eq(events, row->events);
	for (size_t i = 0; i < run.count; i++)
		guests += (run.events[i].flags & BRANCH_GUEST) != 0;
	ck_assert_uint_eq(run.stats.guests, guests);
	free(events);
	expect_all_bytes_counted();
}
END_TEST

/* ---- Transactions ------------------------------------------------------------ */

/* The beginning and the end of each transaction, or of what the trace has of it. */
static const struct {
	const char *packets, *events;
	bool fast; /* libipt does not follow these packets */
} transactions[] = {
	{ "psb pge:W begin fup:W tnt:tn commit fup:W+7 pgd",
	  "on:W {begin:W} call~:W>L return~:L>W+5 {commit:W+7} return:W+7>0", false },
	{ "psb pge:W begin fup:W tnt:t abort fup:W+5 tip:L pgd",
	  "on:W {begin:W} call~:W>L return~:L>W+5 {abort:W+5} abort!:W+5>L return:L>0", false },
	/* It began in code that is not traced, and ends there. */
	{ "psb begin pge:W tnt:tn pgd commit pge:L pgd",
	  "on~:W {begin} call~:W>L return~:L>W+5 return~:W+7>0 {commit} on:L return:L>0", false },
	{ "psb begin commit pge:L pgd", "on:L return:L>0", false },
	/* It is shown once. */
	{ "psb begin pge:L pgd pge:L pgd", "on~:L {begin} return~:L>0 on~:L return~:L>0", false },
	/* The trace of its end is lost: by an overflow, or a gap. */
	{ "psb pge:W begin fup:W tnt:t ovf fup:L pgd",
	  "on:W {begin:W} call~:W>L return~:L>W+5 overflow~ {lost} on:L return:L>0", false },
	{ "psb pge:W begin fup:W fup:M pgd",
	  "on:W {begin:W} call~:W>L mismatch~:L {lost} on:M off!:M", true },
	{ "psb pge:W begin fup:W pge:L pgd", "on:W {begin:W} mismatch~:W {lost} on:L return:L>0",
	  true },
	/* A PSB that shows it changes nothing. */
	{ "psb pge:W begin fup:W tnt:t in:W+5 tnt:n commit fup:W+7 pgd",
	  "on:W {begin:W} call~:W>L return~:L>W+5 {commit:W+7} return:W+7>0", false },
	/* Or by a PSB that shows none. libipt reads a PSB before the return. */
	{ "psb pge:W begin fup:W tnt:t out:W+5 tnt:n pgd",
	  "on:W {begin:W} call~:W>L return~:L>W+5 {lost} return:W+7>0", true },
	/* The trace of its begin is lost: a PSB shows it, an abort ends it, a commit says nothing.
	 */
	{ "psb pge:W tnt:t in:W+5 tnt:n commit fup:W+7 pgd",
	  "on:W call:W>L return:L>W+5 {begin} {commit:W+7} return:W+7>0", true },
	{ "psb pge:W tnt:t abort fup:W+5 tip:L pgd",
	  "on:W call:W>L return:L>W+5 {abort:W+5} abort!:W+5>L return:L>0", false },
	/* It lasts while tracing is off. */
	{ "psb pge:W begin fup:W tnt:tn pgd pge:L pgd",
	  "on:W {begin:W} call~:W>L return~:L>W+5 return~:W+7>0 on~:L return~:L>0", false },
	{ "psb pge:W begin fup:W tnt:tn pgd abort pge:L pgd",
	  "on:W {begin:W} call~:W>L return~:L>W+5 return~:W+7>0 {abort} on:L return:L>0", false },
};

START_TEST(transactions_begin_and_end)
{
	char *events;

	if (_i % 3 == 1 && transactions[_i / 3].fast)
		return;
	begin(_i % 3 == 1 ? PT_ENGINE_LIBIPT : PT_ENGINE_FAST);
	run.cpu_events = true;
	run.padded = _i % 3 == 2;
	add_packets(transactions[_i / 3].packets);
	finish();
	/* Leave out the header's CBR. */
	for (size_t i = 0; i < run.count; i++)
		if (run.events[i].kind == BRANCH_CPU_EVENT && run.events[i].gap == CPU_EVENT_CBR) {
			memmove(&run.events[i], &run.events[i + 1],
				(--run.count - i) * sizeof(*run.events));
			i--;
		}
	events = events_as_text(false);
	ck_assert_str_eq(events, transactions[_i / 3].events);
	free(events);
}
END_TEST

/* ---- Events of the processor ------------------------------------------------- */

/*
 * Bytes of a packet, after TIP.PGE to W, and the packets after it (SDM volume 3, packet
 * definitions). libipt waits for the instruction of a PTW or VMCS packet without an ip.
 */
static const struct event_row {
	const char *bytes;
	size_t size;
	const char *next;
	struct cpu_event_data event;
	uint64_t ip; /* of the event */
	bool by_insn;
} event_rows[] = {
	/* CBR */
	{ "\x02\x03\x21\0", 4, "", { CPU_EVENT_CBR, 0, 33 }, 0, false },
	/* PTW of four and eight bytes; the ip is that of a FUP */
	{ "\x02\x12\x04\x03\x02\x01", 6, "", { CPU_EVENT_PTWRITE, 0, 0x1020304 }, 0, true },
	{ "\x02\xb2\x08\x07\x06\x05\x04\x03\x02\x01",
	  10,
	  "fup:W",
	  { CPU_EVENT_PTWRITE, 0, 0x102030405060708 },
	  SAMPLE_WORK,
	  false },
	{ "\x02\x92\x04\x03\x02\x01",
	  6,
	  "fup:W",
	  { CPU_EVENT_PTWRITE, 0, 0x1020304 },
	  SAMPLE_WORK,
	  false },
	/* An overflow comes before the FUP. */
	{ "\x02\x92\x04\x03\x02\x01",
	  6,
	  "ovf fup:W",
	  { CPU_EVENT_PTWRITE, 0, 0x1020304 },
	  0,
	  true },
	/* EXSTOP */
	{ "\x02\x62", 2, "", { CPU_EVENT_EXSTOP, 0, 0 }, 0, false },
	{ "\x02\xe2", 2, "fup:W", { CPU_EVENT_EXSTOP, 0, 0 }, SAMPLE_WORK, false },
	/* MWAIT: the hints are bits 7:0, the extensions bits 33:32 */
	{ "\x02\xc2\x21\0\0\0\x01\0\0\0", 10, "", { CPU_EVENT_MWAIT, 1, 0x21 }, 0, false },
	/* PWRE: by hardware, bit 7; sub C-state, bits 11:8; C-state, bits 15:12 */
	{ "\x02\x22\x80\x61", 4, "", { CPU_EVENT_PWRE, 0, PWRE_BY_HARDWARE | 0x16 }, 0, false },
	{ "\x02\x22\0\x20", 4, "", { CPU_EVENT_PWRE, 0, 2 }, 0, false },
	/*
	 * PWRX: deepest core C-state, bits 3:0; last, bits 7:4; wake by an interrupt, a store or
	 * the hardware, bits 8, 10 and 11
	 */
	{ "\x02\xa2\x63\x01\0\0\0", 7, "", { CPU_EVENT_PWRX, 0, PWRX_INTERRUPT | 0x36 }, 0, false },
	{ "\x02\xa2\x36\x04\0\0\0", 7, "", { CPU_EVENT_PWRX, 0, PWRX_STORE | 0x63 }, 0, false },
	{ "\x02\xa2\x36\x08\0\0\0",
	  7,
	  "",
	  { CPU_EVENT_PWRX, 0, PWRX_AUTONOMOUS | 0x63 },
	  0,
	  false },
	/* VMCS: bits 51:12 of the base */
	{ "\x02\xc8\x45\x23\x01\0\0", 7, "", { CPU_EVENT_VMCS, 0, 0x12345000 }, 0, true },
	/* PIP: bits 51:5 of CR3, and NR */
	{ "\x02\x43\x01\x10\0\0\0\0", 8, "", { CPU_EVENT_PIP, 1, 0x10000 }, 0, true },
	{ "\x02\x43\x02\x10\0\0\0\0", 8, "", { CPU_EVENT_PIP, 0, 0x10020 }, 0, true },
	/* CFE: type, IP (bit 7), vector; with its own FUP, that of an interrupt, or none */
	{ "\x02\x13\x81\x0e", 4, "fup:W", { CPU_EVENT_CFE, 1, 14 }, SAMPLE_WORK, false },
	{ "\x02\x13\x01\x20", 4, "fup:W pgd pge:W", { CPU_EVENT_CFE, 1, 32 }, SAMPLE_WORK, false },
	{ "\x02\x13\x03\0", 4, "fup:W pgd pge:W", { CPU_EVENT_CFE, 3, 0 }, SAMPLE_WORK, false },
	{ "\x02\x13\x02\0", 4, "", { CPU_EVENT_CFE, 2, 0 }, 0, false },
	{ "\x02\x13\x02\0", 4, "fup:W pgd pge:W", { CPU_EVENT_CFE, 2, 0 }, 0, false },
	/* The interrupt's FUP is lost. */
	{ "\x02\x13\x01\x20", 4, "ovf fup:W", { CPU_EVENT_CFE, 1, 32 }, 0, false },
	/* EVD: type, payload */
	{ "\x02\x53\x02\x08\x07\x06\x05\x04\x03\x02\x01",
	  11,
	  "",
	  { CPU_EVENT_EVD, 2, 0x102030405060708 },
	  0,
	  false },
	/* TRIG: with its FUP; with a count of instructions; others fired as well */
	{ "\xd9\x80\x04", 3, "fup:W", { CPU_EVENT_TRIG, 0, 4 }, SAMPLE_WORK, false },
	{ "\xd9\x40\x04\x0d\x02", 5, "", { CPU_EVENT_TRIG, 0x20d, TRIG_COUNTED | 4 }, 0, false },
	{ "\xd9\x20\x03", 3, "", { CPU_EVENT_TRIG, 0, TRIG_MULTIPLE | 3 }, 0, false },
	/* BBP, BEP with and without a FUP */
	{ "\x02\x63\x01\x02\x33", 5, "", { CPU_EVENT_PEBS, PEBS_FIRST, 0 }, 0, false },
	{ "\x02\x63\x01\x02\xb3",
	  5,
	  "fup:W",
	  { CPU_EVENT_PEBS, PEBS_FIRST, 0 },
	  SAMPLE_WORK,
	  false },
	/* The block is lost before its end: a BIP's byte is a TNT ("n") then. */
	{ "\x02\x63\x01\x02\xf3", 5, "fup:L pgd pge:W evd", { CPU_EVENT_EVD, 1, 7 }, 0, false },
	/* A FUP of several packets */
	{ "\xd9\x80\x04",
	  3,
	  "fup:W fup:W pgd pge:W",
	  { CPU_EVENT_TRIG, 0, 4 },
	  SAMPLE_WORK,
	  false },
};

START_TEST(packets_give_events_of_the_processor)
{
	const struct event_row *row = &event_rows[_i / 3];
	struct cpu_event event = { 0 };
	int found = 0;

	if (_i % 3 == 1 && row->by_insn)
		return;
	begin(_i % 3 == 1 ? PT_ENGINE_LIBIPT : PT_ENGINE_FAST);
	run.cpu_events = true;
	run.padded = _i % 3 == 2;
	add_packets("psb pge:W");
	pt_packets_raw(&run.packets, row->bytes, row->size);
	add_packets(row->next);
	add_packets("tnt:tn pgd");
	finish();
	for (size_t i = 0; i < run.count; i++) {
		if (run.events[i].kind != BRANCH_CPU_EVENT)
			continue;
		/* The header has a CBR. */
		if (run.events[i].gap == CPU_EVENT_CBR && run.events[i].to != row->event.value)
			continue;
		event = cpu_event_of(&run.events[i]);
		found++;
	}
	ck_assert_int_eq(found, 1);
	ck_assert_int_eq(event.kind, row->event.kind);
	ck_assert_uint_eq(event.value, row->event.value);
	ck_assert_uint_eq(event.extra, row->event.extra);
	ck_assert_uint_eq(event.ip, row->ip);
}
END_TEST

/*
 * One FUP has the address of all events before it, of which there are at most four kinds. Before a
 * fifth, and if the FUP is lost, the address is unknown.
 */
static const struct {
	int count;        /* of TRIGs, whose values are 1, 2 and so on */
	const char *next; /* packets */
	int unknown;      /* events without an address, which are the first */
} pending[] = {
	{ 1, "fup:W tnt:tn pgd", 0 },
	{ 3, "fup:W tnt:tn pgd", 0 },
	{ 4, "fup:W tnt:tn pgd", 0 },
	{ 5, "fup:W tnt:tn pgd", 4 },
	{ 9, "fup:W tnt:tn pgd", 8 },
	{ 3, "ovf fup:L pgd", 3 },
	{ 4, "psb:W tnt:tn pgd", 4 },
	{ 2, "ovf", 2 },
	{ 3, "", 3 },
	{ 2, "fup:W fup:W pgd pge:L", 0 },
};

START_TEST(a_fup_has_the_address_of_all_events_before_it)
{
	int found = 0;

	begin(PT_ENGINE_FAST);
	run.cpu_events = true;
	run.padded = _i % 2;
	add_packets("psb pge:W");
	for (int i = 1; i <= pending[_i / 2].count; i++)
		pt_packets_raw(&run.packets, (uint8_t[]){ 0xd9, 0x80, (uint8_t)i }, 3);
	add_packets(pending[_i / 2].next);
	finish();
	for (size_t i = 0; i < run.count; i++) {
		const struct cpu_event event = cpu_event_of(&run.events[i]);

		if (run.events[i].kind != BRANCH_CPU_EVENT || event.kind != CPU_EVENT_TRIG)
			continue;
		ck_assert_uint_eq(event.value, (uint64_t)++found);
		ck_assert_uint_eq(event.ip, found > pending[_i / 2].unknown ? SAMPLE_WORK : 0);
	}
	ck_assert_int_eq(found, pending[_i / 2].count);
}
END_TEST

/* ---- Emulated PTWRITE -------------------------------------------------------- */

#define WRITE (SAMPLE_CODE + 18) /* after a jump over the sign */

/* perf-intel-pt(1), "EMULATED PTWRITE": 64 conditional jumps, from the highest bit. */
static void write_emulated(void)
{
	static const char begin_code[] = "\xeb\x10\x0f\x0bperf,ptwrite  ";
	uint8_t *code;

	run.program_size = TINY_ELF_CODE_OFFSET + 0x1000;
	run.program_bytes = realloc(run.program_bytes, run.program_size);
	ck_assert_ptr_nonnull(run.program_bytes);
	code = run.program_bytes + TINY_ELF_CODE_OFFSET;
	memset(code, 0xc3, 0x1000);
	memcpy(code, begin_code, 18);
	for (int i = 0; i < 64; i++)
		memcpy(code + 18 + 2 * i, "\x75\x00", 2);
}

/* Bits [first, last) of a value, from the highest. */
static void add_bits(uint64_t value, int first, int last)
{
	for (int i = first; i < last; i++)
		pt_packets_tnt(&run.packets, value >> (63 - i) & 1 ? "t" : "n");
}

#define HALF (WRITE + 2 * 32) /* before bit 32 */

static const struct {
	const char *amid; /* after 32 bits: an interrupt, which returns there or not */
	int written, broken;
} writes[] = {
	{ "", 1, 0 },
	{ "fup pgd pge", 1, 0 },
	{ "fup pgd pge fup pgd pge", 1, 0 },
	{ "fup pgd pge:L", 0, 1 }, /* it does not return up to the end */
	{ "pge:L", 0, 1 },
	{ "ovf fup:L", 0, 1 },
	{ "fup pgd ovf fup:L", 0, 1 },
};

START_TEST(a_value_is_written_by_conditional_jumps)
{
	const uint64_t value = UINT64_C(0x8123456789abcdee);
	bool ends = writes[_i / 2].written;
	char amid[40], *rest;
	int found = 0;

	begin(PT_ENGINE_FAST);
	run.cpu_events = true;
	run.padded = _i % 2;
	write_emulated();
	pt_packets_psb(&run.packets, SAMPLE_START, 0);
	pt_packets_pge(&run.packets, SAMPLE_CODE);
	add_bits(value, 0, 32);
	strcpy(amid, writes[_i / 2].amid);
	for (char *word = strtok_r(amid, " ", &rest); word; word = strtok_r(NULL, " ", &rest)) {
		if (word[3] == ':')
			word[3] = '\0', add_packet(word, word + 4);
		else if (strcmp(word, "pgd") == 0)
			pt_packets_pgd(&run.packets, 0);
		else if (strcmp(word, "ovf") == 0)
			pt_packets_ovf(&run.packets);
		else
			(*word == 'f' ? pt_packets_fup : pt_packets_pge)(&run.packets, HALF);
	}
	if (ends)
		add_bits(value, 32, 64);
	pt_packets_pgd(&run.packets, 0);
	finish();
	for (size_t i = 0; i < run.count; i++) {
		const struct branch_event *event = &run.events[i];

		if (event->kind != BRANCH_CPU_EVENT || event->gap != CPU_EVENT_PTWRITE)
			continue;
		ck_assert_uint_eq(event->from, WRITE);
		ck_assert_uint_eq(event->to, value);
		found++;
	}
	ck_assert_int_eq(found, writes[_i / 2].written);
	ck_assert_uint_eq(run.stats.writes_broken, (uint64_t)writes[_i / 2].broken);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("packet_table");
	TCase *all = tcase_create("packet_table");

	tcase_add_loop_test(all, packets_give_their_events, 0, 4 * ROWS);
	tcase_add_loop_test(all, transactions_begin_and_end, 0, 3 * COUNT_OF(transactions));
	tcase_add_loop_test(all, packets_give_events_of_the_processor, 0, 3 * COUNT_OF(event_rows));
	tcase_add_loop_test(all, a_fup_has_the_address_of_all_events_before_it, 0,
			    2 * COUNT_OF(pending));
	tcase_add_loop_test(all, a_value_is_written_by_conditional_jumps, 0, 2 * COUNT_OF(writes));
	suite_add_tcase(suite, all);
	return unit_run(suite);
}
