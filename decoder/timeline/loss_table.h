/* SPDX-License-Identifier: MIT */
/*
 * The losses of trace data that the kernel reported, by buffer.
 *
 * Filled while a timeline is built, with the losses of all buffers in the order of
 * time, and part of it afterwards.
 */
#ifndef DECODER_TIMELINE_LOSS_TABLE_H
#define DECODER_TIMELINE_LOSS_TABLE_H

#include <stddef.h>
#include <stdint.h>

#include "decoder/timeline/timeline_types.h"

struct loss_table {
	struct loss *losses; /* owned; after loss_table_finish() by CPU, then time */
	struct loss *by_tid; /* owned; from then on, a copy by thread */
	size_t count, room;
};

/* Add a copy, whose `order` is set.  A zeroed table is empty. */
void loss_table_add(struct loss_table *table, const struct loss *loss);

/* Sort the losses.  None may be added afterwards. */
void loss_table_finish(struct loss_table *table);

/* Release the memory.  Idempotent, also on zeroed memory. */
void loss_table_release(struct loss_table *table);

/* See timeline_losses(). */
const struct loss *loss_table_find(const struct loss_table *table, int32_t cpu, int32_t tid,
				   size_t *count);

#endif
