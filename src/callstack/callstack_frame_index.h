/* SPDX-License-Identifier: MIT */
/*
 * Finds the innermost of any number of frames by what it has.
 *
 * Every key leads to the innermost frame that has it, and every frame to the
 * next one below with the same key: frames come and go at the end only, so
 * adding and removing one is a lookup for each of its keys.
 */
#ifndef SRC_CALLSTACK_CALLSTACK_FRAME_INDEX_H
#define SRC_CALLSTACK_CALLSTACK_FRAME_INDEX_H

#include <stddef.h>
#include <stdint.h>

/* What frames are found by; 0 is none. */
enum frame_key_kind {
	FRAME_KEY_RETURN = 1, /* address of the call instruction */
	FRAME_KEY_RESUMED,    /* of a signal handler: where execution goes on */
	FRAME_KEY_ENTRY,      /* no value: an entry into the kernel */
	FRAME_KEY_FUNCTION,   /* address of the function's symbol in memory */
	FRAME_KEY_LANDING,    /* the same, of one that an unwinder may enter */
	FRAME_KEY_TRAP,       /* no value: it has a handler of OCaml */
};

#define FRAME_KEYS 4 /* of one frame at most */

struct frame_key {
	uint64_t value;
	uint32_t kind; /* enum frame_key_kind */
};

struct frame_cell;

struct frame_index {
	uint32_t (*below)[FRAME_KEYS]; /* owned; by frame: 1 + the next below with its keys */
	size_t below_room;
	struct frame_cell *cells; /* owned: an open hash table */
	size_t used, room;        /* room: a power of two, or 0 */
	size_t count;             /* frames [0, count) are in it */
};

/* Release the memory.  Idempotent, also on zeroed memory, which is an empty index. */
void frame_index_release(struct frame_index *index);

/* Add frame number index->count, which has these keys, at most FRAME_KEYS. */
void frame_index_add(struct frame_index *index, const struct frame_key *keys, size_t count);

/* Remove the last frame, which had these keys. */
void frame_index_remove(struct frame_index *index, const struct frame_key *keys, size_t count);

/* Returns 1 + the last frame that has a key; 0: none has. */
size_t frame_index_find(const struct frame_index *index, struct frame_key key);

#endif
