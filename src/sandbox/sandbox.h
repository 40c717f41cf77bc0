/* SPDX-License-Identifier: MIT */
/*
 * What the program may still do once it reads what someone else recorded: a
 * fault in it that a recording makes use of shall reach nothing.
 *
 * Landlock (landlock(7)) leaves of the file system what a conversion reads:
 * with --symfs what is named on the command line, else any file, as a recording
 * names any; and as places to write the outputs' directories and the one of
 * temporary files.  seccomp (seccomp(2)) leaves the system calls
 * of a conversion: no program and no process is started, nothing is made
 * executable, no socket, no signal to another process, no input put into a
 * terminal.  What is not left fails: files with EACCES, calls with ENOSYS.
 *
 * With --debuginfod the network, the client's library and its cache are left, too.
 *
 * It holds for the process until it ends, and for the threads that it starts.
 */
#ifndef SRC_SANDBOX_SANDBOX_H
#define SRC_SANDBOX_SANDBOX_H

#include <stdbool.h>
#include <stdio.h>

#include "base/error.h"
#include "src/options/options.h"

struct sandbox {
	bool files;      /* Landlock holds */
	bool calls;      /* seccomp holds */
	const char *why; /* borrowed, constant: why not both; NULL: both */
};

/*
 * Enter it, as the options ask.  Called with one thread, and before anything of
 * an input is read.  `sandbox` gets what holds then.
 * Returns 0, also if it was not asked for, or only where available (--sandbox=auto)
 * and is not; -1 with err filled if it was (--sandbox=on) and cannot hold whole.
 */
int sandbox_enter(struct sandbox *sandbox, const struct options *options, struct error *err);

/* Print a line of what holds: of -v. */
void sandbox_print(const struct sandbox *sandbox, FILE *out);

/*
 * The halves, for sandbox_enter().  Each returns NULL if it holds now; else why
 * it cannot, a constant.
 */
const char *sandbox_enter_files(const struct options *options);
const char *sandbox_enter_calls(bool network);

#endif
