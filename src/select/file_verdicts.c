/* SPDX-License-Identifier: MIT */
/* Which files --dso selects: a hash table of those that were asked for. */
#include "src/select/file_verdicts.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/tables/hash.h"
#include "symbols/dso/dso_store.h"

struct file_verdict {
	const struct dso *dso;
	bool keep;
	UT_hash_handle hh;
};

/* A file may be named by its path, or by the last part of it. */
static bool keeps_path(const struct selection *selection, const char *path)
{
	const char *slash = strrchr(path, '/');

	return pattern_list_matches(&selection->dsos, path) ||
	       (slash && pattern_list_matches(&selection->dsos, slash + 1));
}

bool file_verdicts_keep(struct file_verdicts *verdicts, const struct dso *dso)
{
	struct file_verdict *file;

	if (!verdicts->selection->dsos.count)
		return true;
	if (!dso)
		return false;
	HASH_FIND_PTR(verdicts->table, &dso, file);
	if (file)
		return file->keep;
	file = alloc_zeroed(1, sizeof(*file));
	file->dso = dso;
	file->keep = keeps_path(verdicts->selection, dso_path(dso));
	HASH_ADD_PTR(verdicts->table, dso, file);
	return file->keep;
}

void file_verdicts_release(struct file_verdicts *verdicts)
{
	struct file_verdict *file, *next;

	HASH_ITER(hh, verdicts->table, file, next)
	{
		HASH_DEL(verdicts->table, file);
		free(file);
	}
	verdicts->table = NULL;
}
