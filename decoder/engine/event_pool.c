/* SPDX-License-Identifier: MIT */
/* Memory for the events of segments. */
#include "decoder/engine/event_pool.h"

#include <pthread.h>

#include "base/pages.h"

/* Chunks allocated at once: 2 MiB, a huge page. */
#define SLAB ((size_t)32)

struct event_pool {
	pthread_mutex_t lock;       /* protects all fields */
	struct event_chunk *unused; /* list, in `slabs`: the chunk given back last is its head */
	struct event_chunk **slabs; /* owned: arrays of SLAB chunks */
	size_t count, room;         /* slabs */
	size_t fresh;               /* chunks of the last slab that were never used */
};

_Static_assert(sizeof(struct event_chunk) == 64 << 10, "a slab is a huge page");

struct event_pool *event_pool_open(void)
{
	struct event_pool *pool = alloc_zeroed(1, sizeof(*pool));

	pthread_mutex_init(&pool->lock, NULL);
	return pool;
}

void event_pool_close(struct event_pool *pool)
{
	if (!pool)
		return;
	for (size_t i = 0; i < pool->count; i++)
		pages_free(pool->slabs[i], SLAB * sizeof(struct event_chunk));
	pthread_mutex_destroy(&pool->lock);
	free(pool->slabs);
	free(pool);
}

struct event_chunk *event_pool_take(struct event_pool *pool)
{
	struct event_chunk *chunk;

	pthread_mutex_lock(&pool->lock);
	chunk = pool->unused;
	if (chunk) {
		pool->unused = chunk->next;
	} else {
		if (!pool->fresh) {
			*ARRAY_ADD(pool->slabs, pool->count, pool->room) =
				pages_alloc(SLAB * sizeof(struct event_chunk));
			pool->fresh = SLAB;
		}
		chunk = &pool->slabs[pool->count - 1][SLAB - pool->fresh--];
	}
	pthread_mutex_unlock(&pool->lock);
	chunk->next = NULL;
	chunk->count = 0;
	return chunk;
}

void event_pool_give(struct event_pool *pool, struct event_chunk *chunks)
{
	struct event_chunk *last = chunks;

	if (!chunks)
		return;
	while (last->next)
		last = last->next;
	pthread_mutex_lock(&pool->lock);
	last->next = pool->unused;
	pool->unused = chunks;
	pthread_mutex_unlock(&pool->lock);
}
