/* SPDX-License-Identifier: MIT */
/*
 * Names of functions in files for Windows, by exports, symbols and unwind
 * information ("PE Format").
 */
#include "base/cursor.h"
#include "symbols/names/text_map.h"

#define SECTIONS_MOST 96 /* limit of Windows' loader */
#define SECTION_SIZE  40
#define NAME_COST     96 /* bytes of memory */
#define SYMBOL_SIZE   18

struct image {
	struct cursor file, sections;
	struct name_ranges *names;
	uint64_t left; /* bytes of memory for names: four times the file */
};

/* Charge an entry of a table, also one that gives no name: a hostile table is endless. */
static void charge(struct image *image, size_t length)
{
	image->left -= MIN(image->left, length + NAME_COST);
}

/* Returns the bytes from an address to its section's end. Before all sections is the header. */
static struct cursor at_rva(const struct image *image, uint32_t rva)
{
	struct cursor rest = image->sections, c = image->file;
	uint32_t words[SECTION_SIZE / 4] = { [4] = rest.at ? 0 : UINT32_MAX };

	while (rva - words[3] >= words[4] && cursor_left(&rest) >= SECTION_SIZE)
		memcpy(words, cursor_take(&rest, SECTION_SIZE), SECTION_SIZE);
	rva -= words[3];
	cursor_take(&c, MIN((uint64_t)words[5] + rva, cursor_left(&c)));
	return cursor_over(c.at, MIN(cursor_left(&c), words[4] - MIN(rva, words[4])));
}

static uint32_t number(const struct image *image, uint32_t rva, size_t size)
{
	struct cursor c = at_rva(image, rva);

	return (uint32_t)cursor_number(&c, size);
}

/* Add where a function begins, or, without a name, where one ends. */
static void add_begin(struct image *image, uint32_t rva, struct cursor name)
{
	struct cursor code = at_rva(image, rva);
	size_t length = strnlen((const char *)name.at, MIN(cursor_left(&name), image->left));
	struct named_range range = { .name = (const char *)name.at, .length = (uint32_t)length };

	charge(image, length);
	range.begin = range.end = (uint64_t)(code.at - image->file.at);
	if (image->left && cursor_left(&code))
		name_ranges_add(image->names, &range);
}

/*
 * Add the functions (IMAGE_SYM_DTYPE_FUNCTION) of the symbol table, which libraries by mingw have
 * unless they are stripped.
 */
static void add_symbols(struct image *image, uint32_t at, uint32_t count)
{
	struct cursor table = image->file, strings;
	const uint8_t *symbol;

	cursor_take(&table, MIN(at, cursor_left(&table)));
	strings = table;
	cursor_take(&strings, MIN((uint64_t)count * SYMBOL_SIZE, cursor_left(&table)));
	while (at && image->left && table.at < strings.at &&
	       (symbol = cursor_take(&table, SYMBOL_SIZE))) {
		struct cursor name = cursor_over(symbol, 8), fields = cursor_over(symbol, 14);
		bool is_long = cursor_u32(&fields) == 0;
		uint32_t offset = cursor_u32(&fields), rva = cursor_u32(&fields), section[4];
		size_t before = (uint16_t)(cursor_u16(&fields) - 1) * (size_t)SECTION_SIZE;

		if (is_long) {
			name = strings;
			cursor_take(&name, MIN(offset, cursor_left(&name)));
		}
		if ((symbol[14] & 0xf0) == 0x20 && before < cursor_left(&image->sections)) {
			memcpy(section, image->sections.at + before, sizeof(section));
			add_begin(image, section[3] + rva, name);
		}
		cursor_take(&table, MIN((size_t)symbol[17] * SYMBOL_SIZE, cursor_left(&table)));
	}
}

void name_ranges_read_pe(struct name_ranges *names, const uint8_t *bytes, size_t size)
{
	struct image image = { cursor_over(bytes, size), { 0 }, names, 4 * size };
	const struct cursor nameless = cursor_over(bytes, 0);
	uint32_t pe = number(&image, 0x3c, 4), count = number(&image, pe + 6, 2), last = 0;
	uint32_t tables = pe + (number(&image, pe + 24, 2) == 0x20b ? 136 : 120); /* PE32+ */
	uint32_t exports = number(&image, tables, 4), exports_size = number(&image, tables + 4, 4);
	uint32_t unwind = number(&image, tables + 24, 4), left = number(&image, tables + 28, 4);
	uint32_t symbols = number(&image, pe + 12, 4), symbol_count = number(&image, pe + 16, 4);

	if (number(&image, 0, 2) != 0x5a4d || number(&image, pe, 4) != 0x4550 ||
	    number(&image, tables - 4, 4) < 4)
		return;
	image.sections = at_rva(&image, pe + 24 + number(&image, pe + 20, 2));
	count = MIN(count, MIN(SECTIONS_MOST, cursor_left(&image.sections) / SECTION_SIZE));
	image.sections = cursor_over(image.sections.at, count * SECTION_SIZE);
	for (; left >= 12 && image.left; left -= 12, unwind += 12) {
		uint32_t begin = number(&image, unwind, 4), info = number(&image, unwind + 8, 4);

		if (begin != last || !(number(&image, info, 1) >> 3 & 4)) { /* UNW_FLAG_CHAININFO */
			add_begin(&image, last, nameless);
			add_begin(&image, begin, nameless);
		} else {
			charge(&image, 0);
		}
		last = number(&image, unwind + 4, 4);
	}
	add_begin(&image, last, nameless);
	add_symbols(&image, symbols, symbol_count);
	count = number(&image, exports + 24, 4);
	for (uint32_t i = 0; i < count && image.left; i++) {
		uint32_t at = number(&image, number(&image, exports + 36, 4) + 2 * i, 2);
		uint32_t rva = number(&image, number(&image, exports + 28, 4) + 4 * at, 4);

		at = number(&image, number(&image, exports + 32, 4) + 4 * i, 4);
		if (rva - exports >= exports_size) /* else the name of another library's */
			add_begin(&image, rva, at_rva(&image, at));
		else
			charge(&image, 0);
	}
	names->count = image.left ? names->count : 0;
}
