/* SPDX-License-Identifier: MIT */
/*
 * Writes OCaml's runtime-events files for tests, as the runtime does: into rings that overwrite
 * their oldest messages.
 *
 * Independent of the reader; the layout is from runtime/caml/runtime_events.h and
 * runtime/runtime_events.c of OCaml 5.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The message types of caml/runtime_events.h; user events have another numbering. */
enum ring_type { RING_LIFECYCLE = 1, RING_BEGIN, RING_EXIT, RING_COUNTER, RING_ALLOC };
enum ring_user_type { RING_UNIT = 0, RING_INT, RING_SPAN_BEGIN, RING_SPAN_END, RING_CUSTOM };

struct ring_file {
	uint8_t *bytes; /* owned: the whole file */
	size_t size;
	uint32_t rings;
	uint64_t words;       /* per ring */
	uint64_t data, names; /* offsets in bytes; names 0: as in OCaml 5.0 */
};

/* Start a file of `rings` rings of `words` words each (a power of two), and a table of `names`. */
void ring_file_init(struct ring_file *file, uint32_t rings, uint64_t words, unsigned names);

/* Idempotent. */
void ring_file_release(struct ring_file *file);

/* Give the program's event `id` a name of at most 127 bytes. */
void ring_file_name(struct ring_file *file, unsigned id, const char *name);

struct ring_message {
	uint32_t ring;
	bool user;
	unsigned type; /* enum ring_type or ring_user_type */
	unsigned id;
	uint64_t time;           /* ns */
	const uint64_t *payload; /* borrowed for the call */
	size_t payload_words;
};

/* Write one message over the oldest ones if necessary. */
void ring_file_add(struct ring_file *file, const struct ring_message *message);

/* The same for a runtime event without payload (BEGIN, EXIT) or with one number. */
void ring_file_runtime(struct ring_file *file, uint32_t ring, enum ring_type type, unsigned id,
		       uint64_t time);
void ring_file_value(struct ring_file *file, uint32_t ring, enum ring_type type, unsigned id,
		     uint64_t time, uint64_t value);

/* A custom event of any bytes. */
void ring_file_custom(struct ring_file *file, uint32_t ring, unsigned id, uint64_t time,
		      const void *bytes, size_t size);

/* Returns a ring's head or tail, to be read or damaged. */
uint64_t *ring_file_head(struct ring_file *file, uint32_t ring);
uint64_t *ring_file_tail(struct ring_file *file, uint32_t ring);

/* Returns the word at a position of a ring, to be read or damaged. */
uint64_t *ring_file_word(struct ring_file *file, uint32_t ring, uint64_t position);
