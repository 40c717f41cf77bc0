/* SPDX-License-Identifier: MIT */
/* Write overlays to a trace. */
#include "src/overlays/overlay_trace.h"

#include "src/formats/ftf/event_record.h"

bool overlay_trace_is_full(struct overlay_trace *trace)
{
	trace->output->cut |= output_full(trace->output);
	return trace->output->cut;
}

struct ftf_thread overlay_trace_track(struct overlay_trace *trace, int32_t pid, const char *name,
				      uint32_t *tid)
{
	uint32_t id = (uint32_t)ftf_id_new(trace->writer);
	struct ftf_thread track = ftf_thread(trace->writer, (uint32_t)MAX(0, pid), id);

	if (tid)
		*tid = id;
	ftf_thread_name(trace->writer, track, ftf_text(trace->writer, name));
	return track;
}

void overlay_trace_clock(struct overlay_trace *trace, struct ftf_thread track, uint64_t time,
			 const struct overlay_clock *clock)
{
	struct ftf_writer *writer = trace->writer;
	struct event_record record;

	event_record_init(&record, writer, NULL, NULL, time);
	event_record_add_text(&record, "method", overlay_clock_method_name(clock->method));
	event_record_add_number(&record, "offset_ns", clock->offset);
	event_record_add_number(&record, "uncertainty_ns", (int64_t)clock->uncertainty);
	if (clock->method == OVERLAY_CLOCK_OWN)
		record.event.arg_count = 1;
	record.event.thread = track;
	record.event.category = ftf_text(writer, "clock");
	record.event.name = ftf_text(writer, "clock of this overlay");
	ftf_instant(writer, &record.event);
}
