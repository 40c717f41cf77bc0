/* SPDX-License-Identifier: MIT */
/* The format that the name of the output asks for. */
#ifndef SRC_CLI_OUTPUT_SUFFIX_H
#define SRC_CLI_OUTPUT_SUFFIX_H

#include "src/options/options.h"

/*
 * Choose options->format, if it is NULL, by the suffix of --output or --output-pattern, before
 * .gz or .zst: out.html is a page.  Other names are free: the first of output_formats.  Prints an
 * error and exits with EXIT_USAGE if the suffix is that of another format than --format's, or of
 * one that is not written (.xz, .perfetto-trace).
 */
void output_suffix_choose(struct options *options);

#endif
