/* SPDX-License-Identifier: MIT */
/* A set of mappings in a search tree; a new mapping cuts or joins old ones. */
#include "decoder/mappings/space_builder.h"

#include <search.h>

#define HUGE_PAGE (UINT64_C(1) << 21)

/* Overlapping ranges compare equal, so that tfind() finds an overlap. */
static int compare_mappings(const void *left, const void *right)
{
	const struct mapping *a = left, *b = right;

	if (a->end <= b->begin)
		return -1;
	return a->begin >= b->end;
}

static void keep_mapping(void *mapping)
{
	(void)mapping; /* lives in the arena */
}

void space_builder_release(struct space_builder *builder)
{
	tdestroy(builder->tree, keep_mapping);
	builder->tree = NULL;
	builder->count = 0;
}

static void insert_mapping(struct space_builder *builder, const struct mapping *mapping)
{
	if (!tsearch(mapping, &builder->tree, compare_mappings))
		alloc_fail(sizeof(*mapping));
	builder->count++;
}

/* The context of this thread's twalk(); only glibc has twalk_r() with a context argument. */
static __thread void *node_context;

static void for_each_node(const struct space_builder *builder,
			  void (*node)(const void *, VISIT, int), void *context)
{
	node_context = context;
	twalk(builder->tree, node);
}

static void copy_node(const void *node, VISIT visit, int depth)
{
	(void)depth;
	if (visit == postorder || visit == leaf)
		insert_mapping(node_context, *(const struct mapping *const *)node);
}

void space_builder_copy(struct space_builder *builder, const struct space_builder *from)
{
	for_each_node(from, copy_node, builder);
}

static const struct mapping *overlapping(const struct space_builder *builder,
					 const struct mapping *mapping)
{
	void *node = tfind(mapping, &builder->tree, compare_mappings);

	return node ? *(const struct mapping **)node : NULL;
}

bool space_builder_is_anonymous(const char *path)
{
	return starts_with(path, "//anon") || starts_with(path, "[anon:") ||
	       starts_with(path, "/anon_hugepage");
}

/*
 * Returns whether both map the same bytes of a file to the same addresses, or memory without a
 * file: its offset is its first address, or that before mremap(2), or 0 (/proc/PID/maps).
 */
static bool same_content(const struct mapping *a, const struct mapping *b)
{
	return a->file == b->file && (a->begin - a->file_offset == b->begin - b->file_offset ||
				      space_builder_is_anonymous(a->file->path));
}

/* Insert the part [begin, end) of a removed mapping. */
static void insert_part(struct space_builder *builder, const struct mapping *whole, uint64_t begin,
			uint64_t end)
{
	struct mapping part = *whole;

	if (begin >= end)
		return;
	part.file_offset += begin - part.begin;
	part.begin = begin;
	part.end = end;
	insert_mapping(builder, arena_copy(builder->arena, &part, sizeof(part)));
}

bool space_builder_conflicts(const struct space_builder *builder, const struct mapping *mapping)
{
	struct mapping rest = *mapping;
	const struct mapping *old;

	/* Also look for conflicts beside overlapping mappings of the same content. */
	while ((old = overlapping(builder, &rest)) && same_content(old, &rest)) {
		struct mapping left = rest;

		left.end = old->begin;
		if (left.begin < left.end && space_builder_conflicts(builder, &left))
			return true;
		if (old->end >= rest.end)
			return false;
		rest.file_offset += old->end - rest.begin;
		rest.begin = old->end;
	}
	return old != NULL;
}

bool space_builder_has_others(const struct space_builder *builder, const struct mapping *mapping)
{
	const struct mapping *old = overlapping(builder, mapping);

	return old && old->file != mapping->file;
}

bool space_builder_is_memory(const char *path)
{
	return space_builder_is_anonymous(path) || starts_with(path, "/memfd:") ||
	       starts_with(path, "/SYSV");
}

bool space_builder_has(const struct space_builder *builder, const struct mapping *mapping)
{
	const struct mapping *old = overlapping(builder, mapping);

	return old && same_content(old, mapping) && !space_builder_is_memory(mapping->file->path);
}

/* Returns whether a mapping of huge pages covers all of `old`, and no other mapping. */
static bool covers_only(const struct space_builder *builder, const struct mapping *mapping,
			const struct mapping *old)
{
	struct mapping left = *mapping, right = *mapping;

	left.end = old->begin;
	right.begin = old->end;
	return strstr(mapping->file->path, "huge") &&
	       (left.begin >= left.end || !overlapping(builder, &left)) &&
	       (right.begin >= right.end || !overlapping(builder, &right));
}

bool space_builder_is_copy(const struct space_builder *builder, const struct mapping *mapping)
{
	const struct mapping *old;

	/*
	 * A file of hugetlbfs has content that nobody can read later. Aligned memory over a file's
	 * code is a copy even without neighbours, because a copy of aligned code has no neighbours.
	 */
	if (!(space_builder_is_memory(mapping->file->path) ||
	      (!mapping->file->build_id_size && (ends_with(mapping->file->path, " (deleted)") ||
						 strstr(mapping->file->path, "huge")))) ||
	    mapping->begin % HUGE_PAGE || mapping->end % HUGE_PAGE)
		return false;
	old = overlapping(builder, mapping);
	return old && old->file != mapping->file && !space_builder_is_memory(old->file->path) &&
	       ((old->begin <= mapping->begin && mapping->end <= old->end) ||
		covers_only(builder, mapping, old));
}

void space_builder_add(struct space_builder *builder, const struct mapping *mapping)
{
	struct mapping added = *mapping;
	const struct mapping *old;

	while ((old = overlapping(builder, &added))) {
		tdelete(old, &builder->tree, compare_mappings);
		builder->count--;
		if (same_content(old, &added)) {
			if (old->begin < added.begin) {
				added.begin = old->begin;
				added.file_offset = old->file_offset;
			}
			added.end = MAX(added.end, old->end);
			continue;
		}
		insert_part(builder, old, old->begin, added.begin);
		insert_part(builder, old, added.end, old->end);
	}
	insert_mapping(builder, arena_copy(builder->arena, &added, sizeof(added)));
}

/* ---- Code on huge pages, and parts of mappings --------------------------- */

/*
 * Some programs copy their code to anonymous huge pages at the same address, so the recording names
 * no file for their hottest code. Such memory is between two mappings of one file, and as long as
 * the gap between their offsets. A JIT compiler's code never is.
 */

/*
 * The kernel splits a mapping where its flags change: mlock(2), madvise(2), mprotect(2). Saved code
 * is in segments. Such parts become one mapping, so that code at a seam is whole.
 */

/* Returns the next part of `left` without a hole, perhaps after memory, or NULL. */
static struct mapping *next_part(struct mapping *left, const struct mapping *end)
{
	struct mapping *at = left + 1;

	/* Scan no run of memory twice. */
	while (!space_builder_is_memory(left->file->path) && at < end && at->begin == at[-1].end &&
	       space_builder_is_memory(at->file->path))
		at++;
	return at < end && at->begin == at[-1].end && at->file == left->file &&
			       at->begin - at->file_offset == left->begin - left->file_offset
		       ? at
		       : NULL;
}

/* ---- The end ------------------------------------------------------------- */

static void append_node(const void *node, VISIT visit, int depth)
{
	struct mapping **to = node_context;

	(void)depth;
	if (visit == postorder || visit == leaf)
		*(*to)++ = **(const struct mapping *const *)node;
}

void space_builder_finish(struct space_builder *builder, const struct address_space *kernel)
{
	struct mapping *mappings, *end;
	size_t kept = 0;

	mappings = end = arena_alloc(builder->arena, builder->count * sizeof(struct mapping));
	for_each_node(builder, append_node, &end);
	builder->space.mappings = mappings;
	/* Replace copies by their files, and join parts. */
	for (struct mapping *at = mappings; at < end; at++) {
		struct mapping whole = *at, *right;

		while ((right = next_part(at, end))) {
			whole.end = right->end;
			at = right;
		}
		mappings[kept++] = whole;
	}
	builder->space.count = kept;
	for (size_t i = 0; i < builder->space.count; i++)
		builder->space.probed |= strcmp(mappings[i].file->path, MAPPED_PROBES) == 0;
	builder->space.kernel = kernel;
	space_builder_release(builder);
}
