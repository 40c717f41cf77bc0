/* SPDX-License-Identifier: MIT */
/*
 * The context switches of each CPU.
 *
 * Filled while a timeline is built, with the switches of all CPUs in the order of time,
 * and part of it afterwards.
 */
#ifndef DECODER_TIMELINE_SWITCH_TABLE_H
#define DECODER_TIMELINE_SWITCH_TABLE_H

#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "decoder/timeline/timeline_types.h"

struct switch_table {
	struct switch_note *notes; /* owned: the switches, until switch_table_finish() */
	size_t count, room;
	struct cpu_history *cpus; /* of the arena, by CPU, after switch_table_finish() */
	size_t cpu_count;
};

/*
 * From change->time (ns) on, change->thread (borrowed) runs on the CPU; `stayed`
 * is set by switch_table_finish().  A zeroed table is empty.
 */
void switch_table_add(struct switch_table *table, int32_t cpu, const struct cpu_switch *change);

/* Sort the switches by CPU, in the arena.  None may be added afterwards. */
void switch_table_finish(struct switch_table *table, struct arena *arena);

/* Release the memory that is not in the arena.  Idempotent, also on zeroed memory. */
void switch_table_release(struct switch_table *table);

/* See timeline_switched_cpu(). */
int32_t switch_table_cpu(const struct switch_table *table, size_t index);

/* See timeline_switches(). */
const struct cpu_switch *switch_table_find(const struct switch_table *table, int32_t cpu,
					   size_t *count);

#endif
