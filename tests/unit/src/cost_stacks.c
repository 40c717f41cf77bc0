/* SPDX-License-Identifier: MIT */
/* Costs of stacks, divided among instructions. */
#include "src/costs/cost_stacks.h"
#include "tests/support/unit.h"

/* Returns the sum of the parts between neighbours of `bounds`, which end with 0. */
static uint64_t sum_of_parts(uint64_t cost, const uint64_t *bounds, uint64_t all, uint64_t phase)
{
	struct cost_range range = { .all = all, .phase = phase };
	uint64_t sum = 0;

	for (; *bounds; bounds++) {
		range.begin = range.end;
		range.end = *bounds;
		ck_assert_uint_le(cost_share(cost, &range),
				  cost * (range.end - range.begin) / all + 1);
		ck_assert_uint_ge(cost_share(cost, &range), cost * (range.end - range.begin) / all);
		sum += cost_share(cost, &range);
	}
	return sum;
}

START_TEST(parts_of_a_cost_add_up_to_it)
{
	const uint64_t bounds[] = { 1, 2, 500, 31000, 31006, 78000, 0 };

	for (uint64_t cost = 0; cost < 300; cost += 7)
		for (uint64_t phase = 0; phase < 78000; phase += 7777)
			ck_assert_uint_eq(sum_of_parts(cost, bounds, 78000, phase), cost);
}
END_TEST

START_TEST(the_executions_themselves_are_divided_exactly)
{
	const struct cost_range range = { .begin = 500, .end = 31000, .all = 78000 };

	ck_assert_uint_eq(cost_share(78000, &range), 30500);
}
END_TEST

START_TEST(large_costs_do_not_overflow)
{
	const struct cost_range range = { .end = UINT64_MAX / 2, .all = UINT64_MAX };

	ck_assert_uint_eq(cost_share(UINT64_MAX, &range), UINT64_MAX / 2);
}
END_TEST

/* Over many stacks, each of few instructions, a part has its share: rounding has no preference. */
START_TEST(phases_have_no_preference)
{
	struct cost_range range = { .begin = 10, .end = 40, .all = 100 };
	uint64_t sum = 0;

	for (range.phase = 0; range.phase < range.all; range.phase++)
		sum += cost_share(1, &range);
	ck_assert_uint_eq(sum, 30);
}
END_TEST

static struct name_table names;
static struct cost_stacks stacks;
static struct track thread = { .thread_name = "main" };
static struct symbol f, g;
static struct dso *const file = (struct dso *)&thread; /* is not read */

static void setup(void)
{
	name_table_init(&names);
	f.name = f.linkage = name_intern_text(&names, "f");
	g.name = g.linkage = name_intern_text(&names, "g");
	cost_stacks_init(&stacks, &names, UINT64_MAX, false);
}

static void teardown(void)
{
	cost_stacks_release(&stacks);
	name_table_release(&names);
}

static void edge(const struct symbol *symbol, uint64_t time, uint64_t insns)
{
	slice_sink_emit(&stacks.sink, &thread,
			&(struct slice_event){ .time = time,
					       .symbol = symbol,
					       .kind = symbol ? SLICE_BEGIN : SLICE_END },
			&(struct slice_detail){ .insns = insns });
}

/* Code whose executions are not known has one instruction, where its function begins. */
START_TEST(each_function_has_all_its_costs)
{
	edge(&f, 10, 100);
	edge(&g, 15, 110);
	edge(NULL, 25, 117);
	edge(&g, 30, 117);
	edge(NULL, 31, 117);
	edge(NULL, 40, 120);
	cost_stacks_finish(&stacks);
	ck_assert_uint_eq(stacks.functions.count, 2);
	ck_assert_uint_eq(stacks.own[0].insns, 13);
	ck_assert_uint_eq(stacks.own[1].insns, 7);
	ck_assert_uint_eq(stacks.own[1].ns, 11);
	ck_assert_uint_eq(cost_executions(&stacks, 0), 13);
	ck_assert_uint_eq(stacks.first[2], 2);
	ck_assert_uint_eq(stacks.instructions[1].insn.length, 0);
	ck_assert_ptr_eq(stacks.instructions[1].symbol, &g);
}
END_TEST

START_TEST(a_function_without_counts_has_an_instruction)
{
	edge(&f, 10, 0);
	edge(NULL, 30, 0);
	cost_stacks_finish(&stacks);
	ck_assert_uint_eq(cost_executions(&stacks, 0), 1);
	ck_assert_uint_eq(cost_shares(&stacks.own[0], &(struct cost_range){ 0, 1, 1, 0 }).ns, 20);
}
END_TEST

/* More sites than the cache of calls has slots, in two functions that call g. */
START_TEST(a_stack_has_the_site_of_its_call)
{
	struct symbol sites[] = { { .dso = file }, { .dso = file } };
	size_t known;

	for (unsigned round = 0; round < 2; round++) {
		for (uint64_t i = 0; i < 20000; i++) {
			edge(i / 5000 % 2 ? &f : &g, 10, 0);
			slice_sink_emit(&stacks.sink, &thread,
					&(struct slice_event){ .time = 10, .symbol = &g },
					&(struct slice_detail){ .caller = &sites[i / 10000],
								.caller_offset = i % 5000 });
			edge(NULL, 10, 0);
			edge(NULL, 10, 0);
		}
		known = round ? known : stacks.tree.count;
	}
	ck_assert_uint_eq(stacks.tree.count, known);
	ck_assert_uint_eq(known, 1 + 1 + 2 + 20000); /* and the thread, and both callers */
}
END_TEST

START_TEST(a_stack_has_its_callers)
{
	for (unsigned i = 0; i < 20000; i++)
		edge(&g, 10, 0);
	ck_assert_uint_eq(stacks.tree.count, 1 + 1 + 20000);
}
END_TEST

/* Of 13 instructions of f, 7 are counted one by one. */
START_TEST(instructions_without_an_address_are_where_the_function_begins)
{
	const struct cost_insn counted[] = { { .insn = { .vaddr = 0x20, .count = 4 } },
					     { .insn = { .vaddr = 0x10, .count = 3 } } };

	for (size_t i = 0; i < 2; i++)
		*ARRAY_ADD(stacks.instructions, stacks.instruction_count, stacks.instruction_room) =
			counted[i];
	edge(&f, 10, 0);
	edge(NULL, 30, 13);
	cost_stacks_finish(&stacks);
	ck_assert_uint_eq(stacks.instruction_count, 3);
	ck_assert_uint_eq(stacks.instructions[0].insn.count, 6);
	ck_assert_uint_eq(stacks.instructions[1].before, 6);
	ck_assert_uint_eq(stacks.instructions[2].before, 9);
	ck_assert_uint_eq(cost_executions(&stacks, 0), 13);
}
END_TEST

/* ---- Inlined calls ----------------------------------------------------------- */

/* Debug information of one file: at 0x110 to 0x11f f calls a, and at 0x118 a calls b there. */
static struct symbol a, b;
static const struct inlined_call call_of_a = { &a, NULL, { 0 } };
static const struct inlined_call call_of_b = { &b, &call_of_a, { 0 } };
/* At 0x120 f calls deep0, which calls deep1, and so on. */
#define DEEP 40
static struct symbol deep[DEEP];
static struct inlined_call deep_calls[DEEP];
static struct symbol a = { .inlined = &call_of_a }, b = { .inlined = &call_of_b };

const struct inlined_call *__wrap_dso_inlined_at(struct dso *dso, uint64_t vaddr);
struct source_line __wrap_dso_line(const struct symbol *symbol, uint64_t offset);
struct source_line __wrap_dso_symbol_line(const struct symbol *symbol);

const struct inlined_call *__wrap_dso_inlined_at(struct dso *dso, uint64_t vaddr)
{
	ck_assert_ptr_eq(dso, file);
	if (vaddr == 0x120)
		return &deep_calls[DEEP - 1];
	return vaddr / 16 != 0x11 ? NULL : vaddr < 0x118 ? &call_of_a : &call_of_b;
}

struct source_line __wrap_dso_line(const struct symbol *symbol, uint64_t offset)
{
	return (struct source_line){ .line = (uint32_t)(symbol->start + offset) };
}

struct source_line __wrap_dso_symbol_line(const struct symbol *symbol)
{
	return (struct source_line){ .line = symbol == &f ? 1 : symbol == &a ? 2 : 3 };
}

/* The frames of an instruction in slices of a function, innermost first: "b 280, a 3, f 2". */
static void expect_sources(const struct symbol *function, uint32_t site, const char *expected)
{
	struct cost_source sources[COST_SOURCES];
	uint32_t number = function_table_find(&stacks.functions, function);
	size_t count = cost_sources(&stacks, number, site, sources);
	char text[100] = "";

	for (size_t i = 0; i < count; i++)
		sprintf(text + strlen(text), "%s%s %u", i ? ", " : "",
			sources[i].symbol->name->text, sources[i].at.line);
	ck_assert_str_eq(text, expected);
}

START_TEST(an_instruction_has_the_inlined_calls_up_to_its_function)
{
	uint32_t plain, in_a, in_b, of_g;

	a.name = a.linkage = name_intern_text(&names, "a");
	b.name = b.linkage = name_intern_text(&names, "b");
	f.dso = g.dso = a.dso = b.dso = file;
	f.start = 0x100;
	g.start = 0x200;
	plain = cost_site(&stacks, &f, 0x5);
	in_a = cost_site(&stacks, &f, 0x10);
	in_b = cost_site(&stacks, &f, 0x18);
	of_g = cost_site(&stacks, &g, 0x7);
	expect_sources(&f, plain, "f 261");
	expect_sources(&f, in_a, "a 272, f 2");
	expect_sources(&f, in_b, "b 280, a 3, f 2");
	/* Inlined calls that are slices have their own code only. */
	expect_sources(&a, in_a, "a 272");
	expect_sources(&a, in_b, "b 280, a 3");
	expect_sources(&b, in_b, "b 280");
	/* Code of another function, or unknown: the function's own line. */
	expect_sources(&f, of_g, "f 1");
	expect_sources(&f, 0, "f 1");
	expect_sources(&a, plain, "a 0");
}
END_TEST

/* The innermost calls are left out. */
START_TEST(an_instruction_has_32_sources_at_most)
{
	struct cost_source sources[COST_SOURCES];
	uint32_t site;

	f.dso = file;
	f.start = 0x100;
	for (int i = 0; i < DEEP; i++) {
		char text[20];

		sprintf(text, "deep%d", i);
		deep[i] = (struct symbol){ .name = name_intern_text(&names, text), .dso = file };
		deep[i].linkage = deep[i].name;
		deep[i].inlined = &deep_calls[i];
		deep_calls[i] =
			(struct inlined_call){ &deep[i], i ? &deep_calls[i - 1] : NULL, { 0 } };
	}
	site = cost_site(&stacks, &f, 0x20);
	ck_assert_uint_eq(
		cost_sources(&stacks, function_table_find(&stacks.functions, &f), site, sources),
		COST_SOURCES);
	for (int i = 0; i < COST_SOURCES - 1; i++)
		ck_assert_ptr_eq(sources[i].symbol, &deep[COST_SOURCES - 2 - i]);
	ck_assert_ptr_eq(sources[COST_SOURCES - 1].symbol, &f);
}
END_TEST

/* ---- Instructions ------------------------------------------------------------ */

/* f is at 0x100, g at 0x200 with a part at 0x300, and at 0x400 another function. */
static struct symbol part = { .function = &g }, another;

const struct symbol *__wrap_dso_borrow_symbol_at(struct dso *dso, uint64_t vaddr);
const uint8_t *__wrap_dso_borrow_code(const struct dso *dso, uint64_t vaddr, size_t *left);

const struct symbol *__wrap_dso_borrow_symbol_at(struct dso *dso, uint64_t vaddr)
{
	const struct symbol *const found[] = { &f, &g, &part, &another };

	ck_assert_ptr_eq(dso, file);
	return found[vaddr / 0x100 - 1];
}

const uint8_t *__wrap_dso_borrow_code(const struct dso *dso, uint64_t vaddr, size_t *left)
{
	static const uint8_t ret = 0xc3;

	ck_assert_ptr_eq(dso, file);
	(void)vaddr;
	*left = 1;
	return &ret;
}

static void ran(uint64_t vaddr, uint64_t count)
{
	executed_code_add(
		&stacks.code, file, vaddr,
		&(struct code_count){
			.begin = vaddr, .last = vaddr, .count = count, .kind = BRANCH_RETURN });
}

/* f executes 20 instructions, of which 6 are of a, which is inlined at 0x110; then g 7. */
START_TEST(instructions_are_of_the_function_whose_slices_have_them)
{
	char text[200] = "";

	cost_stacks_release(&stacks);
	cost_stacks_init(&stacks, &names, UINT64_MAX, _i);
	a.name = a.linkage = name_intern_text(&names, "a");
	part.name = part.linkage = name_intern_text(&names, "g.cold");
	another.name = another.linkage = name_intern_text(&names, "another");
	f.dso = g.dso = a.dso = part.dso = another.dso = file;
	f.start = 0x100;
	g.start = 0x200;
	edge(&f, 0, 0);
	if (_i) {
		edge(&a, 10, 10);
		edge(NULL, 16, 16);
	}
	edge(NULL, 20, 20);
	edge(&g, 20, 20);
	edge(NULL, 27, 27);
	ran(0x110, 4);
	ran(0x210, 3);
	ran(0x300, 2);
	ran(0x400, 9);
	cost_stacks_finish(&stacks);
	for (size_t i = 0; i < stacks.instruction_count; i++) {
		const struct cost_insn *insn = &stacks.instructions[i];

		sprintf(text + strlen(text), "%s %x:%d ",
			stacks.functions.functions[insn->function].symbol->name->text,
			(unsigned)insn->insn.vaddr, (int)insn->insn.count);
	}
	/* What is not counted is where the function begins. */
	ck_assert_str_eq(text, _i ? "f 100:14 a 0:2 a 110:4 g 200:2 g 210:3 g 300:2 "
				  : "f 100:16 f 110:4 g 200:2 g 210:3 g 300:2 ");
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("cost_stacks");
	TCase *all = tcase_create("all");

	tcase_add_checked_fixture(all, setup, teardown);
	tcase_add_test(all, parts_of_a_cost_add_up_to_it);
	tcase_add_test(all, the_executions_themselves_are_divided_exactly);
	tcase_add_test(all, large_costs_do_not_overflow);
	tcase_add_test(all, phases_have_no_preference);
	tcase_add_test(all, each_function_has_all_its_costs);
	tcase_add_test(all, a_function_without_counts_has_an_instruction);
	tcase_add_test(all, a_stack_has_the_site_of_its_call);
	tcase_add_test(all, a_stack_has_its_callers);
	tcase_add_test(all, instructions_without_an_address_are_where_the_function_begins);
	tcase_add_test(all, an_instruction_has_the_inlined_calls_up_to_its_function);
	tcase_add_test(all, an_instruction_has_32_sources_at_most);
	tcase_add_loop_test(all, instructions_are_of_the_function_whose_slices_have_them, 0, 2);
	suite_add_tcase(suite, all);
	return unit_run(suite);
}
