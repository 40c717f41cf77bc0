/* SPDX-License-Identifier: MIT */
/* Numbers and columns are those of the C library's printf(). */
#include "src/formats/text/digits.h"

#include <stdarg.h>

#include "tests/support/unit.h"

static char text[64];

static void assert_is(const char *end, const char *format, ...)
{
	char expected[64];
	va_list args;

	va_start(args, format);
	vsnprintf(expected, sizeof(expected), format, args);
	va_end(args);
	ck_assert_uint_eq(end - text, strlen(expected));
	ck_assert_mem_eq(text, expected, strlen(expected));
}

static void assert_number(uint64_t number)
{
	int narrow = (int)number;

	assert_is(digits_decimal(text, number), "%" PRIu64, number);
	assert_is(digits_hex(text, number), "%" PRIx64, number);
	assert_is(digits_hex_right(text, number), "%16" PRIx64, number);
	assert_is(digits_signed(text, narrow), "%d", narrow);
	assert_is(digits_right(text, digits_signed(text, narrow), 5), "%5d", narrow);
	assert_is(digits_left(text, digits_signed(text, narrow), 5), "%-5d", narrow);
	assert_is(digits_fixed(text, number % 1000, 9), "%09" PRIu64, number % 1000);
}

START_TEST(numbers_are_those_of_printf)
{
	for (uint64_t digit = 1; digit; digit *= 10) {
		for (uint64_t i = 0; i < 3; i++)
			assert_number(digit - 1 + i);
		if (digit > UINT64_MAX / 10)
			break;
	}
	for (int bit = 0; bit < 64; bit++) {
		assert_number(UINT64_C(1) << bit);
		assert_number((UINT64_C(1) << bit) - 1);
	}
	assert_number(UINT64_MAX);
}
END_TEST

/* Below 1,000 us, ms and s; the unit and zeros at the end are not the point here. */
START_TEST(short_times_are_quotients_to_three_decimals)
{
	for (int64_t unit = 1000; unit <= 1000000000; unit *= 1000) {
		for (int64_t i = 0; i < 200000; i++) {
			int64_t ns = unit + i * (unit == 1000 ? 4 : unit / 2000);

			if (ns >= 60 * unit)
				break;
			snprintf(text, sizeof(text), "%.3f", (double)ns / (double)unit);
			ck_assert_double_eq(strtod(text, NULL),
					    strtod(short_time((uint64_t)ns).text, NULL));
		}
	}
}
END_TEST

START_TEST(extreme_times_have_all_digits)
{
	static const struct {
		int64_t ns;
		const char *text;
	} times[] = {
		{ 0, "0ns" },
		{ -1, "-1ns" },
		{ -1500, "-1.5us" },
		{ 86399999999999, "24h" },
		{ 86400000000000, "1d" },
		/* 2^63 / 86400 / 10^9 = 106751.9911... */
		{ INT64_MAX, "106_751.991d" },
		{ INT64_MIN, "-106_751.991d" },
	};

	for (size_t i = 0; i < COUNT_OF(times); i++)
		ck_assert_str_eq(short_time((uint64_t)times[i].ns).text, times[i].text);
}
END_TEST

/* Plain names are copied into the line, others are printed. Fields surround them. */
START_TEST(names_of_any_length_are_whole_wherever_they_begin)
{
	static const size_t lengths[] = {
		0, 1, LINE_ROOM - 1, LINE_ROOM, LINE_ROOM + 1, NAME_LENGTH_MAX
	};
	static char name_text[NAME_LENGTH_MAX + 1], expected[4 * NAME_LENGTH_MAX];
	struct name_table names;
	struct line line;

	name_table_init(&names);
	for (size_t i = 0; i < 2 * COUNT_OF(lengths) * 8; i++) {
		size_t length = lengths[i / 2 % COUNT_OF(lengths)], size;
		size_t before = i / 2 / COUNT_OF(lengths) * (LINE_ROOM / 7);
		const struct name *name;
		char *at, *written;

		memset(name_text, 'n', length);
		name_text[length] = 0;
		if (length && i % 2)
			name_text[length - 1] = '\n';
		name = name_intern(&names, name_text, length);
		line.out = open_memstream(&written, &size);
		at = digits_left(line.text, line.text, (ptrdiff_t)before);
		at = line_name(&line, stpcpy(at, "("), name);
		at = line_json_name(&line, stpcpy(at, ","), name);
		line_end(&line, stpcpy(at, ")"));
		fclose(line.out);
		name_text[length - (length && i % 2)] = 0;
		snprintf(expected, sizeof(expected), "%*s(%s%s,\"%s%s\")", (int)before, "",
			 name_text, length && i % 2 ? "\\x0a" : "", name_text,
			 length && i % 2 ? "\\n" : "");
		ck_assert_str_eq(written, expected);
		free(written);
	}
	name_table_release(&names);
}
END_TEST

/* The largest unit that does not exceed the time, without zeros at the end. */
START_TEST(short_times_have_a_unit)
{
	static const struct {
		uint64_t ns;
		const char *text;
	} times[] = {
		{ 1, "1ns" },
		{ 999, "999ns" },
		{ 1000, "1us" },
		{ 1001, "1.001us" },
		{ 1010, "1.01us" },
		{ 1100, "1.1us" },
		{ 999999, "999.999us" },
		{ 1000000, "1ms" },
		{ 1000499, "1ms" },
		{ 1000501, "1.001ms" },
		{ 999999499, "999.999ms" },
		{ 999999501, "1_000ms" },
		{ 1000000000, "1s" },
		{ UINT64_C(59999000000), "59.999s" },
		{ UINT64_C(60000000000), "1m" },
		{ UINT64_C(90000000000), "1.5m" },
		{ UINT64_C(3599999000000), "60m" },
		{ UINT64_C(3600000000000), "1h" },
		{ UINT64_C(86400000000000) * 1000, "1_000d" },
	};

	for (size_t i = 0; i < COUNT_OF(times); i++)
		ck_assert_str_eq(short_time(times[i].ns).text, times[i].text);
}
END_TEST

/* --clock: times are numbers of instructions or cycles. */
START_TEST(times_may_be_numbers)
{
	digits_count_work(_i ? "cycles" : NULL);
	ck_assert_str_eq(short_time(1500).text, _i ? "1500" : "1.5us");
	ck_assert_str_eq(short_time(0).text, _i ? "0" : "0ns");
	ck_assert_str_eq(short_time(UINT64_C(12345678901)).text, _i ? "12345678901" : "12.346s");
	ck_assert_str_eq(moment_text(1500).text, _i ? "1500" : "0.000001500");
	ck_assert_str_eq(moment_text(UINT64_C(12345678901)).text,
			 _i ? "12345678901" : "12.345678901");
	ck_assert_str_eq(digits_work_unit() ?: "", _i ? "cycles" : "");
	digits_count_work(NULL);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("digits");
	TCase *all = tcase_create("digits");

	tcase_add_test(all, numbers_are_those_of_printf);
	tcase_add_test(all, short_times_are_quotients_to_three_decimals);
	tcase_add_test(all, extreme_times_have_all_digits);
	tcase_add_test(all, names_of_any_length_are_whole_wherever_they_begin);
	tcase_add_test(all, short_times_have_a_unit);
	tcase_add_loop_test(all, times_may_be_numbers, 0, 2);
	suite_add_tcase(suite, all);
	return unit_run(suite);
}
