/* SPDX-License-Identifier: MIT */
/* Any bytes as a file of runtime events: every ring is read to its end. */
#include "tests/fuzz/fuzz.h"

#include <stdlib.h>

#include "overlays/runtime_events.h"

static void read_ring(const struct runtime_events *file, uint32_t index)
{
	struct runtime_custom custom;
	struct runtime_event event;
	struct runtime_ring ring;
	size_t events = 0;
	char name[128];

	runtime_ring_start(&ring, file, index);
	while (runtime_ring_next(&ring, &event)) {
		/* a message has at least one word */
		if (++events > file->ring_words + 1)
			abort();
		runtime_events_user_name(file, event.id, name);
		runtime_event_name(file, event.kind, event.id);
		if (event.payload)
			runtime_custom_read(&custom, name, event.payload, event.payload_size);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
	struct runtime_events file;

	if (runtime_events_open(&file, bytes, size, NULL, NULL) < 0)
		return 0;
	for (uint32_t i = 0; i < file.rings; i++)
		read_ring(&file, i);
	return 0;
}
