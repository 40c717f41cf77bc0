/* SPDX-License-Identifier: MIT */
/*
 * magic-trace's own test dumps: for every folder of
 * $top_srcdir/../shared/oracles/magic-trace, what this program prints for
 * input.perf in the folder's mode must be expected.txt, but for blanks at the
 * ends of lines.  TAP on stdout; skipped where the folder is absent.
 *
 * With arguments MODE FILE it prints what it makes of a file instead.
 */
#include <dirent.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "src/callstack/magic_trace/callstack_magic_trace.h"
#include "tests/support/perf_script_calls.h"

#define ORACLES "../shared/oracles/magic-trace"

static enum trace_mode mode_named(const char *name)
{
	if (!strncmp(name, "user", 4))
		return TRACE_MODE_USER;
	if (!strncmp(name, "kernel", 6))
		return TRACE_MODE_KERNEL;
	return strncmp(name, "both", 4) ? TRACE_MODE_GUESS : TRACE_MODE_BOTH;
}

static FILE *open_in(const char *folder, const char *file)
{
	char path[PATH_MAX];
	int length = snprintf(path, sizeof(path), "%s/%s", folder, file);

	return length < (int)sizeof(path) ? fopen(path, "r") : NULL;
}

static enum trace_mode read_mode(const char *folder)
{
	FILE *in = open_in(folder, "mode");
	char text[16] = "";

	if (in) {
		if (!fgets(text, sizeof(text), in))
			text[0] = 0;
		fclose(in);
	}
	return mode_named(text);
}

/* Read one line without its newline and the blanks before it.  Returns NULL at the end. */
static char *read_trimmed(FILE *in, char **line, size_t *room)
{
	ssize_t length = getline(line, room, in);

	if (length < 0)
		return NULL;
	while (length > 0 && strchr(" \t\n", (*line)[length - 1]))
		(*line)[--length] = 0;
	return *line;
}

/* Returns the number of the first line that differs, 0 if none does. */
static unsigned long first_difference(FILE *ours, FILE *expected)
{
	char *lines[2] = { NULL, NULL };
	size_t rooms[2] = { 0, 0 };
	unsigned long number = 0, different = 0;

	while (!different) {
		const char *ours_line = read_trimmed(ours, &lines[0], &rooms[0]);
		const char *expected_line = read_trimmed(expected, &lines[1], &rooms[1]);

		number++;
		if (!ours_line && !expected_line)
			break;
		if (!ours_line || !expected_line || strcmp(ours_line, expected_line)) {
			different = number;
			printf("# line %lu is:        %s\n# but should be: %s\n", number,
			       ours_line ? ours_line : "(end)",
			       expected_line ? expected_line : "(end)");
		}
	}
	free(lines[0]);
	free(lines[1]);
	return different;
}

static bool check_folder(const char *folder)
{
	FILE *in = open_in(folder, "input.perf");
	FILE *expected = open_in(folder, "expected.txt");
	FILE *ours = tmpfile();
	struct error err = { 0 };
	bool same = false;

	if (!in || !expected || !ours)
		printf("# cannot open the folder's files\n");
	else if (perf_script_print_calls(in, ours, callstack_magic_trace_open, read_mode(folder),
					 NULL, &err))
		printf("# %s\n", err.text);
	else {
		rewind(ours);
		same = !first_difference(ours, expected);
	}
	if (in)
		fclose(in);
	if (expected)
		fclose(expected);
	if (ours)
		fclose(ours);
	return same;
}

static int is_shown(const struct dirent *entry)
{
	return entry->d_name[0] != '.';
}

static int print_file(const char *mode, const char *path)
{
	FILE *in = fopen(path, "r");
	struct diag diag;
	struct error err = { 0 };
	int status = EXIT_FAILURE;

	diag_init(&diag);
	if (in && !perf_script_print_calls(in, stdout, callstack_magic_trace_open, mode_named(mode),
					   &diag, &err))
		status = EXIT_SUCCESS;
	if (in)
		fclose(in);
	diag_print(&diag, stderr);
	diag_release(&diag);
	return status;
}

int main(int argc, char **argv)
{
	const char *top = getenv("top_srcdir");
	struct dirent **entries = NULL;
	char folder[PATH_MAX / 2];
	int count;

	if (argc == 3)
		return print_file(argv[1], argv[2]);
	snprintf(folder, sizeof(folder), "%s/" ORACLES, top ? top : ".");
	count = scandir(folder, &entries, is_shown, alphasort);
	if (count < 1) {
		printf("1..0 # SKIP no " ORACLES "\n");
		return EXIT_SUCCESS;
	}
	printf("1..%d\n", count);
	for (int i = 0; i < count; i++) {
		const char *name = entries[i]->d_name;

		snprintf(folder, sizeof(folder), "%s/" ORACLES "/%s", top ? top : ".", name);
		printf("%s %d - %s prints what magic-trace prints\n",
		       check_folder(folder) ? "ok" : "not ok", i + 1, name);
		free(entries[i]);
	}
	free(entries);
	return EXIT_SUCCESS;
}
