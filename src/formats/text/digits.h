/* SPDX-License-Identifier: MIT */
/*
 * Text of millions of lines; printf() takes several hundred instructions for each field. All
 * functions write at `at`, and return the end of what they wrote.
 */
#pragma once

#include "base/tables/name.h"

/* Room for a number of any function except digits_fixed(); bytes after the end may change. */
#define DIGITS_MOST 20

/* Write "%" PRIu64. */
char *digits_decimal(char *at, uint64_t number);

/* Write "%d". */
char *digits_signed(char *at, int number);

/* Write "%" PRIx64. */
char *digits_hex(char *at, uint64_t number);

/* Write "%16" PRIx64. */
char *digits_hex_right(char *at, uint64_t number);

/* Write the last `width` decimal digits of a number, with leading zeros: a fraction. */
char *digits_fixed(char *at, uint64_t number, int width);

/* Right-align the text from `at` to `end` in a column, as "%5d". */
char *digits_right(char *at, char *end, ptrdiff_t width);

/* Fill a column from `end` with spaces, as "%-5d". */
char *digits_left(char *at, char *end, ptrdiff_t width);

/* Format and arguments for printf() of a time in seconds, as --time reads it. */
#define SECONDS_FORMAT "%" PRIu64 ".%09" PRIu64
#define SECONDS_OF(ns) (ns) / 1000000000, (ns) % 1000000000

/* ---- Times as magic-trace prints them (OCaml's Time_ns.Span) ------------------ */

/* Room for any time, with its NUL. */
#define SHORT_TIME_SIZE 32

/* Write `ns` as "19ns", "1.639us", "2us", "1.5m", and a NUL.  Returns the end. */
char *digits_time(char *at, int64_t ns);

/* From now on, times are printed as numbers of this unit (--clock). NULL, the default: as ns. */
void digits_count_work(const char *unit);

/* Returns the unit. */
const char *digits_work_unit(void);

/* An argument of printf(): short_time(ns).text. */
struct short_text {
	char text[SHORT_TIME_SIZE];
};

/* Returns the same; numbers above INT64_MAX are negative. */
struct short_text short_time(uint64_t ns);

/* Returns a position on the time axis: in seconds with nine decimals, or as such a number. */
struct short_text moment_text(uint64_t time);

/* ---- Lines ---------------------------------------------------------------- */

#define LINE_ROOM   4096
#define LINE_FIELDS 2048

/*
 * A line, or a part of a long one, on its way to a stream. Up to LINE_FIELDS bytes of other fields
 * may precede, follow and separate names, without a look at the room.
 */
struct line {
	FILE *out; /* borrowed */
	char text[LINE_ROOM + LINE_FIELDS];
};

/* Pass the text up to `at` to the stream, which keeps errors.  Returns `text`. */
char *line_end(struct line *line, const char *at);

/* Write a name as escaped_text_print() does. */
char *line_name(struct line *line, char *at, const struct name *name);

/* Write a name as json_text_print() does, with quotes. */
char *line_json_name(struct line *line, char *at, const struct name *name);
