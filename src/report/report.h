/* SPDX-License-Identifier: MIT */
/*
 * The full report of a run: the JSON of --json and the text of -v.
 *
 * Its parts are gathered at the end of the run, and only with these options;
 * nothing is done per event, but for the sums of slice_totals.h.
 * doc/summary.schema.json describes the JSON; its "version" changes when a key
 * is removed or gets another meaning.
 */
#ifndef SRC_REPORT_REPORT_H
#define SRC_REPORT_REPORT_H

#include <jansson.h>

#include "base/diag.h"
#include "decoder/aux/auxtrace.h"
#include "decoder/perf_data/perf_file.h"
#include "decoder/timeline/timeline.h"
#include "src/events/hit_output.h"
#include "src/formats/output_format.h"
#include "src/options/options.h"
#include "src/overlays/overlays.h"
#include "src/report/sandbox_state.h"
#include "src/report/summary.h"
#include "src/slices/slice_totals.h"

#define REPORT_VERSION 1

/* Most functions in the list by self time, and in the one by total time. */
#define REPORT_FUNCTIONS_MAX 50

struct report {
	const struct options *options; /* borrowed */
	bool wanted;                   /* --json or -v: the parts are gathered */
	struct summary summary;
	struct sandbox sandbox;      /* what holds the run */
	json_t *parts;               /* owned: an object; NULL: not wanted */
	const char *phase;           /* the current one; NULL: none */
	uint64_t begin_ns, phase_ns; /* begin of the run and the phase, CLOCK_MONOTONIC */
	/* From report_finish(), borrowed: */
	const struct diag *diag;
	const struct error *err;
	enum exit_status status;
};

/* Start the report; `options` are borrowed until release. */
void report_init(struct report *report, const struct options *options);

/* Idempotent, also on zeroed memory. */
void report_release(struct report *report);

/* End the current phase and begin the next one; `name` is a constant, NULL: none. */
void report_phase(struct report *report, const char *name);

/* Add what the recording says about the machine and about itself. */
void report_recording(struct report *report, const struct perf_file *file);

/* Add an AUX stream. */
void report_stream(struct report *report, const struct aux_stream *aux,
		   const struct pt_stream_stats *stats);

/* Add a thread that ran (NULL: unknown); `tally` is NULL if slices were not counted. */
void report_thread(struct report *report, const struct thread *thread,
		   const struct call_thread *tally);

/* Add the functions with the longest self times, and those with the longest total times. */
void report_functions(struct report *report, const struct slice_totals *tally);

/* Add the answer of a format that gives one; `output` is finished, or NULL. */
void report_answer(struct report *report, const struct output_format *format,
		   const struct format_output *output);

/* Take the answer of what is no format of slices; NULL: there is none. */
void report_take_answer(struct report *report, json_t *answer);

/* Returns how a file of code was found: a constant word of doc/summary.schema.json. */
const char *report_file_state(const struct dso *dso);

/* Returns which names were found for a file: a constant word. */
const char *report_file_names(const struct dso *dso);

/* Add a file of code of the recording; `gaps` is the number of gaps for lack of its code. */
void report_file(struct report *report, struct dso *dso, uint64_t gaps);

/* Add the hits that were shown or counted, by event. */
void report_hits(struct report *report, const struct hit_output *hits);

/* Add what each file of memtrace says about itself, and how much was read of it. */
void report_overlays(struct report *report, const struct overlays *overlays);

/* End the report; the functions below need it.  `diag` and `err` are borrowed. */
void report_finish(struct report *report, enum exit_status status, const struct diag *diag,
		   const struct error *err);

/* Returns the whole report, owned by the caller; NULL if it is not wanted. */
json_t *report_json(const struct report *report);

/* Write JSON, which is released, and a newline.  Errors stay with the output. */
void report_write_json(json_t *json, struct output *output);

/*
 * Write the JSON to the file of --json, if the option was given.
 * Returns 0; -1 with err filled.
 */
int report_write(const struct report *report, struct error *err);

/* Print the text of -v or -vv, if one was given. */
void report_print(const struct report *report, FILE *out);

#endif
