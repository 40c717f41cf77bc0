/* SPDX-License-Identifier: MIT */
/* make_seeds DIR: writes small valid seed inputs, one folder per fuzz target. */
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "tests/support/memtrace_ctf.h"
#include "tests/support/perf_forms.h"
#include "tests/support/runtime_events_ring.h"
#include "tests/support/sample.h"

static const char *top;

/* `prefix` is a header that the target strips from its input. */
static void write_parts(const char *target, const char *name, const char *prefix,
			size_t prefix_size, const void *bytes, size_t size)
{
	char path[PATH_MAX];
	FILE *out;

	snprintf(path, sizeof(path), "%s/%s", top, target);
	mkdir(path, 0777);
	snprintf(path, sizeof(path), "%s/%s/%s", top, target, name);
	out = fopen(path, "wb");
	if (!out || fwrite(prefix, 1, prefix_size, out) != prefix_size ||
	    fwrite(bytes, 1, size, out) != size || fclose(out)) {
		perror(path);
		exit(EXIT_FAILURE);
	}
}

static void write_file(const char *target, const char *name, const void *bytes, size_t size)
{
	write_parts(target, name, "", 0, bytes, size);
}

static void make_ring(void)
{
	static const char text[] = "a label";
	struct ring_file file;

	ring_file_init(&file, 2, 64, 2);
	ring_file_name(&file, 0, "eio.create_fiber");
	ring_file_name(&file, 1, "trace.span.enter");
	for (uint64_t i = 0; i < 20; i++) {
		ring_file_runtime(&file, i % 2, i & 2 ? RING_EXIT : RING_BEGIN, 3, 1000 + i);
		ring_file_value(&file, i % 2, RING_COUNTER, 7, 1000 + i, i);
		ring_file_custom(&file, i % 2, i % 2, 1000 + i, text, sizeof(text));
	}
	write_file("runtime_events", "small", file.bytes, file.size);
	ring_file_release(&file);
}

static void make_memtrace(unsigned version)
{
	static const uint64_t backtrace[] = { 1000, 1001 };
	struct ctf_location location = { "file.ml", "f", 12, 3, 9 };
	struct ctf_file file;
	char name[32];

	ctf_init(&file, version, 1e-4, 4242, 1000000);
	for (uint64_t i = 0; i < 2; i++)
		ctf_locate(&file, 0, 1000 + i, &location, 1);
	for (uint64_t i = 0; i < 20; i++) {
		struct ctf_alloc alloc = { .time = 1000000 + 100 * i,
					   .words = 3 + i,
					   .samples = 1,
					   .backtrace = backtrace,
					   .length = 2 };

		ctf_alloc(&file, 0, &alloc);
	}
	ctf_flush(&file, 0);
	snprintf(name, sizeof(name), "version%u", version);
	write_file("memtrace", name, file.out.bytes, file.out.size);
	ctf_release(&file);
}

/* ---- Recordings ---------------------------------------------------------- */

/* A program's trace with a system call, an overflow and a suppressed target. */
static void write_trace(struct pt_packets *packets)
{
	pt_packets_init(packets);
	sample_trace(packets);
	pt_packets_psb(packets, SAMPLE_START + 800, SAMPLE_WORK);
	pt_packets_tnt(packets, "ttttnt");
	pt_packets_ovf(packets);
	pt_packets_fup(packets, SAMPLE_LEAF);
	pt_packets_tip(packets, SAMPLE_MAIN + 5);
	pt_packets_fup(packets, SAMPLE_WORK);
	pt_packets_tip(packets, SAMPLE_LEAF);
	pt_packets_pgd(packets, 0);
}

/* Every record that builds the timeline, besides those of sample_begin(). */
static void add_records(struct perf_data *data)
{
	static const uint8_t id[20] = { 1, 2, 3 };
	static const char *const words[] = { "perf", "record", NULL };
	struct perf_data_mmap map = {
		.pid = 5,
		.tid = 5,
		.address = 0x1000,
		.length = 0x3000,
		.path = "/bin/prog",
		.prot = 5,
		.build_id = id,
		.build_id_size = 20,
	};

	perf_data_stamp(data, (struct perf_data_stamp){ 200, 5, 5, 0, 0 });
	perf_data_add_comm(data, PERF_RECORD_MISC_COMM_EXEC, 5, 5, "prog");
	perf_data_add_mmap2(data, PERF_RECORD_MISC_USER | PERF_RECORD_MISC_MMAP_BUILD_ID, &map);
	perf_data_add_mmap(data, PERF_RECORD_MISC_USER, &map);
	map.pid = -1;
	map.address = UINT64_C(0xffffffff81000000);
	map.path = "[kernel.kallsyms]_text";
	perf_data_add_mmap(data, PERF_RECORD_MISC_KERNEL, &map);
	perf_data_add_fork(data, 6, 6, 5);
	perf_data_add_switch(data, true, 6, 6);
	perf_data_add_switch(data, false, 5, 5);
	perf_data_add_aux_event(data, 0, 16, PERF_AUX_FLAG_TRUNCATED);
	perf_data_add_lost(data, 1);
	perf_data_add_record(data, PERF_RECORD_KSYMBOL, 0,
			     "\0\0\0\x81\xff\xff\xff\xff\x40\0\0\0\1\0\0\0bpf_prog_1\0\0\0\0\0",
			     32);
	perf_data_add_record(data, PERF_RECORD_TEXT_POKE, 0,
			     "\0\0\0\x81\xff\xff\xff\xff\5\0\5\0\x0f\x1f\x44\0\0\xe9\0\0\0\0\0\0",
			     24);
	perf_data_add_exit(data, 6, 6);
	perf_data_add_user_record(data, 79, (uint64_t[]){ 1, 2, 3 }, 24); /* TIME_CONV */
	perf_data_add_user_record(data, 68, "", 0);                       /* FINISHED_ROUND */
	perf_data_set_command_line(data, words);
	perf_data_set_text(data, 4, "6.1.0");
	perf_data_add_build_id(data, 0, "/bin/prog", id, 20);
}

/* The recording as perf_data's and run's input; run with several options. */
static void write_recording(const char *name, const uint8_t *bytes, size_t size)
{
	static const char options[][3] = { { 0, 0 }, { 9, 4 }, { 2, 0 }, { 19, 3 }, { 36, 8 } };
	char numbered[64];

	write_file("perf_data", name, bytes, size);
	for (size_t i = 0; i < sizeof(options) / sizeof(options[0]); i++) {
		snprintf(numbered, sizeof(numbered), "%s.%zu", name, i);
		write_parts("run", numbered, options[i], 2, bytes, size);
		write_parts("records", numbered, options[i], 2, bytes, size);
	}
}

static void finish_recording(const char *name, struct perf_data *data)
{
	size_t size;
	uint8_t *bytes = perf_data_finish(data, &size);

	write_recording(name, bytes, size);
	free(bytes);
	perf_data_release(data);
}

static void make_recordings(const struct pt_packets *packets)
{
	struct perf_data data;
	uint8_t *bytes;
	size_t size;

	sample_begin(&data);
	sample_add_trace(&data, packets);
	finish_recording("file", &data);
	sample_begin(&data);
	add_records(&data);
	sample_add_trace(&data, packets);
	bytes = perf_forms_stream(&data, &size);
	write_recording("stream", bytes, size);
	free(bytes);
	finish_recording("records", &data);
	sample_begin(&data);
	sample_add_trace(&data, packets);
	perf_forms_compress(&data, 81);
	finish_recording("compressed", &data);
}

static void make_streams(const struct pt_packets *packets)
{
	char prefix[2] = { 0 }, name[16];

	for (int flags = 0; flags < 128; flags += 9) {
		prefix[0] = (char)flags;
		snprintf(name, sizeof(name), "flags%d", flags);
		write_parts("pt_stream", name, prefix, 2, packets->bytes, pt_packets_size(packets));
	}
}

/* ---- Texts and tables ---------------------------------------------------- */

static void make_texts(void)
{
	static const char script[] =
		"prog 5/5 [000] 1.000000001: branches:u:   call   401000 main+0x0 (/prog) => 401020 work+0x0 (/prog)\n"
		"prog 5/5 [000] 1.000000002:   call   401020 work+0x0 => 401040 leaf+0x0\n"
		"prog 5/5 [000] 1.000000003:   return 401040 leaf+0x0 => 401025 work+0x5\n"
		" instruction trace error type 1 time 1.000000004 cpu 0 pid 5 tid 5 ip 0x1 code 8: Lost trace data\n"
		"prog 5/5 [000] 1.000000005:   tr end  syscall 401025 work+0x5 => 0 [unknown]\n"
		"prog 5/5 [000] 1.000000006:   tr strt  0 [unknown] => 401027 work+0x7\n";
	static const char map[] = "7f0000001000 40 a name\n0x7f0000001020 8 other\nzz\n";
	static const char kallsyms[] =
		"ffffffff81000000 T _text\nffffffff81000040 t work\t[module]\n"
		"ffffffff81000080 D data\n";
	static const struct {
		uint32_t magic, version, size, machine, unused, pid;
		uint64_t time, flags;
		uint32_t id, record_size;
		uint64_t when;
		uint32_t record_pid, tid;
		uint64_t vma, address, code_size, index;
		char name[8], code[8];
	} dump = { 0x4a695444, 1, 40, 62,     0,      5, 0, 0,        0,        72,
		   7,          5, 5,  0x1000, 0x1000, 8, 1, "jitted", "1234567" };

	write_parts("perf_script", "precise", "0", 1, script, sizeof(script) - 1);
	write_parts("perf_script", "magic", "1", 1, script, sizeof(script) - 1);
	write_parts("names", "map", "m", 1, map, sizeof(map) - 1);
	write_parts("names", "kallsyms", "k", 1, kallsyms, sizeof(kallsyms) - 1);
	write_parts("names", "jitdump", "j", 1, &dump, sizeof(dump));
}

/* Linkage names of every language of libiberty and of OCaml, with suffixes. */
static void make_linkage_names(void)
{
	static const char *const names[] = {
		"_ZNSt6vectorIiSaIiEE9push_backERKi.part.0",
		"_ZZN1a1bEvENKUlT_E_clIiEEDaS0_",
		"_RNvXs_CsbDqzXfLQacH_4testNtB4_3FooNtB4_3Bar3baz",
		"_ZN4core3fmt9Formatter3pad17h0123456789abcdefE",
		"_D3std5stdio__T7writelnTAyaZQnFNfQjZv",
		"camlStdlib__List__map_481",
		"main.cold",
	};
	char name[16];

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		snprintf(name, sizeof(name), "name%zu", i);
		write_file("demangle", name, names[i], strlen(names[i]));
	}
}

/* Choices of options.c: the format, seven bytes for others, then texts by length. */
static void make_options(void)
{
	static const char texts[] = "\4+1ns\0\2"
				    "1k\4"
				    "1234\0\4work\1\1\0\tmain,work\2\1";
	char name[16], choices[8] = { 0, 1, 0, 0, 0, 1 };

	for (int format = 0; format < 12; format++) {
		choices[0] = (char)format;
		snprintf(name, sizeof(name), "format%d", format);
		write_parts("options", name, choices, sizeof(choices), texts,
			    format % 2 ? sizeof(texts) : 0);
	}
}

static void make_raw_inputs(void)
{
	static const char json[] =
		"{\"type\":\"intel-pt\",\"cpuInfo\":{\"vendor\":\"GenuineIntel\",\"family\":6,"
		"\"model\":85,\"stepping\":4},\"processes\":[{\"pid\":1,\"threads\":[{\"tid\":2,"
		"\"iptTrace\":\"trace\"}],\"modules\":[{\"systemPath\":\"/sample\","
		"\"loadAddress\":\"0x401000\",\"uuid\":\"6AA9A4E2-6F28\"}]}],\"cpus\":[{\"id\":0,"
		"\"iptTrace\":\"trace\",\"contextSwitchTrace\":\"switches\"}],"
		"\"tscPerfZeroConversion\":{\"timeMult\":8,\"timeShift\":2,\"timeZero\":\"1\"},"
		"\"kernel\":{\"file\":\"sample\",\"loadAddress\":18446744071578845184}}";
	static const char map[] = "-sample:1000@401000-402000";

	write_file("raw_input", "json", json, sizeof(json) - 1);
	write_file("raw_input", "map", map, sizeof(map) - 1);
	write_file("raw_input", "elf", "-sample@401000", 14);
}

static void make_elf(void)
{
	size_t size;
	uint8_t *bytes = tiny_elf_bytes(&sample_elf, &size);

	write_file("elf", "tiny", bytes, size);
	free(bytes);
}

int main(int argc, char **argv)
{
	static struct pt_packets packets;

	if (argc != 2)
		return EXIT_FAILURE;
	top = argv[1];
	make_ring();
	for (unsigned version = 1; version <= 3; version++)
		make_memtrace(version);
	write_trace(&packets);
	make_recordings(&packets);
	make_streams(&packets);
	pt_packets_release(&packets);
	make_texts();
	make_linkage_names();
	make_options();
	make_raw_inputs();
	make_elf();
	return EXIT_SUCCESS;
}
