/* SPDX-License-Identifier: MIT */
/* Replace or escape bytes that are not UTF-8. */
#include "src/formats/text/any_text.h"

#include "base/utf8.h"
#include "symbols/names/demangle.h"

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

/* ---- Short names --------------------------------------------------------- */

struct short_name short_name(const char *name)
{
	struct short_name shortened;
	size_t length = strlen(name), head, tail;
	char *text = alloc_bytes(length + 1);

	memcpy(text, name, length + 1);
	if (length > SHORT_NAME_MOST)
		demangle_shorten(text);
	length = strlen(text);
	if (length > SHORT_NAME_MOST) {
		head = utf8_cut(text, length, SHORT_NAME_MOST / 2);
		tail = length - (SHORT_NAME_MOST - head - 2);
		while (tail < length && ((uint8_t)text[tail] & 0xc0) == 0x80)
			tail++;
		memcpy(text + head, "..", 2);
		memmove(text + head + 2, text + tail, length - tail + 1);
	}
	memcpy(shortened.text, text, strlen(text) + 1);
	free(text);
	return shortened;
}
