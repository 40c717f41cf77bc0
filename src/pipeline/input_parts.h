/* SPDX-License-Identifier: MIT */
#ifndef SRC_PIPELINE_INPUT_PARTS_H
#define SRC_PIPELINE_INPUT_PARTS_H

#include "src/options/options.h"

/*
 * Returns whether the inputs are provably parts of one recording (perf_file.h). A process in the
 * sandbox opens them. Returns false if it cannot.
 */
bool input_parts_are_one(const struct options *options);

#endif
