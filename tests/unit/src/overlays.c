/* SPDX-License-Identifier: MIT */
/* Clocks of overlays, the threads of their rings, tracks, and cut memtrace. */
#include "src/overlays/overlays.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "tests/support/memtrace_ctf.h"
#include "tests/support/perf_data.h"
#include "tests/support/runtime_events_ring.h"
#include "tests/support/unit.h"

#define START UINT64_C(1699999997017536) /* us */

static struct diag diag;
static struct options options;

static void setup(void)
{
	diag_init(&diag);
	options = (struct options){ .quiet = true };
}

static void teardown(void)
{
	diag_release(&diag);
}

/* ---- Cut memtrace -------------------------------------------------------- */

/*
 * Block 0 lives from 10 to 60 us and is promoted, 1 from 20 to 30, 2 from 40 to 80 and is promoted,
 * 3 from 70 on.
 */
static struct ctf_file make_blocks(void)
{
	const uint64_t code = 1000;
	struct ctf_alloc alloc = { .words = 3, .samples = 1, .backtrace = &code, .length = 1 };
	struct ctf_file file;

	ctf_init(&file, 3, 1e-4, 10, START);
	ctf_locate(&file, 0, code, &(struct ctf_location){ "a.ml", "f", 12, 3, 9 }, 1);
	ctf_alloc(&file, 0, (alloc.time = START + 10, &alloc));
	ctf_alloc(&file, 0, (alloc.time = START + 20, &alloc));
	ctf_object(&file, 0, 3, START + 25, 0);
	ctf_object(&file, 0, 4, START + 30, 1);
	ctf_alloc(&file, 0, (alloc.time = START + 40, &alloc));
	ctf_object(&file, 0, 3, START + 50, 2);
	ctf_object(&file, 0, 4, START + 60, 0);
	ctf_alloc(&file, 0, (alloc.time = START + 70, &alloc));
	ctf_object(&file, 0, 4, START + 80, 2);
	ctf_flush(&file, 0);
	return file;
}

/* "10 a0": at 10 us block 0 is allocated; p: promoted; c: collected. */
static void print_file(const char *path, char *text)
{
	struct overlay_input input;
	struct memtrace_event event;
	struct error err = { 0 };

	ck_assert_int_eq(overlay_input_open(&input,
					    &(struct overlay_option){ OVERLAY_MEMTRACE, path },
					    &diag, &err),
			 0);
	ck_assert_uint_eq(input.memtrace.info.start_time, START);
	while (memtrace_next(&input.memtrace, &event))
		text += sprintf(text, "%d %c%d ", (int)event.time, "apc"[event.kind],
				(int)event.object);
	overlay_input_close(&input);
}

static void write_file(char *path, const void *bytes, size_t size)
{
	int fd = mkstemp(path);

	ck_assert_int_eq(write(fd, bytes, size), (int)size);
	close(fd);
}

static const struct {
	const char *range;
	const char *events; /* "": it is refused */
	int alive;
} cuts[] = {
	{ ",", "10 a0 20 a1 25 p0 30 c1 40 a2 50 p2 60 c0 70 a3 80 c2 ", 0 },
	/* A block that is alive is allocated, and promoted, at the begin. */
	{ "+35us,+30us", "35 a0 35 p0 40 a1 50 p1 60 c0 ", 1 },
	{ "+41us,+8us", "41 a0 41 p0 41 a1 ", 2 },
	/* Both ends belong to the range. */
	{ "+30us,+30us", "30 a0 30 a1 30 p0 30 c1 40 a2 50 p2 60 c0 ", 2 },
	{ "+30001ns,+29us", "31 a0 31 p0 40 a1 50 p1 ", 1 },
	{ "+29999ns,+30001ns", "30 a0 30 a1 30 p0 30 c1 40 a2 50 p2 60 c0 ", 2 },
	{ "+10us,+0us", "10 a0 ", 0 },
	{ "+80us,", "80 a0 80 p0 80 a1 80 c0 ", 2 },
	{ ",+9us", "", 0 },
	{ "+81us,", "", 0 },
	{ "+60us,1ns", "", 0 },
};

START_TEST(a_range_of_memtrace_has_the_blocks_that_are_alive)
{
	char path[] = "/tmp/overlays-XXXXXX", copy[] = "/tmp/overlays-XXXXXX", text[400] = "";
	const struct overlay_option option = { OVERLAY_MEMTRACE, path };
	struct ctf_file file = make_blocks();
	struct overlay_cut_counts counts;
	struct selection selection = { 0 };
	struct overlay_input input;
	struct error err = { 0 };
	struct output output;
	int events = 0;

	write_file(path, file.out.bytes, file.out.size);
	write_file(copy, "", 0);
	ck_assert(selection_time(&selection, cuts[_i].range));
	ck_assert_int_eq(overlay_input_open(&input, &option, &diag, &err), 0);
	ck_assert_int_eq(input.pid, 10);
	ck_assert_uint_eq(input.last_time, (START + 80) * 1000);
	ck_assert_int_eq(output_open(&output, copy, &err), 0);
	if (overlay_cut(&input, &selection, &output, &counts, &err) == 0) {
		ck_assert_int_eq(output_close(&output, &err), 0);
		print_file(copy, text);
		for (const char *at = text; (at = strchr(at, ' ')); at++)
			events++;
		ck_assert_uint_eq(counts.events, 9);
		ck_assert_uint_eq(counts.written, events / 2);
		ck_assert_uint_eq(counts.alive, cuts[_i].alive);
	} else {
		ck_assert_ptr_nonnull(strstr(err.text, "--time"));
		output_abandon(&output);
	}
	ck_assert_str_eq(text, cuts[_i].events);
	overlay_input_close(&input);
	unlink(path);
	unlink(copy);
	ctf_release(&file);
}
END_TEST

/* ---- Clocks without a recording ------------------------------------------ */

/* "e1": runtime events of process 1; "m1": memtrace.  The clock is the last one's. */
static const struct {
	const char *inputs;
	struct clock_offsets given;
	int64_t mono[2], real[2]; /* lines of --clock-sync */
	enum overlay_clock_method method;
	int64_t offset;
	uint64_t uncertainty;
} alone[] = {
	{ "m1", { 0 }, { 0 }, { 0 }, OVERLAY_CLOCK_OWN, 0, 0 },
	{ "e1", { 0 }, { 0 }, { 0 }, OVERLAY_CLOCK_OWN, 0, 0 },
	{ "m1", { .has_real = true, .real = 7 }, { 0 }, { 0 }, OVERLAY_CLOCK_EXPLICIT, 7, 0 },
	{ "m1", { .has_mono = true, .mono = 7 }, { 0 }, { 0 }, OVERLAY_CLOCK_OWN, 0, 0 },
	{ "e1", { .has_mono = true, .mono = -7 }, { 0 }, { 0 }, OVERLAY_CLOCK_EXPLICIT, -7, 0 },
	{ "e1", { .has_real = true, .real = -7 }, { 0 }, { 0 }, OVERLAY_CLOCK_OWN, 0, 0 },
	{ "m1", { 0 }, { 50, 90 }, { 1000, 1100 }, OVERLAY_CLOCK_OWN, 0, 0 },
	/* Offsets -950 and -1010: the middle, with half of the drift and 1 us. */
	{ "e1 m1", { 0 }, { 50, 90 }, { 1000, 1100 }, OVERLAY_CLOCK_SYNC, -980, 1030 },
	{ "e2 m1", { 0 }, { 50, 50 }, { 1000, 1000 }, OVERLAY_CLOCK_SYNC, -950, 1000 },
	{ "e1 m1",
	  { .has_real = true, .real = 3 },
	  { 50, 90 },
	  { 1000, 1100 },
	  OVERLAY_CLOCK_EXPLICIT,
	  3,
	  0 },
	/* Of the process 1, the last events are at 4001, memtrace's at 9002. */
	{ "e1 m1", { 0 }, { 0 }, { 0 }, OVERLAY_CLOCK_ASSUMED, 4001 - 9002, UINT64_MAX },
	{ "e1 m2", { 0 }, { 0 }, { 0 }, OVERLAY_CLOCK_ASSUMED, 0, UINT64_MAX },
};

START_TEST(without_a_recording_the_clock_is_the_runtime_events)
{
	struct overlay_input inputs[2] = { 0 };
	struct overlay_sync syncs[2] = { { 0, alone[_i].mono[0], alone[_i].real[0] },
					 { 0, alone[_i].mono[1], alone[_i].real[1] } };
	struct overlays overlays = { .options = &options,
				     .out = { .diag = &diag },
				     .inputs = inputs,
				     .syncs = syncs,
				     .sync_count = alone[_i].mono[0] ? 2 : 0 };
	struct overlay_clock clock;

	options.clock_offsets = alone[_i].given;
	for (const char *at = alone[_i].inputs; *at; at += at[2] ? 3 : 2) {
		struct overlay_input *input = &inputs[overlays.count++];

		input->importer = *at == 'e' ? &overlay_runtime_events : &overlay_memtrace;
		input->pid = at[1] - '0';
		input->path = (char *)"file";
		input->last_time = (*at == 'e' ? 4000 : 9000) + overlays.count;
	}
	clock = overlays_match_clock(&overlays, overlays.count - 1, NULL);
	ck_assert_int_eq(clock.method, alone[_i].method);
	ck_assert_int_eq(clock.offset, alone[_i].offset);
	ck_assert_uint_eq(clock.uncertainty, alone[_i].uncertainty);
	ck_assert_uint_eq(diag_kinds(&diag), clock.method == OVERLAY_CLOCK_ASSUMED);
}
END_TEST

static const struct {
	int64_t offset;
	uint64_t time, moved;
} moves[] = {
	{ 0, 5, 5 },
	{ 3, 5, 8 },
	{ -3, 5, 2 },
	{ -5, 5, 0 },
	{ -6, 5, 0 },
	{ 1, INT64_MAX, INT64_MAX },
	{ INT64_MAX, UINT64_MAX, INT64_MAX },
};

START_TEST(times_move_within_the_clock)
{
	const struct overlay_clock clock = { .offset = moves[_i].offset };

	ck_assert_uint_eq(overlay_clock_time(&clock, moves[_i].time), moves[_i].moved);
}
END_TEST

/* ---- The order of records and events ------------------------------------- */

#define AHEAD INT64_C(5000000)

/* A process, and what its rings say, by clocks that are AHEAD apart. */
static struct recording {
	struct perf_file file;
	struct timeline *timeline;
	struct ring_file rings;
	struct overlay_input input;
	struct name_table names;
	struct overlay_calls calls;
	struct pt_info info;
} run;

static void put_fork(struct perf_data *data, uint64_t time, int32_t tid, int32_t parent)
{
	const struct {
		int32_t pid, parent_pid, tid, parent_tid;
		uint64_t time;
	} record = { 10, 10, tid, parent, time };

	perf_data_stamp(data, (struct perf_data_stamp){ .time = time, .pid = 10, .tid = parent });
	perf_data_add_record(data, PERF_RECORD_FORK, 0, &record, sizeof(record));
}

/* A process of its own. */
static void put_child(struct perf_data *data, uint64_t time, int32_t parent)
{
	const struct {
		int32_t pid, parent_pid, tid, parent_tid;
		uint64_t time;
	} record = { 99, 10, 99, parent, time };

	perf_data_stamp(data, (struct perf_data_stamp){ .time = time, .pid = 10, .tid = parent });
	perf_data_add_record(data, PERF_RECORD_FORK, 0, &record, sizeof(record));
}

static void put_exit(struct perf_data *data, uint64_t time, int32_t tid)
{
	perf_data_stamp(data, (struct perf_data_stamp){ .time = time, .pid = 10, .tid = tid });
	perf_data_add_exit(data, 10, tid);
}

/* Thread 10 execs at 1000, and makes the domain 11, whose backup thread is 12, and as 20, 21. */
static void open_run(bool second)
{
	const struct perf_data_mmap map = { 10, 10, 0x1000, 0x1000, .path = "/none" };
	struct perf_data_pt_info info = { .pmu_type = 8 };
	struct error err = { 0 };
	char path[PERF_DATA_PATH];
	struct perf_data data;

	perf_data_init(&data);
	perf_data_add_pt_event(&data, 8, 0x300e601);
	perf_data_add_pt_info(&data, &info, NULL);
	perf_data_stamp(&data, (struct perf_data_stamp){ .time = 1000, .pid = 10, .tid = 10 });
	perf_data_add_mmap(&data, 0, &map); /* of perf itself, before the exec */
	perf_data_add_comm(&data, PERF_RECORD_MISC_COMM_EXEC, 10, 10, "prog");
	put_fork(&data, 1500, 15, 10); /* a thread, but no domain: it has no backup thread */
	put_child(&data, 1600, 10);
	put_fork(&data, 2000, 11, 10);
	put_child(&data, 2050, 11);
	put_fork(&data, 2100, 12, 11);
	put_fork(&data, 2200, 13, 11);
	if (second) {
		put_fork(&data, 3000, 20, 10);
		put_fork(&data, 3100, 21, 20);
		put_exit(&data, 4500, 20);
	}
	put_exit(&data, 5000, 11);
	put_exit(&data, 6000, 10);
	perf_data_write_temporary(&data, path);
	perf_data_release(&data);
	run = (struct recording){ 0 };
	ck_assert_int_eq(perf_file_open(&run.file, path, &diag, &err), 0);
	unlink(path);
	run.timeline = timeline_open(&run.file, NULL, 0, &diag);
	name_table_init(&run.names);
	overlay_calls_init(&run.calls, &run.names);
	ring_file_init(&run.rings, 3, 4096, 0);
}

static void put_lifecycle(uint32_t ring, unsigned id, uint64_t time)
{
	ring_file_value(&run.rings, ring, RING_LIFECYCLE, id, (uint64_t)AHEAD + time,
			id == RUNTIME_DOMAIN_TERMINATE ? 0 : 10);
}

static void open_rings(void)
{
	struct error err = { 0 };

	run.input = (struct overlay_input){ .importer = &overlay_runtime_events,
					    .pid = 10,
					    .path = (char *)"10.events" };
	ck_assert_int_eq(runtime_events_open(&run.input.events, run.rings.bytes, run.rings.size,
					     &diag, &err),
			 0);
	run.input.first_time = run.input.events.first_time;
	run.input.last_time = run.input.events.last_time;
}

static struct overlay_clock match_clock(void)
{
	const struct overlay_recording recording = { &run.file, run.timeline, &run.info,
						     &run.calls };
	struct overlays overlays = {
		.options = &options, .inputs = &run.input, .count = 1, .out = { .diag = &diag }
	};

	return overlays_match_clock(&overlays, 0, &recording);
}

static void close_run(void)
{
	free(run.input.tids);
	ring_file_release(&run.rings);
	overlay_calls_release(&run.calls);
	name_table_release(&run.names);
	timeline_close(run.timeline);
	perf_file_close(&run.file);
}

/* Events of the rings, at times of perf's clock. */
static const struct order {
	bool second;                              /* a second domain */
	uint64_t first, spawns[2], ends[2], last; /* 0: none */
	uint32_t rings[2];                        /* of the domains */
	int64_t low, high;                        /* more than AHEAD */
	int32_t tids[2];                          /* of rings 1, 2; -1: unknown */
} orders[] = {
	{ false, 1100, { 0 }, { 0 }, 5900, { 1 }, -100, 100, { -1, -1 } },
	{ false, 1100, { 2150 }, { 0 }, 5900, { 1 }, -100, 50, { 11, -1 } },
	{ false, 1100, { 2150 }, { 4950 }, 5900, { 1 }, -50, 50, { 11, -1 } },
	{ false, 1100, { 2350 }, { 4000 }, 5700, { 2 }, -300, 100, { -1, 11 } },
	/* Records of two domains, each of its own ring, and of a ring that both use in turn. */
	{ true, 1200, { 2150, 3130 }, { 4480, 4990 }, 5900, { 1, 2 }, -10, 30, { 11, 20 } },
	{ true, 1200, { 2150, 3170 }, { 4480, 4970 }, 5900, { 1, 1 }, -20, 50, { -1, -1 } },
	/* The ring has lost its first spawn: the other one belongs to the last record. */
	{ true, 1200, { 0, 3130 }, { 4480, 4990 }, 5900, { 1, 2 }, -10, 30, { -1, -1 } },
};

START_TEST(records_and_events_bound_each_other)
{
	const struct order *order = &orders[_i];
	struct overlay_clock clock;
	int64_t middle = order->low + (order->high - order->low) / 2;

	open_run(order->second);
	put_lifecycle(0, RUNTIME_RING_START, order->first);
	for (int i = 0; i < 2; i++)
		if (order->spawns[i])
			put_lifecycle(order->rings[i], RUNTIME_DOMAIN_SPAWN, order->spawns[i]);
	for (int i = 0; i < 2; i++)
		if (order->ends[i])
			put_lifecycle(order->rings[!i && order->second], RUNTIME_DOMAIN_TERMINATE,
				      order->ends[i]);
	put_lifecycle(0, RUNTIME_RING_START, order->last);
	open_rings();
	clock = match_clock();
	ck_assert_int_eq(clock.method, OVERLAY_CLOCK_SIDEBAND);
	ck_assert_int_eq(clock.offset + AHEAD, -middle);
	ck_assert_uint_eq(clock.uncertainty, (uint64_t)(order->high - order->low) / 2 + 1);
	ck_assert_int_eq(overlay_input_tid(&run.input, 0), 10);
	for (uint32_t i = 0; i < 2; i++)
		ck_assert_int_eq(overlay_input_tid(&run.input, i + 1), order->tids[i]);
	ck_assert_uint_eq(diag_kinds(&diag), 0);
	close_run();
}
END_TEST

/* An event before the exec and one after the exit: the distances cannot both be right. */
START_TEST(bounds_that_contradict_each_other_are_none)
{
	open_run(false);
	put_lifecycle(0, RUNTIME_RING_START, 1100);
	put_lifecycle(0, RUNTIME_RING_START, 6200);
	open_rings();
	ck_assert_int_eq(match_clock().method, OVERLAY_CLOCK_ASSUMED);
	ck_assert_uint_eq(diag_kinds(&diag), 1);
	close_run();
}
END_TEST

/* memtrace has whole us; its process ended at 6000 ns. */
static const struct {
	uint64_t start, last;
	enum overlay_clock_method method;
	int64_t offset;
} ends[] = {
	{ 1, 5000 * 1000 + 5500, OVERLAY_CLOCK_ASSUMED, 6000 - 5005500 },
	{ 5002, 5002 * 1000 + 3000, OVERLAY_CLOCK_SIDEBAND, -5000000 },
};

START_TEST(memtrace_is_bounded_by_exec_and_exit)
{
	struct overlay_clock clock;

	open_run(false);
	run.input = (struct overlay_input){ .importer = &overlay_memtrace,
					    .pid = 10,
					    .path = (char *)"file",
					    .last_time = ends[_i].last };
	run.input.first_time = ends[_i].start * 1000;
	clock = match_clock();
	ck_assert_int_eq(clock.method, ends[_i].method);
	ck_assert_int_eq(clock.offset, ends[_i].offset);
	close_run();
}
END_TEST

/* ---- Calls that Intel PT saw --------------------------------------------- */

static const char *const writers[] = { "caml_ev_begin", "caml_ev_end" };

/* A call of a thread of the process writes a message; `ring` UINT32_MAX: to none. */
static void call(int32_t pid, int32_t tid, uint32_t ring, uint64_t time, uint64_t late, int kind)
{
	overlay_calls_enter(&run.calls, pid, tid, time - 3,
			    name_intern_text(&run.names, writers[kind]));
	overlay_calls_enter(&run.calls, pid, tid, time,
			    name_intern_text(&run.names, "caml_time_counter"));
	if (ring != UINT32_MAX)
		ring_file_runtime(&run.rings, ring, kind ? RING_EXIT : RING_BEGIN, 1,
				  (uint64_t)AHEAD + time + late);
}

static uint32_t next_random(uint32_t *state)
{
	*state = *state * 1664525 + 1013904223;
	return *state >> 8;
}

static const struct {
	int calls;
	bool regular; /* at equal distances, of one kind */
	bool shared;  /* two threads write the ring in turn */
	bool foreign; /* the calls are of another process */
	uint64_t late;
	enum overlay_clock_method method;
} seen[] = {
	{ 100, false, false, false, 10, OVERLAY_CLOCK_PT },
	{ 8, false, false, false, 10, OVERLAY_CLOCK_PT },
	{ 7, false, false, false, 10, OVERLAY_CLOCK_SIDEBAND },
	{ 400, false, true, false, 20, OVERLAY_CLOCK_PT },
	{ 100, true, false, false, 10, OVERLAY_CLOCK_SIDEBAND },
	{ 100, false, false, true, 10, OVERLAY_CLOCK_SIDEBAND },
};

START_TEST(calls_fit_their_messages_at_one_offset)
{
	uint64_t time = 2000, last = 0;
	uint32_t state = 5;
	struct overlay_clock clock;

	open_run(false);
	run.calls.resolution = 5;
	put_lifecycle(0, RUNTIME_RING_START, 1100);
	for (int i = 0; i < seen[_i].calls; i++) {
		bool other = seen[_i].shared && next_random(&state) % 2;
		int kind = seen[_i].regular ? 0 : (int)(next_random(&state) % 2);

		time += seen[_i].regular ? 20000 : 7000 + next_random(&state) % 60000;
		call(seen[_i].foreign ? 9 : 10, other ? 13 : 11, 1, time, seen[_i].late, kind);
		last = time;
	}
	/* Reading the time for other reasons is no message. */
	overlay_calls_enter(&run.calls, 10, 11, last + 1,
			    name_intern_text(&run.names, "caml_time_counter"));
	open_rings();
	run.input.last_time = (uint64_t)AHEAD + 5900;
	clock = match_clock();
	ck_assert_int_eq(clock.method, seen[_i].method);
	if (clock.method == OVERLAY_CLOCK_PT) {
		ck_assert_int_eq(clock.offset, -AHEAD - (int64_t)seen[_i].late);
		ck_assert_uint_eq(clock.uncertainty, 1 + 5);
	}
	if (!seen[_i].shared)
		ck_assert_int_eq(overlay_input_tid(&run.input, 1),
				 clock.method == OVERLAY_CLOCK_PT ? 11 : -1);
	close_run();
}
END_TEST

/* ---- Tracks -------------------------------------------------------------- */

/* Events as text: "TIME-LETTER NAME KEY=VALUE ..., ". */
static struct lines {
	const char *kinds; /* letters of the wanted events */
	uint64_t base;
	bool args, ids;
	size_t used;
	char text[4000];
} lines;

static const char letters[TRACK_EVENT_KINDS + 1] = "PTicbewaz<=>su";

__attribute__((format(printf, 1, 2))) static void print(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	lines.used += (size_t)vsnprintf(lines.text + lines.used, sizeof(lines.text) - lines.used,
					format, args);
	va_end(args);
	ck_assert_uint_lt(lines.used, sizeof(lines.text));
}

static void print_event(struct event_sink *sink, const struct track_event *event)
{
	(void)sink;
	if (!strchr(lines.kinds, letters[event->kind]))
		return;
	if (event->kind > TRACK_THREAD)
		print("%" PRId64, (int64_t)(event->time - lines.base));
	print("%c", letters[event->kind]);
	if (event->name.length)
		print(" %.*s", (int)event->name.length, event->name.at);
	if (lines.ids)
		print(" #%" PRIu64, event->id);
	for (size_t i = 0; lines.args && i < event->arg_count; i++) {
		const struct event_arg *arg = &event->args[i];

		print(" %.*s=", (int)arg->name.length, arg->name.at);
		if (arg->type == EVENT_ARG_TEXT)
			print("%.*s", (int)arg->text.length, arg->text.at);
		else if (arg->type == EVENT_ARG_REAL)
			print("%g", arg->real);
		else
			print("%" PRId64, arg->number);
	}
	print(", ");
}

static const char *write_tracks(struct overlay_input *input, const char *kinds)
{
	struct event_sink sink = { .event = print_event, .last_id = 100 };
	struct overlays overlays = { .options = &options,
				     .inputs = input,
				     .count = 1,
				     .out = { .diag = &diag, .next_id = 1 } };
	struct output output = { 0 };

	name_table_init(&overlays.out.names);
	lines.kinds = kinds;
	overlays_write(&overlays, &sink, &output, NULL);
	name_table_release(&overlays.out.names);
	return lines.text;
}

/* 10,000 words of 8 bytes a sample. */
static const struct {
	const char *kinds;
	bool args, ids;
	const char *text;
} blocks[] = {
	{ "PT", false, false, "P program, T memtrace domain 0, " },
	{ "b", false, false,
	  "10000b f, 20000b f, 25000b promote, 30000b collect, 40000b f, 50000b promote, "
	  "60000b collect, 70000b f, 80000b collect, " },
	{ "e", false, false,
	  "10000e, 20000e, 25000e, 30000e, 40000e, 50000e, 60000e, 70000e, 80000e, " },
	{ "c", true, false,
	  "10000c sampled live memory bytes=80000, 20000c sampled live memory bytes=160000, "
	  "30000c sampled live memory bytes=80000, 40000c sampled live memory bytes=160000, "
	  "60000c sampled live memory bytes=80000, 70000c sampled live memory bytes=160000, "
	  "80000c sampled live memory bytes=80000, " },
	{ "<=>", false, true,
	  "10000< block #1, 20000< block #2, 25000= block #1, 30000> block #2, 40000< block #3, "
	  "50000= block #3, 60000> block #1, 70000< block #4, 80000> block #3, " },
	{ "az", false, true,
	  "10000a f #1, 20000a f #2, 30000z f #2, 40000a f #3, 60000z f #1, 70000a f #4, "
	  "80000z f #3, " },
};

/* Fill an input, which must not move: its locations have the address of its arena. */
static void open_blocks(struct overlay_input *input, const struct ctf_file *file)
{
	*input = (struct overlay_input){
		.importer = &overlay_memtrace, .pid = 10, .path = (char *)"file", .lives = true
	};
	ck_assert_int_eq(
		memtrace_open(&input->memtrace, file->out.bytes, file->out.size, &diag, NULL), 0);
}

START_TEST(blocks_are_slices_arrows_lives_and_memory)
{
	struct ctf_file file = make_blocks();
	struct overlay_input input;

	open_blocks(&input, &file);
	lines = (struct lines){ .base = START * 1000,
				.args = blocks[_i].args,
				.ids = blocks[_i].ids };
	ck_assert_str_eq(write_tracks(&input, blocks[_i].kinds), blocks[_i].text);
	memtrace_close(&input.memtrace);
	ctf_release(&file);
}
END_TEST

/* Windows of 10 ms from the first allocation on; a rate of 0 ends the last one. */
START_TEST(the_rate_is_of_windows_with_allocations)
{
	static const uint64_t times[] = { 10, 5000, 10009, 12000, 45000, 50011 };
	struct ctf_alloc alloc = { .words = 3, .samples = 1 };
	struct overlay_input input;
	struct ctf_file file;
	char rates[400] = "";

	ctf_init(&file, 3, 1e-4, 10, START);
	for (size_t i = 0; i < COUNT_OF(times); i++)
		ctf_alloc(&file, 0, (alloc.time = START + times[i], &alloc));
	ctf_flush(&file, 0);
	open_blocks(&input, &file);
	lines = (struct lines){ .base = START * 1000, .args = true };
	for (char *rest, *line = strtok_r((char *)write_tracks(&input, "c"), ",", &rest); line;
	     line = strtok_r(NULL, ",", &rest))
		if (strstr(line, "rate"))
			strcat(strcat(rates, line), ";");
	ck_assert_str_eq(rates, " 10000c estimated allocation rate bytes_per_second=2.4e+07;"
				" 10010000c estimated allocation rate bytes_per_second=8e+06;"
				" 20010000c estimated allocation rate bytes_per_second=0;"
				" 40010000c estimated allocation rate bytes_per_second=8e+06;");
	memtrace_close(&input.memtrace);
	ctf_release(&file);
}
END_TEST

/*
 * A message each 10 ns: B and E begin and end a phase, S and s a span of the program; L: lifecycle,
 * C: counter, U and I: the program's events n0 and n1.
 */
static const struct {
	const char *messages, *kinds, *text;
} rings[] = {
	{ "B11 E11", "bei", "10i clock of this overlay method=its own, 10b minor, 20e, " },
	{ "B11 C4=50 C5=200 E11", "be",
	  "10b minor, 40e promoted_bytes=50 allocated_bytes=200 promoted_percent=25, " },
	{ "B11 C4=200 C5=200 E11", "e",
	  "40e promoted_bytes=200 allocated_bytes=200 promoted_percent=100, " },
	{ "B11 C4=201 C5=200 E11", "e", "40e promoted_bytes=201 allocated_bytes=200, " },
	{ "B11 C4=0 C5=0 E11", "e", "40e promoted_bytes=0 allocated_bytes=0, " },
	{ "B11 C4=50 E11 B11 E11", "e", "30e promoted_bytes=50, 50e, " },
	{ "B12 C4=50 E12", "e", "30e, " },
	{ "C0=1 B11 E11 B11 E11", "e", "30e cause=force_minor_alloc_small, 50e, " },
	{ "C6=1 B11 E11", "e", "30e, " },
	/* Ends that are missing, and begins that were before the ring's. */
	{ "B11 B12", "be",
	  "10b minor, 20b minor_local_roots, 20e unfinished=true, 20e unfinished=true, " },
	{ "B11 B12 E11", "be", "10b minor, 20b minor_local_roots, 30e unfinished=true, 30e, " },
	{ "E12 E11 B12 E12", "be",
	  "10b minor begin_lost=true, 10b minor_local_roots begin_lost=true, 10e, 20e, "
	  "30b minor_local_roots, 40e, " },
	{ "B11 B11 E11", "be", "10b minor, 20b minor, 30e, 30e unfinished=true, " },
	/* A ring that was paused. */
	{ "B11 L3 E11 B12 E12", "be",
	  "10b minor, 20e unfinished=true, 40b minor_local_roots, 50e, " },
	{ "L3 E11", "be", "" },
	{ "L6=77 L7", "i",
	  "10i clock of this overlay method=its own, 10i domain_spawn pid=77, "
	  "20i domain_terminate, " },
	/* Counters have an amount; occurrences and the program's events are instants. */
	{ "C11=9 C0=5 C99=7", "c", "10c major_heap_pool_words words=9, 30c counter 99 work=7, " },
	{ "U0 I1=5 U1", "ci",
	  "10i clock of this overlay method=its own, 10i n0, 20c n1 value=5, 30i n1, " },
	{ "U0 S0 s0", "T", "T domain 1 GC, T domain 1 events, T domain 1 spans, " },
	/* Spans of the program end by name, the innermost first; crossing ones need a lane each. */
	{ "S0 S1 s1 s0", "Tbe", "T domain 1 GC, T domain 1 spans, 10b n0, 20b n1, 30e, 40e, " },
	{ "S0 S1 s0 s1", "Tbe",
	  "T domain 1 GC, T domain 1 spans, 10b n0, 30e, T domain 1 spans 2, 20b n1, 40e, " },
	{ "S0 S0 s0", "be", "10b n0 unfinished=true, 20b n0, 30e, 30e, " },
	{ "S0 s0 s0 S1 s1", "be", "10b n0, 20e, 40b n1, 50e, " },
	{ "S0 s1 U0", "be", "10b n0 unfinished=true, 30e, " },
};

static void put_message(struct ring_file *file, const char *word, uint64_t time)
{
	static const char kinds[] = "BECLSsUI";
	static const unsigned types[] = { RING_BEGIN,     RING_EXIT,       RING_COUNTER,
					  RING_LIFECYCLE, RING_SPAN_BEGIN, RING_SPAN_END,
					  RING_UNIT,      RING_INT };
	size_t kind = (size_t)(strchr(kinds, *word) - kinds);
	uint64_t value = strchr(word, '=') ? strtoull(strchr(word, '=') + 1, NULL, 10) : 0;
	struct ring_message message = { .ring = 1,
					.user = kind >= 4,
					.type = types[kind],
					.id = (unsigned)atoi(word + 1),
					.time = time,
					.payload = &value,
					.payload_words = strchr("CLI", *word) != NULL };

	ring_file_add(file, &message);
}

START_TEST(messages_of_a_ring_are_phases_spans_and_counters)
{
	char *copy = strdup(rings[_i].messages), *rest;
	uint64_t time = 1000;
	struct overlay_input input = { .importer = &overlay_runtime_events,
				       .pid = 10,
				       .path = (char *)"10.events" };
	struct ring_file file;

	ring_file_init(&file, 2, 1024, 8192);
	ring_file_name(&file, 0, "n0");
	ring_file_name(&file, 1, "n1");
	for (char *word = strtok_r(copy, " ", &rest); word; word = strtok_r(NULL, " ", &rest))
		put_message(&file, word, time += 10);
	ck_assert_int_eq(runtime_events_open(&input.events, file.bytes, file.size, &diag, NULL), 0);
	input.events.phases = RUNTIME_PHASES_5_3;
	lines = (struct lines){ .base = 1000, .args = true };
	ck_assert_str_eq(write_tracks(&input, rings[_i].kinds), rings[_i].text);
	ring_file_release(&file);
	free(copy);
}
END_TEST

/* ---- Clocks recorded by perf or in a file ---------------------------------------- */

/* A CLOCK_MONOTONIC or wall clock ("e", "m") by `perf record -k`, or its reference clock. */
static const struct {
	char kind;
	bool used; /* by -k */
	int32_t clockid;
	uint64_t wall, perf; /* the same instant; 0: not recorded */
	bool found;
	int64_t offset;
} recorded[] = {
	{ 'e', true, CLOCK_MONOTONIC, 0, 0, true, 0 },
	{ 'm', true, CLOCK_REALTIME, 0, 0, true, 0 },
	{ 'e', true, CLOCK_REALTIME, 0, 0, false, 0 },
	{ 'm', true, CLOCK_MONOTONIC, 0, 0, false, 0 },
	{ 'e', false, CLOCK_MONOTONIC, 0, 0, false, 0 },
	/* The difference of the clocks is of the wall clock only. */
	{ 'm', true, CLOCK_MONOTONIC, 900, 300, true, -600 },
	{ 'm', false, 0, 900, 300, true, -600 },
	{ 'e', false, 0, 900, 300, false, 0 },
};

START_TEST(perf_may_have_recorded_its_clock)
{
	struct overlay_clock clock;

	open_run(false);
	run.input = (struct overlay_input){ .importer = recorded[_i].kind == 'm'
								? &overlay_memtrace
								: &overlay_runtime_events,
					    .pid = 10,
					    .path = (char *)"file" };
	run.file.attrs[0].attr.use_clockid = recorded[_i].used;
	run.file.attrs[0].attr.clockid = recorded[_i].clockid;
	run.file.features.has_clock_data = recorded[_i].wall != 0;
	run.file.features.clock_wall_ns = recorded[_i].wall;
	run.file.features.clock_ns = recorded[_i].perf;
	clock = match_clock();
	ck_assert_int_eq(clock.method == OVERLAY_CLOCK_RECORDED, recorded[_i].found);
	if (recorded[_i].found) {
		ck_assert_int_eq(clock.offset, recorded[_i].offset);
		ck_assert_uint_eq(clock.uncertainty, 0);
	}
	run.file.attr_count = 0;
	ck_assert_int_ne(match_clock().method, OVERLAY_CLOCK_RECORDED);
	close_run();
}
END_TEST

/* The TSC of lines is in perf's time by the recording: here 2 ns a tick, after 100. */
START_TEST(lines_of_clocks_are_matched_by_the_tsc)
{
	static const struct {
		char kind;
		uint64_t mult, tsc[2];
		bool found;
		int64_t offset;
		uint64_t uncertainty;
	} rows[] = {
		/* perf's 1100 and 2100; CLOCK_MONOTONIC's 5000 and 6010; the wall's 90000, 91000 */
		{ 'e', 8, { 500, 1000 }, true, -3905, 5 + 1000 },
		{ 'm', 8, { 500, 1000 }, true, -88900, 1000 },
		/* Lines of another machine have no TSC. */
		{ 'e', 8, { 500, 0 }, true, -3900, 1000 },
		{ 'e', 8, { 0, 0 }, false, 0, 0 },
		{ 'e', 0, { 500, 1000 }, false, 0, 0 },
	};
	struct overlay_sync syncs[] = { { rows[_i].tsc[0], 5000, 90000 },
					{ rows[_i].tsc[1], 6010, 91000 } };
	struct overlays overlays = { .options = &options,
				     .inputs = &run.input,
				     .count = 1,
				     .syncs = syncs,
				     .sync_count = 2,
				     .out = { .diag = &diag } };
	struct overlay_recording recording = { &run.file, NULL, &run.info, &run.calls };
	struct overlay_clock clock;

	open_run(false);
	recording.timeline = run.timeline;
	run.info =
		(struct pt_info){ .time_mult = rows[_i].mult, .time_shift = 2, .time_zero = 100 };
	run.input =
		(struct overlay_input){ .importer = rows[_i].kind == 'm' ? &overlay_memtrace
									 : &overlay_runtime_events,
					.pid = 10,
					.path = (char *)"file" };
	clock = overlays_match_clock(&overlays, 0, &recording);
	ck_assert_int_eq(clock.method == OVERLAY_CLOCK_SYNC, rows[_i].found);
	if (rows[_i].found) {
		ck_assert_int_eq(clock.offset, rows[_i].offset);
		ck_assert_uint_eq(clock.uncertainty, rows[_i].uncertainty);
	}
	/* The wall clock at time 0 of the trace; an offset that was given has priority. */
	ck_assert_uint_eq(overlays_wall(&overlays, &recording),
			  rows[_i].found ? 88900 : WALL_BASE_UNKNOWN);
	options.clock_offsets = (struct clock_offsets){ .has_real = true, .real = -70 };
	ck_assert_uint_eq(overlays_wall(&overlays, &recording), 70);
	ck_assert_uint_eq(overlays_wall(&overlays, NULL), 70);
	options.clock_offsets.real = 70;
	ck_assert_uint_eq(overlays_wall(&overlays, &recording), WALL_BASE_UNKNOWN);
	close_run();
}
END_TEST

/* A process that the recording does not have, is reported. */
START_TEST(an_overlay_of_a_missing_process_is_reported)
{
	open_run(false);
	options.clock_offsets = (struct clock_offsets){ .has_mono = true, .mono = 4 };
	run.input = (struct overlay_input){ .importer = &overlay_runtime_events,
					    .pid = _i ? 4321 : 10,
					    .path = (char *)"file" };
	ck_assert_int_eq(match_clock().offset, 4);
	ck_assert_uint_eq(diag_kinds(&diag), _i);
	close_run();
}
END_TEST

/* The clocks of this machine, as other calls read them before and after. */
START_TEST(clocks_are_read_at_the_same_time)
{
	struct timespec before[2], after[2];
	struct overlay_sync sync = { 0 };

	clock_gettime(CLOCK_MONOTONIC, &before[0]);
	clock_gettime(CLOCK_REALTIME, &before[1]);
	overlay_sync_now(&sync);
	clock_gettime(CLOCK_MONOTONIC, &after[0]);
	clock_gettime(CLOCK_REALTIME, &after[1]);
	ck_assert_int_ge(sync.mono, before[0].tv_sec * 1000000000L + before[0].tv_nsec);
	ck_assert_int_le(sync.mono, after[0].tv_sec * 1000000000L + after[0].tv_nsec);
	ck_assert_int_ge(sync.real, before[1].tv_sec * 1000000000L);
	ck_assert_int_le(sync.real, (after[1].tv_sec + 1) * 1000000000L);
}
END_TEST

/* ---- More events of rings ------------------------------------------------------ */

/* Returns the lines of a file of rings; `kinds`: of which events. */
static const char *write_ring_file(struct ring_file *file, const char *kinds)
{
	struct overlay_input input = { .importer = &overlay_runtime_events,
				       .pid = 10,
				       .path = (char *)"10.events" };

	ck_assert_int_eq(runtime_events_open(&input.events, file->bytes, file->size, &diag, NULL),
			 0);
	input.events.phases = RUNTIME_PHASES_5_3;
	lines = (struct lines){ .base = 1000, .args = true };
	return write_tracks(&input, kinds);
}

#define SEVEN "\7\0\0\0\0\0\0\0"

/* One custom event of each name that is known, and of others. */
static const struct {
	const char *name, *payload;
	size_t size;
	const char *text;
} customs[] = {
	{ "trace.span.enter", "f", 1, "10b f unfinished=true, 10e, " },
	{ "trace.span.exit", "f", 1, "" },
	{ "trace.message", "hello", 5, "10i trace.message text=hello, " },
	{ "trace.metric.int", SEVEN "n", 9, "10c n value=7, " },
	{ "trace.metric.float",
	  "\0\0\0\0\0\0\xf8\x3f"
	  "n",
	  9, "10c n value=1.5, " },
	{ "eio.create_fiber", SEVEN SEVEN, 16,
	  "10i eio.create_fiber id=7 cancellation_context=7, " },
	{ "eio.create_cc", SEVEN "\4", 9, "10i eio.create_cc id=7 type=protect, " },
	{ "eio.create_obj", SEVEN "\x13", 9, "10i eio.create_obj id=7 type=mutex, " },
	{ "eio.create_obj", SEVEN "\xff", 9, "10i eio.create_obj id=7, " },
	{ "eio.name", SEVEN "n", 9, "10i eio.name id=7 text=n, " },
	/* Too short: its bytes are shown. */
	{ "trace.metric.int", "abc", 3, "10i trace.metric.int bytes=3 text=abc, " },
	/* Text, or bytes of which one is a control. */
	{ "own", "a ~\xff", 4, "10i own bytes=4 text=a ~\xff, " },
	{ "own", "", 0, "10i own bytes=0 text=, " },
	{ "own", "a\x1f", 2, "10i own bytes=2 hex=611f, " },
	{ "own", "\x7f", 1, "10i own bytes=1 hex=7f, " },
	{ "own", "\x80", 1, "10i own bytes=1 text=\x80, " },
};

START_TEST(custom_events_are_spans_counters_and_instants)
{
	struct ring_file file;
	char text[200] = "10i clock of this overlay method=its own, ";

	ring_file_init(&file, 2, 1024, 8192);
	ring_file_name(&file, 3, customs[_i].name);
	ring_file_custom(&file, 1, 3, 1010, customs[_i].payload, customs[_i].size);
	strcat(text, customs[_i].text);
	ck_assert_str_eq(write_ring_file(&file, "beic"), text);
	ring_file_release(&file);
}
END_TEST

/* The program's bytes are shown up to 1,000. */
START_TEST(a_long_custom_event_is_cut)
{
	char payload[1001];
	struct ring_file file;
	const char *text;

	memset(payload, 'x', sizeof(payload));
	ring_file_init(&file, 1, 1024, 8192);
	ring_file_name(&file, 0, "own");
	ring_file_custom(&file, 0, 0, 1010, payload, sizeof(payload) - (size_t)_i);
	text = strchr(write_ring_file(&file, "i"), ',');
	ck_assert_uint_eq(strspn(strstr(text, "text=") + 5, "x"), 1000);
	ck_assert_ptr_nonnull(strstr(text, _i ? "bytes=1000 " : "bytes=1001 "));
	ring_file_release(&file);
}
END_TEST

/* Lost words end all phases; at the begin, they are behind the clock. */
START_TEST(a_ring_that_was_overwritten_has_a_gap)
{
	struct ring_file file;
	char expected[300];

	ring_file_init(&file, 1, 64, 8192);
	for (uint64_t i = 1; i <= 30; i++)
		ring_file_value(&file, 0, RING_COUNTER, 0, 1000 + 10 * i, 1);
	snprintf(expected, sizeof(expected), "i lost events: the ring was overwritten words=%d, ",
		 (int)*ring_file_head(&file, 0));
	ck_assert_ptr_nonnull(strstr(write_ring_file(&file, "i"), expected));
	ck_assert_ptr_eq(strstr(lines.text, "lost events"),
			 strstr(strchr(lines.text, ','), "lost"));
	ring_file_release(&file);
}
END_TEST

/* By words: blocks of each size that there are. */
START_TEST(blocks_by_size_are_named)
{
	uint64_t counts[20] = { [1] = 7, [9] = 1, [10] = 2, [18] = 4, [19] = 5 };
	struct ring_message message = {
		.type = RING_ALLOC, .time = 1010, .payload = counts, .payload_words = 20
	};
	struct ring_file file;

	ring_file_init(&file, 1, 1024, 8192);
	ring_file_add(&file, &message);
	ck_assert_str_eq(write_ring_file(&file, "i"),
			 "10i clock of this overlay method=its own, 10i major heap blocks by size "
			 "words: blocks=1: 7, 9: 1, 10-19: 2, 90-99: 4, 100+: 5, ");
	ring_file_release(&file);
}
END_TEST

static size_t count_of(const char *text, const char *part)
{
	size_t count = 0;

	for (; (text = strstr(text, part)); text++)
		count++;
	return count;
}

/* Perfetto shows 512 levels: 500 phases are shown, and the ends of the others end nothing. */
START_TEST(phases_are_shown_to_a_depth)
{
	static struct overlay_input input;
	struct event_sink sink = { .event = print_event, .last_id = 100 };
	struct overlays overlays = { .options = &options,
				     .inputs = &input,
				     .count = 1,
				     .out = { .diag = &diag, .next_id = 1 } };
	struct output output = { 0 };
	struct ring_file file;
	int depth = 499 + _i;

	input = (struct overlay_input){ .importer = &overlay_runtime_events, .path = (char *)"" };
	ring_file_init(&file, 1, 4096, 8192);
	for (int i = 0; i < depth; i++)
		ring_file_runtime(&file, 0, RING_BEGIN, 6, 1010);
	for (int i = 0; i < depth; i++)
		ring_file_runtime(&file, 0, RING_EXIT, 6, 1020);
	ring_file_runtime(&file, 0, RING_BEGIN, 11, 1030);
	ring_file_runtime(&file, 0, RING_EXIT, 11, 1040);
	runtime_events_open(&input.events, file.bytes, file.size, &diag, NULL);
	input.events.phases = RUNTIME_PHASES_5_3;
	lines = (struct lines){ .base = 1000, .kinds = "" };
	name_table_init(&overlays.out.names);
	overlays_write(&overlays, &sink, &output, NULL);
	ck_assert_uint_eq(overlays.out.slices, (depth < 500 ? depth : 500) + 1);
	lines = (struct lines){ .base = 1000, .args = true, .kinds = "b" };
	name_table_release(&overlays.out.names);
	ring_file_release(&file);
}
END_TEST

/* Spans that all cross each other need a track each; there are 16. */
START_TEST(crossing_spans_have_16_lanes)
{
	struct ring_file file;
	const char *text;
	int count = 16 + _i;

	ring_file_init(&file, 1, 4096, 8192);
	for (int i = 0; i < 2 * count; i++) {
		char name[16];

		snprintf(name, sizeof(name), "s%02d", i % count);
		ring_file_name(&file, (unsigned)(i % count), name);
		ring_file_add(&file, &(struct ring_message){ .user = true,
							     .type = i < count ? RING_SPAN_BEGIN
									       : RING_SPAN_END,
							     .id = (unsigned)(i % count),
							     .time = 1010 + 10 * (uint64_t)i });
	}
	text = write_ring_file(&file, "Tbe");
	ck_assert_uint_eq(count_of(text, "b s"), 16);
	ck_assert_uint_eq(count_of(text, "T domain 0 spans"), 16);
	ck_assert_ptr_nonnull(strstr(text, "T domain 0 spans 16, 160b s15, 320e, ")
				      ?: strstr(text, "T domain 0 spans 16, 160b s15, 330e, "));
	ck_assert_uint_eq(diag_kinds(&diag), _i);
	ring_file_release(&file);
}
END_TEST

/* A track of a domain names the thread that wrote its ring. */
START_TEST(tracks_name_the_threads_of_rings)
{
	struct overlay_tid tids[] = { { 0, 0 }, { 1, 21 } };
	struct overlay_input input = { .importer = &overlay_runtime_events,
				       .pid = 10,
				       .path = (char *)"",
				       .tids = tids,
				       .tid_count = 2 };
	struct ring_file file;

	ring_file_init(&file, 3, 1024, 8192);
	for (uint32_t i = 0; i < 3; i++)
		ring_file_runtime(&file, i, RING_BEGIN, 6, 1010);
	runtime_events_open(&input.events, file.bytes, file.size, &diag, NULL);
	lines = (struct lines){ .base = 1000 };
	ck_assert_str_eq(write_tracks(&input, "T"),
			 "T domain 0 GC (thread 0), T domain 1 GC (thread 21), T domain 2 GC, ");
	ring_file_release(&file);
}
END_TEST

/* Allocations say what, where and through which calls, innermost first. */
START_TEST(an_allocation_has_its_stack)
{
	static const struct {
		size_t length;
		unsigned source;
		const char *text;
	} rows[] = {
		{ 0, 0,
		  "b alloc object=0 words=3 samples=2 estimated_bytes=160000 common_prefix=0 "
		  "source=minor, " },
		{ 1, 1,
		  "b f object=0 words=3 samples=2 estimated_bytes=160000 common_prefix=0 "
		  "source=major allocated_at=a.ml:12:3-9 stack=f (a.ml:12:3-9), " },
		{ 2, 2,
		  "b h object=0 words=3 samples=2 estimated_bytes=160000 common_prefix=0 "
		  "source=external allocated_at=c.ml:2:0-1 stack=h (c.ml:2:0-1) <- g (b.ml:1:5-6) "
		  "<- f (a.ml:12:3-9), " },
		{ 3, 0,
		  "b alloc object=0 words=3 samples=2 estimated_bytes=160000 common_prefix=0 "
		  "source=minor stack=$3000 <- h (c.ml:2:0-1) <- g (b.ml:1:5-6) "
		  "<- f (a.ml:12:3-9), " },
	};
	/* The second location is of h, inlined in g. */
	const struct ctf_location inlined[] = { { "b.ml", "g", 1, 5, 6 },
						{ "c.ml", "h", 2, 0, 1 } };
	const uint64_t codes[] = { 1000, 2000, 3000 };
	struct ctf_alloc alloc = { .time = START,
				   .words = 3,
				   .samples = 2,
				   .source = rows[_i].source,
				   .backtrace = codes,
				   .length = rows[_i].length };
	struct overlay_input input;
	struct ctf_file file;

	ctf_init(&file, 3, 1e-4, 10, START);
	ctf_locate(&file, 0, codes[0], &(struct ctf_location){ "a.ml", "f", 12, 3, 9 }, 1);
	ctf_locate(&file, 0, codes[1], inlined, 2);
	ctf_alloc(&file, 0, &alloc);
	ctf_flush(&file, 0);
	open_blocks(&input, &file);
	lines = (struct lines){ .base = START * 1000, .args = true };
	ck_assert_str_eq(write_tracks(&input, "b") + 1, rows[_i].text);
	memtrace_close(&input.memtrace);
	ctf_release(&file);
}
END_TEST

/* Each domain has a track; the description is on the first one's. */
START_TEST(memtrace_has_a_track_for_each_domain)
{
	struct ctf_alloc alloc = { .words = 3, .samples = 1 };
	struct overlay_input input;
	struct ctf_file file;
	const char *text;

	ctf_init(&file, 3, 1e-4, 10, START);
	ctf_alloc(&file, 0, (alloc.time = START + 10, &alloc));
	ctf_flush(&file, 0);
	ctf_alloc(&file, 2, (alloc.time = START + 20, &alloc));
	ctf_flush(&file, 2);
	ctf_alloc(&file, 0, (alloc.time = START + 30, &alloc));
	ctf_flush(&file, 0);
	open_blocks(&input, &file);
	lines = (struct lines){ .base = START * 1000, .args = true };
	text = write_tracks(&input, "Ti");
	ck_assert_msg(starts_with(text, "T memtrace domain 0, 0i memtrace "
					"executable_name=/bin/program host_name=host "
					"ocaml_runtime_params=v=0x400 context=context pid=10 "),
		      "%s", text);
	ck_assert_ptr_nonnull(
		strstr(text, " pid=10 initial_domain=0 sample_rate=0.0001 word_size=64, "));
	ck_assert_msg(strstr(text, "10000i clock of this overlay method=its own, "
				   "T memtrace domain 2, 20000i clock of this overlay ") != NULL,
		      "%s", text);
	ck_assert_uint_eq(count_of(text, "T memtrace"), 2);
	ck_assert_uint_eq(count_of(text, "i clock"), 2);
	memtrace_close(&input.memtrace);
	ctf_release(&file);
}
END_TEST

/* A span of ocaml-trace ends by its name. */
START_TEST(custom_spans_end_by_name)
{
	struct ring_file file;

	ring_file_init(&file, 1, 1024, 8192);
	ring_file_name(&file, 0, "trace.span.enter");
	ring_file_name(&file, 1, "trace.span.exit");
	ring_file_custom(&file, 0, 0, 1010, "f", 1);
	ring_file_custom(&file, 0, 0, 1020, "g", 1);
	ring_file_custom(&file, 0, 1, 1030, "g", 1);
	ring_file_custom(&file, 0, 1, 1040, "f", 1);
	ck_assert_str_eq(write_ring_file(&file, "be"), "10b f, 20b g, 30e, 40e, ");
	ring_file_release(&file);
}
END_TEST

/* Each function that writes a message, by the kind of the message; others write none. */
START_TEST(calls_are_those_that_write_messages)
{
	static const struct {
		const char *function;
		int kind; /* -1: no message */
	} rows[] = { { "caml_ev_lifecycle", RUNTIME_LIFECYCLE },
		     { "caml_ev_begin", RUNTIME_BEGIN },
		     { "caml_ev_end", RUNTIME_END },
		     { "caml_ev_counter", RUNTIME_COUNTER },
		     { "caml_ev_alloc_flush", RUNTIME_ALLOC },
		     { "caml_runtime_events_user_write", RUNTIME_USER_UNIT },
		     { "caml_ev_alloc", -1 },
		     { "caml_time_counter", -1 } };
	struct overlay_calls calls;
	struct name_table names;

	name_table_init(&names);
	overlay_calls_init(&calls, &names);
	overlay_calls_enter(&calls, 1, 2, 10, name_intern_text(&names, rows[_i].function));
	overlay_calls_enter(&calls, 1, 2, 11, name_intern_text(&names, "caml_time_counter"));
	/* The time is read once for a message. */
	overlay_calls_enter(&calls, 1, 2, 12, name_intern_text(&names, "caml_time_counter"));
	ck_assert_uint_eq(calls.count ? calls.threads[0].count : 0, rows[_i].kind >= 0);
	if (rows[_i].kind >= 0) {
		ck_assert_int_eq(calls.threads[0].calls[0].kind, rows[_i].kind);
		ck_assert_uint_eq(calls.threads[0].calls[0].time, 11);
		ck_assert_int_eq(calls.threads[0].pid, 1);
		ck_assert_int_eq(calls.threads[0].tid, 2);
	}
	overlay_calls_release(&calls);
	name_table_release(&names);
}
END_TEST

/* Calls of several threads are apart; the latest ones are kept, as in a ring. */
START_TEST(the_latest_calls_of_each_thread_are_kept)
{
	struct overlay_calls calls;
	struct name_table names;
	const struct name *begin, *time;
	const struct overlay_thread_calls *first;

	name_table_init(&names);
	overlay_calls_init(&calls, &names);
	begin = name_intern_text(&names, "caml_ev_begin");
	time = name_intern_text(&names, "caml_time_counter");
	for (uint64_t i = 0; i <= 2 * OVERLAY_CALLS_KEPT; i++) {
		overlay_calls_enter(&calls, 1, 2, i, begin);
		if (i % 1000 == 0) {
			overlay_calls_enter(&calls, 1, 3, i, begin);
			overlay_calls_enter(&calls, 4, 2, i, begin);
			overlay_calls_enter(&calls, 1, 3, i, time);
		}
		overlay_calls_enter(&calls, 1, 2, i, time);
	}
	ck_assert_uint_eq(calls.count, 3);
	first = &calls.threads[0];
	ck_assert_uint_eq(first->count, OVERLAY_CALLS_KEPT + 1);
	for (uint64_t i = 0; i < first->count; i++)
		ck_assert_uint_eq(first->calls[i].time, OVERLAY_CALLS_KEPT + i);
	ck_assert_uint_eq(calls.threads[1].count, 9);
	ck_assert_uint_eq(calls.threads[2].count, 0);
	overlay_calls_release(&calls);
	name_table_release(&names);
}
END_TEST

/* The clock of an overlay is said on stderr, unless --quiet. */
START_TEST(the_clock_is_said)
{
	static const struct {
		char kinds[3];
		struct clock_offsets given;
		bool quiet;
		const char *said;
	} rows[] = {
		{ "e", { 0 }, false, "ptrace2ftf: a.x: clock: its own\n" },
		{ "e", { 0 }, true, "" },
		{ "e",
		  { .has_mono = true, .mono = -4 },
		  false,
		  "ptrace2ftf: a.x: clock: --clock-sync=CLOCK=TIME, offset -4 ns +- 0 ns\n" },
		{ "em",
		  { 0 },
		  false,
		  "ptrace2ftf: a.x: clock: assumed, offset 4 ns, uncertainty unknown\n" },
	};
	struct overlay_input inputs[2] = { 0 };
	struct overlays overlays = { .options = &options,
				     .out = { .diag = &diag },
				     .inputs = inputs };
	int kept = dup(STDERR_FILENO), messages = memfd_create("text", 0);
	char said[300] = "";

	for (const char *kind = rows[_i].kinds; *kind; kind++)
		inputs[overlays.count++] =
			(struct overlay_input){ .importer = *kind == 'e' ? &overlay_runtime_events
									 : &overlay_memtrace,
						.path = (char *)"a.x",
						.last_time = *kind == 'e' ? 9 : 5 };
	options.clock_offsets = rows[_i].given;
	options.quiet = rows[_i].quiet;
	dup2(messages, STDERR_FILENO);
	overlays_match_clock(&overlays, overlays.count - 1, NULL);
	dup2(kept, STDERR_FILENO);
	ck_assert_int_ge(pread(messages, said, sizeof(said) - 1, 0), 0);
	close(kept);
	close(messages);
	ck_assert_ptr_nonnull(strstr(said, rows[_i].said));
	if (rows[_i].quiet)
		ck_assert_str_eq(said, "");
}
END_TEST

/* A range outside of the file is refused with the file's times. */
START_TEST(a_range_without_events_says_the_times_of_the_file)
{
	struct overlay_input input = { .path = (char *)"a.ctf",
				       .first_time = 12003004005,
				       .last_time = 13999999000 };
	struct overlay_cut_counts counts;
	struct selection selection = { 0 };
	struct error err = { 0 };
	struct output output = { 0 };

	ck_assert(selection_time(&selection, _i ? ",1s" : "14s,"));
	ck_assert_int_eq(overlay_cut(&input, &selection, &output, &counts, &err), -1);
	ck_assert_str_eq(err.text, "--time: nothing was recorded in the range; a.ctf is from "
				   "12.003004 to 13.999999 s");
}
END_TEST

/* ---- More calls and phases ------------------------------------------------------- */

/* Threads 15 and 11 call in turn; each writes a ring of its own. */
START_TEST(each_ring_has_its_own_thread)
{
	uint64_t time = 2000;
	uint32_t state = 9;

	open_run(false);
	for (int i = 0; i < 120; i++) {
		bool other = next_random(&state) % 2;

		time += 7000 + next_random(&state) % 60000;
		call(10, other ? 15 : 11, other ? 2 : 1, time, 10, (int)(next_random(&state) % 2));
	}
	open_rings();
	ck_assert_int_eq(match_clock().method, OVERLAY_CLOCK_PT);
	ck_assert_int_eq(overlay_input_tid(&run.input, 1), 11);
	ck_assert_int_eq(overlay_input_tid(&run.input, 2), 15);
	close_run();
}
END_TEST

/* The uncertainty is the range of nine tenths of a hundred calls; the offset is the median. */
START_TEST(a_few_late_messages_do_not_count)
{
	static const struct {
		int late; /* messages that are 500 ns later than others */
		uint64_t uncertainty;
	} rows[] = { { 0, 1 }, { 5, 1 }, { 6, 501 } };
	uint64_t time = 2000;
	uint32_t state = 9;
	struct overlay_clock clock;

	open_run(false);
	for (int i = 0; i < 100; i++) {
		time += 7000 + next_random(&state) % 60000;
		call(10, 11, 1, time, 10 + (i % 16 == 0 && i / 16 < rows[_i].late ? 500 : 0),
		     (int)(next_random(&state) % 2));
	}
	open_rings();
	clock = match_clock();
	ck_assert_int_eq(clock.method, OVERLAY_CLOCK_PT);
	ck_assert_int_eq(clock.offset, -AHEAD - 10);
	ck_assert_uint_eq(clock.uncertainty, rows[_i].uncertainty);
	close_run();
}
END_TEST

/* Numbers that have no name, and phases of OCaml 5.0, of which number 10 is minor. */
START_TEST(unknown_numbers_have_a_name)
{
	static const struct {
		const char *messages, *text;
		enum runtime_phases phases;
	} rows[] = {
		{ "B999 E999", "10b phase 999, 20e, ", RUNTIME_PHASES_5_3 },
		{ "L99", "10i lifecycle, ", RUNTIME_PHASES_5_3 },
		{ "C99=7", "10c counter 99 work=7, ", RUNTIME_PHASES_5_3 },
		{ "U7", "10i event 7, ", RUNTIME_PHASES_5_3 },
		{ "B10 C4=50 E10",
		  "10b minor, 20c minor_promoted bytes=50, 30e promoted_bytes=50, ",
		  RUNTIME_PHASES_5_0 },
		{ "B11 C4=50 E11", "10b minor_local_roots, 20c minor_promoted bytes=50, 30e, ",
		  RUNTIME_PHASES_5_0 },
		{ "C0=1 B10 E10",
		  "10i force_minor_alloc_small value=1, 20b minor, "
		  "30e cause=force_minor_alloc_small, ",
		  RUNTIME_PHASES_5_0 },
		{ "C8=1 C6=1 B10 E10",
		  "10i request_minor_realloc_ref_table value=1, "
		  "20i request_major_alloc_shr value=1, "
		  "30b minor, 40e cause=request_minor_realloc_ref_table, ",
		  RUNTIME_PHASES_5_0 },
	};
	char *copy = strdup(rows[_i].messages), *rest;
	const char *text;
	uint64_t time = 1000;
	struct overlay_input input = { .importer = &overlay_runtime_events,
				       .pid = 10,
				       .path = (char *)"" };
	struct ring_file file;

	ring_file_init(&file, 2, 1024, 8192);
	for (char *word = strtok_r(copy, " ", &rest); word; word = strtok_r(NULL, " ", &rest))
		put_message(&file, word, time += 10);
	runtime_events_open(&input.events, file.bytes, file.size, &diag, NULL);
	input.events.phases = rows[_i].phases;
	lines = (struct lines){ .base = 1000, .args = true };
	text = write_tracks(&input, "beic");
	ck_assert_msg(starts_with(text, "10i clock of this overlay method=its own, ") ||
			      strstr(text, "0i clock"),
		      "%s", text);
	ck_assert_str_eq(strstr(text, "own, ") + 5, rows[_i].text);
	ring_file_release(&file);
	free(copy);
}
END_TEST

/* Ends whose begins were overwritten: up to 64 begin where the ring begins, the outer one first. */
START_TEST(begins_that_are_lost_are_shown)
{
	struct ring_file file;
	const char *text;
	int count = 63 + _i;

	ring_file_init(&file, 1, 1024, 8192);
	for (int i = 0; i < count; i++)
		ring_file_runtime(&file, 0, RING_EXIT, (unsigned)(i % 40), 1010 + (uint64_t)i);
	text = write_ring_file(&file, "be");
	ck_assert_uint_eq(count_of(text, "begin_lost=true"), count < 64 ? count : 64);
	ck_assert_uint_eq(count_of(text, "e, ") - count_of(text, "true, "),
			  count < 64 ? count : 64);
	ring_file_release(&file);
}
END_TEST

/* ---- More records --------------------------------------------------------------- */

/* A process from its fork (F) and exec (X), at these times, to its exit at 6000. */
static const struct {
	const char *records;
	uint64_t begin; /* of the program; 0: not seen */
} begins[] = {
	{ "F900 X1000", 1000 },      { "F900", 900 }, { "X500 X1000", 1000 },
	{ "F400 X500 X1000", 1000 }, { "", 0 },
};

START_TEST(a_program_begins_with_its_last_exec)
{
	const struct perf_data_mmap map = { 10, 10, 0x1000, 0x1000, .path = "/none" };
	const struct perf_data_mmap of_parent = { 9, 9, 0x1000, 0x1000, .path = "/none" };
	struct perf_data_pt_info info = { .pmu_type = 8 };
	struct {
		int32_t pid, parent_pid, tid, parent_tid;
		uint64_t time;
	} fork_of_10 = { 10, 9, 10, 9, 0 };
	char *copy = strdup(begins[_i].records), *rest, path[PERF_DATA_PATH];
	struct overlay_clock clock;
	struct perf_data data;
	struct error err;

	perf_data_init(&data);
	perf_data_add_pt_event(&data, 8, 0x300e601);
	perf_data_add_pt_info(&data, &info, NULL);
	perf_data_stamp(&data, (struct perf_data_stamp){ .time = 300, .pid = 9, .tid = 9 });
	perf_data_add_mmap(&data, 0, &of_parent);
	for (char *word = strtok_r(copy, " ", &rest); word; word = strtok_r(NULL, " ", &rest)) {
		uint64_t time = strtoull(word + 1, NULL, 10);

		perf_data_stamp(&data, (struct perf_data_stamp){ .time = time,
								 .pid = *word == 'F' ? 9 : 10,
								 .tid = *word == 'F' ? 9 : 10 });
		if (*word == 'F') {
			fork_of_10.time = time;
			perf_data_add_record(&data, PERF_RECORD_FORK, 0, &fork_of_10,
					     sizeof(fork_of_10));
			continue;
		}
		perf_data_add_comm(&data, PERF_RECORD_MISC_COMM_EXEC, 10, 10, "prog");
		perf_data_add_mmap(&data, 0, &map);
	}
	put_exit(&data, 6000, 10);
	perf_data_write_temporary(&data, path);
	perf_data_release(&data);
	run = (struct recording){ 0 };
	ck_assert_int_eq(perf_file_open(&run.file, path, &diag, &err), 0);
	unlink(path);
	run.timeline = timeline_open(&run.file, NULL, 0, &diag);
	name_table_init(&run.names);
	overlay_calls_init(&run.calls, &run.names);
	ring_file_init(&run.rings, 1, 4096, 0);
	put_lifecycle(0, RUNTIME_RING_START, 1100);
	put_lifecycle(0, RUNTIME_RING_START, 5900);
	open_rings();
	clock = match_clock();
	ck_assert_int_eq(clock.method,
			 begins[_i].begin ? OVERLAY_CLOCK_SIDEBAND : OVERLAY_CLOCK_ASSUMED);
	if (begins[_i].begin) {
		/* Between -100 and the first event less the begin. */
		int64_t high = 1100 - (int64_t)begins[_i].begin;

		ck_assert_int_eq(clock.offset + AHEAD, -(-100 + (high + 100) / 2));
		ck_assert_uint_eq(clock.uncertainty, (uint64_t)(high + 100) / 2 + 1);
	}
	close_run();
	free(copy);
}
END_TEST

/* Without its process, a ring has no thread. */
START_TEST(an_unknown_process_has_no_threads)
{
	open_run(false);
	put_lifecycle(0, RUNTIME_RING_START, 1100);
	open_rings();
	run.input.pid = -1;
	match_clock();
	ck_assert_uint_eq(run.input.tid_count, 0);
	ck_assert_uint_ge(diag_kinds(&diag), 1);
	close_run();
}
END_TEST

/* A cut ends at the limit of the output, after whole blocks. */
START_TEST(a_cut_of_memtrace_ends_at_the_limit)
{
	char path[] = "/tmp/overlays-XXXXXX", copy[] = "/tmp/overlays-XXXXXX";
	struct ctf_alloc alloc = { .words = 3, .samples = 1 };
	struct overlay_cut_counts counts;
	struct selection selection = { 0 };
	struct overlay_input input;
	struct error err = { 0 };
	struct output output;
	struct ctf_file file;

	ctf_init(&file, 3, 1e-4, 10, START);
	for (uint64_t i = 0; i < 20000; i++)
		ctf_alloc(&file, 0, (alloc.time = START + i, &alloc));
	ctf_flush(&file, 0);
	write_file(path, file.out.bytes, file.out.size);
	write_file(copy, "", 0);
	ck_assert(selection_time(&selection, ","));
	ck_assert_int_eq(overlay_input_open(&input,
					    &(struct overlay_option){ OVERLAY_MEMTRACE, path },
					    &diag, &err),
			 0);
	ck_assert_int_eq(output_open(&output, copy, &err), 0);
	output_limit(&output, _i ? 20000 : 100000000, false);
	ck_assert_int_eq(overlay_cut(&input, &selection, &output, &counts, &err), 0);
	ck_assert_int_eq(output.cut, _i);
	ck_assert_int_eq(output_close(&output, &err), 0);
	ck_assert_int_eq(counts.written < 20000, _i);
	ck_assert_uint_gt(counts.written, 100);
	ck_assert_uint_eq(counts.events, _i ? counts.written : 20000);
	overlay_input_close(&input);
	unlink(path);
	unlink(copy);
	ctf_release(&file);
}
END_TEST

/* The ring has lost the first messages, or the trace begins later than the ring, or both end apart.
 */
START_TEST(calls_and_messages_may_lack_their_begin_or_end)
{
	static const struct {
		int calls[2], messages[2]; /* of 60: the first, and the end */
		bool found;
	} rows[] = {
		{ { 0, 60 }, { 0, 60 }, true },  { { 0, 60 }, { 20, 60 }, true },
		{ { 20, 60 }, { 0, 60 }, true }, { { 0, 40 }, { 0, 60 }, true },
		{ { 0, 60 }, { 0, 40 }, true },  { { 0, 40 }, { 20, 60 }, true },
		{ { 20, 60 }, { 0, 40 }, true }, { { 0, 33 }, { 26, 60 }, false },
	};
	uint64_t time = 2000;
	uint32_t state = 9;
	struct overlay_clock clock;

	open_run(false);
	for (int i = 0; i < 60; i++) {
		int kind = (int)(next_random(&state) % 2);
		bool called = i >= rows[_i].calls[0] && i < rows[_i].calls[1];
		bool written = i >= rows[_i].messages[0] && i < rows[_i].messages[1];

		time += 7000 + next_random(&state) % 60000;
		if (called)
			call(10, 11, written ? 1 : UINT32_MAX, time, 10, kind);
		else if (written)
			ring_file_runtime(&run.rings, 1, kind ? RING_EXIT : RING_BEGIN, 1,
					  (uint64_t)AHEAD + time + 10);
	}
	open_rings();
	clock = match_clock();
	ck_assert_int_eq(clock.method == OVERLAY_CLOCK_PT, rows[_i].found);
	if (rows[_i].found) {
		ck_assert_int_eq(clock.offset, -AHEAD - 10);
		ck_assert_uint_eq(clock.uncertainty, 1);
	}
	close_run();
}
END_TEST

/* Blocks of two files have arrows of their own. */
START_TEST(arrows_of_two_files_differ)
{
	struct ctf_file file = make_blocks();
	struct overlay_input inputs[2];
	struct event_sink sink = { .event = print_event, .last_id = 100 };
	struct overlays overlays = { .options = &options,
				     .inputs = inputs,
				     .count = 2,
				     .out = { .diag = &diag, .next_id = 1 } };
	struct output output = { 0 };

	for (int i = 0; i < 2; i++) {
		inputs[i] = (struct overlay_input){ .importer = &overlay_memtrace,
						    .pid = 10,
						    .path = (char *)"file" };
		ck_assert_int_eq(memtrace_open(&inputs[i].memtrace, file.out.bytes, file.out.size,
					       &diag, NULL),
				 0);
	}
	lines = (struct lines){ .base = START * 1000, .ids = true, .kinds = ">" };
	name_table_init(&overlays.out.names);
	overlays_write(&overlays, &sink, &output, NULL);
	name_table_release(&overlays.out.names);
	ck_assert_str_eq(lines.text, "30000> block #2, 60000> block #1, 80000> block #3, "
				     "30000> block #1099511627778, 60000> block #1099511627777, "
				     "80000> block #1099511627779, ");
	for (int i = 0; i < 2; i++)
		memtrace_close(&inputs[i].memtrace);
	ctf_release(&file);
}
END_TEST

/* Without a sample rate, nothing is known about the bytes. */
START_TEST(without_a_rate_there_is_no_estimate)
{
	struct ctf_alloc alloc = { .time = START, .words = 3, .samples = 2 };
	struct overlay_input input;
	struct ctf_file file;

	ctf_init(&file, 3, 0, 10, START);
	ctf_alloc(&file, 0, &alloc);
	ctf_flush(&file, 0);
	open_blocks(&input, &file);
	lines = (struct lines){ .base = START * 1000, .args = true };
	ck_assert_ptr_nonnull(strstr(write_tracks(&input, "bc"), " estimated_bytes=0 "));
	ck_assert_ptr_nonnull(strstr(lines.text, "c sampled live memory bytes=0, "));
	memtrace_close(&input.memtrace);
	ctf_release(&file);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("overlays");
	TCase *tests = tcase_create("all");

	tcase_add_checked_fixture(tests, setup, teardown);
	tcase_add_loop_test(tests, a_range_of_memtrace_has_the_blocks_that_are_alive, 0,
			    COUNT_OF(cuts));
	tcase_add_loop_test(tests, without_a_recording_the_clock_is_the_runtime_events, 0,
			    COUNT_OF(alone));
	tcase_add_loop_test(tests, times_move_within_the_clock, 0, COUNT_OF(moves));
	tcase_add_loop_test(tests, records_and_events_bound_each_other, 0, COUNT_OF(orders));
	tcase_add_test(tests, bounds_that_contradict_each_other_are_none);
	tcase_add_loop_test(tests, memtrace_is_bounded_by_exec_and_exit, 0, COUNT_OF(ends));
	tcase_add_loop_test(tests, calls_fit_their_messages_at_one_offset, 0, COUNT_OF(seen));
	tcase_add_loop_test(tests, blocks_are_slices_arrows_lives_and_memory, 0, COUNT_OF(blocks));
	tcase_add_test(tests, the_rate_is_of_windows_with_allocations);
	tcase_add_loop_test(tests, messages_of_a_ring_are_phases_spans_and_counters, 0,
			    COUNT_OF(rings));
	tcase_add_loop_test(tests, perf_may_have_recorded_its_clock, 0, COUNT_OF(recorded));
	tcase_add_loop_test(tests, lines_of_clocks_are_matched_by_the_tsc, 0, 5);
	tcase_add_loop_test(tests, an_overlay_of_a_missing_process_is_reported, 0, 2);
	tcase_add_test(tests, clocks_are_read_at_the_same_time);
	tcase_add_loop_test(tests, custom_events_are_spans_counters_and_instants, 0,
			    COUNT_OF(customs));
	tcase_add_loop_test(tests, a_long_custom_event_is_cut, 0, 2);
	tcase_add_test(tests, a_ring_that_was_overwritten_has_a_gap);
	tcase_add_test(tests, blocks_by_size_are_named);
	tcase_add_loop_test(tests, phases_are_shown_to_a_depth, 0, 4);
	tcase_add_loop_test(tests, crossing_spans_have_16_lanes, 0, 2);
	tcase_add_test(tests, tracks_name_the_threads_of_rings);
	tcase_add_loop_test(tests, an_allocation_has_its_stack, 0, 4);
	tcase_add_test(tests, memtrace_has_a_track_for_each_domain);
	tcase_add_test(tests, custom_spans_end_by_name);
	tcase_add_loop_test(tests, calls_are_those_that_write_messages, 0, 8);
	tcase_add_test(tests, the_latest_calls_of_each_thread_are_kept);
	tcase_add_loop_test(tests, the_clock_is_said, 0, 4);
	tcase_add_loop_test(tests, a_range_without_events_says_the_times_of_the_file, 0, 2);
	tcase_add_test(tests, each_ring_has_its_own_thread);
	tcase_add_loop_test(tests, a_few_late_messages_do_not_count, 0, 3);
	tcase_add_loop_test(tests, unknown_numbers_have_a_name, 0, 8);
	tcase_add_loop_test(tests, begins_that_are_lost_are_shown, 0, 3);
	tcase_add_loop_test(tests, a_program_begins_with_its_last_exec, 0, COUNT_OF(begins));
	tcase_add_test(tests, an_unknown_process_has_no_threads);
	tcase_add_loop_test(tests, a_cut_of_memtrace_ends_at_the_limit, 0, 2);
	tcase_add_loop_test(tests, calls_and_messages_may_lack_their_begin_or_end, 0, 8);
	tcase_add_test(tests, arrows_of_two_files_differ);
	tcase_add_test(tests, without_a_rate_there_is_no_estimate);
	suite_add_tcase(suite, tests);
	return unit_run(suite);
}
