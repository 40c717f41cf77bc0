/* SPDX-License-Identifier: MIT */
/*
 * Lists all slices, for formats that print whole slices: by thread, sorted by pid and tid, with
 * outer slices before inner ones.
 *
 * Slices are kept until the end, because they can only be sorted then, in an unnamed file if there
 * are many (base/io/big_array.h).
 */
#pragma once

#include "base/io/big_array.h"
#include "src/formats/call_sites.h"
#include "src/formats/output_format.h"
#include "src/formats/text/digits.h"
#include "src/slices/event_store.h"
#include "src/slices/slice_args.h"

#define SLICE_RANK_MOST 480

struct listed_slice {
	uint64_t begin, end, ip;     /* ns, ns, address entered */
	const struct symbol *symbol; /* borrowed; NULL: an instant */
	const struct name
		*text; /* text of an instant; a slice's caller "file:line", NULL: unknown */
	struct slice_cost cost;
	uint64_t folded, folded_time; /* see struct slice_detail */
	uint64_t branches[2];         /* `branch` at begin and end */
	size_t next;                  /* for the list's use */
	uint32_t depth;               /* 0: outermost */
	uint16_t flags;               /* enum slice_flags */
	bool finished, cut;           /* has ended; no return was seen */
	/*
	 * Order of a thread's events within one ns, up to SLICE_RANK_MOST: successive begins share
	 * a rank, ends do not. An end's rank is above its begin's, unless that is 0.
	 */
	uint16_t begin_rank, end_rank;
};

struct slice_list {
	struct format_output output; /* first */
	enum option_args level;      /* details of slices */
	uint64_t first;              /* ns: of the first begin or instant; 0: no slice yet */
	struct output *file;         /* borrowed */
	struct event_store events;   /* other events; empty unless slice_list_take_events() */
	/* Private: */
	struct big_array slices; /* owned */
	uint64_t count;
	/* The slices of a track, in the order of their begins. */
	struct listed_track {
		struct track *track; /* may be NULL */
		size_t first, last;
		uint64_t time; /* ns: of the last begin, end or instant, and */
		uint16_t rank; /* its rank */
		bool ended;    /* the last was an end */
	} * tracks;            /* owned; by index of the track */
	size_t track_count, track_room;
	uint64_t accesses; /* accesses to slices */
	struct call_sites sites;
	struct slice_files files;
};

/* `open` of struct output_format. */
void slice_list_open(struct format_output *output, const struct format_request *request);

/* After slice_list_open(): store other events, too. */
void slice_list_take_events(struct format_output *output, const struct format_request *request);

/* After the last event: sort them. `first` becomes the time of the first slice or event. */
void slice_list_sort_events(struct slice_list *list);

/* Print a slice; `number` counts from 0. All arguments are borrowed for the call. */
typedef void slice_list_print_fn(struct slice_list *list, struct track *track,
				 const struct listed_slice *slice, uint64_t number);

/* Print all slices that have ended, up to the output's limit. */
void slice_list_print(struct slice_list *list, slice_list_print_fn *print);

/* Print another event, which is borrowed for the call. */
typedef void slice_list_event_fn(struct slice_list *list, const struct track_event *event);

/* Print all other events, up to the output's limit. */
void slice_list_print_events(struct slice_list *list, slice_list_event_fn *print);

/*
 * Write the arguments of a slice that is not an instant, by the list's level: " key=value" with
 * escaped names, or an object of JSON with a comma before it.  Returns the end.
 */
char *slice_list_args(struct slice_list *list, const struct listed_slice *slice, struct line *line,
		      char *at, bool json);

/* Returns the name of a slice, or the text of an instant.  Borrowed. */
static inline const struct name *listed_name(const struct listed_slice *slice)
{
	return slice->symbol ? slice->symbol->name : slice->text;
}

/* `release` of struct output_format. */
void slice_list_release(struct format_output *output);
