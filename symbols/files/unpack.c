/* SPDX-License-Identifier: MIT */
/* Unpacks xz, zstd and gzip into memory that grows up to a limit, and sections of a known size. */
#include "symbols/files/unpack.h"

#include <elf.h>
#include <libdeflate.h>
#include <lzma.h>
#include <zlib.h>
#include <zstd.h>

/* xz -9 needs 65 MiB to unpack; a file that needs more is hostile. */
#define XZ_MEMORY ((uint64_t)96 << 20)
/* The same for zstd, by its window: 64 MiB.  zstd -19 uses 8 MiB. */
#define ZSTD_WINDOW_LOG 26
#define GZIP_ONLY       (15 + 16) /* windowBits of inflateInit2() */

/* The packed bytes, and the unpacked bytes so far. */
struct unpacking {
	const uint8_t *packed;
	size_t packed_size;
	uint8_t *bytes; /* owned */
	size_t size, room, limit;
};

/* Grow a full buffer by the size of the packed bytes, at least to twice its size. */
static bool grow_bytes(struct unpacking *out)
{
	if (out->size >= out->limit)
		return false;
	if (out->size == out->room)
		out->bytes = alloc_grow(out->bytes, &out->room, out->size + out->packed_size, 1);
	return true;
}

/* The unpack_...() functions return whether the packed bytes are complete. */

static bool unpack_xz(struct unpacking *out)
{
	lzma_stream stream = LZMA_STREAM_INIT;
	lzma_ret status = lzma_stream_decoder(&stream, XZ_MEMORY, 0);

	stream.next_in = out->packed;
	stream.avail_in = out->packed_size;
	while (status == LZMA_OK && grow_bytes(out)) {
		stream.next_out = out->bytes + out->size;
		stream.avail_out = out->room - out->size;
		status = lzma_code(&stream, LZMA_FINISH);
		out->size = stream.total_out;
	}
	lzma_end(&stream);
	return status == LZMA_STREAM_END;
}

static bool unpack_zstd(struct unpacking *out)
{
	ZSTD_DCtx *context = ZSTD_createDCtx();
	ZSTD_inBuffer in = { out->packed, out->packed_size, 0 };
	size_t status = 1, before = SIZE_MAX;

	if (!context)
		alloc_fail(0);
	ZSTD_DCtx_setParameter(context, ZSTD_d_windowLogMax, ZSTD_WINDOW_LOG);
	/* Without progress the file is cut. */
	while (status && !ZSTD_isError(status) && before != in.pos + out->size && grow_bytes(out)) {
		ZSTD_outBuffer buffer = { out->bytes, out->room, out->size };

		before = in.pos + out->size;
		status = ZSTD_decompressStream(context, &buffer, &in);
		out->size = buffer.pos;
	}
	ZSTD_freeDCtx(context);
	return status == 0;
}

static bool unpack_gzip(struct unpacking *out)
{
	z_stream stream = { .next_in = (z_const Bytef *)out->packed,
			    .avail_in = (uInt)out->packed_size };
	int status;

	if (out->packed_size > UINT32_MAX || inflateInit2(&stream, GZIP_ONLY) != Z_OK)
		return false;
	do {
		size_t left;

		if (!grow_bytes(out))
			break;
		left = out->room - out->size;
		stream.next_out = out->bytes + out->size;
		stream.avail_out = left > UINT32_MAX ? UINT32_MAX : (uInt)left;
		status = inflate(&stream, Z_NO_FLUSH);
		out->size = stream.total_out;
	} while (status == Z_OK);
	inflateEnd(&stream);
	return status == Z_STREAM_END;
}

static const struct packing {
	uint8_t start[6];
	size_t start_size;
	bool (*unpack)(struct unpacking *out);
} packings[] = {
	{ { 0xfd, '7', 'z', 'X', 'Z', 0 }, 6, unpack_xz },
	{ { 0x28, 0xb5, 0x2f, 0xfd }, 4, unpack_zstd },
	{ { 0x1f, 0x8b, 8 }, 3, unpack_gzip },
};

static const struct packing *find_packing(const uint8_t *bytes, size_t size)
{
	for (size_t i = 0; i < COUNT_OF(packings); i++) {
		if (size >= packings[i].start_size &&
		    memcmp(bytes, packings[i].start, packings[i].start_size) == 0)
			return &packings[i];
	}
	return NULL;
}

bool unpack_is_packed(const uint8_t *bytes, size_t size)
{
	return find_packing(bytes, size);
}

uint8_t *unpack_bytes(const uint8_t *packed, size_t packed_size, size_t limit, size_t *size)
{
	const struct packing *packing = find_packing(packed, packed_size);
	struct unpacking out = { .packed = packed, .packed_size = packed_size, .limit = limit };

	errno = 0;
	if (packing && packing->unpack(&out) && out.size && out.size <= limit) {
		*size = out.size;
		return out.bytes;
	}
	alloc_check();
	free(out.bytes);
	return NULL;
}

/* Of Linux's elf.h of 2022. */
#ifndef ELFCOMPRESS_ZSTD
#define ELFCOMPRESS_ZSTD 2
#endif

static bool unpack_zlib(struct byte_view packed, uint8_t *bytes, size_t size)
{
	struct libdeflate_decompressor *decompressor =
		ALLOC_CHECKED(libdeflate_alloc_decompressor());
	bool done = libdeflate_zlib_decompress(decompressor, packed.bytes, packed.size, bytes, size,
					       NULL) == LIBDEFLATE_SUCCESS;

	libdeflate_free_decompressor(decompressor);
	return done;
}

bool unpack_whole(uint32_t type, struct byte_view packed, uint8_t *bytes, size_t size)
{
	switch (type) {
	case ELFCOMPRESS_ZLIB:
		return unpack_zlib(packed, bytes, size);
	case ELFCOMPRESS_ZSTD:
		return ZSTD_decompress(bytes, size, packed.bytes, packed.size) == size;
	default:
		return false;
	}
}
