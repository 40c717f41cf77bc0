/* SPDX-License-Identifier: MIT */
/* Suggestions for misspelt options and arguments. */

#include <stdarg.h>
#include <unistd.h>

#include "base/spelling.h"
#include "src/cli/commands.h"
#include "src/formats/output_format.h"

void usage_error(const char *format, ...)
{
	va_list args;

	message_begin_error(stderr);
	va_start(args, format);
	vfprintf(stderr, format, args);
	va_end(args);
	putc('\n', stderr);
	exit(EXIT_USAGE);
}

/* Words of perf and of other tools, and what they are here: an option, a command or a format. */
static const struct {
	const char *word, *ours;
} foreign_words[] = {
	{ "convert", "ptrace2ftf FILE" },
	{ "annotate", "callgrind" },
	{ "compare", "ptrace2ftf diff" },
	{ "evlist", "ptrace2ftf list" },
	{ "flame", "folded" },
	{ "flame-graph", "folded" },
	{ "flamegraph", "folded" },
	{ "autofdo", "llvm-profile" },
	{ "coverage", "lcov" },
	{ "gcov", "lcov" },
	{ "info", "ptrace2ftf list" },
	{ "json", "chrome" },
	{ "ls", "ptrace2ftf list" },
	{ "perfetto", "ftf" },
	{ "report", "functions" },
	{ "script", "branches" },
	{ "show", "ptrace2ftf open" },
	{ "stat", "ptrace2ftf list" },
	{ "svg", "html" },
	{ "text", "slices" },
	{ "top", "functions" },
	{ "version", "ptrace2ftf --version" },
	{ "outliers", "ptrace2ftf why" },
	{ "--diff", "ptrace2ftf diff" },
	{ "--filter", "--symbol" },
	{ "--function", "--symbol" },
	{ "--list", "ptrace2ftf list" },
	{ "--slower", "--slow" },
	{ "--slower-than", "--slow" },
	{ "--start", "--time" },
	{ "--to", "--time" },
	{ "-C", "--cpu" },
	{ "-S", "--symbol" },
	{ "-e", "ptrace2ftf record -- PROGRAM" },
	{ "-s", "--symbol" },
};

static bool is_word(const char *word, size_t length, const char *known)
{
	return strlen(known) == length && memcmp(known, word, length) == 0;
}

static const char *find_foreign(const char *word, size_t length)
{
	for (size_t i = 0; i < COUNT_OF(foreign_words); i++)
		if (is_word(word, length, foreign_words[i].word))
			return foreign_words[i].ours;
	return NULL;
}

/* Print an error with what a word was meant to be: a word of ours, or else the nearest one. */
static void suggest(const char *what, const char *word, size_t length, const char *nearest)
{
	const char *ours = find_foreign(word, length), *before = "";
	bool option = length > 2 && memcmp(word, "--", 2) == 0;

	if (!ours && option)
		ours = find_foreign(word + 2, length - 2);
	for (int i = 0; output_formats[i]; i++) {
		const char *format = output_formats[i]->name;

		if (!ours && is_word(word + 2 * option, length - 2 * option, format))
			ours = format;
		if (ours && strcmp(ours, format) == 0)
			before = "ptrace2ftf -f ";
	}
	if (!ours && nearest && option)
		before = "--";
	if (ours || nearest)
		usage_error("%s '%.*s'; did you mean '%s%s'?", what, (int)length, word, before,
			    ours ? ours : nearest);
}

int choose_value(const struct option_spec *spec, const char *word)
{
	const char *ours = find_foreign(word, strlen(word)), *meant = NULL;
	struct nearest nearest;
	char known[400] = "";
	size_t used = 0;

	spelling_init(&nearest, word, strlen(word));
	for (const struct option_choice *choice = spec->choices; choice->word; choice++) {
		if (strcmp(choice->word, word) == 0)
			return choice->value;
		if (ours && strcmp(choice->word, ours) == 0)
			meant = ours;
		spelling_consider(&nearest, choice->word);
		if (used < sizeof(known))
			used += (size_t)snprintf(known + used, sizeof(known) - used, "%s%s",
						 used ? ", " : "", choice->word);
	}
	meant = meant ? meant : nearest.best;
	usage_error("unknown --%s '%s'; choose from %s%s%s%s", spec->name, word, known,
		    meant ? "; did you mean '" : "", meant ? meant : "", meant ? "'?" : "");
}

void suggest_command(const char *word)
{
	struct nearest nearest;

	if (access(word, F_OK) == 0)
		return;
	if (command_find(word) != COMMAND_CONVERT)
		usage_error("'%s' is a command; write it before its options", word);
	spelling_init(&nearest, word, strlen(word));
	/* A letter or two may be a file that is missing. */
	for (int i = COMMAND_CONVERT + 1; i < COMMANDS && word[0] && word[1] && word[2]; i++)
		spelling_consider(&nearest, command_specs[i].name);
	suggest("unknown command", word, strlen(word), nearest.best);
}

void suggest_option(enum command command, const char *word, size_t length)
{
	struct nearest nearest;

	spelling_init(&nearest, word + 2, length - 2);
	for (const struct option_spec *option = option_specs; option->name; option++)
		if (command_takes(command, option))
			spelling_consider(&nearest, option->name);
	suggest("unrecognized option", word, length, nearest.best);
	usage_error("unrecognized option '%.*s'; `ptrace2ftf%s --help=all` lists all", (int)length,
		    word, command_word(command));
}

void suggest_command_of(enum command command, const struct option_spec *option)
{
	int other = 0;

	while (!command_takes((enum command)other, option))
		other++;
	if (other == COMMAND_CONVERT)
		usage_error("`ptrace2ftf%s` takes no --%s; leave it out", command_word(command),
			    option->name);
	usage_error("--%s needs `ptrace2ftf%s`", option->name, command_word((enum command)other));
}
