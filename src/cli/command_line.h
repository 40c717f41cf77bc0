/* SPDX-License-Identifier: MIT */
#pragma once

#include "src/options/options.h"

/*
 * Parse the command line of a command (its first word) into `options`, which borrows its strings;
 * the caller releases it. Prints usage errors, --help and --version itself and exits, with status
 * 64 for usage errors and 0 for the others.
 */
void command_line_parse(struct options *options, enum command command, int argc, char **argv);

/*
 * Parse the command line of `ptrace2ftf diff`, once per recording: --NAME-a and --NAME-b are --NAME
 * for one of them. Otherwise as command_line_parse(); the strings live until the program exits.
 */
void command_line_parse_diff(struct options sides[2], int argc, char **argv);

/*
 * Parse the command line of `ptrace2ftf help` and `ptrace2ftf clock-sync`, which take no options.
 * Returns the named command, or COMMAND_CONVERT.
 */
enum command command_line_parse_words(enum command command, int argc, char **argv);

/*
 * Returns the status of a command that only printed: EXIT_FAILED, after a message, if standard
 * output took less.
 */
enum exit_status command_line_printed(void);

/* ---- Parts of the parser ------------------------------------------------- */

/*
 * Read the NUL-terminated names in the file of --files0-from and append them to the inputs. Errors
 * are usage errors, which exit.
 */
void input_list_read(struct options *options);

/*
 * If options->format is NULL, choose it by the suffix of --output or --output, before .gz
 * or .zst: out.html is a page. The default is the first of output_formats. Prints an error and
 * exits with EXIT_USAGE if the suffix belongs to another format than --format's, to a format that
 * is not written (.xz, .perfetto-trace), or, without --format, to no format.
 */
void output_suffix_choose(struct options *options);

/*
 * Choose the format of --slowest and --slow, if either is given. Call before
 * output_suffix_choose(). Exits with EXIT_USAGE if they are incomplete.
 */
void option_conflicts_choose_format(struct options *options);

/* If options conflict, print the first conflict and exit with EXIT_USAGE. */
void option_conflicts_refuse(const struct options *options);

/* ---- Options that the user sets once, in a file or an environment variable ---- */

#define SETTINGS_VARIABLE "PTRACE2FTF_OPTIONS"

/* Receives an option, without "--"; `argument` may be NULL. Both point into the text. */
typedef void settings_fn(void *context, char *name, char *argument, const char *source);

/*
 * Returns the text of $XDG_CONFIG_HOME/ptrace2ftf/config (default: ~/.config), owned by the caller;
 * "" if there is no file. Exits with EXIT_FAILED if the file cannot be read. Sets *path to its
 * path, owned by the caller; NULL: the user has no home.
 */
char *settings_read_file(char **path);

/*
 * Pass on the options in a text. `lines`: each line is "NAME = ARGUMENT", "NAME", or a comment that
 * starts with "#"; otherwise it has words as on the command line. Modifies the text.
 */
void settings_parse(char *text, bool lines, const char *source, settings_fn *take, void *context);
