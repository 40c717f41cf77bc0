/* SPDX-License-Identifier: MIT */
/* Whether several inputs are one recording. */
#ifndef SRC_PIPELINE_INPUT_PARTS_H
#define SRC_PIPELINE_INPUT_PARTS_H

#include "src/options/options.h"

/*
 * Returns whether the inputs are proven to be parts of one recording (perf_file.h), by a process
 * in the sandbox that opens them.  Inputs that cannot be opened prove nothing.
 */
bool input_parts_are_one(const struct options *options);

#endif
