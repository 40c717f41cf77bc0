/* SPDX-License-Identifier: MIT */
/*
 * What a run did, in full: the JSON of --json and the text of -v.
 *
 * Parts are gathered when the run ends, from what is still open then, and only
 * those that were asked for; per event nothing is done here (slice_totals.h adds
 * up functions, for --json only).  doc/summary.schema.json describes the JSON;
 * its "version" grows when a key changes its meaning or goes away.
 */
#ifndef SRC_REPORT_REPORT_H
#define SRC_REPORT_REPORT_H

#include <jansson.h>
#include <stdio.h>

#include "base/diag.h"
#include "base/error.h"
#include "decoder/aux/auxtrace.h"
#include "decoder/perf_data/perf_file.h"
#include "decoder/timeline/timeline.h"
#include "src/options/options.h"
#include "src/report/summary.h"
#include "src/slices/slice_totals.h"

#define REPORT_VERSION 1

/* Functions that are listed, by each of self and total time. */
#define REPORT_FUNCTIONS_MAX 50

struct report {
	const struct options *options; /* borrowed */
	bool wanted;                   /* by --json or -v: the parts are gathered */
	struct summary summary;
	json_t *parts;               /* owned: an object; NULL: not wanted */
	const char *phase;           /* that runs now; NULL: none */
	uint64_t begin_ns, phase_ns; /* when the run and the phase began, CLOCK_MONOTONIC */
	/* Of the end of the run, borrowed: */
	const struct diag *diag;
	const struct error *err;
	enum exit_status status;
};

/* Start; `options` are borrowed until release. */
void report_init(struct report *report, const struct options *options);

/* Idempotent, also on zeroed memory. */
void report_release(struct report *report);

/* A phase of the run begins, and the one before ends; `name` is a constant, NULL: none begins. */
void report_phase(struct report *report, const char *name);

/* What the recording says of the machine and of how it was made. */
void report_recording(struct report *report, const struct perf_file *file);

void report_stream(struct report *report, const struct aux_stream *aux,
		   const struct pt_stream_stats *stats);

/* A thread that ran (NULL: an unknown one); `tally` is NULL if slices were not added up. */
void report_thread(struct report *report, const struct thread *thread,
		   const struct tally_thread *tally);

/* The functions with the most self time and those with the most time in all. */
void report_functions(struct report *report, const struct slice_totals *tally);

/* A file of code of the recording; `gaps` are those for want of its code. */
void report_file(struct report *report, struct dso *dso, uint64_t gaps);

/* The run has ended: what is asked for next is of this end.  `diag` and `err` are borrowed. */
void report_finish(struct report *report, enum exit_status status, const struct diag *diag,
		   const struct error *err);

/* Returns the whole report, owned by the caller; NULL if it is not wanted.  After report_finish().
 */
json_t *report_json(const struct report *report);

/*
 * Write the JSON to where --json says.
 * Returns 0, also if it was not asked for; -1 with err filled.
 */
int report_write(const struct report *report, struct error *err);

/* Print what -v (level 1) and -vv (2) ask for. */
void report_print(const struct report *report, FILE *out);

#endif
