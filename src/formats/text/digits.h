/* SPDX-License-Identifier: MIT */
/*
 * Numbers and columns for millions of lines; printf() takes several hundred instructions for each.
 * All functions write at `at`, without a NUL, and return the end.
 */
#pragma once

#include "base/common.h"

/* Room for a number of any function except digits_fixed(). */
#define DIGITS_MOST 20

/* Write "%" PRIu64. */
char *digits_decimal(char *at, uint64_t number);

/* Write "%d". */
char *digits_signed(char *at, int number);

/* Write "%" PRIx64. */
char *digits_hex(char *at, uint64_t number);

/* Write the last `width` decimal digits of a number, with leading zeros: a fraction. */
char *digits_fixed(char *at, uint64_t number, int width);

/* Right-align the text from `at` to `end` in a column, as "%5d". */
char *digits_right(char *at, char *end, ptrdiff_t width);

/* Fill a column from `end` with spaces, as "%-5d". */
char *digits_left(char *at, char *end, ptrdiff_t width);

/* ---- Times as magic-trace prints them (OCaml's Time_ns.Span) ------------------ */

/* Room for any time, with its NUL. */
#define SHORT_TIME_SIZE 32

/* Write `ns` as "19ns", "1.639us", "2us", "1.5m" into `text`.  Returns it. */
const char *short_time(char text[SHORT_TIME_SIZE], int64_t ns);
