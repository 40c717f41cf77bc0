/* SPDX-License-Identifier: MIT */
/*
 * Which of a table's few references stands for which of any number of keys.
 *
 * FTF refers to strings by 15 bits and to threads by 8, and lets a reference be
 * defined anew at any time.  So references are lent: when all are, a clock hand
 * takes back the first that was not used since it last came by (second
 * chance), so what is used often keeps its own.  A key that comes while all
 * are lent first stands in the record itself, and gets a reference when it
 * comes again: what is used once takes none from others, and costs less.
 * Keys are dense, so finding one is an array access.
 */
#ifndef WRITER_FTF_SLOTS_H
#define WRITER_FTF_SLOTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct ftf_slots {
	uint32_t count; /* how many references there are: [1 .. count] */
	uint32_t lent;  /* how many were ever lent */
	uint32_t hand;
	uint32_t inline_uses; /* how often a key stands in the record before it gets a reference */
	uint32_t *stamps; /* owned; by reference: the record that last used it; 0: none of late */
	uint32_t *keys;   /* owned; by reference */
	uint16_t *references; /* owned; by key; 0: none */
	uint8_t *misses;      /* owned; by key: times it stood in the record, and HAD_REFERENCE */
	size_t room;          /* of references and misses */
	uint64_t redefined;   /* keys that lost their reference and got one again */
	bool reclaimed; /* a reference was reclaimed back: they do not stand for one key any more */
};

/* `count` is at most 65535, and more than one record ever uses. */
void ftf_slots_init(struct ftf_slots *slots, uint32_t count, uint32_t inline_uses);

/* Idempotent, also on zeroed memory. */
void ftf_slots_release(struct ftf_slots *slots);

/*
 * Find the reference of a key for use in record number `record` (not 0).
 * Returns it; 0: it has none at present, see ftf_slots_lend().
 */
static inline uint16_t ftf_slots_find(struct ftf_slots *slots, uint32_t key, uint32_t record)
{
	uint16_t reference = key < slots->room ? slots->references[key] : 0;

	slots->stamps[reference] = record;
	return reference;
}

/*
 * Lend a reference to a key that has none.  `may_inline` tells that the key can
 * stand in the record itself.
 * Returns the reference, which must be defined (again) first; 0: let it stand.
 */
uint16_t ftf_slots_lend(struct ftf_slots *slots, uint32_t key, uint32_t record, bool may_inline);

#endif
