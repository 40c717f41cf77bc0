/* SPDX-License-Identifier: MIT */
/* Options that the user gives once: in a file, and in a variable of the environment. */
#ifndef SRC_CLI_SETTINGS_H
#define SRC_CLI_SETTINGS_H

#include "base/common.h"

#define SETTINGS_VARIABLE "PTRACE2FTF_OPTIONS"

/* Gets an option without "--"; `argument` is NULL if it has none.  Both point into the text. */
typedef void settings_fn(void *context, char *name, char *argument, const char *source);

/*
 * Returns the text of $XDG_CONFIG_HOME/ptrace2ftf/config (~/.config without the variable), owned by
 * the caller; "" if there is no file.  A file that cannot be read ends the program with
 * EXIT_FAILED. *path gets its path, owned by the caller, too; NULL: the user has no home.
 */
char *settings_read_file(char **path);

/*
 * Pass on the options of a text: with `lines`, each line is "NAME = ARGUMENT", "NAME", or a comment
 * that begins with "#"; else words as on the command line.  The text is cut into pieces.
 */
void settings_parse(char *text, bool lines, const char *source, settings_fn *take, void *context);

#endif
