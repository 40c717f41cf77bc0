/* SPDX-License-Identifier: MIT */
/*
 * Profiles for compilers of code made by hand; symbols and lines come from tables below instead of
 * a file (ld --wrap).
 */
#include <stdio.h>
#include <stdlib.h>

#include "src/costs/executed_code.h"
#include "src/formats/output_format.h"
#include "src/options/options.h"
#include "symbols/dso/dso_store.h"
#include "tests/support/unit.h"

#define MAIN 0x1000
#define WORK 0x1040
#define END  0x1060

static char file; /* only its address, as a file's, is compared */
static uint8_t bytes[END - MAIN];
static struct symbol functions[2];
static struct code_lines {
	uint64_t vaddr;
	size_t depth;
	struct source_frame frames[2];
} lines[8];
static size_t line_count;
static struct name_table names;
static struct format_output *output;
static char *text;
static size_t size;
static FILE *out;

const struct symbol *__wrap_dso_borrow_symbol_at(struct dso *dso, uint64_t vaddr);
const uint8_t *__wrap_dso_borrow_code(const struct dso *dso, uint64_t vaddr, size_t *left);
size_t __wrap_dso_source_frames(struct dso *dso, uint64_t vaddr,
				struct source_frame frames[SOURCE_FRAMES]);

const struct symbol *__wrap_dso_borrow_symbol_at(struct dso *dso, uint64_t vaddr)
{
	(void)dso;
	return &functions[vaddr >= WORK];
}

const uint8_t *__wrap_dso_borrow_code(const struct dso *dso, uint64_t vaddr, size_t *left)
{
	(void)dso;
	*left = END - vaddr;
	return bytes + (vaddr - MAIN);
}

size_t __wrap_dso_source_frames(struct dso *dso, uint64_t vaddr,
				struct source_frame frames[SOURCE_FRAMES])
{
	(void)dso;
	for (size_t i = 0; i < line_count; i++) {
		if (lines[i].vaddr != vaddr)
			continue;
		memcpy(frames, lines[i].frames, sizeof(lines[i].frames));
		return lines[i].depth;
	}
	return 0;
}

static void setup(void)
{
	name_table_init(&names);
	memset(bytes, 0x90, sizeof(bytes));
	bytes[0x18] = 0x74; /* je 0x1030 */
	bytes[0x19] = 0x16;
	bytes[0x20] = 0xc3; /* ret */
	functions[0] = (struct symbol){ .start = MAIN, .size = WORK - MAIN };
	functions[1] = (struct symbol){ .start = WORK, .size = END - WORK };
	functions[0].name = functions[0].linkage = name_intern_text(&names, "main");
	functions[1].name = name_intern_text(&names, "work()");
	functions[1].linkage = name_intern_text(&names, "_Z4workv");
	line_count = 0;
	out = open_memstream(&text, &size);
}

static void teardown(void)
{
	fclose(out);
	free(text);
	name_table_release(&names);
}

static void open_profile(const struct output_format *format)
{
	static const struct options options;

	output = output_format_open(
		format,
		&(struct format_request){ .options = &options, .text = out, .names = &names });
}

static void add(struct code_stretch stretch)
{
	struct executed_code *code = output->code;

	stretch.dso = (const struct dso *)(const void *)&file;
	*ARRAY_ADD(code->stretches, code->count, code->room) = stretch;
}

/* Branches from one function to another; `from` 0: from another file. */
static void add_branch(enum branch_kind kind, uint64_t from, uint64_t to, uint64_t count)
{
	add((struct code_stretch){ .begin = from,
				   .last = to,
				   .count = count,
				   .kind = STRETCH_BRANCH,
				   .branch = kind });
}

static void expect(const struct output_format *format, const char *wanted)
{
	format->finish(output);
	ck_assert_int_eq(output->err.kind, ERROR_NONE);
	format->release(output);
	free(output);
	fflush(out);
	ck_assert_str_eq(text, wanted);
}

/*
 * llvm/bolt's DataAggregator.h: {B|F|f} [<start_id>:]<start> [<end_id>:]<end> <count> [<mispreds>],
 * in hexadecimal but the counts; mispredictions of branches alone.
 *
 * Of 15 executions 12 jump, and 3 continue to the return.
 */
START_TEST(bolt_has_a_conditional_jump_and_both_ways_from_it)
{
	open_profile(&format_bolt);
	add((struct code_stretch){ .begin = MAIN + 0x10,
				   .last = MAIN + 0x18,
				   .count = 15,
				   .taken = 12,
				   .branch = BRANCH_COND });
	add((struct code_stretch){ .begin = MAIN + 0x18,
				   .last = MAIN + 0x30,
				   .count = 12,
				   .kind = STRETCH_JUMP,
				   .branch = BRANCH_COND });
	add((struct code_stretch){
		.begin = MAIN + 0x1a, .last = MAIN + 0x20, .count = 3, .branch = BRANCH_RETURN });
	expect(&format_bolt, "F 1010 1018 15\n"
			     "F 1018 1020 3\n"
			     "B 1018 1030 12 0\n");
}
END_TEST

/* An interrupt before 0x1014 ends one of 4 executions; 3 continue there. */
START_TEST(bolt_has_straight_code_up_to_an_interrupt)
{
	open_profile(&format_bolt);
	add((struct code_stretch){
		.begin = MAIN + 0x10, .last = MAIN + 0x14, .count = 1, .kind = STRETCH_STOPPED });
	add((struct code_stretch){
		.begin = MAIN + 0x10, .last = MAIN + 0x20, .count = 3, .branch = BRANCH_RETURN });
	expect(&format_bolt, "F 1010 1014 4\n"
			     "F 1014 1020 3\n");
}
END_TEST

/* X is an unknown file; f has an external origin: "a return hitting a basic block head". */
START_TEST(bolt_has_calls_returns_and_callers_of_other_files)
{
	open_profile(&format_bolt);
	add_branch(BRANCH_CALL, MAIN + 4, WORK, 300);
	add_branch(BRANCH_CALL, 0, MAIN, 1);
	add_branch(BRANCH_RETURN, WORK + 9, MAIN + 9, 299);
	add_branch(BRANCH_RETURN, 0, MAIN + 0xc, 7);
	expect(&format_bolt, "B X:0 1000 1 0\n"
			     "B 1004 1040 300 0\n"
			     "B 1049 1009 299 0\n"
			     "f 1009 1009 299\n"
			     "f 100c 100c 7\n");
}
END_TEST

/* It was counted as code, and as a branch between functions. */
START_TEST(bolt_has_a_jump_to_another_function_once)
{
	open_profile(&format_bolt);
	add_branch(BRANCH_JUMP, MAIN + 0x20, WORK, 8);
	add((struct code_stretch){ .begin = MAIN + 0x20,
				   .last = WORK,
				   .count = 9,
				   .kind = STRETCH_JUMP,
				   .branch = BRANCH_JUMP });
	expect(&format_bolt, "B 1020 1040 9 0\n");
}
END_TEST

static struct source_frame frame(const char *function, uint32_t line, uint32_t discriminator)
{
	return (struct source_frame){ name_intern_text(&names, function), line, discriminator };
}

static void add_line(uint64_t vaddr, size_t depth, struct source_frame innermost,
		     struct source_frame outer)
{
	lines[line_count++] = (struct code_lines){ vaddr, depth, { innermost, outer } };
}

/* One instruction, which is executed. */
static void run(uint64_t vaddr, uint64_t count)
{
	add((struct code_stretch){
		.begin = vaddr, .last = vaddr, .count = count, .branch = BRANCH_JUMP });
}

/*
 * llvm's SampleProfReader.h: "name:total:head", then " line[.discriminator]: count [callee:count]",
 * and " line[.discriminator]: name:total" of an inlined function, whose lines are one blank deeper.
 * Names are mangled, lines relative to the function's; what follows in a section is its nested
 * tree.
 */
START_TEST(llvm_has_lines_calls_and_inlined_functions)
{
	const struct source_frame none = { 0 };

	add_line(MAIN, 1, frame("main", 1, 0), none);
	add_line(MAIN + 1, 1, frame("main", 1, 0), none); /* moved by an optimiser */
	add_line(MAIN + 2, 1, frame("main", 2, 3 << 1), none);
	add_line(MAIN + 3, 2, frame("_Z5smallv", 4, 0), frame("main", 3, 1 << 1));
	add_line(MAIN + 4, 1, frame("main", 5, 0), none);
	add_line(MAIN + 5, 1, frame("main", 6, 0), none); /* does not run */
	add_line(WORK, 1, frame("_Z4workv", 0, 0), none);
	open_profile(&format_llvm_profile);
	run(MAIN, 1);
	run(MAIN + 1, 10);
	run(MAIN + 2, 20);
	run(MAIN + 3, 40);
	run(MAIN + 4, 60);
	run(WORK, 62);
	add_branch(BRANCH_CALL, 0, MAIN, 1);
	add_branch(BRANCH_CALL, MAIN + 4, WORK, 60);
	add_branch(BRANCH_JUMP, 0, WORK, 2);
	/* No calls: a loop, and a return to an address that code pushed. */
	add_branch(BRANCH_JUMP, WORK + 9, WORK, 7);
	add_branch(BRANCH_RETURN, MAIN + 4, WORK, 9);
	expect(&format_llvm_profile, "_Z4workv:62:62\n"
				     " 0: 62\n"
				     "main:131:1\n"
				     " 1: 10\n"
				     " 2.3: 20\n"
				     " 5: 60 _Z4workv:60\n"
				     " 6: 0\n"
				     " 3.1: _Z5smallv:40\n"
				     "  4: 40\n");
}
END_TEST

/* The second part of a discriminator (llvm's DebugInfoMetadata.h): of a loop unrolled 4 times. */
START_TEST(llvm_has_the_executions_of_a_loop_that_is_unrolled)
{
	add_line(MAIN, 1, frame("main", 2, 4 << 2 | 1), (struct source_frame){ 0 });
	open_profile(&format_llvm_profile);
	run(MAIN, 25);
	expect(&format_llvm_profile, "main:100:0\n"
				     " 2: 100\n");
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("compilers");
	TCase *tests = tcase_create("all");

	tcase_add_checked_fixture(tests, setup, teardown);
	tcase_add_test(tests, bolt_has_a_conditional_jump_and_both_ways_from_it);
	tcase_add_test(tests, bolt_has_straight_code_up_to_an_interrupt);
	tcase_add_test(tests, bolt_has_calls_returns_and_callers_of_other_files);
	tcase_add_test(tests, bolt_has_a_jump_to_another_function_once);
	tcase_add_test(tests, llvm_has_lines_calls_and_inlined_functions);
	tcase_add_test(tests, llvm_has_the_executions_of_a_loop_that_is_unrolled);
	suite_add_tcase(suite, tests);
	return unit_run(suite);
}
