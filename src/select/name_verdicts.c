/* SPDX-License-Identifier: MIT */
/* Matches patterns with names, keeps the results, and warns of patterns without a match. */
#include "src/select/name_verdicts.h"

#include "src/select/nearest_names.h"

struct name_verdict {
	const struct name *name; /* borrowed; NULL: the id was not seen yet */
	uint8_t verdict;         /* enum verdict; 0: not seen */
};

/* Returns whether a pattern of the list matches the name; notes each that does in *matched. */
static bool list_matches(struct name_verdicts *verdicts, const struct pattern_list *list,
			 bool **matched)
{
	bool any = false;

	if (!list->count)
		return false;
	if (matched && !*matched)
		*matched = alloc_zeroed(list->count, sizeof(**matched));
	for (size_t i = 0; i < list->count; i++) {
		bool matches = name_forms_match(&verdicts->forms, list->patterns[i]);

		if (matched)
			(*matched)[i] |= matches;
		any |= matches;
	}
	return any;
}

static bool pattern_matches(struct name_verdicts *verdicts, const char *pattern, bool *matched)
{
	bool matches = pattern && name_forms_match(&verdicts->forms, pattern);

	*matched |= matches;
	return matches;
}

static uint8_t decide(struct name_verdicts *verdicts, const char *text)
{
	const struct selection *selection = verdicts->selection;
	uint8_t verdict = VERDICT_KNOWN;

	name_forms_set(&verdicts->forms, text);
	if (list_matches(verdicts, &selection->symbols, &verdicts->symbols))
		verdict |= VERDICT_KEEP;
	if (list_matches(verdicts, &selection->hidden, NULL))
		verdict |= VERDICT_HIDE;
	if (list_matches(verdicts, &selection->roots, &verdicts->roots))
		verdict |= VERDICT_ROOT;
	if (pattern_matches(verdicts, selection->start, &verdicts->start))
		verdict |= VERDICT_START;
	if (pattern_matches(verdicts, selection->stop, &verdicts->stop))
		verdict |= VERDICT_STOP;
	return verdict;
}

static uint8_t verdict_of_name(struct name_verdicts *verdicts, const struct name *name, bool shown)
{
	struct name_verdict *known;

	verdicts->table = alloc_grow_zeroed(verdicts->table, &verdicts->room, (size_t)name->id + 1,
					    sizeof(*verdicts->table));
	known = &verdicts->table[name->id];
	if (!known->verdict) {
		known->name = name;
		known->verdict = decide(verdicts, name->text);
	}
	known->verdict |= shown ? VERDICT_SHOWN : 0;
	return known->verdict;
}

/* A function may be named as it is shown, or as in the symbol table. */
uint8_t name_verdicts_of(struct name_verdicts *verdicts, const struct symbol *symbol)
{
	uint8_t verdict = verdict_of_name(verdicts, symbol->name, true);

	if (symbol->linkage && symbol->linkage != symbol->name)
		verdict |= verdict_of_name(verdicts, symbol->linkage, false);
	return verdict;
}

/* ---- Patterns that matched nothing --------------------------------------- */

static void print_unmatched(const struct name_verdicts *verdicts, const char *pattern, FILE *out)
{
	struct nearest_names nearest;
	char names[300];

	nearest_names_init(&nearest, pattern);
	for (size_t i = 0; i < verdicts->room; i++)
		if (verdicts->table[i].verdict & VERDICT_SHOWN)
			nearest_names_consider(&nearest, verdicts->table[i].name);
	nearest_names_print(&nearest, names, sizeof(names));
	fprintf(out, "%sno function matching '%s' was called%s", ftell(out) > 0 ? "; " : "",
		pattern, names);
}

static void print_unmatched_list(const struct name_verdicts *verdicts,
				 const struct pattern_list *list, const bool *matched, FILE *out)
{
	for (size_t i = 0; i < list->count; i++)
		if (!matched || !matched[i])
			print_unmatched(verdicts, list->patterns[i], out);
}

bool name_verdicts_warn(const struct name_verdicts *verdicts, struct diag *diag)
{
	const struct selection *selection = verdicts->selection;
	char *text;
	size_t size;
	FILE *out = ALLOC_CHECKED(open_memstream(&text, &size));

	print_unmatched_list(verdicts, &selection->symbols, verdicts->symbols, out);
	print_unmatched_list(verdicts, &selection->roots, verdicts->roots, out);
	if (selection->start && !verdicts->start)
		print_unmatched(verdicts, selection->start, out);
	if (selection->stop && !verdicts->stop)
		print_unmatched(verdicts, selection->stop, out);
	alloc_close_text(out, &text);
	if (size)
		diag_warn(diag, "no-such-function", "%s", text);
	free(text);
	return size;
}

void name_verdicts_release(struct name_verdicts *verdicts)
{
	free(verdicts->table);
	free(verdicts->symbols);
	free(verdicts->roots);
	name_forms_release(&verdicts->forms);
	*verdicts = (struct name_verdicts){ .selection = verdicts->selection };
}
