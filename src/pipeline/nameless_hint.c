/* SPDX-License-Identifier: MIT */
/* Chooses the files for the hint about debug files. */
#include "src/pipeline/nameless_hint.h"

#include "src/report/debug_hint.h"

/* Insert a file by its percentage, the largest first.  Returns the new count. */
static size_t add_hint_file(struct debug_hint_file files[DEBUG_HINT_FILES], size_t count,
			    const struct debug_hint_file *file)
{
	size_t at = count;

	while (at && files[at - 1].percent < file->percent)
		at--;
	if (at == DEBUG_HINT_FILES)
		return count;
	count += count < DEBUG_HINT_FILES;
	for (size_t i = count - 1; i > at; i--)
		files[i] = files[i - 1];
	files[at] = *file;
	return count;
}

char *nameless_hint_make(const struct nameless_time *nameless, const struct resolver *resolver,
			 const struct timeline *timeline, const char *symfs)
{
	struct debug_hint_file files[DEBUG_HINT_FILES];
	const struct mapped_file *const *all;
	size_t count = 0, file_count;

	all = timeline_files(timeline, &file_count);
	for (size_t i = 0; i < file_count; i++) {
		const struct debug_hint_file file = { all[i]->path, all[i]->build_id,
						      all[i]->build_id_size,
						      nameless_time_percent(nameless, all[i]) };

		if (file.percent && file.path[0] == '/' &&
		    dso_state(resolver_borrow_dso(resolver, all[i])) == DSO_FOUND)
			count = add_hint_file(files, count, &file);
	}
	return count ? debug_hint_make(files, count, symfs) : NULL;
}
