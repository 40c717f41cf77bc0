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

/* ---- Times --------------------------------------------------------------- */

static const struct time_unit {
	int64_t ns;
	const char *name;
} units[] = {
	{ INT64_C(86400000000000), "d" },
	{ INT64_C(3600000000000), "h" },
	{ INT64_C(60000000000), "m" },
	{ 1000000000, "s" },
	{ 1000000, "ms" },
	{ 1000, "us" },
	{ 1, "ns" },
};

static void strip_zeros(char *text)
{
	char *end = text + strlen(text);

	while (end[-1] == '0')
		end--;
	end[end[-1] == '.' ? -1 : 0] = 0;
}

/* "1000" becomes "1_000", as in OCaml's libraries. Only rounding produces four digits. */
static void group_thousands(char *text)
{
	char *begin = text + (*text == '-');
	size_t digits = strspn(begin, "0123456789");

	for (; digits > 3; digits -= 3) {
		char *at = begin + digits - 3;

		memmove(at + 1, at, strlen(at) + 1);
		*at = '_';
	}
}

/*
 * Write a time with integer arithmetic. Returns whether this certainly equals a quotient of
 * doubles: for less than a day, and not halfway between two thousandths.
 */
static bool print_exactly(char *text, int64_t ns, const struct time_unit *unit)
{
	uint64_t size = (uint64_t)unit->ns, thousandths;

	if (ns < 0 || unit == units)
		return false;
	thousandths = ((uint64_t)ns * 1000 + size / 2) / size;
	if (thousandths >= 1000000 || (uint64_t)ns * 1000 % size * 2 == size)
		return false;
	text = digits_decimal(text, thousandths / 1000);
	*text++ = '.';
	*digits_fixed(text, thousandths % 1000, 3) = 0;
	return true;
}

const char *short_time(char text[SHORT_TIME_SIZE], int64_t ns)
{
	const struct time_unit *unit = units;
	uint64_t size = ns < 0 ? 0 - (uint64_t)ns : (uint64_t)ns;

	/* Find the largest unit that does not exceed the time. */
	while (unit->ns > 1 && size < (uint64_t)unit->ns)
		unit++;
	if (!print_exactly(text, ns, unit)) {
		/* At most 106,752 days: fewer than 16 characters. */
		snprintf(text, SHORT_TIME_SIZE, "%.3f", (double)ns / (double)unit->ns);
		group_thousands(text);
	}
	strip_zeros(text);
	return strcat(text, unit->name);
}
