/* SPDX-License-Identifier: MIT */
/* Replaces or escapes the bytes that are no UTF-8. */
#include "src/formats/text/any_text.h"

#include "base/utf8.h"

static bool is_plain(unsigned char c)
{
	return c >= 0x20 && c != 0x7f && c != '\\';
}

void escaped_text_print(const char *text, size_t length, FILE *out)
{
	const char *end = text + length;

	while (text < end) {
		const char *piece = text;

		while (text < end && is_plain((unsigned char)*text))
			text++;
		fwrite(piece, 1, (size_t)(text - piece), out);
		if (text < end)
			fprintf(out, "\\x%02x", (unsigned char)*text++);
	}
}

void json_text_print(const char *text, size_t length, FILE *out)
{
	const char *at = text, *end = text + length;

	putc('"', out);
	while (at < end) {
		size_t size = utf8_character(at, (size_t)(end - at));
		unsigned char c = (unsigned char)*at;

		if (!size)
			fputs("\\ufffd", out);
		else if (c < 0x20 || c == 0x7f)
			fprintf(out, "\\u%04x", c);
		else if (c == '"' || c == '\\')
			fprintf(out, "\\%c", c);
		else
			fwrite(at, 1, size, out);
		at += size ? size : 1;
	}
	putc('"', out);
}

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
