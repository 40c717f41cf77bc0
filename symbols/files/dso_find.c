/* SPDX-License-Identifier: MIT */
/* Lists the paths at which the file of a recorded path may be. */
#include "symbols/files/dso_find.h"

#include <elf.h>
#include <link.h>
#include <stdarg.h>
#include <sys/auxv.h>

#include "symbols/files/elf_file.h"

static const char deleted[] = " (deleted)";

/* Returns the length without " (deleted)", which the kernel appends for unlinked files. */
static size_t length_undeleted(const char *path)
{
	size_t length = strlen(path), tail = sizeof(deleted) - 1;

	if (length > tail && strcmp(path + length - tail, deleted) == 0)
		return length - tail;
	return length;
}

/* Names of mappings without a file: the kernel's (proc(5)) and perf's (map.c is_anon_memory). */
enum dso_shape dso_find_shape(const char *path)
{
	static const char *const no_file[] = {
		"[",       "//",    "anon_inode:",    "inode:",
		"/memfd:", "/SYSV", "/anon_hugepage", "/dev/zero",
	};

	if (starts_with(path, "[vdso]"))
		return DSO_SHAPE_VDSO;
	if (starts_with(path, "[vdso32]") || starts_with(path, "[vdsox32]"))
		return DSO_SHAPE_VDSO32;
	if (strcmp(path, "[vsyscall]") == 0)
		return DSO_SHAPE_VSYSCALL;
	for (size_t i = 0; i < COUNT_OF(no_file); i++)
		if (starts_with(path, no_file[i]))
			return DSO_SHAPE_NO_FILE;
	return path[0] ? DSO_SHAPE_FILE : DSO_SHAPE_NO_FILE;
}

char *dso_find_bracketed(const char *path)
{
	size_t length = length_undeleted(path), start = 0;

	if (path[0] == '[') {
		/* "[kernel.kallsyms]_text" and "[guest.kernel.kallsyms.123]" are longer. */
		const char *end = strchr(path, ']');

		return alloc_text("%.*s", (int)(end ? (size_t)(end - path) + 1 : length), path);
	}
	/* Names of anonymous inodes may contain slashes that are not directory separators. */
	for (size_t i = 0; i < length && !starts_with(path, "anon_inode:"); i++)
		if (path[i] == '/' && (i == 0 || !starts_with(path, "/memfd:")))
			start = i + 1;
	return start == length ? alloc_text("[unknown]")
			       : alloc_text("[%.*s]", (int)(length - start), path + start);
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

bool dso_find_path(const char *symfs, char path[BENEATH_PATH], const char *format, ...)
{
	va_list args;
	int length;

	va_start(args, format);
	length = vsnprintf(path, BENEATH_PATH, format, args);
	va_end(args);
	return length > 0 && length < BENEATH_PATH && (!symfs || path_in_root_resolve(symfs, path));
}

/*
 * Returns a path of another mount namespace as seen inside of that namespace: the part after
 * "/proc/PID/root" (proc(5)); the path itself if it does not begin so.
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
 * Try a path, below symfs if that is given, first as recorded, then without "
 * (deleted)": the path may now lead to another file.
 */
static bool try_as_recorded(const struct dso_find_options *options, const char *path,
			    bool needs_build_id, dso_find_try *try, void *context)
{
	const char *symfs = options->symfs;
	const size_t lengths[] = { strlen(path), length_undeleted(path) };
	char found[BENEATH_PATH];

	if (symfs ? dso_find_climbs(path) : path[0] != '/')
		return false;
	for (int i = 0; i < 1 + (lengths[1] < lengths[0]); i++)
		if (dso_find_path(symfs, found, "%s%s%.*s", symfs ? symfs : "", symfs ? "/" : "",
				  (int)lengths[i], path) &&
		    try(context, found, i || needs_build_id))
			return true;
	return false;
}

/*
 * The candidates: the path, then the path inside of its container (outside, it may be another
 * file), then the last component (symfs only).
 */
bool dso_find_by_path(const struct dso_find_options *options, const char *path, dso_find_try *try,
		      void *context)
{
	const char *inside = inside_container(path);

	return try_as_recorded(options, path, false, try, context) ||
	       (inside != path &&
		try_as_recorded(options, inside, !options->symfs, try, context)) ||
	       (options->symfs && try_as_recorded(options, base_name(path), false, try, context));
}

bool dso_find_cached(const struct dso_find_options *options, const uint8_t *build_id, size_t size,
		     const char *name, char path[BENEATH_PATH])
{
	const char *cache = options->build_id_cache, *home = getenv("HOME");
	char hex[2 * ELF_BUILD_ID_MAX + 1];

	if (size < 2 || size > ELF_BUILD_ID_MAX || (!cache && (!home || !home[0])))
		return false;
	elf_file_print_id(hex, build_id, size);
	return dso_find_path(NULL, path, "%s%s/.build-id/%.2s/%s%s", cache ? cache : home,
			     cache ? "" : "/.debug", hex, hex + 2, name);
}

bool dso_find_by_build_id(const struct dso_find_options *options, const uint8_t *build_id,
			  size_t size, dso_find_try *try, void *context)
{
	static const char *const names[] = { "/elf", "/vdso", "" };
	char path[BENEATH_PATH];

	for (size_t i = 0; i < COUNT_OF(names) && !options->symfs; i++)
		if (dso_find_cached(options, build_id, size, names[i], path) &&
		    try(context, path, true))
			return true;
	return false;
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
