/* SPDX-License-Identifier: MIT */
/*
 * Errors and warnings for people, usually on stderr: "ptrace2ftf: TEXT" and "ptrace2ftf: warning:
 * TEXT".  On a terminal, their first words are coloured.
 */
#pragma once

#include "base/printable.h"

/*
 * AUTO: if the stream is a terminal, unless TERM is "dumb" or NO_COLOR is set and not empty
 * (no-color.org).
 */
enum message_color { MESSAGE_COLOR_AUTO = 0, MESSAGE_COLOR_ALWAYS, MESSAGE_COLOR_NEVER };

/* Choose for all later messages.  Before any threads run. */
void message_color(enum message_color when);

/* Print "ptrace2ftf: ", which the rest of an error's line follows. */
void message_begin_error(FILE *out);

/* Print "ptrace2ftf: warning: ", which the rest of a warning's line follows. */
void message_begin_warning(FILE *out);

/* Print the line of an error or a warning on stderr, by printable_printf(). */
#define message_print_error(...)                                                                   \
	(message_begin_error(stderr), printable_printf(stderr, __VA_ARGS__))
#define message_print_warning(...)                                                                 \
	(message_begin_warning(stderr), printable_printf(stderr, __VA_ARGS__))

/* Print an error, if there is one, as a line on stderr.  Bytes that a terminal may not get become
 * '?'. */
void message_error(const struct error *err);
