/* SPDX-License-Identifier: MIT */
/* JSON strings of names that a recording has. */
#include "src/formats/text/json_any_text.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"

json_t *json_any_text(const char *text, size_t length)
{
	static const char replacement[] = "\xef\xbf\xbd";
	json_t *value = json_stringn(text, length);
	char *valid, *end;

	if (value)
		return value;
	valid = end = alloc_zeroed(length, sizeof(replacement));
	for (size_t i = 0; i < length; i++) {
		if ((unsigned char)text[i] < 0x80)
			*end++ = text[i];
		else
			end = stpcpy(end, replacement);
	}
	value = json_stringn(valid, (size_t)(end - valid));
	free(valid);
	return value;
}
