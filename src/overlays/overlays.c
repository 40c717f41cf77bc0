/* SPDX-License-Identifier: MIT */
/* Open all overlays of a run, and print or write them. */
#include "src/overlays/overlays.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/io/output.h"
#include "src/formats/output_format.h"
#include "src/overlays/overlay_print.h"
#include "src/overlays/overlay_trace.h"

int overlays_open(struct overlays *overlays, const struct options *options, struct diag *diag,
		  struct error *err)
{
	*overlays = (struct overlays){ .options = options,
				       .diag = diag,
				       .count = options->overlay_count,
				       .clocks.offsets = options->clock_offsets };
	overlays->inputs = alloc_zeroed(options->overlay_count, sizeof(*overlays->inputs));
	for (size_t i = 0; i < options->overlay_count; i++)
		if (overlay_input_open(&overlays->inputs[i], &options->overlays[i], diag, err) < 0)
			return -1;
	return options->clock_sync
		       ? overlay_clocks_read(&overlays->clocks, options->clock_sync, err)
		       : 0;
}

void overlays_close(struct overlays *overlays)
{
	for (size_t i = 0; i < overlays->count; i++)
		overlay_input_close(&overlays->inputs[i]);
	free(overlays->inputs);
	overlay_clocks_release(&overlays->clocks);
	*overlays = (struct overlays){ 0 };
}

void overlays_print(struct overlays *overlays, FILE *out)
{
	for (size_t i = 0; i < overlays->count; i++) {
		if (overlays->count > 1)
			fprintf(out, "%s# %s\n", i ? "\n" : "", overlays->inputs[i].path);
		overlay_print(&overlays->inputs[i], out);
	}
}

/* Returns the name of a process's program, from memtrace; without that "ocaml". */
static const char *find_program(const struct overlays *overlays, int32_t pid)
{
	const char *path, *slash;

	for (size_t i = 0; i < overlays->count; i++) {
		if (overlays->inputs[i].kind != OVERLAY_MEMTRACE || overlays->inputs[i].pid != pid)
			continue;
		path = overlays->inputs[i].memtrace.info.executable;
		slash = strrchr(path, '/');
		return slash ? slash + 1 : path;
	}
	return "ocaml";
}

static struct overlay_clock match_clock(struct overlays *overlays, size_t index,
					const struct overlay_recording *recording)
{
	struct overlay_input *input = &overlays->inputs[index];

	if (!recording)
		return overlay_clock_choice_alone(&overlays->clocks, overlays->inputs,
						  overlays->count, index, overlays->diag);
	if (!timeline_borrow_thread(recording->timeline, input->pid, 0))
		diag_warn(overlays->diag, "overlay-process",
			  "%s is of process %d, which is not in the recording; see pid=",
			  input->path, input->pid);
	return overlay_clock_choice_recording(&overlays->clocks, input, recording, overlays->diag);
}

void overlays_write(struct overlays *overlays, struct ftf_writer *writer, struct output *output,
		    const struct overlay_recording *recording)
{
	struct overlay_trace trace;

	overlay_trace_init(&trace, writer, output, overlays->diag);
	for (size_t i = 0; i < overlays->count; i++) {
		struct overlay_input *input = &overlays->inputs[i];
		struct overlay_clock clock = match_clock(overlays, i, recording);

		if (!recording && input->pid >= 0)
			ftf_process_name(writer, (uint32_t)input->pid,
					 ftf_text(writer, find_program(overlays, input->pid)));
		if (!overlays->options->quiet)
			overlay_clock_print(&clock, input->path, stderr);
		if (input->kind == OVERLAY_RUNTIME_EVENTS)
			overlay_trace_runtime(&trace, input, &clock);
		else
			overlay_trace_memtrace(&trace, input, &clock);
	}
	overlays->slices = trace.slices;
}

int32_t overlays_highest_id(const struct overlays *overlays)
{
	int32_t highest = 0;

	for (size_t i = 0; i < overlays->count; i++) {
		const struct overlay_input *input = &overlays->inputs[i];

		if (input->pid > highest)
			highest = input->pid;
		for (size_t k = 0; k < input->tid_count; k++)
			if (input->tids[k].tid > highest)
				highest = input->tids[k].tid;
	}
	return highest;
}

struct trace_facts overlays_facts(const struct overlays *overlays)
{
	return (struct trace_facts){ .wall_base = overlay_clock_wall_alone(
					     &overlays->clocks, overlays->inputs, overlays->count),
				     .free_id = (uint32_t)overlays_highest_id(overlays) + 1 };
}

uint64_t overlays_wall_base(const struct overlays *overlays,
			    const struct overlay_recording *recording)
{
	return overlay_clock_wall(&overlays->clocks, recording);
}
