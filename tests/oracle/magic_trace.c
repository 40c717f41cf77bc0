/* SPDX-License-Identifier: MIT */
/*
 * magic-trace's own test dumps: for every folder of $top_srcdir/../shared/oracles/magic-trace and
 * more/magic-trace, this program's output for input.perf in the folder's mode must equal
 * expected.txt, except for blanks at line ends.  TAP on stdout; skipped where the folders are
 * absent.
 *
 * With arguments MODE FILE it prints its output for a file instead.
 */
#include <dirent.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "src/callstack/callstack.h"
#include "tests/support/perf_script_calls.h"

static const char *const oracles[] = {
	"../shared/oracles/magic-trace",
	"../shared/more/magic-trace",
};
#define ORACLES (sizeof(oracles) / sizeof(oracles[0]))

/* At the end magic-trace closes the slices of its two threads in hash-table order. */
#define ANY_ORDER_AT_THE_END "kernel-hello"

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

/* Read one line without its newline and trailing blanks.  Returns NULL at the end. */
static char *read_trimmed(FILE *in, char **line, size_t *room)
{
	ssize_t length = getline(line, room, in);

	if (length < 0)
		return NULL;
	while (length > 0 && strchr(" \t\n", (*line)[length - 1]))
		(*line)[--length] = 0;
	return *line;
}

/* The lines of a file, each owned. */
struct lines {
	char **line;
	size_t count;
};

static struct lines read_lines(FILE *in)
{
	struct lines lines = { NULL, 0 };
	char *text = NULL;
	size_t room = 0, text_room = 0;

	while (read_trimmed(in, &text, &text_room)) {
		lines.line = alloc_grow(lines.line, &room, lines.count + 1, sizeof(*lines.line));
		lines.line[lines.count++] = text;
		text = NULL;
		text_room = 0;
	}
	free(text);
	return lines;
}

static void release_lines(struct lines *lines)
{
	for (size_t i = 0; i < lines->count; i++)
		free(lines->line[i]);
	free(lines->line);
}

/* Returns the index of the first line that differs, or of the end. */
static size_t first_difference(const struct lines *ours, const struct lines *expected)
{
	size_t i = 0;

	while (i < ours->count && i < expected->count && !strcmp(ours->line[i], expected->line[i]))
		i++;
	return i;
}

static int by_text(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

static void sort_from(struct lines *lines, size_t first)
{
	qsort(lines->line + first, lines->count - first, sizeof(*lines->line), by_text);
}

static bool same_lines(FILE *ours_file, FILE *expected_file, bool any_order_at_the_end)
{
	struct lines ours = read_lines(ours_file), expected = read_lines(expected_file);
	size_t at = first_difference(&ours, &expected);
	bool same;

	if (any_order_at_the_end) {
		sort_from(&ours, at);
		sort_from(&expected, at);
		at = first_difference(&ours, &expected);
	}
	same = at == ours.count && at == expected.count;
	if (!same)
		printf("# line %zu is:        %s\n# but should be: %s\n", at + 1,
		       at < ours.count ? ours.line[at] : "(end)",
		       at < expected.count ? expected.line[at] : "(end)");
	release_lines(&ours);
	release_lines(&expected);
	return same;
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
		same = same_lines(ours, expected, strstr(folder, ANY_ORDER_AT_THE_END));
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

/* Returns the number of folders. */
static int check_oracles(const char *path, int checked)
{
	struct dirent **entries = NULL;
	char folder[PATH_MAX];
	int count = scandir(path, &entries, is_shown, alphasort);

	for (int i = 0; i < count; i++) {
		const char *name = entries[i]->d_name;

		snprintf(folder, sizeof(folder), "%s/%s", path, name);
		printf("%s %d - %s prints what magic-trace prints\n",
		       check_folder(folder) ? "ok" : "not ok", checked + i + 1, name);
		free(entries[i]);
	}
	free(entries);
	return count < 0 ? 0 : count;
}

int main(int argc, char **argv)
{
	const char *top = getenv("top_srcdir");
	char path[PATH_MAX / 2];
	int count = 0;

	if (argc == 3)
		return print_file(argv[1], argv[2]);
	for (size_t i = 0; i < ORACLES; i++) {
		snprintf(path, sizeof(path), "%s/%s", top ? top : ".", oracles[i]);
		count += check_oracles(path, count);
	}
	printf("1..%d%s\n", count, count ? "" : " # SKIP no dumps of magic-trace");
	return EXIT_SUCCESS;
}
