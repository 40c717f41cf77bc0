/* SPDX-License-Identifier: MIT */
/*
 * The stages from the call-stack machine to the file:
 *
 *   machine -> [slice_queue] -> [clock] -> slice_sorter -> [slice_filter] -> [slice_totals] ->
 *   [slice_queue] -> [slice_limit] -> format -> output
 *
 * The queues exist while workers write: one thread sorts and sums up, and with more than two
 * threads, another one encodes. The filter exists if the user selects slices, the totals unless -q,
 * and the limit of the output's size unless the format is lines of text. A SLICES_AS_FOUND format
 * directly follows the machine or the clock.
 *
 * With --clock, the clock replaces the times of slices by the work of their thread, so that all
 * stages after it order and measure work.
 */
#pragma once

#include "base/io/output.h"
#include "src/callstack/callstack.h"
#include "src/formats/output_format.h"
#include "src/report/summary.h"
#include "src/select/slice_filter.h"
#include "src/slices/fiber_tracks.h"
#include "src/slices/slice_sorter.h"
#include "src/slices/slice_totals.h"

struct pipeline_track;

struct output_pipeline {
	const struct options *options;      /* borrowed */
	const struct output_format *format; /* from the options, or its variant for several files */
	struct selection selection; /* for the filter; lists are borrowed from the options */
	struct output output;       /* unless the format opens its own */
	FILE *text;                 /* owned: writes into `output`; NULL: not text */
	struct format_output *end;  /* owned; NULL: nothing is written */
	struct slice_limit limit;   /* before `end`, unless the format is lines of text */
	struct slice_totals totals; /* before the limit, unless -q */
	struct slice_filter filter; /* before the totals, if slices are selected */
	struct slice_within within; /* before the filter, with --within */
	struct fiber_tracks fibers; /* before `filter` or `within`, with --fibers */
	struct callstack_fibers fiber_names; /* the machine's, with --fibers */
	const struct symbol **stacks;        /* owned: by number less 1 */
	size_t stack_count, stack_room;
	struct slice_sorter sorter;    /* before the others */
	struct slice_sink clock;       /* before `next`, with --clock */
	const struct slice_sink *next; /* borrowed: after `clock` */
	struct slice_event *events;    /* owned: of a batch, with other times */
	size_t event_room;
	const struct slice_sink *head;  /* the machine's sink; NULL: no slices */
	const struct slice_sink **tail; /* the last stage's pointer to the limit or format */
	struct slice_queue *queue;      /* owned: before `head`, while workers sort; or NULL */
	struct slice_queue *encoding;   /* owned: at `tail`, while workers encode; or NULL */
	struct write_behind *behind; /* owned: after `output`, while workers write; may be NULL */
	/* Called after the last slice has reached the format, before it finishes; may be NULL. */
	void (*slices_end)(void *context);
	void *context;                     /* context of slices_end() */
	struct callstack_machine *machine; /* owned; NULL: no slices */
	struct pipeline_track *tracks;     /* owned list, newest first */
	uint32_t track_count;
};

/*
 * Open the stages for the options' format; `machine` has mode, names and diag. Borrows all
 * arguments until release. Returns 0; -1 with err filled and the output removed.
 */
int output_pipeline_open(struct output_pipeline *pipeline, const struct options *options,
			 const struct callstack_options *machine, const struct trace_facts *facts,
			 struct error *err);

/*
 * Add the track of a thread, for callstack_open(). Names (NULL: unknown) are borrowed until
 * output_pipeline_close().
 */
void *output_pipeline_add_track(struct output_pipeline *pipeline, int32_t pid, int32_t tid,
				const char *process_name, const char *thread_name);

/*
 * If the format is queued, let workers (borrowed until output_pipeline_stop_writer())
 * sort, encode and write the slices. Call before the first slice. The output stays the same.
 */
void output_pipeline_start_writer(struct output_pipeline *pipeline, struct workers *workers);

/*
 * Call after the machine's last slice: returns whether it must get all its events again
 * (slice_sorter.h). output_pipeline_again() prepares the machine, whose stacks must be closed; it
 * does not warn then.
 */
bool output_pipeline_looks(const struct output_pipeline *pipeline);
void output_pipeline_again(struct output_pipeline *pipeline);

/* Call after the machine's last slice: waits for the workers. `end->events` may be used then. */
void output_pipeline_join_writer(struct output_pipeline *pipeline);

/* Stop the workers' jobs; slices still in a queue can be lost. */
void output_pipeline_stop_writer(struct output_pipeline *pipeline);

/* Returns the number of slices written so far. */
uint64_t output_pipeline_slices(const struct output_pipeline *pipeline);

/* After output_pipeline_close(): add the outputs and their slices to the summary. */
void output_pipeline_sum_up(const struct output_pipeline *pipeline, struct summary *summary);

/* Returns whether writing failed or reached the output's limit, so that decoding can stop. */
bool output_pipeline_stopped(const struct output_pipeline *pipeline);

/*
 * Call after all stacks are finished: writes the rest and renames the output to its path. Returns
 * 0; -1 with err filled and the output removed.
 */
int output_pipeline_close(struct output_pipeline *pipeline, struct error *err);

/* Release everything; removes an output that was not closed. */
void output_pipeline_release(struct output_pipeline *pipeline);
