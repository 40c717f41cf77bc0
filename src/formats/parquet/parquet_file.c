/* SPDX-License-Identifier: MIT */
/* Columns as pages, and the metadata in Thrift's compact protocol (thrift-compact-protocol.md). */
#include "src/formats/parquet/parquet_file.h"

#include <zstd.h>

#include "base/tables/pair_table.h"
#include "config.h"
#include "src/formats/text/any_text.h"

/* Rows and bytes of texts of a group. */
#define GROUP_ROWS  ((size_t)1 << 16)
#define GROUP_TEXTS ((size_t)16 << 20)

#define ZSTD_LEVEL 1

static const char magic[] = "PAR1";

/* Numbers of parquet.thrift. */
enum {
	TYPE_INT64 = 2,
	TYPE_BYTE_ARRAY = 6,
	PLAIN = 0,
	RLE = 3,
	DELTA_BINARY_PACKED = 5,
	RLE_DICTIONARY = 8,
	CODEC_ZSTD = 6,
	DATA_PAGE = 0,
	DICTIONARY_PAGE = 2,
};

/* ---- Thrift -------------------------------------------------------------- */

enum thrift_type { THRIFT_I32 = 5, THRIFT_I64, THRIFT_BINARY = 8, THRIFT_LIST, THRIFT_STRUCT = 12 };

/* Returns the end. */
static uint8_t *pack_varint(uint8_t *at, uint64_t value)
{
	for (; value > 0x7f; value >>= 7)
		*at++ = (uint8_t)(value | 0x80);
	*at++ = (uint8_t)value;
	return at;
}

static void put_varint(uint64_t value, FILE *out)
{
	uint8_t bytes[10];

	fwrite(bytes, 1, (size_t)(pack_varint(bytes, value) - bytes), out);
}

static uint64_t zigzag(uint64_t value)
{
	return value << 1 ^ (uint64_t)((int64_t)value >> 63);
}

/* Begin a field, whose id is that of the struct's last field plus `more`. */
static void put_field(int more, enum thrift_type type, FILE *out)
{
	putc_unlocked(more << 4 | (int)type, out);
}

static void put_number(int more, enum thrift_type type, uint64_t value, FILE *out)
{
	put_field(more, type, out);
	put_varint(zigzag(value), out);
}

#define put_i32(more, value, out) put_number(more, THRIFT_I32, value, out)
#define put_i64(more, value, out) put_number(more, THRIFT_I64, value, out)

static void put_text(int more, const char *text, size_t length, FILE *out)
{
	if (more)
		put_field(more, THRIFT_BINARY, out);
	put_varint(length, out);
	fwrite(text, 1, length, out);
}

static void put_list(int more, enum thrift_type type, size_t count, FILE *out)
{
	put_field(more, THRIFT_LIST, out);
	putc_unlocked((int)MIN(count, (size_t)15) << 4 | (int)type, out);
	if (count >= 15)
		put_varint(count, out);
}

static void end_struct(FILE *out)
{
	putc_unlocked(0, out);
}

/* ---- Values -------------------------------------------------------------- */

/* A column's values of a group in the file. */
struct chunk {
	uint64_t begin, data, end; /* offsets: of all, of the last page, after it */
	uint64_t unpacked;         /* bytes */
	int64_t bounds[2];         /* the least and the greatest value; not of texts */
};

/* Write `width` bits of each of 8 N values, and up to 8 bytes more. Returns the bits' end. */
static uint8_t *pack_bits(uint8_t *at, const uint64_t *values, size_t count, unsigned width)
{
	uint64_t bits = 0;
	unsigned used = 0;

	for (size_t i = 0; i < count; i++) {
		bits |= values[i] << used;
		used += width;
		if (used < 64)
			continue;
		memcpy(at, &bits, sizeof(bits));
		at += sizeof(bits);
		used -= 64;
		bits = used ? values[i] >> (width - used) : 0;
	}
	memcpy(at, &bits, sizeof(bits));
	return at + used / 8;
}

static unsigned bit_width(uint64_t value)
{
	return value ? 64 - (unsigned)__builtin_clzll(value) : 0;
}

#define BLOCK 128
#define MINI  32

/* Write the differences of a block's `count` values to the ones before them. Returns the end. */
static uint8_t *pack_block(uint8_t *at, const uint64_t *values, size_t count)
{
	uint64_t differences[BLOCK] = { 0 };
	int64_t least = INT64_MAX;
	uint8_t *widths;

	for (size_t i = 0; i < count; i++) {
		differences[i] = values[i] - values[i - 1];
		least = MIN(least, (int64_t)differences[i]);
	}
	at = pack_varint(at, zigzag((uint64_t)least));
	widths = at;
	at += BLOCK / MINI;
	for (size_t mini = 0; mini < BLOCK; mini += MINI) {
		uint64_t all = 0;

		for (size_t i = mini; i < mini + MINI && i < count; i++)
			all |= differences[i] -= (uint64_t)least;
		widths[mini / MINI] = (uint8_t)bit_width(all);
		if (all)
			at = pack_bits(at, differences + mini, MINI, bit_width(all));
	}
	return at;
}

/* DELTA_BINARY_PACKED; `same`: all values are equal. Returns the end. */
static uint8_t *pack_numbers(uint8_t *at, const uint64_t *values, size_t count, bool same)
{
	at = pack_varint(at, BLOCK);
	at = pack_varint(at, BLOCK / MINI);
	at = pack_varint(at, count);
	at = pack_varint(at, zigzag(values[0]));
	for (size_t i = 1; i < count; i += BLOCK)
		at = same ? (uint8_t *)memset(at, 0, 1 + BLOCK / MINI) + 1 + BLOCK / MINI
			  : pack_block(at, values + i, MIN(count - i, (size_t)BLOCK));
	return at;
}

/* RLE_DICTIONARY: one run. `values` has room for 7 more. Returns the end. */
static uint8_t *pack_indexes(uint8_t *at, uint64_t *values, size_t count, size_t distinct)
{
	size_t groups = (count + 7) / 8;
	unsigned width = MAX(bit_width(distinct - 1), 1U);

	*at++ = (uint8_t)width;
	if (distinct == 1) {
		at = pack_varint(at, count << 1);
		*at++ = 0;
		return at;
	}
	memset(values + count, 0, (8 * groups - count) * sizeof(*values));
	return pack_bits(pack_varint(at, groups << 1 | 1), values, 8 * groups, width);
}

/* ---- Pages --------------------------------------------------------------- */

/* Compress the page's bytes, and write them after their header. */
static void write_page(struct parquet_file *file, int type, int encoding, const uint8_t *end,
		       size_t count, struct chunk *chunk)
{
	size_t size = (size_t)(end - file->page), packed;
	char *header;
	FILE *out = OPEN_TEXT(header);

	ARRAY_GROW(file->packed, file->packed_room, ZSTD_compressBound(size));
	packed = ZSTD_compressCCtx(file->zstd, file->packed, file->packed_room, file->page, size,
				   ZSTD_LEVEL);
	if (ZSTD_isError(packed)) /* it has room: only memory can lack */
		alloc_fail(size);
	put_i32(1, (uint64_t)type, out);
	put_i32(1, size, out);
	put_i32(1, packed, out);
	put_field(type == DATA_PAGE ? 2 : 4, THRIFT_STRUCT, out);
	put_i32(1, count, out);
	put_i32(1, (uint64_t)encoding, out);
	if (type == DATA_PAGE) { /* of levels, which required columns have not */
		put_i32(1, RLE, out);
		put_i32(1, RLE, out);
	}
	end_struct(out);
	end_struct(out);
	chunk->data = file->output->written + file->output->used;
	chunk->unpacked += (uint64_t)ftello(out) + size;
	chunk->end = chunk->data + (uint64_t)ftello(out) + packed;
	alloc_close_text(out, &header);
	output_write(file->output, header, (size_t)(chunk->end - chunk->data - packed));
	output_write(file->output, file->packed, packed);
	free(header);
}

static uint8_t *put_page_text(uint8_t *at, const struct name *name)
{
	char *valid = name && !name->plain ? valid_text(name->text, name->length, false) : NULL;
	const char *text = valid ? valid : name ? name->text : "";
	uint32_t size = (uint32_t)strlen(text);

	memcpy(at, &size, sizeof(size));
	memcpy(at + sizeof(size), text, size);
	free(valid);
	return at + sizeof(size) + size;
}

static void write_dictionary(struct parquet_file *file, size_t column,
			     const struct pair_table *distinct, struct chunk *chunk)
{
	size_t size = distinct->count * sizeof(uint64_t);
	uint8_t *end = file->page;

	if (file->columns[column].kind == PARQUET_KEY)
		end = (uint8_t *)memcpy(end, distinct->keys, size) + size;
	else
		for (size_t i = 0; i < distinct->count; i++)
			end = put_page_text(end, pair_table_pointer(distinct, i));
	write_page(file, DICTIONARY_PAGE, PLAIN, end, distinct->count, chunk);
}

static void write_column(struct parquet_file *file, size_t column, struct chunk *chunk)
{
	struct pair_table distinct = { 0 };
	bool same;
	const uint64_t *from;
	uint64_t *to, *end;
	int64_t least = INT64_MAX, most = INT64_MIN;
	uint64_t last = 0;
	uint32_t number = 0;

	*chunk = (struct chunk){ .begin = file->output->written + file->output->used };
	/* A byte that is not UTF-8 becomes three. */
	ARRAY_GROW(file->page, file->page_room,
		   GROUP_ROWS * (sizeof(uint64_t) + 1) + 3 * file->text_bytes);
	/* Copy a column's values of the group, and find their bounds. */
	from = file->rows + column;
	to = file->values;
	end = to + file->count;
	for (size_t step = file->column_count; to < end; from += step) {
		*to++ = *from;
		least = MIN(least, (int64_t)*from);
		most = MAX(most, (int64_t)*from);
	}
	chunk->bounds[0] = least;
	chunk->bounds[1] = most;
	same = chunk->bounds[0] == chunk->bounds[1];
	if (file->columns[column].kind == PARQUET_NUMBER) {
		write_page(file, DATA_PAGE, DELTA_BINARY_PACKED,
			   pack_numbers(file->page, file->values, file->count, same), file->count,
			   chunk);
		return;
	}
	/* Replace values by their numbers among the distinct ones. */
	for (size_t i = 0; i < (same ? 1 : file->count); i++) {
		if (!i || file->values[i] != last)
			number = pair_table_find(&distinct, (uint32_t)(file->values[i] >> 32),
						 (uint32_t)file->values[i]);
		last = file->values[i];
		file->values[i] = number;
	}
	write_dictionary(file, column, &distinct, chunk);
	write_page(file, DATA_PAGE, RLE_DICTIONARY,
		   pack_indexes(file->page, file->values, file->count, distinct.count), file->count,
		   chunk);
	pair_table_release(&distinct);
}

/* ---- Metadata ------------------------------------------------------------ */

static void put_chunk(const struct parquet_file *file, size_t column, const struct chunk *chunk)
{
	bool number = file->columns[column].kind == PARQUET_NUMBER;
	bool text = file->columns[column].kind == PARQUET_TEXT;
	struct text_view name = file->columns[column].name;
	FILE *out = file->groups;

	put_i64(2, chunk->begin, out);
	put_field(1, THRIFT_STRUCT, out);
	put_i32(1, text ? TYPE_BYTE_ARRAY : TYPE_INT64, out);
	put_list(1, THRIFT_I32, number ? 1 : 2, out);
	put_varint(zigzag(number ? DELTA_BINARY_PACKED : RLE_DICTIONARY), out);
	if (!number)
		put_varint(zigzag(PLAIN), out);
	put_list(1, THRIFT_BINARY, 1, out);
	put_text(0, name.at, name.length, out);
	put_i32(1, CODEC_ZSTD, out);
	put_i64(1, file->count, out);
	put_i64(1, chunk->unpacked, out);
	put_i64(1, chunk->end - chunk->begin, out);
	put_i64(2, chunk->data, out);
	if (!number)
		put_i64(2, chunk->begin, out);
	put_field(number ? 3 : 1, THRIFT_STRUCT, out);
	put_i64(3, 0, out); /* nulls */
	for (int i = 1; i >= 0 && !text; i--)
		put_text(i ? 2 : 1, (const char *)&chunk->bounds[i], sizeof(*chunk->bounds), out);
	end_struct(out);
	end_struct(out);
	end_struct(out);
}

/* Write the open group, which has rows. */
static void write_group(struct parquet_file *file)
{
	uint64_t unpacked = 0;
	struct chunk chunk;

	put_list(1, THRIFT_STRUCT, file->column_count, file->groups);
	for (size_t i = 0; i < file->column_count; i++) {
		write_column(file, i, &chunk);
		put_chunk(file, i, &chunk);
		unpacked += chunk.unpacked;
	}
	put_i64(1, unpacked, file->groups);
	put_i64(1, file->count, file->groups);
	end_struct(file->groups);
	file->row_count += file->count;
	file->group_count++;
	file->count = file->text_bytes = 0;
}

static void put_schema(const struct parquet_file *file, FILE *out)
{
	put_list(1, THRIFT_STRUCT, file->column_count + 1, out);
	put_text(4, "table", strlen("table"), out);
	put_i32(1, file->column_count, out);
	end_struct(out);
	for (size_t i = 0; i < file->column_count; i++) {
		bool text = file->columns[i].kind == PARQUET_TEXT;

		put_i32(1, text ? TYPE_BYTE_ARRAY : TYPE_INT64, out);
		put_i32(2, 0, out); /* required */
		put_text(1, file->columns[i].name.at, file->columns[i].name.length, out);
		if (text)
			put_i32(2, 0, out); /* UTF8 */
		end_struct(out);
	}
}

/* ---- The file ------------------------------------------------------------ */

void parquet_open(struct parquet_file *file, struct output *output, const char *columns)
{
	*file = (struct parquet_file){ .output = output };
	for (size_t length; *columns; columns += length + strspn(columns + length, "#$ ")) {
		char kind = columns[length = strcspn(columns, "#$ ")];

		if (kind == PARQUET_TEXT)
			file->texts[file->text_count++] = file->column_count;
		file->columns[file->column_count++] = (struct parquet_column){
			{ columns, length }, kind == ' ' ? PARQUET_NUMBER : (unsigned char)kind
		};
	}
	/* Only the pages in use get memory. */
	file->rows = alloc_zeroed(file->column_count * GROUP_ROWS, sizeof(uint64_t));
	file->values = alloc_zeroed(GROUP_ROWS + 7, sizeof(uint64_t));
	file->zstd = ALLOC_CHECKED(ZSTD_createCCtx());
	file->groups = ALLOC_CHECKED(open_memstream(&file->metadata, &file->metadata_size));
	output_write(output, magic, strlen(magic));
}

void parquet_add(struct parquet_file *file, const uint64_t *row)
{
	memcpy(file->rows + file->count * file->column_count, row,
	       file->column_count * sizeof(*row));
	for (size_t i = 0; i < file->text_count; i++) {
		const struct name *text = (const struct name *)(uintptr_t)row[file->texts[i]];

		file->text_bytes += sizeof(uint32_t) + (text ? text->length : 0);
	}
	if (++file->count == GROUP_ROWS || file->text_bytes > GROUP_TEXTS)
		write_group(file);
}

void parquet_finish(struct parquet_file *file)
{
	uint32_t size;
	char *text;
	FILE *out;

	if (file->count)
		write_group(file);
	/* Write the metadata of the file, and its size. */
	out = OPEN_TEXT(text);
	put_i32(1, 2, out);
	put_schema(file, out);
	put_i64(1, file->row_count, out);
	put_list(1, THRIFT_STRUCT, file->group_count, out);
	fflush(file->groups);
	fwrite(file->metadata, 1, (size_t)ftello(file->groups), out);
	put_text(2, PACKAGE_STRING, strlen(PACKAGE_STRING), out);
	/* The order of each column is that of its type, without which bounds have no meaning. */
	put_list(1, THRIFT_STRUCT, file->column_count, out);
	for (size_t i = 0; i < file->column_count; i++) {
		put_field(1, THRIFT_STRUCT, out);
		end_struct(out);
		end_struct(out);
	}
	end_struct(out);
	size = (uint32_t)ftello(out);
	alloc_close_text(out, &text);
	output_write(file->output, text, size);
	output_write(file->output, &size, sizeof(size));
	output_write(file->output, magic, strlen(magic));
	free(text);
}

void parquet_release(struct parquet_file *file)
{
	free(file->rows);
	free(file->values);
	free(file->page);
	free(file->packed);
	ZSTD_freeCCtx(file->zstd);
	if (file->groups)
		alloc_close_text(file->groups, &file->metadata);
	free(file->metadata);
	*file = (struct parquet_file){ 0 };
}
