/* SPDX-License-Identifier: MIT */
/* JSON strings of names that a recording has. */
#include "src/formats/text/json_any_text.h"

#include <stdlib.h>
#include <string.h>

#include "src/formats/text/valid_text.h"

json_t *json_any_text(const char *text, size_t length)
{
	json_t *value = json_stringn(text, length);
	char *valid;

	if (value)
		return value;
	valid = valid_text(text, length);
	value = json_string(valid);
	free(valid);
	return value;
}

json_t *json_text_or_null(const char *text)
{
	return text ? json_any_text(text, strlen(text)) : json_null();
}
