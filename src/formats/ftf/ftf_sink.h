/* SPDX-License-Identifier: MIT */
/*
 * Slices into the Fuchsia trace format: names, arguments, threads.
 *
 * The slices of a track must come in program order, with times that do not go
 * back and at most 512 open at a time (src/slices/slice_sorter.h sees to that).
 */
#ifndef SRC_FORMATS_FTF_FTF_SINK_H
#define SRC_FORMATS_FTF_FTF_SINK_H

#include "base/tables/direct_cache.h"
#include "src/formats/call_sites.h"
#include "src/formats/ftf/ftf_fit.h"
#include "src/slices/slice_args.h"

struct track;

struct trace_facts;

/* The name of the blob with options->stamp. */
#define FTF_STAMP_NAME "ptrace2ftf"

struct ftf_sink {
	struct ftf_writer *writer; /* owned */
	uint64_t slices;           /* begun up to now */
	uint64_t records;          /* of events, once closed */
	uint64_t others;           /* begun by others who use `writer`; to be set before closing */
	struct ftf_fit fit;
	uint32_t unknown;       /* the id of processes and threads without an id */
	enum option_args level; /* of the arguments */
	struct call_sites sites;
	struct slice_files files;
	struct ftf_name *known; /* owned; the writer's, by id of the program's; 0: not yet */
	size_t known_room;
	struct direct_cache
		templates; /* struct slice_template: most slices begin again and again */
	struct ftf_name keys[SLICE_ARG_KEYS], is_true, tail_call;
	bool flows;      /* show arrows of tail calls (--flows) */
	uint64_t arrows; /* up to now: the id of the last one */
	/* The end of a slice that was left by a tail call, until the next event of its track. */
	struct held_end {
		struct track *track; /* borrowed; NULL if no end waits */
		struct slice_event event;
		struct slice_detail detail;
	} * held; /* owned; by index of the track */
	size_t held_room;
	/* Events that are not written yet, all of one track. */
	struct waiting_event {
		struct slice_event event;
		uint64_t end; /* of a begin: its slice is whole; 0: its end is an event, too */
	} * waiting;          /* owned */
	struct slice_detail *details; /* owned: of the same index; of a whole slice its costs */
	bool has_details;             /* an event has one */
	struct track *track;          /* borrowed; NULL: of the first event */
	uint32_t waiting_count;
	uint32_t most_waiting; /* after so many only ends of waiting slices are added */
	/*
	 * 1 + index of the innermost waiting begin without an end, whose `end` links to the next
	 * one; 0: none.
	 */
	uint32_t open;
	uint64_t last_begin; /* ns: of a waiting event */
};

/* Start a trace in `output`; it and `names` are borrowed until ftf_sink_release(). */
void ftf_sink_init(struct ftf_sink *ftf, struct output *output, struct name_table *names,
		   const struct options *options, const struct trace_facts *facts);

/* Returns a name of the program's in the writer; NULL: the empty string. */
struct ftf_name ftf_sink_name(struct ftf_sink *ftf, const struct name *name);

/* Put a text into the trace as a blob, which viewers skip; at its start to be found there. */
void ftf_sink_note(struct ftf_sink *ftf, const char *name, const char *text);

/*
 * Hand the rest to the output, which is to be closed after it.
 * Returns 0; -1 with err filled: the first failure of the writer.
 */
int ftf_sink_close(struct ftf_sink *ftf, struct error *err);

/* Release the memory, and abandon unclosed outputs.  Idempotent, also on zeroed memory. */
void ftf_sink_release(struct ftf_sink *ftf);

/* Returns the sink; its tracks are struct track.  `ftf` is borrowed by it. */
struct slice_sink ftf_sink_slices(struct ftf_sink *ftf);

#endif
