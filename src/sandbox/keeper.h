/* SPDX-License-Identifier: MIT */
/*
 * A process that creates, moves and removes files on behalf of a sandboxed conversion.
 *
 * The conversion writes to descriptors that the keeper opened, and to nothing else.  The keeper
 * makes only temporary files of the outputs that the options name, and files without a name where
 * temporary files are; it moves each of them to its own output only.  It is started before the
 * recording is read, so that the recording cannot change its permissions.  When the conversion ends
 * in any way, the keeper removes the files that were not renamed, and ends.
 */
#ifndef SRC_SANDBOX_KEEPER_H
#define SRC_SANDBOX_KEEPER_H

#include "src/options/options.h"

/*
 * Start the keeper of this process, which uses it from now on (base/io/file_makers.h).
 * Called with one thread.
 * Returns NULL; the reason, a constant, if it could not be started.
 */
const char *keeper_start(const struct options *options);

/* Returns the socket to the keeper, or -1 without a keeper. */
int keeper_socket(void);

#endif
