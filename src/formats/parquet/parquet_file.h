/* SPDX-License-Identifier: MIT */
/*
 * Writes a flat table as a Parquet file (parquet-format's parquet.thrift, Encodings.md), of which
 * it has what such tables need: required columns of INT64 and UTF-8, one page for a column and
 * group of rows, DELTA_BINARY_PACKED or RLE_DICTIONARY, zstd, and the least and greatest value.
 *
 * Memory does not grow with the rows, except by some hundred bytes for a group.
 */
#pragma once

#include "base/cursor.h"
#include "base/io/output.h"
#include "base/tables/name.h"

#define PARQUET_COLUMNS_MOST 16

struct parquet_file {
	struct output *output; /* borrowed */
	struct parquet_column {
		struct text_view name; /* borrowed */
		enum { PARQUET_NUMBER = 0, PARQUET_KEY = '#', PARQUET_TEXT = '$' } kind;
	} columns[PARQUET_COLUMNS_MOST];
	size_t column_count, text_count;
	size_t texts[PARQUET_COLUMNS_MOST]; /* numbers of their columns */
	uint64_t *rows;                     /* owned: of the open group */
	size_t count;
	size_t text_bytes;               /* of their texts */
	uint64_t *values;                /* owned: of a column */
	uint64_t row_count, group_count; /* of the finished groups */
	FILE *groups; /* owned: into `metadata`, of the finished groups; NULL: not open */
	char *metadata;
	size_t metadata_size;
	uint8_t *page, *packed; /* owned: room for a page, and compressed */
	size_t page_room, packed_room;
	struct ZSTD_CCtx_s *zstd; /* owned */
};

/*
 * Begin a table in an output without bytes; both arguments are borrowed until the release. Columns
 * are words: NAME of int64_t near that of the row before, NAME# of int64_t with few distinct ones,
 * and NAME$ of addresses of a struct name, borrowed, or NULL for an empty text.
 */
void parquet_open(struct parquet_file *file, struct output *output, const char *columns);

/* Add a row: a value for each column. The output keeps errors. */
void parquet_add(struct parquet_file *file, const uint64_t *row);

/* Write the rest; the caller closes the output. */
void parquet_finish(struct parquet_file *file);

/* Idempotent, also on zeroed memory. */
void parquet_release(struct parquet_file *file);
