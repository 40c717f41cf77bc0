/* SPDX-License-Identifier: MIT */
#include "decoder/perf_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/cursor.h"
#include "base/pages.h"

#define MAGIC_LITTLE UINT64_C(0x32454c4946524550) /* "PERFILE2" */
#define MAGIC_BIG UINT64_C(0x50455246494c4532)    /* the same, byte-swapped */
#define HEADER_SIZE 104
#define PIPE_HEADER_SIZE 16
#define SECTION_SIZE 16
#define RECORD_HEADER_SIZE 8

/* Entries are sorted by id, and equal ids by attribute. */
struct perf_attr_id {
	uint64_t id;
	size_t attr; /* index */
};

struct section {
	uint64_t offset, size;
};

static struct section read_section(struct cursor *c)
{
	struct section section;

	section.offset = cursor_u64(c);
	section.size = cursor_u64(c);
	return section;
}

static bool inside(const struct perf_file *file, const struct section *section)
{
	return section->offset <= file->size && section->size <= file->size - section->offset;
}

/* ---- Opening ------------------------------------------------------------- */

static int map_file(struct perf_file *file, const char *path, struct error *err)
{
	struct stat status;
	void *bytes;
	int fd;

	if (strcmp(path, "-") == 0)
		return error_set(err, ERROR_UNSUPPORTED,
				 "a recording cannot be read from standard input yet; name a file");
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return error_set_system(err, errno, "%s: cannot open", path);
	if (fstat(fd, &status) < 0) {
		close(fd);
		return error_set_system(err, errno, "%s: cannot read", path);
	}
	if (S_ISDIR(status.st_mode)) {
		close(fd);
		return error_set(err, ERROR_UNSUPPORTED,
				 "%s: is a directory; name the file 'data' in it, if perf made it",
				 path);
	}
	if (!S_ISREG(status.st_mode) || status.st_size == 0) {
		close(fd);
		return error_set(err, ERROR_FORMAT, "%s: %s", path,
				 S_ISREG(status.st_mode) ? "is empty" : "is not a regular file");
	}
	file->size = (uint64_t)status.st_size;
	bytes = mmap(NULL, file->size, PROT_READ, MAP_PRIVATE, fd, 0);
	close(fd);
	if (bytes == MAP_FAILED)
		return error_set_system(err, errno, "%s: cannot map", path);
	file->bytes = bytes;
	return 0;
}

static int check_magic(const struct perf_file *file, const char *path, struct error *err)
{
	struct cursor c = cursor_over(file->bytes, file->size);
	uint64_t magic = cursor_u64(&c);
	uint64_t size = cursor_u64(&c);

	if (magic == MAGIC_BIG)
		return error_set(err, ERROR_UNSUPPORTED,
				 "%s: was recorded on a big-endian machine, where no Intel PT is",
				 path);
	if (magic != MAGIC_LITTLE)
		return error_set(err, ERROR_FORMAT,
				 "%s: is not a perf.data file (no PERFILE2 at its start)", path);
	if (size == PIPE_HEADER_SIZE)
		return error_set(err, ERROR_UNSUPPORTED,
				 "%s: is in pipe mode (perf record -o -), which is not read yet; "
				 "record into a file", path);
	if (size != HEADER_SIZE || file->size < HEADER_SIZE)
		return error_set_at(err, 8, "%s: has a damaged header", path);
	return 0;
}

/* The attribute as this kernel's headers know it: what the file lacks is 0. */
static void read_attr(struct perf_attr *attr, const uint8_t *bytes, size_t size)
{
	uint32_t own_size = 0;

	if (size >= PERF_ATTR_SIZE_VER0)
		memcpy(&own_size, bytes + 4, sizeof(own_size));
	if (own_size >= PERF_ATTR_SIZE_VER0 && own_size < size)
		size = own_size;
	memcpy(&attr->attr, bytes, size < sizeof(attr->attr) ? size : sizeof(attr->attr));
}

static int compare_ids(const void *left, const void *right)
{
	const struct perf_attr_id *a = left, *b = right;

	if (a->id != b->id)
		return a->id < b->id ? -1 : 1;
	return a->attr < b->attr ? -1 : a->attr > b->attr;
}

/*
 * Real id sections do not overlap, so more ids than fit into the file are
 * damage; what comes behind them is left out.
 */
static void sort_ids(struct perf_file *file)
{
	uint64_t room = file->size / sizeof(uint64_t);
	size_t total = 0;

	for (size_t i = 0; i < file->attr_count; i++) {
		if (file->attrs[i].id_count > room - total)
			file->attrs[i].id_count = 0;
		total += file->attrs[i].id_count;
	}
	file->by_id = alloc_zeroed(total, sizeof(*file->by_id));
	for (size_t i = 0; i < file->attr_count; i++) {
		struct cursor c = cursor_over(file->attrs[i].ids,
					      file->attrs[i].id_count * sizeof(uint64_t));

		for (size_t k = 0; k < file->attrs[i].id_count; k++)
			file->by_id[file->id_count++] = (struct perf_attr_id){ cursor_u64(&c), i };
	}
	qsort(file->by_id, file->id_count, sizeof(*file->by_id), compare_ids);
}

static int read_attrs(struct perf_file *file, const struct section *attrs, uint64_t entry_size,
		      struct error *err)
{
	if (entry_size < PERF_ATTR_SIZE_VER0 + SECTION_SIZE || !inside(file, attrs))
		return error_set_at(err, 16, "the attribute section is damaged");
	file->attr_count = attrs->size / entry_size;
	file->attrs = alloc_zeroed(file->attr_count, sizeof(*file->attrs));
	for (size_t i = 0; i < file->attr_count; i++) {
		const uint8_t *entry = file->bytes + attrs->offset + i * entry_size;
		struct cursor c = cursor_over(entry + entry_size - SECTION_SIZE, SECTION_SIZE);
		struct section ids = read_section(&c);
		struct perf_attr *attr = &file->attrs[i];

		read_attr(attr, entry, entry_size - SECTION_SIZE);
		if (!inside(file, &ids) || !ids.size)
			continue;
		attr->ids = file->bytes + ids.offset;
		attr->id_count = ids.size / sizeof(uint64_t);
	}
	sort_ids(file);
	return 0;
}

static int read_header(struct perf_file *file, struct diag *diag, struct error *err)
{
	struct cursor c = cursor_over(file->bytes + 16, HEADER_SIZE - 16);
	uint64_t attr_size = cursor_u64(&c);
	struct section attrs = read_section(&c);
	struct section data = read_section(&c);

	if (read_attrs(file, &attrs, attr_size, err) < 0)
		return -1;
	if (data.offset > file->size)
		return error_set_at(err, 40, "the data section lies behind the end of the file");
	file->unfinished = data.size == 0;
	if (file->unfinished)
		diag_warn(diag, "unfinished",
			  "perf did not finish the file (was it killed?): reading to its end");
	else if (!inside(file, &data))
		diag_warn(diag, "truncated",
			  "the file is cut: %llu bytes of its data are missing",
			  (unsigned long long)(data.size - (file->size - data.offset)));
	file->data_begin = data.offset;
	file->data_end = file->unfinished || !inside(file, &data) ? file->size
								  : data.offset + data.size;
	return 0;
}

int perf_file_open(struct perf_file *file, const char *path, struct diag *diag, struct error *err)
{
	*file = (struct perf_file){ 0 };
	if (map_file(file, path, err) < 0 || check_magic(file, path, err) < 0)
		return -1;
	if (read_header(file, diag, err) < 0)
		return error_prefix(err, "%s", path);
	if (file->data_end < file->size)
		perf_features_read(file, diag);
	return 0;
}

void perf_file_close(struct perf_file *file)
{
	if (file->bytes)
		munmap((void *)file->bytes, file->size);
	free(file->by_id);
	free(file->attrs);
	arena_release(&file->arena);
	*file = (struct perf_file){ 0 };
}

const struct perf_attr *perf_file_borrow_attr(const struct perf_file *file, uint64_t id)
{
	size_t low = 0, high = file->id_count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (file->by_id[middle].id < id)
			low = middle + 1;
		else
			high = middle;
	}
	if (low == file->id_count || file->by_id[low].id != id)
		return NULL;
	return &file->attrs[file->by_id[low].attr];
}

/* ---- Records ------------------------------------------------------------- */

static unsigned bit_count(uint64_t bits)
{
	return (unsigned)__builtin_popcountll(bits);
}

/* Bytes of the sample_id trailer for a sample_type (perf_event.h, struct sample_id). */
static size_t trailer_size(uint64_t sample_type)
{
	return 8 * bit_count(sample_type &
			     (PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_ID |
			      PERF_SAMPLE_STREAM_ID | PERF_SAMPLE_CPU | PERF_SAMPLE_IDENTIFIER));
}

static struct perf_sample_id read_trailer(const uint8_t *bytes, uint64_t sample_type)
{
	struct perf_sample_id id = { .pid = -1, .tid = -1, .cpu = -1 };
	struct cursor c = cursor_over(bytes, trailer_size(sample_type));

	if (sample_type & PERF_SAMPLE_TID) {
		id.pid = (int32_t)cursor_u32(&c);
		id.tid = (int32_t)cursor_u32(&c);
	}
	if (sample_type & PERF_SAMPLE_TIME)
		id.time = cursor_u64(&c);
	if (sample_type & PERF_SAMPLE_ID)
		id.id = cursor_u64(&c);
	if (sample_type & PERF_SAMPLE_STREAM_ID)
		cursor_u64(&c);
	if (sample_type & PERF_SAMPLE_CPU) {
		id.cpu = (int32_t)cursor_u32(&c);
		cursor_u32(&c);
	}
	if (sample_type & PERF_SAMPLE_IDENTIFIER)
		id.id = cursor_u64(&c);
	return id;
}

/*
 * Where the id stands, in 8-byte words before the end of a record; 0 if there
 * is none.  With IDENTIFIER it is the last word; else ID is followed by
 * STREAM_ID and CPU.  All events of a file have it in the same place, or perf
 * would refuse to record them (tools/perf/util/evlist.c,
 * evlist__valid_sample_type).
 */
static size_t id_position(uint64_t sample_type)
{
	if (sample_type & PERF_SAMPLE_IDENTIFIER)
		return 1;
	if (!(sample_type & PERF_SAMPLE_ID))
		return 0;
	return 1 + bit_count(sample_type & (PERF_SAMPLE_STREAM_ID | PERF_SAMPLE_CPU));
}

/* The attribute that a kernel record belongs to; the first one where its id does not tell. */
static const struct perf_attr *attr_of(const struct perf_file *file, const uint8_t *end,
				       size_t size)
{
	const struct perf_attr *attr = NULL;
	size_t position;
	uint64_t id;

	if (!file->attr_count)
		return NULL;
	position = id_position(file->attrs[0].attr.sample_type) * sizeof(id);
	if (position && position <= size) {
		memcpy(&id, end - position, sizeof(id));
		attr = perf_file_borrow_attr(file, id);
	}
	return attr ? attr : &file->attrs[0];
}

static void split_trailer(const struct perf_file *file, struct perf_record *record)
{
	const uint8_t *end = record->payload + record->size;
	const struct perf_attr *attr;
	size_t size;

	record->id = (struct perf_sample_id){ .pid = -1, .tid = -1, .cpu = -1 };
	if (record->type >= PERF_USER_HEADER_ATTR || record->type == PERF_RECORD_SAMPLE)
		return;
	attr = attr_of(file, end, record->size);
	if (!attr || !attr->attr.sample_id_all)
		return;
	size = trailer_size(attr->attr.sample_type);
	if (size > record->size)
		return;
	record->id = read_trailer(end - size, attr->attr.sample_type);
	record->size -= size;
}

/* The trace data follows the record; the file may end before it does. */
static void take_aux(const struct perf_file *file, uint64_t *position, struct perf_record *record,
		     struct diag *diag)
{
	uint64_t left = file->data_end - *position;
	uint64_t size = 0;

	if (record->size >= sizeof(size))
		memcpy(&size, record->payload, sizeof(size));
	if (size > left) {
		diag_warn(diag, "aux-cut", "the trace data at offset 0x%llx is cut: %llu of %llu bytes",
			  (unsigned long long)*position, (unsigned long long)left,
			  (unsigned long long)size);
		size = left;
	}
	/* The kernel maps pages around each one that is read, trace data too. */
	pages_give_back(file->bytes + file->data_begin, record->offset - file->data_begin);
	record->aux.bytes = file->bytes + *position;
	record->aux.size = size;
	*position += size;
}

int perf_file_next(const struct perf_file *file, uint64_t *position, struct perf_record *record,
		   struct diag *diag)
{
	uint64_t at = *position ? *position : file->data_begin;
	struct cursor c;
	uint16_t size;

	if (at >= file->data_end)
		return 0;
	c = cursor_over(file->bytes + at, file->data_end - at);
	*record = (struct perf_record){ .offset = at };
	record->type = cursor_u32(&c);
	record->misc = cursor_u16(&c);
	size = cursor_u16(&c);
	if (c.short_ || size < RECORD_HEADER_SIZE || size > file->data_end - at) {
		diag_warn(diag, "record-damaged",
			  "the record at offset 0x%llx is damaged (type %u, size %u): nothing "
			  "behind it is read", (unsigned long long)at, record->type, size);
		*position = file->data_end;
		return 0;
	}
	record->payload = c.at;
	record->size = size - RECORD_HEADER_SIZE;
	*position = at + size;
	split_trailer(file, record);
	if (record->type == PERF_USER_AUXTRACE)
		take_aux(file, position, record, diag);
	return 1;
}
