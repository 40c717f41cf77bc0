/* SPDX-License-Identifier: MIT */
/*
 * The context switches of each CPU.
 *
 * Filled while a timeline is built, with the switches of all CPUs in the order of time,
 * and part of it afterwards.
 */
#ifndef DECODER_TIMELINE_SWITCH_TABLE_H
#define DECODER_TIMELINE_SWITCH_TABLE_H

#include "decoder/timeline/timeline_types.h"

struct switch_table {
	struct cpu_switch *switches; /* owned; after switch_table_finish() by CPU, then time */
	size_t count, room;
};

/* Add a copy, whose `order` and `stayed` are set later.  A zeroed table is empty. */
void switch_table_add(struct switch_table *table, const struct cpu_switch *change);

/* Sort the switches by CPU.  After this, switches must not be added. */
void switch_table_finish(struct switch_table *table);

/* See timeline_switches(). */
const struct cpu_switch *switch_table_find(const struct switch_table *table, int32_t cpu,
					   size_t *count);

#endif
