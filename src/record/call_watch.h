/* SPDX-License-Identifier: MIT */
/*
 * Interrupt another process when a function of a running program is called: by breakpoints of
 * the processor (perf_event_open(2), PERF_TYPE_BREAKPOINT), which need no rights beyond those of
 * ptrace(2), and cost the program nothing.
 */
#ifndef SRC_RECORD_CALL_WATCH_H
#define SRC_RECORD_CALL_WATCH_H

#include <sys/types.h>

#include "base/common.h"

struct call_watch {
	int64_t from_entry; /* bytes from the program's entry (ELF's e_entry) to the function */
	int *threads;       /* owned: a breakpoint's descriptor for each; children inherit it */
	size_t count, room;
};

/*
 * Look up a function of an ELF file of 64 bits, by its name in the symbol table or its demangled
 * one.  Returns 0, or -1 also if several functions have the name.
 */
int call_watch_find(struct call_watch *watch, const char *file, const char *function,
		    struct error *err);

/*
 * Set the breakpoint in each thread of a process that runs the file, disabled.  The process is
 * stopped, or may start threads meanwhile, of which it then has none.  Returns 0, or -1.
 */
int call_watch_open(struct call_watch *watch, pid_t pid, struct error *err);

/* Enable it: each call sends SIGINT to `receiver`. */
void call_watch_start(const struct call_watch *watch, pid_t receiver);

/* Remove the breakpoints.  Returns how many calls there were since their start. */
uint64_t call_watch_end(struct call_watch *watch);

#endif
