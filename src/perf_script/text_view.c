/* SPDX-License-Identifier: MIT */
/* Reads words, numbers and times at the start of a view. */
#include "src/perf_script/perf_script_line.h"

/* Times beyond this (580 years) do not fit in 64 bits of ns. */
#define MAX_SECONDS UINT64_C(18446744073)

/* Returns the value of a hexadecimal digit, -1 for other characters. */
static int hex_value(char c)
{
	if (is_digit(c))
		return c - '0';
	c |= 'a' - 'A';
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

bool take_word(struct text_view *text, const char *word)
{
	struct text_view rest = *text;

	if (!take_text(&rest, word) || (rest.length && !take_blanks(&rest)))
		return false;
	*text = rest;
	return true;
}

struct text_view take_token(struct text_view *text)
{
	struct text_view token = { text->at, 0 };

	while (token.length < text->length && !is_blank(text->at[token.length]))
		token.length++;
	skip(text, token.length);
	skip_blanks(text);
	return token;
}

bool take_decimal(struct text_view *text, uint64_t *value)
{
	size_t length = 0;

	for (*value = 0; length < text->length && is_digit(text->at[length]); length++) {
		unsigned digit = (unsigned)(text->at[length] - '0');

		if (*value > (UINT64_MAX - digit) / 10)
			*value = UINT64_MAX;
		else
			*value = *value * 10 + digit;
	}
	skip(text, length);
	return length > 0;
}

bool take_hex(struct text_view *text, uint64_t *value)
{
	size_t length = 0;

	for (*value = 0; length < text->length && hex_value(text->at[length]) >= 0; length++)
		*value = *value << 4 | (unsigned)hex_value(text->at[length]);
	skip(text, length);
	return length > 0;
}

bool take_id(struct text_view *text, int32_t *id)
{
	uint64_t value;
	bool negative = take_text(text, "-");

	if (!take_decimal(text, &value))
		return false;
	*id = negative || value > INT32_MAX ? -1 : (int32_t)value;
	return true;
}

bool take_time(struct text_view *text, uint64_t *time)
{
	uint64_t seconds, ns = 0;
	unsigned digits = 0;

	if (!take_decimal(text, &seconds) || seconds >= MAX_SECONDS || !take_text(text, ".") ||
	    !text->length || !is_digit(*text->at))
		return false;
	for (; text->length && is_digit(*text->at); skip(text, 1))
		if (digits < TEXT_NS_DIGITS) {
			ns = ns * 10 + (unsigned)(*text->at - '0');
			digits++;
		}
	for (; digits < TEXT_NS_DIGITS; digits++)
		ns *= 10;
	*time = seconds * 1000000000 + ns;
	return true;
}
