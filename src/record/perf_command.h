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

/* Print the path of the file whose functions --start-at and --snapshot-at name. */
void perf_command_file(const struct options *options, char file[PATH_MAX]);

/*
 * Returns the words of the command, which end with NULL; the caller frees them and the array.
 * `buffer`: bytes of AUX data that a buffer holds, for perf's -m; 0: perf's default.
 */
char **perf_command_make(const struct options *options, const struct pt_caps *caps,
			 uint64_t buffer);

/* Print the words as a shell takes them, and a newline. */
void perf_command_print(char *const *words, FILE *out);

void perf_command_free(char **words);

#endif
