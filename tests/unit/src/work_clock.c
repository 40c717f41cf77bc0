/* SPDX-License-Identifier: MIT */
/*
 * Slices by the instructions and cycles of their thread, which ran
 *
 *	main, from instruction 0 on
 *	  f, 100 to 400: at 200 an interrupt, at 250 to 300 g
 *	  a system call at 400
 */
#include "src/slices/work_clock.h"

#include "base/arena.h"
#include "base/tables/name.h"
#include "tests/support/unit.h"
#include "tests/unit/src/slice_log.h"

static struct name_table names;
static struct arena arena;
static struct slice_log slices;
static struct options options;
static struct work_clock counted;
static const struct slice_sink *front;
static void *track;

static void setup(void)
{
	name_table_init(&names);
	arena = (struct arena){ 0 };
	slice_log_init(&slices);
	slices.names_ends = true;
	options = (struct options){ .clock = CLOCK_INSNS, .clock_to = UINT64_MAX };
}

static void teardown(void)
{
	work_clock_release(&counted);
	work_clock_release(&counted);
	name_table_release(&names);
	arena_release(&arena);
}

/* A thread has three cycles an instruction, and times that have nothing to do with them. */
static void feed(const struct slice_event *event, uint64_t insns)
{
	static uint64_t time = 1000000;
	struct slice_event timed = *event;

	timed.time = time += 12345;
	slice_sink_emit(front, track, &timed,
			&(struct slice_detail){ .insns = insns, .cycles = 3 * insns });
}

static void begin(uint64_t insns, const char *name, enum symbol_special special, uint16_t flags)
{
	struct symbol *made = arena_alloc(&arena, sizeof(*made));

	*made = symbol_special(&names, name, special);
	if (!special)
		made->kind = SYMBOL_FUNCTION;
	feed(&(struct slice_event){ .symbol = made, .kind = SLICE_BEGIN, .flags = flags }, insns);
}

static void end(uint64_t insns)
{
	feed(&(struct slice_event){ .kind = SLICE_END }, insns);
}

static void run(void)
{
	work_clock_init(&counted, &slices.sink, &options);
	front = work_clock_front(&counted, &counted.sink); /* in order already */
	track = work_clock_track(&counted, NULL);
	begin(0, "main", SPECIAL_OTHER, 0);
	begin(100, "f", SPECIAL_OTHER, SLICE_ESTIMATED_TIME);
	begin(200, "[untraced]", SPECIAL_UNTRACED, 0);
	end(200);
	begin(250, "g", SPECIAL_OTHER, 0);
	end(300);
	end(400);
	begin(400, "[syscall: read]", SPECIAL_SYSCALL, 0);
	end(400);
	slice_sink_flush(front, track);
	end(400);
}

START_TEST(slices_have_the_instructions_of_their_thread)
{
	run();
	ck_assert_str_eq(slice_log_take(&slices),
			 "B 0 main\nB 100 f\nB 250 g\nE 300 g\nE 400 f\nB 400 [syscall: read]\n"
			 "E 400 [syscall: read]\nS\nE 400 main\n");
}
END_TEST

START_TEST(or_its_cycles_which_can_be_estimates)
{
	options.clock = CLOCK_CYCLES;
	run();
	ck_assert_str_eq(slice_log_take(&slices),
			 "B 0 main\nB 300 f estimated\nB 750 g\nE 900 g\nE 1200 f\n"
			 "B 1200 [syscall: read]\nE 1200 [syscall: read]\nS\nE 1200 main\n");
}
END_TEST

START_TEST(a_range_cuts_what_is_open_at_its_ends)
{
	static const struct {
		uint64_t from, to;
		const char *text;
	} ranges[] = {
		{ 260, 350,
		  "B 260 main inferred\nB 260 f inferred\nB 260 g inferred\nE 300 g\nE 350 f\nS\n"
		  "E 350 main\n" },
		{ 301, 320, "B 301 main inferred\nB 301 f inferred\nE 320 f\nS\nE 320 main\n" },
		{ 0, 99, "B 0 main\nS\nE 99 main\n" },
		{ 100, 200, "B 100 main inferred\nB 100 f\nE 200 f\nS\nE 200 main\n" },
		{ 401, 500, "S\n" },
	};

	options.clock_from = ranges[_i].from;
	options.clock_to = ranges[_i].to;
	run();
	ck_assert_str_eq(slice_log_take(&slices), ranges[_i].text);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("work_clock");
	TCase *all = tcase_create("work_clock");

	tcase_add_checked_fixture(all, setup, teardown);
	tcase_add_test(all, slices_have_the_instructions_of_their_thread);
	tcase_add_test(all, or_its_cycles_which_can_be_estimates);
	tcase_add_loop_test(all, a_range_cuts_what_is_open_at_its_ends, 0, 5);
	suite_add_tcase(suite, all);
	return unit_run(suite);
}
