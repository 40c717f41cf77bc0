/* SPDX-License-Identifier: MIT */
/* Open the streams of a recording in groups, and merge them by time. */
#include "decoder/streams/pt_streams.h"

#include <malloc.h>
#include <sys/mman.h>

#include "base/io/interrupt.h"
#include "base/pages.h"
#include "decoder/engine/pt_stream_base.h"

/* Streams open at the same time for any trace: 37 MiB. */
#define AT_ONCE ((size_t)2048)
/* Bytes of trace per additional stream, so that memory stays below twice the trace. */
#define BYTES_FOR_ONE ((uint64_t)8 << 10)

/* Batch size, in events. */
#define CHUNK ((size_t)2048)

/* Bytes of statistics that stay in memory. */
#define STATS_MEMORY ((size_t)4 << 20)

/* ---- A group's events, as a stream --------------------------------------- */

struct group {
	struct pt_stream stream;
	const struct branch_event *events; /* borrowed: next events */
	uint64_t left;                     /* their number */
};

/* Drop the events that were read, and provide the next. */
static void step_group(struct pt_stream *stream)
{
	struct group *group = (struct group *)stream;
	size_t count = MIN(group->left, CHUNK);

	pages_give_back((const uint8_t *)stream->queue, stream->tail * sizeof(*stream->queue));
	stream->queue = (struct branch_event *)(uintptr_t)group->events;
	stream->head = 0;
	stream->tail = (unsigned)count;
	stream->ended = !count;
	group->events += count;
	group->left -= count;
}

static void close_group(struct pt_stream *stream)
{
	free(stream);
}

/* Make a stream of `count` events, which `events` points to. */
static struct pt_stream *new_group(const struct branch_event *events, uint64_t count)
{
	struct group *group = alloc_zeroed(1, sizeof(*group));

	group->stream.step = step_group;
	group->stream.close = close_group;
	group->stream.queue = group->stream.ring;
	group->stream.queue_mask = UINT_MAX;
	group->events = events;
	group->left = count;
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
		streams->open[i - begin] = pt_stream_open(&input, err);
		if (!streams->open[i - begin])
			return -1;
		streams->open_count++;
	}
	branch_merge_init(&streams->merge, streams->open, streams->open_count, streams->in_bursts);
	return 0;
}

static int write_buffer(struct pt_streams *streams, const struct branch_event *buffer, size_t *used,
			struct error *err)
{
	size_t size = *used * sizeof(*buffer);

	*used = 0;
	return temp_file_write(&streams->file, buffer, size, err);
}

/* Write the events of all open streams.  Returns their number in *count. */
static int write_events(struct pt_streams *streams, uint64_t *count, struct error *err)
{
	struct branch_event *buffer = alloc_zeroed(CHUNK, sizeof(*buffer));
	const struct branch_event *events;
	size_t used = 0, next;
	int status = 0;

	*count = 0;
	while (status == 0 && !interrupt_asked() &&
	       (next = branch_merge_next(&streams->merge, &events)) > 0) {
		*count += next;
		for (size_t i = 0; i < next && status == 0; i++) {
			buffer[used++] = events[i];
			if (used == CHUNK)
				status = write_buffer(streams, buffer, &used, err);
		}
	}
	if (status == 0)
		status = write_buffer(streams, buffer, &used, err);
	free(buffer);
	return status;
}

static struct pt_stream_stats *stats_of(const struct pt_streams *streams, size_t index)
{
	return (struct pt_stream_stats *)streams->stats.items + index;
}

/* Decode the streams [begin, end) to their end.  Returns 0 with the number of events in *count. */
static int write_group(struct pt_streams *streams, size_t begin, size_t end, uint64_t *count,
		       struct error *err)
{
	int status = open_range(streams, begin, end, err);

	if (status == 0)
		status = write_events(streams, count, err);
	for (size_t i = 0; status == 0 && i < streams->open_count; i++)
		*stats_of(streams, begin + i) = *pt_stream_stats(streams->open[i]);
	pt_streams_flush(streams);
	big_array_rest(&streams->stats, begin, end, sizeof(struct pt_stream_stats));
	close_open(streams);
	return status;
}

/* Make a stream of each group's events in the file. */
static int open_groups(struct pt_streams *streams, const uint64_t *counts, size_t count,
		       struct error *err)
{
	const struct branch_event *next = NULL;

	if (streams->file.size) {
		next = (const struct branch_event *)(const void *)temp_file_map(&streams->file,
										err);
		if (!next)
			return -1;
	}
	streams->events = next;
	streams->open = alloc_zeroed(count, sizeof(struct pt_stream *));
	for (size_t i = 0; i < count; i++) {
		streams->open[streams->open_count++] = new_group(next, counts[i]);
		next += counts[i];
	}
	branch_merge_init(&streams->merge, streams->open, streams->open_count, false);
	return 0;
}

static int open_in_groups(struct pt_streams *streams, size_t at_once, struct error *err)
{
	size_t all = streams->count, count = 0;
	uint64_t *counts;
	int status = temp_file_open(&streams->file, err);

	if (status < 0)
		return -1;
	counts = alloc_zeroed(all / at_once + 1, sizeof(*counts));
	big_array_grow(&streams->stats, all, sizeof(struct pt_stream_stats), STATS_MEMORY);
	for (size_t at = 0; status == 0 && at < all; at += at_once)
		status = write_group(streams, at, all - at < at_once ? all : at + at_once,
				     &counts[count++], err);
	if (status == 0)
		status = open_groups(streams, counts, count, err);
	free(counts);
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
	const struct pt_streams unopened = *streams;
	size_t at_once = streams_at_once(streams);
	struct error none = { 0 };

	/* Groups merge without bursts; keep this order if no file can be created. */
	streams->in_bursts &= streams->count <= at_once;
	if (streams->count > at_once) {
		if (open_in_groups(streams, at_once, &none) == 0) {
#ifdef __GLIBC__ /* glibc keeps the streams' memory otherwise */
			malloc_trim(0);
#endif
			return 0;
		}
		pt_streams_close(streams);
		*streams = unopened;
		streams->in_bursts = false;
	}
	return open_range(streams, 0, streams->count, err);
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
	if (streams->events)
		munmap((void *)(uintptr_t)streams->events, streams->file.size);
	temp_file_close(&streams->file);
	*streams = (struct pt_streams){ 0 };
}
