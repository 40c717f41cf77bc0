/* SPDX-License-Identifier: MIT */
/*
 * Selects the branches of one privilege level (--mode), as if only that level had been recorded
 * (attr.exclude_kernel, exclude_user):
 *
 *   from     to       becomes
 *   -------  -------  ------------------------------------------------------------
 *   chosen   chosen   what it is
 *   chosen   other    tracing ends there; the target is unknown
 *   other    chosen   tracing begins there, without a branch
 *   other    other    nothing
 *
 * Missing or mismatching code of the other level is not a gap: it ends at the packet with the
 * address at which the chosen level continues. Data lost by the processor or perf is a gap of both
 * levels.
 *
 * The kernel's addresses are the upper half (Linux, Documentation/arch/x86/x86_64/mm).
 */
#pragma once

#include "src/select/event_filter.h"

struct mode_filter {
	enum trace_mode mode;        /* other modes: all events are wanted */
	bool active;                 /* for the caller: there can be events to exclude */
	struct event_filter *filter; /* borrowed, to count unwanted gaps; may be NULL */
	struct branch_event *events; /* owned: the last call's result */
	size_t room;
};

/* Returns whether code at `ip` is in the mode's level; 0 is in neither. */
bool mode_filter_has(enum trace_mode mode, uint64_t ip);

/* Reduce an event to the part that the mode shows. Returns false if it shows nothing. */
bool mode_filter_event(enum trace_mode mode, struct branch_event *event);

/*
 * Select from `count` events at *events, and replace *events by the result, borrowed until the next
 * call. Returns the number of events.
 */
size_t mode_filter_apply(struct mode_filter *filter, const struct branch_event **events,
			 size_t count);

void mode_filter_release(struct mode_filter *filter);
