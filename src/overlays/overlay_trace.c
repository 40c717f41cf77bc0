/* SPDX-License-Identifier: MIT */
#include "src/overlays/overlay_trace.h"

void overlay_trace_init(struct overlay_trace *trace, struct ftf_writer *writer, struct diag *diag)
{
	*trace = (struct overlay_trace){
		.writer = writer, .diag = diag, .next_tid = OVERLAY_FIRST_TID, .next_id = 1
	};
}

struct ftf_thread overlay_trace_track(struct overlay_trace *trace, int32_t pid, const char *name,
				      uint32_t *tid)
{
	uint32_t id = trace->next_tid++;
	struct ftf_thread track = ftf_thread(trace->writer, (uint32_t)(pid < 0 ? 0 : pid), id);

	if (tid)
		*tid = id;
	ftf_thread_name(trace->writer, track, ftf_text(trace->writer, name));
	return track;
}

void overlay_trace_clock(struct overlay_trace *trace, struct ftf_thread track, uint64_t time,
			 const struct overlay_clock *clock)
{
	struct ftf_writer *writer = trace->writer;
	struct ftf_arg args[] = {
		ftf_arg_string(ftf_text(writer, "method"),
			       ftf_text(writer, overlay_clock_method_name(clock->method))),
		ftf_arg_int64(ftf_text(writer, "offset_ns"), clock->offset),
		ftf_arg_int64(ftf_text(writer, "uncertainty_ns"), (int64_t)clock->uncertainty),
	};
	struct ftf_event event = {
		.thread = track,
		.category = ftf_text(writer, "clock"),
		.name = ftf_text(writer, "clock of this overlay"),
		.time = time,
		.args = args,
		.arg_count = clock->method == OVERLAY_CLOCK_OWN ? 1 : 3,
	};

	ftf_instant(writer, &event);
}
