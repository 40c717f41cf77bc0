/* SPDX-License-Identifier: MIT */
/*
 * The names that outputs with a record or line per slice show: the symbol's, or, with
 * --stacks=magic-trace, that and SLICE_INFERRED_WORDS if the call was not seen (magic-trace's
 * trace_writer.ml, annotate_inferred_start_times).
 */
#ifndef SRC_SLICES_SLICE_NAMES_H
#define SRC_SLICES_SLICE_NAMES_H

#include "base/tables/name.h"
#include "src/options/options.h"
#include "src/slices/slice_sink.h"

#define SLICE_INFERRED_WORDS " [inferred start time]"

/* Zeroed memory is names without the words. */
struct slice_names {
	struct name_table *table;     /* borrowed; NULL: names have no words */
	const struct name **inferred; /* owned: by id of the symbol's name; NULL: not yet made */
	size_t room;
};

/* `table` is borrowed until release. */
void slice_names_init(struct slice_names *names, struct name_table *table,
		      enum stack_machine stacks);

/* Idempotent. */
void slice_names_release(struct slice_names *names);

/* Returns the shown name of a slice with these flags (enum slice_flags); borrowed, as the table. */
const struct name *slice_names_find(struct slice_names *names, const struct symbol *symbol,
				    unsigned flags);

#endif
