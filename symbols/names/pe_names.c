/* SPDX-License-Identifier: MIT */
/* Names of functions in files for Windows, by exports and unwind information ("PE Format"). */
#include "base/cursor.h"
#include "symbols/names/text_map.h"

#define SECTIONS_MOST 96 /* limit of Windows' loader */
#define SECTION_SIZE  40
#define NAME_COST     96 /* bytes of memory */

struct image {
	struct cursor file, sections;
	struct name_ranges *names;
	uint64_t left; /* bytes of memory for names: four times the file */
};

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

	image->left -= MIN(image->left, length + NAME_COST);
	range.begin = range.end = (uint64_t)(code.at - image->file.at);
	if (image->left && cursor_left(&code))
		name_ranges_add(image->names, &range);
}

void name_ranges_read_pe(struct name_ranges *names, const uint8_t *bytes, size_t size)
{
	struct image image = { cursor_over(bytes, size), { 0 }, names, 4 * size };
	const struct cursor nameless = cursor_over(bytes, 0);
	uint32_t pe = number(&image, 0x3c, 4), count = number(&image, pe + 6, 2), last = 0;
	uint32_t tables = pe + (number(&image, pe + 24, 2) == 0x20b ? 136 : 120); /* PE32+ */
	uint32_t exports = number(&image, tables, 4), exports_size = number(&image, tables + 4, 4);
	uint32_t unwind = number(&image, tables + 24, 4), left = number(&image, tables + 28, 4);

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
		}
		last = number(&image, unwind + 4, 4);
	}
	add_begin(&image, last, nameless);
	count = number(&image, exports + 24, 4);
	for (uint32_t i = 0; i < count && image.left; i++) {
		uint32_t at = number(&image, number(&image, exports + 36, 4) + 2 * i, 2);
		uint32_t rva = number(&image, number(&image, exports + 28, 4) + 4 * at, 4);

		at = number(&image, number(&image, exports + 32, 4) + 4 * i, 4);
		if (rva - exports >= exports_size) /* else the name of another library's */
			add_begin(&image, rva, at_rva(&image, at));
	}
	names->count = image.left ? names->count : 0;
}
