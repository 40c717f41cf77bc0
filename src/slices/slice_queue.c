/* SPDX-License-Identifier: MIT */
/* Queue of slice events, in blocks that the caller fills and workers process. */
#include "src/slices/slice_queue.h"

#include <pthread.h>

#define EVENTS 1024 /* per block: 32 KiB, so that all blocks fit in a CPU's cache */
#define BLOCKS 16

/*
 * Waking a thread costs as much as filling a block. So request a worker when half of the blocks are
 * filled, and wake a waiting caller when half of them are done.
 */
#define HALF (BLOCKS / 2)

struct slice_queue {
	struct worker_job job;   /* first: processes the filled blocks */
	struct workers *workers; /* borrowed */
	struct slice_sink sink;
	const struct slice_sink *next; /* borrowed */
	const struct output *output;   /* borrowed; NULL: belongs to the next queue */
	const uint64_t *slices;        /* borrowed; NULL: likewise */
	size_t direct_left; /* events that bypass the queue until choose() is called again */
	bool direct;        /* events bypass the queue */
	struct queue_block {
		struct slice_event events[EVENTS];
		/* The events of a batch, or a flush. */
		struct queue_span {
			void *track;
			size_t count;        /* 0: no batch */
			bool since;          /* the block is for since(), not for flush() */
			uint64_t time;       /* time for since() */
			bool details, plain; /* flags of the batch */
		} spans[EVENTS];
		size_t event_count, span_count;
		struct slice_detail *details; /* owned */
		size_t detail_count, detail_room;
		struct arena texts; /* texts of instants */
	} * blocks;                 /* owned: BLOCKS */
	pthread_mutex_t lock;
	pthread_cond_t changed;
	/* Atomic: see publish(). */
	bool stopped;
	uint64_t written_slices;
	/* Under the lock. The caller fills block `filled`. */
	unsigned filled, done;
	bool submitted; /* the job is queued, and will process all filled blocks */
	bool waiting;   /* the caller waits for `changed`, until at most `enough` blocks remain */
	unsigned enough;
};

/* ---- The workers --------------------------------------------------------- */

/* Publish the writer's state, for slice_queue_stopped() and _slices(). */
static void publish(struct slice_queue *queue)
{
	if (!queue->output)
		return;
	if (output_failed(queue->output) || queue->output->cut)
		__atomic_store_n(&queue->stopped, true, __ATOMIC_RELAXED);
	__atomic_store_n(&queue->written_slices, *queue->slices, __ATOMIC_RELAXED);
}

static void run(struct worker_job *job, struct worker_scratch *scratch)
{
	struct slice_queue *queue = (struct slice_queue *)job;

	(void)scratch;
	pthread_mutex_lock(&queue->lock);
	while (queue->filled != queue->done) {
		const struct queue_block *block = &queue->blocks[queue->done % BLOCKS];
		const struct slice_event *events;

		pthread_mutex_unlock(&queue->lock);
		events = block->events;
		for (size_t i = 0; i < block->span_count; i++) {
			const struct queue_span *span = &block->spans[i];
			struct slice_batch batch = { events, span->count,
						     span->details ? block->details : NULL,
						     span->plain };

			if (span->plain && span->details)
				batch.details += events->detail - 1;
			if (span->count)
				queue->next->events(queue->next, span->track, &batch);
			else if (span->since)
				slice_sink_since(queue->next, span->track, span->time);
			else
				slice_sink_flush(queue->next, span->track);
			events += span->count;
		}
		publish(queue);
		pthread_mutex_lock(&queue->lock);
		queue->done++;
		if (queue->waiting && queue->filled - queue->done <= queue->enough)
			pthread_cond_signal(&queue->changed);
	}
	queue->submitted = false;
	pthread_mutex_unlock(&queue->lock);
}

/* ---- The caller ---------------------------------------------------------- */

static struct queue_block *being_filled(const struct slice_queue *queue)
{
	return &queue->blocks[queue->filled % BLOCKS];
}

static void offer(struct slice_queue *queue)
{
	bool submitted;

	pthread_mutex_lock(&queue->lock);
	submitted = queue->submitted;
	queue->submitted = true;
	pthread_mutex_unlock(&queue->lock);
	if (!submitted)
		workers_offer(queue->workers, &queue->job);
}

/* Wait until at most `enough` filled blocks remain. */
static void wait_for(struct slice_queue *queue, unsigned enough)
{
	if (workers_help(queue->workers, &queue->job))
		return;
	pthread_mutex_lock(&queue->lock);
	queue->enough = enough;
	queue->waiting = true;
	while (queue->filled - queue->done > enough)
		pthread_cond_wait(&queue->changed, &queue->lock);
	queue->waiting = false;
	pthread_mutex_unlock(&queue->lock);
}

/* Pass the current block to the workers, and wait for the next to be free. */
static void hand_over(struct slice_queue *queue)
{
	struct queue_block *block;
	unsigned undone;

	pthread_mutex_lock(&queue->lock);
	undone = ++queue->filled - queue->done;
	pthread_mutex_unlock(&queue->lock);
	if (undone >= HALF)
		offer(queue);
	if (undone == BLOCKS)
		wait_for(queue, HALF);
	block = being_filled(queue);
	block->event_count = block->span_count = block->detail_count = 0;
	arena_release(&block->texts);
}

/* Returns the block for the next events; NULL: they bypass the queue. */
static struct queue_block *find_room(struct slice_queue *queue)
{
	struct queue_block *block = being_filled(queue);
	/* A whole slice is two events. */
	bool full = block->event_count + 1 >= EVENTS || block->span_count == EVENTS;

	if (queue->direct ? queue->direct_left : !full)
		return queue->direct ? NULL : block;
	if (queue->direct)
		publish(queue);
	else
		hand_over(queue);
	/*
	 * Choose between queue and bypass for the next events. If no worker is idle, queueing
	 * does not pay, so events bypass the queue when it is empty.
	 */
	queue->direct = false;
	if (!workers_idle(queue->workers)) {
		pthread_mutex_lock(&queue->lock);
		queue->direct = queue->filled == queue->done && !queue->submitted;
		pthread_mutex_unlock(&queue->lock);
	}
	queue->direct_left = EVENTS;
	return queue->direct ? NULL : being_filled(queue);
}

static void keep_references(struct queue_block *block, const struct slice_detail *detail,
			    struct slice_event *event)
{
	if (event->kind == SLICE_INSTANT)
		event->text = arena_text(&block->texts, event->text, strlen(event->text));
	if (!detail)
		return;
	*ARRAY_ADD(block->details, block->detail_count, block->detail_room) = *detail;
	event->detail = (uint32_t)block->detail_count;
}

/* Copy events that fit in the block. Returns their number. */
static size_t copy_events(struct queue_block *block, void *track, const struct slice_batch *batch)
{
	struct slice_event *events = block->events + block->event_count;
	size_t room = EVENTS - block->event_count, count = MIN(batch->count, room);

	/* Do not divide a whole slice. */
	if (count < batch->count && batch->events[count].order == SLICE_ORDER_WHOLE)
		count--;
	memcpy(events, batch->events, count * sizeof(*events));
	for (size_t i = 0; (!batch->plain || batch->details) && i < count; i++)
		keep_references(block, slice_batch_detail(batch, &batch->events[i]), &events[i]);
	block->spans[block->span_count++] = (struct queue_span){
		.track = track,
		.count = count,
		.details = batch->details,
		.plain = batch->plain,
	};
	block->event_count += count;
	return count;
}

static void queue_events(const struct slice_sink *sink, void *track,
			 const struct slice_batch *batch)
{
	struct slice_queue *queue = sink->context;
	struct slice_batch left = *batch;

	while (left.count) {
		struct queue_block *block = find_room(queue);
		size_t count = left.count;

		if (block) {
			count = copy_events(block, track, &left);
		} else {
			queue->next->events(queue->next, track, &left);
			queue->direct_left -= MIN(count, queue->direct_left);
		}
		left.events += count;
		left.details += left.details && left.plain ? count : 0;
		left.count -= count;
	}
}

static void queue_flush(const struct slice_sink *sink, void *track)
{
	struct slice_queue *queue = sink->context;
	struct queue_block *block = find_room(queue);

	if (block)
		block->spans[block->span_count++] = (struct queue_span){ .track = track };
	else
		slice_sink_flush(queue->next, track);
}

static void queue_since(const struct slice_sink *sink, void *track, uint64_t time)
{
	struct slice_queue *queue = sink->context;
	struct queue_block *block = find_room(queue);

	if (block)
		block->spans[block->span_count++] =
			(struct queue_span){ .track = track, .since = true, .time = time };
	else
		slice_sink_since(queue->next, track, time);
}

struct slice_queue *slice_queue_open(const struct slice_sink *next, const struct output *output,
				     const uint64_t *slices, struct workers *workers)
{
	struct slice_queue *queue = alloc_zeroed(1, sizeof(*queue));

	queue->job.run = run;
	queue->workers = workers;
	queue->next = next;
	queue->output = output;
	queue->slices = slices;
	queue->blocks = alloc_zeroed(BLOCKS, sizeof(*queue->blocks));
	pthread_mutex_init(&queue->lock, NULL);
	pthread_cond_init(&queue->changed, NULL);
	queue->sink = (struct slice_sink){
		.events = queue_events,
		.flush = queue_flush,
		.since = queue_since,
		.context = queue,
		.details = next->details,
		.folded = next->folded,
		.late = next->late,
		.sums = next->sums,
		.early = next->early,
	};
	return queue;
}

const struct slice_sink *slice_queue_sink(const struct slice_queue *queue)
{
	return &queue->sink;
}

uint64_t slice_queue_slices(const struct slice_queue *queue)
{
	return __atomic_load_n(&queue->written_slices, __ATOMIC_RELAXED);
}

bool slice_queue_stopped(const struct slice_queue *queue)
{
	return __atomic_load_n(&queue->stopped, __ATOMIC_RELAXED);
}

void slice_queue_wait(struct slice_queue *queue)
{
	hand_over(queue);
	offer(queue);
	wait_for(queue, 0);
	queue->direct = false;
	publish(queue);
}

void slice_queue_close(struct slice_queue *queue)
{
	if (!queue)
		return;
	workers_cancel(queue->workers, &queue->job);
	for (size_t i = 0; i < BLOCKS; i++) {
		free(queue->blocks[i].details);
		arena_release(&queue->blocks[i].texts);
	}
	free(queue->blocks);
	pthread_cond_destroy(&queue->changed);
	pthread_mutex_destroy(&queue->lock);
	free(queue);
}
