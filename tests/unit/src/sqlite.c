/* SPDX-License-Identifier: MIT */
/* The rows of --format=sqlite, read by SQLite, of slices and branches made by hand. */
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/io/output.h"
#include "decoder/history.h"
#include "src/callstack/callstack.h"
#include "src/formats/output_format.h"
#include "src/options/options.h"
#include "src/resolve/location.h"
#include "src/slices/event_sink.h"
#include "src/slices/track.h"
#include "symbols/dso/dso_store.h"
#include "tests/support/unit.h"
#include "tests/unit/src/slice_feed.h"

static struct name_table names;
static struct symbol f, g;
static struct track tracks[3];
static struct callstack_machine machine;
static struct output file;
static struct format_output *output;
static const struct output_format *format;
static char directory[32], path[64];

static void setup(void)
{
	name_table_init(&names);
	f = (struct symbol){ .start = 0x1000, .size = 16 };
	g = (struct symbol){ .start = 0x2000, .size = 32 };
	f.name = f.linkage = name_intern_text(&names, "f");
	g.name = g.linkage = name_intern_text(&names, "g");
	tracks[0] = (struct track){ .pid = 1, .tid = 1, .index = 0, .thread_name = "main" };
	tracks[1] = (struct track){ .pid = 1, .tid = 2, .index = 1, .thread_name = "worker" };
	tracks[2] = (struct track){ .pid = 3, .tid = 4, .index = 2 };
	machine = (struct callstack_machine){ .times = TIMES_MEASURED };
	strcpy(directory, "/tmp/ptrace2ftf-XXXXXX");
	ck_assert_ptr_nonnull(mkdtemp(directory));
	sprintf(path, "%s/calls.db", directory);
}

static void teardown(void)
{
	for (int i = 0; i < 3; i++)
		free(tracks[i].open);
	unlink(path);
	rmdir(directory);
	name_table_release(&names);
}

static void open_database(enum option_args args)
{
	static struct options options;
	const struct format_request request = { .options = &options,
						.output = &file,
						.names = &names };
	struct error err = { 0 };

	options = (struct options){ .input = "a.data", .args = args };
	format = args == OPTION_ARGS_FULL ? format_sqlite.full : &format_sqlite;
	ck_assert_msg(format->load(&err) == 0, "%s", err.text);
	ck_assert_int_eq(output_open(&file, path, &err), 0);
	output = output_format_open(format, &request);
	output->machine = &machine;
}

static void close_database(void)
{
	struct error err = { 0 };

	format->finish(output);
	ck_assert_msg(output->err.kind == ERROR_NONE, "%s", output->err.text);
	output_format_close(format, output);
	ck_assert_int_eq(output_close(&file, &err), 0);
}

static void begin(int track, uint64_t time, const struct symbol *symbol, uint16_t flags)
{
	feed_begin(&output->sink, &tracks[track], time, symbol, symbol->start, flags);
}

static void end(int track, uint64_t time, const struct symbol *symbol)
{
	slice_sink_emit(&output->sink, &tracks[track],
			&(struct slice_event){ .time = time, .symbol = symbol, .kind = SLICE_END },
			NULL);
}

/* The rows of a query: columns with commas, rows with lines. */
static void expect_rows(const char *query, const char *expected)
{
	char text[2000] = "";
	sqlite3 *database;
	sqlite3_stmt *rows;

	ck_assert_int_eq(sqlite3_open_v2(path, &database, SQLITE_OPEN_READONLY, NULL), SQLITE_OK);
	ck_assert_msg(sqlite3_prepare_v2(database, query, -1, &rows, NULL) == SQLITE_OK, "%s",
		      sqlite3_errmsg(database));
	while (sqlite3_step(rows) == SQLITE_ROW)
		for (int i = 0; i < sqlite3_column_count(rows); i++) {
			const char *value = (const char *)sqlite3_column_text(rows, i);

			sprintf(text + strlen(text), "%s%s", value ? value : "-",
				i + 1 < sqlite3_column_count(rows) ? "," : "\n");
		}
	sqlite3_finalize(rows);
	sqlite3_close(database);
	ck_assert_str_eq(text, expected);
}

/* Threads 1 and 2 of a process, and 4 of another, whose main thread has no calls; in turns. */
static void feed_calls(void)
{
	begin(0, 100, &f, 0);
	begin(1, 110, &g, 0);
	begin(0, 120, &g, SLICE_TAIL_CALLED);
	begin(2, 130, &f, SLICE_INFERRED_START);
	end(0, 140, &g);
	begin(1, 150, &f, 0);
	end(1, 160, &f);
	end(0, 170, &f);
	end(1, 180, &g);
	end(2, 190, &f);
}

START_TEST(a_call_has_its_thread_and_the_call_around_it)
{
	open_database(OPTION_ARGS_LOC);
	feed_calls();
	close_database();
	expect_rows("SELECT tid, command, symbol, call_time, return_time, flags FROM calls_view"
		    " WHERE id > 0 ORDER BY tid, call_time",
		    "1,main,f,100,170,\n"
		    "1,main,g,120,140,jump\n"
		    "2,worker,g,110,180,\n"
		    "2,worker,f,150,160,\n"
		    "4,unknown,f,130,190,no call\n");
	/* The caller's thread is the call's. */
	expect_rows(
		"SELECT t.tid, s.name, u.tid, z.name FROM calls c JOIN calls d ON c.parent_id = d.id"
		" JOIN threads t ON t.id = c.thread_id JOIN threads u ON u.id = d.thread_id"
		" JOIN call_paths p ON p.id = c.call_path_id JOIN symbols s ON s.id = p.symbol_id"
		" JOIN call_paths q ON q.id = d.call_path_id JOIN symbols z ON z.id = q.symbol_id"
		" WHERE d.id > 0 ORDER BY t.tid",
		"1,g,1,f\n2,f,2,g\n");
	expect_rows(
		"SELECT t.pid, t.tid, m.tid FROM threads t JOIN threads m ON m.id = t.process_id"
		" WHERE t.id > 0 ORDER BY t.tid",
		"1,1,1\n1,2,1\n3,3,3\n3,4,3\n");
	expect_rows("SELECT comm, t.tid FROM comms JOIN threads t ON t.id = c_thread_id"
		    " WHERE comms.id > 0 ORDER BY comm, t.tid",
		    "main,1\nunknown,3\nworker,1\n");
	expect_rows("SELECT name, sym_start, sym_end FROM symbols WHERE id > 0 ORDER BY name",
		    "f,4096,4112\ng,8192,8224\n");
	/* From the root: f, f > g, g, g > f. */
	expect_rows("SELECT count(*) FROM call_paths WHERE id > 1", "4\n");
	expect_rows("SELECT s.name, r.name FROM call_paths p JOIN symbols s ON s.id = p.symbol_id"
		    " JOIN call_paths q ON q.id = p.parent_id JOIN symbols r ON r.id = q.symbol_id"
		    " WHERE p.id > 1 ORDER BY p.parent_id, s.name",
		    "f,unknown\ng,unknown\ng,f\nf,g\n");
}
END_TEST

/* ---- Branches ------------------------------------------------------------ */

static const struct thread_name shown = { .text = "prog" };
static const struct thread threads[] = {
	{ .pid = 1, .tid = 1, .names = (struct thread_name *)&shown, .name_count = 1 },
	{ .pid = 1, .tid = 2, .index = 1 },
};

static void branch(int thread, uint64_t time, enum branch_kind kind, unsigned flags, uint32_t insns,
		   uint32_t cycles)
{
	const struct branch_event event = {
		.time = time,
		.kind = (uint8_t)kind,
		.flags = (uint8_t)flags,
		.from = f.start + 5,
		.to = g.start,
		.thread = thread < 0 ? NULL : &threads[thread],
		.insns = insns,
		.cycles = cycles,
		.cpu = thread,
	};
	const struct location from = { event.from, &f, 5 }, to = { event.to, &g, 0 };

	format->branch(output, &event, &from, &to);
}

/* perf's branch types: tools/perf/util/event.h, PERF_IP_FLAG_*. */
START_TEST(a_branch_has_its_thread_type_and_instructions_since_the_one_before)
{
	open_database(OPTION_ARGS_FULL);
	branch(0, 100, BRANCH_NONE, BRANCH_TRACE_ON, 0, 0);
	branch(0, 110, BRANCH_CALL, 0, 10, 0);
	branch(1, 115, BRANCH_RETURN, 0, 3, 0);
	branch(0, 120, BRANCH_GAP, 0, 7, 0);
	branch(0, 130, BRANCH_COND, BRANCH_IN_TX, 5, 0);
	branch(-1, 140, BRANCH_JUMP, 0, 2, 0);
	branch(1, 150, BRANCH_NONE, BRANCH_TRACE_OFF | BRANCH_ASYNC, 4, 0);
	branch(0, 160, BRANCH_SYSCALL, BRANCH_TRACE_OFF, 1, 0);
	branch(1, 170, BRANCH_INTERRUPT, BRANCH_ASYNC, 1, 0);
	close_database();
	expect_rows(
		"SELECT time, tid, s.name, sym_offset, z.name, to_ip, branch_type, in_tx, insn_count,"
		" x.cpu, flags FROM samples x JOIN threads t ON t.id = x.thread_id"
		" JOIN symbols s ON s.id = symbol_id JOIN symbols z ON z.id = to_symbol_id"
		" WHERE x.id > 0 ORDER BY time",
		"100,1,f,5,g,8192,257,0,0,0,257\n"
		"110,1,f,5,g,8192,3,0,10,0,3\n"
		"115,2,f,5,g,8192,5,0,3,1,5\n"
		"130,1,f,5,g,8192,9,1,12,0,1033\n"
		"140,-1,f,5,g,8192,1,0,2,-1,1\n"
		"150,2,f,5,g,8192,545,0,4,1,545\n"
		"160,1,f,5,g,8192,531,0,1,0,531\n"
		"170,2,f,5,g,8192,99,0,1,1,99\n");
	expect_rows("SELECT t.tid, m.comm FROM samples x JOIN threads t ON t.id = x.thread_id"
		    " JOIN comms m ON m.id = x.comm_id WHERE x.id > 0 AND time < 120 ORDER BY time",
		    "1,prog\n1,prog\n2,unknown\n");
}
END_TEST

/* The begin or end of a call at a branch, with the thread's counters up to it. */
static void edge(int track, const struct slice_event *event, uint64_t id, uint64_t insns)
{
	slice_sink_emit(
		&output->sink, &tracks[track], event,
		&(struct slice_detail){ .insns = insns, .cycles = 3 * insns, .branch = id });
}

/*
 * perf (tools/perf/util/thread-stack.c) counts the branches of a call's thread after the one that
 * entered it, up to the one that left it.  A call without one of both has no id for it.
 */
START_TEST(a_call_has_its_branches_and_costs)
{
	static const enum branch_kind kinds[] = { BRANCH_CALL,   BRANCH_CALL,   BRANCH_COND,
						  BRANCH_CALL,   BRANCH_RETURN, BRANCH_COND,
						  BRANCH_RETURN, BRANCH_COND };
	static const int of[] = { 0, 1, 0, 0, 0, 1, 0, 1 };

	open_database(OPTION_ARGS_FULL);
	for (unsigned i = 0; i < 8; i++) {
		branch(of[i], 100 + 10 * i, kinds[i], 0, 1, 0);
		ck_assert_uint_eq(machine.branch, i + 1);
	}
	edge(0, &(struct slice_event){ .time = 100, .symbol = &f, .kind = SLICE_BEGIN }, 1, 10);
	edge(1, &(struct slice_event){ .time = 110, .symbol = &f, .kind = SLICE_BEGIN }, 2, 50);
	edge(0, &(struct slice_event){ .time = 130, .symbol = &g, .kind = SLICE_BEGIN }, 4, 20);
	edge(0, &(struct slice_event){ .time = 140, .kind = SLICE_END }, 5, 27);
	edge(0, &(struct slice_event){ .time = 160, .kind = SLICE_END }, 7, 60);
	edge(1, &(struct slice_event){ .time = 170, .kind = SLICE_END, .flags = SLICE_CUT }, 0, 54);
	/* Its begin was not seen, and the number of its end is another thread's. */
	edge(2,
	     &(struct slice_event){ .time = 100,
				    .symbol = &g,
				    .kind = SLICE_BEGIN,
				    .flags = SLICE_INFERRED_START },
	     0, 0);
	edge(2, &(struct slice_event){ .time = 170, .kind = SLICE_END }, 8, 0);
	close_database();
	expect_rows("SELECT tid, symbol, branch_count, call_id, return_id, insn_count, cyc_count,"
		    " flags FROM calls_view WHERE id > 0 ORDER BY tid, call_time",
		    "1,f,4,1,7,50,150,\n"
		    "1,g,1,4,5,7,21,\n"
		    "2,f,2,2,0,4,12,no return\n"
		    "4,g,0,0,0,0,0,no call\n");
	expect_rows("SELECT name FROM branch_types WHERE id IN (3, 771, 513) ORDER BY id",
		    "call\ntrace end\n");
}
END_TEST

/*
 * With cycles, an event has those since the last event with cycles, up to after it: they belong to
 * the next sample, and so do the instructions, which are of the same time.
 */
START_TEST(instructions_come_with_the_cycles_of_their_time)
{
	open_database(OPTION_ARGS_FULL);
	machine.has_cycles = true;
	branch(0, 100, BRANCH_CALL, 0, 5, 0);
	branch(0, 110, BRANCH_COND, 0, 4, 20);
	branch(1, 115, BRANCH_COND, 0, 8, 0);
	branch(0, 120, BRANCH_COND, 0, 3, 0);
	branch(0, 130, BRANCH_RETURN, 0, 2, 0);
	/* Events without rows have counts for the next row. */
	format->counts(output, &(struct branch_event){ .thread = &threads[0],
						       .kind = BRANCH_COUNTS,
						       .insns = 6,
						       .cycles = 9 });
	branch(0, 140, BRANCH_COND, 0, 1, 0);
	close_database();
	expect_rows("SELECT time, insn_count, cyc_count FROM samples WHERE id > 0 ORDER BY time",
		    "100,0,0\n110,0,0\n115,0,0\n120,12,20\n130,0,0\n140,9,9\n");
}
END_TEST

/* Functions of one name, in two files, have different names; bindings are those of elf.h. */
START_TEST(a_function_has_its_file_and_binding)
{
	struct dso libc = { .path = "/lib/libc.so.6",
			    .short_name = name_intern_text(&names, "libc.so.6"),
			    .build_id = { 0xab, 0x1 },
			    .build_id_size = 2 };
	struct cached_symbol cached = { f, true, { 0 } };
	struct symbol *weak = &cached.symbol;

	g.binding = SYMBOL_GLOBAL;
	weak->binding = SYMBOL_WEAK;
	weak->dso = &libc;
	open_database(OPTION_ARGS_LOC);
	begin(0, 100, &f, 0);
	begin(0, 110, &g, 0);
	begin(0, 120, weak, 0);
	end(0, 130, weak);
	feed_instant(&output->sink, &tracks[0], 135, "mark");
	end(0, 140, &g);
	end(0, 150, &f);
	close_database();
	expect_rows("SELECT s.name, binding, short_name, long_name, build_id FROM symbols s"
		    " JOIN dsos d ON d.id = s.dso_id WHERE s.id > 0 ORDER BY s.id",
		    "f,0,unknown,unknown,\n"
		    "g,1,unknown,unknown,\n"
		    "f (libc.so.6),2,libc.so.6,/lib/libc.so.6,ab01\n");
	/* An instant is no call; the tables that perf's viewer asks for are there. */
	expect_rows("SELECT count(*) FROM calls WHERE id > 0", "3\n");
	expect_rows("SELECT * FROM clock", "ns\n");
	expect_rows("SELECT count(*) FROM samples", "0\n");
	expect_rows("SELECT comm_id, thread_id FROM comm_threads", "1,1\n");
}
END_TEST

/* perf's tools/perf/scripts/python/export-to-sqlite.py: all callers of a call are rows. */
START_TEST(each_path_of_calls_has_one_row)
{
	open_database(OPTION_ARGS_LOC);
	for (int i = 0; i < 3; i++)
		for (int track = 0; track < 2; track++) {
			uint64_t now = 100 + 100 * (uint64_t)i;

			begin(track, now, &f, 0);
			begin(track, now + 10, &g, 0);
			begin(track, now + 20, &g, 0);
			end(track, now + 30, &g);
			end(track, now + 40, &g);
			end(track, now + 50, &f);
		}
	close_database();
	expect_rows(
		"SELECT p.id, p.parent_id, s.name, count(*), count(DISTINCT c.thread_id),"
		" min(c.parent_call_path_id), max(c.parent_call_path_id)"
		" FROM call_paths p JOIN symbols s ON s.id = p.symbol_id"
		" JOIN calls c ON c.call_path_id = p.id WHERE p.id > 1 GROUP BY p.id ORDER BY p.id",
		"2,1,f,6,2,1,1\n3,2,g,6,2,2,2\n4,3,g,6,2,3,3\n");
	expect_rows("SELECT count(*) FROM symbols", "3\n");
	expect_rows("SELECT count(*) FROM call_paths", "5\n");
}
END_TEST

/* ---- Other events ---------------------------------------------------------------- */

static const struct event_track gc = { 1, 77 };

static void event(enum track_event_kind kind, uint64_t time, const char *name, uint64_t id,
		  const struct event_arg *arg)
{
	const struct track_event event = { .kind = kind,
					   .time = time,
					   .track = gc,
					   .id = id,
					   .category = text_view_of(name ? "cat" : ""),
					   .name = text_view_of(name ? name : ""),
					   .args = arg,
					   .arg_count = arg != NULL };

	event_sink_emit(output->events, &event);
}

static void switch_threads(uint64_t time, uint64_t cpu, struct event_track from,
			   struct event_track to, enum event_thread_state state)
{
	event_sink_emit(output->events,
			&(struct track_event){ .kind = TRACK_SWITCH,
					       .time = time,
					       .track = to,
					       .cpu = cpu,
					       .change = { .other = from, .state = state } });
}

/* Slices end with the innermost one; each row has its track's name and its arguments, "" without.
 */
START_TEST(events_have_a_row_each)
{
	const struct event_arg words = { { "words", 5 }, EVENT_ARG_INT64, { .number = 7 } };
	const struct event_arg done = { { "done", 4 }, EVENT_ARG_TEXT, { .text = { "yes", 3 } } };

	open_database(OPTION_ARGS_LOC);
	event_sink_name_process(output->events, 1, "prog");
	event_sink_name_track(output->events, gc, "domain 0 GC");
	event(TRACK_BEGIN, 10, "minor", 0, NULL);
	event(TRACK_BEGIN, 20, "roots", 0, &words);
	event(TRACK_END, 30, NULL, 0, &done);
	event(TRACK_INSTANT, 35, "start", 0, &words);
	event(TRACK_END, 40, NULL, 0, NULL);
	event(TRACK_END, 45, NULL, 0, NULL); /* of no slice */
	event(TRACK_COUNTER, 50, "heap", 3, &words);
	event(TRACK_ASYNC_BEGIN, 60, "block", 4, NULL);
	event(TRACK_ASYNC_END, 70, "block", 4, NULL);
	event(TRACK_FLOW_BEGIN, 80, "a", 5, NULL);
	event(TRACK_FLOW_STEP, 81, "a", 5, NULL);
	event(TRACK_FLOW_END, 82, "a", 5, NULL);
	close_database();
	expect_rows("SELECT id, time, end_time, kind, name, event_id, args, end_args FROM events "
		    "ORDER BY id",
		    "1,10,40,slice,minor,0,,\n"
		    "2,20,30,slice,roots,0,{\"words\":7},{\"done\":\"yes\"}\n"
		    "3,35,-,instant,start,0,{\"words\":7},-\n"
		    "4,50,-,counter,heap,3,{\"words\":7},-\n"
		    "5,60,-,async begin,block,4,,-\n"
		    "6,70,-,async end,block,4,,-\n"
		    "7,80,-,flow begin,a,5,,-\n"
		    "8,81,-,flow step,a,5,,-\n"
		    "9,82,-,flow end,a,5,,-\n");
	expect_rows("SELECT DISTINCT pid, tid, track, category FROM events",
		    "1,77,domain 0 GC,cat\n");
}
END_TEST

/* As perf, a row for each side of a switch; the idle thread is swapper. */
START_TEST(a_switch_has_two_rows)
{
	const struct event_track main_thread = { 1, 1 }, worker = { 1, 2 }, idle = { 0, 0 };

	open_database(OPTION_ARGS_LOC);
	event_sink_name_track(output->events, main_thread, "main");
	event_sink_name_track(output->events, worker, "worker");
	switch_threads(10, 3, main_thread, worker, EVENT_THREAD_PREEMPTED);
	switch_threads(20, 3, worker, idle, EVENT_THREAD_BLOCKED);
	switch_threads(30, 4, idle, main_thread, EVENT_THREAD_BLOCKED);
	close_database();
	expect_rows("SELECT id, time, cpu, tid_out, comm_out, tid_in, comm_in, flags "
		    "FROM context_switches_view ORDER BY id",
		    "1,10,3,1,main,2,worker,out preempt\n"
		    "2,10,3,1,main,2,worker,in\n"
		    "3,20,3,2,worker,0,swapper,out\n"
		    "4,20,3,2,worker,0,swapper,in\n"
		    "5,30,4,0,swapper,1,main,out\n"
		    "6,30,4,0,swapper,1,main,in\n");
}
END_TEST

/* Tables of events are absent if there are none. */
START_TEST(without_events_there_are_no_tables_of_them)
{
	open_database(OPTION_ARGS_LOC);
	begin(0, 10, &f, 0);
	end(0, 20, &f);
	close_database();
	expect_rows("SELECT count(*) FROM sqlite_master WHERE name IN "
		    "('events', 'context_switches')",
		    "0\n");
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("sqlite");
	TCase *all = tcase_create("sqlite");

	tcase_add_checked_fixture(all, setup, teardown);
	tcase_add_test(all, a_call_has_its_thread_and_the_call_around_it);
	tcase_add_test(all, a_branch_has_its_thread_type_and_instructions_since_the_one_before);
	tcase_add_test(all, a_call_has_its_branches_and_costs);
	tcase_add_test(all, instructions_come_with_the_cycles_of_their_time);
	tcase_add_test(all, a_function_has_its_file_and_binding);
	tcase_add_test(all, each_path_of_calls_has_one_row);
	tcase_add_test(all, events_have_a_row_each);
	tcase_add_test(all, a_switch_has_two_rows);
	tcase_add_test(all, without_events_there_are_no_tables_of_them);
	suite_add_tcase(suite, all);
	return unit_run(suite);
}
