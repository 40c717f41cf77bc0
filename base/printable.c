/* SPDX-License-Identifier: MIT */
/* Replaces controls and damaged UTF-8 by question marks. */
#include "base/printable.h"

#include "base/utf8.h"

static size_t drop_held(struct printable *state, char *out)
{
	size_t count = state->count;

	memset(out, '?', count);
	state->count = 0;
	return count;
}

size_t printable_pass(struct printable *state, const char *bytes, size_t size, char *out)
{
	size_t used = 0;

	for (size_t i = 0; i < size; i++) {
		uint8_t byte = (uint8_t)bytes[i];

		if (state->count == 1 ? !utf8_is_second(state->held[0], byte)
				      : state->count && (byte & 0xc0) != 0x80)
			used += drop_held(state, out + used);
		if (!state->count && utf8_length(byte) < 2) {
			bool control = (byte < ' ' && byte != '\n' && byte != '\t') || byte >= 0x7f;

			out[used++] = control ? '?' : (char)byte;
			continue;
		}
		state->held[state->count++] = byte;
		if (state->count < utf8_length(state->held[0]))
			continue;
		if (utf8_control((const char *)state->held, state->count)) {
			used += drop_held(state, out + used);
		} else {
			memcpy(out + used, state->held, state->count);
			used += state->count;
			state->count = 0;
		}
	}
	return used;
}

void escaped_text_print(const char *text, size_t length, FILE *out)
{
	size_t escaped = 0; /* bytes */

	for (const char *end = text + length; text < end; text++) {
		if (!escaped)
			escaped = *text == '\\' ? 1 : utf8_control(text, (size_t)(end - text));
		if (escaped)
			fprintf(out, "\\x%02x", (unsigned char)*text);
		else
			putc_unlocked(*text, out);
		escaped -= escaped > 0;
	}
}

void printable_print(const char *text, FILE *out)
{
	struct printable state = { 0 };
	char part[8];

	for (; *text; text++) {
		char c = *text == '\n' || *text == '\t' ? '\r' : *text;

		fwrite(part, 1, printable_pass(&state, &c, 1, part), out);
	}
	fwrite(part, 1, drop_held(&state, part), out);
}
