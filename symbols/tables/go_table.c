/* SPDX-License-Identifier: MIT */
/* Reads the table of functions and lines that Go's linker writes for its runtime. */
#include "symbols/tables/symbol_table.h"

#include "base/budget.h"

/* Layouts, by the magic number. */
enum { GO_1_2 = 0xfffffffb, GO_1_16 = 0xfffffffa, GO_1_18 = 0xfffffff0, GO_1_20 = 0xfffffff1 };

/* Words of moduledata before `text` in Go 1.26. */
#define MODULE_TEXT 22

static struct byte_view bytes_from(struct byte_view whole, uint64_t offset)
{
	if (offset >= whole.size)
		return (struct byte_view){ 0 };
	return (struct byte_view){ whole.bytes + offset, whole.size - offset };
}

static struct cursor cursor_from(struct byte_view whole, uint64_t offset)
{
	struct byte_view rest = bytes_from(whole, offset);

	return cursor_over(rest.bytes, rest.size);
}

static struct byte_view find_section(const struct elf_file *file, const char *name)
{
	struct elf_part part = elf_file_section(file, name);

	return (struct byte_view){ part.bytes, part.size };
}

/* Returns whether a table's header is at the cursor, and reads its first 8 bytes. */
static bool read_magic(struct cursor *c, uint32_t *layout, uint8_t *word)
{
	*layout = cursor_u32(c);
	return (*layout == GO_1_2 || *layout == GO_1_16 || *layout == GO_1_18 ||
		*layout == GO_1_20) &&
	       cursor_u16(c) == 0 && cursor_u8(c) == 1 /* x86: code has any address */ &&
	       ((*word = cursor_u8(c)) == 4 || *word == 8);
}

/*
 * Before 1.26, position-independent programs have the table in relocated data: Go's linker in a
 * separate section, others within the section of all relocated data.
 */
static struct byte_view find_table(const struct elf_file *file)
{
	struct byte_view table = find_section(file, ".gopclntab");
	uint32_t layout;
	uint8_t word;

	if (!table.bytes)
		table = find_section(file, ".data.rel.ro.gopclntab");
	if (table.bytes || !find_section(file, ".go.buildinfo").bytes)
		return table;
	table = find_section(file, ".data.rel.ro");
	for (; table.size; table = bytes_from(table, 16)) { /* minimum alignment */
		struct cursor c = cursor_from(table, 0);

		if (read_magic(&c, &layout, &word))
			break;
	}
	return table;
}

/* Go 1.2's offsets are relative to the whole table; the list of files follows the functions. */
static void read_whole(struct go_table *table, struct byte_view whole, struct cursor *c)
{
	struct cursor files = *c;
	uint64_t offset;

	table->names = table->files = table->values = table->functions = whole;
	table->starts = (struct byte_view){ c->at, cursor_left(c) };
	if (table->count > table->starts.size / table->width / 2)
		return;
	cursor_take(&files, (2 * table->count + 1) * table->width);
	offset = cursor_u32(&files);
	if (!files.short_)
		table->units = bytes_from(whole, offset);
}

static uint64_t read_code_address(const struct elf_file *file, struct cursor *c, uint8_t word)
{
	uint64_t text = cursor_number(c, word);
	struct cursor data;

	if (text)
		return text;
	data = cursor_from(find_section(file, ".go.module"), (uint64_t)MODULE_TEXT * word);
	return cursor_number(&data, word);
}

void go_table_open(struct go_table *table, const struct elf_file *file)
{
	struct byte_view whole = find_table(file);
	struct cursor c = cursor_from(whole, 0);
	uint32_t layout;
	uint8_t word;

	*table = (struct go_table){ .work = GO_LINES_MOST };
	if (!read_magic(&c, &layout, &word))
		return;
	table->count = cursor_number(&c, word);
	table->width = layout == GO_1_2 || layout == GO_1_16 ? word : 4;
	if (layout != GO_1_2)
		cursor_number(&c, word); /* files */
	if (layout == GO_1_18 || layout == GO_1_20)
		table->text = read_code_address(file, &c, word);
	if (layout == GO_1_2) {
		read_whole(table, whole, &c);
	} else {
		struct byte_view *const parts[] = { &table->names, &table->units, &table->files,
						    &table->values, &table->functions };

		/* The parts of Go 1.16 and later follow the header, at offsets in it. */
		for (size_t i = 0; i < COUNT_OF(parts); i++)
			*parts[i] = bytes_from(whole, cursor_number(&c, word));
		table->starts = table->functions;
		table->has_units = true;
	}
	/* A pair for each function, and the end of the last one. */
	if (c.short_ || table->starts.size < table->width ||
	    table->count > (table->starts.size - table->width) / table->width / 2 ||
	    (table->width == 4 && word == 8 && !table->text))
		table->count = 0;
}

static uint64_t start_of(const struct go_table *table, size_t index)
{
	struct cursor c = cursor_from(table->starts, 2 * index * table->width);

	return table->text + cursor_number(&c, table->width);
}

/* Returns a cursor at the data of a function, after its address. */
static struct cursor function_at(const struct go_table *table, size_t index)
{
	struct cursor c = cursor_from(table->starts, (2 * index + 1) * table->width);
	uint64_t offset = cursor_number(&c, table->width);

	c = cursor_from(table->functions, offset);
	cursor_take(&c, table->width);
	return c;
}

bool go_table_function(const struct go_table *table, size_t index, uint64_t range[2],
		       uint32_t *name)
{
	struct cursor c;

	if (index >= table->count)
		return false;
	c = function_at(table, index);
	range[0] = start_of(table, index);
	range[1] = start_of(table, index + 1);
	*name = cursor_u32(&c);
	return !c.short_;
}

/*
 * Returns the value of the run around an address, or -1.  A run is a pair of numbers: by
 * how much the value changes (0 ends the table, but for its first one), and its length.
 */
static int32_t value_at(struct go_table *table, uint32_t offset, uint64_t begin, uint64_t vaddr)
{
	struct byte_view rest = bytes_from(table->values, offset);
	struct cursor c = cursor_over(rest.bytes, MIN(rest.size, table->work));
	uint32_t value = UINT32_MAX, change;
	bool found = false;

	for (bool first = true; !found && !c.short_; first = false) {
		change = (uint32_t)cursor_uleb128(&c);
		if (!change && !first)
			break;
		value += change >> 1 ^ -(change & 1); /* the sign is the lowest bit */
		begin += (uint32_t)cursor_uleb128(&c);
		found = begin > vaddr && !c.short_;
	}
	table->work -= (size_t)(c.at - rest.bytes);
	return found ? (int32_t)value : -1;
}

uint32_t go_table_line(struct go_table *table, uint64_t vaddr, const char **path)
{
	size_t index = LOWER_BOUND(i, table->count, start_of(table, i) <= vaddr);
	uint32_t unit, files, lines;
	uint64_t begin;
	struct cursor c;
	int32_t file, line;
	struct byte_view rest;

	if (!index || vaddr >= start_of(table, index))
		return 0;
	begin = start_of(table, index - 1);
	c = function_at(table, index - 1);
	cursor_take(&c, 4 * sizeof(uint32_t)); /* name, arguments, deferreturn, stack pointers */
	files = cursor_u32(&c);
	lines = cursor_u32(&c);
	cursor_u32(&c); /* other tables */
	unit = table->has_units ? cursor_u32(&c) : 0;
	if (c.short_ || !files || !lines)
		return 0;
	file = value_at(table, files, begin, vaddr);
	line = value_at(table, lines, begin, vaddr);
	/* Go 1.2's list begins with the number of files. */
	if (line <= 0 || file < !table->has_units)
		return 0;
	c = cursor_from(table->units, ((uint64_t)unit + (uint32_t)file) * sizeof(uint32_t));
	rest = bytes_from(table->files, cursor_u32(&c));
	*path = rest.size && memchr(rest.bytes, 0, MIN(rest.size, PATH_MAX))
			? (const char *)rest.bytes
			: NULL;
	return c.short_ || !*path ? 0 : (uint32_t)line;
}
