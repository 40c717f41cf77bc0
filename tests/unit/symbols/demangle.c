/* SPDX-License-Identifier: MIT */
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

#include "symbols/names/demangle.h"
#include "tests/support/unit.h"

static struct demangler demangler;

static void ck_styled(enum demangle_style style, const char *linkage, const char *shown)
{
	const char *text = demangler_demangle(&demangler, linkage, style);

	ck_assert_msg(text, "%s is not demangled", linkage);
	ck_assert_str_eq(text, shown);
}

static void ck_short(const char *linkage, const char *shown)
{
	ck_styled(DEMANGLE_SHORT, linkage, shown);
}

static const char *demangle(const char *linkage)
{
	return demangler_demangle(&demangler, linkage, DEMANGLE_SHORT);
}

/* Itanium C++ ABI, "Mangling". */
START_TEST(short_cxx_names_lose_parameters_and_template_arguments)
{
	ck_short("_ZN3foo3barEi", "foo::bar");
	ck_short("_ZNSt6vectorIiSaIiEE9push_backEOi", "std::vector::push_back");
	ck_short("_ZN12_GLOBAL__N_13fooEv", "(anonymous namespace)::foo");
	ck_short("_ZZ4mainENKUlvE_clEv", "main::{lambda#1}::operator()");
	ck_short("_ZThn16_N3FooD0Ev", "non-virtual thunk to Foo::~Foo");
	demangler_release(&demangler);
}
END_TEST

START_TEST(operators_keep_their_signs)
{
	ck_short("_ZlsIcSt11char_traitsIcEERSt13basic_ostreamIT_T0_ES6_PKc", "operator<<");
	ck_short("_ZltIiEbRK1AIT_ES4_", "operator<");
	ck_short("_ZptI3FooE", "operator->");
	ck_short("_ZNKSt3mapIiiSt4lessIiESaISt4pairIKiiEEEixEOi", "std::map::operator[]");
	ck_short("_ZN1AcvSt6vectorIiSaIiEEEv", "A::operator std::vector");
	ck_short("_ZNSt8functionIFivEEC1IZ4mainEUlvE_vvEET_", "std::function::function");
	demangler_release(&demangler);
}
END_TEST

/* As nm -C prints them. */
START_TEST(full_cxx_names_keep_parameters_and_template_arguments)
{
	/* seeds.md: names of C++ are demangled (2026) */
	ck_styled(DEMANGLE_FULL, "_ZNSt6vectorIiSaIiEE9push_backEOi",
		  "std::vector<int, std::allocator<int> >::push_back(int&&)");
	ck_styled(DEMANGLE_FULL, "_ZltIiEbRK1AIT_ES4_",
		  "bool operator< <int>(A<int> const&, A<int> const&)");
	ck_styled(DEMANGLE_FULL, "_ZN3foo3barEi.cold", "foo::bar(int)");
	demangler_release(&demangler);
}
END_TEST

/* As perf script prints them. */
START_TEST(perfs_names_lose_parameters_only)
{
	ck_styled(DEMANGLE_PERF, "_ZNSt6vectorIiSaIiEE9push_backEOi",
		  "std::vector<int, std::allocator<int> >::push_back");
	ck_styled(DEMANGLE_PERF, "camlStdlib__List__map_123", "Stdlib.List.map_123");
	ck_assert_ptr_null(demangler_demangle(&demangler, "foo.cold", DEMANGLE_PERF));
	ck_assert_ptr_null(demangler_demangle(&demangler, "_ZN3foo3barEi", DEMANGLE_NONE));
	demangler_release(&demangler);
}
END_TEST

/* The legacy mangling ends with a hash; the new one is Rust RFC 2603, with its examples. */
START_TEST(rust_names_lose_their_hash)
{
	ck_short("_ZN4core3fmt9Formatter3pad17h0123456789abcdefE", "core::fmt::Formatter::pad");
	ck_short("_ZN45_$LT$foo..Bar$u20$as$u20$core..fmt..Debug$GT$3fmt17h05af221e174051e9E",
		 "<foo::Bar as core::fmt::Debug>::fmt");
	ck_short("_RNvNtCs1234_7mycrate3foo3bar", "mycrate::foo::bar");
	ck_short("_RNvMs_NtCs4fqI2P2rA04_4core3fmtINtB4_9FormatterhE3pad",
		 "<core::fmt::Formatter>::pad");
	ck_styled(DEMANGLE_FULL, "_RINvNtC7mycrate3foo3barlhE", "mycrate::foo::bar::<i32, u8>");
	ck_short("_RINvNtC7mycrate3foo3barlhE", "mycrate::foo::bar");
	demangler_release(&demangler);
}
END_TEST

/* Symbols of OCaml 4.14, 5.1 and flambda 2. */
START_TEST(ocaml_names_get_their_dots_and_signs_back)
{
	/* seeds.md: names of OCaml are demangled */
	ck_short("camlStdlib__List__map_123", "Stdlib.List.map");
	ck_short("camlStdlib__List.map_123", "Stdlib.List.map");
	ck_short("camlFoo__bar_1_23_code", "Foo.bar");
	ck_short("camlM__$2b$2b_5", "M.++");
	ck_short("camlFoo__anon_fn$5bfoo.ml$3a12$2c3$2d$2d15$5d_1234",
		 "Foo.anon_fn[foo.ml:12,3--15]");
	ck_short("camlDune__exe__Main__entry", "Dune.exe.Main.entry");
	ck_assert_ptr_null(demangle("caml_alloc"));
	demangler_release(&demangler);
}
END_TEST

/* https://dlang.org/spec/abi.html#name_mangling */
START_TEST(d_names_are_demangled)
{
	ck_short("_D3std5stdio4File7writelnMFAyaZv", "std.stdio.File.writeln");
	ck_styled(DEMANGLE_FULL, "_D3std5stdio4File7writelnMFAyaZv",
		  "std.stdio.File.writeln(immutable(char)[])");
	demangler_release(&demangler);
}
END_TEST

START_TEST(clones_parts_and_versions_have_their_functions_name)
{
	ck_short("foo.cold", "foo");
	ck_short("foo.isra.0.constprop.12.cold", "foo");
	ck_short("foo.part.0.isra.0", "foo");
	ck_short("foo.llvm.1234567890", "foo");
	ck_short("memcpy@@GLIBC_2.14", "memcpy");
	ck_short("memcpy@GLIBC_2.2.5", "memcpy");
	ck_short("_ZN3foo3barEi.isra.0.cold", "foo::bar");
	demangler_release(&demangler);
}
END_TEST

START_TEST(a_part_is_one_of_the_function_named_before_it)
{
	ck_assert_uint_eq(demangle_part_of("foo.cold"), 3);
	ck_assert_uint_eq(demangle_part_of("foo.cold.1"), 3);
	ck_assert_uint_eq(demangle_part_of("foo.part.0.isra.0"), 3);
	ck_assert_uint_eq(demangle_part_of("foo.isra.0.cold"), strlen("foo.isra.0"));
	ck_assert_uint_eq(demangle_part_of("foo.isra.0"), 0);
	ck_assert_uint_eq(demangle_part_of("foo.part"), 0);
	ck_assert_uint_eq(demangle_part_of(".cold"), 0);
	ck_assert_uint_eq(demangle_part_of("foo"), 0);
}
END_TEST

START_TEST(other_names_stay_as_they_are)
{
	static const char *const plain[] = { "",          "_",     "main",
					     "_Z",        "_R",    "_ZN",
					     "main.main", "_init", "__libc_start_main",
					     "caml",      "foo.1", "a.part",
					     ".cold",     "@",     "$s4main3fooyyF" };

	for (size_t i = 0; i < sizeof(plain) / sizeof(plain[0]); i++)
		ck_assert_ptr_null(demangle(plain[i]));
	demangler_release(&demangler);
}
END_TEST

/*
 * C's names that look like those of a language: the prefix of another, its separators, its
 * suffixes. No demangler may touch them in a file where nothing else shows the language.
 */
START_TEST(names_of_c_stay_in_every_style)
{
	static const char *const plain[] = { "camlist_add",
					     "caml_alloc_shr",
					     "camlback",
					     "camellia_init",
					     "_Dynamic",
					     "_D",
					     "_D2go",
					     "_DYNAMIC",
					     "_Rb_insert",
					     "_Rescan",
					     "_RNG_seed",
					     "_Zlib_init",
					     "_ZTable",
					     "_Z_init",
					     "Z3fooi",
					     "ZSTD_compress",
					     "zmalloc_z",
					     "size_info",
					     "get_entry",
					     "go_fast",
					     "is_slow",
					     "set_static_info",
					     "ada_main",
					     "system__init",
					     "geo__area",
					     "__init__",
					     "a__b__c",
					     "__MOD_x",
					     "__mod_MOD",
					     "x_MOD_y",
					     "__x86.get_pc_thunk.bx",
					     "__do_sys_read",
					     "__pfx_main",
					     "_GLOBAL_OFFSET_TABLE_",
					     "_IO_new_file_xsputn",
					     "__GI___libc_read",
					     "P$1",
					     "a$b",
					     "T.123",
					     "type..eq",
					     "lj_BC_ADD",
					     "_PyEval_EvalFrameDefault",
					     "__kmalloc_node",
					     "_nl_C_LC_CTYPE",
					     "_$_",
					     "U_$_x",
					     "Main_fib_info",
					     "R_init_x",
					     "_OBJC_CLASS_$_X",
					     "std_vector",
					     "operator_new",
					     "foo_isra_0",
					     "foo.c",
					     "cold",
					     "part.0" };

	for (size_t i = 0; i < sizeof(plain) / sizeof(plain[0]); i++) {
		ck_assert_uint_eq(demangle_languages(plain[i]), 0);
		for (enum demangle_style style = DEMANGLE_SHORT; style <= DEMANGLE_PERF; style++) {
			const char *text = demangler_demangle(&demangler, plain[i], style);

			ck_assert_msg(!text, "%s became %s", plain[i], text);
		}
	}
	demangler_release(&demangler);
}
END_TEST

/* Each template argument is a pair of the one before it: 300 bytes expand to 2^40 names. */
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
	ck_assert_ptr_null(demangle(name));
	ck_short("_ZN3foo3barEi", "foo::bar");
	demangler_release(&demangler);
}
END_TEST

/* Each tuple is a pair of the one before it. */
static void write_d_pairs(char name[1024], int levels)
{
	strcpy(name, "_D1fFB2ii");
	for (int i = 0; i < levels; i++)
		strcat(name, i ? "B2QiQk" : "B2QgQi");
	strcat(name, "Zv");
}

START_TEST(a_d_name_that_would_fill_all_memory_is_left_alone)
{
	struct rusage usage;
	char name[1024];

	for (int levels = 16; levels < 60; levels += 4) {
		write_d_pairs(name, levels);
		ck_assert_ptr_null(demangle(name));
		ck_assert(demangler.costly);
	}
	ck_assert_int_eq(getrusage(RUSAGE_SELF, &usage), 0);
	ck_assert_int_lt(usage.ru_maxrss, 32 << 10);
	demangler_release(&demangler);
}
END_TEST

/* Each function type is the return type of a pointer's: the parser recurses, without a limit. */
START_TEST(a_long_d_name_needs_little_stack)
{
	static char name[65536];

	strcpy(name, "_D1a1b");
	for (size_t at = strlen(name); at + 2 < sizeof(name); at += 2)
		memcpy(name + at, "FP", 2);
	/* The program refuses to run with less than 1 MiB. */
	ck_assert_int_eq(setrlimit(RLIMIT_STACK, &(struct rlimit){ 900 << 10, 900 << 10 }), 0);
	for (size_t length = 500; length < sizeof(name); length += 500) {
		char next = name[length];

		name[length] = 0;
		demangler_demangle(&demangler, name, DEMANGLE_FULL);
		name[length] = next;
	}
	demangler_release(&demangler);
}
END_TEST

static void repeat(char *name, const char *text, int count)
{
	while (count--)
		strcat(name, text);
}

/* Returns ns of CPU time. */
static uint64_t cpu_time(void)
{
	struct timespec now;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
	return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

/* A pack expansion searches each of the 2^n parts of a type without a pack. */
static void write_cxx_pack(char name[1024], int levels)
{
	static const char digits[] = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ";

	/* S_ is f, S0_ and the following ones are A; then come the types, innermost first. */
	strcpy(name, "_Z1fIiEvDp");
	repeat(name, "1AI", levels);
	strcat(name, "iiE");
	for (int type = levels; type < 2 * levels - 1; type++) {
		size_t length = strlen(name);
		char high = digits[type / 36];

		snprintf(name + length, 1024 - length, "S%.*s%c_E", type >= 36, &high,
			 digits[type % 36]);
	}
}

/* Ambiguous: the template arguments may be those of a conversion's type or of the operator. */
static void write_cxx_conversion(char name[1024], int levels)
{
	strcpy(name, "_ZN1Acv");
	repeat(name, "T_I", levels);
	strcat(name, "i");
	repeat(name, "E", levels);
	strcat(name, "Ev");
}

/* Ambiguous: a class is followed by its type or by the next parameter's. */
static void write_d_functions(char name[1024], int levels)
{
	strcpy(name, "_D1a");
	repeat(name, "FC1b", levels);
	strcat(name, "i");
}

START_TEST(a_name_without_output_ends_after_a_time)
{
	static const struct {
		void (*write)(char name[1024], int levels);
		int levels;
	} names[] = { { write_cxx_pack, 60 },
		      { write_cxx_conversion, 60 },
		      { write_d_functions, 60 } };
	char name[1024];

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		uint64_t before = cpu_time();

		names[i].write(name, 2);
		demangler_demangle(&demangler, name, DEMANGLE_FULL);
		ck_assert_msg(!demangler.costly, "%s", name);
		names[i].write(name, names[i].levels);
		ck_assert_ptr_null(demangler_demangle(&demangler, name, DEMANGLE_FULL));
		ck_assert_msg(demangler.costly, "%s", name);
		ck_assert_uint_lt(cpu_time() - before, 4ul * DEMANGLE_NAME_NS);
		ck_short("_ZN3foo3barEi", "foo::bar");
		ck_assert(!demangler.costly);
	}
	demangler_release(&demangler);
}
END_TEST

START_TEST(all_names_together_end_after_a_time)
{
	uint64_t before = cpu_time();
	char name[1024];

	write_d_functions(name, 60);
	for (int i = 0; i < 10000; i++)
		ck_assert_ptr_null(demangle(name));
	ck_assert_uint_lt(cpu_time() - before, 3ul * DEMANGLE_RUN_NS);
	demangler_release(&demangler);
}
END_TEST

START_TEST(brackets_that_do_not_pair_end_the_shortening)
{
	static const char *const texts[] = { "a<b", "a(b", "a<(b>", "operator<<", ">>", "a->b<" };
	char text[20];

	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		strcpy(text, texts[i]);
		demangle_shorten(text);
		ck_assert_str_eq(text, texts[i]);
	}
}
END_TEST

START_TEST(a_mangled_name_of_any_length_and_depth_ends)
{
	static char name[100001];

	memset(name, 'N', sizeof(name) - 1);
	memcpy(name, "_Z", 2);
	ck_assert_ptr_null(demangle(name));
	memcpy(name, "_R", 2);
	ck_assert_ptr_null(demangle(name));
	demangler_release(&demangler);
}
END_TEST

/* Names by gfortran 12 and Free Pascal 3.2, next to their functions' names. */
START_TEST(fortran_and_pascal_names_have_their_modules)
{
	ck_short("__geometry_MOD_area", "geometry::area");
	ck_styled(DEMANGLE_FULL, "__points.points_make_MOD_new", "points.points_make::new");
	ck_short("P$HELLO_$$_FIB$LONGINT$$LONGINT", "HELLO.FIB");
	ck_short("P$HELLO$_$FIB$LONGINT$$LONGINT_$$_INNER$LONGINT$$LONGINT", "HELLO.FIB.INNER");
	ck_short("P$HELLO$_$TSHAPE_$__$$_AREA$LONGINT$LONGINT$$LONGINT", "HELLO.TSHAPE.AREA");
	ck_short("SYSTEM_$$_BLOCKWRITE$file$formal$LONGINT", "SYSTEM.BLOCKWRITE");
	ck_short("P$HELLO_$$_$plus$SHORTSTRING$LONGINT$$SHORTSTRING", "HELLO.plus");
	ck_assert_ptr_null(demangle("VMT_$P$HELLO_$$_TSHAPE"));
	ck_assert_ptr_null(demangle("__MOD_area"));
	ck_assert_ptr_null(demangle("__a_MOD_"));
	ck_assert_ptr_null(demangler_demangle(&demangler, "__geometry_MOD_area", DEMANGLE_NONE));
	ck_assert_ptr_null(demangler_demangle(&demangler, "__geometry_MOD_area", DEMANGLE_PERF));
	demangler_release(&demangler);
}
END_TEST

/* Names by GNAT 12 and GHC 9.0.  Without another name of the language they may be C's. */
START_TEST(ada_and_haskell_names_are_decoded_in_files_of_the_language)
{
	ck_assert_ptr_null(demangle("geo__area"));
	ck_assert_ptr_null(demangle("ShapesziArea_areazq_info"));
	ck_assert_uint_eq(demangle_languages("size_info") | demangle_languages("geo__area"), 0);
	demangler.languages = demangle_languages("adainit");
	ck_short("geo__area", "geo.area");
	ck_short("geo__solid__Oadd", "geo.solid.\"+\"");
	ck_short("hello__fib.4", "hello.fib");
	ck_assert_ptr_null(demangle("frame_dummy"));
	ck_assert_ptr_null(demangle("Geo__Area"));
	demangler.languages = demangle_languages("ZCMain_main_info");
	ck_short("Main_fib_info", "Main.fib");
	ck_short("Main_zlzpzg_info", "Main.<+>");
	ck_short("ShapesziArea_areazq_info", "Shapes.Area.area'");
	ck_short("ShapesziArea_Sqzq_con_info", "Shapes.Area.Sq'");
	ck_short("base_GHCziIOziFD_zdwfdWrite_info", "GHC.IO.FD.$wfdWrite");
	ck_short("ghczmprim_GHCziTuple_Z3T_con_info", "GHC.Tuple.(,,)");
	ck_assert_ptr_null(demangle("sat_s1Qz_info"));
	ck_assert_ptr_null(demangle("Main_fibz_info"));
	ck_assert_ptr_null(demangle("Main_Z99999999T_info"));
	ck_assert_ptr_null(demangle("size_info"));
	ck_assert_ptr_null(demangle("Main_fib"));
	demangler.languages = 0;
	demangler_release(&demangler);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("demangle");
	TCase *all = tcase_create("demangle");

	tcase_add_test(all, short_cxx_names_lose_parameters_and_template_arguments);
	tcase_add_test(all, operators_keep_their_signs);
	tcase_add_test(all, full_cxx_names_keep_parameters_and_template_arguments);
	tcase_add_test(all, fortran_and_pascal_names_have_their_modules);
	tcase_add_test(all, ada_and_haskell_names_are_decoded_in_files_of_the_language);
	tcase_add_test(all, perfs_names_lose_parameters_only);
	tcase_add_test(all, rust_names_lose_their_hash);
	tcase_add_test(all, ocaml_names_get_their_dots_and_signs_back);
	tcase_add_test(all, d_names_are_demangled);
	tcase_add_test(all, clones_parts_and_versions_have_their_functions_name);
	tcase_add_test(all, a_part_is_one_of_the_function_named_before_it);
	tcase_add_test(all, other_names_stay_as_they_are);
	tcase_add_test(all, names_of_c_stay_in_every_style);
	tcase_add_test(all, a_name_that_would_fill_all_memory_is_left_alone);
	tcase_add_test(all, a_long_d_name_needs_little_stack);
	tcase_add_test(all, a_d_name_that_would_fill_all_memory_is_left_alone);
	tcase_add_test(all, a_name_without_output_ends_after_a_time);
	tcase_add_test(all, all_names_together_end_after_a_time);
	tcase_add_test(all, brackets_that_do_not_pair_end_the_shortening);
	tcase_add_test(all, a_mangled_name_of_any_length_and_depth_ends);
	suite_add_tcase(suite, all);
	return unit_run_apart(suite);
}
