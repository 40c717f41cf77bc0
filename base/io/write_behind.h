/* SPDX-License-Identifier: MIT */
/*
 * Lets workers write an output's bytes, in order, while the caller makes more.  Of a trace, more
 * than half of the time of encoding and writing is the system's copy into its page cache.
 *
 * Bytes are copied into one of two buffers; a job writes the other.  If no worker is idle, the
 * caller writes as without this.
 */
#ifndef BASE_IO_WRITE_BEHIND_H
#define BASE_IO_WRITE_BEHIND_H

#include "base/io/output.h"
#include "base/workers.h"

struct write_behind;

/*
 * From now on let workers write `output`, which output_is_readable(); both are borrowed until
 * write_behind_close().  One thread at a time may use the output, also in jobs and in the stage.
 * Returns a handle for write_behind_close(), owned by the caller.
 */
struct write_behind *write_behind_open(struct output *output, struct workers *workers);

/* Wait until all is written; from now on the output's users write.  NULL is allowed. */
void write_behind_close(struct write_behind *behind);

#endif
