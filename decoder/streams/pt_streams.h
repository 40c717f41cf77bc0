/* SPDX-License-Identifier: MIT */
/*
 * All streams of a recording, as one: their events in the order of time.
 *
 * A stream takes some 13 KiB while it is decoded, however short it is, and a file
 * may claim to have any number of them, all of one time.  So only as many are open
 * at once as the trace is large for.  Where there are more, they are decoded in
 * groups, the events of each group go to a file without a name (base/io/temp_file.h), in
 * their order, and then the groups are merged: what comes out is the same.
 * No machine has so many buffers that hold so little.
 */
#ifndef DECODER_STREAMS_PT_STREAMS_H
#define DECODER_STREAMS_PT_STREAMS_H

#include <stddef.h>

#include "base/error.h"
#include "base/io/big_array.h"
#include "base/io/temp_file.h"
#include "decoder/engine/pt_stream.h"
#include "decoder/streams/branch_merge.h"

/* Where streams come from. */
struct pt_streams_source {
	/* Returns what stream `index` needs; see struct pt_stream_input. */
	struct pt_stream_input (*input)(const void *context, size_t index);
	const void *context;
	size_t count;
};

/* Zeroed, there are none. */
struct pt_streams {
	struct pt_streams_source source;
	struct pt_stream **open; /* owned: all streams, or a stream for each group */
	size_t open_count;
	struct branch_merge merge; /* of those */
	/* Of groups only: */
	struct big_array stats; /* owned; of each stream of the source */
	struct temp_file file;
	const struct branch_event *events; /* owned mapping of it */
};

/*
 * Open all streams; those of groups are decoded at once.  Where no file can be made
 * for these, or the disk is full, all are open at once after all.
 * Returns 0; -1 with err filled: a stream cannot be opened.  The caller calls
 * pt_streams_close() in both cases.
 */
int pt_streams_open(struct pt_streams *streams, const struct pt_streams_source *source,
		    struct error *err);

/*
 * Returns how many events come next, all of one stream; 0: there are none any more,
 * or, in a turn (workers.h), others decode them.  They are borrowed until the next
 * call.
 */
size_t pt_streams_next(struct pt_streams *streams, const struct branch_event **events);

/* Returns whether pt_streams_next() found no events because others decode them. */
static inline bool pt_streams_wait(const struct pt_streams *streams)
{
	return streams->merge.waits;
}

/* Returns the statistics of a stream up to now, borrowed. */
const struct pt_stream_stats *pt_streams_stats(const struct pt_streams *streams, size_t index);

/* Idempotent, also on zeroed memory. */
void pt_streams_close(struct pt_streams *streams);

#endif
