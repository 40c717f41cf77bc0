/* SPDX-License-Identifier: MIT */
/* Reads the hash table and the columns of .debug_cu_index. */
#include "symbols/dwarf/split_unit.h"

/* DWARF 5 knows eight columns (table 7.1); a few more may come. */
#define COLUMNS_MAX 32

#define HEADER_SIZE 16

/* The header of the section; checked against its size. */
struct dwp_header {
	const uint8_t *bytes; /* borrowed */
	uint16_t version;
	uint32_t columns;
	uint32_t units;
	uint32_t slots; /* of the hash table, a power of two */
};

static uint64_t number_at(const struct dwp_header *header, uint64_t offset, size_t size)
{
	struct cursor c = cursor_over(header->bytes + offset, size);

	return cursor_number(&c, size);
}

/*
 * Read the header and check the size: after it come a hash table of ids, one of rows, then
 * three tables of numbers of 4 bytes: the section of each column, offsets, sizes.
 * Returns 0, or -1 if the section is damaged.
 */
static int read_header(struct dwp_header *header, const uint8_t *bytes, size_t size)
{
	struct cursor c = cursor_over(bytes, size);
	uint64_t rows;

	*header = (struct dwp_header){ .bytes = bytes };
	/* In version 2 the number has 4 bytes, in version 5 it has 2 and two of padding. */
	header->version = cursor_u16(&c);
	if (cursor_u16(&c) != 0 || (header->version != 2 && header->version != 5))
		return -1;
	header->columns = cursor_u32(&c);
	header->units = cursor_u32(&c);
	header->slots = cursor_u32(&c);
	if (c.short_ || header->columns > COLUMNS_MAX || header->slots & (header->slots - 1))
		return -1;
	rows = 2 * (uint64_t)header->units + 1;
	return 12 * (uint64_t)header->slots + 4 * rows * header->columns <= cursor_left(&c) ? 0
											    : -1;
}

/* Returns the unit's row, counted from 1; 0 if it is absent (DWARF 5, 7.3.5.3). */
static uint32_t find_row(const struct dwp_header *header, uint64_t id)
{
	uint32_t mask = header->slots - 1, at = (uint32_t)id & mask;
	uint32_t step = ((uint32_t)(id >> 32) & mask) | 1;
	uint64_t rows = HEADER_SIZE + 8 * (uint64_t)header->slots;

	for (uint32_t tries = 0; tries < header->slots; tries++) {
		uint32_t row = (uint32_t)number_at(header, rows + 4 * (uint64_t)at, 4);

		if (!row)
			return 0;
		if (number_at(header, HEADER_SIZE + 8 * (uint64_t)at, 8) == id)
			return row;
		at = (at + step) & mask;
	}
	return 0;
}

/* Returns the part that a column's number (DW_SECT_*) means, DWP_PARTS: one of no use here. */
static enum dwp_part part_of(const struct dwp_header *header, uint64_t section)
{
	switch (section) {
	case 1:
		return DWP_INFO;
	case 3:
		return DWP_ABBREV;
	case 6:
		return DWP_STR_OFFSETS;
	case 8:
		return header->version == 5 ? DWP_RNGLISTS : DWP_PARTS; /* macros before */
	default:
		return DWP_PARTS;
	}
}

int dwp_index_find(const uint8_t *index, size_t size, uint64_t id,
		   struct dwp_range parts[DWP_PARTS])
{
	struct dwp_header header;
	uint64_t table, width, row;

	if (read_header(&header, index, size) != 0)
		return -1;
	row = find_row(&header, id);
	if (row == 0 || row > header.units)
		return row ? -1 : 0;
	table = HEADER_SIZE + 12 * (uint64_t)header.slots;
	width = 4 * (uint64_t)header.columns;
	for (enum dwp_part part = 0; part < DWP_PARTS; part++)
		parts[part] = (struct dwp_range){ 0 };
	for (uint32_t i = 0; i < header.columns; i++) {
		uint64_t column = table + 4 * (uint64_t)i;
		enum dwp_part part = part_of(&header, number_at(&header, column, 4));

		if (part == DWP_PARTS)
			continue;
		parts[part].offset = (uint32_t)number_at(&header, column + row * width, 4);
		parts[part].size =
			(uint32_t)number_at(&header, column + (header.units + row) * width, 4);
	}
	return 1;
}
