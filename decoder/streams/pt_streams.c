/* SPDX-License-Identifier: MIT */
/* Open the streams of a recording in groups, and merge them by time. */
#include "decoder/streams/pt_streams.h"

#include <malloc.h>

#include "base/io/interrupt.h"
#include "base/io/temp_file.h"
#include "decoder/engine/event_pool.h"
#include "decoder/engine/pt_stream_base.h"

/* Streams open at the same time for any trace: 37 MiB. */
#define AT_ONCE ((size_t)2048)
/* Bytes of trace per additional stream, so that memory stays below twice the trace. */
#define BYTES_FOR_ONE ((uint64_t)8 << 10)

/* Batch size, in events; also between two releases of memory. */
#define CHUNK ((size_t)2048)

/* Bytes of statistics, and of events, in memory. */
#define GROUPS_MEMORY ((size_t)4 << 20)

/* ---- A group's events, as a stream --------------------------------------- */

struct group {
	struct pt_stream stream;
	const struct big_array *events; /* borrowed: of all groups */
	size_t next, end;               /* remaining events of the group */
};

/* Drop the events that were read, and provide the next. */
static void step_group(struct pt_stream *stream)
{
	struct group *group = (struct group *)stream;
	size_t count = MIN(group->end - group->next, CHUNK);

	big_array_rest(group->events, group->next - stream->tail, group->next,
		       sizeof(*stream->queue));
	stream->queue = (struct branch_event *)group->events->items + group->next;
	stream->head = 0;
	stream->tail = (unsigned)count;
	stream->ended = !count;
	group->next += count;
}

static void close_group(struct pt_stream *stream)
{
	free(stream);
}

/* Make a stream of the events [begin, end). */
static struct pt_stream *new_group(const struct big_array *events, size_t begin, size_t end)
{
	struct group *group = alloc_zeroed(1, sizeof(*group));

	group->stream.step = step_group;
	group->stream.close = close_group;
	group->stream.queue = group->stream.own;
	group->events = events;
	group->next = begin;
	group->end = end;
	return &group->stream;
}

void pt_streams_flush(const struct pt_streams *streams)
{
	for (size_t i = 0; i < streams->open_count; i++)
		pt_stream_flush(streams->open[i]);
}

/* ---- Opening ------------------------------------------------------------- */

static void close_open(struct pt_streams *streams)
{
	branch_merge_release(&streams->merge);
	for (size_t i = 0; i < streams->open_count; i++)
		pt_stream_close(streams->open[i]);
	free(streams->open);
	event_pool_close(streams->pool);
	streams->pool = NULL;
	streams->open = NULL;
	streams->open_count = 0;
}

/* Open the streams [begin, end). Only a recording in one group uses threads. */
static int open_range(struct pt_streams *streams, size_t begin, size_t end, struct error *err)
{
	bool all = end - begin == streams->count;

	streams->open = alloc_zeroed(end - begin, sizeof(struct pt_stream *));
	for (size_t i = begin; i < end; i++) {
		struct pt_stream_input input = streams->input(streams->context, i);

		input.others = end - begin - 1;
		if (!all)
			input.workers = NULL;
		if (input.workers && !streams->pool)
			streams->pool = event_pool_open();
		input.pool = streams->pool;
		streams->open[i - begin] = pt_stream_open(&input, err);
		if (!streams->open[i - begin])
			return -1;
		streams->open_count++;
	}
	branch_merge_init(&streams->merge, streams->open, streams->open_count, streams->in_bursts);
	return 0;
}

/* Add the events of all open streams to the first `count` ones.  Returns their number. */
static size_t store_events(struct pt_streams *streams, size_t count)
{
	const struct branch_event *events;
	size_t next;

	while (!interrupt_asked() && !temp_files_spent() &&
	       (next = branch_merge_next(&streams->merge, &events)) > 0) {
		big_array_grow(&streams->events, count + next, sizeof(*events), GROUPS_MEMORY);
		memcpy((struct branch_event *)streams->events.items + count, events,
		       next * sizeof(*events));
		if (count / CHUNK != (count + next) / CHUNK)
			big_array_rest(&streams->events, count / CHUNK * CHUNK, count + next,
				       sizeof(*events));
		count += next;
	}
	return count;
}

static struct pt_stream_stats *stats_of(const struct pt_streams *streams, size_t index)
{
	return (struct pt_stream_stats *)streams->stats.items + index;
}

/* Decode the streams [begin, end) to their end; *count is the number of events so far. */
static int decode_group(struct pt_streams *streams, size_t begin, size_t end, size_t *count,
			struct error *err)
{
	int status = open_range(streams, begin, end, err);

	if (status == 0)
		*count = store_events(streams, *count);
	for (size_t i = 0; status == 0 && i < streams->open_count; i++)
		*stats_of(streams, begin + i) = *pt_stream_stats(streams->open[i]);
	pt_streams_flush(streams);
	big_array_rest(&streams->stats, begin, end, sizeof(struct pt_stream_stats));
	close_open(streams);
	return status;
}

static int open_in_groups(struct pt_streams *streams, size_t at_once, struct error *err)
{
	size_t all = streams->count, groups = (all + at_once - 1) / at_once, count = 0, begin = 0;
	size_t *ends = alloc_zeroed(groups, sizeof(*ends));
	int status = 0;

	big_array_grow(&streams->stats, all, sizeof(struct pt_stream_stats), GROUPS_MEMORY);
	for (size_t i = 0; status == 0 && i < groups; i++) {
		size_t left = all - i * at_once;

		status = decode_group(streams, i * at_once, i * at_once + MIN(left, at_once),
				      &count, err);
		ends[i] = count;
	}
	if (status == 0) {
		streams->open = alloc_zeroed(groups, sizeof(struct pt_stream *));
		for (; streams->open_count < groups; begin = ends[streams->open_count++])
			streams->open[streams->open_count] =
				new_group(&streams->events, begin, ends[streams->open_count]);
		branch_merge_init(&streams->merge, streams->open, groups, false);
	}
	free(ends);
	return status;
}

static size_t streams_at_once(const struct pt_streams *streams)
{
	uint64_t size = 0;

	for (size_t i = 0; i < streams->count; i++)
		size += streams->input(streams->context, i).aux->size;
	return AT_ONCE + size / BYTES_FOR_ONE;
}

int pt_streams_open(struct pt_streams *streams, struct error *err)
{
	size_t at_once = streams_at_once(streams);
	int status;

	if (streams->count <= at_once)
		return open_range(streams, 0, streams->count, err);
	/* Groups merge without bursts. */
	streams->in_bursts = false;
	status = open_in_groups(streams, at_once, err);
#ifdef __GLIBC__ /* glibc keeps the streams' memory otherwise */
	malloc_trim(0);
#endif
	return status;
}

size_t pt_streams_next(struct pt_streams *streams, const struct branch_event **events)
{
	return branch_merge_next(&streams->merge, events);
}

const struct pt_stream_stats *pt_streams_stats(const struct pt_streams *streams, size_t index)
{
	return streams->stats.room ? stats_of(streams, index)
				   : pt_stream_stats(streams->open[index]);
}

void pt_streams_close(struct pt_streams *streams)
{
	close_open(streams);
	big_array_release(&streams->stats);
	big_array_release(&streams->events);
	*streams = (struct pt_streams){ 0 };
}
