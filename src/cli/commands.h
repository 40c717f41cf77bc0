/* SPDX-License-Identifier: MIT */
/* The commands: their purpose, and the options that they take. */
#pragma once

#include "src/cli/option_table.h"

struct command_spec {
	const char *name;      /* first word of the command line; NULL: a conversion */
	const char *arguments; /* as shown by --help */
	const char *summary;   /* line in the list of commands, and first line of --help */
	const char *more;      /* last lines of --help */
	unsigned groups;       /* bit set of option groups that it takes */
	const char *formats;   /* help of --format, if not all formats are allowed */
};

/* By enum command. */
extern const struct command_spec command_specs[COMMANDS];

/* Returns the command of this name, or COMMAND_CONVERT. */
enum command command_find(const char *word);

/* Returns whether a command takes an option. */
bool command_takes(enum command command, const struct option_spec *option);

/* Returns the text after "ptrace2ftf" in the command's name, valid until the next call. */
const char *command_word(enum command command);

/*
 * Print the help of a command to standard output. `all`: every option; otherwise the common ones,
 * each up to the first semicolon of its help.
 */
void help_print(enum command command, bool all);

/* Print the versions of the program and its libraries, and the features that this build lacks. */
void versions_print(void);

/* ---- Usage errors for misspelt words, with suggestions -------------------- */

/* Print a usage error and exit with EXIT_USAGE. */
void usage_error(const char *format, ...) __attribute__((noreturn, format(printf, 1, 2)));

/*
 * Returns the value of `word` among the choices of an option. For other words, exits with "unknown
 * --OPTION 'WORD'; choose from A, B, C" and the nearest choice. The shells' completions read the
 * choices from that line.
 */
int choose_value(const struct option_spec *spec, const char *word);

/*
 * If the first input is not a file, but a command, a misspelt command, or a word of other tools,
 * print a suggestion and exit with EXIT_USAGE.
 */
void suggest_command(const char *word);

/* Suggest the option of a command that is nearest to an unknown word of `length` bytes; exit. */
void suggest_option(enum command command, const char *word, size_t length)
	__attribute__((noreturn));

/* Report that a command does not take an option, and suggest a command that does; exit. */
void suggest_command_of(enum command command, const struct option_spec *option)
	__attribute__((noreturn));
