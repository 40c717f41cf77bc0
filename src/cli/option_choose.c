/* SPDX-License-Identifier: MIT */
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "src/cli/option_group.h"
#include "src/cli/spelling.h"

int option_choose(struct argp_state *state, const struct option_choice *choices, const char *option,
		  const char *word)
{
	struct nearest nearest;
	char known[400] = "";
	size_t used = 0;

	spelling_init(&nearest, word, strlen(word));
	for (const struct option_choice *choice = choices; choice->word; choice++) {
		if (strcmp(choice->word, word) == 0)
			return choice->value;
		spelling_consider(&nearest, choice->word);
		if (used < sizeof(known))
			used += (size_t)snprintf(known + used, sizeof(known) - used, "%s%s",
						 used ? ", " : "", choice->word);
	}
	if (nearest.best)
		argp_error(state, "--%s: '%s' is none of: %s; did you mean '%s'?", option, word,
			   known, nearest.best);
	else
		argp_error(state, "--%s: '%s' is none of: %s", option, word, known);
	return 0;
}

/* ---- Suggestions for options --------------------------------------------- */

/* What getopt says of a long option that it knows: an unknown one is 0. */
#define KNOWN 1

struct long_options {
	struct option *list; /* owned; ends with a zeroed one */
	size_t count, room;
};

static void add(struct long_options *all, const char *name, int has_arg)
{
	all->list = alloc_grow(all->list, &all->room, all->count + 2, sizeof(*all->list));
	all->list[all->count++] = (struct option){ name, has_arg, NULL, KNOWN };
	all->list[all->count] = (struct option){ 0 };
}

static void gather(struct long_options *all, const struct argp *argp)
{
	for (const struct argp_option *option = argp->options;
	     option && (option->name || option->key || option->doc || option->group); option++) {
		if (option->name && option->flags & OPTION_ARG_OPTIONAL)
			add(all, option->name, optional_argument);
		else if (option->name)
			add(all, option->name, option->arg ? required_argument : no_argument);
	}
	for (const struct argp_child *child = argp->children; child && child->argp; child++)
		gather(all, child->argp);
}

/* "f:o:q...": the short options, as getopt_long() wants them. */
static void gather_short(char **text, size_t *room, size_t *used, const struct argp *argp)
{
	for (const struct argp_option *option = argp->options;
	     option && (option->name || option->key || option->doc || option->group); option++) {
		if (option->key <= ' ' || option->key > '~')
			continue;
		*text = alloc_grow(*text, room, *used + 4, 1);
		*used += (size_t)sprintf(*text + *used, "%c%s", option->key,
					 !option->arg                          ? ""
					 : option->flags & OPTION_ARG_OPTIONAL ? "::"
									       : ":");
	}
	for (const struct argp_child *child = argp->children; child && child->argp; child++)
		gather_short(text, room, used, child->argp);
}

static void suggest(const struct long_options *all, const char *word)
{
	size_t length = strcspn(word + 2, "=");
	struct nearest nearest;

	spelling_init(&nearest, word + 2, length);
	for (size_t i = 0; i < all->count; i++)
		spelling_consider(&nearest, all->list[i].name);
	/* At distance 0 it is the beginning of several, which argp lists. */
	if (!nearest.best || !nearest.distance)
		return;
	fprintf(stderr, "ptrace2ftf: unrecognized option '%.*s'; did you mean '--%s'?\n",
		(int)length + 2, word, nearest.best);
	exit(EXIT_USAGE);
}

/*
 * argp lets getopt print its errors, and a program cannot add to them.  So
 * getopt runs once before, silently, until it meets what it does not know.
 */
void option_suggest(const struct argp *argp, int argc, char **argv)
{
	struct long_options all = { 0 };
	char **words = alloc_zeroed((size_t)argc + 1, sizeof(*words));
	char *letters = NULL;
	size_t room = 0, used = 0;
	int got;

	/* getopt moves words about. */
	memcpy(words, argv, (size_t)argc * sizeof(*words));
	gather(&all, argp);
	gather_short(&letters, &room, &used, argp);
	add(&all, "help", no_argument);
	add(&all, "usage", no_argument);
	add(&all, "version", no_argument);
	letters = alloc_grow(letters, &room, used + 3, 1);
	strcpy(letters + used, "?V");
	opterr = 0;
	optind = 0;
	do
		got = getopt_long(argc, words, letters, all.list, NULL);
	while (got != -1 && (got != '?' || optopt));
	if (got == '?' && strncmp(words[optind - 1], "--", 2) == 0)
		suggest(&all, words[optind - 1]);
	free(letters);
	free(words);
	free(all.list);
}
