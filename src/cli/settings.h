/* SPDX-License-Identifier: MIT */
/* Options that the user sets once, in a file or an environment variable. */
#ifndef SRC_CLI_SETTINGS_H
#define SRC_CLI_SETTINGS_H

#include "base/common.h"

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

#endif
