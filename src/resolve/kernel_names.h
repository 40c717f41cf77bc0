/* SPDX-License-Identifier: MIT */
/*
 * Names of the code that the kernel made at run time: BPF programs, and the
 * trampolines of ftrace and kprobes.
 *
 * No file has them, and their addresses are used again, so each name holds
 * from its registration by the kernel until it is unregistered or another one is
 * registered there.  A name that replaces no other holds from the beginning: the
 * trace's times may be a little older than its branches.
 */
#ifndef SRC_RESOLVE_KERNEL_NAMES_H
#define SRC_RESOLVE_KERNEL_NAMES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/tables/name.h"
#include "decoder/timeline/timeline.h"
#include "symbols/symbol.h"

struct kernel_names {
	const struct kernel_symbol *records; /* borrowed; in time order */
	struct symbol *symbols; /* owned; by index of `records`; `start` is an address */
	size_t count, next;     /* `next`: the first record that is still to come */
	uint64_t begin, end;    /* all symbols are in [begin, end) */
	void *tree;             /* owned, of tsearch(3): the symbols that hold now */
};

/* `records` (in time order) and `names` are borrowed. */
void kernel_names_init(struct kernel_names *kernel, const struct kernel_symbol *records,
		       size_t count, struct name_table *names);

/* Release everything.  Idempotent, also on zeroed memory. */
void kernel_names_release(struct kernel_names *kernel);

/* Apply all records up to `time` (ns).  An earlier time than before changes nothing. */
void kernel_names_advance(struct kernel_names *kernel, uint64_t time);

/* Returns whether a name may hold at `ip` at some time. */
static inline bool kernel_names_may_have(const struct kernel_names *kernel, uint64_t ip)
{
	return ip >= kernel->begin && ip < kernel->end;
}

/* Returns the symbol at `ip` now, valid until kernel_names_release(); NULL: none. */
const struct symbol *kernel_names_find(const struct kernel_names *kernel, uint64_t ip);

#endif
