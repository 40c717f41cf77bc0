/* SPDX-License-Identifier: MIT */
/* --format=ftf: a trace for Perfetto. */
#include "src/formats/ftf/ftf_sink.h"
#include "src/formats/ftf/ftf_split.h"
#include "src/formats/output_format.h"
#include "src/slices/slice_sorter.h"

struct ftf_output {
	struct format_output output; /* first */
	struct ftf_sink ftf;
};

static struct format_output *open_ftf(const struct format_request *request, struct error *err)
{
	struct ftf_output *made = alloc_zeroed(1, sizeof(*made));

	(void)err;
	ftf_sink_init(&made->ftf, request->output, request->names, request->options,
		      &request->facts);
	if (request->options->stamp)
		ftf_sink_note(&made->ftf, FTF_STAMP_NAME, request->options->stamp);
	made->output.sink = ftf_sink_slices(&made->ftf);
	made->output.slices = &made->ftf.slices;
	made->output.writer = made->ftf.writer;
	made->output.fold = &made->ftf.fit.counts;
	return &made->output;
}

static int finish_ftf(struct format_output *output, struct error *err)
{
	struct ftf_sink *ftf = &((struct ftf_output *)output)->ftf;

	ftf->others = output->other_slices;
	output->records = ftf_events(ftf->writer);
	return ftf_sink_close(ftf, err);
}

static void release_ftf(struct format_output *output)
{
	ftf_sink_release(&((struct ftf_output *)output)->ftf);
}

const struct output_format format_ftf = {
	.name = "ftf",
	.default_output = DEFAULT_FILE,
	.slices = SLICES_SORTED,
	.overlays = OVERLAYS_AS_SLICES,
	.depth = SLICE_SORTER_DEPTH,
	.cpu_events = true,
	.is_trace = true,
	.split = &format_ftf_split,
	.open = open_ftf,
	.finish = finish_ftf,
	.release = release_ftf,
};
