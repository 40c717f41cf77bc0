/* SPDX-License-Identifier: MIT */
/*
 * Makes text from files safe for a terminal: names in a recording may hold any bytes, and a
 * terminal obeys some of them (ECMA-48: C0, DEL, C1, and sequences after ESC or CSI), or shows
 * other characters in their order.  The controls are those of utf8_control().
 */
#pragma once

#include "base/common.h"

/* Zeroed memory is the start of a text. */
struct printable {
	uint8_t held[4]; /* bytes of a character that is not yet whole */
	unsigned count;
};

/*
 * Copy the next bytes of a text: characters of UTF-8, blanks, newlines and tabs unchanged; each
 * control and each byte that is not part of UTF-8 as '?'.  `out` has room for `size` + 4 bytes.
 * Returns the number of bytes written to it.
 */
size_t printable_pass(struct printable *state, const char *bytes, size_t size, char *out);

/* Prints a text of `length` bytes. */
typedef void text_print_fn(const char *text, size_t length, FILE *out);

/* Print a text with the bytes of controls and backslashes as \xNN, so that it cannot end a line. */
text_print_fn escaped_text_print;

/* Print one line's text, newlines and tabs as '?', too. */
text_print_fn printable_print;

/* Print a number with the digits that reading the same value back requires. */
void real_print(double value, FILE *out);

/*
 * printf() of integers, doubles, and texts, which `print` prints.  NULL is "".  The precision of a
 * text is its maximum length in bytes; ".." ends a longer one.
 */
void text_printf(FILE *out, text_print_fn *print, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

#define printable_printf(out, ...) text_printf(out, printable_print, __VA_ARGS__)
#define escaped_printf(out, ...)   text_printf(out, escaped_text_print, __VA_ARGS__)
