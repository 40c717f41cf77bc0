/* SPDX-License-Identifier: MIT */
/*
 * The rights that the program keeps while it reads a recording of someone else,
 * so that a recording that exploits a fault in the program gains little.
 *
 * Landlock (landlock(7)) allows to read the files named on the command line with
 * --symfs, and else any file, as a recording may name any; and to write in the
 * outputs' directories and the one of temporary files.  seccomp (seccomp(2))
 * allows the system calls of a conversion: no new program or process, nothing
 * made executable, no socket, no signal to another process, no input for a
 * terminal.  Refused files fail with EACCES, refused calls with ENOSYS.
 *
 * --debuginfod allows the network, and its client's library and cache, too.
 *
 * The sandbox lasts until the process ends, and includes its threads.
 */
#ifndef SRC_SANDBOX_SANDBOX_H
#define SRC_SANDBOX_SANDBOX_H

#include <stdbool.h>
#include <stdio.h>

#include "base/error.h"
#include "src/options/options.h"

struct sandbox {
	bool files;      /* Landlock is active */
	bool calls;      /* seccomp is active */
	const char *why; /* borrowed, constant: why one is not active; NULL: both are */
};

/*
 * Enter the sandbox, as --sandbox says.  Called with one thread, before an input
 * is read.  Fills `sandbox`.
 * Returns 0, for off and auto always; -1 with err filled if on was given and not
 * both halves are active.
 */
int sandbox_enter(struct sandbox *sandbox, const struct options *options, struct error *err);

/* Print which halves are active: a line of -v. */
void sandbox_print(const struct sandbox *sandbox, FILE *out);

/*
 * The halves, for sandbox_enter().  Each returns NULL if it is active now; else
 * the reason, a constant.
 */
const char *sandbox_enter_files(const struct options *options);
const char *sandbox_enter_calls(bool network);

#endif
