/* SPDX-License-Identifier: MIT */
/* make-sample DIR: write the sample's perf.data and, below DIR, its program. */
#include <limits.h>
#include <stdio.h>

#include "tests/support/sample.h"

int main(int argc, char **argv)
{
	static struct pt_packets packets;
	struct perf_data data;
	char path[PATH_MAX];

	if (argc != 2) {
		fprintf(stderr, "usage: make-sample DIR\n");
		return 2;
	}
	snprintf(path, sizeof(path), "%s%s", argv[1], SAMPLE_PATH);
	tiny_elf_write(&sample_elf, path);
	sample_begin(&data);
	pt_packets_init(&packets);
	sample_trace(&packets);
	sample_add_trace(&data, &packets);
	snprintf(path, sizeof(path), "%s/perf.data", argv[1]);
	perf_data_write(&data, path);
	perf_data_release(&data);
	pt_packets_release(&packets);
	return 0;
}
