/* SPDX-License-Identifier: MIT */
#include "src/slices/slice_queue.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/arena.h"

#define EVENTS 1024 /* in a block: 32 KiB, so that all stay in a CPU's cache */
#define BLOCKS 8

/* Events of one batch, or a flush. */
struct span {
	void *track;
	size_t count; /* 0: a flush */
	bool plain;
};

struct block {
	struct slice_event events[EVENTS];
	struct span spans[EVENTS];
	size_t event_count, span_count;
	struct slice_detail *details; /* owned */
	size_t detail_count, detail_room;
	struct arena texts; /* of instants */
};

struct slice_queue {
	struct worker_job job;   /* first: to do what is handed over */
	struct workers *workers; /* borrowed */
	struct slice_sink sink;
	const struct slice_sink *next; /* borrowed */
	const struct output *output;   /* borrowed */
	const uint64_t *slices;        /* borrowed */
	size_t direct_left;            /* events that bypass the queue until the next choice */
	bool direct;                   /* this one does */
	struct block *blocks;          /* owned: BLOCKS */
	pthread_mutex_t lock;
	pthread_cond_t changed;
	/* Atomic: see publish(). */
	bool failed;
	uint64_t written_slices;
	/* Under the lock; the block that is being filled is number `filled`: */
	unsigned filled, done;
	bool submitted; /* the job, and it will see what was filled */
	bool waiting;   /* the caller: for `changed` */
};

/* ---- The workers --------------------------------------------------------- */

static void replay_block(const struct slice_sink *next, const struct block *block)
{
	const struct slice_event *events = block->events;

	for (size_t i = 0; i < block->span_count; i++) {
		const struct span *span = &block->spans[i];
		const struct slice_batch batch = { events, span->count, block->details,
						   span->plain };

		if (span->count)
			next->events(next, span->track, &batch);
		else
			slice_sink_flush(next, span->track);
		events += span->count;
	}
}

/* Publish what the writer has done, for slice_queue_failed() and _slices(). */
static void publish(struct slice_queue *relay)
{
	if (output_failed(relay->output))
		__atomic_store_n(&relay->failed, true, __ATOMIC_RELAXED);
	__atomic_store_n(&relay->written_slices, *relay->slices, __ATOMIC_RELAXED);
}

static void run(struct worker_job *job, struct worker_scratch *scratch)
{
	struct slice_queue *relay = (struct slice_queue *)job;

	(void)scratch;
	pthread_mutex_lock(&relay->lock);
	while (relay->filled != relay->done) {
		const struct block *block = &relay->blocks[relay->done % BLOCKS];

		pthread_mutex_unlock(&relay->lock);
		replay_block(relay->next, block);
		publish(relay);
		pthread_mutex_lock(&relay->lock);
		relay->done++;
		if (relay->waiting)
			pthread_cond_signal(&relay->changed);
	}
	relay->submitted = false;
	pthread_mutex_unlock(&relay->lock);
}

/* ---- The caller ---------------------------------------------------------- */

static struct block *being_filled(const struct slice_queue *relay)
{
	return &relay->blocks[relay->filled % BLOCKS];
}

/* Wait until no more than `left` blocks are undone; the lock is held. */
static void wait_for(struct slice_queue *relay, unsigned left)
{
	while (relay->filled - relay->done > left) {
		bool helped;

		pthread_mutex_unlock(&relay->lock);
		helped = workers_help(relay->workers, &relay->job);
		pthread_mutex_lock(&relay->lock);
		if (helped || relay->filled - relay->done <= left)
			continue;
		relay->waiting = true;
		pthread_cond_wait(&relay->changed, &relay->lock);
		relay->waiting = false;
	}
}

/* Hand over the block that is being filled, and wait until no more than `left` are undone. */
static void hand_over(struct slice_queue *relay, unsigned left)
{
	struct block *block;
	bool submitted;

	pthread_mutex_lock(&relay->lock);
	relay->filled++;
	submitted = relay->submitted;
	relay->submitted = true;
	pthread_mutex_unlock(&relay->lock);
	if (!submitted)
		workers_offer(relay->workers, &relay->job);
	pthread_mutex_lock(&relay->lock);
	wait_for(relay, left);
	pthread_mutex_unlock(&relay->lock);
	block = being_filled(relay);
	block->event_count = block->span_count = block->detail_count = 0;
	arena_release(&block->texts);
}

/*
 * Choose what happens to the next events.  If no worker is idle, queueing only
 * costs: then they bypass the queue, once it is empty.
 */
static void choose(struct slice_queue *relay)
{
	relay->direct = false;
	if (!workers_idle(relay->workers)) {
		pthread_mutex_lock(&relay->lock);
		relay->direct = relay->filled == relay->done && !relay->submitted;
		pthread_mutex_unlock(&relay->lock);
	}
	relay->direct_left = EVENTS;
}

/* Returns the block that takes the next events; NULL: they bypass the queue. */
static struct block *find_room(struct slice_queue *relay)
{
	struct block *block = being_filled(relay);
	/* Room for a whole slice, which is two events. */
	bool full = block->event_count + 1 >= EVENTS || block->span_count == EVENTS;

	if (relay->direct ? relay->direct_left : !full)
		return relay->direct ? NULL : block;
	if (relay->direct)
		publish(relay);
	else
		hand_over(relay, BLOCKS - 1);
	choose(relay);
	return relay->direct ? NULL : being_filled(relay);
}

/* What an event refers to must outlive the call: details and texts. */
static void keep_references(struct block *block, const struct slice_batch *batch,
			    struct slice_event *event)
{
	const struct slice_detail *detail = slice_batch_detail(batch, event);

	if (event->kind == SLICE_INSTANT)
		event->text = arena_text(&block->texts, event->text, strlen(event->text));
	if (!detail)
		return;
	block->details = alloc_grow(block->details, &block->detail_room, block->detail_count + 1,
				    sizeof(*block->details));
	block->details[block->detail_count++] = *detail;
	event->detail = (uint32_t)block->detail_count;
}

/* Copy the first events that the block has room for.  Returns how many. */
static size_t copy_events(struct block *block, void *track, const struct slice_batch *batch)
{
	struct slice_event *events = block->events + block->event_count;
	size_t room = EVENTS - block->event_count,
	       count = batch->count < room ? batch->count : room;

	/* A whole slice is one piece. */
	if (count < batch->count && batch->events[count].order == SLICE_ORDER_WHOLE)
		count--;
	memcpy(events, batch->events, count * sizeof(*events));
	for (size_t i = 0; !batch->plain && i < count; i++)
		keep_references(block, batch, &events[i]);
	block->spans[block->span_count++] = (struct span){ track, count, batch->plain };
	block->event_count += count;
	return count;
}

static void queue_events(const struct slice_sink *sink, void *track,
			 const struct slice_batch *batch)
{
	struct slice_queue *relay = sink->context;
	struct slice_batch left = *batch;

	while (left.count) {
		struct block *block = find_room(relay);
		size_t count = left.count;

		if (block) {
			count = copy_events(block, track, &left);
		} else {
			relay->next->events(relay->next, track, &left);
			relay->direct_left -=
				count < relay->direct_left ? count : relay->direct_left;
		}
		left.events += count;
		left.count -= count;
	}
}

static void queue_flush(const struct slice_sink *sink, void *track)
{
	struct slice_queue *relay = sink->context;
	struct block *block = find_room(relay);

	if (block)
		block->spans[block->span_count++] = (struct span){ .track = track };
	else
		slice_sink_flush(relay->next, track);
}

static void release(struct slice_queue *relay)
{
	for (size_t i = 0; i < BLOCKS; i++) {
		free(relay->blocks[i].details);
		arena_release(&relay->blocks[i].texts);
	}
	free(relay->blocks);
	pthread_cond_destroy(&relay->changed);
	pthread_mutex_destroy(&relay->lock);
	free(relay);
}

struct slice_queue *slice_queue_open(const struct slice_sink *next, const struct output *output,
				     const uint64_t *slices, struct workers *workers)
{
	struct slice_queue *relay = alloc_zeroed(1, sizeof(*relay));

	relay->job.run = run;
	relay->workers = workers;
	relay->next = next;
	relay->output = output;
	relay->slices = slices;
	relay->blocks = alloc_zeroed(BLOCKS, sizeof(*relay->blocks));
	pthread_mutex_init(&relay->lock, NULL);
	pthread_cond_init(&relay->changed, NULL);
	relay->sink = (struct slice_sink){
		.events = queue_events,
		.flush = queue_flush,
		.context = relay,
		.details = next->details,
		.folded = next->folded,
	};
	return relay;
}

const struct slice_sink *slice_queue_sink(const struct slice_queue *relay)
{
	return &relay->sink;
}

uint64_t slice_queue_slices(const struct slice_queue *relay)
{
	return __atomic_load_n(&relay->written_slices, __ATOMIC_RELAXED);
}

bool slice_queue_failed(const struct slice_queue *relay)
{
	return __atomic_load_n(&relay->failed, __ATOMIC_RELAXED);
}

void slice_queue_wait(struct slice_queue *relay)
{
	hand_over(relay, 0);
	relay->direct = false;
	publish(relay);
}

void slice_queue_close(struct slice_queue *relay)
{
	if (!relay)
		return;
	workers_cancel(relay->workers, &relay->job);
	release(relay);
}
