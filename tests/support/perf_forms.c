/* SPDX-License-Identifier: MIT */
#include "tests/support/perf_forms.h"

#include <stdlib.h>
#include <string.h>
#include <zstd.h>

#include "base/alloc.h"

enum {
	RECORD_HEADER = 8,
	RECORD_USER = 64, /* the first of perf itself */
	RECORD_ATTR = 64,
	RECORD_AUXTRACE = 71,
	RECORD_FEATURE = 80,
	RECORD_COMPRESSED = 81,
	FEATURE_COMPRESSED = 27,
	PIECE = 80, /* bytes of kernel records that are compressed together */
};

struct bytes {
	uint8_t *at; /* owned */
	size_t size, room;
};

static void put(struct bytes *out, const void *bytes, size_t size)
{
	out->at = alloc_grow(out->at, &out->room, out->size + size + 1, 1);
	memcpy(out->at + out->size, bytes, size);
	out->size += size;
}

static void put_header(struct bytes *out, uint32_t type, size_t payload)
{
	uint16_t rest[2] = { 0, (uint16_t)(RECORD_HEADER + payload) };

	put(out, &type, sizeof(type));
	put(out, rest, sizeof(rest));
}

/* struct perf_record_header_feature: the number, then the section's bytes. */
static void put_features(struct bytes *out, const struct perf_data *data)
{
	for (uint64_t i = 0; i < PERF_DATA_FEATURES; i++) {
		const struct perf_data_buffer *section = &data->features[i];

		if (!section->size)
			continue;
		put_header(out, RECORD_FEATURE, 8 + section->size);
		put(out, &i, sizeof(i));
		put(out, section->bytes, section->size);
	}
}

/* struct perf_record_header_attr: the attribute, then the ids. */
static void put_attrs(struct bytes *out, const struct perf_data *data)
{
	for (unsigned i = 0; i < data->event_count; i++) {
		struct perf_event_attr attr = data->events[i].attr;

		attr.size = sizeof(attr);
		put_header(out, RECORD_ATTR, sizeof(attr) + PERF_DATA_IDS * 8);
		put(out, &attr, sizeof(attr));
		for (uint64_t k = 0; k < PERF_DATA_IDS; k++) {
			uint64_t id = data->events[i].first_id + k;

			put(out, &id, sizeof(id));
		}
	}
}

uint8_t *perf_forms_stream(const struct perf_data *data, size_t *size)
{
	struct bytes out = { 0 };

	put(&out, "PERFILE2\20\0\0\0\0\0\0\0", 16);
	put_features(&out, data);
	put_attrs(&out, data);
	put(&out, data->records.bytes, data->records.size);
	*size = out.size;
	return out.at;
}

static uint32_t type_of(const uint8_t *record)
{
	uint32_t type;

	memcpy(&type, record, sizeof(type));
	return type;
}

/* The size of a record with its trace data. */
static size_t size_of(const uint8_t *record)
{
	uint64_t data = 0;
	uint16_t size;

	memcpy(&size, record + 6, sizeof(size));
	if (type_of(record) == RECORD_AUXTRACE)
		memcpy(&data, record + RECORD_HEADER, sizeof(data));
	return size + data;
}

static void put_compressed(struct bytes *out, uint32_t type, const ZSTD_outBuffer *packed)
{
	uint64_t size = packed->pos;
	size_t padding = (8 - size % 8) % 8;

	if (type == RECORD_COMPRESSED) {
		put_header(out, type, size);
		put(out, packed->dst, size);
		return;
	}
	put_header(out, type, 8 + size + padding);
	put(out, &size, sizeof(size));
	put(out, packed->dst, size);
	put(out, "\0\0\0\0\0\0\0", padding);
}

/* Each piece is flushed, as perf does at the end of each round. */
static void compress(struct bytes *out, const struct bytes *kernel, uint32_t type)
{
	ZSTD_CStream *zstd = ZSTD_createCStream();
	char packed[4096];

	ZSTD_initCStream(zstd, 1);
	for (size_t at = 0; at < kernel->size; at += PIECE) {
		size_t left = kernel->size - at;
		ZSTD_inBuffer piece = { kernel->at + at, left < PIECE ? left : PIECE, 0 };
		ZSTD_outBuffer to = { packed, sizeof(packed), 0 };

		if (ZSTD_isError(ZSTD_compressStream(zstd, &to, &piece)) ||
		    ZSTD_flushStream(zstd, &to) != 0)
			abort();
		put_compressed(out, type, &to);
	}
	ZSTD_freeCStream(zstd);
}

/* The index of trace data has the offsets and sizes of their records. */
static void put_index(struct bytes *index, uint64_t at, const uint8_t *record)
{
	uint16_t size;

	memcpy(&size, record + 6, sizeof(size));
	put(index, &at, sizeof(at));
	put(index, (uint64_t[]){ size }, sizeof(uint64_t));
}

void perf_forms_compress(struct perf_data *data, uint32_t type)
{
	static const uint32_t feature[] = { 1, 1, 1, 2,
					    512 * 1024 }; /* version, zstd, level, ratio, mmap */
	struct bytes kernel = { 0 }, out = { 0 }, index = { 0 };

	for (size_t at = 0; at < data->records.size; at += size_of(data->records.bytes + at)) {
		const uint8_t *record = data->records.bytes + at;

		if (type_of(record) == RECORD_AUXTRACE)
			put_index(&index, out.size, record);
		put(type_of(record) < RECORD_USER ? &kernel : &out, record, size_of(record));
	}
	compress(&out, &kernel, type);
	free(kernel.at);
	free(data->records.bytes);
	free(data->aux_index.bytes);
	data->aux_index = (struct perf_data_buffer){ index.at, index.size, index.room };
	data->records = (struct perf_data_buffer){ out.at, out.size, out.room };
	perf_data_set_feature(data, FEATURE_COMPRESSED, feature, sizeof(feature));
}
