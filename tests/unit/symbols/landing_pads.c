/* SPDX-License-Identifier: MIT */
/* LSDAs byte by byte, by the LSB Core's "Exception Frames" and GCC's output for C++. */
#include "symbols/tables/code_starts.h"

#include <dwarf.h>

#include "tests/support/unit.h"

#define FUNCTION UINT64_C(0x1000)
#define VADDR    UINT64_C(0x9000)

static size_t work;

static uint64_t pad_of(const uint8_t *bytes, size_t size, uint64_t call)
{
	const struct elf_part lsda = { bytes, size, VADDR };

	work = 100;
	return landing_pad_find(&lsda, true, FUNCTION, call, &work);
}

/* The form of GCC and clang. */
static const uint8_t usual[] = {
	DW_EH_PE_omit,
	DW_EH_PE_omit,
	DW_EH_PE_uleb128,
	12, /* bytes of call sites */
	0x10,
	5,
	0x70,
	0, /* begin, size, pad, action */
	0x15,
	0x20,
	0,
	0, /* no pad */
	0x40,
	8,
	0x78,
	1,
};

START_TEST(the_call_site_around_a_call_has_its_pad)
{
	ck_assert_uint_eq(pad_of(usual, sizeof(usual), FUNCTION + 0x10), FUNCTION + 0x70);
	ck_assert_uint_eq(pad_of(usual, sizeof(usual), FUNCTION + 0x14), FUNCTION + 0x70);
	ck_assert_uint_eq(pad_of(usual, sizeof(usual), FUNCTION + 0x47), FUNCTION + 0x78);
	ck_assert_uint_eq(work, 98);
}
END_TEST

START_TEST(a_call_without_a_site_or_pad_has_none)
{
	ck_assert_uint_eq(pad_of(usual, sizeof(usual), FUNCTION), 0);
	ck_assert_uint_eq(pad_of(usual, sizeof(usual), FUNCTION + 0x15), 0);
	ck_assert_uint_eq(pad_of(usual, sizeof(usual), FUNCTION + 0x48), 0);
	ck_assert_uint_eq(pad_of(usual, sizeof(usual), 0), 0);
}
END_TEST

/* A split function: its landing pads are relative to an address of their own. */
START_TEST(pads_may_be_elsewhere)
{
	static const uint8_t bytes[] = {
		DW_EH_PE_pcrel | DW_EH_PE_sdata4,
		0xff,
		0x0f,
		0,
		0, /* VADDR + 0x1000 */
		DW_EH_PE_pcrel,
		0x81,
		0x01, /* the types */
		DW_EH_PE_udata4,
		13,
		0x10,
		0,
		0,
		0,
		5,
		0,
		0,
		0,
		0x20,
		0,
		0,
		0,
		0,
	};

	ck_assert_uint_eq(pad_of(bytes, sizeof(bytes), FUNCTION + 0x10), VADDR + 0x1020);
}
END_TEST

START_TEST(a_damaged_table_has_no_pads)
{
	static const uint8_t unknown[] = { DW_EH_PE_omit, DW_EH_PE_omit, 0x0d, 4, 0, 1, 1, 0 };

	for (size_t size = 0; size < sizeof(usual); size++)
		ck_assert_uint_eq(pad_of(usual, size, FUNCTION + 0x40), 0);
	ck_assert_uint_eq(pad_of(unknown, sizeof(unknown), FUNCTION), 0);
}
END_TEST

/* 200 empty call sites. */
START_TEST(no_more_call_sites_are_read_than_allowed)
{
	static const uint8_t many[5 + 4 * 200] = { DW_EH_PE_omit, DW_EH_PE_omit, DW_EH_PE_uleb128,
						   0xa0, 0x06 };

	ck_assert_uint_eq(pad_of(many, sizeof(many), FUNCTION), 0);
	ck_assert_uint_eq(work, 0);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("landing_pads");
	TCase *all = tcase_create("all");

	tcase_add_test(all, the_call_site_around_a_call_has_its_pad);
	tcase_add_test(all, a_call_without_a_site_or_pad_has_none);
	tcase_add_test(all, pads_may_be_elsewhere);
	tcase_add_test(all, a_damaged_table_has_no_pads);
	tcase_add_test(all, no_more_call_sites_are_read_than_allowed);
	suite_add_tcase(suite, all);
	return unit_run(suite);
}
