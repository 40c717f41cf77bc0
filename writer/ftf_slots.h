/* SPDX-License-Identifier: MIT */
/*
 * Which of a table's few numbers stands for which of any number of keys.
 *
 * FTF refers to strings by 15 bits and to threads by 8, and lets a number be
 * defined anew at any time.  So numbers are lent: when all are, a clock hand
 * takes back the first that was not used since it last came by (second
 * chance), so what is used often keeps its number.  Keys are dense, so finding
 * one is an array access.
 */
#ifndef WRITER_FTF_SLOTS_H
#define WRITER_FTF_SLOTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct ftf_slot {
	uint32_t key;
	uint32_t record; /* in which it was last used; those of the current one are not taken back */
	bool used;       /* since the hand came by */
};

struct ftf_slots {
	struct ftf_slot *slots; /* owned; [1 .. count], number 0 is never lent */
	uint32_t count;         /* how many numbers there are */
	uint32_t lent;          /* how many were ever lent */
	uint32_t hand;
	uint16_t *number_of;    /* owned; by key; 0: none */
	size_t room;            /* of number_of */
};

/* `count` is at most 65535, and more than one record ever uses. */
void ftf_slots_init(struct ftf_slots *slots, uint32_t count);

/* Idempotent, also on zeroed memory. */
void ftf_slots_release(struct ftf_slots *slots);

/*
 * Find the number of a key for use in record number `record`.
 * Returns it; *is_new tells that it must be defined (again) first.
 */
uint16_t ftf_slots_use(struct ftf_slots *slots, uint32_t key, uint32_t record, bool *is_new);

#endif
