/* SPDX-License-Identifier: MIT */
#include "json_text.h"

#include <stdint.h>

static int is_tail(unsigned char c)
{
	return (c & 0xc0) == 0x80;
}

/* Returns how many bytes the UTF-8 character at `text` has; 0: it is none (RFC 3629, section 4). */
static size_t character(const unsigned char *text, size_t left)
{
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
	const unsigned char *at = (const unsigned char *)text, *end = at + length;

	putc('"', out);
	while (at < end) {
		size_t size = character(at, (size_t)(end - at));

		if (!size)
			fputs("\\ufffd", out);
		else if (*at < 0x20 || *at == 0x7f)
			fprintf(out, "\\u%04x", *at);
		else if (*at == '"' || *at == '\\')
			fprintf(out, "\\%c", *at);
		else
			fwrite(at, 1, size, out);
		at += size ? size : 1;
	}
	putc('"', out);
}
