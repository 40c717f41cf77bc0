/* SPDX-License-Identifier: MIT */
/* A slice sink for tests: one line of text per event, in the order of arrival. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "src/slices/slice_sink.h"

#define SLICE_LOG_TRACKS 4
#define SLICE_LOG_DEPTH  2048

/* Symbols of a track's open slices. */
struct slice_log_track {
	const void *track;
	size_t depth;
	const struct symbol *open[SLICE_LOG_DEPTH];
};

/*
 * "B 5 f", "E 5 f", "C 0-5 f" (a whole slice), "I 5 text", "F 2 30" (folded, before its end), "S"
 * (flush).  Flags follow as " inferred", " uncertain", " estimated" and " deferred".  A non-NULL
 * track is a string that precedes them.  An end without a symbol is "E 5".
 */
struct slice_log {
	struct slice_sink sink;
	uint64_t base;   /* ns, subtracted from all times */
	size_t plain;    /* events in plain batches */
	size_t flushes;  /* received */
	bool names_ends; /* an end has the symbol of its slice; of few tracks */
	/* Called before each event is logged; the detail is NULL without one.  May be NULL. */
	void (*before)(struct slice_log *log, const struct slice_event *event,
		       const struct slice_detail *detail);
	struct slice_log_track tracks[SLICE_LOG_TRACKS];
	size_t track_count;
	char text[1 << 20];
	size_t length;
};

/* An empty log, which gets each event as soon as it is known. */
void slice_log_init(struct slice_log *log);

/* Returns the text since the last call, and clears it. */
const char *slice_log_take(struct slice_log *log);
