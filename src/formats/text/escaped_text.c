/* SPDX-License-Identifier: MIT */
/* Prints what needs no change in pieces as long as possible. */
#include "src/formats/text/escaped_text.h"

#include <stdbool.h>

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
