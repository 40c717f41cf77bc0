/* SPDX-License-Identifier: MIT */
/* The `perf record` command of `ptrace2ftf record`. */
#ifndef SRC_RECORD_PERF_COMMAND_H
#define SRC_RECORD_PERF_COMMAND_H

#include "src/options/options.h"

/* What the processor's PT can do: files below intel_pt/caps. */
struct pt_caps {
	bool cycles;          /* psb_cyc: CYC packets */
	bool address_filters; /* ip_filtering */
};

/*
 * Returns the words of the command, which end with NULL; the caller frees them and the array.
 * `buffer` is a size for perf's -m (",64M"); NULL: perf's default.
 */
char **perf_command_make(const struct options *options, const struct pt_caps *caps,
			 const char *buffer);

/* Print the words as a shell takes them, and a newline. */
void perf_command_print(char *const *words, FILE *out);

void perf_command_free(char **words);

#endif
