/* SPDX-License-Identifier: MIT */
#include "symbols/dso_find.h"

#include <elf.h>
#include <link.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>

#include "base/alloc.h"

static const char deleted[] = " (deleted)";

static bool starts_with(const char *text, const char *start)
{
	return strncmp(text, start, strlen(start)) == 0;
}

/* Returns the length of the path without " (deleted)", which the kernel puts behind unlinked files.
 */
static size_t length_undeleted(const char *path)
{
	size_t length = strlen(path), tail = sizeof(deleted) - 1;

	if (length > tail && strcmp(path + length - tail, deleted) == 0)
		return length - tail;
	return length;
}

/* The kernel's and perf's names for mappings without a file (proc(5); perf's map.c is_anon_memory).
 */
enum dso_shape dso_find_shape(const char *path)
{
	static const char *const no_file[] = {
		"[",	   "//",    "anon_inode:",    "inode:",
		"/memfd:", "/SYSV", "/anon_hugepage", "/dev/zero",
	};

	if (starts_with(path, "[vdso]"))
		return DSO_SHAPE_VDSO;
	if (strcmp(path, "[vsyscall]") == 0)
		return DSO_SHAPE_VSYSCALL;
	for (size_t i = 0; i < sizeof(no_file) / sizeof(no_file[0]); i++)
		if (starts_with(path, no_file[i]))
			return DSO_SHAPE_NO_FILE;
	return path[0] ? DSO_SHAPE_FILE : DSO_SHAPE_NO_FILE;
}

char *dso_find_bracketed(const char *path)
{
	size_t length = length_undeleted(path), start = 0;
	char *text;

	if (path[0] == '[') {
		/* "[kernel.kallsyms]_text" and "[guest.kernel.kallsyms.123]" carry more. */
		const char *end = strchr(path, ']');

		length = end ? (size_t)(end - path) + 1 : length;
		text = alloc_zeroed(length + 1, 1);
		memcpy(text, path, length);
		return text;
	}
	/* Names of anonymous things may hold slashes that are no directories. */
	for (size_t i = 0; i < length && !starts_with(path, "anon_inode:"); i++)
		if (path[i] == '/' && (i == 0 || !starts_with(path, "/memfd:")))
			start = i + 1;
	if (start == length)
		return strcpy(alloc_zeroed(1, sizeof("[unknown]")), "[unknown]");
	text = alloc_zeroed(length - start + 3, 1);
	text[0] = '[';
	memcpy(text + 1, path + start, length - start);
	text[length - start + 1] = ']';
	return text;
}

bool dso_find_climbs(const char *path)
{
	for (const char *at = path; *at; at += strcspn(at, "/")) {
		at += strspn(at, "/");
		if (starts_with(at, "..") && (at[2] == '/' || at[2] == 0))
			return true;
	}
	return false;
}

static int set_path(struct dso_candidate *candidate, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

static int set_path(struct dso_candidate *candidate, const char *format, ...)
{
	va_list args;
	int length;

	va_start(args, format);
	length = vsnprintf(candidate->path, sizeof(candidate->path), format, args);
	va_end(args);
	return length > 0 && (size_t)length < sizeof(candidate->path);
}

static const char *base_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

/*
 * Candidates: the path, then its last component (symfs only), each first as
 * recorded, then without " (deleted)": what lies there now may be another file,
 * so only its build id can tell.
 */
int dso_find_candidate(const struct dso_store_options *options, const char *path, unsigned index,
		       struct dso_candidate *candidate)
{
	size_t length = strlen(path);

	if (index >= 4)
		return -1;
	candidate->needs_build_id = index % 2;
	if (index % 2) {
		if (length_undeleted(path) == length)
			return 0;
		length = length_undeleted(path);
	}
	if (length >= sizeof(candidate->path))
		return 0;
	if (!options->symfs)
		return index < 2 && path[0] == '/' ? set_path(candidate, "%.*s", (int)length, path)
						   : 0;
	if (dso_find_climbs(path))
		return 0;
	if (index >= 2) {
		length -= (size_t)(base_name(path) - path);
		path = base_name(path);
	}
	return set_path(candidate, "%s/%.*s", options->symfs, (int)length, path);
}

bool dso_find_cache(const struct dso_store_options *options, char *path, size_t size)
{
	const char *home = getenv("HOME");
	int length;

	if (options->build_id_cache)
		length = snprintf(path, size, "%s", options->build_id_cache);
	else if (home && home[0])
		length = snprintf(path, size, "%s/.debug", home);
	else
		return false;
	return length > 0 && (size_t)length < size;
}

int dso_find_cached(const struct dso_store_options *options, const uint8_t *build_id,
		    size_t build_id_size, unsigned index, struct dso_candidate *candidate)
{
	static const char *const names[] = { "/elf", "/vdso", "" };
	char directory[4096], hex[2 * 64 + 1];

	if (index >= sizeof(names) / sizeof(names[0]) || build_id_size < 2 || build_id_size > 64)
		return -1;
	if (!dso_find_cache(options, directory, sizeof(directory)))
		return -1;
	for (size_t i = 0; i < build_id_size; i++)
		snprintf(hex + 2 * i, 3, "%02x", build_id[i]);
	candidate->needs_build_id = true;
	return set_path(candidate, "%s/.build-id/%.2s/%s%s", directory, hex, hex + 2, names[index]);
}

/* The kernel maps the image whole; the section headers are the last thing in it (vdso(7)). */
uint8_t *dso_find_own_vdso(size_t *size)
{
	const ElfW(Ehdr) *header = (const void *)getauxval(AT_SYSINFO_EHDR);
	uint8_t *copy;

	if (!header || memcmp(header->e_ident, ELFMAG, SELFMAG) != 0)
		return NULL;
	*size = header->e_shoff + (size_t)header->e_shnum * header->e_shentsize;
	copy = alloc_zeroed(*size, 1);
	memcpy(copy, header, *size);
	return copy;
}
