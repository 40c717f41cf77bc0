/* SPDX-License-Identifier: MIT */
/* The commands: their purpose, and the options that they take. */
#ifndef SRC_CLI_COMMANDS_H
#define SRC_CLI_COMMANDS_H

#include "src/cli/option_table.h"

struct command_spec {
	const char *name;      /* first word of the command line; NULL: a conversion */
	const char *arguments; /* as shown by --help */
	const char *summary;   /* line in the list of commands, and first line of --help */
	const char *more;      /* last lines of --help */
	unsigned groups;       /* bit set of option groups that it takes */
	const char *formats;   /* help of --format, if it takes not all of them */
};

/* By enum command. */
extern const struct command_spec command_specs[COMMANDS];

/* Returns the command of this name, or COMMAND_CONVERT. */
enum command command_find(const char *word);

/* Returns whether a command takes an option. */
bool command_takes(enum command command, const struct option_spec *option);

/* Returns the text after "ptrace2ftf" in the command's name, valid until the next call. */
const char *command_word(enum command command);

#endif
