/* SPDX-License-Identifier: MIT */
/* Cuts overlapping ranges into pieces that do not overlap, and reads lists of names. */
#include "symbols/names/text_map.h"

#include <ctype.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/io/file_use.h"
#include "base/tables/heap.h"

/* ---- Pieces of ranges ---------------------------------------------------- */

struct building {
	struct range_map *map;
	const uint8_t *ranges; /* borrowed */
	size_t stride;
	uint32_t *heap; /* owned; the ranges that have begun, the highest index on top */
	size_t heap_count;
};

/* Returns a range's bounds: [0] is its begin, [1] its end. */
static const uint64_t *bounds_of(const struct building *b, uint32_t range)
{
	return (const uint64_t *)(const void *)(b->ranges + range * b->stride);
}

COMPARE_WITHIN(compare_begins, uint32_t, struct building,
	       COMPARE(*bounds_of(context, *a), *bounds_of(context, *b)) ?: COMPARE(*a, *b))

static bool is_higher(const void *context, const uint32_t *a, const uint32_t *b)
{
	(void)context;
	return *a > *b;
}

HEAP_DEFINE(ranges, uint32_t, void, is_higher)

static void add_piece(struct range_map *map, uint64_t begin, uint32_t range)
{
	struct range_piece *last = map->count ? &map->pieces[map->count - 1] : NULL;

	if (last && last->begin == begin)
		last->range = range;
	else if (!last || last->range != range)
		map->pieces[map->count++] = (struct range_piece){ begin, range };
}

/* Add the pieces after all ends up to an address. */
static void end_ranges(struct building *b, uint64_t upto)
{
	while (b->heap_count && bounds_of(b, b->heap[0])[1] <= upto) {
		uint64_t end = bounds_of(b, b->heap[0])[1];

		while (b->heap_count && bounds_of(b, b->heap[0])[1] <= end) {
			b->heap[0] = b->heap[--b->heap_count];
			ranges_sift_down(NULL, b->heap, b->heap_count, 0);
		}
		add_piece(b->map, end, b->heap_count ? b->heap[0] : RANGE_NONE);
	}
}

void range_map_build(struct range_map *map, const void *ranges, size_t stride, size_t count)
{
	struct building b = { .map = map, .ranges = ranges, .stride = stride };
	uint32_t *order = alloc_zeroed(count, sizeof(*order));
	bool sorted = true;
	size_t used = 0;

	for (uint32_t i = 0; i < count; i++) {
		const uint64_t *bounds = bounds_of(&b, i);

		if (bounds[0] >= bounds[1])
			continue;
		sorted &= !used || bounds_of(&b, order[used - 1])[0] <= bounds[0];
		order[used++] = i;
	}
	if (!sorted)
		SORT_WITHIN(order, used, compare_begins, &b);
	/* Each range adds a piece where it begins and at most one where it ends. */
	map->pieces = alloc_zeroed(2 * used, sizeof(*map->pieces));
	map->count = 0;
	b.heap = alloc_zeroed(used, sizeof(*b.heap));
	for (size_t i = 0; i < used; i++) {
		uint64_t begin = bounds_of(&b, order[i])[0];

		end_ranges(&b, begin);
		ranges_push(NULL, b.heap, b.heap_count++, &order[i]);
		add_piece(map, begin, b.heap[0]);
	}
	end_ranges(&b, UINT64_MAX);
	free(b.heap);
	free(order);
}

void range_map_release(struct range_map *map)
{
	free(map->pieces);
	*map = (struct range_map){ 0 };
}

uint32_t range_map_find(const struct range_map *map, uint64_t address, uint64_t *begin,
			uint64_t *end)
{
	size_t next = LOWER_BOUND(i, map->count, map->pieces[i].begin <= address);

	*begin = next ? map->pieces[next - 1].begin : 0;
	*end = next < map->count ? map->pieces[next].begin : UINT64_MAX;
	return next ? map->pieces[next - 1].range : RANGE_NONE;
}

/* ---- Ranges with names --------------------------------------------------- */

/*
 * Names of address ranges from a JIT compiler or the kernel, not from a symbol table.
 *
 * Where ranges overlap, the newest wins.  Strings are borrowed and must outlive the ranges.  Zeroed
 * memory is empty.
 */

void name_ranges_add(struct name_ranges *names, const struct named_range *range)
{
	if (range->end < range->begin || names->count == RANGE_NONE)
		return;
	*ARRAY_ADD(names->ranges, names->count, names->room) = *range;
}

COMPARE_WITH(compare_addresses, uint64_t, COMPARE(*a, *b))

void name_ranges_finish(struct name_ranges *names, uint64_t open_limit)
{
	uint64_t *begins = alloc_zeroed(names->count, sizeof(*begins));

	for (size_t i = 0; i < names->count; i++)
		begins[i] = names->ranges[i].begin;
	SORT(begins, names->count, compare_addresses);
	for (size_t i = 0; i < names->count; i++) {
		struct named_range *range = &names->ranges[i];
		size_t above = LOWER_BOUND(j, names->count, begins[j] <= range->begin);
		uint64_t next = above < names->count ? begins[above] : UINT64_MAX;

		if (range->end == range->begin)
			range->end =
				next - range->begin > open_limit ? range->begin + open_limit : next;
	}
	free(begins);
	range_map_build(&names->map, names->ranges, sizeof(*names->ranges), names->count);
}

void name_ranges_release(struct name_ranges *names)
{
	free(names->text);
	free(names->ranges);
	range_map_release(&names->map);
	*names = (struct name_ranges){ 0 };
}

/* No function of the kernel is longer; a gap follows the last one of a module. */
#define KERNEL_FUNCTION_MAX ((uint64_t)1 << 20)
#define READ_STEP           ((size_t)1 << 16)

/* Files below /proc have size 0, so they are read to the end. */
static char *read_all(int fd, size_t *size)
{
	char *text = NULL;
	size_t room = 0, used = 0;
	ssize_t got;

	do {
		text = alloc_grow(text, &room, used + READ_STEP + 1, 1);
		got = read(fd, text + used, READ_STEP);
		used += got > 0 ? (size_t)got : 0;
	} while (got > 0);
	text[used] = 0;
	*size = used;
	return text;
}

/* Returns the file's text, owned by the caller; NULL if it is missing or not trusted. */
static char *read_file(const char *path, bool trusted, size_t *size)
{
	struct stat status;
	char *text = NULL;
	int fd;

	if (stat(path, &status) != 0 || !S_ISREG(status.st_mode))
		return NULL;
	fd = file_use_open_at_once(path);
	if (fd < 0)
		return NULL;
	if (fstat(fd, &status) == 0 && S_ISREG(status.st_mode) &&
	    (trusted || status.st_uid == 0 || status.st_uid == geteuid()))
		text = read_all(fd, size);
	close(fd);
	return text;
}

/* Read a hexadecimal number; returns false without a digit. */
static bool take_number(char **at, uint64_t *number)
{
	char *end;

	*at += strspn(*at, " \t");
	if (!isxdigit((unsigned char)**at))
		return false;
	*number = strtoull(*at, &end, 16);
	if (end == *at || (*end != ' ' && *end != '\t'))
		return false;
	*at = end;
	return true;
}

static void add_name(struct name_ranges *names, struct named_range range, const char *name,
		     size_t length)
{
	while (length && isspace((unsigned char)name[length - 1]))
		length--;
	range.name = name;
	range.length = (uint32_t)length;
	if (length && length <= UINT32_MAX)
		name_ranges_add(names, &range);
}

static void add_perf_line(struct name_ranges *names, char *line, const char *end)
{
	struct named_range range = { 0 };
	uint64_t size;

	if (!take_number(&line, &range.begin) || !take_number(&line, &size))
		return;
	line += strspn(line, " \t");
	range.end = size > UINT64_MAX - range.begin ? UINT64_MAX : range.begin + size;
	if (size)
		add_name(names, range, line, (size_t)(end - line));
}

static void add_kernel_line(struct name_ranges *names, char *line, const char *end)
{
	struct named_range range = { 0 };

	if (!take_number(&line, &range.begin) || !range.begin)
		return;
	line += strspn(line, " ");
	if (!strchr("tTwW", line[0]) || line[1] != ' ')
		return;
	line += 2;
	range.end = range.begin;
	(void)end; /* it has a NUL */
	add_name(names, range, line, strcspn(line, "\t"));
}

static void read_lines(struct name_ranges *names, char *line, size_t size,
		       void (*add)(struct name_ranges *names, char *line, const char *end))
{
	char *last = line + size;

	while (line < last) {
		char *end = memchr(line, '\n', (size_t)(last - line));

		if (!end)
			end = last;
		*end = 0;
		add(names, line, end);
		line = end + 1;
	}
}

bool name_ranges_read_perf(struct name_ranges *names, const char *path)
{
	size_t size;
	char *text = read_file(path, false, &size);

	if (text)
		name_ranges_parse_perf(names, text, size);
	return text;
}

void name_ranges_parse_perf(struct name_ranges *names, char *text, size_t size)
{
	*names = (struct name_ranges){ .text = text };
	read_lines(names, text, size, add_perf_line);
	name_ranges_finish(names, 0);
}

bool name_ranges_read_kallsyms(struct name_ranges *names, const char *path)
{
	size_t size;

	*names = (struct name_ranges){ .text = read_file(path, true, &size) };
	return names->text && name_ranges_parse_kallsyms(names, names->text, size);
}

bool name_ranges_parse_kallsyms(struct name_ranges *names, char *text, size_t size)
{
	read_lines(names, text, size, add_kernel_line);
	name_ranges_finish(names, KERNEL_FUNCTION_MAX);
	if (names->count)
		return true;
	name_ranges_release(names);
	return false;
}
