/* SPDX-License-Identifier: MIT */
/* Any bytes as a file of memtrace; its events are written again. */
#include "tests/fuzz/fuzz.h"

#include <stdlib.h>

#include "overlays/memtrace.h"

static void drop(void *context, const void *bytes, size_t size)
{
	(void)bytes;
	*(size_t *)context += size;
}

static void write_again(struct memtrace *trace, size_t size)
{
	size_t events = 0, objects = 0, written = 0;
	struct memtrace_writer *writer = memtrace_writer_open(
		&trace->info, &trace->locations, (struct memtrace_sink){ drop, &written });
	struct memtrace_event event;

	while (memtrace_next(trace, &event)) {
		if (++events > size) /* an event has at least one byte */
			abort();
		if (event.kind == MEMTRACE_ALLOC)
			event.object = objects++;
		memtrace_writer_put(writer, &event);
	}
	memtrace_writer_close(writer);
	if (!written)
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
	struct memtrace trace;

	if (memtrace_open(&trace, bytes, size, NULL, NULL) == 0)
		write_again(&trace, size);
	memtrace_close(&trace);
	return 0;
}
