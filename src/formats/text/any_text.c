/* SPDX-License-Identifier: MIT */
/* Replace or escape bytes that are not UTF-8. */
#include "src/formats/text/any_text.h"

#include "base/utf8.h"

void json_text_print(const char *text, size_t length, FILE *out)
{
	json_t *value = json_any_text(text, length);

	json_dumpf(value, out, JSON_ENCODE_ANY | JSON_ENSURE_ASCII);
	json_decref(value);
}

char *valid_text(const char *text, size_t length, bool shown)
{
	static const char replacement[] = "\xef\xbf\xbd";
	char *valid = alloc_zeroed(length + 1, sizeof(replacement)), *end = valid;

	for (size_t i = 0, size, lost; i < length; i += size ? size : 1) {
		size = text[i] ? utf8_character(text + i, length - i) : 0;
		lost = !size || (shown && text[i] != '\n' && text[i] != '\t' &&
				 utf8_control(text + i, size));
		end = lost ? stpcpy(end, replacement) : mempcpy(end, text + i, size);
	}
	*end = 0;
	return valid;
}

json_t *json_any_text(const char *text, size_t length)
{
	json_t *value = json_stringn(text, length);
	char *valid;

	if (value)
		return value;
	valid = valid_text(text, length, false);
	value = json_string(valid);
	free(valid);
	return value;
}

json_t *json_text_or_null(const char *text)
{
	return text ? json_any_text(text, strlen(text)) : json_null();
}
