/* SPDX-License-Identifier: MIT */
/* The store of events: a target of the event sink that gives them back in order of time. */
#include "src/slices/event_store.h"

#include "src/formats/text/event_text.h"
#include "tests/support/unit.h"

static struct name_table names;
static struct event_store store;

static void setup(void)
{
	name_table_init(&names);
	event_store_init(&store, &names, 100);
}

static void teardown(void)
{
	event_store_release(&store);
	name_table_release(&names);
}

static void add(enum track_event_kind kind, uint64_t tid, uint64_t time, const char *name,
		uint64_t end)
{
	struct event_record record;

	event_record_init(&record, &store.sink, (struct event_track){ 1, tid }, NULL, name, time);
	record.event.end = end;
	event_record_emit(&record, kind);
}

static void add_switch(uint64_t cpu, uint64_t tid, uint64_t time, enum event_thread_state state)
{
	event_sink_emit(&store.sink, &(struct track_event){ .kind = TRACK_SWITCH,
							    .time = time,
							    .cpu = cpu,
							    .track = { tid ? 1 : 0, tid },
							    .change.state = state });
}

/* "TIME KIND TRACK NAME ARGS" of each event: I, C, B, E; others '?'. */
static void expect(const char *expected)
{
	static const char kinds[TRACK_EVENT_KINDS] = {
		[TRACK_INSTANT] = 'I', [TRACK_COUNTER] = 'C', [TRACK_BEGIN] = 'B', [TRACK_END] = 'E'
	};
	char *text;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	event_store_sort(&store);
	for (size_t i = 0; i < store.count; i++) {
		const struct track_event event = event_store_at(&store, i);
		const struct name *track = event_store_track(&store, event.track)->name;

		ck_assert_uint_eq(event.time, event_store_time(&store, i));
		fprintf(out, "%d %c %s %.*s", (int)event.time, kinds[event.kind] ?: '?',
			track ? track->text : "-", (int)event.name.length, event.name.at);
		event_args_print(&event, false, out);
		fputs("; ", out);
	}
	fclose(out);
	ck_assert_str_eq(text, expected);
	free(text);
}

START_TEST(events_come_back_in_order_of_time_and_then_of_arrival)
{
	add(TRACK_INSTANT, 5, 30, "late", 0);
	add(TRACK_INSTANT, 5, 10, "early", 0);
	add(TRACK_INSTANT, 6, 10, "second", 0);
	expect("10 I - early; 10 I - second; 30 I - late; ");
	ck_assert_uint_eq(event_store_time(&store, 3), UINT64_MAX);
}
END_TEST

START_TEST(a_whole_slice_is_a_begin_and_an_end)
{
	add(TRACK_WHOLE, 5, 10, "whole", 40);
	add(TRACK_INSTANT, 5, 20, "inside", 0);
	expect("10 B - whole; 20 I - inside; 40 E - ; ");
}
END_TEST

START_TEST(texts_and_arguments_are_copied)
{
	char name[] = "name", key[] = "key", value[] = "a\nb";
	struct event_record record;

	event_record_init(&record, &store.sink, (struct event_track){ 1, 5 }, NULL, name, 7);
	event_record_add_text(&record, key, value);
	event_record_add_address(&record, event_record_copy(&record, "at"), 255);
	event_record_add_number(&record, "n", -3);
	event_record_add_double(&record, "x", 0.1);
	event_record_emit(&record, TRACK_COUNTER);
	memset(name, '?', 4);
	memset(key, '?', 3);
	memset(value, '?', 3);
	memset(record.texts, '?', sizeof(record.texts));
	expect("7 C - name key=a\\x0ab at=0xff n=-3 x=0.1; ");
}
END_TEST

START_TEST(new_tracks_have_ids_after_the_last_and_their_names)
{
	uint64_t group = event_sink_new_process(&store.sink, "CPUs");
	struct event_track track = event_sink_new_track(&store.sink, group, "CPU 0");
	struct track described;

	ck_assert_uint_eq(group, 101);
	ck_assert_uint_eq(track.pid, 101);
	ck_assert_uint_eq(track.tid, 102);
	described = stored_track_describe(event_store_track(&store, track));
	ck_assert_str_eq(described.process_name, "CPUs");
	ck_assert_str_eq(described.thread_name, "CPU 0");
}
END_TEST

START_TEST(switches_can_be_slices_of_their_cpu_and_end_with_the_last_event)
{
	store.shows_switches = true;
	event_sink_name_track(&store.sink, (struct event_track){ 1, 7 }, "cat");
	add_switch(0, 7, 10, EVENT_THREAD_BLOCKED);
	add_switch(0, 0, 20, EVENT_THREAD_PREEMPTED);
	add_switch(1, 8, 30, EVENT_THREAD_BLOCKED);
	add(TRACK_INSTANT, 7, 50, "last", 0);
	expect("10 B threads on CPU 0 cat pid=1 tid=7 priority=0; "
	       "20 E threads on CPU 0  state=preempted; "
	       "30 B threads on CPU 1 thread pid=1 tid=8 priority=0; 50 I cat last; "
	       "50 E threads on CPU 1 ; ");
}
END_TEST

START_TEST(wakeups_can_be_instants_of_the_woken_thread)
{
	store.shows_wakeups = true;
	event_sink_emit(&store.sink, &(struct track_event){ .kind = TRACK_WAKEUP,
							    .time = 10,
							    .cpu = 2,
							    .track = { 1, 7 },
							    .change.other = { 1, 9 } });
	expect("10 I - wakeup cpu=2 waker=9; ");
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("event_store");
	TCase *all = tcase_create("event_store");

	tcase_add_checked_fixture(all, setup, teardown);
	tcase_add_test(all, events_come_back_in_order_of_time_and_then_of_arrival);
	tcase_add_test(all, a_whole_slice_is_a_begin_and_an_end);
	tcase_add_test(all, texts_and_arguments_are_copied);
	tcase_add_test(all, new_tracks_have_ids_after_the_last_and_their_names);
	tcase_add_test(all, switches_can_be_slices_of_their_cpu_and_end_with_the_last_event);
	tcase_add_test(all, wakeups_can_be_instants_of_the_woken_thread);
	suite_add_tcase(suite, all);
	return unit_run(suite);
}
