/* SPDX-License-Identifier: MIT */
/*
 * make-scale KIND COUNT FILE: writes a recording with COUNT items of one kind, besides the sample's
 * own trace.
 *
 *	threads    COUNT threads, forked, named and ended
 *	mappings   COUNT mappings of one process, one after another
 *	remappings COUNT mappings of one process at four places, by turns
 *	families   COUNT mappings of a process, then COUNT children of it that map one more each
 *	circles    COUNT processes that are each the child of the other, and of themselves
 *	execs      COUNT programs that one process executes
 *	names      COUNT names of one thread
 *	pokes      COUNT changes of the kernel's code at one place
 *	ksymbols   COUNT functions that the kernel makes at run time, half of them removed
 *	dsos       COUNT mapped files
 *	cpus       a buffer for each of COUNT CPUs
 *	switches   COUNT context switches between two threads
 *	losses     COUNT losses of one CPU, which has 256 buffers
 *	buffers    COUNT buffers of one CPU, and 4096 losses
 *	pieces     COUNT pieces of one buffer
 *	late       times beyond 2^63 ns, COUNT records
 *	aux        one piece of COUNT bytes, which the file has as a hole
 *	nothing    no threads, no CPUs, no trace
 *	jumps      a buffer for each of COUNT CPUs, each a long way through the code of
 *	           the next
 *	dives      COUNT processes, each on a CPU of its own, that go 280000 calls deep
 *	returns    COUNT returns, none of a call that the trace has
 *	loops      COUNT times 2 KiB of calls that return, one for each bit
 *	short      the same, but COUNT times 512 bytes
 *	fewer      COUNT times 512 bytes, after the first sixteenth a twelfth as many and
 *padding symbols    not a recording but a program like the sample's with COUNT symbols code       a
 *program of COUNT conditional jumps, 4000 direct ones before each dive       the same with calls
 *	loop       a program that calls one function again and again
 */
#include <elf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/support/sample.h"

#define STEP        UINT64_C(0x2000)
#define MAPPINGS_AT UINT64_C(0x10000000)
#define MAPS_PID    5
#define KERNEL_AT   UINT64_C(0xffffffff81000000)
#define AUXTRACE    71

static struct perf_data data;
static struct pt_packets packets;

static void stamp(uint64_t time, int32_t pid, int32_t cpu)
{
	perf_data_stamp(&data, (struct perf_data_stamp){
				       .time = time, .pid = pid, .tid = pid, .cpu = cpu });
}

static void add_threads(uint64_t count)
{
	for (uint64_t i = 0; i < count; i++) {
		int32_t tid = (int32_t)i + 10000;
		char name[16];

		snprintf(name, sizeof(name), "t%u", (unsigned)i);
		stamp(1000 + i, tid, 0);
		perf_data_add_fork(&data, tid, tid, SAMPLE_PID);
		perf_data_add_comm(&data, 0, tid, tid, name);
		perf_data_add_exit(&data, tid, tid);
	}
}

static void add_mappings(uint64_t count, uint64_t places, uint64_t files)
{
	struct perf_data_mmap map = {
		.pid = MAPS_PID, .tid = MAPS_PID, .length = STEP - 1, .prot = 5
	};
	char path[32];

	map.path = path;
	for (uint64_t i = 0; i < count; i++) {
		snprintf(path, sizeof(path), "/lib/%u.so", (unsigned)(i % files));
		map.address = MAPPINGS_AT + i % places * STEP;
		stamp(1000 + i, MAPS_PID, 0);
		perf_data_add_mmap2(&data, 0, &map);
	}
}

static void add_mapping(int32_t pid, uint64_t number)
{
	const struct perf_data_mmap map = {
		.pid = pid,
		.tid = pid,
		.address = MAPPINGS_AT + number * STEP,
		.length = STEP - 1,
		.path = "/lib/one.so",
		.prot = 5,
	};

	stamp(1000 + number, pid, 0);
	perf_data_add_mmap2(&data, 0, &map);
}

static void add_families(uint64_t count)
{
	for (uint64_t i = 0; i < count; i++)
		add_mapping(MAPS_PID, i);
	for (uint64_t i = 0; i < count; i++) {
		int32_t pid = (int32_t)i + 10000;

		stamp(1000 + count + i, MAPS_PID, 0);
		perf_data_add_fork(&data, pid, pid, MAPS_PID);
		add_mapping(pid, count + i);
	}
}

static void add_circles(uint64_t count)
{
	for (uint64_t i = 0; i < count; i++) {
		int32_t pid = (int32_t)i + 10000, other = (int32_t)(i ^ 1) + 10000;

		add_mapping(pid, i);
		perf_data_add_fork(&data, pid, pid, other);
		perf_data_add_fork(&data, pid, pid, pid);
		perf_data_add_fork(&data, pid, other, other);
	}
}

static void add_execs(uint64_t count)
{
	for (uint64_t i = 0; i < count; i++) {
		stamp(1000 + i, MAPS_PID, 0);
		perf_data_add_comm(&data, PERF_RECORD_MISC_COMM_EXEC, MAPS_PID, MAPS_PID, "again");
		add_mapping(MAPS_PID, i);
	}
}

static void add_names(uint64_t count)
{
	char name[16];

	for (uint64_t i = 0; i < count; i++) {
		snprintf(name, sizeof(name), "n%u", (unsigned)i);
		stamp(1000 + i, MAPS_PID, 0);
		perf_data_add_comm(&data, 0, MAPS_PID, MAPS_PID, name);
	}
}

/* PERF_RECORD_TEXT_POKE: address, old and new bytes, which differ each time. */
static void add_pokes(uint64_t count)
{
	struct {
		uint64_t address;
		uint16_t old_size, new_size;
		uint8_t bytes[12];
	} poke = { KERNEL_AT + 0x100, 5, 5, { 0 } };

	for (uint64_t i = 0; i < count; i++) {
		memcpy(poke.bytes, poke.bytes + 5, 5);
		memcpy(poke.bytes + 5, &i, 4);
		stamp(2000000 + i, SAMPLE_PID, 0);
		perf_data_add_record(&data, PERF_RECORD_TEXT_POKE, PERF_RECORD_MISC_KERNEL, &poke,
				     sizeof(poke));
	}
}

/* PERF_RECORD_KSYMBOL: address, length, type, flags (1: it is removed), name. */
static void add_ksymbols(uint64_t count)
{
	struct {
		uint64_t address;
		uint32_t length;
		uint16_t type, flags;
		char name[24];
	} symbol = { 0, 64, PERF_RECORD_KSYMBOL_TYPE_BPF, 0, "" };

	for (uint64_t i = 0; i < count; i++) {
		uint64_t place = i % 4 == 3 ? i - 2 : i;

		symbol.address = KERNEL_AT + 0x1000000 + place * 64;
		symbol.flags = i % 4 == 3;
		snprintf(symbol.name, sizeof(symbol.name), "bpf_prog_%u", (unsigned)place);
		stamp(1000 + i, SAMPLE_PID, 0);
		perf_data_add_record(&data, PERF_RECORD_KSYMBOL, 0, &symbol, sizeof(symbol));
	}
}

static void add_buffer(uint32_t queue, int32_t cpu, uint64_t offset)
{
	struct perf_data_aux aux = { .reference = SAMPLE_START,
				     .tid = -1,
				     .cpu = cpu,
				     .queue = queue,
				     .bytes = packets.bytes,
				     .aux_offset = offset,
				     .size = pt_packets_size(&packets) };

	perf_data_add_auxtrace(&data, &aux);
}

static void add_cpus(uint64_t count)
{
	for (uint64_t i = 0; i < count; i++) {
		stamp(900000, SAMPLE_PID, (int32_t)i);
		perf_data_add_itrace_start(&data, SAMPLE_PID, SAMPLE_PID);
	}
	for (uint64_t i = 1; i < count; i++)
		add_buffer((uint32_t)i, (int32_t)i, 0);
}

/* COUNT jumps to the next instruction, before each conditional one. */
#define JUMPS    4000u
#define CHAIN    (JUMPS * 2 + 2)
#define JUMPS_AT UINT64_C(0x20000000)

static void write_code(const char *path, uint64_t count)
{
	struct tiny_elf elf = { .address = JUMPS_AT, .code_size = count * CHAIN };
	uint8_t *code = calloc(count, CHAIN);

	if (!code)
		exit(EXIT_FAILURE);
	for (uint64_t i = 0; i < count * CHAIN; i += 2)
		code[i] = i % CHAIN == JUMPS * 2 ? 0x74
						 : 0xeb; /* je or jmp to the next instruction */
	elf.code = code;
	tiny_elf_write(&elf, path);
	free(code);
}

/* COUNT conditional jumps, each after 4000 calls. */
#define CALL 6u
#define DIVE (JUMPS * CALL + 2)

static void write_dive(const char *path, uint64_t count)
{
	static const uint8_t call[CALL] = { 0xe8, 1, 0, 0, 0, 0x90 }, je[] = { 0x74, 0 };
	struct tiny_elf elf = { .address = JUMPS_AT, .code_size = count * DIVE };
	uint8_t *code = calloc(count, DIVE);

	if (!code)
		exit(EXIT_FAILURE);
	for (uint64_t i = 0; i < count; i++) {
		for (unsigned k = 0; k < JUMPS; k++)
			memcpy(code + i * DIVE + k * CALL, call, CALL);
		memcpy(code + i * DIVE + JUMPS * CALL, je, sizeof(je));
	}
	elf.code = code;
	tiny_elf_write(&elf, path);
	free(code);
}

static void map_loop(int32_t pid)
{
	const struct perf_data_mmap map = {
		.pid = pid,
		.tid = pid,
		.address = JUMPS_AT,
		.length = 1 << 24,
		.file_offset = TINY_ELF_CODE_OFFSET,
		.path = "/code",
		.prot = 5,
	};

	stamp(600, pid, 0);
	perf_data_add_mmap2(&data, 0, &map);
}

static void add_loop(void)
{
	pt_packets_release(&packets);
	pt_packets_init(&packets);
	pt_packets_psb(&packets, SAMPLE_START, 0);
	pt_packets_pge(&packets, JUMPS_AT);
	/* One packet would hold successive decisions, and its flow would exceed the limit. */
	for (unsigned i = 0; i < 70; i++) {
		pt_packets_tnt(&packets, "n");
		pt_packets_raw(&packets, "", 1);
	}
}

/* Each jump's end is unknown, so each is a run of its own. */
static void add_jumps(uint64_t count)
{
	map_loop(SAMPLE_PID);
	add_loop();
	add_cpus(count);
}

/* Each in its own process. */
static void add_dives(uint64_t count)
{
	add_loop();
	for (uint64_t i = 1; i < count; i++) {
		int32_t pid = (int32_t)i + 10000;

		map_loop(pid);
		stamp(900000, pid, (int32_t)i);
		perf_data_add_itrace_start(&data, pid, pid);
		add_buffer((uint32_t)i, (int32_t)i, 0);
	}
}

/* The buffer of CPU 1; its bytes are released. */
static void add_other_buffer(uint8_t *bytes, size_t size)
{
	const struct perf_data_aux aux = { .reference = SAMPLE_START,
					   .tid = -1,
					   .cpu = 1,
					   .queue = 1,
					   .bytes = bytes,
					   .size = size };

	stamp(900000, SAMPLE_PID, 1);
	perf_data_add_itrace_start(&data, SAMPLE_PID, SAMPLE_PID);
	perf_data_add_auxtrace(&data, &aux);
	free(bytes);
}

/* A TIP of three bytes each (SDM volume 3, "Target IP (TIP) Packet"): back to the same ret. */
static void add_returns(uint64_t count)
{
	static const uint8_t tip[] = { 0x2d, SAMPLE_LEAF & 0xff, SAMPLE_LEAF >> 8 & 0xff };
	struct pt_packets begin;
	size_t size;
	uint8_t *bytes;

	pt_packets_init(&begin);
	pt_packets_psb(&begin, SAMPLE_START, 0);
	pt_packets_pge(&begin, SAMPLE_LEAF);
	size = pt_packets_size(&begin);
	bytes = malloc(size + count * sizeof(tip));
	if (!bytes)
		exit(EXIT_FAILURE);
	memcpy(bytes, begin.bytes, size);
	for (uint64_t i = 0; i < count; i++, size += sizeof(tip))
		memcpy(bytes + size, tip, sizeof(tip));
	add_other_buffer(bytes, size);
	pt_packets_release(&begin);
}

/* call f; jmp back to it; f: ret */
static const uint8_t loop_code[] = { 0xe8, 2, 0, 0, 0, 0xeb, 0xf9, 0xc3 };

static void write_loop(const char *path)
{
	const struct tiny_elf elf = { .address = JUMPS_AT,
				      .code = loop_code,
				      .code_size = sizeof(loop_code) };

	tiny_elf_write(&elf, path);
}

/* Each bit is a call and its return. At a PSB, the loop is at its jump. */
static void add_loops(uint64_t count, size_t period_bytes, size_t padding)
{
	static const uint8_t pads[96];
	char all[48];
	uint8_t *bytes = malloc(count * (period_bytes + padding) + 64);
	size_t size = 0;

	if (!bytes)
		exit(EXIT_FAILURE);
	memset(all, 't', 47);
	all[47] = 0;
	map_loop(SAMPLE_PID);
	for (uint64_t i = 0; i < count; i++) {
		struct pt_packets period;

		pt_packets_init(&period);
		pt_packets_psb(&period, SAMPLE_START + i * 100000, i ? JUMPS_AT + 5 : 0);
		if (!i)
			pt_packets_pge(&period, JUMPS_AT);
		while (pt_packets_size(&period) < period_bytes - 8) {
			pt_packets_tnt(&period, all);
			pt_packets_raw(&period, pads, i < count / 16 ? 0 : padding);
		}
		memcpy(bytes + size, period.bytes, pt_packets_size(&period));
		size += pt_packets_size(&period);
		pt_packets_release(&period);
	}
	add_other_buffer(bytes, size);
}

static void add_switches(uint64_t count)
{
	for (uint64_t i = 0; i < count; i++) {
		stamp(2000000 + i, i % 2 ? SAMPLE_PID : MAPS_PID, 0);
		perf_data_add_switch(&data, true, i % 2 ? MAPS_PID : SAMPLE_PID,
				     i % 2 ? MAPS_PID : SAMPLE_PID);
	}
}

static void add_losses(uint64_t count, uint64_t buffers)
{
	for (uint64_t i = 0; i < count; i++) {
		stamp(2000000 + i, SAMPLE_PID, 0);
		perf_data_add_aux_event(&data, i * 4096, 4096, PERF_AUX_FLAG_TRUNCATED);
	}
	for (uint64_t i = 1; i < buffers; i++)
		add_buffer((uint32_t)i, 0, 0);
}

static void add_pieces(uint64_t count)
{
	for (uint64_t i = 0; i < count; i++)
		add_buffer(0, 0, (i + 1) * 4096);
}

static void add_late(uint64_t count)
{
	for (uint64_t i = 0; i < count; i++) {
		stamp((UINT64_C(1) << 63) + i * (UINT64_MAX / 2 / (count + 1)), SAMPLE_PID, 0);
		perf_data_add_switch(&data, i % 2, MAPS_PID, MAPS_PID);
		perf_data_add_aux_event(&data, (UINT64_C(1) << 40) + i, 1, PERF_AUX_FLAG_TRUNCATED);
	}
}

/* The record claims the bytes, and the file has them as a hole. */
static void write_hole(const char *path, uint64_t size)
{
	uint64_t data_size;
	FILE *file;
	struct stat status;

	data.unfinished = true;
	perf_data_write(&data, path);
	file = fopen(path, "r+b");
	/* The record follows those of sample_begin(); its data end the file. */
	if (!file || fstat(fileno(file), &status) < 0 ||
	    fseek(file, status.st_size - (long)((pt_packets_size(&packets) + 7) & ~7ul) - 40,
		  SEEK_SET) < 0)
		exit(EXIT_FAILURE);
	data_size = size;
	if (fwrite(&data_size, 8, 1, file) != 1 || fclose(file) ||
	    truncate(path, status.st_size + (off_t)size) < 0)
		exit(EXIT_FAILURE);
}

static void write_program(const char *path, uint64_t count)
{
	struct tiny_symbol *symbols = calloc(count, sizeof(*symbols));
	struct tiny_elf elf = sample_elf;

	if (!symbols)
		exit(EXIT_FAILURE);
	for (uint64_t i = 0; i < count; i++) {
		char name[24];

		snprintf(name, sizeof(name), "function_%u", (unsigned)i);
		symbols[i] =
			i < sample_elf.symbol_count
				? sample_elf.symbols[i]
				: (struct tiny_symbol){ strdup(name), SAMPLE_CODE + 0x1000 + i, 1,
							ELF64_ST_INFO(STB_GLOBAL, STT_FUNC) };
	}
	elf.symbols = symbols;
	elf.symbol_count = count;
	tiny_elf_write(&elf, path);
}

/* Kinds that need only a count. */
static const struct kind {
	const char *name;
	void (*add)(uint64_t count);
} kinds[] = {
	{ "threads", add_threads },   { "families", add_families }, { "circles", add_circles },
	{ "execs", add_execs },       { "names", add_names },       { "pokes", add_pokes },
	{ "ksymbols", add_ksymbols }, { "cpus", add_cpus },         { "jumps", add_jumps },
	{ "dives", add_dives },       { "returns", add_returns },   { "switches", add_switches },
	{ "pieces", add_pieces },     { "late", add_late },
};

static void add_kind(const char *kind, uint64_t count)
{
	if (strcmp(kind, "mappings") == 0)
		add_mappings(count, count, 1);
	if (strcmp(kind, "remappings") == 0)
		add_mappings(count, 4, 4);
	if (strcmp(kind, "dsos") == 0)
		add_mappings(count, count, count);
	if (strcmp(kind, "losses") == 0)
		add_losses(count, 256);
	if (strcmp(kind, "buffers") == 0)
		add_losses(4096, count);
	if (strcmp(kind, "loops") == 0)
		add_loops(count, 2048, 0);
	if (strcmp(kind, "short") == 0)
		add_loops(count, 512, 0);
	if (strcmp(kind, "fewer") == 0)
		add_loops(count, 512, 88);
	for (size_t i = 0; i < sizeof(kinds) / sizeof(*kinds); i++)
		if (strcmp(kind, kinds[i].name) == 0)
			kinds[i].add(count);
}

static void make(const char *kind, uint64_t count, const char *path)
{
	sample_begin(&data);
	if (strcmp(kind, "nothing") == 0) {
		data.records.size = 0;
		perf_data_write(&data, path);
		return;
	}
	stamp(500, MAPS_PID, 0);
	perf_data_add_comm(&data, 0, MAPS_PID, MAPS_PID, "maps");
	add_kind(kind, count);
	add_buffer(0, 0, 0);
	if (strcmp(kind, "aux") == 0)
		write_hole(path, count);
	else
		perf_data_write(&data, path);
}

int main(int argc, char **argv)
{
	uint64_t count;

	if (argc != 4) {
		fprintf(stderr, "usage: make-scale KIND COUNT FILE\n");
		return EXIT_FAILURE;
	}
	count = strtoull(argv[2], NULL, 0);
	if (strcmp(argv[1], "symbols") == 0) {
		write_program(argv[3], count);
		return EXIT_SUCCESS;
	}
	if (strcmp(argv[1], "code") == 0) {
		write_code(argv[3], count);
		return EXIT_SUCCESS;
	}
	if (strcmp(argv[1], "dive") == 0) {
		write_dive(argv[3], count);
		return EXIT_SUCCESS;
	}
	if (strcmp(argv[1], "loop") == 0) {
		write_loop(argv[3]);
		return EXIT_SUCCESS;
	}
	pt_packets_init(&packets);
	sample_trace(&packets);
	make(argv[1], count, argv[3]);
	pt_packets_release(&packets);
	perf_data_release(&data);
	return EXIT_SUCCESS;
}
