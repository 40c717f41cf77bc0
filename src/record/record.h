/* SPDX-License-Identifier: MIT */
/* `ptrace2ftf record`: run perf record and watch it. */
#pragma once

#include "src/options/options.h"

/*
 * Check the machine, print the command, and run it until perf ends. Meanwhile SIGINT is ignored
 * here and ends perf. Sets `status` to the exit status of this program: perf's, which is the
 * recorded program's; EXIT_FAILED with messages if perf did not run. Returns whether options->input
 * is a recording to convert.
 */
bool record_run(const struct options *options, int *status);

/* ---- The command --------------------------------------------------------- */

/* Store the path of the file with the functions of --start-at and --snapshot-at. */
void perf_command_file(const struct options *options, char file[PATH_MAX]);

/* Returns the arguments of the command, ending with NULL, for perf_command_free(). */
char **perf_command_make(const struct options *options);

/* Print the arguments in shell syntax, and a newline. */
void perf_command_print(char *const *words, FILE *out);

void perf_command_free(char **words);

/* Search PATH for a program. Returns false if it is not found; otherwise `file` is its path. */
bool path_search(const char *name, char file[PATH_MAX]);

/* ---- Obstacles to a recording of Intel PT on this machine ---------------- */

/* Returns whether this processor's PT has a capability: a file in intel_pt/caps. */
bool recorder_can(const char *capability);

/*
 * Print each obstacle with its remedy, and warn of conditions that make a recording worse. Returns
 * whether recording is possible.
 */
bool recorder_check(const struct options *options);

/* Returns the bytes of AUX data for each buffer; 0: perf's default. */
uint64_t recorder_buffer(const struct options *options);

/* ---- Calls of a function -------------------------------------------------- */

/*
 * Interrupt another process at calls of a function of a running program, with hardware breakpoints
 * (perf_event_open(2), PERF_TYPE_BREAKPOINT). They need the rights of ptrace(2) only, and do not
 * slow the program down.
 */
struct call_watch {
	int64_t from_entry; /* bytes from the program's entry (ELF's e_entry) to the function */
	int *threads;       /* owned: one breakpoint per thread, inherited by children */
	size_t count, room;
};

/*
 * Look up a function of a 64-bit ELF file by its symbol-table name or its demangled name. Returns
 * 0, or -1 with err filled, also if several functions have the name.
 */
int call_watch_find(struct call_watch *watch, const char *file, const char *function,
		    struct error *err);

/*
 * Set the breakpoint, disabled, in each thread of a process that runs the file. Stop the process
 * before: a thread that starts meanwhile gets no breakpoint. Returns 0, or -1 with err filled.
 */
int call_watch_open(struct call_watch *watch, pid_t pid, struct error *err);

/* Enable the breakpoint: each call sends SIGINT to `receiver`. */
void call_watch_start(const struct call_watch *watch, pid_t receiver);

/* Remove the breakpoints. Returns the number of calls since call_watch_start(). */
uint64_t call_watch_end(struct call_watch *watch);
