/* SPDX-License-Identifier: MIT */
#include <stdlib.h>
#include <string.h>

#include "src/callstack/callstack.h"
#include "src/perf_script/perf_script.h"
#include "src/perf_script/perf_script_line.h"
#include "tests/support/perf_script_calls.h"
#include "tests/support/unit.h"

static struct diag diag;
static char *printed;

static struct callstack_machine *(*machine)(const struct callstack_options *);

/* Returns the --format=calls output of the text. */
static const char *convert(const char *text, size_t length)
{
	FILE *in = fmemopen((void *)text, length, "r");
	struct error err = { 0 };
	size_t size;
	FILE *out;

	free(printed);
	out = open_memstream(&printed, &size);
	ck_assert_int_eq(perf_script_print_calls(in, out, machine, TRACE_MODE_GUESS, &diag, &err),
			 0);
	fclose(in);
	fclose(out);
	return printed;
}

static const char *convert_text(const char *text)
{
	return convert(text, strlen(text));
}

static void setup(void)
{
	diag_init(&diag);
	machine = callstack_magic_trace_open;
}

static void teardown(void)
{
	diag_release(&diag);
	free(printed);
	printed = NULL;
}

START_TEST(a_line_is_echoed_unless_it_stays_in_its_function)
{
	ck_assert_str_eq(convert_text("1/1 1.000000000: jmp 10 f+0x1 => 20 f+0x2\n"
				      "1/1 1.000000010: call 20 f+0x2 => 30 g+0x0\n"),
			 "1/1 1.000000010: call 20 f+0x2 => 30 g+0x0\n"
			 "END\n"
			 "->      0ns BEGIN f [inferred start time]\n"
			 "->     10ns BEGIN g\n"
			 "->     10ns END   g\n"
			 "->     10ns END   f\n");
}
END_TEST

START_TEST(an_unknown_line_is_counted_and_skipped)
{
	ck_assert_str_eq(convert_text("what is this\n1/1 1.0: vanish 10 f+0x1 => 20 g+0x0\n"),
			 "END\n");
	ck_assert_uint_eq(diag_kinds(&diag), 1);
	/* seeds.md: an unknown kind is a warning */
	ck_assert_uint_eq(diag.first->count, 2);
}
END_TEST

START_TEST(a_line_that_is_too_long_is_skipped_and_the_next_one_is_not)
{
	const char *next = "\n1/1 1.0: call 10 f+0x1 => 20 g+0x0";
	size_t length = 3 << 20;
	char *text = malloc(length + strlen(next));

	memset(text, 'x', length);
	memcpy(text + length, next, strlen(next));
	convert(text, length + strlen(next));
	ck_assert_ptr_nonnull(strstr(printed, "\n->      0ns END   g\n"));
	ck_assert_uint_eq(diag.first->count, 1);
	free(text);
}
END_TEST

START_TEST(bytes_that_are_no_text_are_skipped)
{
	convert("1/1 1.0: call \0 10\n\xff\xfe\0\n", 23);
	ck_assert_str_eq(printed, "END\n");
	ck_assert_uint_eq(diag.first->count, 2);
}
END_TEST

START_TEST(a_name_with_a_nul_is_not_demangled_up_to_it)
{
	static const char text[] = "1/1 1.0: jmp 10 _Z1gv\0x+0x1 => 20 _Z1gv\0x+0x2\n";

	convert(text, sizeof(text) - 1);
	ck_assert_ptr_nonnull(strstr(printed, "BEGIN _Z1gv"));
}
END_TEST

START_TEST(an_unnamed_place_in_a_file_is_named_after_its_signed_address)
{
	convert_text("1/1 1.000: call 10 f+0x1 (a) => 20 [unknown] (b)\n"
		     "1/1 1.001: jmp 20 [unknown] (b) => 28 [unknown] (b)\n"
		     "1/1 1.002: call 28 [unknown] (b) => fffffffffffffff0 [unknown] ([k])\n"
		     "1/1 1.003: call 10 f+0x1 (a) => 30 g+0x0 (a)\n");
	ck_assert_ptr_nonnull(strstr(printed, "->      1ms BEGIN [unknown @ 0x28 (b)]\n"));
	/* seeds.md: a location without symbol is `[unknown @ ADDRESS (DSO)]` */
	ck_assert_ptr_nonnull(strstr(printed, "->      2ms BEGIN [unknown @ -0x10 ([k])]\n"));
	ck_assert_ptr_nonnull(strstr(printed, "\nINPUT TRACE STREAM ENDED, any lines printed "
					      "below this were deferred\n"));
}
END_TEST

START_TEST(samples_move_time_and_leave_stacks_alone)
{
	/* seeds.md: branch-misses and cache-misses are marks on separate tracks */
	ck_assert_str_eq(
		convert_text("1/1 1.000000000: 50 branch-misses/period=50/u: 0 10 f+0x1 (a)\n"
			     "1/1 1.000000001: 1 psb: psb offs: 0x4be8 0 10 f+0x1 (a)\n"
			     "1/1 1.000000010: 1 branches:u: call 10 f+0x1 (a) => 20 g+0x0 (a)\n"
			     "1/1 1.000000030: 50 cache-misses/period=50/u: 0 10 f+0x1 (a)\n"),
		"1/1 1.000000000: 50 branch-misses/period=50/u: 0 10 f+0x1 (a)\n"
		"1/1 1.000000010: 1 branches:u: call 10 f+0x1 (a) => 20 g+0x0 (a)\n"
		"1/1 1.000000030: 50 cache-misses/period=50/u: 0 10 f+0x1 (a)\n"
		"INPUT TRACE STREAM ENDED, any lines printed below this were deferred\n"
		"->     10ns BEGIN g\n"
		"->     30ns END   g\n");
}
END_TEST

/* As perf --no-demangle prints them, and OCaml operators that perf has demangled. */
START_TEST(mangled_names_are_demangled_and_others_stay)
{
	convert_text("1/1 0.9: call 10 f+0x0 => 10 _ZN1a1BIiE3runEv+0x0\n"
		     "1/1 1.0: call 10 _ZN1a1BIiE3runEv+0x1 => 20 _ZN1aD1Ev@plt+0x0\n"
		     "1/1 1.1: call 20 _ZN1aD1Ev@plt+0x0 => 30 camlStdlib__$40_139+0x0\n"
		     "1/1 1.2: call 30 camlStdlib__$40_139+0x0 => 40 Stdlib.@_140+0x0\n"
		     "1/1 1.3: call 40 Stdlib.@_140+0x0 => 50 [unknown] (a@b)\n"
		     "1/1 1.4: call 50 [unknown] (a@b) => 60 main.cold+0x0\n");
	ck_assert_ptr_nonnull(strstr(printed, " BEGIN a::B<int>::run\n"));
	ck_assert_ptr_nonnull(strstr(printed, " BEGIN a::~a@plt\n"));
	/* seeds.md: names of OCaml are demangled */
	ck_assert_ptr_nonnull(strstr(printed, " BEGIN Stdlib.@_139\n"));
	ck_assert_ptr_nonnull(strstr(printed, " BEGIN Stdlib.@_140\n"));
	ck_assert_ptr_nonnull(strstr(printed, " BEGIN [unknown @ 0x50 (a@b)]\n"));
	ck_assert_ptr_nonnull(strstr(printed, " BEGIN main.cold\n"));
	/* The lines are printed unchanged. */
	ck_assert_ptr_nonnull(strstr(printed, "call 10 _ZN1a1BIiE3runEv+0x1"));
}
END_TEST

START_TEST(threads_end_in_the_order_of_their_appearance)
{
	convert_text("2/2 1.000000000: jmp 10 e+0x1 => 20 e+0x0\n"
		     "2/2 1.000000010: call 10 f+0x1 => 20 a+0x0\n"
		     "1/1 1.000000010: call 10 f+0x1 => 20 b+0x0\n"
		     "2/3 1.000000010: call 10 f+0x1 => 20 c+0x0\n"
		     "1/1 1.000000012: jmp 20 b+0x0 => 21 b+0x1\n");
	/* seeds.md: threads end at their last event, in any order */
	/* seeds.md: a pair of pid and tid is a thread */
	/* seeds.md: MAGIC_TRACE_DEBUG prints the stacks */
	ck_assert_ptr_nonnull(strstr(printed, "END\n"
					      "->      0ns BEGIN e [inferred start time]\n"
					      "->     10ns BEGIN a\n"
					      "->     10ns END   a\n"
					      "->     10ns END   e\n"
					      "->     11ns BEGIN b\n"
					      "->     12ns END   b\n"));
}
END_TEST

/* Returns the lines of the precise machine's slices of the text, without its own. */
static char *slices_of(const char *text)
{
	char *slices;
	size_t size;
	FILE *out = open_memstream(&slices, &size);

	machine = callstack_precise_open;
	convert_text(text);
	ck_assert_uint_eq(diag_kinds(&diag), 0);
	for (const char *line = printed; *line; line = strchrnul(line, '\n') + 1)
		if (!strncmp(line, "->", 2))
			fprintf(out, "%.*s", (int)(strchr(line, '\n') + 1 - line), line);
	fclose(out);
	return slices;
}

static void drop_events(const struct slice_sink *sink, void *track, const struct slice_batch *batch)
{
	(void)sink, (void)track, (void)batch;
}

START_TEST(code_without_names_is_one_function_a_file)
{
	char *slices =
		slices_of("1/1 1.0: call 10 f+0x1 (/a) => 110 [unknown] (/lib/b.so)\n"
			  "1/1 1.1: jmp 118 [unknown] (/lib/b.so) => 140 [unknown] (/lib/b.so)\n"
			  "1/1 1.2: call 148 [unknown] (/lib/b.so) => 20 g+0x0 (/a)\n"
			  "1/1 1.3: return 28 g+0x8 (/a) => 14d [unknown] (/lib/b.so)\n"
			  "1/1 1.4: return 150 [unknown] (/lib/b.so) => 15 f+0x6 (/a)\n");

	ck_assert_ptr_nonnull(strstr(slices, " 0ns BEGIN [b.so]\n"));
	ck_assert_ptr_null(strstr(strstr(slices, "BEGIN [b.so]") + 1, "BEGIN [b.so]"));
	ck_assert_ptr_nonnull(strstr(slices, " BEGIN g\n"));
	free(slices);
}
END_TEST

/* One branch's fields, any of which perf prints. */
static const struct {
	const char *flags, *from, *symbol, *to, *target;
} branches[] = {
	{ "tr strt", "0", NULL, "401000", "main+0x0" },
	{ "call", "401008", "main+0x8", "402000", "odd+0x0" },
	{ "jcc", "402004", "odd+0x4", "402010", "odd+0x10" },
	{ "call", "402018", "odd+0x18", "403000", "even+0x0" },
	{ "call", "403008", "even+0x8", "403000", "even+0x0" }, /* recursion */
	{ "jcc", "403004", "even+0x4", "40300d",
	  "even+0xd" }, /* across the call, like its return */
	{ "return", "403010", "even+0x10", "40300d", "even+0xd" },
	{ "return", "403010", "even+0x10", "40201d", "odd+0x1d" },
	{ "call", "402020", "odd+0x20", "404010", "puts@plt+0x0" },
	{ "jmp", "404014", "puts@plt+0x4", "7f0000001000", "puts+0x0" },
	{ "return", "7f0000001010", "puts+0x10", "402025", "odd+0x25" },
	{ "return", "402028", "odd+0x28", "40100d", "main+0xd" },
	{ "call", "401010", "main+0x10", "403000", "even+0x0" },
	{ "tr end", "403004", "even+0x4", "0", NULL },
};

/* Append a location, perhaps without its offset. */
static void print_location(FILE *out, const char *ip, const char *symbol, bool symoff)
{
	int length = symbol && !symoff ? (int)strcspn(symbol, "+") : 1000;

	fprintf(out, "%16s %.*s", ip, length, symbol ? symbol : "[unknown]");
}

/* Returns the slices of the branches when printed with some fields. */
static char *slices_with(bool flags, bool symoff)
{
	char *text, *slices;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	for (size_t i = 0; i < sizeof(branches) / sizeof(branches[0]); i++) {
		fprintf(out, "%7d 1.%09zu: ", 7, 10 * i);
		if (flags)
			fprintf(out, "  %-21s ", branches[i].flags);
		print_location(out, branches[i].from, branches[i].symbol, symoff);
		fputs(" => ", out);
		print_location(out, branches[i].to, branches[i].target, symoff);
		fputc('\n', out);
	}
	fclose(out);
	slices = slices_of(text);
	free(text);
	return slices;
}

START_TEST(what_flags_and_offsets_say_is_inferred_without_them)
{
	char *whole = slices_with(true, true);

	ck_assert_ptr_nonnull(strstr(whole, "BEGIN even"));
	for (int fields = 0; fields < 3; fields++) {
		char *slices = slices_with(fields & 1, fields & 2);

		ck_assert_str_eq(slices, whole);
		free(slices);
	}
	free(whole);
}
END_TEST

START_TEST(calls_into_the_kernel_are_inferred)
{
	char *slices =
		slices_of("7 1.0: 401008 main+0x8 => ffffffff81000000 entry_SYSCALL_64+0x0\n"
			  "7 1.1: ffffffff81000010 entry_SYSCALL_64+0x10 => ffffffff81002000 "
			  "do_syscall_64+0x0\n"
			  "7 1.2: ffffffff81002010 do_syscall_64+0x10 => 40100a main+0xa\n"
			  "7 1.3: 401010 main+0x10 => 402000 f+0x0\n"
			  "7 1.4: 402000 f+0x0 => 401015 main+0x15\n");

	ck_assert_ptr_nonnull(strstr(slices, " 200ms END   do_syscall_64\n"));
	ck_assert_ptr_nonnull(strstr(slices, " 200ms END   entry_SYSCALL_64\n"));
	ck_assert_ptr_nonnull(strstr(slices, " 300ms BEGIN f\n"));
	free(slices);
}
END_TEST

START_TEST(a_tree_of_calls_gives_its_calls)
{
	char *slices = slices_of("a 7 [000] 1.0:   tr strt    ([unknown])\t    main\n"
				 "a 7 [000] 1.1:   call       (/a)\t        f\n"
				 "a 7 [000] 1.2:   call       (/a)\t            g\n"
				 "a 7 [000] 1.3:   return     (/a)\t            g\n"
				 "a 7 [000] 1.4:   call       (/a)\t            g\n"
				 "a 7 [000] 1.5:   tr end  syscall       (/a)\t        \n"
				 "a 7 [000] 1.6:   tr strt    ([unknown])\t            g\n"
				 "a 7 [000] 1.7:   return     (/a)\t            g\n"
				 "a 7 [000] 1.8:   return     (/a)\t        f\n"
				 "a 7 [000] 1.9:   tr end  async (/a)\t    main\n");
	char *trace = slices_of("a 7 [000] 1.1: (/a  )\t        f\n"
				"a 7 [000] 1.2: (/a  )\t            g\n"
				"a 7 [000] 1.4: (/a  )\t            g\n"
				"a 7 [000] 1.8: (/a  )\t        h\n");

	ck_assert_ptr_nonnull(strstr(slices, " 100ms BEGIN f\n->    200ms BEGIN g\n"
					     "->    300ms END   g\n->    400ms BEGIN g\n"));
	ck_assert_ptr_nonnull(strstr(slices, " 700ms END   g\n->    800ms END   f\n"));
	ck_assert_ptr_nonnull(strstr(trace, "END   g\n->    300ms BEGIN g\n"));
	ck_assert_ptr_nonnull(strstr(trace, " 700ms END   f\n->    700ms BEGIN h\n"));
	free(slices);
	free(trace);
}
END_TEST

/*
 * Returns the fields that the text lacks: enum perf_script_lacks.  Fills *err if it is unreadable.
 */
static unsigned lacks(const char *text, struct error *err)
{
	FILE *in = fmemopen((void *)text, strlen(text), "r");
	struct name_table names;
	struct arena arena = { 0 };
	const struct slice_sink sink = { .events = drop_events };
	struct callstack_options stacks = { .sink = &sink, .names = &names };
	struct perf_script_options options = { .names = &names, .arena = &arena };
	struct perf_script_counts counts;

	name_table_init(&names);
	options.machine = callstack_precise_open(&stacks);
	perf_script_convert(in, &options, &counts, err);
	callstack_machine_close(options.machine);
	arena_release(&arena);
	name_table_release(&names);
	fclose(in);
	return counts.lacks;
}

START_TEST(what_the_text_lacks_is_counted)
{
	struct error err = { 0 };

	ck_assert_uint_eq(lacks("7 1.000000000: call 10 f+0x1 => 20 g+0x0\n", &err), 0);
	ck_assert_uint_eq(lacks("7 1.000000: 10 f => 20 g\n", &err),
			  TEXT_LACKS_FLAGS | TEXT_LACKS_SYMOFF | TEXT_LACKS_NS);
	ck_assert_uint_eq(lacks("               10 =>               20\n", &err),
			  TEXT_LACKS_FLAGS | TEXT_LACKS_TIME | TEXT_LACKS_TID | TEXT_LACKS_SYM);
	ck_assert_uint_eq(lacks("7 1.000000000: (/a)\t    f\n", &err),
			  TEXT_LACKS_ADDR | TEXT_LACKS_RETURNS);
	ck_assert_int_eq(err.kind, ERROR_NONE);
}
END_TEST

START_TEST(a_needed_field_that_is_missing_is_named)
{
	struct error addr = { 0 }, ip = { 0 }, none = { 0 };

	lacks("7 1.0: call 10 f+0x1\n7 1.1: return 20 g+0x1\n", &addr);
	ck_assert_ptr_nonnull(strstr(addr.text, "no field addr"));
	ck_assert_ptr_nonnull(strstr(addr.text, "perf script --ns"));
	lacks("7 1.0: call => 10 f+0x1\n", &ip);
	ck_assert_ptr_nonnull(strstr(ip.text, "no field ip"));
	lacks("7 1.0: 1 instructions:u: 0 10 f+0x1\n", &none);
	ck_assert_ptr_nonnull(strstr(none.text, "no branches: print it with perf script --ns"));
}
END_TEST

START_TEST(branches_that_begin_elsewhere_show_that_others_are_missing)
{
	struct error err = { 0 };

	/* An interrupt may cancel the jump before it. */
	ck_assert_uint_eq(lacks("7 1.000000000: call 10 f+0x1 => 20 g+0x0\n"
				"7 1.000000001: jmp 22 g+0x2 => 2a g+0xa\n"
				"7 1.000000002: jmp 2b g+0xb => 40 g+0x20\n"
				"7 1.000000003: jmp 48 g+0x28 => 44 g+0x24\n"
				"7 1.000000004: jmp 48 g+0x28 => 44 g+0x24\n"
				"7 1.000000005: hw int 40 g+0x20 => ffffffff81000000 k+0x0\n",
				&err),
			  0);
	ck_assert_uint_eq(lacks("7 1.000000000: call 10 f+0x1 => 20 g+0x0\n"
				"7 1.000000001: call 18 f+0x9 => 20 g+0x0\n",
				&err),
			  TEXT_LACKS_BRANCHES);
	ck_assert_uint_eq(lacks("7 1.000000000: call 10 f+0x1 => 20 g+0x0\n"
				"7 1.000000001: tr end  async 22 g+0x2 => 0 [unknown]\n"
				"7 1.000000002: tr strt 0 [unknown] => 10 f+0x1\n",
				&err),
			  0);
}
END_TEST

START_TEST(times_since_the_line_before_are_refused)
{
	struct error err = { 0 };

	lacks("7 0.000000000: call 10 f+0x1 => 20 g+0x0\n"
	      "7 0.000000005: return 20 g+0x0 => 12 f+0x3\n"
	      "7 0.000000009: call 14 f+0x5 => 20 g+0x0\n",
	      &err);
	ck_assert_int_eq(err.kind, ERROR_NONE);
	lacks("7 0.000000000: call 10 f+0x1 => 20 g+0x0\n"
	      "7 0.000000005: return 20 g+0x0 => 12 f+0x3\n"
	      "7 0.000000004: call 14 f+0x5 => 20 g+0x0\n",
	      &err);
	ck_assert_ptr_nonnull(strstr(err.text, "--deltatime"));
}
END_TEST

START_TEST(an_error_has_no_time_if_others_have_none_or_that_since_the_begin)
{
	static const char error[] = "instruction trace error type 1 time 900.0 cpu 0 pid 7 tid 7 "
				    "ip 0x20 code 5: Failed to get instruction\n";
	char text[512], *slices;

	snprintf(text, sizeof(text), "7/7 0.0: call 10 f+0x1 => 20 g+0x0\n%s", error);
	slices = slices_of(text);
	ck_assert_ptr_nonnull(strstr(slices, "0ns END   f\n"));
	free(slices);
	snprintf(text, sizeof(text), "7/7 call 10 f+0x1 => 20 g+0x0\n%s", error);
	slices = slices_of(text);
	ck_assert_ptr_nonnull(strstr(slices, "0ns END   f\n"));
	free(slices);
}
END_TEST

START_TEST(a_stream_that_cannot_be_read_is_an_error)
{
	FILE *in = fopen("/", "r");
	FILE *out = tmpfile();
	struct error err = { 0 };

	ck_assert_ptr_nonnull(in);
	ck_assert_int_eq(perf_script_print_calls(in, out, callstack_magic_trace_open,
						 TRACE_MODE_USER, NULL, &err),
			 -1);
	ck_assert_int_eq(err.kind, ERROR_SYSTEM);
	fclose(in);
	fclose(out);
}
END_TEST

/* ---- Kinds of branches by addresses and names ---------------------------- */

#define KERNEL UINT64_C(0xffffffff81000000)

static struct name_table inferred_names;

static struct location placed(const char *text)
{
	static const struct {
		char letter;
		const char *name;
		uint64_t address;
	} functions[] = { { 'f', "f", 0x1000 },
			  { 'g', "g", 0x2000 },
			  { 'h', "h", 0x3000 },
			  { 'x', "x@plt", 0x4000 },
			  { 'c', "f.cold", 0x5000 },
			  { 'k', "entry_SYSCALL_64", KERNEL },
			  { 'i', "asm_exc_page_fault", KERNEL + 0x1000 },
			  { 'j', "do_it", KERNEL + 0x2000 } };
	static struct symbol symbols[COUNT_OF(functions)];
	uint64_t offset = strtoull(text + 2, NULL, 16);
	size_t i = 0;

	while (functions[i].letter != *text)
		i++;
	symbols[i].name = symbols[i].linkage = name_intern_text(&inferred_names, functions[i].name);
	symbols[i].kind = *text == 'x' ? SYMBOL_PLT : SYMBOL_FUNCTION;
	return (struct location){ functions[i].address + offset, &symbols[i], offset };
}

/* C: a call, R: a return, J: a jump, S: a system call, I: an interrupt, E: the kernel's end. */
static const struct {
	const char *branches;
	bool entries; /* it is known that functions are entered at their first byte only */
	const char *kinds;
} inferences[] = {
	{ "f+10>g+0 g+20>f+15", true, "CR" },
	/* A call has two to eight bytes. */
	{ "f+10>g+0 g+20>f+12", true, "CR" },
	{ "f+10>g+0 g+20>f+18", true, "CR" },
	{ "f+10>g+0 g+20>f+11", true, "CJ" },
	{ "f+10>g+0 g+20>f+19", true, "CJ" },
	{ "f+10>g+0 g+20>f+19", false, "CC" },
	/* Out of a function that was not called here. */
	{ "g+20>f+15", true, "R" },
	{ "g+20>f+15", false, "C" },
	/* Returns may have been missed. */
	{ "f+10>g+0 g+10>h+0 h+9>f+15 f+20>g+0 g+9>f+25", true, "CCRCR" },
	{ "f+10>g+0 g+10>h+0 h+9>g+15 g+19>f+15", true, "CCRR" },
	/* Jumps and calls in a function. */
	{ "f+30>f+20", true, "J" },
	{ "f+30>f+20", false, "J" },
	{ "f+10>f+0 f+40>f+15", true, "CR" },
	{ "f+10>f+0 f+8>f+15 f+40>f+15", true, "CJR" },
	/* A stub, and code that the compiler moved, are entered by the jumps of their functions. */
	{ "f+10>x+0 x+3>g+0 g+9>f+15", true, "CJR" },
	{ "f+10>c+0 c+9>f+19", true, "JR" },
	/* The kernel's calls are apart. */
	{ "f+10>k+0 k+20>j+0 j+9>k+25 k+30>f+12", true, "SCRE" },
	{ "f+10>g+0 g+10>i+0 i+20>j+0 i+30>g+10 g+20>f+15", true, "CICER" },
};

START_TEST(kinds_of_branches_follow_from_addresses_and_names)
{
	static const char letters[] = "CRJSIE";
	static const enum branch_kind kinds[] = { BRANCH_CALL,    BRANCH_RETURN,    BRANCH_JUMP,
						  BRANCH_SYSCALL, BRANCH_INTERRUPT, BRANCH_IRET };
	char *copy = strdup(inferences[_i].branches), *rest, text[20] = "";
	struct inferred_calls calls = { 0 };

	name_table_init(&inferred_names);
	for (char *word = strtok_r(copy, " ", &rest); word; word = strtok_r(NULL, " ", &rest)) {
		struct location_pair locations = { .from = placed(word),
						   .to = placed(strchr(word, '>') + 1) };
		struct branch_event event = { .from = locations.from.ip, .to = locations.to.ip };
		size_t kind = 0;

		inferred_calls_branch(&calls, &event, &locations, false, inferences[_i].entries);
		while (kinds[kind] != event.kind)
			ck_assert_uint_lt(++kind, COUNT_OF(kinds));
		text[strlen(text)] = letters[kind];
	}
	ck_assert_str_eq(text, inferences[_i].kinds);
	inferred_calls_release(&calls);
	name_table_release(&inferred_names);
	free(copy);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("perf_script");
	TCase *all = tcase_create("perf_script");

	tcase_add_checked_fixture(all, setup, teardown);
	tcase_add_test(all, a_line_is_echoed_unless_it_stays_in_its_function);
	tcase_add_test(all, an_unknown_line_is_counted_and_skipped);
	tcase_add_test(all, a_line_that_is_too_long_is_skipped_and_the_next_one_is_not);
	tcase_add_test(all, bytes_that_are_no_text_are_skipped);
	tcase_add_test(all, a_name_with_a_nul_is_not_demangled_up_to_it);
	tcase_add_test(all, an_unnamed_place_in_a_file_is_named_after_its_signed_address);
	tcase_add_test(all, samples_move_time_and_leave_stacks_alone);
	tcase_add_test(all, mangled_names_are_demangled_and_others_stay);
	tcase_add_test(all, threads_end_in_the_order_of_their_appearance);
	tcase_add_test(all, code_without_names_is_one_function_a_file);
	tcase_add_test(all, what_flags_and_offsets_say_is_inferred_without_them);
	tcase_add_test(all, calls_into_the_kernel_are_inferred);
	tcase_add_test(all, a_tree_of_calls_gives_its_calls);
	tcase_add_test(all, what_the_text_lacks_is_counted);
	tcase_add_test(all, a_needed_field_that_is_missing_is_named);
	tcase_add_test(all, branches_that_begin_elsewhere_show_that_others_are_missing);
	tcase_add_test(all, times_since_the_line_before_are_refused);
	tcase_add_test(all, an_error_has_no_time_if_others_have_none_or_that_since_the_begin);
	tcase_add_test(all, a_stream_that_cannot_be_read_is_an_error);
	tcase_add_loop_test(all, kinds_of_branches_follow_from_addresses_and_names, 0,
			    COUNT_OF(inferences));
	suite_add_tcase(suite, all);
	return unit_run(suite);
}
