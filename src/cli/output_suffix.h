/* SPDX-License-Identifier: MIT */
#ifndef SRC_CLI_OUTPUT_SUFFIX_H
#define SRC_CLI_OUTPUT_SUFFIX_H

#include "src/options/options.h"

/*
 * If options->format is NULL, choose it by the suffix of --output or --output-pattern, before .gz
 * or .zst: out.html is a page. The default is the first of output_formats. Prints an error and
 * exits with EXIT_USAGE if the suffix belongs to another format than --format's, or to a format
 * that is not written (.xz, .perfetto-trace).
 */
void output_suffix_choose(struct options *options);

#endif
