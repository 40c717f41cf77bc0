/* SPDX-License-Identifier: MIT */
/* Reads lists of names line by line. */
#include "symbols/names/text_map.h"

#include <ctype.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/io/file_use.h"

/* ---- Ranges with names --------------------------------------------------- */

/*
 * Names of address ranges from a JIT compiler or the kernel, not from a symbol table.
 *
 * Where ranges overlap, the newest one holds.  Texts are borrowed and must outlive
 * the ranges.  Zeroed memory is empty.
 */

void name_ranges_add(struct name_ranges *names, const struct named_range *range)
{
	if (range->end < range->begin || names->count == RANGE_NONE)
		return;
	*ARRAY_ADD(names->ranges, names->count, names->room) = *range;
}

static int compare_addresses(const void *a, const void *b)
{
	const uint64_t *x = a, *y = b;

	return COMPARE(*x, *y);
}

static void close_open_ranges(struct name_ranges *names, uint64_t limit)
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
			range->end = next - range->begin > limit ? range->begin + limit : next;
	}
	free(begins);
}

void name_ranges_finish(struct name_ranges *names, uint64_t open_limit)
{
	close_open_ranges(names, open_limit);
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

/* Returns the file's text, owned by the caller; NULL if it is missing or may not be trusted. */
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

static void read_lines(struct name_ranges *names, size_t size,
		       void (*add)(struct name_ranges *names, char *line, const char *end))
{
	char *line = names->text, *last = names->text + size;

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

	*names = (struct name_ranges){ .text = read_file(path, false, &size) };
	if (!names->text)
		return false;
	read_lines(names, size, add_perf_line);
	name_ranges_finish(names, 0);
	return true;
}

bool name_ranges_read_kallsyms(struct name_ranges *names, const char *path)
{
	size_t size;

	*names = (struct name_ranges){ .text = read_file(path, true, &size) };
	if (!names->text)
		return false;
	read_lines(names, size, add_kernel_line);
	name_ranges_finish(names, KERNEL_FUNCTION_MAX);
	if (names->count)
		return true;
	name_ranges_release(names);
	return false;
}
