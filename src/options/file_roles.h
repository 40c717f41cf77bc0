/* SPDX-License-Identifier: MIT */
/* Which of the paths of the options are read and which are written: base/io/file_use.h. */
#ifndef SRC_OPTIONS_FILE_ROLES_H
#define SRC_OPTIONS_FILE_ROLES_H

#include "base/error.h"
#include "src/options/options.h"

/* All files that the options name to be read may be written by nobody from now on. */
void file_roles_read(const struct options *options);

/*
 * Before the recording is read: check the path of an output; NULL and "": none.  `what`,
 * borrowed for ever, is its option or its input.
 * Returns 0; -1 with err filled if it cannot be created, is, under whatever name, one of
 * the files to be read, or has the place of another output.
 */
int file_roles_write(const char *path, const char *what, struct error *err);

#endif
