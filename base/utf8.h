/* SPDX-License-Identifier: MIT */
/* UTF-8 in text that may hold any bytes (RFC 3629, section 4). */
#pragma once

#include "base/common.h"

/* Returns the length of a character by its first byte, 1 to 4; 0: no character begins so. */
static inline unsigned utf8_length(uint8_t first)
{
	if (first < 0x80)
		return 1;
	if (first < 0xc2 || first > 0xf4)
		return 0;
	return 2 + (first >= 0xe0) + (first >= 0xf0);
}

/* Returns whether a byte may be the second of a character: no overlong forms, no surrogates. */
static inline bool utf8_is_second(uint8_t first, uint8_t second)
{
	uint8_t least = first == 0xe0 ? 0xa0 : first == 0xf0 ? 0x90 : 0x80;
	uint8_t most = first == 0xed ? 0x9f : first == 0xf4 ? 0x8f : 0xbf;

	return second >= least && second <= most;
}

/* Returns the length of the character at the start of `left` bytes, at least 1; 0: no character. */
static inline size_t utf8_character(const char *text, size_t left)
{
	const uint8_t *bytes = (const uint8_t *)text;
	size_t length = utf8_length(bytes[0]);

	if (length > left || (length > 1 && !utf8_is_second(bytes[0], bytes[1])))
		return 0;
	for (size_t i = 2; i < length; i++) {
		if ((bytes[i] & 0xc0) != 0x80)
			return 0;
	}
	return length;
}

/*
 * Returns the length of the character if it controls the text around it instead of being shown; 0:
 * it does not, or is not UTF-8.  C0, DEL and C1 (ECMA-48), U+2028 and U+2029, which end lines, and
 * Bidi_Control (Unicode's PropList.txt), which changes the order of other characters.
 */
static inline size_t utf8_control(const char *text, size_t left)
{
	size_t length = utf8_character(text, left);
	uint32_t c = 0; /* its bytes */

	for (size_t i = 0; i < length; i++)
		c = c << 8 | (uint8_t)text[i];
	return c < ' ' || c == 0x7f || (c >= 0xc280 && c <= 0xc29f) || c == 0xd89c ||
			       c == 0xe2808e || (c >= 0xe280a8 && c <= 0xe280ae) || c == 0xe2808f ||
			       (c >= 0xe281a6 && c <= 0xe281a9)
		       ? length
		       : 0;
}

/*
 * Returns the length of the longest prefix of at most `most` (at least 4) bytes that ends between
 * two characters; `most` itself if the text is not UTF-8 there.
 */
static inline size_t utf8_cut(const char *text, size_t length, size_t most)
{
	size_t end = most;

	if (length <= most)
		return length;
	/* A character has at most three bytes after its first. */
	while (end > most - 3 && (text[end] & 0xc0) == 0x80)
		end--;
	return (text[end] & 0xc0) == 0x80 ? most : end;
}
