/* SPDX-License-Identifier: MIT */
/*
 * Limits the program's rights while it reads someone else's recording, so that a recording that
 * exploits a bug in the program gains little, in all threads until the process ends.
 *
 * With --symfs, Landlock (landlock(7)) allows reading the files named on the command line; without
 * it, any file, because a recording may name any. seccomp (seccomp(2)) allows the system calls of a
 * conversion: no new program or process, nothing made executable, no socket, no signal to another
 * process, no input for a terminal, no new, removed or changed file.  The outputs are descriptors
 * that another process opens (keeper.c).  Refused files fail with EACCES, refused calls with
 * ENOSYS.
 *
 * An output that is a device or a pipe may be opened for writing.  --debuginfod allows the network,
 * and its client's library and cache, too.
 */
#pragma once

#include "src/options/options.h"

/* Active parts of the sandbox. */
struct sandbox {
	bool files;      /* Landlock is active */
	bool calls;      /* seccomp is active */
	const char *why; /* borrowed, constant: why one is inactive; NULL: both are active */
	bool lacking;    /* both are inactive because of the system */
};

enum sandbox_process {
	SANDBOX_CONVERSION,
	/*
	 * Serves a trace (src/serve/): it opens nothing, starts nothing and connects to nothing;
	 * the socket to accept at and the file are open already.
	 */
	SANDBOX_SERVER,
	/* Reads files of a recording: it may read and execute files, and connect to nothing. */
	SANDBOX_TOOL,
};

/*
 * Enter the sandbox of a conversion or a server, as --sandbox requires.  Call it with one thread,
 * before an input is read.  Fills `sandbox`.  Returns 0, for off and auto always; -1 with err
 * filled if on was given and not both halves are active.
 */
int sandbox_enter(struct sandbox *sandbox, enum sandbox_process process,
		  const struct options *options, struct error *err);

/*
 * Enter the sandbox of a tool before starting it, with the halves that the system has. Returns
 * false if --sandbox=on was given and not both halves are active.
 */
bool sandbox_enter_tool(const struct options *options);

/* Print a warning if the system has neither half. */
void sandbox_warn(const struct sandbox *sandbox, FILE *out);

/* Print which halves are active: a line of -v. */
void sandbox_print(const struct sandbox *sandbox, FILE *out);

/* The halves.  Each returns NULL if it is active now; else the reason, a constant. */
const char *sandbox_enter_files(enum sandbox_process process, const struct options *options);
const char *sandbox_enter_calls(enum sandbox_process process, const struct options *options);

/* Returns whether an output is a device or a pipe, which the process opens itself. */
bool sandbox_opens_devices(const struct options *options);

/*
 * A process that creates, moves and removes files on behalf of a sandboxed conversion.
 *
 * The conversion writes to descriptors that the keeper opened, and to nothing else.  The keeper
 * makes only temporary files of the outputs that the options name, and files without a name where
 * temporary files are; it moves each of them to its own output only.  It is started before the
 * recording is read, so that the recording cannot change its permissions.  When the conversion ends
 * in any way, the keeper removes the files that were not renamed, and ends.
 */

/* Start this process's keeper (base/io/file_makers.h), in its only thread.  Returns NULL, or why
 * not. */
const char *keeper_start(const struct options *options);

/* Returns the socket to the keeper, or -1 without a keeper. */
int keeper_socket(void);
