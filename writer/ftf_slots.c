/* SPDX-License-Identifier: MIT */
#include "writer/ftf_slots.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"

void ftf_slots_init(struct ftf_slots *slots, uint32_t count)
{
	*slots = (struct ftf_slots){ .count = count };
	slots->slots = alloc_zeroed(count + 1, sizeof(*slots->slots));
}

void ftf_slots_release(struct ftf_slots *slots)
{
	free(slots->slots);
	free(slots->number_of);
	*slots = (struct ftf_slots){ 0 };
}

/* The number to take back: not used lately, and not by this record. */
static uint32_t turn_hand(struct ftf_slots *slots, uint32_t record)
{
	for (;;) {
		struct ftf_slot *slot;

		slots->hand = slots->hand % slots->count + 1;
		slot = &slots->slots[slots->hand];
		if (!slot->used && slot->record != record)
			return slots->hand;
		slot->used = false;
	}
}

static void make_room(struct ftf_slots *slots, uint32_t key)
{
	size_t old = slots->room;

	slots->number_of = alloc_grow(slots->number_of, &slots->room, (size_t)key + 1,
				      sizeof(*slots->number_of));
	memset(slots->number_of + old, 0, (slots->room - old) * sizeof(*slots->number_of));
}

uint16_t ftf_slots_use(struct ftf_slots *slots, uint32_t key, uint32_t record, bool *is_new)
{
	uint32_t number;

	if (key >= slots->room)
		make_room(slots, key);
	number = slots->number_of[key];
	*is_new = number == 0;
	if (!number && slots->lent < slots->count) {
		number = ++slots->lent;
	} else if (!number) {
		number = turn_hand(slots, record);
		slots->number_of[slots->slots[number].key] = 0;
	}
	slots->number_of[key] = (uint16_t)number;
	slots->slots[number] = (struct ftf_slot){ key, record, true };
	return (uint16_t)number;
}
