/* SPDX-License-Identifier: MIT */
/*
 * What an output was made of: the program's version, a hash of the input's
 * bytes, and one of the options.  An output that carries the stamp of a run is
 * what that run would write, so the run can be left out.
 *
 * In FTF the stamp is a blob record near the start (Perfetto skips it), also
 * inside of .gz and .zst, so it survives copies.  Other formats have no place
 * for it: there it is the extended attribute "user.ptrace2ftf", which not every
 * file system keeps; an output that has lost it is made again.
 */
#ifndef SRC_BATCH_BATCH_STAMP_H
#define SRC_BATCH_BATCH_STAMP_H

#include <stdbool.h>

#include "base/error.h"
#include "src/options/options.h"

struct stamp {
	char text[200]; /* one line without newline: "stamp 1 VERSION INPUT-HASH OPTIONS-HASH" */
};

/*
 * Read all of the options' inputs, and make the stamp of them.
 * Returns 1; 0 if an input is no file or directory, so that it can be read
 * only once; -1 with err filled.
 */
int stamp_make(struct stamp *stamp, const struct options *options, struct error *err);

/* Returns whether there is an output at `path` that carries the stamp. */
bool stamp_is_on(const struct stamp *stamp, const struct output_format *format, const char *path);

/*
 * Put the stamp on a finished output that is not FTF.
 * Returns 0; -1 if the file system does not keep attributes.
 */
int stamp_put(const struct stamp *stamp, const char *path);

#endif
