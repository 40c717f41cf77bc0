/* SPDX-License-Identifier: MIT */
/*
 * Resolves a process's addresses to functions.
 *
 * Joins the decoder's address spaces with the names in mapped files. Names of code that is in no
 * file come from JIT compilers' maps and from the kernel. Names of code that the kernel generates
 * at run time depend on time.
 *
 * Results are stored in an event's known branch (decoder/known_branches.h), so that a repeated
 * branch needs no lookup. Two direct-mapped caches have the others: one of addresses, and one of
 * branches that are not known or had no room.
 */
#pragma once

#include "decoder/branch_event.h"
#include "decoder/timeline/timeline.h"
#include "src/resolve/location.h"
#include "symbols/dso/dso_store.h"

/* Slots of the caches, as powers of two. A program has about twice as many branches as targets. */
#define ADDRESS_CACHE_BITS 13
#define BRANCH_CACHE_BITS  15

struct cached_location {
	const struct address_space *space;
	struct location location; /* ip 0: empty */
};

struct pattern_list;

struct resolver {
	struct dso_store *store;       /* borrowed */
	struct dso **dsos;             /* owned; by index of mapped_file: borrowed, not NULL */
	int32_t *pids;                 /* owned; by index of address space; -1: unknown */
	struct dso **jits;             /* owned; by 2 * index of address space + `changed` of
					  dso_store_borrow_jit(): names of JIT code; NULL: not
					  looked up yet */
	struct direct_cache addresses; /* owned; of struct cached_location */
	struct direct_cache branches;  /* owned; of struct known_branch; CALL_NOT_KNOWN: empty */
	const struct pattern_list *switches; /* borrowed: names; NULL: none */
	struct location_pair uncached;       /* the last branch that may not be cached */
	struct kernel_names {
		const struct kernel_symbol *records; /* borrowed; by time */
		struct symbol *symbols; /* owned; by index of `records`; `start` is an address */
		size_t count, next;     /* `next`: the next record */
		uint64_t begin, end;    /* all symbols are in [begin, end) */
		void *tree;             /* owned, of tsearch(3): the current symbols */
	} kernel;
};

/* Returns whether a name may be valid at `ip` at some time. */
static inline bool kernel_names_may_have(const struct kernel_names *kernel, uint64_t ip)
{
	return ip >= kernel->begin && ip < kernel->end;
}

/* Apply all records up to `time` (ns). Times before the previous call's have no effect. */
void kernel_names_advance(struct kernel_names *kernel, uint64_t time);

/* Undo all records. */
void kernel_names_rewind(struct kernel_names *kernel);

/* Open every file of the timeline in `store`; borrows all arguments. */
void resolver_init(struct resolver *resolver, const struct timeline *timeline,
		   struct dso_store *store, struct name_table *names);

void resolver_release(struct resolver *resolver);

/* Resolve for `time` (ns, perf's clock) from now on; it never decreases. */
static inline void resolver_advance(struct resolver *resolver, uint64_t time)
{
	if (resolver->kernel.next < resolver->kernel.count)
		kernel_names_advance(&resolver->kernel, time);
}

/* Returns whether names of kernel code change during the recording. */
static inline bool resolver_changes(const struct resolver *resolver)
{
	const struct kernel_names *kernel = &resolver->kernel;

	return kernel->count && kernel->records[kernel->count - 1].time;
}

/* Returns whether `ip` is the entry of a program or its loader. The address space may be NULL. */
bool resolver_is_entry(const struct resolver *resolver, const struct address_space *space,
		       uint64_t ip);

/* Returns the location of `ip` in an address space (NULL: unknown). */
struct location resolver_find(struct resolver *resolver, const struct address_space *space,
			      uint64_t ip);

/* Returns the slot that both ends of a branch have in the branch cache. */
static inline struct known_branch *branch_cache_slot(const struct resolver *resolver,
						     const struct address_space *space,
						     uint64_t from, uint64_t to)
{
	struct known_branch *slots = resolver->branches.slots;
	uint64_t key = (from << 20) + to + (uint64_t)(uintptr_t)space;

	return &slots[direct_cache_index(&resolver->branches, key)];
}

/*
 * Returns both ends of a branch in an address space (may be NULL) if they are cached, borrowed
 * until the next branch_cache_put(); otherwise NULL. Cached names do not depend on time, and their
 * files have no traps (trap_table.h).
 */
static inline const struct location_pair *branch_cache_get(const struct resolver *resolver,
							   const struct address_space *space,
							   uint64_t from, uint64_t to)
{
	const struct known_branch *branch = branch_cache_slot(resolver, space, from, to);

	if (!branch->locations.call || branch->locations.from.ip != from ||
	    branch->locations.to.ip != to || branch->space != space)
		return NULL;
	return &branch->locations;
}

/*
 * Look up the effect of a branch, and cache both ends if branch_cache_get() may return them.
 * Returns the pair, borrowed until the next call.
 */
const struct location_pair *branch_cache_put(struct resolver *resolver,
					     const struct address_space *space,
					     const struct location *from,
					     const struct location *to);

/* Returns whether a known branch has its permanent names. Any thread may call it. */
static inline bool known_branch_is_named(const struct known_branch *known)
{
	return __atomic_load_n(&known->locations.call, __ATOMIC_ACQUIRE) != CALL_NOT_KNOWN;
}

/*
 * Returns both ends of a branch in an address space (may be NULL), from the branch cache or by a
 * lookup that fills it; borrowed until the next call.
 */
static inline const struct location_pair *resolver_find_branch(struct resolver *resolver,
							       const struct address_space *space,
							       uint64_t from, uint64_t to)
{
	const struct location_pair *locations = branch_cache_get(resolver, space, from, to);
	struct location ends[2];

	if (locations)
		return locations;
	ends[0] = resolver_find(resolver, space, from);
	ends[1] = resolver_find(resolver, space, to);
	return branch_cache_put(resolver, space, &ends[0], &ends[1]);
}

/*
 * Returns both ends of a branch or gap if resolver_find_event() has stored them in the event's
 * known branch or, without one, in the branch cache; otherwise NULL.
 */
static inline const struct location_pair *resolver_get_known(const struct resolver *resolver,
							     const struct branch_event *event)
{
	const struct known_branch *known = event->known;

	if (__builtin_expect(!known, false))
		return branch_cache_get(resolver, event->space, event->from, event->to);
	return known->locations.reached ? &known->locations : NULL;
}

/*
 * Returns both ends of any event, like resolver_find_branch(), and stores them in its known branch,
 * if it has one.
 */
const struct location_pair *resolver_find_event(struct resolver *resolver,
						const struct branch_event *event);

/*
 * Returns both ends of a known branch between functions of files; NULL for other branches, and
 * while another thread stores the ends. Any thread may call this, ahead of the reader of ordered
 * events. A reader that does not call resolver_find_event() for the event must call dso_use() for
 * the files of both ends.
 */
const struct location_pair *resolver_find_ahead(const struct resolver *resolver,
						struct known_branch *known);
