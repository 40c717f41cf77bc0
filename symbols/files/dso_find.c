/* SPDX-License-Identifier: MIT */
#include "symbols/files/dso_find.h"

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
		"[",       "//",    "anon_inode:",    "inode:",
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

/* The candidate at so many bytes of a path, below symfs if that is given. */
static int set_place(const struct dso_find_options *options, const char *path, size_t length,
		     struct dso_candidate *candidate)
{
	if (length >= sizeof(candidate->path))
		return 0;
	if (!options->symfs)
		return path[0] == '/' ? set_path(candidate, "%.*s", (int)length, path) : 0;
	if (dso_find_climbs(path))
		return 0;
	return set_path(candidate, "%s/%.*s", options->symfs, (int)length, path);
}

/*
 * Returns what a path of another mount namespace is called inside of it: the
 * part behind "/proc/PID/root" (proc(5)); the path itself if it is none.
 */
static const char *inside_container(const char *path)
{
	static const char proc[] = "/proc/", root[] = "/root/";
	const char *at = path + sizeof(proc) - 1;

	if (!starts_with(path, proc))
		return path;
	at += strspn(at, "0123456789");
	return starts_with(at, root) ? at + sizeof(root) - 2 : path;
}

/*
 * Candidates: the path, then as its container calls it, then its last component
 * (symfs only), each first as recorded, then without " (deleted)".  What lies
 * there now, or outside of the container, may be another file, so only its
 * build id can tell.
 */
int dso_find_candidate(const struct dso_find_options *options, const char *path, unsigned index,
		       struct dso_candidate *candidate)
{
	enum { AS_RECORDED, AS_INSIDE, BY_NAME, PLACES };
	const char *inside = inside_container(path);
	unsigned place = index / 2;

	if (place >= PLACES)
		return -1;
	if ((place == AS_INSIDE && inside == path) || (place == BY_NAME && !options->symfs))
		return 0;
	if (index % 2 && !path[length_undeleted(path)])
		return 0;
	candidate->needs_build_id = index % 2 || (place == AS_INSIDE && !options->symfs);
	if (place != AS_RECORDED)
		path = place == AS_INSIDE ? inside : base_name(path);
	return set_place(options, path, index % 2 ? length_undeleted(path) : strlen(path),
			 candidate);
}

bool dso_find_cache(const struct dso_find_options *options, char *path, size_t size)
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

int dso_find_cached(const struct dso_find_options *options, const uint8_t *build_id,
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
