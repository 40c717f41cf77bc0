/* SPDX-License-Identifier: MIT */
/* Numbers and columns without printf(). */
#include "src/formats/text/digits.h"

char *digits_fixed(char *at, uint64_t number, int width)
{
	for (int i = width - 1; i >= 0; i--, number /= 10)
		at[i] = (char)('0' + number % 10);
	return at + width;
}

char *digits_decimal(char *at, uint64_t number)
{
	int width = 1;

	for (uint64_t rest = number / 10; rest; rest /= 10)
		width++;
	return digits_fixed(at, number, width);
}

char *digits_signed(char *at, int number)
{
	if (number >= 0)
		return digits_decimal(at, (uint64_t)number);
	*at = '-';
	return digits_decimal(at + 1, -(uint64_t)number);
}

char *digits_hex(char *at, uint64_t number)
{
	int width = (67 - __builtin_clzll(number | 1)) / 4;

	for (int i = width - 1; i >= 0; i--, number >>= 4)
		at[i] = "0123456789abcdef"[number & 15];
	return at + width;
}

char *digits_right(char *at, char *end, ptrdiff_t width)
{
	ptrdiff_t spaces = width - (end - at);

	if (spaces <= 0)
		return end;
	memmove(at + spaces, at, (size_t)(end - at));
	memset(at, ' ', (size_t)spaces);
	return at + width;
}

char *digits_left(char *at, char *end, ptrdiff_t width)
{
	while (end < at + width)
		*end++ = ' ';
	return end;
}
