/* SPDX-License-Identifier: MIT */
/* Parquet files, read by a small reader of parquet.thrift and Encodings.md. */
#include "src/formats/parquet/parquet_file.h"

#include <unistd.h>
#include <zstd.h>

#include "base/arena.h"
#include "tests/support/unit.h"

static char path[] = "/tmp/ptrace2ftf-parquet-XXXXXX";
static struct arena arena;
static struct name_table names;
static struct output output;
static struct parquet_file file;

/* ---- A reader ------------------------------------------------------------ */

/* A value of Thrift: a number, bytes, a list, or a struct with its fields by id. */
struct value {
	int64_t number;
	const uint8_t *bytes;
	size_t count; /* of bytes, or items */
	struct value *items[16];
	struct value **list;
};

static const uint8_t *bytes;
static size_t size;
static struct value *metadata;

static uint64_t read_varint(const uint8_t **at)
{
	uint64_t value = 0;

	for (unsigned shift = 0;; shift += 7) {
		value |= (uint64_t)(**at & 0x7f) << shift;
		if (!(*(*at)++ & 0x80))
			return value;
	}
}

static int64_t read_zigzag(const uint8_t **at)
{
	uint64_t value = read_varint(at);

	return (int64_t)(value >> 1 ^ (0 - (value & 1)));
}

static struct value *read_value(const uint8_t **at, int type)
{
	struct value *value = arena_alloc(&arena, sizeof(*value));
	int id = 0, head;

	*value = (struct value){ 0 };
	switch (type) {
	case 5:
	case 6:
		value->number = read_zigzag(at);
		break;
	case 8:
		value->count = read_varint(at);
		value->bytes = *at;
		*at += value->count;
		break;
	case 9:
		head = *(*at)++;
		value->count = head >> 4 == 15 ? read_varint(at) : (size_t)head >> 4;
		value->list = arena_alloc(&arena, (value->count + 1) * sizeof(*value->list));
		for (size_t i = 0; i < value->count; i++)
			value->list[i] = read_value(at, head & 15);
		break;
	default:
		ck_assert_int_eq(type, 12);
		while ((head = *(*at)++)) {
			ck_assert_int_ge(head >> 4, 1);
			id += head >> 4;
			ck_assert_int_lt(id, 16);
			value->items[id] = read_value(at, head & 15);
		}
	}
	return value;
}

/* Unpack the page at an offset. Returns its header; the bytes are in the arena. */
static struct value *read_page(uint64_t offset, uint8_t **page)
{
	const uint8_t *at = bytes + offset;
	struct value *header = read_value(&at, 12);
	size_t unpacked = (size_t)header->items[2]->number;

	*page = arena_alloc(&arena, unpacked + 16);
	memset(*page + unpacked, 0, 16);
	ck_assert_uint_eq(ZSTD_decompress(*page, unpacked, at, (size_t)header->items[3]->number),
			  unpacked);
	return header;
}

static uint64_t read_bits(const uint8_t *at, uint64_t first, unsigned width)
{
	uint64_t value = 0;

	for (unsigned i = 0; i < width; i++, first++)
		value |= (uint64_t)(at[first / 8] >> first % 8 & 1) << i;
	return value;
}

static void read_deltas(const uint8_t *at, uint64_t *values, size_t count)
{
	uint64_t block = read_varint(&at), minis = read_varint(&at), each = block / minis;

	ck_assert_uint_eq(block % 128, 0);
	ck_assert_uint_eq(each % 32, 0);
	ck_assert_uint_eq(read_varint(&at), count);
	values[0] = (uint64_t)read_zigzag(&at);
	for (size_t i = 1; i < count;) {
		uint64_t least = (uint64_t)read_zigzag(&at);
		const uint8_t *widths = at;

		at += minis;
		for (size_t mini = 0; mini < minis && i < count; mini++) {
			for (size_t k = 0; k < each && i < count; k++, i++)
				values[i] = values[i - 1] + least +
					    read_bits(at, k * widths[mini], widths[mini]);
			at += each * widths[mini] / 8;
		}
	}
}

/* One run of the hybrid of runs and packed bits. */
static void read_indexes(const uint8_t *at, uint64_t *values, size_t count)
{
	unsigned width = *at++;
	uint64_t head = read_varint(&at);

	ck_assert_uint_ge(head & 1 ? 8 * (head >> 1) : head >> 1, count);
	for (size_t i = 0; i < count; i++)
		values[i] = head & 1 ? read_bits(at, i * width, width)
				     : read_bits(at, 0, (width + 7) / 8 * 8);
}

/* Returns the texts of a dictionary. */
static const uint8_t **read_texts(const uint8_t *page, size_t count)
{
	const uint8_t **texts = arena_alloc(&arena, count * sizeof(*texts));

	for (size_t i = 0; i < count; i++) {
		uint32_t length;

		texts[i] = page;
		memcpy(&length, page, sizeof(length));
		page += sizeof(length) + length;
	}
	return texts;
}

static struct value *chunk_of(size_t group, size_t column)
{
	return metadata->items[4]->list[group]->items[1]->list[column]->items[3];
}

/* Read a column: values, or addresses of texts after their lengths. */
static uint64_t *read_column(size_t column)
{
	size_t rows = (size_t)metadata->items[3]->number, at = 0;
	uint64_t *values = arena_alloc(&arena, (rows + 1) * sizeof(*values));

	for (size_t group = 0; group < metadata->items[4]->count; group++) {
		struct value *chunk = chunk_of(group, column);
		size_t count = (size_t)chunk->items[5]->number;
		bool text = chunk->items[1]->number == 6;
		uint8_t *page, *known = NULL;
		struct value *header = NULL;

		ck_assert_int_eq(chunk->items[4]->number, 6);
		if (chunk->items[11]) {
			header = read_page((uint64_t)chunk->items[11]->number, &known);
			ck_assert_int_eq(header->items[1]->number, 2);
		}
		ck_assert_uint_eq((uint64_t)read_page((uint64_t)chunk->items[9]->number, &page)
					  ->items[5]
					  ->items[1]
					  ->number,
				  count);
		if (!known) {
			read_deltas(page, values + at, count);
		} else {
			size_t distinct = (size_t)header->items[7]->items[1]->number;
			const uint8_t **texts = text ? read_texts(known, distinct) : NULL;

			read_indexes(page, values + at, count);
			for (size_t i = at; i < at + count; i++) {
				ck_assert_uint_lt(values[i], distinct);
				if (text)
					values[i] = (uint64_t)(uintptr_t)texts[values[i]];
				else
					memcpy(&values[i], known + 8 * values[i], 8);
			}
		}
		at += count;
	}
	ck_assert_uint_eq(at, rows);
	return values;
}

/* ---- Files --------------------------------------------------------------- */

static void open_file(const char *columns)
{
	struct error err = { 0 };

	name_table_init(&names);
	close(mkstemp(path));
	ck_assert_int_eq(output_open(&output, path, &err), 0);
	parquet_open(&file, &output, columns);
}

static void read_file(void)
{
	struct error err = { 0 };
	uint32_t length;
	const uint8_t *at;
	FILE *in;

	parquet_finish(&file);
	parquet_release(&file);
	ck_assert_int_eq(output_close(&output, &err), 0);
	in = fopen(path, "r");
	fseek(in, 0, SEEK_END);
	size = (size_t)ftell(in);
	rewind(in);
	bytes = arena_alloc(&arena, size);
	ck_assert_uint_eq(fread((uint8_t *)bytes, 1, size, in), size);
	fclose(in);
	unlink(path);
	ck_assert_int_eq(memcmp(bytes, "PAR1", 4), 0);
	ck_assert_int_eq(memcmp(bytes + size - 4, "PAR1", 4), 0);
	memcpy(&length, bytes + size - 8, sizeof(length));
	at = bytes + size - 8 - length;
	metadata = read_value(&at, 12);
	ck_assert_ptr_eq(at, bytes + size - 8);
}

static void release(void)
{
	arena_release(&arena);
	name_table_release(&names);
}

static uint64_t random_number(void)
{
	static uint64_t state = 1;

	state = state * UINT64_C(6364136223846793005) + 1442695040888963407;
	return state ^ state >> 29;
}

/* Bounds of each group's values are exact. */
static void check_bounds(size_t column, const int64_t *values)
{
	for (size_t group = 0, at = 0; group < metadata->items[4]->count; group++) {
		struct value *chunk = chunk_of(group, column);
		size_t count = (size_t)chunk->items[5]->number;
		int64_t least = values[at], most = values[at];

		for (size_t i = at; i < at + count; i++) {
			least = MIN(least, values[i]);
			most = MAX(most, values[i]);
		}
		ck_assert_int_eq(memcmp(chunk->items[12]->items[5]->bytes, &most, 8), 0);
		ck_assert_int_eq(memcmp(chunk->items[12]->items[6]->bytes, &least, 8), 0);
		at += count;
	}
}

/* Steps of up to so many bits, in both directions, and now and then the extremes. */
static void check_numbers(size_t rows, unsigned bits)
{
	uint64_t *values = alloc_zeroed(rows, sizeof(*values)), *read;

	open_file("a b#");
	for (size_t i = 0; i < rows; i++) {
		uint64_t step = bits ? random_number() >> (64 - bits) : 0;

		values[i] = (i ? values[i - 1] : 7) + step - (bits ? UINT64_C(1) << (bits - 1) : 0);
		if (bits > 60 && i % 5 == 0)
			values[i] = i % 2 ? (uint64_t)INT64_MAX : (uint64_t)INT64_MIN;
		parquet_add(&file, (uint64_t[]){ values[i], values[i / 3] });
	}
	read_file();
	ck_assert_uint_eq((uint64_t)metadata->items[3]->number, rows);
	read = read_column(0);
	for (size_t i = 0; i < rows; i++)
		ck_assert_uint_eq(read[i], values[i]);
	check_bounds(0, (int64_t *)values);
	read = read_column(1);
	for (size_t i = 0; i < rows; i++)
		ck_assert_uint_eq(read[i], values[i / 3]);
	free(values);
	release();
}

START_TEST(numbers_of_any_width_are_read_back)
{
	for (unsigned bits = 0; bits <= 64; bits++)
		check_numbers(300, bits);
}
END_TEST

START_TEST(any_number_of_rows_is_read_back)
{
	static const size_t counts[] = { 1,  2,   7,   8,   9,   32,    33,
					 34, 128, 129, 130, 257, 65536, 131077 };

	for (size_t i = 0; i < COUNT_OF(counts); i++)
		check_numbers(counts[i], 9);
	/* No group has more rows than memory was made for. */
	check_numbers(65537, 0);
}
END_TEST

START_TEST(a_table_without_rows_has_its_columns)
{
	open_file("recording$ id key#");
	read_file();
	ck_assert_int_eq(metadata->items[3]->number, 0);
	ck_assert_uint_eq(metadata->items[2]->count, 4);
	ck_assert_int_eq(metadata->items[2]->list[0]->items[5]->number, 3);
	ck_assert_int_eq(metadata->items[2]->list[1]->items[1]->number, 6);
	ck_assert_int_eq(metadata->items[2]->list[2]->items[1]->number, 2);
	ck_assert_int_eq(memcmp(metadata->items[2]->list[3]->items[4]->bytes, "key", 3), 0);
	ck_assert_uint_eq(metadata->items[7]->count, 3);
	release();
}
END_TEST

static void expect_text(uint64_t read, const char *text)
{
	const uint8_t *at = (const uint8_t *)(uintptr_t)read;
	uint32_t length;

	memcpy(&length, at, sizeof(length));
	ck_assert_uint_eq(length, strlen(text));
	ck_assert_int_eq(memcmp(at + sizeof(length), text, length), 0);
}

START_TEST(texts_are_utf8_whatever_a_recording_has)
{
	static const char *const texts[] = { "f", "", "\xc3\xa9",
					     "a\xff"
					     "b\"\\\n",
					     "f" };
	uint64_t *read;

	open_file("text$");
	for (size_t i = 0; i < COUNT_OF(texts); i++)
		parquet_add(&file, (uint64_t[]){ (uintptr_t)name_intern_text(&names, texts[i]) });
	parquet_add(&file, (uint64_t[]){ 0 });
	read_file();
	read = read_column(0);
	expect_text(read[0], "f");
	expect_text(read[1], "");
	expect_text(read[2], "\xc3\xa9");
	expect_text(read[3], "a\xef\xbf\xbd"
			     "b\"\\\n");
	expect_text(read[4], "f");
	expect_text(read[5], "");
	ck_assert_uint_eq(read[0], read[4]); /* each text is stored once */
	release();
}
END_TEST

/* 2,000 names of 30,000 bytes are 60 MB: the page of a group has some 16 MB of them. */
START_TEST(long_texts_end_a_group)
{
	static char text[30001];

	open_file("text$ number");
	memset(text, 'x', sizeof(text) - 1);
	for (uint64_t i = 0; i < 2000; i++) {
		sprintf(text, "%07" PRIu64, i);
		text[7] = 'x';
		parquet_add(&file, (uint64_t[]){ (uintptr_t)name_intern_text(&names, text), i });
	}
	ck_assert_uint_lt(file.page_room, (size_t)160 << 20);
	read_file();
	ck_assert_uint_ge(metadata->items[4]->count, 3);
	sprintf(text, "%07d", 1999);
	text[7] = 'x';
	expect_text(read_column(0)[1999], text);
	release();
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("parquet_file");
	TCase *tests = tcase_create("parquet_file");

	tcase_add_test(tests, numbers_of_any_width_are_read_back);
	tcase_add_test(tests, any_number_of_rows_is_read_back);
	tcase_add_test(tests, a_table_without_rows_has_its_columns);
	tcase_add_test(tests, texts_are_utf8_whatever_a_recording_has);
	tcase_add_test(tests, long_texts_end_a_group);
	suite_add_tcase(suite, tests);
	return unit_run(suite);
}
