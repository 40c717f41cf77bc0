/* SPDX-License-Identifier: MIT */
/* Read records one by one from the parts of a recording. */
#include "decoder/perf_data/perf_file.h"

#include "base/pages.h"

/* Bytes before a record that can have been read since the last record with trace data. */
#define RECORDS_GIVEN ((uint64_t)64 << 20)

/* Drop pages at most once per this number of bytes of the file. */
#define RECORDS_AT_ONCE ((uint64_t)1 << 20)

#define RECORD_HEADER_SIZE 8 /* bytes of struct perf_event_header */

void perf_parts_add(struct perf_file *file, const struct perf_part *part)
{
	struct perf_part *added = ARRAY_ADD(file->parts, file->part_count, file->part_room);

	*added = *part;
	added->base = file->part_count > 1 ? added[-1].base + perf_part_size(&added[-1]) : 0;
}

/* The data of an AUXTRACE record starts at `at`; a truncated file ends before the data does. */
static struct byte_view read_aux(const struct perf_part *part, uint64_t at,
				 struct perf_record *record, struct diag *diag)
{
	struct cursor c = cursor_over(record->payload, record->size);
	uint64_t size = cursor_u64(&c), left = part->end - at;
	uint64_t begin;

	if (size > left) {
		diag_warn(diag, "aux-cut",
			  "the trace data at offset 0x%llx is incomplete: the file has %llu of "
			  "%llu bytes",
			  (unsigned long long)at, (unsigned long long)left,
			  (unsigned long long)size);
		size = left;
	}
	/*
	 * Drop the pages of records before `at`, and of adjacent trace data, because the kernel
	 * also maps pages around each page that is read. Small pieces of trace share a system call.
	 */
	begin = record->offset - part->begin > RECORDS_GIVEN ? record->offset - RECORDS_GIVEN
							     : part->begin;
	if (record->offset / RECORDS_AT_ONCE != (at + size) / RECORDS_AT_ONCE)
		pages_give_back(part->bytes + begin, record->offset - begin);
	record->aux_after = left - size;
	return (struct byte_view){ part->bytes + at, size };
}

/* In a stream, the formats of tracepoints follow the TRACING_DATA record. */
static struct byte_view read_tracing_data(const struct perf_part *part, uint64_t at,
					  const struct perf_record *record)
{
	struct cursor c = cursor_over(record->payload, record->size);
	uint64_t size = (cursor_u32(&c) + 7) & ~7u, left = part->end - at;

	return (struct byte_view){ part->bytes + at, size < left ? size : left };
}

/* Returns the bytes of the record and its data; 0 if it is damaged. */
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
			  "the record at offset 0x%llx is damaged (type %u, size %u): the rest of "
			  "the file is not read",
			  (unsigned long long)at, record->type, size);
		return 0;
	}
	record->payload = c.at;
	record->size = size - RECORD_HEADER_SIZE;
	perf_sample_split_id(file, record);
	if (!record->id.time)
		record->id.time = part->begin_time;
	if (record->type == PERF_USER_AUXTRACE || record->type == PERF_USER_PACKED)
		record->aux = read_aux(part, at + size, record, diag);
	if (record->type == PERF_USER_HEADER_TRACING_DATA)
		record->aux = read_tracing_data(part, at + size, record);
	return size + record->aux.size;
}

static int next_record(const struct perf_file *file, uint64_t *position, struct perf_record *record,
		       struct diag *diag)
{
	const struct perf_part *parts = file->parts;
	size_t i = LOWER_BOUND(k, file->part_count,
			       parts[k].base + perf_part_size(&parts[k]) <= *position);

	for (; i < file->part_count; i++) {
		uint64_t at = parts[i].begin + (*position - parts[i].base);
		uint64_t size =
			at < parts[i].end ? read_record(file, &parts[i], at, record, diag) : 0;

		*position = size ? *position + size : parts[i].base + perf_part_size(&parts[i]);
		if (size)
			return 1;
	}
	return 0;
}

int perf_file_next(const struct perf_file *file, uint64_t *position, struct perf_record *record,
		   struct diag *diag)
{
	while (next_record(file, position, record, diag)) {
		if (perf_record_time_can_be(file, record, diag))
			return 1;
	}
	return 0;
}
