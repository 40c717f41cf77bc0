/* SPDX-License-Identifier: MIT */
/*
 * The stages from the call-stack machine to the file:
 *
 *   machine -> [slice_queue] -> slice_sorter -> [slice_filter] -> [slice_totals] ->
 *   [slice_queue] -> [slice_limit] -> format -> output
 *
 * The queues are there while workers write: one thread sorts and sums up, another one encodes, if
 * there are more than two.
 * The filter is there if the user selects slices, the totals unless -q, the limit of the output's
 * size unless the format is lines of text.  A format of SLICES_AS_FOUND follows the machine
 * directly.
 */
#ifndef SRC_PIPELINE_OUTPUT_PIPELINE_H
#define SRC_PIPELINE_OUTPUT_PIPELINE_H

#include "base/diag.h"
#include "base/io/output.h"
#include "base/io/write_behind.h"
#include "base/tables/name.h"
#include "base/workers.h"
#include "src/callstack/callstack.h"
#include "src/formats/output_format.h"
#include "src/formats/slice_limit.h"
#include "src/options/options.h"
#include "src/report/summary.h"
#include "src/select/slice_filter.h"
#include "src/slices/slice_sorter.h"
#include "src/slices/slice_totals.h"

struct pipeline_track;

struct output_pipeline {
	const struct options *options;      /* borrowed */
	const struct output_format *format; /* the options', or its form of several files */
	struct selection selection;     /* what the filter chooses; its lists are the options' */
	struct output output;           /* unless the format opens its own */
	FILE *text;                     /* owned: into `output`; NULL: not text */
	struct format_output *end;      /* owned; NULL: nothing is written */
	struct slice_limit limit;       /* in front of `end`, unless that is lines of text */
	struct slice_totals totals;     /* in front of it, unless -q */
	struct slice_filter filter;     /* in front of them, if slices are selected */
	struct slice_sorter sorter;     /* in front of them */
	const struct slice_sink *head;  /* what the machine writes to; NULL: no slices */
	const struct slice_sink **tail; /* pointer to the limit or format, of the stage in front */
	struct slice_queue *queue;      /* owned: before `head`, while workers sort; else NULL */
	struct slice_queue *encoding;   /* owned: at `tail`, while workers encode; else NULL */
	struct write_behind *behind;    /* owned: behind `output`, meanwhile; may be NULL */
	struct callstack_machine *machine; /* owned; NULL: no slices */
	struct pipeline_track *tracks;     /* owned list, newest first */
	uint32_t track_count;
};

/*
 * Open the stages of the options' format; `machine` has mode, names and diag;
 * All is borrowed until release.
 * Returns 0; -1 with err filled, and no output is left.
 */
int output_pipeline_open(struct output_pipeline *pipeline, const struct options *options,
			 const struct callstack_options *machine, const struct trace_facts *facts,
			 struct error *err);

/*
 * Make the track of a thread, for callstack_open(); the names (NULL: unknown)
 * are borrowed until output_pipeline_close().
 */
void *output_pipeline_add_track(struct output_pipeline *pipeline, int32_t pid, int32_t tid,
				const char *process_name, const char *thread_name);

/*
 * Let workers (borrowed until output_pipeline_stop_writer()) sort, encode and write the slices, if
 * the format has tracks of events; before the first slice.  The output stays the same.
 */
void output_pipeline_start_writer(struct output_pipeline *pipeline, struct workers *workers);

/* No more slices come from the machine: wait for the workers.  `end->writer` is free then. */
void output_pipeline_join_writer(struct output_pipeline *pipeline);

/* Stop what workers do; slices that were not waited for may be missing.  Idempotent. */
void output_pipeline_stop_writer(struct output_pipeline *pipeline);

/* Returns the number of slices written up to now. */
uint64_t output_pipeline_slices(const struct output_pipeline *pipeline);

/* After output_pipeline_close(): add the outputs and their slices to the summary. */
void output_pipeline_sum_up(const struct output_pipeline *pipeline, struct summary *summary);

/*
 * Returns what a track's thread did, borrowed; `index` counts calls of
 * output_pipeline_add_track(), UINT32_MAX: none.  NULL: not counted.
 */
const struct call_thread *output_pipeline_borrow_totals(const struct output_pipeline *pipeline,
							uint32_t index);

/* Returns whether writing has failed, so that the rest need not be decoded. */
bool output_pipeline_failed(const struct output_pipeline *pipeline);

/* Returns whether the output was cut at its limit, so that the rest need not be decoded. */
bool output_pipeline_full(const struct output_pipeline *pipeline);

/*
 * All stacks are finished: write the rest and rename the output to its path.
 * Returns 0; -1 with err filled, and no output is left.
 */
int output_pipeline_close(struct output_pipeline *pipeline, struct error *err);

/* Release everything; an output that was not closed is removed.  Idempotent. */
void output_pipeline_release(struct output_pipeline *pipeline);

#endif
