/* SPDX-License-Identifier: MIT */
#include "tests/support/runtime_events_ring.h"

#include <stdlib.h>
#include <string.h>

#define HEADER_WORDS      8
#define RING_HEADER_BYTES 80
#define NAME_BYTES        128

static uint64_t *word_at(struct ring_file *file, uint64_t offset)
{
	return (uint64_t *)(void *)(file->bytes + offset);
}

void ring_file_init(struct ring_file *file, uint32_t rings, uint64_t words, unsigned names)
{
	uint64_t headers = HEADER_WORDS * 8, data = headers + (uint64_t)rings * RING_HEADER_BYTES;
	uint64_t end = data + rings * words * 8;

	*file = (struct ring_file){ .rings = rings, .words = words, .data = data };
	file->names = names ? end : 0;
	file->size = end + (size_t)names * NAME_BYTES;
	file->bytes = calloc(1, file->size);
	if (!file->bytes)
		abort();
	memcpy(file->bytes,
	       (uint64_t[HEADER_WORDS]){ 1, rings, RING_HEADER_BYTES, words * 8, words, headers,
					 data, file->names },
	       headers);
}

void ring_file_release(struct ring_file *file)
{
	free(file->bytes);
	*file = (struct ring_file){ 0 };
}

void ring_file_name(struct ring_file *file, unsigned id, const char *name)
{
	memcpy(file->bytes + file->names + (size_t)id * NAME_BYTES, name, strlen(name) + 1);
}

uint64_t *ring_file_head(struct ring_file *file, uint32_t ring)
{
	return word_at(file, HEADER_WORDS * 8 + (uint64_t)ring * RING_HEADER_BYTES);
}

uint64_t *ring_file_tail(struct ring_file *file, uint32_t ring)
{
	return ring_file_head(file, ring) + 1;
}

uint64_t *ring_file_word(struct ring_file *file, uint32_t ring, uint64_t position)
{
	return word_at(file, file->data + (ring * file->words + position % file->words) * 8);
}

/* Move the head over whole messages until `length` words fit after the tail. */
static void make_room(struct ring_file *file, uint32_t ring, uint64_t length)
{
	uint64_t *head = ring_file_head(file, ring), tail = *ring_file_tail(file, ring);

	while (tail + length - *head >= file->words)
		*head += *ring_file_word(file, ring, *head) >> 54;
}

void ring_file_add(struct ring_file *file, const struct ring_message *message)
{
	uint64_t length = 2 + message->payload_words;
	uint64_t *tail = ring_file_tail(file, message->ring);
	uint64_t left = file->words - *tail % file->words;

	/* A message never wraps: padding, a message of type 0, fills the end. */
	if (left < length) {
		make_room(file, message->ring, left);
		*ring_file_word(file, message->ring, *tail) = left << 54;
		*tail += left;
	}
	make_room(file, message->ring, length);
	*ring_file_word(file, message->ring, *tail) = length << 54 | (uint64_t)message->user << 53 |
						      (uint64_t)message->type << 49 |
						      (uint64_t)message->id << 36;
	*ring_file_word(file, message->ring, *tail + 1) = message->time;
	for (size_t i = 0; i < message->payload_words; i++)
		*ring_file_word(file, message->ring, *tail + 2 + i) = message->payload[i];
	*tail += length;
}

void ring_file_runtime(struct ring_file *file, uint32_t ring, enum ring_type type, unsigned id,
		       uint64_t time)
{
	struct ring_message message = { ring, false, type, id, time, NULL, 0 };

	ring_file_add(file, &message);
}

void ring_file_value(struct ring_file *file, uint32_t ring, enum ring_type type, unsigned id,
		     uint64_t time, uint64_t value)
{
	struct ring_message message = { ring, false, type, id, time, &value, 1 };

	ring_file_add(file, &message);
}

void ring_file_custom(struct ring_file *file, uint32_t ring, unsigned id, uint64_t time,
		      const void *bytes, size_t size)
{
	uint64_t payload[1021] = { 0 };
	size_t words = size / 8 + 1;
	struct ring_message message = { ring, true, RING_CUSTOM, id, time, payload, words };

	memcpy(payload, bytes, size);
	((uint8_t *)payload)[words * 8 - 1] = (uint8_t)(words * 8 - 1 - size);
	ring_file_add(file, &message);
}
