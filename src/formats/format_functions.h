/* SPDX-License-Identifier: MIT */
/*
 * --format=functions: a table of the functions: how often they were called, how
 * long their calls took together (total) and without the slices in them (self),
 * and the shortest, median, 99th percentile and longest call; ns.
 *
 * Of a function that calls itself, the total counts the outermost call only, so
 * no time counts twice in one thread.  Functions of one name are one row.  The
 * median and the percentile are of a histogram: exact below 256 ns, and to one
 * part in 128 above (struct durations).
 */
#ifndef SRC_FORMATS_FORMAT_FUNCTIONS_H
#define SRC_FORMATS_FORMAT_FUNCTIONS_H

#include <stdio.h>

#include "src/formats/pair_table.h"
#include "src/options/selection.h"
#include "src/slices/slice_sink.h"

struct function_row;
struct function_track;

struct format_functions {
	struct function_row *rows; /* owned; by `ids` */
	size_t row_room;
	struct pair_table ids;  /* of (0, id of name) */
	struct pair_table open; /* of (index of track, row): place in `open_counts` */
	uint32_t *open_counts;  /* owned: open slices of this function on this track */
	size_t open_room;
	struct function_track *tracks; /* owned; by index of the track */
	size_t track_room;
	uint64_t slices;
};

/* Returns the sink; its tracks are struct track, its slices must come in program order. */
struct slice_sink format_functions_sink(struct format_functions *functions);

/* Print the table.  Errors stay with the stream. */
void format_functions_print(struct format_functions *functions, enum function_order order,
			    FILE *out);

/* Idempotent, also on zeroed memory. */
void format_functions_release(struct format_functions *functions);

#endif
