/* SPDX-License-Identifier: MIT */
#include "writer/ftf_slots.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"

#define HAD_REFERENCE 0x80u /* with the misses: the key had a reference before */

void ftf_slots_init(struct ftf_slots *slots, uint32_t count, uint32_t inline_uses)
{
	*slots = (struct ftf_slots){ .count = count, .inline_uses = inline_uses };
	slots->stamps = alloc_zeroed(count + 1, sizeof(*slots->stamps));
	slots->keys = alloc_zeroed(count + 1, sizeof(*slots->keys));
}

void ftf_slots_release(struct ftf_slots *slots)
{
	free(slots->stamps);
	free(slots->keys);
	free(slots->references);
	free(slots->misses);
	*slots = (struct ftf_slots){ 0 };
}

/* The reference to take back: not used lately, and not by this record. */
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

static void make_room(struct ftf_slots *slots, uint32_t key)
{
	size_t old = slots->room, room = old;

	slots->references =
		alloc_grow(slots->references, &room, (size_t)key + 1, sizeof(*slots->references));
	memset(slots->references + old, 0, (room - old) * sizeof(*slots->references));
	room = old;
	slots->misses = alloc_grow(slots->misses, &room, (size_t)key + 1, sizeof(*slots->misses));
	memset(slots->misses + old, 0, (room - old) * sizeof(*slots->misses));
	slots->room = room;
}

uint16_t ftf_slots_lend(struct ftf_slots *slots, uint32_t key, uint32_t record, bool may_inline)
{
	uint32_t reference;

	if (key >= slots->room)
		make_room(slots, key);
	if (slots->lent < slots->count) {
		reference = ++slots->lent;
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
