/* SPDX-License-Identifier: MIT */
#include "tests/unit/src/slice_log.h"

#include <check.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>

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

static void put_flags(const struct slice_sink *sink, unsigned flags)
{
	put(sink, "%s%s\n", flags & SLICE_INFERRED_START ? " inferred" : "",
	    flags & SLICE_DEFERRED ? " deferred" : "");
}

static void log_begin(const struct slice_sink *sink, void *track, uint64_t time,
		      const struct symbol *symbol, uint64_t ip, unsigned flags)
{
	(void)ip;
	put_track(sink, track);
	put(sink, "B %" PRId64 " %s", since_base(sink, time), symbol->name->text);
	put_flags(sink, flags);
}

static void log_end(const struct slice_sink *sink, void *track, uint64_t time,
		    const struct symbol *symbol)
{
	const struct slice_log *log = sink->context;
	bool told = symbol && !log->hides_ends;

	put_track(sink, track);
	put(sink, "E %" PRId64 "%s%s\n", since_base(sink, time), told ? " " : "",
	    told ? symbol->name->text : "");
}

static void log_edges(const struct slice_sink *sink, void *track, const struct slice_event *edges,
		      size_t count)
{
	struct slice_log *log = sink->context;

	ck_assert_uint_gt(count, 0);
	log->edges += count;
	for (size_t i = 0; i < count; i++) {
		const struct slice_event *edge = &edges[i];

		ck_assert(i == 0 || edge[-1].time <= edge->time);
		ck_assert(edge->kind == SLICE_BEGIN || edge->kind == SLICE_END);
		if (edge->kind == SLICE_BEGIN)
			log_begin(sink, track, edge->time, edge->symbol, edge->ip, edge->flags);
		else
			log_end(sink, track, edge->time, edge->symbol);
	}
}

static void log_complete(const struct slice_sink *sink, void *track, uint64_t begin_time,
			 uint64_t end_time, const struct symbol *symbol, unsigned flags)
{
	put_track(sink, track);
	put(sink, "C %" PRId64 "-%" PRId64 " %s", since_base(sink, begin_time),
	    since_base(sink, end_time), symbol->name->text);
	put_flags(sink, flags);
}

static void log_instant(const struct slice_sink *sink, void *track, uint64_t time, const char *text)
{
	put_track(sink, track);
	put(sink, "I %" PRId64 " %s\n", since_base(sink, time), text);
}

static void log_folded(const struct slice_sink *sink, void *track, uint64_t count, uint64_t time)
{
	put_track(sink, track);
	put(sink, "F %" PRIu64 " %" PRIu64 "\n", count, time);
}

static void log_segment_end(const struct slice_sink *sink, void *track)
{
	put_track(sink, track);
	put(sink, "S\n");
}

void slice_log_init(struct slice_log *log)
{
	log->sink = (struct slice_sink){
		.begin = log_begin,
		.end = log_end,
		.complete = log_complete,
		.instant = log_instant,
		.folded = log_folded,
		.segment_end = log_segment_end,
		.context = log,
	};
	log->base = 0;
	log->edges = 0;
	log->hides_ends = false;
	log->length = 0;
	log->text[0] = 0;
}

void slice_log_take_events(struct slice_log *log)
{
	log->sink.edges = log_edges;
}

const char *slice_log_take(struct slice_log *log)
{
	log->length = 0;
	return log->text;
}
