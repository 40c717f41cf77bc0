/* SPDX-License-Identifier: MIT */
/* Executions of code in all threads, counted by the engines for some formats. */
#pragma once

#include "base/common.h"

struct address_space;

/* Counts that wait for the ordered stage.  Zeroed, it is empty. */
struct code_count_list {
	/* Straight-line code up to a last instruction, and the target of a branch there. */
	struct code_count {
		const struct address_space
			*space;       /* borrowed: a space with the code at these ips */
		uint64_t begin, last; /* ips of the first and the last instruction */
		uint64_t to;          /* target of jumps and direct calls; 0: unknown */
		uint64_t count;       /* executions from `begin` to `last` */
		uint64_t taken;       /* branches from `last` to `to` */
		uint8_t kind;         /* enum branch_kind of `last` */
		bool stopped; /* by an interrupt: the instruction at `last` was not executed */
	} * counts;           /* owned */
	size_t count, room;
};

/* Receives counts in the ordered stage (base/workers.h), repeatedly for equal code. */
struct code_counter {
	void (*add)(struct code_counter *counter, const struct code_count *counts, size_t count);
};

/* Pass the counts on, and empty the list. */
static inline void code_count_list_flush(struct code_count_list *list, struct code_counter *counter)
{
	if (list->count)
		counter->add(counter, list->counts, list->count);
	list->count = 0;
}
