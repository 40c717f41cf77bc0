/* SPDX-License-Identifier: MIT */
#include "base/printable.h"

#include <stdbool.h>
#include <string.h>

#define DELETE 0x7f

/* Returns how many bytes a character has that begins so (RFC 3629, section 4); 0: none does. */
static unsigned length_of(uint8_t lead)
{
	if (lead >= 0xc2 && lead <= 0xdf)
		return 2;
	if (lead >= 0xe0 && lead <= 0xef)
		return 3;
	return lead >= 0xf0 && lead <= 0xf4 ? 4 : 0;
}

/* Whether the second byte fits the first: no overlong forms, no surrogates, and no C1 controls. */
static bool fits(uint8_t lead, uint8_t second)
{
	switch (lead) {
	case 0xc2:
		return second >= 0xa0;
	case 0xe0:
		return second >= 0xa0;
	case 0xed:
		return second <= 0x9f;
	case 0xf0:
		return second >= 0x90;
	case 0xf4:
		return second <= 0x8f;
	default:
		return true;
	}
}

static size_t drop_held(struct printable *state, char *out)
{
	size_t count = state->count;

	memset(out, '?', count);
	state->count = 0;
	return count;
}

/* A byte that begins something.  Returns how many bytes were written. */
static size_t begin(struct printable *state, uint8_t byte, char *out)
{
	if (byte < 0x80) {
		*out = (char)byte;
		if ((byte < ' ' && byte != '\n' && byte != '\t') || byte == DELETE)
			*out = '?';
		return 1;
	}
	state->need = length_of(byte);
	if (!state->need) {
		*out = '?';
		return 1;
	}
	state->held[0] = byte;
	state->count = 1;
	return 0;
}

size_t printable_pass(struct printable *state, const char *bytes, size_t size, char *out)
{
	size_t used = 0;

	for (size_t i = 0; i < size; i++) {
		uint8_t byte = (uint8_t)bytes[i];

		if (state->count &&
		    ((byte & 0xc0) != 0x80 || (state->count == 1 && !fits(state->held[0], byte))))
			used += drop_held(state, out + used);
		if (!state->count) {
			used += begin(state, byte, out + used);
			continue;
		}
		state->held[state->count++] = byte;
		if (state->count < state->need)
			continue;
		memcpy(out + used, state->held, state->count);
		used += state->count;
		state->count = 0;
	}
	return used;
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
