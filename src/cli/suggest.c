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

int choose_value(const struct option_spec *spec, const char *word)
{
	struct nearest nearest;
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
	if (nearest.best)
		usage_error("unknown --%s '%s'; choose from %s; did you mean '%s'?", spec->name,
			    word, known, nearest.best);
	else
		usage_error("unknown --%s '%s'; choose from %s", spec->name, word, known);
	return 0;
}

void suggest_command(const char *word)
{
	struct nearest nearest;

	/* A letter or two may be a file that is missing. */
	if (*word == '-' || strlen(word) < 3 || access(word, F_OK) == 0)
		return;
	spelling_init(&nearest, word, strlen(word));
	for (int i = COMMAND_CONVERT + 1; i < COMMANDS; i++)
		spelling_consider(&nearest, command_specs[i].name);
	if (nearest.best)
		usage_error("unknown command '%s'; did you mean '%s'?", word, nearest.best);
}

void suggest_option(enum command command, const char *word, size_t length)
{
	struct nearest nearest;

	spelling_init(&nearest, word + 2, length - 2);
	for (const struct option_spec *option = option_specs; option->name; option++)
		if (command_takes(command, option))
			spelling_consider(&nearest, option->name);
	if (nearest.best)
		usage_error("unrecognized option '%.*s'; did you mean '--%s'?", (int)length, word,
			    nearest.best);
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
