/* SPDX-License-Identifier: MIT */
/*
 * Two sinks around the sorter that replace the times of slices by the work of their thread: its
 * instructions or core cycles since its first one in the trace (--clock). The sink in front of the
 * sorter replaces the times, so that the order is that of the work, even where times are coarse.
 * The one after it chooses a range.
 *
 * Each thread has an axis of its own, which stops while the thread is not traced. Slices of
 * interrupts and of other threads on the CPU (symbol_is_stop()), which depend on the machine, are
 * left out; others without work have no length.
 */
#pragma once

#include "src/options/options.h"
#include "src/slices/slice_sink.h"

struct work_clock {
	struct slice_sink front, sink;   /* before and after the sorter */
	const struct slice_sink *next;   /* borrowed */
	const struct options *options;   /* borrowed: the clock, and the range to show */
	struct work_track *tracks;       /* owned list */
	const struct slice_sink *sorter; /* borrowed: after `front` */
	struct slice_event *events;      /* owned: of a batch, with other times */
	size_t room;
};

/* Initialize the sink after the sorter, before `next`. The clock must not move. */
void work_clock_init(struct work_clock *clock, const struct slice_sink *next,
		     const struct options *options);

/* Initialize the sink before `sorter`, for the machine.  Returns it. */
const struct slice_sink *work_clock_front(struct work_clock *clock,
					  const struct slice_sink *sorter);

/* Returns a new track, owned by the clock, for `next_track` of the next sink. */
void *work_clock_track(struct work_clock *clock, void *next_track);

/* Idempotent, also on zeroed memory. */
void work_clock_release(struct work_clock *clock);
