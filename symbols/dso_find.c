/* SPDX-License-Identifier: MIT */
#include "symbols/dso_find.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>

#define VDSO "[vdso]"
#define DELETED " (deleted)"

/* The vdso is mapped whole; two pages are enough for every kernel so far. */
#define RUNNING_VDSO_SIZE 8192

static bool starts_with(const char *text, const char *start)
{
	return strncmp(text, start, strlen(start)) == 0;
}

bool dso_is_no_file(const char *path)
{
	static const char *const starts[] = { "[",	  "//anon", "anon_inode:", "/memfd:",
					      "/SYSV",	  "/dev/",  "/anon_hugepage", "inode:" };

	if (strcmp(path, VDSO) == 0)
		return false;
	for (size_t i = 0; i < sizeof(starts) / sizeof(starts[0]); i++) {
		if (starts_with(path, starts[i]))
			return true;
	}
	return path[0] != '/';
}

static bool build_id_fits(const struct dso_wanted *wanted, const struct elf_file *elf)
{
	if (!wanted->build_id_size || !elf->build_id)
		return true;
	/* perf pads ids to 20 bytes in older files. */
	return elf->build_id_size <= wanted->build_id_size &&
	       memcmp(elf->build_id, wanted->build_id, elf->build_id_size) == 0;
}

static void format_id(char *text, size_t room, const uint8_t *id, size_t size)
{
	size_t used = 0;

	text[0] = 0;
	for (size_t i = 0; i < size && used + 3 <= room; i++)
		used += (size_t)snprintf(text + used, room - used, "%02x", id[i]);
}

/* Try one candidate.  Returns whether it is the file. */
static bool try_path(struct dso_found *found, const struct dso_wanted *wanted, const char *path,
		     struct arena *arena)
{
	struct error err = { 0 };
	char has[2 * 20 + 1];

	if (elf_file_open(&found->elf, path, &err) < 0) {
		elf_file_close(&found->elf);
		if (found->state == DSO_MISSING && err.kind != ERROR_SYSTEM) {
			found->state = DSO_UNREADABLE;
			snprintf(found->text, sizeof(found->text), "%.250s", err.text);
		}
		return false;
	}
	if (!build_id_fits(wanted, &found->elf)) {
		format_id(has, sizeof(has), found->elf.build_id, found->elf.build_id_size);
		elf_file_close(&found->elf);
		found->state = DSO_MISMATCHED;
		snprintf(found->text, sizeof(found->text), "%.180s is another build (%s)", path,
			 has);
		return false;
	}
	found->state = DSO_FOUND;
	found->path = arena_text(arena, path, strlen(path));
	return true;
}

/* The build-id cache of perf: .build-id/xx/yyy... is a directory with `elf` or `vdso`, or a link to a file. */
static bool try_cache(struct dso_found *found, const struct dso_wanted *wanted,
		      const struct dso_store_options *options, struct arena *arena)
{
	static const char *const leaves[] = { "/elf", "/vdso", "" };
	char directory[PATH_MAX / 2], id[2 * 20 + 1], path[PATH_MAX];
	const char *home = getenv("HOME");

	if (wanted->build_id_size < 2)
		return false;
	if (options->build_id_cache)
		snprintf(directory, sizeof(directory), "%s", options->build_id_cache);
	else if (home)
		snprintf(directory, sizeof(directory), "%s/.debug", home);
	else
		return false;
	format_id(id, sizeof(id), wanted->build_id, wanted->build_id_size);
	for (size_t i = 0; i < sizeof(leaves) / sizeof(leaves[0]); i++) {
		snprintf(path, sizeof(path), "%s/.build-id/%.2s/%s%s", directory, id, id + 2,
			 leaves[i]);
		if (try_path(found, wanted, path, arena))
			return true;
	}
	return false;
}

static bool try_running_vdso(struct dso_found *found)
{
	uint8_t *bytes = (uint8_t *)getauxval(AT_SYSINFO_EHDR);

	if (!bytes || elf_file_view(&found->elf, bytes, RUNNING_VDSO_SIZE, NULL) < 0)
		return false;
	found->state = DSO_FOUND;
	return true;
}

static void find_vdso(struct dso_found *found, const struct dso_wanted *wanted,
		      const struct dso_store_options *options, struct arena *arena)
{
	if (options->vdso) {
		try_path(found, wanted, options->vdso, arena);
		return;
	}
	if (!options->symfs && try_cache(found, wanted, options, arena))
		return;
	if (options->running_kernel)
		try_running_vdso(found);
}

/* "DIR/usr/bin/ls", then "DIR/ls", as perf does with --symfs. */
static void find_below(struct dso_found *found, const struct dso_wanted *wanted,
		       const char *directory, struct arena *arena)
{
	char path[PATH_MAX];
	const char *base = strrchr(wanted->path, '/');

	/* A recorded path must not climb out of the directory. */
	if (strstr(wanted->path, "/../"))
		return;
	snprintf(path, sizeof(path), "%s%s", directory, wanted->path);
	if (try_path(found, wanted, path, arena))
		return;
	snprintf(path, sizeof(path), "%s%s", directory, base ? base : wanted->path);
	try_path(found, wanted, path, arena);
}

/* A deleted file may have been replaced: only the build id can tell that it is the same. */
static void find_path(struct dso_found *found, const struct dso_wanted *wanted,
		      const struct dso_store_options *options, struct arena *arena)
{
	size_t length = strlen(wanted->path);
	char path[PATH_MAX];

	if (try_cache(found, wanted, options, arena))
		return;
	if (length > strlen(DELETED) && length < sizeof(path) &&
	    strcmp(wanted->path + length - strlen(DELETED), DELETED) == 0) {
		memcpy(path, wanted->path, length + 1);
		path[length - strlen(DELETED)] = 0;
		if (wanted->build_id_size)
			try_path(found, wanted, path, arena);
		return;
	}
	try_path(found, wanted, wanted->path, arena);
}

void dso_find(struct dso_found *found, const struct dso_wanted *wanted,
	      const struct dso_store_options *options, struct arena *arena)
{
	*found = (struct dso_found){ .state = DSO_MISSING };
	if (strcmp(wanted->path, VDSO) == 0)
		find_vdso(found, wanted, options, arena);
	else if (dso_is_no_file(wanted->path))
		found->state = DSO_NOT_A_FILE;
	else if (options->symfs)
		find_below(found, wanted, options->symfs, arena);
	else
		find_path(found, wanted, options, arena);
}
