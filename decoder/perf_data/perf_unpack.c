/* SPDX-License-Identifier: MIT */
/*
 * Unpack the records of perf record -z: the payloads of a file's COMPRESSED and COMPRESSED2 records
 * are one Zstandard stream (tools/perf/util/zstd.c and perf's event.h).
 */
#include <zstd.h>

#include "base/io/temp_file.h"
#include "decoder/perf_data/perf_file.h"

/* Sideband records grow about tenfold; a hostile file could fill the disk. */
#define GROWTH_MAX  256
#define GROWTH_FREE ((uint64_t)1 << 20)

#define CHUNK ((size_t)128 * 1024)

struct record_unpacker {
	ZSTD_DStream *zstd; /* owned */
	struct temp_file file;
	uint8_t *chunk;  /* owned: CHUNK bytes */
	uint64_t packed; /* bytes read */
};

static struct byte_view payload_of(const struct perf_record *record)
{
	struct cursor c = cursor_over(record->payload, record->size);
	uint64_t size = record->size;

	/* COMPRESSED2 starts with the payload's size, and pads the payload to 8 bytes. */
	if (record->type == PERF_USER_COMPRESSED2)
		size = cursor_u64(&c);
	size = MIN(size, cursor_left(&c));
	return (struct byte_view){ c.at, size };
}

static int unpack_payload(struct record_unpacker *unpacker, struct byte_view payload,
			  struct error *err)
{
	ZSTD_inBuffer in = { payload.bytes, payload.size, 0 };
	ZSTD_outBuffer out = { unpacker->chunk, CHUNK, 0 };
	size_t status;

	unpacker->packed += payload.size;
	do {
		out.pos = 0;
		errno = 0;
		status = ZSTD_decompressStream(unpacker->zstd, &out, &in);
		if (ZSTD_isError(status)) {
			alloc_check();
			return error_set(err, ERROR_FORMAT, "%s", ZSTD_getErrorName(status));
		}
		if (unpacker->file.size + out.pos > GROWTH_FREE + GROWTH_MAX * unpacker->packed)
			return error_set(err, ERROR_LIMIT,
					 "more than %llu times as much when unpacked",
					 (unsigned long long)GROWTH_MAX);
		if (temp_file_write(&unpacker->file, out.dst, out.pos, err) < 0)
			return -1;
	} while (in.pos < in.size || out.pos == out.size);
	return 0;
}

static int open_unpacker(struct record_unpacker *unpacker, struct error *err)
{
	if (unpacker->zstd)
		return 0;
	if (temp_file_open(&unpacker->file, err) < 0)
		return -1;
	unpacker->zstd = ALLOC_CHECKED(ZSTD_createDStream());
	unpacker->chunk = alloc_zeroed(1, CHUNK);
	return unpacker->zstd ? 0 : error_set(err, ERROR_LIBRARY, "no memory for zstd");
}

static void unpack_records(struct record_unpacker *unpacker, const struct perf_file *file,
			   const struct perf_part *part, struct diag *diag)
{
	uint64_t position = part->base, end = part->base + (part->end - part->begin), at;
	struct perf_record record;
	struct error err = { 0 };

	for (at = position; at < end && perf_file_next(file, &position, &record, NULL);
	     at = position) {
		if (record.type != PERF_USER_COMPRESSED && record.type != PERF_USER_COMPRESSED2)
			continue;
		if (open_unpacker(unpacker, &err) == 0 &&
		    unpack_payload(unpacker, payload_of(&record), &err) == 0)
			continue;
		diag_warn(diag, "compressed",
			  "cannot unpack the compressed record at offset 0x%llx: %s; later threads "
			  "and mappings may be missing",
			  (unsigned long long)record.offset, err.text);
		return;
	}
}

struct byte_view perf_parts_unpack(const struct perf_file *file, size_t part, struct diag *diag)
{
	struct record_unpacker unpacker = { 0 };
	struct byte_view bytes = { 0 };
	struct error err = { 0 };

	unpack_records(&unpacker, file, &file->parts[part], diag);
	if (unpacker.file.size) {
		bytes.bytes = temp_file_map(&unpacker.file, &err);
		bytes.size = unpacker.file.size;
	}
	if (err.kind)
		diag_warn(diag, "compressed", "compressed records: %s", err.text);
	ZSTD_freeDStream(unpacker.zstd);
	free(unpacker.chunk);
	temp_file_close(&unpacker.file);
	return bytes;
}
