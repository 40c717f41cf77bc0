/* SPDX-License-Identifier: MIT */
/*
 * From an address of a process to the function there.
 *
 * Joins what the decoder knows (address spaces) with what symbols know
 * (files).  The answer is kept per address in direct-mapped caches, so a
 * branch that runs again costs one probe.
 *
 * Code that no file holds is looked for in what JIT compilers and the kernel
 * say of theirs.  What the kernel makes at run time has its name by time.
 */
#ifndef SRC_RESOLVE_RESOLVE_H
#define SRC_RESOLVE_RESOLVE_H

#include <stdbool.h>
#include <stdint.h>

#include "decoder/mappings/address_space.h"
#include "decoder/timeline/timeline.h"
#include "src/resolve/kernel_names.h"
#include "src/resolve/location.h"
#include "symbols/dso/dso_store.h"

/* Places; branches, of which a program has more: where two have one slot each is found out anew. */
#define RESOLVE_SLOT_BITS   14
#define RESOLVE_BRANCH_BITS 15

/* Where a branch is from, and where it goes: kept apart, so that one answer leaves the other. */
enum resolve_end { RESOLVE_FROM, RESOLVE_TO, RESOLVE_ENDS };

struct resolve_slot {
	const struct address_space *space;
	struct location location; /* ip 0: empty */
};

/*
 * A branch of no more than its places, which mean the same at any time: a line of the
 * cache.
 */
struct resolve_branch {
	const struct address_space *space;
	struct location_pair places; /* CALL_NOT_KNOWN: it is empty */
};

struct resolver {
	struct dso_store *store; /* borrowed */
	struct dso **dsos;       /* owned; by index of mapped_file */
	int32_t *pids;           /* owned; by index of address space; -1: unknown */
	struct dso **jits;       /* owned; the same: names of JIT code; NULL: not asked for yet */
	struct resolve_slot *slots[RESOLVE_ENDS]; /* owned */
	struct location told[RESOLVE_ENDS];       /* what is not kept: the last answer */
	struct resolve_branch *branches;          /* in, owned: */
	void *branch_memory;
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

/* What resolver_find() does if the answer is not kept. */
const struct location *resolver_look_up(struct resolver *resolver, enum resolve_end end,
					const struct address_space *space, uint64_t ip);

/* Returns where the answer for an address is kept, if it is. */
static inline struct resolve_slot *resolver_slot(const struct resolver *resolver,
						 enum resolve_end end,
						 const struct address_space *space, uint64_t ip)
{
	/* Fibonacci hashing, with the address space mixed in. */
	uint64_t key = ip ^ (uint64_t)(uintptr_t)space << 16;

	return &resolver->slots[end]
			       [(key * UINT64_C(0x9e3779b97f4a7c15)) >> (64 - RESOLVE_SLOT_BITS)];
}

static inline bool resolve_slot_is(const struct resolve_slot *slot,
				   const struct address_space *space, uint64_t ip)
{
	return slot->location.ip == ip && slot->space == space;
}

/*
 * Returns the location of `ip` in an address space (NULL: unknown), which stays
 * what it is until the next one is asked for of the same end.
 */
static inline const struct location *resolver_find(struct resolver *resolver, enum resolve_end end,
						   const struct address_space *space, uint64_t ip)
{
	const struct resolve_slot *slot = resolver_slot(resolver, end, space, ip);

	/* What the kernel makes at run time has its name by time. */
	if (!resolve_slot_is(slot, space, ip) || (resolver->kernel.count && ip >> 63))
		return resolver_look_up(resolver, end, space, ip);
	return &slot->location;
}

/* Returns where a branch is kept, if it is. */
static inline struct resolve_branch *resolver_branch(const struct resolver *resolver,
						     const struct address_space *space,
						     uint64_t from, uint64_t to)
{
	uint64_t key = (from << 20) + to + (uint64_t)(uintptr_t)space;

	return &resolver->branches[(key * UINT64_C(0x9e3779b97f4a7c15)) >>
				   (64 - RESOLVE_BRANCH_BITS)];
}

/*
 * Returns both ends of a branch of an address space (NULL: unknown), if they are kept,
 * mean the same at any time, and no handler of OCaml is near; else NULL.  They stay
 * what they are until resolver_keep() is called.
 */
static inline const struct location_pair *resolver_known(const struct resolver *resolver,
							 const struct address_space *space,
							 uint64_t from, uint64_t to)
{
	const struct resolve_branch *branch = resolver_branch(resolver, space, from, to);

	if (!branch->places.call || branch->places.from.ip != from || branch->places.to.ip != to ||
	    branch->space != space)
		return NULL;
	return &branch->places;
}

/* Keep both ends of a branch for resolver_known(), if that can give them. */
void resolver_keep(struct resolver *resolver, const struct address_space *space,
		   const struct location *from, const struct location *to);

#endif
