/* SPDX-License-Identifier: MIT */
/* The table of options with paths to read, and the check of these paths. */
#include "src/options/options.h"

#include <ctype.h>
#include <elf.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/io/output_path.h"
#include "decoder/perf_data/perf_file.h"
#include "symbols/files/core_file.h"

/* Bytes of trace.json: a module takes some 200, in memory each of JSON's values up to 80 a byte. */
#define BUNDLE_MOST ((size_t)768 << 10)

/* ---- Roles --------------------------------------------------------------- */

/* An overlay's argument is FILE,WORD,...; FILE may contain commas, so try each prefix. */
static void read_overlay(const char *text)
{
	char *path = alloc_text("%s", text), *comma;

	do {
		file_use_read(path);
		comma = strrchr(path, ',');
		if (comma)
			*comma = '\0';
	} while (comma);
	free(path);
}

void file_roles_read(const struct options *options)
{
	struct input_path named[INPUT_PATHS_MAX];
	size_t count = input_paths_list(options, named);

	for (int i = 0; i < options->input_count; i++)
		file_use_read(options->inputs[i]);
	/* Other options' directories hold few files that are read; which ones is known later. */
	for (size_t i = 0; i < count; i++)
		if (named[i].kind != INPUT_PATH_DIRECTORY)
			file_use_read(named[i].path);
	for (size_t i = 0; i < options->overlay_count; i++)
		read_overlay(options->overlays[i].text);
}

int file_roles_write(const char *path, const char *what, struct error *err)
{
	if (!path || !*path)
		return 0;
	if (output_path_check(path, err) < 0)
		return -1;
	return file_use_write(path, what, FILE_REPLACED, err);
}

int file_roles_check(const struct options *options, struct error *err)
{
	file_roles_read(options);
	if (file_roles_write(options->output, "--output", err) < 0)
		return -1;
	return file_roles_write(options->json, "--json", err);
}

size_t input_paths_list(const struct options *options, struct input_path paths[INPUT_PATHS_MAX])
{
	const struct input_path all[INPUT_PATHS_MAX] = {
		{ "symfs", options->symfs, INPUT_PATH_DIRECTORY },
		{ "vdso", options->vdso, INPUT_PATH_FILE },
		{ "core", options->core, INPUT_PATH_FILE },
		{ "kernel", options->kcore, INPUT_PATH_EITHER },
		{ "kernel", options->vmlinux, INPUT_PATH_FILE },
		{ "kernel", options->kallsyms, INPUT_PATH_FILE },
		{ "debug-dir", options->debug_dir, INPUT_PATH_DIRECTORY },
		{ "perf-map-dir", options->perf_map_dir, INPUT_PATH_DIRECTORY },
		{ "clock-sync", options->clock_sync, INPUT_PATH_FILE },
	};
	size_t count = 0;

	for (size_t i = 0; i < INPUT_PATHS_MAX; i++)
		if (all[i].path)
			paths[count++] = all[i];
	return count;
}

/* Returns 0, or the errno of opening the path as the file or directory that its option needs. */
static int find_obstacle(const struct input_path *input)
{
	struct stat status;
	bool directory;

	if (stat(input->path, &status) < 0)
		return errno;
	directory = S_ISDIR(status.st_mode);
	if (directory && input->kind == INPUT_PATH_FILE)
		return EISDIR;
	if (!directory && input->kind == INPUT_PATH_DIRECTORY)
		return ENOTDIR;
	/* Files in a directory are opened by name, so listing it is not needed. */
	return access(input->path, directory ? X_OK : R_OK) < 0 ? errno : 0;
}

int input_paths_check(const struct options *options, struct error *err)
{
	struct input_path paths[INPUT_PATHS_MAX];
	size_t count = input_paths_list(options, paths);

	for (size_t i = 0; i < count; i++) {
		int errnum = find_obstacle(&paths[i]);

		if (errnum)
			return error_set_system(err, errnum, "cannot read --%s=%s", paths[i].option,
						paths[i].path);
	}
	return 0;
}

/* Read the first bytes of a file, which is not mapped, nor unpacked, for this. Returns how many. */
static size_t read_begin(const char *path, void *begin, size_t size)
{
	int fd = file_use_open(path);
	ssize_t got = fd >= 0 ? pread(fd, begin, size, 0) : 0;

	if (fd >= 0)
		close(fd);
	return got > 0 ? (size_t)got : 0;
}

enum kernel_path kernel_path_kind(const char *path)
{
	Elf64_Ehdr header = { 0 };
	struct stat status;

	if (stat(path, &status) == 0 && S_ISDIR(status.st_mode))
		return KERNEL_PATH_KCORE;
	if (read_begin(path, &header, sizeof(header)) && isxdigit(header.e_ident[0]))
		return KERNEL_PATH_KALLSYMS;
	return memcmp(header.e_ident, ELFMAG, SELFMAG) == 0 && header.e_type == ET_CORE
		       ? KERNEL_PATH_KCORE
		       : KERNEL_PATH_VMLINUX;
}

bool input_paths_is_bundle(const char *path)
{
	static const char type[] = "\"intel-pt\"";
	struct byte_view bytes = { 0 };
	bool found;
	char first;

	if (!perf_input_is_file(path) || !read_begin(path, &first, 1) ||
	    !memchr("{ \t\r\n", first, 5) || perf_input_map(path, &bytes, NULL) < 0)
		return false;
	found = bytes.size <= BUNDLE_MOST &&
		memmem(bytes.bytes, bytes.size, type, sizeof(type) - 1);
	munmap((void *)bytes.bytes, bytes.size);
	return found;
}

const char *input_paths_core(const struct options *options, char path[PATH_MAX])
{
	static const char *const packed[] = { "", ".gz", ".zst" };
	const char *input = options->input;
	size_t length = input ? strlen(input) : 0;

	if (options->core || !length)
		return options->core;
	while (length > 1 && input[length - 1] == '/')
		length--;
	for (size_t i = 0; i < COUNT_OF(packed); i++) {
		size_t left = length - MIN(length, strlen(packed[i]));

		if (left && strncmp(input + left, packed[i], length - left) == 0 &&
		    snprintf(path, PATH_MAX, "%.*s%s", (int)left, input, CORE_FILE_SUFFIX) <
			    PATH_MAX &&
		    access(path, R_OK) == 0)
			return path;
	}
	return NULL;
}
