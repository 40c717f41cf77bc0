/* SPDX-License-Identifier: MIT */
/* Inlined calls at both ends of branches (src/callstack/inline_flow.c). */
#include "decoder/timeline/timeline.h"
#include "src/callstack/thread_stacks.h"
#include "symbols/dso/dso_store.h"
#include "tests/unit/src/callstack_precise.h"

/* In f, i is inlined from 0x20 to 0x30, and in i, j from 0x24 to 0x28. */
#define IN_I 0x20
#define IN_J 0x24

static bool has_inlined; /* the wrapped functions know of f */
static struct known_branches branches;
static struct known_branch known[2];
static struct inlined_call call_of_i, call_of_j;

const struct mapping *__real_address_space_borrow_mapping(const struct address_space *space,
							  uint64_t ip);
const struct mapping *__wrap_address_space_borrow_mapping(const struct address_space *space,
							  uint64_t ip);
bool __wrap_dso_find_inlined(struct dso *dso, uint64_t file_offset, struct inlined_code *code);

const struct mapping *__wrap_address_space_borrow_mapping(const struct address_space *space,
							  uint64_t ip)
{
	static struct mapped_file file;
	static const struct mapping mapping = { .begin = 0x1000, .file_offset = 0, .file = &file };

	return has_inlined ? &mapping : __real_address_space_borrow_mapping(space, ip);
}

/* The first function is at the file's begin. */
bool __wrap_dso_find_inlined(struct dso *dso, uint64_t file_offset, struct inlined_code *code)
{
	uint64_t offset = file_offset + 0x1000 - at('f', 0).ip;

	(void)dso;
	if (offset >= 0x1000)
		return false;
	code->innermost = offset - IN_J < 4 ? &call_of_j : offset - IN_I < 0x10 ? &call_of_i : NULL;
	return true;
}

/* Feed a branch to the stack with its inlined calls. */
static void go_known(enum branch_kind kind, struct location from, struct location to, uint8_t flags,
		     struct known_branch *of)
{
	static struct dso *dsos[1];
	static struct resolver resolver = { .dsos = dsos };
	struct location_pair locations = location_pair_of(&from, &to, NULL);
	struct branch_event event = { .time = now,
				      .kind = (uint8_t)kind,
				      .from = from.ip,
				      .to = to.ip,
				      .known = of,
				      .flags = flags,
				      .insns = insns,
				      .from_length = 5 };
	struct inline_flow flow;

	call_of_i = (struct inlined_call){ .symbol = function('i') };
	call_of_j = (struct inlined_call){ .symbol = function('j'), .parent = &call_of_i };
	function('i')->inlined = &call_of_i;
	function('j')->inlined = &call_of_j;
	feed_held();
	has_inlined = true;
	branches.branches = known;
	inline_flow_init(&flow, &branches);
	inline_flow_feed(&flow, &resolver, stack, &(struct resolved_branch){ &event, &locations },
			 NULL);
	inline_flow_release(&flow);
	has_inlined = false;
	now += 10;
}

static void go(enum branch_kind kind, struct location from, struct location to)
{
	go_known(kind, from, to, 0, NULL);
}

/* The address of code that begins there. */
static void pass_to(uint64_t offset)
{
	go(BRANCH_NONE, at('f', offset), at('f', offset));
}

/* m calls f, which jumps to an offset. */
static void jump_in_f(uint64_t offset)
{
	go(BRANCH_CALL, at('m', 0x10), at('f', 0));
	go(BRANCH_JUMP, at('f', 0x10), at('f', offset));
}

#define AFTER "E 40 m\nB 0 m inferred deferred\nS\n"

START_TEST(a_jump_into_an_inlined_call_begins_it_and_one_out_of_it_ends_it)
{
	jump_in_f(IN_I);
	go(BRANCH_COND, at('f', 0x2c), at('f', 0x40));
	go(BRANCH_RETURN, at('f', 0x50), at('m', 0x15));
	expect("B 0 f\nB 10 i\nE 20 i\nE 30 f\nE 30 m\nB 0 m inferred deferred\nS\n");
}
END_TEST

START_TEST(inlined_calls_nest)
{
	jump_in_f(IN_J);
	go(BRANCH_JUMP, at('f', IN_J + 2), at('f', IN_I));
	go(BRANCH_JUMP, at('f', IN_I + 2), at('f', IN_J));
	go(BRANCH_JUMP, at('f', IN_J + 2), at('f', 0));
	expect("B 0 f\nB 10 i\nB 10 j\nE 20 j\nB 30 j\nE 40 j\nE 40 i\nE 40 f\n" AFTER);
}
END_TEST

/* The code falls into it: it begins when the last branch led to the code before it. */
START_TEST(a_branch_out_of_an_inlined_call_shows_that_it_ran)
{
	go(BRANCH_CALL, at('m', 0x10), at('f', 0));
	go(BRANCH_JUMP, at('f', 0x2c), at('f', 0x40));
	go(BRANCH_RETURN, at('f', 0x50), at('m', 0x15));
	expect("B 0 f\nB 0 i\nE 10 i\nE 20 f\nE 20 m\nB 0 m inferred deferred\nS\n");
}
END_TEST

START_TEST(an_address_without_a_branch_begins_and_ends_inlined_calls)
{
	go(BRANCH_CALL, at('m', 0x10), at('f', 0));
	pass_to(IN_I);
	pass_to(IN_J);
	pass_to(0x30);
	go(BRANCH_RETURN, at('f', 0x50), at('m', 0x15));
	expect("B 0 f\nB 10 i\nB 20 j\nE 30 j\nE 30 i\nE 40 f\n" AFTER);
}
END_TEST

/* A call and its return: the inlined caller is the caller. */
START_TEST(an_inlined_call_calls_a_function)
{
	jump_in_f(IN_I);
	go(BRANCH_CALL, at('f', IN_I + 0xa), at('g', 0));
	go(BRANCH_RETURN, at('g', 0x50), at('f', IN_I + 0xf));
	go(BRANCH_RETURN, at('f', 0x2f), at('m', 0x15));
	expect("B 0 f\nB 10 i\nB 20 g\nE 30 g\nE 40 i\nE 40 f\n" AFTER);
}
END_TEST

START_TEST(no_inlined_call_begins_where_tracing_ends)
{
	go(BRANCH_CALL, at('m', 0x10), at('f', 0));
	go_known(BRANCH_SYSCALL, at('f', 0x10), at('f', IN_I), BRANCH_TRACE_OFF, NULL);
	expect("B 0 f\nB 10 [syscall]\nE 10 [syscall]\nE 10 f\nE 10 m\n"
	       "B 0 m inferred deferred\nS\n");
}
END_TEST

START_TEST(an_inlined_call_lasts_while_its_callee_runs)
{
	jump_in_f(IN_I);
	go(BRANCH_CALL, at('f', 0x2a), at('g', 0));
	go(BRANCH_JUMP, at('g', 0x10), at('g', 0x40));
	go(BRANCH_RETURN, at('g', 0x50), at('f', 0x2f));
	expect("B 0 f\nB 10 i\nB 20 g\nE 40 g\nE 40 i\nE 40 f\n" AFTER);
}
END_TEST

/* callstack_feed_plain() does not look for inlined calls. */
START_TEST(a_known_branch_is_plain_if_no_inlined_call_is_at_its_ends)
{
	static const struct {
		enum branch_kind kind;
		char from, to;
		uint64_t begin, end;
		bool plain;
	} forms[] = {
		{ BRANCH_CALL, 'm', 'f', 0x10, 0, true },
		{ BRANCH_CALL, 'm', 'f', 0x10, IN_I, false },
		{ BRANCH_CALL, 'f', 'g', 0x2a, 0, false },
		{ BRANCH_CALL, 'f', 'g', 0x40, 0, true },
		{ BRANCH_RETURN, 'g', 'f', 0x50, 0x45, true },
		{ BRANCH_RETURN, 'g', 'f', 0x50, 0x2f, false },
		/* The call is the last instruction of the inlined call, or the first one after. */
		{ BRANCH_RETURN, 'g', 'f', 0x50, 0x30, false },
		{ BRANCH_RETURN, 'g', 'f', 0x50, 0x31, true },
		{ BRANCH_JUMP, 'f', 'f', 0x10, 0x30, true },
		{ BRANCH_SYSCALL, 'f', 'g', 0x10, 0, false },
	};

	known[1].locations.plain = 1;
	go_known(forms[_i].kind, at(forms[_i].from, forms[_i].begin),
		 at(forms[_i].to, forms[_i].end), 0, &known[1]);
	ck_assert_int_eq(known[1].locations.plain, forms[_i].plain);
}
END_TEST

void add_inlined_tests(TCase *tests)
{
	tcase_add_test(tests, a_jump_into_an_inlined_call_begins_it_and_one_out_of_it_ends_it);
	tcase_add_test(tests, inlined_calls_nest);
	tcase_add_test(tests, a_branch_out_of_an_inlined_call_shows_that_it_ran);
	tcase_add_test(tests, an_address_without_a_branch_begins_and_ends_inlined_calls);
	tcase_add_test(tests, an_inlined_call_calls_a_function);
	tcase_add_test(tests, no_inlined_call_begins_where_tracing_ends);
	tcase_add_test(tests, an_inlined_call_lasts_while_its_callee_runs);
	tcase_add_loop_test(tests, a_known_branch_is_plain_if_no_inlined_call_is_at_its_ends, 0,
			    10);
}
