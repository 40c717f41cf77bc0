/* SPDX-License-Identifier: MIT */
/* Lists the paths at which the file of a recorded path may be. */
#include "symbols/files/dso_find.h"

#include <elf.h>
#include <link.h>
#include <stdarg.h>
#include <sys/auxv.h>

#include "symbols/files/elf_file.h"

size_t dso_find_length(const char *path)
{
	static const char deleted[] = " (deleted)";
	size_t length = strlen(path), tail = sizeof(deleted) - 1;

	return length > tail && ends_with(path, deleted) ? length - tail : length;
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
	size_t length = dso_find_length(path), start = 0;

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

bool dso_find_cached(const struct dso_find_options *options, const struct byte_view *build_id,
		     int cache, const char *name, char path[BENEATH_PATH])
{
	const char *home = options->symfs ? NULL : options->build_id_cache ?: getenv("HOME");
	const char *roots[DSO_FIND_CACHES] = { options->symfs, options->debug_dir, home };
	char hex[2 * ELF_BUILD_ID_MAX + 1];

	if (build_id->size < 2 || build_id->size > ELF_BUILD_ID_MAX || !roots[cache] ||
	    !roots[cache][0])
		return false;
	elf_file_print_id(hex, build_id->bytes, build_id->size);
	return dso_find_path(cache ? NULL : options->symfs, path, "%s%s/.build-id/%.2s/%s%s",
			     roots[cache],
			     roots[cache] == home && !options->build_id_cache ? "/.debug" : "", hex,
			     hex + 2, name);
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
