/* SPDX-License-Identifier: MIT */
/*
 * Opens all overlays of a run, and prints them as text or writes them to a
 * trace, alone or beside the call stacks of a recording.
 */
#ifndef SRC_OVERLAYS_OVERLAYS_H
#define SRC_OVERLAYS_OVERLAYS_H

#include "src/formats/output_format.h"
#include "src/overlays/overlay_clock.h"
#include "writer/ftf.h"

struct overlays {
	const struct options *options; /* borrowed */
	struct diag *diag;             /* borrowed */
	struct overlay_input *inputs;  /* owned */
	size_t count;
	struct overlay_clocks clocks;
	uint64_t slices; /* written up to now */
};

/*
 * Open the overlays that the options name.  `options` and `diag` are borrowed.
 * Returns 0; -1 with err filled.  The caller calls overlays_close() in both cases.
 */
int overlays_open(struct overlays *overlays, const struct options *options, struct diag *diag,
		  struct error *err);

void overlays_close(struct overlays *overlays);

/*
 * Match each overlay's clock with the trace's, print how, and write the overlay's
 * tracks, up to the limit of `output`, which `writer` writes to.  The trace's clock is perf's;
 * without a recording (NULL) it is that of the runtime events, or memtrace's if there are none.
 */
void overlays_write(struct overlays *overlays, struct ftf_writer *writer, struct output *output,
		    const struct overlay_recording *recording);

/* Returns the highest id that an overlay names a process or thread by; 0: there is none. */
int32_t overlays_highest_id(const struct overlays *overlays);

/* Print all events of all overlays, each below its path if there are several. */
void overlays_print(struct overlays *overlays, FILE *out);

/* Returns what is known of a trace of the overlays alone. */
struct trace_facts overlays_facts(const struct overlays *overlays);

#endif
