/* SPDX-License-Identifier: MIT */
/*
 * `--format=slices`: one line per finished slice,
 * `pid/tid depth begin_ns end_ns name key=value...`, sorted by pid, tid,
 * begin, depth.
 *
 * Names and values are printed as they are, but for control characters and
 * backslashes, which become \xNN.  Slices are kept until the end, because only
 * then can they be sorted: many of them in a file without a name (base/big_array.h).
 */
#ifndef SRC_FORMATS_FORMAT_SLICES_H
#define SRC_FORMATS_FORMAT_SLICES_H

#include <stdio.h>

#include "base/big_array.h"
#include "src/formats/call_sites.h"
#include "src/options/options.h"
#include "src/slices/slice_sink.h"

struct track;
struct slice_track;

/* Slices by their index; `first` is SIZE_MAX: there are none. */
struct slice_chain {
	size_t first, last;
};

struct slice_list {
	struct big_array slices; /* owned */
	size_t count;
	struct slice_track *tracks; /* owned; by index of the track */
	size_t track_count, track_room;
	struct slice_chain *depths; /* owned: of those that begin at one time, by depth */
	size_t depth_count, depth_room;
	uint64_t looked_at;     /* so often was one written or read */
	enum option_args level; /* what slices tell */
	struct call_sites sites;
};

/*
 * Returns a sink that gathers slices; its tracks are struct track, its slices
 * must come in program order (src/slices/slice_sorter.h), begins of a track by time.  The list is
 * borrowed by the sink.
 */
struct slice_sink slice_list_sink(struct slice_list *list);

/* Start an empty list; `names` are borrowed. */
void slice_list_init(struct slice_list *list, struct name_table *names, enum option_args level);

/* Sort and print all slices.  Errors stay with the stream. */
void slice_list_print(struct slice_list *list, FILE *out);

/* Idempotent, also on zeroed memory. */
void slice_list_release(struct slice_list *list);

#endif
