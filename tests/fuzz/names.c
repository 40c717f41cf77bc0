/* SPDX-License-Identifier: MIT */
/* Any bytes as a perf-PID.map, kallsyms or a jitdump; the first byte chooses. */
#include "tests/fuzz/fuzz.h"

#include <stdlib.h>
#include <string.h>

#include "symbols/names/jit_dump.h"
#include "symbols/names/text_map.h"
#include "tests/fuzz/memory_file.h"

#define RANGES_ASKED 64u

/* Some addresses: what is found is a range of the text around the address. */
static void ask(const struct name_ranges *names)
{
	uint64_t begin, end, address;
	uint32_t found;

	for (size_t i = 0; i < names->count && i < RANGES_ASKED; i++) {
		address = names->ranges[i].begin;
		found = range_map_find(&names->map, address, &begin, &end);
		/* UINT64_MAX is the end of the last range, but also an address. */
		if (begin > address || (end <= address && address != UINT64_MAX) ||
		    (found != RANGE_NONE && found >= names->count))
			abort();
		/* Makes sanitizers read the whole name. */
		if (found != RANGE_NONE &&
		    strnlen(names->ranges[found].name, names->ranges[found].length) >
			    names->ranges[found].length)
			abort();
	}
}

static void read_text(const uint8_t *bytes, size_t size, bool kernel)
{
	static struct memory_file file;
	const char *path = memory_file_set(&file, bytes, size);
	struct name_ranges names = { 0 };

	if (kernel)
		name_ranges_read_kallsyms(&names, path);
	else
		name_ranges_read_perf(&names, path);
	ask(&names);
	name_ranges_release(&names);
}

static void read_dump(const uint8_t *bytes, size_t size)
{
	struct jit_dump dump;
	struct jit_code code;

	if (jit_dump_init(&dump, bytes, size))
		while (jit_dump_next(&dump, &code)) {
			if (code.offset > size || code.size > size - code.offset ||
			    strlen(code.name) >= size)
				abort();
		}
	jit_dump_release(&dump);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
	if (size < 2)
		return 0;
	if (bytes[0] == 'j')
		read_dump(bytes + 1, size - 1);
	else
		read_text(bytes + 1, size - 1, bytes[0] == 'k');
	return 0;
}
