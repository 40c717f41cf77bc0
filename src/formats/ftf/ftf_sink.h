/* SPDX-License-Identifier: MIT */
/*
 * Writes slices in the Fuchsia trace format: names, arguments, threads.
 *
 * The slices of a track must be in program order, with non-decreasing times and at most 512 open
 * slices (src/slices/slice_sorter.h).
 */
#pragma once

#include "base/tables/direct_cache.h"
#include "src/formats/call_sites.h"
#include "src/formats/ftf/ftf_fit.h"
#include "src/slices/event_sink.h"
#include "src/slices/slice_args.h"
#include "writer/ftf.h"

struct track;

struct trace_facts;

struct ftf_sink {
	struct ftf_writer *writer; /* owned */
	uint64_t slices;           /* begun so far */
	uint64_t records;          /* records of events; set when closed */
	struct event_sink events;  /* for events that are not slices of calls */
	bool stored_texts;         /* the events' texts are names of the program */
	uint64_t others;           /* begun by `events`; set before closing */
	struct output *output;     /* borrowed */
	uint64_t most;             /* slices; more are an error: ERROR_MORE_SLICES */
	struct ftf_fit fit;        /* in use if its limit is not 0 */
	uint32_t unknown;          /* id for processes and threads without an id */
	enum option_args level;    /* which arguments are written */
	struct call_sites sites;
	struct slice_files files;
	struct ftf_name *known; /* owned; the writer's name by id of the program's; 0: not yet */
	size_t known_room;
	struct direct_cache templates; /* struct slice_template: most slices repeat */
	struct ftf_name keys[SLICE_ARG_KEYS], is_true, switches, tail_call;
	/* ftf_arg_head() of numbers from SLICE_ARG_INSNS on, in one word and in two; 0: not yet. */
	uint64_t heads[SLICE_ARG_KEYS - SLICE_ARG_INSNS][2];
	bool flows;      /* show arrows of tail calls (--stacks=flows) */
	uint64_t arrows; /* number so far: id of the last arrow */
	/* The end of a slice that was left by a tail call, until the next event of its track. */
	struct held_end {
		struct track *track; /* borrowed; NULL if no end waits */
		struct slice_event event;
		struct slice_detail detail;
	} * held; /* owned; by index of the track */
	size_t held_room;
	/* Unwritten records, all of one track. */
	struct ftf_templated *waiting, *next; /* owned; `next`: the end of the used ones */
	/*
	 * The innermost waiting begin without an end, or NULL. Until the end is known, its field
	 * `end` is the address of the one around it.
	 */
	struct ftf_templated *open;
	struct slice_detail *details; /* owned; by the same index; costs of a whole slice */
	bool has_details;             /* `details` are in use */
	struct slice_template *made;  /* owned: new templates of waiting records */
	struct track *track;          /* borrowed; NULL: set by the first event */
	uint32_t made_count;
	uint32_t most_waiting; /* at this number, only ends of waiting slices are added */
	uint64_t last_begin;   /* ns: of the waiting records */
};

/* Start a trace in `output`. Borrows it and `names` until ftf_sink_release(). */
void ftf_sink_init(struct ftf_sink *ftf, struct output *output, struct name_table *names,
		   const struct options *options, const struct trace_facts *facts);

/* Returns the writer's name for a name of the program; NULL: the empty string. */
struct ftf_name ftf_sink_name(struct ftf_sink *ftf, const struct name *name);

/* Encode an event: `events` of the sink. */
void ftf_sink_event(struct event_sink *sink, const struct track_event *event);

/*
 * Write the rest to the output; close the output after this. Returns 0; -1 with err filled: the
 * writer's first failure.
 */
int ftf_sink_close(struct ftf_sink *ftf, struct error *err);

/* Release the memory, and abandon unclosed outputs. */
void ftf_sink_release(struct ftf_sink *ftf);

/* Returns the sink, which borrows `ftf`; its tracks are struct track. */
struct slice_sink ftf_sink_slices(struct ftf_sink *ftf);
