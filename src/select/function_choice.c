/* SPDX-License-Identifier: MIT */
/* Patterns of names and files. */
#include "src/select/function_choice.h"

#include "base/tables/hash.h"
#include "symbols/dso/dso_store.h"

/* ---- Verdicts of files --------------------------------------------------- */

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
	struct file_verdict *file;

	HASH_FREE_ALL(verdicts->table, file);
	verdicts->table = NULL;
}

void function_choice_init(struct function_choice *choice, const struct selection *selection)
{
	*choice = (struct function_choice){ .names.selection = selection,
					    .files.selection = selection };
}

void function_choice_release(struct function_choice *choice)
{
	name_verdicts_release(&choice->names);
	file_verdicts_release(&choice->files);
}

bool function_choice_has(struct function_choice *choice, const struct symbol *symbol)
{
	bool keep = !choice->names.selection->symbols.count ||
		    name_verdicts_of(&choice->names, symbol) & VERDICT_KEEP;

	return keep && file_verdicts_keep(&choice->files, symbol->dso);
}

void function_choice_warn(const struct function_choice *choice, bool any, struct diag *diag)
{
	if (!name_verdicts_warn(&choice->names, diag) && !any)
		diag_warn(diag, "nothing-selected",
			  "no call matches the options --symbol and --dso together");
}
