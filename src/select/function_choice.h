/* SPDX-License-Identifier: MIT */
/* The functions that --symbol and --dso choose together, for formats that find their calls. */
#ifndef SRC_SELECT_FUNCTION_CHOICE_H
#define SRC_SELECT_FUNCTION_CHOICE_H

#include "src/options/selection.h"
#include "src/select/name_verdicts.h"

struct dso;

/* Usable when it is zeroed but for `selection`. */
struct file_verdicts {
	const struct selection *selection; /* borrowed */
	struct file_verdict *table;        /* owned; hash by dso */
};

/* Returns whether --dso selects a file (NULL: code of none); without the option it does. */
bool file_verdicts_keep(struct file_verdicts *verdicts, const struct dso *dso);

/* Idempotent, also on zeroed memory. */
void file_verdicts_release(struct file_verdicts *verdicts);

struct function_choice {
	struct name_verdicts names;
	struct file_verdicts files;
};

/* `selection` is borrowed. */
void function_choice_init(struct function_choice *choice, const struct selection *selection);

/* Idempotent, also on zeroed memory. */
void function_choice_release(struct function_choice *choice);

/* Returns whether a function that is called is chosen. */
bool function_choice_has(struct function_choice *choice, const struct symbol *symbol);

/* All calls have come, `any` chosen ones: warn if there are none.  `diag` may be NULL. */
void function_choice_warn(const struct function_choice *choice, bool any, struct diag *diag);

#endif
