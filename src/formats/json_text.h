/* SPDX-License-Identifier: MIT */
/* Text for JSON that is written as a stream, without a tree in memory. */
#ifndef SRC_FORMATS_JSON_TEXT_H
#define SRC_FORMATS_JSON_TEXT_H

#include <stddef.h>
#include <stdio.h>

/*
 * Print a JSON string (RFC 8259) with its quotes.  The text may hold any bytes:
 * what is no UTF-8 (RFC 3629) becomes U+FFFD, byte by byte.
 */
void json_text_print(const char *text, size_t length, FILE *out);

/*
 * Returns how many bytes the UTF-8 character has that text (not empty) begins
 * with; 0: it is none.
 */
size_t json_text_character(const char *text, size_t left);

#endif
