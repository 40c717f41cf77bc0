/* SPDX-License-Identifier: MIT */
/* Any bytes as a Fuchsia trace, plain or compressed, for ftfdump. */
#include "tests/fuzz/fuzz.h"

#include <stdio.h>
#include <stdlib.h>

#include "reader/trace_print.h"
#include "reader/trace_reader.h"
#include "tests/fuzz/memory_file.h"

/* Packed data may unpack to a lot: a limit. */
#define RECORDS_MAX 100000u

static void read_all(struct trace_reader *reader, FILE *out)
{
	struct trace_slices slices = { .keep = true };
	struct trace_record record;

	for (size_t i = 0; i < RECORDS_MAX && trace_reader_next(reader, &record, NULL) == 1; i++) {
		trace_slices_add(&slices, &record);
		trace_print_record(out, &record);
		trace_print_args(out, &record);
		trace_print_name(out, &record);
	}
	trace_slices_finish(&slices, NULL);
	trace_slices_print(&slices, out);
	trace_slices_release(&slices);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
	static struct memory_file file;
	static FILE *out;
	struct trace_reader reader;

	if (!out && !(out = fopen("/dev/null", "w")))
		abort();
	if (trace_reader_open(&reader, memory_file_set(&file, bytes, size), NULL) == 0)
		read_all(&reader, out);
	trace_reader_close(&reader);
	return 0;
}
