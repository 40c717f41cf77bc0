/* SPDX-License-Identifier: MIT */
/* Finds memory between two mappings of one file that fills the gap exactly. */
#include "decoder/mappings/hugepage_remap.h"

#include <string.h>

#define HUGE_PAGE (UINT64_C(1) << 21)

bool hugepage_remap_is_memory(const char *path)
{
	static const char *const starts[] = { "//anon", "[anon:", "/anon_hugepage",
					      "/memfd:", "/SYSV" };

	for (size_t i = 0; i < sizeof(starts) / sizeof(starts[0]); i++)
		if (strncmp(path, starts[i], strlen(starts[i])) == 0)
			return true;
	return false;
}

bool hugepage_remap_is_aligned(uint64_t begin, uint64_t end)
{
	return begin % HUGE_PAGE == 0 && end % HUGE_PAGE == 0;
}

/* Returns the mapping behind the memory that lies behind `left` without a hole; NULL: none. */
static struct mapping *behind_memory(struct mapping *left, const struct mapping *end)
{
	struct mapping *at = left + 1;

	if (hugepage_remap_is_memory(left->file->path))
		return NULL; /* so that no run of memory is scanned twice */
	while (at < end && at->begin == at[-1].end && hugepage_remap_is_memory(at->file->path))
		at++;
	return at > left + 1 && at < end && at->begin == at[-1].end ? at : NULL;
}

static bool same_file(const struct mapping *left, const struct mapping *right)
{
	return left->file == right->file &&
	       left->begin - left->file_offset == right->begin - right->file_offset;
}

size_t hugepage_remap_restore(struct mapping *mappings, size_t count)
{
	struct mapping *end = mappings + count;
	size_t kept = 0;

	for (struct mapping *at = mappings; at < end; at++) {
		struct mapping whole = *at, *right;

		while ((right = behind_memory(at, end)) && same_file(&whole, right)) {
			whole.end = right->end;
			at = right;
		}
		mappings[kept++] = whole;
	}
	return kept;
}
