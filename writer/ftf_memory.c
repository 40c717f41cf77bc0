/* SPDX-License-Identifier: MIT */
/* Arrays that grow, and blocks of text. */
#include "writer/ftf_writer.h"

/* Blocks of text grow, so that a trace with few names is small. */
#define BLOCK_FIRST ((size_t)2 * 1024)
#define BLOCK_MOST  ((size_t)64 * 1024)
#define ROOM_FIRST  16

struct ftf_text_block {
	struct ftf_text_block *older;
	size_t size;
	char bytes[];
};

static void *no_memory(struct ftf_low *low)
{
	if (!low->err.text[0]) {
		low->err.system = ENOMEM;
		snprintf(low->err.text, sizeof(low->err.text), "out of memory");
	}
	return NULL;
}

/* Returns the memory, moved to `size` bytes; NULL, and an error of the trace. */
static void *resized(struct ftf_low *low, void *memory, size_t size)
{
	void *moved = realloc(memory, size);

	return moved ? moved : no_memory(low);
}

void *ftf_memory_get(struct ftf_low *low, size_t count, size_t size)
{
	void *memory = calloc(count, size);

	return memory ? memory : no_memory(low);
}

bool ftf_memory_grow(struct ftf_low *low, void *array, size_t *room, size_t need, size_t size)
{
	size_t wanted = *room ? *room : ROOM_FIRST;
	char *old, *moved;

	if (need <= *room)
		return true;
	while (wanted < need)
		wanted = wanted > SIZE_MAX / 2 ? need : wanted * 2;
	if (wanted > SIZE_MAX / size)
		return no_memory(low) != NULL;
	memcpy(&old, array, sizeof(old));
	moved = resized(low, old, wanted * size);
	if (!moved)
		return false;
	memset(moved + *room * size, 0, (wanted - *room) * size);
	memcpy(array, &moved, sizeof(moved));
	*room = wanted;
	return true;
}

static bool add_block(struct ftf_low *low, struct ftf_texts *texts, size_t size)
{
	size_t room = texts->blocks ? 2 * texts->blocks->size : BLOCK_FIRST;
	struct ftf_text_block *block;

	room = room < BLOCK_MOST ? room : BLOCK_MOST;
	room = room > size ? room : size;
	block = resized(low, NULL, sizeof(*block) + room);
	if (!block)
		return false;
	block->size = room;
	block->older = texts->blocks;
	texts->blocks = block;
	texts->used = 0;
	return true;
}

const char *ftf_texts_copy(struct ftf_low *low, struct ftf_texts *texts, const char *text,
			   size_t length)
{
	char *copy;

	if ((!texts->blocks || texts->blocks->size - texts->used <= length) &&
	    !add_block(low, texts, length + 1))
		return NULL;
	copy = texts->blocks->bytes + texts->used;
	texts->used += length + 1;
	memcpy(copy, text, length);
	copy[length] = 0;
	return copy;
}

void ftf_texts_release(struct ftf_texts *texts)
{
	while (texts->blocks) {
		struct ftf_text_block *block = texts->blocks;

		texts->blocks = block->older;
		free(block);
	}
}
