/* SPDX-License-Identifier: MIT */
/* JSON strings of any bytes. */
#include "src/formats/text/json_text.h"

#include "base/utf8.h"

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
