/* SPDX-License-Identifier: MIT */
/*
 * Which thread each CPU ran from when on.
 *
 * Lives while a timeline is built and afterwards as part of it; is told of the
 * switches of all CPUs in the order of time.
 */
#ifndef DECODER_TIMELINE_SWITCH_TABLE_H
#define DECODER_TIMELINE_SWITCH_TABLE_H

#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "decoder/timeline/timeline.h"

struct switch_table {
	struct switch_note *notes; /* owned: what was told */
	size_t count, room;
	struct cpu_history *cpus; /* of the arena, by CPU, after switch_table_finish() */
	size_t cpu_count;
};

/*
 * From change->time (ns) on, change->thread (borrowed) runs on the CPU; `stayed`
 * is found out later.  A zeroed table is empty.
 */
void switch_table_add(struct switch_table *table, int32_t cpu, const struct cpu_switch *change);

/* Sort the switches by CPU, in the arena.  None may be added afterwards. */
void switch_table_finish(struct switch_table *table, struct arena *arena);

/* Release what is not in the arena.  Idempotent, also on zeroed memory. */
void switch_table_release(struct switch_table *table);

/* Returns what timeline_switched_cpu() does. */
int32_t switch_table_cpu(const struct switch_table *table, size_t index);

/* Returns what timeline_switches() does. */
const struct cpu_switch *switch_table_find(const struct switch_table *table, int32_t cpu,
					   size_t *count);

#endif
