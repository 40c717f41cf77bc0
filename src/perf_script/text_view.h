/* SPDX-License-Identifier: MIT */
/*
 * A view of part of a line, and what it begins with.  Each take_...() skips what it recognises at
 * the start of a view, and returns whether it came; a view in which nothing came may have changed.
 */
#ifndef SRC_PERF_SCRIPT_TEXT_VIEW_H
#define SRC_PERF_SCRIPT_TEXT_VIEW_H

#include "base/common.h"

/* Not NUL-terminated. */
struct text_view {
	const char *at;
	size_t length;
};

/* Digits of a second that are read. */
#define TEXT_NS_DIGITS 9

static inline bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

static inline bool is_blank(char c)
{
	return c == ' ' || c == '\t';
}

static inline bool starts_with(struct text_view text, const char *word)
{
	size_t length = strlen(word);

	return text.length >= length && !memcmp(text.at, word, length);
}

static inline void skip(struct text_view *text, size_t count)
{
	text->at += count;
	text->length -= count;
}

static inline void skip_blanks(struct text_view *text)
{
	while (text->length && is_blank(*text->at))
		skip(text, 1);
}

static inline void trim_end(struct text_view *text)
{
	while (text->length &&
	       (is_blank(text->at[text->length - 1]) || text->at[text->length - 1] == '\r'))
		text->length--;
}

static inline bool take_text(struct text_view *text, const char *start)
{
	if (!starts_with(*text, start))
		return false;
	skip(text, strlen(start));
	return true;
}

/* One blank or more. */
static inline bool take_blanks(struct text_view *text)
{
	size_t length = text->length;

	skip_blanks(text);
	return text->length < length;
}

/* `word` and the blanks after it, if it ends there; else the view stays. */
bool take_word(struct text_view *text, const char *word);

/* Returns the run of non-blanks that comes next, and skips it and the blanks after it. */
struct text_view take_token(struct text_view *text);

/* Decimal digits; *value gets them, UINT64_MAX if they are too many. */
bool take_decimal(struct text_view *text, uint64_t *value);

/* Hexadecimal digits; *value gets the last 64 bits of them. */
bool take_hex(struct text_view *text, uint64_t *value);

/* "123", "-1"; *id is -1 if it is no id. */
bool take_id(struct text_view *text, int32_t *id);

/* "47170.086912826" in ns; fewer digits are padded, those after the ninth dropped. */
bool take_time(struct text_view *text, uint64_t *time);

#endif
