/* SPDX-License-Identifier: MIT */
/*
 * --split: one trace in several files, each complete in itself: out.000.ftf,
 * out.001.ftf, ...
 *
 * All threads are cut at the same time.  Slices that are open there end in the
 * one file, and begin anew in the next, where they are marked
 * (SLICE_CONTINUED).  A part lasts until the next one begins: times in which
 * nothing begins make none of their own.
 */
#ifndef SRC_FORMATS_FTF_FTF_SPLIT_H
#define SRC_FORMATS_FTF_FTF_SPLIT_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "base/io/output.h"
#include "base/name.h"
#include "src/formats/ftf/ftf_sink.h"
#include "src/options/options.h"
#include "src/slices/slice_store.h"

struct split_track;

struct ftf_split {
	const struct options *options; /* borrowed */
	struct name_table *names;      /* borrowed */
	const char *path;              /* borrowed: of the whole */
	struct slice_store spool;
	struct slice_sink sink;      /* what the spool is replayed into */
	struct slice_sink part_sink; /* of `ftf` */
	struct output output;        /* of the part under way */
	struct ftf_sink ftf;
	bool open;    /* there is a part under way */
	char **parts; /* owned: paths, in order */
	size_t part_count, part_room;
	struct split_track *tracks; /* owned; by index of the track */
	size_t track_count, track_room;
	uint64_t first_time;  /* ns: of the first slice; units of time count from it */
	uint64_t part_begin;  /* ns: where the part under way begins */
	uint64_t last_time;   /* ns: of the last slice */
	uint64_t part_slices; /* that are new in it */
	uint64_t slices;      /* of the whole, each once */
	struct error err;
};

/*
 * Begin.  All is borrowed until release.
 * Returns 0; -1 with err filled.
 */
int ftf_split_init(struct ftf_split *split, const struct options *options, const char *path,
		   struct name_table *names, struct error *err);

/* Returns the sink; its tracks are struct track, its slices must come in program order. */
struct slice_sink ftf_split_sink(struct ftf_split *split);

/*
 * All slices have come: write the parts.
 * Returns 0; -1 with err filled: the parts up to then are complete (output_hold()).
 */
int ftf_split_close(struct ftf_split *split, struct error *err);

/* Idempotent, also on zeroed memory. */
void ftf_split_release(struct ftf_split *split);

/*
 * Returns the path of a part, owned by the caller: the number stands before the
 * extension, and before .gz and .zst: a/out.ftf.gz: a/out.007.ftf.gz.
 */
char *ftf_split_path(const char *path, size_t part);

#endif
