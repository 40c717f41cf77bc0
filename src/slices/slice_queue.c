/* SPDX-License-Identifier: MIT */
#include "src/slices/slice_queue.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"

#define CALLS  1024 /* in a block: 40 KiB, so that all stay in a CPU's cache */
#define BLOCKS 8

#define SLICE_EVENTS 1024 /* the same: 32 KiB */

enum call_kind {
	CALL_BEGIN,
	CALL_END,
	CALL_EVENTS,
	CALL_COMPLETE,
	CALL_FOLDED,
	CALL_INSTANT,
	CALL_SEGMENT_END,
};

/* One call of the sink's functions; what is not its own is undefined. */
struct call {
	uint8_t kind;    /* enum call_kind */
	bool has_detail; /* the block's next one */
	unsigned flags;
	void *track;
	uint64_t time; /* CALL_FOLDED: the count; CALL_EVENTS: that of them */
	const struct symbol *symbol;
	union {
		uint64_t ip;
		uint64_t end_time;    /* CALL_COMPLETE */
		uint64_t folded_time; /* CALL_FOLDED */
		size_t text;          /* CALL_INSTANT: where it begins in the block's texts */
		size_t edges;         /* CALL_EVENTS: where they begin in the block's edges */
	};
};

struct block {
	struct call calls[CALLS];
	size_t count;
	struct slice_event edges[SLICE_EVENTS];
	size_t edge_count;
	struct slice_detail *details; /* owned */
	size_t detail_count, detail_room;
	char *texts; /* owned */
	size_t text_count, text_room;
};

struct slice_queue {
	struct worker_job job;   /* first: to do what is handed over */
	struct workers *workers; /* borrowed */
	struct slice_sink sink;
	const struct slice_sink *next; /* borrowed */
	const struct output *output;   /* borrowed */
	const uint64_t *slices;        /* borrowed */
	bool has_detail;               /* the next call has the block's last one */
	struct call *at, *end; /* of the block that is being filled; equal: all else is looked at */
	bool direct;           /* calls are not put down, but called at once: */
	unsigned direct_left;  /* so many */
	struct block *blocks;  /* owned: BLOCKS */
	pthread_mutex_t lock;
	pthread_cond_t changed;
	/* Atomic, told by who does it: */
	bool failed;
	uint64_t told_slices;
	/* Under the lock; the block that is being filled is number `filled`: */
	unsigned filled, done;
	bool submitted; /* the job, and it will see what was filled */
	bool waiting;   /* the caller: for `changed` */
};

/* ---- The workers --------------------------------------------------------- */

static void replay(const struct slice_sink *next, const struct block *block,
		   const struct call *call)
{
	switch ((enum call_kind)call->kind) {
	case CALL_BEGIN:
		next->begin(next, call->track, call->time, call->symbol, call->ip, call->flags);
		break;
	case CALL_END:
		next->end(next, call->track, call->time, call->symbol);
		break;
	case CALL_EVENTS:
		next->edges(next, call->track, block->edges + call->edges, call->time);
		break;
	case CALL_COMPLETE:
		next->complete(next, call->track, call->time, call->end_time, call->symbol,
			       call->flags);
		break;
	case CALL_FOLDED:
		next->folded(next, call->track, call->time, call->folded_time);
		break;
	case CALL_INSTANT:
		next->instant(next, call->track, call->time, block->texts + call->text);
		break;
	case CALL_SEGMENT_END:
		next->segment_end(next, call->track);
		break;
	}
}

static void replay_block(const struct slice_queue *relay, const struct block *block)
{
	const struct slice_sink *next = relay->next;
	size_t details = 0;

	for (size_t i = 0; i < block->count; i++) {
		const struct call *call = &block->calls[i];

		if (call->has_detail)
			next->detail(next, call->track, &block->details[details++]);
		replay(next, block, call);
	}
}

static void tell(struct slice_queue *relay)
{
	if (output_failed(relay->output))
		__atomic_store_n(&relay->failed, true, __ATOMIC_RELAXED);
	__atomic_store_n(&relay->told_slices, *relay->slices, __ATOMIC_RELAXED);
}

static void run(struct worker_job *job, struct worker_scratch *scratch)
{
	struct slice_queue *relay = (struct slice_queue *)job;

	(void)scratch;
	pthread_mutex_lock(&relay->lock);
	while (relay->filled != relay->done) {
		const struct block *block = &relay->blocks[relay->done % BLOCKS];

		pthread_mutex_unlock(&relay->lock);
		replay_block(relay, block);
		tell(relay);
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
	being_filled(relay)->count = (size_t)(relay->at - being_filled(relay)->calls);
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
	block->detail_count = block->text_count = block->edge_count = 0;
	relay->at = block->calls;
	relay->end = block->calls + CALLS;
}

/*
 * Where all threads have something to do, putting calls down for others only costs:
 * then this one does them, if it has done all that was put down.
 */
static void choose(struct slice_queue *relay)
{
	relay->direct = false;
	if (!workers_idle(relay->workers)) {
		pthread_mutex_lock(&relay->lock);
		relay->direct = relay->filled == relay->done && !relay->submitted;
		pthread_mutex_unlock(&relay->lock);
	}
	relay->direct_left = CALLS;
	relay->at = being_filled(relay)->calls;
	relay->end = relay->direct ? relay->at : relay->at + CALLS;
}

/* Returns whether there is a place for another call; false: it is to be called. */
static bool find_place(struct slice_queue *relay)
{
	/* A detail and its call go the same way. */
	if (relay->has_detail && relay->direct)
		return false;
	if (relay->direct && relay->direct_left)
		return false;
	if (relay->direct)
		tell(relay);
	else
		hand_over(relay, BLOCKS - 1);
	choose(relay);
	return !relay->direct;
}

static inline bool has_place(struct slice_queue *relay)
{
	return relay->at != relay->end || find_place(relay);
}

/* Returns what to call instead of putting a call down; NULL: it is to be put down. */
static inline const struct slice_sink *called(const struct slice_sink *sink)
{
	struct slice_queue *relay = sink->context;

	if (has_place(relay))
		return NULL;
	relay->direct_left -= relay->direct_left > 0;
	relay->has_detail = false;
	return relay->next;
}

/* The block that is being filled holds no more, though it has places for calls. */
static void close_block(struct slice_queue *relay)
{
	relay->end = relay->at;
}

static inline struct call *add(const struct slice_sink *sink, enum call_kind kind, void *track)
{
	struct slice_queue *relay = sink->context;
	struct call *call = relay->at++;

	call->kind = (uint8_t)kind;
	call->has_detail = relay->has_detail;
	call->track = track;
	relay->has_detail = false;
	return call;
}

/* It is of the track's next call, which is the next one. */
static void detail(const struct slice_sink *sink, void *track, const struct slice_detail *detail)
{
	struct slice_queue *relay = sink->context;
	bool place = has_place(relay);
	struct block *block = being_filled(relay);

	relay->has_detail = true;
	if (!place) {
		relay->next->detail(relay->next, track, detail);
		return;
	}
	block->details = alloc_grow(block->details, &block->detail_room, block->detail_count + 1,
				    sizeof(*block->details));
	block->details[block->detail_count++] = *detail;
}

static void begin(const struct slice_sink *sink, void *track, uint64_t time,
		  const struct symbol *symbol, uint64_t ip, unsigned flags)
{
	const struct slice_sink *next = called(sink);
	struct call *call;

	if (next) {
		next->begin(next, track, time, symbol, ip, flags);
		return;
	}
	call = add(sink, CALL_BEGIN, track);
	call->time = time;
	call->symbol = symbol;
	call->ip = ip;
	call->flags = flags;
}

static void end(const struct slice_sink *sink, void *track, uint64_t time,
		const struct symbol *symbol)
{
	const struct slice_sink *next = called(sink);
	struct call *call;

	if (next) {
		next->end(next, track, time, symbol);
		return;
	}
	call = add(sink, CALL_END, track);
	call->time = time;
	call->symbol = symbol;
}

/* Put as many down as the block has room for.  Returns how many. */
static size_t put_edges(const struct slice_sink *sink, void *track, const struct slice_event *edges,
			size_t count)
{
	struct slice_queue *relay = sink->context;
	struct block *block = being_filled(relay);
	struct call *call;

	if (block->edge_count == SLICE_EVENTS) {
		close_block(relay);
		return 0;
	}
	if (count > SLICE_EVENTS - block->edge_count)
		count = SLICE_EVENTS - block->edge_count;
	call = add(sink, CALL_EVENTS, track);
	call->time = count;
	call->edges = block->edge_count;
	memcpy(block->edges + block->edge_count, edges, count * sizeof(*edges));
	block->edge_count += count;
	return count;
}

static void edges(const struct slice_sink *sink, void *track, const struct slice_event *edges,
		  size_t count)
{
	const struct slice_event *end = edges + count;
	struct slice_queue *relay = sink->context;

	while (edges < end) {
		const struct slice_sink *next = called(sink);

		if (next) {
			count = (size_t)(end - edges);
			next->edges(next, track, edges, count);
			relay->direct_left -=
				count < relay->direct_left ? (unsigned)count : relay->direct_left;
			return;
		}
		edges += put_edges(sink, track, edges, (size_t)(end - edges));
	}
}

static void complete(const struct slice_sink *sink, void *track, uint64_t begin_time,
		     uint64_t end_time, const struct symbol *symbol, unsigned flags)
{
	const struct slice_sink *next = called(sink);
	struct call *call;

	if (next) {
		next->complete(next, track, begin_time, end_time, symbol, flags);
		return;
	}
	call = add(sink, CALL_COMPLETE, track);
	call->time = begin_time;
	call->end_time = end_time;
	call->symbol = symbol;
	call->flags = flags;
}

static void folded(const struct slice_sink *sink, void *track, uint64_t count, uint64_t time)
{
	const struct slice_sink *next = called(sink);
	struct call *call;

	if (next) {
		next->folded(next, track, count, time);
		return;
	}
	call = add(sink, CALL_FOLDED, track);
	call->time = count;
	call->folded_time = time;
}

static void instant(const struct slice_sink *sink, void *track, uint64_t time, const char *text)
{
	const struct slice_sink *next = called(sink);
	size_t size = strlen(text) + 1;
	struct block *block;
	struct call *call;

	if (next) {
		next->instant(next, track, time, text);
		return;
	}
	block = being_filled(sink->context);
	call = add(sink, CALL_INSTANT, track);
	block->texts = alloc_grow(block->texts, &block->text_room, block->text_count + size, 1);
	memcpy(block->texts + block->text_count, text, size);
	call->time = time;
	call->text = block->text_count;
	block->text_count += size;
}

static void segment_end(const struct slice_sink *sink, void *track)
{
	const struct slice_sink *next = called(sink);

	if (next)
		next->segment_end(next, track);
	else
		add(sink, CALL_SEGMENT_END, track);
}

static void release(struct slice_queue *relay)
{
	for (size_t i = 0; i < BLOCKS; i++) {
		free(relay->blocks[i].details);
		free(relay->blocks[i].texts);
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
	relay->at = relay->blocks->calls;
	relay->end = relay->at + CALLS;
	pthread_mutex_init(&relay->lock, NULL);
	pthread_cond_init(&relay->changed, NULL);
	relay->sink = (struct slice_sink){
		.detail = next->detail ? detail : NULL,
		.begin = begin,
		.end = end,
		.edges = next->edges ? edges : NULL,
		.complete = complete,
		.folded = next->folded ? folded : NULL,
		.instant = instant,
		.segment_end = segment_end,
		.context = relay,
	};
	return relay;
}

const struct slice_sink *slice_queue_sink(const struct slice_queue *relay)
{
	return &relay->sink;
}

uint64_t slice_queue_slices(const struct slice_queue *relay)
{
	return __atomic_load_n(&relay->told_slices, __ATOMIC_RELAXED);
}

bool slice_queue_failed(const struct slice_queue *relay)
{
	return __atomic_load_n(&relay->failed, __ATOMIC_RELAXED);
}

void slice_queue_wait(struct slice_queue *relay)
{
	hand_over(relay, 0);
	relay->direct = false;
	tell(relay);
}

void slice_queue_close(struct slice_queue *relay)
{
	if (!relay)
		return;
	workers_cancel(relay->workers, &relay->job);
	release(relay);
}
