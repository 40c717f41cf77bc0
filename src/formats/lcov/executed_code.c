/* SPDX-License-Identifier: MIT */
/* Counts distinct stretches of code, by a cache in front of an index. */
#include "src/formats/lcov/executed_code.h"

#include <stdbool.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "decoder/timeline/timeline.h"

#define CACHE_BITS 14

/* The stretch that a thread is in. */
struct executed_thread {
	const struct dso *dso; /* NULL: unknown */
	uint64_t from, begin;  /* as in struct code_stretch */
	uint8_t entry;
	bool held; /* an interrupt came before the instruction at `begin` */
};

/* A place in a file; dso NULL: in none. */
struct code_place {
	const struct dso *dso;
	uint64_t vaddr;
};

static struct code_place place_of(const struct location *location)
{
	const struct symbol *symbol = location->symbol;

	if (!location->ip || !symbol || symbol->kind == SYMBOL_FILE)
		return (struct code_place){ 0 };
	return (struct code_place){ symbol->dso, symbol->start + location->offset };
}

static bool is_stretch(const struct code_stretch *a, const struct code_stretch *b)
{
	return a->begin == b->begin && a->last == b->last && a->from == b->from &&
	       a->dso == b->dso && a->entry == b->entry && a->exit == b->exit;
}

static uint32_t find_stretch(struct executed_code *code, const struct code_stretch *wanted,
			     uint64_t key)
{
	struct id_probe probe = id_index_probe(hash_u64(key));
	uint32_t id;

	while ((id = id_index_next(&code->index, &probe)) &&
	       !is_stretch(&code->stretches[id - 1], wanted))
		;
	if (id)
		return id;
	*ARRAY_ADD(code->stretches, code->count, code->room) = *wanted;
	id_index_add(&code->index, hash_u64(key), (uint32_t)code->count);
	return (uint32_t)code->count;
}

static void count_stretch(struct executed_code *code, const struct code_stretch *wanted)
{
	uint64_t key = wanted->begin ^ wanted->last << 20 ^ wanted->from << 40 ^
		       (uint64_t)(uintptr_t)wanted->dso;
	uint32_t *slot = (uint32_t *)code->cache.slots + direct_cache_index(key, CACHE_BITS);

	if (!*slot || !is_stretch(&code->stretches[*slot - 1], wanted))
		*slot = find_stretch(code, wanted, key);
	code->stretches[*slot - 1].count++;
}

static enum stretch_exit exit_of(const struct branch_event *event)
{
	if (event->kind == BRANCH_NONE || event->kind == BRANCH_INTERRUPT ||
	    event->kind == BRANCH_TX_ABORT || event->flags & BRANCH_ASYNC)
		return LEFT_BEFORE;
	return event->kind == BRANCH_COND ? LEFT_TAKEN : LEFT_OTHER;
}

/* The thread's stretch ends. */
static void end_stretch(struct executed_code *code, struct executed_thread *thread,
			const struct branch_event *event, struct code_place from)
{
	const struct code_stretch stretch = {
		.dso = thread->dso,
		.from = thread->from,
		.begin = thread->begin,
		.last = from.vaddr,
		.entry = thread->entry,
		.exit = (uint8_t)exit_of(event),
	};

	if (!from.dso || from.dso != thread->dso || from.vaddr < thread->begin) {
		thread->dso = NULL;
		return;
	}
	thread->held = stretch.exit == LEFT_BEFORE && stretch.last == stretch.begin;
	if (!thread->held)
		count_stretch(code, &stretch);
}

static void begin_stretch(struct executed_thread *thread, const struct branch_event *event,
			  struct code_place from, struct code_place to)
{
	bool jumps = event->kind == BRANCH_JUMP || event->kind == BRANCH_COND;

	if (event->flags & BRANCH_TRACE_OFF) {
		thread->dso = thread->held ? thread->dso : NULL;
		return;
	}
	/* An interrupted jump has reached its target. */
	if (thread->held && thread->dso == to.dso && thread->begin == to.vaddr) {
		thread->held = false;
		return;
	}
	*thread = (struct executed_thread){ .dso = to.dso, .begin = to.vaddr, .entry = ENTERED_ON };
	if (jumps && from.dso == to.dso) {
		thread->entry = ENTERED_JUMP;
		thread->from = from.vaddr;
	} else if (jumps || event->kind == BRANCH_CALL || event->kind == BRANCH_INTERRUPT) {
		thread->entry = ENTERED_ANEW;
	}
}

void executed_code_add(struct executed_code *code, const struct branch_event *event,
		       const struct location *from, const struct location *to)
{
	const struct code_place left = place_of(from);
	struct executed_thread *thread;

	if (!event->thread)
		return;
	code->threads = alloc_grow_zeroed(code->threads, &code->thread_room,
					  (size_t)event->thread->index + 1, sizeof(*code->threads));
	thread = &code->threads[event->thread->index];
	if (event->kind == BRANCH_GAP) {
		thread->dso = NULL;
		return;
	}
	if (thread->dso && !thread->held)
		end_stretch(code, thread, event, left);
	begin_stretch(thread, event, left, place_of(to));
}

void executed_code_init(struct executed_code *code)
{
	*code = (struct executed_code){ 0 };
	direct_cache_init(&code->cache, CACHE_BITS, sizeof(uint32_t));
}

void executed_code_release(struct executed_code *code)
{
	free(code->stretches);
	free(code->threads);
	id_index_release(&code->index);
	direct_cache_release(&code->cache);
	*code = (struct executed_code){ 0 };
}
