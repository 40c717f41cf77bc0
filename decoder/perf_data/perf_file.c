/* SPDX-License-Identifier: MIT */
#include "decoder/perf_data/perf_file.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "base/alloc.h"
#include "base/cursor.h"
#include "base/lower_bound.h"
#include "base/pages.h"
#include "decoder/perf_data/perf_attrs.h"
#include "decoder/perf_data/perf_features.h"
#include "decoder/perf_data/perf_input.h"
#include "decoder/perf_data/perf_unpack.h"

#define MAGIC_LITTLE       UINT64_C(0x32454c4946524550) /* "PERFILE2" */
#define MAGIC_BIG          UINT64_C(0x50455246494c4532) /* the same, byte-swapped */
#define HEADER_SIZE        104
#define PIPE_HEADER_SIZE   16
#define SECTION_SIZE       16
#define RECORD_HEADER_SIZE 8

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

static bool inside(struct perf_bytes bytes, const struct section *section)
{
	return section->offset <= bytes.size && section->size <= bytes.size - section->offset;
}

/* ---- Parts --------------------------------------------------------------- */

static int map(struct perf_file *file, const char *path, struct perf_bytes *bytes,
	       struct error *err)
{
	if (perf_input_map(path, bytes, err) < 0)
		return -1;
	file->mappings = alloc_grow(file->mappings, &file->mapping_room, file->mapping_count + 1,
				    sizeof(*file->mappings));
	file->mappings[file->mapping_count++] = *bytes;
	file->size += bytes->size;
	return 0;
}

static void add_part(struct perf_file *file, const struct perf_part *part)
{
	const struct perf_part *last;
	struct perf_part *added;

	file->parts = alloc_grow(file->parts, &file->part_room, file->part_count + 1,
				 sizeof(*file->parts));
	added = &file->parts[file->part_count];
	*added = *part;
	last = file->part_count++ ? added - 1 : NULL;
	added->base = last ? last->base + (last->end - last->begin) : 0;
}

/* Returns the part that holds a position, or where it is the end; NULL behind the last. */
static const struct perf_part *part_at(const struct perf_file *file, uint64_t position)
{
	const struct perf_part *parts = file->parts;
	size_t at = LOWER_BOUND(i, file->part_count,
				parts[i].base + parts[i].end - parts[i].begin <= position);

	return at < file->part_count ? &parts[at] : NULL;
}

/* ---- Headers ------------------------------------------------------------- */

static int check_magic(struct perf_bytes bytes, bool *stream, struct error *err)
{
	struct cursor c = cursor_over(bytes.bytes, bytes.size);
	uint64_t magic = cursor_u64(&c);
	uint64_t size = cursor_u64(&c);

	if (magic == MAGIC_BIG)
		return error_set(err, ERROR_UNSUPPORTED,
				 "was recorded on a big-endian machine, where no Intel PT is");
	if (magic != MAGIC_LITTLE)
		return error_set(err, ERROR_FORMAT,
				 "is not a perf.data file (no PERFILE2 at its start)");
	*stream = size == PIPE_HEADER_SIZE;
	if (!*stream && (size != HEADER_SIZE || bytes.size < HEADER_SIZE))
		return error_set_at(err, 8, "has a damaged header");
	return 0;
}

static int read_attrs(struct perf_file *file, struct perf_bytes bytes, const struct section *attrs,
		      uint64_t entry_size, struct error *err)
{
	if (entry_size < PERF_ATTR_SIZE_VER0 + SECTION_SIZE || !inside(bytes, attrs))
		return error_set_at(err, 16, "the attribute section is damaged");
	for (size_t i = 0; i < attrs->size / entry_size; i++) {
		const uint8_t *entry = bytes.bytes + attrs->offset + i * entry_size;
		struct cursor c = cursor_over(entry + entry_size - SECTION_SIZE, SECTION_SIZE);
		struct section ids = read_section(&c);

		if (!inside(bytes, &ids))
			ids.offset = ids.size = 0;
		perf_attrs_add(file, (struct perf_bytes){ entry, entry_size - SECTION_SIZE },
			       (struct perf_bytes){ bytes.bytes + ids.offset, ids.size });
	}
	perf_attrs_finish(file);
	return 0;
}

static void warn_incomplete(struct perf_file *file, struct perf_bytes bytes,
			    const struct section *data, struct diag *diag)
{
	file->unfinished |= data->size == 0;
	if (data->size == 0)
		diag_warn(diag, "unfinished",
			  "perf did not finish the file (was it killed?): reading to its end");
	else if (!inside(bytes, data))
		diag_warn(diag, "truncated", "the file is cut: %llu bytes of its data are missing",
			  (unsigned long long)(data->size - (bytes.size - data->offset)));
}

static int read_header(struct perf_file *file, struct perf_bytes bytes, struct diag *diag,
		       struct error *err)
{
	struct cursor c = cursor_over(bytes.bytes + 16, HEADER_SIZE - 16);
	uint64_t attr_size = cursor_u64(&c);
	struct section attrs = read_section(&c);
	struct section data = read_section(&c);
	struct perf_part part = { .bytes = bytes.bytes, .begin = data.offset, .end = bytes.size };

	if (read_attrs(file, bytes, &attrs, attr_size, err) < 0)
		return -1;
	if (data.offset > bytes.size)
		return error_set_at(err, 40, "the data section lies behind the end of the file");
	warn_incomplete(file, bytes, &data, diag);
	if (data.size && inside(bytes, &data))
		part.end = data.offset + data.size;
	if (part.end < bytes.size)
		perf_features_read(file, bytes, part.end, diag);
	add_part(file, &part);
	return 0;
}

/*
 * A stream tells of its events and features in records, and features first,
 * although the names of events are one of them.
 */
static void read_stream(struct perf_file *file, struct perf_bytes bytes, struct diag *diag)
{
	struct perf_part part = { .bytes = bytes.bytes,
				  .begin = PIPE_HEADER_SIZE,
				  .end = bytes.size };
	struct perf_record record;
	uint64_t position = 0;

	add_part(file, &part);
	while (perf_file_next(file, &position, &record, NULL)) {
		if (record.type == PERF_USER_HEADER_ATTR)
			perf_attrs_read_record(file, &record);
	}
	perf_attrs_finish(file);
	position = 0;
	while (perf_file_next(file, &position, &record, NULL)) {
		if (record.type == PERF_USER_HEADER_FEATURE ||
		    record.type == PERF_USER_HEADER_BUILD_ID ||
		    record.type == PERF_USER_HEADER_TRACING_DATA)
			perf_features_read_record(file, &record, diag);
		else if (record.type == PERF_USER_EVENT_UPDATE)
			perf_attrs_read_record(file, &record);
	}
}

/* ---- Opening ------------------------------------------------------------- */

static int open_first(struct perf_file *file, const char *path, struct diag *diag,
		      struct error *err)
{
	struct perf_bytes bytes;
	bool stream;

	if (map(file, path, &bytes, err) < 0)
		return -1;
	if (check_magic(bytes, &stream, err) < 0)
		return error_prefix(err, "%s", path);
	if (stream)
		read_stream(file, bytes, diag);
	else if (read_header(file, bytes, diag, err) < 0)
		return error_prefix(err, "%s", path);
	return 0;
}

/* The other files of a directory have neither header nor features. */
static int open_others(struct perf_file *file, const struct perf_input *input, struct diag *diag)
{
	for (size_t i = 1; i < input->count; i++) {
		struct error err = { 0 };
		struct perf_bytes bytes;

		if (!perf_input_is_file(input->paths[i]))
			error_set(&err, ERROR_UNSUPPORTED, "%s: is not a regular file",
				  input->paths[i]);
		else if (map(file, input->paths[i], &bytes, &err) == 0)
			add_part(file,
				 &(struct perf_part){ .bytes = bytes.bytes, .end = bytes.size });
		if (err.kind != ERROR_NONE && err.kind != ERROR_FORMAT) /* an empty one is usual */
			diag_warn(diag, "part-missing", "%s: what it holds is missing", err.text);
	}
	return 0;
}

/* Records that were compressed follow those that were not; their times give the order. */
static void unpack(struct perf_file *file, size_t first_part, struct diag *diag)
{
	for (size_t i = first_part, count = file->part_count; i < count; i++) {
		struct perf_bytes bytes = perf_unpack(file, i, diag);

		if (!bytes.bytes)
			continue;
		file->mappings = alloc_grow(file->mappings, &file->mapping_room,
					    file->mapping_count + 1, sizeof(*file->mappings));
		file->mappings[file->mapping_count++] = bytes;
		file->size += bytes.size;
		add_part(file, &(struct perf_part){
				       .bytes = bytes.bytes, .end = bytes.size, .unpacked = true });
	}
}

int perf_file_open(struct perf_file *file, const char *path, struct diag *diag, struct error *err)
{
	struct perf_input input;
	int status;

	*file = (struct perf_file){ 0 };
	status = perf_input_list(&input, path, &file->arena, err);
	if (status == 0)
		status = open_first(file, input.paths[0], diag, err);
	if (status == 0)
		status = open_others(file, &input, diag);
	if (status == 0)
		unpack(file, 0, diag);
	file->folder = input.folder;
	perf_input_release(&input);
	return status;
}

/* When the parts from `first` on begin: the first time that any of their records tells. */
static void set_begin_time(struct perf_file *file, size_t first)
{
	uint64_t position = file->parts[first].base, time = UINT64_MAX;
	struct perf_record record;

	while (perf_file_next(file, &position, &record, NULL)) {
		if (record.id.time && record.id.time < time)
			time = record.id.time;
	}
	for (size_t i = first; i < file->part_count && time != UINT64_MAX; i++)
		file->parts[i].begin_time = time;
}

/* What the other one holds becomes part of the file. */
static void take_over(struct perf_file *file, struct perf_file *from)
{
	size_t first = file->part_count;

	for (size_t i = 0; i < from->part_count; i++)
		add_part(file, &from->parts[i]);
	for (size_t i = 0; i < from->mapping_count; i++) {
		file->mappings = alloc_grow(file->mappings, &file->mapping_room,
					    file->mapping_count + 1, sizeof(*file->mappings));
		file->mappings[file->mapping_count++] = from->mappings[i];
	}
	for (size_t i = 0; i < from->build_id_count; i++) {
		file->build_ids = alloc_grow(file->build_ids, &file->build_id_room,
					     file->build_id_count + 1, sizeof(*file->build_ids));
		file->build_ids[file->build_id_count++] = from->build_ids[i];
	}
	file->size += from->size;
	file->unfinished |= from->unfinished;
	from->mapping_count = 0;
	if (first < file->part_count)
		set_begin_time(file, first);
}

int perf_file_append(struct perf_file *file, const char *path, struct diag *diag, struct error *err)
{
	struct perf_file next;
	int status = perf_file_open(&next, path, diag, err);

	if (status == 0 && !perf_attrs_equal(file, &next))
		status = error_set(err, ERROR_FORMAT,
				   "%s: is not of the same recording as the files before it: its "
				   "events are others",
				   path);
	if (status == 0)
		take_over(file, &next);
	perf_file_close(&next);
	return status;
}

void perf_file_close(struct perf_file *file)
{
	for (size_t i = 0; i < file->mapping_count; i++)
		munmap((void *)file->mappings[i].bytes, file->mappings[i].size);
	free(file->mappings);
	free(file->parts);
	free(file->build_ids);
	free(file->by_id);
	free(file->attrs);
	arena_release(&file->arena);
	*file = (struct perf_file){ 0 };
}

/* ---- Records ------------------------------------------------------------- */

/* Data follows some records; the file may end before it does. */
static struct perf_bytes take_data(const struct perf_part *part, uint64_t at, uint64_t size,
				   struct diag *diag)
{
	uint64_t left = part->end - at;

	if (size > left) {
		diag_warn(diag, "aux-cut",
			  "the trace data at offset 0x%llx is cut: %llu of %llu bytes",
			  (unsigned long long)at, (unsigned long long)left,
			  (unsigned long long)size);
		size = left;
	}
	return (struct perf_bytes){ part->bytes + at, size };
}

static uint64_t take_aux(const struct perf_part *part, uint64_t at, struct perf_record *record,
			 struct diag *diag)
{
	uint64_t size = 0;

	if (record->size >= sizeof(size))
		memcpy(&size, record->payload, sizeof(size));
	/* The kernel maps pages around each one that is read, trace data too. */
	pages_give_back(part->bytes + part->begin, record->offset - part->begin);
	record->aux = take_data(part, at, size, diag);
	return record->aux.size;
}

/* What a stream tells of tracepoints' formats stands behind the record. */
static uint64_t take_tracing_data(const struct perf_part *part, uint64_t at,
				  struct perf_record *record)
{
	uint32_t size = 0;

	if (record->size >= sizeof(size))
		memcpy(&size, record->payload, sizeof(size));
	size = (size + 7) & ~7u;
	record->aux = (struct perf_bytes){ part->bytes + at,
					   size < part->end - at ? size : part->end - at };
	return record->aux.size;
}

/* Returns the bytes that the record and its data take; 0 if it is damaged. */
static uint64_t read_record(const struct perf_file *file, const struct perf_part *part, uint64_t at,
			    struct perf_record *record, struct diag *diag)
{
	struct cursor c = cursor_over(part->bytes + at, part->end - at);
	uint16_t size;

	*record = (struct perf_record){ .offset = at };
	record->type = cursor_u32(&c);
	record->misc = cursor_u16(&c);
	size = cursor_u16(&c);
	if (c.short_ || size < RECORD_HEADER_SIZE || size > part->end - at) {
		diag_warn(diag, "record-damaged",
			  "the record at offset 0x%llx is damaged (type %u, size %u): nothing "
			  "behind it is read",
			  (unsigned long long)at, record->type, size);
		return 0;
	}
	record->payload = c.at;
	record->size = size - RECORD_HEADER_SIZE;
	perf_attrs_split_trailer(file, record);
	if (!record->id.time)
		record->id.time = part->begin_time;
	if (record->type == PERF_USER_AUXTRACE)
		return size + take_aux(part, at + size, record, diag);
	if (record->type == PERF_USER_HEADER_TRACING_DATA)
		return size + take_tracing_data(part, at + size, record);
	return size;
}

int perf_file_next(const struct perf_file *file, uint64_t *position, struct perf_record *record,
		   struct diag *diag)
{
	const struct perf_part *part;
	uint64_t size;

	while ((part = part_at(file, *position))) {
		uint64_t at = part->begin + (*position - part->base);

		size = read_record(file, part, at, record, diag);
		*position = size ? *position + size : part->base + (part->end - part->begin);
		if (size)
			return 1;
	}
	return 0;
}
