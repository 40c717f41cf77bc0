/* SPDX-License-Identifier: MIT */
/*
 * Slices into the Fuchsia trace format: names, arguments, threads.
 *
 * The spans of a track must come in program order, with times that do not go
 * back and at most 512 open at a time (src/span_sorter.h sees to that).
 */
#ifndef SRC_FTF_SINK_H
#define SRC_FTF_SINK_H

#include "base/name.h"
#include "base/output.h"
#include "call_sites.h"
#include "options.h"
#include "span_sink.h"
#include "writer/ftf_writer.h"

struct ftf_sink {
	struct ftf_writer writer;
	struct name_table *names; /* borrowed */
	uint64_t slices;          /* begun up to now */
	enum option_args level;   /* what slices tell */
	struct call_sites sites;
	/* Argument names: */
	const struct name *address, *line, *col, *symbol, *file, *inferred, *inlined, *is_true, *process;
	const struct name *caller, *insns, *cycles, *ipc;
};

/* Start a trace in `output`; both are borrowed until ftf_sink_release(). */
void ftf_sink_init(struct ftf_sink *ftf, struct output *output, struct name_table *names,
		   enum option_args level);

/* Release the memory.  Idempotent, also on zeroed memory. */
void ftf_sink_release(struct ftf_sink *ftf);

/* Returns the sink; its tracks are struct track.  `ftf` is borrowed by it. */
struct span_sink ftf_sink_spans(struct ftf_sink *ftf);

#endif
