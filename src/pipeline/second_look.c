/* SPDX-License-Identifier: MIT */
/* Decode short times again, with all jumps, after the format has chosen these times. */
#include "src/pipeline/convert.h"

#include "base/diag.h"
#include "base/io/interrupt.h"
#include "decoder/streams/pt_streams.h"
#include "src/pipeline/output_pipeline.h"
#include "src/pipeline/recording.h"

/* Limits of the trace to decode again: all jumps cost several times as much as calls. */
#define LOOK_SHARE 32
#define LOOK_LEAST (UINT64_C(128) << 10) /* bytes */

struct second_look {
	struct perf_recording *recording; /* borrowed */
	struct pt_stream_input input;     /* input of each stream */
	struct aux_stream *views;         /* in the recording's arena: of the window's streams */
	size_t count;
};

static struct pt_stream_input view_input(const void *context, size_t index)
{
	const struct second_look *look = context;
	struct pt_stream_input input = look->input;

	input.aux = &look->views[index];
	return input;
}

/* Returns whether a thread can have run on a stream's CPU in a window. */
static bool may_have(const struct timeline *timeline, const struct aux_stream *aux,
		     const struct look_window *window)
{
	const struct cpu_switch *switches;
	size_t count;

	if (aux->tid != -1 || window->all_threads)
		return window->all_threads || aux->tid == window->tid;
	switches = history_switches(&timeline->history, aux->cpu, &count);
	for (size_t i = 0; i < count; i++)
		if (switches[i].thread->tid == window->tid && switches[i].time <= window->end &&
		    (i + 1 == count || switches[i + 1].time >= window->begin))
			return true;
	return !count;
}

static uint64_t cut_streams(struct second_look *look, const struct look_window *window)
{
	struct auxtrace *auxtrace = &look->recording->auxtrace;
	struct tsc_clock clock = pt_info_tsc_clock(&auxtrace->info);
	uint64_t bytes = 0;

	look->count = 0;
	for (size_t i = 0; i < auxtrace->stream_count; i++) {
		struct aux_stream *view = &look->views[look->count];

		if (!may_have(look->recording->timeline, &auxtrace->streams[i], window))
			continue;
		*view = auxtrace->streams[i];
		aux_seek(&auxtrace->streams[i], tsc_clock_tsc(&clock, window->begin),
			 tsc_clock_tsc(&clock, window->end), &auxtrace->arena, view);
		bytes += view->size;
		look->count++;
	}
	return bytes;
}

static void decode_window(struct second_look *look, const struct look_window *window,
			  const struct output_format *format, struct format_output *end)
{
	struct pt_streams streams = { .input = view_input, .context = look, .count = look->count };
	const struct branch_event *events;
	struct error err = { 0 };
	size_t count;

	look->input.begin = window->begin;
	look->input.end = window->end;
	if (pt_streams_open(&streams, &err) == 0)
		while (!interrupt_asked() && (count = pt_streams_next(&streams, &events)))
			for (size_t i = 0; i < count; i++)
				if (events[i].kind <= BRANCH_GAP)
					format->seen(end, &events[i],
						     resolver_find_event(&look->recording->resolver,
									 &events[i]));
	pt_streams_close(&streams);
}

void second_look(struct perf_recording *recording, const struct pt_stream_input *input,
		 const struct output_format *format, struct format_output *end)
{
	struct second_look look = { .recording = recording, .input = *input };
	size_t count = recording->auxtrace.stream_count;
	struct look_window window = { 0 };
	uint64_t left = LOOK_LEAST;
	struct diag diag; /* drops warnings: damage was already reported */

	if (!recording_resolution(recording) || resolver_changes(&recording->resolver))
		return;
	diag_init(&diag);
	end->timeline = recording->timeline;
	look.input.diag = &diag;
	look.views = arena_alloc(&recording->auxtrace.arena, (count + 1) * sizeof(*look.views));
	for (size_t i = 0; i < count; i++)
		left += recording->auxtrace.streams[i].size / LOOK_SHARE;
	while (format->look(end, &window)) {
		uint64_t bytes = cut_streams(&look, &window);

		window.left_out = bytes > left;
		if (window.left_out)
			continue;
		left -= bytes;
		decode_window(&look, &window, format, end);
	}
	diag_release(&diag);
}
