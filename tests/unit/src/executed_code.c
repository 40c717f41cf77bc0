/* SPDX-License-Identifier: MIT */
/* Counts of code add up by address and by the way that it was left. */
#include "src/costs/executed_code.h"

#include "decoder/code/code_image.h"
#include "decoder/history.h"
#include "decoder/known_branches.h"
#include "src/resolve/resolve.h"
#include "src/slices/track.h"
#include "symbols/dso/dso_store.h"
#include "tests/support/unit.h"

/* Where the code is in memory, and in its file. */
#define IP    0x7f0000001000
#define VADDR 0x1000

/* Only its address, as a file's, is compared. */
static char file;
static struct executed_code code;
static const uint8_t *program; /* at VADDR; NULL: returns, wherever */

#define PROGRAM_SIZE 0x40

const uint8_t *__wrap_dso_borrow_code(const struct dso *dso, uint64_t vaddr, size_t *left);

const uint8_t *__wrap_dso_borrow_code(const struct dso *dso, uint64_t vaddr, size_t *left)
{
	static const uint8_t ret = 0xc3;

	(void)dso;
	*left = program ? VADDR + PROGRAM_SIZE - vaddr : 1;
	return program ? program + (vaddr - VADDR) : &ret;
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

/* ---- Instructions -------------------------------------------------------- */

static const uint8_t bytes[PROGRAM_SIZE] = {
	[0x00] = 0x90, 0x90,                   /* nop; nop */
	0x75,          0x06,                   /* jne 0x0a */
	0x90,                                  /* nop */
	0xe8,          0x16, 0x00, 0x00, 0x00, /* call 0x20 */
	0xc3,                                  /* ret */
	[0x20] = 0x90, 0xc3,                   /* nop; ret */
	[0x30] = 0xeb, 0xce,                   /* jmp 0x00 */
};

/* Of `bytes`, by address. */
static const struct {
	uint8_t length, kind;
} decoded[PROGRAM_SIZE] = {
	[0x00] = { 1, BRANCH_NONE }, [0x01] = { 1, BRANCH_NONE },   [0x02] = { 2, BRANCH_COND },
	[0x04] = { 1, BRANCH_NONE }, [0x05] = { 5, BRANCH_CALL },   [0x0a] = { 1, BRANCH_RETURN },
	[0x20] = { 1, BRANCH_NONE }, [0x21] = { 1, BRANCH_RETURN }, [0x30] = { 2, BRANCH_JUMP },
};

static char listed[400];

/* "ADDRESS:EXECUTIONS", and "+TAKEN" of a conditional jump. */
static void list_insn(void *context, const struct executed_insn *insn)
{
	(void)context;
	ck_assert_ptr_eq(insn->dso, dso());
	ck_assert_uint_eq(insn->length, decoded[insn->vaddr - VADDR].length);
	ck_assert_uint_eq(insn->kind, decoded[insn->vaddr - VADDR].kind);
	sprintf(listed + strlen(listed), "%x:%d", (unsigned)(insn->vaddr - VADDR),
		(int)insn->count);
	if (insn->taken)
		sprintf(listed + strlen(listed), "+%d", (int)insn->taken);
	strcat(listed, " ");
}

static void ran(uint64_t begin, uint64_t last, enum branch_kind kind, uint64_t executions,
		uint64_t taken, bool stopped)
{
	executed_code_add(&code, dso(), VADDR + begin,
			  &(struct code_count){ .begin = IP + begin,
						.last = IP + last,
						.count = executions,
						.taken = taken,
						.kind = (uint8_t)kind,
						.stopped = stopped });
}

START_TEST(an_instruction_has_the_executions_of_all_code_that_reaches_it)
{
	program = bytes;
	listed[0] = '\0';
	ran(0x0, 0x2, BRANCH_COND, 10, 3, false);
	ran(0x1, 0x2, BRANCH_COND, 5, 1, false);
	ran(0x0, 0x2, BRANCH_COND, 1, 0, false);
	ran(0x0, 0x1, BRANCH_NONE, 2, 0, true); /* an interrupt before the second */
	ran(0x4, 0x5, BRANCH_CALL, 7, 7, false);
	ran(0x2, 0xa, BRANCH_RETURN, 100, 0, false); /* no code returns through a call */
	ran(0xa, 0xa, BRANCH_RETURN, 4, 0, false);
	executed_code_list(&code, list_insn, NULL);
	ck_assert_str_eq(listed, "0:13 1:16 2:116+4 4:107 5:107 a:4 ");
	program = NULL;
}
END_TEST

/* ---- The code inside some calls -------------------------------------------- */

static const struct thread threads[] = { { .pid = 1, .tid = 1 }, { .pid = 1, .tid = 2 } };
static struct track tracks[] = { { .pid = 1, .tid = 1 }, { .pid = 1, .tid = 2 } };

/* Two threads, in turns; the second only calls and returns. Branches have numbers from 1. */
static const struct {
	int thread;
	enum branch_kind kind;
	uint64_t from, to;
} logged[] = {
	{ 0, BRANCH_JUMP, 0x30, 0x00 },   { 0, BRANCH_COND, 0x02, 0x0a },
	{ 1, BRANCH_CALL, 0x05, 0x20 },   { 0, BRANCH_RETURN, 0x0a, 0x04 },
	{ 0, BRANCH_CALL, 0x05, 0x20 },   { 1, BRANCH_RETURN, 0x21, 0x0a },
	{ 0, BRANCH_RETURN, 0x21, 0x0a }, { 0, BRANCH_RETURN, 0x0a, 0x00 },
};

/* Calls from a branch up to another; what ran in them, and jumps and calls there. */
static const struct {
	struct {
		int thread;
		uint64_t begin, end;
		bool cut, nested; /* there is another call within it */
	} calls[2];
	const char *code, *edges;
} within[] = {
	{ { { 0, 5, 7, false, false } }, "20:1 21:1 ", "call 5>20 1; " },
	{ { { 0, 5, 7, false, true } }, "20:1 21:1 ", "call 5>20 1; " },
	{ { { 0, 1, 8, false, false } },
	  "0:1 1:1 2:1+1 4:1 5:1 a:2 20:1 21:1 ",
	  "jump 30>0 1; jump 2>a 1; call 5>20 1; " },
	/* The branch that leaves a call is not its own, but one before a gap is. */
	{ { { 0, 1, 2, false, false } }, "0:1 1:1 2:1+1 ", "jump 30>0 1; " },
	{ { { 0, 1, 2, true, false } }, "0:1 1:1 2:1+1 ", "jump 30>0 1; jump 2>a 1; " },
	{ { { 1, 3, 6, false, false } }, "20:1 21:1 ", "call 5>20 1; " },
	{ { { 0, 5, 7, false, false }, { 1, 3, 6, false, false } }, "20:2 21:2 ", "call 5>20 2; " },
	{ { { 0, 1, 2, false, false }, { 0, 5, 7, false, false } },
	  "0:1 1:1 2:1+1 20:1 21:1 ",
	  "jump 30>0 1; call 5>20 1; " },
	{ { { 0, 0, 0, false, false } }, "", "" },
};

static void edge(const struct slice_sink *sink, int thread, uint8_t kind, unsigned flags,
		 uint64_t branch)
{
	slice_sink_emit(sink, &tracks[thread],
			&(struct slice_event){ .kind = kind, .flags = (uint16_t)flags },
			&(struct slice_detail){ .branch = branch });
}

static void log_call(const struct slice_sink *sink, int thread, uint64_t begin, uint64_t end,
		     bool cut, bool nested)
{
	edge(sink, thread, SLICE_BEGIN, 0, begin);
	if (nested)
		edge(sink, thread, SLICE_BEGIN, 0, begin + 1);
	if (nested)
		edge(sink, thread, SLICE_END, 0, end - 1);
	edge(sink, thread, SLICE_END, cut ? SLICE_CUT : 0, end);
}

static size_t passed; /* slices that the next sink got */

static void pass_on(const struct slice_sink *sink, void *track, const struct slice_batch *batch)
{
	(void)sink;
	(void)track;
	passed += batch->count;
}

START_TEST(code_counts_in_the_calls_that_are_known_at_the_end)
{
	static const struct code_source no_source;
	struct slice_sink sink = { .events = pass_on };
	size_t fed = 0;
	char edges[200] = "";

	passed = 0;
	program = bytes;
	listed[0] = '\0';
	code.source = &no_source;
	code.mapped = (struct mapped_code){
		.dso = dso(), .begin = IP, .size = 0x100, .distance = VADDR - IP
	};
	executed_code_log_calls(&code, &sink);
	for (uint64_t i = 0; i < COUNT_OF(logged); i++)
		ck_assert_uint_eq(executed_code_log(&code,
						    &(struct branch_event){
							    .kind = (uint8_t)logged[i].kind,
							    .from = IP + logged[i].from,
							    .to = IP + logged[i].to,
							    .thread = &threads[logged[i].thread] }),
				  i + 1);
	for (int i = 0; i < 2 && within[_i].calls[i].end; i++)
		log_call(&sink, within[_i].calls[i].thread, within[_i].calls[i].begin,
			 within[_i].calls[i].end, within[_i].calls[i].cut,
			 within[_i].calls[i].nested);
	for (int i = 0; i < 2 && within[_i].calls[i].end; i++)
		fed += within[_i].calls[i].nested ? 4 : 2;
	ck_assert_uint_eq(passed, fed);
	executed_code_finish(&code);
	executed_code_list(&code, list_insn, NULL);
	ck_assert_str_eq(listed, within[_i].code);
	for (size_t i = 0; i < code.count; i++)
		if (!stretch_is_code(&code.stretches[i]))
			sprintf(edges + strlen(edges), "%s %x>%x %d; ",
				code.stretches[i].kind == STRETCH_CALL ? "call" : "jump",
				(unsigned)(code.stretches[i].begin - VADDR),
				(unsigned)(code.stretches[i].last - VADDR),
				(int)code.stretches[i].count);
	ck_assert_str_eq(edges, within[_i].edges);
	program = NULL;
}
END_TEST

/* Each branch is logged many times, and many branches are: the counts are of the executions. */
START_TEST(many_logged_branches_are_counted)
{
	enum { PLACES = 3000, ROUNDS = 3 };
	static const struct code_source no_source;
	struct slice_sink sink = { 0 };
	size_t jumps = 0;

	program = NULL; /* returns, wherever */
	code.source = &no_source;
	code.branches = true;
	code.mapped = (struct mapped_code){
		.dso = dso(), .begin = IP, .size = 0x10000, .distance = VADDR - IP
	};
	executed_code_log_calls(&code, &sink);
	for (uint64_t i = 0; i < PLACES * ROUNDS; i++)
		executed_code_log(&code, &(struct branch_event){ .kind = BRANCH_RETURN,
								 .from = IP + 2 * (i % PLACES),
								 .to = IP + 2 * ((i + 1) % PLACES),
								 .thread = &threads[0] });
	log_call(&sink, 0, 1, PLACES * ROUNDS, true, false);
	executed_code_finish(&code);
	for (size_t i = 0; i < code.count; i++) {
		uint64_t begin = code.stretches[i].begin - VADDR;

		if (code.stretches[i].kind != STRETCH_BRANCH)
			continue;
		jumps++;
		ck_assert_uint_eq(code.stretches[i].last - VADDR, (begin + 2) % (2 * PLACES));
		ck_assert_uint_eq(code.stretches[i].count, ROUNDS);
	}
	ck_assert_uint_eq(jumps, PLACES);
}
END_TEST

/* ---- Where code is in its file ---------------------------------------------- */

/*
 * Two files. In the first one, code is at offsets 0x1000 to 0x17ff and 0x2000 to 0x27ff, at
 * different distances from its addresses. A jump from `begin` leads to `to`.
 */
static const struct {
	uint64_t begin, to; /* from IP */
	int file;
	uint64_t vaddr, jump; /* 0: to another file */
} places[] = {
	{ 0x1010, 0x1020, 0, 0x401010, 0x401020 },
	/* The second range is at another distance. */
	{ 0x2010, 0x2400, 0, 0x501010, 0x501400 },
	{ 0x1010, 0x2400, 0, 0x401010, 0 },
	/* A mapping in the middle, and one of the other file */
	{ 0x10010, 0x10020, 0, 0x401410, 0x401420 },
	{ 0x20010, 0x20000, 1, 0x110, 0x100 },
	{ 0x1010, 0x20000, 0, 0x401010, 0 },
};

START_TEST(code_is_counted_where_it_is_in_its_file)
{
	struct code_range ranges[] = { { 0x1000, 0x800, 0x401000 }, { 0x2000, 0x800, 0x501000 } };
	struct code_range other = { 0, 0x1000, 0x100 };
	struct dso dsos[2] = { { .elf = { .code = ranges, .code_count = 2 } },
			       { .elf = { .code = &other, .code_count = 1 } } };
	struct dso *by_file[] = { &dsos[0], &dsos[1] };
	const struct mapped_file files[] = { { .index = 0 }, { .index = 1 } };
	const struct mapping mappings[] = {
		{ IP, IP + 0x3000, 0, &files[0] },
		{ IP + 0x10000, IP + 0x10400, 0x1400, &files[0] },
		{ IP + 0x20000, IP + 0x21000, 0, &files[1] },
	};
	const struct address_space space = { .mappings = mappings, .count = COUNT_OF(mappings) };
	struct resolver resolver = { .dsos = by_file };
	const struct code_count counted = {
		.space = &space,
		.begin = IP + places[_i].begin,
		.last = IP + places[_i].begin + 2,
		.to = IP + places[_i].to,
		.count = 3,
		.taken = 2,
		.kind = BRANCH_COND,
	};

	code.resolver = &resolver;
	code.counter.add(&code.counter, &counted, 1);
	ck_assert_uint_eq(code.count, places[_i].jump ? 2 : 1);
	for (size_t i = 0; i < code.count; i++) {
		const struct code_stretch *stretch = &code.stretches[i];
		bool jump = stretch->kind == STRETCH_JUMP;

		ck_assert_ptr_eq(stretch->dso, &dsos[places[_i].file]);
		ck_assert_uint_eq(stretch->begin, places[_i].vaddr + 2 * jump);
		ck_assert_uint_eq(stretch->last, jump ? places[_i].jump : places[_i].vaddr + 2);
		ck_assert_uint_eq(stretch->count, jump ? 2 : 3);
	}
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
	tcase_add_test(tests, an_instruction_has_the_executions_of_all_code_that_reaches_it);
	tcase_add_loop_test(tests, code_counts_in_the_calls_that_are_known_at_the_end, 0,
			    COUNT_OF(within));
	tcase_add_test(tests, many_logged_branches_are_counted);
	tcase_add_loop_test(tests, code_is_counted_where_it_is_in_its_file, 0, COUNT_OF(places));
	suite_add_tcase(suite, tests);
	return unit_run(suite);
}
