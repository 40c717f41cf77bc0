/* SPDX-License-Identifier: MIT */
/* The precise machine that the tests feed, in four ways. */
#include <string.h>

#include "tests/support/precise_depth.h"
#include "tests/unit/src/callstack_precise.h"

struct name_table names;
static struct arena arena;
struct diag diag;
struct slice_log slices;
struct callstack_machine *machine;
struct callstack *stack;
static struct symbol *symbols[128];
uint64_t now;

size_t at_once;
static struct stack_branch held[AT_ONCE_MOST]; /* not fed yet */
static size_t held_count;

static bool takes_edges;

uint8_t call_length;
uint32_t insns;
const struct thread *run_thread;

void setup(void)
{
	call_length = 5;
	insns = 0;
	run_thread = NULL;
	name_table_init(&names);
	diag_init(&diag);
	slice_log_init(&slices);
	slices.sink.immediate = !takes_edges;
	slices.base = BASE;

	struct callstack_options options = {
		.mode = TRACE_MODE_USER, .sink = &slices.sink, .names = &names, .diag = &diag
	};

	machine = callstack_precise_open(&options);
	machine->open_most = 2 * DEEP;
	machine->pending_most = DEEP;
	stack = callstack_open(machine, NULL);
	now = BASE;
}

static void setup_short(void)
{
	setup();
	at_once = 1;
}

static void setup_many(void)
{
	setup();
	at_once = 3;
}

void setup_edges(void)
{
	takes_edges = true;
	setup_many();
}

void teardown(void)
{
	at_once = 0;
	takes_edges = false;
	callstack_close(stack);
	callstack_machine_close(machine);
	name_table_release(&names);
	diag_release(&diag);
	arena_release(&arena);
	memset(symbols, 0, sizeof(symbols));
}

struct symbol *function(char letter)
{
	char text[10] = { letter, 0 };

	if (!symbols[(int)letter]) {
		symbols[(int)letter] = arena_alloc(&arena, sizeof(struct symbol));
		symbols[(int)letter]->name = symbols[(int)letter]->linkage =
			name_intern_text(&names, text);
		if (letter >= 'A' && letter <= 'Z')
			symbols[(int)letter]->kind = SYMBOL_PLT;
	}
	return symbols[(int)letter];
}

struct location at(char letter, uint64_t offset)
{
	struct location location = { (uint64_t)letter * 0x1000 + offset, function(letter), offset };

	return letter ? location : (struct location){ 0 };
}

void feed_held(void)
{
	struct known_branch known[AT_ONCE_MOST] = { 0 };
	struct branch_event events[AT_ONCE_MOST];
	size_t fed = 0;

	for (size_t i = 0; i < held_count; i++) {
		known[i].locations = location_pair_of(&held[i].from, &held[i].to, NULL);
		known[i].locations.reached = true;
		events[i] = held[i].event;
		events[i].known = &known[i];
	}
	while (fed < held_count) {
		fed += callstack_feed_plain(stack, &events[fed], held_count - fed, true);
		if (fed < held_count)
			stack_branch_feed(stack, &held[fed++]);
	}
	held_count = 0;
}

void feed_branch(const struct stack_branch *branch)
{
	struct stack_branch alone = *branch;

	if (!at_once || branch->has_notes) {
		feed_held();
		alone.has_notes = true;
		stack_branch_feed(stack, &alone);
		return;
	}
	held[held_count++] = *branch;
	if (held_count == at_once)
		feed_held();
}

void finish(void)
{
	feed_held();
	callstack_finish(stack);
}

void feed(enum branch_kind kind, struct location from, struct location to, unsigned flags)
{
	struct stack_branch branch = {
		.event = { .time = now,
			   .thread = run_thread,
			   .kind = (uint8_t)kind,
			   .flags = (uint8_t)flags,
			   .insns = insns,
			   .from_length = kind == BRANCH_SYSCALL ? 2 : call_length },
		.from = from,
		.to = to
	};

	feed_branch(&branch);
	now += 10;
	insns = 0;
}

void call(char from, uint64_t offset, char to)
{
	feed(BRANCH_CALL, at(from, offset), at(to, 0), 0);
}

void ret(char from, char to, uint64_t offset)
{
	feed(BRANCH_RETURN, at(from, 0x80), at(to, offset), 0);
}

void jump(char from, char to, uint64_t offset)
{
	feed(BRANCH_JUMP, at(from, 0x40), at(to, offset), 0);
}

void gap(enum gap_reason reason)
{
	struct stack_branch branch = {
		.event = { .time = now, .kind = BRANCH_GAP, .gap = (uint8_t)reason }
	};

	feed_branch(&branch);
	now += 10;
}

void expect(const char *text)
{
	finish();
	ck_assert_str_eq(slice_log_take(&slices), text);
}

void expect_depth(size_t depth)
{
	feed_held();
	ck_assert_uint_eq(precise_depth(stack), depth);
}

struct location nameless(uint64_t ip)
{
	static struct symbol file = { .kind = SYMBOL_FILE };

	file.name = file.linkage = name_intern_text(&names, "[file]");
	return (struct location){ ip, &file, 0 };
}

void show_mark(void)
{
	struct stack_branch mark = { .event = { .time = now },
				     .notes = { .mark = function('x') },
				     .has_notes = true };

	feed_branch(&mark);
}

void go_with(enum branch_kind kind, char from, struct location to, enum call_effect effect,
	     uint32_t offset)
{
	struct location begin = at(from, 0x10);
	struct location_pair locations = location_pair_of(&begin, &to, NULL);
	struct branch_event event = { .time = now, .kind = (uint8_t)kind, .from_length = 5 };
	struct resolved_branch branch = { &event, &locations };

	feed_held();
	locations.call = (uint8_t)effect;
	locations.offset = offset;
	callstack_feed(stack, &branch, NULL);
	now += 10;
}

void go_by(enum branch_kind kind, char from, struct location to, enum call_effect effect)
{
	go_with(kind, from, to, effect, 0);
}

void enter_by(enum branch_kind kind, char from, char to, enum call_effect effect)
{
	go_by(kind, from, at(to, 0), effect);
}

static void add_tests(TCase *tests)
{
	add_call_tests(tests);
	add_tail_tests(tests);
	add_exception_tests(tests);
	add_far_tests(tests);
	add_stack_tests(tests);
	add_opaque_tests(tests);
	add_inlined_tests(tests);
	add_time_tests(tests);
	add_limit_tests(tests);
}

int main(void)
{
	Suite *suite = suite_create("callstack_precise");
	TCase *all = tcase_create("with notes");
	TCase *plain = tcase_create("without notes");
	TCase *many = tcase_create("many at once");
	TCase *edges = tcase_create("many at once, and emitted many at once");
	TCase *costing = tcase_create("with costs");

	tcase_add_checked_fixture(all, setup, teardown);
	tcase_add_checked_fixture(plain, setup_short, teardown);
	tcase_add_checked_fixture(many, setup_many, teardown);
	add_tests(all);
	add_tests(plain);
	tcase_add_checked_fixture(edges, setup_edges, teardown);
	add_tests(many);
	add_tests(edges);
	add_feeding_tests(all);
	add_cost_tests(costing);
	suite_add_tcase(suite, all);
	suite_add_tcase(suite, costing);
	suite_add_tcase(suite, plain);
	suite_add_tcase(suite, many);
	suite_add_tcase(suite, edges);
	return unit_run(suite);
}
