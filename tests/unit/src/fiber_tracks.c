/* SPDX-License-Identifier: MIT */
/*
 * Stacks of two threads "one" and "two". A step is a word; the first one is at time 0, each next
 *one is 10 later, when the thread has run 10 instructions more:
 *
 *	1 2      the next steps are the thread's; takes no time
 *	<o <x <y the thread runs its own stack, x or y; ?x: or one with the same calls
 *	<gap     its trace is missing
 *	>        it leaves the stack, so the machine ends all slices, which will continue
 *	+f =f    f begins; f was open on this stack
 *	-        the innermost slice ends
 *
 * The output has a line for each event, "TRACK B|E TIME NAME", and the instructions of a track at
 *an end; arrows from and to a track are "TRACK > TIME NUMBER" and "TRACK < TIME NUMBER".
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "src/slices/fiber_tracks.h"
#include "src/slices/track.h"
#include "tests/support/unit.h"

static struct name_table names;
static struct fiber_tracks tracks;
static char text[4096];
static const struct symbol *parked[2];

static void add_line(const struct slice_sink *sink, void *track, const struct slice_batch *batch)
{
	const struct slice_event *event = batch->events;
	size_t length = strlen(text);
	char *at = text + length;
	size_t room = sizeof(text) - length;

	(void)sink;
	ck_assert_uint_eq(batch->count, 1);
	if (event->kind == SLICE_ARROW || event->kind == SLICE_ARROW_END)
		snprintf(at, room, "%s %s %" PRIu64 " %" PRIu64 "\n", (char *)track,
			 event->kind == SLICE_ARROW ? ">" : "<", event->time, event->ip);
	else if (event->kind == SLICE_BEGIN)
		snprintf(at, room, "%s B %" PRIu64 " %s%s\n", (char *)track, event->time,
			 event->symbol->name->text,
			 event->flags & SLICE_UNCERTAIN_LEVEL ? " uncertain" : "");
	else if (batch->details)
		snprintf(at, room, "%s E %" PRIu64 " %s %" PRIu64 "%s\n", (char *)track,
			 event->time, event->symbol->name->text, batch->details->insns,
			 event->flags & SLICE_CUT ? " cut" : "");
	else
		snprintf(at, room, "%s E %" PRIu64 " %s\n", (char *)track, event->time,
			 event->symbol->name->text);
	if (event->kind == SLICE_BEGIN && event->symbol->special == SPECIAL_PARKED)
		parked[!!parked[0]] = event->symbol;
}

static const struct slice_sink sink = { .events = add_line, .details = true, .arrows = true };

static void setup(void)
{
	name_table_init(&names);
	*text = '\0';
	parked[0] = parked[1] = NULL;
	fiber_tracks_init(&tracks, &sink, &names);
}

static void teardown(void)
{
	fiber_tracks_release(&tracks);
	fiber_tracks_release(&tracks);
	name_table_release(&names);
}

/* Returns the symbol of a step: of f to i, or of a gap. */
static const struct symbol *symbol_of(char name)
{
	static struct symbol symbols[5];
	const char *all = "fghi.";
	size_t i = (size_t)(strchr(all, name) - all);

	symbols[i] = symbol_special(&names, name == '.' ? "gap" : (char[]){ name, '\0' },
				    name == '.' ? SPECIAL_GAP : SPECIAL_OTHER);
	return &symbols[i];
}

static void feed(const char *steps, const char *const thread_names[2])
{
	struct fiber_thread *threads[2];
	const struct symbol *stacks[2];
	struct slice_event event = { 0 };
	struct slice_detail detail = { 0 };
	size_t thread = 0, depth = 0;

	threads[0] = fiber_tracks_thread(&tracks, (void *)"1", thread_names[0]);
	threads[1] = fiber_tracks_thread(&tracks, (void *)"2", thread_names[1]);
	stacks[0] = fiber_tracks_add(&tracks, (void *)"x");
	stacks[1] = fiber_tracks_add(&tracks, (void *)"y");
	for (const char *step = steps; *step; step += strcspn(step, " "), step += *step == ' ') {
		if (*step == '1' || *step == '2') {
			thread = *step == '2';
			continue;
		}
		event.kind = *step == '-' || *step == '>' ? SLICE_END : SLICE_BEGIN;
		event.flags = *step == '='   ? SLICE_CONTINUED
			      : *step == '?' ? SLICE_UNCERTAIN_LEVEL
					     : 0;
		if (*step == '<' || *step == '?')
			event.symbol = step[1] == 'g'   ? symbol_of('.')
				       : step[1] == 'o' ? fiber_tracks_own(threads[thread])
							: stacks[step[1] == 'y'];
		else
			event.symbol = event.kind == SLICE_BEGIN ? symbol_of(step[1]) : NULL;
		for (; *step == '>' && depth; depth--) {
			event.flags = SLICE_CONTINUED;
			slice_sink_emit(&tracks.sink, threads[thread], &event, &detail);
		}
		depth += *step == '+' || *step == '=';
		depth -= *step == '-' && depth;
		slice_sink_emit(&tracks.sink, threads[thread], &event, &detail);
		event.time += 10;
		detail.insns += 10;
	}
	fiber_tracks_finish(&tracks);
}

/* What y does in "<y +i >", the steps 40 to 60. */
#define Y_RUNS "y B 50 i\ny < 50 1\ny > 60 2\ny E 60 i 20 cut\n"

static const struct row {
	const char *steps, *expected;
} rows[] = {
	/* A slice stays open while its stack is parked, and its instructions are the stack's. */
	{ "<o +f > <x +g > <o =f - >", "1 B 10 f\n1 > 20 1\n1 B 20 [parked]\n1 E 60 [parked]\n"
				       "1 < 60 2\n1 E 80 f 40\n"
				       "x B 40 g\nx < 40 1\nx > 50 2\nx E 50 g 20 cut\n" },
	/* Another thread resumes it. */
	{ "1 <x +g > 2 <x =g - >", "x B 10 g\nx B 20 [parked, resumed by two]\n"
				   "x E 30 [parked, resumed by two]\nx E 50 g 40\n" },
	/* The function that switched has returned where its caller continues. */
	{ "<x +f +g > <y +i > <x =f +h - - >",
	  "x B 10 f\nx B 20 g\nx > 30 1\nx B 30 [parked]\nx E 70 [parked]\nx < 70 2\nx E 70 g 30\n"
	  "x B 90 h\nx E 100 h 60\nx E 110 f 70\n" Y_RUNS },
	/* No slice continues: nothing shows that the old ones returned. */
	{ "<x +f +g > <y +i > <x +h - >",
	  "x B 10 f\nx B 20 g\nx > 30 1\nx B 30 [parked]\nx E 70 [parked]\nx < 70 2\n"
	  "x E 70 g 30 cut\nx E 70 f 30 cut\nx B 80 h\nx E 90 h 50\n" Y_RUNS },
	/* A tail call left f, which the resumed stack does not have. */
	{ "<x +f +g > <y +i > <x =g - >",
	  "x B 10 f\nx B 20 g\nx > 30 1\nx B 30 [parked]\nx E 70 [parked]\nx < 70 2\n"
	  "x E 90 g 50\nx E 90 f 50\n" Y_RUNS },
	/* One of several stacks: what begins on the resumed slices is marked, and only that. */
	{ "<x +f +g > <y +i > ?x =f =g +h +i - - - - >",
	  "x B 10 f\nx B 20 g\nx > 30 1\nx B 30 [parked]\nx E 70 [parked]\nx < 70 2\n"
	  "x B 100 h uncertain\nx B 110 i\nx E 120 i 80\nx E 130 h 90\nx E 140 g 100\n"
	  "x E 150 f 110\n" Y_RUNS },
	/* A gap ends the thread's own stack. */
	{ "<o +f > <gap - <o +g - >",
	  "1 B 10 f\n1 E 20 f 20 cut\n1 B 30 gap\n1 E 40 gap 30\n1 B 60 g\n1 E 70 g 40\n" },
	/* A switch to the same stack is no arrow. */
	{ "<x +f > <x =f - >", "x B 10 f\nx B 20 [parked]\nx E 30 [parked]\nx E 50 f 40\n" },
};

START_TEST(stacks_have_tracks)
{
	static const char *const thread_names[] = { "one", "two" };

	feed(rows[_i].steps, thread_names);
	ck_assert_str_eq(text, rows[_i].expected);
}
END_TEST

/* Times parked until threads of one name resume the stack are one function of a profile. */
START_TEST(threads_of_one_name_resume_alike)
{
	static const char *const thread_names[] = { "one", "one" };

	feed("1 <x +f > 2 <x =f > 1 <x =f >", thread_names);
	ck_assert_ptr_nonnull(strstr(text, "[parked, resumed by one]"));
	ck_assert_ptr_nonnull(parked[0]);
	ck_assert_ptr_eq(parked[0], parked[1]);
}
END_TEST

static void add_time(const struct slice_sink *to, void *track, const struct slice_batch *batch)
{
	size_t length = strlen(text);

	(void)to;
	(void)track;
	for (size_t i = 0; i < batch->count; i++)
		length += (size_t)snprintf(text + length, sizeof(text) - length, " %" PRIu64,
					   batch->events[i].time);
}

/* Two threads leave a stack at 9 and at 4; the parts come in one batch. */
START_TEST(parts_of_a_stack_are_replayed_by_time)
{
	struct track track = { .tid = 1 };
	struct slice_store store = { .names = &names };
	const struct slice_sink in = slice_store_sink(&store, false, false);
	const struct slice_event events[] = {
		{ .time = 6, .kind = SLICE_ARROW_END },
		{ .time = 7, .symbol = symbol_of('f'), .kind = SLICE_BEGIN },
		{ .time = 9, .kind = SLICE_END },
		{ .time = 1, .kind = SLICE_ARROW_END },
		{ .time = 2, .symbol = symbol_of('g'), .kind = SLICE_BEGIN },
		{ .time = 4, .kind = SLICE_END },
	};

	in.events(&in, &track, &(struct slice_batch){ events, COUNT_OF(events), NULL, false });
	slice_store_replay_sorted(&store, 0, &(struct slice_sink){ .events = add_time });
	ck_assert_str_eq(text, " 1 2 4 6 7 9");
	slice_store_release(&store);
}
END_TEST

int main(void)
{
	TCase *tests = tcase_create("fiber_tracks");
	Suite *suite = suite_create("fiber_tracks");

	tcase_add_checked_fixture(tests, setup, teardown);
	tcase_add_loop_test(tests, stacks_have_tracks, 0, (int)COUNT_OF(rows));
	tcase_add_test(tests, threads_of_one_name_resume_alike);
	tcase_add_test(tests, parts_of_a_stack_are_replayed_by_time);
	suite_add_tcase(suite, tests);
	return unit_run(suite);
}
