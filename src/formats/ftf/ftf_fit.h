/* SPDX-License-Identifier: MIT */
/*
 * --fit: limit the slices of an FTF output to a number that Perfetto can open.
 *
 * A store of events before the encoder. Each slice gets a rank at its end (fit_ranks.h), and is
 * dropped if its rank does not stay. Whenever the store has grown by a sixteenth of the limit,
 * ranks are chosen again, and the store is filtered in place. So its size depends on the limit, not
 * on the trace. At the end the remaining events go to the encoder, in the order of arrival. The
 * choice depends only on the events.
 *
 * The store costs some time, so a conversion begins without it, unless the trace is long or cannot
 * be converted again. When there are too many slices, the conversion fails with
 * ERROR_MORE_SLICES, and src/pipeline/convert.c repeats it with the store.
 *
 * The innermost remaining slice around a dropped slice counts it: `folded` and `folded_time` of its
 * end, as with --min-duration. Outermost slices stay, unless these alone exceed the limit. All
 * other events, and slices without an end, stay unchanged and in order. The store takes slices
 * late (struct slice_sink): late slices stay, and the slices of such a part are inner ones.
 */
#pragma once

#include "base/io/output.h"
#include "src/formats/ftf/fit_ranks.h"
#include "src/formats/ftf/fit_store.h"
#include "src/slices/event_store.h"

struct fit_track;

struct ftf_fit {
	struct slice_sink sink;        /* for the slices of calls; its tracks are struct track */
	const struct slice_sink *next; /* borrowed: gets the remaining slices of calls */
	struct event_sink *others;     /* borrowed: gets the remaining other events */
	bool takes;                    /* takes other events, until the finish */
	bool folded;                   /* ends of other slices count folded ones in arguments */
	struct event_store events;     /* the other events, also the dropped ones */
	struct output *output;         /* borrowed: other events end at its limit */
	struct name_table *names;      /* borrowed: owns the texts of instants */
	uint64_t limit;                /* slices, marks included; 0: the store is not used */
	uint64_t slices;               /* slices of calls so far, marks included */
	/* Counts of slices that are not shown. */
	struct fold_counts {
		uint64_t folded;   /* slices counted by others */
		uint64_t left_out; /* outermost slices, with their counts */
		uint64_t shortest; /* ns: all other slices of at least this length are shown */
	} counts;
	struct temp_file file;         /* owned: the file of both stores */
	struct fit_store store, spare; /* owned; `spare`: memory for the next filtered store */
	bool failed;                   /* the store could not be read: take no more events */
	size_t filtered;               /* units that stayed when the store was last filtered */
	struct fit_track *track;       /* borrowed: of the last event */
	size_t named;                  /* count of units, the last of which names it */
	struct fit_track **tracks;     /* owned, as are the tracks; NULL: no events */
	size_t track_room;
	struct fit_ranks roots; /* ranks of outermost slices, of all tracks */
	uint64_t marks;         /* instants and late slices, which stay */
	uint64_t left;          /* slices to add to the store until ranks are chosen again */
};

/* Use the store before `others`, which passes its events to ftf_fit_take() until the finish. */
void ftf_fit_init(struct ftf_fit *fit, uint64_t limit, struct event_sink *others,
		  struct output *output, struct name_table *names);

/* Take an event that is not a slice of a call. */
void ftf_fit_take(struct ftf_fit *fit, const struct track_event *event);

/* Put the store before a sink, borrowed.  Returns the store's. */
const struct slice_sink *ftf_fit_before(struct ftf_fit *fit, const struct slice_sink *next);

/* After the last event of `slices` slices: pass on the remaining events. */
void ftf_fit_finish(struct ftf_fit *fit, uint64_t slices);

/* Idempotent, also on zeroed memory. */
void ftf_fit_release(struct ftf_fit *fit);
