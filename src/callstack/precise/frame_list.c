/* SPDX-License-Identifier: MIT */
/* The frames of a precise call stack, and an index of the deeper frames. */
#include "src/callstack/precise/frame_list.h"

/* Innermost frames that are not indexed; a search compares at most twice as many. */
#define SHALLOW ((size_t)32)

static void forget_keys(struct frame_list *list)
{
	id_index_release(&list->ids);
	list->key_count = 0;
}

void frame_list_release(struct frame_list *list)
{
	forget_keys(list);
	free(list->frames);
	free(list->keys);
	free(list->below);
	*list = (struct frame_list){ 0 };
}

void frame_list_clear(struct frame_list *list)
{
	frame_list_cut(list, 0);
	list->depth = 0;
}

static inline bool has_key(const struct frame_list *list, size_t at, enum frame_key kind,
			   uint64_t value)
{
	const struct frame *frame = &list->frames[at];

	switch (kind) {
	case FRAME_BY_RETURN:
		return frame_returns_to(frame, value);
	case FRAME_BY_RESUME:
		return frame->kind == FRAME_HANDLER && frame->resume_ip == value;
	case FRAME_BY_ENTRY:
		return frame->kind == FRAME_ENTRY;
	case FRAME_BY_FUNCTION:
		return frame_function(frame->symbol) == value && !frame_is_left(list, at);
	case FRAME_BY_LANDING:
		return frame_function(frame->symbol) == value && !frame_is_left(list, at) &&
		       (at + 1 == list->depth || frame[1].symbol->name != list->resume);
	case FRAME_BY_TRAP:
		return frame->traps != 0;
	case FRAME_BY_NEAR_RETURN:
		break;
	}
	return false;
}

/* ---- The index ----------------------------------------------------------- */

/* Stores the keys of a frame that is not the innermost one. Returns their number. */
static size_t keys_of(const struct frame_list *list, size_t at, struct indexed_key keys[FRAME_KEYS])
{
	const struct frame *frame = &list->frames[at];
	const uint64_t values[] = { [FRAME_BY_RESUME] = frame->resume_ip,
				    [FRAME_BY_ENTRY] = 0,
				    [FRAME_BY_FUNCTION] = frame_function(frame->symbol),
				    [FRAME_BY_LANDING] = frame_function(frame->symbol),
				    [FRAME_BY_TRAP] = 0 };
	size_t count = 0;

	if (frame->kind == FRAME_CALLED)
		keys[count++] = (struct indexed_key){ frame->return_ip,
						      frame->return_slack ? FRAME_BY_NEAR_RETURN
									  : FRAME_BY_RETURN,
						      0 };
	for (enum frame_key kind = FRAME_BY_RESUME; kind <= FRAME_BY_TRAP; kind++) {
		if (has_key(list, at, kind, values[kind]))
			keys[count++] = (struct indexed_key){ values[kind], kind, 0 };
	}
	return count;
}

static uint32_t hash_of(const struct indexed_key *key)
{
	return hash_u64(key->value + key->kind);
}

static struct indexed_key *find_key(const struct frame_list *list, const struct indexed_key *key)
{
	struct id_probe probe = id_index_probe(hash_of(key));
	uint32_t id;

	while ((id = id_index_next(&list->ids, &probe))) {
		struct indexed_key *found = &list->keys[id - 1];

		if (found->value == key->value && found->kind == key->kind)
			return found;
	}
	return NULL;
}

static struct indexed_key *find_or_add_key(struct frame_list *list, const struct indexed_key *key)
{
	struct indexed_key *found = find_key(list, key);

	if (found)
		return found;
	*ARRAY_ADD(list->keys, list->key_count, list->key_room) = *key;
	id_index_add(&list->ids, hash_of(key), (uint32_t)list->key_count);
	return &list->keys[list->key_count - 1];
}

static void set_indexed(struct frame_list *list, size_t indexed)
{
	list->indexed = indexed;
	/* An indexed frame's keys depend on the frame above it. */
	list->fragile = indexed ? indexed + 1 : 0;
}

void frame_list_cut_index(struct frame_list *list, size_t depth)
{
	size_t at = list->indexed, keep = depth ? depth - 1 : 0;

	while (at > keep) {
		struct indexed_key keys[FRAME_KEYS];
		size_t count = keys_of(list, --at, keys);

		while (count--)
			find_key(list, &keys[count])->last = list->below[at][count];
	}
	set_indexed(list, at);
	if (!at)
		forget_keys(list);
}

/* Limit the number of frames that are not indexed. */
static void index_frames(struct frame_list *list)
{
	size_t at = list->indexed;

	if (list->depth - at <= 2 * SHALLOW)
		return;
	ARRAY_GROW(list->below, list->below_room, list->depth);
	for (; at < list->depth - SHALLOW; at++) {
		struct indexed_key keys[FRAME_KEYS];
		size_t count = keys_of(list, at, keys);

		list->near_returns |= list->frames[at].return_slack != 0;
		for (size_t i = 0; i < count; i++) {
			struct indexed_key *key = find_or_add_key(list, &keys[i]);

			list->below[at][i] = key->last;
			key->last = (uint32_t)at + 1;
		}
	}
	set_indexed(list, at);
}

static size_t find_indexed(const struct frame_list *list, enum frame_key kind, uint64_t value)
{
	const struct indexed_key *key = find_key(list, &(struct indexed_key){ value, kind, 0 });

	return key ? key->last : 0;
}

/* ---- Searching ----------------------------------------------------------- */

/* Search the frames that are not indexed. Returns as frame_list_find(). */
static inline size_t find_shallow(const struct frame_list *list, enum frame_key kind,
				  uint64_t value)
{
	size_t at = list->depth;

	while (at > list->indexed && !has_key(list, at - 1, kind, value))
		at--;
	return at > list->indexed ? at : 0;
}

size_t frame_list_find(struct frame_list *list, enum frame_key kind, uint64_t value)
{
	size_t best;

	index_frames(list);
	/* Most searches are by return: let the compiler specialize the loop. */
	best = kind == FRAME_BY_RETURN ? find_shallow(list, FRAME_BY_RETURN, value)
				       : find_shallow(list, kind, value);
	if (best || !list->indexed)
		return best;
	best = find_indexed(list, kind, value);
	if (kind != FRAME_BY_RETURN || !list->near_returns)
		return best;
	/* The index contains calls by their lowest possible return address. */
	for (uint64_t slack = 0; slack < CALL_LENGTH_MAX && slack <= value; slack++) {
		size_t found = find_indexed(list, FRAME_BY_NEAR_RETURN, value - slack);

		best = MAX(found, best);
	}
	return best;
}
