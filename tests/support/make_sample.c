/* SPDX-License-Identifier: MIT */
/*
 * make-sample DIR: write the sample's program and its recording, below DIR, in
 * all the forms that perf has:
 *
 *	perf.data                     a file
 *	stream                        perf record -o -
 *	compressed, compressed2       perf record -z, of perf 5.2 and of 6.16
 *	threads.data/{data,data.0}    perf record --threads: a directory
 *	series.1, series.2            perf record --switch-output
 *	unfinished                    perf was killed
 *	kernel.data/                  perf record --kcore: a directory with the kernel's memory
 *	vmlinux                       the same kernel as a file, linked for another address
 *	fred.data/                    as kernel.data, of a kernel with FRED
 *	uprobes, uprobes-6.11         a program with probes, of Linux before 6.11 and since
 */
#include <elf.h>
#include <fcntl.h>
#include <limits.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/support/memtrace_ctf.h"
#include "tests/support/perf_forms.h"
#include "tests/support/sample.h"

static struct pt_packets packets;
static const char *folder;

static const char *path_of(const char *name)
{
	static char path[PATH_MAX];

	snprintf(path, sizeof(path), "%s/%s", folder, name);
	return path;
}

static void write_bytes(const char *name, const void *bytes, size_t size)
{
	FILE *out = fopen(path_of(name), "wb");

	if (!out || fwrite(bytes, 1, size, out) != size || fclose(out) != 0) {
		perror(name);
		exit(1);
	}
}

static void begin(struct perf_data *data)
{
	sample_begin(data);
	sample_add_trace(data, &packets);
}

static void write_stream(void)
{
	struct perf_data data;
	uint8_t *bytes;
	size_t size;

	begin(&data);
	bytes = perf_forms_stream(&data, &size);
	write_bytes("stream", bytes, size);
	free(bytes);
	perf_data_release(&data);
}

static void write_compressed(const char *name, uint32_t type)
{
	struct perf_data data;

	begin(&data);
	perf_forms_compress(&data, type);
	perf_data_write(&data, path_of(name));
	perf_data_release(&data);
}

/* The trace is in the second file, as bare records. */
static void write_threads(void)
{
	struct perf_data data;
	size_t size;

	mkdir(path_of("threads.data"), 0777);
	sample_begin(&data);
	size = data.records.size;
	sample_add_trace(&data, &packets);
	write_bytes("threads.data/data.0", data.records.bytes + size, data.records.size - size);
	perf_data_release(&data);
	sample_begin(&data);
	/* perf looks for trace data only in a file that has an index of them. */
	perf_data_set_feature(&data, 18, (uint64_t[]){ 0 }, 8);
	perf_data_set_feature(&data, 24, (uint64_t[]){ 1 }, 8); /* DIR_FORMAT: PERF_DIR_VERSION */
	perf_data_write(&data, path_of("threads.data/data"));
	perf_data_release(&data);
}

/*
 * The trace is cut in the middle of a packet; the second file begins with the existing state that
 * perf finds, in records without a time.
 */
static void write_series(void)
{
	size_t half = pt_packets_size(&packets) / 2;
	struct perf_data_aux aux = { .reference = SAMPLE_START, .tid = -1, .bytes = packets.bytes };
	struct perf_data data;

	half -= half % 8;
	sample_begin(&data);
	aux.size = half;
	perf_data_add_auxtrace(&data, &aux);
	perf_data_write(&data, path_of("series.1"));
	perf_data_release(&data);

	sample_begin(&data);
	perf_data_stamp(&data, (struct perf_data_stamp){ 0 });
	perf_data_add_comm(&data, 0, SAMPLE_PID, SAMPLE_PID, "sample");
	aux.aux_offset = half;
	aux.bytes = packets.bytes + half;
	aux.size = pt_packets_size(&packets) - half;
	perf_data_add_auxtrace(&data, &aux);
	perf_data_write(&data, path_of("series.2"));
	perf_data_release(&data);
}

#define KERNEL_RUNS_AT   UINT64_C(0xffffffff9a000000)
#define KERNEL_LINKED_AT UINT64_C(0xffffffff81000000)

#define KERNEL_SIZE 0x30

static const uint8_t kernel_code[KERNEL_SIZE] = {
	[0x00] = 0xe8, 0x1b, 0x00, 0x00, 0x00, /* _text: call do_call */
	0x48,          0x0f, 0x07,             /* sysretq */
	[0x20] = 0xc3,                         /* do_call: ret */
};

static const uint8_t fred_kernel_code[KERNEL_SIZE] = {
	[0x00] = 0xe8, 0x1b, 0x00, 0x00, 0x00, /* the same */
	0xf3,          0x0f, 0x01, 0xca,       /* eretu */
	[0x20] = 0xc3,
};

static void write_kernel(const char *name, const uint8_t *code, uint64_t address)
{
	struct tiny_symbol symbols[] = {
		{ "_text", address, 0x09, ELF64_ST_INFO(STB_GLOBAL, STT_FUNC) },
		{ "do_call", address + 0x20, 0x01, ELF64_ST_INFO(STB_GLOBAL, STT_FUNC) },
	};
	struct tiny_elf elf = { address, code, KERNEL_SIZE, symbols, 2, 0, 0 };

	tiny_elf_write(&elf, path_of(name));
}

/* /proc/kcore and its copies are ET_CORE. */
static void make_core(const char *name)
{
	static const Elf64_Half type = ET_CORE;
	int fd = open(path_of(name), O_WRONLY);

	if (pwrite(fd, &type, sizeof(type), offsetof(Elf64_Ehdr, e_type)) < 0)
		abort();
	close(fd);
}

/* The program's system call, through the kernel and back. */
static void write_kernel_recording(const char *name, const uint8_t *code)
{
	static struct pt_packets trace;
	struct perf_data_mmap map = {
		.pid = -1,
		.address = KERNEL_RUNS_AT,
		.length = 0x1000,
		.file_offset = KERNEL_RUNS_AT,
		.path = "[kernel.kallsyms]_text",
	};
	struct perf_data data;
	char file[100];

	mkdir(path_of(name), 0777);
	snprintf(file, sizeof(file), "%s/kcore_dir", name);
	mkdir(path_of(file), 0777);
	snprintf(file, sizeof(file), "%s/kcore_dir/kcore", name);
	write_kernel(file, code, KERNEL_RUNS_AT);
	make_core(file);
	snprintf(file, sizeof(file), "%s/data", name);
	pt_packets_init(&trace);
	pt_packets_psb(&trace, SAMPLE_START, 0);
	pt_packets_pge(&trace, SAMPLE_SYSCALL);
	pt_packets_tip(&trace, KERNEL_RUNS_AT);
	pt_packets_tnt(&trace, "t");
	pt_packets_tip(&trace, SAMPLE_SYSCALL + 2);
	pt_packets_fup(&trace, SAMPLE_SYSCALL + 2);
	pt_packets_pgd(&trace, 0);
	sample_begin(&data);
	data.events[0].attr.exclude_kernel = 0;
	perf_data_add_mmap(&data, PERF_RECORD_MISC_KERNEL, &map);
	sample_add_trace(&data, &trace);
	perf_data_write(&data, path_of(file));
	perf_data_release(&data);
	pt_packets_release(&trace);
}

/*
 * Two allocations of an OCaml program, with a sample rate that is no binary fraction; the second
 * backtrace continues the first one.  In the second file, the allocation numbers have a gap.
 */
static void write_memtrace(void)
{
	static const struct ctf_location outer = { "a.ml", "A.f", 10, 2, 30 };
	static const struct ctf_location inner = { "b.ml", "B.g", 20, 4, 50 };
	static const uint64_t backtrace[] = { 7, 8 };
	const uint64_t start = UINT64_C(1700000000000000);
	const size_t last_object = 60; /* in a packet's header: memtrace's src/memtrace.tsdl */
	struct ctf_file file;
	size_t first;

	ctf_init(&file, 3, 1e-5, 1234, start);
	first = file.out.size;
	ctf_locate(&file, 0, 7, &outer, 1);
	ctf_locate(&file, 0, 8, &inner, 1);
	for (uint64_t i = 1; i <= 2; i++) {
		ctf_alloc(&file, 0,
			  &(struct ctf_alloc){ start + i * 10, 2, 1, 0, backtrace, (size_t)i });
		ctf_flush(&file, 0);
	}
	write_bytes("memtrace.ctf", file.out.bytes, file.out.size);
	/* The first packet holds locations. */
	first += (file.out.bytes[first + 4] | (size_t)file.out.bytes[first + 5] << 8) / 8;
	file.out.bytes[first + last_object]++;
	write_bytes("memtrace-ids.ctf", file.out.bytes, file.out.size);
	ctf_release(&file);
}

/* ---- Probes -------------------------------------------------------------- */

#define PROBED_PATH "/probed"
#define PROBED_MAIN UINT64_C(0x401000)
#define PROBED_WORK UINT64_C(0x401010)
#define TRACED      UINT64_C(0x401020)
#define PROBED_LEAF UINT64_C(0x401030)
#define UPROBES     UINT64_C(0x7fffffffe000)

static const uint8_t probed_code[0x40] = {
	[0x00] = 0xe8, 0x0b, 0x00, 0x00, 0x00, /* call work */
	0x0f,          0x05,                   /* syscall */
	[0x10] = 0xe8, 0x0b, 0x00, 0x00, 0x00, /* call traced */
	0xe8,          0x16, 0x00, 0x00, 0x00, /* call leaf */
	0xc3,                                  /* ret */
	[0x20] = 0x90,                         /* nop */
	0xe8,          0x0a, 0x00, 0x00, 0x00, /* call leaf */
	0xc3,                                  /* ret */
	[0x30] = 0x31, 0xc0,                   /* xor %eax, %eax */
	0xc3,                                  /* ret */
};

#define PROBED_FUNCTION ELF64_ST_INFO(STB_GLOBAL, STT_FUNC)

static const struct tiny_symbol probed_symbols[] = {
	{ "main", PROBED_MAIN, 7, PROBED_FUNCTION },
	{ "work", PROBED_WORK, 11, PROBED_FUNCTION },
	{ "traced", TRACED, 7, PROBED_FUNCTION },
	{ "leaf", PROBED_LEAF, 3, PROBED_FUNCTION },
};

static const struct tiny_elf probed_elf = {
	PROBED_MAIN, probed_code, sizeof(probed_code), probed_symbols, 4, 0, 0
};

/* A trap at `from`, after which the kernel jumps to `to`. */
static void trap(struct pt_packets *trace, uint64_t from, uint64_t to)
{
	pt_packets_fup(trace, from);
	pt_packets_pgd(trace, 0);
	pt_packets_pge(trace, to);
}

/* leaf() with a probe at its start, whose instruction runs in a slot of the page. */
static void trace_leaf(struct pt_packets *trace)
{
	trap(trace, PROBED_LEAF, UPROBES + 0x80);
	trap(trace, UPROBES + 0x82, PROBED_LEAF + 2);
}

/* traced() has a probe at its call, which the kernel emulates, and one at its return. */
static void trace_probes(struct pt_packets *trace, bool by_syscall)
{
	pt_packets_psb(trace, SAMPLE_START, 0);
	pt_packets_pge(trace, PROBED_MAIN);
	trap(trace, TRACED + 1, PROBED_LEAF);
	pt_packets_tsc(trace, SAMPLE_START + 50);
	trace_leaf(trace);
	pt_packets_tip(trace, TRACED + 6);
	pt_packets_tsc(trace, SAMPLE_START + 100);
	pt_packets_tip(trace, UPROBES);
	pt_packets_pgd(trace, 0);
	pt_packets_pge(trace, by_syscall ? UPROBES + 13 : PROBED_WORK + 5);
	if (by_syscall)
		pt_packets_tip(trace, PROBED_WORK + 5);
	pt_packets_tsc(trace, SAMPLE_START + 150);
	trace_leaf(trace);
	pt_packets_tip(trace, PROBED_WORK + 10);
	pt_packets_tip(trace, PROBED_MAIN + 5);
	pt_packets_tsc(trace, SAMPLE_START + 200);
	pt_packets_pgd(trace, 0);
}

static void write_uprobes(const char *name, bool by_syscall)
{
	const struct perf_data_mmap maps[] = {
		{ .pid = SAMPLE_PID,
		  .tid = SAMPLE_PID,
		  .address = PROBED_MAIN,
		  .length = 0x1000,
		  .file_offset = TINY_ELF_CODE_OFFSET,
		  .path = PROBED_PATH,
		  .prot = 5 },
		{ .pid = SAMPLE_PID,
		  .tid = SAMPLE_PID,
		  .address = UPROBES,
		  .length = 0x1000,
		  .path = "[uprobes]",
		  .prot = 5 },
	};
	struct pt_packets trace;
	struct perf_data data;

	pt_packets_init(&trace);
	trace_probes(&trace, by_syscall);
	sample_begin(&data);
	perf_data_add_mmap2(&data, 0, &maps[0]);
	perf_data_add_mmap2(&data, 0, &maps[1]);
	sample_add_trace(&data, &trace);
	perf_data_write(&data, path_of(name));
	perf_data_release(&data);
	pt_packets_release(&trace);
}

int main(int argc, char **argv)
{
	struct perf_data data;

	if (argc != 2) {
		fprintf(stderr, "usage: make-sample DIR\n");
		return 2;
	}
	folder = argv[1];
	tiny_elf_write(&sample_elf, path_of(SAMPLE_PATH));
	pt_packets_init(&packets);
	sample_trace(&packets);
	begin(&data);
	perf_data_write(&data, path_of("perf.data"));
	data.unfinished = true;
	perf_data_write(&data, path_of("unfinished"));
	perf_data_release(&data);
	write_stream();
	write_compressed("compressed", 81);
	write_compressed("compressed2", 83);
	write_threads();
	write_series();
	write_memtrace();
	write_kernel_recording("kernel.data", kernel_code);
	write_kernel("vmlinux", kernel_code, KERNEL_LINKED_AT);
	write_kernel_recording("fred.data", fred_kernel_code);
	tiny_elf_write(&probed_elf, path_of(PROBED_PATH));
	write_uprobes("uprobes", false);
	write_uprobes("uprobes-6.11", true);
	pt_packets_release(&packets);
	return 0;
}
