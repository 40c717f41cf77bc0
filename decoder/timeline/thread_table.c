/* SPDX-License-Identifier: MIT */
/* Threads by tid, each with a list of its names while the timeline is built. */
#include "decoder/timeline/thread_table.h"

#include "base/tables/hash.h"

struct live_tid {
	int32_t tid;
	struct live_thread {
		struct thread thread; /* the public part */
		const struct live_name {
			struct thread_name name;
			const struct live_name *before;
		} * last;                  /* NULL: no name yet */
		struct live_thread *older; /* earlier thread with this tid */
		bool displaced;            /* ended because another process had the tid */
		bool guessed;              /* its process is unknown */
	} * latest;
	UT_hash_handle hh;
};

void thread_table_release(struct thread_table *table)
{
	HASH_CLEAR(hh, table->by_tid);
	free(table->threads);
	*table = (struct thread_table){ 0 };
}

static bool has_ended(const struct live_thread *thread)
{
	return thread->thread.end != UINT64_MAX;
}

static struct live_tid *borrow_tid(struct thread_table *table, int32_t tid)
{
	struct live_tid *entry;

	HASH_FIND_OR_ADD_IN(table->by_tid, tid, &tid, entry,
			    arena_alloc(table->arena, sizeof(*entry)));
	return entry;
}

static struct live_thread *add_thread(struct thread_table *table, int32_t pid,
				      struct live_tid *entry, uint64_t begin)
{
	struct live_thread *thread = arena_alloc(table->arena, sizeof(*thread));

	thread->thread.pid = pid;
	thread->thread.tid = entry->tid;
	thread->thread.index = (uint32_t)table->count;
	thread->thread.process = process_table_borrow(table->processes, pid);
	thread->thread.begin = begin;
	thread->thread.end = UINT64_MAX;
	thread->older = entry->latest;
	if (thread->older && !has_ended(thread->older)) {
		thread->older->thread.end = begin;
		thread->older->displaced = true;
	}
	entry->latest = thread;
	*ARRAY_ADD(table->threads, table->count, table->room) = &thread->thread;
	return thread;
}

/*
 * If another process's record displaced a thread that has records again, that record was wrong. Two
 * threads with one pid and tid would share a track. Returns the old thread, or NULL.
 */
static struct live_thread *take_back(struct live_tid *entry, int32_t pid)
{
	struct live_thread *latest = entry->latest, *back = latest ? latest->older : NULL;

	if (!back || back->thread.pid != pid || !back->displaced)
		return NULL;
	latest->older = back->older;
	back->older = latest;
	back->displaced = false;
	back->thread.end = UINT64_MAX;
	entry->latest = back;
	return back;
}

struct live_thread *thread_table_borrow(struct thread_table *table, int32_t pid, int32_t tid,
					uint64_t time)
{
	struct live_tid *entry = borrow_tid(table, tid);
	struct live_thread *back;

	/* A record can follow the thread's end: the thread leaves the CPU after that. */
	if (entry->latest && (pid == -1 || entry->latest->thread.pid == pid))
		return entry->latest;
	back = take_back(entry, pid);
	return back ? back : add_thread(table, pid, entry, entry->latest ? time : 0);
}

struct live_thread *thread_table_borrow_any(struct thread_table *table, int32_t tid, uint64_t time)
{
	bool known = borrow_tid(table, tid)->latest;
	struct live_thread *thread = thread_table_borrow(table, known ? -1 : tid, tid, time);

	if (!known)
		thread->guessed = true;
	return thread;
}

const struct thread *thread_table_view(const struct live_thread *thread)
{
	return &thread->thread;
}

void thread_table_fork(struct thread_table *table, int32_t pid, int32_t tid, uint64_t time,
		       const struct live_thread *parent)
{
	struct live_tid *entry = borrow_tid(table, tid);
	struct live_thread *thread = entry->latest;

	if (!thread || has_ended(thread) || thread->thread.pid != pid)
		thread = add_thread(table, pid, entry, time);
	if (parent && parent != thread)
		thread->thread.parent = &parent->thread;
	if (!thread->last && parent && parent->last)
		thread_table_name(table, thread, time, parent->last->name.text);
}

bool thread_table_exit(struct thread_table *table, int32_t pid, int32_t tid, uint64_t time)
{
	const struct live_thread *latest = borrow_tid(table, tid)->latest;
	struct live_thread *thread;

	if (latest && latest->thread.pid != pid && !has_ended(latest) && !latest->guessed)
		return false;
	thread = thread_table_borrow(table, pid, tid, time);
	thread->thread.end = time;
	return true;
}

bool thread_table_exec(struct live_thread *thread)
{
	bool ended = has_ended(thread);

	thread->thread.end = UINT64_MAX;
	return ended;
}

void thread_table_name(struct thread_table *table, struct live_thread *thread, uint64_t time,
		       const char *text)
{
	const struct live_name *last = thread->last;
	struct live_name *added;

	if (last && strcmp(last->name.text, text) == 0)
		return;
	added = arena_alloc(table->arena, sizeof(*added));
	added->name.time = last ? time : 0;
	added->name.text = arena_text(table->arena, text, strlen(text));
	added->before = last;
	thread->last = added;
	thread->thread.name_count++;
}

void thread_table_name_last(struct thread_table *table, int32_t tid, const char *text, size_t size)
{
	size_t length = strnlen(text, size);
	struct live_tid *entry;

	HASH_FIND_INT(table->by_tid, &tid, entry);
	if (entry && length && !entry->latest->older && !entry->latest->last)
		thread_table_name(table, entry->latest, 0, arena_text(table->arena, text, length));
}

void thread_table_finish(struct thread_table *table)
{
	struct live_tid *entry, *next;

	HASH_ITER(hh, table->by_tid, entry, next)
	{
		for (struct live_thread *thread = entry->latest; thread; thread = thread->older) {
			size_t count = thread->thread.name_count;
			struct thread_name *names =
				arena_alloc(table->arena, count * sizeof(*names));

			thread->thread.names = names;
			for (const struct live_name *name = thread->last; name; name = name->before)
				names[--count] = name->name;
		}
	}
}

const struct thread *thread_table_find(const struct thread_table *table, int32_t tid, uint64_t time)
{
	const struct live_thread *thread;
	struct live_tid *entry;

	HASH_FIND_INT(table->by_tid, &tid, entry);
	thread = entry ? entry->latest : NULL;
	while (thread && thread->thread.begin > time && thread->older)
		thread = thread->older;
	return thread ? &thread->thread : NULL;
}
