/* SPDX-License-Identifier: MIT */
/*
 * A sink that passes on the selected slices: calls of some functions with all callees (--symbol,
 * --dso), from one call to another (--between), inside slow calls (--within), only callees of some
 * functions (--from), down to a level (--depth), without some functions (--hide) or short slices
 * (--min-duration).
 *
 * Slices must be in program order and well nested, as from the slice_sorter. Callers of a selected
 * part, the open slices, begin and end with the part; they are marked as inferred, and as context
 * if functions are selected. Levels do not count callers. With a minimum duration, a slice is
 * passed on when it is long enough; the innermost shown slice around a shorter one counts it
 * (`folded` of struct slice_detail).
 */
#pragma once

#include "src/select/function_choice.h"
#include "src/slices/durations.h"
#include "src/slices/slice_store.h"

struct filter_track;
struct within_track;

#define SLICE_FILTER_WAITING 256

struct slice_filter {
	struct slice_sink sink;        /* give this to the sorter */
	const struct slice_sink *next; /* borrowed */
	struct diag *diag;             /* borrowed; NULL: warnings are dropped */
	struct filter_track *tracks;   /* owned list */
	struct function_choice choice;
	size_t most; /* limit of open slices of `next`; may be set after init */
	struct {
		uint64_t parts;    /* parts of threads passed on by --symbol, --dso, --between */
		uint64_t unended;  /* --between: parts without a call of STOP */
		uint64_t outside;  /* slices omitted by --from */
		uint64_t too_deep; /* slices omitted because `most` were open */
	} counts;
	/* Events of a batch to pass on together. */
	struct slice_event events[SLICE_FILTER_WAITING];
	struct slice_detail details[SLICE_FILTER_WAITING]; /* by the events' `detail` */
	uint32_t waiting;
	bool detailed; /* a waiting event has a detail */
};

/* Initialize a filter before `next`. It must not move: it contains pointers to itself. */
void slice_filter_init(struct slice_filter *filter, const struct selection *selection,
		       const struct slice_sink *next, struct diag *diag);

void slice_filter_release(struct slice_filter *filter);

/* Returns a new track, owned by the filter, whose slices go to `next_track` of the next sink. */
struct filter_track *slice_filter_track(struct slice_filter *filter, void *next_track);

/*
 * With --within, call before the slices of a track: the durations (ns, borrowed) of the chosen
 * functions' calls, in the order of their begins. Calls longer than `longer` are slow.
 */
void slice_filter_set_calls(struct filter_track *track, const uint64_t *durations, uint64_t longer);

/* After all slices have ended: warn of selections without a match. */
void slice_filter_finish(struct slice_filter *filter);

/* ---- --within ------------------------------------------------------------ */

/*
 * A sink before the filter, which makes it show only the insides of some functions' slow calls.
 *
 * A slow call is recognized at its end; for a percentile, after the end of all calls. So slices
 * wait in a temporary file (src/slices/slice_store.h), and durations of calls in memory.
 */
struct slice_within {
	struct slice_sink sink;      /* give this to the sorter; its tracks are struct track */
	struct slice_filter *filter; /* borrowed: receives the slices */
	struct slice_sink stored;    /* writes to `store` */
	struct slice_store store;
	struct durations durations;  /* durations of all the functions' calls */
	struct within_track *tracks; /* owned; by index of the track */
	size_t track_room;
};

/* Initialize before a filter whose selection has `within`; it must not move. */
void slice_within_init(struct slice_within *within, struct slice_filter *filter,
		       struct name_table *names);

/* Add a track with its track of the filter. */
void slice_within_add_track(struct slice_within *within, const struct track *track,
			    struct filter_track *filtered);

/* After the last slice: pass all on to the filter, and warn if no call is slow. */
void slice_within_finish(struct slice_within *within);

void slice_within_release(struct slice_within *within);
