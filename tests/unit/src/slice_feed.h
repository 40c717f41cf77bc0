/* SPDX-License-Identifier: MIT */
/* Feed a slice sink with single events in tests. */
#pragma once

#include "src/slices/slice_sink.h"

static inline void feed_begin(const struct slice_sink *sink, void *track, uint64_t time,
			      const struct symbol *symbol, uint64_t ip, unsigned flags)
{
	slice_sink_emit(sink, track,
			&(struct slice_event){ .time = time,
					       .symbol = symbol,
					       .ip = ip,
					       .flags = (uint16_t)flags,
					       .kind = SLICE_BEGIN },
			NULL);
}

static inline void feed_end(const struct slice_sink *sink, void *track, uint64_t time)
{
	slice_sink_emit(sink, track, &(struct slice_event){ .time = time, .kind = SLICE_END },
			NULL);
}

/* The end of a slice that contains hidden shorter ones. */
static inline void feed_folded_end(const struct slice_sink *sink, void *track, uint64_t time,
				   uint64_t folded, uint64_t folded_time)
{
	slice_sink_emit(sink, track, &(struct slice_event){ .time = time, .kind = SLICE_END },
			&(struct slice_detail){ .folded = folded, .folded_time = folded_time });
}

static inline void feed_instant(const struct slice_sink *sink, void *track, uint64_t time,
				const char *text)
{
	slice_sink_emit(sink, track,
			&(struct slice_event){ .time = time, .text = text, .kind = SLICE_INSTANT },
			NULL);
}

/* Begins and ends in order of time: in one plain batch or one by one. */
static inline void feed_edges(const struct slice_sink *sink, void *track,
			      const struct slice_event *events, size_t count, bool at_once)
{
	if (at_once)
		sink->events(sink, track, &(struct slice_batch){ events, count, NULL, true });
	for (size_t i = 0; !at_once && i < count; i++)
		slice_sink_emit(sink, track, &events[i], NULL);
}
