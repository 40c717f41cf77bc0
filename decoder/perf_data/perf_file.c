/* SPDX-License-Identifier: MIT */
/* Opens a recording: finds its files, and reads their headers, attributes and features. */
#include "decoder/perf_data/perf_file.h"

#include <stdlib.h>
#include <sys/mman.h>

#include "base/alloc.h"
#include "base/cursor.h"
#include "base/file_kind.h"
#include "decoder/perf_data/perf_input.h"
#include "decoder/perf_data/perf_series.h"
#include "decoder/perf_data/perf_unpack.h"

#define MAGIC_LITTLE     UINT64_C(0x32454c4946524550) /* "PERFILE2" */
#define MAGIC_BIG        UINT64_C(0x50455246494c4532) /* the same, byte-swapped */
#define HEADER_SIZE      104
#define PIPE_HEADER_SIZE 16
#define SECTION_SIZE     16

struct file_section {
	uint64_t offset, size;
};

static struct file_section read_section(struct cursor *c)
{
	struct file_section section;

	section.offset = cursor_u64(c);
	section.size = cursor_u64(c);
	return section;
}

static bool inside(struct perf_bytes bytes, const struct file_section *section)
{
	return section->offset <= bytes.size && section->size <= bytes.size - section->offset;
}

/* Make mapped bytes the file's own. */
static void own_mapping(struct perf_file *file, struct perf_bytes bytes)
{
	file->mappings = alloc_grow(file->mappings, &file->mapping_room, file->mapping_count + 1,
				    sizeof(*file->mappings));
	file->mappings[file->mapping_count++] = bytes;
	file->size += bytes.size;
}

static int map(struct perf_file *file, const char *path, struct perf_bytes *bytes,
	       struct error *err)
{
	if (perf_input_map(path, bytes, err) < 0)
		return -1;
	own_mapping(file, *bytes);
	return 0;
}

/* ---- Headers ------------------------------------------------------------- */

static int check_magic(struct perf_bytes bytes, bool *stream, struct error *err)
{
	struct cursor c = cursor_over(bytes.bytes, bytes.size);
	uint64_t magic = cursor_u64(&c);
	uint64_t size = cursor_u64(&c);

	*stream = size == PIPE_HEADER_SIZE;
	if (magic == MAGIC_BIG)
		return error_set(
			err, ERROR_UNSUPPORTED,
			"was recorded on a big-endian machine, and those have no Intel PT");
	if (magic != MAGIC_LITTLE)
		return error_set(err, ERROR_FORMAT, "is not a perf.data file%s",
				 file_kind_text(bytes.bytes, bytes.size));
	if (!*stream && (size != HEADER_SIZE || bytes.size < HEADER_SIZE))
		return error_set_at(err, 8, "has a damaged header");
	return 0;
}

static int read_attrs(struct perf_file *file, struct perf_bytes bytes,
		      const struct file_section *attrs, uint64_t entry_size, struct error *err)
{
	if (entry_size < PERF_ATTR_SIZE_VER0 + SECTION_SIZE || !inside(bytes, attrs))
		return error_set_at(err, 16, "the attribute section is damaged");
	for (size_t i = 0; i < attrs->size / entry_size; i++) {
		const uint8_t *entry = bytes.bytes + attrs->offset + i * entry_size;
		struct cursor c = cursor_over(entry + entry_size - SECTION_SIZE, SECTION_SIZE);
		struct file_section ids = read_section(&c);

		if (!inside(bytes, &ids))
			ids.offset = ids.size = 0;
		perf_attrs_add(file, (struct perf_bytes){ entry, entry_size - SECTION_SIZE },
			       (struct perf_bytes){ bytes.bytes + ids.offset, ids.size });
	}
	perf_attrs_finish(file);
	return 0;
}

static void warn_incomplete(struct perf_file *file, struct perf_bytes bytes,
			    const struct file_section *data, struct diag *diag)
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
	struct file_section attrs = read_section(&c);
	struct file_section data = read_section(&c);
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
	perf_parts_add(file, &part);
	return 0;
}

/*
 * A stream has its events and features in records, features first, although
 * the names of events are a feature: read the events first.
 */
static void read_stream(struct perf_file *file, struct perf_bytes bytes, struct diag *diag)
{
	struct perf_part part = { .bytes = bytes.bytes,
				  .begin = PIPE_HEADER_SIZE,
				  .end = bytes.size };
	struct perf_record record;
	uint64_t position = 0;

	perf_parts_add(file, &part);
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
static void open_others(struct perf_file *file, const struct perf_input *input, struct diag *diag)
{
	for (size_t i = 1; i < input->count; i++) {
		struct error err = { 0 };
		struct perf_bytes bytes;

		if (!perf_input_is_file(input->paths[i]))
			error_set(&err, ERROR_UNSUPPORTED, "%s: is not a regular file",
				  input->paths[i]);
		else if (map(file, input->paths[i], &bytes, &err) == 0)
			perf_parts_add(file, &(struct perf_part){ .bytes = bytes.bytes,
								  .end = bytes.size });
		if (err.kind != ERROR_NONE && err.kind != ERROR_FORMAT) /* an empty one is usual */
			diag_warn(diag, "part-missing", "%s: its trace and events are missing",
				  err.text);
	}
}

/* Unpacked records get parts behind all others; consumers order records by time. */
static void unpack(struct perf_file *file, struct diag *diag)
{
	for (size_t i = 0, count = file->part_count; i < count; i++) {
		struct perf_bytes bytes = perf_unpack(file, i, diag);

		if (!bytes.bytes)
			continue;
		own_mapping(file, bytes);
		perf_parts_add(file, &(struct perf_part){ .bytes = bytes.bytes,
							  .end = bytes.size,
							  .unpacked = true });
	}
}

int perf_file_open(struct perf_file *file, const char *path, struct diag *diag, struct error *err)
{
	struct perf_input input;
	int status;

	*file = (struct perf_file){ .path = path };
	status = perf_input_list(&input, path, &file->arena, err);
	if (status == 0)
		status = open_first(file, input.paths[0], diag, err);
	if (status == 0) {
		open_others(file, &input, diag);
		unpack(file, diag);
	}
	file->folder = input.folder;
	perf_input_release(&input);
	return status;
}

/* Move mappings, parts and build ids of another file to this one. */
static void take_over(struct perf_file *file, struct perf_file *from)
{
	uint64_t begin = file->origins[file->origin_count - 1].begin;

	for (size_t i = 0; i < from->part_count; i++) {
		if (begin != UINT64_MAX)
			from->parts[i].begin_time = begin;
		perf_parts_add(file, &from->parts[i]);
	}
	for (size_t i = 0; i < from->mapping_count; i++)
		own_mapping(file, from->mappings[i]);
	for (size_t i = 0; i < from->build_id_count; i++)
		perf_features_add_build_ids(file, from->build_ids[i]);
	file->unfinished |= from->unfinished;
	from->mapping_count = 0;
}

int perf_file_append(struct perf_file *file, const char *path, struct diag *diag, struct error *err)
{
	struct perf_file next;
	int status = perf_file_open(&next, path, diag, err);

	if (status == 0)
		status = perf_series_check(file, &next, err);
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
	free(file->origins);
	free(file->extents);
	free(file->build_ids);
	free(file->by_id);
	free(file->attrs);
	arena_release(&file->arena);
	*file = (struct perf_file){ 0 };
}
