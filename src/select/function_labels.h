/* SPDX-License-Identifier: MIT */
/*
 * Labels of functions: what an output prints for each. A function that has its name alone in an
 * output is printed by its name; others by the first of these facts that no other function of the
 * name shares: the signature, "NAME (FILE.c)", "NAME (LIBRARY)", the linkage name, and more. The
 * name alone is such a fact of the function whose linkage name it is, beside clones
 * ("NAME.part.0").
 *
 * A pattern that chooses a function (function_pattern_match()) is made of the same facts.
 */
#pragma once

#include "src/slices/call_tree.h"

enum function_fact {
	FACT_SIGNATURE = 0, /* with parameters and template arguments */
	FACT_SOURCE,        /* base name of the source file */
	FACT_LIBRARY,       /* the library of the file of code */
	FACT_LINKAGE,       /* name in the symbol table */
	FACT_SOURCE_PATH,
	FACT_LIBRARY_PATH,
	FACT_VERSION, /* build id */
	FACT_BARE,    /* linkage name, also if it is the name */
	FACT_PLACE,   /* address in the file; of inlined functions the line */
	FACTS         /* none: the name alone */
};

struct function_facts {
	const char *name;            /* borrowed */
	const char *linkage;         /* borrowed */
	char *texts[FACTS];          /* owned; NULL: unknown */
	enum function_fact distinct; /* set by function_facts_distinguish() */
};

/* Set `distinct` of functions with one name. */
void function_facts_distinguish(struct function_facts *facts, size_t count);

/* Return texts, owned by the caller: to print, and to choose the function. */
char *function_facts_label(const struct function_facts *facts);
char *function_facts_pattern(const struct function_facts *facts);

void function_facts_release(struct function_facts *facts);

/* Labels of a table's functions. Zeroed memory has none. */
struct function_labels {
	const struct function_table *table; /* borrowed; NULL: no labels */
	struct name_table *names;           /* borrowed */
	/* Owned, by number; NULL: not made yet. The names are borrowed. */
	struct function_label {
		const struct name *shown, *pattern;
	} * made;
	size_t count;
};

/*
 * Begin the labels of a table whose functions are known, both borrowed. They are made one by one.
 * Begins anew if functions were added since.
 */
void function_labels_make(struct function_labels *labels, const struct function_table *table,
			  struct name_table *names);

/* Return what to print for a symbol, and what chooses its function: its name without labels. */
const struct name *function_label(const struct function_labels *labels,
				  const struct symbol *symbol);
const struct name *function_pattern(const struct function_labels *labels,
				    const struct symbol *symbol);

void function_labels_release(struct function_labels *labels);

/*
 * Returns a text, owned by the caller, that a function has in each recording of its file: the
 * linkage name without Rust's hash, which differs in each build, and "@FILE.c" for a local or
 * inlined function. Functions that differ in their addresses only have their number and count in
 * this order, "#1/3", so that they match only if there are as many.
 */
char *function_identity(const struct function_labels *labels, const struct symbol *symbol);

/* Returns a symbol's source file: of a function, or of an inlined one's declaration; or NULL. */
const struct name *function_source(const struct symbol *symbol);
