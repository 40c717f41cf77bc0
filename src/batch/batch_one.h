/* SPDX-License-Identifier: MIT */
/* One conversion in a process of its own, of which this process needs the report. */
#ifndef SRC_BATCH_BATCH_ONE_H
#define SRC_BATCH_BATCH_ONE_H

#include "src/batch/batch_job.h"

/*
 * Run the conversion and wait for it; signals to this process are passed on to it, and have their
 * usual effect again behind it.
 * Returns an exit status, 128 + the number of a signal that came; EXIT_FAILED with err filled:
 * there was no process.  `report` gets the conversion's report, owned by the caller; NULL: it has
 * none.
 */
int batch_one_run(const struct batch_run *run, const struct batch_job *job, json_t **report,
		  struct error *err);

#endif
