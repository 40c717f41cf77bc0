/* SPDX-License-Identifier: MIT */
/* Counts of code add up by address and by the way that it was left. */
#include "src/costs/executed_code.h"

#include "decoder/known_branches.h"
#include "symbols/dso/dso_store.h"
#include "tests/support/unit.h"

/* Where the code is in memory, and in its file. */
#define IP    0x7f0000001000
#define VADDR 0x1000

/* Only its address, as a file's, is compared. */
static char file;
static struct executed_code code;

const uint8_t *__wrap_dso_borrow_code(const struct dso *dso, uint64_t vaddr, size_t *left);

const uint8_t *__wrap_dso_borrow_code(const struct dso *dso, uint64_t vaddr, size_t *left)
{
	static const uint8_t ret = 0xc3;

	(void)dso;
	(void)vaddr;
	*left = 1;
	return &ret;
}

static const struct dso *dso(void)
{
	return (const struct dso *)(const void *)&file;
}

/* Count code from 0x10 to 0x18, and then to 0x30. */
static void count(enum branch_kind kind, uint64_t executions, uint64_t taken)
{
	const struct code_count counted = {
		.begin = IP + 0x10,
		.last = IP + 0x18,
		.to = IP + 0x30,
		.count = executions,
		.taken = taken,
		.kind = (uint8_t)kind,
	};

	executed_code_add(&code, dso(), VADDR + 0x10, &counted);
}

static uint64_t sum(enum stretch_kind kind, uint64_t begin, uint64_t last)
{
	uint64_t found = 0;

	for (size_t i = 0; i < code.count; i++)
		if (code.stretches[i].kind == kind && code.stretches[i].begin == VADDR + begin &&
		    code.stretches[i].last == VADDR + last && code.stretches[i].dso == dso())
			found += code.stretches[i].count;
	return found;
}

static void setup(void)
{
	executed_code_init(&code);
}

static void teardown(void)
{
	executed_code_release(&code);
}

START_TEST(a_conditional_jump_counts_both_ways)
{
	count(BRANCH_COND, 5, 2);
	count(BRANCH_COND, 7, 7);
	ck_assert_uint_eq(code.count, 2);
	ck_assert_uint_eq(sum(STRETCH_RAN, 0x10, 0x18), 12);
	ck_assert_uint_eq(code.stretches[0].taken, 9);
	ck_assert_uint_eq(stretch_passes(&code.stretches[0]), 3);
	ck_assert_uint_eq(sum(STRETCH_JUMP, 0x18, 0x30), 9);
}
END_TEST

START_TEST(targets_of_an_indirect_jump_are_counted_apart_from_its_code)
{
	count(BRANCH_JUMP, 0, 4);
	ck_assert_uint_eq(code.count, 1);
	ck_assert_uint_eq(sum(STRETCH_JUMP, 0x18, 0x30), 4);
}
END_TEST

START_TEST(a_call_is_no_jump)
{
	count(BRANCH_CALL, 3, 3);
	ck_assert_uint_eq(code.count, 2);
	ck_assert_uint_eq(sum(STRETCH_RAN, 0x10, 0x18), 3);
	ck_assert_uint_eq(sum(STRETCH_CALL, 0x18, 0x30), 3);
}
END_TEST

/* As where the decoder has no room for known branches; `from` 0: it was not traced. */
START_TEST(branches_between_functions_are_counted_by_their_kinds)
{
	struct known_branch known[] = { { .locations.to.ip = 0 },
					{ .locations = { { .ip = IP + 1 }, { .ip = IP + 2 } } } };
	const struct branch_event events[] = {
		{ .kind = BRANCH_GAP },
		{ .kind = BRANCH_SYSCALL, .known = &known[1] },
		{ .kind = BRANCH_COND, .known = &known[1] },
		{ .kind = BRANCH_CALL, .known = &known[1] },
		{ .kind = BRANCH_JUMP, .known = &known[1] },
		{ .kind = BRANCH_JUMP, .from = IP + 1, .to = IP + 2 },
		{ .kind = BRANCH_RETURN, .to = IP + 2 },
	};
	const enum branch_kind kinds[] = { BRANCH_RETURN, BRANCH_CALL, BRANCH_JUMP };
	const uint64_t begins[] = { 0, VADDR + 1, VADDR + 1 }, counts[] = { 1, 1, 3 };

	code.mapped = (struct mapped_code){
		.dso = dso(), .begin = IP, .size = 0x100, .distance = VADDR - IP
	};
	code.known = known;
	executed_code_count(&code, events, COUNT_OF(events));
	executed_code_finish(&code);
	ck_assert_uint_eq(code.count, 3);
	for (size_t i = 0; i < 3; i++) {
		const struct code_stretch *found = NULL;

		for (size_t n = 0; n < 3; n++)
			found = code.stretches[n].branch == kinds[i] ? &code.stretches[n] : found;
		ck_assert_ptr_nonnull(found);
		ck_assert_int_eq(found->kind, STRETCH_BRANCH);
		ck_assert_uint_eq(found->begin, begins[i]);
		ck_assert_uint_eq(found->last, VADDR + 2);
		ck_assert_uint_eq(found->count, counts[i]);
	}
}
END_TEST

static void add_to_text(void *context, const struct executed_insn *insn)
{
	char *text = context;

	sprintf(text + strlen(text), "%s %d\n", (const char *)insn->dso->hh.key,
		(int)(insn->vaddr - VADDR));
}

/* Of equal paths, the shorter build id is first. */
START_TEST(instructions_are_in_the_order_of_files_names_not_of_memory)
{
	const char *const keys[] = { "/b\0id", "/a\0id", "/c\0\1", "/c", "/b\0id2" };
	const unsigned sizes[] = { 5, 5, 4, 3, 6 };
	struct dso dsos[COUNT_OF(keys)] = { 0 };
	char text[100] = "";

	for (size_t i = 0; i < COUNT_OF(keys); i++) {
		dsos[i].hh.key = keys[i];
		dsos[i].hh.keylen = sizes[i];
		for (uint64_t at = 2 * i + 2; at-- > 2 * i;)
			executed_code_add(&code, &dsos[i], VADDR + at,
					  &(struct code_count){ .begin = IP + at,
								.last = IP + at,
								.count = 1,
								.kind = BRANCH_RETURN });
	}
	executed_code_list(&code, add_to_text, text);
	ck_assert_str_eq(text, "/a 2\n/a 3\n/b 0\n/b 1\n/b 8\n/b 9\n/c 6\n/c 7\n/c 4\n/c 5\n");
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("executed_code");
	TCase *tests = tcase_create("all");

	tcase_add_checked_fixture(tests, setup, teardown);
	tcase_add_test(tests, a_conditional_jump_counts_both_ways);
	tcase_add_test(tests, targets_of_an_indirect_jump_are_counted_apart_from_its_code);
	tcase_add_test(tests, a_call_is_no_jump);
	tcase_add_test(tests, branches_between_functions_are_counted_by_their_kinds);
	tcase_add_test(tests, instructions_are_in_the_order_of_files_names_not_of_memory);
	suite_add_tcase(suite, tests);
	return unit_run(suite);
}
