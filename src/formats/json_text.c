/* SPDX-License-Identifier: MIT */
#include "src/formats/json_text.h"

#include <stdint.h>

static int is_tail(unsigned char c)
{
	return (c & 0xc0) == 0x80;
}

/* RFC 3629, section 4. */
size_t json_text_character(const char *bytes, size_t left)
{
	const unsigned char *text = (const unsigned char *)bytes;

	if (text[0] < 0x80)
		return 1;
	if (text[0] >= 0xc2 && text[0] <= 0xdf)
		return left >= 2 && is_tail(text[1]) ? 2 : 0;
	if (text[0] >= 0xe0 && text[0] <= 0xef) {
		if (left < 3 || !is_tail(text[1]) || !is_tail(text[2]) ||
		    (text[0] == 0xe0 && text[1] < 0xa0) || (text[0] == 0xed && text[1] > 0x9f))
			return 0;
		return 3;
	}
	if (text[0] < 0xf0 || text[0] > 0xf4 || left < 4 || !is_tail(text[1]) ||
	    !is_tail(text[2]) || !is_tail(text[3]) || (text[0] == 0xf0 && text[1] < 0x90) ||
	    (text[0] == 0xf4 && text[1] > 0x8f))
		return 0;
	return 4;
}

void json_text_print(const char *text, size_t length, FILE *out)
{
	const char *at = text, *end = text + length;

	putc('"', out);
	while (at < end) {
		size_t size = json_text_character(at, (size_t)(end - at));
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
