/* SPDX-License-Identifier: MIT */
/*
 * Views of memory, and a bounded view of bytes that is read from front to back.
 *
 * No read goes past the end: a read that would returns zeros and makes the cursor `short_`, which
 * stays set, so that a parser can read a whole struct and check once.  All numbers are
 * little-endian, as perf writes them on x86.  The cursor borrows the bytes.
 */
#pragma once

#include "base/common.h"

/* Bytes of a file, borrowed. */
struct byte_view {
	const uint8_t *bytes; /* NULL: absent */
	size_t size;
};

/* Part of a text, borrowed: any bytes, not NUL-terminated. */
struct text_view {
	const char *at;
	size_t length;
};

struct cursor {
	const uint8_t *at;  /* next byte */
	const uint8_t *end; /* one past the last byte */
	bool short_;        /* a read went past the end */
};

static inline struct cursor cursor_over(const void *bytes, size_t size)
{
	const uint8_t *begin = bytes;

	/* An empty view may be a null pointer, to which C allows no addition, not even of 0. */
	return (struct cursor){ begin, size ? begin + size : begin, false };
}

/* Returns the bytes left. */
static inline size_t cursor_left(const struct cursor *c)
{
	return (size_t)(c->end - c->at);
}

/* Returns a view of the next `size` bytes and moves past them; NULL (and short) if there are fewer.
 */
static inline const uint8_t *cursor_take(struct cursor *c, size_t size)
{
	const uint8_t *bytes = c->at;

	if (cursor_left(c) < size) {
		c->short_ = true;
		c->at = c->end;
		return NULL;
	}
	c->at += size;
	return bytes;
}

static inline uint64_t cursor_number(struct cursor *c, size_t size)
{
	const uint8_t *bytes = cursor_take(c, size);
	uint64_t value = 0;

	if (bytes)
		memcpy(&value, bytes, size);
	return value;
}

static inline uint8_t cursor_u8(struct cursor *c)
{
	return (uint8_t)cursor_number(c, 1);
}

static inline uint16_t cursor_u16(struct cursor *c)
{
	return (uint16_t)cursor_number(c, 2);
}

static inline uint32_t cursor_u32(struct cursor *c)
{
	return (uint32_t)cursor_number(c, 4);
}

static inline uint64_t cursor_u64(struct cursor *c)
{
	return cursor_number(c, 8);
}

/* Returns the text at the cursor and moves past its NUL; NULL (and short) if it has none. */
static inline const char *cursor_text(struct cursor *c)
{
	const uint8_t *end = cursor_left(c) ? memchr(c->at, 0, cursor_left(c)) : NULL;

	return (const char *)cursor_take(c, end ? (size_t)(end - c->at) + 1 : SIZE_MAX);
}

/* LEB128 (DWARF 5, 7.6), unsigned; signed ones have the same length. */
static inline uint64_t cursor_uleb128(struct cursor *c)
{
	uint64_t value = 0;
	uint8_t byte;
	unsigned shift = 0;

	do {
		byte = cursor_u8(c);
		if (shift < 64)
			value |= (uint64_t)(byte & 0x7f) << shift;
		shift += 7;
	} while (byte & 0x80);
	return value;
}
