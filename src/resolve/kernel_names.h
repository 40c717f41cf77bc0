/* SPDX-License-Identifier: MIT */
/*
 * Names of the code that the kernel made at run time: BPF programs, and the
 * trampolines of ftrace and kprobes.
 *
 * No file holds them, and their addresses are used again, so each name holds
 * from when the kernel registered it until it unregistered it or registered
 * something else there.  What takes the place of nothing has its name from the
 * beginning: the trace's times may be a little older than its branches.
 */
#ifndef SRC_RESOLVE_KERNEL_NAMES_H
#define SRC_RESOLVE_KERNEL_NAMES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/name.h"
#include "decoder/timeline/timeline.h"
#include "symbols/symbol.h"

struct kernel_names {
	const struct kernel_symbol *told; /* borrowed; in time order */
	struct symbol *symbols;           /* owned; by index of `told`; `start` is an address */
	size_t count, next;               /* `next`: the first that is not yet told */
	uint64_t begin, end;              /* all of them lie in [begin, end) */
	void *tree;                       /* owned, of tsearch(3): the symbols that hold now */
};

/* `told` (in time order) and `names` are borrowed. */
void kernel_names_init(struct kernel_names *kernel, const struct kernel_symbol *told, size_t count,
		       struct name_table *names);

/* Release everything.  Idempotent, also on zeroed memory. */
void kernel_names_release(struct kernel_names *kernel);

/* Now it is `time` (ns): all that was told up to it holds.  Going back changes nothing. */
void kernel_names_advance(struct kernel_names *kernel, uint64_t time);

/* Returns whether something may be at `ip` at some time. */
static inline bool kernel_names_may_have(const struct kernel_names *kernel, uint64_t ip)
{
	return ip >= kernel->begin && ip < kernel->end;
}

/* Returns what is at `ip` now, valid until kernel_names_release(); NULL: nothing that was told. */
const struct symbol *kernel_names_find(const struct kernel_names *kernel, uint64_t ip);

#endif
