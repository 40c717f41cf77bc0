/* SPDX-License-Identifier: MIT */
/* The `perf record` command of `ptrace2ftf record`. */
#ifndef SRC_RECORD_PERF_COMMAND_H
#define SRC_RECORD_PERF_COMMAND_H

#include "src/options/options.h"

/* Capabilities of the processor's PT: files in intel_pt/caps. */
struct pt_caps {
	bool cycles;          /* psb_cyc: CYC packets */
	bool address_filters; /* ip_filtering */
};

/* Store the path of the file with the functions of --start-at and --snapshot-at. */
void perf_command_file(const struct options *options, char file[PATH_MAX]);

/*
 * Returns the arguments of the command, ending with NULL; the caller frees the strings and the
 * array. `buffer`: bytes of AUX data per buffer, for perf's -m; 0: perf's default.
 */
char **perf_command_make(const struct options *options, const struct pt_caps *caps,
			 uint64_t buffer);

/* Print the arguments in shell syntax, and a newline. */
void perf_command_print(char *const *words, FILE *out);

void perf_command_free(char **words);

#endif
