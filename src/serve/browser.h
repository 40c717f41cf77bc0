/* SPDX-License-Identifier: MIT */
/* The user's browser: which one it is, and its start. */
#ifndef SRC_SERVE_BROWSER_H
#define SRC_SERVE_BROWSER_H

#include "base/common.h"

/* The variables of the environment that decide; NULL: not set. */
struct browser_environment {
	const char *browser;           /* BROWSER */
	const char *display, *wayland; /* DISPLAY, WAYLAND_DISPLAY */
	const char *ssh;               /* SSH_CONNECTION */
};

/* Returns the process's own. */
struct browser_environment browser_environment(void);

/*
 * Returns the commands that open an address, with ":" between them as in BROWSER, borrowed:
 * BROWSER's if it is set; else xdg-open(1), but only on a display of this host, as it would
 * start a text browser on the terminal.  NULL if there is no browser.
 */
const char *browser_commands(const struct browser_environment *environment);

/* Returns whether the user's browser is on another host. */
bool browser_is_remote(const struct browser_environment *environment);

/*
 * Returns the words of a command of `length` bytes, NULL after the last: with `address` for
 * "%s", or as another word.  The array and its texts are one allocation, owned by the caller.
 */
char **browser_words(const char *command, size_t length, const char *address);

/*
 * Start the first of the commands that succeeds with `address`, without waiting, in a session of
 * its own, so that Ctrl-C does not end it.  If all fail, a message is printed unless `quiet`.
 * Returns false if no process can be started.
 */
bool browser_start(const char *commands, const char *address, bool quiet);

#endif
