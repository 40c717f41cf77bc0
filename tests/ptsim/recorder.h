/* SPDX-License-Identifier: MIT */
/*
 * Runs a program on simulated CPUs with Intel PT and records it.
 *
 * Each CPU has a clock; only the CPU with the earliest one runs, so that effects follow their
 * causes in the recording, too.  A thread that sleeps leaves its CPU, and returns after that time
 * of the clocks.  Programs run for real; the clocks are synthetic.
 */
#pragma once

#include <signal.h>

#include "tests/ptsim/side_band.h"

struct recorder_options {
	struct side_band_options side;
	uint64_t seed;
	unsigned quantum; /* instructions of a task while others wait */
	bool single_step; /* step each instruction: slow, without the shortcuts of block.h */
	bool lose_traps;  /* a step over cpuid executes the next instruction, too */
	unsigned interrupt_every; /* instructions, approximately; 0: never */
	bool memory; /* data has a cache, and a page fault at the first access to each page */
	bool faults; /* a page fault at the first instruction in each page */
	unsigned overflow_every;  /* instructions, approximately; 0: never */
	unsigned overflow_length; /* instructions, at most */
	unsigned lose_every;      /* the same for lost data (AUX TRUNCATED) */
	unsigned lose_length;
	uint64_t snapshot_size; /* bytes of each ring; 0: everything is kept */
	uint64_t repeat_bytes; /* repeat the trace up to this size; 0: do not.  Only with per_thread
				*/
	bool repeat_apart;     /* with an overflow after each copy */
	uint64_t instructions; /* stop after this many; 0: run to the end */
	const volatile sig_atomic_t *stop; /* borrowed; stop once it is not 0 */
	const char *output;                /* perf.data */
	bool code;         /* save the code of processes, like `ptrace2ftf record` */
	bool as_is;        /* keep the program's ids, environment and addresses */
	const char *truth; /* folder for the truth, NULL: none */
};

/* Returns 0, or -1 after a message on stderr. */
int recorder_run(const struct recorder_options *options);
