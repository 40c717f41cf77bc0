/* SPDX-License-Identifier: MIT */
/* A hash table with lock-free readers: a slot is written once, after its branch is complete. */
#include "decoder/known_branches.h"

/* Unlike in a direct-mapped cache, no branch replaces another one. */
#define MORE_BITS 2

_Static_assert(sizeof(struct known_branch) == CACHE_LINE, "one branch per cache line");

struct known_branches *known_branches_open(void)
{
	struct known_branches *known = alloc_zeroed(1, sizeof(*known));
	unsigned bits = MIN(KNOWN_BRANCHES_BITS, direct_cache_bits_most() + MORE_BITS);

	known->most = UINT32_C(1) << bits;
	known->shift = 64 - bits - 1;
	known->slots = alloc_zeroed((size_t)2 * known->most, sizeof(*known->slots));
	direct_cache_init(&known->memory, 0, sizeof(struct known_branch) << bits);
	known->branches = known->memory.slots;
	known->branches[0].space = (const void *)known; /* equal to no address space */
	known->count = 1;
	pthread_mutex_init(&known->lock, NULL);
	return known;
}

void known_branches_close(struct known_branches *known)
{
	if (!known)
		return;
	pthread_mutex_destroy(&known->lock);
	direct_cache_release(&known->memory);
	free(known->slots);
	free(known);
}

/* Returns the slot of a branch, or the empty slot for it, in the order of probing. */
static uint32_t slot_of_branch(const struct known_branches *known,
			       const struct address_space *space, uint64_t from, uint64_t to)
{
	uint32_t slot = known_branch_slot(known, space, from, to);

	/* At least half of the slots are empty. */
	for (;; slot = (slot + 1) % (2 * known->most)) {
		const struct known_branch *branch = known_branch_at(known, slot);

		if (branch == known->branches || known_branch_is(branch, space, from, to))
			return slot;
	}
}

static void fill_slot(struct known_branches *known, uint32_t slot,
		      const struct known_branch *branch)
{
	if (known->count == known->most)
		return;
	known->branches[known->count] = *branch;
	__atomic_store_n(&known->slots[slot], known->count++, __ATOMIC_RELEASE);
}

struct known_branch *known_branches_add(struct known_branches *known,
					const struct address_space *space, uint64_t from,
					uint64_t to)
{
	const struct known_branch added = { space, { .from.ip = from, .to.ip = to } };
	struct known_branch *branch =
		known_branch_at(known, slot_of_branch(known, space, from, to));
	uint32_t slot;

	if (branch != known->branches)
		return branch;
	pthread_mutex_lock(&known->lock);
	slot = slot_of_branch(known, space, from, to);
	if (known_branch_at(known, slot) == known->branches)
		fill_slot(known, slot, &added);
	branch = known_branch_at(known, slot);
	pthread_mutex_unlock(&known->lock);
	return branch == known->branches ? NULL : branch;
}
