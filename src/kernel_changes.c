/* SPDX-License-Identifier: MIT */
#include "kernel_changes.h"

#include <stdlib.h>
#include <string.h>

#include "decoder/kernel_text.h"

/* ---- Islands ------------------------------------------------------------- */

static int compare_ranges(const void *left, const void *right)
{
	const struct kernel_segment *a = left, *b = right;

	return a->begin < b->begin ? -1 : a->begin > b->begin;
}

/* Returns the range that a patch touches, empty if it lies in the file's segments. */
static struct kernel_segment outside(const struct kernel_code *code, const struct code_patch *patch)
{
	uint64_t size = patch->old_size > patch->new_size ? patch->old_size : patch->new_size;
	struct kernel_segment range = { patch->address, patch->address + size, 0 };
	const uint8_t *bytes;

	if (range.end < range.begin || kernel_code_find(code, patch->address, &bytes))
		range.end = range.begin;
	return range;
}

/* Sort the ranges and join those that touch; returns how many are left. */
static size_t join(struct kernel_segment *ranges, size_t count)
{
	size_t kept = 0;

	qsort(ranges, count, sizeof(*ranges), compare_ranges);
	for (size_t i = 0; i < count; i++) {
		if (ranges[i].begin == ranges[i].end)
			continue;
		if (kept && ranges[i].begin <= ranges[kept - 1].end) {
			if (ranges[kept - 1].end < ranges[i].end)
				ranges[kept - 1].end = ranges[i].end;
		} else {
			ranges[kept++] = ranges[i];
		}
	}
	return kept;
}

static void add_islands(struct kernel_code *code, struct arena *arena)
{
	struct kernel_segment *ranges =
		arena_alloc(arena, code->patch_count * sizeof(*ranges));
	uint64_t offset = 0;

	for (size_t i = 0; i < code->patch_count; i++)
		ranges[i] = outside(code, &code->patches[i]);
	code->island_count = join(ranges, code->patch_count);
	for (size_t i = 0; i < code->island_count; i++) {
		ranges[i].file_offset = offset;
		offset += ranges[i].end - ranges[i].begin;
	}
	code->islands = ranges;
	code->island_bytes = arena_alloc(arena, offset);
	code->island_size = offset;
}

/* ---- All ----------------------------------------------------------------- */

void kernel_changes_add(struct kernel_code *code, struct arena *arena,
			const struct timeline *timeline, const struct perf_file *file)
{
	(void)file;
	code->patches = timeline_code_patches(timeline, &code->patch_count);
	if (code->patch_count)
		add_islands(code, arena);
}
