/* SPDX-License-Identifier: MIT */
#include "decoder/code/basic_block.h"

#include "tests/support/unit.h"

static const uint8_t code[64];
static struct code_regions areas;

static void setup(void)
{
	areas = (struct code_regions){ 0 };
}

static void teardown(void)
{
	code_regions_forget(&areas);
}

START_TEST(an_area_has_one_number_whoever_has_it_mapped)
{
	uint32_t number = code_regions_number(&areas, code, 64, NULL, 0);

	ck_assert_uint_ne(number, 0);
	code_regions_number(&areas, code + 32, 32, NULL, 0);
	ck_assert_uint_eq(code_regions_number(&areas, code, 64, NULL, 0), number);
}
END_TEST

START_TEST(what_begins_elsewhere_or_is_shorter_is_another_area)
{
	uint32_t all = code_regions_number(&areas, code, 64, NULL, 0);
	uint32_t less = code_regions_number(&areas, code, 32, NULL, 0);
	uint32_t end = code_regions_number(&areas, code + 32, 32, NULL, 0);

	ck_assert_uint_ne(all, less);
	ck_assert_uint_ne(all, end);
	ck_assert_uint_ne(less, end);
}
END_TEST

START_TEST(no_number_comes_again_once_all_are_forgotten)
{
	uint32_t last = 0;

	for (int i = 0; i < 3; i++) {
		uint32_t number = code_regions_number(&areas, code, 64, NULL, 0);

		ck_assert_uint_gt(number, last);
		last = number;
		code_regions_forget(&areas);
	}
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("code_areas");
	TCase *all = tcase_create("all");

	tcase_add_checked_fixture(all, setup, teardown);
	tcase_add_test(all, an_area_has_one_number_whoever_has_it_mapped);
	tcase_add_test(all, what_begins_elsewhere_or_is_shorter_is_another_area);
	tcase_add_test(all, no_number_comes_again_once_all_are_forgotten);
	suite_add_tcase(suite, all);
	return unit_run(suite);
}
