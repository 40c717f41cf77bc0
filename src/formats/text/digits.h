/* SPDX-License-Identifier: MIT */
/*
 * Numbers and columns of lines that are printed by the million: printf() takes several hundred
 * instructions for each.  Each function writes at `at`, without a NUL, and returns the end.
 */
#ifndef SRC_FORMATS_TEXT_DIGITS_H
#define SRC_FORMATS_TEXT_DIGITS_H

#include "base/common.h"

/* Room for a number of any function but digits_fixed(). */
#define DIGITS_MOST 20

/* Write "%" PRIu64. */
char *digits_decimal(char *at, uint64_t number);

/* Write "%d". */
char *digits_signed(char *at, int number);

/* Write "%" PRIx64. */
char *digits_hex(char *at, uint64_t number);

/* Write the last `width` decimal digits of a number, with leading zeros: a fraction. */
char *digits_fixed(char *at, uint64_t number, int width);

/* Move the text from `at` to `end` to the right of a column, as "%5d". */
char *digits_right(char *at, char *end, ptrdiff_t width);

/* Fill a column from `end` with spaces, as "%-5d". */
char *digits_left(char *at, char *end, ptrdiff_t width);

/* ---- Times as magic-trace prints them (OCaml's Time_ns.Span) ------------------ */

/* Room for any time, with its NUL. */
#define SHORT_TIME_SIZE 32

/* Write `ns` as "19ns", "1.639us", "2us", "1.5m" into `text`.  Returns it. */
const char *short_time(char text[SHORT_TIME_SIZE], int64_t ns);

#endif
