/* SPDX-License-Identifier: MIT */
/*
 * Any bytes as LLDB's trace.json, beside a trace, context switches and the sample's program; if
 * they begin with '-', as a mapping of --map. The recording's history and buffers are read.
 */
#include "src/pipeline/recording.h"

#include <stdlib.h>
#include <unistd.h>

#include "decoder/timeline/timeline.h"
#include "tests/fuzz/fuzz.h"
#include "tests/support/sample.h"

static char folder[] = "/tmp/ptrace2ftf-fuzz-XXXXXX";
static const char *const names[] = { "trace", "switches", "sample", "trace.json" };

static char *path_of(size_t name)
{
	static char path[sizeof(folder) + 16];

	snprintf(path, sizeof(path), "%s/%s", folder, names[name]);
	return path;
}

static void write_file(size_t name, const void *bytes, size_t size)
{
	FILE *out = fopen(path_of(name), "w");

	if (!out || fwrite(bytes, 1, size, out) != size || fclose(out))
		abort();
}

static void remove_folder(void)
{
	for (size_t i = 0; i < COUNT_OF(names); i++)
		unlink(path_of(i));
	rmdir(folder);
}

static void make_folder(void)
{
	const uint32_t out[] = { PERF_RECORD_SWITCH_CPU_WIDE,
				 32 << 16 | PERF_RECORD_MISC_SWITCH_OUT,
				 1,
				 2,
				 1,
				 1,
				 100,
				 0 };
	static struct pt_packets packets;

	if (!mkdtemp(folder))
		abort();
	pt_packets_init(&packets);
	sample_trace(&packets);
	write_file(0, packets.bytes, pt_packets_size(&packets));
	pt_packets_release(&packets);
	write_file(1, out, sizeof(out));
	tiny_elf_write(&sample_elf, path_of(2));
	atexit(remove_folder);
}

static void read_recording(const struct options *options)
{
	struct dso_store_options find = { .find.symfs = options->symfs };
	struct perf_file file;
	struct auxtrace auxtrace = { 0 };
	struct name_table table;
	struct error err = { 0 };
	struct diag diag;
	struct dso_store *store;

	diag_init(&diag);
	name_table_init(&table);
	store = dso_store_open(&find, &table, &diag);
	if (raw_input_open(&file, options, store, &diag, &err) < 0) {
		if (err.kind == ERROR_NONE)
			abort();
	} else if (auxtrace_init(&auxtrace, &file, &err) == 0) {
		raw_input_settle_clock(&auxtrace, &diag);
		timeline_close(timeline_open(&file, NULL, 0, &diag));
	} else {
		abort();
	}
	auxtrace_release(&auxtrace);
	perf_file_close(&file);
	dso_store_close(store);
	name_table_release(&table);
	diag_release(&diag);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
	char *text = alloc_text("%.*s", (int)size, (const char *)bytes);
	bool map = text[0] == '-';
	const char *maps[] = { text + map };
	char *input;
	struct options options = { .maps = { maps, 1, 1 }, .input_count = 1, .inputs = &input };
	struct raw_map split;

	if (access(folder, F_OK) < 0)
		make_folder();
	if (!map)
		write_file(3, bytes, size);
	input = path_of(map ? 0 : 3);
	options.input = input;
	options.symfs = folder;
	options.raws = (struct pattern_list){ &options.input, map, map };
	if (!map || raw_map_read(text + 1, &split))
		read_recording(&options);
	free(text);
	return 0;
}
