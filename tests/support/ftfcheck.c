/* SPDX-License-Identifier: MIT */
/*
 * ftfcheck [--slices|--names] FILE: read a trace strictly.  Exit status 0 and a
 * summary (or the slices, or the names), or 1 with the reason and its offset.
 */
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/support/ftf_reader.h"

static uint8_t *read_file(const char *path, size_t *size)
{
	FILE *file = fopen(path, "rb");
	uint8_t *bytes = NULL;
	size_t room = 0, got;

	*size = 0;
	if (!file) {
		perror(path);
		exit(1);
	}
	do {
		room = room ? room * 2 : 65536;
		bytes = realloc(bytes, room);
		if (!bytes)
			abort();
		got = fread(bytes + *size, 1, room - *size, file);
		*size += got;
	} while (*size == room);
	fclose(file);
	return bytes;
}

int main(int argc, char **argv)
{
	bool slices = argc == 3 && strcmp(argv[1], "--slices") == 0;
	bool names = argc == 3 && strcmp(argv[1], "--names") == 0;
	struct ftf_report report;
	uint8_t *bytes;
	size_t size;
	int status;

	if (argc != 2 && !slices && !names) {
		fprintf(stderr, "usage: ftfcheck [--slices|--names] FILE\n");
		return 2;
	}
	bytes = read_file(argv[argc - 1], &size);
	status = ftf_read(bytes, size, &report, slices ? stdout : NULL, names ? stdout : NULL);
	free(bytes);
	if (status < 0) {
		fprintf(stderr, "%s: offset 0x%" PRIx64 ": %s\n", argv[argc - 1], report.offset,
			report.error);
		return 1;
	}
	if (argc == 2)
		printf("%" PRIu64 " records, %" PRIu64 " slices, deepest %zu\n", report.records,
		       report.slices, report.deepest);
	return 0;
}
