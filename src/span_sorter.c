/* SPDX-License-Identifier: MIT */
#include "span_sorter.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"

enum sorted_kind { SORTED_BEGIN, SORTED_END, SORTED_INSTANT };

struct sorted_span {
	uint64_t time;
	const struct symbol *symbol; /* of a begin or an end */
	union {
		uint64_t ip;         /* of a begin */
		char *text;          /* of an instant; owned */
	} of;
	/* Order at equal times: deferred spans first, then as they came. */
	uint64_t kind : 4, flags : 8, is_late : 1, order : 51;
};

static void add(struct span_sorter_track *track, struct sorted_span span, bool deferred)
{
	track->spans = alloc_grow(track->spans, &track->room, track->count + 1,
				  sizeof(*track->spans));
	span.is_late = !deferred;
	span.order = track->count;
	track->spans[track->count++] = span;
}

static void begin(const struct span_sink *sink, void *context, uint64_t time,
		  const struct symbol *symbol, uint64_t ip, unsigned flags)
{
	struct sorted_span span = { .time = time, .symbol = symbol, .of.ip = ip,
				    .kind = SORTED_BEGIN, .flags = flags & 0xff };

	(void)sink;
	add(context, span, flags & SPAN_DEFERRED);
}

static void end(const struct span_sink *sink, void *context, uint64_t time,
		const struct symbol *symbol)
{
	struct sorted_span span = { .time = time, .symbol = symbol, .kind = SORTED_END };

	(void)sink;
	add(context, span, false);
}

/*
 * Ends name no span, so the end may come before others of its time: which
 * slice gets which end time is the same.
 */
static void complete(const struct span_sink *sink, void *context, uint64_t begin_time,
		     uint64_t end_time, const struct symbol *symbol, unsigned flags)
{
	struct sorted_span span = { .time = end_time < begin_time ? begin_time : end_time,
				    .symbol = symbol, .kind = SORTED_END };

	begin(sink, context, begin_time, symbol, 0, flags);
	add(context, span, flags & SPAN_DEFERRED);
}

static void instant(const struct span_sink *sink, void *context, uint64_t time, const char *text)
{
	struct sorted_span span = { .time = time, .of.text = strdup(text),
				    .kind = SORTED_INSTANT };

	(void)sink;
	if (!span.of.text)
		alloc_fail(strlen(text));
	add(context, span, false);
}

static int compare(const void *left, const void *right)
{
	const struct sorted_span *a = left, *b = right;

	if (a->time != b->time)
		return a->time < b->time ? -1 : 1;
	if (a->is_late != b->is_late)
		return a->is_late ? 1 : -1;
	return a->order < b->order ? -1 : a->order > b->order;
}

/* Most segments are nearly in order: only what is not gets sorted. */
static bool in_order(const struct span_sorter_track *track)
{
	for (size_t i = 1; i < track->count; i++) {
		if (compare(&track->spans[i - 1], &track->spans[i]) > 0)
			return false;
	}
	return true;
}

static void give_begin(struct span_sorter_track *track, const struct sorted_span *span)
{
	struct span_sorter *sorter = track->sorter;

	if (++track->depth > sorter->deepest)
		sorter->deepest = track->depth;
	if (track->depth > SPAN_DEPTH_MAX) {
		sorter->too_deep++;
		return;
	}
	sorter->slices++;
	sorter->next->begin(sorter->next, track->next_track, track->last_time, span->symbol,
			    span->of.ip, span->flags);
}

static void give_end(struct span_sorter_track *track, const struct symbol *symbol)
{
	struct span_sorter *sorter = track->sorter;

	if (!track->depth) {
		sorter->unmatched_ends++;
		return;
	}
	if (track->depth-- <= SPAN_DEPTH_MAX)
		sorter->next->end(sorter->next, track->next_track, track->last_time, symbol);
}

static void give(struct span_sorter_track *track, const struct sorted_span *span)
{
	const struct span_sink *next = track->sorter->next;

	if (span->time < track->last_time)
		track->sorter->moved++;
	else
		track->last_time = span->time;
	if (span->kind == SORTED_BEGIN)
		give_begin(track, span);
	else if (span->kind == SORTED_END)
		give_end(track, span->symbol);
	else if (track->depth < SPAN_DEPTH_MAX)
		next->instant(next, track->next_track, track->last_time, span->of.text);
}

static void flush(struct span_sorter_track *track)
{
	if (!in_order(track))
		qsort(track->spans, track->count, sizeof(*track->spans), compare);
	for (size_t i = 0; i < track->count; i++) {
		give(track, &track->spans[i]);
		if (track->spans[i].kind == SORTED_INSTANT)
			free(track->spans[i].of.text);
	}
	track->count = 0;
}

static void segment_end(const struct span_sink *sink, void *context)
{
	struct span_sorter_track *track = context;
	const struct span_sink *next = track->sorter->next;

	(void)sink;
	flush(track);
	next->segment_end(next, track->next_track);
}

struct span_sink span_sorter_sink(void)
{
	return (struct span_sink){
		.begin = begin,
		.end = end,
		.complete = complete,
		.instant = instant,
		.segment_end = segment_end,
	};
}

void span_sorter_track_finish(struct span_sorter_track *track)
{
	flush(track);
	while (track->depth)
		give_end(track, NULL);
}

void span_sorter_track_release(struct span_sorter_track *track)
{
	for (size_t i = 0; i < track->count; i++) {
		if (track->spans[i].kind == SORTED_INSTANT)
			free(track->spans[i].of.text);
	}
	free(track->spans);
	track->spans = NULL;
	track->count = track->room = 0;
}
