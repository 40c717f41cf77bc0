/* SPDX-License-Identifier: MIT */
/* Writes small sound files for the fuzz targets to begin with: make_seeds DIR. */
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>

#include "tests/support/memtrace_ctf.h"
#include "tests/support/runtime_events_ring.h"

static void write_file(const char *folder, const char *name, const void *bytes, size_t size)
{
	char path[PATH_MAX];
	FILE *out;

	snprintf(path, sizeof(path), "%s/%s", folder, name);
	out = fopen(path, "wb");
	if (!out || fwrite(bytes, 1, size, out) != size || fclose(out)) {
		perror(path);
		exit(EXIT_FAILURE);
	}
}

static void make_ring(const char *folder)
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
	write_file(folder, "small.events", file.bytes, file.size);
	ring_file_release(&file);
}

static void make_memtrace(const char *folder, unsigned version)
{
	static const uint64_t backtrace[] = { 1000, 1001 };
	struct ctf_location location = { "file.ml", "f", 12, 3, 9 };
	struct ctf_file file;
	char name[32];

	ctf_init(&file, version, 1e-4, 4242, 1000000);
	for (uint64_t i = 0; i < 2; i++)
		ctf_locate(&file, 0, 1000 + i, &location, 1);
	for (uint64_t i = 0; i < 20; i++) {
		struct ctf_alloc alloc = { .time = 1000000 + 100 * i, .words = 3 + i, .samples = 1,
					   .backtrace = backtrace, .length = 2 };

		ctf_alloc(&file, 0, &alloc);
	}
	ctf_flush(&file, 0);
	snprintf(name, sizeof(name), "version%u.ctf", version);
	write_file(folder, name, file.out.bytes, file.out.size);
	ctf_release(&file);
}

int main(int argc, char **argv)
{
	if (argc != 2)
		return EXIT_FAILURE;
	make_ring(argv[1]);
	for (unsigned version = 1; version <= 3; version++)
		make_memtrace(argv[1], version);
	return EXIT_SUCCESS;
}
