/* SPDX-License-Identifier: MIT */
#include "symbols/dwarf/dwp_index.h"

#include "base/cursor.h"

/* DWARF 5 knows eight columns (table 7.1); a few more may come. */
#define COLUMNS_MAX 32

#define HEADER_SIZE 16

/* What the header says; checked against the size of the section. */
struct shape {
	const uint8_t *bytes; /* borrowed */
	uint16_t version;
	uint32_t columns;
	uint32_t units;
	uint32_t slots; /* of the hash table, a power of two */
};

static uint64_t number_at(const struct shape *shape, uint64_t offset, size_t size)
{
	struct cursor c = cursor_over(shape->bytes + offset, size);

	return cursor_number(&c, size);
}

/*
 * The header, a hash table of ids, one of rows, then three tables of numbers of
 * 4 bytes: which section each column is of, offsets, sizes.  Returns -1 if that
 * is not so.
 */
static int read_shape(struct shape *shape, const uint8_t *bytes, size_t size)
{
	struct cursor c = cursor_over(bytes, size);
	uint64_t rows;

	*shape = (struct shape){ .bytes = bytes };
	/* In version 2 the number has 4 bytes, in version 5 it has 2 and two of padding. */
	shape->version = cursor_u16(&c);
	if (cursor_u16(&c) != 0 || (shape->version != 2 && shape->version != 5))
		return -1;
	shape->columns = cursor_u32(&c);
	shape->units = cursor_u32(&c);
	shape->slots = cursor_u32(&c);
	if (c.short_ || shape->columns > COLUMNS_MAX || shape->slots & (shape->slots - 1))
		return -1;
	rows = 2 * (uint64_t)shape->units + 1;
	return 12 * (uint64_t)shape->slots + 4 * rows * shape->columns <= cursor_left(&c) ? 0 : -1;
}

/* Returns the unit's row, counted from 1; 0 if it has none (DWARF 5, 7.3.5.3). */
static uint32_t find_row(const struct shape *shape, uint64_t id)
{
	uint32_t mask = shape->slots - 1, at = (uint32_t)id & mask;
	uint32_t step = ((uint32_t)(id >> 32) & mask) | 1;
	uint64_t rows = HEADER_SIZE + 8 * (uint64_t)shape->slots;

	for (uint32_t tries = 0; tries < shape->slots; tries++) {
		uint32_t row = (uint32_t)number_at(shape, rows + 4 * (uint64_t)at, 4);

		if (!row)
			return 0;
		if (number_at(shape, HEADER_SIZE + 8 * (uint64_t)at, 8) == id)
			return row;
		at = (at + step) & mask;
	}
	return 0;
}

/* Returns which part a column's number (DW_SECT_*) stands for, DWP_PARTS: none of ours. */
static enum dwp_part part_of(const struct shape *shape, uint64_t section)
{
	switch (section) {
	case 1:
		return DWP_INFO;
	case 3:
		return DWP_ABBREV;
	case 6:
		return DWP_STR_OFFSETS;
	case 8:
		return shape->version == 5 ? DWP_RNGLISTS : DWP_PARTS; /* macros before */
	default:
		return DWP_PARTS;
	}
}

int dwp_index_find(const uint8_t *index, size_t size, uint64_t id,
		   struct dwp_range parts[DWP_PARTS])
{
	struct shape shape;
	uint64_t table, width, row;

	if (read_shape(&shape, index, size) != 0)
		return -1;
	row = find_row(&shape, id);
	if (row == 0 || row > shape.units)
		return row ? -1 : 0;
	table = HEADER_SIZE + 12 * (uint64_t)shape.slots;
	width = 4 * (uint64_t)shape.columns;
	for (enum dwp_part part = 0; part < DWP_PARTS; part++)
		parts[part] = (struct dwp_range){ 0 };
	for (uint32_t i = 0; i < shape.columns; i++) {
		uint64_t column = table + 4 * (uint64_t)i;
		enum dwp_part part = part_of(&shape, number_at(&shape, column, 4));

		if (part == DWP_PARTS)
			continue;
		parts[part].offset = (uint32_t)number_at(&shape, column + row * width, 4);
		parts[part].size =
			(uint32_t)number_at(&shape, column + (shape.units + row) * width, 4);
	}
	return 1;
}
