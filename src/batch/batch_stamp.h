/* SPDX-License-Identifier: MIT */
/*
 * Stamps of outputs: the program's version, a hash of the inputs' bytes, and a hash of the options.
 * A run whose stamp is on the output already can be skipped, as it would write the same bytes.
 *
 * In FTF, also inside .gz and .zst, the stamp is a blob record near the start, which Perfetto
 * skips; it survives copies.  Outputs of other formats have the extended attribute
 * "user.ptrace2ftf", which not every file system keeps; without it an output is converted again.
 */
#ifndef SRC_BATCH_BATCH_STAMP_H
#define SRC_BATCH_BATCH_STAMP_H

#include "src/options/options.h"

struct stamp {
	char text[200]; /* one line without newline: "stamp 1 VERSION INPUT-HASH OPTIONS-HASH" */
};

/*
 * Make the stamp of the options and their inputs, which are read whole.
 * Returns 1; 0 if an input can be read only once, as it is no file or
 * directory; -1 with err filled.
 */
int stamp_make(struct stamp *stamp, const struct options *options, struct error *err);

/* Returns whether a file at `path` has the stamp. */
bool stamp_is_on(const struct stamp *stamp, const struct output_format *format, const char *path);

/*
 * Set the attribute of a finished output of a format other than FTF.
 * Returns 0; -1 if the file system does not keep attributes.
 */
int stamp_set_attribute(const struct stamp *stamp, const char *path);

#endif
