/* SPDX-License-Identifier: MIT */
/*
 * --format=calls: what a call-stack machine gives out, as text, in its own
 * order, in the form of magic-trace's tests:
 *
 *	-> %8s BEGIN name
 *	-> %8s END   name
 *
 * The time is that since the run's first event, in ns, us, ms, s, m, h or d with up
 * to three decimals.  A slice whose start was inferred is "name [inferred start
 * time]"; a whole slice is a BEGIN and an END; an instant is a BEGIN and an END
 * without a time.  Between them stand the lines of the input that caused them.
 * Write errors show in the stream (ferror()), which is the caller's.
 */
#ifndef SRC_FORMATS_FORMAT_CALLS_H
#define SRC_FORMATS_FORMAT_CALLS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "src/callstack/callstack.h"
#include "src/slices/slice_sink.h"

struct format_calls {
	struct slice_sink sink; /* give this to the machine */
	const struct callstack_machine
		*machine; /* borrowed; whose base time is the zero; NULL: 0 ns */
	FILE *out;        /* borrowed */
};

/*
 * Make a printer to `out`.  It borrows itself: it must not move.  `machine` is
 * set by the caller once the machine exists.
 */
void format_calls_init(struct format_calls *calls, FILE *out);

/* Print one line of the input.  `context` is the struct format_calls. */
void format_calls_echo(void *context, const char *line, size_t length);

/*
 * Print the line that ends the input: "END", or in the `newer` form of
 * magic-trace a longer one.  `context` is the struct format_calls.
 */
void format_calls_input_end(void *context, bool newer);

/* Room for any time that format_calls_time() writes, with its NUL. */
#define FORMAT_CALLS_TIME_SIZE 32

/* Write `ns` as "19ns", "1.639us", "2us", "1.5m" into `text`. */
void format_calls_time(char text[FORMAT_CALLS_TIME_SIZE], int64_t ns);

#endif
