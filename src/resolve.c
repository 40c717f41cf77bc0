/* SPDX-License-Identifier: MIT */
#include "resolve.h"

#include <stdlib.h>

#include "base/alloc.h"

#define SLOT_BITS 15

struct resolve_slot {
	const struct address_space *space;
	struct location location;
};

void resolver_init(struct resolver *resolver, const struct timeline *timeline,
		   struct dso_store *store)
{
	const struct mapped_file *const *files;
	size_t count;

	files = timeline_files(timeline, &count);
	resolver->store = store;
	resolver->dsos = alloc_zeroed(count, sizeof(struct dso *));
	for (size_t i = 0; i < count; i++)
		resolver->dsos[files[i]->index] = dso_store_borrow(
			store, files[i]->path, files[i]->build_id, files[i]->build_id_size);
	resolver->slots = alloc_zeroed((size_t)1 << SLOT_BITS, sizeof(*resolver->slots));
}

void resolver_release(struct resolver *resolver)
{
	free(resolver->dsos);
	free(resolver->slots);
	*resolver = (struct resolver){ 0 };
}

struct dso *resolver_borrow_dso(const struct resolver *resolver, const struct mapped_file *file)
{
	return resolver->dsos[file->index];
}

static struct location look_up(const struct resolver *resolver, const struct address_space *space,
			       uint64_t ip)
{
	const struct mapping *mapping = address_space_borrow_mapping(space, ip);
	struct location location = { .ip = ip };

	if (mapping)
		location.symbol = dso_borrow_symbol(resolver->dsos[mapping->file->index],
						    ip - mapping->begin + mapping->file_offset,
						    &location.offset);
	return location;
}

struct location resolver_find(struct resolver *resolver, const struct address_space *space,
			      uint64_t ip)
{
	/* Fibonacci hashing; the address space is mixed in by its index. */
	uint64_t key = ip ^ (space ? (uint64_t)space->index << 48 : 0);
	struct resolve_slot *slot =
		&resolver->slots[(key * UINT64_C(0x9e3779b97f4a7c15)) >> (64 - SLOT_BITS)];

	if (!ip)
		return (struct location){ 0 };
	if (slot->space != space || slot->location.ip != ip) {
		slot->location = look_up(resolver, space, ip);
		slot->space = space;
	}
	return slot->location;
}
