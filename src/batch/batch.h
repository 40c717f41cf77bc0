/* SPDX-License-Identifier: MIT */
/*
 * Many conversions in one run, each in a process of its own: what crashes, or
 * runs out of memory, takes no other with it.
 *
 * What a process prints is kept until it ends and then printed in one piece,
 * each message with its input in front, so that messages of files that are
 * converted side by side do not mix.  SIGINT, SIGTERM and SIGHUP end the
 * processes that run, and no other is started.
 */
#ifndef SRC_BATCH_BATCH_H
#define SRC_BATCH_BATCH_H

#include <jansson.h>

#include "src/options/options.h"

/*
 * Converts as the options say, and prints messages to standard error.
 * `told` takes what --json-lines is to say of it: "branches", "slices", "error".
 * Returns the grade.
 */
typedef enum exit_status batch_convert_fn(const struct options *options, json_t *told);

/* Returns whether the options ask for what batch_run() does. */
bool batch_wanted(const struct options *options);

/*
 * Convert all inputs.
 * Returns the worst grade: EXIT_FAILED, then EXIT_WITH_GAPS, then EXIT_WHOLE;
 * EXIT_USAGE if outputs cannot be named; 128 + N if signal N ended it.
 */
int batch_run(const struct options *options, batch_convert_fn *convert);

#endif
