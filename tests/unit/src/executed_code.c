/* SPDX-License-Identifier: MIT */
/* Jumps within a function count the same singly and as runs. */
#include <stdlib.h>
#include <string.h>

#include "decoder/timeline/timeline_types.h"
#include "src/costs/executed_code.h"
#include "tests/support/unit.h"

#define START 0x1000

/* Only its address, as a file's, is compared. */
static char file;
static struct symbol function = { .start = START, .size = 0x100 };
static struct thread thread;
static struct executed_code code;
static struct jump_runs *runs;
static struct jump_run *loop;

/* From 0x20 to 0x30, and from 0x38 to 0x20 again. */
static const struct local_jump jumps[] = { { 0x00, 0x10, true }, { 0x18, 0x00, false } };

static struct location at(uint64_t offset)
{
	return (struct location){ .ip = START + offset, .symbol = &function, .offset = offset };
}

static void jump(enum branch_kind kind, uint64_t from, uint64_t to)
{
	const struct branch_event event = { .thread = &thread, .kind = (uint8_t)kind };
	const struct location left = at(from), entered = at(to);

	executed_code_add(&code, &event, &left, &entered);
}

static void go_round(bool as_run)
{
	struct branch_event event = { .thread = &thread, .kind = BRANCH_RUNS };
	const struct location begin = at(0x20);

	if (!as_run) {
		jump(BRANCH_COND, 0x20, 0x30);
		jump(BRANCH_JUMP, 0x38, 0x20);
		return;
	}
	event_add_run(&event, loop);
	executed_code_add_runs(&code, &event, &begin);
}

/* The loop is entered by two alternating jumps, and runs twice each time. */
static void execute(bool as_run)
{
	executed_code_init(&code);
	for (int i = 0; i < 4; i++) {
		jump(BRANCH_CALL, 0x80, 0x00);
		jump(BRANCH_COND, i % 2 ? 0x04 : 0x08, 0x20);
		go_round(as_run);
		go_round(as_run);
		jump(BRANCH_RETURN, 0x24, 0x84);
	}
	executed_code_finish(&code);
}

static uint64_t count_of(const struct executed_code *of, const struct code_stretch *stretch)
{
	uint64_t count = 0;

	for (size_t i = 0; i < of->count; i++) {
		const struct code_stretch *other = &of->stretches[i];

		if (other->from == stretch->from && other->begin == stretch->begin &&
		    other->last == stretch->last && other->entry == stretch->entry &&
		    other->exit == stretch->exit && other->dso == stretch->dso)
			count += other->count;
	}
	return count;
}

static void setup(void)
{
	function.dso = (struct dso *)(void *)&file;
	runs = jump_runs_open();
	loop = jump_runs_add(runs, jumps, 2, 0);
}

static void teardown(void)
{
	executed_code_release(&code);
	jump_runs_close(runs);
}

START_TEST(runs_count_as_their_jumps)
{
	struct executed_code by_jumps;

	execute(false);
	by_jumps = code;
	execute(true);
	ck_assert_uint_gt(code.count, 5);
	ck_assert_uint_eq(code.count, by_jumps.count);
	for (size_t i = 0; i < code.count; i++)
		ck_assert_uint_eq(code.stretches[i].count, count_of(&by_jumps, &code.stretches[i]));
	executed_code_release(&by_jumps);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("executed_code");
	TCase *tests = tcase_create("all");

	tcase_add_checked_fixture(tests, setup, teardown);
	tcase_add_test(tests, runs_count_as_their_jumps);
	suite_add_tcase(suite, tests);
	return unit_run(suite);
}
