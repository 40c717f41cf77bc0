/* SPDX-License-Identifier: MIT */
#include "src/callstack/callstack_frames.h"

#include <stdlib.h>

/* So many innermost frames are not indexed; twice as many are looked at one by one. */
#define SHALLOW ((size_t)32)

void frame_list_release(struct frame_list *list)
{
	free(list->frames);
	frame_index_release(&list->index);
	*list = (struct frame_list){ 0 };
}

void frame_list_clear(struct frame_list *list)
{
	frame_list_cut(list, 0);
	list->depth = 0;
}

/* Returns the number of keys of a frame that has one above it, which counts, too. */
static size_t keys_of(const struct frame_list *list, size_t at, struct frame_key keys[FRAME_KEYS])
{
	const struct frame *frame = &list->frames[at];
	uint64_t function = (uintptr_t)symbol_function(frame->symbol);
	size_t count = 0;

	if (frame->kind == FRAME_CALLED)
		keys[count++] = (struct frame_key){ frame->call_ip, FRAME_KEY_RETURN };
	else if (frame->kind == FRAME_HANDLER)
		keys[count++] = (struct frame_key){ frame->resume_ip, FRAME_KEY_RESUMED };
	else if (frame->kind == FRAME_ENTRY)
		keys[count++] = (struct frame_key){ 0, FRAME_KEY_ENTRY };
	keys[count++] = (struct frame_key){ function, FRAME_KEY_FUNCTION };
	if (frame[1].symbol->name != list->resume)
		keys[count++] = (struct frame_key){ function, FRAME_KEY_LANDING };
	if (frame->traps)
		keys[count++] = (struct frame_key){ 0, FRAME_KEY_TRAP };
	return count;
}

static void set_fragile(struct frame_list *list)
{
	list->fragile = list->index.count ? list->index.count + 1 : 0;
}

void frame_list_cut_index(struct frame_list *list, size_t depth)
{
	size_t keep = depth ? depth - 1 : 0;

	while (list->index.count > keep) {
		struct frame_key keys[FRAME_KEYS];
		size_t count = keys_of(list, list->index.count - 1, keys);

		frame_index_remove(&list->index, keys, count);
	}
	set_fragile(list);
}

/* Have few frames that are not indexed.  Returns how many are, from the outermost on. */
static size_t index_frames(struct frame_list *list)
{
	if (list->depth - list->index.count <= 2 * SHALLOW)
		return list->index.count;
	while (list->index.count < list->depth - SHALLOW) {
		struct frame_key keys[FRAME_KEYS];
		size_t count = keys_of(list, list->index.count, keys);

		list->looked_at++;
		frame_index_add(&list->index, keys, count);
	}
	set_fragile(list);
	return list->index.count;
}

static size_t find(const struct frame_list *list, enum frame_key_kind kind, uint64_t value)
{
	return frame_index_find(&list->index, (struct frame_key){ value, kind });
}

size_t frame_list_find_return(struct frame_list *list, uint64_t ip)
{
	size_t at = list->depth, end = index_frames(list), best = 0;
	const struct frame *frames = list->frames;

	while (at > end && !frame_returns_to(&frames[at - 1], ip))
		at--;
	list->looked_at += list->depth - at + (at > end);
	if (at > end)
		return at;
	/* The index knows calls by where they begin. */
	for (uint64_t length = 1; end && length <= CALL_LENGTH_MAX && length <= ip; length++) {
		size_t found = find(list, FRAME_KEY_RETURN, ip - length);

		best = found > best ? found : best;
	}
	return best;
}

size_t frame_list_find_function(struct frame_list *list, const struct symbol *symbol)
{
	size_t at = list->depth, end = index_frames(list);

	for (; at > end; at--) {
		list->looked_at++;
		if (same_function(list->frames[at - 1].symbol, symbol))
			return at;
	}
	return find(list, FRAME_KEY_FUNCTION, (uintptr_t)symbol_function(symbol));
}

size_t frame_list_find_landing(struct frame_list *list, const struct symbol *symbol)
{
	size_t at = list->depth, end = index_frames(list);
	bool done = false;

	for (; at > end; at--) {
		const struct frame *frame = &list->frames[at - 1];

		list->looked_at++;
		if (same_function(frame->symbol, symbol) && !done)
			return at;
		done = frame->symbol->name == list->resume;
	}
	return find(list, FRAME_KEY_LANDING, (uintptr_t)symbol_function(symbol));
}

size_t frame_list_find_resumed(struct frame_list *list, uint64_t ip)
{
	size_t at = list->depth, end = index_frames(list);

	for (; at > end; at--) {
		list->looked_at++;
		if (list->frames[at - 1].kind == FRAME_HANDLER &&
		    list->frames[at - 1].resume_ip == ip)
			return at;
	}
	return find(list, FRAME_KEY_RESUMED, ip);
}

size_t frame_list_find_entry(struct frame_list *list)
{
	size_t at = list->depth, end = index_frames(list);

	for (; at > end; at--) {
		list->looked_at++;
		if (list->frames[at - 1].kind == FRAME_ENTRY)
			return at;
	}
	return find(list, FRAME_KEY_ENTRY, 0);
}

size_t frame_list_find_trap(struct frame_list *list)
{
	size_t at = list->depth, end = index_frames(list);

	for (; at > end; at--) {
		list->looked_at++;
		if (list->frames[at - 1].traps)
			return at;
	}
	return find(list, FRAME_KEY_TRAP, 0);
}
