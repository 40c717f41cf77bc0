/* SPDX-License-Identifier: MIT */
/*
 * Unpack the records of perf record -z: the payloads of a file's COMPRESSED and COMPRESSED2 records
 * are one Zstandard stream (tools/perf/util/zstd.c and perf's event.h). Unpack whole recordings,
 * too: gzip (RFC 1952, also several members) and Zstandard (RFC 8878, also several frames).
 */
#include <sys/mman.h>
#define ZLIB_CONST
#include <zlib.h>
#include <zstd.h>

#include "base/budget.h"
#include "base/io/temp_file.h"
#include "decoder/perf_data/perf_file.h"

/* Records grow about tenfold; a hostile file could fill the disk. */
#define GROWTH_MAX  INPUT_UNPACK_FACTOR
#define GROWTH_FREE ((uint64_t)1 << 20)

#define CHUNK ((size_t)128 * 1024)

#define GZIP_ONLY (15 + 16) /* windowBits of inflateInit2(): the largest window, gzip header */

struct record_unpacker {
	ZSTD_DStream *zstd; /* owned */
	z_stream gzip;      /* owned, if is_gzip */
	bool is_gzip;
	struct temp_file file;
	uint8_t *chunk;  /* owned: CHUNK bytes */
	uint64_t packed; /* bytes read */
	uint64_t room;   /* bytes that any input may take; 0: GROWTH_FREE */
	bool whole;      /* the last member or frame is complete */
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

/* Unpack one output buffer. Returns NULL, or the text of an error. */
static const char *unpack_zstd(struct record_unpacker *unpacker, ZSTD_inBuffer *in,
			       ZSTD_outBuffer *out)
{
	size_t status = ZSTD_decompressStream(unpacker->zstd, out, in);

	unpacker->whole = !status;
	return ZSTD_isError(status) ? ZSTD_getErrorName(status) : NULL;
}

static const char *unpack_gzip(struct record_unpacker *unpacker, ZSTD_inBuffer *in,
			       ZSTD_outBuffer *out)
{
	z_stream *gzip = &unpacker->gzip;
	size_t given = MIN(in->size - in->pos, (size_t)UINT32_MAX);
	int status;

	gzip->next_in = (const uint8_t *)in->src + in->pos;
	gzip->avail_in = (uInt)given;
	gzip->next_out = out->dst;
	gzip->avail_out = (uInt)out->size;
	status = inflate(gzip, Z_NO_FLUSH);
	in->pos += given - gzip->avail_in;
	out->pos = out->size - gzip->avail_out;
	unpacker->whole = status == Z_STREAM_END;
	if (unpacker->whole)
		inflateReset(gzip);
	return status < 0 && status != Z_BUF_ERROR ? zError(status) : NULL;
}

static int unpack_payload(struct record_unpacker *unpacker, struct byte_view payload,
			  struct error *err)
{
	ZSTD_inBuffer in = { payload.bytes, payload.size, 0 };
	ZSTD_outBuffer out = { unpacker->chunk, CHUNK, 0 };
	const char *wrong;

	unpacker->packed += payload.size;
	do {
		out.pos = 0;
		errno = 0;
		wrong = (unpacker->is_gzip ? unpack_gzip : unpack_zstd)(unpacker, &in, &out);
		if (wrong) {
			alloc_check();
			return error_set(err, ERROR_FORMAT, "%s", wrong);
		}
		if (unpacker->file.size + out.pos >
		    MAX(unpacker->room, GROWTH_FREE) + GROWTH_MAX * unpacker->packed)
			return error_set(err, ERROR_LIMIT,
					 "more than %llu times as much when unpacked",
					 (unsigned long long)GROWTH_MAX);
		if (temp_file_write(&unpacker->file, out.dst, out.pos, err) < 0)
			return -1;
	} while (in.pos < in.size || (out.pos == out.size && !unpacker->whole));
	return 0;
}

static int open_unpacker(struct record_unpacker *unpacker, struct error *err)
{
	if (unpacker->zstd)
		return 0;
	if (temp_file_open(&unpacker->file, err) < 0)
		return -1;
	unpacker->chunk = alloc_zeroed(1, CHUNK);
	unpacker->zstd = ALLOC_CHECKED(ZSTD_createDStream());
	if (!unpacker->zstd ||
	    (unpacker->is_gzip && inflateInit2(&unpacker->gzip, GZIP_ONLY) != Z_OK))
		return error_set(err, ERROR_LIBRARY, "no memory to unpack");
	return 0;
}

static void close_unpacker(struct record_unpacker *unpacker)
{
	if (unpacker->is_gzip)
		inflateEnd(&unpacker->gzip);
	ZSTD_freeDStream(unpacker->zstd);
	free(unpacker->chunk);
	temp_file_close(&unpacker->file);
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
	close_unpacker(&unpacker);
	return bytes;
}

static bool begins_with(struct byte_view bytes, const char *start, size_t size)
{
	return bytes.size >= size && memcmp(bytes.bytes, start, size) == 0;
}

/* Returns whether bytes are packed, and by what. */
static bool find_packer(struct record_unpacker *unpacker, struct byte_view packed)
{
	unpacker->is_gzip = begins_with(packed, "\x1f\x8b\x08", 3);
	return unpacker->is_gzip || begins_with(packed, "\x28\xb5\x2f\xfd", 4);
}

size_t perf_input_peek(struct byte_view packed, uint8_t *begin, size_t size)
{
	struct record_unpacker unpacker = { 0 };
	ZSTD_inBuffer in = { packed.bytes, packed.size, 0 };
	ZSTD_outBuffer out = { begin, size, 0 };

	if (find_packer(&unpacker, packed) && open_unpacker(&unpacker, NULL) == 0)
		(unpacker.is_gzip ? unpack_gzip : unpack_zstd)(&unpacker, &in, &out);
	close_unpacker(&unpacker);
	return out.pos;
}

int perf_input_unpack(struct byte_view *bytes, struct diag *diag, struct error *err)
{
	struct record_unpacker unpacker = { .room = INPUT_UNPACK_START };
	struct byte_view packed = *bytes;
	struct error damage = { 0 };

	if (!find_packer(&unpacker, packed))
		return 0;
	*bytes = (struct byte_view){ 0 };
	if (open_unpacker(&unpacker, &damage) == 0 &&
	    unpack_payload(&unpacker, packed, &damage) == 0 && !unpacker.whole)
		error_set(&damage, ERROR_FORMAT, "its end is missing");
	munmap((void *)packed.bytes, packed.size);
	if (unpacker.file.size && damage.kind != ERROR_SYSTEM) {
		bytes->bytes = temp_file_map(&unpacker.file, &damage);
		bytes->size = unpacker.file.size;
	}
	if (bytes->bytes && damage.kind)
		diag_warn(diag, "compressed",
			  "cannot unpack the whole recording: %s; the rest is left out",
			  damage.text);
	close_unpacker(&unpacker);
	return bytes->bytes ? 0 : error_set(err, damage.kind, "cannot unpack: %s", damage.text);
}
