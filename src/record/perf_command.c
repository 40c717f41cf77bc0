/* SPDX-License-Identifier: MIT */
/* Arguments of perf record: man perf-record, man perf-intel-pt. */
#include "src/record/record.h"

#include <stdarg.h>
#include <unistd.h>

bool path_search(const char *name, char file[PATH_MAX])
{
	const char *path = getenv("PATH");

	for (size_t length; path && *path; path += length + (path[length] == ':')) {
		length = strcspn(path, ":");
		if (snprintf(file, PATH_MAX, "%.*s/%s", (int)length, path, name) < PATH_MAX &&
		    access(file, X_OK) == 0)
			return true;
	}
	return false;
}

struct words {
	char **words; /* owned, as are the strings */
	size_t count, room;
};

static __attribute__((format(printf, 2, 3))) void add(struct words *words, const char *format, ...)
{
	va_list values;

	words->words = alloc_grow(words->words, &words->room, words->count + 2, sizeof(char *));
	va_start(values, format);
	if (vasprintf(&words->words[words->count++], format, values) < 0)
		alloc_fail(0);
	va_end(values);
	words->words[words->count] = NULL;
}

void perf_command_file(const struct options *options, char file[PATH_MAX])
{
	const char *program = options->program ? options->program[0] : NULL;

	if (!program)
		snprintf(file, PATH_MAX, "/proc/%s/exe", options->attach);
	else if (strchr(program, '/') || !path_search(program, file))
		snprintf(file, PATH_MAX, "%s", program);
}

char **perf_command_make(const struct options *options)
{
	uint64_t buffer = recorder_buffer(options);
	const char *level = options->mode == TRACE_MODE_BOTH     ? ""
			    : options->mode == TRACE_MODE_KERNEL ? "k"
								 : "u";
	bool whole = buffer % (1 << 20) == 0, watched = options->snapshot_at || options->snapshots;
	struct words words = { 0 };
	char file[PATH_MAX];

	add(&words, "perf");
	add(&words, "record");
	add(&words, "-o");
	add(&words, "%s", options->input);
	if (buffer)
		add(&words, "-m,%" PRIu64 "%c", whole ? buffer >> 20 : (buffer + 1023) >> 10,
		    whole ? 'M' : 'K');
	add(&words, "-e");
	add(&words, "intel_pt/%s/%s", recorder_can("psb_cyc") ? "cyc=1" : "", level);
	if (options->start_at) {
		/* perf opens the file without searching PATH. */
		perf_command_file(options, file);
		add(&words, "--filter");
		add(&words, "start %s @ %s", options->start_at, file);
	}
	if (options->snapshots) {
		add(&words, "--snapshot");
		add(&words, "--switch-output=signal");
		add(&words, "--control=fd:%d", PERF_CONTROL);
	} else if (options->snapshot || options->snapshot_at) {
		add(&words, "--snapshot=e");
	}
	if (options->all_cpus)
		add(&words, "-a");
	if (options->attach) {
		add(&words, "-p");
		add(&words, "%s", options->attach);
	}
	if (options->program || watched)
		add(&words, "--");
	/* perf starts its program when it records: only then are calls watched. */
	if (!options->program && watched) {
		add(&words, "sleep");
		add(&words, "infinity");
	}
	for (char **word = options->program; word && *word; word++)
		add(&words, "%s", *word);
	return words.words;
}

static void print_word(const char *word, FILE *out)
{
	if (*word && !word[strcspn(word, " \t\n\"'\\$`*?[]{}()<>|&;#~!")]) {
		fputs(word, out);
		return;
	}
	putc('\'', out);
	for (; *word; word++) {
		if (*word == '\'')
			fputs("'\\''", out);
		else
			putc(*word, out);
	}
	putc('\'', out);
}

void perf_command_print(char *const *words, FILE *out)
{
	for (; *words; words++) {
		print_word(*words, out);
		putc(words[1] ? ' ' : '\n', out);
	}
}

void perf_command_free(char **words)
{
	for (char **word = words; word && *word; word++)
		free(*word);
	free(words);
}
