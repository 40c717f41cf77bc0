/* SPDX-License-Identifier: MIT */
/* Text of any bytes for formats that take UTF-8 only. */
#ifndef SRC_FORMATS_TEXT_VALID_TEXT_H
#define SRC_FORMATS_TEXT_VALID_TEXT_H

#include <stddef.h>

/*
 * Returns a copy of a text, owned by the caller and ended by a NUL, in which each byte that is not
 * part of UTF-8 is U+FFFD.
 */
char *valid_text(const char *text, size_t length);

#endif
