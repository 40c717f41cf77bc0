/* SPDX-License-Identifier: MIT */
/*
 * --format=folded: the time that each distinct call stack had to itself, as
 * Brendan Gregg's FlameGraph takes it (stackcollapse): "thread;a;b;c NS", in the
 * order in which the stacks appeared, threads of one name together.
 *
 * Time in a slice is its own where no slice within it is open.  Memory grows
 * with the distinct stacks.  In names, ';' and control characters become '?'.
 */
#ifndef SRC_FORMATS_FORMAT_FOLDED_H
#define SRC_FORMATS_FORMAT_FOLDED_H

#include <stdio.h>

#include "base/name.h"
#include "src/formats/pair_table.h"
#include "src/slices/slice_sink.h"

struct stack_node;
struct folded_track;

struct format_folded {
	struct name_table *names; /* borrowed */
	struct pair_table
		stacks; /* of (node of the caller, id of name): the node's number less 1 */
	struct stack_node *nodes; /* owned; [0] is the root of all */
	size_t count, room;
	struct folded_track *tracks; /* owned; by index of the track */
	size_t track_room;
	uint64_t slices;
};

/* `names` is borrowed until release. */
void format_folded_init(struct format_folded *folded, struct name_table *names);

/* Returns the sink; its tracks are struct track, its slices must come in program order. */
struct slice_sink format_folded_sink(struct format_folded *folded);

/* Print all stacks.  Errors stay with the stream. */
void format_folded_print(const struct format_folded *folded, FILE *out);

/* Idempotent, also on zeroed memory. */
void format_folded_release(struct format_folded *folded);

#endif
