/* SPDX-License-Identifier: MIT */
/* Match patterns with names and files, and cache the results. */
#include "src/select/function_choice.h"

#include "src/select/function_labels.h"
#include "symbols/dso/dso_store.h"

/* Options with patterns, in the order of warnings. */
static const uint8_t verdicts[] = { VERDICT_KEEP, VERDICT_ROOT,   VERDICT_START,
				    VERDICT_STOP, VERDICT_WITHIN, VERDICT_HIDE };

/* Store the patterns of each option.  Returns their number. */
static size_t list_patterns(const struct selection *selection,
			    struct pattern_list lists[COUNT_OF(verdicts)])
{
	const char *const *single[] = { &selection->start, &selection->stop,
					(const char *const *)&selection->within.function };
	size_t count = 0;

	lists[0] = selection->symbols;
	lists[1] = selection->roots;
	for (size_t i = 0; i < COUNT_OF(single); i++)
		lists[2 + i] = (struct pattern_list){ .patterns = (const char **)single[i],
						      .count = *single[i] != NULL };
	lists[5] = selection->hidden;
	for (size_t i = 0; i < COUNT_OF(verdicts); i++)
		count += lists[i].count;
	return count;
}

/* Decide on one of a symbol's names. */
static uint8_t decide(struct function_choice *choice, const struct symbol *symbol, const char *text)
{
	const struct name *source = choice->by_symbol ? function_source(symbol) : NULL;
	const char *library = symbol->dso ? symbol->dso->path : NULL;
	struct pattern_list lists[COUNT_OF(verdicts)];
	size_t count = list_patterns(choice->selection, lists);
	uint8_t verdict = VERDICT_KNOWN;
	bool *matched;

	if (!choice->matched)
		choice->matched = alloc_zeroed(count + 1, sizeof(*choice->matched));
	matched = choice->matched;
	name_forms_set(&choice->forms, text);
	for (size_t i = 0; i < COUNT_OF(verdicts); i++)
		for (size_t j = 0; j < lists[i].count; j++, matched++)
			if (choice->by_symbol
				    ? function_pattern_match(lists[i].patterns[j], &choice->forms,
							     source ? source->text : NULL, library)
				    : name_forms_match(&choice->forms, lists[i].patterns[j])) {
				verdict |= verdicts[i];
				*matched = true;
			}
	return verdict;
}

static uint8_t verdict_of_name(struct function_choice *choice, const struct symbol *symbol,
			       const struct name *name, bool shown)
{
	struct name_verdict *known;

	ARRAY_GROW_ZEROED(choice->names, choice->name_room, (size_t)name->id + 1);
	known = &choice->names[name->id];
	if (!known->verdict || choice->by_symbol) {
		known->name = name;
		known->verdict = decide(choice, symbol, name->text);
	}
	known->verdict |= shown ? VERDICT_SHOWN : 0;
	return known->verdict;
}

/* A pattern can match the displayed name, or the symbol table's. */
static uint8_t verdict_of_names(struct function_choice *choice, const struct symbol *symbol)
{
	const struct name *last = symbol->linkage ? symbol->linkage : symbol->name;
	uint8_t verdict = verdict_of_name(choice, symbol, symbol->name, true);

	if (last != symbol->name)
		verdict |= verdict_of_name(choice, symbol, last, false);
	if (!choice->by_symbol) {
		choice->names[last->id].shown = symbol->name->id + 1;
		choice->names[last->id].both = verdict;
	}
	return verdict;
}

uint8_t function_choice_decide(struct function_choice *choice, const struct symbol *symbol)
{
	struct pattern_list lists[COUNT_OF(verdicts)];
	uint32_t number;

	if (!choice->matched)
		list_patterns(choice->selection, lists);
	for (size_t i = 0; i < COUNT_OF(verdicts) && !choice->matched; i++)
		for (size_t j = 0; j < lists[i].count; j++)
			choice->by_symbol |= function_pattern_has_file(lists[i].patterns[j]);
	if (!choice->by_symbol)
		return verdict_of_names(choice, symbol);
	number = pair_table_find_pointer(&choice->symbols, symbol);
	ARRAY_GROW_ZEROED(choice->verdicts, choice->verdict_room, (size_t)number + 1);
	if (!choice->verdicts[number])
		choice->verdicts[number] = verdict_of_names(choice, symbol);
	return choice->verdicts[number];
}

/* ---- Patterns without a match --------------------------------------- */

/* Returns whether a pattern is several, as "malloc,free" or "malloc|free", and no name of C++. */
static bool is_several(const char *pattern)
{
	const char *separator = strpbrk(pattern, ",|");

	return separator && separator > pattern && separator[1] && !strpbrk(pattern, "(<[") &&
	       !strstr(pattern, "operator");
}

static void print_unmatched(const struct function_choice *choice, enum verdict verdict,
			    const char *pattern, FILE *out)
{
	bool repeatable = verdict == VERDICT_KEEP || verdict == VERDICT_ROOT;
	struct nearest_names nearest;
	char names[300];

	nearest_names_init(&nearest, pattern);
	for (size_t i = 0; i < choice->name_room; i++)
		if (choice->names[i].verdict & VERDICT_SHOWN)
			nearest_names_consider(&nearest, choice->names[i].name);
	nearest_names_print(&nearest, names, sizeof(names));
	fprintf(out, "%sno function matching '%s' was called%s", ftell(out) > 0 ? "; " : "",
		pattern, names);
	if (repeatable && is_several(pattern))
		fputs("; repeat the option for each of several patterns", out);
}

bool function_choice_warn_names(const struct function_choice *choice, enum verdict end,
				struct diag *diag)
{
	struct pattern_list lists[COUNT_OF(verdicts)];
	const bool *matched = choice->matched;
	char *text;
	size_t size;
	FILE *out = ALLOC_CHECKED(open_memstream(&text, &size));

	list_patterns(choice->selection, lists);
	for (size_t i = 0; verdicts[i] != end; i++)
		for (size_t j = 0; j < lists[i].count; j++)
			if (!matched || !*matched++)
				print_unmatched(choice, verdicts[i], lists[i].patterns[j], out);
	alloc_close_text(out, &text);
	if (size)
		diag_warn(diag, "no-such-function", "%s", text);
	free(text);
	return size;
}

/* ---- Files --------------------------------------------------------------- */

bool function_choice_keeps_file(struct function_choice *choice, const struct dso *dso)
{
	enum { UNKNOWN, KEPT, LEFT_OUT };
	const struct pattern_list *patterns = &choice->selection->dsos;
	uint32_t file;

	if (!patterns->count)
		return true;
	if (!dso)
		return false;
	file = pair_table_find_pointer(&choice->files, dso);
	ARRAY_GROW_ZEROED(choice->kept, choice->kept_room, (size_t)file + 1);
	for (size_t i = 0; i < patterns->count && choice->kept[file] == UNKNOWN; i++)
		if (pattern_matches_path(patterns->patterns[i], dso->path))
			choice->kept[file] = KEPT;
	if (choice->kept[file] == UNKNOWN)
		choice->kept[file] = LEFT_OUT;
	return choice->kept[file] == KEPT;
}

/* ---- Both ---------------------------------------------------------------- */

void function_choice_release(struct function_choice *choice)
{
	free(choice->names);
	free(choice->matched);
	free(choice->kept);
	free(choice->verdicts);
	pair_table_release(&choice->symbols);
	name_forms_release(&choice->forms);
	pair_table_release(&choice->files);
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
	if (function_choice_warn_names(choice, VERDICT_ROOT, diag) || any)
		return;
	if (choice->selection->dsos.count)
		diag_warn(diag, "nothing-selected",
			  "no call matches the options --symbol and --dso together");
	else if (choice->selection->symbols.count)
		diag_warn(diag, "nothing-selected",
			  "no call of '%s' is whole in the trace, with its begin and its return",
			  choice->selection->symbols.patterns[0]);
}
