/* SPDX-License-Identifier: MIT */
/* Select the branches of one privilege level. */
#include "src/select/mode_filter.h"

#include "decoder/cpu_event.h"

bool mode_filter_has(enum trace_mode mode, uint64_t ip)
{
	return ip && (ip >> 63 ? TRACE_MODE_KERNEL : TRACE_MODE_USER) == mode;
}

static bool is_of_other(enum trace_mode mode, uint64_t ip)
{
	return ip && !mode_filter_has(mode, ip);
}

bool mode_filter_event(enum trace_mode mode, struct branch_event *event)
{
	if (mode != TRACE_MODE_USER && mode != TRACE_MODE_KERNEL)
		return true;
	if (event->kind == BRANCH_GAP)
		return (event->gap != GAP_NO_CODE && event->gap != GAP_MISMATCH &&
			event->gap != GAP_ENDLESS) ||
		       !is_of_other(mode, event->from);
	if (event->kind == BRANCH_COUNTS)
		return !is_of_other(mode, event->from);
	if (event->kind == BRANCH_CPU_EVENT)
		return !cpu_event_has_thread((enum cpu_event_kind)event->gap) ||
		       !is_of_other(mode, event->from);
	if (mode_filter_has(mode, event->from)) {
		if (is_of_other(mode, event->to)) {
			if (event->kind == BRANCH_INTERRUPT)
				event->kind = BRANCH_NONE;
			event->flags |= BRANCH_TRACE_OFF;
			event->to = 0;
			event->known = NULL;
		}
		return true;
	}
	if (!mode_filter_has(mode, event->to) || event->flags & BRANCH_TRACE_OFF)
		return false;
	if (event->from) {
		event->kind = BRANCH_NONE;
		event->flags = (uint8_t)(BRANCH_TRACE_ON |
					 (event->flags & (BRANCH_IN_TX | BRANCH_TIME_ESTIMATED)));
		event->from = 0;
		event->known = NULL;
		event->from_length = 0;
		event->insns = event->cycles = 0; /* instructions of the other level */
	}
	return true;
}

size_t mode_filter_apply(struct mode_filter *filter, const struct branch_event **events,
			 size_t count)
{
	size_t kept = 0;

	ARRAY_GROW(filter->events, filter->room, count);
	for (size_t i = 0; i < count; i++) {
		filter->events[kept] = (*events)[i];
		if (mode_filter_event(filter->mode, &filter->events[kept]))
			kept++;
		else if (filter->filter)
			event_filter_drop(filter->filter, &(*events)[i]);
	}
	*events = filter->events;
	return kept;
}

void mode_filter_release(struct mode_filter *filter)
{
	free(filter->events);
	*filter = (struct mode_filter){ 0 };
}
