/* SPDX-License-Identifier: MIT */
/*
 * Which options' patterns match a function's name.  Patterns are matched once per name, and
 * those that choose functions and match no function that was called get a warning.
 */
#ifndef SRC_SELECT_NAME_VERDICTS_H
#define SRC_SELECT_NAME_VERDICTS_H

#include "base/diag.h"
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
	VERDICT_ROOT = 32,  /* --from */
	VERDICT_SHOWN = 64, /* the name is one that slices have */
};

struct name_verdict;

/* Usable when it is zeroed but for `selection`. */
struct name_verdicts {
	const struct selection *selection; /* borrowed */
	struct name_forms forms;           /* of the name that is being matched */
	bool *symbols, *roots; /* owned; by index of the pattern: it matched.  NULL: none did */
	bool start, stop;      /* they matched */
	struct name_verdict *table; /* owned; by id of name */
	size_t room;
};

/* Returns the verdict (enum verdict) of a function that is called. */
uint8_t name_verdicts_of(struct name_verdicts *verdicts, const struct symbol *symbol);

/*
 * All calls have come: warn in one line of the patterns that matched none, with the nearest
 * names.  `diag` may be NULL.  Returns whether there are such patterns.
 */
bool name_verdicts_warn(const struct name_verdicts *verdicts, struct diag *diag);

/* Idempotent, also on zeroed memory. */
void name_verdicts_release(struct name_verdicts *verdicts);

#endif
