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

/* Search PATH for a program. Returns false if it is not found; otherwise `file` is its path. */
bool path_search(const char *name, char file[PATH_MAX]);

/* ---- Obstacles to a recording of Intel PT on this machine ------------------ */

/* Properties of the machine that recording depends on. */
struct recorder {
	bool has_perf;                     /* perf is in PATH */
	bool has_pt;                       /* the kernel has the PMU intel_pt */
	bool in_virtual_machine, is_intel; /* by /proc/cpuinfo */
	struct pt_caps caps;
	int paranoid;      /* kernel.perf_event_paranoid; 2 if it cannot be read */
	bool privileged;   /* root, or CAP_PERFMON or CAP_SYS_ADMIN */
	uint64_t lockable; /* bytes of buffers that perf may lock */
};

void recorder_look(struct recorder *recorder);

/*
 * Print each obstacle with its remedy, and warn of what makes a recording worse. Returns whether
 * recording is possible.
 */
bool recorder_check(const struct recorder *recorder, const struct options *options, FILE *out);

/* Returns the bytes of AUX data for each buffer; 0: perf's default. */
uint64_t recorder_buffer(const struct recorder *recorder, const struct options *options);

#endif
