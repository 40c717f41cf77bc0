/* SPDX-License-Identifier: MIT */
#include "span_relay.h"

#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"

#define CALLS 2048 /* in a block: 128 KiB */
#define BLOCKS 6

enum call_kind { CALL_DETAIL, CALL_BEGIN, CALL_END, CALL_COMPLETE, CALL_FOLDED, CALL_INSTANT,
		 CALL_SEGMENT_END };

/* One call of the sink's functions; what is not its own is 0. */
struct call {
	uint8_t kind; /* enum call_kind */
	unsigned flags;
	void *track;
	union {
		struct span_detail detail;
		struct {
			uint64_t time, end_time;
			const struct symbol *symbol;
			uint64_t ip;
		};
		struct {
			uint64_t count, folded_time;
		};
		struct {
			uint64_t instant_time;
			size_t text; /* where it begins in the block's texts */
		};
	};
};

struct block {
	struct call calls[CALLS];
	size_t count;
	char *texts; /* owned */
	size_t text_count, text_room;
};

struct span_relay {
	struct span_sink sink, next;
	const struct output *output; /* borrowed */
	uint64_t slices;
	struct block *blocks; /* owned: BLOCKS */
	bool failed; /* atomic */
	pthread_t thread;
	pthread_mutex_t lock;
	pthread_cond_t changed;
	/* Under the lock; the block that is being filled is number `filled`: */
	unsigned filled, done;
	bool closing;
};

/* ---- The thread ---------------------------------------------------------- */

static void replay(const struct span_sink *next, const struct block *block, const struct call *call)
{
	switch ((enum call_kind)call->kind) {
	case CALL_DETAIL:
		next->detail(next, call->track, &call->detail);
		break;
	case CALL_BEGIN:
		next->begin(next, call->track, call->time, call->symbol, call->ip, call->flags);
		break;
	case CALL_END:
		next->end(next, call->track, call->time, call->symbol);
		break;
	case CALL_COMPLETE:
		next->complete(next, call->track, call->time, call->end_time, call->symbol,
			       call->flags);
		break;
	case CALL_FOLDED:
		next->folded(next, call->track, call->count, call->folded_time);
		break;
	case CALL_INSTANT:
		next->instant(next, call->track, call->instant_time, block->texts + call->text);
		break;
	case CALL_SEGMENT_END:
		next->segment_end(next, call->track);
		break;
	}
}

static void *run(void *context)
{
	struct span_relay *relay = context;

	pthread_mutex_lock(&relay->lock);
	for (;;) {
		struct block *block = &relay->blocks[relay->done % BLOCKS];

		while (relay->filled == relay->done && !relay->closing)
			pthread_cond_wait(&relay->changed, &relay->lock);
		if (relay->closing)
			break;
		pthread_mutex_unlock(&relay->lock);
		for (size_t i = 0; i < block->count; i++)
			replay(&relay->next, block, &block->calls[i]);
		if (output_failed(relay->output))
			__atomic_store_n(&relay->failed, true, __ATOMIC_RELAXED);
		pthread_mutex_lock(&relay->lock);
		relay->done++;
		pthread_cond_broadcast(&relay->changed);
	}
	pthread_mutex_unlock(&relay->lock);
	return NULL;
}

/* ---- The caller ---------------------------------------------------------- */

/* Hand over the block that is being filled, and wait until no more than `left` are undone. */
static void hand_over(struct span_relay *relay, unsigned left)
{
	struct block *block;

	pthread_mutex_lock(&relay->lock);
	relay->filled++;
	pthread_cond_broadcast(&relay->changed);
	while (relay->filled - relay->done > left)
		pthread_cond_wait(&relay->changed, &relay->lock);
	pthread_mutex_unlock(&relay->lock);
	block = &relay->blocks[relay->filled % BLOCKS];
	block->count = block->text_count = 0;
}

static struct call *add(const struct span_sink *sink, enum call_kind kind, void *track)
{
	struct span_relay *relay = sink->context;
	struct block *block = &relay->blocks[relay->filled % BLOCKS];
	struct call *call;

	if (block->count == CALLS) {
		hand_over(relay, BLOCKS - 1);
		block = &relay->blocks[relay->filled % BLOCKS];
	}
	call = &block->calls[block->count++];
	call->kind = (uint8_t)kind;
	call->track = track;
	return call;
}

static void detail(const struct span_sink *sink, void *track, const struct span_detail *detail)
{
	add(sink, CALL_DETAIL, track)->detail = *detail;
}

static void begin(const struct span_sink *sink, void *track, uint64_t time,
		  const struct symbol *symbol, uint64_t ip, unsigned flags)
{
	struct span_relay *relay = sink->context;
	struct call *call = add(sink, CALL_BEGIN, track);

	call->time = time;
	call->symbol = symbol;
	call->ip = ip;
	call->flags = flags;
	relay->slices++;
}

static void end(const struct span_sink *sink, void *track, uint64_t time,
		const struct symbol *symbol)
{
	struct call *call = add(sink, CALL_END, track);

	call->time = time;
	call->symbol = symbol;
}

static void complete(const struct span_sink *sink, void *track, uint64_t begin_time,
		     uint64_t end_time, const struct symbol *symbol, unsigned flags)
{
	struct span_relay *relay = sink->context;
	struct call *call = add(sink, CALL_COMPLETE, track);

	call->time = begin_time;
	call->end_time = end_time;
	call->symbol = symbol;
	call->flags = flags;
	relay->slices++;
}

static void folded(const struct span_sink *sink, void *track, uint64_t count, uint64_t time)
{
	struct call *call = add(sink, CALL_FOLDED, track);

	call->count = count;
	call->folded_time = time;
}

static void instant(const struct span_sink *sink, void *track, uint64_t time, const char *text)
{
	struct span_relay *relay = sink->context;
	struct call *call = add(sink, CALL_INSTANT, track);
	struct block *block = &relay->blocks[relay->filled % BLOCKS];
	size_t size = strlen(text) + 1;

	block->texts = alloc_grow(block->texts, &block->text_room, block->text_count + size, 1);
	memcpy(block->texts + block->text_count, text, size);
	call->instant_time = time;
	call->text = block->text_count;
	block->text_count += size;
	relay->slices++;
}

static void segment_end(const struct span_sink *sink, void *track)
{
	add(sink, CALL_SEGMENT_END, track);
}

static void release(struct span_relay *relay)
{
	for (size_t i = 0; i < BLOCKS; i++)
		free(relay->blocks[i].texts);
	free(relay->blocks);
	pthread_cond_destroy(&relay->changed);
	pthread_mutex_destroy(&relay->lock);
	free(relay);
}

/* Signals are for the threads of the program. */
static bool start_thread(struct span_relay *relay)
{
	sigset_t all, before;
	int status;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	status = pthread_create(&relay->thread, NULL, run, relay);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	return status == 0;
}

struct span_relay *span_relay_open(const struct span_sink *next, const struct output *output)
{
	struct span_relay *relay = alloc_zeroed(1, sizeof(*relay));

	relay->next = *next;
	relay->output = output;
	relay->blocks = alloc_zeroed(BLOCKS, sizeof(*relay->blocks));
	pthread_mutex_init(&relay->lock, NULL);
	pthread_cond_init(&relay->changed, NULL);
	relay->sink = (struct span_sink){
		.detail = next->detail ? detail : NULL,
		.begin = begin,
		.end = end,
		.complete = complete,
		.folded = next->folded ? folded : NULL,
		.instant = instant,
		.segment_end = segment_end,
		.context = relay,
	};
	if (start_thread(relay))
		return relay;
	release(relay);
	return NULL;
}

struct span_sink span_relay_sink(struct span_relay *relay)
{
	return relay->sink;
}

uint64_t span_relay_slices(const struct span_relay *relay)
{
	return relay->slices;
}

bool span_relay_failed(const struct span_relay *relay)
{
	return __atomic_load_n(&relay->failed, __ATOMIC_RELAXED);
}

void span_relay_wait(struct span_relay *relay)
{
	hand_over(relay, 0);
}

void span_relay_close(struct span_relay *relay)
{
	if (!relay)
		return;
	pthread_mutex_lock(&relay->lock);
	relay->closing = true;
	pthread_cond_broadcast(&relay->changed);
	pthread_mutex_unlock(&relay->lock);
	pthread_join(relay->thread, NULL);
	release(relay);
}
