/* SPDX-License-Identifier: MIT */
#include "decoder/branch_merge.h"

#include <stdbool.h>
#include <stdlib.h>

#include "base/alloc.h"

struct branch_merge_entry {
	struct branch_event next;
	struct pt_stream *stream; /* borrowed */
	size_t rank;              /* place among the streams, for equal times */
};

static bool before(const struct branch_merge_entry *a, const struct branch_merge_entry *b)
{
	return a->next.time != b->next.time ? a->next.time < b->next.time : a->rank < b->rank;
}

/* Move the entry at `at` down until none below is earlier. */
static void sift_down(struct branch_merge *merge, size_t at)
{
	struct branch_merge_entry moving = merge->heap[at];

	for (;;) {
		size_t child = 2 * at + 1;

		if (child >= merge->count)
			break;
		if (child + 1 < merge->count && before(&merge->heap[child + 1], &merge->heap[child]))
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
		if (pt_stream_next(entry->stream, &entry->next))
			merge->count++;
	}
	for (size_t i = merge->count / 2; i-- > 0;)
		sift_down(merge, i);
}

void branch_merge_release(struct branch_merge *merge)
{
	free(merge->heap);
	merge->heap = NULL;
	merge->count = 0;
}

int branch_merge_next(struct branch_merge *merge, struct branch_event *event)
{
	struct branch_merge_entry *top = merge->heap;

	if (!merge->count)
		return 0;
	*event = top->next;
	if (!pt_stream_next(top->stream, &top->next))
		*top = merge->heap[--merge->count];
	if (merge->count)
		sift_down(merge, 0);
	return 1;
}
