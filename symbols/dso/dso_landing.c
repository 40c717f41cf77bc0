/* SPDX-License-Identifier: MIT */
/* Finds the landing pads of a file's calls. */
#include "symbols/dso/dso.h"
#include "symbols/dso/dso_store.h"

#define CACHE_BITS 10

/* Call sites that are read of one file: far more than exceptions pass, but no endless work. */
#define WORK_MOST ((size_t)1 << 24)

struct landing_slot {
	uint64_t call, pad;
};

/* Returns whether the function at a virtual address has an LSDA. */
static bool find_pads(struct dso *dso, uint64_t vaddr, struct landing_pads *pads)
{
	struct unwind_table *table = &dso_load_unwind(dso)->unwind;
	struct unwind_range range;

	if (!unwind_table_find(table, vaddr, &range) || !range.lsda)
		return false;
	pads->vaddr = range.lsda;
	pads->function = range.begin;
	pads->wide = gelf_getclass(dso->elf.elf) == ELFCLASS64;
	pads->bytes = elf_file_loaded_at(&dso->elf, range.lsda, &pads->size);
	return pads->bytes != NULL;
}

static uint64_t read_pad(struct dso *dso, uint64_t call)
{
	struct landing_pads pads;

	return find_pads(dso, call, &pads) ? landing_pads_find(&pads, call, &dso->landing_work) : 0;
}

uint64_t dso_find_landing_pad(struct dso *dso, uint64_t call)
{
	struct landing_slot *slot;
	uint64_t pad;

	pthread_mutex_lock(&dso->store->lock);
	if (!dso->landing.slots) {
		direct_cache_init(&dso->landing, CACHE_BITS, sizeof(struct landing_slot));
		dso->landing_work = WORK_MOST;
	}
	slot = (struct landing_slot *)dso->landing.slots + direct_cache_index(call, CACHE_BITS);
	if (slot->call != call)
		*slot = (struct landing_slot){ call, read_pad(dso, call) };
	pad = slot->pad;
	pthread_mutex_unlock(&dso->store->lock);
	return pad;
}
