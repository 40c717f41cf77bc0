/* SPDX-License-Identifier: MIT */
/* The line of JSON per job that --json-lines writes. */
#ifndef SRC_BATCH_BATCH_LINE_H
#define SRC_BATCH_BATCH_LINE_H

#include <jansson.h>
#include <sys/resource.h>

#include "src/batch/batch_plan.h"

/* How a job's process ended. */
struct batch_end {
	int status;     /* enum exit_status */
	int signal;     /* the signal that ended it; 0 if absent */
	double seconds; /* from start to end */
	struct rusage usage;
	json_t *report; /* owned: the process's own report (batch_job.h); may be NULL */
};

/*
 * Returns `text` as a JSON string, owned by the caller.  If it is not UTF-8, its
 * bytes above 0x7f are written as \xNN and its backslashes as \x5c.
 */
json_t *batch_line_text(const char *text);

/* Returns the object for a finished job, owned by the caller. */
json_t *batch_line_make(const struct batch_job *job, const struct batch_end *end);

/*
 * Check the file for lines ("-": standard output): a file with other content was named
 * by mistake, perhaps a file that only the processes of conversions read.
 * Returns 0; -1 with err filled.
 */
int batch_line_check(const char *path, struct error *err);

/*
 * Append the object to the file at `path` ("-": standard output) as one line,
 * by one write(), so that lines of several programs do not mix.
 * Returns 0; -1 with err filled.
 */
int batch_line_write(const json_t *line, const char *path, struct error *err);

#endif
