/* SPDX-License-Identifier: MIT */
/*
 * Memory for the events of segments, shared by all streams of a recording.
 *
 * Each segment in progress has a list of chunks. A chunk goes back as soon as its events are
 * consumed, and is the next one to be used again, so that its memory stays in the processor's
 * cache: the pool's size is that of the events that wait, not that of the largest segment times the
 * number of segments.
 */
#pragma once

#include "decoder/branch_event.h"

/* Events of a chunk, which has 64 KiB with its head. */
#define EVENT_CHUNK 1023

struct event_chunk {
	struct event_chunk
		*next; /* next chunk of the segment, or next unused one; NULL: the last */
	size_t count;  /* events */
	_Alignas(64) struct branch_event events[EVENT_CHUNK];
};

struct event_pool;

/* Returns an empty pool, owned by the caller. */
struct event_pool *event_pool_open(void);

/* Release the pool with all chunks. NULL is allowed. */
void event_pool_close(struct event_pool *pool);

/* Returns an empty chunk, borrowed until it is given back. In any thread. */
struct event_chunk *event_pool_take(struct event_pool *pool);

/* Give back a list of chunks; NULL is allowed. In any thread. */
void event_pool_give(struct event_pool *pool, struct event_chunk *chunks);
