/* SPDX-License-Identifier: MIT */
/* Text of any bytes as a value of JSON. */
#ifndef SRC_FORMATS_TEXT_JSON_ANY_TEXT_H
#define SRC_FORMATS_TEXT_JSON_ANY_TEXT_H

#include <jansson.h>
#include <stddef.h>

/* Returns a JSON string, owned by the caller: each byte of invalid UTF-8 becomes U+FFFD. */
json_t *json_any_text(const char *text, size_t length);

/* Returns the same of a text that ends with a NUL; JSON's null if there is none. */
json_t *json_text_or_null(const char *text);

#endif
