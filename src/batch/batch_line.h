/* SPDX-License-Identifier: MIT */
/* One line of JSON per job: what --json-lines writes. */
#ifndef SRC_BATCH_BATCH_LINE_H
#define SRC_BATCH_BATCH_LINE_H

#include <jansson.h>
#include <stdint.h>
#include <sys/resource.h>

#include "base/error.h"
#include "src/batch/batch_plan.h"

/* How a job's process ended. */
struct batch_end {
	int status;          /* its grade: enum exit_status */
	int signal;          /* that ended it; 0: none */
	double seconds;      /* from its start to its end */
	struct rusage usage; /* what it used */
	const json_t *told;  /* borrowed; what it told itself; NULL: nothing */
};

/*
 * Returns text as a JSON string, owned by the caller: bytes that are no UTF-8
 * are written \xNN, and a backslash before them as \x5c.
 */
json_t *batch_line_text(const char *text);

/* Returns the object for a job that has ended, owned by the caller. */
json_t *batch_line_make(const struct batch_job *job, const struct batch_end *end);

/*
 * Append the object to the file at `path` ("-": standard output) as one line,
 * in one write, so that lines of several programs do not mix.
 * Returns 0; -1 with err filled.
 */
int batch_line_write(const json_t *line, const char *path, struct error *err);

#endif
