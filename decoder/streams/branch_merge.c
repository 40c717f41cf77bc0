/* SPDX-License-Identifier: MIT */
#include "decoder/streams/branch_merge.h"

#include <stdbool.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "decoder/engine/pt_stream_base.h"

struct branch_merge_entry {
	uint64_t time;                   /* of the next event */
	const struct branch_event *next; /* and those behind it; borrowed from the stream */
	size_t count;
	struct pt_stream *stream; /* borrowed */
	size_t rank;              /* place among the streams, for equal times */
};

static bool before(const struct branch_merge_entry *a, const struct branch_merge_entry *b)
{
	return a->time != b->time ? a->time < b->time : a->rank < b->rank;
}

/* Returns whether there is one. */
static bool look_at_next(struct branch_merge_entry *entry)
{
	entry->next = stream_peek(entry->stream, &entry->count);
	if (entry->count)
		entry->time = entry->next->time;
	return entry->count;
}

/* Move the entry at `at` down until none below is earlier. */
static void sift_down(struct branch_merge *merge, size_t at)
{
	struct branch_merge_entry moving = merge->heap[at];

	for (;;) {
		size_t child = 2 * at + 1;

		if (child >= merge->count)
			break;
		if (child + 1 < merge->count &&
		    before(&merge->heap[child + 1], &merge->heap[child]))
			child++;
		if (!before(&merge->heap[child], &moving))
			break;
		merge->heap[at] = merge->heap[child];
		at = child;
	}
	merge->heap[at] = moving;
}

void branch_merge_init(struct branch_merge *merge, struct pt_stream *const *streams, size_t count)
{
	merge->heap = alloc_zeroed(count, sizeof(*merge->heap));
	merge->count = 0;
	for (size_t i = 0; i < count; i++) {
		struct branch_merge_entry *entry = &merge->heap[merge->count];

		entry->stream = streams[i];
		entry->rank = i;
		if (look_at_next(entry))
			merge->count++;
	}
	for (size_t i = merge->count / 2; i-- > 0;)
		sift_down(merge, i);
	merge->given = 0;
	merge->waits = false;
}

void branch_merge_release(struct branch_merge *merge)
{
	free(merge->heap);
	merge->heap = NULL;
	merge->count = 0;
}

/* Returns how many events of the stream on top come before all of the others'. */
static size_t count_due(const struct branch_merge *merge)
{
	const struct branch_merge_entry *top = merge->heap, *other = &merge->heap[1];
	size_t most = top->count < BRANCH_MERGE_MOST ? top->count : BRANCH_MERGE_MOST, due = 1;

	if (merge->count > 2 && before(&merge->heap[2], other))
		other = &merge->heap[2];
	if (merge->count == 1)
		return most;
	while (due < most && (top->next[due].time < other->time ||
			      (top->next[due].time == other->time && top->rank < other->rank)))
		due++;
	return due;
}

size_t branch_merge_next(struct branch_merge *merge, const struct branch_event **events)
{
	struct branch_merge_entry *top = merge->heap;

	/* What was given out last is its reader's until now. */
	if (merge->given || merge->waits) {
		stream_drop(top->stream, merge->given);
		merge->given = 0;
		merge->waits = !look_at_next(top) && top->stream->waits;
		if (merge->waits)
			return 0;
		if (!top->count)
			*top = merge->heap[--merge->count];
		if (merge->count > 1)
			sift_down(merge, 0);
	}
	merge->given = merge->count ? count_due(merge) : 0;
	*events = top->next;
	return merge->given;
}
