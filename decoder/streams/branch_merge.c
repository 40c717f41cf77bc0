/* SPDX-License-Identifier: MIT */
/* A binary heap of streams, each with a borrowed array of its next events. */
#include "decoder/streams/pt_streams.h"

#include "base/tables/heap.h"
#include "decoder/engine/pt_stream_base.h"

struct branch_merge_entry {
	uint64_t time; /* time of the first event of the burst that contains `next` */
	const struct branch_event *next; /* `count` events, borrowed from the stream */
	size_t count;
	struct pt_stream *stream;    /* borrowed */
	size_t rank;                 /* index among the streams, for equal times */
	const struct thread *thread; /* the burst's thread; borrowed */
	uint64_t burst_end;          /* ns: only events before it continue the burst */
};

static bool is_earlier(const struct branch_merge *merge, const struct branch_merge_entry *a,
		       const struct branch_merge_entry *b)
{
	(void)merge;
	return a->time != b->time ? a->time < b->time : a->rank < b->rank;
}

HEAP_DEFINE(entries, struct branch_merge_entry, struct branch_merge, is_earlier)

/* Without bursts, each event is its own burst. */
static void begin_burst(const struct branch_merge *merge, struct branch_merge_entry *entry,
			const struct branch_event *event)
{
	entry->time = event->time;
	entry->thread = event->thread;
	entry->burst_end = merge->in_bursts && event->thread
				   ? (event->time | (BRANCH_MERGE_QUANTUM - 1)) + 1
				   : 0;
}

static bool continues_burst(const struct branch_merge_entry *entry,
			    const struct branch_event *event)
{
	return event->time < entry->burst_end && event->thread == entry->thread &&
	       (branch_is_near(event) || event->kind == BRANCH_FOLLOWED ||
		event->kind == BRANCH_COUNTS);
}

/* Returns false if the stream has no event now: it waits or has ended. */
static bool look_at_next(const struct branch_merge *merge, struct branch_merge_entry *entry)
{
	entry->next = stream_peek(entry->stream, &entry->count);
	if (entry->count && !continues_burst(entry, entry->next))
		begin_burst(merge, entry, entry->next);
	return entry->count;
}

void branch_merge_init(struct branch_merge *merge, struct pt_stream *const *streams, size_t count,
		       bool in_bursts)
{
	*merge = (struct branch_merge){ .unseen = count, .in_bursts = in_bursts };
	merge->heap = alloc_zeroed(count, sizeof(*merge->heap));
	for (size_t i = 0; i < count; i++)
		merge->heap[i] = (struct branch_merge_entry){ .stream = streams[i], .rank = i };
}

/*
 * Get the first event of each stream, then order the streams. Asks all streams before it waits for
 * one, so that threads decode all. Returns false in the ordered stage if a stream waits.
 */
static bool look_at_all(struct branch_merge *merge)
{
	for (size_t i = 0; !merge->asked && i < merge->unseen; i++)
		look_at_next(merge, &merge->heap[i]);
	merge->asked = true;
	while (merge->unseen) {
		struct branch_merge_entry *entry = &merge->heap[merge->count];

		if (look_at_next(merge, entry))
			merge->count++;
		else if (entry->stream->waits)
			return false;
		else
			*entry = merge->heap[merge->count + merge->unseen - 1];
		merge->unseen--;
	}
	entries_order(merge, merge->heap, merge->count);
	return true;
}

void branch_merge_release(struct branch_merge *merge)
{
	free(merge->heap);
	merge->heap = NULL;
	merge->count = 0;
}

/* Returns the number of the top stream's events that precede all others' events and bursts. */
static size_t count_due(struct branch_merge *merge)
{
	const struct branch_merge_entry *other = &merge->heap[1];
	struct branch_merge_entry *top = merge->heap;
	size_t due = 1;

	if (merge->count > 2 && is_earlier(merge, &merge->heap[2], other))
		other = &merge->heap[2];
	if (merge->count == 1)
		return top->count;
	for (; due < top->count; due++) {
		const struct branch_event *event = &top->next[due];

		if (continues_burst(top, event))
			continue;
		if (event->time > other->time ||
		    (event->time == other->time && top->rank > other->rank))
			break;
		begin_burst(merge, top, event);
	}
	return due;
}

/* Drop the events that the reader consumed, and sift the top stream down. */
static void advance_top(struct branch_merge *merge)
{
	struct branch_merge_entry *top = merge->heap;

	stream_drop(top->stream, merge->lent);
	merge->lent = 0;
	merge->waits = !look_at_next(merge, top) && top->stream->waits;
	if (merge->waits)
		return;
	if (!top->count)
		*top = merge->heap[--merge->count];
	if (merge->count > 1)
		entries_sift_down(merge, merge->heap, merge->count, 0);
}

size_t branch_merge_next(struct branch_merge *merge, const struct branch_event **events)
{
	if (merge->unseen)
		merge->waits = !look_at_all(merge);
	else if (merge->lent || merge->waits)
		advance_top(merge);
	if (merge->waits)
		return 0;
	merge->lent = merge->count ? count_due(merge) : 0;
	*events = merge->heap->next;
	return merge->lent;
}
