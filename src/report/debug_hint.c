/* SPDX-License-Identifier: MIT */
/* Choose the command by the environment and the recorded system's /etc/os-release. */
#include "src/report/summary.h"

#include <regex.h>

#include "decoder/perf_data/perf_file.h"
#include "symbols/files/dso_find.h"
#include "symbols/files/elf_file.h"

static const char *base_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

/* Returns whether a text matches an extended regular expression. */
static bool matches(const char *text, const char *pattern)
{
	regex_t regex;
	bool found = regcomp(&regex, pattern, REG_EXTENDED | REG_NOSUB) == 0;

	if (!found)
		alloc_fail(0);
	found = regexec(&regex, text, 0, NULL, 0) == 0;
	regfree(&regex);
	return found;
}

/* Returns whether a line of os-release(5) matches. */
static bool system_is_like(const char *symfs, const char *pattern)
{
	char path[BENEATH_PATH], line[256];
	bool found = false;
	FILE *in;

	if (!dso_find_path(symfs, path, "%s/etc/os-release", symfs ? symfs : "") ||
	    !perf_input_is_file(path))
		return false;
	in = fopen(path, "r");
	while (in && !found && fgets(line, sizeof(line), in))
		found = matches(line, pattern);
	if (in)
		fclose(in);
	return found;
}

#define LIKE_DEBIAN "^ID(_LIKE)?=.*(debian|ubuntu)"
#define LIKE_FEDORA "^ID(_LIKE)?=.*(fedora|rhel|centos)"
/* glibc's files: Debian's name for the package with their debug files follows no rule. */
#define FILE_OF_LIBC                                                                               \
	"^(lib(c|m)\\.so\\.6|libdl\\.so\\.2|libpthread\\.so\\.0|librt\\.so\\.1|"                   \
	"lib(c|m)-2\\.|libpthread-2|ld-)"
/* A path, which comes from the recording, that needs no quoting in a shell. */
#define PLAIN_PATH "^[A-Za-z0-9/._+-]*$"

static void print_command(const struct debug_hint_file *file, const char *symfs, FILE *out)
{
	const char *servers = getenv("DEBUGINFOD_URLS");
	char id[2 * ELF_BUILD_ID_MAX + 1];

	elf_file_print_id(id, file->build_id, file->build_id_size);
	if (servers && *servers && *id)
		fprintf(out, "--debuginfod, or debuginfod-find debuginfo %s", id);
	else if (system_is_like(symfs, LIKE_DEBIAN) && matches(base_name(file->path), FILE_OF_LIBC))
		fputs("apt install libc6-dbg", out);
	else if (!matches(file->path, PLAIN_PATH))
		fputs("--debuginfod or --debug-dir", out);
	else if (system_is_like(symfs, LIKE_DEBIAN))
		fprintf(out, "find-dbgsym-packages %s (of debian-goodies)", file->path);
	else if (system_is_like(symfs, LIKE_FEDORA))
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
