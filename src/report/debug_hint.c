/* SPDX-License-Identifier: MIT */
/* Choose the command by the environment and the recorded system's /etc/os-release. */
#include "src/report/summary.h"

#include <ctype.h>

#include "decoder/perf_data/perf_input.h"
#include "symbols/files/dso_find.h"
#include "symbols/files/elf_file.h"

static const char *base_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

/*
 * Returns whether a line of os-release(5), ID or ID_LIKE, has one of the words, which '|'
 * separates.
 */
static bool line_has(const char *line, const char *words)
{
	size_t length;

	for (; *words; words += length + (words[length] == '|')) {
		const char *at = line;

		length = strcspn(words, "|");
		while ((at = strchr(at, *words)) && strncmp(at, words, length) != 0)
			at++;
		if (at)
			return true;
	}
	return false;
}

/* Returns whether the system is one of these or derived from one. */
static bool system_is_like(const char *symfs, const char *words)
{
	char path[BENEATH_PATH], line[256];
	bool found = false;
	FILE *in;

	if (!dso_find_path(symfs, path, "%s/etc/os-release", symfs ? symfs : "") ||
	    !perf_input_is_file(path))
		return false;
	in = fopen(path, "r");
	while (in && !found && fgets(line, sizeof(line), in))
		found = (starts_with(line, "ID=") || starts_with(line, "ID_LIKE=")) &&
			line_has(strchr(line, '=') + 1, words);
	if (in)
		fclose(in);
	return found;
}

/* glibc's files: Debian's name for the package with their debug files follows no rule. */
static bool is_of_libc(const char *path)
{
	static const char *const names[] = { "libc.so.6",       "libm.so.6",    "libdl.so.2",
					     "libpthread.so.0", "librt.so.1",   "libc-2.",
					     "libm-2.",         "libpthread-2", "ld-" };

	for (size_t i = 0; i < COUNT_OF(names); i++)
		if (strncmp(base_name(path), names[i], strlen(names[i])) == 0)
			return true;
	return false;
}

/* Returns whether the path, which comes from the recording, needs no quoting in a shell. */
static bool is_plain(const char *path)
{
	for (; *path; path++)
		if (!isalnum((unsigned char)*path) && !strchr("/._+-", *path))
			return false;
	return true;
}

static void print_command(const struct debug_hint_file *file, const char *symfs, FILE *out)
{
	const char *servers = getenv("DEBUGINFOD_URLS");
	char id[2 * ELF_BUILD_ID_MAX + 1];

	elf_file_print_id(id, file->build_id, file->build_id_size);
	if (servers && *servers && *id)
		fprintf(out, "--debuginfod, or debuginfod-find debuginfo %s", id);
	else if (system_is_like(symfs, "debian|ubuntu") && is_of_libc(file->path))
		fputs("apt install libc6-dbg", out);
	else if (!is_plain(file->path))
		fputs("--debuginfod or --debug-dir", out);
	else if (system_is_like(symfs, "debian|ubuntu"))
		fprintf(out, "find-dbgsym-packages %s (of debian-goodies)", file->path);
	else if (system_is_like(symfs, "fedora|rhel|centos"))
		fprintf(out, "dnf debuginfo-install $(rpm -qf %s)", file->path);
	else
		fputs("--debuginfod with DEBUGINFOD_URLS set, or --debug-dir", out);
}

char *debug_hint_make(const struct debug_hint_file *files, size_t count, const char *symfs)
{
	char *text;
	size_t size;
	FILE *out = ALLOC_CHECKED(open_memstream(&text, &size));

	for (size_t i = 0; i < count && i < DEBUG_HINT_FILES; i++)
		fprintf(out, "%s%s: %u %%%s", i ? ", " : "", base_name(files[i].path),
			files[i].percent, i ? "" : " of the time has no names");
	fputs("; get debug files by: ", out);
	print_command(&files[0], symfs, out);
	alloc_close_text(out, &text);
	return text;
}
