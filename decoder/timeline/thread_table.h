/* SPDX-License-Identifier: MIT */
/*
 * The threads and processes of a recording while a timeline is built: calls come in the order of
 * time.  The threads, processes and address spaces themselves live in the arena.  A tid that is
 * used again is another thread.
 */
#ifndef DECODER_TIMELINE_THREAD_TABLE_H
#define DECODER_TIMELINE_THREAD_TABLE_H

#include "decoder/mappings/space_builder.h"
#include "decoder/timeline/timeline_types.h"

/* Parent and child share an address space until one of the two changes it (copy on write). */

struct process_table {
	struct arena *arena;           /* borrowed */
	struct diag *diag;             /* borrowed */
	struct live_process *by_pid;   /* hash of all processes */
	struct space_builder **spaces; /* owned array, by index; [0] is empty */
	size_t space_count, space_room;
	struct space_builder kernel; /* seen by all processes */
	uint64_t copies_left;        /* mappings that may still be copied */
};

/* Start empty; `file_size` (bytes) bounds the memory that copies may take. */
void process_table_init(struct process_table *table, struct arena *arena, struct diag *diag,
			uint64_t file_size);

/* Release the table, not the arena's processes.  Idempotent, also on zeroed memory. */
void process_table_release(struct process_table *table);

/* Returns the process of this pid, made at first use; complete after process_table_finish(). */
const struct process *process_table_borrow(struct process_table *table, int32_t pid);

/* A process maps a file at `time` (ns). */
void process_table_map(struct process_table *table, int32_t pid, uint64_t time,
		       const struct mapping *mapping);

/* Map kernel code, for all processes and times. */
void process_table_map_kernel(struct process_table *table, const struct mapping *mapping);

/* A process runs exec: its mappings end. */
void process_table_exec(struct process_table *table, int32_t pid, uint64_t time);

/* A process forks: the child begins with the mappings of the parent. */
void process_table_fork(struct process_table *table, int32_t parent, int32_t child, uint64_t time);

/* Complete all processes and address spaces.  Nothing may change afterwards. */
void process_table_finish(struct process_table *table);

struct live_thread;

struct thread_table {
	struct arena *arena;             /* borrowed */
	struct process_table *processes; /* borrowed */
	const struct thread **threads;   /* owned array, by index */
	size_t count, room;
	struct live_tid *by_tid; /* hash: the latest thread of each tid */
};

/* Start empty. */
void thread_table_init(struct thread_table *table, struct arena *arena,
		       struct process_table *processes);

/* Release the table, not the arena's threads.  Idempotent, also on zeroed memory. */
void thread_table_release(struct thread_table *table);

/* Returns the thread that has this tid at `time` (ns), made if the process has no such thread. */
struct live_thread *thread_table_borrow(struct thread_table *table, int32_t pid, int32_t tid,
					uint64_t time);

/* Returns the latest thread of this tid in any process, or a new one in a process of its own. */
struct live_thread *thread_table_borrow_any(struct thread_table *table, int32_t tid, uint64_t time);

/* Returns the public struct of a thread; its names are set by thread_table_finish(). */
const struct thread *thread_table_view(const struct live_thread *thread);

/* A thread begins, with its parent's name; `parent` may be NULL. */
void thread_table_fork(struct thread_table *table, int32_t pid, int32_t tid, uint64_t time,
		       const struct live_thread *parent);

/* The thread ended.  Returns false, and changes nothing, if another process's thread has the tid.
 */
bool thread_table_exit(struct thread_table *table, int32_t pid, int32_t tid, uint64_t time);

/* Set the thread's name (copied) at and after `time`. */
void thread_table_name(struct thread_table *table, struct live_thread *thread, uint64_t time,
		       const char *text);

/* Name the thread of this tid (`size` bytes at most), if it has no name and no predecessor. */
void thread_table_name_last(struct thread_table *table, int32_t tid, const char *text, size_t size);

/* Complete all threads.  Nothing may change afterwards. */
void thread_table_finish(struct thread_table *table);

/* As timeline_borrow_thread(). */
const struct thread *thread_table_find(const struct thread_table *table, int32_t tid,
				       uint64_t time);

#endif
