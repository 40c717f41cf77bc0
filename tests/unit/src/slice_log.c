/* SPDX-License-Identifier: MIT */
#include "tests/unit/src/slice_log.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "tests/support/unit.h"

static void put(const struct slice_sink *sink, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

static void put(const struct slice_sink *sink, const char *format, ...)
{
	struct slice_log *log = sink->context;
	size_t room = sizeof(log->text) - log->length;
	va_list args;
	int length;

	va_start(args, format);
	length = vsnprintf(log->text + log->length, room, format, args);
	va_end(args);
	ck_assert_int_ge(length, 0);
	ck_assert_uint_lt((size_t)length, room);
	log->length += (size_t)length;
}

static void put_track(const struct slice_sink *sink, const char *track)
{
	if (track)
		put(sink, "%s ", track);
}

static int64_t since_base(const struct slice_sink *sink, uint64_t time)
{
	const struct slice_log *log = sink->context;

	return (int64_t)(time - log->base);
}

static void put_flags(const struct slice_sink *sink, const struct slice_event *event)
{
	put(sink, "%s%s%s%s%s\n", event->flags & SLICE_INFERRED_START ? " inferred" : "",
	    event->flags & SLICE_UNCERTAIN_LEVEL ? " uncertain" : "",
	    event->flags & SLICE_ESTIMATED_TIME ? " estimated" : "",
	    event->flags & SLICE_TAIL_CALLED ? " tail" : "",
	    event->order == SLICE_ORDER_DEFERRED ? " deferred" : "");
}

/* Returns a track's open slices. */
static struct slice_log_track *track_of(struct slice_log *log, const void *track)
{
	size_t i = 0;

	while (i < log->track_count && log->tracks[i].track != track)
		i++;
	ck_assert_uint_lt(i, SLICE_LOG_TRACKS);
	log->tracks[i].track = track;
	log->track_count += i == log->track_count;
	return &log->tracks[i];
}

static void log_begin(const struct slice_sink *sink, void *context, const struct slice_event *event)
{
	struct slice_log *log = sink->context;

	if (log->names_ends) {
		struct slice_log_track *track = track_of(log, context);

		ck_assert_uint_lt(track->depth, SLICE_LOG_DEPTH);
		track->open[track->depth++] = event->symbol;
	}
	put(sink, "B %" PRId64 " %s", since_base(sink, event->time), event->symbol->name->text);
	put_flags(sink, event);
}

static void log_end(const struct slice_sink *sink, void *context, const struct slice_event *event)
{
	struct slice_log *log = sink->context;
	const struct symbol *symbol = event->symbol;

	if (log->names_ends) {
		struct slice_log_track *track = track_of(log, context);

		ck_assert_uint_gt(track->depth, 0);
		symbol = track->open[--track->depth];
	}
	put(sink, "E %" PRId64 "%s%s\n", since_base(sink, event->time), symbol ? " " : "",
	    symbol ? symbol->name->text : "");
}

static void log_whole(const struct slice_sink *sink, const struct slice_event *begin)
{
	put(sink, "C %" PRId64 "-%" PRId64 " %s", since_base(sink, begin->time),
	    since_base(sink, begin[1].time), begin->symbol->name->text);
	put_flags(sink, begin);
}

static void log_folded(const struct slice_sink *sink, void *track,
		       const struct slice_detail *detail)
{
	put_track(sink, track);
	put(sink, "F %" PRIu64 " %" PRIu64 "\n", detail->folded, detail->folded_time);
}

/* Log the first of the events.  Returns how many it is: two for a whole slice. */
static size_t log_event(const struct slice_sink *sink, void *track, const struct slice_event *event,
			size_t count)
{
	put_track(sink, track);
	if (count > 1 && event[1].order == SLICE_ORDER_WHOLE) {
		log_whole(sink, event);
		return 2;
	}
	ck_assert_int_ne(event->order, SLICE_ORDER_WHOLE);
	if (event->kind == SLICE_BEGIN)
		log_begin(sink, track, event);
	else if (event->kind == SLICE_END)
		log_end(sink, track, event);
	else if (event->kind == SLICE_LATE)
		put(sink, "L %" PRId64 "\n", since_base(sink, event->time));
	else
		put(sink, "I %" PRId64 " %s\n", since_base(sink, event->time), event->text);
	return 1;
}

static void log_events(const struct slice_sink *sink, void *track, const struct slice_batch *batch)
{
	struct slice_log *log = sink->context;
	size_t some;

	ck_assert_uint_gt(batch->count, 0);
	log->plain += batch->plain ? batch->count : 0;
	for (size_t i = 0; i < batch->count; i += some) {
		const struct slice_event *event = &batch->events[i];
		const struct slice_detail *detail = slice_batch_detail(batch, event);

		if (batch->plain) {
			ck_assert(i == 0 || event[-1].time <= event->time);
			ck_assert(event->kind == SLICE_BEGIN || event->kind == SLICE_END);
			ck_assert(event->order == SLICE_ORDER_PLAIN);
		}
		if (event->kind == SLICE_END && detail && detail->folded)
			log_folded(sink, track, detail);
		if (log->before && event->kind != SLICE_INSTANT)
			log->before(log, event, detail);
		some = log_event(sink, track, event, batch->count - i);
	}
}

static void log_flush(const struct slice_sink *sink, void *track)
{
	struct slice_log *log = sink->context;

	put_track(sink, track);
	put(sink, "S\n");
	log->flushes++;
}

void slice_log_init(struct slice_log *log)
{
	memset(log, 0, sizeof(*log));
	log->sink = (struct slice_sink){ .events = log_events,
					 .flush = log_flush,
					 .context = log,
					 .folded = true,
					 .immediate = true };
}

const char *slice_log_take(struct slice_log *log)
{
	size_t length = log->length;

	log->length = 0;
	return length ? log->text : "";
}
