/* SPDX-License-Identifier: MIT */
/* Copies a text by its characters. */
#include "src/formats/text/valid_text.h"

#include <string.h>

#include "base/alloc.h"
#include "base/utf8.h"

char *valid_text(const char *text, size_t length)
{
	static const char replacement[] = "\xef\xbf\xbd";
	char *valid = alloc_zeroed(length + 1, sizeof(replacement)), *end = valid;

	for (size_t i = 0, size; i < length; i += size ? size : 1) {
		size = utf8_character(text + i, length - i);
		end = size ? mempcpy(end, text + i, size) : stpcpy(end, replacement);
	}
	*end = 0;
	return valid;
}
