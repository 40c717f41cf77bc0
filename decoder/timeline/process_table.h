/* SPDX-License-Identifier: MIT */
/*
 * The processes of a recording and their mapped code, epoch by epoch.
 *
 * Lives while a timeline is built: calls come in the order of time.  The processes
 * and address spaces themselves live in the arena.  Parent and child share an
 * address space until one of the two changes it (copy on write).
 */
#ifndef DECODER_TIMELINE_PROCESS_TABLE_H
#define DECODER_TIMELINE_PROCESS_TABLE_H

#include "base/arena.h"
#include "base/diag.h"
#include "decoder/mappings/address_space.h"
#include "decoder/mappings/space_builder.h"
#include "decoder/timeline/timeline_types.h"

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

#endif
