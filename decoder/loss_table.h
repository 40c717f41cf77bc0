/* SPDX-License-Identifier: MIT */
/*
 * Losses by the CPU and by the thread whose buffer they are of, so that a
 * stream finds its own without a look at all others.
 */
#ifndef DECODER_LOSS_TABLE_H
#define DECODER_LOSS_TABLE_H

#include <stddef.h>
#include <stdint.h>

struct loss;

/* Zeroed memory is an empty table. */
struct loss_table {
	const struct loss **by_cpu, **by_tid; /* owned; each in the order of the losses */
	size_t count;
};

/* List losses, which are borrowed. */
void loss_table_init(struct loss_table *table, const struct loss *losses, size_t count);

/*
 * Returns the losses of a CPU's buffer, or, if tid is not -1, of a thread's,
 * `*count` of them, borrowed.
 */
const struct loss *const *loss_table_find(const struct loss_table *table, int32_t cpu, int32_t tid,
					  size_t *count);

/* Idempotent, also on zeroed memory. */
void loss_table_release(struct loss_table *table);

#endif
