/* SPDX-License-Identifier: MIT */
/* Refuses an output that would overwrite an input. */
#ifndef SRC_OPTIONS_OUTPUT_CHECK_H
#define SRC_OPTIONS_OUTPUT_CHECK_H

#include "base/error.h"
#include "src/options/options.h"

/*
 * For formats that write an output.
 * Returns 0; -1 with err filled if the output, under whatever name, is one of
 * the files that the options name.
 */
int output_check(const struct options *options, struct error *err);

#endif
