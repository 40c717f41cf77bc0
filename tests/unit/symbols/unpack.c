/* SPDX-License-Identifier: MIT */
/*
 * Sections and modules packed by gzip, xz and zstd, and limits against hostile files; the entries
 * of ZIP archives.
 */
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

/* ---- ZIP archives -------------------------------------------------------- */

static uint8_t archive[400];
static size_t archive_size;

static void put(uint64_t value, size_t size)
{
	memcpy(archive + archive_size, &value, size);
	archive_size += size;
}

static void put_zeros(size_t size)
{
	memset(archive + archive_size, 0, size);
	archive_size += size;
}

static void put_text(const char *text)
{
	memcpy(archive + archive_size, text, strlen(text));
	archive_size += strlen(text);
}

/* PKWARE's APPNOTE.TXT, 4.3.7. Returns the offset of the header. */
static size_t put_file(const char *name, const char *content, uint16_t extra)
{
	size_t at = archive_size;

	put(0x04034b50, 4);
	put_zeros(14);
	put(strlen(content), 4);
	put(strlen(content), 4);
	put(strlen(name), 2);
	put(extra, 2);
	put_text(name);
	put_zeros(extra);
	put_text(content);
	return at;
}

/* 4.3.12 */
static void put_entry(const char *name, uint16_t method, size_t size, size_t at)
{
	put(0x02014b50, 4);
	put_zeros(6);
	put(method, 2);
	put_zeros(8);
	put(size, 4);
	put(size, 4);
	put(strlen(name), 2);
	put_zeros(12);
	put(at, 4);
	put_text(name);
}

/* Two stored files and a packed one between them. Returns the offset of the last one's content. */
static size_t put_archive(void)
{
	size_t first, second, third, directory;

	archive_size = 0;
	first = put_file("a", "content", 0);
	second = put_file("packed", "xxxx", 0);
	third = put_file("lib/b.so", "other", 11);
	directory = archive_size;
	put_entry("a", 0, 7, first);
	put_entry("packed", 8, 4, second);
	put_entry("lib/b.so", 0, 5, third);
	put(0x06054b50, 4);
	put_zeros(12);
	put(directory, 4);
	put(4, 2);
	put_text("note");
	return directory - 5;
}

START_TEST(a_stored_file_is_found_by_an_offset_in_it)
{
	size_t last = put_archive();
	struct zip_entry entry;

	ck_assert(zip_file_find(archive, archive_size, 31 + 3, &entry));
	ck_assert_uint_eq(entry.begin, 31);
	ck_assert_uint_eq(entry.end, 31 + 7);
	ck_assert(zip_file_find(archive, archive_size, last, &entry));
	ck_assert_uint_eq(entry.begin, last);
	ck_assert_uint_eq(entry.end, last + 5);
	ck_assert_mem_eq(entry.name, "lib/b.so", entry.name_size);
	ck_assert(!zip_file_find(archive, archive_size, 30, &entry));       /* a name */
	ck_assert(!zip_file_find(archive, archive_size, 38 + 36, &entry));  /* packed */
	ck_assert(!zip_file_find(archive, archive_size, last + 5, &entry)); /* the directory */
}
END_TEST

START_TEST(entries_of_damaged_archives_are_in_the_file)
{
	struct zip_entry entry;
	size_t whole;

	put_archive();
	whole = archive_size;
	for (size_t at = 0; at < 2 * whole; at++) {
		size_t size = at < whole ? at : whole;
		uint8_t *copy = malloc(size + !size);

		memcpy(copy, archive, size);
		if (at >= whole)
			copy[at - whole] ^= 0xff;
		for (size_t offset = 0; offset < size; offset += 5)
			if (zip_file_find(copy, size, offset, &entry)) {
				ck_assert_uint_lt(entry.begin, entry.end);
				ck_assert_uint_le(entry.end, size);
			}
		free(copy);
	}
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
	tcase_add_test(all, a_stored_file_is_found_by_an_offset_in_it);
	tcase_add_test(all, entries_of_damaged_archives_are_in_the_file);
	suite_add_tcase(suite, all);
	return unit_run(suite);
}
