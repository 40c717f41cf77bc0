/* SPDX-License-Identifier: MIT */
/* Refuses outputs that cannot be written, or would overwrite an input. */
#ifndef SRC_OPTIONS_OUTPUT_CHECK_H
#define SRC_OPTIONS_OUTPUT_CHECK_H

#include "base/error.h"
#include "src/options/options.h"

/*
 * Check the path of an output before the recording is read; NULL and "": none.
 * Returns 0; -1 with err filled if it cannot be created, or is, under whatever name, one
 * of the files to be read.
 */
int output_check(const struct options *options, const char *output, struct error *err);

#endif
