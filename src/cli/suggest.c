/* SPDX-License-Identifier: MIT */
/* Suggestions for misspelt options and arguments. */
#include "src/cli/suggest.h"

#include <getopt.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/spelling.h"
#include "src/cli/usage_error.h"

int choose_value(struct argp_state *state, const struct option_spec *spec, const char *word)
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
		usage_error(state, "unknown --%s '%s'; choose from %s; did you mean '%s'?",
			    spec->name, word, known, nearest.best);
	else
		usage_error(state, "unknown --%s '%s'; choose from %s", spec->name, word, known);
	return 0;
}

/* What getopt_long() returns for a known long option: an unknown one is '?', and 0 in optopt. */
#define KNOWN 1

/* The options of argp itself. */
static const struct option own_options[] = { { "help", no_argument, NULL, KNOWN },
					     { "usage", no_argument, NULL, KNOWN },
					     { "version", no_argument, NULL, KNOWN },
					     { 0 } };
static const char own_letters[] = "?Vh";

static int argument_kind(const struct option_spec *spec)
{
	if (!spec->argument)
		return no_argument;
	return spec->if_omitted ? optional_argument : required_argument;
}

/* Returns whether it has named an option that the word is near to. */
static bool suggest_nearest(const struct option *known, const char *word)
{
	size_t length = strcspn(word + 2, "=");
	struct nearest nearest;

	spelling_init(&nearest, word + 2, length);
	for (; known->name; known++)
		spelling_consider(&nearest, known->name);
	/* At distance 0 the word is the beginning of several options, which argp lists. */
	if (!nearest.best || !nearest.distance)
		return false;
	message_begin_error(stderr);
	fprintf(stderr, "unrecognized option '%.*s'; did you mean '--%s'?\n", (int)length + 2, word,
		nearest.best);
	return true;
}

void suggest_command(int argc, char **argv)
{
	static const char *const commands[] = { "open", "diff", "record", "clock-sync" };
	struct nearest nearest;

	/* A letter or two may be a file that is missing. */
	if (argc < 2 || *argv[1] == '-' || strlen(argv[1]) < 3 || access(argv[1], F_OK) == 0)
		return;
	spelling_init(&nearest, argv[1], strlen(argv[1]));
	for (size_t i = 0; i < sizeof(commands) / sizeof(commands[0]); i++)
		spelling_consider(&nearest, commands[i]);
	if (!nearest.best)
		return;
	message_begin_error(stderr);
	if (strcmp(argv[1], nearest.best) == 0)
		fprintf(stderr, "%s takes no arguments; leave them out\n", nearest.best);
	else
		fprintf(stderr, "unknown command '%s'; did you mean '%s'?\n", argv[1],
			nearest.best);
	exit(EXIT_USAGE);
}

/*
 * argp has getopt print its errors, and a program cannot add to them.  So
 * getopt runs silently before argp, up to the first unknown option.
 */
void suggest_option(int argc, char **argv)
{
	static const char *const suffixes[] = {
		[no_argument] = "", [required_argument] = ":", [optional_argument] = "::"
	};
	struct option *known = alloc_zeroed(option_count + 4, sizeof(*known));
	char *letters = alloc_zeroed(option_count + 1, sizeof("x::")), *end = letters;
	char **words = alloc_zeroed((size_t)argc + 1, sizeof(*words));
	bool suggested;
	int option;

	/* getopt reorders the words. */
	memcpy(words, argv, (size_t)argc * sizeof(*words));
	for (size_t i = 0; i < option_count; i++) {
		const struct option_spec *spec = &option_specs[i];
		int kind = argument_kind(spec);

		known[i] = (struct option){ spec->name, kind, NULL, KNOWN };
		if (spec->letter)
			end += sprintf(end, "%c%s", spec->letter, suffixes[kind]);
	}
	memcpy(known + option_count, own_options, sizeof(own_options));
	strcpy(end, own_letters);
	opterr = 0;
	optind = 0;
	do
		option = getopt_long(argc, words, letters, known, NULL);
	while (option != -1 && (option != '?' || optopt));
	suggested = option == '?' && strncmp(words[optind - 1], "--", 2) == 0 &&
		    suggest_nearest(known, words[optind - 1]);
	free(words);
	free(letters);
	free(known);
	if (suggested)
		exit(EXIT_USAGE);
}
