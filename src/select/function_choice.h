/* SPDX-License-Identifier: MIT */
/*
 * Matches the options' patterns with the names and files of functions, once per name and per file,
 * and warns of patterns that choose functions and match no called one.
 */
#ifndef SRC_SELECT_FUNCTION_CHOICE_H
#define SRC_SELECT_FUNCTION_CHOICE_H

#include "base/diag.h"
#include "base/tables/pair_table.h"
#include "src/options/selection.h"
#include "src/select/name_forms.h"
#include "symbols/symbol.h"

/* The options whose patterns match a name. */
enum verdict {
	VERDICT_KNOWN = 1,
	VERDICT_KEEP = 2, /* --symbol */
	VERDICT_HIDE = 4,
	VERDICT_START = 8, /* --between */
	VERDICT_STOP = 16,
	VERDICT_ROOT = 32,    /* --from */
	VERDICT_SHOWN = 64,   /* the name is one that slices have */
	VERDICT_WITHIN = 128, /* --within */
};

/* Usable when it is zeroed but for `selection`. */
struct function_choice {
	const struct selection *selection; /* borrowed */
	struct name_forms forms;           /* of the name that is being matched */
	bool *matched; /* owned; by number of the pattern; NULL: no name was seen */
	struct name_verdict {
		const struct name *name; /* borrowed; NULL: the id was not seen yet */
		uint8_t verdict;         /* enum verdict; 0: not seen */
	} * names;                       /* owned; by id of name */
	size_t name_room;
	struct pair_table files; /* of the dso's pointer */
	uint8_t *kept;           /* owned; by number in `files`; 0: unknown */
	size_t kept_room;
};

/* Returns the verdict (enum verdict) of a function that is called, by its names. */
uint8_t function_choice_verdict(struct function_choice *choice, const struct symbol *symbol);

/* Returns whether --dso selects a file (NULL: code of none); without the option it does. */
bool function_choice_keeps_file(struct function_choice *choice, const struct dso *dso);

/* Returns whether --symbol and --dso together choose a function that is called. */
bool function_choice_has(struct function_choice *choice, const struct symbol *symbol);

/*
 * All calls have come: warn in one line of the patterns that matched none, with the nearest
 * names.  `diag` may be NULL.  Returns whether there are such patterns.
 */
bool function_choice_warn_names(const struct function_choice *choice, struct diag *diag);

/* The same for formats that find their calls: `any` says whether there were chosen ones. */
void function_choice_warn(const struct function_choice *choice, bool any, struct diag *diag);

void function_choice_release(struct function_choice *choice);

#endif
