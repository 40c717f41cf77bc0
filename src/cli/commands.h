/* SPDX-License-Identifier: MIT */
/* The commands: what each is for, and which options it takes. */
#ifndef SRC_CLI_COMMANDS_H
#define SRC_CLI_COMMANDS_H

#include "src/cli/option_table.h"

struct command_spec {
	const char *name;      /* the first word of the command line; NULL: a conversion */
	const char *arguments; /* as --help shows them */
	const char *summary;   /* a line of the list of commands, and what --help begins with */
	const char *more;      /* what --help ends with */
	unsigned groups;       /* a bit for each group of options that it takes */
};

/* By enum command. */
extern const struct command_spec command_specs[COMMANDS];

/* Returns the command that the word names; COMMAND_CONVERT if it names none. */
enum command command_find(const char *word);

/* Returns whether a command takes an option. */
bool command_takes(enum command command, const struct option_spec *option);

/* Returns what follows "ptrace2ftf" where the command is named, valid until the next call. */
const char *command_word(enum command command);

#endif
