/* SPDX-License-Identifier: MIT */
/* Words of perf record: man perf-record, man perf-intel-pt. */
#include "src/record/perf_command.h"

#include <stdarg.h>

#include "src/record/path_search.h"

struct words {
	char **words; /* owned, and the texts */
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

/* The file whose function starts the trace. */
static void add_start(struct words *words, const struct options *options)
{
	const char *function = options->start_at;
	const char *program = options->program ? options->program[0] : NULL;
	char found[PATH_MAX];

	/* perf opens the file, and does not search PATH for it. */
	if (program && !strchr(program, '/') && path_search(program, found))
		program = found;
	add(words, "--filter");
	if (program)
		add(words, "start %s @ %s", function, program);
	else
		add(words, "start %s @ /proc/%s/exe", function, options->attach);
}

char **perf_command_make(const struct options *options, const struct pt_caps *caps,
			 const char *buffer)
{
	const char *level = options->mode == TRACE_MODE_BOTH     ? ""
			    : options->mode == TRACE_MODE_KERNEL ? "k"
								 : "u";
	struct words words = { 0 };

	add(&words, "perf");
	add(&words, "record");
	add(&words, "-o");
	add(&words, "%s", options->input);
	if (buffer)
		add(&words, "-m%s", buffer);
	add(&words, "-e");
	add(&words, "intel_pt/%s/%s", caps->cycles ? "cyc=1" : "", level);
	if (options->start_at)
		add_start(&words, options);
	if (options->snapshot)
		add(&words, "--snapshot=e");
	if (options->all_cpus)
		add(&words, "-a");
	if (options->attach) {
		add(&words, "-p");
		add(&words, "%s", options->attach);
	}
	if (options->program)
		add(&words, "--");
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
