/* SPDX-License-Identifier: MIT */
/* Any bytes as the text of perf script; the first one chooses the call-stack machine. */
#include "tests/fuzz/fuzz.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/tables/name.h"
#include "src/callstack/callstack.h"
#include "src/events/event_output.h"
#include "src/perf_script/perf_script.h"
#include "src/slices/slice_sorter.h"

static size_t open_slices;

static void count_events(const struct slice_sink *sink, void *track,
			 const struct slice_batch *batch)
{
	(void)sink, (void)track;
	for (size_t i = 0; i < batch->count; i++) {
		open_slices += batch->events[i].kind == SLICE_BEGIN;
		/* No end without a begin. */
		if (batch->events[i].kind == SLICE_END && !open_slices--)
			abort();
	}
}

static void *add_track(void *context, int32_t pid, int32_t tid)
{
	static int track;

	(void)pid, (void)tid;
	return slice_sorter_track(context, &track);
}

/* Hits are printed and discarded. */
static struct hit_output hits;

static void show_hit(void *context, const struct perf_line *line, const struct location *location)
{
	(void)context;
	hit_events_show_line(line, location, &hits);
}

static void convert(FILE *in, bool magic)
{
	static const struct slice_sink sink = { .events = count_events };
	struct name_table names;
	struct arena arena = { 0 };
	struct slice_sorter sorter;
	struct callstack_options machine = { .mode = TRACE_MODE_GUESS,
					     .sink = &sorter.sink,
					     .names = &names };
	struct perf_script_options options = { .names = &names,
					       .arena = &arena,
					       .track = add_track,
					       .context = &sorter,
					       .hit = show_hit };

	name_table_init(&names);
	slice_sorter_init(&sorter, &sink, NULL);
	open_slices = 0;
	options.machine =
		magic ? callstack_magic_trace_open(&machine) : callstack_precise_open(&machine);
	hits.text = fopen("/dev/null", "w");
	perf_script_convert(in, &options, NULL, NULL);
	if (hits.text)
		fclose(hits.text);
	hit_output_release(&hits);
	slice_sorter_finish(&sorter);
	/* All stacks are closed. */
	if (open_slices)
		abort();
	slice_sorter_release(&sorter);
	callstack_machine_close(options.machine);
	arena_release(&arena);
	name_table_release(&names);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
	FILE *in;

	if (size < 2)
		return 0;
	in = fmemopen((void *)(uintptr_t)(bytes + 1), size - 1, "r");
	if (!in)
		abort();
	convert(in, bytes[0] & 1);
	fclose(in);
	return 0;
}
