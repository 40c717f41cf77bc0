/* SPDX-License-Identifier: MIT */
/*
 * Interrupt another process at calls of a function of a running program, with hardware breakpoints
 * (perf_event_open(2), PERF_TYPE_BREAKPOINT). They need the rights of ptrace(2) only, and do not
 * slow the program down.
 */
#ifndef SRC_RECORD_CALL_WATCH_H
#define SRC_RECORD_CALL_WATCH_H

#include <sys/types.h>

#include "base/common.h"

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

#endif
