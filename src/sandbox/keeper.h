/* SPDX-License-Identifier: MIT */
/*
 * A process that creates, moves and removes the files of a sandboxed conversion in its place.
 *
 * The conversion writes to descriptors that the keeper opened, and to nothing else.  The
 * keeper makes only temporary files of the outputs that the options name, and files without
 * a name where temporary files are; it moves each of them to its own output only.  It is
 * started before the recording is read, so that nothing that was read can change what it
 * allows.  When the conversion ends, however it does, the keeper removes the files that are
 * not in their places, and ends.
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

/* Returns the socket to the keeper; -1: there is none. */
int keeper_socket(void);

#endif
