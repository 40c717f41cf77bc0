/* SPDX-License-Identifier: MIT */
/* Patterns of names and files. */
#include "src/select/function_choice.h"

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
