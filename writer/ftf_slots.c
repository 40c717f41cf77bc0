/* SPDX-License-Identifier: MIT */
/* References of strings and threads: assignment and reclaiming. */
#include "writer/ftf_slots.h"

#include "writer/ftf_memory.h"

#define HAD_REFERENCE 0x80u /* with the misses: the key had a reference before */

bool ftf_slots_init(struct ftf_slots *slots, struct ftf_low *low, uint32_t count,
		    uint32_t inline_uses)
{
	*slots = (struct ftf_slots){ .low = low, .count = count, .inline_uses = inline_uses };
	slots->stamps = ftf_memory_get(low, count + 1, sizeof(*slots->stamps));
	slots->keys = ftf_memory_get(low, count + 1, sizeof(*slots->keys));
	return slots->stamps && slots->keys;
}

void ftf_slots_release(struct ftf_slots *slots)
{
	ftf_memory_free(slots->low, slots->stamps);
	ftf_memory_free(slots->low, slots->keys);
	ftf_memory_free(slots->low, slots->references);
	ftf_memory_free(slots->low, slots->misses);
	*slots = (struct ftf_slots){ 0 };
}

/* Returns the reference to reclaim: not used lately, and not by this record. */
static uint32_t reclaim_slot(struct ftf_slots *slots, uint32_t record)
{
	for (;;) {
		uint32_t *stamp;

		slots->hand = slots->hand % slots->count + 1;
		stamp = &slots->stamps[slots->hand];
		if (*stamp == 0)
			return slots->hand;
		if (*stamp != record)
			*stamp = 0;
	}
}

static bool make_room(struct ftf_slots *slots, uint32_t key)
{
	size_t room = slots->room, need = (size_t)key + 1;

	return ftf_memory_grow(slots->low, &slots->references, &room, need,
			       sizeof(*slots->references)) &&
	       ftf_memory_grow(slots->low, &slots->misses, &slots->room, need,
			       sizeof(*slots->misses));
}

uint16_t ftf_slots_assign(struct ftf_slots *slots, uint32_t key, uint32_t record, bool may_inline)
{
	uint32_t reference;

	if (key >= slots->room && !make_room(slots, key))
		return 0;
	if (slots->assigned < slots->count) {
		reference = ++slots->assigned;
	} else if (may_inline && (slots->misses[key] & ~HAD_REFERENCE) < slots->inline_uses) {
		slots->misses[key]++;
		return 0;
	} else {
		reference = reclaim_slot(slots, record);
		slots->references[slots->keys[reference]] = 0;
		slots->reclaimed = true;
		slots->redefined += slots->misses[key] & HAD_REFERENCE ? 1 : 0;
	}
	slots->misses[key] = HAD_REFERENCE;
	slots->references[key] = (uint16_t)reference;
	slots->keys[reference] = key;
	slots->stamps[reference] = record;
	return (uint16_t)reference;
}
