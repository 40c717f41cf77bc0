/* SPDX-License-Identifier: MIT */
/* Files of overlays: the words of their options, their text, and their process's name. */
#include "src/overlays/overlays.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/support/memtrace_ctf.h"
#include "tests/support/runtime_events_ring.h"
#include "tests/support/unit.h"

#define START UINT64_C(1699999997017536) /* us */

static struct diag diag;
static struct error err;
static struct overlay_input input;
static struct ring_file rings;
static struct ctf_file blocks;
static char folder[] = "/tmp/overlay_files.XXXXXX";
static char made[4][80]; /* files to remove */
static size_t made_count;

static void setup(void)
{
	diag_init(&diag);
	err = (struct error){ 0 };
	ck_assert_ptr_nonnull(mkdtemp(folder));
	ring_file_init(&rings, 2, 1024, 8192);
	ctf_init(&blocks, 3, 1e-4, 10, START);
}

static void teardown(void)
{
	while (made_count)
		unlink(made[--made_count]);
	rmdir(folder);
	strcpy(folder + strlen(folder) - 6, "XXXXXX");
	ring_file_release(&rings);
	ctf_release(&blocks);
	diag_release(&diag);
}

/* Returns the path of a new file in the folder. */
static const char *write_file(const char *name, const void *bytes, size_t size)
{
	char *path = made[made_count++];
	FILE *out;

	snprintf(path, sizeof(made[0]), "%s/%s", folder, name);
	out = fopen(path, "w");
	ck_assert_ptr_nonnull(out);
	ck_assert_uint_eq(fwrite(bytes, 1, size, out), size);
	fclose(out);
	return path;
}

static int open_overlay(enum overlay_kind kind, const char *path, const char *words)
{
	char text[200];

	snprintf(text, sizeof(text), "%s%s", path, words);
	return overlay_input_open(&input, &(struct overlay_option){ kind, text }, &diag, &err);
}

/* ---- Words of the option --------------------------------------------------- */

/* `words` follow the file's name; the ring's first event has the pid `started`, 0: none. */
static const struct {
	const char *name, *words;
	int32_t started, pid, tids[2]; /* tids: of rings 0 and 1 */
} events_words[] = {
	/* The option's pid, else the ring's, else the file's name. */
	{ "x", "", 0, -1, { -1, -1 } },
	{ "x", "", 12, 12, { -1, -1 } },
	{ "7.events", "", 0, 7, { -1, -1 } },
	{ "7.events", "", 12, 12, { -1, -1 } },
	{ "7.events", ",pid=9", 12, 9, { -1, -1 } },
	{ "7.events", ",pid=0", 12, 0, { -1, -1 } },
	{ "x", ",pid=2147483647", 0, 2147483647, { -1, -1 } },
	{ "2147483647.events", "", 0, 2147483647, { -1, -1 } },
	/* Names that are no PID.events. */
	{ "7.event", "", 0, -1, { -1, -1 } },
	{ "7events", "", 0, -1, { -1, -1 } },
	{ "0.events", "", 0, -1, { -1, -1 } },
	{ "-7.events", "", 0, -1, { -1, -1 } },
	{ "2147483648.events", "", 0, -1, { -1, -1 } },
	/* Threads of rings. */
	{ "x", ",tid.1=21", 0, -1, { -1, 21 } },
	{ "x", ",tid.0=2147483647,tid.1=0", 0, -1, { 2147483647, 0 } },
	{ "x", ",tid.65535=3,pid=4", 0, 4, { -1, -1 } },
	{ "x", ",pid=4,tid.1=3,ocaml=5.1", 0, 4, { -1, 3 } },
	/* Commas in the name of the file. */
	{ "x,y", "", 0, -1, { -1, -1 } },
	{ "x,pid=a", ",pid=3", 0, 3, { -1, -1 } },
	{ "x,lives", ",pid=3", 0, 3, { -1, -1 } },
};

START_TEST(words_after_the_file_name_its_process_and_threads)
{
	if (events_words[_i].started)
		ring_file_value(&rings, 0, RING_LIFECYCLE, RUNTIME_RING_START, 5,
				(uint64_t)events_words[_i].started);
	ck_assert_int_eq(open_overlay(OVERLAY_RUNTIME_EVENTS,
				      write_file(events_words[_i].name, rings.bytes, rings.size),
				      events_words[_i].words),
			 0);
	ck_assert_str_eq(input.path, made[0]);
	ck_assert_int_eq(input.pid, events_words[_i].pid);
	for (uint32_t i = 0; i < 2; i++)
		ck_assert_int_eq(overlay_input_tid(&input, i), events_words[_i].tids[i]);
	ck_assert_uint_eq(input.first_time, events_words[_i].started ? 5 : 0);
	overlay_input_close(&input);
	overlay_input_close(&input);
}
END_TEST

/* They belong to the name of the file then, which is missing. */
START_TEST(other_words_are_part_of_the_name)
{
	static const char *const words[] = {
		",pid=",   ",pid=-1",  ",pid=x",        ",pid=2147483648",  ",pid=1x",
		",tid.=1", ",tid.1=",  ",tid.65536=1",  ",tid.1=-1",        ",tid.1",
		",tid.1x", ",ocaml=5", ",ocaml=4.14.1", ",ocaml=5.x",       ",lives",
		",",       ",pid",     ",tid.-1=2",     ",tid.1=2147483648"
	};

	for (size_t i = 0; i < COUNT_OF(words); i++) {
		const char *path = i ? made[0] : write_file("x", rings.bytes, rings.size);

		err = (struct error){ 0 };
		ck_assert_msg(open_overlay(OVERLAY_RUNTIME_EVENTS, path, words[i]) < 0, "%s",
			      words[i]);
		ck_assert_int_eq(err.kind, ERROR_SYSTEM);
		ck_assert_str_eq(input.path + strlen(path), words[i]);
		overlay_input_close(&input);
	}
}
END_TEST

/* Phase 11 is minor in the table of OCaml 5.3, and minor_local_roots in that of 5.0. */
START_TEST(the_release_chooses_the_table_of_phases)
{
	static const struct {
		const char *words, *text;
		size_t warnings;
	} rows[] = {
		{ ",ocaml=5.0", "0 5 begin minor_local_roots -\n", 0 },
		{ ",ocaml=5.2.1", "0 5 begin minor_local_roots -\n", 0 },
		{ ",ocaml=5.3", "0 5 begin minor -\n", 0 },
		{ ",ocaml=5.10", "0 5 begin minor -\n", 0 },
		/* No event shows the table; a file without events needs no table. */
		{ "", "0 5 begin minor -\n", 1 },
		{ "", "", 0 },
	};
	struct overlays overlays = { .inputs = &input, .count = 1 };
	char *text;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	if (*rows[_i].text)
		ring_file_runtime(&rings, 0, RING_BEGIN, 11, 5);
	ck_assert_int_eq(open_overlay(OVERLAY_RUNTIME_EVENTS,
				      write_file("x", rings.bytes, rings.size), rows[_i].words),
			 0);
	ck_assert_uint_eq(diag_kinds(&diag), rows[_i].warnings);
	overlays_print(&overlays, out);
	fclose(out);
	ck_assert_str_eq(text, rows[_i].text);
	free(text);
	overlay_input_close(&input);
}
END_TEST

/* A process and the lives of blocks; its last event is at 30 us. */
START_TEST(words_after_memtrace_name_its_process_and_show_lives)
{
	static const struct {
		const char *words;
		int32_t pid;
		bool lives;
	} rows[] = { { "", 10, false },
		     { ",lives", 10, true },
		     { ",pid=3", 3, false },
		     { ",pid=3,lives", 3, true },
		     { ",lives,pid=3", 3, true } };
	struct ctf_alloc alloc = { .time = START + 20, .words = 3, .samples = 1 };

	ctf_alloc(&blocks, 0, &alloc);
	ctf_object(&blocks, 0, 4, START + 30, 0);
	ctf_flush(&blocks, 0);
	for (size_t i = 0; i < COUNT_OF(rows); i++) {
		const char *path =
			i ? made[0] : write_file("x.ctf", blocks.out.bytes, blocks.out.size);

		ck_assert_int_eq(open_overlay(OVERLAY_MEMTRACE, path, rows[i].words), 0);
		ck_assert_int_eq(input.pid, rows[i].pid);
		ck_assert_int_eq(input.lives, rows[i].lives);
		ck_assert_uint_eq(input.first_time, START * 1000);
		ck_assert_uint_eq(input.last_time, (START + 30) * 1000);
		overlay_input_close(&input);
	}
	ck_assert_int_eq(open_overlay(OVERLAY_MEMTRACE, made[0], ",tid.1=2"), -1);
	overlay_input_close(&input);
}
END_TEST

/* The message begins with the file's name. */
START_TEST(files_that_are_no_overlays_are_refused)
{
	static const struct {
		const char *name, *bytes;
		enum error_kind kind;
	} rows[] = { { "missing", NULL, ERROR_SYSTEM },
		     { "empty", "", ERROR_FORMAT },
		     { ".", NULL, ERROR_FORMAT },
		     { "short", "x", ERROR_FORMAT } };
	char path[100];

	snprintf(path, sizeof(path), "%s/%s", folder, rows[_i / 2].name);
	if (rows[_i / 2].bytes)
		write_file(rows[_i / 2].name, rows[_i / 2].bytes, strlen(rows[_i / 2].bytes));
	ck_assert_int_eq(open_overlay(_i % 2 ? OVERLAY_MEMTRACE : OVERLAY_RUNTIME_EVENTS, path, ""),
			 -1);
	ck_assert_int_eq(err.kind, rows[_i / 2].kind);
	ck_assert(starts_with(err.text, path));
	overlay_input_close(&input);
}
END_TEST

START_TEST(the_first_thread_of_a_ring_stays)
{
	static const struct {
		uint32_t ring;
		int32_t tid;
	} added[] = { { 0, 5 }, { 3, 0 }, { 0, 6 }, { 3, 7 } };

	input = (struct overlay_input){ 0 };
	for (size_t i = 0; i < COUNT_OF(added); i++)
		overlay_input_add_tid(&input, added[i].ring, added[i].tid);
	ck_assert_uint_eq(input.tid_count, 2);
	ck_assert_int_eq(overlay_input_tid(&input, 0), 5);
	ck_assert_int_eq(overlay_input_tid(&input, 3), 0);
	ck_assert_int_eq(overlay_input_tid(&input, 1), -1);
	overlay_input_close(&input);
}
END_TEST

/* ---- Text ------------------------------------------------------------------- */

/* Returns what an overlay prints; owned by the caller. */
static char *print_input(enum overlay_kind kind, const void *bytes, size_t size)
{
	struct overlays overlays = { .inputs = &input, .count = 1 };
	char *text;
	size_t length;
	FILE *out = open_memstream(&text, &length);

	ck_assert_int_eq(open_overlay(kind, write_file("x", bytes, size), ""), 0);
	overlays_print(&overlays, out);
	fclose(out);
	overlay_input_close(&input);
	return text;
}

static void put(uint32_t ring, bool user, unsigned type, unsigned id, uint64_t time, size_t words,
		const uint64_t *payload)
{
	ring_file_add(&rings, &(struct ring_message){ .ring = ring,
						      .user = user,
						      .type = type,
						      .id = id,
						      .time = time,
						      .payload = payload,
						      .payload_words = words });
}

/* RING TIME KIND NAME VALUE; a name that is not known is a number. */
START_TEST(runtime_events_are_lines_of_text)
{
	const uint64_t counts[20] = { [0] = 3, [19] = 4 };
	char *text;

	ring_file_name(&rings, 0, "a \"b\"\\\n\t\x01\xc3");
	ring_file_value(&rings, 1, RING_LIFECYCLE, RUNTIME_RING_START, 10, 77);
	ring_file_value(&rings, 1, RING_LIFECYCLE, 1, 11, 0);
	ring_file_value(&rings, 1, RING_LIFECYCLE, 99, 12, 0);
	ring_file_runtime(&rings, 1, RING_BEGIN, 11, 13);
	ring_file_runtime(&rings, 1, RING_EXIT, 999, 14);
	ring_file_value(&rings, 1, RING_COUNTER, 11, 15, 0);
	ring_file_value(&rings, 1, RING_COUNTER, 99, 16, 8);
	put(1, false, RING_ALLOC, 0, 17, 20, counts);
	put(1, true, RING_UNIT, 0, 18, 0, NULL);
	put(1, true, RING_INT, 1, 19, 1, &(const uint64_t){ 5 });
	put(1, true, RING_SPAN_BEGIN, 0, 20, 0, NULL);
	put(1, true, RING_SPAN_END, 0, 21, 0, NULL);
	ring_file_custom(&rings, 1, 1, 22, "\x0ahi", 3);
	ring_file_value(&rings, 0, RING_COUNTER, 4, 9, 1);
	text = print_input(OVERLAY_RUNTIME_EVENTS, rings.bytes, rings.size);
	ck_assert_str_eq(text, "0 9 counter minor_promoted 1\n"
			       "1 10 lifecycle ring_start 77\n"
			       "1 11 lifecycle ring_stop none\n"
			       "1 12 lifecycle lifecycle_99 none\n"
			       "1 13 begin minor -\n"
			       "1 14 end phase_999 -\n"
			       "1 15 counter major_heap_pool_words 0\n"
			       "1 16 counter counter_99 8\n"
			       "1 17 alloc - 3,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,4\n"
			       "1 18 user_unit \"a \\\"b\\\"\\\\\\n\\t\\001\\195\" -\n"
			       "1 19 user_int \"event 1\" 5\n"
			       "1 20 user_span_begin \"a \\\"b\\\"\\\\\\n\\t\\001\\195\" -\n"
			       "1 21 user_span_end \"a \\\"b\\\"\\\\\\n\\t\\001\\195\" -\n"
			       "1 22 user_custom \"event 1\" 3:0a6869\n");
	free(text);
}
END_TEST

/* A ring of 1,024 words, with a message of 3 words each 10 ns, of which the oldest are lost. */
START_TEST(words_that_were_overwritten_are_a_line)
{
	char *text;

	for (uint64_t i = 1; i <= 400; i++)
		ring_file_value(&rings, 0, RING_COUNTER, 0, 10 * i, i);
	text = print_input(OVERLAY_RUNTIME_EVENTS, rings.bytes, rings.size);
	ck_assert_msg(starts_with(text, "0 - lost - "), "%.40s", text);
	ck_assert_uint_eq(strtoul(text + 11, NULL, 10), *ring_file_head(&rings, 0));
	ck_assert_ptr_nonnull(strstr(text, "\n0 4000 counter force_minor_alloc_small 400\n"));
	free(text);
}
END_TEST

/* TIME OBJECT KIND SAMPLES LENGTH DOMAIN PREFIX, and the stack with the outermost frame first. */
START_TEST(memtrace_is_printed_as_its_own_program_does)
{
	const uint64_t codes[] = { 1000, 2000 };
	struct ctf_alloc alloc = { .words = 3, .samples = 1, .backtrace = codes };
	char *text;

	ctf_locate(&blocks, 0, codes[0], &(struct ctf_location){ "a.ml", "f", 12, 3, 9 }, 1);
	ctf_alloc(&blocks, 0, (alloc.time = START + 10, &alloc));
	alloc.length = 2;
	ctf_alloc(&blocks, 0, (alloc.time = START + 20, alloc.source = 1, &alloc));
	alloc.samples = 2;
	ctf_alloc(&blocks, 0, (alloc.time = START + 30, alloc.source = 2, &alloc));
	ctf_object(&blocks, 0, 3, START + 40, 1);
	ctf_object(&blocks, 0, 4, START + 1234567, 0);
	ctf_flush(&blocks, 0);
	text = print_input(OVERLAY_MEMTRACE, blocks.out.bytes, blocks.out.size);
	ck_assert_msg(starts_with(text, "# executable_name \"/bin/program\"\n"
					"# host_name \"host\"\n"
					"# ocaml_runtime_params \"v=0x400\"\n"
					"# context \"context\"\n# pid 10\n# initial_domain 0\n"
					"# start_time 1699999997017536\n# sample_rate 0.0001"),
		      "%s", text);
	ck_assert_ptr_nonnull(strstr(text, "\n# word_size 64\n0000000010 "));
	ck_assert_str_eq(
		strstr(text, "\n00000") + 1,
		"0000000010 0000000000 alloc 1 len=3 dom=0    0:\n"
		"0000000020 0000000001 alloc_major 1 len=3 dom=0    0: f@a.ml:12:3-9 $2000\n"
		"0000000030 0000000002 alloc_ext 2 len=3 dom=0    2: f@a.ml:12:3-9 $2000\n"
		"0000000040 0000000001 promote\n"
		"0001234567 0000000000 collect\n");
	free(text);
}
END_TEST

/* Each text below its path, if there are several. */
START_TEST(texts_of_several_overlays_have_headings)
{
	struct overlay_option list[2] = { { .kind = OVERLAY_RUNTIME_EVENTS },
					  { .kind = OVERLAY_RUNTIME_EVENTS } };
	struct options options = { .overlays = list, .overlay_count = 2 };
	struct overlays overlays;
	char *text, expected[300];
	size_t size;
	FILE *out = open_memstream(&text, &size);

	ring_file_runtime(&rings, 0, RING_BEGIN, 6, 5);
	list[0].text = write_file("7.events", rings.bytes, rings.size);
	list[1].text = write_file("8.events", rings.bytes, rings.size);
	ck_assert_int_eq(overlays_open(&overlays, &options, &diag, &err), 0);
	overlays_print(&overlays, out);
	fclose(out);
	snprintf(expected, sizeof(expected), "# %s\n0 5 begin major -\n\n# %s\n0 5 begin major -\n",
		 list[0].text, list[1].text);
	ck_assert_str_eq(text, expected);
	free(text);
	overlays_close(&overlays);
}
END_TEST

/* ---- All overlays of a run ---------------------------------------------------- */

/* Lines of ptrace2ftf clock-sync, between others. */
START_TEST(lines_of_clocks_are_read)
{
	static const struct {
		const char *text;
		size_t count;
	} rows[] = { { "tsc=5 mono=6 real=-7\n", 1 },
		     { "# clocks\n\ntsc=1 mono=2 real=3\nno line\ntsc=5 mono=6 real=-7", 2 },
		     { "tsc=1 mono=2\ntsc=1 real=2 mono=3\n", 0 },
		     { "", 0 } };
	struct options options = { .clock_sync = NULL };
	struct overlays overlays;

	options.clock_sync = write_file("sync", rows[_i].text, strlen(rows[_i].text));
	ck_assert_int_eq(overlays_open(&overlays, &options, &diag, &err), rows[_i].count ? 0 : -1);
	ck_assert_uint_eq(overlays.sync_count, rows[_i].count);
	if (rows[_i].count) {
		const struct overlay_sync *last = &overlays.syncs[rows[_i].count - 1];

		ck_assert_uint_eq(last->tsc, 5);
		ck_assert_int_eq(last->mono, 6);
		ck_assert_int_eq(last->real, -7);
	} else {
		ck_assert_int_eq(err.kind, ERROR_FORMAT);
	}
	overlays_close(&overlays);
}
END_TEST

/* Up to 10,000 lines; a longer file is something else. */
START_TEST(a_long_file_of_clocks_is_refused)
{
	static const char line[] = "tsc=1 mono=2 real=3\n";
	static char text[10001 * sizeof(line)];
	struct options options = { .clock_sync = NULL };
	struct overlays overlays;
	size_t count = 10000 + (size_t)_i;

	for (size_t i = 0; i < count; i++)
		memcpy(text + i * (sizeof(line) - 1), line, sizeof(line) - 1);
	options.clock_sync = write_file("sync", text, count * (sizeof(line) - 1));
	ck_assert_int_eq(overlays_open(&overlays, &options, &diag, &err), _i ? -1 : 0);
	ck_assert_uint_eq(overlays.sync_count, 10000);
	ck_assert_int_eq(err.kind, _i ? ERROR_LIMIT : ERROR_NONE);
	overlays_close(&overlays);
	overlays_close(&overlays);
}
END_TEST

START_TEST(a_missing_file_of_clocks_is_an_error)
{
	struct options options = { .clock_sync = "/nonexistent/sync" };
	struct overlays overlays;

	ck_assert_int_eq(overlays_open(&overlays, &options, &diag, &err), -1);
	ck_assert_int_eq(err.kind, ERROR_SYSTEM);
	overlays_close(&overlays);
}
END_TEST

/* By kind and process, the first one. */
START_TEST(overlays_are_found_by_kind_and_process)
{
	static const struct overlay_importer *const kinds[] = { &overlay_runtime_events,
								&overlay_memtrace };
	struct overlay_tid tids[] = { { 0, 3 }, { 1, 90 }, { 2, 5 } };
	struct overlay_input inputs[] = { { .importer = kinds[1], .pid = 4 },
					  { .importer = kinds[0], .pid = 4 },
					  { .importer = kinds[0], .pid = 80 },
					  { .importer = kinds[0], .pid = 80 },
					  { .importer = kinds[0], .pid = -1 } };
	static const struct {
		int kind;
		int32_t pid;
		int found; /* -1: none */
	} rows[] = { { 0, 4, 1 },
		     { 1, 4, 0 },
		     { 0, 80, 2 },
		     { 1, 80, -1 },
		     { 0, 5, -1 },
		     { 0, -1, 4 },
		     { 1, -1, -1 },
		     { 0, OVERLAY_ANY_PROCESS, 1 },
		     { 1, OVERLAY_ANY_PROCESS, 0 } };
	struct overlays overlays = { .inputs = inputs, .count = COUNT_OF(inputs) };

	for (size_t i = 0; i < COUNT_OF(rows); i++)
		ck_assert_ptr_eq(overlays_find(&overlays, kinds[rows[i].kind], rows[i].pid),
				 rows[i].found < 0 ? NULL : &inputs[rows[i].found]);
	ck_assert_int_eq(overlays_highest_id(&overlays), 80);
	inputs[2].tids = tids;
	inputs[2].tid_count = COUNT_OF(tids);
	ck_assert_int_eq(overlays_highest_id(&overlays), 90);
	overlays.count = 0;
	ck_assert_int_eq(overlays_highest_id(&overlays), 0);
}
END_TEST

/* Events as they come: names of processes, and how many others. */
static struct {
	char processes[200];
	int others;
	struct output *output; /* grows by 100 bytes with each event */
} seen;

static void see_event(struct event_sink *sink, const struct track_event *event)
{
	size_t used = strlen(seen.processes);

	(void)sink;
	seen.others += event->kind != TRACK_PROCESS;
	if (seen.output)
		seen.output->written += 100;
	if (event->kind == TRACK_PROCESS)
		snprintf(seen.processes + used, sizeof(seen.processes) - used, "%d=%.*s ",
			 (int)event->track.pid, (int)event->name.length, event->name.at);
}

/* By memtrace, which knows the program, else "ocaml"; a recording has names of its own. */
START_TEST(a_process_has_the_name_of_its_program)
{
	static const struct {
		const char *inputs; /* kind and pid; "-": unknown */
		const char *processes;
	} rows[] = { { "m1", "1=program " },
		     { "e1", "1=ocaml " },
		     { "e1 m1", "1=program 1=program " },
		     { "e1 m2", "1=ocaml 2=program " },
		     { "e-", "" },
		     { "e0", "0=ocaml " } };
	struct event_sink sink = { .event = see_event, .last_id = 100 };
	struct options options = { .quiet = true };
	struct output output = { 0 };
	struct overlay_input inputs[2] = { 0 };
	struct overlays overlays = { .options = &options,
				     .inputs = inputs,
				     .out = { .diag = &diag, .next_id = 1 } };

	memset(&seen, 0, sizeof(seen));
	name_table_init(&overlays.out.names);
	for (const char *at = rows[_i].inputs; *at; at += at[2] ? 3 : 2) {
		struct overlay_input *one = &inputs[overlays.count++];

		one->importer = *at == 'e' ? &overlay_runtime_events : &overlay_memtrace;
		one->pid = at[1] == '-' ? -1 : at[1] - '0';
		one->path = (char *)"file";
		if (*at == 'e')
			runtime_events_open(&one->events, rings.bytes, rings.size, &diag, &err);
		else
			memtrace_open(&one->memtrace, blocks.out.bytes, blocks.out.size, &diag,
				      &err);
	}
	overlays_write(&overlays, &sink, &output, NULL);
	ck_assert_str_eq(seen.processes, rows[_i].processes);
	for (size_t i = 0; i < overlays.count; i++)
		memtrace_close(&inputs[i].memtrace);
	name_table_release(&overlays.out.names);
}
END_TEST

/* Nothing is written after the limit, and the output is marked. */
START_TEST(overlays_end_at_the_limit_of_the_output)
{
	static const uint64_t limits[] = { 0, 1000, 100000 };
	struct event_sink sink = { .event = see_event, .last_id = 100 };
	struct options options = { .quiet = true };
	struct output output = { .limit = limits[_i / 2] };
	struct overlays overlays = { .options = &options,
				     .inputs = &input,
				     .count = 1,
				     .out = { .diag = &diag, .next_id = 1 } };

	memset(&seen, 0, sizeof(seen));
	seen.output = &output;
	input = (struct overlay_input){ .pid = 1, .path = (char *)"file" };
	name_table_init(&overlays.out.names);
	if (_i % 2) {
		struct ctf_alloc alloc = { .words = 3, .samples = 1 };

		for (uint64_t i = 0; i < 50; i++)
			ctf_alloc(&blocks, 0, (alloc.time = START + i, &alloc));
		ctf_flush(&blocks, 0);
		input.importer = &overlay_memtrace;
		memtrace_open(&input.memtrace, blocks.out.bytes, blocks.out.size, &diag, &err);
	} else {
		for (uint64_t i = 0; i < 50; i++)
			ring_file_value(&rings, 0, RING_COUNTER, 11, 10 + i, i);
		input.importer = &overlay_runtime_events;
		runtime_events_open(&input.events, rings.bytes, rings.size, &diag, &err);
	}
	overlays_write(&overlays, &sink, &output, NULL);
	ck_assert_int_eq(output.cut, limits[_i / 2] == 1000);
	if (output.cut)
		ck_assert_int_lt(seen.others, 20);
	else
		ck_assert_int_ge(seen.others, 50);
	memtrace_close(&input.memtrace);
	name_table_release(&overlays.out.names);
}
END_TEST

START_TEST(a_quoted_text_is_as_ocaml_reads_it)
{
	static const char *const rows[][2] = { { "", "\"\"" },
					       { "a ~", "\"a ~\"" },
					       { "\n\t\r\b\"\\", "\"\\n\\t\\r\\b\\\"\\\\\"" },
					       { "\x01\x1f\x7f\xff", "\"\\001\\031\\127\\255\"" } };

	for (size_t i = 0; i < COUNT_OF(rows); i++) {
		char *text;
		size_t size;
		FILE *out = open_memstream(&text, &size);

		overlay_print_quoted(rows[i][0], out);
		fclose(out);
		ck_assert_str_eq(text, rows[i][1]);
		free(text);
	}
}
END_TEST

/* A pid that is no process's is unknown. */
START_TEST(a_pid_of_memtrace_may_be_too_large)
{
	static const struct {
		uint64_t pid;
		int32_t read;
	} rows[] = { { 0, 0 }, { INT32_MAX, INT32_MAX }, { UINT64_C(1) << 31, -1 } };

	ctf_release(&blocks);
	ctf_init(&blocks, 3, 1e-4, rows[_i].pid, START);
	ck_assert_int_eq(open_overlay(OVERLAY_MEMTRACE,
				      write_file("x.ctf", blocks.out.bytes, blocks.out.size), ""),
			 0);
	ck_assert_int_eq(input.pid, rows[_i].read);
	overlay_input_close(&input);
}
END_TEST

/* Without standard input, a file may have its descriptor. */
START_TEST(an_overlay_is_read_without_standard_input)
{
	const char *path = write_file("x", rings.bytes, rings.size);

	close(STDIN_FILENO);
	ck_assert_int_eq(open_overlay(OVERLAY_RUNTIME_EVENTS, path, ""), 0);
	ck_assert_int_eq(input.pid, -1);
	overlay_input_close(&input);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("overlay_files");
	TCase *all = tcase_create("all");

	tcase_add_checked_fixture(all, setup, teardown);
	tcase_add_loop_test(all, words_after_the_file_name_its_process_and_threads, 0,
			    COUNT_OF(events_words));
	tcase_add_test(all, other_words_are_part_of_the_name);
	tcase_add_loop_test(all, the_release_chooses_the_table_of_phases, 0, 6);
	tcase_add_test(all, words_after_memtrace_name_its_process_and_show_lives);
	tcase_add_loop_test(all, files_that_are_no_overlays_are_refused, 0, 8);
	tcase_add_test(all, the_first_thread_of_a_ring_stays);
	tcase_add_test(all, runtime_events_are_lines_of_text);
	tcase_add_test(all, words_that_were_overwritten_are_a_line);
	tcase_add_test(all, memtrace_is_printed_as_its_own_program_does);
	tcase_add_test(all, texts_of_several_overlays_have_headings);
	tcase_add_loop_test(all, lines_of_clocks_are_read, 0, 4);
	tcase_add_loop_test(all, a_long_file_of_clocks_is_refused, 0, 2);
	tcase_add_test(all, a_missing_file_of_clocks_is_an_error);
	tcase_add_test(all, overlays_are_found_by_kind_and_process);
	tcase_add_loop_test(all, a_process_has_the_name_of_its_program, 0, 6);
	tcase_add_loop_test(all, overlays_end_at_the_limit_of_the_output, 0, 6);
	tcase_add_test(all, a_quoted_text_is_as_ocaml_reads_it);
	tcase_add_loop_test(all, a_pid_of_memtrace_may_be_too_large, 0, 3);
	tcase_add_test(all, an_overlay_is_read_without_standard_input);
	suite_add_tcase(suite, all);
	return unit_run_apart(suite);
}
