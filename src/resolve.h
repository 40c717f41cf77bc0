/* SPDX-License-Identifier: MIT */
/*
 * From an address of a process to the function there.
 *
 * Joins what the decoder knows (address spaces) with what symbols know
 * (files).  The answer is kept per address in a direct-mapped cache, so a
 * branch that runs again costs one probe.
 *
 * Code that no file holds is looked for in what JIT compilers and the kernel
 * say of theirs.  What the kernel makes at run time has its name by time.
 */
#ifndef SRC_RESOLVE_H
#define SRC_RESOLVE_H

#include <stdbool.h>
#include <stdint.h>

#include "callstack.h"
#include "decoder/address_space.h"
#include "decoder/timeline.h"
#include "kernel_names.h"
#include "symbols/dso_store.h"

struct resolver {
	struct dso_store *store;          /* borrowed */
	struct dso **dsos;                /* owned; by index of mapped_file */
	int32_t *pids;                    /* owned; by index of address space; -1: unknown */
	struct dso **jits;                /* owned; the same: names of JIT code; NULL: not asked for yet */
	struct resolve_slot *slots;       /* owned */
	struct kernel_names kernel;
};

/* Open every file of the timeline in `store`; all three are borrowed. */
void resolver_init(struct resolver *resolver, const struct timeline *timeline,
		   struct dso_store *store, struct name_table *names);

/* Release the memory.  Idempotent, also on zeroed memory. */
void resolver_release(struct resolver *resolver);

/* Returns the dso of a mapped file, borrowed; never NULL. */
struct dso *resolver_borrow_dso(const struct resolver *resolver, const struct mapped_file *file);

/* From now on, what is asked for is at `time` (ns, perf's clock), which never falls. */
static inline void resolver_advance(struct resolver *resolver, uint64_t time)
{
	if (resolver->kernel.next < resolver->kernel.count)
		kernel_names_advance(&resolver->kernel, time);
}

/* Returns whether a program or its loader begins at `ip` of an address space (NULL: unknown). */
bool resolver_is_entry(const struct resolver *resolver, const struct address_space *space,
		       uint64_t ip);

/* Returns the location of `ip` in an address space (NULL: unknown). */
struct location resolver_find(struct resolver *resolver, const struct address_space *space,
			      uint64_t ip);

#endif
