/* SPDX-License-Identifier: MIT */
/* Text for JSON that is written as a stream, without a tree in memory. */
#ifndef SRC_FORMATS_TEXT_JSON_TEXT_H
#define SRC_FORMATS_TEXT_JSON_TEXT_H

#include <stddef.h>
#include <stdio.h>

/*
 * Print a JSON string (RFC 8259) with its quotes.  The text may hold any bytes:
 * each byte that is not part of UTF-8 (RFC 3629) becomes U+FFFD.
 */
void json_text_print(const char *text, size_t length, FILE *out);

#endif
