/* SPDX-License-Identifier: MIT */
/*
 * The threads and processes of a recording while a timeline is built. Calls must be in the order of
 * time. Threads, processes and address spaces live in the arena. A reused tid is another thread.
 */
#pragma once

#include "base/diag.h"
#include "decoder/history.h"
#include "decoder/mappings/space_builder.h"

/* Parent and child share an address space until one of the two changes it (copy on write). */

/* A mapping of memory that processes share: what one of them writes, all have. */
struct shared_memory {
	struct mapping mapping;
	uint64_t device, inode; /* the memory's device and inode; 0: unknown */
	const struct shared_memory *next;
};

struct process_table {
	struct arena *arena;           /* borrowed */
	struct diag *diag;             /* borrowed */
	struct live_process *by_pid;   /* hash of all processes */
	struct space_builder **spaces; /* owned array, by index; [0] is empty */
	size_t space_count, space_room;
	struct space_builder kernel; /* visible to all processes */
	uint64_t copies_left;        /* limit of further copied mappings */
	struct shared_code *shared;  /* owned: code in shared memory, in the order of time */
	size_t shared_count, shared_room;
	uint64_t visits_left; /* limit of visits to mappings of shared memory */
	uint64_t replaced;    /* number of mappings that replaced other code */
};

/* Start empty; `file_size` (bytes) limits the memory of copies. */
void process_table_init(struct process_table *table, struct arena *arena, struct diag *diag,
			uint64_t file_size);

/* Release the table, not the arena's processes. */
void process_table_release(struct process_table *table);

/* Returns the process of a pid, created at first use; complete after process_table_finish(). */
const struct process *process_table_borrow(struct process_table *table, int32_t pid);

/* Returns whether a process has the content of a mapping of a file on a disk at its begin. */
bool process_table_has(struct process_table *table, int32_t pid, const struct mapping *mapping);

/* A process maps a file at `time` (ns). */
void process_table_map(struct process_table *table, int32_t pid, uint64_t time,
		       const struct mapping *mapping);

/* A process maps memory that it shares, at `time` (ns): its code, by process_table_map_code(). */
void process_table_share(struct process_table *table, int32_t pid, uint64_t time,
			 const struct shared_memory *memory);

/*
 * A compiler writes code into a process at `time` (ns), and so into all processes that share the
 * memory.
 */
void process_table_map_code(struct process_table *table, int32_t pid, uint64_t time,
			    const struct mapping *code);

/* A process runs exec, after its leader's end if it is by another thread: its mappings end. */
void process_table_exec(struct process_table *table, int32_t pid, uint64_t time, bool leader_ended);

/* A process forks: the child begins with the mappings of the parent. */
void process_table_fork(struct process_table *table, int32_t parent, int32_t child, uint64_t time);

/* Complete all processes and address spaces. No changes are allowed afterwards. */
void process_table_finish(struct process_table *table);

struct live_thread;

struct thread_table {
	struct arena *arena;             /* borrowed */
	struct process_table *processes; /* borrowed */
	const struct thread **threads;   /* owned array, by index */
	size_t count, room;
	struct live_tid *by_tid; /* hash: the latest thread of each tid */
};

/* Release the table, not the arena's threads. */
void thread_table_release(struct thread_table *table);

/* Returns the thread with a tid at `time` (ns), created if the process has no such thread. */
struct live_thread *thread_table_borrow(struct thread_table *table, int32_t pid, int32_t tid,
					uint64_t time);

/* Returns the latest thread of a tid in any process, or a new thread in a new process. */
struct live_thread *thread_table_borrow_any(struct thread_table *table, int32_t tid, uint64_t time);

/* Returns the public struct of a thread; its names are set by thread_table_finish(). */
const struct thread *thread_table_view(const struct live_thread *thread);

/* A thread begins with the name of `parent`, which may be NULL. */
void thread_table_fork(struct thread_table *table, int32_t pid, int32_t tid, uint64_t time,
		       const struct live_thread *parent);

/* The thread ended. Returns false, and does nothing, if another process's thread has the tid. */
bool thread_table_exit(struct thread_table *table, int32_t pid, int32_t tid, uint64_t time);

/*
 * The thread runs a program. The kernel ended it before if another thread of its process, which
 * got its tid, ran exec. Returns whether it did.
 */
bool thread_table_exec(struct live_thread *thread);

/* Set the thread's name (copied) at and after `time`. */
void thread_table_name(struct thread_table *table, struct live_thread *thread, uint64_t time,
		       const char *text);

/* Name a tid's thread if it has no name and no predecessor. `text` has at most `size` bytes. */
void thread_table_name_last(struct thread_table *table, int32_t tid, const char *text, size_t size);

/* Complete all threads. No changes are allowed afterwards. */
void thread_table_finish(struct thread_table *table);

/* As timeline_borrow_thread(). */
const struct thread *thread_table_find(const struct thread_table *table, int32_t tid,
				       uint64_t time);
