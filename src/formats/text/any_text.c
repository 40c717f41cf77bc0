/* SPDX-License-Identifier: MIT */
/* Replace or escape bytes that are not UTF-8. */
#include "src/formats/text/any_text.h"

#include "base/utf8.h"

static bool is_control(unsigned char c)
{
	return c < 0x20 || c == 0x7f;
}

void escaped_text_print(const char *text, size_t length, FILE *out)
{
	for (const char *end = text + length; text < end; text++) {
		if (is_control((unsigned char)*text) || *text == '\\')
			fprintf(out, "\\x%02x", (unsigned char)*text);
		else
			putc_unlocked(*text, out);
	}
}

void json_text_print(const char *text, size_t length, FILE *out)
{
	const char *end = text + length;

	putc_unlocked('"', out);
	for (size_t size; text < end; text += MAX(size, 1)) {
		size = utf8_character(text, (size_t)(end - text));
		if (!size)
			fputs("\\ufffd", out);
		else if (is_control((unsigned char)*text))
			fprintf(out, "\\u%04x", (unsigned char)*text);
		else if (*text == '\\' || *text == '"')
			fprintf(out, "\\%c", *text);
		else
			fwrite_unlocked(text, 1, size, out);
	}
	putc_unlocked('"', out);
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
