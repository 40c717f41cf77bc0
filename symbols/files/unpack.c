/* SPDX-License-Identifier: MIT */
/* Unpacks xz, zstd and gzip, each in one call, into memory that grows until all fits. */
#include "symbols/files/unpack.h"

#include <elf.h>
#include <libdeflate.h>
#include <lzma.h>
#include <zstd.h>
#include <zstd_errors.h>

/* xz -9 needs 65 MiB to unpack; a file that needs more is hostile. */
#define XZ_MEMORY ((uint64_t)96 << 20)

/* Kernel modules and symbol tables compress to a fifth of their size, or more. */
#define GROWTH 8

/* From Linux's elf.h of 2022. */
#ifndef ELFCOMPRESS_ZSTD
#define ELFCOMPRESS_ZSTD 2
#endif

/* The unpack_...() functions return the unpacked size, 0 for damage, or: */
#define NO_ROOM SIZE_MAX

static size_t unpack_xz(struct byte_view packed, uint8_t *bytes, size_t room)
{
	lzma_stream stream = LZMA_STREAM_INIT;
	lzma_ret status = lzma_stream_decoder(&stream, XZ_MEMORY, 0);

	stream.next_in = packed.bytes;
	stream.avail_in = packed.size;
	stream.next_out = bytes;
	stream.avail_out = room;
	if (status == LZMA_OK)
		status = lzma_code(&stream, LZMA_FINISH);
	lzma_end(&stream);
	if (status == LZMA_STREAM_END)
		return stream.total_out;
	return status == LZMA_OK && !stream.avail_out ? NO_ROOM : 0;
}

static size_t unpack_zstd(struct byte_view packed, uint8_t *bytes, size_t room)
{
	size_t size = ZSTD_decompress(bytes, room, packed.bytes, packed.size);

	if (!ZSTD_isError(size))
		return size;
	return ZSTD_getErrorCode(size) == ZSTD_error_dstSize_tooSmall ? NO_ROOM : 0;
}

typedef enum libdeflate_result deflate_form(struct libdeflate_decompressor *decompressor,
					    const void *in, size_t in_size, void *out,
					    size_t out_size, size_t *size);

static size_t unpack_deflate(deflate_form *form, struct byte_view packed, uint8_t *bytes,
			     size_t room)
{
	struct libdeflate_decompressor *decompressor =
		ALLOC_CHECKED(libdeflate_alloc_decompressor());
	size_t size = 0;
	enum libdeflate_result result =
		form(decompressor, packed.bytes, packed.size, bytes, room, &size);

	libdeflate_free_decompressor(decompressor);
	if (result == LIBDEFLATE_SUCCESS)
		return size;
	return result == LIBDEFLATE_INSUFFICIENT_SPACE ? NO_ROOM : 0;
}

static size_t unpack_gzip(struct byte_view packed, uint8_t *bytes, size_t room)
{
	return unpack_deflate(libdeflate_gzip_decompress, packed, bytes, room);
}

static const struct packing {
	uint8_t start[6];
	size_t start_size;
	size_t (*unpack)(struct byte_view packed, uint8_t *bytes, size_t room);
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

uint8_t *unpack_bytes(struct byte_view packed, size_t limit, size_t *size)
{
	const struct packing *packing = find_packing(packed.bytes, packed.size);
	size_t room = packed.size;
	uint8_t *bytes = NULL;

	errno = 0;
	/* Larger memory does not repair damage, and may exceed the system's. */
	for (*size = packing ? NO_ROOM : 0; *size == NO_ROOM && room < limit;) {
		room = room < limit / GROWTH ? room * GROWTH : limit;
		free(bytes);
		bytes = alloc_bytes(room);
		*size = packing->unpack(packed, bytes, room);
	}
	if (*size && *size != NO_ROOM)
		return bytes;
	alloc_check();
	free(bytes);
	return NULL;
}

bool unpack_whole(uint32_t type, struct byte_view packed, uint8_t *bytes, size_t size)
{
	switch (type) {
	case ELFCOMPRESS_ZLIB:
		return unpack_deflate(libdeflate_zlib_decompress, packed, bytes, size) == size;
	case ELFCOMPRESS_ZSTD:
		return unpack_zstd(packed, bytes, size) == size;
	default:
		return false;
	}
}
