/* SPDX-License-Identifier: MIT */
/*
 * Prints by how much an overlay's clock leads perf's, as bounded by forks and exits, as `LOW HIGH`
 * in ns:
 *
 *	overlay_bounds PERF.DATA events|memtrace OVERLAY
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "decoder/perf_data/perf_file.h"
#include "src/overlays/overlays.h"

static int print_bounds(const struct perf_file *file, const struct overlay_input *input)
{
	struct timeline *timeline = timeline_open(file, NULL, 0, NULL);
	struct overlay_bounds bounds;
	int status = -1;

	if (overlay_sideband(&bounds, timeline, input)) {
		printf("%" PRId64 " %" PRId64 "\n", bounds.low, bounds.high);
		status = 0;
	}
	timeline_close(timeline);
	return status;
}

int main(int argc, char **argv)
{
	struct overlay_option option = { OVERLAY_RUNTIME_EVENTS, argc == 4 ? argv[3] : "" };
	struct overlay_input input = { 0 };
	struct perf_file file = { 0 };
	struct error err = { 0 };
	int status = -1;

	if (argc != 4)
		return EXIT_FAILURE;
	if (strcmp(argv[2], "memtrace") == 0)
		option.kind = OVERLAY_MEMTRACE;
	if (perf_file_open(&file, argv[1], NULL, &err) == 0 &&
	    overlay_input_open(&input, &option, NULL, &err) == 0)
		status = print_bounds(&file, &input);
	if (status < 0)
		fprintf(stderr, "no bounds: %s\n", err.text);
	overlay_input_close(&input);
	perf_file_close(&file);
	return status < 0 ? EXIT_FAILURE : EXIT_SUCCESS;
}
