/* SPDX-License-Identifier: MIT */
/* Replace or escape bytes that are not UTF-8. */
#include "src/formats/text/any_text.h"

#include "base/utf8.h"

typedef signed char any_text_bytes __attribute__((vector_size(16)));

/*
 * Returns the end of leading text, in steps of 16 bytes, that needs no escape in any form. Most
 * names need no escape.
 */
static const char *skip_plain(const char *text, const char *end)
{
	for (; end - text >= (ptrdiff_t)sizeof(any_text_bytes); text += sizeof(any_text_bytes)) {
		any_text_bytes bytes;
		uint64_t halves[2];

		memcpy(&bytes, text, sizeof(bytes));
		bytes = (bytes < 0x20) | (bytes == 0x7f) | (bytes == '\\') | (bytes == '"');
		memcpy(halves, &bytes, sizeof(halves));
		if (halves[0] | halves[1])
			break;
	}
	return text;
}

static bool is_plain(unsigned char c)
{
	return c >= 0x20 && c != 0x7f && c != '\\';
}

void escaped_text_print(const char *text, size_t length, FILE *out)
{
	const char *end = text + length;

	while (text < end) {
		const char *piece = text;

		text = skip_plain(text, end);
		while (text < end && is_plain((unsigned char)*text))
			text++;
		fwrite_unlocked(piece, 1, (size_t)(text - piece), out);
		if (text < end)
			fprintf(out, "\\x%02x", (unsigned char)*text++);
	}
}

void json_text_print(const char *text, size_t length, FILE *out)
{
	const char *at = text, *end = text + length;

	putc_unlocked('"', out);
	while (at < end) {
		const char *piece = at;
		unsigned char c;

		at = skip_plain(at, end);
		for (size_t size; at < end && is_plain((unsigned char)*at) && *at != '"' &&
				  (size = utf8_character(at, (size_t)(end - at)));
		     at += size)
			;
		fwrite_unlocked(piece, 1, (size_t)(at - piece), out);
		if (at == end)
			break;
		c = (unsigned char)*at++;
		if (c >= 0x80)
			fputs("\\ufffd", out);
		else if (c < 0x20 || c == 0x7f)
			fprintf(out, "\\u%04x", c);
		else
			fprintf(out, "\\%c", c);
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
