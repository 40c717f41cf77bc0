/* SPDX-License-Identifier: MIT */
/* Matches patterns with names and files, keeps the results, and warns of patterns without a match.
 */
#include "src/select/function_choice.h"

#include "symbols/dso/dso_store.h"

/* Returns whether a pattern of the list matches the name; notes each that does in *matched. */
static bool list_matches(struct function_choice *choice, const struct pattern_list *list,
			 bool **matched)
{
	bool any = false;

	if (!list->count)
		return false;
	if (matched && !*matched)
		*matched = alloc_zeroed(list->count, sizeof(**matched));
	for (size_t i = 0; i < list->count; i++) {
		bool matches = name_forms_match(&choice->forms, list->patterns[i]);

		if (matched)
			(*matched)[i] |= matches;
		any |= matches;
	}
	return any;
}

static bool pattern_matches(struct function_choice *choice, const char *pattern, bool *matched)
{
	bool matches = pattern && name_forms_match(&choice->forms, pattern);

	*matched |= matches;
	return matches;
}

static uint8_t decide(struct function_choice *choice, const char *text)
{
	const struct selection *selection = choice->selection;
	uint8_t verdict = VERDICT_KNOWN;

	name_forms_set(&choice->forms, text);
	if (list_matches(choice, &selection->symbols, &choice->symbols))
		verdict |= VERDICT_KEEP;
	if (list_matches(choice, &selection->hidden, NULL))
		verdict |= VERDICT_HIDE;
	if (list_matches(choice, &selection->roots, &choice->roots))
		verdict |= VERDICT_ROOT;
	if (pattern_matches(choice, selection->start, &choice->start))
		verdict |= VERDICT_START;
	if (pattern_matches(choice, selection->stop, &choice->stop))
		verdict |= VERDICT_STOP;
	if (pattern_matches(choice, selection->within.function, &choice->within))
		verdict |= VERDICT_WITHIN;
	return verdict;
}

static uint8_t verdict_of_name(struct function_choice *choice, const struct name *name, bool shown)
{
	struct name_verdict *known;

	choice->names = alloc_grow_zeroed(choice->names, &choice->name_room, (size_t)name->id + 1,
					  sizeof(*choice->names));
	known = &choice->names[name->id];
	if (!known->verdict) {
		known->name = name;
		known->verdict = decide(choice, name->text);
	}
	known->verdict |= shown ? VERDICT_SHOWN : 0;
	return known->verdict;
}

/* A function may be named as it is shown, or as in the symbol table. */
uint8_t function_choice_verdict(struct function_choice *choice, const struct symbol *symbol)
{
	uint8_t verdict = verdict_of_name(choice, symbol->name, true);

	if (symbol->linkage && symbol->linkage != symbol->name)
		verdict |= verdict_of_name(choice, symbol->linkage, false);
	return verdict;
}

/* ---- Patterns that matched nothing --------------------------------------- */

static void print_unmatched(const struct function_choice *choice, const char *pattern, FILE *out)
{
	struct nearest_names nearest;
	char names[300];

	nearest_names_init(&nearest, pattern);
	for (size_t i = 0; i < choice->name_room; i++)
		if (choice->names[i].verdict & VERDICT_SHOWN)
			nearest_names_consider(&nearest, choice->names[i].name);
	nearest_names_print(&nearest, names, sizeof(names));
	fprintf(out, "%sno function matching '%s' was called%s", ftell(out) > 0 ? "; " : "",
		pattern, names);
}

static void print_unmatched_list(const struct function_choice *choice,
				 const struct pattern_list *list, const bool *matched, FILE *out)
{
	for (size_t i = 0; i < list->count; i++)
		if (!matched || !matched[i])
			print_unmatched(choice, list->patterns[i], out);
}

bool function_choice_warn_names(const struct function_choice *choice, struct diag *diag)
{
	const struct selection *selection = choice->selection;
	char *text;
	size_t size;
	FILE *out = ALLOC_CHECKED(open_memstream(&text, &size));

	print_unmatched_list(choice, &selection->symbols, choice->symbols, out);
	print_unmatched_list(choice, &selection->roots, choice->roots, out);
	if (selection->start && !choice->start)
		print_unmatched(choice, selection->start, out);
	if (selection->stop && !choice->stop)
		print_unmatched(choice, selection->stop, out);
	if (selection->within.function && !choice->within)
		print_unmatched(choice, selection->within.function, out);
	alloc_close_text(out, &text);
	if (size)
		diag_warn(diag, "no-such-function", "%s", text);
	free(text);
	return size;
}

/* ---- Files --------------------------------------------------------------- */

/* Files may be given by their path or by its last part. */
static bool keeps_path(const struct selection *selection, const char *path)
{
	const char *slash = strrchr(path, '/');

	return pattern_list_matches(&selection->dsos, path) ||
	       (slash && pattern_list_matches(&selection->dsos, slash + 1));
}

bool function_choice_keeps_file(struct function_choice *choice, const struct dso *dso)
{
	struct file_verdict *file;

	if (!choice->selection->dsos.count)
		return true;
	if (!dso)
		return false;
	HASH_FIND_PTR(choice->files, &dso, file);
	if (file)
		return file->keep;
	file = alloc_zeroed(1, sizeof(*file));
	file->dso = dso;
	file->keep = keeps_path(choice->selection, dso_path(dso));
	HASH_ADD_PTR(choice->files, dso, file);
	return file->keep;
}

/* ---- Both ---------------------------------------------------------------- */

void function_choice_release(struct function_choice *choice)
{
	struct file_verdict *file;

	free(choice->names);
	free(choice->symbols);
	free(choice->roots);
	name_forms_release(&choice->forms);
	HASH_FREE_ALL(choice->files, file);
	*choice = (struct function_choice){ .selection = choice->selection };
}

bool function_choice_has(struct function_choice *choice, const struct symbol *symbol)
{
	bool keep = !choice->selection->symbols.count ||
		    function_choice_verdict(choice, symbol) & VERDICT_KEEP;

	return keep && function_choice_keeps_file(choice, symbol->dso);
}

void function_choice_warn(const struct function_choice *choice, bool any, struct diag *diag)
{
	if (function_choice_warn_names(choice, diag) || any)
		return;
	if (choice->selection->dsos.count)
		diag_warn(diag, "nothing-selected",
			  "no call matches the options --symbol and --dso together");
	else
		diag_warn(diag, "nothing-selected",
			  "no call of '%s' is whole in the trace, with its begin and its return",
			  choice->selection->symbols.patterns[0]);
}
