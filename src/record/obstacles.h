/* SPDX-License-Identifier: MIT */
/* Obstacles to a recording of Intel PT on this machine. */
#ifndef SRC_RECORD_OBSTACLES_H
#define SRC_RECORD_OBSTACLES_H

#include "src/options/options.h"
#include "src/record/perf_command.h"

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
