/* SPDX-License-Identifier: MIT */
/* Any bytes as a file of memtrace. */
#include "tests/fuzz/fuzz.h"

#include <stdlib.h>

#include "overlays/memtrace.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
	struct memtrace_event event;
	struct memtrace trace;
	size_t events = 0;

	if (memtrace_open(&trace, bytes, size, NULL, NULL) == 0)
		while (memtrace_next(&trace, &event))
			if (++events > size) /* an event is a byte at least */
				abort();
	memtrace_close(&trace);
	return 0;
}
