/* SPDX-License-Identifier: MIT */
/*
 * The branches that a trace has taken, each with room for what the reader resolves about both ends.
 *
 * Programs repeat the same branches. The engines, in any thread, attach the known branch to each
 * event. So the reader of ordered events needs no lookup: the known branch has the names of both
 * ends.
 */
#pragma once

#include <pthread.h>

#include "base/tables/direct_cache.h"

struct address_space;
struct symbol;

/* One end of a branch. */
struct location {
	uint64_t ip;                 /* 0: not traced */
	const struct symbol *symbol; /* borrowed; NULL: no name known, shown as "[unknown]" */
	uint64_t offset;             /* bytes from the symbol's start */
};

/* Who stores the names of a known branch: the thread that claims it, or only the reader. */
enum known_naming { NAMING_FREE = 0, NAMING_CLAIMED, NAMING_LEFT_TO_READER };

/* Both ends of a branch. */
struct location_pair {
	struct location from, to;
	/* From from.symbol's start: JUMP_CALLS: return address; JUMP_STAYS: lowest entry. */
	uint32_t offset : 31;
	uint32_t to_stub : 1; /* `to` is in a PLT stub; set only if `plain` is */
	uint8_t call;         /* enum call_effect (src/resolve/location.h) */
	/*
	 * Bit mask of enum branch_kind: kinds of near branches that have only their usual effect,
	 * if the innermost frame is that of from.symbol. A call pushes a frame; a return to just
	 * after the frame's call pops it; a jump to another function's entry replaces it.
	 */
	uint8_t plain;
	/* Details of a known branch: */
	uint8_t naming; /* enum known_naming: atomic */
	bool reached;   /* looked up by the reader; private to the reader */
};

/* log2 of the maximum number of branches: 8 MiB. */
#define KNOWN_BRANCHES_BITS 17

/* Threads look up and add branches at the same time. */
struct known_branches {
	/* A branch of an address space: one cache line. */
	struct known_branch {
		const struct address_space *space; /* borrowed; NULL: unknown */
		/* Both ips are constant. The reader or a job fills in the rest, initially zero. */
		struct location_pair locations;
	} * branches;               /* in `memory`; the first is unused */
	uint32_t *slots;            /* owned; index of a branch, written once; 0: empty */
	unsigned shift;             /* from a 64-bit hash to a slot */
	struct direct_cache memory; /* a cache line for each branch */
	pthread_mutex_t lock;       /* protects `count` and empty slots */
	uint32_t count, most;       /* including the first */
};

/* Returns an empty table, owned by the caller. Its size depends on the input's (direct_cache.h). */
struct known_branches *known_branches_open(void);

/* NULL is allowed. */
void known_branches_close(struct known_branches *known);

/* Returns the first slot to look at. */
static inline uint32_t known_branch_slot(const struct known_branches *known,
					 const struct address_space *space, uint64_t from,
					 uint64_t to)
{
	uint64_t key = (from << 20) + to + (uint64_t)(uintptr_t)space;

	return (uint32_t)(key * FIBONACCI_FACTOR >> known->shift);
}

/* Returns the branch in a slot. An empty slot has a branch that compares unequal to all others. */
static inline struct known_branch *known_branch_at(const struct known_branches *known,
						   uint32_t slot)
{
	return &known->branches[__atomic_load_n(&known->slots[slot], __ATOMIC_ACQUIRE)];
}

static inline int known_branch_is(const struct known_branch *branch,
				  const struct address_space *space, uint64_t from, uint64_t to)
{
	return branch->locations.from.ip == from && branch->locations.to.ip == to &&
	       branch->space == space;
}

/* known_branches_find() if the first slot belongs to another branch. */
struct known_branch *known_branches_add(struct known_branches *known,
					const struct address_space *space, uint64_t from,
					uint64_t to);

/*
 * Returns the branch of an address space (NULL: unknown), added if it is new; the pointer stays
 * valid.  Returns NULL if the memory for branches is used up.
 */
static inline struct known_branch *known_branches_find(struct known_branches *known,
						       const struct address_space *space,
						       uint64_t from, uint64_t to)
{
	struct known_branch *branch =
		known_branch_at(known, known_branch_slot(known, space, from, to));

	return __builtin_expect(known_branch_is(branch, space, from, to), 1)
		       ? branch
		       : known_branches_add(known, space, from, to);
}
