/* SPDX-License-Identifier: MIT */
/* Lines, numbers and columns without printf(). */
#include "src/formats/text/digits.h"

#include <endian.h>

#include "src/formats/text/any_text.h"

static const char pairs[] = "00010203040506070809101112131415161718192021222324"
			    "25262728293031323334353637383940414243444546474849"
			    "50515253545556575859606162636465666768697071727374"
			    "75767778798081828384858687888990919293949596979899";

char *digits_fixed(char *at, uint64_t number, int width)
{
	char *end = at + width;

	for (; width >= 2; width -= 2, number /= 100)
		memcpy(at + width - 2, &pairs[number % 100 * 2], 2);
	if (width)
		*at = (char)('0' + number % 10);
	return end;
}

char *digits_decimal(char *at, uint64_t number)
{
	char text[2 * DIGITS_MOST] = "";
	int begin = DIGITS_MOST;

	for (; number >= 10; number /= 100) {
		text[--begin] = pairs[number % 100 * 2 + 1];
		text[--begin] = pairs[number % 100 * 2];
	}
	if (number || begin == DIGITS_MOST)
		text[--begin] = (char)('0' + number);
	memcpy(at, text + begin, DIGITS_MOST);
	return at + DIGITS_MOST - begin;
}

char *digits_signed(char *at, int number)
{
	if (number >= 0)
		return digits_decimal(at, (uint64_t)number);
	*at = '-';
	return digits_decimal(at + 1, -(uint64_t)number);
}

#define EACH_BYTE UINT64_C(0x0101010101010101)

/* Returns eight hexadecimal digits, as bytes in the order of text. */
static uint64_t hex_digits(uint32_t number)
{
	uint64_t digits = number, letters;

	/* Give each four bits a byte. */
	digits = (digits | digits << 16) & UINT64_C(0x0000ffff0000ffff);
	digits = (digits | digits << 8) & UINT64_C(0x00ff00ff00ff00ff);
	digits = (digits | digits << 4) & UINT64_C(0x0f0f0f0f0f0f0f0f);
	letters = (digits + 6 * EACH_BYTE) >> 4 & EACH_BYTE;
	return htobe64(digits + '0' * EACH_BYTE + ('a' - '9' - 1) * letters);
}

char *digits_hex(char *at, uint64_t number)
{
	const uint64_t text[4] = { hex_digits((uint32_t)(number >> 32)),
				   hex_digits((uint32_t)number) };
	int width = (67 - __builtin_clzll(number | 1)) / 4;

	memcpy(at, (const char *)text + 16 - width, 16);
	return at + width;
}

char *digits_hex_right(char *at, uint64_t number)
{
	int width = (67 - __builtin_clzll(number | 1)) / 4;

	memset(at, ' ', 16);
	return digits_hex(at + 16 - width, number);
}

char *digits_right(char *at, char *end, ptrdiff_t width)
{
	if (end - at >= width)
		return end;
	for (ptrdiff_t i = width - 1; i >= 0; i--)
		at[i] = end > at ? *--end : ' ';
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
 * Write a time with integer arithmetic. Returns its end; NULL if a quotient of doubles may differ:
 * for a day or more, and halfway between two thousandths.
 */
static char *write_exactly(char *at, int64_t ns, const struct time_unit *unit)
{
	uint64_t size = (uint64_t)unit->ns, thousandths;

	if (ns < 0 || unit == units)
		return NULL;
	thousandths = ((uint64_t)ns * 1000 + size / 2) / size;
	if (thousandths >= 1000000 || (uint64_t)ns * 1000 % size * 2 == size)
		return NULL;
	at = digits_decimal(at, thousandths / 1000);
	*at++ = '.';
	return digits_fixed(at, thousandths % 1000, 3);
}

static const char *work_unit;

void digits_count_work(const char *unit)
{
	work_unit = unit;
}

const char *digits_work_unit(void)
{
	return work_unit;
}

char *digits_time(char *at, int64_t ns)
{
	const struct time_unit *unit = units;
	uint64_t size = ns < 0 ? 0 - (uint64_t)ns : (uint64_t)ns;
	char *end;

	if (work_unit) {
		*(end = digits_decimal(at, size)) = 0;
		return end;
	}
	/* Find the largest unit that does not exceed the time. */
	while (unit->ns > 1 && size < (uint64_t)unit->ns)
		unit++;
	end = write_exactly(at, ns, unit);
	if (!end) {
		/* At most 106,752 days: fewer than 16 characters. */
		snprintf(at, SHORT_TIME_SIZE, "%.3f", (double)ns / (double)unit->ns);
		group_thousands(at);
		end = at + strlen(at);
	}
	while (end[-1] == '0')
		end--;
	if (end[-1] == '.')
		end--;
	return stpcpy(end, unit->name);
}

struct short_text moment_text(uint64_t time)
{
	struct short_text moment;

	if (work_unit)
		*digits_decimal(moment.text, time) = 0;
	else
		snprintf(moment.text, SHORT_TIME_SIZE, SECONDS_FORMAT, SECONDS_OF(time));
	return moment;
}

struct short_text short_time(uint64_t ns)
{
	struct short_text time;

	digits_time(time.text, (int64_t)ns);
	return time;
}

/* ---- Lines --------------------------------------------------------------- */

char *line_end(struct line *line, const char *at)
{
	fwrite_unlocked(line->text, 1, (size_t)(at - line->text), line->out);
	return line->text;
}

static bool fits(const struct line *line, const char *at, const struct name *name)
{
	return name->plain && name->length <= line->text + LINE_ROOM - at;
}

char *line_name(struct line *line, char *at, const struct name *name)
{
	if (fits(line, at, name))
		return mempcpy(at, name->text, name->length);
	at = line_end(line, at);
	escaped_text_print(name->text, name->length, line->out);
	return at;
}

char *line_json_name(struct line *line, char *at, const struct name *name)
{
	if (fits(line, at, name)) {
		*at++ = '"';
		at = mempcpy(at, name->text, name->length);
		*at++ = '"';
		return at;
	}
	at = line_end(line, at);
	json_text_print(name->text, name->length, line->out);
	return at;
}
