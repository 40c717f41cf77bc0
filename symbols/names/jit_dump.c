/* SPDX-License-Identifier: MIT */
/* Parses the records of a jitdump, and remembers code by its index because it may move. */
#include "symbols/names/jit_dump.h"

#include "base/tables/hash.h"

/* tools/perf/util/jitdump.h */
#define MAGIC               UINT32_C(0x4a695444) /* "JiTD" */
#define FLAG_ARCH_TIMESTAMP 1
#define HEADER_SIZE         40
#define RECORD_HEADER_SIZE  16

enum record_type { RECORD_LOAD = 0, RECORD_MOVE = 1, RECORD_LINES = 2 };

/* Code that may move. */
struct jit_load {
	uint64_t index; /* index of the code, unique in the file */
	struct jit_code code;
	UT_hash_handle hh;
};

bool jit_dump_is_path(const char *path)
{
	const char *name = base_name(path);
	int end = 0;

	sscanf(name, "jit-%*[0-9].dump%n", &end);
	return end && !name[end];
}

bool jit_dump_init(struct jit_dump *dump, const uint8_t *bytes, size_t size)
{
	struct cursor c = cursor_over(bytes, size);
	uint32_t header;

	*dump = (struct jit_dump){ .bytes = bytes };
	if (cursor_u32(&c) != MAGIC)
		return false;
	cursor_u32(&c); /* version */
	header = cursor_u32(&c);
	cursor_u32(&c); /* ELF machine */
	cursor_u64(&c); /* padding, pid */
	dump->made = cursor_u64(&c);
	dump->tsc_times = cursor_u64(&c) & FLAG_ARCH_TIMESTAMP;
	if (c.short_ || header < HEADER_SIZE)
		return false;
	cursor_take(&c, header - HEADER_SIZE);
	dump->rest = c;
	return !c.short_;
}

/* pid, tid, vma, address, size, index, name, bytes. */
static bool read_load(struct jit_dump *dump, struct cursor c, struct jit_code *code)
{
	struct jit_load *load;
	uint64_t index;

	cursor_u64(&c);
	cursor_u64(&c);
	code->address = cursor_u64(&c);
	code->size = cursor_u64(&c);
	index = cursor_u64(&c);
	code->name = cursor_text(&c);
	if (!code->name || !code->size || code->size > cursor_left(&c))
		return false;
	code->offset = (uint64_t)(c.at - dump->bytes);
	if (dump->lines_of == code->address)
		code->lines = dump->lines;
	dump->lines = (struct cursor){ 0 };
	HASH_FIND_OR_ADD(dump->loads, index, &index, load);
	load->code = *code;
	return true;
}

/* pid, tid, vma, old address, new address, size, index. */
static bool read_move(struct jit_dump *dump, struct cursor c, struct jit_code *code)
{
	uint64_t index, time = code->time, address;
	struct jit_load *load;

	cursor_u64(&c);
	cursor_u64(&c);
	cursor_u64(&c);
	address = cursor_u64(&c);
	cursor_u64(&c);
	index = cursor_u64(&c);
	HASH_FIND(hh, dump->loads, &index, sizeof(index), load);
	if (c.short_ || !load)
		return false;
	*code = load->code;
	code->time = time;
	code->address = address;
	code->moved = true;
	return true;
}

/* The address of the code, number of entries, entries: the record of the code follows. */
static void read_line_info(struct jit_dump *dump, struct cursor c)
{
	dump->lines_of = cursor_u64(&c);
	cursor_u64(&c);
	dump->lines = c;
}

bool jit_dump_next_line(struct jit_code *code, uint64_t *ip, uint32_t *line)
{
	const char *file;

	*ip = cursor_u64(&code->lines);
	*line = cursor_u32(&code->lines);
	cursor_u32(&code->lines); /* discriminator */
	file = cursor_text(&code->lines);
	if (!file)
		return false;
	if (strcmp(file, "\377") != 0) /* the same as before */
		code->file = file;
	return true;
}

bool jit_dump_next(struct jit_dump *dump, struct jit_code *code)
{
	while (cursor_left(&dump->rest) >= RECORD_HEADER_SIZE) {
		uint32_t type = cursor_u32(&dump->rest), size = cursor_u32(&dump->rest);
		struct cursor record;
		const uint8_t *at;

		*code = (struct jit_code){ .time = cursor_u64(&dump->rest) };
		if (size < RECORD_HEADER_SIZE)
			break;
		at = cursor_take(&dump->rest, size - RECORD_HEADER_SIZE);
		if (!at)
			break;
		record = cursor_over(at, size - RECORD_HEADER_SIZE);
		if (type == RECORD_LINES)
			read_line_info(dump, record);
		if (type == RECORD_LOAD && read_load(dump, record, code))
			return true;
		if (type == RECORD_MOVE && read_move(dump, record, code))
			return true;
	}
	return false;
}

void jit_dump_release(struct jit_dump *dump)
{
	struct jit_load *load;

	HASH_FREE_ALL(dump->loads, load);
	*dump = (struct jit_dump){ 0 };
}
