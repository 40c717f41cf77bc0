/* SPDX-License-Identifier: MIT */
/*
 * Resolves addresses of a process to functions.
 *
 * Joins the decoder's address spaces with the names of the files that are mapped
 * there.  Code that no file holds gets its names from the maps of JIT compilers and
 * from the kernel.  The names of code that the kernel makes at run time depend on time.
 *
 * Answers are kept at the branch of an event (decoder/known_branches.h), so that a branch that
 * runs again is not looked up at all.  Two direct-mapped caches have others: one of addresses, and
 * one of branches, for those that no event has or for which there was no room.
 */
#ifndef SRC_RESOLVE_RESOLVE_H
#define SRC_RESOLVE_RESOLVE_H

#include "base/tables/direct_cache.h"
#include "base/tables/name.h"
#include "decoder/branch_event.h"
#include "decoder/mappings/address_space.h"
#include "decoder/timeline/timeline.h"
#include "src/resolve/location.h"
#include "symbols/dso/dso_store.h"
#include "symbols/symbol.h"

struct kernel_names {
	const struct kernel_symbol *records; /* borrowed; in time order */
	struct symbol *symbols; /* owned; by index of `records`; `start` is an address */
	size_t count, next;     /* `next`: the first record that is still to come */
	uint64_t begin, end;    /* all symbols are in [begin, end) */
	void *tree;             /* owned, of tsearch(3): the symbols that hold now */
};

/* Returns whether a name may hold at `ip` at some time. */
static inline bool kernel_names_may_have(const struct kernel_names *kernel, uint64_t ip)
{
	return ip >= kernel->begin && ip < kernel->end;
}

/* Apply all records up to `time` (ns).  An earlier time than before changes nothing. */
void kernel_names_advance(struct kernel_names *kernel, uint64_t time);

/* Powers of two: slots of the caches.  A program has about twice as many branches as targets. */
#define ADDRESS_CACHE_BITS 15
#define BRANCH_CACHE_BITS  15

struct cached_location {
	const struct address_space *space;
	struct location location; /* ip 0: empty */
};

/* One cache line.  The names of both ends do not depend on time. */
struct cached_branch {
	const struct address_space *space;
	struct location_pair places; /* CALL_NOT_KNOWN: empty */
};

struct resolver {
	struct dso_store *store; /* borrowed */
	struct dso **dsos;       /* owned; by index of mapped_file */
	int32_t *pids;           /* owned; by index of address space; -1: unknown */
	struct dso **jits;       /* owned; by index of address space: names of JIT code; NULL: not
				    looked up yet */
	struct direct_cache addresses; /* owned; of struct cached_location */
	struct direct_cache branches;  /* owned; of struct cached_branch */
	struct location_pair uncached; /* the last branch that may not be cached */
	struct kernel_names kernel;
};

/* Open every file of the timeline in `store`; all three are borrowed. */
void resolver_init(struct resolver *resolver, const struct timeline *timeline,
		   struct dso_store *store, struct name_table *names);

/* Release the memory.  Idempotent, also on zeroed memory. */
void resolver_release(struct resolver *resolver);

/* Returns the dso of a mapped file, borrowed; never NULL. */
struct dso *resolver_borrow_dso(const struct resolver *resolver, const struct mapped_file *file);

/* Resolve from now on at `time` (ns, perf's clock), which never decreases. */
static inline void resolver_advance(struct resolver *resolver, uint64_t time)
{
	if (resolver->kernel.next < resolver->kernel.count)
		kernel_names_advance(&resolver->kernel, time);
}

/* Returns whether names of the kernel's code change in the time of the recording. */
static inline bool resolver_changes(const struct resolver *resolver)
{
	const struct kernel_names *kernel = &resolver->kernel;

	return kernel->count && kernel->records[kernel->count - 1].time;
}

/* Returns whether a program or its loader begins at `ip` of an address space (NULL: unknown). */
bool resolver_is_entry(const struct resolver *resolver, const struct address_space *space,
		       uint64_t ip);

/* Returns the location of `ip` in an address space (NULL: unknown). */
struct location resolver_find(struct resolver *resolver, const struct address_space *space,
			      uint64_t ip);

/* Returns the slot that both ends of a branch have in the branch cache. */
static inline struct cached_branch *branch_cache_slot(const struct resolver *resolver,
						      const struct address_space *space,
						      uint64_t from, uint64_t to)
{
	struct cached_branch *slots = resolver->branches.slots;
	uint64_t key = (from << 20) + to + (uint64_t)(uintptr_t)space;

	return &slots[direct_cache_index(key, BRANCH_CACHE_BITS)];
}

/*
 * Returns both ends of a branch of an address space (NULL: unknown) if they are cached,
 * borrowed until the next branch_cache_put(); else NULL.  Their names do not depend
 * on time, and their files have no traps (trap_table.h).
 */
static inline const struct location_pair *branch_cache_get(const struct resolver *resolver,
							   const struct address_space *space,
							   uint64_t from, uint64_t to)
{
	const struct cached_branch *branch = branch_cache_slot(resolver, space, from, to);

	if (!branch->places.call || branch->places.from.ip != from || branch->places.to.ip != to ||
	    branch->space != space)
		return NULL;
	return &branch->places;
}

/*
 * Cache both ends of a branch if branch_cache_get() may return them.
 * Returns the pair, borrowed until the next call.
 */
const struct location_pair *branch_cache_put(struct resolver *resolver,
					     const struct address_space *space,
					     const struct location *from,
					     const struct location *to);

/* Returns whether a known branch has the names of both ends, for good. */
static inline bool known_branch_is_named(const struct known_branch *known)
{
	return __atomic_load_n(&known->places.call, __ATOMIC_ACQUIRE) != CALL_NOT_KNOWN;
}

/*
 * Returns both ends of a branch of an address space (NULL: unknown), from the branch
 * cache if it has them, else found and cached; borrowed until the next call.
 */
static inline const struct location_pair *resolver_find_branch(struct resolver *resolver,
							       const struct address_space *space,
							       uint64_t from, uint64_t to)
{
	const struct location_pair *places = branch_cache_get(resolver, space, from, to);
	struct location ends[2];

	if (places)
		return places;
	ends[0] = resolver_find(resolver, space, from);
	ends[1] = resolver_find(resolver, space, to);
	return branch_cache_put(resolver, space, &ends[0], &ends[1]);
}

/*
 * Returns both ends of an event, a branch or gap, as branch_cache_get() does, which also has them
 * if the event has no known branch.
 */
static inline const struct location_pair *resolver_get_known(const struct resolver *resolver,
							     const struct branch_event *event)
{
	const struct known_branch *known = event->known;

	if (__builtin_expect(!known, false))
		return branch_cache_get(resolver, event->space, event->from, event->to);
	return known_branch_is_named(known) ? &known->places : NULL;
}

/*
 * Returns both ends of any event, as resolver_find_branch() does, and keeps them at its known
 * branch if it has one.
 */
const struct location_pair *resolver_find_event(struct resolver *resolver,
						const struct branch_event *event);

#endif
