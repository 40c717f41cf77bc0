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

/* Print a text with the bytes of controls and backslashes as \xNN, so that it cannot end a line. */
void escaped_text_print(const char *text, size_t length, FILE *out);

/* Print one line's text, newlines and tabs as '?', too. */
void printable_print(const char *text, FILE *out);
