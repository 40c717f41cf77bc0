/* SPDX-License-Identifier: MIT */
/* Suggestions for misspelt options and arguments. */
#include "src/cli/suggest.h"

#include <stdarg.h>
#include <unistd.h>

#include "base/message.h"
#include "base/spelling.h"
#include "src/cli/commands.h"
#include "src/options/options.h"

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

/* Words of perf and of other tools, and their equivalents here. */
static const struct {
	const char *word, *ours;
} foreign_words[] = {
	{ "convert", "ptrace2ftf FILE" },
	{ "report", "ptrace2ftf -f functions" },
	{ "script", "ptrace2ftf -f branches" },
	{ "stat", "ptrace2ftf list" },
	{ "--list", "ptrace2ftf list" },
	{ "-i", "ptrace2ftf FILE" },
	{ "--function", "--symbol" },
	{ "--filter", "--symbol" },
	{ "--slower-than", "--slow" },
	{ "text", "slices" },
	{ "json", "chrome" },
	{ "perfetto", "ftf" },
	{ "flamegraph", "folded" },
	{ "coverage", "lcov" },
};

/* Returns the word that was probably meant; NULL: unknown. */
static const char *meant_word(const struct nearest *nearest, const char *word, size_t length)
{
	for (size_t i = 0; i < sizeof(foreign_words) / sizeof(foreign_words[0]); i++)
		if (strlen(foreign_words[i].word) == length &&
		    memcmp(foreign_words[i].word, word, length) == 0)
			return foreign_words[i].ours;
	return nearest->best;
}

int choose_value(const struct option_spec *spec, const char *word)
{
	struct nearest nearest;
	const char *meant;
	char known[400] = "";
	size_t used = 0;

	spelling_init(&nearest, word, strlen(word));
	for (const struct option_choice *choice = spec->choices; choice->word; choice++) {
		if (strcmp(choice->word, word) == 0)
			return choice->value;
		spelling_consider(&nearest, choice->word);
		if (used < sizeof(known))
			used += (size_t)snprintf(known + used, sizeof(known) - used, "%s%s",
						 used ? ", " : "", choice->word);
	}
	meant = meant_word(&nearest, word, strlen(word));
	if (meant)
		usage_error("unknown --%s '%s'; choose from %s; did you mean '%s'?", spec->name,
			    word, known, meant);
	else
		usage_error("unknown --%s '%s'; choose from %s", spec->name, word, known);
	return 0;
}

void suggest_command(const char *word)
{
	struct nearest nearest;
	const char *meant;

	/* One or two letters may be the name of a missing file. */
	if (*word == '-' || strlen(word) < 3 || access(word, F_OK) == 0)
		return;
	spelling_init(&nearest, word, strlen(word));
	for (int i = COMMAND_CONVERT + 1; i < COMMANDS; i++)
		spelling_consider(&nearest, command_specs[i].name);
	meant = meant_word(&nearest, word, strlen(word));
	if (meant)
		usage_error("unknown command '%s'; did you mean '%s'?", word, meant);
}

void suggest_option(enum command command, const char *word, size_t length)
{
	struct nearest nearest;
	const char *meant;

	spelling_init(&nearest, word + 2, length - 2);
	for (const struct option_spec *option = option_specs; option->name; option++)
		if (command_takes(command, option))
			spelling_consider(&nearest, option->name);
	meant = meant_word(&nearest, word, length);
	if (meant)
		usage_error("unrecognized option '%.*s'; did you mean '%s%s'?", (int)length, word,
			    meant == nearest.best ? "--" : "", meant);
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
