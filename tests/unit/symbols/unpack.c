/* SPDX-License-Identifier: MIT */
/* Sections and modules packed by gzip, xz and zstd, and limits against hostile files. */
#include "symbols/files/unpack.h"

#include <lzma.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <zlib.h>
#include <zstd.h>

#include "tests/support/unit.h"

#define SIZE 300000u /* more than a block of zstd, 128 KiB */

enum packer { PACKER_GZIP, PACKER_XZ, PACKER_ZSTD, PACKERS };

static uint8_t plain[SIZE], packed[SIZE];

/* Fill `packed` and return the number of bytes. */
static size_t pack(enum packer packer)
{
	z_stream gzip = {
		.next_in = plain, .avail_in = SIZE, .next_out = packed, .avail_out = SIZE
	};
	size_t size = 0;

	for (size_t i = 0; i < SIZE; i++)
		plain[i] = (uint8_t)(i * i >> 9);
	switch (packer) {
	case PACKER_GZIP:
		ck_assert_int_eq(deflateInit2(&gzip, 6, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY),
				 Z_OK);
		ck_assert_int_eq(deflate(&gzip, Z_FINISH), Z_STREAM_END);
		size = gzip.total_out;
		deflateEnd(&gzip);
		return size;
	case PACKER_XZ:
		ck_assert_int_eq(lzma_easy_buffer_encode(1, LZMA_CHECK_CRC32, NULL, plain, SIZE,
							 packed, &size, SIZE),
				 LZMA_OK);
		return size;
	default:
		size = ZSTD_compress(packed, SIZE, plain, SIZE, 1);
		ck_assert(!ZSTD_isError(size));
		return size;
	}
}

/* Returns the number of unpacked bytes, which are correct; 0: refused. */
static size_t unpacked(size_t packed_size, size_t limit)
{
	size_t size = 0;
	uint8_t *bytes = unpack_bytes((struct byte_view){ packed, packed_size }, limit, &size);

	if (bytes)
		ck_assert_mem_eq(bytes, plain, size);
	free(bytes);
	return bytes ? size : 0;
}

START_TEST(what_is_packed_comes_out_whole_or_not_at_all)
{
	size_t size = pack((enum packer)_i);

	ck_assert(unpack_is_packed(packed, size));
	ck_assert_uint_eq(unpacked(size, SIZE + 1), SIZE);
	ck_assert_uint_eq(unpacked(size, SIZE / 2), 0);
	ck_assert_uint_eq(unpacked(size / 2, SIZE + 1), 0);
	ck_assert_uint_eq(unpacked(size - 1, SIZE + 1), 0);
	ck_assert_uint_eq(unpacked(3, SIZE + 1), 0);
}
END_TEST

START_TEST(what_is_cut_is_not_tried_with_memory_up_to_the_limit)
{
	size_t size = pack((enum packer)_i);

	ck_assert_uint_eq(unpacked(size - 1, SIZE_MAX / 2), 0);
	ck_assert_uint_eq(unpacked(size / 2, SIZE_MAX / 2), 0);
}
END_TEST

START_TEST(what_is_not_packed_is_not_unpacked)
{
	memcpy(packed, "\177ELF....", 8);
	ck_assert(!unpack_is_packed(packed, 8));
	ck_assert_uint_eq(unpacked(8, SIZE), 0);
}
END_TEST

/* RFC 8878, 3.1.1: the window is 2^(10 + the upper five bits); one raw block, the last one. */
START_TEST(a_frame_with_a_large_window_takes_only_the_memory_of_its_contents)
{
	static const uint8_t frame[] = { 0x28,       0xb5, 0x2f, 0xfd, 0,   (31 - 10) << 3,
					 3 << 3 | 1, 0,    0,    'a',  'b', 'c' };
	struct rusage before, after;

	memcpy(plain, "abc", 3);
	memcpy(packed, frame, sizeof(frame));
	getrusage(RUSAGE_SELF, &before);
	ck_assert_uint_eq(unpacked(sizeof(frame), SIZE), 3);
	getrusage(RUSAGE_SELF, &after);
	ck_assert_int_lt(after.ru_maxrss - before.ru_maxrss, 64 * 1024); /* KiB */
}
END_TEST

/* 256 MiB in 8 KiB: blocks of one byte, repeated 128 Ki times. */
START_TEST(what_is_larger_than_wanted_takes_no_memory)
{
	static const uint8_t header[] = { 0x28, 0xb5, 0x2f, 0xfd, 0, (17 - 10) << 3 };
	static const uint8_t block[] = { 0x02, 0x00, 0x10, 'a' };
	struct rusage before, after;
	size_t size = sizeof(header);

	memcpy(packed, header, size);
	for (int i = 0; i < 2048; i++, size += sizeof(block))
		memcpy(packed + size, block, sizeof(block));
	packed[size - sizeof(block)] |= 1; /* the last one */
	getrusage(RUSAGE_SELF, &before);
	ck_assert_uint_eq(unpacked(size, SIZE), 0);
	getrusage(RUSAGE_SELF, &after);
	ck_assert_int_lt(after.ru_maxrss - before.ru_maxrss, 64 * 1024); /* KiB */
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("unpack");
	TCase *all = tcase_create("unpack");

	tcase_add_loop_test(all, what_is_packed_comes_out_whole_or_not_at_all, 0, PACKERS);
	tcase_add_loop_test(all, what_is_cut_is_not_tried_with_memory_up_to_the_limit, 0, PACKERS);
	tcase_add_test(all, what_is_not_packed_is_not_unpacked);
	tcase_add_test(all, a_frame_with_a_large_window_takes_only_the_memory_of_its_contents);
	tcase_add_test(all, what_is_larger_than_wanted_takes_no_memory);
	suite_add_tcase(suite, all);
	return unit_run(suite);
}
