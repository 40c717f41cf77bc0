/* SPDX-License-Identifier: MIT */
/*
 * Runs a program on simulated CPUs with Intel PT and records it.
 *
 * Each CPU has a clock; the one that is behind runs next, so that time passes
 * on all of them together.  Programs run for real, the clock is synthetic.
 */
#ifndef TESTS_PTSIM_RECORDER_H
#define TESTS_PTSIM_RECORDER_H

#include <signal.h>

#include "tests/ptsim/side_band.h"

struct recorder_options {
	struct side_band_options side;
	uint64_t seed;
	unsigned quantum;         /* instructions a task runs when others wait */
	bool single_step;         /* step each instruction: slow, nothing is computed (block.h) */
	unsigned interrupt_every; /* instructions, about; 0: never */
	bool faults;              /* a page fault at the first instruction in each page */
	unsigned overflow_every;  /* instructions, about; 0: never */
	unsigned overflow_length; /* instructions, at most */
	unsigned lose_every;      /* the same for data that is lost (AUX TRUNCATED) */
	unsigned lose_length;
	uint64_t snapshot_size; /* bytes of each ring; 0: everything is kept */
	uint64_t repeat_bytes;  /* repeat the trace to this size; 0: as it is.  per_thread only */
	bool repeat_apart;      /* with an overflow behind each copy */
	uint64_t instructions;  /* stop after so many; 0: run to the end */
	const volatile sig_atomic_t *stop; /* borrowed; stop once it is not 0 */
	const char *output;                /* perf.data */
	bool code;         /* save the code that processes make, as `ptrace2ftf record` does */
	bool as_is;        /* ids, environment and addresses are the program's own */
	const char *truth; /* folder for the truth, NULL: none */
};

/* Returns 0, or -1 after a message on stderr. */
int recorder_run(const struct recorder_options *options);

#endif
