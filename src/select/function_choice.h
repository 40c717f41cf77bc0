/* SPDX-License-Identifier: MIT */
/*
 * Matches the options' patterns with the names and files of functions, once per name and file, and
 * warns of patterns that match no called function.
 */
#pragma once

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
	VERDICT_SHOWN = 64,   /* a slice has the name */
	VERDICT_WITHIN = 128, /* --within */
};

/* Zeroed except for `selection`, it is ready to use. */
struct function_choice {
	const struct selection *selection; /* borrowed */
	struct name_forms forms;           /* forms of the current name */
	bool *matched;                     /* owned; by number of the pattern; NULL: no name yet */
	struct name_verdict {
		const struct name *name; /* borrowed; NULL: new id */
		uint8_t verdict;         /* enum verdict; 0: new */
		uint8_t both;            /* the same with that of `shown` */
		uint32_t shown;          /* 1 + id of the shown name of the last symbol; 0: none */
	} * names;                       /* owned; by id of name */
	size_t name_room;
	/* A pattern has a file: verdicts are those of symbols. */
	bool by_symbol;
	struct pair_table symbols; /* symbols by pointer */
	uint8_t *verdicts;         /* owned; by number in `symbols` */
	size_t verdict_room;
	struct pair_table files; /* files by a dso's pointer */
	uint8_t *kept;           /* owned; by number in `files`; 0: unknown */
	size_t kept_room;
};

/* function_choice_verdict() of names that can be new. */
uint8_t function_choice_decide(struct function_choice *choice, const struct symbol *symbol);

/* Returns the verdict (enum verdict) of a called function by its names. */
static inline uint8_t function_choice_verdict(struct function_choice *choice,
					      const struct symbol *symbol)
{
	const struct name *name = symbol->linkage ? symbol->linkage : symbol->name;
	const uint32_t shown = symbol->name->id + 1;

	return name->id < choice->name_room && choice->names[name->id].shown == shown
		       ? choice->names[name->id].both
		       : function_choice_decide(choice, symbol);
}

/* Returns whether --dso selects a file (NULL: code without a file); true without the option. */
bool function_choice_keeps_file(struct function_choice *choice, const struct dso *dso);

/* Returns whether --symbol and --dso together choose a called function. */
bool function_choice_has(struct function_choice *choice, const struct symbol *symbol);

/*
 * After the last call: warn in one line of patterns without a match, with the nearest names, of the
 * options before `end` (--symbol, --from, --between, --within, --hide). `diag` may be NULL. Returns
 * whether there are such patterns.
 */
bool function_choice_warn_names(const struct function_choice *choice, enum verdict end,
				struct diag *diag);

/*
 * The same for --symbol, for formats that find calls themselves, in the slices that the filter of
 * the other options leaves; `any`: they found chosen calls.
 */
void function_choice_warn(const struct function_choice *choice, bool any, struct diag *diag);

void function_choice_release(struct function_choice *choice);
