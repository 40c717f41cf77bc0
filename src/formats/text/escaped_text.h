/* SPDX-License-Identifier: MIT */
/* Names in lines of text: no name may end a line, or move a terminal's cursor. */
#ifndef SRC_FORMATS_TEXT_ESCAPED_TEXT_H
#define SRC_FORMATS_TEXT_ESCAPED_TEXT_H

#include <stddef.h>
#include <stdio.h>

/* Print a name, control characters and backslashes as \xNN. */
void escaped_text_print(const char *text, size_t length, FILE *out);

#endif
