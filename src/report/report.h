/* SPDX-License-Identifier: MIT */
/*
 * The full report of a run: the JSON of --json and the text of -v.
 *
 * Its parts are collected at the end of the run, and only with these options. Nothing is done per
 * event, except for the sums of slice_totals.h. doc/summary.schema.json describes the JSON; its
 * "version" changes if a key is removed or gets another meaning.
 */
#pragma once

#include <jansson.h>

#include "src/events/hit_output.h"
#include "src/overlays/overlays.h"
#include "src/report/summary.h"
#include "src/sandbox/sandbox.h"
#include "src/slices/slice_totals.h"

#define REPORT_VERSION 1

/* Limit of the lists of functions by self time and by total time. */
#define REPORT_FUNCTIONS_MAX 50

struct report {
	const struct options *options; /* borrowed */
	bool wanted;                   /* --json or -v: collect the parts */
	struct summary summary;
	struct sandbox sandbox;      /* active parts of the sandbox */
	json_t *parts;               /* owned: an object; NULL: not wanted */
	const char *phase;           /* the current one; NULL: not in a phase */
	uint64_t begin_ns, phase_ns; /* start of the run and of the phase, CLOCK_MONOTONIC */
	/* From report_finish(), borrowed: */
	const struct diag *diag;
	const struct error *err;
	enum exit_status status;
};

/* Returns an answer with the unit of --clock instead of "ns" in its keys (owned by the caller). */
json_t *report_name_unit(const struct options *options, json_t *json);

/* Start the report; borrows `options` until release. */
void report_init(struct report *report, const struct options *options);

void report_release(struct report *report);

/* End the current phase and start the next; `name` is a constant, or NULL. */
void report_phase(struct report *report, const char *name);

/* Add the recording's data on the machine and on itself. */
void report_recording(struct report *report, const struct perf_file *file);

/* Add an AUX stream. */
void report_stream(struct report *report, const struct aux_stream *aux,
		   const struct pt_stream_stats *stats);

/* Add a thread that ran (NULL: unknown). `tally` is NULL if slices were not counted. */
void report_thread(struct report *report, const struct thread *thread,
		   const struct call_thread *tally);

/* Add the functions with the most self time, and those with the most total time. */
void report_functions(struct report *report, const struct slice_totals *tally);

/* Add a format's answer, if it has one; `output` is finished, or NULL. */
void report_answer(struct report *report, const struct output_format *format,
		   const struct format_output *output);

/* Add an answer, which is released, of a command that is not a format of slices; may be NULL. */
void report_take_answer(struct report *report, json_t *answer);

/* Words of doc/summary.schema.json: the state of a file of code, and of its names. */
extern const char *const report_file_states[]; /* by enum dso_state */
extern const char *const report_file_names[];  /* by enum dso_names */

/*
 * Add one of the recording's files of code; `gaps`: the number of gaps because its code is missing.
 */
void report_file(struct report *report, struct dso *dso, uint64_t gaps);

/* Add the hits that were shown or counted, by event. */
void report_hits(struct report *report, const struct hit_output *hits);

/* Add each memtrace file's data on itself, and the amount read. */
void report_overlays(struct report *report, const struct overlays *overlays);

/* End the report, before calling the functions below. Borrows `diag` and `err`. */
void report_finish(struct report *report, enum exit_status status, const struct diag *diag,
		   const struct error *err);

/* Returns the whole report, owned by the caller; NULL if it is not wanted. */
json_t *report_json(const struct report *report);

/* Flags of jansson for the report and the answers. */
#define REPORT_JSON_FLAGS (JSON_INDENT(2) | JSON_REAL_PRECISION(9) | JSON_ENSURE_ASCII)

/* Write JSON and a newline; releases the JSON. The output stores errors. */
void report_write_json(json_t *json, struct output *output);

/* If --json was given, write the JSON to its file. Returns 0; -1 with err filled. */
int report_write(const struct report *report, struct error *err);

/* Print the text of -v or -vv, if given. */
void report_print(const struct report *report, FILE *out);
