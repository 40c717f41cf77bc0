/* SPDX-License-Identifier: MIT */
/* What prevents a recording of Intel PT on this machine. */
#ifndef SRC_RECORD_OBSTACLES_H
#define SRC_RECORD_OBSTACLES_H

#include "src/options/options.h"
#include "src/record/perf_command.h"

/* The machine, as far as recording depends on it. */
struct recorder {
	bool has_perf;                     /* perf is in PATH */
	bool has_pt;                       /* the kernel knows intel_pt */
	bool in_virtual_machine, is_intel; /* by /proc/cpuinfo */
	struct pt_caps caps;
	int paranoid;      /* kernel.perf_event_paranoid; 2 if it cannot be read */
	bool privileged;   /* root, or CAP_PERFMON or CAP_SYS_ADMIN */
	uint64_t lockable; /* bytes of buffers that perf may have */
};

void recorder_look(struct recorder *recorder);

/*
 * Print a line for each obstacle, with the way around it, and hints of what makes a recording
 * worse.  Returns whether nothing prevents it.
 */
bool recorder_check(const struct recorder *recorder, const struct options *options, FILE *out);

/* Returns the bytes of AUX data that a buffer should hold; 0: perf's default. */
uint64_t recorder_buffer(const struct recorder *recorder, const struct options *options);

#endif
