/* SPDX-License-Identifier: MIT */
#include "tests/support/tracing_data.h"

#include <stdlib.h>
#include <string.h>

static void put(struct perf_data_buffer *to, const void *bytes, size_t size)
{
	to->bytes = realloc(to->bytes, to->size + size);
	memcpy(to->bytes + to->size, bytes, size);
	to->size += size;
}

static void put_sized(struct perf_data_buffer *to, const char *text)
{
	uint64_t size = strlen(text);

	put(to, &size, sizeof(size));
	put(to, text, size);
}

static void put_count(struct perf_data_buffer *to, uint32_t count)
{
	put(to, &count, sizeof(count));
}

struct perf_data_buffer tracing_data(const struct tracing_system *systems, uint32_t count)
{
	static const uint8_t pages[] = { 0, 8, 0, 0x10, 0, 0 }; /* little-endian, 8, 4096 */
	struct perf_data_buffer out = { 0 };

	put(&out, "\x17\x08\x44tracing0.6", 14);
	put(&out, pages, sizeof(pages));
	put(&out, "header_page", 12);
	put_sized(&out, "\tfield: u64 timestamp;\toffset:0;\tsize:8;\tsigned:0;\n"
			"\tfield: local_t commit;\toffset:8;\tsize:8;\tsigned:1;\n"
			"\tfield: int overwrite;\toffset:8;\tsize:1;\tsigned:1;\n"
			"\tfield: char data;\toffset:16;\tsize:4080;\tsigned:0;\n");
	put(&out, "header_event", 13);
	put_sized(&out, "# compressed entry header\n");
	put_count(&out, 1); /* ftrace's own formats */
	put_sized(&out, "name: function\nID: 1\nformat:\n" TRACING_COMMON "\nprint fmt: \"\"\n");
	put_count(&out, count);
	for (uint32_t i = 0; i < count; i++) {
		put(&out, systems[i].name, strlen(systems[i].name) + 1);
		put_count(&out, systems[i].count);
		for (uint32_t k = 0; k < systems[i].count; k++)
			put_sized(&out, systems[i].formats[k]);
	}
	put_count(&out, 0);              /* kallsyms */
	put_count(&out, 0);              /* printk formats */
	put(&out, (uint64_t[]){ 0 }, 8); /* saved names */
	return out;
}
