/* SPDX-License-Identifier: MIT */
#include <stdio.h>
#include <string.h>

#include "symbols/demangle.h"
#include "tests/support/unit.h"

static struct demangler demangler;

static void ck_shown(const char *linkage, const char *shown)
{
	const char *text = demangler_demangle(&demangler, linkage);

	ck_assert_msg(text, "%s is not demangled", linkage);
	ck_assert_str_eq(text, shown);
}

/* Itanium C++ ABI, "Mangling"; without parameters, as perf shows them. */
START_TEST(cxx_names_lose_parameters_and_keep_template_arguments)
{
	ck_shown("_ZN3foo3barEi", "foo::bar");
	ck_shown("_ZNSt6vectorIiSaIiEE9push_backEOi",
		 "std::vector<int, std::allocator<int> >::push_back");
	ck_shown("_ZN3foo3barEi.cold", "foo::bar");
	demangler_release(&demangler);
}
END_TEST

/* The legacy mangling ends with a hash; the new one is Rust RFC 2603, with its examples. */
START_TEST(rust_names_lose_their_hash)
{
	ck_shown("_ZN4core3fmt9Formatter3pad17h0123456789abcdefE", "core::fmt::Formatter::pad");
	ck_shown("_ZN45_$LT$foo..Bar$u20$as$u20$core..fmt..Debug$GT$3fmt17h05af221e174051e9E",
		 "<foo::Bar as core::fmt::Debug>::fmt");
	ck_shown("_RNvNtCs1234_7mycrate3foo3bar", "mycrate::foo::bar");
	demangler_release(&demangler);
}
END_TEST

START_TEST(ocaml_names_get_their_dots_and_signs_back)
{
	ck_shown("camlStdlib__List__map_123", "Stdlib.List.map_123");
	ck_shown("camlM__$2b$2b_5", "M.++_5");
	ck_assert_ptr_null(demangler_demangle(&demangler, "caml_alloc"));
	demangler_release(&demangler);
}
END_TEST

START_TEST(other_names_stay_as_they_are)
{
	static const char *const plain[] = { "",	  "_",	   "main",
					     "_Z",	  "_R",	   "_ZN",
					     "main.main", "_init", "__libc_start_main",
					     "caml" };

	for (size_t i = 0; i < sizeof(plain) / sizeof(plain[0]); i++)
		ck_assert_ptr_null(demangler_demangle(&demangler, plain[i]));
	demangler_release(&demangler);
}
END_TEST

/* Each template argument is a pair of the one before it: 300 bytes stand for 2^40 names. */
START_TEST(a_name_that_would_fill_all_memory_is_left_alone)
{
	static const char digits[] = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ";
	char name[1024] = "_Z1fI1pIccE";

	/* S_ is f, S0_ is p, S1_ is p<c, c>. */
	for (int i = 1; i < 34; i++) {
		size_t length = strlen(name);

		snprintf(name + length, sizeof(name) - length, "S0_IS%c_S%c_E", digits[i],
			 digits[i]);
	}
	strcat(name, "Evv");
	ck_assert_ptr_null(demangler_demangle(&demangler, name));
	ck_shown("_ZN3foo3barEi", "foo::bar");
	demangler_release(&demangler);
}
END_TEST

START_TEST(a_mangled_name_of_any_length_and_depth_ends)
{
	static char name[100001];

	memset(name, 'N', sizeof(name) - 1);
	memcpy(name, "_Z", 2);
	ck_assert_ptr_null(demangler_demangle(&demangler, name));
	memcpy(name, "_R", 2);
	ck_assert_ptr_null(demangler_demangle(&demangler, name));
	demangler_release(&demangler);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("demangle");
	TCase *all = tcase_create("demangle");

	tcase_add_test(all, cxx_names_lose_parameters_and_keep_template_arguments);
	tcase_add_test(all, rust_names_lose_their_hash);
	tcase_add_test(all, ocaml_names_get_their_dots_and_signs_back);
	tcase_add_test(all, other_names_stay_as_they_are);
	tcase_add_test(all, a_name_that_would_fill_all_memory_is_left_alone);
	tcase_add_test(all, a_mangled_name_of_any_length_and_depth_ends);
	suite_add_tcase(suite, all);
	return unit_run(suite);
}
