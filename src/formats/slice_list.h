/* SPDX-License-Identifier: MIT */
/*
 * Lists all slices, for formats that print them whole: thread after thread, sorted by pid and tid,
 * each slice before those in it.
 *
 * Slices are kept until the end, because only then can they be sorted: many of them in a file
 * without a name (base/io/big_array.h).
 */
#ifndef SRC_FORMATS_SLICE_LIST_H
#define SRC_FORMATS_SLICE_LIST_H

#include "base/io/big_array.h"
#include "src/formats/call_sites.h"
#include "src/formats/output_format.h"
#include "src/slices/slice_args.h"

#define SLICE_RANK_MOST 480

struct listed_slice {
	uint64_t begin, end, ip;     /* ns, ns, address entered */
	const struct symbol *symbol; /* borrowed; NULL: an instant */
	const struct name
		*text; /* of a slice the caller, "file:line", NULL: unknown; of an instant */
	struct slice_cost cost;
	uint64_t folded, folded_time; /* see struct slice_detail */
	uint64_t branches[2];         /* `branch` of it, at begin and end */
	size_t next;                  /* of the list's own */
	uint32_t depth;               /* 0: outermost */
	uint16_t flags;               /* enum slice_flags */
	bool finished, cut;           /* it has ended; without a return that was seen */
	/*
	 * The order of what happens in one ns of a thread, up to SLICE_RANK_MOST: begins in a row
	 * have one rank, ends do not.  An end's is above its begin's, unless that is 0.
	 */
	uint16_t begin_rank, end_rank;
};

struct slice_list {
	struct format_output output; /* first */
	enum option_args level;      /* details of slices */
	uint64_t first;              /* ns: the first begin or instant; 0: no slice has come */
	struct output *file;         /* borrowed */
	/* The list's own: */
	struct big_array slices; /* owned */
	uint64_t count;
	/* The slices of a track, in the order of their begins. */
	struct listed_track {
		struct track *track; /* may be NULL */
		size_t first, last;
		uint64_t time; /* ns: of the last begin, end or instant, and */
		uint16_t rank; /* its rank */
		bool ended;    /* it is an end */
	} * tracks;            /* owned; by index of the track */
	size_t track_count, track_room;
	uint64_t accesses; /* of slices */
	struct call_sites sites;
	struct slice_files files;
};

/* `open` of struct output_format. */
void slice_list_open(struct format_output *output, const struct format_request *request);

/* Print a slice, the `number`th from 0 on; all is borrowed for the call. */
typedef void slice_list_print_fn(struct slice_list *list, struct track *track,
				 const struct listed_slice *slice, uint64_t number);

/* Print all slices that have ended, up to the output's limit. */
void slice_list_print(struct slice_list *list, slice_list_print_fn *print);

/* Set the arguments of a slice that is no instant, as the list's level has them. */
void slice_list_args(struct slice_list *list, const struct listed_slice *slice,
		     struct slice_args *args);

/* Print the value of an argument: of JSON, or as text in which names are escaped. */
void slice_arg_print(const struct slice_arg *arg, bool json, FILE *out);

/* Returns the name of a slice, or the text of an instant.  Borrowed. */
static inline const struct name *listed_name(const struct listed_slice *slice)
{
	return slice->symbol ? slice->symbol->name : slice->text;
}

/* `release` of struct output_format. */
void slice_list_release(struct format_output *output);

#endif
