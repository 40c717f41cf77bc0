/* SPDX-License-Identifier: MIT */
/*
 * --format=pprof: the cost of each distinct call stack as a profile for `go tool pprof`,
 * Pyroscope, speedscope and others (profile.proto): calls, instructions, core cycles and time,
 * with the threads' name as a label.
 */
#include "src/formats/cost_stacks.h"
#include "src/formats/output_format.h"
#include "src/formats/pprof/pprof_writer.h"
#include "src/options/options.h"

#include "base/alloc.h"

struct pprof_output {
	struct format_output output; /* first */
	struct cost_stacks stacks;
	struct output *file; /* borrowed */
	uint64_t wall_base;
};

static struct format_output *open_pprof(const struct format_request *request, struct error *err)
{
	struct pprof_output *pprof = alloc_zeroed(1, sizeof(*pprof));

	(void)err;
	cost_stacks_init(&pprof->stacks, request->names, options_max_stack(request->options));
	pprof->file = request->output;
	pprof->wall_base = request->facts.wall_base;
	pprof->output.slices = &pprof->stacks.tree.slices;
	pprof->output.sink = pprof->stacks.sink;
	return &pprof->output;
}

static int write_pprof(struct format_output *output, struct error *err)
{
	struct pprof_output *pprof = (struct pprof_output *)output;

	(void)err;
	output->truncated = pprof->stacks.tree.cut_slices;
	pprof_write(&pprof->stacks, pprof->wall_base, pprof->file);
	return 0;
}

static void release_pprof(struct format_output *output)
{
	cost_stacks_release(&((struct pprof_output *)output)->stacks);
}

const struct output_format format_pprof = {
	.name = "pprof",
	.suffix = "pb.gz",
	.default_output = DEFAULT_FILE,
	.gzip = true,
	.slices = SLICES_SORTED,
	.open = open_pprof,
	.finish = write_pprof,
	.release = release_pprof,
};
