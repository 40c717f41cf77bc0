/* SPDX-License-Identifier: MIT */
/* The options for many inputs in one run: batch.h. */
#include <ctype.h>
#include <errno.h>
#include <limits.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "src/cli/option_group.h"

enum option_key {
	KEY_OUTPUT_PATTERN = 256,
	KEY_FILES_FROM,
	KEY_JOBS,
	KEY_SKIP_EXISTING,
	KEY_JSON_LINES,
};

static const struct argp_option argp_options[] = {
	{ NULL, 0, NULL, 0, "Batches:", 9 },
	{ "output-pattern", KEY_OUTPUT_PATTERN, "PATTERN", 0,
	  "Convert each INPUT to an output of its own, named by PATTERN, in which {dir}, {name}, "
	  "{base} (the name without its last suffix) and {n} stand for INPUT's",
	  9 },
	{ "files0-from", KEY_FILES_FROM, "FILE", 0,
	  "Convert each INPUT, and each file that FILE names with a NUL behind it, to an output "
	  "of its own; - is standard input",
	  9 },
	{ "jobs", KEY_JOBS, "N", 0,
	  "Convert N files side by side (default: 1; 0: one per processor)", 9 },
	{ "skip-existing", KEY_SKIP_EXISTING, NULL, 0,
	  "Skip inputs whose output was made of the same bytes by the same version and options",
	  9 },
	{ "json-lines", KEY_JSON_LINES, "FILE", OPTION_ARG_OPTIONAL,
	  "Append a line of JSON per finished INPUT to FILE (default: standard output)", 9 },
	{ 0 }
};

static int processors(void)
{
	cpu_set_t set;

	return sched_getaffinity(0, sizeof(set), &set) == 0 ? CPU_COUNT(&set) : 1;
}

static int jobs_of(struct argp_state *state, const char *text)
{
	char *end;
	long jobs;

	errno = 0;
	jobs = strtol(text, &end, 10);
	if (!isdigit((unsigned char)*text) || *end || errno || jobs > 10000)
		argp_error(state, "--jobs: '%s' is no number up to 10000", text);
	return jobs ? (int)jobs : processors();
}

/* ---- The list of inputs -------------------------------------------------- */

static char *read_all(FILE *in, size_t *size)
{
	char *text = NULL;
	size_t room = 0, got;

	*size = 0;
	do {
		text = alloc_grow(text, &room, *size + BUFSIZ + 1, 1);
		got = fread(text + *size, 1, BUFSIZ, in);
		*size += got;
	} while (got);
	text[*size] = 0; /* behind the last name, if the list has none */
	return text;
}

static void add_names(struct argp_state *state, struct options *options, size_t size)
{
	const char *from = options->files_from;
	size_t room = (size_t)options->input_count, count = room;
	char **inputs = alloc_zeroed(room + 1, sizeof(*inputs));

	if (count)
		memcpy(inputs, options->inputs, count * sizeof(*inputs));
	for (char *name = options->list; name < options->list + size; name += strlen(name) + 1) {
		if (!*name)
			argp_error(state, "--files0-from: name %zu in '%s' is empty",
				   count - (size_t)options->input_count + 1, from);
		inputs = alloc_grow(inputs, &room, count + 1, sizeof(*inputs));
		inputs[count++] = name;
	}
	if (count > INT_MAX)
		argp_error(state, "--files0-from: too many names");
	options->inputs = options->listed = inputs;
	options->input_count = (int)count;
	options->input = count ? inputs[0] : NULL;
	if (!count)
		argp_error(state, "no input: '%s' is empty", from);
}

static void read_list(struct argp_state *state, struct options *options)
{
	bool is_stdin = strcmp(options->files_from, "-") == 0;
	FILE *in = is_stdin ? stdin : fopen(options->files_from, "r");
	size_t size;

	if (!in)
		argp_failure(state, EXIT_USAGE, errno, "--files0-from: %s", options->files_from);
	options->list = read_all(in, &size);
	if (ferror(in))
		argp_failure(state, EXIT_USAGE, errno, "--files0-from: %s", options->files_from);
	if (!is_stdin)
		fclose(in);
	add_names(state, options, size);
}

/* ---- Words --------------------------------------------------------------- */

/* Returns how many words an option takes that does not change what outputs hold; 0: it may. */
static int neutral_words(const char *word)
{
	static const char *const alone[] = {
		"-q",        "--quiet",         "-v",     "-vv",         "--verbose",
		"--no-warn", "--skip-existing", "--json", "--json-lines"
	};
	static const char *const valued[] = { "--output",     "--output-pattern", "--files0-from",
					      "--jobs",       "--threads",        "--json",
					      "--json-lines", "--sandbox" };

	for (size_t i = 0; i < sizeof(alone) / sizeof(alone[0]); i++)
		if (strcmp(word, alone[i]) == 0)
			return 1;
	if (strncmp(word, "-o", 2) == 0 || strncmp(word, "-j", 2) == 0)
		return word[2] ? 1 : 2;
	for (size_t i = 0; i < sizeof(valued) / sizeof(valued[0]); i++) {
		size_t length = strlen(valued[i]);

		if (strncmp(word, valued[i], length) == 0 && (word[length] == '=' || !word[length]))
			return word[length] ? 1 : 2;
	}
	return 0;
}

/*
 * The words of the command line that may change what an output holds: all
 * options as they are written, but for those known not to.  An option written
 * in another way than the one known counts as one that may.
 */
static void keep_words(const struct argp_state *state, struct options *options)
{
	int count = state->argc - options->input_count;

	options->words = alloc_zeroed((size_t)state->argc, sizeof(*options->words));
	for (int i = 1; i < count;) {
		int neutral = neutral_words(state->argv[i]);

		if (!neutral)
			options->words[options->word_count++] = state->argv[i];
		i += neutral ? neutral : 1;
	}
}

static void finish(struct argp_state *state, struct options *options)
{
	keep_words(state, options);
	if (options->output && options->output_pattern)
		argp_error(state, "--output and --output-pattern exclude each other");
	if (options->files_from)
		read_list(state, options);
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct options *options = state->input;

	switch (key) {
	case KEY_OUTPUT_PATTERN:
		options->output_pattern = arg;
		return 0;
	case KEY_FILES_FROM:
		options->files_from = arg;
		return 0;
	case KEY_JOBS:
		options->jobs = jobs_of(state, arg);
		return 0;
	case KEY_SKIP_EXISTING:
		options->skip_existing = true;
		return 0;
	case KEY_JSON_LINES:
		options->json_lines = arg ? arg : "-";
		return 0;
	case ARGP_KEY_END:
		finish(state, options);
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

const struct argp option_group_batch = { argp_options, parse, NULL, NULL, NULL, NULL, NULL };
