/* SPDX-License-Identifier: MIT */
/*
 * What the user gets to see: one output format, from slices to the file.
 *
 *   callstack machine -> slice_sorter -> ftf_sink   -> output     (ftf)
 *   callstack machine -> slice_sorter -> slice_list -> text       (slices)
 *   callstack machine -> format_calls              -> text       (calls)
 *                                branches -> text                (branches)
 *
 * If the user chose among the slices, a slice_filter stands behind the sorter.
 * All behind the machine may be done by other threads (output_pipeline_start_writer()).
 */
#ifndef SRC_PIPELINE_OUTPUT_PIPELINE_H
#define SRC_PIPELINE_OUTPUT_PIPELINE_H

#include <stdio.h>

#include "base/diag.h"
#include "base/error.h"
#include "base/io/output.h"
#include "base/name.h"
#include "base/workers.h"
#include "src/callstack/callstack.h"
#include "src/formats/format_calls.h"
#include "src/formats/format_slices.h"
#include "src/formats/ftf/ftf_sink.h"
#include "src/formats/ftf/ftf_split.h"
#include "src/formats/slice_output.h"
#include "src/options/options.h"
#include "src/select/slice_filter.h"
#include "src/slices/slice_sorter.h"
#include "src/slices/slice_totals.h"

struct pipeline_track;

struct output_pipeline {
	const struct options *options; /* borrowed */
	struct output output;
	FILE *text;                        /* owned: into `output`; NULL for ftf and none */
	struct slice_sink tail;            /* of ftf and slices */
	struct slice_totals tally;         /* in front of `tail`, with --json */
	const struct slice_sink *head;     /* what the machine writes to; borrowed from the below */
	struct slice_filter filter;        /* between sorter and `tail`, if slices are chosen */
	struct slice_sorter sorter;        /* in front of them */
	struct callstack_machine *machine; /* owned; NULL for branches and none */
	struct format_calls calls;
	struct ftf_sink ftf;
	struct ftf_split split; /* in place of it and of `output`, with --split */
	struct slice_list slices;
	struct slice_queue *relay;     /* owned: before `head`, while it writes aside; else NULL */
	struct slice_output other;     /* of all other formats of slices */
	struct pipeline_track *tracks; /* owned list, newest first */
	uint32_t track_count;
	char *default_path; /* owned */
};

/*
 * Open the output that the options ask for.  `names` and `diag` are borrowed.
 * Returns 0; -1 with err filled, and no output is left.
 */
int output_pipeline_open(struct output_pipeline *view, const struct options *options,
			 enum trace_mode mode, struct name_table *names, struct diag *diag,
			 struct error *err);

/*
 * Make the track of a thread, for callstack_open(); the names (NULL: unknown)
 * are borrowed until output_pipeline_close().
 */
void *output_pipeline_add_track(struct output_pipeline *view, int32_t pid, int32_t tid,
				const char *process_name, const char *thread_name);

/*
 * Let a trace be ordered and written by workers (borrowed until output_pipeline_join_writer()), if
 * it is one file; before the first slice.  What is written is the same.
 */
void output_pipeline_start_writer(struct output_pipeline *view, struct workers *workers);

/* Nothing more is found: wait until all is handed over, to use the writer for something else. */
void output_pipeline_join_writer(struct output_pipeline *view);

/* Returns the number of slices written up to now. */
uint64_t output_pipeline_slices(const struct output_pipeline *view);

/* Returns the path of an output, of several parts by number, borrowed; NULL: there are no more. */
const char *output_pipeline_output(const struct output_pipeline *view, size_t number);

/* Returns what a track's thread did, borrowed, by the order of output_pipeline_add_track(); NULL:
 * not counted. */
const struct tally_thread *output_pipeline_borrow_tally(const struct output_pipeline *view,
							uint32_t index);

/* Returns whether writing has failed, so that going on is of no use. */
bool output_pipeline_failed(const struct output_pipeline *view);

/*
 * All stacks are finished: write the rest and put the output into its place.
 * Returns 0; -1 with err filled, and no output is left.
 */
int output_pipeline_close(struct output_pipeline *view, struct error *err);

/* Release everything; an output that was not closed is left out.  Idempotent. */
void output_pipeline_release(struct output_pipeline *view);

#endif
