/* SPDX-License-Identifier: MIT */
/*
 * Writes memtrace files, as memtrace's own encoder does: version 3, packets of at most 32 KiB
 * which span at most 30 s, locations before the backtraces that need them.
 *
 * Domains are multiplexed: when an event is of another domain, the packet of the one before ends,
 * so the file has the events in the order in which they were put.  Sources: memtrace's
 * src/trace.ml, src/backtrace_codec.ml and src/location_codec.ml.
 */
#ifndef OVERLAYS_MEMTRACE_WRITER_H
#define OVERLAYS_MEMTRACE_WRITER_H

#include "overlays/memtrace.h"

struct memtrace_writer;

/* A destination for the bytes of a file, in order. */
struct memtrace_sink {
	void (*put)(void *context, const void *bytes, size_t size);
	void *context; /* borrowed */
};

/*
 * Begin a file with its description.  `locations`, borrowed until close, has to know a code when
 * the packet with its first use ends; a code that it does not know is written without a location.
 * Returns the writer, owned by the caller.
 */
struct memtrace_writer *memtrace_writer_open(const struct memtrace_info *info,
					     const struct memtrace_locations *locations,
					     struct memtrace_sink sink);

/*
 * Write an event.  Times of a domain must not go back, nor numbers of its allocations.  `common` is
 * not used: it is computed.
 * Of a backtrace that takes more than 4 KiB, the innermost entries are left out.
 */
void memtrace_writer_put(struct memtrace_writer *writer, const struct memtrace_event *event);

/* End the file and free the writer.  NULL is allowed. */
void memtrace_writer_close(struct memtrace_writer *writer);

#endif
