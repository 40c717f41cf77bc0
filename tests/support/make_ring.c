/* SPDX-License-Identifier: MIT */
/*
 * Makes a runtime-events file from lines on standard input:
 *
 *	make-ring RINGS WORDS FILE <lines
 *
 * RING TIME_NS KIND ID VALUE; KIND is lifecycle, begin, end, counter, or user
 * (a number of the program, named "user.ID").
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/support/runtime_events_ring.h"

#define NAMES 8

static int add_line(struct ring_file *file, const char *line)
{
	uint64_t time, value;
	unsigned ring, id;
	char kind[16];
	struct ring_message message;

	if (sscanf(line, "%u %" SCNu64 " %15s %u %" SCNu64, &ring, &time, kind, &id, &value) != 5 ||
	    ring >= file->rings)
		return -1;
	message = (struct ring_message){ ring, true, RING_INT, id, time, &value, 1 };
	if (strcmp(kind, "begin") == 0)
		ring_file_runtime(file, ring, RING_BEGIN, id, time);
	else if (strcmp(kind, "end") == 0)
		ring_file_runtime(file, ring, RING_EXIT, id, time);
	else if (strcmp(kind, "counter") == 0)
		ring_file_value(file, ring, RING_COUNTER, id, time, value);
	else if (strcmp(kind, "lifecycle") == 0)
		ring_file_value(file, ring, RING_LIFECYCLE, id, time, value);
	else
		ring_file_add(file, &message);
	return 0;
}

int main(int argc, char **argv)
{
	struct ring_file file;
	char line[200], name[32];
	FILE *out = argc == 4 ? fopen(argv[3], "w") : NULL;
	int status = EXIT_SUCCESS;

	if (!out)
		return EXIT_FAILURE;
	ring_file_init(&file, (uint32_t)strtoul(argv[1], NULL, 10), strtoul(argv[2], NULL, 10),
		       NAMES);
	for (unsigned i = 0; i < NAMES; i++) {
		snprintf(name, sizeof(name), "user.%u", i);
		ring_file_name(&file, i, name);
	}
	while (fgets(line, sizeof(line), stdin))
		if (add_line(&file, line) < 0)
			status = EXIT_FAILURE;
	if (fwrite(file.bytes, 1, file.size, out) != file.size || fclose(out))
		status = EXIT_FAILURE;
	ring_file_release(&file);
	return status;
}
