/* SPDX-License-Identifier: MIT */
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "base/arena.h"
#include "src/slices/slice_sorter.h"
#include "tests/support/unit.h"
#include "tests/unit/src/slice_feed.h"
#include "tests/unit/src/slice_log.h"

static struct name_table names;
static struct arena arena;
static struct diag diag;
static struct slice_log slices;
static struct slice_sorter sorter;
static struct sorter_track *track;

static void setup(void)
{
	name_table_init(&names);
	arena = (struct arena){ 0 };
	diag_init(&diag);
	slice_log_init(&slices);
	slices.names_ends = true;
	slice_sorter_init(&sorter, &slices.sink, &diag);
	track = slice_sorter_track(&sorter, NULL);
}

static void teardown(void)
{
	slice_sorter_release(&sorter);
	slice_sorter_release(&sorter);
	name_table_release(&names);
	arena_release(&arena);
	diag_release(&diag);
}

static const struct symbol *symbol(const char *name)
{
	struct symbol *made = arena_alloc(&arena, sizeof(*made));

	made->name = made->linkage = name_intern_text(&names, name);
	return made;
}

static void begin(uint64_t time, const char *name)
{
	feed_begin(&sorter.sink, track, time, symbol(name), 0, 0);
}

static void begin_deferred(uint64_t time, const struct symbol *found, uint64_t ip)
{
	slice_sink_emit(&sorter.sink, track,
			&(struct slice_event){ .time = time,
					       .symbol = found,
					       .ip = ip,
					       .flags = SLICE_INFERRED_START,
					       .order = SLICE_ORDER_DEFERRED },
			NULL);
}

static void deferred(uint64_t time, const char *name)
{
	begin_deferred(time, symbol(name), 0);
}

static void end(uint64_t time)
{
	feed_end(&sorter.sink, track, time);
}

static void complete(uint64_t from, uint64_t to, const char *name, enum slice_order order)
{
	const struct slice_event event = { .time = from,
					   .symbol = symbol(name),
					   .order = (int8_t)order };

	slice_sink_emit_whole(&sorter.sink, track, &event, to);
}

static void instant(uint64_t time, const char *text)
{
	feed_instant(&sorter.sink, track, time, text);
}

static const char *segment(void)
{
	slice_sink_flush(&sorter.sink, track);
	return slice_log_take(&slices);
}

/* A sink that takes slices late, and sorts by time; equal times keep their order. */
static void take_late(void)
{
	slices.sink.late = true;
	slices.names_ends = false;
	sorter.part = 4;
	slice_sink_since(&sorter.sink, track, 1);
}

START_TEST(only_slices_at_the_first_time_wait_for_those_that_are_found_late)
{
	take_late();
	begin(2, "leaf");
	begin(2, "zero");
	end(2);
	begin(3, "inner");
	ck_assert_str_eq(slice_log_take(&slices), "");
	end(4);
	end(4);
	begin(4, "next");
	end(5);
	end(6);
	ck_assert_str_eq(slice_log_take(&slices), "L 1\nB 3 inner\nE 4\nE 4\nB 4 next\nE 5\n");
	deferred(2, "caller");
	begin(6, "sibling");
	end(7);
	end(8);
	deferred(1, "main");
	ck_assert_str_eq(segment(), "E 6\nB 6 sibling\nE 7\nE 8\nB 1 main inferred deferred\n"
				    "B 2 caller inferred deferred\nB 2 leaf deferred\n"
				    "B 2 zero deferred\nE 2\nL 1\n");
	begin(9, "f");
	end(9);
	ck_assert_str_eq(segment(), "B 9 f\nE 9\n");
}
END_TEST

/* Begins and ends of `step` ns each. */
static void make_slices(struct slice_event *edges, size_t count, uint64_t time, uint64_t step)
{
	for (size_t i = 0; i < count; i++)
		edges[i] = (struct slice_event){ .time = time + i * step,
						 .kind = i % 2 ? SLICE_END : SLICE_BEGIN,
						 .symbol = symbol("f") };
}

/* Also if they complete a part. `_i`: as one plain batch. */
START_TEST(edges_that_go_back_to_the_first_time_wait_too)
{
	struct slice_event edges[10];

	take_late();
	make_slices(edges, 10, 2, 0);
	begin(2, "leaf");
	begin(3, "inner");
	end(4);
	begin(4, "next");
	end(5);
	ck_assert_str_eq(slice_log_take(&slices), "L 1\nB 3 inner\nE 4\nB 4 next\n");
	feed_edges(&sorter.sink, track, edges, 10, _i);
	ck_assert_str_eq(slice_log_take(&slices), "E 5\n");
}
END_TEST

/* However many wait, and so how far the room for records has grown. */
START_TEST(a_part_is_passed_on_when_it_is_complete)
{
	enum { PART = 200 };
	struct slice_event edges[2 * PART];

	for (size_t wait = 1; wait < PART; wait++) {
		track = slice_sorter_track(&sorter, NULL);
		take_late();
		sorter.part = PART;
		make_slices(edges, wait, 2, 0);
		make_slices(edges + wait, 2 * PART - wait, 3, 1);
		feed_edges(&sorter.sink, track, edges, PART + 1, false);
		ck_assert_str_ne(slice_log_take(&slices), "");
		feed_edges(&sorter.sink, track, edges + PART + 1, PART - 1, true);
		ck_assert_str_eq(slice_log_take(&slices), "");
	}
}
END_TEST

START_TEST(all_wait_if_slices_can_be_found_late_at_any_time)
{
	take_late();
	begin(2, "f");
	end(3);
	slice_sink_since(&sorter.sink, track, UINT64_MAX);
	begin(3, "g");
	begin(4, "h");
	end(5);
	end(6);
	ck_assert_str_eq(slice_log_take(&slices), "");
	deferred(3, "caller");
	end(7);
	ck_assert_str_eq(segment(),
			 "B 2 f\nE 3\nB 3 caller inferred\nB 3 g\nB 4 h\nE 5\nE 6\nE 7\n");
}
END_TEST

START_TEST(slices_that_are_found_late_around_too_many_are_left_out)
{
	take_late();
	sorter.depth = 2;
	begin(2, "leaf");
	begin(3, "inner");
	end(4);
	end(5);
	end(6);
	end(7);
	deferred(1, "caller");
	deferred(1, "main");
	ck_assert_str_eq(segment(), "L 1\nB 3 inner\nE 4\nE 5\nB 2 leaf deferred\nL 1\n");
	ck_assert_uint_eq(sorter.too_deep, 2);
}
END_TEST

/* An eighth of the levels is left to slices found late, so the innermost calls are left out. */
START_TEST(a_deep_recursion_leaves_levels_to_slices_that_are_found_late)
{
	const char *text;

	take_late();
	sorter.depth = 8;
	begin(2, "leaf");
	for (uint64_t i = 0; i < 8; i++)
		begin(3 + i, i < 7 ? "f" : "innermost");
	for (uint64_t i = 0; i < 8; i++)
		end(20 + i);
	end(30);
	text = segment();
	ck_assert_ptr_nonnull(strstr(text, "B 2 leaf deferred\n"));
	ck_assert_ptr_null(strstr(text, "innermost"));
	ck_assert_uint_eq(sorter.too_deep, 1);
}
END_TEST

/* Of three ends that were written, the first is of `leaf`, the others of slices found late. */
START_TEST(ends_of_more_slices_than_are_found_late_are_counted)
{
	take_late();
	sorter.depth = _i ? 2 : 100;
	begin(2, "leaf");
	begin(3, "inner");
	end(4);
	end(5);
	end(6);
	end(7);
	deferred(1, "caller");
	ck_assert_ptr_nonnull(strstr(
		segment(),
		_i ? "L 1\nB 3 inner\nE 4\nE 5\nB 2 leaf deferred\nL 1\n"
		   : "L 1\nB 3 inner\nE 4\nE 5\nE 6\nE 7\nB 1 caller inferred deferred\nB 2 leaf deferred\nL 1\n"));
	ck_assert_uint_eq(sorter.unmatched_ends, 1);
	slice_sorter_finish(&sorter);
	ck_assert_uint_eq(diag_kinds(&diag), 1 + (unsigned)_i);
}
END_TEST

START_TEST(slices_in_order_are_passed_on_as_they_are_at_the_end_of_the_segment)
{
	begin(1, "f");
	begin(2, "g");
	end(2);
	instant(3, "gap");
	end(3);
	ck_assert_str_eq(slice_log_take(&slices), "");
	ck_assert_str_eq(segment(), "B 1 f\nB 2 g\nE 2 g\nI 3 gap\nE 3 f\n");
}
END_TEST

/* A decode error ends the stack, and a later return shows its caller. */
START_TEST(an_instant_does_not_keep_an_end_after_a_slice_that_is_found_late)
{
	begin(1, "main");
	instant(2, "decode error");
	end(2);
	begin(3, "leaf");
	end(4);
	deferred(2, "caller");
	end(5);
	ck_assert_str_eq(segment(), "B 1 main\nI 2 decode error\nE 2 main\n"
				    "B 2 caller inferred\nB 3 leaf\nE 4 leaf\nE 5 caller\n");
}
END_TEST

/* A kernel entry at the time of the call that encloses it. */
START_TEST(a_slice_that_is_found_late_may_begin_after_others_of_its_time)
{
	begin(1, "f");
	begin(1, "entry");
	end(2);
	end(4);
	complete(1, 1, "unseen", SLICE_ORDER_PLAIN + 1);
	complete(1, 3, "stub", SLICE_ORDER_PLAIN + 1);
	complete(1, 1, "last", SLICE_ORDER_LAST);
	complete(1, 5, "outer", SLICE_ORDER_DEFERRED);
	ck_assert_str_eq(segment(), "B 1 outer\nB 1 f\nB 1 unseen\nE 1 unseen\nB 1 stub\n"
				    "B 1 entry\nB 1 last\nE 1 last\nE 2 entry\nE 3 stub\n"
				    "E 4 f\nE 5 outer\n");
}
END_TEST

START_TEST(what_goes_back_in_time_is_put_in_order)
{
	begin(10, "late");
	end(20);
	begin(5, "early");
	end(7);
	/* seeds.md: times may go back */
	ck_assert_str_eq(segment(), "B 5 early\nE 7 early\nB 10 late\nE 20 late\n");
}
END_TEST

static void log_insns(struct slice_log *log, const struct slice_event *event,
		      const struct slice_detail *detail)
{
	(void)event;
	if (detail)
		feed_instant(&log->sink, NULL, detail->insns, "insns");
}

static void edge_with_insns(enum slice_event_kind kind, uint64_t time, uint64_t insns)
{
	const struct slice_event event = { .time = time,
					   .symbol = symbol("f"),
					   .kind = (uint8_t)kind };

	slice_sink_emit(&sorter.sink, track, &event, &(struct slice_detail){ .insns = insns });
}

START_TEST(details_stay_with_their_begin_or_end)
{
	slices.before = log_insns;
	edge_with_insns(SLICE_BEGIN, 1, 1);
	begin(2, "g");
	end(3);
	edge_with_insns(SLICE_END, 4, 2);
	ck_assert_str_eq(segment(), "I 1 insns\nB 1 f\nB 2 g\nE 3 g\nI 2 insns\nE 4 f\n");
}
END_TEST

START_TEST(details_of_many_in_order_stay_with_them)
{
	struct slice_detail details[3] = { { .insns = 1 }, { .insns = 2 }, { .insns = 3 } };
	struct slice_event events[3] = {
		{ .time = 2, .symbol = symbol("f"), .kind = SLICE_BEGIN },
		{ .time = 2, .symbol = symbol("g"), .kind = SLICE_BEGIN },
		{ .time = 3, .symbol = symbol("g"), .kind = SLICE_END },
	};

	slices.before = log_insns;
	edge_with_insns(SLICE_BEGIN, 1, 7);
	sorter.sink.events(&sorter.sink, track, &(struct slice_batch){ events, 3, details, true });
	ck_assert_str_eq(
		segment(),
		"I 7 insns\nB 1 f\nI 1 insns\nB 2 f\nI 2 insns\nB 2 g\nI 3 insns\nE 3 g\n");
}
END_TEST

START_TEST(frames_found_late_enclose_what_begins_with_them)
{
	begin(0, "f");
	end(5);
	deferred(0, "main");
	deferred(0, "caller");
	end(9);
	end(9);
	ck_assert_str_eq(segment(), "B 0 main inferred\nB 0 caller inferred\nB 0 f\n"
				    "E 5 f\nE 9 caller\nE 9 main\n");
}
END_TEST

START_TEST(a_frame_found_late_does_not_take_the_end_of_what_was_there_before)
{
	/* magic-trace in kernel mode: "tr strt" closes [untraced], its frame is found later. */
	begin(1, "untraced");
	end(5);
	begin(6, "g");
	end(7);
	deferred(5, "fault");
	end(8);
	ck_assert_str_eq(segment(), "B 1 untraced\nE 5 untraced\nB 5 fault inferred\n"
				    "B 6 g\nE 7 g\nE 8 fault\n");
}
END_TEST

/* All in order of time, so there is nothing to merge. */
/* Also if the begin of what ends is still held. */
START_TEST(a_frame_found_late_in_a_part_does_not_take_an_end)
{
	take_late();
	begin(2, "leaf");
	begin(3, "inner");
	end(4);
	begin(4, "next");
	end(5);
	end(6); /* of `leaf` */
	deferred(6, "caller");
	begin(6, "sibling");
	end(7);
	end(8);
	ck_assert_ptr_nonnull(
		strstr(segment(), "E 6\nB 6 caller inferred\nB 6 sibling\nE 7\nE 8\n"));
}
END_TEST

START_TEST(an_end_that_came_after_a_frame_found_late_closes_what_was_there_before)
{
	begin(0, "old");
	deferred(10, "late");
	end(10);
	end(20);
	slice_sink_flush(&sorter.sink, track);
	ck_assert_str_eq(slice_log_take(&slices),
			 "B 0 old\nE 10 old\nB 10 late inferred\nE 20 late\n");
}
END_TEST

START_TEST(the_end_of_a_frame_found_late_does_not_come_before_it)
{
	/* A return at the first instant, out of a frame found late. */
	end(0);
	begin(1, "g");
	deferred(0, "f");
	end(2);
	ck_assert_str_eq(segment(), "B 0 f inferred\nE 0 f\nB 1 g\nE 2 g\n");
	ck_assert_uint_eq(sorter.unmatched_ends, 0);
}
END_TEST

START_TEST(a_complete_slice_ends_before_what_begins_then)
{
	begin(5, "f");
	end(6);
	complete(0, 5, "unknown", SLICE_ORDER_DEFERRED);
	ck_assert_str_eq(segment(), "B 0 unknown\nE 5 unknown\nB 5 f\nE 6 f\n");
}
END_TEST

START_TEST(a_complete_slice_without_length_stays_together)
{
	begin(5, "f");
	complete(5, 5, "mark", SLICE_ORDER_PLAIN);
	complete(7, 4, "backwards", SLICE_ORDER_PLAIN);
	end(8);
	ck_assert_str_eq(segment(), "B 5 f\nB 5 mark\nE 5 mark\n"
				    "B 7 backwards\nE 7 backwards\nE 8 f\n");
}
END_TEST

START_TEST(an_end_without_an_open_slice_is_dropped_and_counted)
{
	const size_t depths[] = { SLICE_SORTER_DEPTH, SIZE_MAX };

	sorter.depth = depths[_i];
	end(1);
	begin(2, "f");
	end(3);
	end(3);
	ck_assert_str_eq(segment(), "B 2 f\nE 3 f\n");
	ck_assert_uint_eq(sorter.unmatched_ends, 2);
}
END_TEST

START_TEST(time_never_goes_back_across_segments)
{
	begin(10, "f");
	end(20);
	segment();
	begin(5, "g");
	end(15);
	begin(30, "h");
	end(31);
	ck_assert_str_eq(segment(), "B 20 g\nE 20 g\nB 30 h\nE 31 h\n");
	ck_assert_uint_eq(sorter.backward, 2);
}
END_TEST

START_TEST(slices_stay_open_across_segments_and_close_in_the_end)
{
	begin(1, "f");
	begin(2, "g");
	ck_assert_str_eq(segment(), "B 1 f\nB 2 g\n");
	end(3);
	begin(4, "h");
	slice_sorter_finish(&sorter);
	ck_assert_str_eq(slice_log_take(&slices), "E 3 g\nB 4 h\nE 4 h\nE 4 f\n");
	ck_assert_uint_eq(diag_kinds(&diag), 0);
}
END_TEST

/* For Perfetto, an instant's slice counts: [decode error]. */
START_TEST(instants_too_deep_are_left_out_too)
{
	for (uint64_t i = 0; i < SLICE_SORTER_DEPTH - 1; i++)
		begin(i, "f");
	segment();
	instant(1000, "in");
	ck_assert_ptr_nonnull(strstr(segment(), "in"));
	begin(1001, "f");
	segment();
	instant(1002, "out");
	ck_assert_ptr_null(strstr(segment(), "out"));
	ck_assert_uint_eq(sorter.too_deep, 1);
	end(1003);
	instant(1004, "in");
	ck_assert_ptr_nonnull(strstr(segment(), "in"));
}
END_TEST

START_TEST(slices_too_deep_are_left_out_with_their_ends)
{
	static const char last_in[] = "B 511 f\nE 1000 f\n";
	const char *text;
	size_t begins = 0, ends = 0;

	for (uint64_t i = 0; i < SLICE_SORTER_DEPTH + 3; i++)
		begin(i, "f");
	for (uint64_t i = 0; i < SLICE_SORTER_DEPTH + 3; i++)
		end(1000);
	text = segment();
	for (const char *at = text; *at; at++) {
		begins += *at == 'B';
		ends += *at == 'E';
	}
	ck_assert_uint_eq(begins, SLICE_SORTER_DEPTH);
	ck_assert_uint_eq(ends, SLICE_SORTER_DEPTH);
	ck_assert_ptr_nonnull(strstr(text, last_in));
	slice_sorter_finish(&sorter);
	ck_assert_uint_eq(diag_kinds(&diag), 1);
	ck_assert_str_eq(diag.first->text, "3 slices were left out, as at most 512 can be nested");
}
END_TEST

START_TEST(tracks_do_not_mix)
{
	char one[] = "one", two[] = "two";
	struct sorter_track *a = slice_sorter_track(&sorter, one);
	struct sorter_track *b = slice_sorter_track(&sorter, two);

	track = b;
	begin(1, "f");
	track = a;
	begin(2, "g");
	end(3);
	track = b;
	end(4);
	slice_sorter_finish(&sorter);
	ck_assert_str_eq(slice_log_take(&slices), "one B 2 g\none E 3 g\n"
						  "two B 1 f\ntwo E 4 f\n");
}
END_TEST

static size_t passed, wrong;
static uint64_t last;

static void check_events(const struct slice_sink *sink, void *context,
			 const struct slice_batch *batch)
{
	(void)sink;
	(void)context;
	for (size_t i = 0; i < batch->count; i++) {
		const struct slice_event *event = &batch->events[i];

		passed++;
		wrong += event->time < last ||
			 (event->kind == SLICE_BEGIN && event->ip != event->time);
		last = event->time;
	}
}

/* 6 million records are 192 MiB, of which 64 may stay.  Some come late, like callers. */
START_TEST(a_long_segment_is_put_in_order_and_takes_little_memory)
{
	enum { SLICES = 3000000, LATE = 100 };
	const struct slice_sink next = { .events = check_events };
	const struct symbol *function = symbol("f");
	struct rusage usage;

	slice_sorter_release(&sorter);
	slice_sorter_init(&sorter, &next, &diag);
	track = slice_sorter_track(&sorter, NULL);
	for (uint64_t i = 0; i < SLICES; i++) {
		feed_begin(&sorter.sink, track, 10 * i, function, 10 * i, 0);
		end(10 * i + 5);
	}
	for (uint64_t i = LATE; i-- > 0;) {
		uint64_t time = SLICES / LATE * i * 10;

		begin_deferred(time, function, time);
	}
	slice_sink_flush(&sorter.sink, track);
	ck_assert_uint_eq(passed, 2 * SLICES + LATE);
	ck_assert_uint_eq(wrong, 0);
	getrusage(RUSAGE_SELF, &usage);
	/* Sanitizers use memory of their own. */
	if (!UNIT_SANITIZED)
		ck_assert_int_lt(usage.ru_maxrss, 100 * 1024);
}
END_TEST

START_TEST(a_segment_beyond_the_limit_is_passed_on_in_parts)
{
	sorter.limit = 2;
	begin(1, "f");
	end(2);
	instant(3, "three");
	begin(4, "g");
	ck_assert_str_eq(slice_log_take(&slices), "B 1 f\nE 2 f\n");
	end(5);
	deferred(1, "main");
	ck_assert_str_eq(segment(), "I 3 three\nB 4 g\nB 4 main inferred\nE 5 main\n");
	slice_sorter_finish(&sorter);
	ck_assert_str_eq(diag.first->kind, "time-backwards");
	ck_assert_str_eq(diag.first->next->kind, "segment-split");
}
END_TEST

/* The model: a plain stable sort of the same records. */
struct model {
	uint64_t time;
	unsigned number;
};

static int compare_model(const void *a, const void *b)
{
	const struct model *x = a, *y = b;

	if (x->time != y->time)
		return x->time < y->time ? -1 : 1;
	return x->number < y->number ? -1 : 1;
}

START_TEST(sorting_is_stable_for_any_runs)
{
	static struct model model[700];
	uint32_t random = 1;

	for (size_t count = 0; count < sizeof(model) / sizeof(model[0]); count += 1 + count / 3) {
		static char expected[1 << 16];
		size_t length = 0;

		expected[0] = 0;
		for (size_t i = 0; i < count; i++) {
			char text[16];

			random = random * 1664525 + 1013904223;
			/* Runs of about eight, with many equal times. */
			model[i].time = 1000 * count + random / (UINT32_MAX / 8) + i % 8;
			model[i].number = (unsigned)i;
			snprintf(text, sizeof(text), "%zu", i);
			instant(model[i].time, text);
		}
		qsort(model, count, sizeof(model[0]), compare_model);
		for (size_t i = 0; i < count; i++)
			length += (size_t)snprintf(expected + length, sizeof(expected) - length,
						   "I %lu %u\n", (unsigned long)model[i].time,
						   model[i].number);
		ck_assert_str_eq(segment(), expected);
	}
}
END_TEST

/* Begins and ends are about equal; in one of eight batches nearly all are ends. */
static void make_edges(struct slice_event *edges, size_t count, unsigned *seed, uint64_t *time)
{
	const struct symbol *function = symbol("f");
	int open = rand_r(seed) % 8 ? 32 : 96;

	for (size_t i = 0; i < count; i++) {
		bool begins = rand_r(seed) % 64 > open;

		open += begins ? 1 : -1;
		*time += (uint64_t)rand_r(seed) % 3;
		edges[i] = (struct slice_event){ .time = *time,
						 .ip = *time,
						 .kind = begins ? SLICE_BEGIN : SLICE_END,
						 .symbol = begins ? function : NULL };
	}
}

/*
 * Random slices too deep, ends without begins, times that go back or are too late, frames found
 * late, instants and parts.
 */
static void feed_wild(unsigned seed, bool at_once)
{
	uint64_t time = 1000;

	/* A segment without parts. */
	begin(time - 9, "short");
	end(time - 7);
	slice_sink_flush(&sorter.sink, track);
	for (int i = 0; i < 800; i++) {
		struct slice_event edges[40];
		size_t count = 1 + (size_t)rand_r(&seed) % 40;

		make_edges(edges, count, &seed, &time);
		feed_edges(&sorter.sink, track, edges, count, at_once);
		switch (rand_r(&seed) % 40) {
		case 0:
			time -= 20;
			break;
		case 1:
			deferred(time - 10 * (seed % 2), "late");
			break;
		case 2:
			instant(time, "here");
			break;
		case 3:
			slice_sink_flush(&sorter.sink, track);
			slice_sink_since(&sorter.sink, track, time);
			break;
		case 4:
			complete(time, time + 3, "whole", SLICE_ORDER_PLAIN);
			break;
		case 5:
			slice_sink_emit(&sorter.sink, track,
					&(struct slice_event){ .time = time,
							       .symbol = symbol("later"),
							       .order = SLICE_ORDER_PLAIN + 1 },
					NULL);
			break;
		case 6:
			slice_sink_since(&sorter.sink, track, UINT64_MAX);
			break;
		}
		if (i == 780)
			time = INT64_MAX - 10;
	}
}

static void feed_all(unsigned seed, bool at_once)
{
	sorter.depth = 10;
	sorter.limit = seed % 3 ? 300 : seed % 5 ? SLICE_SORTER_LIMIT : 15;
	if (seed % 2)
		take_late();
	sorter.part = 20;
	feed_wild(seed, at_once);
	slice_sorter_finish(&sorter);
}

static void open_again(void)
{
	slice_sorter_release(&sorter);
	slice_sorter_init(&sorter, &slices.sink, &diag);
	track = slice_sorter_track(&sorter, NULL);
}

static void assert_like(const struct slice_sorter *before, const char *expected)
{
	ck_assert(!strcmp(slice_log_take(&slices), expected)); /* too long for a message */
	ck_assert_uint_eq(sorter.unmatched_ends, before->unmatched_ends);
	ck_assert_uint_eq(sorter.backward, before->backward);
	ck_assert_uint_eq(sorter.late, before->late);
	ck_assert_uint_eq(sorter.too_deep, before->too_deep);
	ck_assert_uint_eq(sorter.split, before->split);
}

START_TEST(edges_have_the_outcome_of_begins_and_ends_one_by_one)
{
	struct slice_sorter before;
	char *expected;

	feed_all((unsigned)_i, false);
	expected = strdup(slice_log_take(&slices));
	before = sorter;
	open_again();
	feed_all((unsigned)_i, true);
	assert_like(&before, expected);
	ck_assert(before.too_deep + before.unmatched_ends > 0);
	free(expected);
}
END_TEST

START_TEST(two_passes_in_parts_have_the_outcome_of_whole_segments)
{
	struct slice_sorter before;
	size_t first_pass;
	char *expected;

	sorter.depth = 10;
	feed_wild((unsigned)_i, true);
	slice_sorter_finish(&sorter);
	expected = strdup(slice_log_take(&slices));
	before = sorter;
	open_again();
	sorter.depth = 10;
	sorter.part = 20;
	sorter.twice = true;
	feed_wild((unsigned)_i, true);
	ck_assert(sorter.looks);
	first_pass = slices.length;
	ck_assert_uint_lt(first_pass, strlen(expected) / 2);
	slice_sorter_again(&sorter);
	feed_wild((unsigned)_i, true);
	ck_assert_uint_gt(slices.length, first_pass); /* emitted before the end */
	slice_sorter_finish(&sorter);
	ck_assert_uint_eq(sorter.unrepeated, 0);
	assert_like(&before, expected);
	free(expected);
}
END_TEST

/* The second pass lacks a caller that was found late; only if it was not cut, this is strange. */
START_TEST(a_second_pass_that_differs_is_a_warning)
{
	bool warned = false;

	sorter.part = 2;
	sorter.twice = true;
	for (int pass = 0; pass < 2; pass++) {
		begin(1, "first");
		end(2);
		slice_sink_flush(&sorter.sink, track);
		for (uint64_t i = 0; i < 4; i++) {
			begin(10 + 2 * i, "f");
			end(11 + 2 * i);
		}
		if (!pass) {
			deferred(10, "late");
			slice_sink_flush(&sorter.sink, track);
			slice_sorter_again(&sorter);
		}
	}
	sorter.cut = _i;
	slice_sorter_finish(&sorter);
	ck_assert_uint_gt(sorter.unrepeated, 0);
	for (const struct diag_line *at = diag.first; at; at = at->next)
		warned |= strcmp(at->kind, "passes-differ") == 0;
	ck_assert_int_eq(warned, !sorter.cut);
}
END_TEST

/*
 * A long segment that begins in two calls, which are found when they return, perhaps with a third
 * one. `announces`: as the machine does before the first part ends.
 */
enum { ALL_FOUND, ONE_MORE_FOUND, ONE_MORE_ANNOUNCED, ONE_CHANGED, ONE_MISSING, FOUND_WAYS };

static void announce(const struct symbol *found, uint64_t ip)
{
	slice_sink_emit(&sorter.sink, track,
			&(struct slice_event){ .time = 10,
					       .symbol = found,
					       .ip = ip,
					       .flags = SLICE_INFERRED_START,
					       .kind = SLICE_EARLY,
					       .order = SLICE_ORDER_DEFERRED },
			NULL);
}

static void feed_long(int way, bool announces)
{
	const struct symbol *outer = symbol("outer"), *middle = symbol("middle");
	uint64_t time = 10;

	begin(time, "inner");
	end(time + 1);
	end(time + 3);
	for (int i = 0; i < 60; i++) {
		if (i == 8 && announces) {
			announce(outer, 7);
			announce(middle, 8);
			if (way == ONE_MISSING)
				announce(symbol("missing"), 9);
		}
		if (i == 30 && announces && way == ONE_MORE_ANNOUNCED)
			announce(symbol("more"), 0);
		ck_assert(i < 20 || !announces || slices.length); /* emitted before the end */
		feed_edges(&sorter.sink, track,
			   (struct slice_event[]){ { .time = time + 5, .symbol = symbol("f") },
						   { .time = time + 8, .kind = SLICE_END } },
			   2, true);
		time += 9;
	}
	end(time);
	if (way == ONE_MORE_FOUND || way == ONE_MORE_ANNOUNCED) {
		end(time + 1);
		begin_deferred(10, symbol("more"), 0);
	}
	begin_deferred(10, outer, way == ONE_CHANGED ? 6 : 7);
	begin_deferred(10, middle, 8);
	slice_sink_flush(&sorter.sink, track);
}

static char *outcome_of_whole_segments(int way)
{
	char *expected;

	feed_long(ALL_FOUND, false);
	feed_long(way, false);
	slice_sorter_finish(&sorter);
	expected = strdup(slice_log_take(&slices));
	open_again();
	sorter.part = 20;
	sorter.twice = sorter.hopes = true;
	return expected;
}

START_TEST(one_pass_with_announced_slices_has_the_outcome_of_whole_segments)
{
	char *expected = outcome_of_whole_segments(ALL_FOUND);

	feed_long(ALL_FOUND, true);
	feed_long(ALL_FOUND, true);
	ck_assert(!sorter.looks);
	slice_sorter_finish(&sorter);
	ck_assert_str_eq(slice_log_take(&slices), expected);
	free(expected);
}
END_TEST

/* The first segment is as announced. */
START_TEST(other_slices_than_announced_need_a_second_pass_with_another_sorter)
{
	char *expected = outcome_of_whole_segments(_i);
	struct sorter_track *noted;

	feed_long(ALL_FOUND, true);
	ck_assert(!sorter.looks);
	feed_long(_i, true);
	ck_assert(sorter.looks);
	noted = sorter.first;
	sorter.first = NULL;
	slice_log_take(&slices);
	slice_sorter_release(&sorter);
	slice_sorter_init(&sorter, &slices.sink, &diag);
	sorter.part = 20;
	sorter.twice = true;
	sorter.noted = noted;
	track = slice_sorter_track(&sorter, NULL);
	slice_sorter_again(&sorter);
	feed_long(ALL_FOUND, false);
	feed_long(_i, false);
	slice_sorter_finish(&sorter);
	ck_assert_uint_eq(sorter.unrepeated, 0);
	ck_assert_str_eq(slice_log_take(&slices), expected);
	free(expected);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("slice_sorter");
	TCase *all = tcase_create("slice_sorter");

	tcase_add_checked_fixture(all, setup, teardown);
	tcase_add_test(all, one_pass_with_announced_slices_has_the_outcome_of_whole_segments);
	tcase_add_loop_test(all, other_slices_than_announced_need_a_second_pass_with_another_sorter,
			    ONE_MORE_FOUND, FOUND_WAYS);
	tcase_add_test(all, only_slices_at_the_first_time_wait_for_those_that_are_found_late);
	tcase_add_loop_test(all, edges_that_go_back_to_the_first_time_wait_too, 0, 2);
	tcase_add_test(all, a_part_is_passed_on_when_it_is_complete);
	tcase_add_test(all, all_wait_if_slices_can_be_found_late_at_any_time);
	tcase_add_test(all, slices_that_are_found_late_around_too_many_are_left_out);
	tcase_add_test(all, a_deep_recursion_leaves_levels_to_slices_that_are_found_late);
	tcase_add_test(all, a_frame_found_late_in_a_part_does_not_take_an_end);
	tcase_add_loop_test(all, ends_of_more_slices_than_are_found_late_are_counted, 0, 2);
	tcase_add_test(all, slices_in_order_are_passed_on_as_they_are_at_the_end_of_the_segment);
	tcase_add_test(all, an_instant_does_not_keep_an_end_after_a_slice_that_is_found_late);
	tcase_add_test(all, a_slice_that_is_found_late_may_begin_after_others_of_its_time);
	tcase_add_test(all, what_goes_back_in_time_is_put_in_order);
	tcase_add_test(all, details_stay_with_their_begin_or_end);
	tcase_add_test(all, details_of_many_in_order_stay_with_them);
	tcase_add_test(all, frames_found_late_enclose_what_begins_with_them);
	tcase_add_test(all, a_frame_found_late_does_not_take_the_end_of_what_was_there_before);
	tcase_add_test(all, the_end_of_a_frame_found_late_does_not_come_before_it);
	tcase_add_test(all, an_end_that_came_after_a_frame_found_late_closes_what_was_there_before);
	tcase_add_test(all, a_complete_slice_ends_before_what_begins_then);
	tcase_add_test(all, a_complete_slice_without_length_stays_together);
	tcase_add_loop_test(all, an_end_without_an_open_slice_is_dropped_and_counted, 0, 2);
	tcase_add_test(all, time_never_goes_back_across_segments);
	tcase_add_test(all, slices_stay_open_across_segments_and_close_in_the_end);
	tcase_add_test(all, slices_too_deep_are_left_out_with_their_ends);
	tcase_add_test(all, instants_too_deep_are_left_out_too);
	tcase_add_test(all, tracks_do_not_mix);
	tcase_add_test(all, a_long_segment_is_put_in_order_and_takes_little_memory);
	tcase_add_test(all, a_segment_beyond_the_limit_is_passed_on_in_parts);
	tcase_add_test(all, sorting_is_stable_for_any_runs);
	tcase_add_loop_test(all, edges_have_the_outcome_of_begins_and_ends_one_by_one, 0, 20);
	tcase_add_loop_test(all, two_passes_in_parts_have_the_outcome_of_whole_segments, 0, 20);
	tcase_add_loop_test(all, a_second_pass_that_differs_is_a_warning, 0, 2);
	suite_add_tcase(suite, all);
	return unit_run(suite);
}
