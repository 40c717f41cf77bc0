/* SPDX-License-Identifier: MIT */
/*
 * The assignment of a table's few references to any number of keys.
 *
 * FTF refers to strings by 15 bits and to threads by 8, and a reference may be
 * redefined at any time.  If all references are in use, a clock hand reclaims the
 * first that was not used since its last turn (second chance), so frequent keys
 * keep theirs.  A new key is then written inline in the record first, and gets a
 * reference at its next use: a key that is used once takes no reference from
 * others, and costs less.  Keys are dense, so finding one is an array access.
 */
#ifndef WRITER_FTF_SLOTS_H
#define WRITER_FTF_SLOTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct ftf_low;

struct ftf_slots {
	struct ftf_low *low; /* borrowed: the trace, for its memory */
	uint32_t count;      /* how many references there are: [1 .. count] */
	uint32_t assigned;   /* how many were ever assigned */
	uint32_t hand;
	uint32_t inline_uses; /* how often a key is inline before it gets a reference */
	uint32_t *stamps; /* owned; by reference: the record that last used it; 0: none of late */
	uint32_t *keys;   /* owned; by reference */
	uint16_t *references; /* owned; by key; 0: none */
	uint8_t *misses;      /* owned; by key: times it was inline, and HAD_REFERENCE */
	size_t room;          /* of references and misses */
	uint64_t redefined;   /* keys that lost their reference and got one again */
	bool reclaimed;       /* a reference was reclaimed: one may have had several keys */
};

/*
 * `count` is at most 65535, and more than one record ever uses.
 * Returns whether there was memory; ftf_slots_release() is due in either case.
 */
bool ftf_slots_init(struct ftf_slots *slots, struct ftf_low *low, uint32_t count,
		    uint32_t inline_uses);

/* Idempotent. */
void ftf_slots_release(struct ftf_slots *slots);

/*
 * Find the reference of a key for use in record number `record` (not 0).
 * Returns it; 0: it has none at present, see ftf_slots_assign().
 */
static inline uint16_t ftf_slots_find(struct ftf_slots *slots, uint32_t key, uint32_t record)
{
	uint16_t reference = key < slots->room ? slots->references[key] : 0;

	slots->stamps[reference] = record;
	return reference;
}

/*
 * Assign a reference to a key that has none.  `may_inline`: the record may contain
 * the key's text or ids instead.
 * Returns the reference, which must be (re)defined first; 0: write the key inline, or
 * there is no memory, and the trace has an error.
 */
uint16_t ftf_slots_assign(struct ftf_slots *slots, uint32_t key, uint32_t record, bool may_inline);

#endif
